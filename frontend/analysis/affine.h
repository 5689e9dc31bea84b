#ifndef FRONTEND_AFFINE_H
#define FRONTEND_AFFINE_H
/* Which values of a kernel an affine unit can compute: a class for every definition, by a fixed point over reaching
 * definitions and control dependence. "Decoupled Affine Computation for SIMT GPUs", sections 3 and 4. */
#include "defuse.h"
#include "dependence.h"
#include "isa/affine/rule.h"

struct affine {
    const struct ir *ir;
    struct control control;
    struct defuse defuse;
    unsigned char *may_exit;  /* instruction -> a call that may end the thread */
    unsigned char *def_class; /* definition -> enum affine_class */
    uint32_t *excluded;       /* block -> 0, or 1 + the block whose branch decides by a vector whether it is executed */
    unsigned char *special_class; /* register -> class of a special register; CLASS_VECTOR for others */
    unsigned char *potential;     /* instruction -> computes on scalar data and thread indices alone (Figure 6) */
    uint32_t n_instructions, n_potential; /* of the kernel and what it calls */
};

/* Requires: blocks. Everything comes from `a`. Where the kernel has a loop that never ends (control.stuck), every
 * definition is a vector. */
struct affine find_affine(struct arena *a, const struct ir *ir);
/* The class of operand `o` of instruction `inst`. */
enum affine_class affine_operand(const struct affine *a, uint32_t inst, opnd_t o);
/* The class of the guard of instruction `inst`: scalar when it has none. */
enum affine_class affine_guard(const struct affine *a, uint32_t inst);
/* Does the instruction only compute registers from registers, or from what nobody writes? */
bool affine_is_pure(const struct inst *in);
#endif
