/* mcml: simulates light in three layers of tissue, with air above and below, by the Monte Carlo method. The reference
 * follows the same packets of light with the same random numbers and rounds where the kernel does. Weights are added as
 * integers, so the order of the additions does not matter, and results are equal.
 *   size small: 128 threads with a packet each, 0.10 M warp and 1.0 M thread instructions
 *   size paper: 2,048 threads with two packets each, 2.9 M warp and 32 M thread instructions (303 G in the
 *     dual-path paper, 9,400 times as many) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_mcml;

enum { BLOCK = 128, LAYERS = 3, RADII = 32, DEPTHS = 32, CELLS = RADII * DEPTHS + 2 };
static const float radius_step = 0.01f, depth_step = 0.01f, scale = 65536.0f, light = 1e-4f;

/* The kernel's source has a struct with this layout. */
struct layer {
    float top, bottom, index, absorbs, scatters, forward;
};
static const struct layer tissue[LAYERS + 2] = {
    {0, 0, 1, 0, 0, 0},
    {0, 0.02f, 1.5f, 4, 50, 0.75f},
    {0.02f, 0.12f, 1.4f, 3, 40, 0.8f},
    {0.12f, 0.25f, 1.35f, 6, 30, 0.7f},
    {0.25f, 1, 1, 0, 0, 0},
};

struct packet {
    float at[3], by[3], weight;
    int layer;
};
struct generator {
    uint64_t state;
    uint32_t factor;
};

static float uniform(struct generator *g) {
    g->state = (g->state & 0xffffffff) * g->factor + (g->state >> 32);
    return (float)((uint32_t)g->state >> 9) * 0x1p-23f + 0x1p-24f;
}

static float minus_log(float u) {
    int exponent;
    float m = 2 * frexpf(u, &exponent), t = (m - 1) / (m + 1), t2 = t * t;
    float sum = fmaf(t2, fmaf(t2, fmaf(t2, fmaf(t2, 1 / 9.0f, 1 / 7.0f), 0.2f), 1 / 3.0f), 1.0f);
    return -fmaf((float)(exponent - 1), 0.693147181f, 2 * t * sum);
}

static void circle(float u, float turn[2]) {
    int quarter = (int)(4 * u);
    float x = (4 * u - (float)quarter - 0.5f) * 1.57079633f, x2 = x * x;
    float s = x * fmaf(x2, fmaf(x2, fmaf(x2, -1 / 5040.0f, 1 / 120.0f), -1 / 6.0f), 1.0f);
    float c = fmaf(x2, fmaf(x2, fmaf(x2, fmaf(x2, 1 / 40320.0f, -1 / 720.0f), 1 / 24.0f), -0.5f), 1.0f);
    const float turns[4][2] = {{c, s}, {-s, c}, {-c, -s}, {s, -c}};
    memcpy(turn, turns[quarter], sizeof turns[0]);
}

static void spin(float by[3], float g, float u, float v) {
    float t = (1 - g * g) / (1 - g + 2 * g * u), cosine = (1 + g * g - t * t) / (2 * g), turn[2];
    float sine = sqrtf(fmaxf(1 - cosine * cosine, 0)), x, y, z;
    circle(v, turn);
    if (fabsf(by[2]) > 0.99999f) {
        x = sine * turn[0];
        y = sine * turn[1];
        z = by[2] > 0 ? cosine : -cosine;
    } else {
        float flat = sqrtf(1 - by[2] * by[2]), part = sine / flat;
        x = fmaf(part, by[0] * by[2] * turn[0] - by[1] * turn[1], by[0] * cosine);
        y = fmaf(part, by[1] * by[2] * turn[0] + by[0] * turn[1], by[1] * cosine);
        z = fmaf(-sine * turn[0], flat, by[2] * cosine);
    }
    float one = 1 / sqrtf(fmaf(z, z, fmaf(y, y, x * x)));
    by[0] = x * one;
    by[1] = y * one;
    by[2] = z * one;
}

/* Moves a packet at the boundary to layer `to`: reflects or transmits it. */
static void cross(struct packet *p, int to, float u) {
    float n1 = tissue[p->layer].index, n2 = tissue[to].index;
    float c1 = fabsf(p->by[2]), ratio = n1 / n2, s2 = ratio * ratio * (1 - c1 * c1);
    if (s2 >= 1) {
        p->by[2] = -p->by[2];
        return;
    }
    float c2 = sqrtf(1 - s2), a = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2);
    float b = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
    if (u <= 0.5f * fmaf(a, a, b * b)) {
        p->by[2] = -p->by[2];
        return;
    }
    p->by[0] *= ratio;
    p->by[1] *= ratio;
    p->by[2] = p->by[2] > 0 ? c2 : -c2;
    p->layer = to;
}

/* Moves a packet by one step, with random numbers in the kernel's order. `cells` has the absorbed weight for each depth
 * and radius, followed by the weights of the packets that left the tissue at the top and at the bottom. */
static void step(struct packet *p, struct generator *g, uint64_t *cells) {
    const struct layer *l = &tissue[p->layer];
    float s = minus_log(uniform(g)) / (l->absorbs + l->scatters), z = fmaf(s, p->by[2], p->at[2]);
    int to = p->layer;
    if (z < l->top || z > l->bottom) {
        float edge = z < l->top ? l->top : l->bottom;
        to += z < l->top ? -1 : 1;
        s = (edge - p->at[2]) / p->by[2];
        z = edge;
    }
    p->at[0] = fmaf(s, p->by[0], p->at[0]);
    p->at[1] = fmaf(s, p->by[1], p->at[1]);
    p->at[2] = z;
    if (to != p->layer) {
        cross(p, to, uniform(g));
        if (p->layer == 0 || p->layer > LAYERS) {
            cells[RADII * DEPTHS + (p->layer > 0)] += (uint64_t)(p->weight * scale);
            p->weight = 0;
        }
        return;
    }
    float lost = p->weight * (l->absorbs / (l->absorbs + l->scatters));
    int r = (int)(sqrtf(fmaf(p->at[1], p->at[1], p->at[0] * p->at[0])) / radius_step), d = (int)(z / depth_step);
    p->weight -= lost;
    cells[(d < DEPTHS ? d : DEPTHS - 1) * RADII + (r < RADII ? r : RADII - 1)] += (uint64_t)(lost * scale);
    float u = uniform(g);
    spin(p->by, l->forward, u, uniform(g));
}

static void reference(struct generator g, uint32_t packets, uint64_t *cells) {
    while (packets--) {
        struct packet p = {{0, 0, 0}, {0, 0, 1}, 1, 1};
        for (bool alive = true; alive;) {
            step(&p, &g, cells);
            if (p.weight < light) {
                alive = p.weight != 0 && uniform(&g) < 0.1f;
                p.weight *= 10;
            }
        }
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint64_t *state, uint32_t *factor,
                                 uint32_t threads, uint32_t packets, char *why, size_t why_size) {
    uint64_t seed = 53, want[CELLS] = {0}, got[CELLS] = {0};
    for (uint32_t i = 0; i < threads; i++) {
        state[i] = bench_random(&seed) >> 2;
        factor[i] = (uint32_t)(bench_random(&seed) >> 33) | 0xe0000001;
        reference((struct generator){state[i], factor[i]}, packets, want);
    }
    uint64_t symbol = heddle_symbol(h, m, "mcml_layers", NULL), cells = bench_buffer(h, got, sizeof got);
    uint64_t states = bench_buffer(h, state, threads * sizeof *state), out = cells + RADII * DEPTHS * sizeof *got;
    uint64_t factors = bench_buffer(h, factor, threads * sizeof *factor);
    if (!symbol || !cells || !states || !factors || heddle_write(h, symbol, tissue, sizeof tissue) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {threads / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    int layers = LAYERS;
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "mcml", grid, block, BENCH_ARG(states), BENCH_ARG(factors), BENCH_ARG(cells), BENCH_ARG(out),
                     BENCH_ARG(packets), BENCH_ARG(layers), BENCH_ARG(radius_step), BENCH_ARG(depth_step));
    if (s != HEDDLE_OK || (s = heddle_read(h, cells, got, sizeof got)) != HEDDLE_OK)
        return s;
    return bench_compare_words((uint32_t *)got, (uint32_t *)want, 2 * CELLS, "half of cell", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t threads = size == BENCH_SMALL ? 128 : 2048, packets = size == BENCH_SMALL ? 1 : 2;
    uint64_t *state = calloc(threads, sizeof *state);
    uint32_t *factor = calloc(threads, sizeof *factor);
    enum heddle_status s =
        state && factor ? run_on(h, m, state, factor, threads, packets, why, why_size) : bench_no_memory(why, why_size);
    free(state);
    free(factor);
    return s;
}

const struct bench bench_mcml = {
    "mcml", "light in tissue by Monte Carlo; most branches diverge, atomics", "dual-path", "mcml.ptx", run,
};
