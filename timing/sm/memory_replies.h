#ifndef TIMING_SM_MEMORY_REPLIES_H
#define TIMING_SM_MEMORY_REPLIES_H
/* Replies of the load/store unit. */
#include <stdbool.h>
#include <stdint.h>

struct sm;

/* Passes replies to warps and fetches, after a cycle of the load/store unit. `found` are the LSU_ bits that
 * lsu_tick() returned. */
void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now);
/* Ends the access of an instruction in flight. Its registers are written now or later. */
void sm_access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now);
#endif
