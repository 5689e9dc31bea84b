/* Arithmetic on f32 and f64, and on f32 with 16-bit sources (PTX ISA 9.0, sections 9.7.3 and 9.7.5). */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"
#include "isa/softfloat.h"
#include <fenv.h>
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* F32_OP1_, F32_OP2_ and F32_OP3_ each make one row: an f32 operation with one, two or three sources, in one rounding
 * mode. f32_<fn>() of softfloat.h computes the result. The macros that follow make the rows of all modifiers (.ftz,
 * .sat) that an operation has. */
#define F32_OP1_(name, op, fn, rnd, lat, flags, ftz)                                                                   \
    LANE(name, op, T1(F32), FORM(RND, rnd) | (flags), lat, DA(F32, F32),                                               \
         d = f32_result(f32_##fn(f32_flush(a, ftz), RND_##rnd), ftz, 0))
#define F32_OP2_(name, op, fn, rnd, lat, flags, ftz, sat)                                                              \
    LANE(name, op, T1(F32), FORM(RND, rnd) | (flags), lat, DAB(F32, F32, F32),                                         \
         d = f32_result(f32_##fn(f32_flush(a, ftz), f32_flush(b, ftz), RND_##rnd), ftz, sat))
#define F32_OP3_(name, op, fn, rnd, lat, flags, ftz, sat)                                                              \
    LANE(name, op, T1(F32), FORM(RND, rnd) | (flags), lat, DABC(F32, F32, F32, F32),                                   \
         d = f32_result(f32_##fn(f32_flush(a, ftz), f32_flush(b, ftz), f32_flush(c, ftz), RND_##rnd), ftz, sat))

/* rcp sqrt: .ftz */
#define F32_OP1(op, fn, rnd, lat)                                                                                      \
    F32_OP1_(fn##_##rnd##_f32, op, fn, rnd, lat, 0, 0)                                                                 \
    F32_OP1_(fn##_##rnd##_ftz_f32, op, fn, rnd, lat, FLAG(FTZ), 1)
/* Makes the rows of an operation that rounds toward zero, down and up. */
#define DIRECTED(X, op, fn, lat) X(op, fn, RZ, lat) X(op, fn, RM, lat) X(op, fn, RP, lat)
/* div: .ftz */
#define F32_DIV(rnd)                                                                                                   \
    F32_OP2_(div_##rnd##_f32, DIV, div, rnd, F32_DIV, 0, 0, 0)                                                         \
    F32_OP2_(div_##rnd##_ftz_f32, DIV, div, rnd, F32_DIV, FLAG(FTZ), 1, 0)
/* rows of add, sub and mul, with and without .ftz and .sat */
#define F32_OP2(op, fn, rnd, lat)                                                                                      \
    F32_OP2_(fn##_##rnd##_f32, op, fn, rnd, lat, 0, 0, 0)                                                              \
    F32_OP2_(fn##_##rnd##_ftz_f32, op, fn, rnd, lat, FLAG(FTZ), 1, 0)                                                  \
    F32_OP2_(fn##_##rnd##_sat_f32, op, fn, rnd, lat, FLAG(SAT), 0, 1)                                                  \
    F32_OP2_(fn##_##rnd##_ftz_sat_f32, op, fn, rnd, lat, FLAG(FTZ) | FLAG(SAT), 1, 1)
/* fma, and mad, which is the same operation */
#define F32_FMA(rnd)                                                                                                   \
    F32_OP3_(fma_##rnd##_f32, FMA, fma, rnd, F32_FMA, 0, 0, 0)                                                         \
    F32_OP3_(fma_##rnd##_ftz_f32, FMA, fma, rnd, F32_FMA, FLAG(FTZ), 1, 0)                                             \
    F32_OP3_(fma_##rnd##_sat_f32, FMA, fma, rnd, F32_FMA, FLAG(SAT), 0, 1)                                             \
    F32_OP3_(fma_##rnd##_ftz_sat_f32, FMA, fma, rnd, F32_FMA, FLAG(FTZ) | FLAG(SAT), 1, 1)                             \
    F32_MAD(MAD, rnd, FORM(RND, rnd))
#define F32_MAD(op, rnd, form)                                                                                         \
    LANE_FN(op, T1(F32), form, F32_FMA, DABC(F32, F32, F32, F32), fma_##rnd##_f32, )                                   \
    LANE_FN(op, T1(F32), (form) | FLAG(FTZ), F32_FMA, DABC(F32, F32, F32, F32), fma_##rnd##_ftz_f32, )                 \
    LANE_FN(op, T1(F32), (form) | FLAG(SAT), F32_FMA, DABC(F32, F32, F32, F32), fma_##rnd##_sat_f32, )                 \
    LANE_FN(op, T1(F32), (form) | FLAG(FTZ) | FLAG(SAT), F32_FMA, DABC(F32, F32, F32, F32), fma_##rnd##_ftz_sat_f32, )
/* add sub mul without a rounding modifier: rounded to nearest */
#define F32_DEFAULT(op, fn, lat)                                                                                       \
    LANE_FN(op, T1(F32), 0, lat, DAB(F32, F32, F32), fn##_RN_f32, )                                                    \
    LANE_FN(op, T1(F32), FLAG(FTZ), lat, DAB(F32, F32, F32), fn##_RN_ftz_f32, )                                        \
    LANE_FN(op, T1(F32), FLAG(SAT), lat, DAB(F32, F32, F32), fn##_RN_sat_f32, )                                        \
    LANE_FN(op, T1(F32), FLAG(FTZ) | FLAG(SAT), lat, DAB(F32, F32, F32), fn##_RN_ftz_sat_f32, )

/* Product and sum in one machine instruction, each rounded: the results of mul and add. */
#define F32_PAIR_(name, op, flags, ftz, sum)                                                                           \
    LANE(name, op, T1(F32), flags, F32_FMA, DABC(F32, F32, F32, F32),                                                  \
         const float p = f32_result(f32_flush(a, ftz) * f32_flush(b, ftz), ftz, 0), q = f32_flush(c, ftz);             \
         d = f32_result(sum, ftz, 0))
#define F32_PAIR(name, op, sum)                                                                                        \
    F32_PAIR_(name##_f32, op, 0, 0, sum)                                                                               \
    F32_PAIR_(name##_ftz_f32, op, FLAG(FTZ), 1, sum)
#define F64_PAIR(name, op, sum, first, second)                                                                         \
    LANE(name##_f64, op, T1(F64), 0, F64_FMA, DABC(F64, F64, F64, F64), const double p = f64_result2(a * b, a, b),     \
         q = c;                                                                                                        \
         d = f64_result2(sum, first, second))

/* ---- rounded to nearest; signs, minimum and maximum, classes, selection by sign ----
 *
 * mad is fma in every form; mad.f32 without a rounding modifier (sm_1x, and PTX up to 3.1 elsewhere) is fma.rn.f32.
 * abs, neg and copysign change only the sign bit of a NaN. */

FP_INLINE float f32_negate(float x) { return f32_from_bits(f32_bits(x) ^ 0x80000000u); }
FP_INLINE double f64_negate(double x) { return f64_from_bits(f64_bits(x) ^ F64_SIGN); }

/* Works as f32_minmax(). If both operands are NaN, the result is the first operand, quieted. */
FP_INLINE double f64_minmax(double a, double b, bool max) {
    uint64_t x = f64_bits(a), y = f64_bits(b);
    uint64_t r = (max ? a > b : a < b) ? x : y;
    r = a == b ? (max ? x & y : x | y) : r;
    r = b != b ? x : r;
    r = ((a != a) & (b != b)) ? f64_bits(f64_quiet(a)) : r;
    return f64_from_bits(r);
}

/* The constant parameters of fma_lanes_f32() and fma_lanes_f64(): with .ftz, with .sat, with the other sign of the
 * product, with the other sign of the addend. */
struct fma_form {
    bool ftz, sat, minus_product, minus_addend;
};

/* Computes fma, rounded to nearest. A host without FMA instructions computes fma slowly. A build that does not assume
 * FMA instructions checks at run time whether the processor has them. `have` is a constant: true if the calling
 * function is compiled with FMA instructions. */
FP_INLINE void fma_lanes_f32(bool have, struct fma_form is, float *d, const float *a, const float *b, const float *c) {
    LANES(l) {
        float x = f32_flush(a[l], is.ftz), y = f32_flush(b[l], is.ftz), z = f32_flush(c[l], is.ftz);
        x = is.minus_product ? f32_negate(x) : x;
        z = is.minus_addend ? f32_negate(z) : z;
        d[l] = f32_result(have ? __builtin_fmaf(x, y, z) : f32_fma(x, y, z, RND_RN), is.ftz, is.sat);
    }
}
FP_INLINE void fma_lanes_f64(struct fma_form is, double *d, const double *a, const double *b, const double *c) {
    LANES(l) {
        const double x = is.minus_product ? f64_negate(a[l]) : a[l], z = is.minus_addend ? f64_negate(c[l]) : c[l];
        d[l] = f64_result3(__builtin_fma(x, b[l], z), x, b[l], z);
    }
}
#define LANE_ARGUMENTS void *d, void *d2, const void *a, const void *b, const void *c, const void *e
#if defined(__x86_64__) && !defined(__FMA__)
#define FMA_FN(name, lanes_with, lanes_without)                                                                        \
    static                                                                                                             \
        __attribute__((target("avx2,fma"))) void name##_with(void *d, const void *a, const void *b, const void *c) {   \
        lanes_with;                                                                                                    \
    }                                                                                                                  \
    static void name(LANE_ARGUMENTS) {                                                                                 \
        (void)d2, (void)e;                                                                                             \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                                           \
            name##_with(d, a, b, c);                                                                                   \
        else                                                                                                           \
            lanes_without;                                                                                             \
    }
#else
#define FMA_FN(name, lanes_with, lanes_without)                                                                        \
    static void name(LANE_ARGUMENTS) {                                                                                 \
        (void)d2, (void)e;                                                                                             \
        lanes_without;                                                                                                 \
    }
#endif
#define FMA_F32(name, ...)                                                                                             \
    FMA_FN(name, fma_lanes_f32(1, ((struct fma_form){__VA_ARGS__}), d, a, b, c),                                       \
           fma_lanes_f32(0, ((struct fma_form){__VA_ARGS__}), d, a, b, c))
#define FMA_F64(name, ...)                                                                                             \
    FMA_FN(name, fma_lanes_f64(((struct fma_form){__VA_ARGS__}), d, a, b, c),                                          \
           fma_lanes_f64(((struct fma_form){__VA_ARGS__}), d, a, b, c))
FMA_F32(fma_RN_f32, 0)
FMA_F32(fma_RN_ftz_f32, .ftz = 1)
FMA_F32(fma_RN_sat_f32, .sat = 1)
FMA_F32(fma_RN_ftz_sat_f32, .ftz = 1, .sat = 1)
FMA_F64(fma_f64, 0)
#define SIGNED_FMA(name, product, addend)                                                                              \
    FMA_F32(name##_f32, .minus_product = product, .minus_addend = addend)                                              \
    FMA_F32(name##_ftz_f32, .ftz = 1, .minus_product = product, .minus_addend = addend)                                \
    FMA_F64(name##_f64, .minus_product = product, .minus_addend = addend)
SIGNED_FMA(fmasub, 0, 1)
SIGNED_FMA(subfma, 1, 0)
SIGNED_FMA(negfma, 1, 1)
/* rows of fma with signs */
#define SIGNED_ROWS(op, fn)                                                                                            \
    LANE_FN(op, T1(F32), FORM(RND, RN), F32_FMA, DABC(F32, F32, F32, F32), fn##_f32, )                                 \
    LANE_FN(op, T1(F32), FORM(RND, RN) | FLAG(FTZ), F32_FMA, DABC(F32, F32, F32, F32), fn##_ftz_f32, )                 \
    LANE_FN(op, T1(F64), FORM(RND, RN), F64_FMA, DABC(F64, F64, F64, F64), fn##_f64, )

#define MINMAX_F32_(name, fn, op, flags, ftz, nan, xorsign)                                                            \
    LANE(name, op, T1(F32), flags, F32_MINMAX, DAB(F32, F32, F32),                                                     \
         d = f32_minmax(f32_flush(a, ftz), f32_flush(b, ftz), OP_##op == OP_MAX, nan, xorsign))
#define XORSIGN_ABS (FLAG(XORSIGN) | FLAG(ABS))
#define MINMAX_F32(fn, op)                                                                                             \
    MINMAX_F32_(fn##_f32, fn, op, 0, 0, 0, 0)                                                                          \
    MINMAX_F32_(fn##_ftz_f32, fn, op, FLAG(FTZ), 1, 0, 0)                                                              \
    MINMAX_F32_(fn##_nan_f32, fn, op, FLAG(NAN), 0, 1, 0)                                                              \
    MINMAX_F32_(fn##_ftz_nan_f32, fn, op, FLAG(FTZ) | FLAG(NAN), 1, 1, 0)                                              \
    MINMAX_F32_(fn##_xorsign_f32, fn, op, XORSIGN_ABS, 0, 0, 1)                                                        \
    MINMAX_F32_(fn##_ftz_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(FTZ), 1, 0, 1)                                        \
    MINMAX_F32_(fn##_nan_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(NAN), 0, 1, 1)                                        \
    MINMAX_F32_(fn##_ftz_nan_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(FTZ) | FLAG(NAN), 1, 1, 1)

/* min and max with three sources (PTX ISA 8.8): computes the minimum or maximum of the first two sources, and then of
 * this result and the third source. */
#define MINMAX3_F32_(name, op, which, form, ftz, nan, abs)                                                             \
    LANE(name, op, T1(F32), form, F32_MINMAX, DABC(F32, F32, F32, F32), float x = f32_flush(a, ftz);                   \
         float y = f32_flush(b, ftz); float z = f32_flush(c, ftz); x = abs ? f32_abs(x) : x; y = abs ? f32_abs(y) : y; \
         z = abs ? f32_abs(z) : z; d = f32_minmax(f32_minmax(x, y, which, nan, 0), z, which, nan, 0))
#define MINMAX3_F32(fn, op, op3, which)                                                                                \
    MINMAX3_F32_(fn##3_f32, op3, which, 0, 0, 0, 0)                                                                    \
    MINMAX3_F32_(fn##3_ftz_f32, op3, which, FLAG(FTZ), 1, 0, 0)                                                        \
    MINMAX3_F32_(fn##3_nan_f32, op3, which, FLAG(NAN), 0, 1, 0)                                                        \
    MINMAX3_F32_(fn##3_ftz_nan_f32, op3, which, FLAG(FTZ) | FLAG(NAN), 1, 1, 0)                                        \
    MINMAX3_F32_(fn##3_abs_f32, op, which, FLAG(ABS), 0, 0, 1)                                                         \
    MINMAX3_F32_(fn##3_ftz_abs_f32, op, which, FLAG(ABS) | FLAG(FTZ), 1, 0, 1)                                         \
    MINMAX3_F32_(fn##3_nan_abs_f32, op, which, FLAG(ABS) | FLAG(NAN), 0, 1, 1)                                         \
    MINMAX3_F32_(fn##3_ftz_nan_abs_f32, op, which, FLAG(ABS) | FLAG(FTZ) | FLAG(NAN), 1, 1, 1)

/* `test` compares x, the bits of |a|, with `inf` and with `min`, the bits of the smallest normal number. */
#define TESTP(word, mode, test)                                                                                        \
    LANE(testp_##word##_f32, TESTP, T1(F32), FORM(MODE, mode), INT_OTHER, OPDS(PRED, NONE, F32, NONE, NONE, NONE),     \
         const uint32_t inf = F32_INF, min = 0x00800000u;                                                              \
         uint32_t x = f32_bits(a) & 0x7fffffffu; d = (test); (void)inf; (void)min)                                     \
    LANE(testp_##word##_f64, TESTP, T1(F64), FORM(MODE, mode), INT_OTHER, OPDS(PRED, NONE, F64, NONE, NONE, NONE),     \
         const uint64_t inf = 0x7ff0000000000000ull, min = 0x0010000000000000ull;                                      \
         uint64_t x = f64_bits(a) & ~F64_SIGN; d = (test); (void)inf; (void)min)

#define SLCT(T)                                                                                                        \
    LANE(slct_##T, SLCT, T2(T, F32), 0, INT_OTHER, DABC(T, T, T, F32), d = c >= 0.0f ? a : b)                          \
    LANE(slct_ftz_##T, SLCT, T2(T, F32), FLAG(FTZ), INT_OTHER, DABC(T, T, T, F32), d = f32_flush(c, 1) >= 0.0f ? a : b)

/* ---- rounded toward zero (.rz), down (.rm) and up (.rp) ----
 *
 * f32 is computed in double and rounded by hand (softfloat.h), which vectorises. f64 uses AVX-512 instructions with a
 * rounding mode. On processors without AVX-512, the code changes the processor's rounding mode for the 32 lanes of one
 * instruction. The arithmetic is in a function that is not inlined, so the compiler cannot move it across the change of
 * mode or compute it in advance. */

enum f64_op { F64_OP_ADD, F64_OP_SUB, F64_OP_MUL, F64_OP_DIV, F64_OP_FMA, F64_OP_RCP, F64_OP_SQRT };

#if defined(__AVX512F__)
#define F64_ROUNDED(call, ...)                                                                                         \
    (rnd == RND_RZ   ? call(__VA_ARGS__, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)                                       \
     : rnd == RND_RM ? call(__VA_ARGS__, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)                                    \
                     : call(__VA_ARGS__, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))
FP_INLINE __m512d f64_vector(enum f64_op op, int rnd, __m512d a, __m512d b, __m512d c) {
    switch (op) {
    case F64_OP_ADD:
        return F64_ROUNDED(_mm512_add_round_pd, a, b);
    case F64_OP_SUB:
        return F64_ROUNDED(_mm512_sub_round_pd, a, b);
    case F64_OP_MUL:
        return F64_ROUNDED(_mm512_mul_round_pd, a, b);
    case F64_OP_DIV:
        return F64_ROUNDED(_mm512_div_round_pd, a, b);
    case F64_OP_FMA:
        return F64_ROUNDED(_mm512_fmadd_round_pd, a, b, c);
    case F64_OP_RCP:
        return F64_ROUNDED(_mm512_div_round_pd, _mm512_set1_pd(1.0), a);
    default:
        return F64_ROUNDED(_mm512_sqrt_round_pd, a);
    }
}

FP_INLINE void f64_compute(enum f64_op op, int rnd, double *r, const double *a, const double *b, const double *c) {
    for (int l = 0; l < WARP_LANES; l += 8)
        _mm512_storeu_pd(r + l,
                         f64_vector(op, rnd, _mm512_loadu_pd(a + l), _mm512_loadu_pd(b + l), _mm512_loadu_pd(c + l)));
}
#else
FP_INLINE double f64_apply(enum f64_op op, double a, double b, double c) {
    switch (op) {
    case F64_OP_ADD:
        return a + b;
    case F64_OP_SUB:
        return a - b;
    case F64_OP_MUL:
        return a * b;
    case F64_OP_DIV:
        return a / b;
    case F64_OP_FMA:
        return fma(a, b, c);
    case F64_OP_RCP:
        return 1.0 / a;
    default:
        return sqrt(a);
    }
}

/* A function that computes one f64 operation on 32 lanes. The caller has set the host's rounding mode. */
typedef void f64_lanes(double *r, const double *a, const double *b, const double *c);
#define F64_LANES_FN(name, op)                                                                                         \
    static __attribute__((noinline)) void name(double *r, const double *a, const double *b, const double *c) {         \
        LANES(l) r[l] = f64_apply(op, a[l], b[l], c[l]);                                                               \
    }
F64_LANES_FN(f64_lanes_add, F64_OP_ADD)
F64_LANES_FN(f64_lanes_sub, F64_OP_SUB)
F64_LANES_FN(f64_lanes_mul, F64_OP_MUL)
F64_LANES_FN(f64_lanes_div, F64_OP_DIV)
F64_LANES_FN(f64_lanes_fma, F64_OP_FMA)
F64_LANES_FN(f64_lanes_rcp, F64_OP_RCP)
F64_LANES_FN(f64_lanes_sqrt, F64_OP_SQRT)

FP_INLINE void f64_compute(enum f64_op op, int rnd, double *r, const double *a, const double *b, const double *c) {
    static f64_lanes *const lanes[] = {f64_lanes_add, f64_lanes_sub, f64_lanes_mul, f64_lanes_div,
                                       f64_lanes_fma, f64_lanes_rcp, f64_lanes_sqrt};
    f64_lanes *volatile compute = lanes[op]; /* volatile: the compiler cannot inline the call */
    const int before = fegetround();
    fesetround(rnd == RND_RZ ? FE_TOWARDZERO : rnd == RND_RM ? FE_DOWNWARD : FE_UPWARD);
    compute(r, a, b, c);
    fesetround(before);
}
#endif

FP_INLINE void f64_directed(enum f64_op op, int rnd, int sources, void *d_at, const void *a_at, const void *b_at,
                            const void *c_at) {
    static const double zeros[WARP_LANES];
    _Alignas(64) double r[WARP_LANES];
    double *d = d_at;
    const double *a = a_at, *b = sources > 1 ? b_at : zeros, *c = sources > 2 ? c_at : zeros;
    f64_compute(op, rnd, r, a, b, c);
    LANES(l) d[l] = f64_result3(r[l], a[l], b[l], c[l]);
}

#define F64_DIRECTED_FN(word, op, sources, rnd)                                                                        \
    static void word##_##rnd##_f64(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {    \
        (void)d2, (void)e;                                                                                             \
        f64_directed(F64_OP_##op, RND_##rnd, sources, d, a, b, c);                                                     \
    }
#define F64_DIRECTED_FNS(rnd)                                                                                          \
    F64_DIRECTED_FN(add, ADD, 2, rnd)                                                                                  \
    F64_DIRECTED_FN(sub, SUB, 2, rnd)                                                                                  \
    F64_DIRECTED_FN(mul, MUL, 2, rnd)                                                                                  \
    F64_DIRECTED_FN(div, DIV, 2, rnd)                                                                                  \
    F64_DIRECTED_FN(fma, FMA, 3, rnd)                                                                                  \
    F64_DIRECTED_FN(rcp, RCP, 1, rnd)                                                                                  \
    F64_DIRECTED_FN(sqrt, SQRT, 1, rnd)
F64_DIRECTED_FNS(RZ)
F64_DIRECTED_FNS(RM)
F64_DIRECTED_FNS(RP)

#define F64_DIRECTED(rnd)                                                                                              \
    LANE_FN(ADD, T1(F64), FORM(RND, rnd), F64_ADD, DAB(F64, F64, F64), add_##rnd##_f64, )                              \
    LANE_FN(SUB, T1(F64), FORM(RND, rnd), F64_ADD, DAB(F64, F64, F64), sub_##rnd##_f64, )                              \
    LANE_FN(MUL, T1(F64), FORM(RND, rnd), F64_MUL, DAB(F64, F64, F64), mul_##rnd##_f64, )                              \
    LANE_FN(DIV, T1(F64), FORM(RND, rnd), F64_DIV, DAB(F64, F64, F64), div_##rnd##_f64, )                              \
    LANE_FN(FMA, T1(F64), FORM(RND, rnd), F64_FMA, DABC(F64, F64, F64, F64), fma_##rnd##_f64, )                        \
    LANE_FN(MAD, T1(F64), FORM(RND, rnd), F64_FMA, DABC(F64, F64, F64, F64), fma_##rnd##_f64, )                        \
    LANE_FN(RCP, T1(F64), FORM(RND, rnd), F64_RCP, DA(F64, F64), rcp_##rnd##_f64, )                                    \
    LANE_FN(SQRT, T1(F64), FORM(RND, rnd), F64_RCP, DA(F64, F64), sqrt_##rnd##_f64, )

/* ---- sums and products with f16 or bf16 sources ----
 *
 * The small formats widen exactly, so these are f32 operations. They keep subnormal numbers. */

#define FROM_F16(x)  f32_from_f16(x)
#define FROM_BF16(x) f32_from_bf16(x)

/* add and sub: d = a op b, where a has the 16-bit format; fma: a and b have the 16-bit format */
#define SUM_(name, op, fn, H, rnd, form, sat)                                                                          \
    LANE(name, op, T2(F32, H), form, F32_ADD, DAB(F32, H, F32),                                                        \
         d = f32_result(f32_##fn(FROM_##H(a), b, RND_##rnd), 0, sat))
#define SUM(op, fn, H, rnd)                                                                                            \
    SUM_(fn##_##rnd##_f32_##H, op, fn, H, rnd, FORM(RND, rnd), 0)                                                      \
    SUM_(fn##_##rnd##_sat_f32_##H, op, fn, H, rnd, FORM(RND, rnd) | FLAG(SAT), 1)
#define SUMS(op, fn, H)                                                                                                \
    SUM(op, fn, H, RN)                                                                                                 \
    SUM(op, fn, H, RZ)                                                                                                 \
    SUM(op, fn, H, RM)                                                                                                 \
    SUM(op, fn, H, RP)                                                                                                 \
    LANE_FN(op, T2(F32, H), 0, F32_ADD, DAB(F32, H, F32), fn##_RN_f32_##H, )                                           \
    LANE_FN(op, T2(F32, H), FLAG(SAT), F32_ADD, DAB(F32, H, F32), fn##_RN_sat_f32_##H, )
#define FUSED_(name, H, rnd, form, sat)                                                                                \
    LANE(name, FMA, T2(F32, H), form, F32_FMA, DABC(F32, H, H, F32),                                                   \
         d = f32_result(f32_fma(FROM_##H(a), FROM_##H(b), c, RND_##rnd), 0, sat))
#define FUSED(H, rnd)                                                                                                  \
    FUSED_(fma_##rnd##_f32_##H, H, rnd, FORM(RND, rnd), 0)                                                             \
    FUSED_(fma_##rnd##_sat_f32_##H, H, rnd, FORM(RND, rnd) | FLAG(SAT), 1)

/* ---- quotients, reciprocals and square roots ----
 *
 * These are the operations rounded to nearest, and the approximations of sections 9.7.3.8 and 9.7.3.13 to 9.7.3.17. An
 * approximation uses the host's division and square root, so its error is well inside the manual's bound, which the row
 * states. */

/* Returns a * (1/b), for div.approx. For |b| > 2^126, 1/b underflows, so the result is zero, or NaN if a is
 * infinite. */
FP_INLINE float f32_div_approx(float a, float b) {
    uint32_t mag = f32_bits(b) & 0x7fffffffu;
    bool tiny = mag > 0x7e800000u && mag < F32_INF;
    return tiny ? a * f32_from_bits((f32_bits(b) & 0x80000000u)) : a / b;
}
/* Returns the reciprocal square root. The result is rounded twice, so its relative error is at most 2^-23. */
FP_INLINE float f32_rsqrt(float a) { return 1.0f / __builtin_sqrtf(a); }

/* Return a source or a result of rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64, which read and write only the upper
 * word. */
FP_INLINE double f64_upper(double a) { return f64_flush(f64_from_bits(f64_bits(a) & 0xffffffff00000000ull)); }
FP_INLINE double f64_upper_result(double r) {
    uint64_t nearest = (f64_bits(r) + 0x80000000ull) & 0xffffffff00000000ull;
    return r == r ? f64_flush(f64_from_bits(nearest)) : f64_from_bits(0x7fffffff00000000ull);
}

/* Rows of .full and .approx use the correctly rounded functions, which satisfy the manual's error bounds. */
#define FULL(tag, flags, bound_, op, approx, lat, opds, word)                                                          \
    LANE_FN(op, T1(F32), FORM(APPROX, approx) | (flags), lat, opds, word##_RN##tag##_f32, .bound = bound_)

#define ROWS_FILE "isa/exec/exec_float.c"
#define ROWS_NAME float
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- rounded to nearest ---- */
/* arithmetic, rounded to nearest even */
F32_OP2(ADD, add, RN, F32_ADD)
F32_OP2(SUB, sub, RN, F32_ADD)
F32_OP2(MUL, mul, RN, F32_MUL)
F32_DEFAULT(ADD, add, F32_ADD)
F32_DEFAULT(SUB, sub, F32_ADD)
F32_DEFAULT(MUL, mul, F32_MUL)
F32_MAD(FMA, RN, FORM(RND, RN))
F32_MAD(MAD, RN, FORM(RND, RN))
F32_MAD(MAD, RN, 0)

LANE(add_f64, ADD, T1(F64), FORM(RND, RN), F64_ADD, DAB(F64, F64, F64), d = f64_result2(a + b, a, b))
LANE(sub_f64, SUB, T1(F64), FORM(RND, RN), F64_ADD, DAB(F64, F64, F64), d = f64_result2(a - b, a, b))
LANE(mul_f64, MUL, T1(F64), FORM(RND, RN), F64_MUL, DAB(F64, F64, F64), d = f64_result2(a * b, a, b))
LANE_FN(FMA, T1(F64), FORM(RND, RN), F64_FMA, DABC(F64, F64, F64, F64), fma_f64, )
LANE_FN(ADD, T1(F64), 0, F64_ADD, DAB(F64, F64, F64), add_f64, )
LANE_FN(SUB, T1(F64), 0, F64_ADD, DAB(F64, F64, F64), sub_f64, )
LANE_FN(MUL, T1(F64), 0, F64_MUL, DAB(F64, F64, F64), mul_f64, )
LANE_FN(MAD, T1(F64), 0, F64_FMA, DABC(F64, F64, F64, F64), fma_f64, )
LANE_FN(MAD, T1(F64), FORM(RND, RN), F64_FMA, DABC(F64, F64, F64, F64), fma_f64, )
F32_PAIR(muladd, MUL_ADD, p + q)
F32_PAIR(mulsub, MUL_SUB, p - q)
F32_PAIR(submul, SUB_MUL, q - p)
F64_PAIR(muladd, MUL_ADD, p + q, p, q)
F64_PAIR(mulsub, MUL_SUB, p - q, p, q)
F64_PAIR(submul, SUB_MUL, q - p, q, p)
SIGNED_ROWS(FMA_SUB, fmasub)
SIGNED_ROWS(SUB_FMA, subfma)
SIGNED_ROWS(NEG_FMA, negfma)

/* signs */
LANE(abs_f32, ABS, T1(F32), 0, INT_OTHER, DA(F32, F32), d = f32_abs(a))
LANE(abs_ftz_f32, ABS, T1(F32), FLAG(FTZ), INT_OTHER, DA(F32, F32), d = f32_abs(f32_flush(a, 1)))
LANE(abs_f64, ABS, T1(F64), 0, INT_OTHER, DA(F64, F64), d = f64_abs(a))
LANE(neg_f32, NEG, T1(F32), 0, INT_OTHER, DA(F32, F32), d = f32_negate(a))
LANE(neg_ftz_f32, NEG, T1(F32), FLAG(FTZ), INT_OTHER, DA(F32, F32), d = f32_negate(f32_flush(a, 1)))
LANE(neg_f64, NEG, T1(F64), 0, INT_OTHER, DA(F64, F64), d = f64_negate(a))
LANE(copysign_f32, COPYSIGN, T1(F32), 0, INT_OTHER, DAB(F32, F32, F32),
    d = f32_from_bits((f32_bits(a) & 0x80000000u) | (f32_bits(b) & 0x7fffffffu)))
LANE(copysign_f64, COPYSIGN, T1(F64), 0, INT_OTHER, DAB(F64, F64, F64),
    d = f64_from_bits((f64_bits(a) & F64_SIGN) | (f64_bits(b) & ~F64_SIGN)))

/* minimum and maximum */
MINMAX_F32(min, MIN)
MINMAX_F32(max, MAX)
LANE(min_f64, MIN, T1(F64), 0, F64_MINMAX, DAB(F64, F64, F64), d = f64_minmax(a, b, 0))
LANE(max_f64, MAX, T1(F64), 0, F64_MINMAX, DAB(F64, F64, F64), d = f64_minmax(a, b, 1))
/* min and max with three sources. A form without .abs is written like min or max with two sources, so lowering selects
 * it by the number of operands. */
MINMAX3_F32(min, MIN, MIN3, 0)
MINMAX3_F32(max, MAX, MAX3, 1)

/* testp; zeros count as normal numbers */
TESTP(finite, FINITE, x < inf)
TESTP(infinite, INFINITE, x == inf)
TESTP(number, NUMBER, x <= inf)
TESTP(notanumber, NOTANUMBER, x > inf)
TESTP(normal, NORMAL, (x >= min && x < inf) || x == 0)
TESTP(subnormal, SUBNORMAL, x < min && x != 0)

/* slct: c >= 0 ? a : b; if c is a NaN, the result is b */
SLCT(B16) SLCT(U16) SLCT(S16)
SLCT(B32) SLCT(U32) SLCT(S32) SLCT(F32)
SLCT(B64) SLCT(U64) SLCT(S64) SLCT(F64)

/* ---- rounded toward zero, down and up ---- */
DIRECTED(F32_OP2, ADD, add, F32_ADD)
DIRECTED(F32_OP2, SUB, sub, F32_ADD)
DIRECTED(F32_OP2, MUL, mul, F32_MUL)
F32_FMA(RZ)
F32_FMA(RM)
F32_FMA(RP)
F32_DIV(RZ)
F32_DIV(RM)
F32_DIV(RP)
DIRECTED(F32_OP1, RCP, rcp, SFU)
DIRECTED(F32_OP1, SQRT, sqrt, SFU)

F64_DIRECTED(RZ)
F64_DIRECTED(RM)
F64_DIRECTED(RP)

/* ---- 16-bit sources ---- */
SUMS(ADD, add, F16)
SUMS(ADD, add, BF16)
SUMS(SUB, sub, F16)
SUMS(SUB, sub, BF16)
FUSED(F16, RN)
FUSED(F16, RZ)
FUSED(F16, RM)
FUSED(F16, RP)
FUSED(BF16, RN)
FUSED(BF16, RZ)
FUSED(BF16, RM)
FUSED(BF16, RP)

/* ---- quotients, reciprocals and square roots ---- */
F32_DIV(RN)
F32_OP1(RCP, rcp, RN, SFU)
F32_OP1(SQRT, sqrt, RN, SFU)
LANE(div_f64, DIV, T1(F64), FORM(RND, RN), F64_DIV, DAB(F64, F64, F64), d = f64_result2(a / b, a, b))
LANE(rcp_f64, RCP, T1(F64), FORM(RND, RN), F64_RCP, DA(F64, F64), d = f64_result1(1.0 / a, a))
LANE(sqrt_f64, SQRT, T1(F64), FORM(RND, RN), F64_RCP, DA(F64, F64), d = f64_result1(__builtin_sqrt(a), a))

/* PTX 1.0 to 1.3 write these instructions without modifiers */
LANE_FN(DIV, T1(F64), 0, F64_DIV, DAB(F64, F64, F64), div_f64, .last_version = 13)
LANE_FN(RCP, T1(F64), 0, F64_RCP, DA(F64, F64), rcp_f64, .last_version = 13)
LANE_FN(SQRT, T1(F64), 0, F64_RCP, DA(F64, F64), sqrt_f64, .last_version = 13)

/* approximate */
LANE_X((.bound = "2 ulp where |b| is in [2^-126, 2^126]"), div_approx_f32, DIV, T1(F32), FORM(APPROX, APPROX), F32_DIV,
    DAB(F32, F32, F32), d = f32_result(f32_div_approx(a, b), 0, 0))
LANE_X((.bound = "2 ulp where |b| is in [2^-126, 2^126]"), div_approx_ftz_f32, DIV, T1(F32),
    FORM(APPROX, APPROX) | FLAG(FTZ), F32_DIV, DAB(F32, F32, F32),
    d = f32_result(f32_div_approx(f32_flush(a, 1), f32_flush(b, 1)), 1, 0))
FULL(, 0, "2 ulp", DIV, FULL, F32_DIV, DAB(F32, F32, F32), div)
FULL(_ftz, FLAG(FTZ), "2 ulp", DIV, FULL, F32_DIV, DAB(F32, F32, F32), div)
FULL(, 0, "1 ulp", RCP, APPROX, SFU, DA(F32, F32), rcp)
FULL(_ftz, FLAG(FTZ), "1 ulp", RCP, APPROX, SFU, DA(F32, F32), rcp)
FULL(, 0, "relative 2^-23", SQRT, APPROX, SFU, DA(F32, F32), sqrt)
FULL(_ftz, FLAG(FTZ), "relative 2^-23", SQRT, APPROX, SFU, DA(F32, F32), sqrt)
LANE_X((.bound = "relative 2^-22.9"), rsqrt_f32, RSQRT, T1(F32), FORM(APPROX, APPROX), SFU, DA(F32, F32),
    d = f32_result(f32_rsqrt(a), 0, 0))
LANE_X((.bound = "relative 2^-22.9"), rsqrt_ftz_f32, RSQRT, T1(F32), FORM(APPROX, APPROX) | FLAG(FTZ), SFU,
    DA(F32, F32), d = f32_result(f32_rsqrt(f32_flush(a, 1)), 1, 0))
LANE_X((.bound = "2 ulp"), rsqrt_f64, RSQRT, T1(F64), FORM(APPROX, APPROX), SFU, DA(F64, F64),
    d = f64_result1(1.0 / __builtin_sqrt(a), a))
LANE_X((.bound = "relative 2^-20 of the upper word's reciprocal"), rcp_ftz_f64, RCP, T1(F64),
    FORM(APPROX, APPROX) | FLAG(FTZ), SFU, DA(F64, F64), d = f64_upper_result(1.0 / f64_upper(a)))
LANE_X((.bound = "relative 2^-20 of the upper word's reciprocal root"), rsqrt_ftz_f64, RSQRT, T1(F64),
    FORM(APPROX, APPROX) | FLAG(FTZ), SFU, DA(F64, F64), d = f64_upper_result(1.0 / __builtin_sqrt(f64_upper(a))))

/* PTX 1.0 to 1.3 */
LANE_FN(DIV, T1(F32), 0, F32_DIV, DAB(F32, F32, F32), div_approx_ftz_f32, .last_version = 13,
    .bound = "2 ulp where |b| is in [2^-126, 2^126]")
LANE_FN(RCP, T1(F32), 0, SFU, DA(F32, F32), rcp_RN_ftz_f32, .last_version = 13, .bound = "1 ulp")
LANE_FN(SQRT, T1(F32), 0, SFU, DA(F32, F32), sqrt_RN_ftz_f32, .last_version = 13, .bound = "relative 2^-23")
LANE_FN(RSQRT, T1(F32), 0, SFU, DA(F32, F32), rsqrt_ftz_f32, .last_version = 13, .bound = "relative 2^-22.9")
LANE_FN(RSQRT, T1(F64), 0, SFU, DA(F64, F64), rsqrt_f64, .last_version = 13, .bound = "2 ulp")
/* clang-format on */
#endif
