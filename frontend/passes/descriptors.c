/* Adds the instructions that bring the descriptors of memory accesses to uniform registers (core.descriptors). On such
 * a machine, an access to global memory reads a descriptor from two uniform registers. Lanes that call a function
 * through a pointer may call different functions, so the function cannot load the descriptor with the uniform datapath:
 * it has the descriptor in vector registers, and copies it before each access. Functions with accesses in one block
 * only, other functions and kernels load it once, which this pass leaves out. Source: ptxas 13 for sm_90 and sm_120, in
 * kernels that call functions through pointers. Requires: blocks. Keeps: all other instructions. */
#include "pass.h"
#include "select.h"

/* Returns true if the access has a descriptor. */
static bool has_descriptor(const struct inst *in) {
    return (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM) &&
           (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC);
}

/* Returns the number of blocks of function f that have accesses with descriptors. */
static uint32_t blocks_with_accesses(const struct ir *ir, const struct ir_function *f) {
    uint32_t n = 0, last = NO_BLOCK;
    for (uint32_t i = f->begin; i < f->end; i++)
        if (has_descriptor(&ir->code[i]) && ir->info[i].block != last) {
            last = ir->info[i].block;
            n++;
        }
    return n;
}

/* Adds a copy of half a descriptor before the access: a move of 0 to register v, which nothing reads. */
static void copy_half(struct edit *e, uint32_t access, uint32_t v) {
    struct inst in = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
    in.a = OPND_ZERO;
    in.d = v << 1;
    edit_before(e, access, &in);
}

bool has_descriptors(const struct ir *ir) { return pass_option(&ir->context, "core.descriptors", 0) != 0; }

bool copies_descriptors(const struct ir *ir, const struct ir_function *f) {
    return has_descriptors(ir) && f->address_taken && blocks_with_accesses(ir, f) >= 2;
}

bool pass_descriptors(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    for (uint32_t k = 0; k < ir->n_functions; k++) {
        const struct ir_function *f = &ir->functions[k];
        if (!copies_descriptors(ir, f))
            continue;
        const uint32_t v = ir_vreg(ir, RC_32, k, NULL, 0);
        ir->vregs[v].written = true;
        for (uint32_t i = f->begin; i < f->end; i++)
            if (has_descriptor(&ir->code[i])) {
                copy_half(e, i, v);
                copy_half(e, i, v);
                ir_note(ir, i, "needs two copies of its descriptor");
            }
    }
    return edit_end(e);
}
