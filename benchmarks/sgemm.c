/* sgemm: C = A * B for square matrices, with tiles of 16 x 16 elements in shared memory. The reference adds with fma in
 * the kernel's order.
 *   size small: n = 128, 0.26 M warp and 8.4 M thread instructions
 *   size paper: n = 256, 2.0 M warp and 64 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_sgemm;

/* Multiplies row by row, with k in the outer loop and j in the inner loop: each element still adds its products in
 * the order of k. */
static void reference(const float *a, const float *b, float *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < n; j++)
                c[i * n + j] = fmaf(a[i * n + k], b[k * n + j], c[i * n + j]);
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *a, float *b, float *got, float *want,
                                 uint32_t n, char *why, size_t why_size) {
    uint64_t seed = 2, bytes = (uint64_t)n * n * sizeof *a;
    for (uint32_t i = 0; i < n * n; i++) {
        a[i] = bench_uniform(&seed, -1, 1);
        b[i] = bench_uniform(&seed, -1, 1);
    }
    uint64_t da = bench_buffer(h, a, bytes), db = bench_buffer(h, b, bytes), dc = bench_buffer(h, NULL, bytes);
    if (!da || !db || !dc)
        return heddle_status(h);
    struct heddle_dim block = {16, 16, 1}, grid = {n / 16, n / 16, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "sgemm", grid, block, BENCH_ARG(da), BENCH_ARG(db), BENCH_ARG(dc), BENCH_ARG(n));
    if (s != HEDDLE_OK || (s = heddle_read(h, dc, got, bytes)) != HEDDLE_OK)
        return s;
    reference(a, b, want, n);
    return bench_compare(got, want, (size_t)n * n, 0, "C", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 128 : 256;
    float *all = calloc((size_t)n * n * 4, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    size_t each = (size_t)n * n;
    enum heddle_status s = run_on(h, m, all, all + each, all + 2 * each, all + 3 * each, n, why, why_size);
    free(all);
    return s;
}

const struct bench bench_sgemm = {
    "sgemm", "matrix product in shared-memory tiles; uniform, barriers, arithmetic", "classic dac", "sgemm.ptx", run,
};
