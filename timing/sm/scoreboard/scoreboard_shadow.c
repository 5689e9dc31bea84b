/* The scoreboard of dual-path execution (section 3.2 of its paper): one board with pending bits and shadow bits for
 * the left path, and one for the right path. At a divergence or a reconvergence, pending bits are copied to the
 * shadow. A path waits for the pending bits of its own board and for the shadow bits of the OTHER board. A
 * write-back clears the pending and the shadow bit of the board on which the instruction issued. This scoreboard is
 * conservative: a register pending on one path before a divergence may stall paths that do not need it. */
#include "scoreboard.h"
#include <string.h>

enum { PENDING, SHADOW, LOAD, N_SETS };

struct shadow_boards {
    uint32_t words;
    uint32_t pad;
    uint64_t bits[]; /* [board][set][words] */
};

static uint32_t words_for(uint32_t n_regs) { return (n_regs + 63) / 64; }

static size_t shadow_size(uint32_t n_regs) {
    return sizeof(struct shadow_boards) + 2 * N_SETS * (size_t)words_for(n_regs) * sizeof(uint64_t);
}

static void shadow_start(void *state, uint32_t n_regs) {
    struct shadow_boards *b = state;
    memset(b, 0, shadow_size(n_regs));
    b->words = words_for(n_regs);
}

static inline const uint64_t *set_of(const struct shadow_boards *b, unsigned board, unsigned set) {
    return b->bits + ((board & 1) * N_SETS + set) * (size_t)b->words;
}

static inline uint64_t *set_at(struct shadow_boards *b, unsigned board, unsigned set) {
    return b->bits + ((board & 1) * N_SETS + set) * (size_t)b->words;
}

static inline bool bit(const uint64_t *bits, uint16_t r) { return bits[r / 64] >> (r % 64) & 1; }

/* Returns true if register `r` stalls a path on `board`. Sets *load if the cause is a load. */
static inline bool held(const struct shadow_boards *b, unsigned board, uint16_t r, bool *load) {
    bool own = bit(set_of(b, board, PENDING), r), other = bit(set_of(b, !board, SHADOW), r);
    *load = (own && bit(set_of(b, board, LOAD), r)) || (other && bit(set_of(b, !board, LOAD), r));
    return own || other;
}

static enum sb_verdict shadow_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    enum sb_verdict verdict = SB_READY;
    (void)lanes;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        bool load;
        if (!held(state, board & 1, i < r->n_read ? r->read[i] : r->write[i - r->n_read], &load))
            continue;
        if (load)
            return SB_WAIT_LOAD;
        verdict = SB_WAIT_ARITH;
    }
    return verdict;
}

static void shadow_issue(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool is_load) {
    (void)lanes;
    for (unsigned i = 0; i < r->n_write; i++) {
        uint64_t m = 1ull << (r->write[i] % 64);
        set_at(state, board, PENDING)[r->write[i] / 64] |= m;
        if (is_load)
            set_at(state, board, LOAD)[r->write[i] / 64] |= m;
    }
}

static void shadow_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)lanes;
    for (unsigned i = 0; i < r->n_write; i++)
        for (unsigned set = 0; set < N_SETS; set++)
            set_at(state, board, set)[r->write[i] / 64] &= ~(1ull << (r->write[i] % 64));
}

static void shadow_copy(void *state, unsigned boards) {
    struct shadow_boards *b = state;
    for (unsigned board = 0; board < 2; board++)
        for (uint32_t i = 0; boards >> board & 1 && i < b->words; i++)
            set_at(b, board, SHADOW)[i] |= set_of(b, board, PENDING)[i];
}

static int shadow_waits_for(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)lanes;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        bool load;
        uint16_t reg = i < r->n_read ? r->read[i] : r->write[i - r->n_read];
        if (held(state, board & 1, reg, &load))
            return reg;
    }
    return -1;
}

/* Returns pending and shadow bits, left and right. */
static uint32_t shadow_bits(uint32_t n_regs, uint32_t lanes) {
    (void)lanes;
    return n_regs * 4;
}

const struct scoreboard_ops scoreboard_shadow = {
    .name = "shadow",
    .size = shadow_size,
    .start = shadow_start,
    .check = shadow_check,
    .issue = shadow_issue,
    .writeback = shadow_writeback,
    .shadow = shadow_copy,
    .waits_for = shadow_waits_for,
    .bits = shadow_bits,
};
