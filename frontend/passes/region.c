/* Divergent regions: the begin and the blocks of each region, and the list of all regions. barriers.c and leaving.c
 * decide which regions get a barrier. */
#include "barriers.h"
#include <assert.h>
#include <string.h>

static uint64_t *new_set(struct work *w) { return arena_array(w->ir->tmp, w->words, sizeof(uint64_t)); }

const struct loop *region_loop(const struct work *w, uint32_t b) {
    return w->loops.headed[b] == NO_LOOP ? NULL : &w->loops.list[w->loops.headed[b]];
}

/* Returns the header of the outermost loop that contains `b` but not `join`, or NO_BLOCK. */
static uint32_t outermost_loop(const struct work *w, uint32_t b, uint32_t join) {
    uint32_t best = NO_BLOCK;
    for (uint32_t k = w->loops.of[b]; k != NO_LOOP && !loop_has(&w->loops.list[k], join); k = w->loops.list[k].parent)
        best = w->loops.list[k].header;
    return best;
}

struct region region_of(const struct work *w, uint32_t b, uint32_t join) {
    uint32_t header = join == NO_BLOCK ? NO_BLOCK : outermost_loop(w, b, join);
    return (struct region){
        .anchor = header == NO_BLOCK ? b : header, .join = join, .at_header = header != NO_BLOCK, .number = NO_BARRIER};
}

bool region_known(const struct work *w, const struct region *r) {
    for (uint32_t i = w->at_anchor[r->anchor]; i != NO_REGION; i = w->regions[i].next_at_anchor)
        if (w->regions[i].join == r->join && w->regions[i].at_header == r->at_header)
            return true;
    return false;
}

void region_add(struct work *w, const struct region *r) {
    w->regions = IR_ROOM(w->ir, w->regions, w->n, w->cap);
    w->regions[w->n] = *r;
    w->regions[w->n].next_at_anchor = w->at_anchor[r->anchor];
    w->at_anchor[r->anchor] = w->n++;
}

/* Returns true if threads may leave `in` for different targets. */
static bool diverges(const struct inst *in) {
    if (in->kind == K_BRANCH)
        return in->guard != NO_GUARD && !(in->hints & HINT_UNI);
    return in->kind == K_BRX || (in->kind == K_CALL && in->target == UINT32_MAX);
}

/* Returns true if the branch that ends block `b` can diverge. If only one of its targets continues, and threads exit
 * at every other target, the branch does not count as divergent. */
bool region_diverges(const struct work *w, uint32_t b) {
    if (!diverges(last_of(w, b)) || (w->parting && !w->parting[b] && last_of(w, b)->kind != K_CALL))
        return false;
    return cfg_continuing(w->ir, b) != 1 || last_of(w, b)->kind == K_CALL;
}

/* Returns the blocks reachable from the begin of `r` before its join. */
static uint64_t *reachable_blocks(struct work *w, const struct region *r) {
    const struct ir *ir = w->ir;
    const struct cfg *g = &ir->cfg;
    uint64_t *set = new_set(w);
    uint32_t *stack = w->stack, top = 0;
    set_add(set, r->anchor);
    stack[top++] = r->anchor;
    while (top) {
        uint32_t k = stack[--top];
        for (uint32_t e = g->succ_first[k]; e < g->succ_first[k + 1]; e++) {
            bool ends = ir->info[ir->blocks[g->succ[e]].begin].only_exits;
            if (g->succ[e] != r->join && !ends && !set_has(set, g->succ[e])) {
                set_add(set, g->succ[e]);
                stack[top++] = g->succ[e];
            }
        }
    }
    return set;
}

/* Selects the edges to consider: all edges, edges from inside the loop, or edges from outside the loop. */
enum side { EITHER, INSIDE, OUTSIDE };

/* Adds the blocks of `reached` that have an edge to `to` and are not in `set` yet. `side` refers to the loop with
 * header `to`. */
static void add_sources(struct work *w, uint32_t to, enum side side, const uint64_t *reached, uint64_t *set,
                        uint32_t *top) {
    const struct cfg *g = &w->ir->cfg;
    const struct loop *loop = region_loop(w, to);
    for (uint32_t e = g->pred_first[to]; e < g->pred_first[to + 1]; e++) {
        uint32_t from = g->pred[e];
        if (!set_has(reached, from) || set_has(set, from) ||
            (loop && side != EITHER && loop_has(loop, from) != (side == INSIDE)))
            continue;
        set_add(set, from);
        w->stack[(*top)++] = from;
    }
}

uint64_t *lead_to_join(struct work *w, const struct region *r, const uint64_t *reached) {
    const struct loop *loop = region_loop(w, r->join);
    uint64_t *set = new_set(w);
    uint32_t top = 0;
    add_sources(w, r->join, loop && loop_has(loop, r->anchor) ? INSIDE : OUTSIDE, reached, set, &top);
    while (top) {
        uint32_t b = w->stack[--top];
        if (b != r->anchor)
            add_sources(w, b, EITHER, reached, set, &top);
        else if (r->at_header)
            add_sources(w, b, INSIDE, reached, set, &top);
    }
    set_add(set, r->anchor);
    return set;
}

/* Returns the set of blocks of region `r`. Blocks in which threads only exit belong to no region, because otherwise
 * many regions would share them and need different numbers. */
const uint64_t *blocks_of(struct work *w, struct region *r) {
    if (r->blocks)
        return r->blocks;
    const struct cfg *g = &w->ir->cfg;
    uint64_t *set = reachable_blocks(w, r);
    if (r->leaves)
        set = lead_to_join(w, r, set);
    r->low = r->high = r->anchor;
    for (uint32_t i = 0; i < w->words; i++)
        if (set[i]) {
            uint32_t first = 64 * i + (uint32_t)__builtin_ctzll(set[i]);
            r->low = first < r->low ? first : r->low;
            r->high = 64 * i + 63 - (uint32_t)__builtin_clzll(set[i]);
        }
    for (uint32_t e = g->pred_first[r->anchor]; e < g->pred_first[r->anchor + 1]; e++)
        r->reentered |= set_has(set, g->pred[e]) && !(r->at_header && loop_has(region_loop(w, r->anchor), g->pred[e]));
    return r->blocks = set;
}

/* Returns true if threads can pass the BSYNC of region `b` inside region `a`. If `b` ends in the block where `a`
 * begins, threads pass the BSYNC of `b` before the BSSY of `a`. They can reach this BSYNC inside `a` only if they
 * re-enter the block, or if `a` begins before a loop that contains the anchor of `b`. */
bool region_passes(const struct work *w, const struct region *a, const struct region *b) {
    if (!set_has(a->blocks, b->join))
        return false;
    return b->join != a->anchor || a->reentered || (a->at_header && loop_has(region_loop(w, a->anchor), b->anchor));
}

bool waits_inside(struct work *w, struct region *r) {
    const struct ir *ir = w->ir;
    uint32_t function = ir->blocks[r->anchor].function;
    if (!w->waits.function[function])
        return false;
    const uint64_t *set = blocks_of(w, r);
    for (uint32_t b = r->low; b <= r->high; b++)
        if (set_has(set, b) && w->waits.block[b])
            return true;
    for (uint32_t i = 0; i < w->loops.n; i++) {
        const struct loop *l = &w->loops.list[i];
        for (uint32_t k = 0; w->waits.loop[i] && set_has(set, l->header) && k < l->n_latches; k++)
            if (set_has(set, l->latches[k]))
                return true;
    }
    return false;
}

struct inst barrier_inst(const char *name) {
    struct decoded d;
    struct decode_error why = {.message = ""};
    isa_decode(name, (uint32_t)strlen(name), &d, &why);
    assert(!why.message[0]);
    return inst_of_row(d.row);
}
