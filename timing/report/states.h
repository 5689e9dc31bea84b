#ifndef TIMING_STATES_H
#define TIMING_STATES_H
/* What paths of a warp wait for and what issue slots did, and how reports call it. */
#include "timing/config/config.h"

/* What a path does next. The first N_PIPES say that it is ready for that pipe. */
enum path_state {
    PATH_READY = 0,
    PATH_LOAD = N_PIPES, /* waits for a register that a memory access will write */
    PATH_FENCE,          /* waits for the warp's accesses */
    PATH_ORDER,          /* its last instruction waits for its turn among the SMs */
    PATH_ARITH,          /* waits for any other register */
    PATH_FETCH,          /* wants to fetch */
    PATH_FETCHING,
    PATH_SWITCH,  /* became active and pays for the switch */
    PATH_BLOCKED, /* (of a warp) lanes live, but no path may be scheduled */
    PATH_QUEUE,   /* waits for a queue of decoupled execution */
    PATH_BARRIER,
    PATH_ASLEEP, /* of a unit's own warp: the SM has no CTA */
    PATH_TURN,   /* sm.running_warps: other warps have the lanes */
    N_PATH_STATES
};

/* What an issue slot did; the order of causes is that of preference when warps differ. */
enum slot {
    SLOT_ISSUED,
    SLOT_PIPE,
    SLOT_LOAD,
    SLOT_ARITH,
    SLOT_FETCH,
    SLOT_RECONVERGENCE,
    SLOT_QUEUE,
    SLOT_BARRIER,
    SLOT_NO_WARP,
    N_SLOTS
};

/* As in the statistics, after "issue."; ends with NULL. */
extern const char *const issue_slot_names[N_SLOTS + 1];

/* A state in a word or two, for tracks of a trace; "ready" for the first N_PIPES and for what is no state. */
const char *path_state_word(uint8_t state);
/* A state as a phrase that a report goes on with: "waits at a barrier". */
const char *path_state_phrase(uint8_t state);
#endif
