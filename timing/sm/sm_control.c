/* Control: the reconvergence model is told where lanes go, and the warp's paths follow. */
#include "isa/paths/reconv_spe.h"
#include "sm_plain.h"

void sm_heed(struct sm *sm, struct sm_warp *sw, unsigned flags) {
    if (sm->sb->shadow && flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1))
        sm->sb->shadow(sw->board, flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1));
}

void sm_heed_control(struct sm *sm, struct sm_warp *sw) {
    struct warp_control *c = &sw->control;
    if (c->events)
        sm_heed(sm, sw, c->events);
    if (c->depth > sm->n.max_depth)
        sm->n.max_depth = c->depth;
    c->events = c->depth = 0;
}

/* In the middle of a block the model is not told of every step; before it is asked for paths it must know where the
 * others are. */
static void tell_others(struct sm *sm, struct sm_warp *sw, uint32_t p) {
    for (uint32_t i = 0; i < sw->n_paths; i++) {
        struct sm_path *path = &sw->path[i];
        if (i != p && path->stale)
            sm_heed(sm, sw, sm->ops->advance(sw->control.model, path->id, path->pc));
        path->stale = false;
    }
}

void sm_tell_all(struct sm *sm, struct sm_warp *sw) { tell_others(sm, sw, sw->n_paths); }

bool sm_gather(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path *path = &sw->path[p];
    unsigned flags = sm->ops->gather(sw->control.model, path->id, path->pc);
    if (!(flags & RECONV_CHANGED))
        return true;
    tell_others(sm, sw, p);
    sm_heed(sm, sw, flags);
    sm_refresh(sm, w, now);
    return false;
}

void sm_advance(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    if (sm->wants.every_pc || (sm->program->inst[path->pc].flags & TIMED_ENDS)) {
        tell_others(sm, sw, p);
        sm_heed(sm, sw, sm->ops->advance(sw->control.model, path->id, path->pc + 1));
        sm_refresh(sm, w, now);
        return;
    }
    path->pc++;
    path->buffered--;
    path->stale = true;
    if (sw->n_paths > 1)
        sm_evaluate_all(sm, w, now); /* its write may hold up the others */
    else
        sm_evaluate(sm, w, p, now);
}

bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[0];
    if (sw->n_paths != 1 || sw->control.waiting || sw->control.released || sw->ordered || sw->atomics)
        return false;
    struct spe_stack *s = sw->control.model;
    spe_advance(s, pc);
    const struct spe_entry *top = &s->e[s->n - 1];
    const struct timed_inst *ti = &sm->program->inst[top->pc];
    uint32_t steps = top->pc - path->pc, state = sm_plain_state(sw, ti);
    path->buffered = (uint8_t)choose32(steps < path->buffered, path->buffered - steps, 0);
    path->pc = top->pc;
    path->lanes = top->lanes;
    path->stale = false;
    warp_set_put(&sm->divergent, w, top->lanes != sw->w->live);
    if (__builtin_expect(path->buffered && ti->flags & (TIMED_RARE | TIMED_FENCE), 0))
        sm_evaluate(sm, w, 0, sm->accounted - 1);
    else
        sm_move_plain(sm, w, path, choose32(path->buffered, state, PATH_FETCH), false);
    return true;
}

void sm_controlled(struct sm *sm, uint32_t w, uint32_t live, uint32_t opened, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    sm_heed_control(sm, sw);
    if (sm_hooked(sm, HOOK_EXITED) && sw->w->cta->live_threads != live)
        sm_units_exited(sm, w, now);
    if (sw->n_await)
        sm_members_served(sm, w, now);
    for (; opened; opened &= opened - 1)
        sm_barrier_open(sm, sw->cta, (uint32_t)__builtin_ctz(opened), now);
    if (sw->w && !sw->finished)
        sm_refresh(sm, w, now);
}

void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct path path = {.pc = sw->path[p].pc, .lanes = sw->path[p].lanes, .id = sw->path[p].id};
    uint32_t live = sw->w->cta->live_threads;
    tell_others(sm, sw, p);
    uint32_t opened = control_step(&sw->control, sw->w, in, &path, &sm->fx);
    sm_controlled(sm, w, live, opened, now);
}
