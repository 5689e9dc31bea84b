/* vecadd: c = a + b over n floats; n is not a multiple of the CTA size, so threads of the last CTA exit early.
 *   size small: n = 2^19 - 77, 0.36 M warp and 11 M thread instructions
 *   size paper: n = 2^22 - 77, 2.9 M warp and 88 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_vecadd;

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *a, float *b, float *c, uint32_t n,
                                 char *why, size_t why_size) {
    uint64_t seed = 1, bytes = (uint64_t)n * sizeof *a;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = bench_uniform(&seed, -1, 1);
        b[i] = bench_uniform(&seed, -1, 1);
    }
    uint64_t da = bench_buffer(h, a, bytes), db = bench_buffer(h, b, bytes), dc = bench_buffer(h, NULL, bytes);
    if (!da || !db || !dc)
        return heddle_status(h);
    struct heddle_dim block = {256, 1, 1}, grid = {(n + 255) / 256, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "vecadd", grid, block, BENCH_ARG(da), BENCH_ARG(db), BENCH_ARG(dc), BENCH_ARG(n));
    if (s != HEDDLE_OK || (s = heddle_read(h, dc, c, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < n; i++)
        a[i] += b[i];
    return bench_compare(c, a, n, 0, "c", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = (size == BENCH_SMALL ? 1u << 19 : 1u << 22) - 77;
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    enum heddle_status s = a && b && c ? run_on(h, m, a, b, c, n, why, why_size) : bench_no_memory(why, why_size);
    free(a);
    free(b);
    free(c);
    return s;
}

const struct bench bench_vecadd = {
    "vecadd", "sum of two vectors; one uniform branch, all memory", "classic dac", "vecadd.ptx", run,
};
