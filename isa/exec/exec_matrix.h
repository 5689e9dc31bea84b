#ifndef ISA_EXEC_EXEC_MATRIX_H
#define ISA_EXEC_EXEC_MATRIX_H
/* Fragments of mma: reads registers into matrices of doubles, and writes sums to registers. Shared by exec_matrix.c and
 * exec_mma.c. Each of these files includes it once. */
#include "isa/exec/small_floats.h"
#include "isa/machine/effects.h"
#include "isa/matrix.h"
#include "isa/rows.h"
#if defined(__AVX512F__) || defined(__AVX2__) || defined(__F16C__)
#include <immintrin.h>
#endif

/* MOST_REGISTER: maximum number of elements in one register of a warp; single bits are not counted as elements. */
enum { MOST_M = 16, MOST_N = 8, MOST_REGISTER = 8 * WARP_LANES };

#if defined(__clang__)
#define ELEMENTS(i, n) _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (unsigned i = 0; i < (n); i++)
#else
#define ELEMENTS(i, n) _Pragma("GCC ivdep") for (unsigned i = 0; i < (n); i++)
#endif

/* Converts `n` f16 numbers to f32; n is a multiple of 16. The payload of a NaN may change. */
FP_INLINE void floats_of_halves(const uint16_t *half, unsigned n, float *to) {
#if defined(__AVX512F__)
    for (unsigned i = 0; i < n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(half + i))));
#elif defined(__F16C__)
    for (unsigned i = 0; i < n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(half + i))));
#else
    ELEMENTS(i, n) to[i] = f32_from_f16(half[i]);
#endif
}

FP_INLINE float float_of_byte(unsigned type, uint8_t b) {
    switch (type) {
    case T_E4M3:
        return f32_from_E4M3(b);
    case T_E5M2:
        return f32_from_E5M2(b);
    case T_E3M2:
        return f32_from_E3M2(b & 0x3f);
    case T_E2M3:
        return f32_from_E2M3(b & 0x3f);
    case T_E2M1: /* the number is in bits 2 to 5 of its byte; the caller has moved packed numbers to these bits */
        return f32_from_E2M1(b >> 2 & 0xf);
    case T_S4:
        return (float)((int8_t)(b << 2) >> 4);
    case T_U4:
        return (float)(b >> 2 & 0xf);
    case T_S8:
        return (int8_t)b;
    default:
        return b;
    }
}

/* Converts the elements of a register to doubles, lane by lane. The loops become vector code. A loop that mixed narrow
 * and 64-bit elements would not, so these are converted to f32 first, and then to doubles in a second loop. */
FP_INLINE void register_elements(unsigned type, const void *reg, unsigned elements, double *to) {
    _Alignas(64) float x[MOST_REGISTER];
    const uint32_t *word = reg;
    if (type == T_F64) {
        memcpy(to, reg, WARP_LANES * sizeof *to);
    } else if (type == T_F16 || type == T_BF16) {
        _Alignas(64) uint16_t half[WARP_LANES * 2];
        memcpy(half, reg, sizeof half);
        if (type == T_F16)
            floats_of_halves(half, WARP_LANES * 2, x);
        else
            ELEMENTS(i, 2 * WARP_LANES) x[i] = f32_from_bits((uint32_t)half[i] << 16);
        ELEMENTS(i, 2 * WARP_LANES) to[i] = x[i];
    } else if (elements == 8) {
        ELEMENTS(i, 4 * WARP_LANES) {
            const uint8_t two = ((const uint8_t *)reg)[i];
            x[2 * i] = float_of_byte(type, (uint8_t)((two & 0xf) << 2));
            x[2 * i + 1] = float_of_byte(type, (uint8_t)(two >> 2 & 0x3c));
        }
        ELEMENTS(i, 8 * WARP_LANES) to[i] = x[i];
    } else if (elements == 4) {
        _Alignas(64) uint8_t byte[4 * WARP_LANES];
        memcpy(byte, reg, sizeof byte);
        ELEMENTS(i, 4 * WARP_LANES) x[i] = float_of_byte(type, byte[i]);
        ELEMENTS(i, 4 * WARP_LANES) to[i] = x[i];
    } else if (type == T_S32) {
        ELEMENTS(i, WARP_LANES) to[i] = (int32_t)word[i];
    } else {
        ELEMENTS(i, WARP_LANES) to[i] = (double)f32_from_bits(type == T_TF32 ? word[i] & 0xffffe000u : word[i]);
    }
}

/* Reads a fragment from the registers `list` into `to`: row by row, with `columns` elements per row; B is transposed.
 * A quad (four adjacent lanes) holds elements of one row of the matrix, or of one column of B. */
FP_INLINE void read_fragment(const struct warp *w, const opnd_t *list, struct fragment_form f, unsigned type,
                             unsigned n, double *to, unsigned columns) {
    const unsigned of_quad = 4 * f.elements, step = fragment_width(f) / f.elements;
    for (unsigned r = 0; r < n; r++) {
        const struct fragment_place at = fragment_at(f, r);
        _Alignas(64) double v[MOST_REGISTER];
        register_elements(type, reg_ptr(w, list[r]), f.elements, v);
        for (unsigned quad = 0; quad < WARP_LANES / 4; quad++) {
            const double *from = v + quad * of_quad;
            if (f.role != FRAGMENT_B && step == 1)
                memcpy(to + (quad + at.quad) * columns + at.place, from, of_quad * sizeof *to);
            else
                for (unsigned i = 0; i < of_quad; i++) {
                    const unsigned place = at.place + i * step;
                    to[f.role == FRAGMENT_B ? place * columns + quad : (quad + at.quad) * columns + place] = from[i];
                }
        }
    }
}

/* Converts a sum to the type of d. */
FP_INLINE uint32_t word_of_sum(unsigned type, bool clamp, double s) {
    if (type == T_S32) {
        double most = 2147483647.0, least = -2147483648.0;
        if (clamp)
            s = s > most ? most : s < least ? least : s;
        return (uint32_t)(int64_t)s;
    }
    if (type == T_F16)
        return f16_from_f32(f32_odd(s), RND_RN);
    return s != s ? F32_NAN : f32_bits((float)s);
}

/* Writes the `m` rows of sums to the registers `list` of a fragment d. */
FP_INLINE void write_sums(struct warp *w, const opnd_t *list, unsigned m, unsigned type, bool clamp,
                          double sum[MOST_M][MOST_N]) {
    const unsigned n = m * MOST_N;
    const double *s = (const double *)sum;
    if (type == T_F16) {
        _Alignas(64) float odd[MOST_M * MOST_N];
        ELEMENTS(i, n) odd[i] = f32_odd(s[i]);
        for (unsigned r = 0; r < m / 8; r++) {
            _Alignas(64) uint16_t half[2 * WARP_LANES];
            ELEMENTS(i, 2 * WARP_LANES) half[i] = (uint16_t)f16_from_f32(odd[r * 2 * WARP_LANES + i], RND_RN);
            memcpy(reg_ptr(w, list[r]), half, sizeof half);
        }
        return;
    }
    for (unsigned r = 0; r < m / 8; r++) { /* lane l has two columns of row l / 4, in two registers */
        const double *from = s + r * 2 * WARP_LANES;
        void *even = reg_ptr(w, list[2 * r]), *odd = reg_ptr(w, list[2 * r + 1]);
        if (type == T_F64) {
            for (unsigned l = 0; l < WARP_LANES; l++)
                ((double *)even)[l] = from[2 * l];
            for (unsigned l = 0; l < WARP_LANES; l++)
                ((double *)odd)[l] = from[2 * l + 1];
        } else {
            _Alignas(64) uint32_t word[2 * WARP_LANES];
            ELEMENTS(i, 2 * WARP_LANES) word[i] = word_of_sum(type, clamp, from[i]);
            ELEMENTS(l, WARP_LANES)((uint32_t *)even)[l] = word[2 * l];
            ELEMENTS(l, WARP_LANES)((uint32_t *)odd)[l] = word[2 * l + 1];
        }
    }
}

/* A vector of MOST_N doubles: one row of the sums, or one row of matrix b. */
typedef double sums_row __attribute__((vector_size(MOST_N * sizeof(double)), aligned(8), may_alias));

/* Adds the products to the first `m` rows of c; products are exact. `a` has `stride` elements per row. Computes several
 * rows at once, since they do not depend on each other. */
FP_INLINE void add_products(const double *a, unsigned stride, const double (*b)[MOST_N], double (*c)[MOST_N],
                            unsigned m, unsigned k_end) {
#if defined(__AVX512F__)
    enum { ROWS = 8 };
    for (unsigned i = 0; i < m; i += ROWS) {
        __m512d s[ROWS];
        for (unsigned r = 0; r < ROWS; r++)
            s[r] = _mm512_loadu_pd(c[i + r]);
        for (unsigned k = 0; k < k_end; k++)
            for (unsigned r = 0; r < ROWS; r++)
                s[r] = _mm512_fmadd_pd(_mm512_set1_pd(a[(i + r) * stride + k]), _mm512_loadu_pd(b[k]), s[r]);
        for (unsigned r = 0; r < ROWS; r++)
            _mm512_storeu_pd(c[i + r], s[r]);
    }
#elif defined(__AVX2__) && defined(__FMA__)
    enum { ROWS = 4, HALF = MOST_N / 2 };
    for (unsigned i = 0; i < m; i += ROWS) {
        __m256d s[ROWS][2];
        for (unsigned r = 0; r < 2 * ROWS; r++)
            s[r / 2][r % 2] = _mm256_loadu_pd(&c[i + r / 2][r % 2 * HALF]);
        for (unsigned k = 0; k < k_end; k++)
            for (unsigned r = 0; r < 2 * ROWS; r++)
                s[r / 2][r % 2] = _mm256_fmadd_pd(_mm256_set1_pd(a[(i + r / 2) * stride + k]),
                                                  _mm256_loadu_pd(&b[k][r % 2 * HALF]), s[r / 2][r % 2]);
        for (unsigned r = 0; r < 2 * ROWS; r++)
            _mm256_storeu_pd(&c[i + r / 2][r % 2 * HALF], s[r / 2][r % 2]);
    }
#else
    enum { ROWS = 4 };
    for (unsigned i = 0; i < m; i += ROWS) {
        sums_row s[ROWS];
        memcpy(s, c[i], sizeof s);
        for (unsigned k = 0; k < k_end; k++) {
            const sums_row column = *(const sums_row *)b[k];
            for (unsigned r = 0; r < ROWS; r++)
                s[r] += a[(i + r) * stride + k] * column;
        }
        memcpy(c[i], s, sizeof s);
    }
#endif
}

/* Checks that all lanes execute (PTX ISA: .aligned). Otherwise sets a fault and returns false. */
static bool is_whole(rowmask_t m, struct effects *fx) {
    if (m == LANES_ALL)
        return true;
    fx_fault_text(fx, FAULT_PARTIAL_WARP, __builtin_ctz(m),
                  "an .aligned instruction is executed by all 32 lanes of a warp together; here by lanes 0x%08x alone",
                  m);
    return false;
}
#endif
