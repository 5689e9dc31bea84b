/* backprop: one training step of a neural network with a hidden layer. Inputs are uniform in [-1, 1) and weights in
 * [-0.1, 0.1); the target output is 0.1. The reference rounds and adds in the kernels' order. Between the two kernels,
 * the host computes the output and the errors from the first kernel's sums. Results are equal bit for bit.
 *   size small: 1,024 inputs, 0.06 M warp and 1.5 M thread instructions
 *   size paper: 65,536 inputs as in Rodinia, 3.6 M warp and 98 M thread instructions (190 M in the dual-path
 *     paper) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_backprop;

enum { UNITS = 16, ROW = UNITS + 1 };
static const float rate = 0.3f, momentum = 0.3f, target = 0.1f;

struct net {
    uint32_t inputs;
    float *input;                  /* inputs + 1 values; the first value is the constant 1 */
    float *weight, *before, *got;  /* (inputs + 1) x ROW values in each array */
    float *partial, *want_partial; /* UNITS sums for each block */
    /* output: weights from the hidden units to the output unit; delta: errors of the hidden units */
    float output[ROW], delta[ROW];
};

static float squash(float sum) { return 1 / (1 + expf(-sum)); }

/* For each block of 16 inputs and each hidden unit, multiplies inputs by weights and adds the 16 products pairwise in a
 * tree, in the order of the kernel. */
static void reference_forward(const struct net *n) {
    for (uint32_t block = 0; block < n->inputs / UNITS; block++)
        for (uint32_t unit = 0; unit < UNITS; unit++) {
            float product[UNITS];
            for (uint32_t i = 0; i < UNITS; i++) {
                size_t y = (size_t)block * UNITS + i + 1;
                product[i] = n->weight[y * ROW + unit + 1] * n->input[y];
            }
            for (uint32_t step = 1; step < UNITS; step *= 2)
                for (uint32_t i = 0; i < UNITS; i += 2 * step)
                    product[i] += product[i + step];
            n->want_partial[block * UNITS + unit] = product[0];
        }
}

/* Computes the host's part: the hidden units, the output unit, its error, and the errors of the hidden units. */
static void errors(struct net *n) {
    float hidden[ROW] = {1}, sum = n->output[0];
    for (uint32_t unit = 1; unit <= UNITS; unit++) {
        float in = n->weight[unit];
        for (uint32_t block = 0; block < n->inputs / UNITS; block++)
            in += n->partial[block * UNITS + unit - 1];
        hidden[unit] = squash(in);
        sum += n->output[unit] * hidden[unit];
    }
    float out = squash(sum), error = out * (1 - out) * (target - out);
    for (uint32_t unit = 1; unit <= UNITS; unit++)
        n->delta[unit] = hidden[unit] * (1 - hidden[unit]) * error * n->output[unit];
}

static void reference_adjust(const struct net *n) {
    for (uint32_t y = 0; y <= n->inputs; y++)
        for (uint32_t x = 1; x <= UNITS; x++) {
            size_t at = (size_t)y * ROW + x;
            float d = rate * n->delta[x];
            n->before[at] = y ? fmaf(d, n->input[y], momentum * n->before[at]) : fmaf(momentum, n->before[at], d);
            n->weight[at] += n->before[at];
        }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct net *n, char *why, size_t why_size) {
    uint64_t seed = 47, weights = (uint64_t)(n->inputs + 1) * ROW, bytes = weights * sizeof(float);
    bench_fill(n->input + 1, n->inputs, &seed, -1, 1);
    n->input[0] = 1;
    bench_fill(n->weight, weights, &seed, -0.1f, 0.1f);
    bench_fill(n->before, weights, &seed, -0.01f, 0.01f);
    bench_fill(n->output, ROW, &seed, -1, 1);
    uint64_t input = bench_buffer(h, n->input, (n->inputs + 1) * sizeof *n->input);
    uint64_t weight = bench_buffer(h, n->weight, bytes), before = bench_buffer(h, n->before, bytes);
    uint64_t partial = bench_buffer(h, NULL, n->inputs * sizeof *n->partial), delta;
    if (!input || !weight || !before || !partial)
        return heddle_status(h);
    struct heddle_dim grid = {1, n->inputs / UNITS, 1}, block = {UNITS, UNITS, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "backprop_forward", grid, block, BENCH_ARG(input), BENCH_ARG(weight), BENCH_ARG(partial));
    if (s != HEDDLE_OK || (s = heddle_read(h, partial, n->partial, n->inputs * sizeof *n->partial)) != HEDDLE_OK)
        return s;
    reference_forward(n);
    s = bench_compare(n->partial, n->want_partial, n->inputs, 0, "partial sum", why, why_size);
    errors(n);
    /* the weights are written again, because backprop_forward overwrote them with products, as Rodinia's kernel does */
    if (s != HEDDLE_OK || (s = heddle_write(h, weight, n->weight, bytes)) != HEDDLE_OK)
        return s;
    if (!(delta = bench_buffer(h, n->delta, sizeof n->delta)))
        return heddle_status(h);
    s = BENCH_LAUNCH(h, m, "backprop_adjust", grid, block, BENCH_ARG(delta), BENCH_ARG(input), BENCH_ARG(weight),
                     BENCH_ARG(before));
    if (s != HEDDLE_OK || (s = heddle_read(h, weight, n->got, bytes)) != HEDDLE_OK)
        return s;
    reference_adjust(n);
    return bench_compare(n->got, n->weight, weights, 0, "weight", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct net n = {.inputs = size == BENCH_SMALL ? 1024 : 65536};
    size_t rows = n.inputs + 1, weights = rows * ROW;
    n.input = calloc(3 * rows + 3 * weights, sizeof *n.input);
    if (!n.input)
        return bench_no_memory(why, why_size);
    n.partial = n.input + rows;
    n.want_partial = n.partial + rows;
    n.weight = n.want_partial + rows;
    n.before = n.weight + weights;
    n.got = n.before + weights;
    enum heddle_status s = run_on(h, m, &n, why, why_size);
    free(n.input);
    return s;
}

const struct bench bench_backprop = {
    "backprop",
    "a neural network's step; a tree over rows of half a warp, barriers",
    "dual-path-regular dac",
    "backprop.ptx",
    run,
};
