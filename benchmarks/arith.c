/* arith: an arithmetic loop with full masks and no memory. It measures the simulator, not the machine it simulates.
 *   size small: 128 blocks of 128 threads, 200 iterations (3.3 M warp instructions)
 *   size paper: 4,000 iterations (66 M warp instructions) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_arith;
enum { BLOCKS = 128, BLOCK = 128 };

/* Computes one iteration of the loop on *x and *y. The last iteration omits the last addition. */
static void body(uint32_t *x, float *y, uint32_t id, bool last) {
    const uint32_t k = 0x9e3779b9;
    const float half = 0.5f, quarter = 0.25f;
    *x += k;
    float f1 = fmaf(*y, half, quarter), f2 = f1 * half, f3 = f2 + quarter, f4 = f3 - f1;
    *x += (*x ^ id) * 5;
    uint32_t r1 = *x << 3;
    *x = r1 - k;
    f1 = fmaf(f4, half, f2);
    uint32_t r6 = *x & 0xffff;
    *y = fmaxf(f1, f4) + quarter;
    r1 = (int32_t)r6 > (int32_t)r1 ? r6 : r1;
    if (!last)
        *x += r1;
}

static uint32_t expected(uint32_t id, uint32_t rounds) {
    uint32_t x = id, bits;
    float y = (float)(id % BLOCK);
    for (uint32_t i = 0; i < rounds; i++) {
        body(&x, &y, id, false);
        body(&x, &y, id, true);
    }
    memcpy(&bits, &y, sizeof bits);
    return x ^ bits;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    static const uint32_t rounds_of[] = {[BENCH_SMALL] = 200, [BENCH_PAPER] = 4000, [BENCH_CARD] = 4000};
    uint32_t rounds = rounds_of[size], n = BLOCKS * BLOCK;
    uint32_t *out = malloc(n * sizeof *out);
    if (!out)
        return bench_no_memory(why, why_size);
    uint64_t d = bench_buffer(h, NULL, n * sizeof *out);
    enum heddle_status s = d ? BENCH_LAUNCH(h, m, "arith", ((struct heddle_dim){BLOCKS, 1, 1}),
                                            ((struct heddle_dim){BLOCK, 1, 1}), BENCH_ARG(d), BENCH_ARG(rounds))
                             : heddle_status(h);
    if (s == HEDDLE_OK)
        s = heddle_read(h, d, out, n * sizeof *out);
    for (uint32_t i = 0; s == HEDDLE_OK && i < n; i += 7) {
        uint32_t want = expected(i, rounds);
        if (out[i] != want) {
            snprintf(why, why_size, "out[%u] is 0x%08x, not 0x%08x", i, out[i], want);
            s = HEDDLE_WRONG;
        }
    }
    free(out);
    return s;
}

const struct bench bench_arith = {
    "arith", "arithmetic with full masks, for the simulator's own speed", "speed", "arith.ptx", run,
};
