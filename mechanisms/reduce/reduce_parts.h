#ifndef MECHANISMS_REDUCE_PARTS_H
#define MECHANISMS_REDUCE_PARTS_H
/* Parts of the pass `reduce`. Internal to this folder. */
#include "frontend/analysis/defuse.h"
#include "frontend/analysis/dependence.h"
#include "frontend/passes/edit.h"
#include "reduce.h"

/* Chooses the lanes in which (register & mask) is `value`. */
struct lane_choice {
    opnd_t from; /* a special register: %tid.x or %laneid */
    uint32_t mask, value;
};

struct lane_users {
    const struct ir *ir;
    const struct defuse *defuse;
    struct dom_tree dom;
};

/* True if a 32-bit operand of instruction `inst` is a constant, through moves; sets `value`. */
bool reduce_constant(const struct ir *ir, const struct defuse *d, uint32_t inst, opnd_t o, uint32_t *value);
/* The only instruction that computes operand `o` of `inst`, a register; NO_INST: there are several, or none. */
uint32_t reduce_maker(const struct defuse *d, uint32_t inst, opnd_t o);
/* A move of 32 bits without a guard. */
bool reduce_is_move(const struct inst *in);
/* An f32 addition, rounded to nearest, without a guard. */
bool reduce_adds(const struct inst *in);
/* The same, of two registers. */
bool reduce_is_addition(const struct inst *in);
/* reduce_inst.c: makes the instruction `#reduce`. Its operands: d the sum, a the values, b the register that chooses
 * the lanes that use the sum, c clamp and segment mask of its shuffles, e member mask (old shfl: OPND_ZERO, unused),
 * list the distances. */
extern const struct compound_ops reduce_ops;
extern const struct compound_timing reduce_timing; /* reduce_timing.c */
struct inst reduce_make(struct ir *ir, const struct program_reduce *r);
/* Sets the member mask: the named lanes execute the instruction together. */
void reduce_set_members(struct inst *in, opnd_t members);
/* reduce_tree.c: sums in shared memory, with one step behind another. Notes say why some are left alone. */
void reduce_trees(struct ir *ir, struct edit *edit, const struct control *control);
/* reduce_serial.c: sums that one lane makes of one value after another; a tree adds in another order. With
 * chain.ieee=off the order is free, and sums of consecutive words of shared memory become one instruction. Notes name
 * the others. */
void reduce_serial(struct ir *ir, struct edit *edit, const struct defuse *d, uint32_t blocks);
/* NULL if every reader of definition `def` is where only one lane of a warp comes, number `lane` where a warp is a row
 * of threads; fills `choice`. Otherwise the reason. */
const char *reduce_users(const struct lane_users *u, uint32_t def, unsigned lane, struct lane_choice *choice);
/* True if threads of a warp outside block b may be at an instruction with a member mask while others are at one in b.
 * Looks at the other ways of all branches, as far as the join. */
bool reduce_meets_others(const struct ir *ir, const struct control *control, uint32_t b);
#endif
