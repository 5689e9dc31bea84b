/* setp and set on integers and bits (PTX ISA 9.0, section 9.7.5). Those on floating-point numbers: exec_setp, exec_set.
 */
#include "isa/rows.h"

/* Each comparison of a type: X(TYPE, type, CMP, cmp, operator). */
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

/* set: the lanes of a mask as words. Rare, hence shared and not inlined into its several hundred rows. */
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

#define ROWS_FILE "isa/exec/exec_compare.def"
#define ROWS_NAME compare
#include "isa/rows_expand.h"
