/* Models that switch between paths when one has to wait: subwarp interleaving (Damani et al., HPCA 2022, section III)
 * and the constrained scheduler of DPE. What a model does when it is told of a wait is its business; when it is told,
 * and what a switch costs, is decided here. */
#include "sm_parts.h"

void sm_switched(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint32_t latency = sw->gave_way ? sm->wants.stall_latency : sm->wants.switch_latency;
    sw->gave_way = false;
    sw->long_ops = 0;
    sm->n.path_switches++;
    if (!sw->n_paths || !latency)
        return;
    sw->path[0].switched = now + latency;
    wheel_add(&sm->wheel, now + latency, event_make(EVENT_SWITCHED, w));
    sm_evaluate_all(sm, w, now);
}

/* Sets the stalled path of warp `w` aside if another is ready to take its place. */
static bool interleave(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    if (sw->n_paths != 1 || sw->path[0].state != PATH_LOAD)
        return false;
    struct sm_path p = sw->path[0];
    sm_tell_all(sm, sw);
    sm->ops->stall(sw->control.model, p.id, STALL_LOAD_USE);
    if (sm->ops->select(sw->control.model)) {
        sw->control.held[sw->control.n_held++] =
            (struct path_wait){.pc = p.pc, .lanes = p.lanes, .id = p.id, .board = p.board, .why = WAIT_LOAD};
        sw->gave_way = true;
        sm_refresh(sm, w, now);
        sw->gave_way = false;
        return true;
    }
    sm->ops->wake(sw->control.model, p.id); /* nobody was ready: it stays */
    sw->selected = true;
    return false;
}

static bool triggered(uint32_t trigger, uint32_t stalled, uint32_t live) {
    return trigger == TRIGGER_ANY ? stalled > 0 : trigger == TRIGGER_HALF ? stalled * 2 >= live : stalled == live;
}

bool sm_select(struct sm *sm, uint64_t now) {
    bool any = false;
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++) {
        uint64_t live = sm->live & sm->sched[s].mine, stalled = sm->mask[PATH_LOAD] & live;
        if (!stalled || !triggered(sm->wants.trigger, (uint32_t)__builtin_popcountll(stalled),
                                   (uint32_t)__builtin_popcountll(live)))
            continue;
        for (; stalled; stalled &= stalled - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(stalled);
            if (!sm->warp[w].selected && interleave(sm, w, now)) {
                any = true;
                break; /* the lowest-numbered warp that can, one a cycle */
            }
        }
    }
    return any;
}

void sm_wake_held(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    bool woken = false, had_path = sw->n_paths > 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sw->control.n_held; i++) {
        const struct path_wait h = sw->control.held[i];
        bool waits = h.why != WAIT_LOAD ||
                     sm->sb->check(sw->board, h.board, h.lanes, &sm->program->inst[h.pc].regs) == SB_WAIT_LOAD;
        if (waits) {
            sw->control.held[kept++] = h;
            continue;
        }
        sm->ops->wake(sw->control.model, h.id);
        woken = true;
    }
    sw->control.n_held = kept;
    if (!woken)
        return;
    sw->selected = false; /* there is someone to switch to now */
    if (had_path)
        return;
    sm_refresh(sm, w, now);
    sw->gave_way = true; /* all of its subwarps had */
    sm_switched(sm, w, now);
}

/* Shows the other path of the warp, if there is one. */
static void rotate(struct sm *sm, uint32_t w, uint16_t id, uint64_t now) {
    sm_tell_all(sm, &sm->warp[w]);
    if (!(sm->ops->stall(sm->warp[w].control.model, id, STALL_LOAD_USE) & RECONV_CHANGED))
        return;
    sm->n.path_turns++;
    sm_refresh(sm, w, now);
}

/* The path that may be scheduled "encounters a cache miss" (section 3.3). One whose turn is over already has no other
 * to make room for. */
void sm_missed(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->inflight[inflight];
    const struct sm_warp *sw = &sm->warp[f->warp];
    if (sw->n_paths && sw->path[0].lanes & f->lanes)
        rotate(sm, f->warp, sw->path[0].id, now);
}

/* Loads from memory are heard of when they miss (sm_missed); those from shared memory are slow whatever happens. */
static bool rotates_after(const struct sm *sm, const struct timed_inst *ti) {
    bool shared = sm->fx.space == SPACE_SHARED || sm->fx.shared_lanes;
    return ti->flags & TIMED_SLOW || (ti->flags & TIMED_MEMORY && ti->regs.n_write && shared);
}

/* subwarp-yield (section III-B): by the hint in the code, or by counting "long-latency operations (such as texture
 * lookups or global memory loads) or operations to core-level shared functional units, such as those executing
 * transcendental operations". */
static bool yields_after(struct sm *sm, struct sm_warp *sw, const struct timed_inst *ti) {
    return ti->flags & TIMED_YIELD || ++sw->long_ops >= sm->wants.yield_after;
}

void sm_long_latency(struct sm *sm, uint32_t w, uint16_t id, const struct timed_inst *ti, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint32_t p = 0;
    while (p < sw->n_paths && sw->path[p].id != id)
        p++;
    if (p == sw->n_paths || !sw->w)
        return;
    if (sm->wants.rotates) {
        if (rotates_after(sm, ti))
            rotate(sm, w, id, now);
        return;
    }
    if (!yields_after(sm, sw, ti))
        return;
    sw->long_ops = 0;
    sm_tell_all(sm, sw);
    sw->gave_way = true;
    sm->ops->yield(sw->control.model, id);
    sm_refresh(sm, w, now);
    sw->gave_way = false;
}

/* The load that the path waits for: the oldest one of it that would write a register it needs. NULL when there is none
 * that came from all lanes of the path. */
static struct inflight *awaited_load(struct sm *sm, const struct sm_warp *sw, uint32_t w, const struct sm_path *path) {
    int reg = sm->sb->waits_for(sw->board, path->board, path->lanes, &sm->program->inst[path->pc].regs);
    for (uint32_t i = 0; i < MAX_INFLIGHT && reg >= 0; i++) {
        struct inflight *f = &sm->inflight[i];
        const struct timed_inst *ti = &sm->program->inst[f->pc];
        if (!f->used || f->warp != w || f->lanes != path->lanes || !(ti->flags & TIMED_LOAD))
            continue;
        for (uint32_t k = 0; k < ti->regs.n_write; k++)
            if (ti->regs.write[k] == reg)
                return f;
    }
    return NULL;
}

/* Splits the path by hit and miss of the load it waits for, if the model wants to: lanes that hit go on, and the
 * register is pending for the others alone. Returns the cycle at which more will be known, UINT64_MAX: all is. */
static uint64_t split_path(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path was = *path;
    struct inflight *f = awaited_load(sm, sw, w, path);
    lanemask_t slow;
    if (!f)
        return UINT64_MAX;
    uint64_t known = f->issued + sm->cfg->l1.latency + 2 * WARP_LANES; /* the tags of all its lines have been read */
    if (now < known)
        return known;
    if (!lsu_waits_on_miss(sm->lsu, (uint32_t)(f - sm->inflight), &slow) || !(slow & was.lanes) || !(was.lanes & ~slow))
        return UINT64_MAX;
    const struct sb_regs *r = &sm->program->inst[f->pc].regs;
    slow &= was.lanes;
    sm_tell_all(sm, sw);
    struct path slow_path;
    unsigned flags = sm->ops->split(sw->control.model, was.id, slow, was.pc, &slow_path);
    if (!(flags & RECONV_CHANGED))
        return UINT64_MAX;
    sm->sb->writeback(sw->board, f->board, f->lanes, r);
    sm_heed(sm, sw, flags);
    f->board = slow_path.board;
    f->lanes = slow;
    sm->sb->issue(sw->board, f->board, slow, r, true);
    sm->n.splits++;
    sm_refresh(sm, w, now);
    return now + 1; /* others of the warp may follow */
}

/* Whether all warps wait for memory, for a barrier or for lanes of theirs. */
static bool stands_still(const struct sm *sm) {
    uint64_t works = sm->mask[PATH_ARITH] | sm->mask[PATH_FETCH] | sm->mask[PATH_FETCHING] | sm->mask[PATH_SWITCH];
    for (int k = 0; k < N_PIPES; k++)
        works |= sm->mask[PATH_READY + k];
    return !works;
}

uint64_t sm_split(struct sm *sm, uint64_t now) {
    uint64_t next = UINT64_MAX;
    if (sm->wants.revives && !stands_still(sm))
        return next;
    for (uint64_t m = sm->mask[PATH_LOAD]; m; m &= m - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(m);
        const struct sm_warp *sw = &sm->warp[w];
        for (uint32_t p = 0; p < sw->n_paths; p++) {
            if (sw->path[p].state != PATH_LOAD)
                continue;
            uint64_t c = split_path(sm, w, &sw->path[p], now);
            next = c < next ? c : next;
            if (c == now + 1) { /* the paths are others now */
                if (sm->wants.revives)
                    return c; /* one has work again */
                break;
            }
        }
    }
    return next;
}
