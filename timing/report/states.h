#ifndef TIMING_STATES_H
#define TIMING_STATES_H
/* The states of paths and the uses of issue slots, and their names in reports. */
#include "timing/config/config.h"

/* The state of a path. The first N_PIPES states mean that the path is ready to issue to the pipe of this number. */
enum path_state {
    PATH_READY = 0,
    PATH_LOAD = N_PIPES, /* waits for a register that a memory access will write */
    /* waits for memory accesses of its warp: at a fence, for copies, or after an atomic (peer.sm_atomic_wait) */
    PATH_FENCE,
    PATH_ORDER, /* its last instruction waits to be performed in order with other SMs (sm.h) */
    PATH_ARITH, /* waits for any other register */
    PATH_FETCH, /* wants to fetch */
    PATH_FETCHING,
    PATH_SWITCH,  /* waits for the end of the switch latency, or of a spill or fill of its stack */
    PATH_BLOCKED, /* (state of a warp) has live lanes, but none of its paths may be scheduled */
    PATH_QUEUE,   /* waits for a queue of decoupled execution */
    PATH_BARRIER,
    PATH_ASLEEP, /* the warp belongs to a unit, and the SM has no CTA */
    PATH_TURN,   /* a unit has put the warp to sleep, so that other warps run */
    PATH_SLEEP,  /* nanosleep */
    N_PATH_STATES
};

/* The use of an issue slot. If nothing issues and warps are stalled for different causes, the slot counts for the
 * first of these causes in the order below. */
enum slot {
    SLOT_ISSUED,
    SLOT_PIPE,
    SLOT_LOAD,
    SLOT_ARITH,
    SLOT_FETCH,
    SLOT_RECONVERGENCE,
    SLOT_QUEUE,
    SLOT_BARRIER,
    SLOT_SLEEP,
    SLOT_NO_WARP,
    N_SLOTS
};

/* Names in the statistics, after "issue."; ends with NULL. */
extern const char *const issue_slot_names[N_SLOTS + 1];

/* Returns a name of one or two words for a state, for the tracks of a trace. It is "ready" for the first N_PIPES
 * states and for invalid values. */
const char *path_state_word(uint8_t state);
/* Returns a state as a phrase for reports: "waits at a barrier". */
const char *path_state_phrase(uint8_t state);
#endif
