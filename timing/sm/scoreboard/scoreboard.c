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

uint32_t sb_words_choose(const void *state, const struct sb_regs *r, uint32_t ready, uint32_t arith, uint32_t load) {
    const struct warp_board *b = state;
    const uint64_t *loads = b->bits + b->words;
    bool waits = false, for_load = false;
    for (unsigned i = 0; i < r->n_read; i++) {
        waits |= bit(b->bits, r->read[i]);
        for_load |= bit(loads, r->read[i]);
    }
    for (unsigned i = 0; i < r->n_write; i++) {
        waits |= bit(b->bits, r->write[i]);
        for_load |= bit(loads, r->write[i]);
    }
    return choose32(waits, choose32(for_load, load, arith), ready);
}

void sb_words_issue(void *state, const struct sb_regs *r, bool load) {
    struct warp_board *b = state;
    for (unsigned i = 0; i < r->n_write; i++) {
        const uint64_t m = 1ull << (r->write[i] % 64);
        b->bits[r->write[i] / 64] |= m;
        b->bits[b->words + r->write[i] / 64] |= load ? m : 0;
    }
}

void sb_words_writeback(void *state, const struct sb_regs *r) {
    struct warp_board *b = state;
    for (unsigned i = 0; i < r->n_write; i++) {
        const uint64_t m = ~(1ull << (r->write[i] % 64));
        b->bits[r->write[i] / 64] &= m;
        b->bits[b->words + r->write[i] / 64] &= m;
    }
}

static enum sb_verdict warp_check(const void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    (void)lanes;
    return (enum sb_verdict)sb_warp_choose(state, r, SB_READY, SB_WAIT_ARITH, SB_WAIT_LOAD);
}

static void warp_issue(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r, bool load) {
    (void)board;
    (void)lanes;
    sb_warp_issue(state, r, load);
}

static void warp_writeback(void *state, unsigned board, lanemask_t lanes, const struct sb_regs *r) {
    (void)board;
    (void)lanes;
    sb_warp_writeback(state, r);
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
