/* The warp-wide scoreboard. At most one write to a register is outstanding, because an instruction with a WAW hazard
 * waits. So one bit per register is exact. */
#include "scoreboard.h"
#include <stddef.h>
#include <string.h>

static uint64_t low_bits(const uint16_t *list, unsigned n) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < n; i++)
        bits |= list[i] < SB_WORD ? 1ull << list[i] : 0;
    return bits;
}

struct sb_regs sb_regs_of(const uint16_t *read, uint8_t n_read, const uint16_t *write, uint8_t n_write,
                          uint8_t counter) {
    uint64_t written = low_bits(write, n_write);
    return (struct sb_regs){.read = read,
                            .write = write,
                            .n_read = n_read,
                            .n_write = n_write,
                            .counter = counter,
                            .low = low_bits(read, n_read) | written,
                            .wlow = written};
}

struct warp_board {
    uint64_t words;
    uint64_t bits[]; /* `words` words of pending bits, then `words` words of the pending bits that wait for memory */
};
_Static_assert(offsetof(struct warp_board, bits) == offsetof(struct sb_word, pending), "one word: struct sb_word");

static uint32_t words_for(uint32_t n_regs) { return (n_regs + 63) / 64; }

static size_t warp_size(uint32_t n_regs) {
    return sizeof(struct warp_board) + 2 * (size_t)words_for(n_regs) * sizeof(uint64_t);
}

static void warp_start(void *state, uint32_t n_regs) {
    struct warp_board *b = state;
    memset(b, 0, warp_size(n_regs));
    b->words = words_for(n_regs);
}

static inline bool bit(const uint64_t *bits, uint16_t r) { return bits[r / 64] >> (r % 64) & 1; }

static enum sb_verdict warp_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    const struct warp_board *b = state;
    const uint64_t *load = b->bits + b->words;
    enum sb_verdict verdict = SB_READY;
    (void)board;
    (void)lanes;
    if (b->words == 1) /* common case */
        return sb_word_check(state, r);
    for (unsigned i = 0; i < r->n_read; i++)
        if (bit(b->bits, r->read[i])) {
            if (bit(load, r->read[i]))
                return SB_WAIT_LOAD;
            verdict = SB_WAIT_ARITH;
        }
    for (unsigned i = 0; i < r->n_write; i++)
        if (bit(b->bits, r->write[i])) {
            if (bit(load, r->write[i]))
                return SB_WAIT_LOAD;
            verdict = SB_WAIT_ARITH;
        }
    return verdict;
}

static void warp_issue(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool is_load) {
    struct warp_board *b = state;
    uint64_t *load = b->bits + b->words;
    (void)board;
    (void)lanes;
    if (b->words == 1) {
        sb_word_issue(state, r, is_load);
        return;
    }
    for (unsigned i = 0; i < r->n_write; i++) {
        uint64_t m = 1ull << (r->write[i] % 64);
        b->bits[r->write[i] / 64] |= m;
        if (is_load)
            load[r->write[i] / 64] |= m;
    }
}

static void warp_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    struct warp_board *b = state;
    uint64_t *load = b->bits + b->words;
    (void)board;
    (void)lanes;
    if (b->words == 1) {
        sb_word_writeback(state, r);
        return;
    }
    for (unsigned i = 0; i < r->n_write; i++) {
        uint64_t m = ~(1ull << (r->write[i] % 64));
        b->bits[r->write[i] / 64] &= m;
        load[r->write[i] / 64] &= m;
    }
}

static int warp_waits_for(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    const struct warp_board *b = state;
    (void)board;
    (void)lanes;
    for (unsigned i = 0; i < r->n_read; i++)
        if (bit(b->bits, r->read[i]))
            return r->read[i];
    for (unsigned i = 0; i < r->n_write; i++)
        if (bit(b->bits, r->write[i]))
            return r->write[i];
    return -1;
}

/* Returns one bit per register. */
static uint32_t warp_bits(uint32_t n_regs, uint32_t lanes) {
    (void)lanes;
    return n_regs;
}

const struct scoreboard_ops scoreboard_warp = {
    .name = "warp",
    .size = warp_size,
    .start = warp_start,
    .check = warp_check,
    .issue = warp_issue,
    .writeback = warp_writeback,
    .waits_for = warp_waits_for,
    .bits = warp_bits,
};
