/* set with f32 and f64 sources (PTX ISA 9.0, section 9.7.6.1): true is all ones in an integer destination and 1.0 in a
 * floating-point one. Sources of 16 bits are in exec_half_compare.c. */
#include "isa/rows.h"
#include "isa/softfloat.h"

#define TRUE_U32  0xffffffffu
#define TRUE_F32  1.0f
#define TRUE_F16  0x3c00
#define TRUE_BF16 0x3f80

#define SET_ALL(word, cmp)                                                                                             \
    SET_F32(word, cmp, , 0, 0)                                                                                         \
    SET_F32(word, cmp, _ftz, FLAG(FTZ), 1)                                                                             \
    SET_BOOL(set_##word##_u32_f64, U32, F64, cmp, 0, f64_compare(CMP_##cmp, a, b))                                     \
    SET_SAME(set_##word##_u32_f64, S32, F64, cmp, 0)                                                                   \
    SET_BOOL(set_##word##_f32_f64, F32, F64, cmp, 0, f64_compare(CMP_##cmp, a, b))                                     \
    SET_BOOL(set_##word##_f16_f64, F16, F64, cmp, 0, f64_compare(CMP_##cmp, a, b))                                     \
    SET_BOOL(set_##word##_bf16_f64, BF16, F64, cmp, 0, f64_compare(CMP_##cmp, a, b))                                   \
    SET_BOOL(set_##word##_bf16_f32, BF16, F32, cmp, 0, f32_compare(CMP_##cmp, a, b))
#define SET_F32(word, cmp, tag, flags, ftz)                                                                            \
    SET_BOOL(set_##word##tag##_u32_f32, U32, F32, cmp, flags,                                                          \
             f32_compare(CMP_##cmp, f32_flush(a, ftz), f32_flush(b, ftz)))                                             \
    SET_SAME(set_##word##tag##_u32_f32, S32, F32, cmp, flags)                                                          \
    SET_BOOL(set_##word##tag##_f32_f32, F32, F32, cmp, flags,                                                          \
             f32_compare(CMP_##cmp, f32_flush(a, ftz), f32_flush(b, ftz)))                                             \
    SET_BOOL(set_##word##tag##_f16_f32, F16, F32, cmp, flags,                                                          \
             f32_compare(CMP_##cmp, f32_flush(a, ftz), f32_flush(b, ftz)))

/* Four rows: the comparison alone, and with a predicate c. */
#define SET_BOOL(name, D, S, cmp, flags, t)                                                                            \
    LANE(name, SET, T2(D, S), FORM(CMP, cmp) | (flags), INT_OTHER, DAB(D, S, S), d = (t) ? TRUE_##D : 0)               \
    LANE(name##_and, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, AND), INT_OTHER, DABC(D, S, S, PRED),         \
         d = ((t)&c) ? TRUE_##D : 0)                                                                                   \
    LANE(name##_or, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, OR), INT_OTHER, DABC(D, S, S, PRED),           \
         d = ((t) | c) ? TRUE_##D : 0)                                                                                 \
    LANE(name##_xor, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, XOR), INT_OTHER, DABC(D, S, S, PRED),         \
         d = ((t) ^ c) ? TRUE_##D : 0)
/* The same functions for a destination of the same bits. */
#define SET_SAME(name, D, S, cmp, flags)                                                                               \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags), INT_OTHER, DAB(D, S, S), name, )                                  \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, AND), INT_OTHER, DABC(D, S, S, PRED), name##_and, )    \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, OR), INT_OTHER, DABC(D, S, S, PRED), name##_or, )      \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, XOR), INT_OTHER, DABC(D, S, S, PRED), name##_xor, )

#define ROWS_FILE "isa/exec/exec_set.def"
#define ROWS_NAME set
#include "isa/rows_expand.h"
