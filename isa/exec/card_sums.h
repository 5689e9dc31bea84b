#ifndef ISA_EXEC_CARD_SUMS_H
#define ISA_EXEC_CARD_SUMS_H
/* Sums of mma as tensor cores compute them (gpu.mma_accuracy=card). A tensor core adds a block of products and c at
 * once: it aligns them to the largest exponent, truncates each to F bits behind the point, and adds the rest exactly.
 * The sum is truncated to f32, or rounded to nearest even to f16. A long mma consists of several blocks.
 *
 * Measured by: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021 (V100, T4, A100);
 * Xie, Wang, Yang, Yang, "MMA-Sim", arXiv 2511.10909, 2025 (Volta to Blackwell: block lengths, F, and 13 bits for
 * numbers of 8 bits on Ada); Khattak, Mikaitis, "Accurate models of NVIDIA tensor cores", arXiv 2512.07004, 2025
 * (V100, A100, H100, B200). */
#include <stdint.h>

/* `card`: compute capability * 10. a, b, d: enum type of a and b, and of d. `shift`: exponent of the scales of a and b
 * together, a power of two. */
struct card_sums {
    uint32_t card;
    uint8_t a, b, d;
    int shift;
};

/* Adds to each of the first `m` rows of c the products of the row of `a`, with `stride` elements per row, and of b.
 * The results are numbers of type d. */
void card_add(struct card_sums s, const double *a, unsigned stride, const double *b, double (*c)[8], unsigned m,
              unsigned k);
/* Adds `k` products of one sum to c, and returns the new sum. Product i is a[i] * b[i * step]. */
double card_sum(struct card_sums s, const double *a, const double *b, unsigned step, double c, unsigned k);
/* As card_sum(), for kinds mxf4 and mxf4nvf4: adds to c the `n` sums of 16 products, each times its two scales. */
double card_sum_scaled(const double *sums, const double *scale, unsigned n, double c);
#endif
