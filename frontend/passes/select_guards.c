/* Turns short ifs into guarded instructions: the branch over them disappears. Requires: blocks. Keeps: results.
 *
 * The rule is that of ptxas 13 for sm_86 in loops, found with kernels of one if: the instructions under it become
 * guarded if they are at most 6, or 8 if lanes may disagree, which saves BSSY and BSYNC, too. With a load from global
 * memory, whose latency the code around it can hide, they are at most 20. A branch to an exit stays, and so does one
 * over a call, a barrier, an atomic access, or an instruction that has a guard or branches itself. */
#include "frontend/analysis/agree.h"
#include "isa/expansions.h"
#include "pass.h"
#include "select.h"

enum { MOST_UNIFORM_IF = 6, MOST_DIVERGENT_IF = 8, MOST_WITH_LOAD = 20 };

struct guards {
    struct ir *ir;
    const unsigned char *parting; /* block -> true if its branch may part lanes */
    uint32_t *home; /* register -> block of all its occurrences if a write comes first; NO_BLOCK: there is none */
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

/* Returns true if the branch at the end of block b leads over block b + 1 alone, into which it falls. */
static bool is_if(const struct ir *ir, uint32_t b) {
    const struct inst *in = &ir->code[ir->blocks[b].end - 1];
    const uint32_t m = b + 1;
    return in->kind == K_BRANCH && in->guard != NO_GUARD && !(in->hints & HINT_DEQ) && m + 1 < ir->n_blocks &&
           in->target == m + 1 && ir->blocks[m + 1].function == ir->blocks[b].function &&
           ir->cfg.pred_first[m + 1] == ir->cfg.pred_first[m] + 1 &&
           ir->cfg.succ_first[m + 1] == ir->cfg.succ_first[m] + 1 && ir->cfg.succ[ir->cfg.succ_first[m]] == m + 1 &&
           !ir->info[ir->blocks[m + 1].begin].only_exits;
}

static bool is_short(const struct guards *g, uint32_t b) {
    const struct ir *ir = g->ir;
    const uint32_t at = ir->blocks[b].end - 1;
    unsigned n = 0, most = g->parting[b] ? MOST_DIVERGENT_IF : MOST_UNIFORM_IF;
    for (uint32_t i = ir->blocks[b + 1].begin; i < ir->blocks[b + 1].end; i++) {
        if (!may_have_guard(ir, i, ir->code[at].guard))
            return false;
        n += expansion_count(select_expansion(ir, &ir->code[i]));
        if (ir->code[i].kind == K_LOAD && ir->code[i].space == SPACE_GLOBAL)
            most = MOST_WITH_LOAD;
    }
    return n <= most;
}

static void find_homes(struct guards *g) {
    const struct ir *ir = g->ir;
    unsigned char *seen = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    g->home = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *g->home);
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst_info *info = &ir->info[i];
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
            const uint32_t v = ir->regs[info->regs + k];
            if (!seen[v])
                g->home[v] = k < info->n_reads ? NO_BLOCK : info->block;
            else if (g->home[v] != info->block)
                g->home[v] = NO_BLOCK;
            seen[v] = true;
        }
    }
}

/* Gives the instructions of block b + 1 the guard of the branch over them, negated. */
static void guard(struct guards *g, struct edit *e, uint32_t b) {
    struct ir *ir = g->ir;
    const struct inst *branch = &ir->code[ir->blocks[b].end - 1];
    for (uint32_t i = ir->blocks[b + 1].begin; i < ir->blocks[b + 1].end; i++) {
        const struct inst_info *info = &ir->info[i];
        edit_inst(e, i)->guard = branch->guard;
        edit_inst(e, i)->guard_not = !branch->guard_not;
        for (unsigned k = info->n_reads; k < (unsigned)info->n_reads + info->n_writes; k++)
            ir->vregs[ir->regs[info->regs + k]].one_guard = g->home[ir->regs[info->regs + k]] == b + 1;
        ir_note(ir, i, "has a guard, in place of a branch over it");
    }
    edit_set_end(e, b, NULL, b + 1);
}

bool select_guards(struct ir *ir) {
    struct guards g = {.ir = ir, .parting = find_parting(ir)};
    struct edit *e = NULL;
    find_homes(&g);
    for (uint32_t b = 0; b + 2 < ir->n_blocks; b++)
        if (is_if(ir, b) && is_short(&g, b)) {
            e = e ? e : edit_begin(ir);
            guard(&g, e, b);
        }
    return !e || edit_end(e);
}
