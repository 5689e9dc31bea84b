#ifndef FRONTEND_WAITS_H
#define FRONTEND_WAITS_H
/* Finds loops that wait for other threads: spin locks, tickets, flags. A loop waits if three conditions hold:
 * - A branch out of the loop depends on memory that other threads change. Such a branch depends on a strong load or an
 *   atomic whose address is the same in every iteration, or on an atomic whose operands are the same in every
 *   iteration.
 * - No branch out of the loop depends on a value that the loop itself changes in each iteration: a counter, a list
 *   pointer, a clock, an optimistic compare-and-swap, or an atomic addition that is compared with a bound.
 * - The loop contains no CTA barrier.
 * The analysis tracks values through registers, through variables in memory at fixed addresses, and through calls. If a
 * branch depends on memory that other threads change, the values written under this branch depend on this memory,
 * too. */
#include "ir.h"
#include "loops.h"

/* pass_waits() also marks the clock reads of a loop that only waits for a clock: nothing in the loop concerns other
 * threads, and each branch out of the loop depends on a clock and on no counter. */
struct waits {
    unsigned char *loop;     /* loop index -> true if the loop waits */
    unsigned char *block;    /* block -> true if it calls a function that waits, or polls in a cycle without a header */
    unsigned char *function; /* function -> true if it contains a waiting loop or block */
};

/* Finds the waiting loops of `ir`. Arrays are in ir->tmp. Requires: blocks, post-dominators, and `loops` of ir->cfg. */
struct waits find_waits(struct ir *ir, const struct loops *loops);
#endif
