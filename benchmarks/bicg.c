/* bicg: the two matrix-vector products of the biconjugate gradient method. The reference adds with fma in the
 * kernels' order.
 *   size small: 180 x 140, 0.02 M warp and 0.46 M thread instructions
 *   size paper: 2048 x 2048, 2.4 M warp and 76 M thread instructions (PolyBench: 4096 x 4096) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_bicg;

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *a, uint32_t nx, uint32_t ny,
                                 char *why, size_t why_size) {
    uint64_t seed = 19, rows = nx * sizeof *a, columns = ny * sizeof *a;
    float *p = a + (size_t)nx * ny, *r = p + ny, *q = r + nx, *s = q + nx, *got = s + ny;
    /* the call also fills the vectors p and r, which follow the matrix in memory */
    bench_fill(a, (size_t)nx * ny + nx + ny, &seed, -1, 1);
    uint64_t da = bench_buffer(h, a, nx * columns), dp = bench_buffer(h, p, columns), dr = bench_buffer(h, r, rows);
    uint64_t dq = bench_buffer(h, NULL, rows), ds = bench_buffer(h, NULL, columns);
    if (!da || !dp || !dr || !dq || !ds)
        return heddle_status(h);
    struct heddle_dim grid_q = {bench_blocks(nx, 256), 1, 1}, grid_s = {bench_blocks(ny, 256), 1, 1};
    struct heddle_dim block = {256, 1, 1};
    enum heddle_status status = BENCH_LAUNCH(h, m, "bicg_q", grid_q, block, BENCH_ARG(da), BENCH_ARG(dp), BENCH_ARG(dq),
                                             BENCH_ARG(nx), BENCH_ARG(ny));
    if (status == HEDDLE_OK)
        status = BENCH_LAUNCH(h, m, "bicg_s", grid_s, block, BENCH_ARG(da), BENCH_ARG(dr), BENCH_ARG(ds), BENCH_ARG(nx),
                              BENCH_ARG(ny));
    for (uint32_t i = 0; i < nx; i++)
        for (uint32_t j = 0; j < ny; j++) {
            q[i] = fmaf(a[(size_t)i * ny + j], p[j], q[i]);
            s[j] = fmaf(a[(size_t)i * ny + j], r[i], s[j]);
        }
    if (status != HEDDLE_OK || (status = heddle_read(h, dq, got, rows)) != HEDDLE_OK ||
        (status = bench_compare(got, q, nx, 0, "q", why, why_size)) != HEDDLE_OK ||
        (status = heddle_read(h, ds, got, columns)) != HEDDLE_OK)
        return status;
    return bench_compare(got, s, ny, 0, "s", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t nx = size == BENCH_SMALL ? 180 : 2048, ny = size == BENCH_SMALL ? 140 : 2048;
    float *all = calloc((size_t)nx * ny + 3 * nx + 3 * ny, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, nx, ny, why, why_size);
    free(all);
    return s;
}

const struct bench bench_bicg = {
    "bicg", "products with a matrix and its transpose, from 0; uniform loops, a store a step", "dac", "bicg.ptx", run,
};
