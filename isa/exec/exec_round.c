/* Arithmetic that rounds toward zero (.rz), down (.rm) and up (.rp).
 *
 * f32 is computed in double and rounded by hand (softfloat.h), which vectorises. f64 has the rounding in the
 * instruction where the processor has such ones (AVX-512). Elsewhere the processor's rounding mode is set for the 32
 * lanes of one instruction: the arithmetic is in a function of its own that is not inlined, so that none of it moves
 * across the change of mode and none is done at compile time. */
#include "float_rows.h"
#include <fenv.h>
#include <math.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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

/* The arithmetic alone, under the mode that the caller has set. */
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
    f64_lanes *volatile compute = lanes[op]; /* the compiler does not know what is called */
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

#define ROWS_FILE "isa/exec/exec_round.def"
#define ROWS_NAME round
#include "isa/rows_expand.h"
