#ifndef TIMING_SM_COPIES_H
#define TIMING_SM_COPIES_H
/* cp.async in time: which copies are in flight, and which groups and mbarriers wait for them. */
#include "warps.h"

struct sm;
struct sm_copies; /* copies.c; NULL: the program has none */

/* The launch begins (false: out of memory), and ends. */
bool sm_copies_begin(struct sm *sm);
void sm_copies_end(struct sm *sm);
/* Must the path wait before its instruction, of TIMED_COPY and TIMED_FENCE? */
bool sm_copies_hold(const struct sm *sm, uint32_t w, const struct sm_path *path);
/* An instruction of TIMED_COPY was executed with the effects sm->fx; mem: index of a K_COPY in sm_memory.inst. */
void sm_copies_issued(struct sm *sm, uint32_t w, const struct inst *in, uint32_t mem);
/* The data of a K_COPY are in shared memory. True: arrivals that were held back have room now, so that every warp in
 * PATH_FENCE may go on, not only its own. */
bool sm_copies_done(struct sm *sm, uint32_t inflight);
#endif
