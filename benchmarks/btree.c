/* btree: keys looked up in a B+ tree (kernels/btree.cu), for comparison with a card. The keys 0, 1, ... are inserted in
 * ascending order, which leaves nodes half full. The reference needs no tree: record k has key k.
 *   size small: 20,000 keys, 12 queries, less than 0.02 M warp instructions
 *   size paper: a sixteenth of size card, 0.3 to 0.4 M warp instructions
 *   size card: 10^6 keys; btree_find of 10,000 keys, btree_range of 6,000 ranges of 6,000 keys, 5 to 6 M warp
 *     instructions */
#include "bench.h"
#include <limits.h>
#include <stdlib.h>

extern const struct bench bench_btree_find, bench_btree_range;

enum { ORDER = 256, FULL = ORDER / 2, MOST_LEVELS = 4 };

struct node {
    int32_t number, child[ORDER + 1], key[ORDER + 1];
    bool leaf;
    int32_t children;
};

struct tree {
    uint32_t keys, levels, nodes; /* levels: of inner nodes */
    struct node *node;            /* the root first, level by level */
};

/* Builds a tree with the keys 0 to keys - 1. Returns false if memory is out. */
static bool build(struct tree *t, uint32_t keys) {
    uint32_t width[MOST_LEVELS] = {bench_blocks(keys, FULL)}, n = 0; /* nodes of a level, leaves first */
    *t = (struct tree){.keys = keys};
    while (width[t->levels] > 1) {
        t->levels++;
        width[t->levels] = bench_blocks(width[t->levels - 1], FULL);
    }
    for (uint32_t level = 0; level <= t->levels; level++)
        t->nodes += width[level];
    t->node = calloc(t->nodes, sizeof *t->node);
    uint32_t span = 1; /* keys below a child */
    for (uint32_t level = 0; level < t->levels; level++)
        span *= FULL;
    for (uint32_t level = t->levels; t->node; level--, span /= FULL) {
        const uint32_t below = level ? width[level - 1] : keys, next = n + width[level];
        for (uint32_t i = 0; i < width[level]; i++, n++) {
            struct node *to = &t->node[n];
            to->number = (int32_t)n;
            to->leaf = !level;
            for (uint32_t k = 0; k <= ORDER; k++) {
                const uint32_t child = i * FULL + k;
                const bool has = k < FULL && child < below;
                to->children += has;
                to->child[k] = has ? (int32_t)(level ? next + child : child) : 0;
                to->key[k] = !has ? INT_MAX : level && !k ? INT_MIN : (int32_t)(child * span);
            }
        }
        if (!level)
            return true;
    }
    return false;
}

/* Device buffers that both kernels need. */
struct buffers {
    uint64_t node, at, next;
};

static enum heddle_status make_buffers(struct heddle *h, const struct tree *t, uint32_t queries, struct buffers *b) {
    b->node = bench_buffer(h, t->node, t->nodes * sizeof *t->node);
    b->at = bench_buffer(h, NULL, queries * sizeof(uint64_t));
    b->next = bench_buffer(h, NULL, queries * sizeof(uint64_t));
    return b->node && b->at && b->next ? HEDDLE_OK : heddle_status(h);
}

static uint32_t keys_of(enum bench_size size) { return bench_pick(size, 20000, 62500, 1000000); }

/* Launches btree_find. q: the keys, with room for the values. records: of all keys. */
static enum heddle_status launch_find(struct heddle *h, struct heddle_module *m, const struct tree *t, uint32_t queries,
                                      uint32_t *q, const uint32_t *records) {
    struct buffers b;
    enum heddle_status s = make_buffers(h, t, queries, &b);
    const uint64_t record = bench_buffer(h, records, t->keys * sizeof *records), levels = t->levels, nodes = t->nodes;
    const uint64_t key = bench_buffer(h, q, queries * sizeof *q), value = bench_buffer(h, NULL, queries * sizeof *q);
    if (s == HEDDLE_OK && !(record && key && value))
        s = heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "btree_find", ((struct heddle_dim){queries, 1, 1}), ((struct heddle_dim){ORDER, 1, 1}),
                         BENCH_ARG(levels), BENCH_ARG(b.node), BENCH_ARG(nodes), BENCH_ARG(record), BENCH_ARG(b.at),
                         BENCH_ARG(b.next), BENCH_ARG(key), BENCH_ARG(value));
    return s == HEDDLE_OK ? heddle_read(h, value, q, queries * sizeof *q) : s;
}

static enum heddle_status find_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                   size_t why_size) {
    const uint32_t queries = bench_pick(size, 12, 625, 10000);
    uint64_t seed = 31;
    struct tree t;
    const bool built = build(&t, keys_of(size));
    uint32_t *records = malloc((t.keys + 2 * (size_t)queries) * sizeof *records);
    if (!built || !records) {
        free(t.node);
        free(records);
        return bench_no_memory(why, why_size);
    }
    uint32_t *got = records + t.keys, *want = got + queries;
    for (uint32_t k = 0; k < t.keys; k++)
        records[k] = (uint32_t)bench_random(&seed);
    for (uint32_t i = 0; i < queries; i++) { /* at size small, an eighth of the keys is missing */
        got[i] = (uint32_t)(bench_random(&seed) % t.keys);
        want[i] = records[got[i]];
        if (size == BENCH_SMALL && i % 8 == 7) {
            got[i] += t.keys;
            want[i] = 0;
        }
    }
    enum heddle_status s = launch_find(h, m, &t, queries, got, records);
    if (s == HEDDLE_OK)
        s = bench_compare_words(got, want, queries, "value", why, why_size);
    free(t.node);
    free(records);
    return s;
}

const struct bench bench_btree_find = {
    "btree_find", "keys looked up in a tree by CTAs; one thread passes nested ifs", "public", "btree.ptx", find_run,
};

/* Launches btree_range. q: first keys, then last keys, replaced by the first records and their numbers. */
static enum heddle_status launch_range(struct heddle *h, struct heddle_module *m, const struct tree *t,
                                       uint32_t queries, uint32_t *q) {
    struct buffers b, last;
    const size_t bytes = queries * sizeof *q;
    enum heddle_status s = make_buffers(h, t, queries, &b);
    const uint64_t first_key = bench_buffer(h, q, bytes), last_key = bench_buffer(h, q + queries, bytes);
    const uint64_t first = bench_buffer(h, NULL, bytes), records = bench_buffer(h, NULL, bytes);
    const uint64_t levels = t->levels, nodes = t->nodes;
    last.at = bench_buffer(h, NULL, queries * sizeof(uint64_t));
    last.next = bench_buffer(h, NULL, queries * sizeof(uint64_t));
    if (s == HEDDLE_OK && !(first_key && last_key && first && records && last.at && last.next))
        s = heddle_status(h);
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "btree_range", ((struct heddle_dim){queries, 1, 1}), ((struct heddle_dim){ORDER, 1, 1}),
                         BENCH_ARG(levels), BENCH_ARG(b.node), BENCH_ARG(nodes), BENCH_ARG(b.at), BENCH_ARG(b.next),
                         BENCH_ARG(last.at), BENCH_ARG(last.next), BENCH_ARG(first_key), BENCH_ARG(last_key),
                         BENCH_ARG(first), BENCH_ARG(records));
    if (s == HEDDLE_OK)
        s = heddle_read(h, first, q, bytes);
    return s == HEDDLE_OK ? heddle_read(h, records, q + queries, bytes) : s;
}

static enum heddle_status range_run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    const uint32_t queries = bench_pick(size, 12, 375, 6000), span = bench_pick(size, 300, 6000, 6000);
    uint64_t seed = 37;
    struct tree t;
    const bool built = build(&t, keys_of(size));
    uint32_t *got = malloc(4 * (size_t)queries * sizeof *got);
    if (!built || !got) {
        free(t.node);
        free(got);
        return bench_no_memory(why, why_size);
    }
    uint32_t *want = got + 2 * (size_t)queries;
    for (uint32_t i = 0; i < queries; i++) {
        want[i] = got[i] = (uint32_t)(bench_random(&seed) % (t.keys - span));
        got[queries + i] = got[i] + span;
        want[queries + i] = span + 1;
    }
    enum heddle_status s = launch_range(h, m, &t, queries, got);
    if (s == HEDDLE_OK)
        s = bench_compare_words(got, want, 2 * (size_t)queries, "first record or number", why, why_size);
    free(t.node);
    free(got);
    return s;
}

const struct bench bench_btree_range = {
    "btree_range", "ranges of keys in a tree; one thread passes nested ifs", "public", "btree.ptx", range_run,
};
