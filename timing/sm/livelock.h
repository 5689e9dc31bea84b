#ifndef TIMING_LIVELOCK_H
#define TIMING_LIVELOCK_H
/* Warps that run for ever and get nowhere. While memory does not change, what a path does depends on its registers
 * alone: once it is back at a branch with the registers that it had there before, it will come back for ever. When that
 * is known of every lane of the GPU that may run at all, nobody is left to change memory, and the launch cannot end.
 * Whatever is not understood (stores, clocks, barriers, calls, votes of a part of a warp) starts the search anew, so a
 * spin that someone will end is never reported; a loop that counts its rounds is found by the cycle limit only.
 * The search is a unit of each SM (unit.h), which listens to instructions only while it watches. */
#include "unit.h"

extern const struct sm_unit_ops unit_livelock;

/* These calls require that the SM has the unit. Begins to watch from scratch; stops. */
void livelock_begin(struct sm *sm);
void livelock_end(struct sm *sm);
/* Has anything happened since livelock_begin() that may end a spin elsewhere? */
bool livelock_disturbed(const struct sm *sm);
/* Does every lane of this SM that may run repeat itself? *any: there is one. */
bool livelock_repeats(const struct sm *sm, bool *any);
#endif
