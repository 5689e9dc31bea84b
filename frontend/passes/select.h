#ifndef FRONTEND_SELECT_H
#define FRONTEND_SELECT_H
/* The pass `select`: machine instructions for the modern core. Private to select*.c. */
#include "edit.h"
#include "frontend/analysis/defuse.h"
#include "isa/decode.h"

/* One round over the program, in which each instruction changes at most once. */
struct select {
    struct ir *ir;
    struct edit *e;
    struct defuse du;
    uint32_t *writers;      /* register -> number of its definitions */
    unsigned char *touched; /* instruction -> true if this round has changed it */
};

/* Returns true if the passes may change the instruction. In a program with several streams, only the kernel's own
 * stream changes: units execute the instructions of other streams by rules that know no fused instructions. */
static inline bool select_may_change(const struct ir *ir, uint32_t i) {
    return !ir->n_streams || ir->info[i].function == 0;
}
/* Returns the row of the opcode table of an instruction. */
const struct isa_row *select_row(const struct inst *in);
/* Returns the result of an instruction that has exactly one, and no guard; else NULL. */
const struct reg_def *select_only_result(const struct select *s, uint32_t i);
/* Returns true if operand `o` has the same value at instruction `use` as at instruction `from`, which reads it. Every
 * path to `use` passes `from`. */
bool select_keeps(const struct select *s, opnd_t o, uint32_t from, uint32_t use);
/* Keeps the definitions of an operand of instruction `i` for this round, because other instructions now read it. */
void select_keep_definitions(struct select *s, uint32_t i, opnd_t o);
/* Replaces register `v` by an operand where the instruction reads it. */
void select_replace(struct select *s, uint32_t i, uint32_t v, opnd_t by);
/* Returns 1 for an operand in no register: a parameter, or a constant that is not 0; else 0. */
unsigned select_outside(const struct ir *ir, opnd_t o);
/* Gives an instruction the row and sources a, b, c, e, with the same destination and guard. */
void select_become(struct select *s, uint32_t i, const struct isa_row *row, const opnd_t sources[4]);
/* Returns true for an integer addition of `bytes` bytes. */
bool select_is_sum(const struct isa_row *row, unsigned bytes);
/* Returns the value of a constant operand of 4 or 8 bytes, sign-extended. */
int64_t select_constant(const struct ir *ir, opnd_t o, unsigned bytes);

/* select_webs.c: gives each value a register of its own. Returns false on failure. */
bool select_webs(struct ir *ir);
/* select_sizes.c: removes conversions of integers to another size that the machine does not need. Returns true if
 * instruction `i` changed. */
bool select_sizes(struct select *s, uint32_t i);
/* select_narrow.c: computes addresses of constant, shared and local memory in 32 bits. Returns false on failure. */
bool select_narrow(struct ir *ir);
/* select_constants.c: returns the constant that instruction `i` reads as operand `o`, directly or from the only copy
 * that writes `o`. Returns OPND_SINK if the operand is no constant. */
opnd_t select_constant_operand(const struct select *s, uint32_t i, opnd_t o);
/* select_constants.c: changes instruction `i` if it computes with constants. Returns true if it did. */
bool select_constants(struct select *s, uint32_t i);
/* select_constants.c: gives a register to factors that have no place in their instruction. Returns false on failure. */
bool select_factors(struct ir *ir);
/* select_fold.c, select_fuse.c: change instruction `i` and the instructions that use its result. Return true if they
 * did. */
bool select_fold(struct select *s, uint32_t i);
bool select_fuse(struct select *s, uint32_t i);
/* select_operands.c: returns true if `use` can compute the result of `i`, which it reads, itself. */
bool select_may_absorb(const struct select *s, uint32_t i, const struct reg_use *use);
/* select_operands.c: removes instruction `i`, whose uses now compute its result. */
void select_absorbed(struct select *s, uint32_t i);
/* select_sums.c: fuse instruction `i`, a product or a sum of integers, with the sums that use its result. Return true
 * if they did. */
bool select_products(struct select *s, uint32_t i);
bool select_sums(struct select *s, uint32_t i);
/* select_fuse.c: joins instruction `i` and a later one of its block that computes the other half of the same product.
 * Returns true if it did. */
bool select_halves(struct select *s, uint32_t i);
/* select_fold.c: on a machine without operands in constant memory, makes a load of a parameter or of a word of a .const
 * variable a copy for the uniform datapath if all instructions that use the result can read a uniform register. Returns
 * true if so. */
bool select_fetch(struct select *s, uint32_t i);
/* select_fold.c: returns the special register for a word in constant memory. */
uint32_t select_word_register(struct ir *ir, struct special_init word);
/* select_aggregate.c: one lane adds to a word in memory for all lanes. Returns false on failure. */
bool select_aggregate(struct ir *ir);
/* select_vectors.c: joins accesses to neighbouring words to one access. Returns false on failure. */
bool select_vectors(struct ir *ir);
/* select_guards.c: turns short ifs into guarded instructions. Returns false on failure. */
bool select_guards(struct ir *ir);
/* select_params.c: moves copies of parameters to the blocks of their uses. Returns false on failure. */
bool select_params(struct ir *ir);
/* Returns true if instructions can read parameters as operands (core.constant_operands). */
bool select_has_constants(const struct ir *ir);
/* Returns true if the operand is in constant memory: a parameter, a word of a .const variable, or the size of the CTA
 * or grid. */
bool select_is_parameter(const struct ir *ir, opnd_t o);
#endif
