/* setp and set on integers, bits, f32 and f64 (PTX ISA 9.0, sections 9.7.5 and 9.7.6). The 16-bit floating-point
 * formats are in exec_half.c. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"
#include "isa/softfloat.h"

/* ---- integers and bits ---- */

/* Lists the comparisons of a type: X(TYPE, type, CMP, cmp, operator). */
#define EQUALITY(X, T, t) X(T, t, EQ, eq, ==) X(T, t, NE, ne, !=)
#define SIGNED_CMP(X, T, t)                                                                                            \
    EQUALITY(X, T, t) X(T, t, LT, lt, <) X(T, t, LE, le, <=) X(T, t, GT, gt, >) X(T, t, GE, ge, >=)
#define UNSIGNED_CMP(X, T, t)                                                                                          \
    SIGNED_CMP(X, T, t) X(T, t, LO, lo, <) X(T, t, LS, ls, <=) X(T, t, HI, hi, >) X(T, t, HS, hs, >=)
#define ALL_CMP(X)                                                                                                     \
    EQUALITY(X, B16, b16)                                                                                              \
    EQUALITY(X, B32, b32)                                                                                              \
    EQUALITY(X, B64, b64)                                                                                              \
    UNSIGNED_CMP(X, U16, u16)                                                                                          \
    UNSIGNED_CMP(X, U32, u32)                                                                                          \
    UNSIGNED_CMP(X, U64, u64) SIGNED_CMP(X, S16, s16) SIGNED_CMP(X, S32, s32) SIGNED_CMP(X, S64, s64)

#define SETP_INT(T, t, CMP_, cmp, operator)                                                                            \
    SETP(setp_##cmp##_##t, SETP, T1(T), FORM(CMP, CMP_), INT_OTHER, T, T, a operator b)

/* Writes `yes` to the lanes in `mask` and 0 to the other lanes, for set. Several hundred rows call the function, but
 * programs rarely use them, so it is not inlined. */
static __attribute__((noinline)) void spread(uint32_t *d, uint32_t mask, uint32_t yes) {
    LANES(l) { d[l] = mask & lane_bit[l] ? yes : 0; }
}
static __attribute__((noinline)) void spread_16(uint16_t *d, uint32_t mask, uint16_t yes) {
    LANES(l) { d[l] = mask & lane_bit[l] ? yes : 0; }
}
#define MASK_OF(T, t, CMP_, cmp, operator)                                                                             \
    static __attribute__((noinline)) uint32_t cmp##_##t(const void *a_at, const void *b_at) {                          \
        uint32_t d_to = 0;                                                                                             \
        IN(T, a) IN(T, b) LANES(lane_) {                                                                               \
            GET(T, a) GET(T, b) const bool d = a operator b;                                                           \
            PUT_PRED(PRED, d)                                                                                          \
        }                                                                                                              \
        return d_to;                                                                                                   \
    }
ALL_CMP(MASK_OF)

#define ONE_F32  0x3f800000u
#define ONE_F16  0x3c00
#define ONE_BF16 0x3f80
#define SET_FUNCTION(name, compare, spread, yes, result)                                                               \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        const uint32_t m = compare(a_at, b_at), with = *(const uint32_t *)c_at;                                        \
        (void)with;                                                                                                    \
        (void)d2_at;                                                                                                   \
        (void)e_at;                                                                                                    \
        spread(d_at, result, yes);                                                                                     \
    }
#define SET_FUNCTIONS(prefix, compare, spread, yes)                                                                    \
    SET_FUNCTION(prefix##compare, compare, spread, yes, m)                                                             \
    SET_FUNCTION(prefix##and_##compare, compare, spread, yes, m &with)                                                 \
    SET_FUNCTION(prefix##or_##compare, compare, spread, yes, m | with)                                                 \
    SET_FUNCTION(prefix##xor_##compare, compare, spread, yes, m ^ with)
#define SET_INT_FUNCTIONS(T, t, CMP_, cmp, operator)                                                                   \
    SET_FUNCTIONS(set_, cmp##_##t, spread, UINT32_MAX)                                                                 \
    SET_FUNCTIONS(set_f32_, cmp##_##t, spread, ONE_F32)                                                                \
    SET_FUNCTIONS(set_f16_, cmp##_##t, spread_16, ONE_F16)                                                             \
    SET_FUNCTIONS(set_bf16_, cmp##_##t, spread_16, ONE_BF16)
ALL_CMP(SET_INT_FUNCTIONS)

#define SET_ROWS(D, T, form, prefix, compare)                                                                          \
    LANE_FN(SET, T2(D, T), form, INT_OTHER, DAB(D, T, T), prefix##compare, )                                           \
    LANE_FN(SET, T2(D, T), (form) | FORM(OPN, AND), INT_OTHER, DABC(D, T, T, PRED), prefix##and_##compare, )           \
    LANE_FN(SET, T2(D, T), (form) | FORM(OPN, OR), INT_OTHER, DABC(D, T, T, PRED), prefix##or_##compare, )             \
    LANE_FN(SET, T2(D, T), (form) | FORM(OPN, XOR), INT_OTHER, DABC(D, T, T, PRED), prefix##xor_##compare, )
#define SET_INT(T, t, CMP_, cmp, operator)                                                                             \
    SET_ROWS(U32, T, FORM(CMP, CMP_), set_, cmp##_##t)                                                                 \
    SET_ROWS(S32, T, FORM(CMP, CMP_), set_, cmp##_##t)                                                                 \
    SET_ROWS(F32, T, FORM(CMP, CMP_), set_f32_, cmp##_##t)                                                             \
    SET_ROWS(F16, T, FORM(CMP, CMP_), set_f16_, cmp##_##t)                                                             \
    SET_ROWS(BF16, T, FORM(CMP, CMP_), set_bf16_, cmp##_##t)

/* ---- setp of f32 and f64 ---- */

/* clang-format off */
#define FLOAT_CMP(X)                                                                                                   \
    X(eq, EQ) X(ne, NE) X(lt, LT) X(le, LE) X(gt, GT) X(ge, GE)                                                        \
    X(equ, EQU) X(neu, NEU) X(ltu, LTU) X(leu, LEU) X(gtu, GTU) X(geu, GEU) X(num, NUM) X(nan, NAN)
/* clang-format on */

#define SETP_ALL(word, cmp)                                                                                            \
    SETP(setp_##word##_f32, SETP, T1(F32), FORM(CMP, cmp), INT_OTHER, F32, F32, f32_compare(CMP_##cmp, a, b))          \
    SETP(setp_##word##_ftz_f32, SETP, T1(F32), FORM(CMP, cmp) | FLAG(FTZ), INT_OTHER, F32, F32,                        \
         f32_compare(CMP_##cmp, f32_flush(a, 1), f32_flush(b, 1)))                                                     \
    SETP(setp_##word##_f64, SETP, T1(F64), FORM(CMP, cmp), INT_OTHER, F64, F64, f64_compare(CMP_##cmp, a, b))

/* ---- set with f32 and f64 sources: true is all ones in an integer destination and 1.0 in a floating-point destination
 * ---- */

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

/* Makes four rows: one for the comparison alone, and one for each boolean operator (and, or, xor) that combines the
 * comparison with a predicate c. */
#define SET_BOOL(name, D, S, cmp, flags, t)                                                                            \
    LANE(name, SET, T2(D, S), FORM(CMP, cmp) | (flags), INT_OTHER, DAB(D, S, S), d = (t) ? TRUE_##D : 0)               \
    LANE(name##_and, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, AND), INT_OTHER, DABC(D, S, S, PRED),         \
         d = ((t)&c) ? TRUE_##D : 0)                                                                                   \
    LANE(name##_or, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, OR), INT_OTHER, DABC(D, S, S, PRED),           \
         d = ((t) | c) ? TRUE_##D : 0)                                                                                 \
    LANE(name##_xor, SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, XOR), INT_OTHER, DABC(D, S, S, PRED),         \
         d = ((t) ^ c) ? TRUE_##D : 0)
/* Makes the four rows of a destination type D that has no functions of its own: they use the functions that SET_BOOL()
 * made with the same name for another type of the size of D. */
#define SET_SAME(name, D, S, cmp, flags)                                                                               \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags), INT_OTHER, DAB(D, S, S), name, )                                  \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, AND), INT_OTHER, DABC(D, S, S, PRED), name##_and, )    \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, OR), INT_OTHER, DABC(D, S, S, PRED), name##_or, )      \
    LANE_FN(SET, T2(D, S), FORM(CMP, cmp) | (flags) | FORM(OPN, XOR), INT_OTHER, DABC(D, S, S, PRED), name##_xor, )

#define ROWS_FILE "isa/exec/exec_compare.c"
#define ROWS_NAME compare
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- integers and bits ---- */
ALL_CMP(SETP_INT)
ALL_CMP(SET_INT)
SETP(test_eq, TEST, T1(B32), FORM(CMP, EQ), INT_OTHER, B32, B32, (a & b) == 0)
SETP(test_ne, TEST, T1(B32), FORM(CMP, NE), INT_OTHER, B32, B32, (a & b) != 0)

/* ---- setp of f32 and f64 ---- */
FLOAT_CMP(SETP_ALL)

/* ---- set with f32 and f64 sources ---- */
FLOAT_CMP(SET_ALL)
/* clang-format on */
#endif
