/* lbm: simulates a fluid in a box with walls by the lattice-Boltzmann method. The fluid flows around balls, and a
 * moving lid drives it. The reference collides with fma in the kernel's order, so results are equal bit for bit.
 *   size small: 40 x 10 x 6, 1 step, 0.03 M warp and 0.57 M thread instructions
 *   size paper: 120 x 120 x 30, 1 step, 4.5 M warp and 130 M thread instructions (Parboil: 120 x 120 x 150) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_lbm;

enum { DIRECTIONS = 19, FLAGS = 19, ARRAYS, OBSTACLE = 1, ACCELERATE = 2, PAD = 8, MARGIN = 2 };
/* The directions C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB. Each row has x, y, z, and the
 * index of the opposite direction. */
static const int direction[DIRECTIONS][4] = {
    {0, 0, 0, 0},    {0, 1, 0, 2},  {0, -1, 0, 1},  {1, 0, 0, 4},   {-1, 0, 0, 3},   {0, 0, 1, 6},   {0, 0, -1, 5},
    {1, 1, 0, 10},   {-1, 1, 0, 9}, {1, -1, 0, 8},  {-1, -1, 0, 7}, {0, 1, 1, 14},   {0, 1, -1, 13}, {0, -1, 1, 12},
    {0, -1, -1, 11}, {1, 0, 1, 18}, {1, 0, -1, 17}, {-1, 0, 1, 16}, {-1, 0, -1, 15},
};
static const float omega = 1.95f;

struct fluid {
    uint32_t nx, ny, nz, steps;
    /* numbers of cells: in a padded row, in a padded layer, and in an array with its margins */
    uint32_t row, layer, cells;
    float *now, *next, *got; /* ARRAYS x cells each */
};

static float weight(int d) { return d == 0 ? 1 / 3.0f : d < 7 ? 1 / 18.0f : 1 / 36.0f; }

/* Returns the momentum along `axis`: the sum of the distributions f[d], each with the sign of the component of
 * direction d along this axis. The terms are added in the order of the kernel. */
static float momentum(const float f[DIRECTIONS], int axis) {
    static const int order[3][10] = {{3, 4, 7, 8, 9, 10, 15, 16, 17, 18},
                                     {1, 2, 7, 8, 9, 10, 11, 12, 13, 14},
                                     {5, 6, 11, 12, 13, 14, 15, 16, 17, 18}};
    float sum = f[order[axis][0]];
    for (int i = 1; i < 10; i++)
        sum = direction[order[axis][i]][axis] > 0 ? sum + f[order[axis][i]] : sum - f[order[axis][i]];
    return sum;
}

static void collide(float f[DIRECTIONS], bool accelerate) {
    float rho = f[0], u[3];
    for (int d = 1; d < DIRECTIONS; d++)
        rho += f[d];
    for (int k = 0; k < 3; k++)
        u[k] = momentum(f, k) / rho;
    if (accelerate) {
        u[0] = 0.005f;
        u[1] = 0.002f;
        u[2] = 0;
    }
    float u2 = fmaf(1.5f, fmaf(u[2], u[2], fmaf(u[1], u[1], u[0] * u[0])), -1);
    for (int d = 0; d < DIRECTIONS; d++) {
        float along = 0, part = weight(d) * (omega * rho);
        for (int k = 0; k < 3; k++)
            along = direction[d][k] > 0 ? along + u[k] : direction[d][k] < 0 ? along - u[k] : along;
        float towards = d ? fmaf(along, fmaf(4.5f, along, 3), -u2) : -u2;
        f[d] = fmaf(part, towards, (1 - omega) * f[d]);
    }
}

static uint32_t flags_at(const struct fluid *k, size_t cell) {
    uint32_t flags;
    memcpy(&flags, k->now + FLAGS * (size_t)k->cells + cell, sizeof flags);
    return flags;
}

static size_t cell_at(const struct fluid *k, uint32_t x, uint32_t y, uint32_t z) {
    return x + (size_t)y * k->row + (size_t)(z + MARGIN) * k->layer;
}

/* Computes one time step from `now` to `next`, and then swaps the two pointers. */
static void step(struct fluid *k) {
    for (uint32_t i = 0; i < k->nx * k->ny * k->nz; i++) {
        size_t cell = cell_at(k, i % k->nx, i / k->nx % k->ny, i / k->nx / k->ny);
        uint32_t flags = flags_at(k, cell);
        float f[DIRECTIONS], in[DIRECTIONS];
        for (int d = 0; d < DIRECTIONS; d++)
            in[d] = f[d] = k->now[(size_t)d * k->cells + cell];
        if (!(flags & OBSTACLE))
            collide(f, flags & ACCELERATE);
        for (int d = 0; d < DIRECTIONS; d++) {
            const int *to = direction[d];
            ptrdiff_t by = to[0] + to[1] * (ptrdiff_t)k->row + to[2] * (ptrdiff_t)k->layer;
            k->next[(ptrdiff_t)((size_t)d * k->cells + cell) + by] = flags & OBSTACLE ? in[to[3]] : f[d];
        }
    }
    float *swap = k->now;
    k->now = k->next;
    k->next = swap;
}

/* Fills the box: nearly at rest, with walls around it, balls inside, and a driven layer at the lid. */
static void fill(struct fluid *k) {
    uint64_t seed = 25;
    for (size_t i = 0; i < (size_t)DIRECTIONS * k->cells; i++)
        k->now[i] = weight((int)(i / k->cells)) * bench_uniform(&seed, 0.98f, 1.02f);
    for (uint32_t i = 0; i < k->nx * k->ny * k->nz; i++) {
        uint32_t x = i % k->nx, y = i / k->nx % k->ny, z = i / k->nx / k->ny, flags = 0;
        int dx = (int)(x % 20) - 10, dy = (int)(y % 16) - 8, dz = (int)(z % 8) - 4;
        if (x == 0 || y == 0 || z == 0 || x == k->nx - 1 || y == k->ny - 1 || z == k->nz - 1 ||
            dx * dx + dy * dy + dz * dz < 12)
            flags = OBSTACLE;
        else if (z == 1 || z == k->nz - 2)
            flags = ACCELERATE;
        memcpy(k->now + FLAGS * (size_t)k->cells + cell_at(k, x, y, z), &flags, sizeof flags);
    }
    memcpy(k->next, k->now, (size_t)ARRAYS * k->cells * sizeof *k->now);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct fluid *k, char *why,
                                 size_t why_size) {
    uint64_t bytes = (uint64_t)ARRAYS * k->cells * sizeof *k->now, margin = MARGIN * k->layer * sizeof *k->now;
    fill(k);
    uint64_t buffer[2] = {bench_buffer(h, k->now, bytes), bench_buffer(h, k->next, bytes)};
    if (!buffer[0] || !buffer[1])
        return heddle_status(h);
    struct heddle_dim grid = {k->ny, k->nz, 1}, block = {k->nx, 1, 1};
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t i = 0; s == HEDDLE_OK && i < k->steps; i++) {
        uint64_t from = buffer[i % 2] + margin, to = buffer[1 - i % 2] + margin;
        s = BENCH_LAUNCH(h, m, "lbm", grid, block, BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(k->row),
                         BENCH_ARG(k->layer), BENCH_ARG(k->cells));
        step(k);
    }
    if (s != HEDDLE_OK || (s = heddle_read(h, buffer[k->steps % 2], k->got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare(k->got, k->now, (size_t)ARRAYS * k->cells, 0, "array", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct fluid k = {.nx = 40, .ny = 10, .nz = 6, .steps = 1};
    if (size != BENCH_SMALL)
        k = (struct fluid){.nx = 120, .ny = 120, .nz = 30, .steps = 1};
    k.row = k.nx + PAD;
    k.layer = k.row * k.ny;
    k.cells = k.layer * (k.nz + 2 * MARGIN);
    size_t each = (size_t)ARRAYS * k.cells;
    float *all = calloc(each * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    k.now = all;
    k.next = all + each;
    k.got = all + 2 * each;
    enum heddle_status s = run_on(h, m, &k, why, why_size);
    free(all);
    return s;
}

const struct bench bench_lbm = {
    "lbm", "lattice-Boltzmann fluid; if and else of unequal weight at obstacles, all memory", "dac", "lbm.ptx", run,
};
