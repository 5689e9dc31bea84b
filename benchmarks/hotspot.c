/* hotspot: thermal simulation of a chip, two time steps per launch. The reference is a double loop over the grid, with
 * fma where the kernel has it, so results are equal bit for bit.
 *   size small: 64 x 64, 8 launches, 0.25 M warp and 6.9 M thread instructions
 *   size paper: 512 x 512, 2 launches, 3.3 M warp and 94 M thread instructions (110 M in the dual-path paper)
 *   size card: 1024 x 1024, one launch, as Rodinia's arguments "1024 2 2" */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_hotspot;

enum { STEPS = 2, TILE = 16 - 2 * STEPS };

struct chip {
    uint32_t side, launches;
    float c, rx, ry, rz;
    float *power, *now, *next, *got; /* side x side each */
};

/* Computes one time step, from `now` to `next`. */
static void step(const struct chip *k) {
    uint32_t n = k->side;
    for (uint32_t y = 0; y < n; y++)
        for (uint32_t x = 0; x < n; x++) {
            const float *at = k->now + (size_t)y * n + x;
            float t = *at, north = y ? at[-(ptrdiff_t)n] : t, south = y + 1 < n ? at[n] : t;
            float west = x ? at[-1] : t, east = x + 1 < n ? at[1] : t;
            float sum = fmaf(fmaf(t, -2, north + south), k->ry, k->power[(size_t)y * n + x]);
            sum = fmaf(fmaf(t, -2, east + west), k->rx, sum);
            sum = fmaf(80 - t, k->rz, sum);
            k->next[(size_t)y * n + x] = fmaf(k->c, sum, t);
        }
}

static void fill(struct chip *k) {
    uint64_t seed = 4;
    for (size_t i = 0; i < (size_t)k->side * k->side; i++) {
        k->now[i] = bench_uniform(&seed, 320, 330);
        k->power[i] = bench_uniform(&seed, 0, 0.01f);
    }
    /* rough values for a chip that is 16 mm wide and 0.5 mm thick */
    k->c = 0.05f;
    k->rx = 1.5f;
    k->ry = 1.5f;
    k->rz = 0.0003f;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct chip *k, char *why,
                                 size_t why_size) {
    uint32_t n = k->side, steps = STEPS, tiles = (n + TILE - 1) / TILE;
    size_t cells = (size_t)n * n, bytes = cells * sizeof(float);
    fill(k);
    uint64_t power = bench_buffer(h, k->power, bytes), from = bench_buffer(h, k->now, bytes),
             to = bench_buffer(h, NULL, bytes);
    if (!power || !from || !to)
        return heddle_status(h);
    struct heddle_dim grid = {tiles, tiles, 1}, block = {16, 16, 1};
    enum heddle_status s;
    for (uint32_t l = 0; l < k->launches; l++) {
        s = BENCH_LAUNCH(h, m, "hotspot", grid, block, BENCH_ARG(power), BENCH_ARG(from), BENCH_ARG(to), BENCH_ARG(n),
                         BENCH_ARG(n), BENCH_ARG(steps), BENCH_ARG(k->c), BENCH_ARG(k->rx), BENCH_ARG(k->ry),
                         BENCH_ARG(k->rz));
        if (s != HEDDLE_OK)
            return s;
        uint64_t swap = from;
        from = to;
        to = swap;
    }
    if ((s = heddle_read(h, from, k->got, bytes)) != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < k->launches * STEPS; i++) {
        step(k);
        float *swap = k->now;
        k->now = k->next;
        k->next = swap;
    }
    return bench_compare(k->got, k->now, cells, 0, "temperature", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct chip k = {.side = 64, .launches = 8};
    if (size != BENCH_SMALL)
        k = (struct chip){.side = size == BENCH_CARD ? 1024 : 512, .launches = size == BENCH_CARD ? 1 : 2};
    size_t cells = (size_t)k.side * k.side;
    float *all = calloc(cells * 4, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    k.power = all;
    k.now = all + cells;
    k.next = all + 2 * cells;
    k.got = all + 3 * cells;
    enum heddle_status s = run_on(h, m, &k, why, why_size);
    free(all);
    return s;
}

const struct bench bench_hotspot = {
    "hotspot", "2D thermal stencil; ifs without else at borders, barriers", "dual-path-regular dac", "hotspot.ptx", run,
};
