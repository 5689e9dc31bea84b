/* lps: one step of a Jacobi solver for Laplace's equation, on a box of random values in [0, 1). The reference adds in
 * the kernel's order, so results are equal bit for bit.
 *   size small: 40 x 18 x 12 cells, 0.02 M warp and 0.49 M thread instructions
 *   size paper: 100 x 100 x 100, 2.1 M warp and 46 M thread instructions (original program: as many cells; 72 M
 *     thread instructions in the dual-path paper) */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_lps;

enum { WIDTH = 32, DEPTH = 4 };

struct box {
    uint32_t nx, ny, nz;
    float *from, *want, *got;
};

static bool inside(uint32_t i, uint32_t n) { return i > 0 && i + 1 < n; }

static void reference(const struct box *b) {
    size_t row = b->nx, layer = row * b->ny;
    for (size_t at = 0; at < layer * b->nz; at++) {
        const float *u = b->from + at;
        bool inner = inside((uint32_t)(at % row), b->nx) && inside((uint32_t)(at / row % b->ny), b->ny) &&
                     inside((uint32_t)(at / layer), b->nz);
        b->want[at] = inner ? (*(u - 1) + u[1] + *(u - row) + u[row] + *(u - layer) + u[layer]) * (1 / 6.0f) : u[0];
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct box *b, char *why,
                                 size_t why_size) {
    uint64_t seed = 44, cells = (uint64_t)b->nx * b->ny * b->nz, bytes = cells * sizeof(float);
    bench_fill(b->from, cells, &seed, 0, 1);
    uint64_t from = bench_buffer(h, b->from, bytes), to = bench_buffer(h, NULL, bytes);
    if (!from || !to)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(b->nx, WIDTH), bench_blocks(b->ny, DEPTH), 1}, block = {WIDTH, DEPTH, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "lps", grid, block, BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(b->nx),
                                        BENCH_ARG(b->ny), BENCH_ARG(b->nz));
    if (s != HEDDLE_OK || (s = heddle_read(h, to, b->got, bytes)) != HEDDLE_OK)
        return s;
    reference(b);
    return bench_compare(b->got, b->want, cells, 0, "cell", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct box b = {.nx = 40, .ny = 18, .nz = 12};
    if (size != BENCH_SMALL)
        b = (struct box){.nx = 100, .ny = 100, .nz = 100};
    size_t cells = (size_t)b.nx * b.ny * b.nz;
    float *all = calloc(cells * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    b.from = all, b.want = all + cells, b.got = all + 2 * cells;
    enum heddle_status s = run_on(h, m, &b, why, why_size);
    free(all);
    return s;
}

const struct bench bench_lps = {
    "lps",
    "Laplace in 3-D; who brings the edge, and if and else on faces, between barriers",
    "dual-path pepsc dac",
    "lps.ptx",
    run,
};
