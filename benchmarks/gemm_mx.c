/* gemm_mx: C = A B^T by tensor cores, with f8 elements (e4m3) in blocks of 32 that share a scale, a power of two. The
 * elements are 0 or powers of two from 1/2 to 2 of either sign, the scales from 1/8 to 8. So all products and sums are
 * exact, and results must be equal.
 *   size small: 64 x 128 results, sums of 256 products
 *   size paper: 512 x 512 results, sums of 1024 products */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_gemm_mx;

enum { TILE = 64, BLOCK = 32, THREADS = 128, BIAS = 127 };

/* A matrix whose rows have k elements. */
struct matrix {
    uint8_t *element, *scale; /* the elements and scales as bits; 32 elements share a scale */
    float *value;             /* with the scales */
};

static void fill(struct matrix m, size_t elements, uint64_t *seed) {
    for (size_t i = 0; i < elements; i++) {
        if (i % BLOCK == 0)
            m.scale[i / BLOCK] = (uint8_t)(BIAS - 3 + (int)(bench_random(seed) % 7));
        const int exponent = (int)(bench_random(seed) % 4) - 1; /* 2: zero */
        const bool negative = bench_random(seed) % 2;
        m.element[i] = exponent == 2 ? 0 : (uint8_t)(negative << 7 | (exponent + 7) << 3);
        m.value[i] = exponent == 2 ? 0 : ldexpf(negative ? -1 : 1, exponent + m.scale[i / BLOCK] - BIAS);
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct matrix a, struct matrix b,
                                 float *want, float *got, const uint32_t size[3], char *why, size_t why_size) {
    const uint32_t rows = size[0], columns = size[1], k = size[2];
    uint64_t seed = 23, at[5];
    fill(a, (size_t)rows * k, &seed);
    fill(b, (size_t)columns * k, &seed);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            double sum = 0;
            for (uint32_t e = 0; e < k; e++)
                sum += (double)a.value[(size_t)i * k + e] * b.value[(size_t)j * k + e];
            want[(size_t)i * columns + j] = (float)sum;
        }
    const void *const from[] = {a.element, a.scale, b.element, b.scale, NULL};
    const uint64_t bytes[] = {(uint64_t)rows * k, (uint64_t)rows * k / BLOCK, (uint64_t)columns * k,
                              (uint64_t)columns * k / BLOCK, (uint64_t)rows * columns * sizeof *got};
    for (int i = 0; i < 5; i++)
        if (!(at[i] = bench_buffer(h, from[i], bytes[i])))
            return heddle_status(h);
    const struct heddle_dim grid = {columns / TILE, rows / TILE, 1}, block = {THREADS, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "gemm_mx", grid, block, BENCH_ARG(at[0]), BENCH_ARG(at[1]), BENCH_ARG(at[2]),
                     BENCH_ARG(at[3]), BENCH_ARG(at[4]), BENCH_ARG(columns), BENCH_ARG(k));
    if (s == HEDDLE_OK)
        s = heddle_read(h, at[4], got, bytes[4]);
    return s == HEDDLE_OK ? bench_compare(got, want, (size_t)rows * columns, 0, "product", why, why_size) : s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    static const uint32_t sizes[][3] = {{64, 128, 256}, {512, 512, 1024}};
    const uint32_t *n = sizes[size != BENCH_SMALL];
    const size_t cells[] = {(size_t)n[0] * n[2], (size_t)n[1] * n[2]}, results = (size_t)n[0] * n[1];
    struct matrix x[2];
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        x[i] = (struct matrix){malloc(cells[i]), malloc(cells[i] / BLOCK), malloc(cells[i] * sizeof *x[i].value)};
        ok = ok && x[i].element && x[i].scale && x[i].value;
    }
    float *want = malloc(results * sizeof *want), *got = malloc(results * sizeof *got);
    enum heddle_status s =
        ok && want && got ? run_on(h, m, x[0], x[1], want, got, n, why, why_size) : bench_no_memory(why, why_size);
    for (int i = 0; i < 2; i++) {
        free(x[i].element);
        free(x[i].scale);
        free(x[i].value);
    }
    free(want);
    free(got);
    return s;
}

const struct bench bench_gemm_mx = {
    "gemm_mx", "product of f8 matrices with a scale for each 32 elements; no divergence", "tensor", "gemm_mx.ptx", run,
};
