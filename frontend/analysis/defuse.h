#ifndef FRONTEND_DEFUSE_H
#define FRONTEND_DEFUSE_H
/* Which writes of a register may have made the value that an instruction reads: reaching definitions of virtual
 * registers, for programs in which a register is written many times. A write under a guard does not end the value
 * before it. Special registers and constants have no definitions. A change of the program makes all of this stale. */
#include "ir.h"

/* One register that one instruction writes. */
struct reg_def {
    uint32_t inst, vreg;
    uint32_t first, n; /* the uses that it may reach: defuse.def_uses[first ... first + n), ascending */
};

/* One register that one instruction reads, its guard included; once for each register and instruction. */
struct reg_use {
    uint32_t inst, vreg;
    uint32_t first, n; /* the definitions that may reach it: defuse.use_defs[first ... first + n), ascending */
    bool start;        /* the function's beginning may be where the value comes from: zero, nothing wrote it yet */
};

struct defuse {
    struct reg_def *defs;
    uint32_t n_defs;
    struct reg_use *uses;
    uint32_t n_uses;
    uint32_t *inst_defs, *inst_uses; /* instruction i: defs[inst_defs[i] ... inst_defs[i + 1]), uses likewise */
    uint32_t *def_uses, *use_defs;
};

/* Requires: blocks. Everything comes from `a`. */
struct defuse find_defuse(struct arena *a, const struct ir *ir);
/* The use of register `vreg` by instruction `inst`; NULL when it does not read it. */
const struct reg_use *defuse_use(const struct defuse *d, uint32_t inst, uint32_t vreg);
/* The one definition that makes the value of `use` on every path; NULL when there are several, or none on some path. */
const struct reg_def *defuse_only_def(const struct defuse *d, const struct reg_use *use);
#endif
