/* Finds priorities and thread frontiers. */
#include "priority.h"
#include "frontend/analysis/loops.h"

enum { BITS = 64 };

/* ---- priorities ---- */

struct order {
    const struct cfg *g;
    struct loops loops;
    uint32_t *number;     /* block -> its place in a reverse post-order; an edge to a higher number is a forward edge */
    uint32_t *waits_for;  /* block -> number of its predecessors on forward edges that have no priority yet */
    uint32_t *inside;     /* loop -> number of its blocks that have a priority */
    unsigned char *ready; /* block -> true if it may get the next priority */
};

/* Numbers the blocks that `root` reaches in reverse post-order, from `next` down. Returns the lowest number. */
static uint32_t number_from(struct order *o, struct arena *a, uint32_t root, unsigned char *seen, uint32_t next) {
    const struct cfg *g = o->g;
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack), n = 0;
    uint32_t *edge = arena_array(a, (size_t)g->n + 1, sizeof *edge); /* by block: the edge to follow next */
    if (seen[root])
        return next;
    seen[root] = 1;
    edge[root] = g->succ_first[root];
    stack[n++] = root;
    while (n) {
        uint32_t b = stack[n - 1];
        if (edge[b] == g->succ_first[b + 1]) {
            o->number[b] = --next;
            n--;
            continue;
        }
        uint32_t to = g->succ[edge[b]++];
        if (!seen[to]) {
            seen[to] = 1;
            edge[to] = g->succ_first[to];
            stack[n++] = to;
        }
    }
    return next;
}

static bool is_forward(const struct order *o, uint32_t from, uint32_t to) { return o->number[from] < o->number[to]; }

/* A loop has begun if one of its blocks has a priority. Returns the depth of the deepest such loop around block `b`; 0:
 * there is none. */
static uint32_t begun_depth(const struct order *o, uint32_t b) {
    uint32_t l = o->loops.of[b];
    while (l != NO_LOOP && !o->inside[l])
        l = o->loops.list[l].parent;
    return l == NO_LOOP ? 0 : o->loops.list[l].depth;
}

static uint32_t pick(const struct order *o) {
    uint32_t best = NO_BLOCK;
    for (uint32_t b = 0; b < o->g->n; b++)
        if (o->ready[b] && (best == NO_BLOCK || begun_depth(o, b) > begun_depth(o, best)))
            best = b;
    return best;
}

static void place(struct order *o, uint32_t b) {
    o->ready[b] = 0;
    for (uint32_t l = o->loops.of[b]; l != NO_LOOP; l = o->loops.list[l].parent)
        o->inside[l]++;
    for (uint32_t e = o->g->succ_first[b]; e < o->g->succ_first[b + 1]; e++)
        if (is_forward(o, b, o->g->succ[e]) && --o->waits_for[o->g->succ[e]] == 0)
            o->ready[o->g->succ[e]] = 1;
}

uint32_t *find_priorities(struct arena *a, const struct cfg *g, const uint32_t *roots, uint32_t n_roots) {
    struct dom_tree dom = dominators(a, g, roots, n_roots);
    struct order o = {.g = g, .loops = find_loops(a, g, &dom)};
    uint32_t *priority = arena_array(a, (size_t)g->n + 1, sizeof *priority), next = g->n;
    unsigned char *seen = arena_array(a, (size_t)g->n + 1, 1);
    o.number = arena_array(a, (size_t)g->n + 1, sizeof *o.number);
    o.waits_for = arena_array(a, (size_t)g->n + 1, sizeof *o.waits_for);
    o.inside = arena_array(a, (size_t)o.loops.n + 1, sizeof *o.inside);
    o.ready = arena_array(a, (size_t)g->n + 1, 1);
    for (uint32_t i = 0; i < n_roots; i++)
        next = number_from(&o, a, roots[i], seen, next);
    for (uint32_t b = 0; b < g->n; b++)
        next = number_from(&o, a, b, seen, next);
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++)
            o.waits_for[b] += is_forward(&o, g->pred[e], b);
    for (uint32_t b = 0; b < g->n; b++)
        o.ready[b] = !o.waits_for[b];
    for (uint32_t at = 0; at < g->n; at++) {
        uint32_t b = pick(&o);
        priority[b] = at;
        place(&o, b);
    }
    return priority;
}

/* ---- frontiers ---- */

static uint64_t *set_of(const struct frontier_sets *f, uint32_t b) { return f->set + (size_t)b * f->words; }

/* Adds to the frontier of the block with priority `from` all members of `pool` with lower priority. Returns true if
 * this changed the frontier. */
static bool add_lower(const struct frontier_sets *f, const uint64_t *pool, uint32_t from) {
    uint64_t *set = set_of(f, f->block[from]), mask = ~0ull << from % BITS & ~(1ull << from % BITS);
    bool changed = false;
    for (uint32_t i = from / BITS; i < f->words; i++, mask = ~0ull) {
        changed |= (pool[i] & mask & ~set[i]) != 0;
        set[i] |= pool[i] & mask;
    }
    return changed;
}

/* After block b, threads wait at the blocks of its frontier and at its successors: these are the pool. The warp
 * continues at one of them, and the others with lower priority stay in the frontier. */
static bool flow(const struct frontier_sets *f, const struct cfg *g, uint32_t b, uint64_t *pool) {
    bool changed = false;
    for (uint32_t i = 0; i < f->words; i++)
        pool[i] = set_of(f, b)[i];
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
        pool[f->priority[g->succ[e]] / BITS] |= 1ull << f->priority[g->succ[e]] % BITS;
    for (uint32_t i = 0; i < f->words; i++)
        for (uint64_t m = pool[i]; m; m &= m - 1)
            changed |= add_lower(f, pool, i * BITS + (uint32_t)__builtin_ctzll(m));
    return changed;
}

struct frontier_sets find_frontiers(struct arena *a, const struct cfg *g, const uint32_t *priority) {
    struct frontier_sets f = {.n = g->n, .words = g->n / BITS + 1, .priority = priority};
    uint32_t *block = arena_array(a, (size_t)g->n + 1, sizeof *block);
    uint64_t *pool = arena_array(a, f.words, sizeof *pool);
    for (uint32_t b = 0; b < g->n; b++)
        block[priority[b]] = b;
    f.block = block;
    f.set = arena_array(a, (size_t)g->n * f.words + 1, sizeof *f.set);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = 0; at < g->n; at++)
            changed |= flow(&f, g, block[at], pool);
    }
    return f;
}

bool frontier_has(const struct frontier_sets *f, uint32_t b, uint32_t other) {
    return set_of(f, b)[f->priority[other] / BITS] >> f->priority[other] % BITS & 1;
}

uint32_t frontier_first(const struct frontier_sets *f, uint32_t b) {
    for (uint32_t i = 0; i < f->words; i++)
        if (set_of(f, b)[i])
            return f->block[i * BITS + (uint32_t)__builtin_ctzll(set_of(f, b)[i])];
    return NO_BLOCK;
}
