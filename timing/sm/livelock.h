#ifndef TIMING_LIVELOCK_H
#define TIMING_LIVELOCK_H
/* Finds warps that run forever without progress. While memory does not change, a path depends only on its registers. If
 * it returns to a branch with the same registers as before, it will return forever. If this is true of every lane of
 * the GPU that may run, nothing can change memory any more, and the launch cannot end.
 *
 * Instructions with other effects (stores, clocks, barriers, calls, votes of a partial warp) restart the search. So a
 * spin that some thread will end is never reported. A loop that counts its iterations is found only by the cycle limit.
 *
 * The search is a unit of each SM (unit.h), which observes instructions only while it runs. */
#include "unit.h"

extern const struct sm_unit_ops unit_livelock;

/* Starts a new search; stops it. These calls require that the SM has the unit. */
void livelock_begin(struct sm *sm);
void livelock_end(struct sm *sm);
/* True if something has happened since livelock_begin() that may end a spin elsewhere. */
bool livelock_disturbed(const struct sm *sm);
/* True if every lane of this SM that may run repeats itself. *any: there is such a lane. */
bool livelock_repeats(const struct sm *sm, bool *any);
#endif
