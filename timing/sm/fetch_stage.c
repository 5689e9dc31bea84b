/* The fetch stage. */
#include "isa/hot_assert.h"
#include "uniform_path.h"

void fetch_stage_init(struct sm_fetch_stage *f) {
    for (int i = 0; i < 8; i++)
        f->last[i] = NO_WARP_SLOT;
}

static uint64_t address_of(const struct sm *sm, uint32_t pc) {
    return sm->program->code_address + (uint64_t)pc * sm->cfg->sm.inst_bytes;
}

static void deliver(struct sm *sm, uint32_t ticket, uint64_t cycle, uint64_t now) {
    if (cycle <= now)
        sm_fetched(sm, ticket, now);
    else
        wheel_add(&sm->wheel, cycle, event_make(EVENT_FETCHED, ticket));
}

/* Delivers the instructions of a cached line, `latency` cycles later than the earliest possible cycle. The
 * instructions never arrive in the present cycle, because the states of warps are not updated again in it (sm.c). */
static inline void deliver_hit(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    hot_assert(cfg->fetch_latency);
    wheel_add(&sm->wheel, now + cfg->fetch_latency + cfg->decode_latency + latency, event_make(EVENT_FETCHED, ticket));
}

/* Sends a fetch of the path to its instruction cache. Returns true if the fetch has used the part's fetch slot of this
 * cycle. With peer.fetch_retry, a refused fetch uses the slot, too. */
static bool start_fetch(struct sm *sm, uint32_t part, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    uint32_t latency;
    uint16_t ticket = ++sw->ticket;
    enum fetch_result r = fetch_accept(&sm->fetch, part, address_of(sm, path->stray ? path->wrong : path->pc),
                                       sm_ticket(w, ticket), now, &latency);
    if (r == FETCH_REFUSED && sm->cfg->sm.fetch_retry)
        return true;
    if (r == FETCH_REFUSED) {
        path->refused = sm->fetching.any_refused = true;
        return false;
    }
    path->ticket = ticket;
    warps_move(&sm->warps, w, path, PATH_FETCHING);
    if (r == FETCH_HIT) {
        deliver_hit(sm, sm_ticket(w, ticket), latency, now);
        if (fetch_waits(&sm->fetch)) /* a stream buffer may have room for another line now */
            sm_lsu_due(sm, now);
        return true;
    }
    fetch_send(&sm->fetch, now);
    sm_lsu_due(sm, now);
    return true;
}

static int wanting_path(const struct sm_warp *sw) {
    if (sw->n_paths == 1)
        return sw->path[0].state == PATH_FETCH && !sw->path[0].refused ? 0 : -1;
    for (uint32_t i = 1; i <= sw->n_paths; i++) {
        uint32_t p = (sw->last_path + i) % sw->n_paths;
        if (sw->path[p].state == PATH_FETCH && !sw->path[p].refused)
            return (int)p;
    }
    return -1;
}

/* Frees the slots of finished warps that the fetch stage passes in its rotation: the warps after `last` up to `to`,
 * or all warps when `to` is `last`. */
static __attribute__((noinline)) void reclaim(struct sm *sm, uint32_t part, uint32_t last, uint32_t to, uint64_t now) {
    struct warp_set spent = sm->operands.n_parts == 1 ? sm->fetching.spent
                                                      : warp_sets_and(&sm->fetching.spent, &sm->issue.sched[part].mine);
    const uint32_t n = sm->warps.words * 64, most = (to + n - last - 1) % n + 1;
    for (uint32_t w; warp_set_any(&spent, sm->warps.words); warp_set_drop(&spent, w)) {
        w = warp_set_after(&spent, last, sm->warps.words);
        if ((w + n - last - 1) % n + 1 > most)
            return;
        warp_set_drop(&sm->fetching.spent, w);
        warp_set_add(&sm->fetching.reclaimed, w);
        sm_warp_check_done(sm, w, now);
    }
}

/* Returns true if a fetch of path `first` of warp `w` may bring a further fetch for `path` of warp `other`. */
static bool reaches(const struct sm *sm, uint32_t w, const struct sm_path *first, uint32_t other,
                    const struct sm_path *path) {
    if (path->state != PATH_FETCH || path->refused)
        return false;
    switch (sm->joint.reach) {
    case JOINT_SAME_WARP:
        return other == w;
    case JOINT_SAME_GANG:
        return path->pc == first->pc && !path->stray && sm->warps.slot[other].cta == sm->warps.slot[w].cta &&
               sm->warps.slot[other].w->index / sm->joint.gang == sm->warps.slot[w].w->index / sm->joint.gang;
    case JOINT_SAME_PC:
        return path->pc == first->pc && !path->stray &&
               warp_set_has(&sm->issue.sched[sched_of(&sm->cfg->sm, w)].mine, other);
    default:
        return true;
    }
}

/* The threads of the paths that a formed warp fetches for. */
struct formed {
    lanemask_t lanes;
    uint32_t threads;
};

/* Adds the lanes of a path to the formed warp if they fit. */
static bool fits_in(const struct sm *sm, struct formed *f, lanemask_t lanes) {
    const uint32_t threads = f->threads + lanes_count(lanes);
    if (sm->joint.reach != JOINT_SAME_PC)
        return true;
    if (sm->cfg->reconv.joint_lanes == JOINT_HOME ? f->lanes & lanes : threads > sm->cfg->sm.warp_size)
        return false;
    *f = (struct formed){f->lanes | lanes, threads};
    return true;
}

/* Runs the further fetches that accompany a fetch of path `p` of warp `w` in the same cycle (joint.h). */
static __attribute__((noinline)) void fetch_more(struct sm *sm, uint32_t part, uint32_t w, uint32_t p, uint64_t now) {
    const struct sm_path *first = &sm->warps.slot[w].path[p];
    struct warp_set want = warps_in_state(&sm->warps, PATH_FETCH);
    uint32_t left = sm->joint.more;
    struct formed formed = {first->lanes, lanes_count(first->lanes)};
    if (sm->operands.n_parts > 1)
        want = warp_sets_and(&want, &sm->issue.sched[part].mine);
    for (uint32_t other = w; left && warp_set_any(&want, sm->warps.words); warp_set_drop(&want, other)) {
        other = warp_set_after(&want, other, sm->warps.words);
        const struct sm_warp *sw = &sm->warps.slot[other];
        for (uint32_t i = 0; left && i < sw->n_paths; i++) {
            struct formed with = formed;
            if (!reaches(sm, w, first, other, &sw->path[i]) || !fits_in(sm, &with, sw->path[i].lanes) ||
                !start_fetch(sm, part, other, i, now))
                continue;
            formed = with;
            sm->joint.n.fetches++;
            left--;
        }
    }
}

/* Runs one fetch of the part, for the next warp, round-robin. */
static inline void fetch_one(struct sm *sm, uint32_t part, uint64_t now) {
    struct warp_set want;
    const uint32_t last = sm->fetching.last[part];
    for (uint32_t k = 0; k < sm->warps.words; k++)
        want.word[k] = sm->warps.in_state[k][PATH_FETCH] &
                       (sm->operands.n_parts == 1 ? ~0ull : sm->issue.sched[part].mine.word[k]);
    for (uint32_t w = last; warp_set_any(&want, sm->warps.words); warp_set_drop(&want, w)) {
        int p;
        w = warp_set_after(&want, w, sm->warps.words);
        while ((p = wanting_path(&sm->warps.slot[w])) >= 0)
            if (start_fetch(sm, part, w, (uint32_t)p, now)) {
                sm->fetching.last[part] = (uint16_t)w;
                if (__builtin_expect(sm->joint.more != 0, 0))
                    fetch_more(sm, part, w, (uint32_t)p, now);
                if (warp_set_any(&sm->fetching.spent, sm->warps.words))
                    reclaim(sm, part, last, w, now);
                return;
            }
    }
    if (warp_set_any(&sm->fetching.spent, sm->warps.words))
        reclaim(sm, part, last, last, now);
}

/* Passes a fetch through the fetch stage again when its line has arrived. Used only if the SM is not divided, so that
 * all schedulers share one fetch stage. */
static void fetch_again(struct sm *sm, uint64_t now) {
    uint32_t ticket, latency;
    fetch_take(&sm->fetch, &ticket, &latency);
    sm_fetch_arrived(sm, ticket, latency + sm->cfg->sm.fetch_latency, now);
}

static __attribute__((noinline)) void fetch_any(struct sm *sm, uint64_t now) {
    if (sm->operands.n_parts == 1 && sm->fetch.n_ready) {
        fetch_again(sm, now);
        return;
    }
    for (uint32_t s = 0; s < sm->operands.n_parts; s++)
        fetch_one(sm, s, now);
}

/* Handles the common case of a fetch: the next warp has one path, which fetches and hits (sm_fast_path.one_part). In
 * other cases, does nothing and returns false. */
static inline bool fetch_at_once(struct sm *sm, uint64_t now) {
    const struct warp_set want = {.word = {sm->warps.in_state[0][PATH_FETCH]}};
    const bool spent = warp_set_any(&sm->fetching.spent, 1); /* fetch_one() frees their slots */
    if (!sm->fast.one_part || sm->fetch.n_l0 || spent || sm->fetch.n_ready || !want.word[0])
        return false;
    uint32_t w = warp_set_after(&want, sm->fetching.last[0], 1);
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = sw->path;
    if (sw->n_paths != 1 || path->refused | path->stray || !fetch_there(&sm->fetch, 0, address_of(sm, path->pc)))
        return false;
    path->ticket = ++sw->ticket;
    warps_move_only(&sm->warps, w, path, PATH_FETCHING, true);
    sm->fetching.last[0] = (uint16_t)w;
    deliver_hit(sm, sm_ticket(w, path->ticket), 0, now);
    return true;
}

void sm_fetch(struct sm *sm, uint64_t now) {
    if (fetch_at_once(sm, now))
        return;
    if (__builtin_expect(sm->modern != NULL, 0))
        modern_fetch(sm, now);
    else
        fetch_any(sm, now);
}

void sm_fetch_retry(struct sm *sm) {
    struct warp_set m = warps_in_state(&sm->warps, PATH_FETCH);
    uint32_t w;
    if (!sm->fetching.any_refused)
        return;
    sm->fetching.any_refused = false;
    for (struct warp_walk at = warp_walk(&m); warp_next(&at, &m, sm->warps.words, &w);) {
        struct sm_warp *sw = &sm->warps.slot[w];
        for (uint32_t p = 0; p < sw->n_paths; p++)
            sw->path[p].refused = false;
        warp_set_add(&sm->fetching.room, w);
    }
}

void sm_fetch_arrived(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now) {
    deliver(sm, ticket, now + latency + sm->cfg->sm.decode_latency, now);
}

/* Returns true if a path whose instructions have arrived is ready or waits only for operands. */
static inline bool waits_for_operands_only(const struct sm_warp *sw, const struct sm_path *path,
                                           const struct timed_inst *ti, uint64_t now) {
    bool waits = sw->asleep || !(path->lanes & ~sw->control.waiting) || path->lanes & sw->ordered || sw->atomics;
    return !waits && path->switched <= now && !(ti->flags & (TIMED_RARE | TIMED_FENCE));
}

/* Returns the path that waits for the fetch, or NULL if the path has changed its PC since. */
static inline struct sm_path *fetching(const struct sm_warp *sw, uint32_t ticket) {
    for (struct sm_path *path = sw->path, *end = path + sw->n_paths; path < end; path++)
        if (path->state == PATH_FETCHING && path->ticket == ticket)
            return path;
    return NULL;
}

void sm_fetched(struct sm *sm, uint32_t value, uint64_t now) {
    uint32_t w = value >> 16;
    if (__builtin_expect(sm->modern != NULL, 0)) {
        modern_fetched(sm, value, now);
        return;
    }
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = fetching(sw, value & 0xffff);
    if (!path)
        return;
    if (__builtin_expect(path->stray, 0)) { /* the instructions are discarded */
        path->stray = STRAY_NONE;
        warps_move(&sm->warps, w, path, PATH_FETCH);
        return;
    }
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    path->buffered = ti->fetch;
    if (sm->fast.instructions && sw->n_paths == 1 && waits_for_operands_only(sw, path, ti, now))
        warps_move_only(&sm->warps, w, path, sm_fast_state(sw, ti, false), false);
    else
        sm_evaluate(sm, w, (uint32_t)(path - sw->path), now);
}
