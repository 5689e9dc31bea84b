/* kmeans: divides points into five clusters; the first five points are the initial centres. Points lie around five true
 * centres, so that a few iterations suffice. The benchmark ends when no point changes its cluster, or at a limit of
 * iterations. The reference computes distances with fma in the kernel's order, so that both assign every point to the
 * same cluster.
 *   size small: 1,000 points of 8 features, at most 3 iterations, 0.05 M warp and 1.4 M thread instructions
 *   size paper: 50,000 points of 34 features, at most 4 iterations, 11 M warp and 335 M thread instructions
 *     (Rodinia: 494,020 points, 34 features)
 *   size card: 819,200 points of 34 features, one iteration */
#include "bench.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_kmeans;

enum { CENTRES = 5, MAX_FEATURES = 34, BLOCK = 256 };

struct kmeans {
    uint32_t points, features, rounds;
    float *data;          /* points x features */
    uint32_t *want, *got; /* points: clusters */
};

static void fill(struct kmeans *k) {
    uint64_t seed = 20;
    float centre[CENTRES * MAX_FEATURES];
    bench_fill(centre, CENTRES * MAX_FEATURES, &seed, 0, 10);
    for (uint32_t i = 0; i < k->points; i++) {
        const float *around = centre + bench_random(&seed) % CENTRES * MAX_FEATURES;
        for (uint32_t f = 0; f < k->features; f++)
            k->data[(size_t)i * k->features + f] = around[f] + bench_uniform(&seed, -4, 4);
    }
}

static uint32_t nearest(const float *point, const float *centres, uint32_t features) {
    uint32_t best = 0;
    float least = FLT_MAX;
    for (uint32_t c = 0; c < CENTRES; c++) {
        float distance = 0;
        for (uint32_t f = 0; f < features; f++) {
            float d = point[f] - centres[c * features + f];
            distance = fmaf(d, d, distance);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

/* Moves each centre to the mean of its points; a centre without points stays. */
static void move_centres(const struct kmeans *k, const uint32_t *cluster, float *centres) {
    double sum[CENTRES * MAX_FEATURES] = {0};
    uint32_t members[CENTRES] = {0}, n = k->features;
    for (uint32_t i = 0; i < k->points; i++) {
        members[cluster[i]]++;
        for (uint32_t f = 0; f < n; f++)
            sum[cluster[i] * n + f] += (double)k->data[(size_t)i * n + f];
    }
    for (uint32_t c = 0; c < CENTRES; c++)
        for (uint32_t f = 0; members[c] && f < n; f++)
            centres[c * n + f] = (float)(sum[c * n + f] / members[c]);
}

/* Assigns points to clusters twice: with a kernel launch, and in C. Sets *moved if a point changed its cluster. */
static enum heddle_status assign(struct heddle *h, struct heddle_module *m, struct kmeans *k, const float *centres,
                                 uint64_t data, uint64_t member, bool *moved, char *why, size_t why_size) {
    struct heddle_dim grid = {bench_blocks(k->points, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    uint64_t symbol = heddle_symbol(h, m, "kmeans_centres", NULL);
    uint32_t count = CENTRES;
    if (!symbol || heddle_write(h, symbol, centres, CENTRES * k->features * sizeof *centres) != HEDDLE_OK)
        return heddle_status(h);
    enum heddle_status s = BENCH_LAUNCH(h, m, "kmeans_nearest", grid, block, BENCH_ARG(data), BENCH_ARG(member),
                                        BENCH_ARG(k->points), BENCH_ARG(k->features), BENCH_ARG(count));
    if (s != HEDDLE_OK || (s = heddle_read(h, member, k->got, k->points * sizeof *k->got)) != HEDDLE_OK)
        return s;
    *moved = false;
    for (uint32_t i = 0; i < k->points; i++) {
        uint32_t to = nearest(k->data + (size_t)i * k->features, centres, k->features);
        *moved = *moved || to != k->want[i];
        k->want[i] = to;
    }
    return bench_compare_words(k->got, k->want, k->points, "cluster", why, why_size);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct kmeans *k, char *why,
                                 size_t why_size) {
    fill(k);
    uint64_t bytes = (uint64_t)k->points * k->features * sizeof(float);
    uint64_t in = bench_buffer(h, k->data, bytes), data = bench_buffer(h, NULL, bytes);
    uint64_t member = bench_buffer(h, NULL, k->points * sizeof *k->got);
    if (!in || !data || !member)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(k->points, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "kmeans_swap", grid, block, BENCH_ARG(in), BENCH_ARG(data),
                                        BENCH_ARG(k->points), BENCH_ARG(k->features));
    float centres[CENTRES * MAX_FEATURES];
    memcpy(centres, k->data, CENTRES * k->features * sizeof *centres);
    memset(k->want, 0xff, k->points * sizeof *k->want);
    bool moved = true;
    for (uint32_t r = 0; s == HEDDLE_OK && moved && r < k->rounds; r++) {
        s = assign(h, m, k, centres, data, member, &moved, why, why_size);
        if (s == HEDDLE_OK)
            move_centres(k, k->want, centres);
    }
    return s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct kmeans k = {1000, 8, 3, NULL, NULL, NULL};
    if (size != BENCH_SMALL)
        k = (struct kmeans){50000, MAX_FEATURES, 4, NULL, NULL, NULL};
    if (size == BENCH_CARD)
        k = (struct kmeans){819200, MAX_FEATURES, 1, NULL, NULL, NULL};
    k.data = calloc((size_t)k.points * k.features, sizeof *k.data);
    k.want = calloc((size_t)k.points * 2, sizeof *k.want);
    k.got = k.want ? k.want + k.points : NULL;
    enum heddle_status s = k.data && k.want ? run_on(h, m, &k, why, why_size) : bench_no_memory(why, why_size);
    free(k.data);
    free(k.want);
    return s;
}

const struct bench bench_kmeans = {
    "kmeans", "clustering; uniform loops over centres and features, a minimum", "dac", "kmeans.ptx", run,
};
