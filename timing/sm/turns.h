#ifndef TIMING_SM_TURNS_H
#define TIMING_SM_TURNS_H
/* Warps in turn (sm.running_warps): only so many warps have lanes at a time (turns.c). */
#include <stdint.h>

struct sm;

/* Owns the loads and stores of registers between turns. */
struct sm_turns {
    uint32_t n_turning; /* warps whose registers are being loaded */
};

/* A warp has begun: it waits for its turn. */
void sm_turn_await(struct sm *sm, uint32_t w, uint64_t now);
/* EVENT_TURN: its registers are loaded. */
void sm_turn_begin(struct sm *sm, uint32_t w, uint64_t now);
/* After the issue stage of every cycle. */
void sm_turns(struct sm *sm, uint64_t now);
#endif
