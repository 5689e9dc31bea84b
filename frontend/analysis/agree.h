#ifndef FRONTEND_AGREE_H
#define FRONTEND_AGREE_H
/* Which branches may part the lanes of a warp, by the rule with which ptxas places BSSY. */
#include "ir.h"

/* Returns an array: block -> true if lanes may leave its last branch for different targets. A value is the same in all
 * lanes if its operands are, loads included. Lanes may disagree on:
 * - indices of threads and lanes, results of atomics, calls, CTA barriers, matches and most shuffles;
 * - a value with several definitions, if lanes may reach the use from different ones;
 * - a value of a loop or side that lanes leave apart, after their join.
 * The array is in ir->tmp. Requires: blocks and post-dominators. */
unsigned char *find_parting(struct ir *ir);
#endif
