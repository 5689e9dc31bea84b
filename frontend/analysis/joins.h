#ifndef FRONTEND_JOINS_H
#define FRONTEND_JOINS_H
/* Join blocks. A join block is the block where the paths of a branch meet, if paths on which threads end before it are
 * ignored. Convergence barriers are placed there, because a thread that exits leaves its barriers. A reconvergence
 * stack uses only post-dominators (pass_postdom()). */
#include "ir.h"

/* Returns an array: block -> join block of its branch, or NO_BLOCK if no paths meet before threads end. The join block
 * is the immediate post-dominator if there is one. Otherwise the search considers only the blocks from which a path
 * leads to a return, because a returning thread keeps its barriers. For branches outside these blocks, it considers
 * only the blocks that lead to one end of threads in each function (an exit, a trap, or a call that never returns):
 * first the end to which most blocks lead, then the next one. The array is in ir->tmp. Requires: blocks and
 * post-dominators. */
uint32_t *find_joins(struct ir *ir);

/* Does the work of find_joins(), but an early return from a called function ends a path, too. If several edges lead to
 * the returning block, each edge is such an end. A thread that returns early must then leave its barriers. */
uint32_t *find_early_joins(struct ir *ir);
#endif
