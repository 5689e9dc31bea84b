#include "shared_banks.h"
#include <assert.h>
#include <string.h>

/* The banks are as many as the configuration says, mostly a power of two. */
static inline unsigned bank_of(const struct shared_banks *b, uint64_t word) {
    return b->banks & (b->banks - 1) ? (unsigned)(word % b->banks) : (unsigned)word & (b->banks - 1);
}

/* True when lane l wants word base + l, so that every bank is used once, or all want one word. Most accesses are so. */
static bool adjacent_or_one_word(const uint64_t *offset, unsigned shift) {
    uint64_t base = offset[0] >> shift, not_adjacent = 0, not_one = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t word = offset[l] >> shift;
        not_adjacent |= word ^ (base + l);
        not_one |= word ^ base;
    }
    return not_adjacent == 0 || not_one == 0;
}

/* Most different words that one bank has to serve. Each bank keeps the words it has seen; they are few. */
static unsigned most_words(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    uint32_t seen[BANKS_MAX][WARP_LANES];
    uint8_t n[BANKS_MAX];
    unsigned most = 1, shift = (unsigned)__builtin_ctz(b->width);
    memset(n, 0, b->banks);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = offset[__builtin_ctz(lanes)];
        for (uint64_t w = at >> shift; w <= (at + bytes - 1) >> shift; w++) {
            unsigned bank = bank_of(b, w), i = 0;
            while (i < n[bank] && seen[bank][i] != (uint32_t)w)
                i++;
            if (i < n[bank] || i == WARP_LANES)
                continue;
            seen[bank][n[bank]++] = (uint32_t)w;
            most = n[bank] > most ? n[bank] : most;
        }
    }
    return most;
}

unsigned shared_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    assert(b->banks >= 1 && b->banks <= BANKS_MAX && bytes >= 1);
    if (lanes == LANES_ALL && bytes <= b->width && b->banks >= WARP_LANES &&
        adjacent_or_one_word(offset, (unsigned)__builtin_ctz(b->width)))
        return 1;
    return most_words(b, offset, lanes, bytes);
}

unsigned shared_atomic_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    assert(b->banks >= 1 && b->banks <= BANKS_MAX && bytes >= 1);
    uint8_t turns[BANKS_MAX] = {0};
    unsigned most = 1, shift = (unsigned)__builtin_ctz(b->width);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = offset[__builtin_ctz(lanes)];
        for (uint64_t w = at >> shift; w <= (at + bytes - 1) >> shift; w++) {
            unsigned t = ++turns[bank_of(b, w)];
            most = t > most ? t : most;
        }
    }
    return most;
}
