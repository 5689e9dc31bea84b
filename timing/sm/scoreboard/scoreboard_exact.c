/* The ideal scoreboard: for every register, the lanes whose value is pending. A path waits only for its own lanes, so
 * there are no false dependences between paths after any divergence or reconvergence. */
#include "scoreboard.h"
#include <string.h>

struct exact_board {
    uint32_t n_regs;
    uint32_t pad;
    struct {
        lanemask_t pending, load; /* load: those of the pending lanes that wait for memory */
    } reg[];
};

static size_t exact_size(uint32_t n_regs) { return sizeof(struct exact_board) + n_regs * 2 * sizeof(lanemask_t); }

static void exact_start(void *state, uint32_t n_regs) {
    struct exact_board *b = state;
    memset(b, 0, exact_size(n_regs));
    b->n_regs = n_regs;
}

static enum sb_verdict exact_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    const struct exact_board *b = state;
    enum sb_verdict verdict = SB_READY;
    (void)board;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        uint16_t reg = i < r->n_read ? r->read[i] : r->write[i - r->n_read];
        if (b->reg[reg].load & lanes)
            return SB_WAIT_LOAD;
        if (b->reg[reg].pending & lanes)
            verdict = SB_WAIT_ARITH;
    }
    return verdict;
}

static void exact_issue(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool is_load) {
    struct exact_board *b = state;
    (void)board;
    for (unsigned i = 0; i < r->n_write; i++) {
        b->reg[r->write[i]].pending |= lanes;
        if (is_load)
            b->reg[r->write[i]].load |= lanes;
    }
}

static void exact_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    struct exact_board *b = state;
    (void)board;
    for (unsigned i = 0; i < r->n_write; i++) {
        b->reg[r->write[i]].pending &= ~lanes;
        b->reg[r->write[i]].load &= ~lanes;
    }
}

static int exact_waits_for(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    const struct exact_board *b = state;
    (void)board;
    for (unsigned i = 0; i < (unsigned)r->n_read + r->n_write; i++) {
        uint16_t reg = i < r->n_read ? r->read[i] : r->write[i - r->n_read];
        if (b->reg[reg].pending & lanes)
            return reg;
    }
    return -1;
}

/* Returns the number of bits: one for each register and lane. */
static uint32_t exact_bits(uint32_t n_regs, uint32_t lanes) { return n_regs * lanes; }

const struct scoreboard_ops scoreboard_exact = {
    .name = "exact",
    .size = exact_size,
    .start = exact_start,
    .check = exact_check,
    .issue = exact_issue,
    .writeback = exact_writeback,
    .waits_for = exact_waits_for,
    .bits = exact_bits,
};
