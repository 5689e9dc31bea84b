/* Turns short ifs into guarded instructions: the branch over them disappears. Requires: blocks. Keeps: results.
 *
 * The rule is that of ptxas 13 for sm_86 in loops, found with kernels of one if: the instructions under it become
 * guarded if they are at most 6, or 8 if lanes may disagree, which saves BSSY and BSYNC, too. With a load from global
 * memory, whose latency the code around it can hide, they are at most 20. Of an if with an else, the first side counts
 * its jump over the second side. The second side is then an if of its own. A branch to an exit stays, and so does one
 * over a call, a barrier, an atomic access, or an instruction that has a guard or branches itself. */
#include "frontend/analysis/agree.h"
#include "isa/expansions.h"
#include "needed.h"
#include "pass.h"
#include "select.h"

enum { MOST_UNIFORM_IF = 6, MOST_DIVERGENT_IF = 8, MOST_WITH_LOAD = 20 };

struct guards {
    struct ir *ir;
    const unsigned char *parting; /* block -> true if its branch may part lanes */
    const uint64_t *live;         /* block -> registers that are live at its begin, `words` words */
    size_t words;
};

static bool may_have_guard(const struct ir *ir, uint32_t i, uint32_t guard) {
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    if ((in->kind != K_LANE && in->kind != K_CVT && in->kind != K_LOAD && in->kind != K_STORE) ||
        in->guard != NO_GUARD || in->hints & (HINT_DEQ | HINT_VOLATILE | HINT_COLLECTIVE | HINT_MEMBERS) ||
        info->site || !select_may_change(ir, i) || expansion_branches(select_expansion(ir, in)))
        return false;
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (ir->regs[info->regs + k] == guard)
            return false;
    return true;
}

/* Returns true if one edge enters block m, and one leaves it, to block `to`, which does more than exit. */
static bool is_side(const struct ir *ir, uint32_t m, uint32_t to) {
    const struct cfg *g = &ir->cfg;
    return ir->blocks[to].function == ir->blocks[m].function && g->pred_first[m + 1] == g->pred_first[m] + 1 &&
           g->succ_first[m + 1] == g->succ_first[m] + 1 && g->succ[g->succ_first[m]] == to &&
           !ir->info[ir->blocks[to].begin].only_exits;
}

static bool is_jump(const struct inst *in) { return in->kind == K_BRANCH && in->guard == NO_GUARD; }

/* Returns true if block b ends in a branch with a guard to block `to`, which does more than exit. */
static bool branches_to(const struct ir *ir, uint32_t b, uint32_t to) {
    const struct inst *in = &ir->code[ir->blocks[b].end - 1];
    return in->kind == K_BRANCH && in->guard != NO_GUARD && !(in->hints & HINT_DEQ) && to < ir->n_blocks &&
           in->target == to && ir->blocks[to].function == ir->blocks[b].function &&
           !ir->info[ir->blocks[to].begin].only_exits;
}

/* Returns true if the instructions of block m become guarded, in place of the branch at the end of block b. A jump at
 * the end of m counts. */
static bool is_short(const struct guards *g, uint32_t b, uint32_t m) {
    const struct ir *ir = g->ir;
    const uint32_t at = ir->blocks[b].end - 1, last = ir->blocks[m].end - 1;
    const bool jumps = is_jump(&ir->code[last]);
    unsigned n = jumps, most = g->parting[b] ? MOST_DIVERGENT_IF : MOST_UNIFORM_IF;
    for (uint32_t i = ir->blocks[m].begin; i < ir->blocks[m].end - jumps; i++) {
        if (!may_have_guard(ir, i, ir->code[at].guard))
            return false;
        n += expansion_count(select_expansion(ir, &ir->code[i]));
        if (ir->code[i].kind == K_LOAD && ir->code[i].space == SPACE_GLOBAL)
            most = MOST_WITH_LOAD;
    }
    return n <= most;
}

/* Returns true if block `other` needs no old value of the results of instruction i. */
static bool are_dead(const struct guards *g, uint32_t i, uint32_t other) {
    const struct inst_info *info = &g->ir->info[i];
    for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++) {
        const uint32_t v = g->ir->regs[info->regs + k];
        if (g->live[other * g->words + v / 64] >> v % 64 & 1)
            return false;
    }
    return info->n_writes > 0;
}

/* Gives the instructions of block m the guard of the branch at the end of block b, negated if `not` is set. The other
 * lanes continue at block `other`. */
static void guard(struct guards *g, struct edit *e, uint32_t b, uint32_t m, bool not, uint32_t other) {
    struct ir *ir = g->ir;
    const struct inst *branch = &ir->code[ir->blocks[b].end - 1];
    const bool jumps = is_jump(&ir->code[ir->blocks[m].end - 1]);
    for (uint32_t i = ir->blocks[m].begin; i < ir->blocks[m].end - jumps; i++) {
        edit_inst(e, i)->guard = branch->guard;
        edit_inst(e, i)->guard_not = branch->guard_not != not ;
        e->nodes[i].info.others_dead = are_dead(g, i, other);
        ir_note(ir, i, "has a guard, in place of a branch over it");
    }
}

/* Guards the first side of an if with an else, b + 1, and its jump. The second side, b + 2, gets guards in place of
 * this jump if it is short, too. */
static void guard_sides(struct guards *g, struct edit *e, uint32_t b) {
    const struct ir *ir = g->ir;
    struct inst jump = ir->code[ir->blocks[b + 1].end - 1];
    const struct inst *branch = &ir->code[ir->blocks[b].end - 1];
    const uint32_t join = jump.target;
    jump.guard = branch->guard;
    jump.guard_not = !branch->guard_not;
    guard(g, e, b, b + 1, true, b + 2);
    edit_set_end(e, b, NULL, b + 1);
    if (join == b + 3 && is_side(ir, b + 2, join) && !is_jump(&ir->code[ir->blocks[b + 2].end - 1]) &&
        is_short(g, b, b + 2)) {
        guard(g, e, b, b + 2, false, join);
        edit_set_end(e, b + 1, NULL, b + 2);
    } else {
        edit_set_end(e, b + 1, &jump, b + 2);
    }
}

bool select_guards(struct ir *ir) {
    struct guards g = {.ir = ir, .parting = find_parting(ir)};
    struct edit *e = NULL;
    g.live = find_live_in(ir, &g.words);
    for (uint32_t b = 0; b + 2 < ir->n_blocks; b++) {
        const struct inst *last = &ir->code[ir->blocks[b + 1].end - 1];
        if (!branches_to(ir, b, b + 2) || !is_side(ir, b + 1, is_jump(last) ? last->target : b + 2) ||
            !is_short(&g, b, b + 1))
            continue;
        e = e ? e : edit_begin(ir);
        if (is_jump(last) && last->target != b + 2) {
            guard_sides(&g, e, b);
        } else {
            guard(&g, e, b, b + 1, true, b + 2);
            edit_set_end(e, b, NULL, b + 1);
        }
    }
    return !e || edit_end(e);
}
