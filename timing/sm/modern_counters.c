/* The modern core: sets stall counts, and raises and lowers dependence counters. */
#include "isa/control_uses.h"
#include "isa/expansions.h"
#include "modern_issues.h"
#include "modern_ready.h"

enum { RAISE_CYCLES = 2 }; /* cycles from the issue of an instruction until its counters rise */

static void count_add(struct sm_modern *m, uint32_t w, unsigned counter, lanemask_t lanes, int change) {
    uint8_t(*count)[MODERN_COUNTERS] = m->warp[w].count;
    for (lanes = m->by_lane ? lanes : 1; lanes; lanes &= lanes - 1) {
        uint8_t *one = &count[__builtin_ctz(lanes)][counter];
        *one = (uint8_t)(*one + change);
    }
}

static inline void raise_counter(struct sm *sm, const struct inflight *f, unsigned counter, lanemask_t lanes) {
    struct modern_warp *mw = &sm->modern->warp[f->warp];
    count_add(sm->modern, f->warp, counter, lanes, 1);
    mw->of_loads = (uint8_t)((mw->of_loads & ~(1u << counter)) |
                             (unsigned)(sm->program->inst[f->pc].flags & TIMED_MEMORY ? 1 : 0) << counter);
}

/* Adds a group of lanes that is stalled until cycle `until` to the groups that are stalled in cycle `now`. Returns the
 * cycle until which its entry is stalled. */
static __attribute__((noinline)) uint64_t stall_more(struct modern_warp *mw, lanemask_t lanes, uint64_t until,
                                                     uint64_t now) {
    struct modern_stalled *s = mw->stalled, *last = &s[MODERN_STALLS - 1];
    while (s < last && s->until > now && s->lanes & ~lanes)
        s++;
    bool joins = s->until > now && s->lanes & ~lanes; /* if no entry is free, two groups of lanes share an entry until
                                                       * the later of their two cycles */
    *s = (struct modern_stalled){.until = joins ? max64(until, s->until) : until,
                                 .lanes = lanes | (joins ? s->lanes : 0)};
    mw->stalled_most = max64(mw->stalled_most, s->until);
    return s->until;
}

void modern_stall_until(struct sm *sm, uint32_t w, lanemask_t lanes, uint64_t until) {
    struct modern_warp *mw = &sm->modern->warp[w];
    const uint64_t now = sm->clock.accounted - 1;
    if (__builtin_expect(mw->stalled_most > now, 0)) {
        until = stall_more(mw, lanes, until, now);
    } else {
        mw->stalled[0].until = mw->stalled_most = until;
        mw->stalled[0].lanes = lanes;
    }
    wheel_add(&sm->wheel, until, event_make(EVENT_STALLED, w));
}

void modern_issues(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    const struct control_bits *c = modern_control(sm->modern, path->pc);
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    sm->modern->n.machine++;
    sm->modern->n.uniform += (ti->flags & TIMED_UNIFORM) != 0;
    if (!sm->modern->guided) {
        /* scoreboards do not make fetch faster: the instruction after a jump issues as late as with a stall count */
        if (c && control_jumps(&sm->program->program->code[path->pc]))
            modern_stall_until(sm, w, path->lanes, now + CONTROL_JUMP_STALL);
        return;
    }
    modern_due_take(sm, w, now);
    sm->modern->n.hazards += modern_is_early(sm, w, path, ti, now);
    if (!expansion_is_several(c->expansion))
        modern_stall_guided(sm, w, path->lanes, c, now);
}

void modern_stall(struct sm *sm, uint32_t w, lanemask_t lanes, const struct control_bits *c, uint64_t now) {
    if (sm->modern->guided)
        modern_stall_guided(sm, w, lanes, c, now);
}

/* Returns true if nothing sees the counters of an instruction that issues in cycle `now` before the cycle in which they
 * rise: its stall count keeps the warp's only path from issuing. The counters then can rise at once. */
static inline bool raises_unseen(const struct sm *sm, const struct inflight *f, uint64_t now) {
    return sm->fast.guided && sm->warps.slot[f->warp].n_paths == 1 &&
           modern_is_stalled(&sm->modern->warp[f->warp], f->lanes, now + RAISE_CYCLES - 1);
}

void modern_flies(struct sm *sm, uint32_t inflight, bool variable, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct control_bits *c = modern_control(sm->modern, f->pc);
    struct modern_flight *mf = &sm->modern->flight[inflight];
    *mf = (struct modern_flight){.lanes = f->lanes, .variable = variable};
    if (sm->modern->readers)
        modern_consumers_change(sm, inflight, 1);
    if (!c)
        return;
    /* the host would wait if it loaded both bytes together just after it stored them */
    const bool reads = c->raise_read < CONTROL_COUNTERS, writes = c->raise_write < CONTROL_COUNTERS;
    mf->read_counter = reads ? c->raise_read + 1 : 0;
    mf->write_counter = writes ? c->raise_write + 1 : 0;
    if (!reads && !writes)
        return;
    if (!raises_unseen(sm, f, now)) {
        wheel_add(&sm->wheel, now + RAISE_CYCLES, event_make(EVENT_RAISE, inflight));
        return;
    }
    if (reads)
        raise_counter(sm, f, c->raise_read, f->lanes);
    if (writes)
        raise_counter(sm, f, c->raise_write, f->lanes);
}

void modern_joins(struct sm *sm, uint32_t w, const struct sm_path *path, uint32_t inflight, uint64_t now) {
    struct modern_flight *mf = &sm->modern->flight[inflight];
    modern_issues(sm, w, path, now);
    modern_flies(sm, inflight, true, now);
    mf->reads_reserved = true;
    mf->space = sm->program->program->code[path->pc].space;
}

void modern_hand_over(struct sm *sm, uint32_t from, uint32_t to) {
    struct modern_flight *flight = sm->modern->flight;
    flight[to] = flight[from];
    flight[from] = (struct modern_flight){.lanes = 0};
}

void modern_split(struct sm *sm, uint32_t of, uint32_t new) {
    struct modern_flight *slow = &sm->modern->flight[of], *fast = &sm->modern->flight[new];
    *fast = (struct modern_flight){.lanes = sm->in_flight.entry[new].lanes};
    if (!sm->modern->by_lane || slow->read_counter)
        return;
    fast->write_counter = slow->write_counter;
    slow->lanes &= ~fast->lanes;
}

/* Returns false if a change of a counter by `by` leaves the states of the warp's paths as they are. A ready path stays
 * ready when a counter falls. A path with a stall count waits for its end. */
static inline bool may_matter(const struct sm *sm, uint32_t w, int by, uint64_t now) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    if (!sm->fast.guided || sw->n_paths != 1)
        return true;
    if (sw->path->state < N_PIPES)
        return by > 0;
    return sw->path->state != PATH_ARITH || !modern_is_stalled(&sm->modern->warp[w], sw->path->lanes, now);
}

static void change(struct sm *sm, uint32_t inflight, unsigned counter, lanemask_t lanes, int by, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    if (by > 0)
        raise_counter(sm, f, counter, lanes);
    else
        count_add(sm->modern, f->warp, counter, lanes, by);
    if (by < 0 && sm->model.wants.interleaves && sm->warps.slot[f->warp].control.n_held)
        sm_wake_held(sm, f->warp, now);
    if (may_matter(sm, f->warp, by, now))
        sm_reconsider(sm, f->warp, now);
}

void modern_raise(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct modern_flight *mf = &sm->modern->flight[inflight];
    if (mf->read_counter)
        change(sm, inflight, mf->read_counter - 1u, mf->lanes, 1, now);
    if (mf->write_counter)
        change(sm, inflight, mf->write_counter - 1u, mf->lanes, 1, now);
}

void modern_has_read(struct sm *sm, uint32_t inflight, uint64_t now) {
    struct modern_flight *mf = &sm->modern->flight[inflight];
    if (mf->read_counter)
        change(sm, inflight, mf->read_counter - 1u, mf->lanes, -1, now);
    mf->read_counter = 0;
    if (mf->reads_held) {
        modern_consumers_change(sm, inflight, -1);
        sm_reconsider(sm, sm->in_flight.entry[inflight].warp, now);
    }
}

void modern_has_written(struct sm *sm, uint32_t inflight, uint64_t now) {
    struct modern_flight *mf = &sm->modern->flight[inflight];
    if (mf->write_counter)
        change(sm, inflight, mf->write_counter - 1u, mf->lanes, -1, now);
    *mf = (struct modern_flight){.lanes = 0};
}
