/* Counted scoreboards of Volta and later GPUs (subwarp-interleaving paper, section III): six counters per warp. The
 * compiler assigns a counter to each operation of unknown latency. The counter is incremented at issue and decremented
 * at write-back. A reader of the result waits until the counter is zero, so it also waits for other operations with the
 * same counter. On hardware the compiler handles operations of fixed latency. Here their registers are tracked one by
 * one. `its` has one set of counters per warp. `si` has one set per lane, which models the paper's set per subwarp. */
#include "scoreboard.h"
#include <string.h>

enum { COUNT_MAX = 63 }; /* six bits */

struct counted_board {
    uint32_t n_regs;
    uint32_t warp[N_COUNTERS];                /* number of operations in flight, of all lanes */
    uint8_t lane[N_COUNTERS][MAX_WARP_LANES]; /* number of operations in flight, by lane */
    struct {
        lanemask_t pending, load;
        /* lanes that loaded the register with counter k, which has not been zero since */
        lanemask_t by[N_COUNTERS];
    } reg[];
};

static size_t counted_size(uint32_t n_regs) {
    const struct counted_board *b;
    return (sizeof *b + n_regs * sizeof b->reg[0] + 7) & ~(size_t)7;
}

static void counted_start(void *state, uint32_t n_regs) {
    struct counted_board *b = state;
    memset(b, 0, counted_size(n_regs));
    b->n_regs = n_regs;
}

static uint16_t reg_at(const struct sb_regs *r, unsigned i) {
    return i < r->n_read ? r->read[i] : r->write[i - r->n_read];
}

/* Returns true if counter `k` is not zero for some lane of `lanes`. */
static inline bool counts(const struct counted_board *b, unsigned k, lanemask_t lanes, bool by_lane) {
    if (!by_lane || !b->warp[k])
        return b->warp[k] != 0;
    for (; lanes; lanes &= lanes - 1)
        if (b->lane[k][lanes_first(lanes)])
            return true;
    return false;
}

static inline bool full(const struct counted_board *b, unsigned k, lanemask_t lanes, bool by_lane) {
    if (!by_lane)
        return b->warp[k] >= COUNT_MAX;
    for (; lanes; lanes &= lanes - 1)
        if (b->lane[k][lanes_first(lanes)] >= COUNT_MAX)
            return true;
    return false;
}

static inline enum sb_verdict check(const struct counted_board *b, lanemask_t lanes, const struct sb_regs *r,
                                    bool by_lane) {
    enum sb_verdict verdict = SB_READY;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        uint16_t reg = reg_at(r, i);
        if (b->reg[reg].load & lanes)
            return SB_WAIT_LOAD;
        for (unsigned k = 0; k < N_COUNTERS; k++)
            if (b->reg[reg].by[k] & lanes && counts(b, k, lanes, by_lane))
                return SB_WAIT_LOAD;
        if (b->reg[reg].pending & lanes)
            verdict = SB_WAIT_ARITH;
    }
    if (r->counter < N_COUNTERS && full(b, r->counter, lanes, by_lane))
        return SB_WAIT_LOAD;
    return verdict;
}

static enum sb_verdict warp_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    return check(state, lanes, r, false);
}

static enum sb_verdict lanes_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    return check(state, lanes, r, true);
}

static void counted_issue(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool is_load) {
    struct counted_board *b = state;
    unsigned k = r->counter < N_COUNTERS ? r->counter : 0;
    (void)board;
    for (unsigned i = 0; i < r->n_write; i++) {
        b->reg[r->write[i]].pending |= lanes;
        if (!is_load)
            continue;
        b->reg[r->write[i]].load |= lanes;
        b->reg[r->write[i]].by[k] |= lanes;
    }
    if (!is_load)
        return;
    b->warp[k]++;
    for (; lanes; lanes &= lanes - 1)
        b->lane[k][lanes_first(lanes)]++;
}

/* Removes the marks of the values that used counter `k`, because the counter is zero for `lanes`. */
static void forget(struct counted_board *b, unsigned k, lanemask_t lanes) {
    for (uint32_t i = 0; lanes && i < b->n_regs; i++)
        b->reg[i].by[k] &= ~lanes;
}

static inline void writeback(struct counted_board *b, lanemask_t lanes, const struct sb_regs *r, bool by_lane) {
    unsigned k = r->counter < N_COUNTERS ? r->counter : 0;
    bool is_load = false;
    lanemask_t zero = 0;
    for (unsigned i = 0; i < r->n_write; i++) {
        is_load |= (b->reg[r->write[i]].load & lanes) != 0;
        b->reg[r->write[i]].pending &= ~lanes;
        b->reg[r->write[i]].load &= ~lanes;
    }
    if (!is_load)
        return;
    b->warp[k]--;
    for (lanemask_t m = lanes; m; m &= m - 1)
        if (--b->lane[k][lanes_first(m)] == 0)
            zero |= m & -m;
    forget(b, k, by_lane ? zero : b->warp[k] ? 0 : ~(lanemask_t)0);
}

static void warp_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    writeback(state, lanes, r, false);
}

static void lanes_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    writeback(state, lanes, r, true);
}

static int counted_waits_for(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    const struct counted_board *b = state;
    (void)board;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        uint16_t reg = reg_at(r, i);
        lanemask_t by = b->reg[reg].pending;
        for (unsigned k = 0; k < N_COUNTERS; k++)
            by |= b->reg[reg].by[k];
        if (by & lanes)
            return reg;
    }
    return -1;
}

static uint32_t warp_bits(uint32_t n_regs, uint32_t lanes) {
    (void)lanes;
    (void)n_regs;
    return N_COUNTERS * COUNTER_BITS;
}

static uint32_t lanes_bits(uint32_t n_regs, uint32_t lanes) { return warp_bits(n_regs, lanes) * lanes; }

const struct scoreboard_ops scoreboard_counted = {
    .name = "counted",
    .size = counted_size,
    .start = counted_start,
    .check = warp_check,
    .issue = counted_issue,
    .writeback = warp_writeback,
    .waits_for = counted_waits_for,
    .bits = warp_bits,
};

const struct scoreboard_ops scoreboard_counted_lanes = {
    .name = "counted by lane",
    .size = counted_size,
    .start = counted_start,
    .check = lanes_check,
    .issue = counted_issue,
    .writeback = lanes_writeback,
    .waits_for = counted_waits_for,
    .bits = lanes_bits,
};
