/* A pass that adds a second instruction stream to the program: a copy of the kernel in which the first guarded
 * branch is always taken. A warp without a CTA (side_warp.c) runs the code at the target of this branch. */
#include "passes.h"

static bool run(struct ir *ir) {
    uint32_t at = ir->functions[0].begin;
    while (ir->code[at].kind != K_BRANCH || ir->code[at].guard == NO_GUARD)
        at++;
    struct edit *e = edit_begin(ir);
    struct edit_copy c = edit_copy_function(e, 0, "side");
    uint32_t jump = c.inst[at], block = e->nodes[jump].block;
    struct inst always = edit_make_jump(edit_inst(e, jump)->target);
    edit_set_end(e, block, &always, NO_BLOCK);
    return ir_add_stream(ir, c.function, "side") == 1 && edit_end(e);
}

const struct pass side_stream = {.name = "side_stream", .help = "a stream where the first branch is taken", .run = run};
