/* card: the work of four public programs with their arithmetic (kernels/card.cu), for comparison with a card. Inputs
 * are uniform random numbers. References are loops in C.
 *   size small: less than 0.3 M warp instructions each
 *   size paper: parts of size card, 1 to 8 M warp instructions
 *   size card: card_backprop of 65,536 inputs, card_hotspot of 1,024 x 1,024 cells and two steps, card_kmeans of
 *     819,200 points, card_mriq of 262,144 voxels and 1,024 samples, 3 to 170 M warp instructions */
#include "bench.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_card_backprop, bench_card_hotspot, bench_card_kmeans, bench_card_mriq;

/* ---- card_backprop ---- */

enum { UNITS = 16, ROW = UNITS + 1 };

struct net {
    uint32_t inputs;
    float *input, *weight, *before, *got, *partial, *want;
    float delta[ROW];
};

static void layer_reference(const struct net *n) {
    for (uint32_t block = 0; block < n->inputs / UNITS; block++)
        for (uint32_t unit = 0; unit < UNITS; unit++) {
            double sum = 0;
            for (uint32_t y = block * UNITS + 1; y <= (block + 1) * UNITS; y++)
                sum += (double)n->weight[y * ROW + unit + 1] * (double)n->input[y];
            n->want[block * UNITS + unit] = (float)sum;
        }
}

static void adjust_reference(const struct net *n) {
    for (uint32_t y = 0; y <= n->inputs; y++)
        for (uint32_t x = 1; x <= UNITS; x++) {
            const size_t at = (size_t)y * ROW + x;
            const double in = y ? (double)n->input[y] : 1;
            n->weight[at] =
                (float)((double)n->weight[at] + 0.3 * (double)n->delta[x] * in + 0.3 * (double)n->before[at]);
        }
}

static enum heddle_status backprop_on(struct heddle *h, struct heddle_module *m, struct net *n, char *why,
                                      size_t why_size) {
    const uint64_t weights = (uint64_t)(n->inputs + 1) * ROW, bytes = weights * sizeof(float);
    uint64_t seed = 71;
    bench_fill(n->input, n->inputs + 1, &seed, -1, 1);
    bench_fill(n->weight, weights, &seed, -0.1f, 0.1f);
    bench_fill(n->before, weights, &seed, -0.01f, 0.01f);
    bench_fill(n->delta, ROW, &seed, -1, 1);
    const uint64_t input = bench_buffer(h, n->input, (n->inputs + 1) * sizeof *n->input);
    const uint64_t weight = bench_buffer(h, n->weight, bytes), before = bench_buffer(h, n->before, bytes);
    const uint64_t partial = bench_buffer(h, NULL, n->inputs * sizeof *n->partial);
    const uint64_t delta = bench_buffer(h, n->delta, sizeof n->delta);
    if (!input || !weight || !before || !partial || !delta)
        return heddle_status(h);
    const struct heddle_dim grid = {1, n->inputs / UNITS, 1}, block = {UNITS, UNITS, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "card_layer", grid, block, BENCH_ARG(input), BENCH_ARG(weight), BENCH_ARG(partial));
    if (s != HEDDLE_OK || (s = heddle_read(h, partial, n->partial, n->inputs * sizeof *n->partial)) != HEDDLE_OK)
        return s;
    layer_reference(n);
    s = bench_compare(n->partial, n->want, n->inputs, 1e-5, "partial sum", why, why_size);
    /* card_layer overwrote the weights with products */
    if (s != HEDDLE_OK || (s = heddle_write(h, weight, n->weight, bytes)) != HEDDLE_OK)
        return s;
    s = BENCH_LAUNCH(h, m, "card_adjust", grid, block, BENCH_ARG(delta), BENCH_ARG(input), BENCH_ARG(weight),
                     BENCH_ARG(before));
    if (s != HEDDLE_OK || (s = heddle_read(h, weight, n->got, bytes)) != HEDDLE_OK)
        return s;
    adjust_reference(n);
    return bench_compare(n->got, n->weight, weights, 1e-6, "weight", why, why_size);
}

static enum heddle_status backprop_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                       size_t why_size) {
    struct net n = {.inputs = bench_pick(size, 1024, 16384, 65536)};
    const size_t rows = n.inputs + 1, weights = rows * ROW;
    n.input = calloc(3 * rows + 3 * weights, sizeof *n.input);
    if (!n.input)
        return bench_no_memory(why, why_size);
    n.partial = n.input + rows, n.want = n.partial + rows, n.weight = n.want + rows;
    n.before = n.weight + weights, n.got = n.before + weights;
    enum heddle_status s = backprop_on(h, m, &n, why, why_size);
    free(n.input);
    return s;
}

const struct bench bench_card_backprop = {
    "card_backprop", "backprop with remainders, special functions and f64", "public", "card.ptx", backprop_run,
};

/* ---- card_hotspot ---- */

enum { TILE = 16, STEPS = 2 };
/* of a step; of a cell; resistances to the neighbours and to the sink */
static const float duration = 0.5f, capacity = 5, across = 5, along = 20 / 3.0f, sink = 20;

/* Computes one step from `from` into `to`. A cell at the border of the chip is its own neighbour there. */
static void heat_step(const float *power, const float *from, float *to, uint32_t side) {
    for (uint32_t y = 0, at = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++, at++) {
            const double t = (double)from[at], n = (double)from[y ? at - side : at],
                         s = (double)from[y + 1 < side ? at + side : at], w = (double)from[x ? at - 1 : at],
                         e = (double)from[x + 1 < side ? at + 1 : at];
            to[at] = (float)(t + (double)duration / (double)capacity *
                                     ((double)power[at] + (s + n - 2 * t) / (double)along +
                                      (e + w - 2 * t) / (double)across + (80 - t) / (double)sink));
        }
}

static enum heddle_status hotspot_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                      size_t why_size) {
    const uint32_t side = bench_pick(size, 64, 256, 1024), steps = STEPS, n = side * side;
    float *power = malloc(5 * n * sizeof *power);
    if (!power)
        return bench_no_memory(why, why_size);
    float *from = power + n, *got = from + n, *half = got + n, *want = half + n;
    uint64_t seed = 72;
    bench_fill(power, n, &seed, 0, 1);
    bench_fill(from, n, &seed, 70, 90);
    const uint64_t bytes = n * sizeof *power, at_power = bench_buffer(h, power, bytes);
    const uint64_t at_from = bench_buffer(h, from, bytes), to = bench_buffer(h, NULL, bytes);
    enum heddle_status s = at_power && at_from && to ? HEDDLE_OK : heddle_status(h);
    const uint32_t tiles = bench_blocks(side, TILE - 2 * STEPS);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "card_heat", ((struct heddle_dim){tiles, tiles, 1}),
                         ((struct heddle_dim){TILE, TILE, 1}), BENCH_ARG(at_power), BENCH_ARG(at_from), BENCH_ARG(to),
                         BENCH_ARG(side), BENCH_ARG(side), BENCH_ARG(steps), BENCH_ARG(capacity), BENCH_ARG(across),
                         BENCH_ARG(along), BENCH_ARG(sink), BENCH_ARG(duration));
    if (s == HEDDLE_OK)
        s = heddle_read(h, to, got, bytes);
    heat_step(power, from, half, side);
    heat_step(power, half, want, side);
    if (s == HEDDLE_OK)
        s = bench_compare(got, want, n, 1e-6, "temperature", why, why_size);
    free(power);
    return s;
}

const struct bench bench_card_hotspot = {
    "card_hotspot", "hotspot partly in f64; tiles with a ring of idle threads", "public", "card.ptx", hotspot_run,
};

/* ---- card_kmeans ---- */

enum { CENTRES = 5, FEATURES = 34, BLOCK = 256 };

static uint32_t nearest(const float *data, uint32_t points, uint32_t point, const float *centres) {
    uint32_t best = 0;
    float least = FLT_MAX;
    for (uint32_t c = 0; c < CENTRES; c++) {
        float distance = 0;
        for (uint32_t f = 0; f < FEATURES; f++) {
            const float d = data[(size_t)f * points + point] - centres[c * FEATURES + f];
            distance = fmaf(d, d, distance);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static enum heddle_status kmeans_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                     size_t why_size) {
    const uint32_t points = bench_pick(size, 1000, 50000, 819200), features = FEATURES, centres = CENTRES;
    const size_t n = (size_t)points * FEATURES;
    float centre[CENTRES * FEATURES], *data = malloc(n * sizeof *data);
    uint32_t *want = malloc(2 * points * sizeof *want);
    if (!data || !want) {
        free(data);
        free(want);
        return bench_no_memory(why, why_size);
    }
    uint32_t *got = want + points;
    uint64_t seed = 73;
    bench_fill(centre, CENTRES * FEATURES, &seed, 0, 10);
    bench_fill(data, n, &seed, 0, 10);
    const struct heddle_texture t = {
        .data = bench_buffer(h, data, n * sizeof *data), .width = (uint32_t)n, .format = HEDDLE_F32};
    const uint64_t texture = t.data ? heddle_texture_object(h, &t) : 0, to = bench_buffer(h, NULL, points * 4ull);
    const uint64_t symbol = heddle_symbol(h, m, "card_centres", NULL);
    enum heddle_status s = texture && to && symbol ? heddle_write(h, symbol, centre, sizeof centre) : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "card_nearest", ((struct heddle_dim){bench_blocks(points, BLOCK), 1, 1}),
                         ((struct heddle_dim){BLOCK, 1, 1}), BENCH_ARG(texture), BENCH_ARG(to), BENCH_ARG(points),
                         BENCH_ARG(features), BENCH_ARG(centres));
    if (s == HEDDLE_OK)
        s = heddle_read(h, to, got, points * sizeof *got);
    for (uint32_t i = 0; i < points; i++)
        want[i] = nearest(data, points, i, centre);
    if (s == HEDDLE_OK)
        s = bench_compare_words(got, want, points, "cluster", why, why_size);
    free(data);
    free(want);
    return s;
}

const struct bench bench_card_kmeans = {
    "card_kmeans", "the nearest of five centres; points in a texture, centres in constant memory", "public", "card.ptx",
    kmeans_run,
};

/* ---- card_mriq ---- */

enum { SAMPLES = 1024, CHECKED = 4096 /* voxels that the reference computes */ };

static enum heddle_status mriq_on(struct heddle *h, struct heddle_module *m, float *all, uint32_t voxels,
                                  uint32_t samples, char *why, size_t why_size) {
    float sample[4 * SAMPLES], *at = all, *got = all + 3 * (size_t)voxels, want[2];
    uint64_t seed = 74;
    bench_fill(sample, 4 * SAMPLES, &seed, -1, 1);
    bench_fill(all, 3 * (size_t)voxels, &seed, -4, 4);
    const uint64_t bytes = voxels * sizeof(float), x = bench_buffer(h, at, 3 * bytes), y = x + bytes, z = y + bytes;
    const uint64_t real = bench_buffer(h, NULL, 2 * bytes), imaginary = real + bytes;
    const uint64_t symbol = heddle_symbol(h, m, "card_samples", NULL);
    enum heddle_status s = x && real && symbol ? heddle_write(h, symbol, sample, sizeof sample) : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "card_phase", ((struct heddle_dim){voxels / BLOCK, 1, 1}),
                         ((struct heddle_dim){BLOCK, 1, 1}), BENCH_ARG(samples), BENCH_ARG(x), BENCH_ARG(y),
                         BENCH_ARG(z), BENCH_ARG(real), BENCH_ARG(imaginary));
    if (s == HEDDLE_OK)
        s = heddle_read(h, real, got, 2 * bytes);
    for (uint32_t v = 0; s == HEDDLE_OK && v<voxels; v += voxels> CHECKED ? voxels / CHECKED : 1) {
        double re = 0, im = 0;
        for (uint32_t k = 0; k < samples; k++) {
            const float *a = &sample[4 * k];
            const double angle = 2 * M_PI *
                                 ((double)a[0] * (double)at[v] + (double)a[1] * (double)at[voxels + v] +
                                  (double)a[2] * (double)at[2 * voxels + v]);
            re += (double)a[3] * cos(angle);
            im += (double)a[3] * sin(angle);
        }
        want[0] = (float)re, want[1] = (float)im;
        const float both[2] = {got[v], got[voxels + v]};
        s = bench_compare(both, want, 2, 1e-3, "part of Q", why, why_size);
    }
    return s;
}

static enum heddle_status mriq_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                   size_t why_size) {
    const uint32_t voxels = bench_pick(size, 512, 8192, 262144), samples = bench_pick(size, 64, SAMPLES, SAMPLES);
    float *all = malloc(5 * (size_t)voxels * sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = mriq_on(h, m, all, voxels, samples, why, why_size);
    free(all);
    return s;
}

const struct bench bench_card_mriq = {
    "card_mriq", "mriq with pairs of constants; a uniform loop of sines and cosines", "public", "card.ptx", mriq_run,
};
