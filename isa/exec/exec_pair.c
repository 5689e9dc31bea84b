/* add sub mul fma of f32x2: two f32 in a 64-bit register, the low one first (PTX ISA 9.0, section 9.7.3). A register of
 * 32 lanes is an array of 64 numbers, so the f32 loops apply, with twice the length. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/rows.h"
#include "isa/softfloat.h"

enum { PAIRS = 2 * WARP_LANES };
#if defined(__clang__)
#define PAIR_LANES(i) _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int i = 0; i < PAIRS; i++)
#else
#define PAIR_LANES(i) _Pragma("GCC ivdep") for (int i = 0; i < PAIRS; i++)
#endif

/* add sub mul; r is an expression of x and y */
#define PAIR_FN2(name, ftz, r)                                                                                         \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        float *d = d_at;                                                                                               \
        const float *a = a_at, *b = b_at;                                                                              \
        (void)d2_at, (void)c_at, (void)e_at;                                                                           \
        PAIR_LANES(i) {                                                                                                \
            const float x = f32_flush(a[i], ftz), y = f32_flush(b[i], ftz);                                            \
            d[i] = f32_result(r, ftz, 0);                                                                              \
        }                                                                                                              \
    }
#define PAIR_FN3(name, ftz, rnd)                                                                                       \
    static void name(void *d_at, void *d2_at, const void *a_at, const void *b_at, const void *c_at,                    \
                     const void *e_at) {                                                                               \
        float *d = d_at;                                                                                               \
        const float *a = a_at, *b = b_at, *c = c_at;                                                                   \
        (void)d2_at, (void)e_at;                                                                                       \
        PAIR_LANES(i) {                                                                                                \
            const float x = f32_flush(a[i], ftz), y = f32_flush(b[i], ftz), z = f32_flush(c[i], ftz);                  \
            d[i] = f32_result(f32_fma(x, y, z, rnd), ftz, 0);                                                          \
        }                                                                                                              \
    }
#define PAIR_FNS(rnd)                                                                                                  \
    PAIR_FN2(add_##rnd, 0, f32_add(x, y, RND_##rnd))                                                                   \
    PAIR_FN2(add_##rnd##_ftz, 1, f32_add(x, y, RND_##rnd))                                                             \
    PAIR_FN2(sub_##rnd, 0, f32_sub(x, y, RND_##rnd))                                                                   \
    PAIR_FN2(sub_##rnd##_ftz, 1, f32_sub(x, y, RND_##rnd))                                                             \
    PAIR_FN2(mul_##rnd, 0, f32_mul(x, y, RND_##rnd))                                                                   \
    PAIR_FN2(mul_##rnd##_ftz, 1, f32_mul(x, y, RND_##rnd))                                                             \
    PAIR_FN3(fma_##rnd, 0, RND_##rnd)                                                                                  \
    PAIR_FN3(fma_##rnd##_ftz, 1, RND_##rnd)
PAIR_FNS(RN)
PAIR_FNS(RZ)
PAIR_FNS(RM)
PAIR_FNS(RP)

#define PAIR_ROWS(op, fn, form, lat, opds)                                                                             \
    LANE_FN(op, T1(F32X2), form, lat, opds, fn, )                                                                      \
    LANE_FN(op, T1(F32X2), (form) | FLAG(FTZ), lat, opds, fn##_ftz, )
#define PAIR2 DAB(F32X2, F32X2, F32X2)
#define PAIR3 DABC(F32X2, F32X2, F32X2, F32X2)
#define PAIR_ROUNDED(rnd)                                                                                              \
    PAIR_ROWS(ADD, add_##rnd, FORM(RND, rnd), F32_ADD, PAIR2)                                                          \
    PAIR_ROWS(SUB, sub_##rnd, FORM(RND, rnd), F32_ADD, PAIR2)                                                          \
    PAIR_ROWS(MUL, mul_##rnd, FORM(RND, rnd), F32_MUL, PAIR2)                                                          \
    PAIR_ROWS(FMA, fma_##rnd, FORM(RND, rnd), F32_FMA, PAIR3)

#define ROWS_FILE "isa/exec/exec_pair.c"
#define ROWS_NAME pair
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Rows. Rows without a rounding modifier round to nearest; fma always has a rounding modifier. */
PAIR_ROUNDED(RN)
PAIR_ROUNDED(RZ)
PAIR_ROUNDED(RM)
PAIR_ROUNDED(RP)
PAIR_ROWS(ADD, add_RN, 0, F32_ADD, PAIR2)
PAIR_ROWS(SUB, sub_RN, 0, F32_ADD, PAIR2)
PAIR_ROWS(MUL, mul_RN, 0, F32_MUL, PAIR2)
/* clang-format on */
#endif
