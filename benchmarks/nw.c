/* nw: alignment of two random sequences over 23 letters. A random symmetric table scores pairs of letters (4 to 9 for
 * equal letters, -4 to 3 for different letters). A gap has a penalty of 10. The reference fills the matrix row by row.
 *   size small: 96 x 96, 0.03 M warp and 0.34 M thread instructions
 *   size paper: 1024 x 1024, 3.2 M warp and 39 M thread instructions (51 M in the dual-path paper) */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_nw;

enum { TILE = 16, KINDS = 23, PENALTY = 10 };

static void fill(int32_t *score, int32_t *matrix, uint32_t columns) {
    uint64_t seed = 27;
    int32_t table[KINDS][KINDS];
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j <= i; j++)
            table[i][j] = table[j][i] = (int32_t)(bench_random(&seed) % (i == j ? 6 : 8)) + (i == j ? 4 : -4);
    uint64_t one = 28, other = 29, rest;
    for (uint32_t i = 1; i < columns; i++) {
        uint64_t kind = bench_random(&one) % KINDS;
        rest = other;
        for (uint32_t j = 1; j < columns; j++)
            score[(size_t)i * columns + j] = table[kind][bench_random(&rest) % KINDS];
        matrix[i] = matrix[(size_t)i * columns] = -(int32_t)i * PENALTY;
    }
}

static void reference(const int32_t *score, int32_t *matrix, uint32_t columns) {
    for (uint32_t i = 1; i < columns; i++)
        for (uint32_t j = 1; j < columns; j++) {
            int32_t *at = matrix + (size_t)i * columns + j, up = *(at - columns) - PENALTY, left = at[-1] - PENALTY;
            *at = at[-(ptrdiff_t)columns - 1] + score[(size_t)i * columns + j];
            *at = *at < up ? up : *at;
            *at = *at < left ? left : *at;
        }
}

static enum heddle_status align(struct heddle *h, struct heddle_module *m, uint64_t score, uint64_t matrix,
                                uint32_t columns) {
    int32_t penalty = PENALTY;
    uint32_t tiles = (columns - 1) / TILE;
    struct heddle_dim block = {TILE, 1, 1};
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t step = 1; s == HEDDLE_OK && step < 2 * tiles; step++) {
        uint32_t i = step <= tiles ? step : 2 * tiles - step;
        struct heddle_dim grid = {i, 1, 1};
        s = BENCH_LAUNCH(h, m, step <= tiles ? "nw_down" : "nw_up", grid, block, BENCH_ARG(score), BENCH_ARG(matrix),
                         BENCH_ARG(columns), BENCH_ARG(penalty), BENCH_ARG(i), BENCH_ARG(tiles));
    }
    return s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, int32_t *score, uint32_t columns, char *why,
                                 size_t why_size) {
    size_t cells = (size_t)columns * columns, bytes = cells * sizeof *score;
    int32_t *want = score + cells, *got = want + cells;
    fill(score, want, columns);
    uint64_t dscore = bench_buffer(h, score, bytes), matrix = bench_buffer(h, want, bytes);
    if (!dscore || !matrix)
        return heddle_status(h);
    enum heddle_status s = align(h, m, dscore, matrix, columns);
    if (s != HEDDLE_OK || (s = heddle_read(h, matrix, got, bytes)) != HEDDLE_OK)
        return s;
    reference(score, want, columns);
    return bench_compare_words((const uint32_t *)got, (const uint32_t *)want, cells, "cell", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t columns = 1 + (size == BENCH_SMALL ? 96 : 1024);
    int32_t *all = calloc((size_t)columns * columns * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, columns, why, why_size);
    free(all);
    return s;
}

const struct bench bench_nw = {
    "nw",
    "alignment along diagonals of tiles; an if without else that grows and shrinks, barriers",
    "dual-path-regular pepsc dac",
    "nw.ptx",
    run,
};
