/* Control dependence. The set of (branch, block) pairs can be quadratic: each block after n early exits depends on n
 * branches. This set is therefore never built. Instead, two iterators return each block once. All calls of an iterator
 * together take O(n log n) time for a graph of size n. */
#include "dependence.h"
#include <string.h>

unsigned char *calls_that_exit(struct arena *a, const struct ir *ir) {
    unsigned char *exits = arena_array(a, (size_t)ir->n_functions + 1, 1);
    unsigned char *call_exits = arena_array(a, (size_t)ir->n + 1, 1);
    for (uint32_t m = 0; m < ir->order.n_members; m++) {
        uint32_t f = ir->order.members[m];
        for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end; i++)
            exits[f] |= ir->code[i].kind == K_EXIT;
        for (uint32_t e = ir->order.call_first[f]; e < ir->order.call_first[f + 1]; e++)
            exits[f] |= exits[ir->calls[ir->order.calls[e]].callee];
    }
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            call_exits[ir->calls[c].inst] |= exits[ir->calls[c].callee];
    return call_exits;
}

static bool ends_thread(const struct inst *in) { return in->kind == K_EXIT || in->kind == K_TRAP; }

static struct cfg graph_with_end(struct arena *a, const struct ir *ir, uint32_t n, const unsigned char *may_exit) {
    struct cfg_edge *edges = arena_array(a, (size_t)ir->cfg.succ_first[n] + n + 1, sizeof *edges);
    uint32_t n_edges = 0;
    for (uint32_t b = 0; b < n; b++) {
        uint32_t last = ir->blocks[b].end - 1;
        for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
            edges[n_edges++] = (struct cfg_edge){b, ir->cfg.succ[e]};
        if (ends_thread(&ir->code[last]) || (may_exit && may_exit[last]))
            edges[n_edges++] = (struct cfg_edge){b, n};
    }
    return cfg_from_edges(a, n + 1, edges, n_edges);
}

/* Returns a block from which no path leads to the end of the thread, or NO_BLOCK. */
static uint32_t find_stuck(struct arena *a, const struct cfg *g) {
    uint32_t *stack = arena_array(a, g->n, sizeof *stack), top = 0;
    unsigned char *seen = arena_array(a, g->n, 1);
    stack[top++] = g->n - 1;
    seen[g->n - 1] = 1;
    while (top) {
        uint32_t b = stack[--top];
        for (uint32_t e = g->pred_first[b]; e < g->pred_first[b + 1]; e++)
            if (!seen[g->pred[e]]) {
                seen[g->pred[e]] = 1;
                stack[top++] = g->pred[e];
            }
    }
    for (uint32_t b = 0; b < g->n; b++)
        if (!seen[b])
            return b;
    return NO_BLOCK;
}

/* Fills level, order, place and last (dependence.h) from the times in the dominator tree. The times ascend in preorder,
 * but they have gaps. */
static void number_tree(struct arena *a, struct control *c) {
    uint32_t n = c->n + 1, times = 2 * n + 1, at = 0;
    uint32_t *came = arena_array(a, (size_t)times + 1, sizeof *came), *before = arena_array(a, (size_t)times + 1, 4);
    c->level = arena_array(a, n, sizeof *c->level);
    c->order = arena_array(a, n, sizeof *c->order);
    c->place = arena_array(a, n, sizeof *c->place);
    c->last = arena_array(a, n, sizeof *c->last);
    for (uint32_t b = 0; b < n; b++)
        came[c->post.in[b]] = b + 1;
    for (uint32_t t = 0; t < times; t++) {
        before[t] = at;
        if (!came[t])
            continue;
        uint32_t b = came[t] - 1;
        c->place[b] = at;
        c->order[at++] = b;
        c->level[b] = c->post.up[b] == NO_BLOCK ? 0 : c->level[c->post.up[b]] + 1;
    }
    for (uint32_t b = 0; b < n; b++)
        c->last[b] = before[c->post.out[b]];
}

struct control find_control(struct arena *a, const struct ir *ir, const unsigned char *may_exit) {
    struct control c = {.n = ir->functions[0].block_end};
    c.g = graph_with_end(a, ir, c.n, may_exit);
    c.stuck = find_stuck(a, &c.g);
    if (c.stuck != NO_BLOCK)
        return c;
    c.post = post_dominators(a, &c.g);
    number_tree(a, &c);
    return c;
}

struct dependents find_dependents(struct arena *a, const struct control *c) {
    struct dependents d = {c, arena_array(a, (size_t)c->n + 1, sizeof *d.up)};
    for (uint32_t b = 0; b <= c->n; b++)
        d.up[b] = b;
    return d;
}

/* Returns the first node that the iterator has not returned yet on the way from b up to the root of the tree. */
static uint32_t next_unreturned(struct dependents *d, uint32_t b) {
    uint32_t top = b, next;
    while (d->up[top] != top)
        top = d->up[top];
    for (; d->up[b] != b; b = next) {
        next = d->up[b];
        d->up[b] = top;
    }
    return top;
}

uint32_t dependents_of(struct dependents *d, uint32_t b, uint32_t *list) {
    const struct control *c = d->c;
    uint32_t n = 0, join = c->level[control_join(c, b)];
    for (uint32_t e = c->g.succ_first[b]; e < c->g.succ_first[b + 1]; e++)
        for (uint32_t x = next_unreturned(d, c->g.succ[e]); c->level[x] > join; x = next_unreturned(d, x)) {
            list[n++] = x;
            d->up[x] = c->post.up[x];
        }
    return n;
}

struct deciders find_deciders(struct arena *a, const struct control *c) {
    uint32_t n = c->n + 1, edges = c->g.succ_first[n];
    struct deciders d = {.c = c, .leaves = 1};
    while (d.leaves < edges)
        d.leaves *= 2;
    d.from = arena_array(a, (size_t)edges + 1, sizeof *d.from);
    d.first = arena_array(a, (size_t)n + 1, sizeof *d.first);
    d.least = arena_array(a, 2 * (size_t)d.leaves, sizeof *d.least);
    memset(d.least, 0xff, 2 * (size_t)d.leaves * sizeof *d.least);
    uint32_t at = 0;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t b = c->order[p];
        d.first[p] = at;
        for (uint32_t e = c->g.pred_first[b]; e < c->g.pred_first[b + 1]; e++) {
            d.from[at] = c->g.pred[e];
            d.least[d.leaves + at++] = c->level[control_join(c, c->g.pred[e])];
        }
    }
    d.first[n] = at;
    for (uint32_t k = d.leaves; k-- > 1;)
        d.least[k] = d.least[2 * k] < d.least[2 * k + 1] ? d.least[2 * k] : d.least[2 * k + 1];
    return d;
}

/* Returns the first edge in [from, to) whose depth is less than `level`, or UINT32_MAX. Node `k` of the minimum tree
 * covers [low, high). */
static uint32_t find_below(const struct deciders *d, uint32_t k, uint32_t low, uint32_t high, uint32_t from,
                           uint32_t to, uint32_t level) {
    if (high <= from || to <= low || d->least[k] >= level)
        return UINT32_MAX;
    if (high - low == 1)
        return low;
    uint32_t middle = low + (high - low) / 2, left = find_below(d, 2 * k, low, middle, from, to, level);
    return left != UINT32_MAX ? left : find_below(d, 2 * k + 1, middle, high, from, to, level);
}

uint32_t next_decider(struct deciders *d, uint32_t b) {
    const struct control *c = d->c;
    uint32_t edge = find_below(d, 1, 0, d->leaves, d->first[c->place[b]], d->first[c->last[b]], c->level[b]);
    if (edge == UINT32_MAX)
        return NO_BLOCK;
    uint32_t k = d->leaves + edge;
    d->least[k] = UINT32_MAX;
    while (k /= 2)
        d->least[k] = d->least[2 * k] < d->least[2 * k + 1] ? d->least[2 * k] : d->least[2 * k + 1];
    return d->from[edge];
}
