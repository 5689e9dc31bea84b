/* Dominators and post-dominators: one algorithm, run forward from the entries or backward from the ends. It is Lengauer
 * and Tarjan's ("A fast algorithm for finding dominators in a flowgraph", TOPLAS 1979) with simple path compression.
 * Its time is O(edges * log(blocks)), and does not depend on the nesting depth of loops. */
#include "dom.h"
#include <string.h>

/* A depth-first walk. */
struct walk {
    uint32_t *order, n; /* blocks in postorder */
    uint32_t *found;    /* blocks in preorder */
    uint32_t n_found;
    uint32_t *from;         /* block -> its parent in the walk; NO_BLOCK for the first block of a walk */
    uint32_t *stack, *next; /* blocks on the current path, and the next edge of each */
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

static void discover(struct walk *w, uint32_t b, uint32_t from) {
    w->seen[b] = 1;
    w->found[w->n_found++] = b;
    w->from[b] = from;
}

/* Walks depth-first from `root` over `first`/`adj`. Appends each block to `order` after all blocks that are reached
 * from it (postorder). */
static void visit(struct walk *w, uint32_t root, const uint32_t *first, const uint32_t *adj) {
    uint32_t top = 0;
    if (w->seen[root])
        return;
    discover(w, root, NO_BLOCK);
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
            discover(w, to, b);
            w->stack[top] = to;
            w->next[top++] = first[to];
        }
    }
}

/* The input of solve(): `w` is a depth-first walk from the roots along the edges of the graph; `back` has these edges
 * reversed. A virtual node precedes all roots. */
struct problem {
    uint32_t n;
    const struct walk *w;
    const unsigned char *root;
    const uint32_t *back_first, *back;
};

/* Nodes are numbered in preorder: 0 means no node, TOP is the virtual node before all roots, and block w->found[i] has
 * the number TOP + 1 + i. */
enum { TOP = 1 };
struct forest {
    uint32_t *parent;   /* parent in the walk */
    uint32_t *semi;     /* semidominator */
    uint32_t *ancestor; /* parent in the forest of processed nodes; 0: a root */
    uint32_t *label;    /* node with the least semidominator on the compressed path */
    uint32_t *path;     /* scratch: the path from a node to its root */
};

/* Returns the node with the least semidominator on the path from `v` to the root of its tree, without the root. */
static uint32_t least_label(const struct forest *f, uint32_t v) {
    uint32_t n = 0, top = v;
    if (!f->ancestor[v])
        return f->label[v];
    for (; f->ancestor[f->ancestor[top]]; top = f->ancestor[top])
        f->path[n++] = top;
    while (n--) {
        uint32_t u = f->path[n], above = f->ancestor[u];
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
        uint32_t semi = from ? f->semi[least_label(f, from)] : i;
        least_semi = semi < least_semi ? semi : least_semi;
    }
    return least_semi;
}

/* Fills out[0 ... n-1] with immediate dominators; NO_BLOCK where only the virtual node dominates. */
static void solve(struct arena *tmp, const struct problem *p, uint32_t *out) {
    const struct walk *w = p->w;
    const uint32_t end = w->n_found + TOP + 1; /* node numbers are below `end` */
    struct forest f = {.parent = arena_array(tmp, end, sizeof(uint32_t)),
                       .semi = arena_array(tmp, end, sizeof(uint32_t)),
                       .ancestor = arena_array(tmp, end, sizeof(uint32_t)),
                       .label = arena_array(tmp, end, sizeof(uint32_t)),
                       .path = arena_array(tmp, end, sizeof(uint32_t))};
    uint32_t *number = arena_array(tmp, (size_t)p->n + 1, sizeof *number); /* block -> node number; 0: unreachable */
    uint32_t *up = arena_array(tmp, end, sizeof *up);
    uint32_t *bucket = arena_array(tmp, end, sizeof *bucket); /* node -> first node whose semidominator is this node */
    /* node -> next node with the same semidominator */
    uint32_t *bucket_next = arena_array(tmp, end, sizeof *bucket_next);
    for (uint32_t i = TOP + 1; i < end; i++)
        number[w->found[i - TOP - 1]] = i;
    for (uint32_t i = TOP; i < end; i++) {
        uint32_t from = i == TOP ? NO_BLOCK : w->from[w->found[i - TOP - 1]];
        f.parent[i] = from == NO_BLOCK ? TOP : number[from];
        f.semi[i] = f.label[i] = i;
    }
    for (uint32_t i = end - 1; i > TOP; i--) {
        f.semi[i] = semidominator(&f, p, number, i);
        bucket_next[i] = bucket[f.semi[i]];
        bucket[f.semi[i]] = i;
        f.ancestor[i] = f.parent[i];
        for (uint32_t x = bucket[f.parent[i]]; x; x = bucket_next[x]) {
            uint32_t u = least_label(&f, x);
            up[x] = f.semi[u] < f.semi[x] ? u : f.parent[i];
        }
        bucket[f.parent[i]] = 0;
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

/* Numbers the tree so that dominates() is two comparisons. `reached[b]`: a root reaches b. */
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

/* Marks the blocks with an edge to the end of the thread, and walks backward from them. */
static struct walk walk_backward(struct arena *tmp, const struct cfg *g, unsigned char *ends) {
    struct walk w = new_walk(tmp, g->n);
    for (uint32_t b = 0; b < g->n; b++)
        if (g->succ_first[b] == g->succ_first[b + 1]) {
            ends[b] = 1;
            visit(&w, b, g->pred_first, g->pred);
        }
    return w;
}

/* The endless loops of a graph: sets of blocks that reach each other and no other block. */
struct endless {
    uint32_t n;
    uint32_t *of;     /* block -> number of its endless loop, or NO_BLOCK */
    uint32_t *header; /* loop -> the block where its iterations begin */
};

/* Returns the loop's first block that is entered from outside; without such a block, the first block. */
static uint32_t find_header(const struct cfg *g, const uint32_t *of, uint32_t loop) {
    uint32_t first = NO_BLOCK;
    for (uint32_t b = g->n; b-- > 0;)
        first = of[b] == loop ? b : first;
    for (uint32_t b = first; b < g->n; b++)
        for (uint32_t e = g->pred_first[b]; of[b] == loop && e < g->pred_first[b + 1]; e++)
            if (of[g->pred[e]] != loop)
                return b;
    return first;
}

/* Finds the endless loops among the blocks that `reach` has not seen, because they reach no end. These blocks are
 * divided into strongly connected components (Kosaraju). A component without an edge to another one is an endless
 * loop. */
static struct endless find_endless(struct arena *tmp, const struct cfg *g, const struct walk *reach) {
    struct walk back = new_walk(tmp, g->n), w = new_walk(tmp, g->n);
    struct endless x = {0, arena_array(tmp, (size_t)g->n + 1, sizeof *x.of),
                        arena_array(tmp, (size_t)g->n + 1, sizeof *x.header)};
    memset(x.of, 0xff, g->n * sizeof *x.of);
    memcpy(back.seen, reach->seen, g->n);
    for (uint32_t b = 0; b < g->n; b++)
        visit(&back, b, g->pred_first, g->pred);
    for (uint32_t i = back.n; i-- > 0;) {
        const uint32_t begin = w.n_found;
        bool leaves = false;
        visit(&w, back.order[i], g->succ_first, g->succ);
        for (uint32_t k = begin; k < w.n_found; k++)
            x.of[w.found[k]] = x.n;
        for (uint32_t k = begin; k < w.n_found; k++)
            for (uint32_t e = g->succ_first[w.found[k]]; e < g->succ_first[w.found[k] + 1]; e++)
                leaves |= x.of[g->succ[e]] != x.n;
        for (uint32_t k = begin; leaves && k < w.n_found; k++)
            x.of[w.found[k]] = NO_BLOCK;
        x.n += !leaves && begin < w.n_found;
    }
    for (uint32_t i = 0; i < x.n; i++)
        x.header[i] = find_header(g, x.of, i);
    return x;
}

/* Returns the graph in which an iteration of endless loop i ends in node g->n + i, which has no successors. */
static struct cfg end_iterations(struct arena *tmp, const struct cfg *g, const struct endless *x) {
    struct cfg_edge *edges = arena_array(tmp, (size_t)g->succ_first[g->n] + 1, sizeof *edges);
    uint32_t n = 0;
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
            uint32_t to = g->succ[e], loop = x->of[b];
            edges[n++] = (struct cfg_edge){b, loop != NO_BLOCK && x->header[loop] == to ? g->n + loop : to};
        }
    return cfg_from_edges(tmp, g->n + x->n, edges, n);
}

void postdom(struct arena *tmp, const struct cfg *g, uint32_t *out) {
    unsigned char *ends = arena_array(tmp, (size_t)g->n + 1, 1);
    struct walk w = walk_backward(tmp, g, ends);
    if (w.n == g->n) {
        solve(tmp, &(struct problem){g->n, &w, ends, g->succ_first, g->succ}, out);
        return;
    }
    const struct endless x = find_endless(tmp, g, &w);
    const struct cfg finite = end_iterations(tmp, g, &x);
    uint32_t *all = arena_array(tmp, (size_t)finite.n + 1, sizeof *all);
    postdom(tmp, &finite, all); /* every node reaches an end now */
    for (uint32_t b = 0; b < g->n; b++)
        out[b] = all[b] != NO_BLOCK && all[b] >= g->n ? x.header[all[b] - g->n] : all[b];
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
