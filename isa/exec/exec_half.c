/* f16, f16x2, bf16 and bf16x2: arithmetic rounded to nearest (PTX ISA 9.0, section 9.7.4), setp and set (sections 9.7.6
 * and 9.7.7).
 *
 * Operands widen to f32. f16 sums, differences and products, and bf16 sums, are exact in f32, or rounded to 24 = 2 * 11
 * + 2 bits, which makes the second rounding harmless (Figueroa, "When is double rounding innocuous?", 1995). The f16
 * fma adds its exact product in f32, rounded to odd. bf16 products can leave f32's range, so they and the bf16 fma are
 * computed in double and rounded to odd. .relu turns everything except numbers above zero and NaN into +0.
 *
 * fma.oob gives +0 if a or b is the NaN that tensor copies write for elements out of bounds. PTX does not specify this
 * NaN. On hardware it is 0x7ff7 with either sign, in both formats. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "half_lanes.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* ---- arithmetic ---- */

enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA };
enum half_limit { LIMIT_NONE, LIMIT_SAT, LIMIT_RELU };

FP_INLINE float half_limited(float x, enum half_limit limit) {
    if (limit == LIMIT_SAT)
        return f32_result(x, 0, 1);
    if (limit == LIMIT_RELU)
        return x <= 0.0f ? 0.0f : x;
    return x;
}

/* ---- operations that are computed in f32 ---- */
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
/* Computes a * b, or a * b + c, in double. */
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
/* Computes f16 operations with the processor's conversions, which round to nearest even; values that are too large
 * become infinite. */
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
/* Returns a * b + c rounded to odd in f32. Rounding down and rounding up give one number if the sum is exact, and
 * otherwise two neighbouring numbers. The result is then the neighbour whose last bit is odd. For an exact zero,
 * rounding up and rounding to nearest give the same zero, which is the result. */
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
/* Works as half_limited(), for a vector. */
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
/* defines the f16 functions of an operation, scalar and pair; arguments: name, operation, ftz, limit */
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
/* Sets d to r, the fma of a, b and a third source, or to +0 if a or b is the out-of-bounds NaN. */
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

/* Changes the sign bit, for neg and abs. With `ftz`, first turns a subnormal number into zero. */
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
        uint16_t x = a[i], y = b[i], sign = (x ^ y) & 0x8000u; /* sign of a * b, even for a NaN */
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

/* Families of rows. */
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

/* ---- setp and set ----
 *
 * A comparison is one of 14 functions on floats that return a mask. Sources are widened first; BoolOp works on masks.
 * For scalars, p|q are BoolOp(t, c) and BoolOp(!t, c). For pairs, p is the result of the low half and q of the high
 * half. set gives all ones in an integer and 1.0 in a floating-point destination, in each half of a pair. */

typedef uint32_t compare_fn(const float *x, const float *y);
#define COMPARE(cmp)                                                                                                   \
    static __attribute__((noinline)) uint32_t compare_##cmp(const float *x, const float *y) {                          \
        uint32_t m = 0;                                                                                                \
        LANES(l) m |= f32_compare(CMP_##cmp, x[l], y[l]) ? lane_bit[l] : 0;                                            \
        return m;                                                                                                      \
    }
COMPARE(EQ)
COMPARE(NE)
COMPARE(LT)
COMPARE(LE)
COMPARE(GT)
COMPARE(GE)
COMPARE(EQU)
COMPARE(NEU)
COMPARE(LTU)
COMPARE(LEU)
COMPARE(GTU)
COMPARE(GEU)
COMPARE(NUM)
COMPARE(NAN)

static void widen_f16(float *x, const uint16_t *h) { LANES(l) x[l] = f32_from_f16(h[l]); }
static void widen_ftz(float *x, const uint16_t *h) {
    LANES(l) {
        uint32_t b = h[l];
        b = b & 0x7c00u ? b : b & 0x8000u;
        x[l] = f32_from_f16((uint16_t)b);
    }
}
static void widen_bf16(float *x, const uint16_t *h) { LANES(l) x[l] = f32_from_bf16(h[l]); }
typedef void widen_fn(float *x, const uint16_t *h);

/* writes the comparison masks: t[0] for scalars; t[0] for the low and t[1] for the high halves of pairs */
static __attribute__((noinline)) void compare_scalars(compare_fn *compare, widen_fn *widen, const void *a,
                                                      const void *b, uint32_t t[2]) {
    float x[WARP_LANES], y[WARP_LANES];
    widen(x, a);
    widen(y, b);
    t[0] = compare(x, y);
    t[1] = ~t[0];
}
static __attribute__((noinline)) void compare_pairs(compare_fn *compare, widen_fn *widen, const void *a, const void *b,
                                                    uint32_t t[2]) {
    const uint32_t *p = a, *q = b;
    for (int half = 0; half < 2; half++) {
        uint16_t x[WARP_LANES], y[WARP_LANES];
        uint32_t scalars[2];
        LANES(l) {
            x[l] = (uint16_t)(p[l] >> 16 * half);
            y[l] = (uint16_t)(q[l] >> 16 * half);
        }
        compare_scalars(compare, widen, x, y, scalars);
        t[half] = scalars[0];
    }
}

/* returns BoolOp(t, c); without a BoolOp, c is not read */
static uint32_t combined(uint32_t t, int boolean, const void *c) {
    if (boolean == OPN_NONE)
        return t;
    uint32_t with = *(const uint32_t *)c;
    return boolean == OPN_AND ? t & with : boolean == OPN_OR ? t | with : t ^ with;
}
static __attribute__((noinline)) void put_predicates(const uint32_t t[2], int boolean, void *d, void *d2,
                                                     const void *c) {
    uint32_t p = combined(t[0], boolean, c), q = combined(t[1], boolean, c);
    *(uint32_t *)d = p;
    *(uint32_t *)d2 = q;
}
static __attribute__((noinline)) void put_16(const uint32_t t[2], int boolean, uint32_t truth, uint16_t *d,
                                             const void *c) {
    uint32_t m = combined(t[0], boolean, c);
    LANES(l) d[l] = (uint16_t)(m & lane_bit[l] ? truth : 0);
}
static __attribute__((noinline)) void put_32(const uint32_t t[2], int boolean, uint32_t truth, uint32_t *d,
                                             const void *c) {
    uint32_t m = combined(t[0], boolean, c);
    LANES(l) d[l] = m & lane_bit[l] ? truth : 0;
}
static __attribute__((noinline)) void put_pair(const uint32_t t[2], int boolean, uint32_t truth, uint32_t *d,
                                               const void *c) {
    uint32_t lo = combined(t[0], boolean, c), hi = combined(t[1], boolean, c);
    LANES(l) d[l] = (lo & lane_bit[l] ? truth : 0) | (hi & lane_bit[l] ? truth << 16 : 0);
}

/* Makes one lane function from a comparison, a source format, a boolean operator and the kind of destination. */
#define COMPARE_FN(name, cmp, compare, widen, put)                                                                     \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        uint32_t t[2];                                                                                                 \
        (void)d2, (void)e;                                                                                             \
        compare(compare_##cmp, widen, a, b, t);                                                                        \
        put;                                                                                                           \
    }
#define SETP_FN(cmp, tag, boolean, compare, widen)                                                                     \
    COMPARE_FN(setp_##cmp##_##tag##_##boolean, cmp, compare, widen, put_predicates(t, OPN_##boolean, d, d2, c))
#define SET_FN(cmp, tag, boolean, compare, widen, put, truth)                                                          \
    COMPARE_FN(set_##cmp##_##tag##_##boolean, cmp, compare, widen, put(t, OPN_##boolean, truth, d, c))

#define COMPARE_FNS(cmp)                                                                                               \
    COMPARE_BOOL_FNS(cmp, NONE)                                                                                        \
    COMPARE_BOOL_FNS(cmp, AND)                                                                                         \
    COMPARE_BOOL_FNS(cmp, OR)                                                                                          \
    COMPARE_BOOL_FNS(cmp, XOR)
#define COMPARE_BOOL_FNS(cmp, boolean)                                                                                 \
    SETP_FN(cmp, f16, boolean, compare_scalars, widen_f16)                                                             \
    SETP_FN(cmp, ftz_f16, boolean, compare_scalars, widen_ftz)                                                         \
    SETP_FN(cmp, bf16, boolean, compare_scalars, widen_bf16)                                                           \
    SETP_FN(cmp, f16x2, boolean, compare_pairs, widen_f16)                                                             \
    SETP_FN(cmp, ftz_f16x2, boolean, compare_pairs, widen_ftz)                                                         \
    SETP_FN(cmp, bf16x2, boolean, compare_pairs, widen_bf16)                                                           \
    SET_FN(cmp, f16_u16, boolean, compare_scalars, widen_f16, put_16, 0xffffu)                                         \
    SET_FN(cmp, f16_u32, boolean, compare_scalars, widen_f16, put_32, 0xffffffffu)                                     \
    SET_FN(cmp, f16_f16, boolean, compare_scalars, widen_f16, put_16, 0x3c00u)                                         \
    SET_FN(cmp, ftz_f16_u16, boolean, compare_scalars, widen_ftz, put_16, 0xffffu)                                     \
    SET_FN(cmp, ftz_f16_u32, boolean, compare_scalars, widen_ftz, put_32, 0xffffffffu)                                 \
    SET_FN(cmp, ftz_f16_f16, boolean, compare_scalars, widen_ftz, put_16, 0x3c00u)                                     \
    SET_FN(cmp, bf16_u16, boolean, compare_scalars, widen_bf16, put_16, 0xffffu)                                       \
    SET_FN(cmp, bf16_u32, boolean, compare_scalars, widen_bf16, put_32, 0xffffffffu)                                   \
    SET_FN(cmp, bf16_bf16, boolean, compare_scalars, widen_bf16, put_16, 0x3f80u)                                      \
    SET_FN(cmp, f16_bf16, boolean, compare_scalars, widen_f16, put_16, 0x3f80u)                                        \
    SET_FN(cmp, f16x2_u32, boolean, compare_pairs, widen_f16, put_pair, 0xffffu)                                       \
    SET_FN(cmp, f16x2_f16x2, boolean, compare_pairs, widen_f16, put_pair, 0x3c00u)                                     \
    SET_FN(cmp, ftz_f16x2_u32, boolean, compare_pairs, widen_ftz, put_pair, 0xffffu)                                   \
    SET_FN(cmp, ftz_f16x2_f16x2, boolean, compare_pairs, widen_ftz, put_pair, 0x3c00u)                                 \
    SET_FN(cmp, bf16x2_u32, boolean, compare_pairs, widen_bf16, put_pair, 0xffffu)                                     \
    SET_FN(cmp, bf16x2_bf16x2, boolean, compare_pairs, widen_bf16, put_pair, 0x3f80u)
COMPARE_FNS(EQ)
COMPARE_FNS(NE)
COMPARE_FNS(LT)
COMPARE_FNS(LE)
COMPARE_FNS(GT)
COMPARE_FNS(GE)
COMPARE_FNS(EQU)
COMPARE_FNS(NEU)
COMPARE_FNS(LTU)
COMPARE_FNS(LEU)
COMPARE_FNS(GTU)
COMPARE_FNS(GEU)
COMPARE_FNS(NUM)
COMPARE_FNS(NAN)

/* Makes the rows of setp and set for one comparison. In COMPARISON_ROWS, C is the type of the predicate that a boolean
 * operator combines with the comparison; NONE: there is no such source. */
#define COMPARISON(cmp)                                                                                                \
    COMPARISON_ROWS(cmp, NONE, NONE)                                                                                   \
    COMPARISON_ROWS(cmp, AND, PRED)                                                                                    \
    COMPARISON_ROWS(cmp, OR, PRED)                                                                                     \
    COMPARISON_ROWS(cmp, XOR, PRED)
#define COMPARISON_ROWS(cmp, boolean, C)                                                                               \
    SETP_ROW(cmp, F16, boolean, C, 0, f16, 1)                                                                          \
    SETP_ROW(cmp, F16, boolean, C, FLAG(FTZ), ftz_f16, 1)                                                              \
    SETP_ROW(cmp, BF16, boolean, C, 0, bf16, 1)                                                                        \
    SETP_ROW(cmp, F16X2, boolean, C, 0, f16x2, 0)                                                                      \
    SETP_ROW(cmp, F16X2, boolean, C, FLAG(FTZ), ftz_f16x2, 0)                                                          \
    SETP_ROW(cmp, BF16X2, boolean, C, 0, bf16x2, 0)                                                                    \
    SET_SCALAR_ROWS(cmp, F16, boolean, C, 0, f16)                                                                      \
    SET_SCALAR_ROWS(cmp, F16, boolean, C, FLAG(FTZ), ftz_f16)                                                          \
    SET_SCALAR_ROWS(cmp, BF16, boolean, C, 0, bf16)                                                                    \
    SET_ROW(cmp, F16, F16, boolean, C, 0, f16_f16)                                                                     \
    SET_ROW(cmp, F16, F16, boolean, C, FLAG(FTZ), ftz_f16_f16)                                                         \
    SET_ROW(cmp, BF16, BF16, boolean, C, 0, bf16_bf16)                                                                 \
    SET_ROW(cmp, BF16, F16, boolean, C, 0, f16_bf16)                                                                   \
    SET_PAIR_ROWS(cmp, F16X2, boolean, C, 0, f16x2)                                                                    \
    SET_PAIR_ROWS(cmp, F16X2, boolean, C, FLAG(FTZ), ftz_f16x2)                                                        \
    SET_PAIR_ROWS(cmp, BF16X2, boolean, C, 0, bf16x2)                                                                  \
    SET_ROW(cmp, F16X2, F16X2, boolean, C, 0, f16x2_f16x2)                                                             \
    SET_ROW(cmp, F16X2, F16X2, boolean, C, FLAG(FTZ), ftz_f16x2_f16x2)                                                 \
    SET_ROW(cmp, BF16X2, BF16X2, boolean, C, 0, bf16x2_bf16x2)
#define COMPARE_FORM(cmp, boolean, flags) (FORM(CMP, cmp) | FORM(OPN, boolean) | (flags))
#define SETP_ROW(cmp, S, boolean, C, flags, tag, optional)                                                             \
    LANE_FN(SETP, T1(S), COMPARE_FORM(cmp, boolean, flags), INT_OTHER, OPDS(PRED, PRED, S, S, C, NONE),                \
            setp_##cmp##_##tag##_##boolean, .d2_optional = optional)
#define SET_ROW(cmp, D, S, boolean, C, flags, tag)                                                                     \
    LANE_FN(SET, T2(D, S), COMPARE_FORM(cmp, boolean, flags), INT_OTHER, DABC(D, S, S, C),                             \
            set_##cmp##_##tag##_##boolean, )
#define SET_SCALAR_ROWS(cmp, S, boolean, C, flags, tag)                                                                \
    SET_ROW(cmp, U16, S, boolean, C, flags, tag##_u16)                                                                 \
    SET_ROW(cmp, S16, S, boolean, C, flags, tag##_u16)                                                                 \
    SET_ROW(cmp, U32, S, boolean, C, flags, tag##_u32)                                                                 \
    SET_ROW(cmp, S32, S, boolean, C, flags, tag##_u32)
#define SET_PAIR_ROWS(cmp, S, boolean, C, flags, tag)                                                                  \
    SET_ROW(cmp, U32, S, boolean, C, flags, tag##_u32)                                                                 \
    SET_ROW(cmp, S32, S, boolean, C, flags, tag##_u32)

#define ROWS_FILE "isa/exec/exec_half.c"
#define ROWS_NAME half
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- arithmetic ---- */
ARITHMETIC(ADD, add, 0)
ARITHMETIC(ADD, add, FORM(RND, RN))
ARITHMETIC(SUB, sub, 0)
ARITHMETIC(SUB, sub, FORM(RND, RN))
ARITHMETIC(MUL, mul, 0)
ARITHMETIC(MUL, mul, FORM(RND, RN))

ROW3(F16, 0, fma_f16)
ROW3(F16, FLAG(FTZ), fma_ftz_f16)
ROW3(F16, FLAG(SAT), fma_sat_f16)
ROW3(F16, FLAG(FTZ) | FLAG(SAT), fma_ftz_sat_f16)
ROW3(F16, FLAG(RELU), fma_relu_f16)
ROW3(F16, FLAG(FTZ) | FLAG(RELU), fma_ftz_relu_f16)
ROW3(BF16, 0, fma_bf16)
ROW3(BF16, FLAG(RELU), fma_relu_bf16)
ROW3(F16, FLAG(OOB), fma_oob_f16)
ROW3(F16, FLAG(OOB) | FLAG(RELU), fma_relu_oob_f16)
ROW3(BF16, FLAG(OOB), fma_oob_bf16)
ROW3(BF16, FLAG(OOB) | FLAG(RELU), fma_relu_oob_bf16)

/* bf16 uses the functions of f16 without .ftz, since both formats have the sign in bit 15 */
ROW1(ABS, F16, 0, abs_f16)
ROW1(ABS, F16, FLAG(FTZ), abs_ftz_f16)
ROW1(ABS, BF16, 0, abs_f16)
ROW1(NEG, F16, 0, neg_f16)
ROW1(NEG, F16, FLAG(FTZ), neg_ftz_f16)
ROW1(NEG, BF16, 0, neg_f16)

MINMAX(MIN, min)
MINMAX(MAX, max)

/* ---- setp and set ---- */
COMPARISON(EQ)
COMPARISON(NE)
COMPARISON(LT)
COMPARISON(LE)
COMPARISON(GT)
COMPARISON(GE)
COMPARISON(EQU)
COMPARISON(NEU)
COMPARISON(LTU)
COMPARISON(LEU)
COMPARISON(GTU)
COMPARISON(GEU)
COMPARISON(NUM)
COMPARISON(NAN)
/* clang-format on */
#endif
