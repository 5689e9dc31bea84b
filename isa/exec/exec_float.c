/* f32 and f64 arithmetic rounded to nearest, signs, minimum and maximum, classes, selection by sign.
 *
 * PTX ISA 9.0, section 9.7.3. mad is fma in every form; mad.f32 without a rounding modifier (sm_1x, and PTX up to 3.1
 * elsewhere) is fma.rn.f32. abs, neg and copysign change the sign bit of a NaN and nothing else. */
#include "float_rows.h"

FP_INLINE float f32_negate(float x) { return f32_from_bits(f32_bits(x) ^ 0x80000000u); }

/* As f32_minmax(); of two NaNs the first stays, quieted. */
FP_INLINE double f64_minmax(double a, double b, bool max) {
    uint64_t x = f64_bits(a), y = f64_bits(b);
    uint64_t r = (max ? a > b : a < b) ? x : y;
    r = a == b ? (max ? x & y : x | y) : r;
    r = b != b ? x : r;
    r = ((a != a) & (b != b)) ? f64_bits(f64_quiet(a)) : r;
    return f64_from_bits(r);
}

/* fma, rounded to nearest. A build without the processor's FMA instructions looks for them when it runs: there is no
 * quick way without them. `have` is a constant in each caller, which is compiled with those instructions or without. */
FP_INLINE void fma_lanes_f32(bool have, bool ftz, bool sat, float *d, const float *a, const float *b, const float *c) {
    LANES(l) {
        float x = f32_flush(a[l], ftz), y = f32_flush(b[l], ftz), z = f32_flush(c[l], ftz);
        d[l] = f32_result(have ? __builtin_fmaf(x, y, z) : f32_fma(x, y, z, RND_RN), ftz, sat);
    }
}
FP_INLINE void fma_lanes_f64(double *d, const double *a, const double *b, const double *c) {
    LANES(l) d[l] = f64_result3(__builtin_fma(a[l], b[l], c[l]), a[l], b[l], c[l]);
}
#define LANE_ARGUMENTS void *d, void *d2, const void *a, const void *b, const void *c, const void *e
#if defined(__x86_64__) && !defined(__FMA__)
#define FMA_FN(name, lanes_with, lanes_without)                                                                        \
    static                                                                                                             \
        __attribute__((target("avx2,fma"))) void name##_with(void *d, const void *a, const void *b, const void *c) {   \
        lanes_with;                                                                                                    \
    }                                                                                                                  \
    static void name(LANE_ARGUMENTS) {                                                                                 \
        (void)d2, (void)e;                                                                                             \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                                           \
            name##_with(d, a, b, c);                                                                                   \
        else                                                                                                           \
            lanes_without;                                                                                             \
    }
#else
#define FMA_FN(name, lanes_with, lanes_without)                                                                        \
    static void name(LANE_ARGUMENTS) {                                                                                 \
        (void)d2, (void)e;                                                                                             \
        lanes_without;                                                                                                 \
    }
#endif
#define FMA_F32(name, ftz, sat)                                                                                        \
    FMA_FN(name, fma_lanes_f32(1, ftz, sat, d, a, b, c), fma_lanes_f32(0, ftz, sat, d, a, b, c))
FMA_F32(fma_RN_f32, 0, 0)
FMA_F32(fma_RN_ftz_f32, 1, 0)
FMA_F32(fma_RN_sat_f32, 0, 1)
FMA_F32(fma_RN_ftz_sat_f32, 1, 1)
FMA_FN(fma_f64, fma_lanes_f64(d, a, b, c), fma_lanes_f64(d, a, b, c))

#define MINMAX_F32_(name, fn, op, flags, ftz, nan, xorsign)                                                            \
    LANE(name, op, T1(F32), flags, F32_MINMAX, DAB(F32, F32, F32),                                                     \
         d = f32_minmax(f32_flush(a, ftz), f32_flush(b, ftz), OP_##op == OP_MAX, nan, xorsign))
#define XORSIGN_ABS (FLAG(XORSIGN) | FLAG(ABS))
#define MINMAX_F32(fn, op)                                                                                             \
    MINMAX_F32_(fn##_f32, fn, op, 0, 0, 0, 0)                                                                          \
    MINMAX_F32_(fn##_ftz_f32, fn, op, FLAG(FTZ), 1, 0, 0)                                                              \
    MINMAX_F32_(fn##_nan_f32, fn, op, FLAG(NAN), 0, 1, 0)                                                              \
    MINMAX_F32_(fn##_ftz_nan_f32, fn, op, FLAG(FTZ) | FLAG(NAN), 1, 1, 0)                                              \
    MINMAX_F32_(fn##_xorsign_f32, fn, op, XORSIGN_ABS, 0, 0, 1)                                                        \
    MINMAX_F32_(fn##_ftz_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(FTZ), 1, 0, 1)                                        \
    MINMAX_F32_(fn##_nan_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(NAN), 0, 1, 1)                                        \
    MINMAX_F32_(fn##_ftz_nan_xorsign_f32, fn, op, XORSIGN_ABS | FLAG(FTZ) | FLAG(NAN), 1, 1, 1)

/* Three sources (PTX ISA 8.8): the first two, then the third. */
#define MINMAX3_F32_(name, op, which, form, ftz, nan, abs)                                                             \
    LANE(name, op, T1(F32), form, F32_MINMAX, DABC(F32, F32, F32, F32), float x = f32_flush(a, ftz);                   \
         float y = f32_flush(b, ftz); float z = f32_flush(c, ftz); x = abs ? f32_abs(x) : x; y = abs ? f32_abs(y) : y; \
         z = abs ? f32_abs(z) : z; d = f32_minmax(f32_minmax(x, y, which, nan, 0), z, which, nan, 0))
#define MINMAX3_F32(fn, op, op3, which)                                                                                \
    MINMAX3_F32_(fn##3_f32, op3, which, 0, 0, 0, 0)                                                                    \
    MINMAX3_F32_(fn##3_ftz_f32, op3, which, FLAG(FTZ), 1, 0, 0)                                                        \
    MINMAX3_F32_(fn##3_nan_f32, op3, which, FLAG(NAN), 0, 1, 0)                                                        \
    MINMAX3_F32_(fn##3_ftz_nan_f32, op3, which, FLAG(FTZ) | FLAG(NAN), 1, 1, 0)                                        \
    MINMAX3_F32_(fn##3_abs_f32, op, which, FLAG(ABS), 0, 0, 1)                                                         \
    MINMAX3_F32_(fn##3_ftz_abs_f32, op, which, FLAG(ABS) | FLAG(FTZ), 1, 0, 1)                                         \
    MINMAX3_F32_(fn##3_nan_abs_f32, op, which, FLAG(ABS) | FLAG(NAN), 0, 1, 1)                                         \
    MINMAX3_F32_(fn##3_ftz_nan_abs_f32, op, which, FLAG(ABS) | FLAG(FTZ) | FLAG(NAN), 1, 1, 1)

/* `test` looks at the magnitude's bits x, and at those of infinity and of the smallest normal number. */
#define TESTP(word, mode, test)                                                                                        \
    LANE(testp_##word##_f32, TESTP, T1(F32), FORM(MODE, mode), INT_OTHER, OPDS(PRED, NONE, F32, NONE, NONE, NONE),     \
         const uint32_t inf = F32_INF, min = 0x00800000u;                                                              \
         uint32_t x = f32_bits(a) & 0x7fffffffu; d = (test); (void)inf; (void)min)                                     \
    LANE(testp_##word##_f64, TESTP, T1(F64), FORM(MODE, mode), INT_OTHER, OPDS(PRED, NONE, F64, NONE, NONE, NONE),     \
         const uint64_t inf = 0x7ff0000000000000ull, min = 0x0010000000000000ull;                                      \
         uint64_t x = f64_bits(a) & ~F64_SIGN; d = (test); (void)inf; (void)min)

#define SLCT(T)                                                                                                        \
    LANE(slct_##T, SLCT, T2(T, F32), 0, INT_OTHER, DABC(T, T, T, F32), d = c >= 0.0f ? a : b)                          \
    LANE(slct_ftz_##T, SLCT, T2(T, F32), FLAG(FTZ), INT_OTHER, DABC(T, T, T, F32), d = f32_flush(c, 1) >= 0.0f ? a : b)

#define ROWS_FILE "isa/exec/exec_float.def"
#define ROWS_NAME float
#include "isa/rows_expand.h"
