/* public: the work of four public programs at their block shapes (kernels/public.cu), for comparison with a card.
 * Inputs are uniform random numbers. References are loops in C, in double where the kernel computes in floats: such
 * results are compared within a tolerance.
 *   size small: a few blocks each, less than 1 M warp instructions
 *   size paper: parts of size card, 2 to 13 M warp instructions
 *   size card: histogram64 of 64 MiB, diffuse of 502 x 458 pixels, multiply of 1,024 x 992 by 992 x 1,056, binomial of
 *     1,024 options, 3 to 300 M warp instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_histogram64, bench_diffuse, bench_multiply, bench_binomial;

static uint32_t pick(enum bench_size size, uint32_t small, uint32_t paper, uint32_t card) {
    return size == BENCH_SMALL ? small : size == BENCH_PAPER ? paper : card;
}

/* ---- histogram64 ---- */

enum { BINS = 64, LOADS = 15 /* loads of a thread, so that no counter of a byte overflows */ };

static enum heddle_status histogram_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                        size_t why_size) {
    const uint32_t bytes = pick(size, 50000, 1 << 22, 1 << 26), count = bytes / 16,
                   blocks = bench_blocks(count, BINS * LOADS);
    uint8_t *data = malloc(bytes);
    uint32_t *got = malloc(blocks * BINS * sizeof *got), all[BINS] = {0}, want[BINS] = {0};
    uint64_t seed = 64;
    if (!data || !got) {
        free(data);
        free(got);
        return bench_no_memory(why, why_size);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)bench_random(&seed);
        want[data[i] >> 2]++;
    }
    const uint64_t from = bench_buffer(h, data, bytes), to = bench_buffer(h, NULL, blocks * BINS * sizeof *got);
    enum heddle_status s = from && to ? HEDDLE_OK : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "histogram64", ((struct heddle_dim){blocks, 1, 1}), ((struct heddle_dim){BINS, 1, 1}),
                         BENCH_ARG(to), BENCH_ARG(from), BENCH_ARG(count));
    if (s == HEDDLE_OK)
        s = heddle_read(h, to, got, blocks * BINS * sizeof *got);
    for (uint32_t i = 0; s == HEDDLE_OK && i < blocks * BINS; i++)
        all[i % BINS] += got[i];
    free(data);
    free(got);
    return s == HEDDLE_OK ? bench_compare_words(all, want, BINS, "count", why, why_size) : s;
}

const struct bench bench_histogram64 = {
    "histogram64", "counts upper bits of bytes; bank conflicts in shared memory", "public", "public.ptx", histogram_run,
};

/* ---- diffuse ---- */

static const float variance = 0.05f;

struct picture {
    uint32_t rows, columns, n;
    int32_t *north, *south, *east, *west; /* neighbours of a row or column */
    float *image, *got, *want;            /* got, want: five arrays of n results */
};

static void diffuse_reference(const struct picture *p) {
    for (uint32_t c = 0, at = 0; c < p->columns; c++)
        for (uint32_t r = 0; r < p->rows; r++, at++) {
            const double here = (double)p->image[at], v = (double)variance;
            const uint32_t near[4] = {(uint32_t)p->north[r] + p->rows * c, (uint32_t)p->south[r] + p->rows * c,
                                      r + p->rows * (uint32_t)p->west[c], r + p->rows * (uint32_t)p->east[c]};
            double squares = 0, sum = 0;
            for (int i = 0; i < 4; i++) {
                const double d = (double)p->image[near[i]] - here;
                p->want[(uint32_t)i * p->n + at] = (float)d;
                squares += d * d;
                sum += d;
            }
            const double laplacian = sum / here, den = 1 + 0.25 * laplacian;
            const double num = 0.5 * squares / (here * here) - laplacian * laplacian / 16;
            const double q = 1 / (1 + (num / (den * den) - v) / (v * (1 + v)));
            p->want[4 * p->n + at] = (float)(q < 0 ? 0 : q > 1 ? 1 : q);
        }
}

static enum heddle_status diffuse_on(struct heddle *h, struct heddle_module *m, const struct picture *p, char *why,
                                     size_t why_size) {
    const uint64_t plane = p->n * sizeof(float), rows = p->rows * 4, columns = p->columns * 4;
    const int64_t n = p->n;
    const uint64_t north = bench_buffer(h, p->north, rows), south = bench_buffer(h, p->south, rows);
    const uint64_t east = bench_buffer(h, p->east, columns), west = bench_buffer(h, p->west, columns);
    const uint64_t image = bench_buffer(h, p->image, plane);
    uint64_t to[5]; /* differences to the north, south, west and east, and coefficients: a buffer each, as there */
    for (int i = 0; i < 5; i++)
        to[i] = bench_buffer(h, NULL, plane);
    enum { THREADS = 512 };
    if (!north || !south || !east || !west || !image || !to[0] || !to[1] || !to[2] || !to[3] || !to[4])
        return heddle_status(h);
    enum heddle_status s = BENCH_LAUNCH(h, m, "diffuse", ((struct heddle_dim){bench_blocks(p->n, THREADS), 1, 1}),
                                        ((struct heddle_dim){THREADS, 1, 1}), BENCH_ARG(p->rows), BENCH_ARG(p->columns),
                                        BENCH_ARG(n), BENCH_ARG(north), BENCH_ARG(south), BENCH_ARG(east),
                                        BENCH_ARG(west), BENCH_ARG(to[0]), BENCH_ARG(to[1]), BENCH_ARG(to[3]),
                                        BENCH_ARG(to[2]), BENCH_ARG(variance), BENCH_ARG(to[4]), BENCH_ARG(image));
    for (size_t i = 0; i < 5 && s == HEDDLE_OK; i++)
        s = heddle_read(h, to[i], p->got + i * p->n, plane);
    if (s != HEDDLE_OK)
        return s;
    diffuse_reference(p);
    return bench_compare(p->got, p->want, 5 * (size_t)p->n, 1e-4, "value", why, why_size);
}

static enum heddle_status diffuse_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                      size_t why_size) {
    struct picture p = {.rows = pick(size, 37, 251, 502), .columns = pick(size, 29, 229, 458)};
    uint64_t seed = 58;
    p.n = p.rows * p.columns;
    int32_t *near = malloc((2 * (size_t)p.rows + 2 * (size_t)p.columns) * sizeof *near);
    p.image = malloc(11 * (size_t)p.n * sizeof *p.image);
    if (!near || !p.image) {
        free(near);
        free(p.image);
        return bench_no_memory(why, why_size);
    }
    p.north = near, p.south = near + p.rows, p.east = p.south + p.rows, p.west = p.east + p.columns;
    p.got = p.image + p.n, p.want = p.got + 5 * (size_t)p.n;
    for (int32_t i = 0; i < (int32_t)p.rows; i++) { /* an edge is its own neighbour */
        p.north[i] = i ? i - 1 : 0;
        p.south[i] = i + 1 < (int32_t)p.rows ? i + 1 : i;
    }
    for (int32_t i = 0; i < (int32_t)p.columns; i++) {
        p.west[i] = i ? i - 1 : 0;
        p.east[i] = i + 1 < (int32_t)p.columns ? i + 1 : i;
    }
    bench_fill(p.image, p.n, &seed, 1, 2.7f);
    enum heddle_status s = diffuse_on(h, m, &p, why, why_size);
    free(near);
    free(p.image);
    return s;
}

const struct bench bench_diffuse = {
    "diffuse",   "coefficients of an image, partly in f64; divisions, ifs without else", "public", "public.ptx",
    diffuse_run,
};

/* ---- multiply ---- */

enum { ROWS = 128, COLUMNS = 16, DEPTH = 8 };

static enum heddle_status multiply_on(struct heddle *h, struct heddle_module *m, const uint32_t n[3], float *all,
                                      char *why, size_t why_size) {
    const uint32_t rows = n[0], columns = n[1], depth = n[2];
    const float alpha = 1, beta = 0.5f;
    float *a = all, *b = a + rows * depth, *c = b + columns * depth, *got = c + rows * columns;
    uint64_t seed = 92;
    bench_fill(all, rows * depth + columns * depth + rows * columns, &seed, 0, 1);
    const uint64_t at_a = bench_buffer(h, a, rows * depth * sizeof *a);
    const uint64_t at_b = bench_buffer(h, b, columns * depth * sizeof *b);
    const uint64_t at_c = bench_buffer(h, c, rows * columns * sizeof *c);
    if (!at_a || !at_b || !at_c)
        return heddle_status(h);
    enum heddle_status s = BENCH_LAUNCH(h, m, "multiply", ((struct heddle_dim){rows / ROWS, columns / COLUMNS, 1}),
                                        ((struct heddle_dim){COLUMNS, DEPTH, 1}), BENCH_ARG(at_a), BENCH_ARG(rows),
                                        BENCH_ARG(at_b), BENCH_ARG(columns), BENCH_ARG(at_c), BENCH_ARG(rows),
                                        BENCH_ARG(depth), BENCH_ARG(alpha), BENCH_ARG(beta));
    if (s != HEDDLE_OK || (s = heddle_read(h, at_c, got, rows * columns * sizeof *got)) != HEDDLE_OK)
        return s;
    double *sum = malloc(rows * sizeof *sum);
    if (!sum)
        return bench_no_memory(why, why_size);
    for (uint32_t y = 0; y < columns; y++) {
        memset(sum, 0, rows * sizeof *sum);
        for (uint32_t k = 0; k < depth; k++)
            for (uint32_t x = 0; x < rows; x++)
                sum[x] += (double)a[k * rows + x] * (double)b[k * columns + y];
        for (uint32_t x = 0; x < rows; x++)
            c[y * rows + x] = (float)(sum[x] + (double)beta * (double)c[y * rows + x]);
    }
    free(sum);
    return bench_compare(got, c, rows * columns, 1e-4, "element", why, why_size);
}

static enum heddle_status multiply_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                       size_t why_size) {
    const uint32_t n[3] = {pick(size, 128, 512, 1024), pick(size, 32, 528, 1056), pick(size, 40, 496, 992)};
    float *all = malloc((n[0] * n[2] + n[1] * n[2] + 2 * n[0] * n[1]) * sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = multiply_on(h, m, n, all, why, why_size);
    free(all);
    return s;
}

const struct bench bench_multiply = {
    "multiply",   "a matrix product with 16 results a thread in registers; no divergence", "public", "public.ptx",
    multiply_run,
};

/* ---- binomial ---- */

enum { STEPS = 2048, THREADS = 128, MOST_OPTIONS = 1024 };

/* The kernel's source has a struct with this layout. */
struct option {
    float price, strike, move, up, down;
};

static struct option option_of(uint64_t *seed) {
    const double price = (double)bench_uniform(seed, 5, 30), strike = (double)bench_uniform(seed, 1, 100),
                 years = (double)bench_uniform(seed, 0.25f, 10), rate = 0.06, volatility = 0.1;
    const double step = years / STEPS, move = volatility * sqrt(step), up = exp(move), down = exp(-move);
    const double likely = (exp(rate * step) - down) / (up - down), less = exp(-rate * step);
    return (struct option){(float)price, (float)strike, (float)move, (float)(likely * less),
                           (float)((1 - likely) * less)};
}

static float value_of(const struct option *o) {
    double node[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
        node[i] = (double)o->price * exp((double)o->move * (2.0 * i - STEPS)) - (double)o->strike;
        node[i] = node[i] > 0 ? node[i] : 0;
    }
    for (int step = STEPS; step > 0; step--)
        for (int i = 0; i < step; i++)
            node[i] = (double)o->up * node[i + 1] + (double)o->down * node[i];
    return (float)node[0];
}

static enum heddle_status binomial_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                       size_t why_size) {
    const uint32_t n = pick(size, 2, 32, MOST_OPTIONS);
    struct option option[MOST_OPTIONS];
    float got[MOST_OPTIONS], want[MOST_OPTIONS];
    uint64_t seed = 5, symbol = heddle_symbol(h, m, "public_options", NULL);
    for (int i = 0; i < MOST_OPTIONS; i++)
        option[i] = option_of(&seed);
    const uint64_t value = bench_buffer(h, NULL, sizeof got);
    enum heddle_status s = symbol && value ? heddle_write(h, symbol, option, sizeof option) : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "binomial", ((struct heddle_dim){n, 1, 1}), ((struct heddle_dim){THREADS, 1, 1}),
                         BENCH_ARG(value));
    if (s != HEDDLE_OK || (s = heddle_read(h, value, got, n * sizeof *got)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < n; i++)
        want[i] = value_of(&option[i]);
    return bench_compare(got, want, n, 1e-3, "value", why, why_size);
}

const struct bench bench_binomial = {
    "binomial",   "options in trees; neighbours exchanged over two barriers a step, threads end early",
    "public",     "public.ptx",
    binomial_run,
};
