/* scan: exclusive prefix sums of n random integers (sums wrap), in several levels: a scan of the totals of all blocks
 * gives the sum that is added to each block's elements.
 *   size small: n = 12,000, two levels, 0.04 M warp and 1.1 M thread instructions
 *   size paper: n = 1,000,000, three levels, 3.1 M warp and 87 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_scan;

enum { THREADS = 256, ELEMENTS = 2 * THREADS };

/* Scans n elements from `in` to `out`. */
static enum heddle_status scan(struct heddle *h, struct heddle_module *m, uint64_t out, uint64_t in, uint32_t n) {
    uint32_t blocks = bench_blocks(n, ELEMENTS);
    struct heddle_dim grid = {blocks, 1, 1}, block = {THREADS, 1, 1};
    uint64_t totals = bench_buffer(h, NULL, (uint64_t)blocks * sizeof n);
    uint64_t before = blocks > 1 ? bench_buffer(h, NULL, (uint64_t)blocks * sizeof n) : totals;
    if (!totals || !before)
        return heddle_status(h);
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "scan_blocks", grid, block, BENCH_ARG(out), BENCH_ARG(totals), BENCH_ARG(in), BENCH_ARG(n));
    if (s != HEDDLE_OK || blocks == 1)
        return s;
    s = scan(h, m, before, totals, blocks);
    if (s != HEDDLE_OK)
        return s;
    return BENCH_LAUNCH(h, m, "scan_add", grid, block, BENCH_ARG(out), BENCH_ARG(before), BENCH_ARG(n));
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint32_t *in, uint32_t n, char *why,
                                 size_t why_size) {
    uint32_t *want = in + n, *got = want + n, sum = 0;
    uint64_t seed = 15, bytes = (uint64_t)n * sizeof *in;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = (uint32_t)bench_random(&seed);
        want[i] = sum;
        sum += in[i];
    }
    uint64_t din = bench_buffer(h, in, bytes), dout = bench_buffer(h, NULL, bytes);
    if (!din || !dout)
        return heddle_status(h);
    enum heddle_status s = scan(h, m, dout, din, n);
    if (s != HEDDLE_OK || (s = heddle_read(h, dout, got, bytes)) != HEDDLE_OK)
        return s;
    return bench_compare_words(got, want, n, "sum", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t n = size == BENCH_SMALL ? 12000 : 1000000;
    uint32_t *all = calloc((size_t)n * 3, sizeof *all);
    if (!all)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, all, n, why, why_size);
    free(all);
    return s;
}

const struct bench bench_scan = {
    "scan", "prefix sums up and down trees in shared memory; threads drop out and return by halves", "dac", "scan.ptx",
    run,
};
