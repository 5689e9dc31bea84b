#ifndef FRONTEND_REGALLOC_H
#define FRONTEND_REGALLOC_H
/* Register allocation with preferred banks. */
#include "frontend/analysis/ir.h"

/* Returns whether a register should have an even (0) or odd (1) slot, or -1 if it does not matter. It is called right
 * before the register gets its slot, in the order of the intervals' begins. */
typedef int slot_parity_fn(void *ctx, uint32_t vreg);
/* Exchanges slots of one function and class, after all registers have slots. */
typedef void renumber_fn(void *ctx);
/* Works as pass_regalloc(), but allocates the slot that has been free for longest, if possible a slot of the preferred
 * parity. The number of slots stays the same. `parity` and `renumber` may be NULL. */
bool regalloc_with(struct ir *ir, slot_parity_fn *parity, renumber_fn *renumber, void *ctx);
/* Computes total_pressure, the number of 32-bit register words that a thread needs in a function and its callees, and
 * thread_regs, from `pressure` of the functions. */
void regalloc_total(struct ir *ir);
#endif
