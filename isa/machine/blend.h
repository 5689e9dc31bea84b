#ifndef ISA_MACHINE_BLEND_H
#define ISA_MACHINE_BLEND_H
/* Copies selected lanes of an array. The functions are inline, so that the code for each processor level
 * (isa/levels.h) has its own copy. */
#include "lane_vectors.h"

#define BLEND_VECTORS(T, name)                                                                                         \
    for (unsigned i = 0; i < n; i += VEC_BYTES / sizeof(T)) {                                                          \
        vec_##name yes, no;                                                                                            \
        memcpy(&yes, (const T *)from + i, sizeof yes);                                                                 \
        memcpy(&no, (const T *)to + i, sizeof no);                                                                     \
        no = vec_select_##name(vec_lanes_of_##name(m >> i), yes, no);                                                  \
        memcpy((T *)to + i, &no, sizeof no);                                                                           \
    }
#define BLEND_LOOP(T)                                                                                                  \
    for (unsigned l = 0; l < n; l++)                                                                                   \
        ((T *)to)[l] = m >> l & 1 ? ((const T *)from)[l] : ((T *)to)[l];

/* Copies the lanes of `m` among the first `n` (16 or 32) from `from` to `to`. Elements have `size` bytes, 1 to 16.
 * Use it only with a constant `size`; otherwise use blend_lanes(). */
static inline __attribute__((always_inline)) void blend_elems(void *restrict to, const void *restrict from, rowmask_t m,
                                                              unsigned n, unsigned size) {
    switch (size) {
    case 1:
        BLEND_LOOP(uint8_t)
        return;
    case 2:
#if defined(__AVX512BW__)
        if (n == WARP_LANES) {
            _mm512_mask_storeu_epi16(to, m, _mm512_loadu_si512(from));
            return;
        }
#endif
        BLEND_LOOP(uint16_t)
        return;
    case 4:
        BLEND_VECTORS(uint32_t, u32)
        return;
    case 8:
        BLEND_VECTORS(uint64_t, u64)
        return;
    default:
        for (; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            memcpy((unsigned char *)to + 16 * l, (const unsigned char *)from + 16 * l, 16);
        }
    }
}
#undef BLEND_LOOP
#undef BLEND_VECTORS
#endif
