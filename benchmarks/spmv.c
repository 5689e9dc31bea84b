/* spmv: y = A x, with one thread per row. Row lengths follow a power law: with probability 2^-(k+1), a row has 2^k to
 * 2^(k+1) - 1 entries. Half of the rows have one entry, and the longest rows have hundreds. Half of the entries of a
 * row lie near the diagonal, half anywhere. The reference adds with fma in the kernel's order.
 *   size small: 3,000 rows, 0.08 M warp and 0.29 M thread instructions
 *   size paper: 150,000 rows, 8 % of lanes are used, 6.7 M warp and 17 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_spmv;

enum { NEAR = 64, MAX_POWER = 9 };

struct matrix {
    uint32_t rows, n;
    uint32_t *first, *column;      /* first: rows + 1 elements; column: n elements (one for each entry of the matrix) */
    float *value, *x, *want, *got; /* value: n elements; the others: one element per row */
};

/* Draws the random length of each row. The sum of the lengths is the number of entries, which must be known before the
 * entries are allocated. */
static void lengths(struct matrix *a, int max_power) {
    uint64_t seed = 11;
    for (uint32_t i = 0; i < a->rows; i++) {
        uint64_t r = bench_random(&seed);
        int k = 0;
        while (k < max_power && r >> k & 1)
            k++;
        a->first[i] = a->n;
        a->n += (1u << k) + (uint32_t)(r >> 32) % (1u << k);
    }
    a->first[a->rows] = a->n;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void fill(struct matrix *a) {
    uint64_t seed = 12;
    for (uint32_t i = 0; i < a->rows; i++) {
        uint32_t *row = a->column + a->first[i], n = a->first[i + 1] - a->first[i];
        for (uint32_t e = 0; e < n; e++) {
            uint64_t r = bench_random(&seed);
            row[e] = (uint32_t)((e & 1 ? r >> 8 : i + r % NEAR) % a->rows);
        }
        qsort(row, n, sizeof *row, by_number);
    }
    bench_fill(a->value, a->n, &seed, -1, 1);
    bench_fill(a->x, a->rows, &seed, -1, 1);
}

static enum heddle_status multiply(struct heddle *h, struct heddle_module *m, struct matrix *a) {
    uint64_t first = bench_buffer(h, a->first, (a->rows + 1) * sizeof *a->first);
    uint64_t column = bench_buffer(h, a->column, a->n * sizeof *a->column);
    uint64_t value = bench_buffer(h, a->value, a->n * sizeof *a->value);
    uint64_t x = bench_buffer(h, a->x, a->rows * sizeof *a->x), y = bench_buffer(h, NULL, a->rows * sizeof *a->got);
    if (!first || !column || !value || !x || !y)
        return heddle_status(h);
    struct heddle_dim block = {192, 1, 1}, grid = {bench_blocks(a->rows, 192), 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "spmv", grid, block, BENCH_ARG(first), BENCH_ARG(column),
                                        BENCH_ARG(value), BENCH_ARG(x), BENCH_ARG(y), BENCH_ARG(a->rows));
    return s == HEDDLE_OK ? heddle_read(h, y, a->got, a->rows * sizeof *a->got) : s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct matrix *a, char *why,
                                 size_t why_size) {
    fill(a);
    enum heddle_status s = multiply(h, m, a);
    if (s != HEDDLE_OK)
        return s;
    for (uint32_t i = 0; i < a->rows; i++)
        for (uint32_t e = a->first[i]; e < a->first[i + 1]; e++)
            a->want[i] = fmaf(a->value[e], a->x[a->column[e]], a->want[i]);
    return bench_compare(a->got, a->want, a->rows, 0, "y", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct matrix a = {.rows = size == BENCH_SMALL ? 3000 : 150000};
    enum heddle_status s = HEDDLE_OK;
    a.first = calloc(a.rows + 1, sizeof *a.first);
    if (a.first)
        lengths(&a, size == BENCH_SMALL ? MAX_POWER - 2 : MAX_POWER);
    float *all = calloc(a.n + 3 * (size_t)a.rows, sizeof *all);
    a.column = calloc(a.n + 1, sizeof *a.column);
    if (!a.first || !all || !a.column) {
        s = bench_no_memory(why, why_size);
    } else {
        a.value = all;
        a.x = all + a.n;
        a.want = a.x + a.rows;
        a.got = a.want + a.rows;
        s = run_on(h, m, &a, why, why_size);
    }
    free(a.first);
    free(a.column);
    free(all);
    return s;
}

const struct bench bench_spmv = {
    "spmv", "sparse matrix times vector; loops as long as a row, lengths by a power law", "dac", "spmv.ptx", run,
};
