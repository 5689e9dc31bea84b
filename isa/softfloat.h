#ifndef ISA_SOFTFLOAT_H
#define ISA_SOFTFLOAT_H
/* Floating-point building blocks of the lane functions: bits, NaNs, flushing, exact sums, rounding by hand, and the
 * 16-bit formats. All functions are branch-free, so that loops over lanes vectorise. No function depends on the
 * compiler's choice of operand order, on contraction, or on the processor, so results are the same everywhere.
 *
 * Rules for NaN: f32, f16 and bf16 arithmetic returns the one canonical NaN (0x7fffffff, 0x7fff). f64 arithmetic
 * returns the first operand that is a NaN, quieted, in the order a, b, c; an invalid operation on numbers gives
 * 0xfff8000000000000. */
#include "decode.h"
#include <string.h>

#define FP_INLINE static inline __attribute__((always_inline))

#define F32_NAN     0x7fffffffu
#define F32_INF     0x7f800000u
#define F16_NAN     0x7fffu /* bf16 too */
#define F64_INVALID 0xfff8000000000000ull
#define F64_SIGN    0x8000000000000000ull

/* Convert between a number and its bits. */
FP_INLINE uint32_t f32_bits(float x) {
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
FP_INLINE float f32_from_bits(uint32_t b) {
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}
FP_INLINE uint64_t f64_bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
FP_INLINE double f64_from_bits(uint64_t b) {
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}
FP_INLINE float f32_abs(float x) { return f32_from_bits(f32_bits(x) & 0x7fffffffu); }
FP_INLINE double f64_abs(double x) { return f64_from_bits(f64_bits(x) & ~F64_SIGN); }

/* Return the number after .ftz, which turns a subnormal number into a zero of the same sign. */
FP_INLINE uint32_t f32_flush_bits(uint32_t b) { return b & 0x7f800000u ? b : b & 0x80000000u; }
FP_INLINE float f32_flush(float x, bool ftz) { return ftz ? f32_from_bits(f32_flush_bits(f32_bits(x))) : x; }
FP_INLINE double f64_flush(double x) {
    uint64_t b = f64_bits(x);
    return f64_from_bits(b & 0x7ff0000000000000ull ? b : b & F64_SIGN);
}

/* Finishes an f32 result: makes a NaN canonical, then flushes and saturates if requested. .sat turns NaN and -0 into
 * +0. */
FP_INLINE float f32_result(float r, bool ftz, bool sat) {
    if (sat) {
        float low = r > 0.0f ? r : 0.0f;
        return f32_flush(low < 1.0f ? low : 1.0f, ftz);
    }
    uint32_t b = f32_bits(f32_flush(r, ftz));
    return f32_from_bits(r == r ? b : F32_NAN);
}
FP_INLINE double f64_quiet(double x) { return f64_from_bits(f64_bits(x) | 0x0008000000000000ull); }
/* Converts f32 to f64 exactly. A NaN is quieted and keeps its sign and payload. */
FP_INLINE double f64_from_f32(float x) {
    double wide = (double)x;
    uint32_t b = f32_bits(x);
    uint64_t nan = (uint64_t)(b & 0x80000000u) << 32 | 0x7ff8000000000000ull | (uint64_t)(b & 0x7fffffu) << 29;
    return x == x ? wide : f64_from_bits(nan);
}
FP_INLINE double f64_result3(double r, double a, double b, double c) {
    double n = f64_from_bits(F64_INVALID);
    n = c != c ? f64_quiet(c) : n;
    n = b != b ? f64_quiet(b) : n;
    n = a != a ? f64_quiet(a) : n;
    return r == r ? r : n;
}
FP_INLINE double f64_result2(double r, double a, double b) { return f64_result3(r, a, b, 0.0); }
FP_INLINE double f64_result1(double r, double a) { return f64_result3(r, a, 0.0, 0.0); }

/* Rounding to odd gives the exact value if it is representable, else the neighbour whose last bit is 1. A result in odd
 * rounding can be rounded again, in any mode, to a format two or more bits shorter as if it were exact (Boldo and
 * Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). */
/* Returns a + b rounded to odd. Finite operands must have a finite sum. If the sum is a NaN or infinity, it is returned
 * unchanged. */
FP_INLINE double f64_add_odd(double a, double b) {
    double s = a + b, t = s - a;
    double err = (a - (s - t)) + (b - t); /* exact: Knuth's TwoSum */
    uint64_t bits = f64_bits(s);
    uint64_t even = ~bits & 1;
    uint64_t away = err > 0.0, back = err < 0.0, neg = bits >> 63;
    uint64_t grow = (away & ~neg) | (back & neg), shrink = (back & ~neg) | (away & neg);
    return f64_from_bits(bits + (even & grow) - (even & shrink));
}
FP_INLINE float f32_add_odd(float a, float b) {
    float s = a + b, t = s - a;
    float err = (a - (s - t)) + (b - t);
    uint32_t bits = f32_bits(s), even = ~bits & 1, neg = bits >> 31;
    uint32_t away = err > 0.0f, back = err < 0.0f;
    uint32_t grow = (away & ~neg) | (back & neg), shrink = (back & ~neg) | (away & neg);
    return f32_from_bits(bits + (even & grow) - (even & shrink));
}
/* Returns x rounded to odd in f32. */
FP_INLINE float f32_odd(double x) {
    float f = (float)x;
    double back = f64_abs((double)f), mag = f64_abs(x);
    uint32_t bits = f32_bits(f);
    uint32_t grow = back < mag ? 1 : 0, shrink = back > mag ? 1 : 0;
    return f32_from_bits(bits + (~bits & grow) - (~bits & shrink));
}
/* Returns x rounded to f32 in mode `rnd` (RND_RN, RND_RZ, RND_RM, RND_RP). */
FP_INLINE float f32_round(double x, int rnd) {
    float f = (float)x;
    if (rnd == RND_RN || rnd == RND_NONE)
        return f;
    double back = f64_abs((double)f), mag = f64_abs(x);
    uint32_t bits = f32_bits(f), neg = bits >> 31;
    uint32_t grow = back<mag, shrink = back> mag;
    if (rnd == RND_RZ)
        bits -= shrink;
    else if (rnd == RND_RM)
        bits += (grow & neg) - (shrink & ~neg);
    else
        bits += (grow & ~neg) - (shrink & neg);
    return f32_from_bits(bits);
}

/* Rounds to an integral value in the same format (RND_RNI, RND_RZI, RND_RMI, RND_RPI); the sign of zero stays. */
FP_INLINE float f32_integral(float x, int rnd) {
    float mag = f32_abs(x), big = 0x1p23f;
    uint32_t sign = f32_bits(x) & 0x80000000u;
    float n = (mag + big) - big; /* rounds magnitudes below 2^23 to nearest even */
    float grow = n < mag ? 1.0f : 0.0f, shrink = n > mag ? 1.0f : 0.0f;
    if (rnd == RND_RZI)
        n -= shrink;
    else if (rnd == RND_RMI)
        n = sign ? n + grow : n - shrink;
    else if (rnd == RND_RPI)
        n = sign ? n - shrink : n + grow;
    return mag < big ? f32_from_bits(f32_bits(n) | sign) : x;
}
FP_INLINE double f64_integral(double x, int rnd) {
    double mag = f64_abs(x), big = 0x1p52;
    uint64_t sign = f64_bits(x) & F64_SIGN;
    double n = (mag + big) - big;
    double grow = n < mag ? 1.0 : 0.0, shrink = n > mag ? 1.0 : 0.0;
    if (rnd == RND_RZI)
        n -= shrink;
    else if (rnd == RND_RMI)
        n = sign ? n + grow : n - shrink;
    else if (rnd == RND_RPI)
        n = sign ? n - shrink : n + grow;
    return mag < big ? f64_from_bits(f64_bits(n) | sign) : x;
}

FP_INLINE uint16_t f16_flush(uint16_t h, bool ftz) { return !ftz || (h & 0x7c00u) ? h : h & 0x8000u; }
FP_INLINE uint16_t bf16_flush(uint16_t h, bool ftz) { return !ftz || (h & 0x7f80u) ? h : h & 0x8000u; }

/* A format narrower than f32. `emin` is the f32 exponent field of its smallest normal number; `max`, `inf` and `nan`
 * are encodings without the sign bit. */
struct narrow_format {
    int mantissa, emin;
    uint32_t max, inf, nan, sign;
};
#define NARROW_F16  ((struct narrow_format){10, 113, 0x7bff, 0x7c00, F16_NAN, 0x8000})
#define NARROW_BF16 ((struct narrow_format){7, 1, 0x7f7f, 0x7f80, F16_NAN, 0x8000})
#define NARROW_E4M3 ((struct narrow_format){3, 121, 0x7e, 0x7f, 0x7f, 0x80}) /* no infinity, so overflow gives NaN */
#define NARROW_E5M2 ((struct narrow_format){2, 113, 0x7b, 0x7c, 0x7f, 0x80})
/* these formats have no infinity and no NaN; both become the largest number */
#define NARROW_E2M3 ((struct narrow_format){3, 127, 0x1f, 0x1f, 0x1f, 0x20})
#define NARROW_E3M2 ((struct narrow_format){2, 125, 0x1f, 0x1f, 0x1f, 0x20})
#define NARROW_E2M1 ((struct narrow_format){1, 127, 0x07, 0x07, 0x07, 0x08})

/* Returns the encoding of |x|, rounded in mode `rnd` (RN, RZ, RM, RP, or RNA: ties away). The caller handles
 * overflow. */
FP_INLINE uint32_t narrow_magnitude(uint32_t mag, bool neg, int mantissa, int emin, int rnd) {
    int32_t e = (int32_t)(mag >> 23);
    uint32_t sig = (mag & 0x7fffffu) | (e ? 0x800000u : 0);
    e = e ? e : 1;
    int32_t below = emin > e ? emin - e : 0; /* number of binades by which x is below the smallest normal number */
    int32_t shift = 23 - mantissa + below;
    shift = shift < 31 ? shift : 31;
    uint32_t q = sig >> shift, half = 1u << (shift - 1);
    uint32_t rem = sig & ((half << 1) - 1);
    uint32_t inc = 0;
    if (rnd == RND_RN)
        inc = (rem > half) | ((rem == half) & q);
    else if (rnd == RND_RNA)
        inc = rem >= half;
    else if (rnd == RND_RM)
        inc = (rem != 0) & neg;
    else if (rnd == RND_RP)
        inc = (rem != 0) & !neg;
    uint32_t base = below ? 0 : (uint32_t)(e - emin) << mantissa;
    return base + q + (inc & 1);
}
/* Returns the encoding of |x|, rounded with random bits. Adds `n` random bits to the first n bits that are cut off; a
 * carry rounds away from zero. */
FP_INLINE uint32_t narrow_magnitude_random(uint32_t mag, int mantissa, int emin, uint32_t random, int n) {
    int32_t e = (int32_t)(mag >> 23);
    uint32_t sig = (mag & 0x7fffffu) | (e ? 0x800000u : 0);
    e = e ? e : 1;
    int32_t below = emin > e ? emin - e : 0;
    int32_t unused = 23 - mantissa + below - n; /* number of truncated bits after the first n */
    unused = unused < 31 ? unused : 31;
    uint32_t base = below ? 0 : (uint32_t)(e - emin) << mantissa;
    return base + (((sig >> unused) + random) >> n);
}
/* Completes the encoding r of a magnitude: handles overflow, infinity, NaN and sign. `bits` has the bits of the f32
 * number that was encoded. With `to_max`, overflow becomes the largest number, else infinity. */
FP_INLINE uint32_t narrow_finish(uint32_t bits, uint32_t r, struct narrow_format f, bool to_max, bool satfinite) {
    uint32_t mag = bits & 0x7fffffffu;
    r = r > f.max ? (to_max ? f.max : f.inf) : r;
    r = mag == F32_INF && !satfinite ? f.inf : r;
    r |= bits >> 31 ? f.sign : 0;
    return mag > F32_INF ? f.nan : r;
}
/* Returns x in format `f`, with its sign. `satfinite`: overflow and infinity become the largest number. */
FP_INLINE uint32_t narrow_f32(float x, struct narrow_format f, int rnd, bool satfinite) {
    uint32_t bits = f32_bits(x);
    bool neg = bits >> 31;
    bool to_max = satfinite || rnd == RND_RZ || (rnd == RND_RM && !neg) || (rnd == RND_RP && neg);
    uint32_t r = narrow_magnitude(bits & 0x7fffffffu, neg, f.mantissa, f.emin, rnd);
    return narrow_finish(bits, r, f, to_max, satfinite);
}
FP_INLINE uint32_t narrow_f32_random(float x, struct narrow_format f, uint32_t random, int n, bool satfinite) {
    uint32_t bits = f32_bits(x);
    uint32_t r = narrow_magnitude_random(bits & 0x7fffffffu, f.mantissa, f.emin, random, n);
    return narrow_finish(bits, r, f, satfinite, satfinite);
}
FP_INLINE uint16_t f16_from_f32(float x, int rnd) { return (uint16_t)narrow_f32(x, NARROW_F16, rnd, false); }
FP_INLINE uint16_t bf16_from_f32(float x, int rnd) { return (uint16_t)narrow_f32(x, NARROW_BF16, rnd, false); }

/* Returns an f16 number as an f32. Widening is exact; a NaN becomes the canonical NaN. */
FP_INLINE float f32_from_f16(uint16_t h) {
    uint32_t mag = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    float x = f32_from_bits(mag << 13) * 0x1p112f; /* an f16 subnormal becomes a normal f32 number */
    uint32_t b = mag >= 0x7c00u ? F32_INF : f32_bits(x);
    b |= sign;
    return f32_from_bits(mag > 0x7c00u ? F32_NAN : b);
}
FP_INLINE float f32_from_bf16(uint16_t h) {
    return f32_from_bits((h & 0x7fffu) > 0x7f80u ? F32_NAN : (uint32_t)h << 16);
}

/* f32 arithmetic in a given rounding mode. The directed modes round a double to f32. The double is exact, or rounded to
 * odd (see above), or an ordinarily rounded quotient or root. A quotient or root of 24-bit significands is either a
 * number of 25 bits, or differs from every number of 25 bits by more than a double's rounding error. So its double is
 * never on the wrong side of an f32 number. */
/* Corrects the sign of an exact zero: a sum such as x - x is -0 when rounding down. */
FP_INLINE float f32_exact_zero(float r, uint32_t signs, int rnd) {
    return rnd == RND_RM && r == 0.0f ? f32_from_bits(signs & 0x80000000u) : r;
}
FP_INLINE float f32_add(float a, float b, int rnd) {
    if (rnd == RND_RN)
        return a + b;
    double exact = f64_add_odd(a, b);
    float r = f32_round(exact, rnd);
    return exact == 0.0 ? f32_exact_zero(r, f32_bits(a) | f32_bits(b), rnd) : r;
}
FP_INLINE float f32_sub(float a, float b, int rnd) {
    return rnd == RND_RN ? a - b : f32_add(a, f32_from_bits(f32_bits(b) ^ 0x80000000u), rnd);
}
FP_INLINE float f32_mul(float a, float b, int rnd) {
    return rnd == RND_RN ? a * b : f32_round((double)a * (double)b, rnd);
}
FP_INLINE float f32_fma(float a, float b, float c, int rnd) {
#ifdef __FMA__
    if (rnd == RND_RN)
        return __builtin_fmaf(a, b, c);
#endif
    double exact = f64_add_odd((double)a * (double)b, (double)c);
    float r = f32_round(exact, rnd);
    return exact == 0.0 ? f32_exact_zero(r, (f32_bits(a) ^ f32_bits(b)) | f32_bits(c), rnd) : r;
}
FP_INLINE float f32_div(float a, float b, int rnd) {
    return rnd == RND_RN ? a / b : f32_round((double)a / (double)b, rnd);
}
FP_INLINE float f32_rcp(float a, int rnd) { return f32_div(1.0f, a, rnd); }
FP_INLINE float f32_sqrt(float a, int rnd) {
    return rnd == RND_RN ? __builtin_sqrtf(a) : f32_round(__builtin_sqrt((double)a), rnd);
}

/* Returns the result of comparison `cmp` (CMP_EQ ... CMP_NAN). With a NaN operand, ordered comparisons are false, and
 * unordered comparisons (CMP_EQU ...) are true. */
#define FP_COMPARE(name, T)                                                                                            \
    FP_INLINE bool name(int cmp, T a, T b) {                                                                           \
        switch (cmp) {                                                                                                 \
        case CMP_EQ:                                                                                                   \
            return a == b;                                                                                             \
        case CMP_NE:                                                                                                   \
            return (a < b) | (a > b);                                                                                  \
        case CMP_LT:                                                                                                   \
            return a < b;                                                                                              \
        case CMP_LE:                                                                                                   \
            return a <= b;                                                                                             \
        case CMP_GT:                                                                                                   \
            return a > b;                                                                                              \
        case CMP_GE:                                                                                                   \
            return a >= b;                                                                                             \
        case CMP_EQU:                                                                                                  \
            return !((a < b) | (a > b));                                                                               \
        case CMP_NEU:                                                                                                  \
            return !(a == b);                                                                                          \
        case CMP_LTU:                                                                                                  \
            return !(a >= b);                                                                                          \
        case CMP_LEU:                                                                                                  \
            return !(a > b);                                                                                           \
        case CMP_GTU:                                                                                                  \
            return !(a <= b);                                                                                          \
        case CMP_GEU:                                                                                                  \
            return !(a < b);                                                                                           \
        case CMP_NUM:                                                                                                  \
            return (a == a) & (b == b);                                                                                \
        default:                                                                                                       \
            return (a != a) | (b != b);                                                                                \
        }                                                                                                              \
    }
FP_COMPARE(f64_compare, double)
FP_COMPARE(f32_compare, float)
#undef FP_COMPARE

/* Returns the smaller or larger of two numbers; -0 is below +0. With `nan`, a NaN operand is the result; without `nan`,
 * the other operand is. `xorsign`: compares magnitudes, and the result has the sign of a * b. */
FP_INLINE float f32_minmax(float a, float b, bool max, bool nan, bool xorsign) {
    uint32_t sign = (f32_bits(a) ^ f32_bits(b)) & 0x80000000u;
    a = xorsign ? f32_abs(a) : a;
    b = xorsign ? f32_abs(b) : b;
    uint32_t x = f32_bits(a), y = f32_bits(b);
    uint32_t r = (max ? a > b : a < b) ? x : y;
    r = a == b ? (max ? x & y : x | y) : r; /* if a == b, x and y differ at most in the sign of zero */
    r = b != b ? x : r;                     /* if a is a NaN, r is already y */
    bool is_nan = nan ? (a != a) | (b != b) : (a != a) & (b != b);
    r = xorsign ? (r & 0x7fffffffu) | sign : r;
    return f32_from_bits(is_nan ? F32_NAN : r);
}
#endif
