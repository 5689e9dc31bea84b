/* dct: two cosine transforms of a picture's tiles of 8 x 8 pixels (kernels/dct.cu), for comparison with a card. Pixels
 * are random numbers. The reference sums products of cosines in double and compares within a tolerance.
 *   size small: 64 x 32 pixels, less than 0.01 M warp instructions
 *   size paper: 256 x 256 pixels, 0.1 to 0.2 M warp instructions
 *   size card: 512 x 512 pixels, 0.2 to 0.8 M warp instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_dct_matrix, bench_dct_lines;

enum { SIDE = 8, WIDTH = 4 * SIDE, HEIGHT = 2 * SIDE };

/* The value of a frequency at a position. */
static double basis(uint32_t position, uint32_t frequency) {
    return (frequency ? 0.5 : sqrt(0.125)) * cos((2 * position + 1) * frequency * M_PI / (2 * SIDE));
}

static void reference(const float *in, float *want, uint32_t width, uint32_t height) {
    double base[SIDE][SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        base[i / SIDE][i % SIDE] = basis(i / SIDE, i % SIDE);
    for (uint32_t at = 0; at < width * height; at++) {
        const uint32_t u = at % width % SIDE, v = at / width % SIDE, corner = at - u - v * width;
        double sum = 0;
        for (uint32_t y = 0; y < SIDE; y++)
            for (uint32_t x = 0; x < SIDE; x++)
                sum += (double)in[corner + y * width + x] * base[x][u] * base[y][v];
        want[at] = (float)sum;
    }
}

static enum heddle_status matrix_launch(struct heddle *h, struct heddle_module *m, uint64_t in, uint64_t out,
                                        uint32_t width, uint32_t height) {
    float base[SIDE][SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        base[i / SIDE][i % SIDE] = (float)basis(i / SIDE, i % SIDE);
    const struct heddle_texture t = {.data = in, .width = width, .height = height, .format = HEDDLE_F32};
    const uint64_t texture = heddle_texture_object(h, &t), symbol = heddle_symbol(h, m, "dct_basis", NULL);
    const uint32_t none = 0;
    enum heddle_status s = texture && symbol ? heddle_write(h, symbol, base, sizeof base) : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "dct_matrix", ((struct heddle_dim){width / SIDE, height / SIDE, 1}),
                         ((struct heddle_dim){SIDE, SIDE, 1}), BENCH_ARG(out), BENCH_ARG(width), BENCH_ARG(none),
                         BENCH_ARG(none), BENCH_ARG(texture));
    return s;
}

static enum heddle_status lines_launch(struct heddle *h, struct heddle_module *m, uint64_t in, uint64_t out,
                                       uint32_t width, uint32_t height) {
    return BENCH_LAUNCH(h, m, "dct_lines", ((struct heddle_dim){width / WIDTH, height / HEIGHT, 1}),
                        ((struct heddle_dim){SIDE, WIDTH / SIDE, HEIGHT / SIDE}), BENCH_ARG(out), BENCH_ARG(in),
                        BENCH_ARG(width));
}

static enum heddle_status
run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why, size_t why_size,
    enum heddle_status (*launch)(struct heddle *, struct heddle_module *, uint64_t, uint64_t, uint32_t, uint32_t)) {
    const uint32_t width = bench_pick(size, 2, 8, 16) * WIDTH, height = bench_pick(size, width / 2, width, width);
    const size_t n = (size_t)width * height, bytes = n * sizeof(float);
    float *in = malloc(3 * bytes);
    uint64_t seed = 88;
    if (!in)
        return bench_no_memory(why, why_size);
    float *got = in + n, *want = got + n;
    bench_fill(in, n, &seed, -128, 127);
    reference(in, want, width, height);
    const uint64_t from = bench_buffer(h, in, bytes), to = bench_buffer(h, NULL, bytes);
    enum heddle_status s = from && to ? launch(h, m, from, to, width, height) : heddle_status(h);
    if (s == HEDDLE_OK && (s = heddle_read(h, to, got, bytes)) == HEDDLE_OK)
        s = bench_compare(got, want, n, 5e-4, "coefficient", why, why_size);
    free(in);
    return s;
}

static enum heddle_status matrix_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                     size_t why_size) {
    return run(h, m, size, why, why_size, matrix_launch);
}

static enum heddle_status lines_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    return run(h, m, size, why, why_size, lines_launch);
}

const struct bench bench_dct_matrix = {
    "dct_matrix", "cosine transform of tiles; a texture, and constants that differ in a warp", "public", "dct.ptx",
    matrix_run,
};

const struct bench bench_dct_lines = {
    "dct_lines", "cosine transform of tiles, a thread a line; bank conflicts, no divergence", "public", "dct.ptx",
    lines_run,
};
