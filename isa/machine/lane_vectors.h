#ifndef ISA_MACHINE_LANE_VECTORS_H
#define ISA_MACHINE_LANE_VECTORS_H
/* Vectors of lane values, as wide as the processor level (isa/levels.h) of the compiled file allows. */
#include "isa/types.h"
#include <string.h>
#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VEC_BYTES 64
#elif defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif

typedef uint64_t vec_u64 __attribute__((vector_size(VEC_BYTES)));
typedef uint32_t vec_u32 __attribute__((vector_size(VEC_BYTES)));

/* Returns true if any bit of the vector is set. */
static inline __attribute__((always_inline)) bool vec_any(const void *vector) {
    vec_u64 v = *(const vec_u64 *)vector;
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return (v[0] | v[1]) != 0;
#endif
}

/* Lane masks for vectors. vec_lanes_of_*() expands the lowest bits of a lane mask to one vector element per bit.
 * vec_select_*() returns `yes` for elements whose bit is set, else `no`. */
#if defined(__AVX512F__)
typedef __mmask8 vec_lanes_u64;
typedef __mmask16 vec_lanes_u32;
#define VEC_LANES(T, name)                                                                                             \
    static inline __attribute__((always_inline)) vec_lanes_##name vec_lanes_of_##name(rowmask_t m) {                   \
        return (vec_lanes_##name)m;                                                                                    \
    }
static inline __attribute__((always_inline)) vec_u64 vec_select_u64(vec_lanes_u64 k, vec_u64 yes, vec_u64 no) {
    return (vec_u64)_mm512_mask_mov_epi64((__m512i)no, k, (__m512i)yes);
}
static inline __attribute__((always_inline)) vec_u32 vec_select_u32(vec_lanes_u32 k, vec_u32 yes, vec_u32 no) {
    return (vec_u32)_mm512_mask_mov_epi32((__m512i)no, k, (__m512i)yes);
}
#else
#if defined(__AVX2__)
#define VEC_CHOOSE(k, yes, no) ((__typeof__(no))_mm256_blendv_epi8((__m256i)(no), (__m256i)(yes), (__m256i)(k)))
#else
#define VEC_CHOOSE(k, yes, no) ((no) ^ (((yes) ^ (no)) & (k)))
#endif
typedef vec_u64 vec_lanes_u64;
typedef vec_u32 vec_lanes_u32;
#define VEC_LANES(T, name)                                                                                             \
    static inline __attribute__((always_inline)) vec_lanes_##name vec_lanes_of_##name(rowmask_t m) {                   \
        static const T bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};                                                         \
        vec_##name bits;                                                                                               \
        memcpy(&bits, bit, sizeof bits);                                                                               \
        return (vec_##name)((bits & (T)m) == bits);                                                                    \
    }                                                                                                                  \
    static inline __attribute__((always_inline))                                                                       \
    vec_##name vec_select_##name(vec_lanes_##name k, vec_##name yes, vec_##name no) {                                  \
        return VEC_CHOOSE(k, yes, no);                                                                                 \
    }
#endif
VEC_LANES(uint64_t, u64)
VEC_LANES(uint32_t, u32)
#undef VEC_LANES
#undef VEC_CHOOSE

/* vec_put_u64() and vec_put_u32() store the elements of `*v`, zero-extended to 64 bits, at `to`. */
static inline __attribute__((always_inline)) void vec_put_u64(uint64_t *to, const vec_u64 *v) {
    memcpy(to, v, sizeof *v);
}
static inline __attribute__((always_inline)) void vec_put_u32(uint64_t *to, const vec_u32 *v) {
#if defined(__AVX512F__)
    const __m512i all = (__m512i)*v, low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(all)),
                  high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(all, 1));
#elif defined(__AVX2__)
    const __m256i all = (__m256i)*v, low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(all)),
                  high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(all, 1));
#else
    for (unsigned i = 0; i < VEC_BYTES / 4; i++)
        to[i] = (*v)[i];
#endif
#if VEC_BYTES > 16
    memcpy(to, &low, sizeof low);
    memcpy(to + VEC_BYTES / 8, &high, sizeof high);
#endif
}

/* Loads 32 words from `base` plus the byte offsets `at`, each below 2^31. */
static inline __attribute__((always_inline)) void vec_gather_lanes(uint32_t *to, const void *base, const uint32_t *at) {
#if defined(__AVX512F__)
    for (unsigned l = 0; l < WARP_LANES; l += 16)
        _mm512_storeu_si512(to + l, _mm512_i32gather_epi32(_mm512_loadu_si512(at + l), base, 1));
#elif defined(__AVX2__)
    for (unsigned l = 0; l < WARP_LANES; l += 8) {
        const __m256i offset = _mm256_loadu_si256((const __m256i *)(at + l));
        _mm256_storeu_si256((__m256i *)(to + l), _mm256_i32gather_epi32(base, offset, 1));
    }
#else
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(to + l, (const unsigned char *)base + at[l], sizeof *to);
#endif
}

/* Fills `to` with `n` copies (a multiple of 16) of a value of `size` bytes (a power of two). */
static inline __attribute__((always_inline)) void vec_fill(void *to, const void *value, unsigned n, unsigned size) {
    unsigned char *at = to;
    if (size > 8) {
        for (unsigned i = 0; i < n; i++)
            memcpy(at + i * size, value, size);
        return;
    }
    uint64_t one = 0;
    memcpy(&one, value, size);
    for (unsigned bits = 8 * size; bits < 64; bits *= 2)
        one |= one << bits;
    const vec_u64 all = one - (vec_u64){0};
    if (n * size < VEC_BYTES)
        memcpy(at, &all, n * size);
    else
        for (unsigned i = 0; i < n * size; i += VEC_BYTES)
            memcpy(at + i, &all, VEC_BYTES);
}

/* Copies `bytes` bytes; `bytes` is 16 times a power of two. */
static inline __attribute__((always_inline)) void vec_copy(void *to, const void *from, unsigned bytes) {
    vec_u64 v;
    if (bytes < VEC_BYTES) {
        memcpy(&v, from, bytes);
        memcpy(to, &v, bytes);
        return;
    }
    for (unsigned i = 0; i < bytes; i += VEC_BYTES) {
        memcpy(&v, (const unsigned char *)from + i, VEC_BYTES);
        memcpy((unsigned char *)to + i, &v, VEC_BYTES);
    }
}
#endif
