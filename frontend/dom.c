/* Dominators and post-dominators: one fixed point over a graph, walked forward from the entries or backward from the
 * ends. */
#include "dom.h"
#include <string.h>

/* Blocks as a depth-first walk leaves them. */
struct walk {
    uint32_t *order, n;
    uint32_t *stack, *next; /* blocks on the way, and the edge each is at */
    unsigned char *seen;
};

static struct walk new_walk(struct arena *a, uint32_t n) {
    size_t room = (size_t)n + 1;
    return (struct walk){.order = arena_array(a, room, sizeof(uint32_t)),
                         .stack = arena_array(a, room, sizeof(uint32_t)),
                         .next = arena_array(a, room, sizeof(uint32_t)),
                         .seen = arena_array(a, room, 1)};
}

/* Walks from `root` over `first`/`adj`; a block is left when all its neighbours have been. */
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
            w->order[w->n++] = b;
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

/* One problem: `w` holds the blocks that the roots lead to, in the order that a walk along the graph leaves them;
 * `back` leads against the walk. Node n stands before all roots. */
struct problem {
    uint32_t n;
    const struct walk *w;
    const unsigned char *root;
    const uint32_t *back_first, *back;
};

static uint32_t meet(const uint32_t *number, const uint32_t *up, uint32_t a, uint32_t b) {
    while (a != b) {
        while (number[a] < number[b])
            a = up[a];
        while (number[b] < number[a])
            b = up[b];
    }
    return a;
}

/* Fills up[0 ... n-1]; NO_BLOCK where only node n is above. */
static void solve(struct arena *tmp, const struct problem *p, uint32_t *out) {
    uint32_t *number = arena_array(tmp, (size_t)p->n + 1, sizeof *number);
    uint32_t *up = arena_array(tmp, (size_t)p->n + 1, sizeof *up);
    for (uint32_t b = 0; b < p->n; b++)
        up[b] = NO_BLOCK;
    up[p->n] = p->n;
    for (uint32_t i = 0; i < p->w->n; i++)
        number[p->w->order[i]] = i;
    number[p->n] = p->n;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = p->w->n; i-- > 0;) {
            uint32_t b = p->w->order[i], above = p->root[b] ? p->n : NO_BLOCK;
            for (uint32_t e = p->back_first[b]; e < p->back_first[b + 1]; e++) {
                uint32_t from = p->back[e];
                if (up[from] != NO_BLOCK)
                    above = above == NO_BLOCK ? from : meet(number, up, above, from);
            }
            changed |= above != up[b];
            up[b] = above;
        }
    }
    for (uint32_t b = 0; b < p->n; b++)
        out[b] = up[b] == p->n ? NO_BLOCK : up[b];
}

/* Numbers the tree so that dominates() is two comparisons. `reached[b]`: some root leads to b. */
static struct dom_tree make_tree(struct arena *a, uint32_t n, uint32_t *up, const unsigned char *reached) {
    struct dom_tree t = {.n = n, .up = up};
    size_t room = (size_t)n + 1;
    uint32_t *child = arena_array(a, room, sizeof *child), *sibling = arena_array(a, room, sizeof *sibling);
    t.in = arena_array(a, room, sizeof *t.in);
    t.out = arena_array(a, room, sizeof *t.out);
    for (uint32_t b = 0; b <= n; b++)
        child[b] = sibling[b] = NO_BLOCK;
    for (uint32_t b = n; b-- > 0;) {
        uint32_t above = up[b] == NO_BLOCK ? n : up[b];
        if (!reached[b])
            continue;
        sibling[b] = child[above];
        child[above] = b;
    }
    uint32_t time = 1, at = child[n];
    while (at != NO_BLOCK) {
        if (!t.in[at]) {
            t.in[at] = time++;
            if (child[at] != NO_BLOCK) {
                at = child[at];
                continue;
            }
        }
        t.out[at] = time++;
        at = sibling[at] != NO_BLOCK ? sibling[at] : up[at];
    }
    return t;
}

struct dom_tree dominators(struct arena *a, const struct cfg *g, const uint32_t *roots, uint32_t n_roots) {
    struct walk w = new_walk(a, g->n);
    unsigned char *root = arena_array(a, (size_t)g->n + 1, 1);
    uint32_t *up = arena_array(a, (size_t)g->n + 1, sizeof *up);
    for (uint32_t i = 0; i < n_roots; i++) {
        root[roots[i]] = 1;
        visit(&w, roots[i], g->succ_first, g->succ);
    }
    solve(a, &(struct problem){g->n, &w, root, g->pred_first, g->pred}, up);
    return make_tree(a, g->n, up, w.seen);
}

/* Orders all blocks backward from the end and marks those with an edge to it, one for each region that has none. */
static struct walk order_backward(struct arena *tmp, const struct cfg *g, unsigned char *leaves) {
    struct walk forward = new_walk(tmp, g->n), w = new_walk(tmp, g->n);
    for (uint32_t b = 0; b < g->n; b++)
        visit(&forward, b, g->succ_first, g->succ);
    for (uint32_t b = 0; b < g->n; b++)
        if (g->succ_first[b] == g->succ_first[b + 1]) {
            leaves[b] = 1;
            visit(&w, b, g->pred_first, g->pred);
        }
    for (uint32_t i = 0; i < g->n; i++)
        if (!w.seen[forward.order[i]]) {
            leaves[forward.order[i]] = 1;
            visit(&w, forward.order[i], g->pred_first, g->pred);
        }
    return w;
}

void postdom(struct arena *tmp, const struct cfg *g, uint32_t *out) {
    unsigned char *leaves = arena_array(tmp, (size_t)g->n + 1, 1);
    struct walk w = order_backward(tmp, g, leaves);
    solve(tmp, &(struct problem){g->n, &w, leaves, g->succ_first, g->succ}, out);
}

struct dom_tree post_dominators(struct arena *a, const struct cfg *g) {
    uint32_t *up = arena_array(a, (size_t)g->n + 1, sizeof *up);
    unsigned char *all = arena_array(a, (size_t)g->n + 1, 1);
    memset(all, 1, g->n);
    postdom(a, g, up);
    return make_tree(a, g->n, up, all);
}

bool dominates(const struct dom_tree *t, uint32_t a, uint32_t b) {
    return a == b || (t->in[b] && t->in[a] <= t->in[b] && t->in[a] && t->out[b] <= t->out[a]);
}

uint32_t dom_common(const struct dom_tree *t, uint32_t a, uint32_t b) {
    while (a != NO_BLOCK && !dominates(t, a, b))
        a = t->up[a];
    return a;
}
