#ifndef TIMING_SM_MODERN_DUE_H
#define TIMING_SM_MODERN_DUE_H
/* The modern core: fixed-latency results that arrive without an event (sm_fast_path.guided). Their arrival changes the
 * state of no path: only modern_too_early() and the end of the warp need it. So each issue of the warp takes the
 * results that have arrived by then. */
#include "modern.h"
#include "stages.h"

static inline bool modern_has_due_room(const struct sm *sm, uint32_t w) {
    return sm->fast.guided && sm->modern->dues[w].n < MODERN_DUES;
}

/* Adds the result of the path's instruction, which arrives in `cycle`. Requires modern_has_due_room(). */
static inline void modern_due_add(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t cycle) {
    struct modern_dues *d = &sm->modern->dues[w];
    d->due[d->n++] = (struct modern_due){.cycle = cycle, .lanes = path->lanes, .pc = path->pc, .board = path->board};
    sm->warps.slot[w].inflight++;
}

static inline void modern_due_written(struct sm *sm, uint32_t w, const struct modern_due *d, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sb_regs *r = &sm->program->inst[d->pc].regs;
    if (sm->fast.board_word)
        sb_word_writeback(sw->board, r);
    else
        sm->model.sb->writeback(sw->board, d->board, d->lanes, r);
    sw->inflight--;
    if (d->cycle == now) /* nothing asks for results of earlier cycles */
        modern_result(sm, w, d->pc, d->lanes, now);
}

/* Takes the results of the warp that have arrived by cycle `now`. */
static inline void modern_due_take(struct sm *sm, uint32_t w, uint64_t now) {
    struct modern_dues *d = &sm->modern->dues[w];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->due[i].cycle <= now)
            modern_due_written(sm, w, &d->due[i], now);
        else
            d->due[kept++] = d->due[i];
    }
    d->n = kept;
}

/* Adds the event EVENT_DUE for the last result of a warp that has finished. */
static inline void modern_due_finish(struct sm *sm, uint32_t w, uint64_t now) {
    const struct modern_dues *d = &sm->modern->dues[w];
    uint64_t last = 0;
    modern_due_take(sm, w, now);
    for (uint32_t i = 0; i < d->n; i++)
        last = max64(last, d->due[i].cycle);
    if (d->n)
        wheel_add(&sm->wheel, last, event_make(EVENT_DUE, w));
}
#endif
