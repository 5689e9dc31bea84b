#ifndef TIMING_SM_TMA_H
#define TIMING_SM_TMA_H
/* The tensor memory accelerator of an SM: executes bulk copies in time. A copy changes memory when its instruction
 * executes. The unit then sends its requests, one a cycle, through the load/store unit, and completes the copy when the
 * last reply has arrived. So its requests use the same queue, banks, tables and port as those of warps. */
#include "in_flight.h"
#include "unit.h"

/* Tags of the unit's accesses in the load/store unit begin here, after those of instructions. */
enum { TMA_TAGS = MAX_INFLIGHT, TMA_REQUESTS = 256 };

extern const struct sm_unit_ops unit_tma;

/* Returns true if the SM has a bulk copy that is not complete. */
bool tma_is_busy(const struct sm *sm);
/* Handles the end of the access with this tag. */
void tma_reply(struct sm *sm, uint32_t tag, uint64_t now);
#endif
