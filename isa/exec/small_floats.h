#ifndef ISA_EXEC_SMALL_FLOATS_H
#define ISA_EXEC_SMALL_FLOATS_H
/* Conversions of floating-point numbers of 8 bits and fewer to f32. All are exact. */
#include "isa/softfloat.h"

/* Returns one number as an f32. A subnormal source becomes a normal number. */
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
/* Returns the value of a ue8m0, a power of two. */
FP_INLINE double f64_from_ue8m0(uint32_t e) {
    return f64_from_bits(e == 255 ? 0x7ff8000000000000ull : (uint64_t)(e + 1023 - 127) << 52);
}
#endif
