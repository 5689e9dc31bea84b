/* reduction: the sum of n floats. 64 blocks of 256 threads sum parts, and one more block adds up their sums. The
 * reference adds in the kernel's order.
 *   size small: n = 2^20, 0.24 M warp and 7.6 M thread instructions
 *   size paper: n = 2^24, 3.2 M warp and 102 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_reduction;

enum { BLOCKS = 64, THREADS = 256 };

/* Returns the sum that block `block` of `blocks` writes. */
static float block_sum(const float *in, uint32_t n, uint32_t block, uint32_t blocks) {
    float part[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        part[t] = 0;
        for (uint32_t i = block * THREADS + t; i < n; i += blocks * THREADS)
            part[t] += in[i];
    }
    for (uint32_t half = THREADS / 2; half; half /= 2)
        for (uint32_t t = 0; t < half; t++)
            part[t] += part[t + half];
    return part[0];
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *in, uint32_t n, char *why,
                                 size_t why_size) {
    uint64_t seed = 3;
    for (uint32_t i = 0; i < n; i++)
        in[i] = bench_uniform(&seed, 0, 1);
    float want[BLOCKS + 1], got[BLOCKS + 1];
    for (uint32_t b = 0; b < BLOCKS; b++)
        want[b] = block_sum(in, n, b, BLOCKS);
    want[BLOCKS] = block_sum(want, BLOCKS, 0, 1);

    uint64_t din = bench_buffer(h, in, (uint64_t)n * sizeof *in), dout = bench_buffer(h, NULL, sizeof got);
    if (!din || !dout)
        return heddle_status(h);
    uint64_t dtotal = dout + BLOCKS * sizeof(float);
    uint32_t blocks = BLOCKS;
    struct heddle_dim block = {THREADS, 1, 1}, grid = {BLOCKS, 1, 1}, one = {1, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "reduction", grid, block, BENCH_ARG(din), BENCH_ARG(dout), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "reduction", one, block, BENCH_ARG(dout), BENCH_ARG(dtotal), BENCH_ARG(blocks));
    if (s != HEDDLE_OK || (s = heddle_read(h, dout, got, sizeof got)) != HEDDLE_OK)
        return s;
    return bench_compare(got, want, BLOCKS + 1, 0, "sum", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 1u << 20 : 1u << 24;
    float *in = malloc(n * sizeof *in);
    if (!in)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, in, n, why, why_size);
    free(in);
    return s;
}

const struct bench bench_reduction = {
    "reduction", "sum in a shared-memory tree; threads drop out by halves, barriers", "classic dac", "reduction.ptx",
    run,
};
