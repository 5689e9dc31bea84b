#ifndef TIMING_SM_FAST_PATH_H
#define TIMING_SM_FAST_PATH_H
/* The fast path: the stages that run for every instruction or cycle are compiled twice from one source. The general
 * copy handles all cases. The fast copy omits what the common case does not need. Results are the same. Only this
 * file decides which copy runs. */
#include <stdbool.h>

struct sm;

/* Properties of the common case, found by sm_find_fast_path(). If the comment of a field begins with the name of
 * another field, the field is true only if the other field is true. */
struct sm_fast_path {
    /* Instructions issue and complete on the fast path, except instructions with the flag TIMED_RARE. Requirements: the
     * core is classic, a warp has one row of lanes and one scoreboard, no unit observes instructions, no context is
     * open, and no statistic is counted by PC. The model must not split, gather or interleave paths, or need
     * long-latency operations. */
    bool instructions;
    /* `instructions` is true, the SM is not divided, and its sets of warps use one word. */
    bool one_part;
    /* `instructions` is true, the model is the stack of spe with all entries in hardware, the model needs no notice
     * of every PC, and no unit puts warps to sleep. Uniform branches, block ends and barriers then change the stack
     * without calling the model. */
    bool stack;
    /* A cycle in which only memory accesses advance skips the other stages. Requirements: no context is open, no
     * statistic is counted by PC, the launch does not poll, and neither units, nor the scheduler's policy, nor the
     * model need work in each cycle. */
    bool quiet;
    /* `quiet` is true, and no unit observes instructions. Then an instruction without the flags TIMED_CONTROL,
     * TIMED_ENDS and TIMED_RARE changes only the states of its own warp. */
    bool alone;
    /* `quiet` is true, and cycles run on the fast path. Requirements: the core is classic, and the sets of warps use
     * one word. */
    bool cycles;
    /* `alone` is true, and instructions without the flags TIMED_RARE and TIMED_FALLBACK issue on the path of the
     * modern core. Requirements: the core is modern, every cluster has one CTA, and the model needs neither gathered
     * paths nor long-latency operations. */
    bool modern_instructions;
    /* `modern_instructions` is true, control bits decide which instructions may issue, and the counters belong to the
     * warp. Then the state of a path changes only with its stall counts, its counters, its buffer or its PC. */
    bool guided;
    /* A warp has one scoreboard, of one word. */
    bool board_word;
    /* `guided` and `board_word` are true, and the model needs no notice of every PC. Then instructions with TIMED_PLAIN
     * issue on a path of their own. */
    bool plain;
    /* `alone` is true, and cycles run on the path of the modern core. Requirements: the core is modern and divided into
     * more than two parts, and the sets of warps use one word. */
    bool modern;
};

/* Updates the fast path. Call it when a launch begins, a unit starts or stops observing a call, or a context opens or
 * closes. */
void sm_find_fast_path(struct sm *sm);
#endif
