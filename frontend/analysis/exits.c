/* Finds the places where a thread only exits: before an exit there are only nops, convergence barriers, jumps, and
 * returns to callers that only exit too. No thread needs to wait for another at such a place. A branch to it is
 * therefore an exit under the branch's guard, as compilers for hardware emit it: the driver lets lanes that take the
 * branch exit (isa/paths/control.h), and the search for reconvergence points ignores the edge. A function may have
 * several callers, and only some of these exit after the call. Which caller a thread returns to is then known only at
 * execution. The returns of such a function are therefore marked, too. Requires: blocks. Makes: inst_info.only_exits,
 * inst_info.only_returns. Time is linear in the program: facts propagate backward along each edge once. */
#include "ir.h"

/* A node is the end of a block, or "after the calls of function f". */
struct exits {
    struct ir *ir;
    bool returns; /* true if the search treats a return as an exit */
    /* edges from a node to the next node on a path: threads only exit after the first node if they only exit after all
     * its next nodes */
    struct cfg_edge *edges;
    uint32_t n_edges, cap_edges;
    uint32_t *missing;        /* node -> number of its edges to nodes that are not yet known to only exit */
    unsigned char *no_effect; /* node -> true if no instruction before its end has an effect */
};

static void add_requirement(struct exits *x, uint32_t node, uint32_t other) {
    x->edges = IR_ROOM(x->ir, x->edges, x->n_edges, x->cap_edges);
    x->edges[x->n_edges++] = (struct cfg_edge){node, other};
    x->missing[node]++;
}

/* Returns true if the instruction has no effect on a thread that then exits. Taking an entry from a queue is an
 * effect. */
static bool has_no_effect(const struct inst *in) {
    if (in->hints & HINT_DEQ)
        return false;
    return in->kind == K_EXIT || in->kind == K_NOP || kind_is_convergence(in->kind) || in->kind == K_BRANCH ||
           in->kind == K_RET;
}

static void add_block(struct exits *x, uint32_t k) {
    const struct ir *ir = x->ir;
    const struct block *b = &ir->blocks[k];
    x->no_effect[k] = 1;
    for (uint32_t i = b->begin; i < b->end; i++)
        x->no_effect[k] &= has_no_effect(&ir->code[i]);
    for (uint32_t e = ir->cfg.succ_first[k]; e < ir->cfg.succ_first[k + 1]; e++)
        add_requirement(x, k, ir->cfg.succ[e]);
    if (ir->code[b->end - 1].kind == K_RET && !x->returns)
        add_requirement(x, k, ir->n_blocks + b->function);
}

static void add_calls(struct exits *x) {
    const struct ir *ir = x->ir;
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            add_requirement(x, ir->n_blocks + ir->calls[c].callee, ir->info[ir->calls[c].inst].block + 1);
}

static void propagate(struct exits *x, uint32_t n) {
    uint32_t top = 0, *stack = arena_array(x->ir->tmp, n, sizeof *stack);
    struct cfg g = cfg_from_edges(x->ir->tmp, n, x->edges, x->n_edges);
    for (uint32_t k = 0; k < n; k++)
        if (!x->missing[k] && x->no_effect[k])
            stack[top++] = k;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g.pred_first[k]; e < g.pred_first[k + 1]; e++)
            if (--x->missing[g.pred[e]] == 0 && x->no_effect[g.pred[e]])
                stack[top++] = g.pred[e];
    }
}

/* Marks the instructions after which a thread only exits. With `returns`, a return is treated as an exit. */
static void mark(struct ir *ir, bool returns) {
    struct exits x = {.ir = ir, .returns = returns};
    uint32_t n = ir->n_blocks + ir->n_functions;
    x.missing = arena_array(ir->tmp, (size_t)n + 1, sizeof *x.missing);
    x.no_effect = arena_array(ir->tmp, (size_t)n + 1, 1);
    for (uint32_t k = 0; k < ir->n_blocks; k++)
        add_block(&x, k);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        x.no_effect[ir->n_blocks + f] = 1;
    if (!returns)
        add_calls(&x);
    propagate(&x, n);
    for (uint32_t k = 0; k < ir->n_blocks; k++) {
        bool only = !x.missing[k];
        for (uint32_t i = ir->blocks[k].end; i-- > ir->blocks[k].begin;) {
            only = only && has_no_effect(&ir->code[i]);
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
