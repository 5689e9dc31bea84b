/* pathfinder: finds the cheapest way through a grid, from the first row to the last. Costs of cells are 0 to 9. The
 * reference is the recurrence as a loop in C.
 *   size small: 1500 columns, 20 rows, 8 rows per launch, 0.04 M warp and 1.2 M thread instructions
 *   size paper: 100,000 columns, 100 rows, 20 rows per launch, as in Rodinia; 13 M warp and 374 M thread
 *     instructions (639 M in the dual-path paper) */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_pathfinder;

enum { THREADS = 256 };

struct grid {
    uint32_t columns, rows, height; /* height: rows a launch */
    int32_t *wall;                  /* rows x columns */
    int32_t *want, *next, *got;     /* columns each */
};

static void reference(struct grid *g) {
    memcpy(g->want, g->wall, g->columns * sizeof *g->want);
    for (uint32_t row = 1; row < g->rows; row++) {
        for (uint32_t x = 0; x < g->columns; x++) {
            int32_t least = g->want[x];
            if (x && g->want[x - 1] < least)
                least = g->want[x - 1];
            if (x + 1 < g->columns && g->want[x + 1] < least)
                least = g->want[x + 1];
            g->next[x] = least + g->wall[(size_t)row * g->columns + x];
        }
        int32_t *swap = g->want;
        g->want = g->next;
        g->next = swap;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct grid *g, char *why,
                                 size_t why_size) {
    uint64_t seed = 31, line = g->columns * sizeof *g->wall;
    for (size_t i = 0; i < (size_t)g->columns * g->rows; i++)
        g->wall[i] = (int32_t)(bench_random(&seed) % 10);
    uint64_t wall = bench_buffer(h, g->wall + g->columns, line * (g->rows - 1));
    uint64_t from = bench_buffer(h, g->wall, line), to = bench_buffer(h, NULL, line);
    if (!wall || !from || !to)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(g->columns, THREADS - 2 * g->height), 1, 1}, block = {THREADS, 1, 1};
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t row = 0; s == HEDDLE_OK && row < g->rows - 1; row += g->height) {
        uint32_t left = g->rows - 1 - row, steps = left < g->height ? left : g->height, border = steps;
        uint64_t before = from;
        grid.x = bench_blocks(g->columns, THREADS - 2 * steps);
        s = BENCH_LAUNCH(h, m, "pathfinder", grid, block, BENCH_ARG(steps), BENCH_ARG(wall), BENCH_ARG(from),
                         BENCH_ARG(to), BENCH_ARG(g->columns), BENCH_ARG(g->rows), BENCH_ARG(row), BENCH_ARG(border));
        from = to;
        to = before;
    }
    if (s != HEDDLE_OK || (s = heddle_read(h, from, g->got, line)) != HEDDLE_OK)
        return s;
    reference(g);
    return bench_compare_words((const uint32_t *)g->got, (const uint32_t *)g->want, g->columns, "cost", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct grid g = {.columns = 1500, .rows = 20, .height = 8};
    if (size != BENCH_SMALL)
        g = (struct grid){.columns = 100000, .rows = 100, .height = 20};
    int32_t *all = calloc((size_t)g.columns * (g.rows + 3), sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    g.wall = all;
    g.want = all + (size_t)g.columns * g.rows;
    g.next = g.want + g.columns;
    g.got = g.next + g.columns;
    enum heddle_status s = run_on(h, m, &g, why, why_size);
    free(all);
    return s;
}

const struct bench bench_pathfinder = {
    "pathfinder",
    "cheapest path, row by row in pyramids; ifs without else, barriers",
    "dual-path-regular dac",
    "pathfinder.ptx",
    run,
};
