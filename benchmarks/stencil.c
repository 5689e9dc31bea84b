/* stencil: a 7-point stencil in 3-D. The reference is a loop over the grid with fma where the kernel has it, so results
 * are equal bit for bit.
 *   size small: 104 x 14 x 10, 2 steps, 0.04 M warp and 1.1 M thread instructions
 *   size paper: 128 x 128 x 32 as in Parboil, 6 steps, 4.0 M warp and 106 M thread instructions (115 M in the
 *     dual-path paper) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_stencil;

enum { WIDTH = 32, HEIGHT = 4 };
static const float c0 = 1.0f / 6, c1 = 1.0f / 36;

struct grid {
    uint32_t nx, ny, nz, steps;
    float *now, *next, *got; /* nx x ny x nz values in each array */
};

/* Computes one step from `now` to `next`, and then swaps the two pointers. */
static void step(struct grid *g) {
    size_t row = g->nx, layer = row * g->ny;
    for (uint32_t z = 1; z + 1 < g->nz; z++)
        for (uint32_t y = 1; y + 1 < g->ny; y++)
            for (uint32_t x = 1; x + 1 < g->nx; x++) {
                const float *at = g->now + z * layer + y * row + x;
                float sum = at[-1] + at[1] + at[row] + *(at - row) + at[layer] + *(at - layer);
                g->next[z * layer + y * row + x] = fmaf(sum, c1, -(*at * c0));
            }
    float *swap = g->now;
    g->now = g->next;
    g->next = swap;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct grid *g, char *why,
                                 size_t why_size) {
    size_t cells = (size_t)g->nx * g->ny * g->nz, bytes = cells * sizeof *g->now;
    uint64_t seed = 26;
    bench_fill(g->now, cells, &seed, 0, 1);
    memcpy(g->next, g->now, bytes);
    uint64_t buffer[2] = {bench_buffer(h, g->now, bytes), bench_buffer(h, g->now, bytes)};
    if (!buffer[0] || !buffer[1])
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(g->nx, 2 * WIDTH), bench_blocks(g->ny, HEIGHT), 1},
                      block = {WIDTH, HEIGHT, 1};
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t i = 0; s == HEDDLE_OK && i < g->steps; i++) {
        const struct heddle_arg args[] = {
            BENCH_ARG(c0),    BENCH_ARG(c1),    BENCH_ARG(buffer[i % 2]), BENCH_ARG(buffer[1 - i % 2]),
            BENCH_ARG(g->nx), BENCH_ARG(g->ny), BENCH_ARG(g->nz)};
        s = heddle_launch(h, m, "stencil", grid, block, 2 * WIDTH * HEIGHT * sizeof(float), args, 7);
        step(g);
    }
    if (s != HEDDLE_OK || (s = heddle_read(h, buffer[g->steps % 2], g->got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare(g->got, g->now, cells, 0, "cell", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct grid g = {.nx = 104, .ny = 14, .nz = 10, .steps = 2};
    if (size != BENCH_SMALL)
        g = (struct grid){.nx = 128, .ny = 128, .nz = 32, .steps = 6};
    size_t cells = (size_t)g.nx * g.ny * g.nz;
    float *all = calloc(cells * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    g.now = all;
    g.next = all + cells;
    g.got = all + 2 * cells;
    enum heddle_status s = run_on(h, m, &g, why, why_size);
    free(all);
    return s;
}

const struct bench bench_stencil = {
    "stencil", "7-point stencil in 3-D; ifs with else at the edges of tiles, barriers", "dual-path dac", "stencil.ptx",
    run,
};
