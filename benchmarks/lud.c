/* lud, lu: LU decomposition of a diagonally dominant matrix, in blocks of 16, in place. Both run the same algorithm:
 * lud has kernels written by hand, and lu has kernels that nvcc compiled. The reference is the textbook algorithm,
 * unblocked and in double; values are compared within 1e-4 of max(1, |value|).
 *   size small: n = 128, 0.22 M warp and 5.0 M thread instructions; lu: 0.21 M warp and 5.0 M thread
 *     instructions
 *   size paper: n = 256, 1.4 M warp and 36.5 M thread instructions (39 M in the dual-path paper); lu: 1.4 M warp
 *     and 37.5 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_lud, bench_lu;

enum { BLOCK = 16 };

/* Names of the kernels. */
struct kernels {
    const char *diagonal, *perimeter, *internal;
};

/* Decomposes `a` in place with Doolittle's algorithm: L has a unit diagonal and lies below it, U lies on and above it.
 * */
static void reference(double *a, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = k + 1; i < n; i++) {
            a[(size_t)i * n + k] /= a[(size_t)k * n + k];
            for (uint32_t j = k + 1; j < n; j++)
                a[(size_t)i * n + j] -= a[(size_t)i * n + k] * a[(size_t)k * n + j];
        }
}

static enum heddle_status factor(struct heddle *h, struct heddle_module *m, const struct kernels *k, uint64_t matrix,
                                 uint32_t n) {
    struct heddle_dim one = {1, 1, 1}, line = {BLOCK, 1, 1}, two = {2 * BLOCK, 1, 1}, square = {BLOCK, BLOCK, 1};
    for (uint32_t at = 0; at < n; at += BLOCK) {
        uint32_t left = (n - at) / BLOCK - 1;
        enum heddle_status s =
            BENCH_LAUNCH(h, m, k->diagonal, one, line, BENCH_ARG(matrix), BENCH_ARG(n), BENCH_ARG(at));
        if (s != HEDDLE_OK || !left)
            return s;
        struct heddle_dim edge = {left, 1, 1}, rest = {left, left, 1};
        s = BENCH_LAUNCH(h, m, k->perimeter, edge, two, BENCH_ARG(matrix), BENCH_ARG(n), BENCH_ARG(at));
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, k->internal, rest, square, BENCH_ARG(matrix), BENCH_ARG(n), BENCH_ARG(at));
        if (s != HEDDLE_OK)
            return s;
    }
    return HEDDLE_OK;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct kernels *k, double *exact,
                                 float *a, float *want, uint32_t n, char *why, size_t why_size) {
    uint64_t seed = 6;
    size_t cells = (size_t)n * n, bytes = cells * sizeof *a;
    for (size_t i = 0; i < cells; i++) {
        a[i] = bench_uniform(&seed, -1, 1) + (i % (n + 1) == 0 ? (float)n : 0);
        exact[i] = (double)a[i];
    }
    uint64_t matrix = bench_buffer(h, a, bytes);
    if (!matrix)
        return heddle_status(h);
    enum heddle_status s = factor(h, m, k, matrix, n);
    if (s != HEDDLE_OK || (s = heddle_read(h, matrix, a, bytes)) != HEDDLE_OK)
        return s;
    reference(exact, n);
    for (size_t i = 0; i < cells; i++)
        want[i] = (float)exact[i];
    return bench_compare(a, want, cells, 1e-4, "LU", why, why_size);
}

static enum heddle_status run_with(struct heddle *h, struct heddle_module *m, const struct kernels *k,
                                   enum bench_size size, char *why, size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 128 : 256;
    size_t cells = (size_t)n * n;
    double *exact = calloc(cells, sizeof *exact);
    float *a = calloc(cells, sizeof *a), *want = calloc(cells, sizeof *want);
    enum heddle_status s =
        exact && a && want ? run_on(h, m, k, exact, a, want, n, why, why_size) : bench_no_memory(why, why_size);
    free(exact);
    free(a);
    free(want);
    return s;
}

static enum heddle_status run_lud(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                  size_t why_size) {
    static const struct kernels k = {"lud_diagonal", "lud_perimeter", "lud_internal"};
    return run_with(h, m, &k, size, why, why_size);
}

static enum heddle_status run_lu(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                 size_t why_size) {
    static const struct kernels k = {"lu_diagonal", "lu_perimeter", "lu_internal"};
    return run_with(h, m, &k, size, why, why_size);
}

const struct bench bench_lud = {
    "lud",   "LU decomposition; if and else of equal weight over the halves of a warp", "dual-path dac", "lud.ptx",
    run_lud,
};
const struct bench bench_lu = {
    "lu", "lud as nvcc compiles it: unrolled, with chains of arithmetic", "pepsc", "lu.ptx", run_lu,
};
