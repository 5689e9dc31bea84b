/* Quotients, reciprocals and square roots: rounded to nearest, and the approximations of PTX ISA 9.0, sections 9.7.3.8
 * and 9.7.3.13 to 9.7.3.17. Approximations are computed as exactly as the host's division and root make it cheap, so
 * they lie well inside the bounds that the manual states and that the rows repeat. */
#include "float_rows.h"

/* div.approx is a * (1/b), and 1/b underflows where |b| > 2^126: zero, or NaN when a is infinite. */
FP_INLINE float f32_div_approx(float a, float b) {
    uint32_t mag = f32_bits(b) & 0x7fffffffu;
    bool tiny = mag > 0x7e800000u && mag < F32_INF;
    return tiny ? a * f32_from_bits((f32_bits(b) & 0x80000000u)) : a / b;
}
/* Two roundings: at most 2^-23 relative. */
FP_INLINE float f32_rsqrt(float a) { return 1.0f / __builtin_sqrtf(a); }

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 see the upper word only, and write only it. */
FP_INLINE double f64_upper(double a) { return f64_flush(f64_from_bits(f64_bits(a) & 0xffffffff00000000ull)); }
FP_INLINE double f64_upper_result(double r) {
    uint64_t nearest = (f64_bits(r) + 0x80000000ull) & 0xffffffff00000000ull;
    return r == r ? f64_flush(f64_from_bits(nearest)) : f64_from_bits(0x7fffffff00000000ull);
}

/* The rounded functions again, for the forms .full and .approx that they satisfy. */
#define FULL(tag, flags, bound_, op, approx, lat, opds, word)                                                          \
    LANE_FN(op, T1(F32), FORM(APPROX, approx) | (flags), lat, opds, word##_RN##tag##_f32, .bound = bound_)

#define ROWS_FILE "isa/exec/exec_div.def"
#define ROWS_NAME div
#include "isa/rows_expand.h"
