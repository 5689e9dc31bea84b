/* setp and set of f16, bf16 and their pairs (PTX ISA 9.0, sections 9.7.6 and 9.7.7).
 *
 * A comparison is one of 14 functions on floats that give a mask; sources are widened for it, and what remains is
 * arithmetic on masks. Of a scalar, p|q are BoolOp(t, c) and BoolOp(!t, c); of a pair, p belongs to the low half and q
 * to the high half. set gives all ones in an integer and 1.0 in a floating-point destination, in each half of a pair.
 */
#include "half_lanes.h"

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

/* t of scalars; t[0] and t[1] of the low and high halves of pairs */
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

/* BoolOp(t, c); c is not read without one */
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

/* One lane function: a comparison, a source format, a boolean operator, and where the answers go. */
#define HALF_FN(name, cmp, compare, widen, put)                                                                        \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        uint32_t t[2];                                                                                                 \
        (void)d2, (void)e;                                                                                             \
        compare(compare_##cmp, widen, a, b, t);                                                                        \
        put;                                                                                                           \
    }
#define SETP_FN(cmp, tag, boolean, compare, widen)                                                                     \
    HALF_FN(setp_##cmp##_##tag##_##boolean, cmp, compare, widen, put_predicates(t, OPN_##boolean, d, d2, c))
#define SET_FN(cmp, tag, boolean, compare, widen, put, truth)                                                          \
    HALF_FN(set_##cmp##_##tag##_##boolean, cmp, compare, widen, put(t, OPN_##boolean, truth, d, c))

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

/* The rows of exec_half_compare.def. C is the type of the predicate source. */
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

#define ROWS_FILE "isa/exec/exec_half_compare.def"
#define ROWS_NAME half_compare
#include "isa/rows_expand.h"
