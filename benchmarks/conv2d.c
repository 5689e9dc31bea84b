/* conv2d: a 3 x 3 convolution. The reference is the same sum with fma in the kernel's order.
 *   size small: 200 x 110, 0.05 M warp and 1.5 M thread instructions
 *   size paper: 1024 x 1024, 2.2 M warp and 68 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_conv2d;

static void reference(const float *in, float *out, uint32_t width, uint32_t height) {
    static const float c[3][3] = {{0.2f, 0.5f, -0.8f}, {-0.3f, 0.6f, -0.9f}, {0.4f, 0.7f, 0.1f}};
    for (uint32_t y = 1; y + 1 < height; y++)
        for (uint32_t x = 1; x + 1 < width; x++) {
            float sum = 0; /* the first fma adds to 0 and thus gives the product, rounded once, as in the kernel */
            for (uint32_t i = 0; i < 9; i++)
                sum = fmaf(c[i / 3][i % 3], in[(size_t)(y + i / 3 - 1) * width + x + i % 3 - 1], sum);
            out[(size_t)y * width + x] = sum;
        }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *in, uint32_t width, uint32_t height,
                                 char *why, size_t why_size) {
    size_t cells = (size_t)width * height, bytes = cells * sizeof *in;
    float *want = in + cells, *got = want + cells;
    uint64_t seed = 16;
    bench_fill(in, cells, &seed, 0, 1);
    uint64_t din = bench_buffer(h, in, bytes), dout = bench_buffer(h, NULL, bytes);
    if (!din || !dout || heddle_clear(h, dout, bytes) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(width, 32), bench_blocks(height, 8), 1}, block = {32, 8, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "conv2d", grid, block, BENCH_ARG(din), BENCH_ARG(dout), BENCH_ARG(width), BENCH_ARG(height));
    if (s != HEDDLE_OK || (s = heddle_read(h, dout, got, bytes)) != HEDDLE_OK)
        return s;
    reference(in, want, width, height);
    return bench_compare(got, want, cells, 0, "pixel", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t width = size == BENCH_SMALL ? 200 : 1024, height = size == BENCH_SMALL ? 110 : 1024;
    float *all = calloc((size_t)width * height * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, width, height, why, why_size);
    free(all);
    return s;
}

const struct bench bench_conv2d = {
    "conv2d", "3 x 3 convolution; an if without else at the border", "dac", "conv2d.ptx", run,
};
