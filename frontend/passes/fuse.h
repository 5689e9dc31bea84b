#ifndef FRONTEND_FUSE_H
#define FRONTEND_FUSE_H
/* Groups of dependent f32 operations, and the fused instruction that executes a whole group (isa/fused.h). Passes
 * fuse groups in straight-line code and on both sides of a branch. */
#include "edit.h"
#include "frontend/analysis/defuse.h"
#include "isa/fused.h"

/* Operations that become one instruction. Each operation uses the result of the previous one, in program order. A
 * single operation is a group, too. */
struct fuse_group {
    uint32_t inst[FUSED_LENGTH], n;
    unsigned units; /* FPUs */
};

/* The groups of a block. */
struct fuse_search {
    struct ir *ir;
    struct defuse defuse;
    unsigned length; /* maximum number of FPUs that a group takes */
    /* true if a group may contain every instruction that a side of a folded branch may contain (fuse_side_holds()) */
    bool sides;
    /* instruction -> the only reader of its result, if this reader may follow it in a group; otherwise NO_INST */
    uint32_t *next;
    const char **alone; /* instruction -> why `next` has NO_INST for it */
    struct fuse_group *group;
    uint32_t n_groups, cap_groups;
    unsigned char *taken; /* instruction -> true if it is in a group */
};

/* Returns the number of FPUs that an instruction takes: 1 for an f32 addition, subtraction or multiplication, 2 for
 * a fused multiply-add, 0 for others. */
unsigned fuse_units_of(const struct inst *in);
/* Returns true if a side of a folded branch may contain the instruction: an instruction that takes FPUs
 * (fuse_units_of()); a minimum, maximum, negation or absolute value of f32, which takes one FPU here; or a move of 32
 * bits. */
bool fuse_side_holds(const struct ir *ir, const struct inst *in);
/* Returns the number of FPUs that an instruction of fuse_side_holds() takes. A move takes none, since it copies a
 * result. */
unsigned fuse_side_units(const struct inst *in);
/* Returns true if instruction i writes register `vreg`. */
bool fuse_writes(const struct ir *ir, uint32_t i, uint32_t vreg);
struct fuse_search fuse_search_begin(struct ir *ir, unsigned length, bool sides);
/* Fills s->group with the groups of at least two operations among instructions [begin, end) of a block: the longest
 * first, then in program order. */
void fuse_find(struct fuse_search *s, uint32_t begin, uint32_t end);

/* How a pass makes fused instructions. */
struct fuse_kind {
    /* operations of the compound instruction (isa/compound.h); ops->execute is fused_execute() */
    const struct compound_ops *ops;
    bool wide; /* true if intermediate results are not rounded */
};
/* Returns the instruction that computes `first` and, unless NULL, also `second`. The instruction reads its sources at
 * the place where the caller puts it. It has the guard of the first operation. */
struct inst fuse_make(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second,
                      const struct fuse_kind *kind);
/* Does the work of fuse_make() with a predicate: lanes whose predicate is true keep the result of `first`, all other
 * lanes the result of `second`. */
struct inst fuse_make_folded(struct ir *ir, const struct fuse_group *first, const struct fuse_group *second,
                             uint32_t predicate, const struct fuse_kind *kind);
/* One side of a selection: a group, or a value when the group is empty. */
struct fuse_choice {
    struct fuse_group group;
    opnd_t value;
};
/* Returns the instruction for `select`, d = p ? a : b, together with the operations that compute a and b. */
struct inst fuse_make_selected(struct ir *ir, const struct inst *select, const struct fuse_choice side[2],
                               const struct fuse_kind *kind);
/* Returns what a fused instruction computes, or NULL if the instruction is not a fused one. */
const struct fused *fuse_made(const struct ir *ir, const struct inst *in);
/* Gives `node` the source location of instruction `inst`. */
void fuse_place(struct edit *e, uint32_t node, uint32_t inst);
#endif
