/* Paths of a warp: what the model says there are, what each may do next, and when a stalled one makes room. */
#include "sm_plain.h"
#include <assert.h>
#include <string.h>

/* Bits of the warp in sm->mask: the states its paths are in. */
static __attribute__((noinline)) void warp_bits(struct sm *sm, uint32_t w, uint32_t states) {
    uint64_t *in_state = sm->in_state[w / 64];
    for (int s = 0; s < N_PATH_STATES; s++)
        in_state[s] = (in_state[s] & ~(1ull << w % 64)) | (uint64_t)(states >> s & 1) << w % 64;
}

static uint32_t states_of(const struct sm_warp *sw) {
    uint32_t states = 0;
    for (uint32_t p = 0; p < sw->n_paths; p++)
        states |= 1u << sw->path[p].state;
    if (sw->n_paths || sw->finished || sw->asleep)
        return states;
    for (uint32_t i = 0; i < sw->control.n_held;
         i++) /* nothing to schedule: what do those that were set aside wait for? */
        if (sw->control.held[i].why == WAIT_LOAD)
            return 1u << PATH_LOAD;
    return 1u << (sw->control.n_held ? PATH_BARRIER : PATH_BLOCKED);
}

void sm_states_changed(struct sm *sm, uint32_t w) { warp_bits(sm, w, states_of(&sm->warp[w])); }

/* The state of a path that could issue, if units agree. */
static __attribute__((noinline)) uint8_t units_state(struct sm *sm, const struct sm_warp *sw,
                                                     const struct sm_path *path, const struct timed_inst *ti,
                                                     uint64_t now) {
    uint32_t w = (uint32_t)(sw - sm->warp), p = (uint32_t)(path - sw->path);
    uint8_t unit = PATH_READY;
    if (sm_hooked(sm, HOOK_MAY_ISSUE))
        unit = sm_units_may_issue(sm, w, p, now);
    const struct sm_form *form = NULL;
    if (sm_hooked(sm, HOOK_FORM) && unit == PATH_READY)
        form = sm_units_form(sm, w, p);
    return unit != PATH_READY ? unit : (uint8_t)(PATH_READY + (form ? form->ti.pipe : ti->pipe));
}

/* What the path waits for before an instruction of TIMED_FENCE: all accesses of its warp, or copies of its lanes. */
static __attribute__((noinline)) bool is_held(const struct sm *sm, const struct sm_warp *sw, const struct sm_path *path,
                                              const struct timed_inst *ti) {
    return ti->flags & TIMED_COPY ? sm_copies_hold(sm, (uint32_t)(sw - sm->warp), path) : sw->accesses != 0;
}

static uint8_t next_state(struct sm *sm, struct sm_warp *sw, struct sm_path *path, uint64_t now) {
    if (__builtin_expect(sw->asleep, 0))
        return sw->context ? PATH_ASLEEP : PATH_TURN;
    if (!(path->lanes & ~sw->control.waiting))
        return PATH_BARRIER;
    if (path->lanes & sw->ordered)
        return PATH_ORDER;
    if (path->switched > now)
        return PATH_SWITCH;
    if (!path->buffered)
        return path->state == PATH_FETCHING ? PATH_FETCHING : PATH_FETCH;
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    if (((ti->flags & TIMED_FENCE) && is_held(sm, sw, path, ti)) || sw->atomics)
        return PATH_FENCE;
    lanemask_t lanes = path->lanes;
    if (ti->flags & TIMED_MEMBERS) /* a part that waits here already has its operands */
        lanes &= ~sw->w->sync.waiting;
    switch (sm->sb->check(sw->board, path->board, lanes, &ti->regs)) {
    case SB_WAIT_LOAD:
        return PATH_LOAD;
    case SB_WAIT_ARITH:
        return PATH_ARITH;
    default:
        break;
    }
    if (__builtin_expect(!sm_hooked(sm, HOOK_MAY_ISSUE) && !sm_hooked(sm, HOOK_FORM), 1))
        return (uint8_t)(PATH_READY + ti->pipe);
    return units_state(sm, sw, path, ti, now);
}

void sm_evaluate(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    uint8_t state = next_state(sm, sw, path, now);
    path->refused = path->refused && state == PATH_FETCH;
    sm_move(sm, w, path, state);
}

void sm_evaluate_all(struct sm *sm, uint32_t w, uint64_t now) {
    for (uint32_t p = 0; p < sm->warp[w].n_paths; p++)
        sm_evaluate(sm, w, p, now);
}

void sm_reconsider(struct sm *sm, uint32_t w, uint64_t now) {
    if (sm->warp[w].w && !sm->warp[w].finished)
        sm_evaluate_all(sm, w, now);
}

void sm_doze(struct sm *sm, uint32_t w, uint64_t now) {
    warp_set_put(&sm->live, w, !sm->warp[w].asleep);
    warp_bits(sm, w, states_of(&sm->warp[w]));
    sm_evaluate_all(sm, w, now);
}

/* The buffer of an old path that has what the new one needs next. */
static struct sm_path *inherit(struct sm_path *old, uint32_t n, const struct path *new) {
    struct sm_path *found = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct sm_path *o = &old[i];
        bool has = o->buffered ? new->pc - o->pc < o->buffered : o->state == PATH_FETCHING &&new->pc == o->pc;
        if (has && (!found || o->id == new->id))
            found = o;
    }
    return found;
}

static void adopt(struct sm_path *to, struct sm_path *from, const struct path *new) {
    *to = (struct sm_path){.pc = new->pc, .lanes = new->lanes, .id = new->id, .board = new->board};
    to->state = PATH_FETCH;
    if (!from)
        return;
    to->switched = from->switched;
    to->ticket = from->ticket;
    if (!from->buffered) {
        to->state = PATH_FETCHING;
        to->stray = from->stray;
        to->wrong = from->wrong;
    } else {
        to->buffered = (uint8_t)(from->buffered - (new->pc - from->pc));
    }
    from->buffered = 0; /* a buffer has one heir */
    from->state = PATH_FETCH;
}

static void finished(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    sw->finished = true;
    warp_set_drop(&sm->live, w);
    warp_set_drop(&sm->divergent, w);
    sm_warp_check_done(sm, w, now);
}

void sm_refresh(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    if (sm->jumps && sm_follow(sm, w))
        return;
    struct path p[MAX_PATHS];
    int n = control_paths(&sw->control, sw->w, p);
    sm_heed_control(sm, sw);
    if (n == 1 && sw->n_paths == 1) { /* the usual case, without copies */
        struct sm_path old = sw->path[0];
        uint8_t state = old.state;
        struct sm_path *heir = inherit(&old, 1, p);
        const uint32_t had = heir ? 0 : old.buffered;
        adopt(&sw->path[0], heir, p);
        if (sm->cfg->sm.fetch_astray && had)
            sw->path[0].state = sm_stray(sm, w, &sw->path[0], old.pc, had, now);
        sm_state_drop(sm, state, w);
        sm_state_add(sm, sw->path[0].state, w);
        if (sm->wants.switches && !(old.lanes & p[0].lanes))
            sm_switched(sm, w, now);
    } else {
        struct sm_path old[MAX_PATHS];
        memcpy(old, sw->path, sw->n_paths * sizeof *old);
        for (int i = 0; i < n; i++)
            adopt(&sw->path[i], inherit(old, sw->n_paths, &p[i]), &p[i]);
        sw->n_paths = (uint8_t)n;
        bool ended = n == 0 && sm->ops->finished(sw->control.model);
        sw->finished = ended;
        warp_bits(sm, w, states_of(sw));
        if (ended) {
            finished(sm, w, now);
            return;
        }
    }
    sw->selected = false;
    sw->n_concurrent = (uint8_t)control_concurrent(&sw->control, n);
    warp_set_put(&sm->divergent, w,
                 n ? p[0].lanes != sw->w->live
                   : sw->control.n_held > 1 || (sw->control.n_held && sw->control.held[0].lanes != sw->w->live));
    if (__builtin_expect(sm->wants.stack_entries != 0, 0))
        sm_stack_moved(sm, w, now);
    sm_evaluate_all(sm, w, now);
}
