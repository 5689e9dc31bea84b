/* Moves copies of constants and parameters and loads of parameters to their uses, so that a register does not hold them
 * long. Requires: blocks. Keeps: results and control flow.
 *
 * The instruction goes to the block that dominates its uses, but into no innermost loop. Uses before, in and after a
 * loop have instructions of their own. In a loop, so does each block with a copy, which may be in an innermost loop if
 * not every iteration executes the block. ptxas 13 places such instructions so in small kernels of one or two loops. */
#include "frontend/analysis/loops.h"
#include "select.h"
#include <string.h>

struct params {
    struct ir *ir;
    struct defuse du;
    struct dom_tree dom;
    struct loops loops;
    uint32_t *writers;            /* register -> number of its definitions */
    unsigned char *shares, *done; /* use of the copy -> it shares the current one; it has one */
    bool near;                    /* true if a copy in a loop is in the block of its use */
};

static bool is_copy(const struct ir *ir, const struct inst *in) {
    const struct isa_row *row = select_row(in);
    if (in->guard != NO_GUARD || in->hints & HINT_DEQ || in->n_list)
        return false;
    return in->kind == K_LOAD ? in->space == SPACE_PARAM && in->a & 1
                              : in->kind == K_LANE && row->op == OP_MOV && select_outside(ir, in->a);
}

/* Returns true if every iteration of the loop executes the block. */
static bool is_in_every_round(const struct params *p, const struct loop *l, uint32_t block) {
    for (uint32_t k = 0; k < l->n_latches; k++)
        if (!dominates(&p->dom, block, l->latches[k]))
            return false;
    return true;
}

/* Returns true if the instruction may move from block `home` to `block`. */
static bool may_enter(const struct params *p, uint32_t block, uint32_t home) {
    const struct loop *l = p->loops.of[block] == NO_LOOP ? NULL : &p->loops.list[p->loops.of[block]];
    return !l || l->first < l->last || loop_has(l, home) || (p->near && !is_in_every_round(p, l, block));
}

/* Returns the block for a copy with a use in `block`: this block, or a block before its innermost loop. */
static uint32_t block_before(const struct params *p, uint32_t block, uint32_t home) {
    while (block != NO_BLOCK && block != home && !may_enter(p, block, home))
        block = p->dom.up[block];
    return block == NO_BLOCK ? home : block;
}

/* Returns what the blocks have in common whose uses can share a copy: the outermost loop around them, or the number of
 * loops before them. In loops, a copy near its use is in the same block. */
static uint64_t place_of(const struct params *p, uint32_t block) {
    uint32_t l = p->loops.of[block], before = 0;
    while (l != NO_LOOP && p->loops.list[l].parent != NO_LOOP)
        l = p->loops.list[l].parent;
    if (l != NO_LOOP)
        return (uint64_t)(l + 1) << 32 | (p->near ? block : 0);
    for (uint32_t k = 0; k < p->loops.n; k++)
        before += p->loops.list[k].header < block;
    return before;
}

/* Returns true if all uses of the register read this definition alone. */
static bool may_move(const struct params *p, const struct reg_def *d) {
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *u = &p->du.uses[p->du.def_uses[k]];
        if (u->start || u->n != 1 || p->loops.irregular[p->ir->info[u->inst].block])
            return false;
    }
    return d->n && p->writers[d->vreg] == 1;
}

/* Puts uses of a copy together, from the use `from` on, that share one. Marks them, and returns the block for the copy.
 * Stores the first use in this block, or NO_INST, in *first. */
static uint32_t gather(struct params *p, const struct reg_def *d, uint32_t from, uint32_t home, uint32_t *first) {
    const uint32_t *uses = p->du.def_uses + d->first;
    const uint32_t start = block_before(p, p->ir->info[p->du.uses[uses[from]].inst].block, home);
    uint32_t block = NO_BLOCK;
    for (uint32_t k = from; k < d->n; k++) {
        const uint32_t at = p->ir->info[p->du.uses[uses[k]].inst].block, own = block_before(p, at, home);
        p->shares[k] = !p->done[k] && place_of(p, own) == place_of(p, start);
        if (p->shares[k])
            block = block == NO_BLOCK ? at : dom_common(&p->dom, block, at);
    }
    block = block_before(p, block, home);
    *first = NO_INST;
    for (uint32_t k = from; k < d->n; k++) {
        const uint32_t at = p->du.uses[uses[k]].inst;
        if (p->shares[k] && at < *first && p->ir->info[at].block == block)
            *first = at;
        p->done[k] |= p->shares[k];
    }
    return block;
}

/* Puts a copy of instruction i into the block, for the uses that share it. */
static void add_copy(struct params *p, struct edit *e, uint32_t i, uint32_t block, uint32_t first) {
    struct ir *ir = p->ir;
    const struct reg_def *d = &p->du.defs[p->du.inst_defs[i]];
    struct inst in = ir->code[i];
    const uint32_t v = ir_vreg(ir, ir->vregs[d->vreg].cls, ir->info[i].function, NULL, 0);
    ir->vregs[v].written = true;
    in.d = v << 1;
    if (first == NO_INST)
        edit_at_end(e, block, &in);
    else
        edit_before(e, first, &in);
    for (uint32_t k = 0; k < d->n; k++)
        if (p->shares[k])
            edit_rename(e, p->du.uses[p->du.def_uses[d->first + k]].inst, d->vreg, v, true, false);
}

/* Moves the copy of a parameter or constant to its uses. */
static void move_copy(struct params *p, struct edit *e, uint32_t i) {
    struct ir *ir = p->ir;
    const uint32_t home = ir->info[i].block;
    const struct reg_def *d = &p->du.defs[p->du.inst_defs[i]];
    bool moved = false;
    p->near = ir->code[i].kind != K_LOAD;
    p->shares = arena_array(ir->tmp, (size_t)d->n + 1, 1);
    p->done = arena_array(ir->tmp, (size_t)d->n + 1, 1);
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t first;
        if (p->done[k])
            continue;
        memset(p->shares, 0, d->n);
        const uint32_t block = gather(p, d, k, home, &first);
        if (moved)
            add_copy(p, e, i, block, first);
        else if (block != home && first == NO_INST)
            edit_move_to_end(e, i, block);
        else if (block != home)
            edit_move_before(e, i, first);
        if (moved || block != home)
            ir_note(ir, i, "goes to the block of its uses");
        moved = true;
    }
}

bool select_params(struct ir *ir) {
    struct params p = {.ir = ir, .du = find_defuse(ir->tmp, ir), .dom = ir_dominators(ir)};
    p.loops = find_loops(ir->tmp, &ir->cfg, &p.dom);
    p.writers = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *p.writers);
    for (uint32_t k = 0; k < p.du.n_defs; k++)
        p.writers[p.du.defs[k].vreg]++;
    struct edit *e = edit_begin(ir);
    const uint32_t n = ir->n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t first = p.du.inst_defs[i];
        if (is_copy(ir, &ir->code[i]) && select_may_change(ir, i) && p.du.inst_defs[i + 1] == first + 1 &&
            may_move(&p, &p.du.defs[first]))
            move_copy(&p, e, i);
    }
    return edit_end(e);
}
