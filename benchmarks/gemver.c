/* gemver: a rank-2 update and two matrix-vector products. The reference adds with fma in the kernels' order.
 *   size small: n = 168, 0.06 M warp and 1.7 M thread instructions
 *   size paper: n = 2048, 7.7 M warp and 243 M thread instructions (PolyBench: n = 4096) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_gemver;

struct gemver {
    uint32_t n;
    float alpha, beta;
    float *a;                                 /* n x n */
    float *u1, *v1, *u2, *v2, *y, *z, *x, *w; /* n each */
    float *got;                               /* n x n */
};

static void reference(struct gemver *g) {
    uint32_t n = g->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            float *a = g->a + (size_t)i * n + j;
            *a = fmaf(g->u2[i], g->v2[j], fmaf(g->u1[i], g->v1[j], *a));
        }
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++)
            g->x[i] = fmaf(g->beta * g->a[(size_t)j * n + i], g->y[j], g->x[i]);
    for (uint32_t i = 0; i < n; i++)
        g->x[i] += g->z[i];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            g->w[i] = fmaf(g->alpha * g->a[(size_t)i * n + j], g->x[j], g->w[i]);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct gemver *g, char *why,
                                 size_t why_size) {
    uint32_t n = g->n;
    uint64_t seed = 17, line = n * sizeof(float), square = n * line;
    /* the call also fills the eight vectors that follow the matrix in memory */
    bench_fill(g->a, (size_t)n * (n + 8), &seed, -1, 1);
    uint64_t a = bench_buffer(h, g->a, square), u1 = bench_buffer(h, g->u1, line), v1 = bench_buffer(h, g->v1, line);
    uint64_t u2 = bench_buffer(h, g->u2, line), v2 = bench_buffer(h, g->v2, line), y = bench_buffer(h, g->y, line);
    uint64_t z = bench_buffer(h, g->z, line), x = bench_buffer(h, g->x, line), w = bench_buffer(h, g->w, line);
    if (!a || !u1 || !v1 || !u2 || !v2 || !y || !z || !x || !w)
        return heddle_status(h);
    struct heddle_dim tiles = {bench_blocks(n, 32), bench_blocks(n, 8), 1}, tile = {32, 8, 1};
    struct heddle_dim grid = {bench_blocks(n, 256), 1, 1}, block = {256, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "gemver_rank2", tiles, tile, BENCH_ARG(a), BENCH_ARG(u1), BENCH_ARG(v1),
                                        BENCH_ARG(u2), BENCH_ARG(v2), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "gemver_x", grid, block, BENCH_ARG(a), BENCH_ARG(x), BENCH_ARG(y), BENCH_ARG(z),
                         BENCH_ARG(g->beta), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "gemver_w", grid, block, BENCH_ARG(a), BENCH_ARG(x), BENCH_ARG(w), BENCH_ARG(g->alpha),
                         BENCH_ARG(n));
    reference(g);
    if (s != HEDDLE_OK || (s = heddle_read(h, a, g->got, square)) != HEDDLE_OK ||
        (s = bench_compare(g->got, g->a, (size_t)n * n, 0, "A", why, why_size)) != HEDDLE_OK ||
        (s = heddle_read(h, x, g->got, line)) != HEDDLE_OK ||
        (s = bench_compare(g->got, g->x, n, 0, "x", why, why_size)) != HEDDLE_OK ||
        (s = heddle_read(h, w, g->got, line)) != HEDDLE_OK)
        return s;
    return bench_compare(g->got, g->w, n, 0, "w", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct gemver g = {.n = size == BENCH_SMALL ? 168 : 2048, .alpha = 1.5f, .beta = 1.2f};
    size_t n = g.n, square = n * n;
    float *all = calloc(2 * square + 8 * n, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    float **const lines[] = {&g.u1, &g.v1, &g.u2, &g.v2, &g.y, &g.z, &g.x, &g.w};
    g.a = all;
    for (size_t i = 0; i < 8; i++)
        *lines[i] = all + square + i * n;
    g.got = all + square + 8 * n;
    enum heddle_status s = run_on(h, m, &g, why, why_size);
    free(all);
    return s;
}

const struct bench bench_gemver = {
    "gemver", "rank-2 update, products with a matrix and its transpose; uniform loops", "dac", "gemver.ptx", run,
};
