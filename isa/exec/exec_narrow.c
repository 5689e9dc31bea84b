/* cvt to and from floating-point formats of a byte and less, and cvt.rs (PTX ISA 9.0, section 9.7.9.21; the 16-bit
 * sources of 9.1).
 *
 * Two numbers are packed as two bytes, or, e2m1, as two halves of one; the first source is above. A NaN stays the one
 * NaN of e4m3 and e5m2 and becomes the largest number of the formats without. ue8m0 has neither sign nor zero: it is
 * the exponent of |x|, and 255 is NaN.
 *
 * .rs takes random bits from a register: a carry out of their sum with the bits cut off rounds away from zero. Of four
 * sources {a, b, e, f}, a and b share one half of the random bits, e and f the other. The manual leaves open how a pair
 * divides them; as measured on e4m3x4 by users of the hardware, b has the upper byte and a the lower one with its bits
 * in reverse order, and we do the same for all formats of four. Such a cvt is two instructions, as in hardware: each
 * converts one pair with the upper random bits of its third source and shifts it in below. */
#include "isa/rows.h"
#include "isa/softfloat.h"

#define SAT_0  0
#define SAT_1  FLAG(SATFINITE)
#define RELU_0 0
#define RELU_1 FLAG(RELU)

FP_INLINE float relu(float x, bool on) { return on && x <= 0.0f ? 0.0f : x; }
FP_INLINE uint32_t narrow(float x, struct narrow_format f, bool on) { return narrow_f32(relu(x, on), f, RND_RN, true); }

/* Bits between the two numbers of a pair. */
#define APART_E4M3 8
#define APART_E5M2 8
#define APART_E2M3 8
#define APART_E3M2 8
#define APART_E2M1 4

/* one number widened; subnormals come out normal */
FP_INLINE float f32_from_small(uint32_t h, int bits, int mantissa, float scale) {
    uint32_t mag = h & ((1u << (bits - 1)) - 1), sign = h >> (bits - 1) & 1;
    return f32_from_bits(f32_bits(f32_from_bits(mag << (23 - mantissa)) * scale) | sign << 31);
}
FP_INLINE float f32_from_E4M3(uint32_t h) {
    return (h & 0x7f) == 0x7f ? f32_from_bits(F32_NAN) : f32_from_small(h, 8, 3, 0x1p120f);
}
FP_INLINE float f32_from_E5M2(uint32_t h) { return f32_from_f16((uint16_t)(h << 8)); }
FP_INLINE float f32_from_E2M3(uint32_t h) { return f32_from_small(h, 6, 3, 0x1p126f); }
FP_INLINE float f32_from_E3M2(uint32_t h) { return f32_from_small(h, 6, 2, 0x1p124f); }
FP_INLINE float f32_from_E2M1(uint32_t h) { return f32_from_small(h, 4, 1, 0x1p126f); }

FP_INLINE float low_F16X2(uint32_t a) { return f32_from_f16((uint16_t)a); }
FP_INLINE float high_F16X2(uint32_t a) { return f32_from_f16((uint16_t)(a >> 16)); }
FP_INLINE float low_BF16X2(uint32_t a) { return f32_from_bf16((uint16_t)a); }
FP_INLINE float high_BF16X2(uint32_t a) { return f32_from_bf16((uint16_t)(a >> 16)); }

FP_INLINE uint32_t ue8m0(float x, int rnd, bool satfinite) {
    uint32_t mag = f32_bits(x) & 0x7fffffffu, least = 0x00400000u; /* 2^-127 */
    uint32_t r = mag >> 23;
    if (rnd == RND_RP)
        r += (mag & 0x7fffffu) != 0 && mag > least && mag < F32_INF ? 1 : 0;
    return satfinite && r == 255 && mag <= F32_INF ? 254 : r;
}
FP_INLINE uint32_t bf16_from_ue8m0(uint32_t e) { return e == 255 ? F16_NAN : e == 0 ? 0x0040 : e << 7; }

/* The random bits of a and b among the 16 that they share, see above. */
FP_INLINE uint32_t random_low(uint32_t pair) { return pair >> 8 & 0xff; }
FP_INLINE uint32_t random_high(uint32_t pair) {
    pair = (pair & 0x55) << 1 | (pair >> 1 & 0x55);
    pair = (pair & 0x33) << 2 | (pair >> 2 & 0x33);
    return (pair & 0x0f) << 4 | (pair >> 4 & 0x0f);
}
#define RANDOM_E4M3(c) ((c) >> 16)
#define RANDOM_E5M2(c) ((c) >> 16)
#define RANDOM_E2M3(c) ((c) >> 16)
#define RANDOM_E3M2(c) ((c) >> 16)
#define RANDOM_E2M1(c) (((c) >> 16 & 0xff00u) | ((c) >> 8 & 0xffu))

#define SMALL_FORM(on) FORM(RND, RN) | FLAG(SATFINITE) | RELU_##on
/* two numbers to a pair of small ones */
#define TO_SMALL(F, on)                                                                                                \
    LANE(cvt_##F##_F32_##on, CVT, T2(F##X2, F32), SMALL_FORM(on), INT_OTHER, DAB(F##X2, F32, F32),                     \
         d = (lane_##F##X2)(narrow(a, NARROW_##F, on) << APART_##F | narrow(b, NARROW_##F, on)))
#define TO_SMALL_FROM(F, S, on)                                                                                        \
    LANE(cvt_##F##_##S##_##on, CVT, T2(F##X2, S), SMALL_FORM(on), INT_OTHER, DA(F##X2, S),                             \
         d = (lane_##F##X2)(narrow(high_##S(a), NARROW_##F, on) << APART_##F | narrow(low_##S(a), NARROW_##F, on)))
/* exact, but for NaN */
#define FROM_SMALL(F, on)                                                                                              \
    LANE(cvt_F16X2_##F##_##on, CVT, T2(F16X2, F##X2), FORM(RND, RN) | RELU_##on, INT_OTHER, DA(F16X2, F##X2),          \
         uint32_t high = f16_from_f32(relu(f32_from_##F(a >> APART_##F), on), RND_RN);                                 \
         d = high << 16 | f16_from_f32(relu(f32_from_##F(a & ((1u << APART_##F) - 1)), on), RND_RN))
#define SMALL(F)                                                                                                       \
    TO_SMALL(F, 0)                                                                                                     \
    TO_SMALL(F, 1)                                                                                                     \
    TO_SMALL_FROM(F, F16X2, 0)                                                                                         \
    TO_SMALL_FROM(F, F16X2, 1)                                                                                         \
    TO_SMALL_FROM(F, BF16X2, 0)                                                                                        \
    TO_SMALL_FROM(F, BF16X2, 1)                                                                                        \
    FROM_SMALL(F, 0)                                                                                                   \
    FROM_SMALL(F, 1)
#define TO_SCALE(rnd, sat)                                                                                             \
    LANE(cvt_ue8m0_##rnd##_F32_##sat, CVT, T2(UE8M0X2, F32), FORM(RND, rnd) | SAT_##sat, INT_OTHER,                    \
         DAB(UE8M0X2, F32, F32), d = (uint16_t)(ue8m0(a, RND_##rnd, sat) << 8 | ue8m0(b, RND_##rnd, sat)))             \
    LANE(cvt_ue8m0_##rnd##_BF16X2_##sat, CVT, T2(UE8M0X2, BF16X2), FORM(RND, rnd) | SAT_##sat, INT_OTHER,              \
         DA(UE8M0X2, BF16X2),                                                                                          \
         d = (uint16_t)(ue8m0(high_BF16X2(a), RND_##rnd, sat) << 8 | ue8m0(low_BF16X2(a), RND_##rnd, sat)))

/* cvt.rs to a pair of halves: `n` random bits for each, of its half of c */
#define RANDOM_PAIR(D, H, n, sat, on)                                                                                  \
    LANE(cvt_rs_##D##_##sat##on, CVT, T2(D, F32), FORM(RND, RS) | SAT_##sat | RELU_##on, INT_OTHER,                    \
         DABC(D, F32, F32, B32), const uint32_t mask = (1u << n) - 1;                                                  \
         d = narrow_f32_random(relu(a, on), NARROW_##H, c >> 16 & mask, n, sat) << 16 |                                \
             narrow_f32_random(relu(b, on), NARROW_##H, c & mask, n, sat))
/* one step of cvt.rs to four small numbers */
#define RANDOM_STEP(F, on)                                                                                             \
    const uint32_t shared = RANDOM_##F(c);                                                                             \
    uint32_t high = narrow_f32_random(relu(a, on), NARROW_##F, random_high(shared), 8, true);                          \
    uint32_t low = narrow_f32_random(relu(b, on), NARROW_##F, random_low(shared), 8, true);                            \
    uint32_t both = c << 2 * APART_##F | high << APART_##F | low
#define RANDOM_FOUR(F, on)                                                                                             \
    LANE(rs_first_##F##_##on, RSPAIR, T2(F##X4, F32), FORM(RND, RS) | FLAG(SATFINITE) | RELU_##on, INT_OTHER,          \
         DABC(B32, F32, F32, B32), RANDOM_STEP(F, on);                                                                 \
         d = both)                                                                                                     \
    LANE(rs_second_##F##_##on, CVT, T2(F##X4, F32), FORM(RND, RS) | FLAG(SATFINITE) | RELU_##on, INT_OTHER,            \
         DABC(F##X4, F32, F32, B32), RANDOM_STEP(F, on);                                                               \
         d = (lane_##F##X4)both)

#define ROWS_FILE "isa/exec/exec_narrow.def"
#define ROWS_NAME narrow
#include "isa/rows_expand.h"
