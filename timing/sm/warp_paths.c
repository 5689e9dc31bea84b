/* Updates the paths of a warp: gets the new paths from the model, and gives them the instruction buffers of the old
 * paths. */
#include "modern_due.h"
#include "modern_place.h"
#include "uniform_path.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void sm_switched(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t latency = sw->gave_way ? sm->model.wants.stall_latency : sm->model.wants.switch_latency;
    sw->gave_way = false;
    sw->long_ops = 0;
    sm->n.path_switches++;
    if (!sw->n_paths || !latency)
        return;
    sw->path[0].switched = now + latency;
    sw->path[0].sleeps = false;
    wheel_add(&sm->wheel, now + latency, event_make(EVENT_SWITCHED, w));
    sm_evaluate_all(sm, w, now);
}

void sm_nap(struct sm *sm, uint32_t w, lanemask_t lanes, uint64_t ns, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const uint64_t until = now + (uint64_t)ceil((double)ns * sm->cfg->gpu.core_mhz / 1e3);
    if (sm->wheel.n > sm->wheel.cap / 2) /* many paths began early, and their events are left */
        return;
    for (uint32_t p = 0; p < sw->n_paths; p++)
        if (sw->path[p].lanes & lanes && sw->path[p].switched < until) {
            sw->path[p].switched = until;
            sw->path[p].sleeps = true;
        }
    wheel_add(&sm->wheel, until, event_make(EVENT_SWITCHED, w));
    sm_evaluate_all(sm, w, now);
}

/* Returns how many instructions of the old path's buffer are before the new path. */
static uint32_t steps_between(const struct sm *sm, uint32_t w, const struct sm_path *old, const struct path *new) {
    if (__builtin_expect(sm->modern != NULL, 0))
        return modern_place_after(sm, w, old, new->pc, new->lanes) - old->at;
    return new->pc - old->pc;
}

/* Returns the old path that has the next instruction of the new path in its buffer or its pending fetch. Returns
 * NULL if no old path has it. */
static struct sm_path *inherit(const struct sm *sm, uint32_t w, struct sm_path *old, uint32_t n,
                               const struct path *new) {
    struct sm_path *found = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct sm_path *o = &old[i];
        uint32_t steps = steps_between(sm, w, o, new);
        bool has = o->buffered ? steps < o->buffered + (uint32_t)(o->coming != 0) : o->state == PATH_FETCHING && !steps;
        has |= sm->modern && steps == o->buffered && o->at + steps != sm->program->inst[new->pc].place; /* expands */
        if (has && (!found || o->id == new->id))
            found = o;
    }
    return found;
}

static void adopt(const struct sm *sm, uint32_t w, struct sm_path *to, struct sm_path *from, const struct path *new) {
    if (!from) {
        *to = (struct sm_path){
            .pc = new->pc, .lanes = new->lanes, .id = new->id, .board = new->board, .state = PATH_FETCH};
        if (sm->modern)
            to->at = sm->program->inst[new->pc].place;
        return;
    }
    const uint32_t steps = steps_between(sm, w, from, new);
    const bool there = steps < from->buffered, /* the path's instruction is in the buffer */
        comes = from->coming || from->state == PATH_FETCHING;
    *to = (struct sm_path){.pc = new->pc,
                           .lanes = new->lanes,
                           .id = new->id,
                           .board = new->board,
                           .state = there || !comes ? PATH_FETCH : PATH_FETCHING,
                           .buffered = there ? (uint8_t)(from->buffered - steps) : 0,
                           .stray = there ? STRAY_NONE : from->stray,
                           .wrong = there ? 0 : from->wrong,
                           .switched = from->switched,
                           .sleeps = from->sleeps,
                           .ticket = from->ticket,
                           .coming = from->coming,
                           .missed = from->missed};
    if (sm->modern)
        to->at = from->at + steps;
    from->coming = 0;
    from->buffered = 0; /* empties the old path's buffer, so that no other new path inherits it */
    from->state = PATH_FETCH;
}

static void finished(struct sm *sm, uint32_t w) {
    sm_set_live(sm, w, false);
    warp_set_drop(&sm->warps.divergent, w);
}

void sm_refresh(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (sm->fast.stack && sm_follow(sm, w))
        return;
    warp_set_add(&sm->fetching.room, w);
    if (sm->modern && sm->modern->warp[w].ahead)
        modern_ahead_end(sm, w, now);
    struct path p[MAX_PATHS];
    int n = control_paths(&sw->control, sw->w, p);
    sm_heed_control(sm, sw);
    if (n == 1 && sw->n_paths == 1) { /* the common case */
        struct sm_path old = sw->path[0];
        uint8_t state = old.state;
        struct sm_path *heir = inherit(sm, w, &old, 1, p);
        const uint32_t had = heir ? 0 : old.buffered;
        adopt(sm, w, &sw->path[0], heir, p);
        if (sm->cfg->sm.fetch_wrong_path && !sm->modern && had)
            sw->path[0].state = sm_stray(sm, w, &sw->path[0], old.pc, had, now);
        warps_state_drop(&sm->warps, state, w);
        warps_state_add(&sm->warps, sw->path[0].state, w);
        if (sm->model.wants.switches && !(old.lanes & p[0].lanes))
            sm_switched(sm, w, now);
    } else {
        assert((uint32_t)n <= sm->warps.most_paths);
        struct sm_path old[MAX_PATHS];
        memcpy(old, sw->path, sw->n_paths * sizeof *old);
        for (int i = 0; i < n; i++)
            adopt(sm, w, &sw->path[i], inherit(sm, w, old, sw->n_paths, &p[i]), &p[i]);
        sw->n_paths = (uint8_t)n;
        bool ended = n == 0 && sm->model.ops->finished(sw->control.model);
        sw->finished = ended;
        warps_states_changed(&sm->warps, w);
        if (ended) {
            finished(sm, w);
            if (sm->modern)
                modern_due_finish(sm, w, now);
            return;
        }
    }
    sw->selected = false;
    sw->n_concurrent = (uint8_t)control_concurrent(&sw->control, n);
    warp_set_put(&sm->warps.divergent, w,
                 n ? p[0].lanes != sw->w->live
                   : sw->control.n_held > 1 || (sw->control.n_held && sw->control.held[0].lanes != sw->w->live));
    if (__builtin_expect(sm->model.wants.stack_entries != 0, 0))
        sm_stack_moved(sm, w, now);
    sm_evaluate_all(sm, w, now);
}
