/* mergesort: two steps of a merge sort (kernels/mergesort.cu), for comparison with a card. Keys are random numbers of
 * 16 bits, values are indices. The reference is qsort() of keys with indices, since both steps keep the order of equal
 * keys.
 *   size small: 4096 keys, 0.02 to 0.1 M warp instructions
 *   size paper: a sixteenth of size card, 1.5 to 7 M warp instructions
 *   size card: 2^22 keys, tiles of 1024 keys, lists of 2^16 keys, 24 to 110 M warp instructions */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_merge_tiles, bench_merge_pieces;

enum { TILE = 1024, PIECE = 128 };

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts runs of `run` pairs of n pairs: the key above, the value below. */
static void sort_runs(uint64_t *pair, uint32_t n, uint32_t run) {
    for (uint32_t i = 0; i < n; i += run)
        qsort(pair + i, run, sizeof *pair, compare);
}

static void split(const uint64_t *pair, uint32_t n, uint32_t *key, uint32_t *value) {
    for (uint32_t i = 0; i < n; i++) {
        key[i] = (uint32_t)(pair[i] >> 32);
        value[i] = (uint32_t)pair[i];
    }
}

/* Host arrays of a run with n keys, in one block. */
struct arrays {
    uint64_t *pair;
    uint32_t *key, *value, *a_begin, *b_begin;
};

static bool make_arrays(struct arrays *a, uint32_t n) {
    uint64_t seed = 41;
    a->pair = malloc(n * (sizeof *a->pair + 2 * sizeof *a->key) + 2 * (n / PIECE) * sizeof *a->key);
    if (!a->pair)
        return false;
    a->key = (uint32_t *)(a->pair + n);
    a->value = a->key + n;
    a->a_begin = a->value + n;
    a->b_begin = a->a_begin + n / PIECE;
    for (uint32_t i = 0; i < n; i++)
        a->pair[i] = bench_random(&seed) >> 48 << 32 | i;
    return true;
}

/* Writes where the pieces of two sorted lists of `length` pairs begin: at every PIECE-th pair of either list, in merged
 * order. */
static void cut(const uint64_t *a, const uint64_t *b, uint32_t length, uint32_t *a_begin, uint32_t *b_begin) {
    uint32_t i = 0, k = 0, piece = 0; /* i, k: the next pair of a and of b */
    while (i < length || k < length) {
        const bool from_a = i < length && (k == length || a[i] < b[k]);
        if ((from_a ? i : k) % PIECE == 0) {
            a_begin[piece] = i;
            b_begin[piece++] = k;
        }
        i += from_a;
        k += !from_a;
    }
}

/* Device buffers of a run. */
struct buffers {
    uint64_t from_key, from_value, to_key, to_value;
};

static enum heddle_status make_buffers(struct heddle *h, const struct arrays *a, uint32_t n, struct buffers *b) {
    b->from_key = bench_buffer(h, a->key, n * sizeof *a->key);
    b->from_value = bench_buffer(h, a->value, n * sizeof *a->value);
    b->to_key = bench_buffer(h, NULL, n * sizeof *a->key);
    b->to_value = bench_buffer(h, NULL, n * sizeof *a->value);
    return b->from_key && b->from_value && b->to_key && b->to_value ? HEDDLE_OK : heddle_status(h);
}

/* Sorts the runs of `run` pairs on the host, and compares the device's keys and values with them. */
static enum heddle_status check(struct heddle *h, struct arrays *a, uint32_t n, uint32_t run, const struct buffers *b,
                                char *why, size_t why_size) {
    const size_t bytes = n * sizeof *a->key;
    enum heddle_status s = heddle_read(h, b->to_key, a->key, bytes);
    if (s == HEDDLE_OK)
        s = heddle_read(h, b->to_value, a->value, bytes);
    sort_runs(a->pair, n, run);
    for (uint32_t i = 0; s == HEDDLE_OK && i < n; i++) {
        const uint32_t want[] = {(uint32_t)(a->pair[i] >> 32), (uint32_t)a->pair[i]}, got[] = {a->key[i], a->value[i]};
        if (memcmp(want, got, sizeof want) != 0) {
            snprintf(why, why_size, "place %u: key %u of index %u, expected key %u of index %u", i, got[0], got[1],
                     want[0], want[1]);
            s = HEDDLE_WRONG;
        }
    }
    return s;
}

static uint32_t keys_of(enum bench_size size) { return bench_pick(size, 1 << 12, 1 << 18, 1 << 22); }

static enum heddle_status tiles_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    const uint32_t n = keys_of(size), tile = TILE;
    struct arrays a;
    struct buffers b;
    if (!make_arrays(&a, n))
        return bench_no_memory(why, why_size);
    split(a.pair, n, a.key, a.value);
    enum heddle_status s = make_buffers(h, &a, n, &b);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "merge_tiles", ((struct heddle_dim){n / TILE, 1, 1}),
                         ((struct heddle_dim){TILE / 2, 1, 1}), BENCH_ARG(b.to_key), BENCH_ARG(b.to_value),
                         BENCH_ARG(b.from_key), BENCH_ARG(b.from_value), BENCH_ARG(tile));
    if (s == HEDDLE_OK)
        s = check(h, &a, n, TILE, &b, why, why_size);
    free(a.pair);
    return s;
}

const struct bench bench_merge_tiles = {
    "merge_tiles", "tiles sorted in shared memory; binary searches by selections", "public", "mergesort.ptx", tiles_run,
};

static enum heddle_status pieces_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                     size_t why_size) {
    const uint32_t n = keys_of(size), length = bench_pick(size, 1 << 10, 1 << 14, 1 << 16), pieces = n / PIECE;
    struct arrays a;
    struct buffers b;
    if (!make_arrays(&a, n))
        return bench_no_memory(why, why_size);
    sort_runs(a.pair, n, length);
    split(a.pair, n, a.key, a.value);
    for (uint32_t i = 0; i < n; i += 2 * length)
        cut(a.pair + i, a.pair + i + length, length, a.a_begin + i / PIECE, a.b_begin + i / PIECE);
    enum heddle_status s = make_buffers(h, &a, n, &b);
    const uint64_t a_begin = bench_buffer(h, a.a_begin, pieces * sizeof *a.a_begin);
    const uint64_t b_begin = bench_buffer(h, a.b_begin, pieces * sizeof *a.b_begin);
    if (s == HEDDLE_OK && !(a_begin && b_begin))
        s = heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "merge_pieces", ((struct heddle_dim){pieces, 1, 1}), ((struct heddle_dim){PIECE, 1, 1}),
                         BENCH_ARG(b.to_key), BENCH_ARG(b.to_value), BENCH_ARG(b.from_key), BENCH_ARG(b.from_value),
                         BENCH_ARG(a_begin), BENCH_ARG(b_begin), BENCH_ARG(length), BENCH_ARG(n));
    if (s == HEDDLE_OK)
        s = check(h, &a, n, 2 * length, &b, why, why_size);
    free(a.pair);
    return s;
}

const struct bench bench_merge_pieces = {
    "merge_pieces", "pieces of sorted lists merged; threads beyond the end of a piece wait", "public", "mergesort.ptx",
    pieces_run,
};
