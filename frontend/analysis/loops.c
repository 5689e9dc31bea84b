/* Finds natural loops, and cycles that are not natural loops. */
#include "loops.h"
#include <string.h>

struct finder {
    struct arena *a;
    const struct cfg *g;
    const struct dom_tree *dom;
    struct loops *out;
    uint32_t *stack;
    uint32_t *top;   /* loop -> an enclosing loop, or itself: see top_of() */
    uint32_t *order; /* loops, outer before inner */
};

static bool closes_loop(const struct finder *f, uint32_t from, uint32_t to) {
    return f->dom->in[from] && dominates(f->dom, to, from);
}

/* Adds the loop with this header, if a back edge leads to it. */
static void collect(struct finder *f, uint32_t header) {
    const struct cfg *g = f->g;
    uint32_t first = g->pred_first[header], end = g->pred_first[header + 1], n = 0;
    for (uint32_t e = first; e < end; e++)
        n += closes_loop(f, g->pred[e], header);
    if (!n)
        return;
    struct loop *l = &f->out->list[f->out->n];
    *l = (struct loop){.header = header, .parent = NO_LOOP, .n_blocks = 1, .preheader = NO_BLOCK, .innermost = true};
    l->latches = arena_array(f->a, n, sizeof *l->latches);
    for (uint32_t e = first; e < end; e++) {
        /* a branch whose target is the next block has two equal edges; its block is listed once */
        bool twice = l->n_latches && l->latches[l->n_latches - 1] == g->pred[e];
        if (closes_loop(f, g->pred[e], header) && !twice)
            l->latches[l->n_latches++] = g->pred[e];
    }
    f->top[f->out->n] = f->out->n;
    f->out->headed[header] = f->out->n++;
}

/* Sorts loops by the preorder of their headers in the dominator tree, so that outer loops come first. */
static void sort(struct finder *f) {
    uint32_t *at = arena_array(f->a, 2 * (size_t)f->g->n + 2, sizeof *at), n = 0;
    for (uint32_t i = 0; i < f->out->n; i++)
        at[f->dom->in[f->out->list[i].header]] = i + 1;
    for (uint32_t t = 0; t < 2 * f->g->n + 2; t++)
        if (at[t])
            f->order[n++] = at[t] - 1;
}

/* Returns the outermost known loop around loop `i`. */
static uint32_t top_of(struct finder *f, uint32_t i) {
    while (f->top[i] != i)
        i = f->top[i] = f->top[f->top[i]];
    return i;
}

static uint32_t push_before(struct finder *f, uint32_t b, uint32_t top) {
    for (uint32_t e = f->g->pred_first[b]; e < f->g->pred_first[b + 1]; e++)
        if (f->dom->in[f->g->pred[e]])
            f->stack[top++] = f->g->pred[e];
    return top;
}

/* Collects the blocks that reach a latch without passing the header. Inner loops are already known. Each inner loop
 * counts as one block, whose predecessors are the predecessors of its header. */
static void collect_blocks(struct finder *f, uint32_t i) {
    struct loops *o = f->out;
    struct loop *l = &o->list[i];
    uint32_t top = 0;
    o->of[l->header] = i;
    for (uint32_t k = 0; k < l->n_latches; k++)
        f->stack[top++] = l->latches[k];
    while (top) {
        uint32_t b = f->stack[--top], in;
        if (o->of[b] == NO_LOOP) {
            o->of[b] = i;
            l->n_blocks++;
            top = push_before(f, b, top);
        } else if ((in = top_of(f, o->of[b])) != i) {
            f->top[in] = o->list[in].parent = i;
            l->n_blocks += o->list[in].n_blocks;
            l->innermost = false;
            top = push_before(f, o->list[in].header, top);
        }
    }
}

/* Assigns depths and numbers. A loop's number comes right before the numbers of its inner loops. */
static void number(struct finder *f) {
    struct loops *o = f->out;
    uint32_t *size = arena_array(f->a, (size_t)o->n + 1, sizeof *size), next = 1;
    uint32_t *numbers = arena_array(f->a, (size_t)f->g->n + 1, sizeof *numbers);
    for (uint32_t k = o->n; k-- > 0;) {
        struct loop *l = &o->list[f->order[k]];
        size[f->order[k]]++;
        if (l->parent != NO_LOOP)
            size[l->parent] += size[f->order[k]];
    }
    /* from here on, size[i] is the number of loops inside loop i that have no number yet */
    for (uint32_t k = 0; k < o->n; k++) {
        uint32_t i = f->order[k], parent = o->list[i].parent;
        struct loop *l = &o->list[i];
        l->depth = parent == NO_LOOP ? 1 : o->list[parent].depth + 1;
        l->number = numbers;
        l->first = next;
        if (parent != NO_LOOP) {
            l->first = o->list[parent].last + 1 - size[parent];
            size[parent] -= size[i];
        } else {
            next += size[i];
        }
        l->last = l->first + size[i] - 1;
        size[i]--;
    }
    for (uint32_t b = 0; b < f->g->n; b++)
        numbers[b] = o->of[b] == NO_LOOP ? 0 : o->list[o->of[b]].first;
}

/* Lists the exit edges of each loop. An edge that leaves several loops is in each list. */
static void find_exits(struct finder *f) {
    const struct cfg *g = f->g;
    struct loops *o = f->out;
    for (int collect_blocks = 0; collect_blocks < 2; collect_blocks++) {
        for (uint32_t b = 0; b < g->n; b++)
            for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
                for (uint32_t i = o->of[b]; i != NO_LOOP && !loop_has(&o->list[i], g->succ[e]); i = o->list[i].parent) {
                    if (collect_blocks)
                        o->list[i].exits[o->list[i].n_exits] = (struct cfg_edge){b, g->succ[e]};
                    o->list[i].n_exits++;
                }
        for (uint32_t i = 0; !collect_blocks && i < o->n; i++) {
            o->list[i].exits = arena_array(f->a, (size_t)o->list[i].n_exits + 1, sizeof *o->list[i].exits);
            o->list[i].n_exits = 0;
        }
    }
}

static void find_preheader(struct finder *f, struct loop *l) {
    const struct cfg *g = f->g;
    uint32_t outside = 0;
    for (uint32_t e = g->pred_first[l->header]; e < g->pred_first[l->header + 1]; e++) {
        uint32_t p = g->pred[e];
        if (loop_has(l, p))
            continue;
        l->preheader = !outside++ && g->succ_first[p + 1] - g->succ_first[p] == 1 ? p : NO_BLOCK;
    }
}

/* Marks the blocks of cycles that remain when all back edges are removed: strongly connected components of more than
 * one block. First, blocks without predecessors are removed repeatedly. Most programs then have no block left;
 * otherwise a walk tests whether each remaining block reaches itself. */
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
    for (uint32_t b = 0; left && b < g->n; b++) { /* rare: in most programs no block is left */
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
    struct finder f = {.a = a, .g = g, .dom = dom, .out = &l};
    f.stack = arena_array(a, room + 2 * (size_t)g->pred_first[g->n], sizeof *f.stack);
    f.top = arena_array(a, room, sizeof *f.top);
    f.order = arena_array(a, room, sizeof *f.order);
    l.list = arena_array(a, room, sizeof *l.list);
    l.of = arena_array(a, room, sizeof *l.of);
    l.headed = arena_array(a, room, sizeof *l.headed);
    l.irregular = arena_array(a, room, 1);
    for (uint32_t b = 0; b < g->n; b++)
        l.of[b] = l.headed[b] = NO_LOOP;
    for (uint32_t b = 0; b < g->n; b++)
        collect(&f, b);
    sort(&f);
    for (uint32_t k = l.n; k-- > 0;)
        collect_blocks(&f, f.order[k]);
    number(&f);
    find_exits(&f);
    for (uint32_t i = 0; i < l.n; i++)
        find_preheader(&f, &l.list[i]);
    mark_irregular(&f);
    return l;
}

bool loop_in(const struct loops *l, uint32_t inner, uint32_t outer) {
    while (inner != outer && inner != NO_LOOP)
        inner = l->list[inner].parent;
    return inner == outer;
}
