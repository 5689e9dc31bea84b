/* The modern core: the fetch stage. In each cycle, a sub-core fetches one machine instruction: for the warp that
 * issued last or, if its buffer is full, for the youngest warp with room. A fetched instruction that has not arrived
 * yet counts as part of the buffer. */
#include "modern_place.h"
#include "stages.h"

/* Returns the address of a machine instruction. */
static uint64_t address_of(const struct sm *sm, uint32_t at) {
    return sm->program->code_address + (uint64_t)at * sm->cfg->sm.inst_bytes;
}

/* Returns true if the path can fetch its next instruction. After a miss it waits for the line. */
static inline bool has_room(const struct sm *sm, const struct sm_path *path) {
    uint32_t n = path->buffered + path->coming;
    return n < MODERN_BUFFER && !path->missed && !path->refused && path->at + n < sm->modern->code_end;
}

/* Returns a path of the warp that can fetch: the path that issued last, or else the next one. Returns -1 if there is
 * none. */
static __attribute__((noinline)) int any_path_with_room(const struct sm *sm, const struct sm_warp *sw) {
    for (uint32_t i = 0; i < sw->n_paths; i++) {
        uint32_t p = (sw->last_path + i) % sw->n_paths;
        if (has_room(sm, &sw->path[p]))
            return (int)p;
    }
    return -1;
}

/* Does the same, inline for a warp with one path. */
static inline int path_with_room(const struct sm *sm, const struct sm_warp *sw) {
    if (__builtin_expect(sw->n_paths != 1, 0))
        return any_path_with_room(sm, sw);
    return has_room(sm, sw->path) ? 0 : -1;
}

/* Starts a fetch. Returns false if the instruction cache has no room. */
static inline __attribute__((always_inline)) bool start(struct sm *sm, uint32_t part, uint32_t w, struct sm_path *path,
                                                        uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct modern_warp *mw = &sm->modern->warp[w];
    modern_ahead_take(mw, path, now);
    const uint32_t at = path->at + path->buffered + path->coming;
    const uint16_t ticket = path->coming ? path->ticket : (uint16_t)(sw->ticket + 1);
    uint32_t latency;
    enum fetch_result r = fetch_accept(&sm->fetch, part, address_of(sm, at), sm_ticket(w, ticket), now, &latency);
    if (r == FETCH_REFUSED) {
        if (path->state == PATH_FETCH)
            path->refused = sm->fetching.any_refused = true;
        return false;
    }
    path->missed = r != FETCH_HIT || latency;
    const bool ahead = !path->missed && modern_ahead_may(sm, sw, mw, path);
    if (mw->ahead && !ahead)
        modern_ahead_end(sm, w, now);
    sw->ticket += !path->coming;
    path->ticket = ticket;
    path->coming++;
    if (path->state == PATH_FETCH)
        warps_move(&sm->warps, w, path, PATH_FETCHING);
    if (ahead) {
        modern_ahead_add(mw, now + sm->modern->fetch_cycles);
        if (fetch_waits(&sm->fetch))
            sm_lsu_due(sm, now);
        return true;
    }
    if (r == FETCH_HIT)
        wheel_add(&sm->wheel, now + sm->modern->fetch_cycles + latency,
                  event_make(EVENT_FETCHED, sm_ticket(w, ticket)));
    else
        fetch_send(&sm->fetch, now);
    if (r != FETCH_HIT || fetch_waits(&sm->fetch))
        sm_lsu_due(sm, now);
    return true;
}

/* Returns the path of the warp that can fetch, as path_with_room() does. A warp without such a path leaves the set of
 * warps with room. */
static inline int find_path_with_room(struct sm *sm, uint32_t w) {
    int p = path_with_room(sm, &sm->warps.slot[w]);
    if (p < 0)
        warp_set_drop(&sm->fetching.room, w);
    return p;
}

/* Returns the warp that fetches next: the warp that issued last or, if it has no room, the youngest warp with room.
 * Returns -1 if no warp of `left` has room. Sets *path to its path. */
static inline __attribute__((always_inline)) int next_warp(struct sm *sm, const struct warp_set *left, uint32_t last,
                                                           int *path, uint32_t words) {
    int best = -1;
    uint32_t w;
    if (last / 64 < words && warp_set_has(left, last) && (*path = find_path_with_room(sm, last)) >= 0)
        return (int)last;
    for (struct warp_walk at = warp_walk(left); warp_next(&at, left, words, &w);) {
        if (best >= 0 && sm->warps.age[w] <= sm->warps.age[best])
            continue;
        int p = find_path_with_room(sm, w);
        best = p < 0 ? best : (int)w;
        *path = p < 0 ? *path : p;
    }
    return best;
}

/* Runs the fetch of a sub-core. Returns true if it started one and another warp may have room. `words`:
 * sm_warps.words. */
static inline bool fetch_part(struct sm *sm, uint32_t part, uint64_t now, uint32_t words) {
    const struct sched *s = &sm->issue.sched[part];
    struct warp_set left;
    int w, p = 0;
    for (uint32_t k = 0; k < words; k++)
        left.word[k] = s->mine.word[k] & sm->warps.live.word[k] & sm->fetching.room.word[k];
    while (warp_set_any(&left, words) && (w = next_warp(sm, &left, s->last, &p, words)) >= 0) {
        if (start(sm, part, (uint32_t)w, &sm->warps.slot[w].path[p], now))
            return find_path_with_room(sm, (uint32_t)w) >= 0 || warp_sets_meet(&sm->fetching.room, &left, words);
        warp_set_drop(&left, (uint32_t)w);
    }
    return false;
}

/* Fetches the next instruction of a warp's only path, which has room, if the fetch arrives without an event and hits
 * the line that the sub-core fetched last. Returns false if it did nothing. */
static inline bool fetch_ahead(struct sm *sm, uint32_t part, uint32_t w, struct sm_path *path, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct modern_warp *mw = &sm->modern->warp[w];
    modern_ahead_take(mw, path, now);
    if (!modern_ahead_may(sm, sw, mw, path) ||
        !fetch_there(&sm->fetch, part, address_of(sm, path->at + path->buffered + path->coming)))
        return false;
    if (!path->coming)
        path->ticket = ++sw->ticket;
    path->coming++;
    modern_ahead_add(mw, now + sm->modern->fetch_cycles);
    return true;
}

/* Does the same as fetch_part() for sets of one word. `left`: the warps of the sub-core that may have room. In the
 * common case, the warp that issued last fetches. */
static inline __attribute__((always_inline)) bool fetch_part_word(struct sm *sm, uint32_t part, uint64_t left,
                                                                  uint64_t now) {
    const uint32_t last = sm->issue.sched[part].last;
    if (last < 64 && left >> last & 1 && sm->warps.slot[last].n_paths == 1) {
        struct sm_path *path = sm->warps.slot[last].path;
        if (has_room(sm, path) && fetch_ahead(sm, part, last, path, now)) {
            if (!has_room(sm, path))
                warp_set_drop(&sm->fetching.room, last);
            return sm->fetching.room.word[0] & left;
        }
    }
    return fetch_part(sm, part, now, 1);
}

/* Runs the fetches of all sub-cores. Returns true if one of them has work in the next cycle. */
static inline __attribute__((always_inline)) bool fetch_parts(struct sm *sm, uint64_t now, uint32_t words) {
    bool more = false;
    const uint64_t some = words == 1 ? sm->fetching.room.word[0] & sm->warps.live.word[0] : ~0ull;
    for (uint32_t s = 0; s < sm->operands.n_parts; s++)
        if (words > 1)
            more |= fetch_part(sm, s, now, words);
        else if (some & sm->issue.mine[s])
            more |= fetch_part_word(sm, s, some & sm->issue.mine[s], now);
    return more;
}

static __attribute__((noinline)) bool fetch_any_parts(struct sm *sm, uint64_t now) {
    return fetch_parts(sm, now, sm->warps.words);
}

uint32_t modern_place_after(const struct sm *sm, uint32_t w, const struct sm_path *old, uint32_t pc, lanemask_t lanes) {
    if (pc == old->pc)
        return old->at;
    return pc == old->pc + 1 ? modern_next_place(sm, w, old->pc, lanes) : sm->program->inst[pc].place;
}

void modern_fetch_alone(struct sm *sm, uint32_t part, uint32_t w, uint32_t at, uint64_t now) {
    uint32_t latency;
    const uint32_t ticket = sm_ticket(w, ++sm->warps.slot[w].ticket);
    if (fetch_accept(&sm->fetch, part, address_of(sm, at), ticket, now, &latency) != FETCH_HIT)
        fetch_send(&sm->fetch, now);
    sm_lsu_due(sm, now);
}

void modern_fetched(struct sm *sm, uint32_t ticket, uint64_t now) {
    const uint32_t w = ticket >> 16;
    struct sm_warp *sw = &sm->warps.slot[w];
    for (uint32_t p = 0; p < sw->n_paths; p++) {
        struct sm_path *path = &sw->path[p];
        if (!path->coming || path->ticket != (ticket & 0xffff))
            continue;
        path->buffered++;
        if (!--path->coming && path->missed) {
            path->missed = false;
            warp_set_add(&sm->fetching.room, w);
        }
        if (path->state == PATH_FETCHING)
            sm_evaluate(sm, w, p, now);
        return;
    }
}

/* Handles a fetch whose line has arrived, `latency` cycles later than a hit. */
static void arrived(struct sm *sm, uint32_t ticket, uint32_t latency, uint64_t now) {
    latency += sm->cfg->sm.decode_latency;
    if (latency)
        wheel_add(&sm->wheel, now + latency, event_make(EVENT_FETCHED, ticket));
    else
        modern_fetched(sm, ticket, now);
}

void modern_fetch(struct sm *sm, uint64_t now) {
    uint32_t ticket, latency;
    while (sm->fetch.n_ready && fetch_take(&sm->fetch, &ticket, &latency))
        arrived(sm, ticket, latency, now);
    if (!warp_sets_meet(&sm->fetching.room, &sm->warps.live, sm->warps.words))
        return;
    sm->modern->fetches = sm->warps.words == 1 ? fetch_parts(sm, now, 1) : fetch_any_parts(sm, now);
}
