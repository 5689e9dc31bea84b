/* Natural loops and the cycles that are none. */
#include "loops.h"
#include <string.h>

struct finder {
    struct arena *a;
    const struct cfg *g;
    const struct dom_tree *dom;
    struct loops *out;
    uint32_t words, *stack;
};

static void add(uint64_t *set, uint32_t b) { set[b / 64] |= 1ull << (b % 64); }

/* Adds every block from which `b` is reached without passing what is in the loop already. */
static void add_before(struct finder *f, struct loop *l, uint32_t b) {
    const struct cfg *g = f->g;
    uint32_t top = 0;
    if (loop_has(l, b))
        return;
    add(l->set, b);
    f->stack[top++] = b;
    while (top) {
        uint32_t k = f->stack[--top];
        l->n_blocks++;
        for (uint32_t e = g->pred_first[k]; e < g->pred_first[k + 1]; e++)
            if (!loop_has(l, g->pred[e]) && f->dom->in[g->pred[e]]) {
                add(l->set, g->pred[e]);
                f->stack[top++] = g->pred[e];
            }
    }
}

static bool closes_loop(const struct finder *f, uint32_t from, uint32_t to) {
    return f->dom->in[from] && dominates(f->dom, to, from);
}

/* The loop with this header, when an edge closes one. */
static void collect(struct finder *f, uint32_t header) {
    const struct cfg *g = f->g;
    uint32_t first = g->pred_first[header], end = g->pred_first[header + 1], n = 0;
    for (uint32_t e = first; e < end; e++)
        n += closes_loop(f, g->pred[e], header);
    if (!n)
        return;
    struct loop *l = &f->out->list[f->out->n];
    *l = (struct loop){.header = header, .parent = NO_LOOP, .n_blocks = 1, .preheader = NO_BLOCK, .innermost = true};
    l->set = arena_array(f->a, f->words, sizeof *l->set);
    l->latches = arena_array(f->a, n, sizeof *l->latches);
    add(l->set, header);
    for (uint32_t e = first; e < end; e++) {
        bool twice = l->n_latches && l->latches[l->n_latches - 1] == g->pred[e]; /* a branch to the next block */
        if (!closes_loop(f, g->pred[e], header) || twice)
            continue;
        l->latches[l->n_latches++] = g->pred[e];
        add_before(f, l, g->pred[e]);
    }
    f->out->headed[header] = f->out->n++;
}

/* An inner loop has fewer blocks than any around it. */
static void nest(struct finder *f) {
    struct loops *o = f->out;
    for (uint32_t i = 0; i < o->n; i++)
        for (uint32_t k = 0; k < o->n; k++) {
            struct loop *in = &o->list[i];
            if (i != k && loop_has(&o->list[k], in->header) &&
                (in->parent == NO_LOOP || o->list[k].n_blocks < o->list[in->parent].n_blocks))
                in->parent = k;
        }
    for (uint32_t i = 0; i < o->n; i++) {
        for (uint32_t k = i; k != NO_LOOP; k = o->list[k].parent)
            o->list[i].depth++;
        if (o->list[i].parent != NO_LOOP)
            o->list[o->list[i].parent].innermost = false;
    }
    for (uint32_t b = 0; b < f->g->n; b++)
        for (uint32_t i = 0; i < o->n; i++)
            if (loop_has(&o->list[i], b) && (o->of[b] == NO_LOOP || o->list[i].depth > o->list[o->of[b]].depth))
                o->of[b] = i;
}

static void find_edges(struct finder *f, struct loop *l) {
    const struct cfg *g = f->g;
    for (int fill = 0; fill < 2; fill++) {
        l->n_exits = 0;
        for (uint32_t b = 0; b < g->n; b++)
            for (uint32_t e = g->succ_first[b]; loop_has(l, b) && e < g->succ_first[b + 1]; e++) {
                if (!loop_has(l, g->succ[e]) && fill)
                    l->exits[l->n_exits] = (struct cfg_edge){b, g->succ[e]};
                l->n_exits += !loop_has(l, g->succ[e]);
            }
        if (!fill)
            l->exits = arena_array(f->a, (size_t)l->n_exits + 1, sizeof *l->exits);
    }
    uint32_t outside = 0;
    for (uint32_t e = g->pred_first[l->header]; e < g->pred_first[l->header + 1]; e++) {
        uint32_t p = g->pred[e];
        if (loop_has(l, p))
            continue;
        l->preheader = !outside++ && g->succ_first[p + 1] - g->succ_first[p] == 1 ? p : NO_BLOCK;
    }
}

/* What is a cycle still when edges that close loops are gone: strongly connected parts of more than one block. A block
 * lies in one when it leads back to itself; blocks are taken off from both ends until only cycles and what lies
 * between them are left, and of that a walk finds the rest. */
static void mark_irregular(struct finder *f) {
    const struct cfg *g = f->g;
    uint32_t *in = arena_array(f->a, (size_t)g->n + 1, sizeof *in), top = 0, left = 0;
    unsigned char *seen = arena_array(f->a, (size_t)g->n + 1, 1);
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t e = g->succ_first[b]; f->dom->in[b] && e < g->succ_first[b + 1]; e++)
            in[g->succ[e]] += !closes_loop(f, b, g->succ[e]);
    for (uint32_t b = 0; b < g->n; b++) {
        left += f->dom->in[b] != 0;
        if (f->dom->in[b] && !in[b])
            f->stack[top++] = b;
    }
    while (top) {
        uint32_t b = f->stack[--top];
        left--;
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            if (!closes_loop(f, b, g->succ[e]) && --in[g->succ[e]] == 0)
                f->stack[top++] = g->succ[e];
    }
    for (uint32_t b = 0; left && b < g->n; b++) { /* rare: most programs are done here */
        if (!f->dom->in[b] || !in[b])
            continue;
        memset(seen, 0, g->n);
        f->stack[top++] = b;
        while (top) {
            uint32_t k = f->stack[--top];
            for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++)
                if (!closes_loop(f, k, g->succ[e]) && !seen[g->succ[e]]) {
                    seen[g->succ[e]] = 1;
                    f->stack[top++] = g->succ[e];
                }
        }
        f->out->irregular[b] = seen[b];
    }
}

struct loops find_loops(struct arena *a, const struct cfg *g, const struct dom_tree *dom) {
    struct loops l = {0};
    size_t room = (size_t)g->n + 1;
    struct finder f = {.a = a, .g = g, .dom = dom, .out = &l, .words = g->n / 64 + 1};
    f.stack = arena_array(a, room, sizeof *f.stack);
    l.list = arena_array(a, room, sizeof *l.list);
    l.of = arena_array(a, room, sizeof *l.of);
    l.headed = arena_array(a, room, sizeof *l.headed);
    l.irregular = arena_array(a, room, 1);
    for (uint32_t b = 0; b < g->n; b++)
        l.of[b] = l.headed[b] = NO_LOOP;
    for (uint32_t b = 0; b < g->n; b++)
        collect(&f, b);
    nest(&f);
    for (uint32_t i = 0; i < l.n; i++)
        find_edges(&f, &l.list[i]);
    mark_irregular(&f);
    return l;
}

bool loop_in(const struct loops *l, uint32_t inner, uint32_t outer) {
    while (inner != outer && inner != NO_LOOP)
        inner = l->list[inner].parent;
    return inner == outer;
}
