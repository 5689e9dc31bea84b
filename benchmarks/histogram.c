/* histogram: counts the byte values of an image. Neighbouring bytes are similar (a random walk), so that lanes conflict
 * on counters, as they do with real images. The reference counts sequentially.
 *   size small: 40 KB on 15 blocks, 0.10 M warp and 3.0 M thread instructions
 *   size paper: 8 MB on 240 blocks, 2.0 M warp and 64 M thread instructions */
#include "bench.h"
#include <stdlib.h>

extern const struct bench bench_histogram;

enum { BINS = 256, THREADS = 192, MERGE = 256 };

static void fill(uint32_t *data, uint32_t words) {
    uint64_t seed = 13;
    uint32_t level = 128;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t r = bench_random(&seed);
        data[i] = 0;
        for (int b = 0; b < 4; b++, r >>= 8) {
            level = r & 63 ? (level + (uint32_t)(r & 7) - 3) & 255 : (uint32_t)(r >> 32) & 255; /* sometimes an edge */
            data[i] |= level << 8 * b;
        }
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint32_t *data, uint32_t words,
                                 uint32_t blocks, char *why, size_t why_size) {
    uint32_t want[BINS] = {0}, got[BINS];
    fill(data, words);
    for (uint32_t i = 0; i < words; i++)
        for (int b = 0; b < 32; b += 8)
            want[data[i] >> b & 255]++;
    uint64_t ddata = bench_buffer(h, data, (uint64_t)words * sizeof *data);
    uint64_t partial = bench_buffer(h, NULL, (uint64_t)blocks * sizeof got), out = bench_buffer(h, NULL, sizeof got);
    if (!ddata || !partial || !out)
        return heddle_status(h);
    struct heddle_dim grid = {blocks, 1, 1}, block = {THREADS, 1, 1}, bins = {BINS, 1, 1}, merge = {MERGE, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "histogram_count", grid, block, BENCH_ARG(partial), BENCH_ARG(ddata), BENCH_ARG(words));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "histogram_merge", bins, merge, BENCH_ARG(out), BENCH_ARG(partial), BENCH_ARG(blocks));
    if (s != HEDDLE_OK || (s = heddle_read(h, out, got, sizeof got)) != HEDDLE_OK)
        return s;
    return bench_compare_words(got, want, BINS, "count", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t words = size == BENCH_SMALL ? 10001 : 1u << 21, blocks = size == BENCH_SMALL ? 15 : 240;
    uint32_t *data = malloc(words * sizeof *data);
    if (!data)
        return bench_no_memory(why, why_size);
    enum heddle_status s = run_on(h, m, data, words, blocks, why, why_size);
    free(data);
    return s;
}

const struct bench bench_histogram = {
    "histogram", "of bytes; atomics in shared memory, a tree that threads leave by halves", "dac", "histogram.ptx", run,
};
