/* Dominators and post-dominators: one algorithm over a graph, walked forward from the entries or backward from the
 * ends. It is Lengauer's and Tarjan's (A fast algorithm for finding dominators in a flowgraph, TOPLAS 1979) with simple
 * path compression: edges times the logarithm of blocks, however deep loops are nested. */
#include "dom.h"
#include <string.h>

/* A depth-first walk. */
struct walk {
    uint32_t *order, n; /* blocks in the order in which they are left */
    uint32_t *found;    /* blocks in the order in which they are first seen */
    uint32_t n_found;
    uint32_t *from;         /* of a block: the one that it was seen from; NO_BLOCK: it is where the walk began */
    uint32_t *stack, *next; /* blocks on the way, and the edge each is at */
    unsigned char *seen;
};

static struct walk new_walk(struct arena *a, uint32_t n) {
    size_t room = (size_t)n + 1;
    return (struct walk){.order = arena_array(a, room, sizeof(uint32_t)),
                         .found = arena_array(a, room, sizeof(uint32_t)),
                         .from = arena_array(a, room, sizeof(uint32_t)),
                         .stack = arena_array(a, room, sizeof(uint32_t)),
                         .next = arena_array(a, room, sizeof(uint32_t)),
                         .seen = arena_array(a, room, 1)};
}

static void see(struct walk *w, uint32_t b, uint32_t from) {
    w->seen[b] = 1;
    w->found[w->n_found++] = b;
    w->from[b] = from;
}

/* Walks from `root` over `first`/`adj`; a block is left when all its neighbours have been. */
static void visit(struct walk *w, uint32_t root, const uint32_t *first, const uint32_t *adj) {
    uint32_t top = 0;
    if (w->seen[root])
        return;
    see(w, root, NO_BLOCK);
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
            see(w, to, b);
            w->stack[top] = to;
            w->next[top++] = first[to];
        }
    }
}

/* One problem: `w` is a walk from the roots along the graph; `back` leads against it. One node stands before all roots.
 */
struct problem {
    uint32_t n;
    const struct walk *w;
    const unsigned char *root;
    const uint32_t *back_first, *back;
};

/* Nodes by number of discovery: TOP stands before all roots, block w->found[i] is TOP + 1 + i, and 0 is none. */
enum { TOP = 1 };
struct forest {
    uint32_t *parent;   /* in the walk */
    uint32_t *semi;     /* the semidominator */
    uint32_t *ancestor; /* in the forest of what has been done; 0: a root of it */
    uint32_t *label;    /* of the nodes on the compressed way up: one of least semidominator */
    uint32_t *way;      /* scratch: nodes between one and its root */
};

/* A node of least semidominator between `v` and the root of its tree, without the root. */
static uint32_t least(const struct forest *f, uint32_t v) {
    uint32_t n = 0, top = v;
    if (!f->ancestor[v])
        return f->label[v];
    for (; f->ancestor[f->ancestor[top]]; top = f->ancestor[top])
        f->way[n++] = top;
    while (n--) {
        uint32_t u = f->way[n], above = f->ancestor[u];
        if (f->semi[f->label[above]] < f->semi[f->label[u]])
            f->label[u] = f->label[above];
        f->ancestor[u] = f->ancestor[above];
    }
    return f->label[v];
}

static uint32_t semidominator(const struct forest *f, const struct problem *p, const uint32_t *number, uint32_t i) {
    uint32_t b = p->w->found[i - TOP - 1], least_semi = p->root[b] ? TOP : i;
    for (uint32_t e = p->back_first[b]; e < p->back_first[b + 1]; e++) {
        uint32_t from = number[p->back[e]];
        uint32_t semi = from ? f->semi[least(f, from)] : i;
        least_semi = semi < least_semi ? semi : least_semi;
    }
    return least_semi;
}

/* Fills out[0 ... n-1]; NO_BLOCK where only the node before all roots is above. */
static void solve(struct arena *tmp, const struct problem *p, uint32_t *out) {
    const struct walk *w = p->w;
    const uint32_t end = w->n_found + TOP + 1; /* of numbers */
    struct forest f = {.parent = arena_array(tmp, end, sizeof(uint32_t)),
                       .semi = arena_array(tmp, end, sizeof(uint32_t)),
                       .ancestor = arena_array(tmp, end, sizeof(uint32_t)),
                       .label = arena_array(tmp, end, sizeof(uint32_t)),
                       .way = arena_array(tmp, end, sizeof(uint32_t))};
    uint32_t *number = arena_array(tmp, (size_t)p->n + 1, sizeof *number); /* 0: not reached */
    uint32_t *up = arena_array(tmp, end, sizeof *up);
    uint32_t *waits = arena_array(tmp, end, sizeof *waits); /* first of those whose semidominator this is */
    uint32_t *more = arena_array(tmp, end, sizeof *more);   /* and the next of them */
    for (uint32_t i = TOP + 1; i < end; i++)
        number[w->found[i - TOP - 1]] = i;
    for (uint32_t i = TOP; i < end; i++) {
        uint32_t from = i == TOP ? NO_BLOCK : w->from[w->found[i - TOP - 1]];
        f.parent[i] = from == NO_BLOCK ? TOP : number[from];
        f.semi[i] = f.label[i] = i;
    }
    for (uint32_t i = end - 1; i > TOP; i--) {
        f.semi[i] = semidominator(&f, p, number, i);
        more[i] = waits[f.semi[i]];
        waits[f.semi[i]] = i;
        f.ancestor[i] = f.parent[i];
        for (uint32_t x = waits[f.parent[i]]; x; x = more[x]) {
            uint32_t u = least(&f, x);
            up[x] = f.semi[u] < f.semi[x] ? u : f.parent[i];
        }
        waits[f.parent[i]] = 0;
    }
    for (uint32_t b = 0; b < p->n; b++)
        out[b] = NO_BLOCK;
    for (uint32_t i = TOP + 1; i < end; i++) {
        if (up[i] != f.semi[i])
            up[i] = up[up[i]];
        if (up[i] != TOP)
            out[w->found[i - TOP - 1]] = w->found[up[i] - TOP - 1];
    }
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
