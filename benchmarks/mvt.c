/* mvt: products of a matrix and of its transpose with vectors. The reference adds with fma in the kernels' order.
 *   size small: n = 168, 0.02 M warp and 0.52 M thread instructions
 *   size paper: n = 2048, 2.4 M warp and 76 M thread instructions (PolyBench: n = 4096) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_mvt;

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *a, uint32_t n, char *why,
                                 size_t why_size) {
    uint64_t seed = 18, line = n * sizeof *a;
    float *x1 = a + (size_t)n * n, *x2 = x1 + n, *y1 = x2 + n, *y2 = y1 + n, *got = y2 + n;
    /* the call also fills the four vectors that follow the matrix in memory */
    bench_fill(a, (size_t)n * (n + 4), &seed, -1, 1);
    uint64_t da = bench_buffer(h, a, n * line), dx1 = bench_buffer(h, x1, line), dx2 = bench_buffer(h, x2, line);
    uint64_t dy1 = bench_buffer(h, y1, line), dy2 = bench_buffer(h, y2, line);
    if (!da || !dx1 || !dx2 || !dy1 || !dy2)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(n, 256), 1, 1}, block = {256, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "mvt_rows", grid, block, BENCH_ARG(da), BENCH_ARG(dx1), BENCH_ARG(dy1), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "mvt_columns", grid, block, BENCH_ARG(da), BENCH_ARG(dx2), BENCH_ARG(dy2), BENCH_ARG(n));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            x1[i] = fmaf(a[(size_t)i * n + j], y1[j], x1[i]);
            x2[j] = fmaf(a[(size_t)i * n + j], y2[i], x2[j]);
        }
    if (s != HEDDLE_OK || (s = heddle_read(h, dx1, got, line)) != HEDDLE_OK ||
        (s = bench_compare(got, x1, n, 0, "x1", why, why_size)) != HEDDLE_OK ||
        (s = heddle_read(h, dx2, got, line)) != HEDDLE_OK)
        return s;
    return bench_compare(got, x2, n, 0, "x2", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 168 : 2048;
    float *all = calloc((size_t)n * (n + 5), sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, n, why, why_size);
    free(all);
    return s;
}

const struct bench bench_mvt = {
    "mvt", "products with a matrix and its transpose; uniform loops, a store a step", "dac", "mvt.ptx", run,
};
