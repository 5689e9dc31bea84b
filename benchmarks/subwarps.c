/* subwarps<N>: a switch splits each warp into N subwarps. Each subwarp sums words that no other subwarp reads, and uses
 * each word right after its load (subwarp-interleaving paper, section V-A). Each of two SMs has a single warp, so that
 * all load latency is exposed.
 *   size small: 8 iterations
 *   size paper: 64 iterations (instruction caches warm) */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_subwarps2, bench_subwarps4, bench_subwarps8, bench_subwarps16, bench_subwarps32;
enum { WARPS = 2, LANES = 32, LOADS = 96 };

struct split {
    int ways, rounds;
};

/* Returns the expected result of a thread of the subwarp: only the words that the subwarp reads in the last iteration
 * contribute to it. */
static int32_t expected(const int32_t *data, int warp, int subwarp, const struct split *p) {
    const int32_t *slice = data + (size_t)((warp * p->rounds + p->rounds - 1) * 32 + subwarp) * 32 * LOADS;
    uint32_t sum = (uint32_t)subwarp;
    for (int k = 0; k < LOADS; k++)
        sum += (uint32_t)slice[k * 32];
    return (int32_t)sum;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, int32_t *data, size_t bytes,
                                 const struct split *p, char *why, size_t why_size) {
    uint64_t seed = 7;
    for (uint64_t i = 0; i < bytes / sizeof *data; i++)
        data[i] = (int32_t)bench_random(&seed);
    int32_t out[WARPS * LANES], subwarp_size = LANES / p->ways;
    uint64_t ddata = bench_buffer(h, data, bytes), dout = bench_buffer(h, NULL, sizeof out);
    if (!ddata || !dout)
        return heddle_status(h);
    struct heddle_dim grid = {WARPS, 1, 1}, block = {LANES, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, m, "subwarps", grid, block, BENCH_ARG(ddata), BENCH_ARG(dout),
                                        BENCH_ARG(subwarp_size), BENCH_ARG(p->rounds));
    if (s != HEDDLE_OK || (s = heddle_read(h, dout, out, sizeof out)) != HEDDLE_OK)
        return s;
    for (int i = 0; i < WARPS * LANES; i++) {
        int32_t want = expected(data, i / LANES, i % LANES / subwarp_size, p);
        if (out[i] != want) {
            snprintf(why, why_size, "result[%d] is %d, not %d", i, out[i], want);
            return HEDDLE_WRONG;
        }
    }
    return HEDDLE_OK;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, int ways, enum bench_size size, char *why,
                              size_t why_size) {
    const struct split p = {.ways = ways, .rounds = size == BENCH_SMALL ? 8 : 64};
    size_t bytes = (size_t)(WARPS * p.rounds * 32) * (size_t)(LOADS * 32) * sizeof(int32_t);
    int32_t *data = malloc(bytes);
    enum heddle_status s = data ? run_on(h, m, data, bytes, &p, why, why_size) : bench_no_memory(why, why_size);
    free(data);
    return s;
}

#define SUBWARPS(n)                                                                                                    \
    static enum heddle_status run##n(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,       \
                                     size_t why_size) {                                                                \
        return run(h, m, n, size, why, why_size);                                                                      \
    }                                                                                                                  \
    const struct bench bench_subwarps##n = {                                                                           \
        "subwarps" #n, "a warp in " #n " subwarps by a switch, every load's result used at once",                      \
        "subwarp",     "subwarps.ptx",                                                                                 \
        run##n,                                                                                                        \
    };
SUBWARPS(2)
SUBWARPS(4)
SUBWARPS(8)
SUBWARPS(16)
SUBWARPS(32)
