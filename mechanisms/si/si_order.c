/* The hints of si.order=loads (subwarp-interleaving paper, section VI): the compiler names the path of each divergent
 * branch that is most likely to stall on loads. This path runs first, so that the other paths can run during its
 * stalls. A path that never stalls would run to its end without giving way.
 *
 * The estimate of a path is the number of its loads that may miss, up to the reconvergence point of the branch. A load
 * in a loop counts 8 times, in an inner loop 64 times ... Called functions are not included. Equal estimates give no
 * hint. */
#include "si_order.h"
#include "frontend/analysis/loops.h"
#include "mechanisms/mechanism.h"

enum { LOOP = 8, MOST_DEPTH = 6 };

struct order {
    struct ir *ir;
    struct loops loops;
    uint32_t *stamp, *stack; /* by block: number of the last walk that visited it; blocks left to visit */
    uint32_t walks;
};

static bool may_miss(const struct inst *in) {
    bool near = in->space == SPACE_SHARED || in->space == SPACE_CONST || in->space == SPACE_PARAM;
    return in->kind == K_TEX || ((in->kind == K_LOAD || in->kind == K_ATOM) && !near);
}

/* Returns the estimated number of loads of a block that may miss: each level of loops multiplies it by LOOP. */
static uint64_t loads_of(const struct order *o, uint32_t b) {
    uint64_t n = 0;
    for (uint32_t i = o->ir->blocks[b].begin; i < o->ir->blocks[b].end; i++)
        n += may_miss(&o->ir->code[i]);
    uint32_t loop = o->loops.of[b], depth = loop == NO_LOOP ? 0 : o->loops.list[loop].depth;
    for (uint32_t k = 0; k < depth && k < MOST_DEPTH; k++)
        n *= LOOP;
    return n;
}

/* Returns the sum of loads_of() over the blocks on paths from block `from` to block `join`, without `join`. */
static uint64_t loads_before(struct order *o, uint32_t from, uint32_t join) {
    const struct cfg *g = &o->ir->cfg;
    uint64_t sum = 0;
    uint32_t left = 0;
    o->walks++;
    o->stack[left++] = from;
    o->stamp[from] = o->walks;
    while (left) {
        uint32_t b = o->stack[--left];
        if (b == join)
            continue;
        sum += loads_of(o, b);
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
            if (o->stamp[g->succ[e]] != o->walks) {
                o->stamp[g->succ[e]] = o->walks;
                o->stack[left++] = g->succ[e];
            }
    }
    return sum;
}

/* Sets the hint of the branch at the end of block `b`. */
static void hint(struct order *o, uint32_t b) {
    struct ir *ir = o->ir;
    uint32_t at = ir->blocks[b].end - 1, join = ir->blocks[b].ipdom;
    const struct inst *in = &ir->code[at];
    uint32_t targets = in->kind == K_BRX ? ir->lists[in->list] : in->kind == K_BRANCH && in->guard != NO_GUARD;
    uint64_t most = 0, least = UINT64_MAX;
    uint32_t best = ORDER_HINT_NONE;
    for (uint32_t t = 0; t < targets; t++) {
        uint64_t n = loads_before(o, in->kind == K_BRX ? ir->lists[in->list + 1 + t] : in->target, join);
        best = n > most ? ORDER_HINT_TARGET + t : best;
        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    if (targets && !inst_never_falls_through(in)) {
        uint64_t n = loads_before(o, b + 1, join);
        best = n > most ? ORDER_HINT_NEXT : best;
        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    if (!targets || most == least || best > UINT16_MAX)
        return;
    ir->info[at].order_hint = (uint16_t)best;
    ir_note(ir, at, "hint: the path with an estimate of %llu loads runs first (least: %llu)", (unsigned long long)most,
            (unsigned long long)least);
}

static bool run(struct ir *ir) {
    const struct dom_tree dom = ir_dominators(ir);
    struct order o = {.ir = ir, .loops = find_loops(ir->tmp, &ir->cfg, &dom)};
    o.stamp = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *o.stamp);
    o.stack = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *o.stack);
    for (uint32_t b = 0; b <= ir->n_blocks; b++)
        o.stamp[b] = 0;
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        hint(&o, b);
    return true;
}

static bool wanted(const struct ir *ir) {
    return ir->context.barriers && pass_option(&ir->context, "si.order", SI_ORDER_FIRST) == SI_ORDER_LOADS;
}

const struct pass pass_si_order = {
    .name = "order",
    .help = "which path of a divergent branch runs first: the one with more loads",
    .before = "liveness",
    .run = run,
    .wanted = wanted,
    .when = "si with si.order=loads",
};
