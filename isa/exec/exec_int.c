/* Integer arithmetic (PTX ISA 9.0, section 9.7.1). All results wrap. Signed types compute in unsigned words of their
 * width, since signed overflow is undefined in C. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"

static inline int32_t clamp_s32(int64_t x) {
    return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}
/* Return the low 24 bits, extended to 32. */
static inline uint32_t low24(uint32_t x) { return x & 0xffffff; }
static inline int32_t low24s(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }

/* Return the quotient or the remainder of two integers. The quotient of a division by zero is all ones, and the
 * remainder is the dividend. The least integer divided by -1 wraps. Code that ptxas generates gives the same
 * results. */
static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : a; }
static inline int64_t div_s64(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
/* Integers of up to 32 bits are divided in double, for which hosts have vector division. The result is exact: a
 * quotient that is no integer is at least 1/b below the next integer. That is more than half an ulp of the quotient,
 * since the product of quotient and b is below 2^53. */
static inline uint32_t div_u32(uint32_t a, uint32_t b) {
    const uint32_t q = (uint32_t)((double)a / (double)(b ? b : 1));
    return b ? q : UINT32_MAX;
}
static inline uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a - div_u32(a, b) * b : a; }
static inline int32_t div_s32(int32_t a, int32_t b) {
    const bool plain = b != 0 && b != -1;
    const int32_t q = (int32_t)((double)a / (double)(plain ? b : 1));
    return b == 0 ? -1 : b == -1 ? (int32_t)(0 - (uint32_t)a) : q;
}
static inline int32_t rem_s32(int32_t a, int32_t b) {
    return b == 0 ? a : (int32_t)((uint32_t)a - (uint32_t)div_s32(a, b) * (uint32_t)b);
}

/* join() makes a word of two 16-bit halves. The other functions return half n or byte n of a word. */
static inline uint32_t join(uint32_t lo, uint32_t hi) { return (lo & 0xffff) | hi << 16; }
static inline int32_t half(uint32_t x, int n) { return (int16_t)(x >> 16 * n); }
static inline uint32_t uhalf(uint32_t x, int n) { return x >> 16 * n & 0xffff; }
static inline int32_t byte(uint32_t x, int n) { return (int8_t)(x >> 8 * n); }
static inline uint32_t ubyte(uint32_t x, int n) { return x >> 8 * n & 0xff; }
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))

/* X(TYPE, name, unsigned type to compute in, type of twice the width). 16-bit types compute in 32 bits. */
#define INT_TYPES(X)                                                                                                   \
    X(U16, u16, uint32_t, uint32_t)                                                                                    \
    X(S16, s16, uint32_t, int32_t)                                                                                     \
    X(U32, u32, uint32_t, uint64_t)                                                                                    \
    X(S32, s32, uint32_t, int64_t) X(U64, u64, uint64_t, unsigned __int128) X(S64, s64, uint64_t, __int128)
#define SIGNED_TYPES(X) X(S16, s16, uint32_t) X(S32, s32, uint32_t) X(S64, s64, uint64_t)

#define ARITHMETIC(T, t, word, twice)                                                                                  \
    LANE(add_##t, ADD, T1(T), 0, INT_ADD, DAB(T, T, T), d = (lane_##T)((word)a + (word)b))                             \
    LANE(sub_##t, SUB, T1(T), 0, INT_ADD, DAB(T, T, T), d = (lane_##T)((word)a - (word)b))                             \
    LANE(mul_lo_##t, MUL, T1(T), FORM(PART, LO), INT_MUL, DAB(T, T, T), d = (lane_##T)((word)a * (word)b))             \
    LANE(mul_hi_##t, MUL, T1(T), FORM(PART, HI), INT_MUL, DAB(T, T, T),                                                \
         d = (lane_##T)((twice)a * (twice)b >> 8 * sizeof(lane_##T)))                                                  \
    LANE(mad_lo_##t, MAD, T1(T), FORM(PART, LO), INT_MAD, DABC(T, T, T, T),                                            \
         d = (lane_##T)((word)a * (word)b + (word)c))                                                                  \
    LANE(mad_hi_##t, MAD, T1(T), FORM(PART, HI), INT_MAD, DABC(T, T, T, T),                                            \
         d = (lane_##T)((word)((twice)a * (twice)b >> 8 * sizeof(lane_##T)) + (word)c))                                \
    LANE(sad_##t, SAD, T1(T), 0, INT_OTHER, DABC(T, T, T, T),                                                          \
         d = (lane_##T)((word)c + (a < b ? (word)b - (word)a : (word)a - (word)b)))                                    \
    LANE(min_##t, MIN, T1(T), 0, INT_MINMAX, DAB(T, T, T), d = MIN(a, b))                                              \
    LANE(max_##t, MAX, T1(T), 0, INT_MINMAX, DAB(T, T, T), d = MAX(a, b))

#define WIDE(T, t, W, word)                                                                                            \
    LANE(mul_wide_##t, MUL, T1(T), FORM(PART, WIDE), INT_MUL, DAB(W, T, T), d = (lane_##W)a * (lane_##W)b)             \
    LANE(mad_wide_##t, MAD, T1(T), FORM(PART, WIDE), INT_MAD, DABC(W, T, T, W),                                        \
         d = (lane_##W)((word)((lane_##W)a * (lane_##W)b) + (word)c))

#define SIGNS(T, t, word)                                                                                              \
    LANE(abs_##t, ABS, T1(T), 0, INT_OTHER, DA(T, T), d = (lane_##T)(a < 0 ? 0 - (word)a : (word)a))                   \
    LANE(neg_##t, NEG, T1(T), 0, INT_OTHER, DA(T, T), d = (lane_##T)(0 - (word)a))

#define DIVISION(T, t, wide)                                                                                           \
    LANE(division_##t, DIV, T1(T), 0, INT_DIV, DAB(T, T, T), d = (lane_##T)div_##wide(a, b))                           \
    LANE(remainder_##t, REM, T1(T), 0, INT_DIV, DAB(T, T, T), d = (lane_##T)rem_##wide(a, b))

/* mul24 and mad24: the product of two 24-bit factors has 48 bits; the result is its low 32 bits (.lo) or its bits 47 to
 * 16 (.hi). */
#define MUL_24(T, t, cut, twice)                                                                                       \
    LANE(mul24_lo_##t, MUL24, T1(T), FORM(PART, LO), INT_MUL, DAB(T, T, T),                                            \
         d = (lane_##T)((twice)cut(a) * (twice)cut(b)))                                                                \
    LANE(mul24_hi_##t, MUL24, T1(T), FORM(PART, HI), INT_MUL, DAB(T, T, T),                                            \
         d = (lane_##T)((twice)cut(a) * (twice)cut(b) >> 16))                                                          \
    LANE(mad24_lo_##t, MAD24, T1(T), FORM(PART, LO), INT_MAD, DABC(T, T, T, T),                                        \
         d = (lane_##T)((uint32_t)((twice)cut(a) * (twice)cut(b)) + (uint32_t)c))                                      \
    LANE(mad24_hi_##t, MAD24, T1(T), FORM(PART, HI), INT_MAD, DABC(T, T, T, T),                                        \
         d = (lane_##T)((uint32_t)((twice)cut(a) * (twice)cut(b) >> 16) + (uint32_t)c))

/* Additions with carry (extended precision). The sum a + b + carry has wrapped if the result is less than a, or if it
 * equals a and the carry is 1. As GPUs do, sub.cc and subc add ~b: the carry is 1 if they do not borrow. */
#define CARRY_ADD(T, t, U)                                                                                             \
    LANE(add_cc_##t, ADD, T1(T), FLAG(CC), INT_ADD, OPDS(T, PRED, T, T, NONE, NONE), d = (lane_##T)((U)a + (U)b);      \
         d2 = (U)d < (U)a)                                                                                             \
    LANE(addc_##t, ADDC, T1(T), 0, INT_ADD, OPDS(T, NONE, T, T, NONE, PRED), d = (lane_##T)((U)a + (U)b + e))          \
    LANE(addc_cc_##t, ADDC, T1(T), FLAG(CC), INT_ADD, OPDS(T, PRED, T, T, NONE, PRED),                                 \
         d = (lane_##T)((U)a + (U)b + e);                                                                              \
         d2 = ((U)d < (U)a) | (e & ((U)d == (U)a)))                                                                    \
    LANE(sub_cc_##t, SUB, T1(T), FLAG(CC), INT_ADD, OPDS(T, PRED, T, T, NONE, NONE), d = (lane_##T)((U)a - (U)b);      \
         d2 = (U)a >= (U)b)                                                                                            \
    LANE(subc_##t, SUBC, T1(T), 0, INT_ADD, OPDS(T, NONE, T, T, NONE, PRED), d = (lane_##T)((U)a + (U) ~(U)b + e))     \
    LANE(subc_cc_##t, SUBC, T1(T), FLAG(CC), INT_ADD, OPDS(T, PRED, T, T, NONE, PRED),                                 \
         d = (lane_##T)((U)a + (U) ~(U)b + e);                                                                         \
         d2 = ((U)a > (U)b) | (e & ((U)a == (U)b)))
#define CARRY_MAD(T, t, U, PART_, part, product)                                                                       \
    LANE(mad_##part##_cc_##t, MAD, T1(T), FORM(PART, PART_) | FLAG(CC), INT_MAD, OPDS(T, PRED, T, T, T, NONE),         \
         const U p = (U)(product);                                                                                     \
         d = (lane_##T)(p + (U)c); d2 = (U)d < p)                                                                      \
    LANE(madc_##part##_##t, MADC, T1(T), FORM(PART, PART_), INT_MAD, OPDS(T, NONE, T, T, T, PRED),                     \
         d = (lane_##T)((U)(product) + (U)c + e))                                                                      \
    LANE(madc_##part##_cc_##t, MADC, T1(T), FORM(PART, PART_) | FLAG(CC), INT_MAD, OPDS(T, PRED, T, T, T, PRED),       \
         const U p = (U)(product);                                                                                     \
         d = (lane_##T)(p + (U)c + e); d2 = ((U)d < p) | (e & ((U)d == p)))

#define DOT(A, a_name, a4, a2, B, b_name, b4, R)                                                                       \
    LANE(dp4a_##a_name##_##b_name, DP4A, T2(A, B), 0, INT_MAD, DABC(R, A, B, R),                                       \
         d = (lane_##R)((uint32_t)c + (uint32_t)a4(a, 0) * (uint32_t)b4(b, 0) +                                        \
                        (uint32_t)a4(a, 1) * (uint32_t)b4(b, 1) + (uint32_t)a4(a, 2) * (uint32_t)b4(b, 2) +            \
                        (uint32_t)a4(a, 3) * (uint32_t)b4(b, 3)))                                                      \
    LANE(dp2a_lo_##a_name##_##b_name, DP2A, T2(A, B), FORM(PART, LO), INT_MAD, DABC(R, A, B, R),                       \
         d = (lane_##R)((uint32_t)c + (uint32_t)a2(a, 0) * (uint32_t)b4(b, 0) +                                        \
                        (uint32_t)a2(a, 1) * (uint32_t)b4(b, 1)))                                                      \
    LANE(dp2a_hi_##a_name##_##b_name, DP2A, T2(A, B), FORM(PART, HI), INT_MAD, DABC(R, A, B, R),                       \
         d = (lane_##R)((uint32_t)c + (uint32_t)a2(a, 0) * (uint32_t)b4(b, 2) +                                        \
                        (uint32_t)a2(a, 1) * (uint32_t)b4(b, 3)))

#define ROWS_FILE "isa/exec/exec_int.c"
#define ROWS_NAME int
#include "isa/rows_expand.h"
#else
/* clang-format off */
INT_TYPES(ARITHMETIC)
WIDE(U16, u16, U32, uint32_t)
WIDE(S16, s16, S32, uint32_t)
WIDE(U32, u32, U64, uint64_t)
WIDE(S32, s32, S64, uint64_t)
#define HALVES_OF(T, t, W)                                                                                             \
    LANE(halves_##t, HALVES, T1(T), 0, INT_MUL, OPDS(T, T, T, T, NONE, NONE), const W p = (W)a * b;                    \
         d = (lane_##T)p; d2 = (lane_##T)(p >> 32))
LANE(lea_u64, LEA, T2(U64, U64), 0, INT_ADD, DABC(U64, U64, U32, U64), d = (a << (b & 31)) + c)
LANE(lea_u32, LEA, T2(U64, U32), 0, INT_ADD, DABC(U64, U32, U32, U64), d = ((uint64_t)a << (b & 31)) + c)
HALVES_OF(U32, u32, uint64_t)
HALVES_OF(S32, s32, int64_t)
SIGNED_TYPES(SIGNS)
DIVISION(U16, u16, u32)
DIVISION(S16, s16, s32)
DIVISION(U32, u32, u32)
DIVISION(S32, s32, s32)
DIVISION(U64, u64, u64)
DIVISION(S64, s64, s64)
MUL_24(U32, u32, low24, uint64_t)
MUL_24(S32, s32, low24s, int64_t)

LANE(add_sat_s32, ADD, T1(S32), FLAG(SAT), INT_ADD, DAB(S32, S32, S32), d = clamp_s32((int64_t)a + b))
LANE(sub_sat_s32, SUB, T1(S32), FLAG(SAT), INT_ADD, DAB(S32, S32, S32), d = clamp_s32((int64_t)a - b))
LANE(mad_hi_sat_s32, MAD, T1(S32), FORM(PART, HI) | FLAG(SAT), INT_MAD, DABC(S32, S32, S32, S32),
     d = clamp_s32(((int64_t)a * b >> 32) + c))
LANE(mad24_hi_sat_s32, MAD24, T1(S32), FORM(PART, HI) | FLAG(SAT), INT_MAD, DABC(S32, S32, S32, S32),
     d = clamp_s32((int32_t)((int64_t)low24s(a) * low24s(b) >> 16) + (int64_t)c))

LANE(add_u16x2, ADD, T1(U16X2), 0, INT_ADD, DAB(U16X2, U16X2, U16X2), d = join(a + b, (a >> 16) + (b >> 16)))
LANE_FN(ADD, T1(S16X2), 0, INT_ADD, DAB(S16X2, S16X2, S16X2), add_u16x2, )
LANE(min_u16x2, MIN, T1(U16X2), 0, INT_MINMAX, DAB(U16X2, U16X2, U16X2),
     d = join(MIN(uhalf(a, 0), uhalf(b, 0)), MIN(uhalf(a, 1), uhalf(b, 1))))
LANE(max_u16x2, MAX, T1(U16X2), 0, INT_MINMAX, DAB(U16X2, U16X2, U16X2),
     d = join(MAX(uhalf(a, 0), uhalf(b, 0)), MAX(uhalf(a, 1), uhalf(b, 1))))
LANE(min_s16x2, MIN, T1(S16X2), 0, INT_MINMAX, DAB(S16X2, S16X2, S16X2),
     d = join((uint32_t)MIN(half(a, 0), half(b, 0)), (uint32_t)MIN(half(a, 1), half(b, 1))))
LANE(max_s16x2, MAX, T1(S16X2), 0, INT_MINMAX, DAB(S16X2, S16X2, S16X2),
     d = join((uint32_t)MAX(half(a, 0), half(b, 0)), (uint32_t)MAX(half(a, 1), half(b, 1))))
LANE(min_relu_s16x2, MIN, T1(S16X2), FLAG(RELU), INT_MINMAX, DAB(S16X2, S16X2, S16X2),
     const int32_t lo = MIN(half(a, 0), half(b, 0)); const int32_t hi = MIN(half(a, 1), half(b, 1));
     d = join((uint32_t)MAX(lo, 0), (uint32_t)MAX(hi, 0)))
LANE(max_relu_s16x2, MAX, T1(S16X2), FLAG(RELU), INT_MINMAX, DAB(S16X2, S16X2, S16X2),
     const int32_t lo = MAX(half(a, 0), half(b, 0)); const int32_t hi = MAX(half(a, 1), half(b, 1));
     d = join((uint32_t)MAX(lo, 0), (uint32_t)MAX(hi, 0)))
LANE(min_relu_s32, MIN, T1(S32), FLAG(RELU), INT_MINMAX, DAB(S32, S32, S32),
     const int32_t m = MIN(a, b); d = MAX(m, 0))
LANE(max_relu_s32, MAX, T1(S32), FLAG(RELU), INT_MINMAX, DAB(S32, S32, S32),
     const int32_t m = MAX(a, b); d = MAX(m, 0))

CARRY_ADD(U32, u32, uint32_t)
CARRY_ADD(S32, s32, uint32_t)
CARRY_ADD(U64, u64, uint64_t)
CARRY_ADD(S64, s64, uint64_t)
CARRY_MAD(U32, u32, uint32_t, LO, lo, a * b)
CARRY_MAD(U32, u32, uint32_t, HI, hi, (uint64_t)a * b >> 32)
CARRY_MAD(S32, s32, uint32_t, LO, lo, (uint32_t)a * (uint32_t)b)
CARRY_MAD(S32, s32, uint32_t, HI, hi, (int64_t)a * b >> 32)
CARRY_MAD(U64, u64, uint64_t, LO, lo, a * b)
CARRY_MAD(U64, u64, uint64_t, HI, hi, (unsigned __int128)a * b >> 64)
CARRY_MAD(S64, s64, uint64_t, LO, lo, (uint64_t)a * (uint64_t)b)
CARRY_MAD(S64, s64, uint64_t, HI, hi, (__int128)a * b >> 64)

LANE(add3_u32, ADD3, T1(U32), 0, INT_ADD, DABC(U32, U32, U32, U32), d = a + b + c)
LANE(add3_u64, ADD3, T1(U64), 0, INT_ADD, DABC(U64, U64, U64, U64), d = a + b + c)
LANE(addsub_u32, ADD_SUB, T1(U32), 0, INT_ADD, DABC(U32, U32, U32, U32), d = a + b - c)
LANE(addsub_u64, ADD_SUB, T1(U64), 0, INT_ADD, DABC(U64, U64, U64, U64), d = a + b - c)
LANE(subsub_u32, SUB_SUB, T1(U32), 0, INT_ADD, DABC(U32, U32, U32, U32), d = a - b - c)
LANE(subsub_u64, SUB_SUB, T1(U64), 0, INT_ADD, DABC(U64, U64, U64, U64), d = a - b - c)
LANE(madsub_u32, MAD_SUB, T1(U32), 0, INT_MAD, DABC(U32, U32, U32, U32), d = a * b - c)

DOT(U32, u32, ubyte, uhalf, U32, u32, ubyte, U32)
DOT(U32, u32, ubyte, uhalf, S32, s32, byte, S32)
DOT(S32, s32, byte, half, U32, u32, ubyte, S32)
DOT(S32, s32, byte, half, S32, s32, byte, S32)
/* clang-format on */
#endif
