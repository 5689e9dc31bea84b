#ifndef TIMING_SM_MEMORY_REPLIES_H
#define TIMING_SM_MEMORY_REPLIES_H
/* Replies of the load/store unit. */
#include <stdbool.h>
#include <stdint.h>

struct sm;

/* The load/store unit has had its cycle and returned `found` (LSU_ bits): hands replies to warps and fetches. */
void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now);
/* The access of an instruction in flight is done: its registers are written, now or later. */
void sm_access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now);
#endif
