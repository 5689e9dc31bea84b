#ifndef ISA_EXEC_EXEC_MATRIX_AVX512_H
#define ISA_EXEC_EXEC_MATRIX_AVX512_H
/* mma.m16n8k8 and m16n8k16 on f16 and bf16 with sums in f32, for processors with AVX-512. The results are bit for bit
 * equal to the results of exec_matrix.c: each sum begins with the element of c, and adds the products in the order of
 * k by fused multiply-adds in f64. A row of the sums is one vector of eight doubles, and all rows of b stay in
 * registers. */
#include "isa/exec/exec_matrix.h"
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define MATRIX_AVX512 1

/* Returns eight numbers of 16 bits as doubles. */
FP_INLINE __m512d doubles_of_halves(unsigned type, __m128i half) {
    const __m256 x = type == T_F16 ? _mm256_maskz_cvtph_ps(0xff, half)
                                   : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    return _mm512_cvtps_pd(x);
}

/* Reads a register of b: eight rows, of which a quad holds one column. Transposes them as numbers of 16 bits. */
FP_INLINE void read_rows_of_b(unsigned type, const void *reg, __m512d b[8]) {
    /* element 8 i + n of the result is element i + 8 n of the register; the second result has rows 4 to 7 */
#define ROW(i) 56 + i, 48 + i, 40 + i, 32 + i, 24 + i, 16 + i, 8 + i, i
    const __m512i low = _mm512_set_epi16(ROW(3), ROW(2), ROW(1), ROW(0)),
                  high = _mm512_set_epi16(ROW(7), ROW(6), ROW(5), ROW(4));
#undef ROW
    const __m512i x = _mm512_loadu_si512(reg), y = _mm512_loadu_si512((const char *)reg + 64);
    const __m512i rows[2] = {_mm512_permutex2var_epi16(x, low, y), _mm512_permutex2var_epi16(x, high, y)};
#pragma GCC unroll 2
    for (unsigned i = 0; i < 2; i++) {
        b[4 * i] = doubles_of_halves(type, _mm512_castsi512_si128(rows[i]));
        b[4 * i + 1] = doubles_of_halves(type, _mm512_extracti32x4_epi32(rows[i], 1));
        b[4 * i + 2] = doubles_of_halves(type, _mm512_extracti32x4_epi32(rows[i], 2));
        b[4 * i + 3] = doubles_of_halves(type, _mm512_extracti32x4_epi32(rows[i], 3));
    }
}

/* Returns row `quad` of c from its two registers, which hold the even and the odd columns. */
FP_INLINE __m512d read_sums(const float *even, const float *odd, unsigned quad) {
    const __m256 x = _mm256_permutex2var_ps(_mm256_castps128_ps256(_mm_loadu_ps(even + 4 * quad)),
                                            _mm256_set_epi32(11, 3, 10, 2, 9, 1, 8, 0),
                                            _mm256_castps128_ps256(_mm_loadu_ps(odd + 4 * quad)));
    return _mm512_cvtps_pd(x);
}

FP_INLINE void write_row(float *even, float *odd, unsigned quad, __m512d sum) {
    const __mmask8 nan = _mm512_cmp_pd_mask(sum, sum, _CMP_UNORD_Q);
    __m256 x = _mm512_cvtpd_ps(sum);
    x = _mm256_mask_mov_ps(x, nan, _mm256_castsi256_ps(_mm256_set1_epi32(F32_NAN)));
    x = _mm256_permutexvar_ps(_mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0), x);
    _mm_storeu_ps(even + 4 * quad, _mm256_castps256_ps128(x));
    _mm_storeu_ps(odd + 4 * quad, _mm256_extractf128_ps(x, 1));
}

/* Computes an mma with 16 rows of numbers of 16 bits and k of 8 or 16. Registers of `d` may be those of a source. */
FP_INLINE void multiply_halves(struct warp *w, const opnd_t *d, const opnd_t *sources, unsigned type, unsigned k_end) {
    enum { ROWS = 8 };
    const unsigned n_a = k_end / 4, n_b = k_end / 8;
    _Alignas(64) double a[MOST_M][16];
    __m512d b[16];
    for (unsigned r = 0; r < n_a; r++) {
        const char *reg = reg_ptr(w, sources[r]);
#pragma GCC unroll 8
        for (unsigned quad = 0; quad < 8; quad++)
            _mm512_store_pd(&a[quad + r % 2 * 8][r / 2 * 8],
                            doubles_of_halves(type, _mm_loadu_si128((const void *)(reg + 16 * quad))));
    }
#pragma GCC unroll 2
    for (unsigned r = 0; r < n_b; r++)
        read_rows_of_b(type, reg_ptr(w, sources[n_a + r]), b + 8 * r);
    __m512d s[MOST_M];
#pragma GCC unroll 2
    for (unsigned half = 0; half < 2; half++) {
        const opnd_t *c = sources + n_a + n_b + 2 * half;
        __m512d *sum = s + half * ROWS;
        for (unsigned r = 0; r < ROWS; r++)
            sum[r] = read_sums(reg_ptr(w, c[0]), reg_ptr(w, c[1]), r);
#pragma GCC unroll 16
        for (unsigned k = 0; k < k_end; k++)
            for (unsigned r = 0; r < ROWS; r++)
                sum[r] = _mm512_fmadd_pd(_mm512_set1_pd(a[half * ROWS + r][k]), b[k], sum[r]);
    }
#pragma GCC unroll 16
    for (unsigned r = 0; r < MOST_M; r++)
        write_row(reg_ptr(w, d[r / ROWS * 2]), reg_ptr(w, d[r / ROWS * 2 + 1]), r % ROWS, s[r]);
}
#endif
#endif
