/* gemm_f16, gemm_e4m3: C = A B^T by the tensor cores of Hopper, with f16 and with f8 elements (kernels/gemm_wgmma.cu).
 * Elements are multiples of 1/8 up to 1 in size, so all products and sums are exact, and results must be equal.
 *   size small: 128 x 256 results, sums of 256 products
 *   size paper: 1024 x 1024 results, sums of 1024 products */
#include "bench.h"
#include "bench_half.h"
#include <stdlib.h>

extern const struct bench bench_gemm_f16, bench_gemm_e4m3;

enum { TILE = 128, ROW = 128, THREADS = 384, SHARED = 4 * 2 * TILE * ROW + 64 };

/* Returns the f8 number (e4m3) of `eighths` / 8, where |eighths| <= 8: an exponent of bias 7 and three bits of
 * fraction. */
static uint8_t f8_eighths(int eighths) {
    int size = abs(eighths), exponent = 0;
    while (size >> (exponent + 1))
        exponent++;
    uint8_t sign = eighths < 0 ? 0x80 : 0;
    return size ? (uint8_t)(sign | (exponent - 3 + 7) << 3 | ((size << 3 >> exponent) & 7)) : sign;
}

/* m x k and n x k matrices in eighths and as elements, and the m x n result. */
struct matrices {
    int8_t *a, *b;
    uint8_t *elements;
    float *want, *got;
};

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct matrices x, const uint32_t size[3],
                                 bool f8, char *why, size_t why_size) {
    const uint32_t rows = size[0], columns = size[1], k = size[2], bytes = f8 ? 1 : 2;
    uint64_t seed = 22;
    unsigned char map[2][HEDDLE_TENSOR_MAP_BYTES];
    for (int i = 0; i < 2; i++) {
        const uint32_t n = i ? columns : rows;
        int8_t *to = i ? x.b : x.a;
        for (size_t e = 0; e < (size_t)n * k; e++) {
            to[e] = (int8_t)((int)(bench_random(&seed) % 17) - 8);
            if (f8)
                x.elements[e] = f8_eighths(to[e]);
            else
                ((uint16_t *)(void *)x.elements)[e] = half_bits(to[e] / 8.0);
        }
        const uint64_t at = bench_buffer(h, x.elements, (uint64_t)n * k * bytes);
        const struct heddle_tensor t = {.data = at,
                                        .type = f8 ? HEDDLE_TENSOR_U8 : HEDDLE_TENSOR_F16,
                                        .dims = 2,
                                        .size = {k, n},
                                        .stride = {0, (uint64_t)k * bytes},
                                        .box = {ROW / bytes, TILE},
                                        .swizzle = HEDDLE_SWIZZLE_128B};
        if (!at || heddle_tensor_map(h, &t, map[i]) != HEDDLE_OK)
            return heddle_status(h);
    }
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            int32_t sum = 0;
            for (uint32_t e = 0; e < k; e++)
                sum += x.a[(size_t)i * k + e] * x.b[(size_t)j * k + e];
            x.want[(size_t)i * columns + j] = (float)sum / 64;
        }
    const uint64_t c = bench_buffer(h, NULL, (uint64_t)rows * columns * sizeof *x.got);
    if (!c)
        return heddle_status(h);
    const struct heddle_arg args[] = {
        {map[0], sizeof map[0]}, {map[1], sizeof map[1]}, BENCH_ARG(c), BENCH_ARG(columns), BENCH_ARG(k)};
    const struct heddle_dim grid = {columns / TILE, rows / TILE, 1}, block = {THREADS, 1, 1};
    enum heddle_status s = heddle_launch(h, m, f8 ? "gemm_e4m3" : "gemm_f16", grid, block, SHARED, args, 5);
    if (s == HEDDLE_OK)
        s = heddle_read(h, c, x.got, (uint64_t)rows * columns * sizeof *x.got);
    return s == HEDDLE_OK ? bench_compare(x.got, x.want, (size_t)rows * columns, 0, "product", why, why_size) : s;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, bool f8, char *why,
                              size_t why_size) {
    static const uint32_t sizes[][3] = {{128, 256, 256}, {1024, 1024, 1024}};
    const uint32_t *n = sizes[size != BENCH_SMALL];
    const size_t most = (size_t)(n[0] > n[1] ? n[0] : n[1]) * n[2], results = (size_t)n[0] * n[1];
    struct matrices x = {malloc(most), malloc(most), malloc(most * 2), malloc(results * sizeof *x.want),
                         malloc(results * sizeof *x.got)};
    enum heddle_status s = x.a && x.b && x.elements && x.want && x.got ? run_on(h, m, x, n, f8, why, why_size)
                                                                       : bench_no_memory(why, why_size);
    free(x.a);
    free(x.b);
    free(x.elements);
    free(x.want);
    free(x.got);
    return s;
}

static enum heddle_status run_f16(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                  size_t why_size) {
    return run(h, m, size, false, why, why_size);
}
static enum heddle_status run_e4m3(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                   size_t why_size) {
    return run(h, m, size, true, why, why_size);
}

const struct bench bench_gemm_f16 = {
    "gemm_f16", "product of f16 matrices: TMA, mbarriers, wgmma; -c h100", "hopper", "gemm_wgmma.ptx", run_f16,
};
const struct bench bench_gemm_e4m3 = {
    "gemm_e4m3", "product of f8 matrices: TMA, mbarriers, wgmma; -c h100", "hopper", "gemm_wgmma.ptx", run_e4m3,
};
