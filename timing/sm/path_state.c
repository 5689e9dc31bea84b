/* The state of a path: what it may do next, or what it waits for. */
#include "modern_place.h"
#include "modern_ready.h"

/* Returns the state of a path that waits for nothing: ready for the pipe of its instruction, unless a unit of the SM
 * makes it wait. */
static __attribute__((noinline)) uint8_t units_state(struct sm *sm, const struct sm_warp *sw,
                                                     const struct sm_path *path, const struct timed_inst *ti,
                                                     uint64_t now) {
    uint32_t w = (uint32_t)(sw - sm->warps.slot), p = (uint32_t)(path - sw->path);
    uint8_t unit = PATH_READY;
    if (sm_hooked(sm, HOOK_MAY_ISSUE))
        unit = sm_units_may_issue(sm, w, p, now);
    const struct sm_form *form = NULL;
    if (sm_hooked(sm, HOOK_FORM) && unit == PATH_READY)
        form = sm_units_form(sm, w, p);
    return unit != PATH_READY ? unit : (uint8_t)(PATH_READY + (form ? form->ti.pipe : ti->pipe));
}

/* Returns true if the path must wait before its next instruction, which has the flag TIMED_FENCE. It waits for
 * accesses of the warp, for copies of its lanes, or for products of the tensor unit. */
static __attribute__((noinline)) bool is_held(const struct sm *sm, const struct sm_warp *sw, const struct sm_path *path,
                                              const struct timed_inst *ti) {
    if (ti->flags & TIMED_TENSOR)
        return sm_tensor_hold(sm, (uint32_t)(sw - sm->warps.slot), path);
    return ti->flags & TIMED_COPY ? sm_copies_hold(sm, (uint32_t)(sw - sm->warps.slot), path) : sw->accesses != 0;
}

enum sb_verdict sm_check_operands(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                                  uint64_t now) {
    if (__builtin_expect(sm->modern != NULL, 0))
        return modern_check(sm, w, pc, board, lanes, now);
    return sm->model.sb->check(sm->warps.slot[w].board, board, lanes, &sm->program->inst[pc].regs);
}

static inline enum sb_verdict check_operands(const struct sm *sm, const struct sm_warp *sw, const struct sm_path *path,
                                             lanemask_t lanes, uint64_t now) {
    const uint32_t w = (uint32_t)(sw - sm->warps.slot);
    if (__builtin_expect(sm->modern != NULL, 0))
        return sm->modern->guided ? modern_check_guided(sm, w, path->pc, lanes, now)
                                  : modern_check(sm, w, path->pc, path->board, lanes, now);
    return sm->model.sb->check(sw->board, path->board, lanes, &sm->program->inst[path->pc].regs);
}

static inline uint8_t next_state(struct sm *sm, struct sm_warp *sw, struct sm_path *path, uint64_t now) {
    if (__builtin_expect(sw->asleep, 0))
        return sw->context ? PATH_ASLEEP : PATH_TURN;
    if (!(path->lanes & ~sw->control.waiting) && path->lanes)
        return PATH_BARRIER;
    if (path->lanes & sw->ordered)
        return PATH_ORDER;
    if (path->switched > now)
        return path->sleeps ? PATH_SLEEP : PATH_SWITCH;
    if (!path->buffered)
        return path->state == PATH_FETCHING || path->coming ? PATH_FETCHING : PATH_FETCH;
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    if (((ti->flags & TIMED_FENCE) && is_held(sm, sw, path, ti)) || sw->atomics)
        return PATH_FENCE;
    lanemask_t lanes = path->lanes;
    if (ti->flags & TIMED_MEMBERS) /* the operands of waiting lanes were checked when the lanes arrived */
        lanes &= ~sw->w->sync.waiting;
    switch (check_operands(sm, sw, path, lanes, now)) {
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

/* Does the same as evaluate() for the only path of a warp (sm_fast_path.guided). Returns false if it did nothing,
 * because the path may wait for something else than operands. */
static inline __attribute__((always_inline)) bool evaluate_guided(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = sw->path;
    if ((sw->n_paths != 1) | !path->buffered | path->refused | sw->asleep | (sw->atomics != 0))
        return false;
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    if ((path->lanes & (sw->control.waiting | sw->ordered)) | (path->switched > now) |
        (ti->flags & (TIMED_FENCE | TIMED_MEMBERS)))
        return false;
    warps_move_only(&sm->warps, w, path, modern_guided_state(sm, w, ti, path->lanes, now), false);
    return true;
}

static inline void evaluate(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    uint8_t state = next_state(sm, sw, path, now);
    if (__builtin_expect(path->refused, 0) && state != PATH_FETCH) {
        path->refused = false;
        warp_set_add(&sm->fetching.room, w);
    }
    warps_move(&sm->warps, w, path, state);
}

static __attribute__((noinline)) void evaluate_any(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    evaluate(sm, w, p, now);
}

void sm_evaluate(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    if (!sm->fast.guided || !evaluate_guided(sm, w, now))
        evaluate_any(sm, w, p, now); /* a tail call: this function needs no stack frame */
}

void sm_pass(struct sm *sm, uint32_t w, const struct timed_inst *ti, uint64_t now) {
    struct sm_path *path = sm->warps.slot[w].path;
    modern_move(sm, w, path, ti[1].place, now);
    path->pc++;
    path->stale = true;
    warp_set_add(&sm->fetching.room, w);
    if (!evaluate_guided(sm, w, now))
        evaluate_any(sm, w, 0, now);
}

void sm_evaluate_all(struct sm *sm, uint32_t w, uint64_t now) {
    for (uint32_t p = 0; p < sm->warps.slot[w].n_paths; p++)
        evaluate(sm, w, p, now);
}

void sm_reconsider(struct sm *sm, uint32_t w, uint64_t now) {
    if (!sm->warps.slot[w].w || sm->warps.slot[w].finished)
        return;
    if (!sm->fast.guided || !evaluate_guided(sm, w, now))
        sm_evaluate_all(sm, w, now);
}

void sm_doze(struct sm *sm, uint32_t w, uint64_t now) {
    sm_set_live(sm, w, !sm->warps.slot[w].asleep);
    warps_states_changed(&sm->warps, w);
    sm_evaluate_all(sm, w, now);
}
