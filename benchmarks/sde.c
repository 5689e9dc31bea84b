/* sde: a particle that moves in two potential wells, with noise: a stochastic differential equation. All paths begin
 * between the wells. The reference takes the same steps in double, with the same random integers. Positions are
 * compared within 5e-5 of max(1, |place|): the fast sine and logarithm have errors of about 1e-6, and on a path near
 * the ridge between the wells, errors double in about 0.7 seconds.
 *   size small: 1,000 paths, 2 samples of 32 steps, 0.04 M warp and 1.3 M thread instructions
 *   size paper: 20,000 paths, 8 samples of 32 steps, 3.2 M warp and 102 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_sde;

enum { BLOCK = 64 };

/* The kernel's source has a struct with this layout. */
struct sde {
    float force, frequency, noise, dt;
};

struct paths {
    uint32_t n, samples, pairs;
    float *place, *want, *got; /* place: n elements; want and got: n x samples elements each */
    uint32_t *state;           /* n */
};

static void step(double *x, double *t, double normal, const struct sde *c) {
    double force = (double)c->force * cos((double)c->frequency * *t);
    *x += (*x - *x * *x * *x + force) * (double)c->dt + (double)c->noise * normal;
    *t += (double)c->dt;
}

static void follow(const struct paths *p, uint32_t path, const struct sde *c) {
    double x = (double)p->place[path], t = 0;
    uint32_t random = p->state[path];
    for (uint32_t sample = 0; sample < p->samples; sample++) {
        for (uint32_t i = 0; i < p->pairs; i++) {
            random = random * 1664525u + 1013904223u;
            double radius = sqrt(-2 * log(((random >> 9) + 0.5) * 0x1p-23));
            random = random * 1664525u + 1013904223u;
            double angle = (random >> 8) * (2 * M_PI * 0x1p-24);
            step(&x, &t, radius * cos(angle), c);
            step(&x, &t, radius * sin(angle), c);
        }
        p->want[(size_t)sample * p->n + path] = (float)x;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct paths *p, char *why,
                                 size_t why_size) {
    const struct sde c = {0.3f, 1.5f, 0.5f * 0.1f, 0.01f}; /* sqrt(dt) is 0.1 */
    uint64_t seed = 46, bytes = (uint64_t)p->n * p->samples * sizeof(float);
    bench_fill(p->place, p->n, &seed, -1, 1);
    for (uint32_t i = 0; i < p->n; i++)
        p->state[i] = (uint32_t)bench_random(&seed);
    uint64_t place = bench_buffer(h, p->place, p->n * sizeof *p->place);
    uint64_t state = bench_buffer(h, p->state, p->n * sizeof *p->state), out = bench_buffer(h, NULL, bytes);
    if (!place || !state || !out)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(p->n, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "sde", grid, block, BENCH_ARG(out), BENCH_ARG(place), BENCH_ARG(state),
                                        BENCH_ARG(c), BENCH_ARG(p->n), BENCH_ARG(p->samples), BENCH_ARG(p->pairs));
    if (s != HEDDLE_OK || (s = heddle_read(h, out, p->got, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < p->n; i++)
        follow(p, i, &c);
    return bench_compare(p->got, p->want, (size_t)p->n * p->samples, 5e-5, "place", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct paths p = {.n = 1000, .samples = 2, .pairs = 16};
    if (size != BENCH_SMALL)
        p = (struct paths){.n = 20000, .samples = 8, .pairs = 16};
    size_t all = (size_t)p.n * p.samples;
    p.place = calloc(p.n + 2 * all, sizeof *p.place);
    p.state = calloc(p.n, sizeof *p.state);
    enum heddle_status s;
    if (p.place && p.state) {
        p.want = p.place + p.n;
        p.got = p.want + all;
        s = run_on(h, m, &p, why, why_size);
    } else
        s = bench_no_memory(why, why_size);
    free(p.place);
    free(p.state);
    return s;
}

const struct bench bench_sde = {
    "sde", "paths of a stochastic equation; state in registers, uniform loops, fast sines", "pepsc", "sde.ptx", run,
};
