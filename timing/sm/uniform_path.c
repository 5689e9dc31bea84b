/* Uniform control flow on the stack of spe (sm_fast_path.stack). At branches of all lanes, block ends and barriers,
 * these functions change the stack and move the warp's only path, without calling the model. */
#include "uniform_path.h"
#include "isa/paths/reconv_spe.h"

/* Returns true if the warp has a single path, the path's instruction is in the buffer, and no lane waits at a barrier,
 * for an edge, or after an atomic. */
static inline bool is_simple(const struct sm_warp *sw) {
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
    path->ticket = ++sm->warps.slot[w].ticket;
    wheel_add(&sm->wheel, now + 1, event_make(EVENT_FETCHED, sm_ticket(w, path->ticket)));
    return PATH_FETCHING;
}

/* Moves the path to the top of the stack. After the move, the path has the next instruction in its buffer, or
 * fetches it. */
static inline void follow(struct sm *sm, uint32_t w, const struct spe_stack *s) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[0];
    const struct path top = spe_top(s);
    const struct timed_inst *ti = &sm->program->inst[top.pc];
    uint32_t steps = top.pc - path->pc, state = sm_fast_state(sw, ti, false), fetch = PATH_FETCH;
    const uint32_t at = path->pc, had = path->buffered;
    path->buffered = (uint8_t)choose32(steps < path->buffered, path->buffered - steps, 0);
    path->pc = top.pc;
    path->lanes = top.lanes;
    path->stale = false;
    warp_set_put(&sm->warps.divergent, w, top.lanes != sw->w->live);
    if (sm->cfg->sm.fetch_wrong_path && !path->buffered)
        fetch = sm_stray(sm, w, path, at, had, sm->clock.accounted - 1);
    if (__builtin_expect(path->buffered && ti->flags & (TIMED_RARE | TIMED_FENCE), 0))
        sm_evaluate(sm, w, 0, sm->clock.accounted - 1);
    else
        warps_move_only(&sm->warps, w, path, choose32(path->buffered, state, fetch), false);
}

bool sm_go_on(struct sm *sm, uint32_t w, uint32_t pc) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (!is_simple(sw))
        return false;
    spe_advance(sw->control.model, pc);
    follow(sm, w, sw->control.model);
    return true;
}

bool sm_follow(struct sm *sm, uint32_t w) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    const struct spe_stack *s = sw->control.model;
    if (!is_simple(sw) || spe_is_empty(s))
        return false;
    follow(sm, w, s);
    return true;
}

bool sm_step_over(struct sm *sm, uint32_t w) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (sw->n_paths != 1 || sw->control.released != sw->path[0].lanes)
        return false;
    sw->control.released = 0;
    if (sm_go_on(sm, w, sw->path[0].pc + 1))
        return true;
    sw->control.released = sw->path[0].lanes;
    return false;
}
