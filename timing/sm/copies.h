#ifndef TIMING_SM_COPIES_H
#define TIMING_SM_COPIES_H
/* cp.async in the timing model: the copies in flight, and the groups and mbarriers that wait for them. */
#include "warps.h"

struct sm;
struct sm_copies; /* The state of copies.c. An SM whose program has no copies has no such state (NULL). */

/* sm_copies_begin() prepares for a launch, and sm_copies_end() cleans up after it. sm_copies_begin() returns false
 * if memory is out. */
bool sm_copies_begin(struct sm *sm);
void sm_copies_end(struct sm *sm);
/* Returns true if the path must wait before its next instruction, which has the flags TIMED_COPY and TIMED_FENCE. */
bool sm_copies_hold(const struct sm *sm, uint32_t w, const struct sm_path *path);
/* Handles an instruction with the flag TIMED_COPY that was executed with the effects sm->fx. `mem`: index of a
 * K_COPY in sm_memory.inst. */
void sm_copies_issued(struct sm *sm, uint32_t w, const struct inst *in, uint32_t mem);
/* Ends a K_COPY, whose data are in shared memory. Returns true if the table of arrivals has room again, so that every
 * warp in PATH_FENCE may continue, not only this one. */
bool sm_copies_done(struct sm *sm, uint32_t inflight);
/* Returns true if a K_COPY is in flight. */
bool sm_copies_pending(const struct sm *sm);
#endif
