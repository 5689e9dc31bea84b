#ifndef TIMING_SM_TURNS_H
#define TIMING_SM_TURNS_H
/* Warps that run alternately (sm.running_warps): only a few warps have lanes at a time (turns.c). */
#include <stdint.h>

struct sm;

/* State of warp swaps, which store and load registers. */
struct sm_turns {
    uint32_t n_turning; /* warps whose registers are being loaded */
};

/* Makes a warp that has just begun wait until it gets lanes. */
void sm_turn_await(struct sm *sm, uint32_t w, uint64_t now);
/* Starts a warp whose registers are loaded (EVENT_TURN). */
void sm_turn_begin(struct sm *sm, uint32_t w, uint64_t now);
/* Selects the warps that run. Called after the issue stage in every cycle. */
void sm_turns(struct sm *sm, uint64_t now);
#endif
