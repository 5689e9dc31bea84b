/* cvt to f16x2, bf16x2 and tf32, conversions to and from formats of 8 bits and less, cvt.rs, and cvt.pack (PTX ISA 9.0,
 * sections 9.7.9.21 and 9.7.9.22; 16-bit sources of small formats: 9.1). */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/exec/small_floats.h"
#include "isa/rows.h"

/* ---- f16x2, bf16x2, tf32, and cvt.pack ----
 *
 * .satfinite turns values above the largest number, and infinity, into the largest number. .relu turns negative numbers
 * and -0 into +0. NaN becomes the canonical NaN. tf32 is an f32 whose last 13 bits are zero. */

#define SAT_0  0
#define SAT_1  FLAG(SATFINITE)
#define RELU_0 0
#define RELU_1 FLAG(RELU)

FP_INLINE float relu(float x, bool on) { return on && x <= 0.0f ? 0.0f : x; }
FP_INLINE uint32_t narrow(float x, struct narrow_format f, int rnd, bool satfinite, bool on) {
    return narrow_f32(relu(x, on), f, rnd, satfinite);
}
FP_INLINE uint32_t tf32_from_f32(float x, int rnd, bool satfinite, bool on) {
    uint32_t bits = f32_bits(relu(x, on)), mag = bits & 0x7fffffffu;
    uint32_t r = narrow_magnitude(mag, bits >> 31, 10, 1, rnd) << 13;
    uint32_t max = 0x7f7fe000u;
    r = mag >= F32_INF ? F32_INF : r;
    r = r > max && (satfinite || (rnd == RND_RZ && mag < F32_INF)) ? max : r;
    return mag > F32_INF ? F32_NAN : r | (bits & 0x80000000u);
}
FP_INLINE uint32_t pack16(uint32_t high, uint32_t low) { return high << 16 | low; }
FP_INLINE int32_t s32_clamp(int32_t x, int32_t min, int32_t max) {
    int32_t low = x > min ? x : min;
    return low < max ? low : max;
}

/* cvt.rn and .rz to f16, bf16 and their pairs, with .relu and .satfinite. exec_cvt.c has the scalar conversions without
 * .relu and .satfinite. */
#define TO_HALF(D, rnd, sat, on)                                                                                       \
    CVT(cvt_##rnd##_##D##_##sat##on, CVT, T2(D, F32), FORM(RND, rnd) | SAT_##sat | RELU_##on, INT_OTHER, DA(D, F32),   \
        d = (uint16_t)narrow(a, NARROW_##D, RND_##rnd, sat, on))
#define TO_PAIR(D, H, rnd, sat, on)                                                                                    \
    LANE(cvt_##rnd##_##D##_##sat##on, CVT, T2(D, F32), FORM(RND, rnd) | SAT_##sat | RELU_##on, INT_OTHER,              \
         DAB(D, F32, F32),                                                                                             \
         d = pack16(narrow(a, NARROW_##H, RND_##rnd, sat, on), narrow(b, NARROW_##H, RND_##rnd, sat, on)))
#define TO_HALVES(rnd, sat, on)                                                                                        \
    TO_PAIR(F16X2, F16, rnd, sat, on)                                                                                  \
    TO_PAIR(BF16X2, BF16, rnd, sat, on)
#define TO_TF32(rnd, sat, on)                                                                                          \
    CVT(cvt_##rnd##_TF32_##sat##on, CVT, T2(TF32, F32), FORM(RND, rnd) | SAT_##sat | RELU_##on, INT_OTHER,             \
        DA(TF32, F32), d = tf32_from_f32(a, RND_##rnd, sat, on))
/* cvt.pack: the result has b in its lowest bits and a above b. For formats of 8 bits and less (PACK3), it also has c,
 * shifted left, above a and b. */
#define PACK(T, min, max)                                                                                              \
    LANE(pack_##T, CVT, T2(T, S32), FORM(MODE, PACK) | FLAG(SAT), INT_OTHER, DAB(B32, S32, S32),                       \
         d = pack16((uint16_t)s32_clamp(a, min, max), (uint16_t)s32_clamp(b, min, max)))
#define PACK3(T, bits, min, max)                                                                                       \
    LANE(pack_##T, CVT, T3(T, S32, B32), FORM(MODE, PACK) | FLAG(SAT), INT_OTHER, DABC(B32, S32, S32, B32),            \
         const uint32_t mask = (1u << bits) - 1;                                                                       \
         d = c << 2 * bits | ((uint32_t)s32_clamp(a, min, max) & mask) << bits |                                       \
             ((uint32_t)s32_clamp(b, min, max) & mask))

/* ---- formats of a byte and less, and cvt.rs ----
 *
 * Two numbers are packed as two bytes, or, for e2m1, as two halves of one byte; the first source is the upper number.
 * NaN becomes the only NaN of e4m3 and e5m2, or the largest number of a format without NaN. ue8m0 has neither sign nor
 * zero: it is the exponent of |x|, and 255 is NaN.
 *
 * .rs takes random bits from a register and adds them to the bits that are cut off: a carry rounds away from zero. With
 * four sources {a, b, e, f}, a and b share one half of the random bits; e and f share the other half. The manual does
 * not say how a pair divides its half. Measurements on hardware with e4m3x4 show that b uses the upper byte, and a uses
 * the lower byte with its bits in reverse order. Heddle does this for all formats of four numbers. Such a cvt is two
 * instructions, as in hardware: each converts one pair with the upper random bits of its third source and appends the
 * pair below the previous pair, which it shifts left. */

FP_INLINE uint32_t narrow_nearest(float x, struct narrow_format f, bool on) {
    return narrow_f32(relu(x, on), f, RND_RN, true);
}

/* The distance in bits between the two numbers of a pair. */
#define APART_E4M3 8
#define APART_E5M2 8
#define APART_E2M3 8
#define APART_E3M2 8
#define APART_E2M1 4

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

/* Return the random bits of a and b, taken from the 16 bits that a and b share (see above). */
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
/* converts two numbers to a pair of small numbers */
#define TO_SMALL(F, on)                                                                                                \
    LANE(cvt_##F##_F32_##on, CVT, T2(F##X2, F32), SMALL_FORM(on), INT_OTHER, DAB(F##X2, F32, F32),                     \
         d = (lane_##F##X2)(narrow_nearest(a, NARROW_##F, on) << APART_##F | narrow_nearest(b, NARROW_##F, on)))
#define TO_SMALL_FROM(F, S, on)                                                                                        \
    LANE(cvt_##F##_##S##_##on, CVT, T2(F##X2, S), SMALL_FORM(on), INT_OTHER, DA(F##X2, S),                             \
         d = (lane_##F##X2)(narrow_nearest(high_##S(a), NARROW_##F, on) << APART_##F |                                 \
                            narrow_nearest(low_##S(a), NARROW_##F, on)))
/* converts a pair of small numbers to f16x2; all values except NaN are exact */
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

/* cvt.rs to f16x2 or bf16x2: each of the two numbers takes `n` random bits from its half of c */
#define RANDOM_PAIR(D, H, n, sat, on)                                                                                  \
    LANE(cvt_rs_##D##_##sat##on, CVT, T2(D, F32), FORM(RND, RS) | SAT_##sat | RELU_##on, INT_OTHER,                    \
         DABC(D, F32, F32, B32), const uint32_t mask = (1u << n) - 1;                                                  \
         d = narrow_f32_random(relu(a, on), NARROW_##H, c >> 16 & mask, n, sat) << 16 |                                \
             narrow_f32_random(relu(b, on), NARROW_##H, c & mask, n, sat))
/* one of the two instructions for cvt.rs to four small numbers: converts one pair (see above) */
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

#define ROWS_FILE "isa/exec/exec_cvt_pack.c"
#define ROWS_NAME cvt_pack
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- f16x2, bf16x2, tf32, and cvt.pack. The last two arguments of a row are 1 if it has .satfinite and .relu ---- */
TO_HALF(F16, RN, 0, 1)
TO_HALF(F16, RN, 1, 0)
TO_HALF(F16, RN, 1, 1)
TO_HALF(F16, RZ, 0, 1)
TO_HALF(F16, RZ, 1, 0)
TO_HALF(F16, RZ, 1, 1)
TO_HALF(BF16, RN, 0, 1)
TO_HALF(BF16, RN, 1, 0)
TO_HALF(BF16, RN, 1, 1)
TO_HALF(BF16, RZ, 0, 1)
TO_HALF(BF16, RZ, 1, 0)
TO_HALF(BF16, RZ, 1, 1)
TO_HALVES(RN, 0, 0)
TO_HALVES(RN, 0, 1)
TO_HALVES(RN, 1, 0)
TO_HALVES(RN, 1, 1)
TO_HALVES(RZ, 0, 0)
TO_HALVES(RZ, 0, 1)
TO_HALVES(RZ, 1, 0)
TO_HALVES(RZ, 1, 1)

TO_TF32(RNA, 0, 0)
TO_TF32(RNA, 1, 0)
TO_TF32(RN, 0, 0)
TO_TF32(RN, 0, 1)
TO_TF32(RN, 1, 0)
TO_TF32(RN, 1, 1)
TO_TF32(RZ, 0, 0)
TO_TF32(RZ, 0, 1)
TO_TF32(RZ, 1, 0)
TO_TF32(RZ, 1, 1)

PACK(U16, 0, UINT16_MAX)
PACK(S16, INT16_MIN, INT16_MAX)
PACK3(U8, 8, 0, UINT8_MAX)
PACK3(S8, 8, INT8_MIN, INT8_MAX)
PACK3(U4, 4, 0, 15)
PACK3(S4, 4, -8, 7)
PACK3(U2, 2, 0, 3)
PACK3(S2, 2, -2, 1)

/* ---- formats of a byte and less, and cvt.rs. An argument of 0 or 1 says whether a row has .satfinite or .relu ---- */
SMALL(E4M3)
SMALL(E5M2)
SMALL(E2M3)
SMALL(E3M2)
SMALL(E2M1)

TO_SCALE(RZ, 0)
TO_SCALE(RZ, 1)
TO_SCALE(RP, 0)
TO_SCALE(RP, 1)
LANE(cvt_BF16X2_ue8m0, CVT, T2(BF16X2, UE8M0X2), FORM(RND, RN), INT_OTHER, DA(BF16X2, UE8M0X2),
     d = bf16_from_ue8m0(a >> 8) << 16 | bf16_from_ue8m0(a & 0xffu))

RANDOM_PAIR(F16X2, F16, 13, 0, 0)
RANDOM_PAIR(F16X2, F16, 13, 0, 1)
RANDOM_PAIR(F16X2, F16, 13, 1, 0)
RANDOM_PAIR(F16X2, F16, 13, 1, 1)
RANDOM_PAIR(BF16X2, BF16, 16, 0, 0)
RANDOM_PAIR(BF16X2, BF16, 16, 0, 1)
RANDOM_PAIR(BF16X2, BF16, 16, 1, 0)
RANDOM_PAIR(BF16X2, BF16, 16, 1, 1)
RANDOM_FOUR(E4M3, 0)
RANDOM_FOUR(E4M3, 1)
RANDOM_FOUR(E5M2, 0)
RANDOM_FOUR(E5M2, 1)
RANDOM_FOUR(E2M3, 0)
RANDOM_FOUR(E2M3, 1)
RANDOM_FOUR(E3M2, 0)
RANDOM_FOUR(E3M2, 1)
RANDOM_FOUR(E2M1, 0)
RANDOM_FOUR(E2M1, 1)
/* clang-format on */
#endif
