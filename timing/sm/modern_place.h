#ifndef TIMING_SM_MODERN_PLACE_H
#define TIMING_SM_MODERN_PLACE_H
/* The modern core: the places of paths in the code (timed_inst.place). */
#include "modern.h"
#include "stages.h"

/* Returns the place of the machine instruction that lanes issue after the first one of the instruction at `pc`. */
static inline uint32_t modern_next_place(const struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes) {
    const struct timed_inst *ti = &sm->program->inst[pc];
    return sm->modern->warp[w].expands & lanes ? ti->place + 1 : ti[1].place;
}

/* Fetches without an event (sm_fast_path.guided). While the buffer of a warp's only path has an instruction, the
 * arrival of another changes nothing but the buffer. sm_path.coming contains such a fetch until modern_ahead_take(),
 * even after its arrival. */

/* Returns true if all fetches of the warp's only path arrive without an event, and one more can. */
static inline bool modern_ahead_may(const struct sm *sm, const struct sm_warp *sw, const struct modern_warp *mw,
                                    const struct sm_path *path) {
    return sm->fast.guided && sw->n_paths == 1 && path->buffered && path->coming == mw->ahead;
}

/* Adds a fetch that arrives in `cycle`, later than the others and less than 256 cycles after them. */
static inline void modern_ahead_add(struct modern_warp *mw, uint64_t cycle) {
    const uint8_t later = (uint8_t)(cycle - mw->arrives);
    mw->before[1] = (uint8_t)(mw->before[0] + later);
    mw->before[0] = later;
    mw->arrives = cycle;
    mw->ahead++;
}

/* Returns the cycle in which the oldest of these fetches arrives. Requires that there is one. */
static inline uint64_t modern_ahead_first(const struct modern_warp *mw) {
    return mw->arrives - (mw->ahead > 1 ? mw->before[mw->ahead - 2] : 0);
}

/* Moves the instructions that have arrived by cycle `now` into the buffer. */
static inline void modern_ahead_take(struct modern_warp *mw, struct sm_path *path, uint64_t now) {
    while (mw->ahead && modern_ahead_first(mw) <= now) {
        mw->ahead--;
        path->coming--;
        path->buffered++;
    }
}

/* Adds events for the fetches that have not arrived in cycle `now`. */
static inline void modern_ahead_end(struct sm *sm, uint32_t w, uint64_t now) {
    struct modern_warp *mw = &sm->modern->warp[w];
    struct sm_path *path = sm->warps.slot[w].path;
    modern_ahead_take(mw, path, now);
    for (; mw->ahead; mw->ahead--)
        wheel_add(&sm->wheel, modern_ahead_first(mw), event_make(EVENT_FETCHED, sm_ticket(w, path->ticket)));
}

/* Moves a path to another place in the code. The machine instructions before that place leave the buffer. */
static inline void modern_move(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t to, uint64_t now) {
    const uint32_t steps = to - path->at;
    struct modern_warp *mw = &sm->modern->warp[w];
    if (mw->ahead)
        modern_ahead_take(mw, path, now);
    if (mw->ahead && steps >= path->buffered)
        modern_ahead_end(sm, w, now);
    path->at = to;
    if (steps > path->buffered) {
        path->coming = 0; /* the next fetch has a new ticket */
        path->missed = false;
    }
    path->buffered = steps < path->buffered ? (uint8_t)(path->buffered - steps) : 0;
}
#endif
