/* transpose: three kernels transpose a height x width matrix, and each result is checked.
 *   size small: 256 x 128, 0.04 M warp and 1.2 M thread instructions
 *   size paper: 1024 x 1024 as in the samples, 1.2 M warp and 39 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_transpose;

enum { TILE = 32, ROWS = 8 };

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *in, uint32_t width, uint32_t height,
                                 char *why, size_t why_size) {
    static const char *const kernels[] = {"transpose_naive", "transpose_tiled", "transpose_padded"};
    size_t cells = (size_t)width * height, bytes = cells * sizeof *in;
    float *want = in + cells, *got = want + cells;
    uint64_t seed = 14;
    bench_fill(in, cells, &seed, -1, 1);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            want[(size_t)x * height + y] = in[(size_t)y * width + x];
    uint64_t din = bench_buffer(h, in, bytes), dout = bench_buffer(h, NULL, bytes);
    if (!din || !dout)
        return heddle_status(h);
    struct heddle_dim grid = {width / TILE, height / TILE, 1}, block = {TILE, ROWS, 1};
    enum heddle_status s = HEDDLE_OK;
    for (size_t k = 0; s == HEDDLE_OK && k < sizeof kernels / sizeof kernels[0]; k++) {
        s = heddle_clear(h, dout, bytes);
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, kernels[k], grid, block, BENCH_ARG(dout), BENCH_ARG(din), BENCH_ARG(width),
                             BENCH_ARG(height));
        if (s == HEDDLE_OK)
            s = heddle_read(h, dout, got, bytes);
        if (s == HEDDLE_OK)
            s = bench_compare(got, want, cells, 0, kernels[k], why, why_size);
    }
    return s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t width = size == BENCH_SMALL ? 256 : 1024, height = size == BENCH_SMALL ? 128 : 1024;
    float *all = calloc((size_t)width * height * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, width, height, why, why_size);
    free(all);
    return s;
}

const struct bench bench_transpose = {
    "transpose", "of a matrix, naive and in shared-memory tiles; no divergence, all memory", "dac", "transpose.ptx",
    run,
};
