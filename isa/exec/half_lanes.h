#ifndef ISA_HALF_LANES_H
#define ISA_HALF_LANES_H
/* Loops over 16-bit lanes. A register of pairs (f16x2, bf16x2) is 64 consecutive halves, low half first, so one loop
 * serves scalars and pairs. Loops that mix 16-bit and 64-bit elements do not vectorise; they are cut in two, with an
 * array of f32 between. Internal to isa/. */
#include "isa/rows.h"
#include "isa/softfloat.h"

enum { HALVES = 2 * WARP_LANES };

#if defined(__clang__)
#define HALF_LANES(i, n) _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int i = 0; i < (n); i++)
#else
#define HALF_LANES(i, n) _Pragma("GCC ivdep") for (int i = 0; i < (n); i++)
#endif

FP_INLINE float half_widen(uint16_t h, bool bf16, bool ftz) {
    return bf16 ? f32_from_bf16(bf16_flush(h, ftz)) : f32_from_f16(f16_flush(h, ftz));
}
FP_INLINE uint16_t half_narrow(float x, bool bf16, bool ftz) {
    return bf16 ? bf16_flush(bf16_from_f32(x, RND_RN), ftz) : f16_flush(f16_from_f32(x, RND_RN), ftz);
}
#endif
