/* Finds join blocks of branches, even if some paths from a branch end the thread. Requires: blocks, post-dominators.
 * Keeps: everything. */
#include "joins.h"
#include <string.h>

enum { MAX_ENDS = 64 }; /* maximum number of end blocks of a function that are examined: the last ones in text order */

struct joins {
    struct ir *ir;
    bool early;             /* true if an early return counts as an end of the thread (find_early_joins()) */
    struct cfg g;           /* edges that execution can take and that do not lead only to an exit */
    unsigned char *returns; /* function -> true if a call to it may return */
    /* block -> true once its branch was analysed; a branch without a join block is then not analysed again */
    unsigned char *done;
    unsigned char *in; /* block -> true if it is in the current subgraph */
    /* end: MAX_ENDS blocks of each function in which threads end; weight: for each of them, the number of blocks
     * that lead to it, in descending order; unused elements have weight 0 */
    uint32_t *end, *weight;
    uint32_t *stack, *join;
};

static bool is_branch(const struct inst *in) {
    return (in->kind == K_BRANCH && in->guard != NO_GUARD) || in->kind == K_BRX ||
           (in->kind == K_CALL && in->target == UINT32_MAX);
}

static bool ends_in_ret(const struct ir *ir, uint32_t b) { return ir->code[ir->blocks[b].end - 1].kind == K_RET; }

/* Returns true if a thread never returns from the call at the end of block `b`. */
static bool never_returns(const struct joins *j, uint32_t b) {
    const struct inst *in = &j->ir->code[j->ir->blocks[b].end - 1];
    return in->kind == K_CALL && in->guard == NO_GUARD && in->target != UINT32_MAX && !j->returns[in->target];
}

/* Returns true if a thread can get from the entry of function `f` to its return, according to the facts known so far
 * about its callees. */
static bool reaches_ret(struct joins *j, uint32_t f) {
    const struct cfg *g = &j->ir->cfg;
    uint32_t top = 0, first = j->ir->functions[f].block, n = j->ir->functions[f].block_end - first;
    memset(j->in + first, 0, n);
    j->stack[top++] = first;
    j->in[first] = 1;
    while (top) {
        uint32_t b = j->stack[--top];
        if (ends_in_ret(j->ir, b))
            return true;
        if (never_returns(j, b))
            continue;
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            if (!j->in[g->succ[e]]) {
                j->in[g->succ[e]] = 1;
                j->stack[top++] = g->succ[e];
            }
    }
    return false;
}

static void find_returns(struct joins *j) {
    for (bool fresh = true; fresh;) {
        fresh = false;
        for (uint32_t m = 0; m < j->ir->n_functions; m++) {
            uint32_t f = j->ir->order.members[m];
            if (!j->returns[f] && reaches_ret(j, f)) {
                j->returns[f] = 1;
                fresh = true;
            }
        }
    }
}

/* Returns true if an edge to block `b` is an early return. */
static bool returns_early(const struct joins *j, uint32_t b) {
    const struct cfg *g = &j->ir->cfg;
    return j->early && ends_in_ret(j->ir, b) && g->pred_first[b + 1] - g->pred_first[b] > 1;
}

static struct cfg live_edges(const struct joins *j) {
    const struct ir *ir = j->ir;
    struct cfg_edge *edges = arena_array(ir->tmp, (size_t)ir->cfg.succ_first[ir->n_blocks] + 1, sizeof *edges);
    uint32_t n = 0;
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t e = ir->cfg.succ_first[b]; !never_returns(j, b) && e < ir->cfg.succ_first[b + 1]; e++)
            if (!ir->info[ir->blocks[ir->cfg.succ[e]].begin].only_exits && !returns_early(j, ir->cfg.succ[e]))
                edges[n++] = (struct cfg_edge){b, ir->cfg.succ[e]};
    return cfg_from_edges(ir->tmp, ir->n_blocks, edges, n);
}

/* Marks block `b` and all blocks that lead to it. Returns the number of newly marked blocks. */
static uint32_t mark_back(const struct joins *j, uint32_t b, unsigned char *marks) {
    uint32_t top = 0, n = 0;
    if (marks[b])
        return 0;
    marks[b] = 1;
    j->stack[top++] = b;
    while (top) {
        uint32_t k = j->stack[--top];
        n++;
        for (uint32_t e = j->g.pred_first[k]; e < j->g.pred_first[k + 1]; e++)
            if (!marks[j->g.pred[e]]) {
                marks[j->g.pred[e]] = 1;
                j->stack[top++] = j->g.pred[e];
            }
    }
    return n;
}

/* Finds the ends of threads in each function, sorted by the number of blocks that lead to them. */
static void find_ends(struct joins *j) {
    const struct ir *ir = j->ir;
    size_t room = (size_t)MAX_ENDS * ir->n_functions + 1;
    j->end = arena_array(ir->tmp, room, sizeof *j->end);
    j->weight = arena_array(ir->tmp, room, sizeof *j->weight);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        const struct ir_function *fn = &ir->functions[f];
        uint32_t n = 0, *end = j->end + (size_t)f * MAX_ENDS, *weight = j->weight + (size_t)f * MAX_ENDS;
        for (uint32_t b = fn->block_end; b-- > fn->block && n < MAX_ENDS;) {
            if (j->g.succ_first[b + 1] > j->g.succ_first[b] || (ends_in_ret(ir, b) && !j->early) ||
                ir->info[ir->blocks[b].begin].only_exits)
                continue;
            memset(j->in + fn->block, 0, fn->block_end - fn->block);
            uint32_t leads = mark_back(j, b, j->in), at = n++;
            for (; at > 0 && weight[at - 1] < leads; at--) {
                end[at] = end[at - 1];
                weight[at] = weight[at - 1];
            }
            end[at] = b;
            weight[at] = leads;
        }
    }
}

/* Finds join blocks in the subgraph `in` for branches that were not analysed before. Returns the number of branches
 * that still have no join block and were not analysed. */
static uint32_t join_in(struct joins *j) {
    const struct ir *ir = j->ir;
    struct cfg_edge *edges = arena_array(ir->tmp, (size_t)j->g.succ_first[ir->n_blocks] + 1, sizeof *edges);
    uint32_t *ipdom = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *ipdom), n = 0, left = 0;
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        for (uint32_t e = j->g.succ_first[b]; j->in[b] && e < j->g.succ_first[b + 1]; e++)
            if (j->in[j->g.succ[e]])
                edges[n++] = (struct cfg_edge){b, j->g.succ[e]};
    struct cfg g = cfg_from_edges(ir->tmp, ir->n_blocks, edges, n);
    postdom(ir->tmp, &g, ipdom);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        bool parts = j->join[b] == NO_BLOCK && is_branch(&ir->code[ir->blocks[b].end - 1]);
        if (parts && !j->done[b] && j->in[b] && g.succ_first[b + 1] - g.succ_first[b] > 1)
            j->join[b] = ipdom[b];
        j->done[b] |= j->in[b];
        left += parts && !j->done[b];
    }
    return left;
}

/* Finds join blocks for the branches that have none in j->join yet. */
static void join_rest(struct joins *j) {
    const struct ir *ir = j->ir;
    size_t room = (size_t)ir->n_blocks + 1;
    uint32_t left = 1;
    j->returns = arena_array(ir->tmp, (size_t)ir->n_functions + 1, 1);
    j->done = arena_array(ir->tmp, room, 1);
    j->in = arena_array(ir->tmp, room, 1);
    j->stack = arena_array(ir->tmp, room, sizeof *j->stack);
    find_returns(j);
    j->g = live_edges(j);
    find_ends(j);
    if (!j->early) {
        memset(j->in, 0, ir->n_blocks);
        for (uint32_t b = 0; b < ir->n_blocks; b++)
            if (ends_in_ret(ir, b))
                mark_back(j, b, j->in);
        left = join_in(j);
    }
    for (uint32_t k = 0; left && k < MAX_ENDS; k++) {
        bool any = false;
        memset(j->in, 0, ir->n_blocks);
        for (uint32_t f = 0; f < ir->n_functions; f++)
            if (j->weight[(size_t)f * MAX_ENDS + k]) {
                any = true;
                mark_back(j, j->end[(size_t)f * MAX_ENDS + k], j->in);
            }
        if (!any)
            break;
        left = join_in(j);
    }
}

uint32_t *find_joins(struct ir *ir) {
    struct joins j = {.ir = ir};
    bool missing = false;
    j.join = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *j.join);
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        j.join[b] = ir->blocks[b].ipdom;
        missing |= j.join[b] == NO_BLOCK && is_branch(&ir->code[ir->blocks[b].end - 1]);
    }
    if (missing)
        join_rest(&j);
    return j.join;
}

uint32_t *find_early_joins(struct ir *ir) {
    struct joins j = {.ir = ir, .early = true};
    j.join = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *j.join);
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        j.join[b] = NO_BLOCK;
    join_rest(&j);
    return j.join;
}
