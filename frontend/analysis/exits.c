/* Where a thread has nothing left to do but exit: nops, marks of convergence barriers and jumps on the way to an exit,
 * and returns of functions that are followed by such at all their calls. Nobody needs to wait there for anybody, so a
 * branch to such a place is what compilers for the hardware make of it, an exit with the branch's guard: the driver
 * lets lanes that take it exit (isa/paths/control.h), and it is no edge to those who look for reconvergence points.
 * Where a function is called from several places, of which not all are followed by an exit, it is known only when it
 * runs which lanes have nothing left to do: those places are marked, too.
 * Requires: blocks. Makes: inst_info.only_exits, inst_info.only_returns. Takes time linear in the program: what is
 * known goes back along edges, each once. */
#include "ir.h"

/* Nodes: the end of every block, then "behind the calls of function f". */
struct exits {
    struct ir *ir;
    bool returns;           /* a return is as good as an exit */
    struct cfg_edge *edges; /* from a node to one that must only exit for it to do so */
    uint32_t n_edges, cap_edges;
    uint32_t *missing;    /* of a node: edges to what is not known to only exit */
    unsigned char *plain; /* of a node: nothing is done before its end */
};

static void needs(struct exits *x, uint32_t node, uint32_t other) {
    x->edges = IR_ROOM(x->ir, x->edges, x->n_edges, x->cap_edges);
    x->edges[x->n_edges++] = (struct cfg_edge){node, other};
    x->missing[node]++;
}

/* Whoever is to take an entry of a queue does something. */
static bool is_plain(const struct inst *in) {
    if (in->hints & HINT_DEQ)
        return false;
    return in->kind == K_EXIT || in->kind == K_NOP || kind_is_convergence(in->kind) || in->kind == K_BRANCH ||
           in->kind == K_RET;
}

static void add_block(struct exits *x, uint32_t k) {
    const struct ir *ir = x->ir;
    const struct block *b = &ir->blocks[k];
    x->plain[k] = 1;
    for (uint32_t i = b->begin; i < b->end; i++)
        x->plain[k] &= is_plain(&ir->code[i]);
    for (uint32_t e = ir->cfg.succ_first[k]; e < ir->cfg.succ_first[k + 1]; e++)
        needs(x, k, ir->cfg.succ[e]);
    if (ir->code[b->end - 1].kind == K_RET && !x->returns)
        needs(x, k, ir->n_blocks + b->function);
}

static void add_calls(struct exits *x) {
    const struct ir *ir = x->ir;
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            needs(x, ir->n_blocks + ir->calls[c].callee, ir->info[ir->calls[c].inst].block + 1);
}

static void propagate(struct exits *x, uint32_t n) {
    uint32_t top = 0, *stack = arena_array(x->ir->tmp, n, sizeof *stack);
    struct cfg g = cfg_from_edges(x->ir->tmp, n, x->edges, x->n_edges);
    for (uint32_t k = 0; k < n; k++)
        if (!x->missing[k] && x->plain[k])
            stack[top++] = k;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g.pred_first[k]; e < g.pred_first[k + 1]; e++)
            if (--x->missing[g.pred[e]] == 0 && x->plain[g.pred[e]])
                stack[top++] = g.pred[e];
    }
}

/* Marks where a thread only exits; with `returns` where it only returns or exits. */
static void mark(struct ir *ir, bool returns) {
    struct exits x = {.ir = ir, .returns = returns};
    uint32_t n = ir->n_blocks + ir->n_functions;
    x.missing = arena_array(ir->tmp, (size_t)n + 1, sizeof *x.missing);
    x.plain = arena_array(ir->tmp, (size_t)n + 1, 1);
    for (uint32_t k = 0; k < ir->n_blocks; k++)
        add_block(&x, k);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        x.plain[ir->n_blocks + f] = 1;
    if (!returns)
        add_calls(&x);
    propagate(&x, n);
    for (uint32_t k = 0; k < ir->n_blocks; k++) {
        bool only = !x.missing[k];
        for (uint32_t i = ir->blocks[k].end; i-- > ir->blocks[k].begin;) {
            only = only && is_plain(&ir->code[i]);
            if (returns)
                ir->info[i].only_returns = only;
            else
                ir->info[i].only_exits = only;
        }
    }
}

bool pass_exits(struct ir *ir) {
    mark(ir, false);
    mark(ir, true);
    return true;
}

struct cfg cfg_of_live(struct arena *a, const struct ir *ir) {
    struct cfg_edge *edges = arena_array(a, (size_t)ir->cfg.succ_first[ir->n_blocks] + 1, sizeof *edges);
    uint32_t n = 0;
    for (uint32_t k = 0; k < ir->n_blocks; k++)
        for (uint32_t e = ir->cfg.succ_first[k]; e < ir->cfg.succ_first[k + 1]; e++)
            if (!ir->info[ir->blocks[ir->cfg.succ[e]].begin].only_exits)
                edges[n++] = (struct cfg_edge){k, ir->cfg.succ[e]};
    return cfg_from_edges(a, ir->n_blocks, edges, n);
}
