#ifndef MECHANISMS_REDUCE_PARTS_H
#define MECHANISMS_REDUCE_PARTS_H
/* Parts of the pass `reduce`. Internal to this folder. */
#include "frontend/analysis/defuse.h"
#include "frontend/analysis/dependence.h"
#include "frontend/passes/edit.h"
#include "reduce.h"

struct isa_row;

/* A choice of lanes: the lanes in which (register & mask) == value. */
struct lane_choice {
    opnd_t from; /* a special register: %tid.x or %laneid */
    uint32_t mask, value;
};

struct lane_users {
    const struct ir *ir;
    const struct defuse *defuse;
    struct dom_tree dom;
};

/* Returns true if an operand of instruction `inst` is a constant below 2^32, through moves; sets `value`. */
bool reduce_constant(const struct ir *ir, const struct defuse *d, uint32_t inst, opnd_t o, uint32_t *value);
/* Returns the only instruction that computes register operand `o` of `inst`; NO_INST: there are several, or none. */
uint32_t reduce_maker(const struct defuse *d, uint32_t inst, opnd_t o);
/* reduce_match.c: returns the instruction's row of the instruction table. */
const struct isa_row *reduce_row_of(const struct inst *in);
/* Returns true for an operand that is a register, not a constant or a discarded result. */
bool reduce_is_register(opnd_t o);
/* Returns true for a register of 64 bits. */
bool reduce_is_wide(const struct ir *ir, opnd_t o);
/* Returns true for a move of 32 bits without a guard. */
bool reduce_is_move(const struct inst *in);
/* Returns true for an f32 addition, rounded to nearest, without a guard. */
bool reduce_adds(const struct inst *in);
/* Returns true for an f32 addition of two registers, rounded to nearest, without a guard. */
bool reduce_is_addition(const struct inst *in);
/* reduce_inst.c: makes the instruction `#reduce` (reduce.h). Operands: d is the sum. a has the values to sum. b chooses
 * the lanes that use the sum. c has the clamp and the segment mask of the shuffles. e is the member mask (OPND_ZERO:
 * the shuffles have none). The operand list has the shuffle distances. */
extern const struct compound_ops reduce_ops;
extern const struct compound_timing reduce_timing; /* reduce_timing.c */
struct inst reduce_make(struct ir *ir, const struct program_reduce *r);
/* Sets the member mask: the lanes that execute the instruction together. */
void reduce_set_members(struct inst *in, opnd_t members);
/* reduce_tree.c: replaces sums that five steps make in shared memory. Notes give the reasons why other sums are not
 * replaced. */
void reduce_trees(struct ir *ir, struct edit *edit, const struct control *control);
/* reduce_serial.c: with chain.ieee=off, replaces serial sums of consecutive words of shared memory. The tree adds in
 * another order than the program. Notes give the reasons why other sums are not replaced. */
void reduce_serial(struct ir *ir, struct edit *edit, const struct defuse *d, uint32_t blocks);
/* Checks that only one lane of a warp reaches the readers of definition `def`: lane number `lane`, if the threads of a
 * warp form a row. If so, fills `choice` and returns NULL. Otherwise returns the reason. */
const char *reduce_users(const struct lane_users *u, uint32_t def, unsigned lane, struct lane_choice *choice);
/* Returns true if some threads of a warp may execute a shuffle, vote or other instruction with a member mask while
 * other threads of the warp execute such an instruction in block b. For each branch that leads to b on one side, the
 * function examines the other side, up to the join. */
bool reduce_meets_others(const struct ir *ir, const struct control *control, uint32_t b);
#endif
