/* Builds basic blocks and their edges. Targets become block numbers, and instructions that no path from their
 * function's entry reaches are dropped. Requires: targets are instruction numbers; functions are contiguous, and
 * control never passes the end of a function. Keeps: source order. */
#include "ir.h"
#include <string.h>

struct builder {
    struct ir *ir;
    unsigned char *leader;
    uint32_t *block_of; /* instruction -> block */
    struct cfg_edge *edges;
    uint32_t n_edges, cap_edges;
};

static void mark_leaders(struct builder *b) {
    struct ir *ir = b->ir;
    for (uint32_t f = 0; f < ir->n_functions; f++)
        b->leader[ir->functions[f].begin] = 1;
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        if (in->kind < K_BRANCH)
            continue;
        b->leader[i + 1] = 1;
        if (in->kind == K_BRANCH)
            b->leader[in->target] = 1;
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            b->leader[ir->lists[in->list + t]] = 1;
    }
}

static void add_edge(struct builder *b, uint32_t from, uint32_t to) {
    b->edges = IR_ROOM(b->ir, b->edges, b->n_edges, b->cap_edges);
    b->edges[b->n_edges++] = (struct cfg_edge){from, to};
}

/* Adds the edges of a block that ends in `in`. The edge to the branch target precedes the edge to the next block. */
static void add_edges(struct builder *b, uint32_t from, const struct inst *in) {
    if (in->kind == K_BRANCH)
        add_edge(b, from, b->block_of[in->target]);
    for (uint32_t t = 1; in->kind == K_BRX && t <= b->ir->lists[in->list]; t++)
        add_edge(b, from, b->block_of[b->ir->lists[in->list + t]]);
    if (!inst_never_falls_through(in))
        add_edge(b, from, from + 1);
}

/* Numbers the blocks that begin at leaders, and finds their edges. */
static void split(struct builder *b) {
    struct ir *ir = b->ir;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ir->n; i++) {
        n += b->leader[i];
        b->block_of[i] = n - 1;
    }
    ir->n_blocks = n;
    ir->blocks = arena_array(ir->tmp, n, sizeof *ir->blocks);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end; i++) {
            struct block *blk = &ir->blocks[b->block_of[i]];
            if (b->leader[i])
                *blk = (struct block){.begin = i, .succ = {NO_BLOCK, NO_BLOCK}, .ipdom = NO_BLOCK, .function = f};
            blk->end = i + 1;
        }
    for (uint32_t k = 0; k < n; k++)
        add_edges(b, k, &ir->code[ir->blocks[k].end - 1]);
}

/* Fills renumber[b] with the new number of block b, NO_BLOCK if it is unreachable. Returns the number of reachable
 * blocks. */
static uint32_t mark_reachable(struct builder *b, const struct cfg *g, uint32_t *renumber) {
    struct ir *ir = b->ir;
    uint32_t *stack = arena_array(ir->tmp, g->n, sizeof *stack), n_reachable = 0;
    for (uint32_t k = 0; k < g->n; k++)
        renumber[k] = NO_BLOCK;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        uint32_t top = 0, entry = b->block_of[ir->functions[f].begin];
        stack[top++] = entry;
        renumber[entry] = 0;
        while (top) {
            uint32_t k = stack[--top];
            for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++)
                if (renumber[g->succ[e]] == NO_BLOCK) {
                    renumber[g->succ[e]] = 0;
                    stack[top++] = g->succ[e];
                }
        }
    }
    for (uint32_t k = 0; k < g->n; k++)
        if (renumber[k] != NO_BLOCK)
            renumber[k] = n_reachable++;
    return n_reachable;
}

/* Moves instruction `in` to index `to` and turns its targets into block numbers. */
static void move(struct builder *b, struct inst *in, uint32_t to, const uint32_t *renumber) {
    struct ir *ir = b->ir;
    if (in->kind == K_BRANCH || in->kind == K_BSSY)
        in->target = renumber[b->block_of[in->target]];
    for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
        ir->lists[in->list + t] = renumber[b->block_of[ir->lists[in->list + t]]];
    ir->code[to] = *in;
}

/* Compacts the reachable blocks and instructions under their new numbers. A call that is dropped gets NO_INST in
 * `inst`. */
static void compact(struct builder *b, const uint32_t *renumber, uint32_t n_reachable, uint32_t *moved) {
    struct ir *ir = b->ir;
    uint32_t to = 0;
    struct block *blocks = arena_array(ir->tmp, (size_t)n_reachable + 1, sizeof *blocks);
    for (uint32_t i = 0; i < ir->n; i++)
        moved[i] = NO_INST;
    for (uint32_t k = 0; k < ir->n_blocks; k++) {
        const struct block *old = &ir->blocks[k];
        if (renumber[k] == NO_BLOCK) {
            ir_note(ir, old->begin, "dropped %u unreachable instructions", old->end - old->begin);
            continue;
        }
        struct block *blk = &blocks[renumber[k]];
        *blk = *old;
        blk->begin = to;
        for (uint32_t i = old->begin; i < old->end; i++, to++) {
            move(b, &ir->code[i], to, renumber);
            ir->info[to] = ir->info[i];
            ir->info[to].block = renumber[k];
            moved[i] = to;
        }
        blk->end = to;
    }
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            ir->calls[c].inst = moved[ir->calls[c].inst];
    ir->blocks = blocks;
    ir->n_blocks = n_reachable;
    ir->n = to;
}

/* Rebuilds the edges between reachable blocks. */
static void link_blocks(struct builder *b, const uint32_t *renumber) {
    struct ir *ir = b->ir;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_edges; i++)
        if (renumber[b->edges[i].from] != NO_BLOCK)
            b->edges[n++] = (struct cfg_edge){renumber[b->edges[i].from], renumber[b->edges[i].to]};
    ir->cfg = cfg_from_edges(ir->tmp, ir->n_blocks, b->edges, n);
    for (uint32_t k = 0; k < ir->n_blocks; k++) {
        struct block *blk = &ir->blocks[k];
        uint32_t first = ir->cfg.succ_first[k], count = ir->cfg.succ_first[k + 1] - first;
        if (ir->code[blk->end - 1].kind == K_BRX)
            continue;
        for (uint32_t e = 0; e < count && e < 2; e++)
            blk->succ[e] = ir->cfg.succ[first + e];
    }
    for (uint32_t f = 0, k = 0; f < ir->n_functions; f++) {
        struct ir_function *fn = &ir->functions[f];
        fn->block = k;
        while (k < ir->n_blocks && ir->blocks[k].function == f)
            k++;
        fn->block_end = k;
        fn->begin = ir->blocks[fn->block].begin;
        fn->end = ir->blocks[k - 1].end;
    }
}

uint32_t *ir_make_blocks(struct ir *ir) {
    struct builder b = {.ir = ir};
    b.leader = arena_array(ir->tmp, (size_t)ir->n + 1, 1);
    b.block_of = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *b.block_of);
    mark_leaders(&b);
    split(&b);
    struct cfg g = cfg_from_edges(ir->tmp, ir->n_blocks, b.edges, b.n_edges);
    uint32_t *renumber = arena_array(ir->tmp, (size_t)g.n + 1, sizeof *renumber);
    uint32_t n_reachable = mark_reachable(&b, &g, renumber);
    uint32_t *moved = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *moved);
    compact(&b, renumber, n_reachable, moved);
    link_blocks(&b, renumber);
    ir->has_postdom = false;
    return moved;
}

bool pass_cfg(struct ir *ir) {
    ir_make_blocks(ir);
    return true;
}

struct dom_tree ir_dominators(const struct ir *ir) {
    uint32_t *entries = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *entries);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        entries[f] = ir->functions[f].block;
    return dominators(ir->tmp, &ir->cfg, entries, ir->n_functions);
}

uint32_t cfg_continuing(const struct ir *ir, uint32_t b) {
    uint32_t n = 0;
    for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
        n += !ir->info[ir->blocks[ir->cfg.succ[e]].begin].only_exits;
    return n;
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

/* Finds the post-dominator of every block and the reconvergence block of every branch (a block number). Requires:
 * blocks and inst_info.only_exits; threads do not reconverge where they only exit. */
bool pass_postdom(struct ir *ir) {
    uint32_t *ipdom = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *ipdom);
    struct cfg live = cfg_of_live(ir->tmp, ir);
    postdom(ir->tmp, &live, ipdom);
    for (uint32_t k = 0; k < ir->n_blocks; k++) {
        struct inst *last = &ir->code[ir->blocks[k].end - 1];
        ir->blocks[k].ipdom = ipdom[k];
        if (last->kind == K_BRANCH || last->kind == K_BRX)
            last->rpc = ipdom[k];
    }
    ir->has_postdom = true;
    return true;
}
