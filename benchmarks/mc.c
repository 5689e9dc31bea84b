/* mc: prices call options by the Monte Carlo method. Shares cost 5 to 50, strikes are 10 to 25, expiry is in one to
 * five years, and all options use the same random paths. The reference computes the normally distributed numbers by the
 * same formula as the kernel, but in double, and adds in double. Sums of yields and of their squares are compared
 * within 2e-6 of the sum, because the sum is rounded 256 (small: 16) times in a thread and 8 times in the block, and
 * the kernel uses the fast exponential and logarithm.
 *   size small: 2 options, 4,096 paths, 0.01 M warp and 0.29 M thread instructions
 *   size paper: 60 options, 65,536 paths, 1.7 M warp and 54 M thread instructions (CUDA sample: 256 options,
 *     262,144 paths) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_mc;

enum { BLOCK = 256, NORMALS_BLOCK = 128, OPTIONS = 60 };
static const double rate = 0.06, volatility = 0.10;
static const uint32_t mix = 0x5eed0045;

/* The kernel's source has a struct with this layout. */
struct option {
    float price, strike, drift, spread;
};

static double polynomial(const double *c, int degree, double x) {
    double sum = 0;
    for (int i = degree; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* Returns the normally distributed number of path i: a uniform number, transformed by Moro's approximation of the
 * inverse normal distribution. */
static double normal(uint32_t i) {
    static const double over[] = {2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637};
    static const double under[] = {1, -8.47351093090, 23.08336743743, -21.06224101826, 3.13082909833};
    static const double tail[] = {0.3374754822726147, 0.9761690190917186, 0.1607979714918209,
                                  0.0276438810333863, 0.0038405729373609, 0.0003951896511919,
                                  0.0000321767881768, 0.0000002888167364, 0.0000003960315187};
    uint32_t hash = i * 0x9e3779b9u + mix;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    double p = ((hash ^ hash >> 16) >> 9) * 0x1p-23 + 0x1p-24, y = p - 0.5;
    if (fabs(y) < 0.42)
        return y * polynomial(over, 3, y * y) / polynomial(under, 4, y * y);
    double z = polynomial(tail, 8, log(-log(y > 0 ? 1 - p : p)));
    return y < 0 ? -z : z;
}

static void fill(struct option *options, uint32_t n) {
    uint64_t seed = 45;
    for (uint32_t i = 0; i < n; i++) {
        options[i].price = bench_uniform(&seed, 5, 50);
        options[i].strike = bench_uniform(&seed, 10, 25);
        double years = (double)bench_uniform(&seed, 1, 5);
        options[i].drift = (float)((rate - volatility * volatility / 2) * years);
        options[i].spread = (float)(volatility * sqrt(years));
    }
}

/* Divides sums by the number of paths before it compares them. So the tolerance is relative to the option's value, or
 * to 1 if the value is smaller. */
static enum heddle_status compare(const struct option *options, float *got, uint32_t n, uint32_t paths, char *why,
                                  size_t why_size) {
    float want[2 * OPTIONS];
    for (uint32_t o = 0; o < n; o++) {
        double sum = 0, sum2 = 0;
        for (uint32_t i = 0; i < paths; i++) {
            double growth = exp((double)options[o].drift + (double)options[o].spread * normal(i));
            double gain = fmax(0, (double)options[o].price * growth - (double)options[o].strike);
            sum += gain;
            sum2 += gain * gain;
        }
        want[2 * o] = (float)(sum / paths);
        want[2 * o + 1] = (float)(sum2 / paths);
    }
    for (uint32_t i = 0; i < 2 * n; i++)
        got[i] /= (float)paths;
    return bench_compare(got, want, 2 * n, 2e-6, "mean", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 2 : OPTIONS, paths = size == BENCH_SMALL ? 4096 : 65536;
    struct option options[OPTIONS];
    float got[2 * OPTIONS];
    fill(options, n);
    uint64_t symbol = heddle_symbol(h, m, "mc_options", NULL), normals = bench_buffer(h, NULL, paths * sizeof(float));
    uint64_t sums = bench_buffer(h, NULL, 2 * n * sizeof *got);
    if (!symbol || !normals || !sums || heddle_write(h, symbol, options, n * sizeof *options) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim few = {size == BENCH_SMALL ? 8 : 128, 1, 1}, line = {NORMALS_BLOCK, 1, 1};
    struct heddle_dim grid = {n, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "mc_normals", few, line, BENCH_ARG(normals), BENCH_ARG(paths), BENCH_ARG(mix));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "mc_paths", grid, block, BENCH_ARG(sums), BENCH_ARG(normals), BENCH_ARG(paths));
    if (s != HEDDLE_OK || (s = heddle_read(h, sums, got, 2 * n * sizeof *got)) != HEDDLE_OK)
        return s;
    return compare(options, got, n, paths, why, why_size);
}

const struct bench bench_mc = {
    "mc", "prices of options by Monte Carlo; an if and else of unequal weight, a reduction", "pepsc", "mc.ptx", run,
};
