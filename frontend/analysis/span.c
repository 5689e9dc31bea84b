/* Finds spans of blocks, see span.h. Uses only the graph. */
#include "span.h"

enum { MAX_LEVELS = 32, MAX_STEPS = 8 };

/* Table for the minimum or maximum of a range of an array: level[k][i] covers the 2^k elements from element i on. */
struct table {
    uint32_t *level[MAX_LEVELS];
};

static uint32_t better(uint32_t a, uint32_t b, bool greatest) { return (a > b) == greatest ? a : b; }

static struct table table_of(struct arena *a, uint32_t *values, uint32_t n, bool greatest) {
    struct table t = {{values}};
    for (int k = 1; k < MAX_LEVELS && 1ull << k <= n; k++) {
        uint32_t half = 1u << (k - 1);
        t.level[k] = arena_array(a, n, sizeof **t.level);
        for (uint32_t i = 0; i + 2ull * half <= n; i++)
            t.level[k][i] = better(t.level[k - 1][i], t.level[k - 1][i + half], greatest);
    }
    return t;
}

/* Returns the minimum or maximum of elements [from, to), at least one. */
static uint32_t best(const struct table *t, uint32_t from, uint32_t to, bool greatest) {
    int k = 31 - __builtin_clz(to - from);
    return better(t->level[k][from], t->level[k][to - (1u << k)], greatest);
}

/* The neighbours of each block, its predecessors and successors. A span must contain all neighbours of its inner
 * blocks. Its first block may have predecessors outside, and its last block may have successors outside. */
struct search {
    const struct cfg *g;
    uint32_t *first_succ, *last_succ; /* first and last successor in program order; the block itself if none */
    uint32_t *first_pred, *last_pred;
    /* lowest and highest block among the predecessors and successors of a range of blocks */
    struct table lowest, highest;
    /* block -> number of blocks before it that cannot be in a span, because they end the program or cannot reach its
     * end */
    uint32_t *stuck;
};

static uint32_t extreme(uint32_t b, const uint32_t *first, const uint32_t *adj, bool greatest) {
    uint32_t x = first[b] < first[b + 1] ? adj[first[b]] : b;
    for (uint32_t e = first[b]; e < first[b + 1]; e++)
        x = better(x, adj[e], greatest);
    return x;
}

static void find_neighbours(struct arena *a, struct search *s) {
    const struct cfg *g = s->g;
    uint32_t *low = arena_array(a, g->n, sizeof *low), *high = arena_array(a, g->n, sizeof *high);
    s->first_succ = arena_array(a, g->n, sizeof *s->first_succ);
    s->last_succ = arena_array(a, g->n, sizeof *s->last_succ);
    s->first_pred = arena_array(a, g->n, sizeof *s->first_pred);
    s->last_pred = arena_array(a, g->n, sizeof *s->last_pred);
    for (uint32_t b = 0; b < g->n; b++) {
        s->first_succ[b] = extreme(b, g->succ_first, g->succ, false);
        s->last_succ[b] = extreme(b, g->succ_first, g->succ, true);
        s->first_pred[b] = extreme(b, g->pred_first, g->pred, false);
        s->last_pred[b] = extreme(b, g->pred_first, g->pred, true);
        low[b] = better(s->first_succ[b], s->first_pred[b], false);
        high[b] = better(s->last_succ[b], s->last_pred[b], true);
    }
    s->lowest = table_of(a, low, g->n, false);
    s->highest = table_of(a, high, g->n, true);
}

/* Finds the blocks that end the program or cannot reach its end. */
static void find_stuck(struct arena *a, struct search *s) {
    const struct cfg *g = s->g;
    unsigned char *ends = arena_array(a, (size_t)g->n + 1, 1);
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack), top = 0;
    for (uint32_t b = 0; b < g->n; b++)
        if (g->succ_first[b] == g->succ_first[b + 1]) {
            ends[b] = 1;
            stack[top++] = b;
        }
    while (top) {
        uint32_t b = stack[--top];
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++)
            if (!ends[g->pred[e]]) {
                ends[g->pred[e]] = 1;
                stack[top++] = g->pred[e];
            }
    }
    s->stuck = arena_array(a, (size_t)g->n + 1, sizeof *s->stuck);
    for (uint32_t b = 0; b < g->n; b++)
        s->stuck[b + 1] = s->stuck[b] + (!ends[b] || g->succ_first[b] == g->succ_first[b + 1]);
}

/* Returns the first block of the span that `b` ends. The span grows towards lower block numbers until no edge from its
 * inside leads to a lower block. */
static uint32_t find_first(const struct search *s, uint32_t b) {
    uint32_t a = s->first_pred[b];
    if (a >= b || s->last_pred[b] > b)
        return b;
    for (int step = 0; step < MAX_STEPS; step++) {
        uint32_t to = s->first_succ[a] < a ? s->first_succ[a] : a;
        if (b - a > 1)
            to = better(to, best(&s->lowest, a + 1, b, false), false);
        if (to == a) {
            bool right = s->last_succ[a] > b || (b - a > 1 && best(&s->highest, a + 1, b, true) > b);
            return right || s->stuck[b + 1] != s->stuck[a] ? b : a;
        }
        a = to;
    }
    return b;
}

uint32_t *spans(struct arena *a, const struct cfg *g) {
    struct search s = {.g = g};
    uint32_t *first = arena_array(a, (size_t)g->n + 1, sizeof *first);
    if (g->n == 0)
        return first;
    find_neighbours(a, &s);
    find_stuck(a, &s);
    for (uint32_t b = 0; b < g->n; b++)
        first[b] = find_first(&s, b);
    return first;
}
