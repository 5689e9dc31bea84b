/* qsort: sorts random keys, some of which are equal. The reference is the C library's qsort(). As in the original
 * program, the host splits parts of the array around the middle of their range of key values, until no part has more
 * than `few` keys.
 *   size small: 2,500 keys, parts of at most 1,024, 0.12 M warp instructions and 2.6 M thread instructions
 *   size paper: 45,000 keys, parts of at most 2,048, 2.8 M warp instructions and 61 M thread instructions (the
 *     dual-path paper: 60 M thread instructions) */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_qsort;

enum { BLOCK = 128, CHUNK = 1024, PARTS = 256 };

/* Keys [from, to) of an array, and how a kernel splits them around the key `pivot`. The kernel's source has a struct
 * with this layout. */
struct part {
    uint32_t from, to, pivot, below, above;
};
/* Keys [from, to) of an array, all of which have values from `low` to `high`. */
struct range {
    uint32_t from, to, low, high;
};
struct sort {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t array[2], sorted, parts, sums; /* buffers */
    uint32_t few;
    struct range todo[PARTS]; /* parts of array[now] */
    /* parts that are small enough for one block to sort; `pivot` of such a part is the index of the array that
     * holds it */
    struct part done[PARTS];
    int n_todo, n_done, now;
};

static int order(const void *a, const void *b) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static uint32_t pivot(const struct range *r) { return r->low + (r->high - r->low) / 2; }

/* Copies n parts to the device and launches a kernel with a CTA for each. The kernel's arguments are the buffers
 * `before`, the buffer of parts, and the buffer `after` unless that is 0. */
static enum heddle_status launch(struct sort *s, const char *kernel, const struct part *part, int n,
                                 const uint64_t *before, int n_before, uint64_t after) {
    struct heddle_dim grid = {(uint32_t)n, 1, 1}, block = {BLOCK, 1, 1};
    struct heddle_arg arg[5];
    int args = 0;
    for (; args < n_before; args++)
        arg[args] = (struct heddle_arg)BENCH_ARG(before[args]);
    arg[args++] = (struct heddle_arg)BENCH_ARG(s->parts);
    if (after)
        arg[args++] = (struct heddle_arg)BENCH_ARG(after);
    enum heddle_status status = heddle_write(s->h, s->parts, part, (size_t)n * sizeof *part);
    return status != HEDDLE_OK ? status : heddle_launch(s->h, s->m, kernel, grid, block, 0, arg, args);
}

/* Adds a range to `done` if one block can sort it, otherwise to `todo`, the ranges of the next pass. An empty range is
 * not added. */
static void add(struct sort *s, struct range r) {
    if (r.to - r.from > s->few)
        s->todo[s->n_todo++] = r;
    else if (r.to > r.from)
        s->done[s->n_done++] = (struct part){r.from, r.to, (uint32_t)!s->now, 0, 0};
}

/* Does one pass: splits each range of `todo` once around its pivot, from array[now] into the other array. */
static enum heddle_status split(struct sort *s) {
    struct part part[PARTS], fill[PARTS];
    struct range old[PARTS];
    uint32_t sums[2 * PARTS];
    int n = 0, olds = s->n_todo, k = 0;
    memcpy(old, s->todo, sizeof old);
    for (int i = 0; i < olds; i++)
        for (uint32_t from = old[i].from; from < old[i].to; from += CHUNK) {
            uint32_t to = old[i].to - from > CHUNK ? from + CHUNK : old[i].to;
            part[n++] = (struct part){from, to, pivot(&old[i]), 0, 0};
        }
    uint64_t arrays[] = {s->array[s->now], s->array[!s->now]};
    enum heddle_status status = launch(s, "qsort_count", part, n, arrays, 1, s->sums);
    if (status != HEDDLE_OK || (status = heddle_read(s->h, s->sums, sums, (size_t)n * 2 * sizeof *sums)) != HEDDLE_OK)
        return status;
    s->n_todo = 0;
    for (int i = 0; i < olds; i++) {
        uint32_t below = old[i].from, above = old[i].to, middle = pivot(&old[i]);
        for (; k < n && part[k].from < old[i].to && part[k].from >= old[i].from; k++) {
            part[k].below = below;
            part[k].above = above;
            below += sums[2 * k];
            above -= sums[2 * k + 1];
        }
        fill[i] = (struct part){below, above, middle, 0, 0};
        add(s, (struct range){old[i].from, below, old[i].low, middle - 1});
        add(s, (struct range){above, old[i].to, middle + 1, old[i].high});
    }
    s->now = !s->now;
    status = launch(s, "qsort_move", part, n, arrays, 2, 0);
    return status != HEDDLE_OK ? status : launch(s, "qsort_fill", fill, olds, &s->sorted, 1, 0);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, uint32_t *want, uint32_t keys, uint32_t few,
                                 char *why, size_t why_size) {
    size_t bytes = keys * sizeof *want;
    uint32_t *got = want + keys;
    uint64_t seed = 50;
    /* the highest bit is random, so that a kernel that compares keys as signed numbers gives a wrong result */
    for (uint32_t i = 0; i < keys; i++)
        want[i] = (uint32_t)(bench_random(&seed) % 65536) << 16 | 0x5eed;
    struct sort s = {.h = h, .m = m, .few = few};
    s.array[0] = bench_buffer(h, want, bytes);
    s.array[1] = bench_buffer(h, NULL, bytes);
    s.sorted = bench_buffer(h, NULL, bytes);
    s.parts = bench_buffer(h, NULL, sizeof s.done);
    s.sums = bench_buffer(h, NULL, 2 * PARTS * sizeof *want);
    if (!s.array[0] || !s.array[1] || !s.sorted || !s.parts || !s.sums)
        return heddle_status(h);
    s.todo[s.n_todo++] = (struct range){0, keys, 0, UINT32_MAX};
    enum heddle_status status = HEDDLE_OK;
    while (s.n_todo > 0 && status == HEDDLE_OK)
        status = split(&s);
    if (status == HEDDLE_OK)
        status = launch(&s, "qsort_local", s.done, s.n_done, (uint64_t[]){s.array[0], s.array[1], s.sorted}, 3, 0);
    if (status != HEDDLE_OK || (status = heddle_read(h, s.sorted, got, bytes)) != HEDDLE_OK)
        return status;
    qsort(want, keys, sizeof *want, order);
    return bench_compare_words(got, want, keys, "key", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    uint32_t keys = size == BENCH_SMALL ? 2500 : 45000, few = size == BENCH_SMALL ? 1024 : 2048;
    uint32_t *both = calloc(keys, 2 * sizeof *both);
    enum heddle_status s = both ? run_on(h, m, both, keys, few, why, why_size) : bench_no_memory(why, why_size);
    free(both);
    return s;
}

const struct bench bench_qsort = {
    "qsort", "sorting by splits and a bitonic network; if and else of equal weight", "dual-path", "qsort.ptx", run,
};
