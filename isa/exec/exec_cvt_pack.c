/* cvt to f16x2, bf16x2 and tf32, and cvt.pack (PTX ISA 9.0, sections 9.7.9.21 and 9.7.9.22). Bytes and less:
 * exec_narrow.c.
 *
 * .satfinite turns what exceeds the largest number, infinity included, into that number; .relu turns negative numbers
 * and -0 into +0. NaN stays, as the canonical NaN. tf32 is an f32 whose last 13 bits are zero. */
#include "isa/rows.h"
#include "isa/softfloat.h"

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

/* cvt.rn and .rz to f16, bf16 and their pairs, with .relu and .satfinite; the plain scalars are in exec_cvt. */
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
/* cvt.pack: a above b; forms of 8 bits and less shift c in above both */
#define PACK(T, min, max)                                                                                              \
    LANE(pack_##T, CVT, T2(T, S32), FORM(MODE, PACK) | FLAG(SAT), INT_OTHER, DAB(B32, S32, S32),                       \
         d = pack16((uint16_t)s32_clamp(a, min, max), (uint16_t)s32_clamp(b, min, max)))
#define PACK3(T, bits, min, max)                                                                                       \
    LANE(pack_##T, CVT, T3(T, S32, B32), FORM(MODE, PACK) | FLAG(SAT), INT_OTHER, DABC(B32, S32, S32, B32),            \
         const uint32_t mask = (1u << bits) - 1;                                                                       \
         d = c << 2 * bits | ((uint32_t)s32_clamp(a, min, max) & mask) << bits |                                       \
             ((uint32_t)s32_clamp(b, min, max) & mask))

#define ROWS_FILE "isa/exec/exec_cvt_pack.def"
#define ROWS_NAME cvt_pack
#include "isa/rows_expand.h"
