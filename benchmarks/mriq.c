/* mriq: the matrix Q of a magnetic resonance image whose samples lie on a spiral. The parts of the signals and the
 * coordinates of the voxels are uniform random numbers. The reference is the sum in double, with the C library's sine
 * and cosine. Parts of Q are compared within 3e-4 of max(1, |part|): rounding shifts angles of up to 150 by up to 1e-5,
 * and 1,536 such errors add up.
 *   size small: 512 voxels, 41 samples, 0.01 M warp and 0.32 M thread instructions
 *   size paper: 8,192 voxels, 1,536 samples in two launches, 5.5 M warp and 177 M thread instructions (Parboil,
 *     small: 32,768 voxels, 3,072 samples)
 *   size card: 262,144 voxels, the 1,024 samples of a launch; the reference computes every 32nd voxel */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_mriq;

enum { BLOCK = 256, MOST = 1024, MAX_SAMPLES = 1536, MAX_VOXELS = 262144, CHECKED = 8192 };

/* The kernel's source has a struct with this layout. */
struct sample {
    float x, y, z, magnitude;
};

struct image {
    uint32_t voxels, samples;
    struct sample sample[MAX_SAMPLES];
    float real[MAX_SAMPLES], imaginary[MAX_SAMPLES], magnitude[MAX_SAMPLES], square[MAX_SAMPLES];
    float x[MAX_VOXELS], y[MAX_VOXELS], z[MAX_VOXELS], want[2 * MAX_VOXELS], got[2 * MAX_VOXELS];
};

static void fill(struct image *p) {
    uint64_t seed = 48;
    for (uint32_t i = 0; i < p->samples; i++) {
        float turn = 0.1f * (float)i, radius = 2 * (float)i / (float)p->samples;
        p->sample[i] = (struct sample){radius * cosf(turn), radius * sinf(turn), bench_uniform(&seed, -2, 2), 0};
    }
    bench_fill(p->real, p->samples, &seed, -1, 1);
    bench_fill(p->imaginary, p->samples, &seed, -1, 1);
    bench_fill(p->x, p->voxels, &seed, -4, 4);
    bench_fill(p->y, p->voxels, &seed, -4, 4);
    bench_fill(p->z, p->voxels, &seed, -4, 4);
}

static enum heddle_status magnitudes(struct heddle *h, struct heddle_module *m, struct image *p, char *why,
                                     size_t why_size) {
    uint64_t bytes = p->samples * sizeof(float), real = bench_buffer(h, p->real, bytes);
    uint64_t imaginary = bench_buffer(h, p->imaginary, bytes), magnitude = bench_buffer(h, NULL, bytes);
    if (!real || !imaginary || !magnitude)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(p->samples, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "mriq_magnitude", grid, block, BENCH_ARG(real), BENCH_ARG(imaginary),
                                        BENCH_ARG(magnitude), BENCH_ARG(p->samples));
    if (s != HEDDLE_OK || (s = heddle_read(h, magnitude, p->magnitude, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < p->samples; i++) {
        p->square[i] = p->real[i] * p->real[i] + p->imaginary[i] * p->imaginary[i];
        p->sample[i].magnitude = p->magnitude[i];
    }
    return bench_compare(p->magnitude, p->square, p->samples, 1e-6, "magnitude", why, why_size);
}

/* Computes the parts of Q of every `every`-th voxel, and copies those of the other voxels from the results. */
static void reference(struct image *p, uint32_t every) {
    memcpy(p->want, p->got, sizeof p->want);
    for (uint32_t v = 0; v < p->voxels; v += every) {
        double real = 0, imaginary = 0;
        for (uint32_t i = 0; i < p->samples; i++) {
            const struct sample *s = &p->sample[i];
            double at =
                (double)s->x * (double)p->x[v] + (double)s->y * (double)p->y[v] + (double)s->z * (double)p->z[v];
            real += (double)s->magnitude * cos(2 * M_PI * at);
            imaginary += (double)s->magnitude * sin(2 * M_PI * at);
        }
        p->want[v] = (float)real;
        p->want[p->voxels + v] = (float)imaginary;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct image *p, char *why,
                                 size_t why_size) {
    fill(p);
    enum heddle_status s = magnitudes(h, m, p, why, why_size);
    if (s != HEDDLE_OK)
        return s;
    uint64_t bytes = p->voxels * sizeof(float), q = bench_buffer(h, p->want, 2 * bytes), imaginary = q + bytes;
    uint64_t x = bench_buffer(h, p->x, bytes), y = bench_buffer(h, p->y, bytes), z = bench_buffer(h, p->z, bytes);
    uint64_t symbol = heddle_symbol(h, m, "mriq_samples", NULL);
    if (!q || !x || !y || !z || !symbol)
        return heddle_status(h);
    struct heddle_dim grid = {p->voxels / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    for (uint32_t from = 0; from < p->samples; from += MOST) {
        uint32_t n = p->samples - from < MOST ? p->samples - from : MOST;
        s = heddle_write(h, symbol, p->sample + from, n * sizeof *p->sample);
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "mriq", grid, block, BENCH_ARG(n), BENCH_ARG(x), BENCH_ARG(y), BENCH_ARG(z),
                             BENCH_ARG(q), BENCH_ARG(imaginary));
        if (s != HEDDLE_OK)
            return s;
    }
    if ((s = heddle_read(h, q, p->got, 2 * bytes)) != HEDDLE_OK)
        return s;
    reference(p, p->voxels > CHECKED ? p->voxels / CHECKED : 1);
    return bench_compare(p->got, p->want, 2 * (size_t)p->voxels, 3e-4, "part of Q", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct image *p = calloc(1, sizeof *p);
    if (!p)
        return bench_no_memory(why, why_size);
    p->voxels = size == BENCH_SMALL ? 512 : size == BENCH_PAPER ? 8192 : MAX_VOXELS;
    p->samples = size == BENCH_SMALL ? 41 : size == BENCH_PAPER ? MAX_SAMPLES : MOST;
    enum heddle_status s = run_on(h, m, p, why, why_size);
    free(p);
    return s;
}

const struct bench bench_mriq = {
    "mriq", "an image's matrix Q; uniform loop of sines and cosines over constant memory", "dac", "mriq.ptx", run,
};
