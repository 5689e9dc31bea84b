/* flash2: attention of a transformer, forward, with and without a causal mask. flash3: the same by the tensor cores of
 * Hopper, without the mask. The reference computes softmax(Q K^T / 8) V in f64. The kernels round probabilities and
 * results to f16, whose fractions have 10 bits. Results are at most 1, so they may differ by 2^-9.
 *   size small: one head of 128 queries and keys, 0.04 M warp and 1.3 M thread instructions (flash2)
 *   size paper: 4 heads of 512 queries and keys, 2.2 M warp and 70 M thread instructions (flash2) */
#include "bench.h"
#include "bench_half.h"
#include <stdlib.h>

extern const struct bench bench_flash2, bench_flash3;

enum { D = 64, ROWS = 64, THREADS = 128, ROWS3 = 128, THREADS3 = 384, SHARED3 = 5 * ROWS3 * D * 2 + 64 };

/* Computes one row of results. `weight` has room for a number for each key. */
static void attend(const double *q, const double *k, const double *v, uint32_t keys, double *weight, float *out) {
    double most = -INFINITY, sum = 0;
    for (uint32_t j = 0; j < keys; j++) {
        weight[j] = 0;
        for (int d = 0; d < D; d++)
            weight[j] += q[d] * k[(size_t)j * D + d];
        weight[j] *= 0.125;
        most = fmax(most, weight[j]);
    }
    for (uint32_t j = 0; j < keys; j++)
        sum += weight[j] = exp(weight[j] - most);
    for (int d = 0; d < D; d++) {
        double all = 0;
        for (uint32_t j = 0; j < keys; j++)
            all += weight[j] * v[(size_t)j * D + d];
        out[d] = (float)(all / sum);
    }
}

struct arrays {
    uint16_t *bits;         /* elements of q, k, v and of the kernel's result, as bits */
    double *value, *weight; /* value: the elements of q, k and v as numbers; weight: the weights of one row */
    float *want, *got;
};

static enum heddle_status launch2(struct heddle *h, struct heddle_module *m, const uint64_t at[4], uint32_t length,
                                  uint32_t heads, int32_t causal) {
    const struct heddle_dim grid = {length / ROWS, heads, 1}, block = {THREADS, 1, 1};
    return BENCH_LAUNCH(h, m, "flash2", grid, block, BENCH_ARG(at[0]), BENCH_ARG(at[1]), BENCH_ARG(at[2]),
                        BENCH_ARG(at[3]), BENCH_ARG(length), BENCH_ARG(causal));
}

static enum heddle_status launch3(struct heddle *h, struct heddle_module *m, const uint64_t at[4], uint32_t length,
                                  uint32_t heads) {
    unsigned char map[3][HEDDLE_TENSOR_MAP_BYTES];
    for (int i = 0; i < 3; i++) {
        const struct heddle_tensor t = {.data = at[i],
                                        .type = HEDDLE_TENSOR_F16,
                                        .dims = 2,
                                        .size = {D, (uint64_t)heads * length},
                                        .stride = {0, D * sizeof(uint16_t)},
                                        .box = {D, ROWS3},
                                        .swizzle = HEDDLE_SWIZZLE_128B};
        if (heddle_tensor_map(h, &t, map[i]) != HEDDLE_OK)
            return heddle_status(h);
    }
    const struct heddle_arg args[] = {
        {map[0], sizeof map[0]}, {map[1], sizeof map[1]}, {map[2], sizeof map[2]}, BENCH_ARG(at[3]), BENCH_ARG(length)};
    const struct heddle_dim grid = {length / ROWS3, heads, 1}, block = {THREADS3, 1, 1};
    return heddle_launch(h, m, "flash3", grid, block, SHARED3, args, 5);
}

/* Computes the expected results. */
static void attend_all(struct arrays a, uint32_t length, uint32_t heads, bool causal) {
    const size_t n = (size_t)heads * length * D;
    for (size_t row = 0; row < (size_t)heads * length; row++) {
        const size_t head = row / length * length;
        attend(a.value + row * D, a.value + n + head * D, a.value + 2 * n + head * D,
               causal ? (uint32_t)(row - head) + 1 : length, a.weight, a.want + row * D);
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct arrays a, uint32_t length,
                                 uint32_t heads, bool third, char *why, size_t why_size) {
    const size_t n = (size_t)heads * length * D, bytes = n * sizeof *a.bits;
    uint64_t seed = 21, at[4];
    for (size_t i = 0; i < 3 * n; i++) {
        a.bits[i] = half_bits(bench_uniform(&seed, -1, 1) * (i < n ? 4 : 1)); /* large queries: weights differ */
        a.value[i] = half_value(a.bits[i]);
    }
    for (int i = 0; i < 4; i++)
        if (!(at[i] = bench_buffer(h, i < 3 ? a.bits + i * n : NULL, bytes)))
            return heddle_status(h);
    enum heddle_status s = HEDDLE_OK;
    for (int32_t causal = 0; s == HEDDLE_OK && causal < (third ? 1 : 2); causal++) {
        attend_all(a, length, heads, causal);
        s = third ? launch3(h, m, at, length, heads) : launch2(h, m, at, length, heads, causal);
        if (s == HEDDLE_OK)
            s = heddle_read(h, at[3], a.bits + 3 * n, bytes);
        if (s != HEDDLE_OK)
            return s;
        for (size_t i = 0; i < n; i++)
            a.got[i] = (float)half_value(a.bits[3 * n + i]);
        s = bench_compare(a.got, a.want, n, 0x1p-9, causal ? "causal attention" : "attention", why, why_size);
    }
    return s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, bool third, char *why,
                              size_t why_size) {
    const uint32_t length = size == BENCH_SMALL ? 128 : 512, heads = size == BENCH_SMALL ? 1 : 4;
    const size_t n = (size_t)heads * length * D;
    struct arrays a = {.bits = malloc(4 * n * sizeof *a.bits),
                       .value = malloc(3 * n * sizeof *a.value),
                       .weight = malloc(length * sizeof *a.weight),
                       .want = malloc(n * sizeof *a.want),
                       .got = malloc(n * sizeof *a.got)};
    enum heddle_status s = a.bits && a.value && a.weight && a.want && a.got
                               ? run_on(h, m, a, length, heads, third, why, why_size)
                               : bench_no_memory(why, why_size);
    free(a.bits);
    free(a.value);
    free(a.weight);
    free(a.want);
    free(a.got);
    return s;
}

static enum heddle_status run2(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                               size_t why_size) {
    return run(h, m, size, false, why, why_size);
}
static enum heddle_status run3(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                               size_t why_size) {
    return run(h, m, size, true, why, why_size);
}

const struct bench bench_flash2 = {
    "flash2", "attention by tensor cores, tiles copied asynchronously; no divergence", "tensor", "flash2.ptx", run2,
};
const struct bench bench_flash3 = {
    "flash3", "attention: TMA, mbarriers, wgmma, two warp groups that take turns; -c h100", "hopper", "flash3.ptx",
    run3,
};
