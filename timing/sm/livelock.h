#ifndef TIMING_LIVELOCK_H
#define TIMING_LIVELOCK_H
/* Finds warps that run forever without progress. While memory does not change, a path depends only on its registers. If
 * a path returns to a branch with the same registers as before, it will do so forever. If this holds for every lane of
 * the GPU that may run, memory can no longer change, and the launch cannot end.
 *
 * Instructions that depend on anything else or have other effects (stores, clocks, barriers, calls, votes of a partial
 * warp) restart the search. So a spin loop that some thread will end is never reported. An endless loop that counts its
 * iterations is stopped only by the cycle limit.
 *
 * The search is a unit of each SM (unit.h), which observes instructions only while it runs. */
#include "unit.h"

extern const struct sm_unit_ops unit_livelock;

/* livelock_begin() starts a search, and livelock_end() stops it. Both functions require that the SM has the livelock
 * unit. */
void livelock_begin(struct sm *sm);
void livelock_end(struct sm *sm);
/* Returns true if something has happened since livelock_begin() that may end a spin loop in another warp. */
bool livelock_disturbed(const struct sm *sm);
/* Returns true if every lane of this SM that may run repeats its states. Sets *any if the SM has such a lane. */
bool livelock_repeats(const struct sm *sm, bool *any);
/* Returns true if a lane of this SM has often branched backwards since livelock_begin(), never with the same registers,
 * and does not wait for other threads. */
bool livelock_computes(const struct sm *sm);
/* Returns true if a warp of this SM has often read memory and then a clock since livelock_begin(): the warp may wait,
 * with a time limit, for another launch. */
bool livelock_polls_clock(const struct sm *sm);
#endif
