#ifndef FRONTEND_WAITS_H
#define FRONTEND_WAITS_H
/* Loops that wait for other threads: spin locks, tickets, flags. A loop waits when
 * - a branch out of it depends on memory that others change: on an atomic or a strong load whose address is the same in
 *   every round, or, for an atomic, whose operands are the same in every round;
 * - no branch out of it depends on a value that the loop itself changes from round to round: a counter, a pointer that
 *   is followed, a clock, an optimistic compare-and-swap, an atomic addition compared with a bound;
 * - it contains no barrier of the CTA, which all threads pass in every round.
 * Values are followed through registers, through variables in memory at fixed addresses, and through calls. A value
 * that is written under a branch which depends on such memory depends on it, too. */
#include "ir.h"
#include "loops.h"

struct waits {
    unsigned char *loop;     /* by index in loops.list: it waits */
    unsigned char *block;    /* it calls a function that waits, or polls in a cycle without a header */
    unsigned char *function; /* it has such a loop or block */
};

/* The loops of `ir` that wait; arrays are in ir->tmp. Requires: blocks and post-dominators, and their loops. */
struct waits find_waits(struct ir *ir, const struct loops *loops);
#endif
