/* gaussian: forward elimination of a diagonally dominant system, two launches per column. The reference is the same
 * loop with fma in the kernels' order, so results are equal bit for bit.
 *   size small: n = 30, 58 launches, 0.06 M warp and 0.98 M thread instructions
 *   size paper: n = 192, 382 launches, 12 M warp and 194 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_gaussian;

static void reference(float *a, float *b, uint32_t n) {
    for (uint32_t t = 0; t + 1 < n; t++)
        for (uint32_t i = t + 1; i < n; i++) {
            float m = a[(size_t)i * n + t] / a[(size_t)t * n + t];
            for (uint32_t j = t; j < n; j++)
                a[(size_t)i * n + j] = fmaf(-m, a[(size_t)t * n + j], a[(size_t)i * n + j]);
            b[i] = fmaf(-m, b[t], b[i]);
        }
}

static enum heddle_status eliminate(struct heddle *h, struct heddle_module *m, uint64_t ratios, uint64_t a, uint64_t b,
                                    uint32_t n) {
    struct heddle_dim line = {512, 1, 1}, lines = {bench_blocks(n, 512), 1, 1};
    struct heddle_dim tile = {4, 4, 1}, tiles = {bench_blocks(n, 4), bench_blocks(n, 4), 1};
    for (uint32_t t = 0; t + 1 < n; t++) {
        enum heddle_status s = BENCH_LAUNCH(h, m, "gaussian_ratio", lines, line, BENCH_ARG(ratios), BENCH_ARG(a),
                                            BENCH_ARG(n), BENCH_ARG(t));
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "gaussian_subtract", tiles, tile, BENCH_ARG(ratios), BENCH_ARG(a), BENCH_ARG(b),
                             BENCH_ARG(n), BENCH_ARG(t));
        if (s != HEDDLE_OK)
            return s;
    }
    return HEDDLE_OK;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *a, uint32_t n, char *why,
                                 size_t why_size) {
    size_t cells = (size_t)n * n, bytes = cells * sizeof *a;
    float *b = a + cells, *got = b + n;
    uint64_t seed = 21;
    bench_fill(a, cells + n, &seed, -1, 1);
    for (uint32_t i = 0; i < n; i++)
        a[(size_t)i * n + i] += (float)n;
    uint64_t da = bench_buffer(h, a, bytes), db = bench_buffer(h, b, n * sizeof *b);
    uint64_t ratios = bench_buffer(h, NULL, bytes);
    if (!da || !db || !ratios)
        return heddle_status(h);
    enum heddle_status s = eliminate(h, m, ratios, da, db, n);
    reference(a, b, n);
    if (s != HEDDLE_OK || (s = heddle_read(h, da, got, bytes)) != HEDDLE_OK ||
        (s = bench_compare(got, a, cells, 0, "a", why, why_size)) != HEDDLE_OK ||
        (s = heddle_read(h, db, got, n * sizeof *b)) != HEDDLE_OK)
        return s;
    return bench_compare(got, b, n, 0, "b", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 30 : 192;
    float *all = calloc((size_t)n * (2 * n + 1), sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, n, why, why_size);
    free(all);
    return s;
}

const struct bench bench_gaussian = {
    "gaussian", "elimination; many launches, early returns, half warps", "dac", "gaussian.ptx", run,
};
