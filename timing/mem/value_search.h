#ifndef TIMING_VALUE_SEARCH_H
#define TIMING_VALUE_SEARCH_H
/* Searches in short arrays, such as the ways of a set. Vector instructions of the host compare several values. */
#include "isa/arith.h"

/* As many values as a vector register of the host holds. gcc splits wider vectors into scalars. */
#if defined __AVX512F__
enum { WIDE = 8 };
#elif defined __AVX2__
enum { WIDE = 4 };
#else
enum { WIDE = 2 };
#endif
typedef uint64_t wide __attribute__((vector_size(WIDE * sizeof(uint64_t)), aligned(sizeof(uint64_t)), may_alias));

/* Returns 0, 1, 2 and so on. */
static inline wide counted(void) {
    wide out = {0};
    for (int k = 0; k < WIDE; k++)
        out[k] = (uint64_t)k;
    return out;
}

/* Returns the index of the value that is `wanted`, or n if there is none. The value occurs at most once. The host
 * cannot predict the index, so the loop over vectors looks at all values. */
static inline uint32_t index_of(const uint64_t *value, uint32_t n, uint64_t wanted) {
    uint32_t i = 0;
    if (n >= WIDE) {
        wide after = counted() + 1, found = {0}; /* after: 1 + index */
        uint64_t any = 0;
        for (; i + WIDE <= n; i += WIDE, after += WIDE)
            found |= (wide)(*(const wide *)(value + i) == wanted) & after;
        for (int k = 0; k < WIDE; k++)
            any |= found[k];
        if (any)
            return (uint32_t)any - 1;
    }
    while (i < n && value[i] != wanted)
        i++;
    return i;
}

static inline uint64_t least_of(wide v) {
    uint64_t least = v[0];
    for (int k = 1; k < WIDE; k++)
        least = min64(v[k], least);
    return least;
}

/* Returns the index of the smallest value, the first one of several. Requires n > 0. */
static inline uint32_t index_of_least(const uint64_t *value, uint32_t n) {
    uint64_t least = value[0];
    uint32_t best = 0, i = 1;
    if (n >= WIDE) {
        wide low = *(const wide *)value, at = counted(), low_at = at;
        for (i = WIDE; i + WIDE <= n; i += WIDE) {
            const wide next = *(const wide *)(value + i), lower = (wide)(next < low);
            at += WIDE;
            low = (next & lower) | (low & ~lower);
            low_at = (at & lower) | (low_at & ~lower);
        }
        least = least_of(low);
        best = (uint32_t)least_of(low_at | (wide)(low != least));
    }
    for (; i < n; i++) {
        best = value[i] < least ? i : best;
        least = min64(value[i], least);
    }
    return best;
}
#endif
