/* Handles replies of the load/store unit, to waiting warps and to fetches. */
#include "memory_replies.h"
#include "stages.h"
#include "tma.h"

static void evaluate_fenced(struct sm *sm, uint32_t w, uint64_t now) {
    if (warps_state_has(&sm->warps, PATH_FENCE, w))
        sm_evaluate_all(sm, w, now);
}

/* Ends a cp.async, whose data are in shared memory. */
static void copy_done(struct sm *sm, uint32_t inflight, uint64_t now) {
    uint32_t w = sm->in_flight.entry[inflight].warp, other;
    if (sm_copies_done(sm, inflight))
        for (struct warp_set m = warps_in_state(&sm->warps, PATH_FENCE); warp_set_take(&m, &other);)
            evaluate_fenced(sm, other, now);
    evaluate_fenced(sm, w, now);
    sm_complete(sm, inflight, now);
}

/* Does the same as sm_access_done(), inline for the replies of every cycle. `together`: the cycle in which the results
 * of several members are written; 0: the access reserves its own writes. */
static inline __attribute__((always_inline)) void access_done(struct sm *sm, uint32_t inflight, bool missed,
                                                              uint64_t together, uint64_t now) {
    struct inflight *f = &sm->in_flight.entry[inflight];
    struct sm_warp *sw = &sm->warps.slot[f->warp];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    uint32_t w = f->warp;
    f->missed = missed;
    f->known = false;
    if (sm->issue.profile && missed)
        sm->issue.profile[f->pc].misses++;
    if (__builtin_expect(ti->kind == K_COPY, 0)) {
        copy_done(sm, inflight, now);
        return;
    }
    bool last = !--sw->accesses;
    if (sm->cfg->sm.atomic_wait && ti->kind == K_ATOM)
        last |= !--sw->atomics;
    uint64_t written = now;
    if (__builtin_expect(sm->modern != NULL, 0))
        written = modern_returns(sm, inflight, now);
    else if (ti->banks.n_writes && together)
        written = together;
    else if (ti->banks.n_writes) {
        const struct sm_form *form = in_flight_form(&sm->in_flight, inflight);
        written = operands_write(&sm->operands, f->part, w, form ? &form->ti : ti, form,
                                 now + sm->cfg->sm.latch_writeback, now);
    }
    if (written > now)
        wheel_add(&sm->wheel, written, event_make(EVENT_WRITEBACK, inflight));
    else
        sm_complete(sm, inflight, now);
    if (__builtin_expect(warps_state_has(&sm->warps, PATH_FENCE, w), 0) && last)
        sm_evaluate_all(sm, w, now);
}

void sm_access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now) {
    access_done(sm, inflight, missed, 0, now);
}

/* Ends the accesses of members of a gang, whose results are written together. */
static void accesses_done(struct sm *sm, const uint32_t *inflight, uint32_t n, bool missed, uint64_t now) {
    uint64_t written = now;
    for (uint32_t i = 0; i < n; i++) {
        const struct inflight *f = &sm->in_flight.entry[inflight[i]];
        written = max64(written, operands_write(&sm->operands, f->part, f->warp, &sm->program->inst[f->pc], NULL,
                                                now + sm->cfg->sm.latch_writeback, now));
    }
    for (uint32_t i = 0; i < n; i++)
        access_done(sm, inflight[i], missed, written, now);
}

/* Ends an access that may have several members (joint.h). */
static __attribute__((noinline)) void members_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now) {
    uint32_t gang[JOINT_MOST], n = 0;
    for (uint32_t next; inflight != NO_INFLIGHT; inflight = next) {
        next = joint_take(sm, inflight);
        if (!sm->joint.slices)
            access_done(sm, inflight, missed, 0, now);
        else if (!joint_end(sm, inflight, now))
            gang[n++] = inflight;
    }
    accesses_done(sm, gang, n, missed, now);
}

bool sm_use_replacement(struct sm *sm, const struct replacement_ops *ops) { return lsu_use_replacement(sm->lsu, ops); }
bool sm_use_bypass(struct sm *sm, const struct bypass_ops *ops) { return lsu_use_bypass(sm->lsu, ops); }

bool sm_add_prefetcher(struct sm *sm, const struct prefetcher_ops *ops, void *ctx) {
    return lsu_add_prefetcher(sm->lsu, ops, ctx);
}

/* Handles loads that missed and loads whose tags have all been read, for models that rotate or split paths, and for
 * gangs. */
static __attribute__((noinline, cold)) void take_notes(struct sm *sm, uint64_t now) {
    uint32_t tag;
    while (sm->model.wants.rotates && lsu_missed(sm->lsu, &tag))
        if (tag < TMA_TAGS)
            sm_missed(sm, tag, now);
    while (sm->model.wants.splits && lsu_known(sm->lsu, &tag))
        if (tag < TMA_TAGS)
            sm_load_known(sm, tag);
    while (sm->joint.slices && lsu_known(sm->lsu, &tag)) {
        uint32_t end[JOINT_MOST], n = tag < TMA_TAGS ? joint_known(sm, tag, end) : 0;
        accesses_done(sm, end, n, false, now);
    }
}

static __attribute__((noinline)) void take_rest(struct sm *sm, unsigned found, uint64_t now) {
    uint32_t tag, latency;
    while (found & LSU_STORES_ENDED && sm->memory.hold_stores && lsu_stores_ended(sm->lsu, &tag))
        sm_warp_check_done(sm, tag, now);
    if ((found & LSU_FETCHED || fetch_waits(&sm->fetch)) && fetch_tick(&sm->fetch, now))
        sm_fetch_retry(sm);
    while (sm->operands.n_parts > 1 && fetch_take(&sm->fetch, &tag, &latency))
        sm_fetch_arrived(sm, tag, latency, now);
}

void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now) {
    uint32_t tag;
    bool missed;
    if (found & LSU_ACCESSES) {
        if (__builtin_expect(sm->model.wants.rotates | sm->model.wants.splits | (sm->joint.slices != 0), 0))
            take_notes(sm, now);
        while (lsu_done(sm->lsu, &tag, &missed))
            if (__builtin_expect(tag >= TMA_TAGS, 0))
                tma_reply(sm, tag, now);
            else if (__builtin_expect(sm->joint.merged != 0, 0))
                members_done(sm, tag, missed, now);
            else
                access_done(sm, tag, missed, 0, now);
    }
    if (__builtin_expect(found & ~LSU_ACCESSES || sm->fetch.n_ready || fetch_waits(&sm->fetch), 0))
        take_rest(sm, found, now);
    sm_lsu_due(sm, now);
    if (sm->memory.lsu_refused && sm->memory.due > now)
        sm->memory.due = now; /* the load/store unit may have room again */
}
