/* A minimal pass. It removes `mov r, r`, which has no effect; an option keeps guarded moves. */
#include "passes.h"

static bool moves_to_itself(const struct ir *ir, const struct inst *in) {
    uint32_t n;
    return isa_rows(&n)[in->row].op == OP_MOV && in->kind == K_LANE && !(in->d & 1) && in->d == in->a &&
           in->d >> 1 != SINK_VREG && !ir->vregs[in->d >> 1].special;
}

static bool run(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    for (uint32_t i = 0; i < ir->n; i++) {
        if (!moves_to_itself(ir, &ir->code[i]))
            continue;
        if (ir->code[i].guard != NO_GUARD && pass_option(&ir->context, "toy.keep_guarded", 0)) {
            ir_note(ir, i, "left alone: it has a guard");
            continue;
        }
        ir_note(ir, i, "taken out: it moves a register to itself");
        edit_remove(e, i);
    }
    return edit_end(e);
}

static bool wanted(const struct ir *ir) { return pass_extension(&ir->context, "toy"); }

const struct pass self_moves = {
    .name = "self_moves",
    .help = "moves of a register to itself go",
    .run = run,
    .wanted = wanted,
    .when = "models with the extension 'toy'",
};
