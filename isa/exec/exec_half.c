/* f16, f16x2, bf16 and bf16x2 arithmetic (PTX ISA 9.0, section 9.7.4), rounded to nearest.
 *
 * Halves widen to f32. f16 sums, differences and products are exact there, or rounded to 24 = 2 * 11 + 2 bits, which
 * makes the second rounding harmless (Figueroa, "When is double rounding innocuous?", 1995); likewise bf16 sums. The
 * f16 fma adds its exact product in f32, rounded to odd; bf16 products leave f32's range, so they and the bf16 fma are
 * computed in double and rounded to odd. .relu turns everything but numbers above zero and NaN into +0.
 *
 * fma.oob gives +0 where a or b is the NaN that tensor copies write for elements out of bounds. PTX does not say which
 * NaN that is; on hardware it is 0x7ff7 of either sign, in both formats. */
#include "half_lanes.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };
enum half_limit { LIMIT_NONE, LIMIT_SAT, LIMIT_RELU };

FP_INLINE float half_limited(float x, enum half_limit limit) {
    if (limit == LIMIT_SAT)
        return f32_result(x, 0, 1);
    if (limit == LIMIT_RELU)
        return x <= 0.0f ? 0.0f : x;
    return x;
}

/* Operations that f32 serves. */
FP_INLINE float half_compute(enum half_op op, float x, float y, float z) {
    switch (op) {
    case HALF_ADD:
        return x + y;
    case HALF_SUB:
        return x - y;
    case HALF_MUL:
        return x * y;
    default:
        return f32_add_odd(x * y, z);
    }
}
FP_INLINE void half_lanes(enum half_op op, bool bf16, bool ftz, enum half_limit limit, int n, uint16_t *d,
                          const uint16_t *a, const uint16_t *b, const uint16_t *c) {
    HALF_LANES(i, n) {
        float z = op == HALF_FMA ? half_widen(c[i], bf16, ftz) : 0.0f;
        float r = half_compute(op, half_widen(a[i], bf16, ftz), half_widen(b[i], bf16, ftz), z);
        d[i] = half_narrow(half_limited(r, limit), bf16, ftz);
    }
}
/* a * b, or a * b + c, through double. */
FP_INLINE void half_lanes_wide(enum half_op op, enum half_limit limit, int n, uint16_t *d, const uint16_t *a,
                               const uint16_t *b, const uint16_t *c) {
    float x[HALVES], y[HALVES], z[HALVES];
    HALF_LANES(i, n) {
        x[i] = f32_from_bf16(a[i]);
        y[i] = f32_from_bf16(b[i]);
        z[i] = op == HALF_FMA ? f32_from_bf16(c[i]) : 0.0f;
    }
    HALF_LANES(i, n) {
        double product = (double)x[i] * (double)y[i];
        x[i] = f32_odd(op == HALF_FMA ? f64_add_odd(product, z[i]) : product);
    }
    HALF_LANES(i, n)
    d[i] = bf16_from_f32(half_limited(x[i], limit), RND_RN);
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
/* f16 with the processor's conversions, which round to nearest even and make infinities of what is too large. */
FP_INLINE __m512 f16_vector_widen(const uint16_t *from, bool ftz) {
    const __m512 x = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
    const __m512i sign = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN));
    const __mmask16 small = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(0x1p-14f), _CMP_LT_OQ);
    return ftz ? _mm512_mask_mov_ps(x, small, _mm512_castsi512_ps(sign)) : x;
}
FP_INLINE void f16_vector_narrow(uint16_t *to, __m512 x, bool ftz) {
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    __m256i h = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (ftz) {
        const __mmask16 small = _mm256_testn_epi16_mask(h, _mm256_set1_epi16(0x7c00));
        h = _mm256_mask_mov_epi16(h, small, _mm256_and_si256(h, _mm256_set1_epi16(INT16_MIN)));
    }
    h = _mm256_mask_mov_epi16(h, nan, _mm256_set1_epi16(F16_NAN));
    _mm256_storeu_si256((__m256i *)(void *)to, h);
}
/* a * b + c rounded to odd in f32: of the sums rounded down and up, which are neighbours or the same, the one that has
 * an odd last bit. An exact zero is that of rounding up, which is that of rounding to nearest. */
FP_INLINE __m512 f32_vector_fma_odd(__m512 a, __m512 b, __m512 c) {
    const __m512 down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
                 up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return _mm512_mask_mov_ps(up, odd, down);
}
FP_INLINE __m512 f16_vector_compute(enum half_op op, __m512 x, __m512 y, __m512 z) {
    switch (op) {
    case HALF_ADD:
        return _mm512_add_ps(x, y);
    case HALF_SUB:
        return _mm512_sub_ps(x, y);
    case HALF_MUL:
        return _mm512_mul_ps(x, y);
    default:
        return f32_vector_fma_odd(x, y, z);
    }
}
/* As half_limited(). */
FP_INLINE __m512 f16_vector_limited(__m512 x, enum half_limit limit) {
    const __m512 zero = _mm512_setzero_ps(), one = _mm512_set1_ps(1.0f);
    if (limit == LIMIT_SAT) {
        x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, zero, _CMP_GT_OQ), x);
        return _mm512_mask_mov_ps(one, _mm512_cmp_ps_mask(x, one, _CMP_LT_OQ), x);
    }
    if (limit == LIMIT_RELU)
        return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LE_OQ), zero);
    return x;
}
FP_INLINE void f16_lanes(enum half_op op, bool ftz, enum half_limit limit, int n, uint16_t *d, const uint16_t *a,
                         const uint16_t *b, const uint16_t *c) {
    for (int i = 0; i < n; i += 16) {
        const __m512 z = op == HALF_FMA ? f16_vector_widen(c + i, ftz) : _mm512_setzero_ps();
        const __m512 r = f16_vector_compute(op, f16_vector_widen(a + i, ftz), f16_vector_widen(b + i, ftz), z);
        f16_vector_narrow(d + i, f16_vector_limited(r, limit), ftz);
    }
}
#else
FP_INLINE void f16_lanes(enum half_op op, bool ftz, enum half_limit limit, int n, uint16_t *d, const uint16_t *a,
                         const uint16_t *b, const uint16_t *c) {
    half_lanes(op, false, ftz, limit, n, d, a, b, c);
}
#endif

#define HALF_FN(name, call)                                                                                            \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        (void)d2, (void)c, (void)e;                                                                                    \
        call;                                                                                                          \
    }
/* for f16: a name, an operation, ftz and limit; scalar and pair */
#define F16_FN(name, op, ftz, limit)                                                                                   \
    HALF_FN(name##_f16, f16_lanes(op, ftz, limit, WARP_LANES, d, a, b, c))                                             \
    HALF_FN(name##_f16x2, f16_lanes(op, ftz, limit, HALVES, d, a, b, c))
#define BF16_FN(name, lanes)                                                                                           \
    HALF_FN(name##_bf16, lanes(WARP_LANES))                                                                            \
    HALF_FN(name##_bf16x2, lanes(HALVES))
#define BF16_ADD(n)      half_lanes(HALF_ADD, 1, 0, LIMIT_NONE, n, d, a, b, c)
#define BF16_SUB(n)      half_lanes(HALF_SUB, 1, 0, LIMIT_NONE, n, d, a, b, c)
#define BF16_MUL(n)      half_lanes_wide(HALF_MUL, LIMIT_NONE, n, d, a, b, c)
#define BF16_FMA(n)      half_lanes_wide(HALF_FMA, LIMIT_NONE, n, d, a, b, c)
#define BF16_FMA_RELU(n) half_lanes_wide(HALF_FMA, LIMIT_RELU, n, d, a, b, c)

#define F16_FNS(name, op)                                                                                              \
    F16_FN(name, op, 0, LIMIT_NONE)                                                                                    \
    F16_FN(name##_ftz, op, 1, LIMIT_NONE)                                                                              \
    F16_FN(name##_sat, op, 0, LIMIT_SAT)                                                                               \
    F16_FN(name##_ftz_sat, op, 1, LIMIT_SAT)
F16_FNS(add, HALF_ADD)
F16_FNS(sub, HALF_SUB)
F16_FNS(mul, HALF_MUL)
F16_FNS(fma, HALF_FMA)
F16_FN(fma_relu, HALF_FMA, 0, LIMIT_RELU)
F16_FN(fma_ftz_relu, HALF_FMA, 1, LIMIT_RELU)
BF16_FN(add, BF16_ADD)
BF16_FN(sub, BF16_SUB)
BF16_FN(mul, BF16_MUL)
BF16_FN(fma, BF16_FMA)
BF16_FN(fma_relu, BF16_FMA_RELU)

enum { OUT_OF_BOUNDS_NAN = 0x7ff7 };
/* `r` is the fma of a, b and something. */
FP_INLINE void half_out_of_bounds(int n, uint16_t *d, const uint16_t *a, const uint16_t *b, const uint16_t *r) {
    HALF_LANES(i, n) {
        bool out = ((a[i] & 0x7fffu) == OUT_OF_BOUNDS_NAN) | ((b[i] & 0x7fffu) == OUT_OF_BOUNDS_NAN);
        d[i] = out ? 0 : r[i];
    }
}
#define OOB_FN(name, fma, n)                                                                                           \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        uint16_t r[HALVES];                                                                                            \
        fma(r, d2, a, b, c, e);                                                                                        \
        half_out_of_bounds(n, d, a, b, r);                                                                             \
    }
#define OOB_FNS(fma, T)                                                                                                \
    OOB_FN(fma##_oob_##T, fma##_##T, WARP_LANES)                                                                       \
    OOB_FN(fma##_oob_##T##x2, fma##_##T##x2, HALVES)
OOB_FNS(fma, f16)
OOB_FNS(fma_relu, f16)
OOB_FNS(fma, bf16)
OOB_FNS(fma_relu, bf16)

/* sign changes: `change` of the flushed half h */
FP_INLINE void half_signs(bool ftz, bool negate, int n, uint16_t *d, const uint16_t *a) {
    HALF_LANES(i, n) {
        uint16_t h = f16_flush(a[i], ftz);
        d[i] = (uint16_t)(negate ? h ^ 0x8000u : h & 0x7fffu);
    }
}
#define SIGN_FN(name, ftz, negate)                                                                                     \
    HALF_FN(name, half_signs(ftz, negate, WARP_LANES, d, a); (void)b)                                                  \
    HALF_FN(name##x2, half_signs(ftz, negate, HALVES, d, a); (void)b)
SIGN_FN(abs_f16, 0, 0)
SIGN_FN(abs_ftz_f16, 1, 0)
SIGN_FN(neg_f16, 0, 1)
SIGN_FN(neg_ftz_f16, 1, 1)

FP_INLINE void half_minmax(bool bf16, bool max, bool ftz, bool nan, bool xorsign, int n, uint16_t *d, const uint16_t *a,
                           const uint16_t *b) {
    HALF_LANES(i, n) {
        uint16_t x = a[i], y = b[i], sign = (x ^ y) & 0x8000u; /* a NaN's sign counts too */
        x = xorsign ? x & 0x7fffu : x;
        y = xorsign ? y & 0x7fffu : y;
        float r = f32_minmax(half_widen(x, bf16, ftz), half_widen(y, bf16, ftz), max, nan, 0);
        uint16_t h = half_narrow(r, bf16, 0);
        d[i] = xorsign && r == r ? h | sign : h;
    }
}
#define MINMAX_FN(name, bf16, max, ftz, nan, xorsign)                                                                  \
    HALF_FN(name, half_minmax(bf16, max, ftz, nan, xorsign, WARP_LANES, d, a, b))                                      \
    HALF_FN(name##x2, half_minmax(bf16, max, ftz, nan, xorsign, HALVES, d, a, b))
#define MINMAX_FNS(word, max)                                                                                          \
    MINMAX_FN(word##_f16, 0, max, 0, 0, 0)                                                                             \
    MINMAX_FN(word##_nan_f16, 0, max, 0, 1, 0)                                                                         \
    MINMAX_FN(word##_xorsign_f16, 0, max, 0, 0, 1)                                                                     \
    MINMAX_FN(word##_nan_xorsign_f16, 0, max, 0, 1, 1)                                                                 \
    MINMAX_FN(word##_ftz_f16, 0, max, 1, 0, 0)                                                                         \
    MINMAX_FN(word##_ftz_nan_f16, 0, max, 1, 1, 0)                                                                     \
    MINMAX_FN(word##_ftz_xorsign_f16, 0, max, 1, 0, 1)                                                                 \
    MINMAX_FN(word##_ftz_nan_xorsign_f16, 0, max, 1, 1, 1)                                                             \
    MINMAX_FN(word##_bf16, 1, max, 0, 0, 0)                                                                            \
    MINMAX_FN(word##_nan_bf16, 1, max, 0, 1, 0)                                                                        \
    MINMAX_FN(word##_xorsign_bf16, 1, max, 0, 0, 1)                                                                    \
    MINMAX_FN(word##_nan_xorsign_bf16, 1, max, 0, 1, 1)
MINMAX_FNS(min, 0)
MINMAX_FNS(max, 1)

/* The rows of exec_half.def. */
#define PAIR_OF_F16  F16X2
#define PAIR_OF_BF16 BF16X2
#define ROW2(op, T, form, lat, function)                                                                               \
    LANE_FN(op, T1(T), form, lat, DAB(T, T, T), function, )                                                            \
    ROW2_PAIR(op, ROWS_PASTE(PAIR_OF_, T), form, lat, function##x2)
#define ROW2_PAIR(...)                         ROW2_PAIR_(__VA_ARGS__)
#define ROW2_PAIR_(op, P, form, lat, function) LANE_FN(op, T1(P), form, lat, DAB(P, P, P), function, )
#define ROW1(op, T, form, function)                                                                                    \
    LANE_FN(op, T1(T), form, INT_OTHER, DA(T, T), function, )                                                          \
    ROW1_PAIR(op, ROWS_PASTE(PAIR_OF_, T), form, function##x2)
#define ROW1_PAIR(...)                    ROW1_PAIR_(__VA_ARGS__)
#define ROW1_PAIR_(op, P, form, function) LANE_FN(op, T1(P), form, INT_OTHER, DA(P, P), function, )
#define ROW3(T, form, function)                                                                                        \
    LANE_FN(FMA, T1(T), (form) | FORM(RND, RN), F16, DABC(T, T, T, T), function, )                                     \
    ROW3_PAIR(ROWS_PASTE(PAIR_OF_, T), (form) | FORM(RND, RN), function##x2)
#define ROW3_PAIR(...)              LANE_FN3(__VA_ARGS__)
#define LANE_FN3(P, form, function) LANE_FN(FMA, T1(P), form, F16, DABC(P, P, P, P), function, )
#define ARITHMETIC(op, word, rnd)                                                                                      \
    ROW2(op, F16, rnd, F16, word##_f16)                                                                                \
    ROW2(op, F16, (rnd) | FLAG(FTZ), F16, word##_ftz_f16)                                                              \
    ROW2(op, F16, (rnd) | FLAG(SAT), F16, word##_sat_f16)                                                              \
    ROW2(op, F16, (rnd) | FLAG(FTZ) | FLAG(SAT), F16, word##_ftz_sat_f16)                                              \
    ROW2(op, BF16, rnd, F16, word##_bf16)
#define XORSIGN_ABS (FLAG(XORSIGN) | FLAG(ABS))
#define MINMAX(op, word)                                                                                               \
    ROW2(op, F16, 0, F16, word##_f16)                                                                                  \
    ROW2(op, F16, FLAG(NAN), F16, word##_nan_f16)                                                                      \
    ROW2(op, F16, XORSIGN_ABS, F16, word##_xorsign_f16)                                                                \
    ROW2(op, F16, XORSIGN_ABS | FLAG(NAN), F16, word##_nan_xorsign_f16)                                                \
    ROW2(op, F16, FLAG(FTZ), F16, word##_ftz_f16)                                                                      \
    ROW2(op, F16, FLAG(FTZ) | FLAG(NAN), F16, word##_ftz_nan_f16)                                                      \
    ROW2(op, F16, FLAG(FTZ) | XORSIGN_ABS, F16, word##_ftz_xorsign_f16)                                                \
    ROW2(op, F16, FLAG(FTZ) | XORSIGN_ABS | FLAG(NAN), F16, word##_ftz_nan_xorsign_f16)                                \
    ROW2(op, BF16, 0, F16, word##_bf16)                                                                                \
    ROW2(op, BF16, FLAG(NAN), F16, word##_nan_bf16)                                                                    \
    ROW2(op, BF16, XORSIGN_ABS, F16, word##_xorsign_bf16)                                                              \
    ROW2(op, BF16, XORSIGN_ABS | FLAG(NAN), F16, word##_nan_xorsign_bf16)

#define ROWS_FILE "isa/exec/exec_half.def"
#define ROWS_NAME half
#include "isa/rows_expand.h"
