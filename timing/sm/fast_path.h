#ifndef TIMING_SM_FAST_PATH_H
#define TIMING_SM_FAST_PATH_H
/* The fast path: stages that every instruction or cycle passes are compiled twice from one source. The general copy
 * handles everything; the fast copy leaves out what the common case does not need. Figures are the same. This is the
 * only place that decides which copy runs. */
#include <stdbool.h>

struct sm;

/* What the common case permits; found by sm_find_fast_path(). A later field requires the earlier ones it names. */
struct sm_fast_path {
    /* Instructions issue and complete on the fast path, except those of TIMED_RARE: no unit sees instructions, no
     * context is open, nothing is counted by PC, the scoreboard is one word for the warp, and the model neither splits
     * nor gathers nor interleaves nor hears of long latencies. */
    bool instructions;
    /* instructions, and the SM is not divided and its sets of warps use one word. */
    bool one_part;
    /* instructions, and the model is the stack of spe, all of it in hardware: uniform branches, ends of blocks and
     * barriers edit the stack without calls of the model. */
    bool stack;
    /* Cycles: the sets of warps use one word, no unit has work in cycles, and neither the scheduler's policy nor the
     * model has. A cycle in which only memory moves skips the other stages. */
    bool cycles;
};

/* Finds them anew: a launch begins, a unit begins or ends to listen to a call, a context opens or closes. */
void sm_find_fast_path(struct sm *sm);
#endif
