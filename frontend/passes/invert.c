/* Turns a branch over a jump into one branch: `@p bra X; bra Y; X:` becomes `@!p bra Y; X:`. NVVM writes the first form
 * for `if`; machine code of ptxas and the PTX of older compilers have the second. Requires: blocks. Keeps: source
 * order. */
#include "edit.h"
#include "pass.h"

/* Returns true if block m contains only an unguarded `bra`, and no edge but the one from block b leads to m. */
static bool is_lone_jump(const struct ir *ir, uint32_t m, uint32_t b) {
    const struct block *middle = &ir->blocks[m];
    const struct inst *in = &ir->code[middle->begin];
    return middle->end == middle->begin + 1 && in->kind == K_BRANCH && in->guard == NO_GUARD &&
           ir->cfg.pred_first[m + 1] == ir->cfg.pred_first[m] + 1 && ir->cfg.pred[ir->cfg.pred_first[m]] == b;
}

/* Returns true if block b ends in a branch over the next block, which only jumps. */
static bool jumps_over(const struct ir *ir, uint32_t b) {
    const struct inst *in = &ir->code[ir->blocks[b].end - 1];
    return in->kind == K_BRANCH && in->guard != NO_GUARD && in->target == b + 2 && is_lone_jump(ir, b + 1, b);
}

static void invert(struct edit *e, uint32_t b) {
    struct ir *ir = e->ir;
    uint32_t at = ir->blocks[b].end - 1;
    struct inst in = ir->code[at];
    in.guard_not = !in.guard_not;
    in.target = ir->code[ir->blocks[b + 1].begin].target;
    edit_set_end(e, b, &in, b + 2);
    ir_note(ir, at, "inverted: it branches over a jump");
}

bool pass_invert(struct ir *ir) {
    struct edit *e = NULL;
    for (uint32_t b = 0; b + 2 < ir->n_blocks; b++)
        if (jumps_over(ir, b)) {
            e = e ? e : edit_begin(ir);
            invert(e, b);
        }
    return !e || edit_end(e);
}
