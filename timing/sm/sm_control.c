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

/* Has it one path, the top of the stack whatever happened, with nothing to wait for but fetches and operands? */
static inline bool alone(const struct sm_warp *sw) {
    const struct warp_control *c = &sw->control;
    return sw->n_paths == 1 && sw->path[0].buffered && !(c->waiting | c->released | sw->ordered) && !sw->atomics;
}

uint8_t sm_stray(struct sm *sm, uint32_t w, struct sm_path *path, uint32_t at, uint32_t buffered, uint64_t now) {
    if (path->pc == at + 1 || !buffered)
        return PATH_FETCH;
    path->stray = buffered > 1 ? STRAY_FLUSH : STRAY_FETCH;
    path->wrong = at + 1;
    if (buffered == 1)
        return PATH_FETCH;
    path->ticket = ++sm->warp[w].ticket;
    wheel_add(&sm->wheel, now + 1, event_make(EVENT_FETCHED, sm_ticket(w, path->ticket)));
    return PATH_FETCHING;
}

/* The buffer has what the path needs next, or a fetch will bring it. */
static inline void follow(struct sm *sm, uint32_t w, const struct spe_stack *s) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[0];
    const struct spe_entry *top = &s->e[s->n - 1];
    const struct timed_inst *ti = &sm->program->inst[top->pc];
    uint32_t steps = top->pc - path->pc, state = sm_plain_state(sw, ti), fetch = PATH_FETCH;
    const uint32_t at = path->pc, had = path->buffered;
    path->buffered = (uint8_t)choose32(steps < path->buffered, path->buffered - steps, 0);
    path->pc = top->pc;
    path->lanes = top->lanes;
    path->stale = false;
    warp_set_put(&sm->divergent, w, top->lanes != sw->w->live);
    if (sm->cfg->sm.fetch_astray && !path->buffered)
        fetch = sm_stray(sm, w, path, at, had, sm->accounted - 1);
    if (__builtin_expect(path->buffered && ti->flags & (TIMED_RARE | TIMED_FENCE), 0))
        sm_evaluate(sm, w, 0, sm->accounted - 1);
    else
        sm_move_plain(sm, w, path, choose32(path->buffered, state, fetch), false);
}

bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc) {
    struct sm_warp *sw = &sm->warp[w];
    if (!alone(sw))
        return false;
    spe_advance(sw->control.model, pc);
    follow(sm, w, sw->control.model);
    return true;
}

bool sm_follow(struct sm *sm, uint32_t w) {
    const struct sm_warp *sw = &sm->warp[w];
    const struct spe_stack *s = sw->control.model;
    if (!alone(sw) || !s->n)
        return false;
    follow(sm, w, s);
    return true;
}

bool sm_step_over(struct sm *sm, uint32_t w) {
    struct sm_warp *sw = &sm->warp[w];
    if (sw->n_paths != 1 || sw->control.released != sw->path[0].lanes)
        return false;
    sw->control.released = 0;
    if (sm_go_on(sm, w, sw->path[0].pc + 1))
        return true;
    sw->control.released = sw->path[0].lanes;
    return false;
}

/* All lanes of the warp have come to a barrier: its only path stands there, and gives way to nobody. */
static inline bool stops(struct sm *sm, uint32_t w, const struct inst *in) {
    struct sm_warp *sw = &sm->warp[w];
    if (!sm->jumps || in->kind != K_BARRIER || sw->n_paths != 1 || !control_all_wait(&sw->control, sw->w))
        return false;
    sm_move_plain(sm, w, &sw->path[0], PATH_BARRIER, false);
    return true;
}

static inline void open_all(struct sm *sm, uint32_t cta, uint32_t opened, uint64_t now) {
    for (; opened; opened &= opened - 1)
        sm_barrier_open(sm, cta, (uint32_t)__builtin_ctz(opened), now);
}

void sm_controlled(struct sm *sm, uint32_t w, uint32_t live, uint32_t opened, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    sm_heed_control(sm, sw);
    if (sm_hooked(sm, HOOK_EXITED) && sw->w->cta->live_threads != live)
        sm_units_exited(sm, w, now);
    if (sw->n_await)
        sm_members_served(sm, w, now);
    open_all(sm, sw->cta, opened, now);
    if (sw->w && !sw->finished)
        sm_refresh(sm, w, now);
}

void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct path path = {.pc = sw->path[p].pc, .lanes = sw->path[p].lanes, .id = sw->path[p].id};
    uint32_t live = sw->w->cta->live_threads;
    tell_others(sm, sw, p);
    uint32_t opened = control_step(&sw->control, sw->w, in, &path, &sm->fx);
    if (stops(sm, w, in))
        open_all(sm, sw->cta, opened, now);
    else
        sm_controlled(sm, w, live, opened, now);
}
