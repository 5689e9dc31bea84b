/* Immediate post-dominators. Knows nothing but the graph. */
#include "cfg.h"

struct walk {
    const struct cfg *g;
    uint32_t *order;  /* blocks as a backward walk from the end leaves them */
    uint32_t *number; /* position in order; the end itself has number n */
    uint32_t n_order;
    uint32_t *stack, *next; /* blocks on the way, and the edge each is at */
    unsigned char *seen;
    unsigned char *leaves; /* has an edge to the end, real or added */
};

/* Walks from `root` over `first`/`adj`, calling a block done when all its neighbours are; appends to order. */
static void visit(struct walk *w, uint32_t root, const uint32_t *first, const uint32_t *adj) {
    uint32_t top = 0;
    if (w->seen[root])
        return;
    w->seen[root] = 1;
    w->stack[top] = root;
    w->next[top++] = first[root];
    while (top) {
        uint32_t b = w->stack[top - 1];
        if (w->next[top - 1] == first[b + 1]) {
            w->order[w->n_order++] = b;
            top--;
            continue;
        }
        uint32_t to = adj[w->next[top - 1]++];
        if (!w->seen[to]) {
            w->seen[to] = 1;
            w->stack[top] = to;
            w->next[top++] = first[to];
        }
    }
}

/* Orders all blocks backward from the end and adds an edge to the end for each region that has none. */
static void order_backward(struct arena *tmp, struct walk *w) {
    const struct cfg *g = w->g;
    for (uint32_t b = 0; b < g->n; b++)
        visit(w, b, g->succ_first, g->succ);
    uint32_t *forward = w->order;
    w->order = arena_array(tmp, g->n, sizeof *w->order);
    w->seen = arena_array(tmp, g->n, 1);
    w->n_order = 0;
    for (uint32_t b = 0; b < g->n; b++)
        if (g->succ_first[b] == g->succ_first[b + 1]) {
            w->leaves[b] = 1;
            visit(w, b, g->pred_first, g->pred);
        }
    for (uint32_t i = 0; i < g->n; i++)
        if (!w->seen[forward[i]]) {
            w->leaves[forward[i]] = 1;
            visit(w, forward[i], g->pred_first, g->pred);
        }
    for (uint32_t i = 0; i < g->n; i++)
        w->number[w->order[i]] = i;
    w->number[g->n] = g->n;
}

static uint32_t intersect(const uint32_t *number, const uint32_t *idom, uint32_t a, uint32_t b) {
    while (a != b) {
        while (number[a] < number[b])
            a = idom[a];
        while (number[b] < number[a])
            b = idom[b];
    }
    return a;
}

void postdom(struct arena *tmp, const struct cfg *g, uint32_t *out) {
    uint32_t n = g->n;
    struct walk w = {.g = g};
    w.order = arena_array(tmp, n, sizeof *w.order);
    w.number = arena_array(tmp, (size_t)n + 1, sizeof *w.number);
    w.stack = arena_array(tmp, n, sizeof *w.stack);
    w.next = arena_array(tmp, n, sizeof *w.next);
    w.seen = arena_array(tmp, n, 1);
    w.leaves = arena_array(tmp, n, 1);
    order_backward(tmp, &w);

    uint32_t *idom = arena_array(tmp, (size_t)n + 1, sizeof *idom);
    for (uint32_t b = 0; b < n; b++)
        idom[b] = NO_BLOCK;
    idom[n] = n;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = n; i-- > 0;) {
            uint32_t b = w.order[i], meet = w.leaves[b] ? n : NO_BLOCK;
            for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
                uint32_t s = g->succ[e];
                if (idom[s] == NO_BLOCK)
                    continue;
                meet = meet == NO_BLOCK ? s : intersect(w.number, idom, meet, s);
            }
            if (meet != idom[b]) {
                idom[b] = meet;
                changed = true;
            }
        }
    }
    for (uint32_t b = 0; b < n; b++)
        out[b] = idom[b] == n ? NO_BLOCK : idom[b];
}
