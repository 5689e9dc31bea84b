/* Moves copies and loads of parameters down, so that a register does not hold a parameter long before its first use.
 * Requires: blocks. Keeps: results and control flow.
 *
 * The instruction goes to the block that dominates all its uses, but into no innermost loop. ptxas 13 places such
 * instructions so: in kernels of nested loops, it fetches parameters again in each iteration of the outer loops. */
#include "frontend/analysis/loops.h"
#include "select.h"

struct params {
    struct ir *ir;
    struct defuse du;
    struct dom_tree dom;
    struct loops loops;
    uint32_t *writers; /* register -> number of its definitions */
};

static bool is_copy(const struct ir *ir, const struct inst *in) {
    const struct isa_row *row = select_row(in);
    if (in->guard != NO_GUARD || in->hints & HINT_DEQ || in->n_list)
        return false;
    return in->kind == K_LOAD ? in->space == SPACE_PARAM && in->a & 1
                              : in->kind == K_LANE && row->op == OP_MOV && select_outside(ir, in->a);
}

/* Returns true if the instruction may move from block `home` to `block`. */
static bool may_enter(const struct params *p, uint32_t block, uint32_t home) {
    const struct loop *l = p->loops.of[block] == NO_LOOP ? NULL : &p->loops.list[p->loops.of[block]];
    return !l || l->first < l->last || loop_has(l, home);
}

/* Returns the block for instruction i, and stores the first of its uses there, or NO_INST, in *use. */
static uint32_t block_for(const struct params *p, uint32_t i, uint32_t *use) {
    const struct ir *ir = p->ir;
    const uint32_t home = ir->info[i].block;
    const struct reg_def *d = &p->du.defs[p->du.inst_defs[i]];
    uint32_t block = NO_BLOCK;
    if (p->du.inst_defs[i + 1] != p->du.inst_defs[i] + 1 || p->writers[d->vreg] != 1 || !d->n)
        return home;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *u = &p->du.uses[p->du.def_uses[k]];
        if (u->start || u->n != 1 || p->loops.irregular[ir->info[u->inst].block])
            return home;
        const uint32_t at = ir->info[u->inst].block;
        block = block == NO_BLOCK ? at : dom_common(&p->dom, block, at);
    }
    while (block != NO_BLOCK && block != home && !may_enter(p, block, home))
        block = p->dom.up[block];
    *use = NO_INST;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t at = p->du.uses[p->du.def_uses[k]].inst;
        if (at < *use && ir->info[at].block == block)
            *use = at;
    }
    return block == NO_BLOCK ? home : block;
}

bool select_params(struct ir *ir) {
    struct params p = {.ir = ir, .du = find_defuse(ir->tmp, ir), .dom = ir_dominators(ir)};
    p.loops = find_loops(ir->tmp, &ir->cfg, &p.dom);
    p.writers = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *p.writers);
    for (uint32_t k = 0; k < p.du.n_defs; k++)
        p.writers[p.du.defs[k].vreg]++;
    struct edit *e = edit_begin(ir);
    for (uint32_t i = 0; i < ir->n; i++) {
        uint32_t use = NO_INST;
        if (!is_copy(ir, &ir->code[i]) || !select_may_change(ir, i))
            continue;
        const uint32_t block = block_for(&p, i, &use);
        if (block == ir->info[i].block)
            continue;
        if (use == NO_INST)
            edit_move_to_end(e, i, block);
        else
            edit_move_before(e, i, use);
        ir_note(ir, i, "goes to the block of its uses");
    }
    return edit_end(e);
}
