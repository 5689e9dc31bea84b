/* cvt between integers, between integers and floating-point numbers, and between floating-point formats (PTX ISA 9.0,
 * section 9.7.9.21). exec_cvt_pack.c converts packed formats, and formats of 8 bits and less.
 *
 * Frequent conversions have separate functions. All other conversions widen the sources of all lanes to an array of 32
 * doubles, and then round these doubles to the destination. Widening is exact, except for 64-bit integers with a
 * narrower destination: they are rounded to odd, which makes a second rounding safe (see softfloat.h).
 *
 * Float to integer saturates, with or without .sat. NaN becomes 0; from f64, or to 64 bits, it becomes 1 << (width -
 * 1). A NaN result is the canonical NaN, but an f64 result keeps the payload. bf16 has no .sat, neither as destination
 * nor as source. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"
#include "isa/softfloat.h"

/* ---- between integers: extension, truncation, and .sat ---- */

#define INLINE static inline __attribute__((always_inline))

#define MIN_U8  0
#define MIN_U16 0
#define MIN_U32 0
#define MIN_U64 0
#define MIN_S8  INT8_MIN
#define MIN_S16 INT16_MIN
#define MIN_S32 INT32_MIN
#define MIN_S64 INT64_MIN
#define MAX_U8  UINT8_MAX
#define MAX_U16 UINT16_MAX
#define MAX_U32 UINT32_MAX
#define MAX_U64 UINT64_MAX
#define MAX_S8  INT8_MAX
#define MAX_S16 INT16_MAX
#define MAX_S32 INT32_MAX
#define MAX_S64 INT64_MAX

/* Return the bits of a, limited to [min, max]. */
INLINE uint64_t clamp_unsigned(uint64_t a, uint64_t max) { return a < max ? a : max; }
INLINE uint64_t clamp_signed(int64_t a, int64_t min, uint64_t max) {
    int64_t top = max < INT64_MAX ? (int64_t)max : INT64_MAX;
    int64_t low = a < top ? a : top;
    return (uint64_t)(low > min ? low : min);
}

#define CVT_FROM_ALL(D)                                                                                                \
    CVT_PLAIN(D, U8)                                                                                                   \
    CVT_PLAIN(D, U16)                                                                                                  \
    CVT_PLAIN(D, U32)                                                                                                  \
    CVT_PLAIN(D, U64)                                                                                                  \
    CVT_PLAIN(D, S8)                                                                                                   \
    CVT_PLAIN(D, S16)                                                                                                  \
    CVT_PLAIN(D, S32)                                                                                                  \
    CVT_PLAIN(D, S64)
#define CVT_PLAIN(D, S) CVT(cvt_##D##_##S, CVT, T2(D, S), 0, INT_OTHER, DA(D, S), d = (lane_##D)a)
#define SAT_UNSIGNED(D, S)                                                                                             \
    CVT(cvt_sat_##D##_##S, CVT, T2(D, S), FLAG(SAT), INT_OTHER, DA(D, S), d = (lane_##D)clamp_unsigned(a, MAX_##D))
#define SAT_SIGNED(D, S)                                                                                               \
    CVT(cvt_sat_##D##_##S, CVT, T2(D, S), FLAG(SAT), INT_OTHER, DA(D, S),                                              \
        d = (lane_##D)clamp_signed(a, MIN_##D, MAX_##D))

/* ---- conversions from or to floating-point numbers ---- */

/* These functions convert the source to double. */
FP_INLINE double double_odd_u64(uint64_t m) {
    uint64_t odd = (m >> 11 | ((m & 0x7ff) != 0)) << 11;
    return (double)(m >> 53 ? odd : m);
}
FP_INLINE double double_odd_s64(int64_t x) {
    uint64_t m = x < 0 ? -(uint64_t)x : (uint64_t)x;
    double r = double_odd_u64(m);
    return x < 0 ? -r : r;
}
#define LOAD(name, S, value)                                                                                           \
    static __attribute__((noinline)) void load_##name(double *t, const void *from) {                                   \
        const lane_##S *s = from;                                                                                      \
        LANES(l) {                                                                                                     \
            lane_##S a = s[l];                                                                                         \
            t[l] = value;                                                                                              \
        }                                                                                                              \
    }
LOAD(U8, U8, (double)a)
LOAD(U16, U16, (double)a)
LOAD(U32, U32, (double)a)
LOAD(U64, U64, double_odd_u64(a))
LOAD(S8, S8, (double)a)
LOAD(S16, S16, (double)a)
LOAD(S32, S32, (double)a)
LOAD(S64, S64, double_odd_s64(a))
LOAD(F16, F16, (double)f32_from_f16(a))
LOAD(BF16, BF16, (double)f32_from_bf16(a))
LOAD(F32, F32, f64_from_f32(a))
LOAD(F32_ftz, F32, f64_from_f32(f32_flush(a, 1)))
LOAD(F64, F64, a)

/* These functions convert a double to the destination type. */
FP_INLINE int32_t s32_within(double x, double min, double max) {
    double low = x > min ? x : min; /* a NaN gives `min` */
    return (int32_t)(low < max ? low : max);
}
FP_INLINE uint32_t u32_from_f64(double x) {
    return (uint32_t)s32_within(x - 0x1p31, -0x1p31, 0x1p31 - 1) ^ 0x80000000u;
}
FP_INLINE int64_t s64_from_f64(double x) {
    bool below = x < -0x1p63, above = x >= 0x1p63, none = x != x;
    int64_t r = (int64_t)((below | above | none) ? 0.0 : x);
    r = above ? INT64_MAX : r;
    return (below | none) ? INT64_MIN : r;
}
FP_INLINE uint64_t u64_from_f64(double x) {
    bool below = x <= 0.0, above = x >= 0x1p64, none = x != x, high = x >= 0x1p63;
    double part = high ? x - 0x1p63 : x;
    uint64_t r = (uint64_t)(int64_t)((below | above | none) ? 0.0 : part);
    r = above ? UINT64_MAX : high ? r ^ 0x8000000000000000ull : r;
    return none ? 0x8000000000000000ull : r;
}
FP_INLINE double f64_sat(double x) {
    double low = x > 0.0 ? x : 0.0;
    return low < 1.0 ? low : 1.0;
}
#define STORE(name, D, value)                                                                                          \
    static __attribute__((noinline)) void store_##name(void *to, const double *t) {                                    \
        lane_##D *d = to;                                                                                              \
        LANES(l) {                                                                                                     \
            double x = t[l];                                                                                           \
            d[l] = (lane_##D)(value);                                                                                  \
        }                                                                                                              \
    }
#define STORE_HALF(name, limited, value) /* two loops, because one loop would not vectorise (half_lanes.h) */          \
    static __attribute__((noinline)) void store_##name(void *to, const double *t) {                                    \
        uint16_t *d = to;                                                                                              \
        float odd[WARP_LANES];                                                                                         \
        LANES(l) {                                                                                                     \
            double x = t[l];                                                                                           \
            odd[l] = f32_odd(limited);                                                                                 \
        }                                                                                                              \
        LANES(l) {                                                                                                     \
            float y = odd[l];                                                                                          \
            d[l] = value;                                                                                              \
        }                                                                                                              \
    }
#define STORE_INTS(rnd)                                                                                                \
    STORE_SMALL(S8, rnd, -0x1p7, 0x1p7 - 1)                                                                            \
    STORE_SMALL(S16, rnd, -0x1p15, 0x1p15 - 1)                                                                         \
    STORE_SMALL(S32, rnd, -0x1p31, 0x1p31 - 1)                                                                         \
    STORE_SMALL(U8, rnd, 0.0, 0x1p8 - 1)                                                                               \
    STORE_SMALL(U16, rnd, 0.0, 0x1p16 - 1)                                                                             \
    STORE(rnd##_U32, U32, x == x ? u32_from_f64(f64_integral(x, RND_##rnd)) : 0)                                       \
    STORE(rnd##_U32_nan, U32, x == x ? u32_from_f64(f64_integral(x, RND_##rnd)) : 0x80000000u)                         \
    STORE(rnd##_S64, S64, s64_from_f64(f64_integral(x, RND_##rnd)))                                                    \
    STORE(rnd##_U64, U64, u64_from_f64(f64_integral(x, RND_##rnd)))
#define STORE_SMALL(D, rnd, min, max)                                                                                  \
    STORE(rnd##_##D, D, x == x ? s32_within(f64_integral(x, RND_##rnd), min, max) : 0)                                 \
    STORE(rnd##_##D##_nan, D,                                                                                          \
          x == x ? s32_within(f64_integral(x, RND_##rnd), min, max) : (int32_t)(1u << (8 * sizeof(lane_##D) - 1)))
STORE_INTS(RNI)
STORE_INTS(RZI)
STORE_INTS(RMI)
STORE_INTS(RPI)
#define STORE_FLOATS(rnd)                                                                                              \
    STORE_HALF(rnd##_F16, x, f16_from_f32(y, RND_##rnd))                                                               \
    STORE_HALF(rnd##_F16_sat, f64_sat(x), f16_from_f32(y, RND_##rnd))                                                  \
    STORE_HALF(rnd##_BF16, x, bf16_from_f32(y, RND_##rnd))                                                             \
    STORE(rnd##_F32_sat, F32, f32_result(f32_round(f64_sat(x), RND_##rnd), 0, 0))                                      \
    STORE(rnd##_F32_ftz_sat, F32, f32_result(f32_round(f64_sat(x), RND_##rnd), 1, 0))
STORE_FLOATS(RN)
STORE_FLOATS(RZ)
STORE_FLOATS(RM)
STORE_FLOATS(RP)
STORE(RZ_F32, F32, f32_result(f32_round(x, RND_RZ), 0, 0))
STORE(RM_F32, F32, f32_result(f32_round(x, RND_RM), 0, 0))
STORE(RP_F32, F32, f32_result(f32_round(x, RND_RP), 0, 0))
STORE(F64_sat, F64, f64_sat(x))

#define VIA(name, load, store)                                                                                         \
    static void name(void *d, void *d2, const void *a, const void *b, const void *c, const void *e) {                  \
        double t[WARP_LANES];                                                                                          \
        (void)d2, (void)b, (void)c, (void)e;                                                                           \
        load_##load(t, a);                                                                                             \
        store_##store(d, t);                                                                                           \
    }

/* Makes the functions that convert a float to an integer: cvt_<rnd>_<D>_<S>. */
#define TO_INT_FNS(rnd)                                                                                                \
    TO_INT_FROM(rnd, F16, F16, , )                                                                                     \
    TO_INT_FROM(rnd, BF16, BF16, , )                                                                                   \
    TO_INT_FROM(rnd, F64, F64, , _nan)                                                                                 \
    TO_INT_NARROW(rnd, F32, F32, , )                                                                                   \
    TO_INT_NARROW(rnd, F32_ftz, F32, _ftz, )                                                                           \
    ROWS_FUNCTION(cvt_##rnd##_S32_F32, DA(S32, F32), d = s32_from_f32(f32_integral(a, RND_##rnd)))                     \
    ROWS_FUNCTION(cvt_##rnd##_U32_F32, DA(U32, F32), d = u32_from_f32(f32_integral(a, RND_##rnd)))                     \
    ROWS_FUNCTION(cvt_##rnd##_S32_F32_ftz, DA(S32, F32), d = s32_from_f32(f32_integral(f32_flush(a, 1), RND_##rnd)))   \
    ROWS_FUNCTION(cvt_##rnd##_U32_F32_ftz, DA(U32, F32), d = u32_from_f32(f32_integral(f32_flush(a, 1), RND_##rnd)))
#define TO_INT_FROM(rnd, load, S, tag, nan)                                                                            \
    TO_INT_NARROW(rnd, load, S, tag, nan)                                                                              \
    VIA(cvt_##rnd##_S32_##S##tag, load, rnd##_S32##nan)                                                                \
    VIA(cvt_##rnd##_U32_##S##tag, load, rnd##_U32##nan)
#define TO_INT_NARROW(rnd, load, S, tag, nan)                                                                          \
    VIA(cvt_##rnd##_S8_##S##tag, load, rnd##_S8##nan)                                                                  \
    VIA(cvt_##rnd##_S16_##S##tag, load, rnd##_S16##nan)                                                                \
    VIA(cvt_##rnd##_U8_##S##tag, load, rnd##_U8##nan)                                                                  \
    VIA(cvt_##rnd##_U16_##S##tag, load, rnd##_U16##nan)                                                                \
    VIA(cvt_##rnd##_S64_##S##tag, load, rnd##_S64)                                                                     \
    VIA(cvt_##rnd##_U64_##S##tag, load, rnd##_U64)
/* Return `x` as an integer, limited to the type's range; a NaN gives 0. The functions limit the value to 0x1.fffffep30,
 * the largest f32 below 2^31, before the cast to int32_t, because this cast is undefined for values of 2^31 and
 * above. */
FP_INLINE int32_t s32_from_f32(float x) {
    float low = x > -0x1p31f ? x : -0x1p31f;
    int32_t r = (int32_t)(low < 0x1.fffffep30f ? low : 0x1.fffffep30f);
    r = x >= 0x1p31f ? INT32_MAX : r;
    return x == x ? r : 0;
}
FP_INLINE uint32_t u32_from_f32(float x) {
    bool high = x >= 0x1p31f;
    float part = high ? x - 0x1p31f : x;
    float low = part > 0.0f ? part : 0.0f;
    uint32_t r = (uint32_t)(int32_t)(low < 0x1.fffffep30f ? low : 0x1.fffffep30f) ^ (high ? 0x80000000u : 0);
    return x >= 0x1p32f ? UINT32_MAX : r;
}
TO_INT_FNS(RNI)
TO_INT_FNS(RZI)
TO_INT_FNS(RMI)
TO_INT_FNS(RPI)

/* Makes the functions that convert an integer to a float: cvt_<rnd>_<D>_<S>, with .sat cvt_<rnd>_<D>_<S>_sat. */
#define FROM_INT_FNS(S)                                                                                                \
    FROM_INT_ROUNDED(S, RZ)                                                                                            \
    FROM_INT_ROUNDED(S, RM)                                                                                            \
    FROM_INT_ROUNDED(S, RP)                                                                                            \
    FROM_INT_HALF(S, RN)                                                                                               \
    VIA(cvt_RN_F32_##S##_sat, S, RN_F32_sat)                                                                           \
    VIA(cvt_F64_##S##_sat, S, F64_sat)                                                                                 \
    ROWS_FUNCTION(cvt_RN_F32_##S, DA(F32, S), d = (float)a)
#define FROM_INT_ROUNDED(S, rnd)                                                                                       \
    FROM_INT_HALF(S, rnd)                                                                                              \
    VIA(cvt_##rnd##_F32_##S, S, rnd##_F32)                                                                             \
    VIA(cvt_##rnd##_F32_##S##_sat, S, rnd##_F32_sat)
#define FROM_INT_HALF(S, rnd)                                                                                          \
    VIA(cvt_##rnd##_F16_##S, S, rnd##_F16)                                                                             \
    VIA(cvt_##rnd##_F16_##S##_sat, S, rnd##_F16_sat)                                                                   \
    VIA(cvt_##rnd##_BF16_##S, S, rnd##_BF16)
FROM_INT_FNS(U8)
FROM_INT_FNS(U16)
FROM_INT_FNS(U32)
FROM_INT_FNS(U64)
FROM_INT_FNS(S8)
FROM_INT_FNS(S16)
FROM_INT_FNS(S32)
FROM_INT_FNS(S64)

/* The conversion of an integer of up to 32 bits to f64 is exact, so all rounding modes use its function here. */
ROWS_FUNCTION(cvt_RN_F64_U8, DA(F64, U8), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_U16, DA(F64, U16), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_U32, DA(F64, U32), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_S8, DA(F64, S8), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_S16, DA(F64, S16), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_S32, DA(F64, S32), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_S64, DA(F64, S64), d = (double)a)
ROWS_FUNCTION(cvt_RN_F64_U64, DA(F64, U64), d = (double)a)

/* Returns (-1)^neg * m, rounded in a directed mode. Both halves of m are exact in double, and the rounding error of
 * their sum can be computed exactly. */
FP_INLINE double f64_from_magnitude(uint64_t m, bool neg, int rnd) {
    double high = (double)(int64_t)(m >> 32) * 0x1p32, low = (double)(int64_t)(m & 0xffffffffu);
    double sum = high + low, lost = low - (sum - high);
    bool outward = (rnd == RND_RM && neg) || (rnd == RND_RP && !neg);
    uint64_t bits = f64_bits(sum);
    uint64_t grow = lost > 0.0, shrink = lost < 0.0;
    bits = outward ? bits + grow : bits - shrink;
    return f64_from_bits(bits | (neg ? F64_SIGN : 0));
}
#define F64_FROM_64(rnd)                                                                                               \
    ROWS_FUNCTION(cvt_##rnd##_F64_U64, DA(F64, U64), d = f64_from_magnitude(a, 0, RND_##rnd))                          \
    ROWS_FUNCTION(cvt_##rnd##_F64_S64, DA(F64, S64),                                                                   \
                  d = f64_from_magnitude(a < 0 ? -(uint64_t)a : (uint64_t)a, a < 0, RND_##rnd))
F64_FROM_64(RZ)
F64_FROM_64(RM)
F64_FROM_64(RP)

/* Makes the functions that narrow a float: cvt_<rnd>_<D>_<S>, also with the suffixes _ftz, _sat and _ftz_sat. */
#define NARROW_FNS(rnd)                                                                                                \
    VIA(cvt_##rnd##_F32_F64_sat, F64, rnd##_F32_sat)                                                                   \
    VIA(cvt_##rnd##_F32_F64_ftz_sat, F64, rnd##_F32_ftz_sat)                                                           \
    ROWS_FUNCTION(cvt_##rnd##_F32_F64, DA(F32, F64), d = f32_result(f32_round(a, RND_##rnd), 0, 0))                    \
    ROWS_FUNCTION(cvt_##rnd##_F32_F64_ftz, DA(F32, F64), d = f32_result(f32_round(a, RND_##rnd), 1, 0))                \
    ROWS_FUNCTION(cvt_##rnd##_F16_F32, DA(F16, F32), d = f16_from_f32(a, RND_##rnd))                                   \
    ROWS_FUNCTION(cvt_##rnd##_F16_F32_ftz, DA(F16, F32), d = f16_from_f32(f32_flush(a, 1), RND_##rnd))                 \
    ROWS_FUNCTION(cvt_##rnd##_BF16_F32, DA(BF16, F32), d = bf16_from_f32(a, RND_##rnd))                                \
    ROWS_FUNCTION(cvt_##rnd##_BF16_F32_ftz, DA(BF16, F32), d = bf16_from_f32(f32_flush(a, 1), RND_##rnd))              \
    VIA(cvt_##rnd##_F16_F32_sat, F32, rnd##_F16_sat)                                                                   \
    VIA(cvt_##rnd##_F16_F32_ftz_sat, F32_ftz, rnd##_F16_sat)                                                           \
    VIA(cvt_##rnd##_F16_F64, F64, rnd##_F16)                                                                           \
    VIA(cvt_##rnd##_F16_F64_sat, F64, rnd##_F16_sat)                                                                   \
    VIA(cvt_##rnd##_BF16_F64, F64, rnd##_BF16)                                                                         \
    VIA(cvt_##rnd##_F16_BF16, BF16, rnd##_F16)                                                                         \
    VIA(cvt_##rnd##_BF16_F16, F16, rnd##_BF16)
NARROW_FNS(RN)
NARROW_FNS(RZ)
NARROW_FNS(RM)
NARROW_FNS(RP)

/* Families of rows. */
#define TO_INT(D, rnd)                                                                                                 \
    TO_INT_ROWS(D, F16, rnd, , 0, INT_OTHER)                                                                           \
    CVT_FN(CVT, T2(D, BF16), FORM(RND, rnd), INT_OTHER, DA(D, BF16), cvt_##rnd##_##D##_BF16, )                         \
    TO_INT_ROWS(D, F32, rnd, , 0, INT_OTHER)                                                                           \
    TO_INT_ROWS(D, F32, rnd, _ftz, FLAG(FTZ), INT_OTHER)                                                               \
    TO_INT_ROWS(D, F64, rnd, , 0, F64_ADD)
#define TO_INT_ROWS(D, S, rnd, tag, flags, lat)                                                                        \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | (flags), lat, DA(D, S), cvt_##rnd##_##D##_##S##tag, )                       \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | FLAG(SAT) | (flags), lat, DA(D, S), cvt_##rnd##_##D##_##S##tag, )
#define FROM_INT(S, rnd)                                                                                               \
    FROM_INT_ROWS(F16, S, rnd, 0)                                                                                      \
    CVT_FN(CVT, T2(BF16, S), FORM(RND, rnd), INT_OTHER, DA(BF16, S), cvt_##rnd##_BF16_##S, )                           \
    FROM_INT_ROWS(F32, S, rnd, 0)                                                                                      \
    FROM_INT_ROWS(F32, S, rnd, FLAG(FTZ))
#define FROM_INT_ROWS(D, S, rnd, flags)                                                                                \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | (flags), INT_OTHER, DA(D, S), cvt_##rnd##_##D##_##S, )                      \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | FLAG(SAT) | (flags), INT_OTHER, DA(D, S), cvt_##rnd##_##D##_##S##_sat, )
#define F64_FROM_INT(S, rnd, function)                                                                                 \
    CVT_FN(CVT, T2(F64, S), FORM(RND, rnd), F64_ADD, DA(F64, S), cvt_##function##_F64_##S, )                           \
    CVT_FN(CVT, T2(F64, S), FORM(RND, rnd) | FLAG(SAT), F64_ADD, DA(F64, S), cvt_F64_##S##_sat, )
#define NARROW_PLAIN(D, S, rnd, lat) CVT_FN(CVT, T2(D, S), FORM(RND, rnd), lat, DA(D, S), cvt_##rnd##_##D##_##S, )
#define NARROW(D, S, rnd, lat)                                                                                         \
    NARROW_PLAIN(D, S, rnd, lat)                                                                                       \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | FLAG(SAT), lat, DA(D, S), cvt_##rnd##_##D##_##S##_sat, )
#define NARROW_BF16_F32(rnd)                                                                                           \
    NARROW_PLAIN(BF16, F32, rnd, INT_OTHER)                                                                            \
    CVT_FN(CVT, T2(BF16, F32), FORM(RND, rnd) | FLAG(FTZ), INT_OTHER, DA(BF16, F32), cvt_##rnd##_BF16_F32_ftz, )
#define NARROW_FTZ(D, S, rnd, lat)                                                                                     \
    NARROW(D, S, rnd, lat)                                                                                             \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | FLAG(FTZ), lat, DA(D, S), cvt_##rnd##_##D##_##S##_ftz, )                    \
    CVT_FN(CVT, T2(D, S), FORM(RND, rnd) | FLAG(FTZ) | FLAG(SAT), lat, DA(D, S), cvt_##rnd##_##D##_##S##_ftz_sat, )
/* Makes the rows of one rounding mode: all conversions to a narrower float, or between f16 and bf16. */
#define NARROWS(rnd)                                                                                                   \
    NARROW_FTZ(F32, F64, rnd, F64_ADD)                                                                                 \
    NARROW_FTZ(F16, F32, rnd, INT_OTHER)                                                                               \
    NARROW_BF16_F32(rnd)                                                                                               \
    NARROW(F16, F64, rnd, F64_ADD)                                                                                     \
    NARROW_PLAIN(BF16, F64, rnd, F64_ADD)                                                                              \
    NARROW_PLAIN(F16, BF16, rnd, INT_OTHER)                                                                            \
    NARROW_PLAIN(BF16, F16, rnd, INT_OTHER)
/* clang-format off */
/* Calls the macro X for each integer type, passing the type and the remaining arguments. */
#define EACH_INT(X, ...)                                                                                               \
    X(U8, __VA_ARGS__) X(U16, __VA_ARGS__) X(U32, __VA_ARGS__) X(U64, __VA_ARGS__)                                     \
    X(S8, __VA_ARGS__) X(S16, __VA_ARGS__) X(S32, __VA_ARGS__) X(S64, __VA_ARGS__)
/* A double holds all integers of up to 32 bits, so only 64-bit integers are rounded. */
#define F64_FROM_INTS(rnd)                                                                                             \
    F64_FROM_INT(U8, rnd, RN) F64_FROM_INT(U16, rnd, RN) F64_FROM_INT(U32, rnd, RN) F64_FROM_INT(U64, rnd, rnd)        \
    F64_FROM_INT(S8, rnd, RN) F64_FROM_INT(S16, rnd, RN) F64_FROM_INT(S32, rnd, RN) F64_FROM_INT(S64, rnd, rnd)
/* clang-format on */
/* Makes two rows: a conversion that computes `value` from a, and its form with .sat, which computes `saturated`. */
#define FLOAT_ROWS(name, D, S, form, lat, value, saturated)                                                            \
    CVT(name, CVT, T2(D, S), form, lat, DA(D, S), d = value)                                                           \
    CVT(name##_sat, CVT, T2(D, S), (form) | FLAG(SAT), lat, DA(D, S), d = saturated)
#define INTEGRAL(rnd)                                                                                                  \
    FLOAT_ROWS(cvt_##rnd##_F32_F32, F32, F32, FORM(RND, rnd), INT_OTHER, f32_result(f32_integral(a, RND_##rnd), 0, 0), \
               f32_result(f32_integral(a, RND_##rnd), 0, 1))                                                           \
    FLOAT_ROWS(cvt_##rnd##_ftz_F32_F32, F32, F32, FORM(RND, rnd) | FLAG(FTZ), INT_OTHER,                               \
               f32_result(f32_integral(f32_flush(a, 1), RND_##rnd), 1, 0),                                             \
               f32_result(f32_integral(f32_flush(a, 1), RND_##rnd), 1, 1))                                             \
    FLOAT_ROWS(cvt_##rnd##_F64_F64, F64, F64, FORM(RND, rnd), F64_ADD, f64_result1(f64_integral(a, RND_##rnd), a),     \
               f64_sat(f64_integral(a, RND_##rnd)))                                                                    \
    FLOAT_ROWS(cvt_##rnd##_F16_F16, F16, F16, FORM(RND, rnd), INT_OTHER,                                               \
               f16_from_f32(f32_integral(f32_from_f16(a), RND_##rnd), RND_RN),                                         \
               f16_from_f32(f32_result(f32_integral(f32_from_f16(a), RND_##rnd), 0, 1), RND_RN))                       \
    CVT(cvt_##rnd##_BF16_BF16, CVT, T2(BF16, BF16), FORM(RND, rnd), INT_OTHER, DA(BF16, BF16),                         \
        d = bf16_from_f32(f32_integral(f32_from_bf16(a), RND_##rnd), RND_RN))

#define ROWS_FILE "isa/exec/exec_cvt.c"
#define ROWS_NAME cvt
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* ---- between integers: extension, truncation, and .sat ---- */
CVT_FROM_ALL(U8)
CVT_FROM_ALL(U16)
CVT_FROM_ALL(U32)
CVT_FROM_ALL(U64)
CVT_FROM_ALL(S8)
CVT_FROM_ALL(S16)
CVT_FROM_ALL(S32)
CVT_FROM_ALL(S64)

/* .sat exists if the source has values outside the destination's range */
SAT_UNSIGNED(S8, U8)
SAT_UNSIGNED(U8, U16)
SAT_UNSIGNED(S8, U16)
SAT_UNSIGNED(S16, U16)
SAT_UNSIGNED(U8, U32)
SAT_UNSIGNED(U16, U32)
SAT_UNSIGNED(S8, U32)
SAT_UNSIGNED(S16, U32)
SAT_UNSIGNED(S32, U32)
SAT_UNSIGNED(U8, U64)
SAT_UNSIGNED(U16, U64)
SAT_UNSIGNED(U32, U64)
SAT_UNSIGNED(S8, U64)
SAT_UNSIGNED(S16, U64)
SAT_UNSIGNED(S32, U64)
SAT_UNSIGNED(S64, U64)
SAT_SIGNED(U8, S8)
SAT_SIGNED(U16, S8)
SAT_SIGNED(U32, S8)
SAT_SIGNED(U64, S8)
SAT_SIGNED(U8, S16)
SAT_SIGNED(U16, S16)
SAT_SIGNED(U32, S16)
SAT_SIGNED(U64, S16)
SAT_SIGNED(S8, S16)
SAT_SIGNED(U8, S32)
SAT_SIGNED(U16, S32)
SAT_SIGNED(U32, S32)
SAT_SIGNED(U64, S32)
SAT_SIGNED(S8, S32)
SAT_SIGNED(S16, S32)
SAT_SIGNED(U8, S64)
SAT_SIGNED(U16, S64)
SAT_SIGNED(U32, S64)
SAT_SIGNED(U64, S64)
SAT_SIGNED(S8, S64)
SAT_SIGNED(S16, S64)
SAT_SIGNED(S32, S64)

/* ---- conversions from or to floating-point numbers ---- */
/* conversions from float to integer */
EACH_INT(TO_INT, RNI)
EACH_INT(TO_INT, RZI)
EACH_INT(TO_INT, RMI)
EACH_INT(TO_INT, RPI)

/* conversions from integer to float */
EACH_INT(FROM_INT, RN)
EACH_INT(FROM_INT, RZ)
EACH_INT(FROM_INT, RM)
EACH_INT(FROM_INT, RP)
EACH_INT(F64_FROM_INT, RN, RN)
F64_FROM_INTS(RZ)
F64_FROM_INTS(RM)
F64_FROM_INTS(RP)

/* conversions to a narrower float, and between f16 and bf16 */
NARROWS(RN)
NARROWS(RZ)
NARROWS(RM)
NARROWS(RP)

/* conversions to a wider float */
FLOAT_ROWS(cvt_F32_F16, F32, F16, 0, INT_OTHER, f32_from_f16(a), f32_result(f32_from_f16(a), 0, 1))
FLOAT_ROWS(cvt_ftz_F32_F16, F32, F16, FLAG(FTZ), INT_OTHER, f32_from_f16(a), f32_result(f32_from_f16(a), 0, 1))
CVT(cvt_F32_BF16, CVT, T2(F32, BF16), 0, INT_OTHER, DA(F32, BF16), d = f32_from_bf16(a))
CVT(cvt_ftz_F32_BF16, CVT, T2(F32, BF16), FLAG(FTZ), INT_OTHER, DA(F32, BF16), d = f32_result(f32_from_bf16(a), 1, 0))
FLOAT_ROWS(cvt_F64_F16, F64, F16, 0, F64_ADD, (double)f32_from_f16(a), f64_sat(f32_from_f16(a)))
CVT(cvt_F64_BF16, CVT, T2(F64, BF16), 0, F64_ADD, DA(F64, BF16), d = (double)f32_from_bf16(a))
FLOAT_ROWS(cvt_F64_F32, F64, F32, 0, F64_ADD, f64_from_f32(a), f64_sat(a))
FLOAT_ROWS(cvt_ftz_F64_F32, F64, F32, FLAG(FTZ), F64_ADD, f64_from_f32(f32_flush(a, 1)), f64_sat(f32_flush(a, 1)))

/* in one format */
FLOAT_ROWS(cvt_F16_F16, F16, F16, 0, INT_OTHER, f16_from_f32(f32_from_f16(a), RND_RN),
    f16_from_f32(f32_result(f32_from_f16(a), 0, 1), RND_RN))
CVT(cvt_BF16_BF16, CVT, T2(BF16, BF16), 0, INT_OTHER, DA(BF16, BF16), d = bf16_from_f32(f32_from_bf16(a), RND_RN))
FLOAT_ROWS(cvt_F32_F32, F32, F32, 0, INT_OTHER, f32_result(a, 0, 0), f32_result(a, 0, 1))
FLOAT_ROWS(cvt_ftz_F32_F32, F32, F32, FLAG(FTZ), INT_OTHER, f32_result(a, 1, 0), f32_result(a, 1, 1))
FLOAT_ROWS(cvt_F64_F64, F64, F64, 0, F64_ADD, f64_result1(a, a), f64_sat(a))
INTEGRAL(RNI)
INTEGRAL(RZI)
INTEGRAL(RMI)
INTEGRAL(RPI)
/* clang-format on */
#endif
