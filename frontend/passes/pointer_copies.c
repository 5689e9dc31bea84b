/* Adds the copies that ptxas makes of pointers in loops (core.pointer_copies). A loop adds a constant to a pointer of
 * 64 bits, and loads from it. ptxas keeps both words of the sum in registers of their own, and copies one or both to
 * the pair that the load reads. Source: ptxas 11.8 and 13, in loops with one pointer and 1 to 3 accesses.
 * Requires: blocks. Keeps: everything. */
#include "frontend/analysis/loops.h"
#include "pass.h"
#include "select.h"

/* The accesses of a loop through a pointer. */
struct accesses {
    unsigned loads, stores, others; /* others: instructions that read the pointer as a value */
    bool wide;                      /* a load has a result of more than one word */
};

static bool reads(const struct ir *ir, uint32_t i, uint32_t v) {
    const struct inst_info *info = &ir->info[i];
    for (unsigned k = 0; k < info->n_reads; k++)
        if (ir->regs[info->regs + k] == v)
            return true;
    return false;
}

static struct accesses accesses_of(const struct ir *ir, const struct loop *l, uint32_t v, uint32_t sum) {
    struct accesses n = {0};
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        if (!loop_has(l, b))
            continue;
        for (uint32_t i = ir->blocks[b].begin; i < ir->blocks[b].end; i++) {
            const struct inst *in = &ir->code[i];
            if (i == sum || !reads(ir, i, v))
                continue;
            if (in->kind == K_LOAD && in->a == v << 1) {
                n.loads++;
                n.wide |= in->n_list > 1 || in->rsize > 4;
            } else if (in->kind == K_STORE && in->a == v << 1) {
                n.stores++;
            } else {
                n.others++;
            }
        }
    }
    return n;
}

/* Returns the words that ptxas copies in each iteration. */
static unsigned words_copied(struct accesses n) {
    if (n.others || !n.loads || (n.loads == 2 && !n.stores))
        return 0;
    return n.loads == 1 && !n.stores && !n.wide ? 1 : 2;
}

/* Returns the pointer to which an instruction adds a constant, or SINK_VREG. */
static uint32_t advanced(const struct ir *ir, uint32_t i) {
    const struct inst *in = &ir->code[i];
    const bool sum = in->kind == K_LANE && in->guard == NO_GUARD && select_is_sum(select_row(in), 8);
    return sum && in->a == in->d && in->b & 1 && !ir->vregs[in->d >> 1].uniform ? in->d >> 1 : SINK_VREG;
}

void add_pointer_copies(struct ir *ir, struct edit *e) {
    const struct dom_tree dom = ir_dominators(ir);
    const struct loops loops = find_loops(ir->tmp, &ir->cfg, &dom);
    struct inst copy = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
    copy.a = OPND_ZERO;
    for (uint32_t i = 0; i < ir->n; i++) {
        const uint32_t v = select_may_change(ir, i) ? advanced(ir, i) : SINK_VREG, l = loops.of[ir->info[i].block];
        if (v == SINK_VREG || l == NO_LOOP)
            continue;
        const unsigned words = words_copied(accesses_of(ir, &loops.list[l], v, i));
        for (unsigned k = 0; k < words; k++)
            edit_at_begin(e, loops.list[l].header, &copy);
    }
}
