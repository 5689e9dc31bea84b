/* f32 sums and products with f16 or bf16 sources (PTX ISA 9.0, section 9.7.5): the small formats widen exactly, so
 * these are the f32 operations. They keep subnormal numbers. */
#include "float_rows.h"

#define FROM_F16(x)  f32_from_f16(x)
#define FROM_BF16(x) f32_from_bf16(x)

/* add and sub: d = a op b with a small; fma: a and b small */
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

#define ROWS_FILE "isa/exec/exec_mixed.def"
#define ROWS_NAME mixed
#include "isa/rows_expand.h"
