#ifndef TIMING_STATES_H
#define TIMING_STATES_H
/* The states of paths and the uses of issue slots, and their names in reports. */
#include "timing/config/config.h"

/* The state of a path. The first N_PIPES states mean that it is ready for that pipe. */
enum path_state {
    PATH_READY = 0,
    PATH_LOAD = N_PIPES, /* waits for a register that a memory access will write */
    PATH_FENCE,          /* waits for the warp's accesses */
    PATH_ORDER,          /* its last instruction waits for its turn in the order of the SMs */
    PATH_ARITH,          /* waits for any other register */
    PATH_FETCH,          /* wants to fetch */
    PATH_FETCHING,
    PATH_SWITCH,  /* has become active and waits until the switch latency has passed */
    PATH_BLOCKED, /* (state of a warp) has live lanes, but no path may be scheduled */
    PATH_QUEUE,   /* waits for a queue of decoupled execution */
    PATH_BARRIER,
    PATH_ASLEEP, /* the warp belongs to a unit, and the SM has no CTA */
    PATH_TURN,   /* a unit has put the warp to sleep: other warps run */
    N_PATH_STATES
};

/* The use of an issue slot. When warps have different causes, the first one in this order counts. */
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

/* Names in the statistics, after "issue."; ends with NULL. */
extern const char *const issue_slot_names[N_SLOTS + 1];

/* Returns a state in a word or two, for tracks of a trace; "ready" for the first N_PIPES states and for invalid
 * values. */
const char *path_state_word(uint8_t state);
/* Returns a state as a phrase for reports: "waits at a barrier". */
const char *path_state_phrase(uint8_t state);
#endif
