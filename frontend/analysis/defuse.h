#ifndef FRONTEND_DEFUSE_H
#define FRONTEND_DEFUSE_H
/* Reaching definitions: which writes may have produced the value that an instruction reads. Virtual registers may be
 * written many times; a guarded write does not end the previous value. Special registers and constants have no
 * definitions. Any change of the program invalidates the result. */
#include "ir.h"

/* A definition: a pair of an instruction and a register that it writes. */
struct reg_def {
    uint32_t inst, vreg;
    uint32_t first, n; /* uses that it may reach: defuse.def_uses[first ... first + n), ascending */
};

/* A use: a pair of an instruction and a register that it reads. A guard counts as a read. A register that the
 * instruction reads twice is one use. */
struct reg_use {
    uint32_t inst, vreg;
    uint32_t first, n; /* definitions that may reach it: defuse.use_defs[first ... first + n), ascending */
    bool start;        /* the register may be unwritten since the function's entry; it then reads as zero */
};

struct defuse {
    struct reg_def *defs;
    uint32_t n_defs;
    struct reg_use *uses;
    uint32_t n_uses;
    /* Instruction i has the entries from inst_defs[i] to inst_defs[i + 1] - 1 of defs, and the entries from
     * inst_uses[i] to inst_uses[i + 1] - 1 of uses. */
    uint32_t *inst_defs, *inst_uses;
    uint32_t *def_uses, *use_defs;
};

/* Finds all definitions and uses. Arrays are allocated in `a`. Requires: blocks. */
struct defuse find_defuse(struct arena *a, const struct ir *ir);
/* Returns the use of register `vreg` by instruction `inst`, or NULL if the instruction does not read it. */
const struct reg_use *defuse_use(const struct defuse *d, uint32_t inst, uint32_t vreg);
/* Returns the single definition that reaches `use` on every path, or NULL if several definitions reach `use` or a path
 * has no definition. */
const struct reg_def *defuse_only_def(const struct defuse *d, const struct reg_use *use);
#endif
