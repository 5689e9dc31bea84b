#ifndef FRONTEND_AFFINE_H
#define FRONTEND_AFFINE_H
/* Affine analysis: which values of a kernel an affine unit can compute. It assigns a class to every definition, by a
 * fixed point over reaching definitions and control dependence. Source: "Decoupled Affine Computation for SIMT GPUs",
 * sections 3 and 4. */
#include "defuse.h"
#include "dependence.h"
#include "isa/affine/rule.h"

struct affine {
    const struct ir *ir;
    bool uniform; /* of find_uniform() */
    struct control control;
    struct defuse defuse;
    unsigned char *may_exit;  /* instruction -> true if it is a call that may end the thread */
    unsigned char *def_class; /* definition -> enum affine_class */
    /* block -> 1 + a block whose branch on a vector value decides whether this block runs, or 0 if there is no such
     * branch */
    uint32_t *excluded;
    /* register -> class of a special register; CLASS_VECTOR for all other registers, whose class depends on
     * definitions */
    unsigned char *special_class;
    unsigned char *potential; /* instruction -> true if all its inputs are scalar data and thread indices (Figure 6) */
    /* numbers of all and of potentially affine instructions, in the kernel and the functions it calls */
    uint32_t n_instructions, n_potential;
};

/* Analyses the program. Arrays are allocated in `a`. If the kernel has a loop that never ends (control.stuck), every
 * definition is a vector. Requires: blocks. */
struct affine find_affine(struct arena *a, const struct ir *ir);
/* As find_affine(), but a result is scalar only if all lanes of a warp that have not ended execute the instruction
 * together, too. A branch on an affine value may separate lanes, so it excludes blocks as a branch on a vector does. */
struct affine find_uniform(struct arena *a, const struct ir *ir);
/* Returns the class of operand `o` of instruction `inst`. */
enum affine_class affine_operand(const struct affine *a, uint32_t inst, opnd_t o);
/* Returns the class of the guard of instruction `inst`, CLASS_SCALAR if it has none. */
enum affine_class affine_guard(const struct affine *a, uint32_t inst);
/* Returns true if the instruction only computes registers from registers or from read-only memory. */
bool affine_is_pure(const struct inst *in);
#endif
