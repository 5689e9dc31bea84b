/* fft: Fourier transforms of 512 random complex numbers with parts in [-1, 1). The reference is the recursive transform
 * in double. Results are compared within 1e-4 of max(1, |part|): the fast sines and cosines of the twiddle factors have
 * errors of about 5e-7, and sums of 512 numbers are around 13.
 *   size small: 32 transforms, 0.03 M warp and 0.81 M thread instructions
 *   size paper: 2,048 transforms, 1.6 M warp and 52 M thread instructions */
#include "bench.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_fft;

enum { POINTS = 512, BLOCK = 64 };

/* Transforms the n = POINTS / step numbers in[0], in[2 * step], in[4 * step], ... to `out`. n is a power of two.
 * `root`: the POINTS roots of unity, clockwise from 1. */
static void transform(const float *in, size_t step, double complex *out, uint32_t n, const double complex *root) {
    if (n == 1) {
        out[0] = (double)in[0] + (double)in[1] * I;
        return;
    }
    transform(in, 2 * step, out, n / 2, root);
    transform(in + 2 * step, 2 * step, out + n / 2, n / 2, root);
    for (uint32_t k = 0; k < n / 2; k++) {
        double complex even = out[k], odd = out[k + n / 2] * root[k * step];
        out[k] = even + odd;
        out[k + n / 2] = even - odd;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, float *in, uint32_t transforms, char *why,
                                 size_t why_size) {
    size_t parts = (size_t)transforms * POINTS * 2, bytes = parts * sizeof *in;
    float *want = in + parts, *got = want + parts;
    uint64_t seed = 42;
    bench_fill(in, parts, &seed, -1, 1);
    uint64_t from = bench_buffer(h, in, bytes), to = bench_buffer(h, NULL, bytes);
    if (!from || !to)
        return heddle_status(h);
    struct heddle_dim grid = {transforms, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "fft", grid, block, BENCH_ARG(from), BENCH_ARG(to));
    if (s != HEDDLE_OK || (s = heddle_read(h, to, got, bytes)) != HEDDLE_OK)
        return s;
    double complex root[POINTS];
    for (uint32_t k = 0; k < POINTS; k++)
        root[k] = cexp(-2 * I * M_PI * k / POINTS);
    for (uint32_t i = 0; i < transforms; i++) {
        double complex out[POINTS];
        size_t at = (size_t)i * POINTS * 2;
        transform(in + at, 1, out, POINTS, root);
        for (uint32_t k = 0; k < POINTS; k++) {
            want[at + 2 * k] = (float)creal(out[k]);
            want[at + 2 * k + 1] = (float)cimag(out[k]);
        }
    }
    return bench_compare(got, want, parts, 1e-4, "part", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t transforms = size == BENCH_SMALL ? 32 : 2048;
    float *all = calloc((size_t)transforms * POINTS * 2 * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, transforms, why, why_size);
    free(all);
    return s;
}

const struct bench bench_fft = {
    "fft", "Fourier transforms in registers, exchanged through shared memory; no branch", "pepsc dac", "fft.ptx", run,
};
