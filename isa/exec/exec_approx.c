/* sin cos lg2 ex2 tanh (PTX ISA 9.0, sections 9.7.3.18 to 9.7.3.22, 9.7.4.9 and 9.7.4.10).
 *
 * All results are computed in double and rounded once. The polynomials are our own, not the C library's, so results are
 * the same for every compiler, processor and library. They are within 0.501 ulp, far inside the bounds of the manual.
 * The polynomials are minimax fits; comments state their errors. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "half_lanes.h"

/* Adding and subtracting this number rounds to an integer. The low bits of the sum hold the integer. */
#define ROUNDER 0x1.8p52

/* Returns (2^f - 1) / f for |f| <= 1/2; the polynomial's error is 2^-38. */
FP_INLINE double ex2m1_over(double f) {
    double p = 0x1.63b2d7971923fp-20;
    p = p * f + 0x1.00c0e4e15189cp-16;
    p = p * f + 0x1.4308c7183d6a2p-13;
    p = p * f + 0x1.5d877598350dep-10;
    p = p * f + 0x1.3b2ab70ad2565p-7;
    p = p * f + 0x1.c6b08da70cce3p-5;
    p = p * f + 0x1.ebfbdff82a734p-3;
    return p * f + 0x1.62e42fef9cc69p-1;
}
/* Returns 2^n for the integer n, |n| < 1000. The low bits of `sum` hold n, because the caller has added ROUNDER. */
FP_INLINE double exponential(double sum) {
    uint64_t n = f64_bits(sum) - f64_bits(ROUNDER);
    return f64_from_bits((n + 1023) << 52);
}
FP_INLINE double f64_ex2(float a) {
    double x = a; /* beyond these limits the result is 0 or infinity in every format */
    x = x > 160.0 ? 160.0 : x;
    x = x < -160.0 ? -160.0 : x;
    double sum = x + ROUNDER, f = x - (sum - ROUNDER);
    double r = exponential(sum) * (1.0 + f * ex2m1_over(f));
    return x == x ? r : x;
}
/* Returns tanh x = (e^2x - 1) / (e^2x + 1), where e^y - 1 = (2^n - 1) + 2^n (2^f - 1) loses no precision near 0. */
FP_INLINE double f64_tanh(float a) {
    double x = f64_abs(a);
    x = x > 12.0 ? 12.0 : x; /* a larger x gives the same result: 1 - tanh 12 < 2^-33 */
    double y = x * 0x1.71547652b82fep+1;
    double sum = y + ROUNDER, f = y - (sum - ROUNDER);
    double scale = exponential(sum);
    double m = (scale - 1.0) + scale * (f * ex2m1_over(f));
    double r = m / (m + 2.0);
    return x == x ? f64_from_bits(f64_bits(r) | (f64_bits(a) & F64_SIGN)) : x;
}

/* Returns log2 x = e + log2 m, m in [sqrt 1/2, sqrt 2); log2 m = s R(s^2), s = (m - 1) / (m + 1); the error of R is
 * 2^-43. */
FP_INLINE float f32_lg2(float a) {
    bool small = f32_abs(a) < 0x1p-126f;
    uint32_t bits = f32_bits(small ? a * 0x1p24f : a) - 0x3f3504f3u;
    int32_t e = (int32_t)bits >> 23;
    double m = f32_from_bits((bits & 0x7fffffu) + 0x3f3504f3u);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0x1.21b33f218b743p-2;
    p = p * z + 0x1.47952a486813bp-2;
    p = p * z + 0x1.a61a2feb8b88ep-2;
    p = p * z + 0x1.2776c291b8684p-1;
    p = p * z + 0x1.ec709dc53dd6dp-1;
    p = p * z + 0x1.71547652b8250p+1;
    float r = (float)((double)(small ? e - 24 : e) + s * p);
    r = a == 0.0f ? -__builtin_inff() : r;
    r = f32_bits(a) == F32_INF ? a : r;
    return a >= 0.0f ? r : f32_from_bits(F32_NAN);
}

/* Return sin r = r (1 + z S(z)) and cos r = 1 + z C(z), z = r^2, |r| <= pi/4; the error of S is 2^-45, and that of C is
 * 2^-41. */
FP_INLINE double sin_reduced(double r) {
    double z = r * r;
    double p = -0x1.aa2848ef97e41p-26;
    p = p * z + 0x1.71d9a9e121aacp-19;
    p = p * z + -0x1.a019fd9b32f34p-13;
    p = p * z + 0x1.1111110fd3dfbp-7;
    p = p * z + -0x1.555555555516cp-3;
    return r * (1.0 + z * p);
}
FP_INLINE double cos_reduced(double r) {
    double z = r * r;
    double p = -0x1.2474dae82d9b3p-22;
    p = p * z + 0x1.a01298d2b7f98p-16;
    p = p * z + -0x1.6c16bae61154ep-10;
    p = p * z + 0x1.555555514fc2ep-5;
    p = p * z + -0x1.fffffffffe69cp-2;
    return 1.0 + z * p;
}

/* Reduces an angle of any size to a quarter turn q, modulo 4, and a remainder r in [-pi/4, pi/4]. Multiplies the
 * significand by only 64 bits of 2/pi. Higher bits of 2/pi would add whole turns, and lower bits would add less than
 * 2^-62 (Payne and Hanek, 1983). */
static void range_reduction(float a, double *r, uint64_t *q) {
    static const uint64_t two_over_pi[] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041};
    uint32_t mag = f32_bits(a) & 0x7fffffffu;
    /* index of the table bit whose weight is two full turns; a is at least 2^19 */
    uint32_t first = 64 + (mag >> 23) - 150 - 2;
    uint64_t high = two_over_pi[first / 64], low = two_over_pi[first / 64 + 1];
    uint64_t window = first % 64 ? high << first % 64 | low >> (64 - first % 64) : high;
    /* the upper 2 bits count quarter turns; the lower 62 bits are a fraction of a quarter turn */
    uint64_t turns = ((mag & 0x7fffffu) | 0x800000u) * window;
    uint64_t quarter = (turns + 0x2000000000000000ull) >> 62;
    double rest = (double)(int64_t)(turns - (quarter << 62)) * 0x1.921fb54442d18p-62;
    bool neg = f32_bits(a) >> 31;
    *r = neg ? -rest : rest;
    *q = neg ? -quarter : quarter;
}

FP_INLINE void sincos_lanes(void *to, const void *from, bool ftz, bool cosine) {
    float *d = to;
    const float *s = from;
    double rest[WARP_LANES];
    uint64_t quarter[WARP_LANES];
    uint32_t large = 0;
    LANES(l) { /* uses pi/2 in three parts of 33 bits, so k times a part is exact for angles up to 2^19 */
        double x = f32_flush(s[l], ftz);
        double sum = x * 0x1.45f306dc9c883p-1 + ROUNDER, k = sum - ROUNDER;
        rest[l] = ((x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
        quarter[l] = f64_bits(sum);
        large |= f64_abs(x) >= 0x1p19 ? 1 : 0;
    }
    if (large)
        for (int l = 0; l < WARP_LANES; l++)
            if (f32_abs(s[l]) >= 0x1p19f && f32_abs(s[l]) < __builtin_inff())
                range_reduction(s[l], &rest[l], &quarter[l]);
    LANES(l) {
        float x = f32_flush(s[l], ftz);
        uint64_t q = quarter[l] + cosine;
        double r = rest[l], y = q & 1 ? cos_reduced(r) : sin_reduced(r);
        y = f64_from_bits(f64_bits(y) ^ (q & 2) << 62);
        float result = f32_abs(x) < __builtin_inff() ? (float)y : f32_from_bits(F32_NAN);
        d[l] = f32_result(result, ftz, 0);
    }
}
#define SINCOS_FN(name, ftz, cosine)                                                                                   \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        (void)d2, (void)b, (void)c, (void)e;                                                                           \
        sincos_lanes(d, a, ftz, cosine);                                                                               \
    }
SINCOS_FN(sin_f32, 0, 0)
SINCOS_FN(sin_ftz_f32, 1, 0)
SINCOS_FN(cos_f32, 0, 1)
SINCOS_FN(cos_ftz_f32, 1, 1)
#define SINCOS_1_3(name, op)                                                                                           \
    LANE_FN(op, T1(F32), 0, SFU, DA(F32, F32), name, .last_version = 13,                                               \
            .bound = "absolute 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]")
#define SINCOS(name, op, flags, ftz, cosine)                                                                           \
    LANE_FN(op, T1(F32), FORM(APPROX, APPROX) | (flags), SFU, DA(F32, F32), name,                                      \
            .bound = "absolute 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]")

/* Computes ex2 or tanh of the 16-bit formats. ex2 of bf16 flushes subnormals. */
FP_INLINE void half_approx(bool tanh, bool bf16, int n, uint16_t *d, const uint16_t *a) {
    bool ftz = bf16 && !tanh;
    float x[HALVES];
    HALF_LANES(i, n)
    x[i] = half_widen(a[i], bf16, ftz);
    HALF_LANES(i, n)
    x[i] = f32_odd(tanh ? f64_tanh(x[i]) : f64_ex2(x[i]));
    HALF_LANES(i, n)
    d[i] = half_narrow(x[i], bf16, ftz);
}
#define HALF_FN(name, tanh, bf16, n)                                                                                   \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        (void)d2, (void)b, (void)c, (void)e;                                                                           \
        half_approx(tanh, bf16, n, d, a);                                                                              \
    }
HALF_FN(ex2_f16, 0, 0, WARP_LANES)
HALF_FN(ex2_f16x2, 0, 0, HALVES)
HALF_FN(ex2_bf16, 0, 1, WARP_LANES)
HALF_FN(ex2_bf16x2, 0, 1, HALVES)
HALF_FN(tanh_f16, 1, 0, WARP_LANES)
HALF_FN(tanh_f16x2, 1, 0, HALVES)
HALF_FN(tanh_bf16, 1, 1, WARP_LANES)
HALF_FN(tanh_bf16x2, 1, 1, HALVES)
#define HALF(op, T, flags, bound_, function)                                                                           \
    LANE_FN(op, T1(T), FORM(APPROX, APPROX) | (flags), SFU, DA(T, T), function, .bound = bound_)

#define ROWS_FILE "isa/exec/exec_approx.c"
#define ROWS_NAME approx
#include "isa/rows_expand.h"
#else
/* clang-format off */
SINCOS(sin_f32, SIN, 0, 0, 0)
SINCOS(sin_ftz_f32, SIN, FLAG(FTZ), 1, 0)
SINCOS(cos_f32, COS, 0, 0, 1)
SINCOS(cos_ftz_f32, COS, FLAG(FTZ), 1, 1)

LANE_X((.bound = "2^-22 absolute in (0.5, 2), relative elsewhere"), lg2_f32, LG2, T1(F32), FORM(APPROX, APPROX), SFU,
    DA(F32, F32), d = f32_result(f32_lg2(a), 0, 0))
LANE_X((.bound = "2^-22 absolute in (0.5, 2), relative elsewhere"), lg2_ftz_f32, LG2, T1(F32),
    FORM(APPROX, APPROX) | FLAG(FTZ), SFU, DA(F32, F32), d = f32_result(f32_lg2(f32_flush(a, 1)), 1, 0))
LANE_X((.bound = "2 ulp"), ex2_f32, EX2, T1(F32), FORM(APPROX, APPROX), SFU, DA(F32, F32),
    d = f32_result((float)f64_ex2(a), 0, 0))
LANE_X((.bound = "2 ulp"), ex2_ftz_f32, EX2, T1(F32), FORM(APPROX, APPROX) | FLAG(FTZ), SFU, DA(F32, F32),
    d = f32_result((float)f64_ex2(f32_flush(a, 1)), 1, 0))
LANE_X((.bound = "relative 2^-11"), tanh_f32, TANH, T1(F32), FORM(APPROX, APPROX), SFU, DA(F32, F32),
    d = f32_result((float)f64_tanh(a), 0, 0))

/* PTX 1.0 to 1.3 write these instructions without modifiers */
SINCOS_1_3(sin_ftz_f32, SIN)
SINCOS_1_3(cos_ftz_f32, COS)
LANE_FN(LG2, T1(F32), 0, SFU, DA(F32, F32), lg2_ftz_f32, .last_version = 13,
    .bound = "2^-22 absolute in (0.5, 2), relative elsewhere")
LANE_FN(EX2, T1(F32), 0, SFU, DA(F32, F32), ex2_ftz_f32, .last_version = 13, .bound = "2 ulp")

/* 16 bits */
HALF(EX2, F16, 0, "relative 2^-9.9", ex2_f16)
HALF(EX2, F16X2, 0, "relative 2^-9.9", ex2_f16x2)
HALF(EX2, BF16, FLAG(FTZ), "relative 2^-7", ex2_bf16)
HALF(EX2, BF16X2, FLAG(FTZ), "relative 2^-7", ex2_bf16x2)
HALF(TANH, F16, 0, "absolute 2^-10.987", tanh_f16)
HALF(TANH, F16X2, 0, "absolute 2^-10.987", tanh_f16x2)
HALF(TANH, BF16, 0, "absolute 2^-8", tanh_bf16)
HALF(TANH, BF16X2, 0, "absolute 2^-8", tanh_bf16x2)
/* clang-format on */
#endif
