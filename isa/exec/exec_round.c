/* Arithmetic that rounds toward zero (.rz), down (.rm) and up (.rp).
 *
 * f32 is computed in double and rounded by hand (softfloat.h), which vectorises. f64 sets the processor's rounding mode
 * for the 32 lanes of one instruction: operands and result are volatile, so that no arithmetic moves across the change
 * of mode and none is done at compile time. */
#include "float_rows.h"
#include <fenv.h>
#include <math.h>

enum f64_op { F64_OP_ADD, F64_OP_SUB, F64_OP_MUL, F64_OP_DIV, F64_OP_FMA, F64_OP_RCP, F64_OP_SQRT };

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

FP_INLINE void f64_directed(enum f64_op op, int mode, int sources, void *d_at, const void *a_at, const void *b_at,
                            const void *c_at) {
    double *d = d_at;
    const double *a = a_at, *b = sources > 1 ? b_at : NULL, *c = sources > 2 ? c_at : NULL;
    int before = fegetround();
    fesetround(mode);
    for (int l = 0; l < WARP_LANES; l++) {
        volatile double x = a[l], y = b ? b[l] : 0.0, z = c ? c[l] : 0.0;
        volatile double r = f64_apply(op, x, y, z);
        d[l] = f64_result3(r, x, y, z);
    }
    fesetround(before);
}

#define FE_RZ FE_TOWARDZERO
#define FE_RM FE_DOWNWARD
#define FE_RP FE_UPWARD
#define F64_DIRECTED_FN(word, op, sources, rnd)                                                                        \
    static void word##_##rnd##_f64(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {    \
        (void)d2, (void)e;                                                                                             \
        f64_directed(F64_OP_##op, FE_##rnd, sources, d, a, b, c);                                                      \
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
