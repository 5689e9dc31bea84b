#ifndef TIMING_SM_TMA_H
#define TIMING_SM_TMA_H
/* The tensor memory accelerator (TMA) of an SM: it gives bulk copies their time. A copy changes memory when its
 * instruction executes. After that, the accelerator sends the copy's requests through the load/store unit, one request
 * per cycle. The copy is complete when the reply to its last request has arrived. The requests of copies share the
 * queue, banks, tables and port of the load/store unit with the accesses of warps. */
#include "in_flight.h"
#include "unit.h"

/* The accelerator's accesses in the load/store unit have tags from this number on. Instructions have lower tags. */
enum { TMA_TAGS = MAX_INFLIGHT, TMA_REQUESTS = 256 };

extern const struct sm_unit_ops unit_tma;

/* Returns true if the SM has a bulk copy that is not complete. */
bool tma_is_busy(const struct sm *sm);
/* Handles the end of the access with this tag. */
void tma_reply(struct sm *sm, uint32_t tag, uint64_t now);
#endif
