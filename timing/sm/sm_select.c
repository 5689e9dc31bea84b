/* Models that switch between paths when one has to wait: subwarp interleaving (Damani et al., HPCA 2022, section III)
 * and the constrained scheduler of DPE. What a model does when it is told of a wait is its business; when it is told,
 * and what a switch costs, is decided here. */
#include "sm_parts.h"
#include <string.h>

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
        struct warp_set live = warp_sets_and(&sm->live, &sm->sched[s].mine);
        struct warp_set loads = sm_state_set(sm, PATH_LOAD), stalled = warp_sets_and(&loads, &live);
        uint32_t n = warp_set_count(&stalled, sm->words), w;
        if (!n || !triggered(sm->wants.trigger, n, warp_set_count(&live, sm->words)))
            continue;
        while (warp_set_take(&stalled, &w)) {
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
    if (sm->program->inst[f->pc].kind == K_COPY) /* it goes on */
        return;
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

void sm_split_look(struct sm *sm, uint32_t w) {
    struct sm_warp *sw = &sm->warp[w];
    if (sw->looks)
        return;
    sw->looks = true;
    sm->split_look[sm->n_split_look++] = (uint8_t)w;
}

void sm_load_issued(struct sm *sm, uint32_t inflight) {
    struct inflight *f = &sm->inflight[inflight];
    struct sm_warp *sw = &sm->warp[f->warp];
    if (!(sm->program->inst[f->pc].flags & TIMED_LOAD))
        return;
    f->next = sw->loads;
    sw->loads = inflight;
}

void sm_load_known(struct sm *sm, uint32_t inflight) {
    struct inflight *f = &sm->inflight[inflight];
    f->known = true;
    sm_split_look(sm, f->warp);
}

void sm_load_ended(struct sm *sm, uint32_t inflight) {
    const struct inflight *f = &sm->inflight[inflight];
    uint32_t *at = &sm->warp[f->warp].loads;
    if (!(sm->program->inst[f->pc].flags & TIMED_LOAD))
        return;
    while (*at != NO_INFLIGHT && *at != inflight)
        at = &sm->inflight[*at].next;
    if (*at == inflight)
        *at = f->next;
    sm_split_look(sm, f->warp); /* a path may wait for another load now */
}

static bool writes(const struct timed_inst *ti, int reg) {
    for (uint32_t k = 0; k < ti->regs.n_write; k++)
        if (ti->regs.write[k] == reg)
            return true;
    return false;
}

/* The load that the path waits for: the oldest one of it that would write a register it needs. NULL when there is none
 * that came from all lanes of the path. */
static struct inflight *awaited_load(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path) {
    int reg = sm->sb->waits_for(sw->board, path->board, path->lanes, &sm->program->inst[path->pc].regs);
    struct inflight *oldest = NULL;
    for (uint32_t i = sw->loads; i != NO_INFLIGHT && reg >= 0; i = sm->inflight[i].next) {
        struct inflight *f = &sm->inflight[i];
        if (f->lanes == path->lanes && writes(&sm->program->inst[f->pc], reg))
            oldest = f;
    }
    return oldest;
}

/* The data of lanes that hit go into the registers, as those of any load. */
static void write_hits(struct sm *sm, uint32_t of, const struct path *fast, uint64_t now) {
    const struct inflight *f = &sm->inflight[of];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    uint32_t i = sm_inflight_new(sm, f->warp, f->pc, fast->lanes, fast->board);
    sm->inflight[i].issued = f->issued;
    sm->sb->issue(sm->warp[f->warp].board, fast->board, fast->lanes, &ti->regs, true);
    uint64_t written =
        regfile_write(&sm->part[f->part].regfile, &ti->banks, f->warp, now + sm->cfg->sm.latch_writeback, now);
    wheel_add(&sm->wheel, written > now ? written : now + 1, event_make(EVENT_WRITEBACK, i));
}

/* Splits the path by hit and miss of the load it waits for, if that is known and the model wants to: lanes that hit go
 * on when their data are in the register, which is pending for the others until theirs come. True when it did. */
static bool split_path(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path was = *path;
    struct inflight *f = awaited_load(sm, sw, path);
    lanemask_t slow;
    if (!f || !f->known || !lsu_waits_on_miss(sm->lsu, (uint32_t)(f - sm->inflight), &slow) || !(slow & was.lanes) ||
        !(was.lanes & ~slow))
        return false;
    if (!sm_inflight_free(sm)) {
        sm_split_look(sm, w);
        return false;
    }
    const struct sb_regs *r = &sm->program->inst[f->pc].regs;
    slow &= was.lanes;
    sm_tell_all(sm, sw);
    struct path slow_path;
    unsigned flags = sm->ops->split(sw->control.model, was.id, slow, was.pc, &slow_path);
    if (!(flags & RECONV_CHANGED))
        return false;
    const struct path fast = {.lanes = f->lanes & ~slow, .board = f->board};
    sm->sb->writeback(sw->board, f->board, f->lanes, r);
    sm_heed(sm, sw, flags);
    write_hits(sm, (uint32_t)(f - sm->inflight), &fast, now);
    f->board = slow_path.board;
    f->lanes = slow;
    sm->sb->issue(sw->board, f->board, slow, r, true);
    sm->n.splits++;
    sm_split_look(sm, w); /* others of the warp may follow */
    sm_refresh(sm, w, now);
    return true;
}

/* Whether all warps wait for memory, for a barrier or for lanes of theirs. */
static bool stands_still(const struct sm *sm) {
    static const uint8_t works[] = {PATH_ARITH, PATH_FETCH, PATH_FETCHING, PATH_SWITCH};
    uint64_t any = 0;
    for (uint32_t k = 0; k < sm->words; k++) {
        for (size_t i = 0; i < sizeof works; i++)
            any |= sm->in_state[k][works[i]];
        for (int p = 0; p < N_PIPES; p++)
            any |= sm->in_state[k][PATH_READY + p];
    }
    return !any;
}

/* Who is added meanwhile has his turn in the next cycle. A model that revives looks only while the SM stands still, and
 * no further than to the first warp that has work again; the others keep their place. */
bool sm_split(struct sm *sm, uint64_t now) {
    bool revived = false;
    uint32_t n = sm->n_split_look, i = 0;
    if (sm->wants.revives && !stands_still(sm))
        return false;
    for (; i < n && !revived; i++) {
        uint32_t w = sm->split_look[i];
        const struct sm_warp *sw = &sm->warp[w];
        sm->warp[w].looks = false;
        for (uint32_t p = 0; p < sw->n_paths; p++)
            if (sw->path[p].state == PATH_LOAD && split_path(sm, w, &sw->path[p], now)) {
                revived = sm->wants.revives;
                break; /* the paths are others now */
            }
    }
    sm->n_split_look -= i;
    memmove(sm->split_look, sm->split_look + i, sm->n_split_look);
    return sm->n_split_look && !revived;
}
