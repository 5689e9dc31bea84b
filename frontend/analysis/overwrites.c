/* Finds stores to shared memory that follow a load from shared memory without a CTA barrier between them. Other warps
 * of the CTA may still have to load what such a store overwrites. On a card, all warps pass a barrier within some
 * cycles, so they have loaded a broadcast value before a warp stores the next one; many programs rely on this, although
 * it is a race. In the functional model one warp runs for long, so it lets the other warps run before its first such
 * store after a barrier (isa/interp/interp_warp.c). Requires: blocks. Makes: HINT_OVERWRITES. */
#include "ir.h"

/* A store so few instructions after the first load is the end of `a[i] += a[j]`, whose warps need not take turns. */
enum { NEAR = 8 };

static bool is_shared(const struct inst *in, enum inst_kind kind) {
    return in->kind == kind && in->space == SPACE_SHARED;
}

/* Returns how many instructions ago the first load since the latest barrier was, for the instruction after `in`; 0: no
 * load. The count ends at NEAR + 1. */
static unsigned after(const struct inst *in, unsigned since) {
    if (in->kind == K_BARRIER)
        return 0;
    if (since)
        return since <= NEAR ? since + 1 : since;
    return is_shared(in, K_LOAD);
}

/* Returns the count at the end of the block. With `mark`, marks the stores. */
static unsigned through(struct ir *ir, uint32_t block, unsigned since, bool mark) {
    for (uint32_t i = ir->blocks[block].begin; i < ir->blocks[block].end; i++) {
        struct inst *in = &ir->code[i];
        if (mark && is_shared(in, K_STORE) && since > NEAR)
            in->hints |= HINT_OVERWRITES;
        since = after(in, since);
    }
    return since;
}

bool pass_overwrites(struct ir *ir) {
    unsigned char *since = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, 1); /* block -> the count at its begin */
    bool any = false, changed = true;
    for (uint32_t i = 0; i < ir->n; i++) {
        if (ir->code[i].kind == K_STORE)
            ir->code[i].hints &= (uint8_t)~HINT_OVERWRITES;
        any |= is_shared(&ir->code[i], K_LOAD);
    }
    /* Each round raises counts, up to NEAR + 1, along paths of the flow graph, so the rounds end. */
    while (any && changed) {
        changed = false;
        for (uint32_t b = 0; b < ir->n_blocks; b++) {
            const unsigned end = through(ir, b, since[b], false);
            for (uint32_t k = ir->cfg.succ_first[b]; k < ir->cfg.succ_first[b + 1]; k++) {
                unsigned char *next = &since[ir->cfg.succ[k]];
                changed |= end > *next;
                *next = end > *next ? (unsigned char)end : *next;
            }
        }
    }
    for (uint32_t b = 0; any && b < ir->n_blocks; b++)
        through(ir, b, since[b], true);
    return true;
}
