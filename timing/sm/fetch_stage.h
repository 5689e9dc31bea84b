#ifndef TIMING_SM_FETCH_STAGE_H
#define TIMING_SM_FETCH_STAGE_H
/* The fetch stage. The SM is one part, or has one part per scheduler if it is divided. In each cycle, each part
 * selects one path with an empty buffer, and fetches the next instructions of this path. The instruction caches are in
 * fetch.h. */
#include "timing/config/warp_set.h"

struct sm;

/* State of the fetch stage, which chooses the paths that fetch. */
struct sm_fetch_stage {
    /* modern core: all warps with a path that can fetch, and maybe others; see modern_fetch.c */
    struct warp_set room;
    bool any_refused;          /* true if some path may have the flag `refused` */
    uint16_t last[8];          /* warp that fetched last, by part */
    struct warp_set spent;     /* with peer.fetch_retires_warps: finished warps that still hold their slots */
    struct warp_set reclaimed; /* with peer.fetch_retires_warps: finished warps whose slots the stage has freed */
};

/* Returns a ticket for a fetch. The ticket consists of the warp slot and a number that the warp increments at each
 * fetch. If the path has changed its PC when the fetch ends, the fetch is dropped. */
static inline uint32_t sm_ticket(uint32_t w, uint16_t ticket) { return w << 16 | ticket; }

void fetch_stage_init(struct sm_fetch_stage *f);
/* Runs the stage for one cycle. */
void sm_fetch(struct sm *sm, uint64_t now);
/* Puts the instructions of a fetch into the buffer (EVENT_FETCHED). */
void sm_fetched(struct sm *sm, uint32_t ticket, uint64_t now);
/* Handles a fetch whose line is in the instruction cache, `latency` cycles later than a hit. */
void sm_fetch_arrived(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now);
/* Lets refused paths try again, after a line has arrived. */
void sm_fetch_retry(struct sm *sm);
#endif
