#include "shared_banks.h"
#include <assert.h>
#include <string.h>

/* True when lane l wants word base + l: every bank is used once. Most accesses are like this or the next. */
static bool adjacent_words(const uint64_t *offset) {
    uint64_t wrong = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        wrong |= (offset[l] >> 2) ^ ((offset[0] >> 2) + l);
    return wrong == 0;
}

static bool one_word(const uint64_t *offset) {
    uint64_t wrong = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        wrong |= (offset[l] >> 2) ^ (offset[0] >> 2);
    return wrong == 0;
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
            unsigned bank = (unsigned)w & (b->banks - 1), i = 0;
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
    assert(b->banks <= BANKS_MAX && (b->banks & (b->banks - 1)) == 0 && bytes >= 1);
    if (bytes <= b->width) {
        if (lanes == LANES_ALL &&
            (one_word(offset) || (b->banks >= WARP_LANES && b->width == 4 && adjacent_words(offset))))
            return 1;
        return most_words(b, offset, lanes, bytes);
    }
    unsigned part = WARP_LANES, cycles = 0;
    while (part > 1 && part * bytes > WARP_LANES * b->width)
        part /= 2;
    for (unsigned first = 0; first < WARP_LANES; first += part) {
        lanemask_t these = lanes & ((1u << part) - 1) << first;
        if (these)
            cycles += most_words(b, offset, these, bytes);
    }
    return cycles ? cycles : 1;
}

unsigned shared_atomic_cycles(const struct shared_banks *b, const uint64_t *offset, lanemask_t lanes, unsigned bytes) {
    assert(b->banks <= BANKS_MAX && (b->banks & (b->banks - 1)) == 0 && bytes >= 1);
    uint8_t turns[BANKS_MAX] = {0};
    unsigned most = 1, shift = (unsigned)__builtin_ctz(b->width);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t at = offset[__builtin_ctz(lanes)];
        for (uint64_t w = at >> shift; w <= (at + bytes - 1) >> shift; w++) {
            unsigned t = ++turns[w & (b->banks - 1)];
            most = t > most ? t : most;
        }
    }
    return most;
}
