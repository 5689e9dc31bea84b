/* Models that switch to another path when a path has to wait: subwarp interleaving (Damani et al., HPCA 2022,
 * section III) and the constrained scheduler of DPE. The model decides which path runs when a path waits. This file
 * decides when the model is notified, and what a switch costs. */
#include "stages.h"

/* Suspends the stalled path of warp `w` if another path is ready to replace it. */
static bool interleave(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    if (sw->n_paths != 1 || sw->path[0].state != PATH_LOAD)
        return false;
    struct sm_path p = sw->path[0];
    sm_tell_all(sm, sw);
    sm->model.ops->stall(sw->control.model, p.id, STALL_LOAD_USE);
    if (sm->model.ops->select(sw->control.model)) {
        sw->control.held[sw->control.n_held++] =
            (struct path_wait){.pc = p.pc, .lanes = p.lanes, .id = p.id, .board = p.board, .why = WAIT_LOAD};
        sw->gave_way = true;
        sm_refresh(sm, w, now);
        sw->gave_way = false;
        return true;
    }
    sm->model.ops->wake(sw->control.model, p.id); /* no other path was ready, so the stalled path stays active */
    sw->selected = true;
    return false;
}

static bool triggered(uint32_t trigger, uint32_t stalled, uint32_t live) {
    return trigger == TRIGGER_ANY ? stalled > 0 : trigger == TRIGGER_HALF ? stalled * 2 >= live : stalled == live;
}

bool sm_select(struct sm *sm, uint64_t now) {
    bool any = false;
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++) {
        const uint32_t words = sm->warps.words;
        struct warp_set live, stalled; /* only `words` words are set */
        for (uint32_t k = 0; k < words; k++) {
            live.word[k] = sm->warps.live.word[k] & sm->issue.sched[s].mine.word[k];
            stalled.word[k] = live.word[k] & sm->warps.in_state[k][PATH_LOAD];
        }
        uint32_t n = warp_set_count(&stalled, words), w;
        if (!n || !triggered(sm->model.wants.trigger, n, warp_set_count(&live, words)))
            continue;
        for (struct warp_walk at = warp_walk(&stalled); warp_next(&at, &stalled, words, &w);) {
            if (!sm->warps.slot[w].selected && interleave(sm, w, now)) {
                any = true;
                /* at most one warp per scheduler switches in a cycle: the lowest-numbered warp that can switch */
                break;
            }
        }
    }
    return any;
}

void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    bool woken = false, had_path = sw->n_paths > 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sw->control.n_held; i++) {
        const struct path_wait h = sw->control.held[i];
        bool waits = h.why != WAIT_LOAD || sm_check_operands(sm, w, h.pc, h.board, h.lanes, UINT64_MAX) == SB_WAIT_LOAD;
        if (waits) {
            sw->control.held[kept++] = h;
            continue;
        }
        sm->model.ops->wake(sw->control.model, h.id);
        woken = true;
    }
    sw->control.n_held = kept;
    if (!woken)
        return;
    /* interleave() may try this warp again, because the warp has a ready path to which it can switch */
    sw->selected = false;
    if (had_path)
        return;
    sm_refresh(sm, w, now);
    sw->gave_way = true; /* all subwarps of the warp were suspended, so the switch costs wants.stall_latency */
    sm_switched(sm, w, now);
}

/* Switches to the other path of the warp, if the warp has another path. */
static void rotate(struct sm *sm, uint32_t w, uint16_t id, uint64_t now) {
    sm_tell_all(sm, &sm->warps.slot[w]);
    if (!(sm->model.ops->stall(sm->warps.slot[w].control.model, id, STALL_LOAD_USE) & RECONV_CHANGED))
        return;
    sm->n.path_turns++;
    sm_refresh(sm, w, now);
}

/* Handles a path that "encounters a cache miss" (dual-path paper, section 3.3). If another path has already replaced
 * this path, nothing happens. */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct sm_warp *sw = &sm->warps.slot[f->warp];
    if (sm->program->inst[f->pc].kind == K_COPY) /* a path does not wait for the data of its cp.async */
        return;
    if (sw->n_paths && sw->path[0].lanes & f->lanes)
        rotate(sm, f->warp, sw->path[0].id, now);
}

/* Returns true if the model switches to the other path ("rotates") after this instruction. Loads from memory rotate
 * when they miss (sm_missed()); loads from shared memory always count as slow. */
static bool rotates_after(const struct sm *sm, const struct timed_inst *ti) {
    bool shared = sm->fx.space == SPACE_SHARED || sm->fx.shared_lanes;
    return ti->flags & TIMED_SLOW || (ti->flags & TIMED_MEMORY && ti->regs.n_write && shared);
}

/* Returns true if the path yields after this instruction: subwarp-yield (section III-B). A path yields if the
 * instruction has the yield hint, or when its warp has executed wants.yield_after "long-latency operations (such as
 * texture lookups or global memory loads) or operations to core-level shared functional units, such as those
 * executing transcendental operations". */
static bool yields_after(struct sm *sm, struct sm_warp *sw, const struct timed_inst *ti) {
    return ti->flags & TIMED_YIELD || ++sw->long_ops >= sm->model.wants.yield_after;
}

void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t p = 0;
    while (p < sw->n_paths && sw->path[p].id != id)
        p++;
    if (p == sw->n_paths || !sw->w)
        return;
    if (sm->model.wants.rotates) {
        if (rotates_after(sm, ti))
            rotate(sm, w, id, now);
        return;
    }
    if (!yields_after(sm, sw, ti))
        return;
    sw->long_ops = 0;
    sm_tell_all(sm, sw);
    sw->gave_way = true;
    sm->model.ops->yield(sw->control.model, id);
    sm_refresh(sm, w, now);
    sw->gave_way = false;
}
