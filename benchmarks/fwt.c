/* fwt: the dyadic convolution of a long array with a short one, with values in [-1, 1): both are transformed,
 * multiplied, and transformed back. The reference is the convolution's definition in double. Results are compared
 * within 2e-5 of max(1, |value|): transformed values are some hundred times larger than the results.
 *   size small: 2^13 and 2^5 values, 0.08 M warp and 2.5 M thread instructions
 *   size paper: 2^19 and 2^7, 6.0 M warp and 189 M thread instructions (CUDA sample: 2^23 and 2^7)
 *   size card: the transform of 2^23 values; the reference is a transform in double, and results are compared within
 *     2e-5 of the largest possible value, 2^23 */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_fwt;

enum { NEAR = 11, BLOCK = 256, PRODUCT_BLOCKS = 128 };

struct arrays {
    uint32_t levels, short_levels;
    bool alone;                        /* only the transform of the data, without a convolution */
    float *data, *filter, *want, *got; /* 2^levels each */
};

/* Transforms an array in place. */
static enum heddle_status transform(struct heddle *h, struct heddle_module *m, uint64_t array, uint32_t levels) {
    uint32_t n = 1u << levels, left = levels;
    struct heddle_dim quarter = {n / 4 / BLOCK, 1, 1}, line = {BLOCK, 1, 1};
    enum heddle_status s = HEDDLE_OK;
    for (; s == HEDDLE_OK && left > NEAR; left -= 2) {
        uint32_t stride = 1u << (left - 2);
        s = BENCH_LAUNCH(h, m, "fwt_far", quarter, line, BENCH_ARG(array), BENCH_ARG(array), BENCH_ARG(stride));
    }
    if (s != HEDDLE_OK)
        return s;
    struct heddle_dim grid = {n >> left, 1, 1}, block = {(1u << left) / 4, 1, 1};
    const struct heddle_arg args[] = {BENCH_ARG(array), BENCH_ARG(array), BENCH_ARG(left)};
    return heddle_launch(h, m, "fwt_near", grid, block, (uint32_t)sizeof(float) << left, args, 3);
}

/* Transforms in double, level by level. Divides results and reference by the number of values. */
static enum heddle_status check_transform(const struct arrays *a, char *why, size_t why_size) {
    uint32_t n = 1u << a->levels;
    double *all = calloc(n, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    for (uint32_t i = 0; i < n; i++)
        all[i] = (double)a->data[i];
    for (uint32_t half = 1; half < n; half *= 2)
        for (uint32_t i = 0; i < n; i++)
            if (!(i & half)) {
                double x = all[i], y = all[i + half];
                all[i] = x + y;
                all[i + half] = x - y;
            }
    for (uint32_t i = 0; i < n; i++) {
        a->want[i] = (float)(all[i] / n);
        a->got[i] /= (float)n;
    }
    free(all);
    return bench_compare(a->got, a->want, n, 2e-5, "value", why, why_size);
}

static void reference(const struct arrays *a) {
    for (uint32_t i = 0; i < 1u << a->levels; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < 1u << a->short_levels; j++)
            sum += (double)a->data[i ^ j] * (double)a->filter[j];
        a->want[i] = (float)sum;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct arrays *a, char *why,
                                 size_t why_size) {
    uint32_t n = 1u << a->levels;
    uint64_t seed = 43, bytes = n * sizeof(float);
    bench_fill(a->data, n, &seed, -1, 1);
    bench_fill(a->filter, 1u << a->short_levels, &seed, -1, 1);
    uint64_t data = bench_buffer(h, a->data, bytes), filter = bench_buffer(h, a->filter, bytes);
    if (!data || !filter)
        return heddle_status(h);
    struct heddle_dim grid = {PRODUCT_BLOCKS, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = transform(h, m, data, a->levels);
    if (a->alone) {
        if (s == HEDDLE_OK)
            s = heddle_read(h, data, a->got, bytes);
        return s == HEDDLE_OK ? check_transform(a, why, why_size) : s;
    }
    if (s == HEDDLE_OK)
        s = transform(h, m, filter, a->levels);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "fwt_product", grid, block, BENCH_ARG(data), BENCH_ARG(filter), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = transform(h, m, data, a->levels);
    if (s != HEDDLE_OK || (s = heddle_read(h, data, a->got, bytes)) != HEDDLE_OK)
        return s;
    reference(a);
    return bench_compare(a->got, a->want, n, 2e-5, "value", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct arrays a = {.levels = 13, .short_levels = 5};
    if (size != BENCH_SMALL)
        a = (struct arrays){.levels = size == BENCH_CARD ? 23 : 19, .short_levels = 7};
    a.alone = size == BENCH_CARD;
    size_t n = (size_t)1 << a.levels;
    float *all = calloc(n * 4, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    a.data = all, a.filter = all + n, a.want = all + 2 * n, a.got = all + 3 * n;
    enum heddle_status s = run_on(h, m, &a, why, why_size);
    free(all);
    return s;
}

const struct bench bench_fwt = {
    "fwt", "Walsh transforms; sums and differences, two levels a barrier in shared memory", "pepsc", "fwt.ptx", run,
};
