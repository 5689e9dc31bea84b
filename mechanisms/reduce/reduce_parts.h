#ifndef MECHANISMS_REDUCE_PARTS_H
#define MECHANISMS_REDUCE_PARTS_H
/* Parts of the pass `reduce`. Internal to this folder. */
#include "frontend/analysis/defuse.h"
#include "frontend/analysis/dependence.h"
#include "frontend/passes/edit.h"
#include "isa/reduce.h"

/* What chooses lanes: those in which (register & mask) is `value`. */
struct lane_choice {
    opnd_t from; /* a special register: %tid.x or %laneid */
    uint32_t mask, value;
};

struct lane_users {
    const struct ir *ir;
    const struct defuse *defuse;
    struct dom_tree dom;
};

/* The value of a 32-bit operand of instruction `inst` when it is a constant, through moves. */
bool reduce_constant(const struct ir *ir, const struct defuse *d, uint32_t inst, opnd_t o, uint32_t *value);
/* The instruction that makes what `inst` reads as operand `o`, a register; NO_INST: there is not one alone. */
uint32_t reduce_maker(const struct defuse *d, uint32_t inst, opnd_t o);
/* A move of 32 bits without a guard. */
bool reduce_is_move(const struct inst *in);
/* An f32 addition, rounded to nearest, without a guard. */
bool reduce_adds(const struct inst *in);
/* The same, of two registers. */
bool reduce_is_addition(const struct inst *in);
/* reduce_inst.c: the instruction `#reduce`, and one of it. Operands: d the sum, a the values, c clamp and segment mask
 * of its shuffles, e member mask (old shfl: OPND_ZERO, unused), list the distances, b what chooses the lanes that use
 * the sum. */
extern const struct compound_ops reduce_ops;
struct inst reduce_make(struct ir *ir, const struct program_reduce *r);
/* All lanes that the mask names take part. */
void reduce_set_members(struct inst *in, opnd_t members);
/* reduce_tree.c: sums in shared memory, whose steps are one behind another; notes say why some are left alone. */
void reduce_trees(struct ir *ir, struct edit *edit, const struct control *control);
/* reduce_serial.c: sums that one lane makes of one value after another, which no tree makes in that order. Where the
 * order is free (chain.ieee=off) those of words in a row of shared memory become one instruction; others are noted. */
void reduce_serial(struct ir *ir, struct edit *edit, const struct defuse *d, uint32_t blocks);
/* Do all that read what definition `def` makes stand where only one kind of lane comes, which has `lane` as the number
 * in its warp where a warp is a row of threads? Fills `choice`. NULL, or why not. */
const char *reduce_users(const struct lane_users *u, uint32_t def, unsigned lane, struct lane_choice *choice);
/* May threads of a warp that are not in block b stand at an instruction with a member mask while others stand at one
 * in b? Branches decide who is where: their other ways are looked at, as far as the join. */
bool reduce_meets_others(const struct ir *ir, const struct control *control, uint32_t b);
#endif
