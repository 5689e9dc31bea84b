/* srad: removes speckles from an image. Pixels are uniform in [1, e), because the kernels work on the exponential of a
 * picture with values from 0 to 1. The reference rounds where the kernels do, so results are equal bit for bit.
 *   size small: 64 x 48, 2 steps, 0.06 M warp and 1.6 M thread instructions
 *   size paper: 512 x 512, 2 steps, 5.0 M warp and 138 M thread instructions (Rodinia: 2048 x 2048) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_srad;

enum { TILE = 16 };
static const float lambda = 0.5f;

struct picture {
    uint32_t rows, columns, steps;
    float *image, *c, *n, *s, *w, *e, *got; /* rows x columns each */
};

/* Returns the variance of the upper left quarter of the image, divided by its squared mean. */
static float speckle(const struct picture *p, const float *image) {
    double sum = 0, sum2 = 0, n = (double)(p->rows / 2) * (p->columns / 2);
    for (uint32_t y = 0; y < p->rows / 2; y++)
        for (uint32_t x = 0; x < p->columns / 2; x++) {
            double v = (double)image[(size_t)y * p->columns + x];
            sum += v;
            sum2 += v * v;
        }
    double mean = sum / n;
    return (float)((sum2 / n - mean * mean) / (mean * mean));
}

static float coefficient(float here, float n, float s, float w, float e, float q0) {
    float g2 = fmaf(e, e, fmaf(w, w, fmaf(s, s, n * n))) / (here * here), l = (n + s + w + e) / here;
    float above = fmaf(0.5f, g2, -(1.0f / 16 * (l * l))), below = fmaf(0.25f, l, 1);
    float q = above / (below * below), c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static void step(struct picture *p, float q0) {
    size_t columns = p->columns, cells = columns * p->rows;
    for (size_t i = 0; i < cells; i++) {
        size_t x = i % columns, y = i / columns;
        float here = p->image[i];
        p->n[i] = (y ? p->image[i - columns] : here) - here;
        p->s[i] = (y + 1 < p->rows ? p->image[i + columns] : here) - here;
        p->w[i] = (x ? p->image[i - 1] : here) - here;
        p->e[i] = (x + 1 < columns ? p->image[i + 1] : here) - here;
        p->c[i] = coefficient(here, p->n[i], p->s[i], p->w[i], p->e[i], q0);
    }
    for (size_t i = 0; i < cells; i++) {
        float c = p->c[i], south = i / columns + 1 < p->rows ? p->c[i + columns] : c;
        float east = i % columns + 1 < columns ? p->c[i + 1] : c;
        float d = fmaf(east, p->e[i], fmaf(c, p->w[i], fmaf(south, p->s[i], c * p->n[i])));
        p->image[i] = fmaf(0.25f * lambda, d, p->image[i]);
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct picture *p, char *why,
                                 size_t why_size) {
    size_t cells = (size_t)p->rows * p->columns, bytes = cells * sizeof(float);
    uint64_t seed = 30;
    bench_fill(p->image, cells, &seed, 1, 2.718f);
    memcpy(p->got, p->image, bytes);
    uint64_t image = bench_buffer(h, p->image, bytes), c = bench_buffer(h, NULL, bytes);
    uint64_t n = bench_buffer(h, NULL, bytes), s = bench_buffer(h, NULL, bytes);
    uint64_t w = bench_buffer(h, NULL, bytes), e = bench_buffer(h, NULL, bytes);
    if (!image || !c || !n || !s || !w || !e)
        return heddle_status(h);
    struct heddle_dim grid = {p->columns / TILE, p->rows / TILE, 1}, block = {TILE, TILE, 1};
    for (uint32_t i = 0; i < p->steps; i++) {
        float q0 = speckle(p, p->got);
        step(p, speckle(p, p->image));
        enum heddle_status status =
            BENCH_LAUNCH(h, m, "srad_gradient", grid, block, BENCH_ARG(e), BENCH_ARG(w), BENCH_ARG(n), BENCH_ARG(s),
                         BENCH_ARG(image), BENCH_ARG(c), BENCH_ARG(p->columns), BENCH_ARG(q0));
        if (status == HEDDLE_OK)
            status =
                BENCH_LAUNCH(h, m, "srad_update", grid, block, BENCH_ARG(e), BENCH_ARG(w), BENCH_ARG(n), BENCH_ARG(s),
                             BENCH_ARG(image), BENCH_ARG(c), BENCH_ARG(p->columns), BENCH_ARG(lambda));
        if (status != HEDDLE_OK || (status = heddle_read(h, image, p->got, bytes)) != HEDDLE_OK)
            return status;
    }
    return bench_compare(p->got, p->image, cells, 0, "pixel", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct picture p = {.rows = 48, .columns = 64, .steps = 2};
    if (size != BENCH_SMALL)
        p = (struct picture){.rows = 512, .columns = 512, .steps = 2};
    size_t cells = (size_t)p.rows * p.columns;
    float *all = calloc(cells * 7, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    float **const arrays[] = {&p.image, &p.c, &p.n, &p.s, &p.w, &p.e, &p.got};
    for (size_t i = 0; i < 7; i++)
        *arrays[i] = all + i * cells;
    enum heddle_status s = run_on(h, m, &p, why, why_size);
    free(all);
    return s;
}

const struct bench bench_srad = {
    "srad", "image diffusion; chains of if-else at the edges of tiles, barriers", "pepsc dac", "srad.ptx", run,
};
