#ifndef TIMING_SM_SLOT_CAUSES_H
#define TIMING_SM_SLOT_CAUSES_H
/* Finds the cause for which an issue slot issues nothing. If warps wait for different causes, the first cause in the
 * order of enum slot counts. */
#include "warps.h"

/* Returns the warps of word `k` of a warp set that have a path in the state. */
static inline uint64_t warps_with(const struct sm_warps *ws, enum path_state state, uint32_t k) {
    return ws->in_state[k][state];
}

/* Returns the warps of word `k` that wait for this cause. */
static inline uint64_t warps_causing(const struct sm_warps *ws, enum slot slot, uint32_t k) {
    switch (slot) {
    case SLOT_PIPE:
        return warps_ready(ws, k);
    case SLOT_LOAD:
        return warps_with(ws, PATH_LOAD, k) | warps_with(ws, PATH_FENCE, k) | warps_with(ws, PATH_ORDER, k);
    case SLOT_ARITH:
        return warps_with(ws, PATH_ARITH, k);
    case SLOT_FETCH:
        return warps_with(ws, PATH_FETCH, k) | warps_with(ws, PATH_FETCHING, k);
    case SLOT_RECONVERGENCE:
        return warps_with(ws, PATH_SWITCH, k) | warps_with(ws, PATH_BLOCKED, k);
    case SLOT_QUEUE:
        return warps_with(ws, PATH_QUEUE, k);
    case SLOT_BARRIER:
        return warps_with(ws, PATH_BARRIER, k);
    case SLOT_SLEEP:
        return warps_with(ws, PATH_SLEEP, k);
    default:
        return 0;
    }
}

/* Warps of one word of a warp set that wait for one of the first four causes (SLOT_PIPE to SLOT_FETCH). Each field also
 * includes the warps of the fields before it. */
struct slot_causes {
    uint64_t pipe, to_load, to_arith, to_fetch;
};
static inline struct slot_causes slot_causes_of(const struct sm_warps *ws, uint32_t k) {
    struct slot_causes c = {.pipe = warps_ready(ws, k)};
    c.to_load = c.pipe | warps_causing(ws, SLOT_LOAD, k);
    c.to_arith = c.to_load | warps_causing(ws, SLOT_ARITH, k);
    c.to_fetch = c.to_arith | warps_causing(ws, SLOT_FETCH, k);
    return c;
}

/* Returns the first cause among the warps `mine` of one word. The host cannot predict which of the first four causes
 * applies, so this code avoids branches. */
static inline enum slot slot_cause_in_word(const struct sm_warps *ws, const struct slot_causes *c, uint64_t mine,
                                           uint32_t k) {
    if (c->to_fetch & mine)
        return (enum slot)(SLOT_PIPE + !(c->pipe & mine) + !(c->to_load & mine) + !(c->to_arith & mine));
    if (warps_causing(ws, SLOT_RECONVERGENCE, k) & mine)
        return SLOT_RECONVERGENCE;
    if (warps_causing(ws, SLOT_QUEUE, k) & mine)
        return SLOT_QUEUE;
    if (warps_causing(ws, SLOT_BARRIER, k) & mine)
        return SLOT_BARRIER;
    return warps_causing(ws, SLOT_SLEEP, k) & mine ? SLOT_SLEEP : SLOT_NO_WARP;
}

/* Returns the first cause among the warps `mine`. `c` has one entry per word. */
static inline enum slot slot_cause(const struct sm_warps *ws, const struct slot_causes *c, const struct warp_set *mine,
                                   uint32_t words) {
    enum slot first = SLOT_NO_WARP;
    for (uint32_t k = 0; k < words; k++) {
        enum slot slot = slot_cause_in_word(ws, &c[k], mine->word[k], k);
        first = slot < first ? slot : first;
    }
    return first;
}

/* Returns true if all ready instructions of the warps `mine` are for the load/store unit. */
static inline bool slot_waits_for_memory(const struct sm_warps *ws, const struct warp_set *mine, uint32_t words) {
    uint64_t others = 0;
    for (uint32_t k = 0; k < words; k++)
        others |= warps_ready_others(ws, k) & mine->word[k];
    return !others;
}
#endif
