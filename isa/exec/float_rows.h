#ifndef ISA_FLOAT_ROWS_H
#define ISA_FLOAT_ROWS_H
/* Families of rows that exec_float, exec_div and exec_round have in common: one line is one f32 operation in one
 * rounding mode, with and without .ftz and .sat. `fn` names f32_<fn>() in softfloat.h. Internal to isa/. */
#include "isa/rows.h"
#include "isa/softfloat.h"

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
/* div: .ftz */
#define F32_DIV(rnd)                                                                                                   \
    F32_OP2_(div_##rnd##_f32, DIV, div, rnd, F32_DIV, 0, 0, 0)                                                         \
    F32_OP2_(div_##rnd##_ftz_f32, DIV, div, rnd, F32_DIV, FLAG(FTZ), 1, 0)
/* add sub mul: .ftz .sat */
#define F32_OP2(op, fn, rnd, lat)                                                                                      \
    F32_OP2_(fn##_##rnd##_f32, op, fn, rnd, lat, 0, 0, 0)                                                              \
    F32_OP2_(fn##_##rnd##_ftz_f32, op, fn, rnd, lat, FLAG(FTZ), 1, 0)                                                  \
    F32_OP2_(fn##_##rnd##_sat_f32, op, fn, rnd, lat, FLAG(SAT), 0, 1)                                                  \
    F32_OP2_(fn##_##rnd##_ftz_sat_f32, op, fn, rnd, lat, FLAG(FTZ) | FLAG(SAT), 1, 1)
/* fma, and mad, which is the same */
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
/* add sub mul without a rounding modifier round to nearest */
#define F32_DEFAULT(op, fn, lat)                                                                                       \
    LANE_FN(op, T1(F32), 0, lat, DAB(F32, F32, F32), fn##_RN_f32, )                                                    \
    LANE_FN(op, T1(F32), FLAG(FTZ), lat, DAB(F32, F32, F32), fn##_RN_ftz_f32, )                                        \
    LANE_FN(op, T1(F32), FLAG(SAT), lat, DAB(F32, F32, F32), fn##_RN_sat_f32, )                                        \
    LANE_FN(op, T1(F32), FLAG(FTZ) | FLAG(SAT), lat, DAB(F32, F32, F32), fn##_RN_ftz_sat_f32, )
#endif
