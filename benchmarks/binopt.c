/* binopt: prices call options on a binomial tree of the share price. Shares cost 5 to 30, strikes are 0.7 to 1.4 times
 * the share price, and expiry is in a quarter of a year to ten years. The reference evaluates the same tree in double.
 * Values are compared within 1e-5 of max(1, |value|), because each of up to 2,048 steps of the tree rounds every node
 * twice, up or down with equal odds.
 *   size small: 2 options, 256 steps, 0.04 M warp and 1.2 M thread instructions
 *   size paper: 15 options (a block for each SM of the default machine), 2,048 steps, 10 M warp and 325 M thread
 *     instructions (CUDA sample: 512 options, 2,048 steps) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_binopt;

enum { BLOCK = 256, OPTIONS = 15, SPARE = 16 };
static const double rate = 0.02, volatility = 0.30;

/* The kernel's source has a struct with this layout. */
struct option {
    float price, strike, move, up, down;
};

static void fill(struct option *options, uint32_t n, uint32_t steps) {
    uint64_t seed = 41;
    for (uint32_t i = 0; i < n; i++) {
        struct option *o = &options[i];
        o->price = bench_uniform(&seed, 5, 30);
        o->strike = o->price * bench_uniform(&seed, 0.7f, 1.4f);
        double dt = (double)bench_uniform(&seed, 0.25f, 10) / steps, move = volatility * sqrt(dt);
        double up = (exp(rate * dt) - exp(-move)) / (exp(move) - exp(-move)), discount = exp(-rate * dt);
        o->move = (float)move;
        o->up = (float)(discount * up);
        o->down = (float)(discount * (1 - up));
    }
}

static float reference(const struct option *o, double *row, uint32_t steps) {
    for (uint32_t i = 0; i <= steps; i++)
        row[i] = fmax(0, (double)o->price * exp((double)o->move * (2.0 * i - steps)) - (double)o->strike);
    for (uint32_t level = steps; level > 0; level--)
        for (uint32_t i = 0; i < level; i++)
            row[i] = (double)o->up * row[i + 1] + (double)o->down * row[i];
    return (float)row[0];
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, double *row, uint32_t n, uint32_t steps,
                                 char *why, size_t why_size) {
    struct option options[OPTIONS];
    float want[OPTIONS], got[OPTIONS];
    fill(options, n, steps);
    uint64_t symbol = heddle_symbol(h, m, "binopt_options", NULL), value = bench_buffer(h, NULL, n * sizeof *got);
    uint64_t nodes = bench_buffer(h, NULL, (uint64_t)n * (steps + SPARE) * sizeof(float));
    if (!symbol || !value || !nodes || heddle_write(h, symbol, options, n * sizeof *options) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {n, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "binopt", grid, block, BENCH_ARG(value), BENCH_ARG(nodes), BENCH_ARG(steps));
    if (s != HEDDLE_OK || (s = heddle_read(h, value, got, n * sizeof *got)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < n; i++)
        want[i] = reference(&options[i], row, steps);
    return bench_compare(got, want, n, 1e-5, "value", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 2 : OPTIONS, steps = size == BENCH_SMALL ? 256 : 2048;
    double *row = calloc(steps + 1, sizeof *row);
    enum heddle_status s = row ? run_on(h, m, row, n, steps, why, why_size) : bench_no_memory(why, why_size);
    free(row);
    return s;
}

const struct bench bench_binopt = {
    "binopt", "prices of options on a tree; tiles of it in shared memory, a barrier a step", "pepsc", "binopt.ptx", run,
};
