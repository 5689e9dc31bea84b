/* qsort: arrays of random keys, many of them equal. The reference is the C library's qsort().
 *   size small: 200 arrays of 48 keys, 0.14 M warp and 0.92 M thread instructions
 *   size paper: 4,096 arrays of 128 keys, 12.5 M warp and 61 M thread instructions (60 M in the dual-path paper) */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_qsort;

enum { BLOCK = 64 };

static int order(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint32_t *want, uint32_t arrays,
                                 uint32_t keys, char *why, size_t why_size) {
    size_t all = (size_t)arrays * keys, bytes = all * sizeof *want;
    uint32_t *got = want + all;
    uint64_t seed = 50;
    for (size_t i = 0; i < all; i++)
        want[i] = (uint32_t)(bench_random(&seed) % 4096) << 20 |
                  0x5eed; /* The high bits are random, so that a signed comparison would sort wrongly. */
    uint64_t buffer = bench_buffer(h, want, bytes);
    if (!buffer)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(arrays, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "qsort_arrays", grid, block, BENCH_ARG(buffer), BENCH_ARG(arrays), BENCH_ARG(keys));
    if (s != HEDDLE_OK || (s = heddle_read(h, buffer, got, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < arrays; i++)
        qsort(want + (size_t)i * keys, keys, sizeof *want, order);
    return bench_compare_words(got, want, all, "key", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t arrays = size == BENCH_SMALL ? 200 : 4096, keys = size == BENCH_SMALL ? 48 : 128;
    uint32_t *both = calloc((size_t)arrays * keys, 2 * sizeof *both);
    enum heddle_status s = both ? run_on(h, m, both, arrays, keys, why, why_size) : bench_no_memory(why, why_size);
    free(both);
    return s;
}

const struct bench bench_qsort = {
    "qsort", "sorting, an array a thread; loops and if and else of every lane's own", "dual-path", "qsort.ptx", run,
};
