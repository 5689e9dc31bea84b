#ifndef FRONTEND_JOINS_H
#define FRONTEND_JOINS_H
/* Where the sides of a branch meet when threads that end on the way do not count. Convergence barriers stand there: a
 * thread that exits leaves its barriers. A stack knows post-dominators alone (pass_postdom()). */
#include "ir.h"

/* Block -> where the sides of its branch that meet again do so, NO_BLOCK: nowhere before threads end. It is the
 * immediate post-dominator where there is one. Else blocks are left out that lead to exits, traps and calls that never
 * return, but not to the end of the function that most blocks lead to. A way that returns to a caller counts: who
 * returns stays in his barriers. The array is in ir->tmp. Requires: blocks and post-dominators. */
uint32_t *find_joins(struct ir *ir);

/* The same where an early return from a called function is an end as well: when several edges lead to the block that
 * returns, each is an end. A thread that returns early must leave its barriers. */
uint32_t *find_early_joins(struct ir *ir);
#endif
