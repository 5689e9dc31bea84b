#ifndef TIMING_SM_FETCH_STAGE_H
#define TIMING_SM_FETCH_STAGE_H
/* The fetch stage: in each cycle one path of each part whose buffer is empty fetches its next instructions. The
 * instruction caches are in fetch.h. */
#include "timing/config/warp_set.h"

struct sm;

/* Owns the choice of paths that fetch. */
struct sm_fetch_stage {
    bool any_refused;          /* some path may be `refused` */
    uint8_t last[8];           /* warp that fetched last, by part */
    struct warp_set spent;     /* peer.fetch_retires_warps: warps that are done, */
    struct warp_set reclaimed; /* and those of them that the stage has reclaimed */
};

/* A fetch is named by its warp slot and a number of the warp's, so that a fetch for a path that has moved on is
 * dropped. */
static inline uint32_t sm_ticket(uint32_t w, uint16_t ticket) { return w << 16 | ticket; }

void fetch_stage_init(struct sm_fetch_stage *f);
/* The cycle of the stage. */
void sm_fetch(struct sm *sm, uint64_t now);
/* EVENT_FETCHED: the instructions of a fetch are in the buffer. */
void sm_fetched(struct sm *sm, uint32_t ticket, uint64_t now);
/* The line of a fetch is in the instruction cache, `latency` cycles later than for a hit. */
void sm_fetch_arrived(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now);
/* A line has arrived: refused paths may try again. */
void sm_fetch_retry(struct sm *sm);
#endif
