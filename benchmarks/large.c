/* Three of four large programs for sampled simulation (docs/sampling.md); the fourth is transformer.c. References
 * compute the same operations in the same order, so results are equal bit for bit. Commands without names of
 * benchmarks leave out the set "large".
 *   jacobi1000: 1,000 launches of a stencil
 *     size small: 8 launches on 64 x 64 cells; paper: 512 x 512 cells; card: 1024 x 1024 cells
 *   levels2000: breadth-first search with 2,000 levels, a launch a level
 *     size small: 26 levels; paper: a band of 2,000 x 100 nodes; card: 2,000 x 400 nodes, 0.9 * 10^9 warp instructions
 *   rays1080p: a ray tracer
 *     size small: 64 x 36 pixels; paper: 1920 x 1080 pixels and 48 spheres, 0.15 * 10^9 warp instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_jacobi1000, bench_levels2000, bench_rays1080p;

/* ---- jacobi1000 ---- */

static void jacobi_steps(float *in, float *out, int n, int steps) {
    for (int t = 0; t < steps; t++) {
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                const float *p = in + (size_t)y * (size_t)n + x;
                out[(size_t)y * (size_t)n + (size_t)x] = 0.2f * (p[0] + p[-1] + p[1] + p[-n] + p[n]);
            }
        float *swap = in;
        in = out;
        out = swap;
    }
}

static enum heddle_status jacobi_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                     size_t why_size) {
    const int n = size == BENCH_SMALL ? 64 : size == BENCH_PAPER ? 512 : 1024, steps = size == BENCH_SMALL ? 8 : 1000;
    const size_t cells = (size_t)n * (size_t)n, bytes = cells * sizeof(float);
    float *in = calloc(3 * cells, sizeof *in);
    uint64_t seed = 5;
    if (!in)
        return bench_no_memory(why, why_size);
    float *out = in + cells, *got = out + cells;
    bench_fill(in, cells, &seed, 0, 1);
    memcpy(out, in, bytes);
    uint64_t a = bench_buffer(h, in, bytes), b = bench_buffer(h, out, bytes);
    enum heddle_status s = a && b ? HEDDLE_OK : heddle_status(h);
    for (int t = 0; t < steps && s == HEDDLE_OK; t++) {
        const uint64_t from = t % 2 ? b : a, to = t % 2 ? a : b;
        s = BENCH_LAUNCH(h, m, "jacobi", ((struct heddle_dim){(uint32_t)n / 32, (uint32_t)n / 8, 1}),
                         ((struct heddle_dim){32, 8, 1}), BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(n));
    }
    if (s == HEDDLE_OK && (s = heddle_read(h, a, got, bytes)) == HEDDLE_OK) { /* `steps` is even: the result is in a */
        jacobi_steps(in, out, n, steps);
        s = bench_compare(got, in, cells, 0, "cell", why, why_size);
    }
    free(in);
    return s;
}

const struct bench bench_jacobi1000 = {
    "jacobi1000", "1,000 steps of a 5-point stencil, a launch a step; an if at the border", "large", "large.ptx",
    jacobi_run,
};

/* ---- levels2000 ---- */

/* A band of `length` columns of `width` nodes. Each node has edges to the next and the previous column, and within its
 * column. */
struct band {
    int n, length, width;
    int *first, *edge, *depth;
};

static int band_edges(const struct band *b, int node, int *out) {
    const int column = node / b->width, row = node % b->width;
    int n = 0;
    if (column > 0)
        out[n++] = node - b->width;
    if (column + 1 < b->length) {
        out[n++] = node + b->width;
        if (row % 3 == 0 && row + 2 < b->width)
            out[n++] = node + b->width + 2;
    }
    if (row > 0)
        out[n++] = node - 1;
    if (row + 1 < b->width)
        out[n++] = node + 1;
    return n;
}

static bool band_make(struct band *b) {
    int some[8], edges = 0;
    b->n = b->length * b->width;
    b->first = calloc((size_t)b->n + 1, sizeof *b->first);
    b->edge = calloc((size_t)b->n * 5, sizeof *b->edge);
    b->depth = calloc((size_t)b->n * 2, sizeof *b->depth);
    if (!b->first || !b->edge || !b->depth)
        return false;
    for (int i = 0; i < b->n; i++) {
        b->first[i] = edges;
        const int n = band_edges(b, i, some);
        for (int k = 0; k < n; k++)
            b->edge[edges++] = some[k];
        b->depth[i] = i < b->width ? 0 : -1; /* the search begins at the first column */
    }
    b->first[b->n] = edges;
    return true;
}

static enum heddle_status band_search(struct heddle *h, struct heddle_module *m, const struct band *b, char *why,
                                      size_t why_size) {
    const size_t bytes = (size_t)b->n * sizeof(int);
    const uint64_t first = bench_buffer(h, b->first, bytes + sizeof(int)), depth = bench_buffer(h, b->depth, bytes),
                   edge = bench_buffer(h, b->edge, (uint64_t)b->first[b->n] * sizeof(int));
    enum heddle_status s = first && edge && depth ? HEDDLE_OK : heddle_status(h);
    int *got = b->depth + b->n;
    for (int now = 0; now < b->length && s == HEDDLE_OK; now++)
        s = BENCH_LAUNCH(h, m, "level", ((struct heddle_dim){bench_blocks((uint32_t)b->n, 256), 1, 1}),
                         ((struct heddle_dim){256, 1, 1}), BENCH_ARG(first), BENCH_ARG(edge), BENCH_ARG(depth),
                         BENCH_ARG(b->n), BENCH_ARG(now));
    if (s != HEDDLE_OK || (s = heddle_read(h, depth, got, bytes)) != HEDDLE_OK)
        return s;
    for (int i = 0; i < b->n; i++)
        b->depth[i] = i / b->width; /* no edge skips a column */
    return bench_compare_words((uint32_t *)got, (uint32_t *)b->depth, (size_t)b->n, "depth", why, why_size);
}

static enum heddle_status levels_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                     size_t why_size) {
    struct band b = {.length = size == BENCH_SMALL ? 26 : 2000,
                     .width = size == BENCH_SMALL   ? 20
                              : size == BENCH_PAPER ? 100
                                                    : 400};
    enum heddle_status s = band_make(&b) ? band_search(h, m, &b, why, why_size) : bench_no_memory(why, why_size);
    free(b.first);
    free(b.edge);
    free(b.depth);
    return s;
}

const struct bench bench_levels2000 = {
    "levels2000", "breadth-first search with 2,000 levels, a launch a level; a loop of uneven length",
    "large",      "large.ptx",
    levels_run,
};

/* ---- rays1080p ---- */

struct ray {
    float o[3], d[3];
};

static float dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static float nearest(const float (*sphere)[4], int n, const float *o, const float *d, int *hit) {
    float best = 1e30f;
    *hit = -1;
    for (int i = 0; i < n; i++) {
        const float to[3] = {sphere[i][0] - o[0], sphere[i][1] - o[1], sphere[i][2] - o[2]};
        const float along = dot(to, d), left = along * along - dot(to, to) + sphere[i][3] * sphere[i][3];
        const float t = left > 0 ? along - sqrtf(left) : 0;
        if (t > 1e-3f && t < best) {
            best = t;
            *hit = i;
        }
    }
    return best;
}

static float pixel(const float (*sphere)[4], int n, int px, int py, int width, int height) {
    static const float sun[3] = {0.6f, 0.64f, -0.48f};
    struct ray r = {{0, 0, -8}, {(float)(px - width / 2) / (float)height, (float)(py - height / 2) / (float)height, 1}};
    const float size = sqrtf(dot(r.d, r.d));
    float light = 0, weight = 1;
    for (int k = 0; k < 3; k++)
        r.d[k] /= size;
    for (int bounce = 0; bounce < 3; bounce++, weight *= 0.5f) {
        int hit, shadow;
        const float t = nearest(sphere, n, r.o, r.d, &hit);
        if (hit < 0)
            return light + weight * 0.2f;
        float normal[3];
        for (int k = 0; k < 3; k++) {
            r.o[k] = r.o[k] + t * r.d[k];
            normal[k] = (r.o[k] - sphere[hit][k]) / sphere[hit][3];
        }
        const float bright = dot(normal, sun), twice = 2 * dot(r.d, normal);
        if (bright > 0) {
            nearest(sphere, n, r.o, sun, &shadow);
            light += shadow < 0 ? weight * bright : 0;
        }
        for (int k = 0; k < 3; k++)
            r.d[k] = r.d[k] - twice * normal[k];
    }
    return light;
}

/* Compares every `step`-th pixel: the reference of the whole picture would take minutes. */
static enum heddle_status rays_check(const float *got, const float (*sphere)[4], int n, int width, int height, int step,
                                     char *why, size_t why_size) {
    for (int i = 0; i < width * height; i += step) {
        const float want = pixel(sphere, n, i % width, i / width, width, height);
        if (bench_same((double)got[i], (double)want, 0))
            continue;
        snprintf(why, why_size, "pixel %d: %g instead of %g", i, (double)got[i], (double)want);
        return HEDDLE_WRONG;
    }
    return HEDDLE_OK;
}

static enum heddle_status rays_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                   size_t why_size) {
    const bool small = size == BENCH_SMALL;
    const int n = small ? 12 : 48, width = small ? 64 : 1920, height = small ? 36 : 1080;
    const size_t bytes = (size_t)width * (size_t)height * sizeof(float);
    float sphere[48][4], *got = malloc(bytes);
    uint64_t seed = 9;
    if (!got)
        return bench_no_memory(why, why_size);
    for (int i = 0; i < n; i++) {
        bench_fill(sphere[i], 3, &seed, -4, 4);
        sphere[i][3] = bench_uniform(&seed, 0.3f, 0.9f);
    }
    const uint64_t spheres = bench_buffer(h, sphere, sizeof sphere), image = bench_buffer(h, NULL, bytes);
    enum heddle_status s = spheres && image ? HEDDLE_OK : heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "pixels",
                         ((struct heddle_dim){bench_blocks((uint32_t)width, 16), bench_blocks((uint32_t)height, 8), 1}),
                         ((struct heddle_dim){16, 8, 1}), BENCH_ARG(spheres), BENCH_ARG(n), BENCH_ARG(image),
                         BENCH_ARG(width), BENCH_ARG(height));
    if (s == HEDDLE_OK && (s = heddle_read(h, image, got, bytes)) == HEDDLE_OK)
        s = rays_check(got, sphere, n, width, height, small ? 1 : 997, why, why_size);
    free(got);
    return s;
}

const struct bench bench_rays1080p = {
    "rays1080p", "a ray tracer with shadows and reflections; ifs without else, breaks", "large", "large.ptx", rays_run,
};
