#ifndef TIMING_SM_FAST_PATH_H
#define TIMING_SM_FAST_PATH_H
/* The fast path: the stages that run for every instruction or cycle are compiled twice from one source. The general
 * copy handles everything; the fast copy leaves out what the common case does not need. Results are the same. Only this
 * file decides which copy runs. */
#include <stdbool.h>

struct sm;

/* Properties of the common case, found by sm_find_fast_path(). If the comment of a field names another field, the first
 * requires the second. */
struct sm_fast_path {
    /* Instructions issue and complete on the fast path, except instructions of TIMED_RARE. Requires that no unit sees
     * instructions, no context is open, nothing is counted by PC, a warp's scoreboard is one word, and the model
     * neither splits, gathers nor interleaves paths, nor is notified of long-latency operations. */
    bool instructions;
    /* `instructions`, and the SM has one part and its sets of warps use one word. */
    bool one_part;
    /* `instructions`, the model is the stack of spe, all of it in hardware, and no unit puts warps to sleep: uniform
     * branches, block ends and barriers edit the stack without calling the model. */
    bool stack;
    /* Cycles take the fast path: the sets of warps use one word, and neither units, nor the scheduler's policy, nor the
     * model has per-cycle work. A cycle in which only memory moves skips the other stages. */
    bool cycles;
};

/* Updates the fast path. Call it when a launch begins, a unit starts or stops observing a call, or a context opens or
 * closes. */
void sm_find_fast_path(struct sm *sm);
#endif
