/* black: prices call and put options by the formula of Black and Scholes. Shares cost 5 to 30, strikes are 1 to 100,
 * and expiry is in a quarter of a year to ten years. The reference is the formula in double with the C library's
 * erfc(). Prices are compared within 2e-5 of max(1, |price|), because the kernel's polynomial for the normal
 * distribution has an error of up to 7.5e-8, which is multiplied by strikes up to 100.
 *   size small: 4,096 options, 4 for each thread, 0.01 M warp and 0.31 M thread instructions
 *   size paper: 1,000,000 options, 16 or 17 for each thread, 2.2 M warp and 70 M thread instructions (CUDA
 *     sample: 4,000,000) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_black;

enum { BLOCK = 128 };
static const float rate = 0.02f, volatility = 0.30f;

struct market {
    uint32_t options;
    float *price, *strike, *years, *call, *put, *got;
};

static double normal_below(double d) { return 0.5 * erfc(-d * M_SQRT1_2); }

static void reference(const struct market *k) {
    for (uint32_t i = 0; i < k->options; i++) {
        double s = (double)k->price[i], x = (double)k->strike[i], t = (double)k->years[i];
        double r = (double)rate, v = (double)volatility, spread = v * sqrt(t);
        double d1 = (log(s / x) + (r + v * v / 2) * t) / spread, d2 = d1 - spread;
        k->call[i] = (float)(s * normal_below(d1) - x * exp(-r * t) * normal_below(d2));
        k->put[i] = (float)(x * exp(-r * t) * normal_below(-d2) - s * normal_below(-d1));
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct market *k, uint32_t blocks,
                                 char *why, size_t why_size) {
    uint64_t seed = 40, bytes = k->options * sizeof(float);
    bench_fill(k->price, k->options, &seed, 5, 30);
    bench_fill(k->strike, k->options, &seed, 1, 100);
    bench_fill(k->years, k->options, &seed, 0.25f, 10);
    uint64_t price = bench_buffer(h, k->price, bytes), strike = bench_buffer(h, k->strike, bytes);
    uint64_t years = bench_buffer(h, k->years, bytes), call = bench_buffer(h, NULL, bytes);
    uint64_t put = bench_buffer(h, NULL, bytes);
    if (!price || !strike || !years || !call || !put)
        return heddle_status(h);
    struct heddle_dim grid = {blocks, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "black", grid, block, BENCH_ARG(call), BENCH_ARG(put), BENCH_ARG(price), BENCH_ARG(strike),
                     BENCH_ARG(years), BENCH_ARG(rate), BENCH_ARG(volatility), BENCH_ARG(k->options));
    if (s != HEDDLE_OK || (s = heddle_read(h, call, k->got, bytes)) != HEDDLE_OK)
        return s;
    reference(k);
    s = bench_compare(k->got, k->call, k->options, 2e-5, "call", why, why_size);
    if (s != HEDDLE_OK || (s = heddle_read(h, put, k->got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare(k->got, k->put, k->options, 2e-5, "put", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct market k = {.options = size == BENCH_SMALL ? 4096 : 1000000};
    float *all = calloc((size_t)k.options * 6, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    float **const arrays[] = {&k.price, &k.strike, &k.years, &k.call, &k.put, &k.got};
    for (size_t i = 0; i < 6; i++)
        *arrays[i] = all + i * k.options;
    enum heddle_status s = run_on(h, m, &k, size == BENCH_SMALL ? 8 : 480, why, why_size);
    free(all);
    return s;
}

const struct bench bench_black = {
    "black", "prices of options by a formula; chains of arithmetic, a strided loop", "pepsc dac", "black.ptx", run,
};
