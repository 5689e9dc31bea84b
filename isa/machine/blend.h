#ifndef ISA_MACHINE_BLEND_H
#define ISA_MACHINE_BLEND_H
/* Some lanes of an array into another: inline, so that code for a level of the processor (isa/levels.h) has its own. */
#include "isa/types.h"
#include <string.h>
#if defined(__AVX512F__) && defined(__AVX512BW__)
#include <immintrin.h>
#define BLEND_MASKS 1
#else
#define BLEND_MASKS 0
#endif

#define BLEND_LOOP(T)                                                                                                  \
    do {                                                                                                               \
        T *t = to;                                                                                                     \
        const T *f = from;                                                                                             \
        for (unsigned l = 0; l < n; l++)                                                                               \
            t[l] = m >> l & 1 ? f[l] : t[l];                                                                           \
    } while (0)

static inline __attribute__((always_inline)) void blend_16(void *to, const void *from, lanemask_t m, unsigned n) {
#if BLEND_MASKS
    if (n == WARP_LANES) {
        _mm512_mask_storeu_epi16(to, m, _mm512_loadu_si512(from));
        return;
    }
#endif
    BLEND_LOOP(uint16_t);
}

static inline __attribute__((always_inline)) void blend_32(void *to, const void *from, lanemask_t m, unsigned n) {
#if BLEND_MASKS
    for (unsigned i = 0; i < n; i += 16)
        _mm512_mask_storeu_epi32((uint32_t *)to + i, (__mmask16)(m >> i),
                                 _mm512_loadu_si512((const uint32_t *)from + i));
#else
    BLEND_LOOP(uint32_t);
#endif
}

static inline __attribute__((always_inline)) void blend_64(void *to, const void *from, lanemask_t m, unsigned n) {
#if BLEND_MASKS
    for (unsigned i = 0; i < n; i += 8)
        _mm512_mask_storeu_epi64((uint64_t *)to + i, (__mmask8)(m >> i),
                                 _mm512_loadu_si512((const uint64_t *)from + i));
#else
    BLEND_LOOP(uint64_t);
#endif
}

/* Copies the lanes of `m` among the first `n` (16 or 32) from `from` to `to`: elements of `size` bytes, 1 to 16. For a
 * size that the compiler knows; else blend_lanes(). */
static inline __attribute__((always_inline)) void blend_elems(void *to, const void *from, lanemask_t m, unsigned n,
                                                              unsigned size) {
    switch (size) {
    case 1:
        BLEND_LOOP(uint8_t);
        return;
    case 2:
        blend_16(to, from, m, n);
        return;
    case 4:
        blend_32(to, from, m, n);
        return;
    case 8:
        blend_64(to, from, m, n);
        return;
    default:
        for (; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            memcpy((unsigned char *)to + 16 * l, (const unsigned char *)from + 16 * l, 16);
        }
    }
}
#undef BLEND_LOOP
#undef BLEND_MASKS
#endif
