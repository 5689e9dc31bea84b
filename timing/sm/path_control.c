/* Control flow: notifies the reconvergence model of the PCs to which lanes go, and updates the warp's paths. */
#include "modern_place.h"
#include "uniform_path.h"

/* Gets the paths of the warp after a step. Under a model with state that the warps of a CTA share, the step may also
 * change the paths of the other warps. */
static void refresh_after_step(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sm_cta *c = &sm->ctas.slot[sw->cta];
    uint32_t v;
    for (struct warp_set m = c->warps; c->shared && c->shared->due && warp_set_take(&m, &v);)
        sm_tell_all(sm, &sm->warps.slot[v]); /* a path may lose its turn in the middle of a basic block */
    do {
        bool met = c->shared && control_meet(&sw->control, c->shared);
        for (struct warp_set m = c->warps; met && warp_set_take(&m, &v);) {
            struct sm_warp *other = &sm->warps.slot[v];
            if (v == w || !reconv_moved(c->shared, other->w->index) || other->finished)
                continue;
            sm_refresh(sm, v, now);
        }
        if (sw->w && !sw->finished)
            sm_refresh(sm, w, now);
    } while (c->shared && c->shared->due); /* the new paths may have passed a barrier that released them */
}

bool sm_gather(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sm_path *path = &sw->path[p];
    unsigned flags = sm->model.ops->gather(sw->control.model, path->id, path->pc);
    if (!(flags & RECONV_CHANGED))
        return true;
    sm_tell_others(sm, sw, p);
    sm_heed(sm, sw, flags);
    sm_refresh(sm, w, now);
    return false;
}

void sm_advance(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    if (sm->model.wants.every_pc || (sm->program->inst[path->pc].flags & TIMED_ENDS)) {
        sm_tell_others(sm, sw, p);
        sm_heed(sm, sw, sm->model.ops->advance(sw->control.model, path->id, path->pc + 1));
        refresh_after_step(sm, w, now);
        return;
    }
    if (__builtin_expect(sm->modern != NULL, 0))
        modern_move(sm, w, path, modern_next_place(sm, w, path->pc, path->lanes), now);
    else
        path->buffered--;
    path->pc++;
    path->stale = true;
    warp_set_add(&sm->fetching.room, w);
    if (sw->n_paths > 1)
        /* the register that the instruction writes is pending now, which may stall other paths */
        sm_evaluate_all(sm, w, now);
    else
        sm_evaluate(sm, w, p, now);
}

/* Handles a barrier at which all lanes of the warp have arrived, so that the warp's only path waits at the barrier.
 * Returns false in other cases. */
static inline bool whole_warp_waits(struct sm *sm, uint32_t w, const struct inst *in) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (!sm->fast.stack || in->kind != K_BARRIER || sw->n_paths != 1 || !control_all_wait(&sw->control, sw->w))
        return false;
    warps_move_only(&sm->warps, w, &sw->path[0], PATH_BARRIER, false);
    return true;
}

/* Releases a complete barrier: its lanes continue. */
static void release_barrier(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now) {
    struct sm_cta *c = &sm->ctas.slot[cta];
    const struct cta_barrier *b = &c->cta->barriers[barrier];
    struct warp_set freed = {.word = {0}};
    uint32_t w;
    if (sm_hooked(sm, HOOK_BARRIER) && cta < SM_CTA_SLOTS)
        sm_units_barrier(sm, cta, barrier, now);
    for (struct warp_set m = c->warps; warp_set_take(&m, &w);)
        if (control_open(&sm->warps.slot[w].control, sm->warps.slot[w].w, b))
            warp_set_add(&freed, w);
    cta_barrier_reset(c->cta, barrier);
    /* the model needs the PCs of the warp's other paths, which may be in the middle of a basic block */
    for (struct warp_set m = freed; warp_set_take(&m, &w);)
        sm_tell_all(sm, &sm->warps.slot[w]);
    while (warp_set_take(&freed, &w))
        if (!sm->fast.stack || !sm_step_over(sm, w))
            sm_refresh(sm, w, now);
}

static inline void release_barriers(struct sm *sm, uint32_t cta, uint32_t opened, uint64_t now) {
    for (; opened; opened &= opened - 1)
        release_barrier(sm, cta, (uint32_t)__builtin_ctz(opened), now);
}

void sm_barrier_opens(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now) {
    struct warp_set all = sm->ctas.slot[cta].warps;
    uint32_t w;
    release_barrier(sm, cta, barrier, now);
    while (warp_set_take(&all, &w))
        if (!sm->warps.slot[w].finished) {
            refresh_after_step(sm, w, now);
            break;
        }
}

/* Handles the results of a function that has changed sw->control. `opened` is what the function returned: the
 * barriers to release. `live`: number of live threads of the CTA before the call. */
static void follow_control(struct sm *sm, uint32_t w, uint32_t live, uint32_t opened, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    sm_heed_control(sm, sw);
    if (sm_hooked(sm, HOOK_EXITED) && sw->w->cta->live_threads != live)
        sm_units_exited(sm, w, now);
    if (sw->n_await)
        sm_members_served(sm, w, now);
    release_barriers(sm, sw->cta, opened, now);
    refresh_after_step(sm, w, now);
}

void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct path path = {.pc = sw->path[p].pc, .lanes = sw->path[p].lanes, .id = sw->path[p].id};
    uint32_t live = sw->w->cta->live_threads;
    sm_tell_others(sm, sw, p);
    uint32_t opened = control_step(&sw->control, sw->w, in, &path, &sm->fx);
    if (whole_warp_waits(sm, w, in))
        release_barriers(sm, sw->cta, opened, now);
    else
        follow_control(sm, w, live, opened, now);
}

void sm_await_members(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sm_path *here = &sw->path[p];
    const struct path path = {.pc = here->pc, .lanes = here->lanes, .id = here->id, .board = here->board};
    const struct inst *in = &sm->program->program->code[path.pc];
    sm_tell_all(sm, sw);
    /* if the guard is false for some lanes, the path is split first, and no lane arrives yet */
    if (guard_lanes(sw->w, in, path.lanes) == path.lanes)
        sm_members_arrive(sm, w, here, path.lanes & ~sw->w->sync.waiting);
    uint32_t live = sw->w->cta->live_threads;
    uint32_t opened = control_await(&sw->control, sw->w, in, &path, &sm->fx);
    follow_control(sm, w, live, opened, now);
}
