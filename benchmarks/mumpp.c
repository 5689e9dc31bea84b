/* mumpp: finds the longest matches of queries in a sequence of random letters. A third of the sequence consists of
 * copies of earlier stretches, with one letter in 50 changed. Queries are substrings of the sequence, also with one
 * letter in 50 changed. The check in C finds the query's position among the sorted suffixes. The longest match is with
 * one of the two suffixes next to this position. The kernel may report any place of the longest match.
 *   size small: 3,000 letters, 200 queries of 24, 0.25 M warp and 1.8 M thread instructions
 *   size paper: 65,536 letters, 7,680 queries of 32, 18.3 M warp and 148 M thread instructions (148 M in the
 *     dual-path paper) */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_mumpp;

enum { BLOCK = 256, LEAST = 12, CHANGED = 50 };

struct sequences {
    uint32_t n, count, length, starts; /* starts: number of start positions per query */
    uint8_t *text, *query;             /* the text: n letters and a final 0; the queries: count x length letters */
    int32_t *suffix;                   /* n */
    uint16_t *shared;                  /* 2 n: a place of `suffix` -> letters shared with either bound of the search */
    int32_t *want, *match, *place;     /* starts x count each */
};

static uint8_t letter(uint64_t *seed) { return (uint8_t) "ACGT"[bench_random(seed) % 4]; }

static int order(const void *a, const void *b, void *text) {
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp((char *)text + x, (char *)text + y);
}

static int32_t shared(const uint8_t *query, uint32_t length, const uint8_t *text) {
    uint32_t i = 0;
    while (i < length && query[i] == text[i]) /* stops at the end of the text, too: its final 0 is not a letter */
        i++;
    return (int32_t)i;
}

/* Fills `shared` for the part of the binary search between the places `low` and `high`. Beyond both ends of the suffix
 * array are bounds that share no letter. */
static void fill_shared(const struct sequences *q, int32_t low, int32_t high) {
    if (high - low < 2)
        return;
    int32_t middle = low + (high - low) / 2;
    const uint8_t *at = q->text + q->suffix[middle];
    uint32_t left = q->n - (uint32_t)q->suffix[middle];
    q->shared[2 * middle] = low < 0 ? 0 : (uint16_t)shared(at, left, q->text + q->suffix[low]);
    q->shared[2 * middle + 1] = high == (int32_t)q->n ? 0 : (uint16_t)shared(at, left, q->text + q->suffix[high]);
    fill_shared(q, low, middle);
    fill_shared(q, middle, high);
}

static void fill(const struct sequences *q) {
    uint64_t seed = 51;
    uint32_t at = 0;
    while (at < q->n) {
        uint32_t length = 50 + (uint32_t)(bench_random(&seed) % 200);
        bool copy = at > 250 && bench_random(&seed) % 3 == 0;
        uint32_t from = copy ? (uint32_t)(bench_random(&seed) % (at - 250)) : 0;
        for (uint32_t i = 0; i < length && at < q->n; i++)
            q->text[at++] = copy && bench_random(&seed) % CHANGED ? q->text[from + i] : letter(&seed);
    }
    for (uint32_t i = 0; i < q->count; i++) {
        uint32_t from = (uint32_t)(bench_random(&seed) % (q->n - q->length));
        for (uint32_t k = 0; k < q->length; k++)
            q->query[i * q->length + k] = bench_random(&seed) % CHANGED ? q->text[from + k] : letter(&seed);
    }
    for (uint32_t i = 0; i < q->n; i++)
        q->suffix[i] = (int32_t)i;
    qsort_r(q->suffix, q->n, sizeof *q->suffix, order, q->text);
    fill_shared(q, -1, (int32_t)q->n);
}

static int32_t longest(const struct sequences *q, const uint8_t *query, uint32_t length) {
    uint32_t low = 0, high = q->n; /* the first suffix that is not less than the query is in [low, high] */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strncmp((char *)q->text + q->suffix[middle], (const char *)query, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    int32_t before = low ? shared(query, length, q->text + q->suffix[low - 1]) : 0;
    int32_t behind = low < q->n ? shared(query, length, q->text + q->suffix[low]) : 0;
    return before > behind ? before : behind;
}

/* Compares the lengths of the longest matches with the reference, and checks that the text has such a match at each
 * place that the kernel reports. */
static enum heddle_status compare(const struct sequences *q, char *why, size_t why_size) {
    for (uint32_t i = 0; i < q->starts * q->count; i++) {
        uint32_t start = i / q->count, own = i % q->count, length = q->length - start;
        const uint8_t *query = q->query + own * q->length + start;
        q->want[i] = longest(q, query, length);
        int32_t at = q->place[i];
        if (at < 0 || at >= (int32_t)q->n || shared(query, length, q->text + at) < q->want[i]) {
            snprintf(why, why_size, "query %u does not match from its letter %u as far at %d of the text as at another",
                     own, start, at);
            return HEDDLE_WRONG;
        }
    }
    return bench_compare_words((uint32_t *)q->match, (uint32_t *)q->want, q->starts * q->count, "match", why, why_size);
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, const struct sequences *q, char *why,
                                 size_t why_size) {
    fill(q);
    uint64_t text = bench_buffer(h, q->text, q->n), suffix = bench_buffer(h, q->suffix, q->n * sizeof *q->suffix);
    uint64_t prefixes = bench_buffer(h, q->shared, 2 * q->n * sizeof *q->shared);
    uint64_t query = bench_buffer(h, q->query, (uint64_t)q->count * q->length);
    uint64_t bytes = (uint64_t)q->starts * q->count * sizeof *q->match;
    uint64_t match = bench_buffer(h, NULL, bytes), place = bench_buffer(h, NULL, bytes);
    if (!text || !suffix || !prefixes || !query || !match || !place)
        return heddle_status(h);
    struct heddle_dim grid = {bench_blocks(q->count, BLOCK), 1, 1}, block = {BLOCK, 1, 1};
    uint32_t least = LEAST;
    enum heddle_status s = BENCH_LAUNCH(h, m, "mumpp", grid, block, BENCH_ARG(text), BENCH_ARG(suffix),
                                        BENCH_ARG(prefixes), BENCH_ARG(q->n), BENCH_ARG(query), BENCH_ARG(q->count),
                                        BENCH_ARG(q->length), BENCH_ARG(least), BENCH_ARG(match), BENCH_ARG(place));
    if (s != HEDDLE_OK || (s = heddle_read(h, place, q->place, bytes)) != HEDDLE_OK ||
        (s = heddle_read(h, match, q->match, bytes)) != HEDDLE_OK)
        return s;
    return compare(q, why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct sequences q = {.n = 3000, .count = 200, .length = 24};
    if (size != BENCH_SMALL)
        q = (struct sequences){.n = 65536, .count = 7680, .length = 32};
    q.starts = q.length - LEAST + 1;
    size_t results = (size_t)q.starts * q.count;
    q.text = calloc(q.n + 1 + (size_t)q.count * q.length, 1);
    q.suffix = calloc(2 * q.n + 3 * results, sizeof *q.suffix);
    enum heddle_status s;
    if (q.text && q.suffix) {
        q.query = q.text + q.n + 1;
        q.shared = (uint16_t *)(q.suffix + q.n);
        q.want = q.suffix + 2 * q.n;
        q.match = q.want + results;
        q.place = q.match + results;
        s = run_on(h, m, &q, why, why_size);
    } else
        s = bench_no_memory(why, why_size);
    free(q.text);
    free(q.suffix);
    return s;
}

const struct bench bench_mumpp = {
    "mumpp", "matches of DNA in a suffix array; a loop of uneven length, then if and else", "dual-path", "mumpp.ptx",
    run,
};
