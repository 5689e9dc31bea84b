/* The clock of an SM: which cycles are simulated, and the order of work in a cycle. */
#include "sm.h"
#include "isa/hot_assert.h"
#include "issue_slots.h"
#include "memory_replies.h"
#include <assert.h>
#include <stddef.h>

_Static_assert(offsetof(struct sm, status) == 0, "sm_status() looks there");

static inline __attribute__((always_inline)) void take_events(struct sm *sm, uint64_t now) {
    uint32_t what;
    while (wheel_take(&sm->wheel, now, &what)) {
        uint32_t value = what / EVENT_KINDS, kind = what % EVENT_KINDS;
        if (kind == EVENT_WRITEBACK)
            sm_complete(sm, value, now);
        else if (kind == EVENT_FETCHED)
            sm_fetched(sm, value, now);
        else if (kind == EVENT_STALLED)
            sm_reconsider(sm, value, now);
        else
            sm_rare_event(sm, kind, value, now);
    }
}

/* Finds the warps that have a ready instruction whose pipe has room. In a divided SM, the pipes are those of the part
 * of scheduler `s`, so the result is valid only for warps of this scheduler. While the table of instructions in flight
 * is full, no warp is found. */
static inline void find_issuable(const struct sm *sm, uint32_t s, uint64_t now, uint32_t words, struct warp_set *out) {
    const bool divided = sm->operands.n_parts > 1;
    const struct exec_part *e = &sm->operands.part[divided ? s : 0];
    const uint64_t *takes = e->takes;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t may = 0;
        if (divided && !(warps_ready(&sm->warps, k) & sm->issue.sched[s].mine.word[k])) {
            out->word[k] = 0;
            continue;
        }
        for (int p = 0; p < N_PIPES; p++)
            may |= takes[p] <= now ? warps_with(&sm->warps, PATH_READY + p, k) : 0;
        if (__builtin_expect(e->held > now, 0))
            may = takes[PIPE_MEM] <= now ? warps_with(&sm->warps, PATH_READY + PIPE_MEM, k) : 0;
        out->word[k] = in_flight_has_room(&sm->in_flight) ? may : 0;
    }
}

/* Returns the path of warp `w` that issues: the next path, round-robin, that is ready and whose pipe has room. */
static __attribute__((noinline)) uint32_t pick_path(const struct sm *sm, uint32_t s, uint32_t w, uint64_t now) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t part = sm->operands.n_parts > 1 ? s : 0;
    for (uint32_t i = 1; i <= sw->n_paths; i++) {
        uint32_t p = (sw->last_path + i) % sw->n_paths;
        if (sw->path[p].state < N_PIPES && operands_take(&sm->operands.part[part], sw->path[p].state) <= now)
            return p;
    }
    assert(!"a ready path of a ready warp");
    return 0;
}

/* Issues the next instruction of a path, and tells a policy with issued() or executed(). */
static __attribute__((noinline)) bool issue_and_tell(struct sm *sm, struct sched *s, uint32_t w, uint32_t p,
                                                     uint64_t now) {
    const struct sm_path *path = &sm->warps.slot[w].path[p];
    struct sched_executed e = {
        .warp = w, .pc = path->pc, .lanes = path->lanes, .in = &sm->program->program->code[path->pc]};
    sched_issued(s, (int)w);
    bool issued = sm_issue(sm, w, p, now);
    e.taken = e.in->kind == K_BRANCH ? sm->fx.taken : 0;
    if (issued && !sm->status.stopped)
        sched_tell_executed(s, &e);
    return issued;
}

/* Uses the issue slot of a scheduler that has picked warp `w`; a negative `w` means no warp. Returns false if no warp
 * was picked. */
static inline __attribute__((always_inline)) bool issue_picked(struct sm *sm, uint32_t s, int w, uint64_t now,
                                                               uint32_t words, const bool fast) {
    if (w < 0 && !fast && __builtin_expect(sm->modern != NULL, 0) && modern_slot_taken(sm->modern, s, now)) {
        sm->n.slot[SLOT_ISSUED]++;
        return true;
    }
    if (w < 0) {
        struct slot_causes why[WARP_WORDS];
        for (uint32_t k = 0; k < words; k++)
            why[k] = slot_causes_of(&sm->warps, k);
        count_idle_slot(sm, why, s, 1, words, fast);
        return false;
    }
    struct sched *sched = &sm->issue.sched[s];
    uint32_t path = __builtin_expect(sm->warps.slot[w].n_paths > 1, 0) ? pick_path(sm, s, (uint32_t)w, now) : 0;
    if (!fast && __builtin_expect(sm->modern != NULL, 0)) {
        const uint32_t pc = sm->warps.slot[w].path[path].pc;
        if (!modern_issues_freely(sm->modern, &sm->program->inst[pc], pc) &&
            !modern_may_issue(sm, s, (uint32_t)w, path, now)) {
            sm->n.slot[SLOT_LOAD]++;
            return false;
        }
    }
    if (!fast && sm_hooked(sm, HOOK_JOIN) && !sm->remote) { /* accesses to other CTAs issue alone */
        struct sm_joint_member leader = {.warp = (uint32_t)w, .path = path};
        if (sm_issue_jointly(sm, s, &leader, now))
            return true;
        w = (int)leader.warp;
        path = leader.path;
    }
    bool issued;
    if (__builtin_expect(sched->hears, 0)) {
        issued = issue_and_tell(sm, sched, (uint32_t)w, path, now);
    } else {
        sched_set_last(sched, w);
        issued = sm_issue(sm, (uint32_t)w, path, now);
    }
    sm->n.slot[issued ? SLOT_ISSUED : SLOT_RECONVERGENCE]++;
    return true;
}

/* Runs the issue slot of a scheduler. Returns false if no warp was picked. `may` is the result of find_issuable() for
 * this scheduler. */
static inline __attribute__((always_inline)) bool issue_slot(struct sm *sm, uint32_t s, const struct warp_set *may,
                                                             uint64_t now, uint32_t words, const bool fast) {
    struct warp_set ready;
    if (__builtin_expect(sm->issue.sched[s].other != NULL, 0)) /* policies may read words beyond `words` */
        ready = (struct warp_set){.word = {0}};
    for (uint32_t k = 0; k < words; k++)
        ready.word[k] = may->word[k] & sm->issue.sched[s].mine.word[k];
    int w = warp_set_any(&ready, words) ? sched_pick(&sm->issue.sched[s], &ready, sm->warps.age, words) : -1;
    return issue_picked(sm, s, w, now, words, fast);
}

/* Runs the schedulers `s` and `second`, or only `s` if `both` is false. The code is repeated for both schedulers, so
 * that each has its own branches, which the host predicts well. */
static inline __attribute__((always_inline)) bool issue_pair(struct sm *sm, uint32_t s, uint32_t second, bool both,
                                                             uint64_t now, uint32_t words, const bool fast) {
    struct warp_set may;
    find_issuable(sm, s, now, words, &may);
    bool first = issue_slot(sm, s, &may, now, words, fast);
    if (!both || sm->status.stopped)
        return first;
    if (first || sm->operands.n_parts > 1) /* otherwise nothing has changed */
        find_issuable(sm, second, now, words, &may);
    return issue_slot(sm, second, &may, now, words, fast) || first;
}

/* Returns the scheduler that issues first in cycle `now`; with peer.sched_alternate, this scheduler changes every
 * cycle. */
static inline uint32_t first_scheduler(const struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    return !sm->cfg->sm.alternate ? 0 : n == 2 ? (uint32_t)now & 1 : (uint32_t)(now % n);
}

/* Runs all schedulers round-robin while a table is nearly full. Otherwise spinning warps that have priority (older
 * warps, or warps of the first scheduler) could take every free entry forever. The warps of each scheduler are
 * picked round-robin, too. */
static bool issue_in_turn(struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    bool any = false;
    for (uint32_t k = 0, s = sm->issue.first; k < n && !sm->status.stopped; k++, s = s + 1 < n ? s + 1 : 0) {
        struct warp_set may = {.word = {0}};
        find_issuable(sm, s, now, sm->warps.words, &may);
        struct warp_set ready = warp_sets_and(&may, &sm->issue.sched[s].mine);
        int w = warp_set_any(&ready, sm->warps.words)
                    ? (int)warp_set_after(&ready, sm->issue.sched[s].last, sm->warps.words)
                    : -1;
        if (issue_picked(sm, s, w, now, sm->warps.words, false)) {
            any = true;
            sm->issue.first = s + 1 < n ? s + 1 : 0;
        }
    }
    return any;
}

/* Runs the schedulers of a divided SM whose sets have one word. The causes of idle slots of the other schedulers stay
 * the same, unless an instruction that issues changes other warps. */
static __attribute__((noinline)) bool issue_divided(struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    const bool taken = sm->modern && modern_some_slot_taken(sm->modern, now);
    struct part_slots slots;
    bool any = false;
    if (sm->status.stopped)
        return false;
    part_slots_find(sm, &slots);
    for (uint32_t k = 0, s = first_scheduler(sm, now); k < n; k++, s = s + 1 < n ? s + 1 : 0) {
        const uint64_t ready = slots.ready & sm->issue.mine[s];
        const int w = ready ? part_pick(sm, s, ready, slots.others, now) : -1;
        if (w < 0 && !(taken && modern_slot_taken(sm->modern, s, now))) {
            part_slots_count(sm, &slots, s, 1);
            continue;
        }
        const bool more = w >= 0 && part_changes_others(sm, w);
        any |= issue_picked(sm, s, w, now, 1, false);
        if (sm->status.stopped)
            break;
        if (more)
            part_slots_find(sm, &slots);
    }
    return any;
}

/* Returns true if no instruction is ready and no expansion has taken an issue slot, so that no scheduler issues until
 * the next simulated cycle. */
static inline bool nothing_issues(const struct sm *sm, uint64_t now) {
    uint64_t ready = 0;
    for (uint32_t k = 0; k < sm->warps.words; k++)
        ready |= warps_ready(&sm->warps, k);
    return !ready && !(sm->modern && modern_some_slot_taken(sm->modern, now));
}

/* Runs the schedulers of an SM: the general case, with any number of schedulers, even while a table is nearly full. */
static inline __attribute__((always_inline)) bool issue_each(struct sm *sm, uint64_t now, uint32_t words) {
    const uint32_t n = sm->cfg->sm.schedulers;
    bool any = false;
    if (now < sm->in_flight.scarce_until)
        return issue_in_turn(sm, now);
    for (uint32_t k = 0, s = first_scheduler(sm, now); k < n && !sm->status.stopped; k += 2) {
        uint32_t second = s + 1 < n ? s + 1 : 0;
        any |= issue_pair(sm, s, second, k + 1 < n, now, words, false);
        s = second + 1 < n ? second + 1 : 0;
    }
    return any;
}

static __attribute__((noinline)) bool issue_one_word(struct sm *sm, uint64_t now) {
    if (sm->operands.n_parts > 1 && part_slots_fit(sm, 1) && now >= sm->in_flight.scarce_until)
        return issue_divided(sm, now);
    return issue_each(sm, now, 1);
}

static __attribute__((noinline)) bool issue_all(struct sm *sm, uint64_t now) {
    return sm->warps.words == 1 ? issue_one_word(sm, now) : issue_each(sm, now, sm->warps.words);
}

/* The copies of a cycle's code: for all cases, for sm_fast_path.cycles, and for sm_fast_path.modern. */
enum copy { ANY, CLASSIC, MODERN };
static inline bool is_modern(const struct sm *sm, const enum copy copy) {
    return copy == MODERN || (copy == ANY && __builtin_expect(sm->modern != NULL, 0));
}

static inline __attribute__((always_inline)) void issue_stage(struct sm *sm, uint64_t now, uint32_t words,
                                                              const enum copy copy) {
    if (copy == MODERN) {
        if (!(now >= sm->in_flight.scarce_until ? issue_divided(sm, now) : issue_one_word(sm, now)))
            count_idle_cycles(sm, 1, words);
        return;
    }
    bool two = sm->cfg->sm.schedulers == 2 && now >= sm->in_flight.scarce_until && !sm->status.stopped;
    uint32_t first = first_scheduler(sm, now);
    if (!(two ? issue_pair(sm, first, first ^ 1, true, now, words, copy == CLASSIC) : issue_all(sm, now)))
        count_idle_cycles(sm, 1, words);
}

/* Returns the first cycle in which a pipe of part `s` has room for a ready instruction. */
static inline uint64_t part_takes(const struct sm *sm, uint32_t s, uint32_t words) {
    const struct exec_part *e = &sm->operands.part[s];
    uint64_t first = UINT64_MAX, memory = UINT64_MAX;
    for (uint32_t k = 0; k < words; k++) {
        /* if the SM is not divided, all schedulers share one part */
        uint64_t mine = sm->operands.n_parts > 1 ? sm->issue.sched[s].mine.word[k] : ~0ull;
        for (int p = 0; p < N_PIPES; p++) {
            bool waits = warps_with(&sm->warps, PATH_READY + p, k) & mine;
            uint64_t *const of = p == PIPE_MEM ? &memory : &first;
            *of = min64(*of, e->takes[p] | -(uint64_t)!waits);
        }
    }
    return min64(max64(first, e->held), memory);
}

/* Returns true if scheduler `s` has a ready warp. */
static inline bool part_is_ready(const struct sm *sm, uint32_t s, uint32_t words) {
    uint64_t ready = 0;
    for (uint32_t k = 0; k < words; k++)
        ready |= warps_ready(&sm->warps, k) & sm->issue.sched[s].mine.word[k];
    return ready;
}

/* Does the same as parts_take() for sets of one word. Most pipes have no ready instruction. */
static inline uint64_t parts_take_word(const struct sm *sm, uint64_t now) {
    uint64_t first = UINT64_MAX;
    for (uint32_t p = 0; p < N_PIPES && first > now + 1; p++) {
        const uint64_t ready = warps_with(&sm->warps, PATH_READY + p, 0);
        for (uint32_t s = 0; ready && s < sm->operands.n_parts; s++)
            if (ready & sm->issue.mine[s])
                first = min64(first, operands_take(&sm->operands.part[s], p));
    }
    return first;
}

/* Returns the first cycle in which a pipe has room for a ready instruction of its part, or any earlier cycle after
 * `now`. */
static inline uint64_t parts_take(const struct sm *sm, uint64_t now, uint32_t words) {
    uint64_t first = UINT64_MAX;
    if (words == 1)
        return parts_take_word(sm, now);
    for (uint32_t s = 0; s < sm->operands.n_parts && first > now + 1; s++)
        if (part_is_ready(sm, s, words))
            first = min64(first, part_takes(sm, s, words));
    return first;
}

/* Returns the first cycle > now in which an instruction may issue, if no event comes first. (If a table of
 * instructions is full, an event must first free an entry.) */
static inline uint64_t next_issue(const struct sm *sm, uint64_t now, uint32_t words) {
    uint64_t ready = 0;
    for (uint32_t k = 0; k < words; k++)
        ready |= warps_ready(&sm->warps, k);
    if (!ready || !in_flight_has_room(&sm->in_flight))
        return UINT64_MAX;
    return max64(__builtin_expect(sm->operands.n_parts > 1, 0) ? parts_take(sm, now, words) : part_takes(sm, 0, words),
                 now + 1);
}

/* Returns true if a path that was not refused wants to fetch. */
static __attribute__((noinline)) bool wants_another_fetch(const struct sm *sm) {
    const struct warp_set m = warps_in_state(&sm->warps, PATH_FETCH);
    uint32_t w;
    for (struct warp_walk at = warp_walk(&m); warp_next(&at, &m, sm->warps.words, &w);) {
        const struct sm_warp *sw = &sm->warps.slot[w];
        for (uint32_t p = 0; p < sw->n_paths; p++)
            if (sw->path[p].state == PATH_FETCH && !sw->path[p].refused)
                return true;
    }
    return false;
}

/* Returns true if a path wants to fetch, refused or not. */
static inline bool some_fetch(const struct sm *sm, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t k = 0; k < words; k++)
        any |= warps_with(&sm->warps, PATH_FETCH, k);
    return any;
}

static inline bool wants_fetch(const struct sm *sm, uint32_t words) {
    return some_fetch(sm, words) && (__builtin_expect(!sm->fetching.any_refused, 1) || wants_another_fetch(sm));
}

/* Returns true if modern_fetch() has work. */
static inline bool modern_wants_fetch(struct sm *sm) {
    sm->modern->fetches = false;
    return sm->fetch.n_ready || warp_sets_meet(&sm->fetching.room, &sm->warps.live, sm->warps.words);
}

/* Returns the next cycle with work for warps, fetches or events. */
static inline __attribute__((always_inline)) uint64_t next_own(const struct sm *sm, uint64_t now, uint32_t words) {
    if (sm->fetch.n_ready || wants_fetch(sm, words) || warp_set_any(&sm->fetching.spent, words) ||
        wheel_has(&sm->wheel, now + 1))
        return now + 1;
    uint64_t next = next_issue(sm, now, words);
    if (next == now + 1)
        return next;
    uint64_t event = wheel_next(&sm->wheel, now);
    return event < next ? event : next;
}

/* Returns the next cycle to simulate. This is the next cycle with work for memory instructions or the load/store
 * unit, or `own`, if that is earlier. `own` is the next cycle with work for the rest of the SM. */
static inline uint64_t next_with_memory(const struct sm *sm, uint64_t own) {
    uint64_t memory = sm->status.lsu_due < sm->memory.due ? sm->status.lsu_due : sm->memory.due;
    return memory < own ? memory : own;
}

/* Tells the schedulers' policy that the cycle ends. A warp is parked if some path waits for a load, a barrier, other
 * lanes or a queue, and no path is ready or waits for something that takes only a few cycles (an arithmetic result, a
 * fetch or a path switch). */
static __attribute__((noinline)) void end_scheduler_cycle(struct sm *sm) {
    struct warp_set parked = {.word = {0}};
    for (uint32_t k = 0; k < sm->warps.words; k++) {
        uint64_t waits = warps_causing(&sm->warps, SLOT_LOAD, k) | warps_with(&sm->warps, PATH_BARRIER, k) |
                         warps_with(&sm->warps, PATH_BLOCKED, k) | warps_with(&sm->warps, PATH_QUEUE, k) |
                         warps_with(&sm->warps, PATH_SLEEP, k);
        parked.word[k] = waits & ~(warps_ready(&sm->warps, k) | warps_with(&sm->warps, PATH_ARITH, k) |
                                   warps_causing(&sm->warps, SLOT_FETCH, k) | warps_with(&sm->warps, PATH_SWITCH, k));
    }
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++)
        sched_cycle_ends(&sm->issue.sched[s], &sm->warps.live, &parked);
}

/* Runs the memory stage of the SM's core, which is modern or classic. */
static inline bool memory_stage(struct sm *sm, uint64_t now, const bool modern) {
    return modern ? modern_mem_tick(sm, now) : sm_mem_tick(sm, now);
}

/* Runs a cycle without CTAs, in which only late replies arrive. The cycle's issue slots are counted later: when a
 * CTA begins, or at the end of the launch. */
static __attribute__((noinline)) void empty_cycle(struct sm *sm, uint64_t now) {
    take_events(sm, now);
    if (sm->clock.polls || sm->status.lsu_due <= now)
        sm_lsu_take(sm, lsu_tick(sm->lsu, now), now);
    if (sm->clock.polls || sm->memory.due <= now) /* work may be left if the last CTA ended in the middle of a tick */
        memory_stage(sm, now, sm->modern != NULL);
    for (uint32_t ticket, latency; fetch_take(&sm->fetch, &ticket, &latency);)
        continue; /* a line for a warp that has ended in a gap inside CTAs */
    sm->clock.own_next = 0;
    sm->status.next = next_with_memory(sm, next_own(sm, now, sm->warps.words));
    hot_assert(sm->status.next > now);
}

/* Records which work of a cycle quiet_cycle() has already done. It is used if the cycle turns out not to be quiet. */
struct walked {
    bool lsu, mem;  /* the load/store unit has run in this cycle; the memory stage has run in this cycle */
    unsigned found; /* lsu: what lsu_tick() returned */
};

/* Returns true if a memory instruction waits for its pipe. */
static inline bool some_memory(const struct sm *sm, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t k = 0; k < words; k++)
        any |= warps_with(&sm->warps, PATH_READY + PIPE_MEM, k);
    return any;
}

/* Runs the memory stage in a quiet cycle. Returns true if nothing changed for the rest of the SM. */
static inline __attribute__((always_inline)) bool quiet_memory(struct sm *sm, uint64_t now, uint32_t words,
                                                               const enum copy copy) {
    const uint32_t had = sm->memory.n_free;
    if (memory_stage(sm, now, is_modern(sm, copy)))
        return false;
    if (is_modern(sm, copy))
        sm->clock.own_next = min64(sm->clock.own_next, wheel_next(&sm->wheel, now)); /* the read of the operands */
    /* a memory instruction can issue now, so the cycle is not quiet */
    return !some_memory(sm, words) || (is_modern(sm, copy) && sm->memory.n_free == had);
}

/* Runs a cycle in which only the load/store unit and the memory stage have work (sm_fast_path.quiet). Returns true if
 * nothing changed for the rest of the SM, as in a skipped cycle. */
static inline __attribute__((always_inline)) bool quiet_cycle(struct sm *sm, uint64_t now, struct walked *did,
                                                              uint32_t words, const enum copy copy) {
    if (sm->status.lsu_due <= now) {
        did->found = lsu_tick(sm->lsu, now);
        did->lsu = true;
        if (did->found || fetch_waits(&sm->fetch))
            return false;
        sm_lsu_due(sm, now);
        if (sm->memory.lsu_refused && sm->memory.due > now)
            sm->memory.due = now;
    }
    if (sm->memory.due <= now) {
        did->mem = true;
        if (!quiet_memory(sm, now, words, copy))
            return false;
    }
    sm->status.next = next_with_memory(sm, sm->clock.own_next);
    return true;
}

static inline __attribute__((always_inline)) void cycle(struct sm *sm, uint64_t now, uint32_t words,
                                                        const struct walked *did, const enum copy copy) {
    const bool fast = copy != ANY;
    if (!sm->status.ctas && !sm_hooked(sm, HOOK_TICK)) { /* units may have work even without CTAs */
        empty_cycle(sm, now);
        return;
    }
    const bool counts = fast || sm->status.ctas; /* cycles without CTAs are counted later: see empty_cycle() */
    if (counts) {
        account(sm, now, words, fast);
        sm->clock.accounted = now + 1; /* sm_inflight_new() takes the present cycle from this field */
    }
    take_events(sm, now);
    if (did->lsu && !did->mem)
        sm_lsu_take(sm, did->found, now);
    else if ((!fast && sm->clock.polls) || sm->status.lsu_due <= now)
        sm_lsu_take(sm, lsu_tick(sm->lsu, now), now);
    if (!did->mem && ((!fast && sm->clock.polls) || sm->memory.due <= now))
        memory_stage(sm, now, is_modern(sm, copy));
    if (!fast && sm_hooked(sm, HOOK_TICK))
        sm_units_tick(sm, now);
    if (copy == CLASSIC ? !warps_ready(&sm->warps, 0)
                        : (fast || sm->fast.quiet) &&
                              nothing_issues(sm, now)) { /* no scheduler issues until the next simulated cycle */
        sm->clock.accounted = now;
    } else if (counts) {
        count_live_warps(sm, 1, words, fast);
        issue_stage(sm, now, words, copy);
    }
    if (!fast && sm_hooked(sm, HOOK_AFTER_ISSUE))
        sm_units_after_issue(sm, now);
    if (is_modern(sm, copy)) {
        if (modern_wants_fetch(sm))
            modern_fetch(sm, now);
    } else if (sm->fetch.n_ready || some_fetch(sm, words) || warp_set_any(&sm->fetching.spent, words) ||
               sm->warps.words != words) { /* a unit has opened a context in this cycle */
        sm_fetch(sm, now);
    }
    if (fast || sm->fast.quiet) {
        sm->clock.own_next = is_modern(sm, copy) && sm->modern->fetches ? now + 1 : next_own(sm, now, words);
        sm->status.next = next_with_memory(sm, sm->clock.own_next);
        return;
    }
    sm->clock.own_next = 0;
    bool again = sm->model.wants.interleaves && sm_select(sm, now);
    if (sm->issue.sched[0].ops->cycle_ends)
        end_scheduler_cycle(sm);
    again |= sm->warps.split_check.n && sm_split(sm, now);
    sm->status.next = again ? now + 1 : next_with_memory(sm, next_own(sm, now, words));
    hot_assert(sm->status.next > now);
    if (sm->modern && sm->modern->fetches)
        sm->status.next = now + 1;
    if (sm_hooked(sm, HOOK_NEXT)) {
        uint64_t unit = sm_units_next(sm, now);
        sm->status.next = unit < sm->status.next ? unit : sm->status.next;
    }
    if (sm_hooked(sm, HOOK_LOOK))
        sm_units_look(sm, now);
}

static inline __attribute__((always_inline)) void fast_cycle(struct sm *sm, uint64_t now) {
    struct walked did = {false, false, 0};
    if (now >= sm->clock.own_next || !quiet_cycle(sm, now, &did, 1, CLASSIC))
        cycle(sm, now, 1, &did, CLASSIC);
}

static __attribute__((noinline)) void modern_cycle(struct sm *sm, uint64_t now) {
    struct walked did = {false, false, 0};
    if (now >= sm->clock.own_next || !quiet_cycle(sm, now, &did, 1, MODERN))
        cycle(sm, now, 1, &did, MODERN);
}

static inline __attribute__((always_inline)) void any_cycle(struct sm *sm, uint64_t now, uint32_t words) {
    struct walked did = {false, false, 0};
    if (!sm->fast.quiet || now >= sm->clock.own_next || !quiet_cycle(sm, now, &did, words, ANY))
        cycle(sm, now, words, &did, ANY);
}

static __attribute__((noinline)) void one_word_cycle(struct sm *sm, uint64_t now) { any_cycle(sm, now, 1); }

static __attribute__((noinline)) void general_cycle(struct sm *sm, uint64_t now) {
    if (sm->warps.words == 1)
        one_word_cycle(sm, now);
    else
        any_cycle(sm, now, sm->warps.words);
}

static __attribute__((noinline)) uint64_t next_edge(uint64_t now, uint64_t to, uint32_t edge) {
    return min64((now / edge + 1) * edge, to);
}

/* Returns the cycle at which sm_run() stops: `to`, or an edge before it. `now`: the cycle being simulated. */
static inline uint64_t stop_at(const struct sm *sm, uint64_t now, uint64_t to, uint32_t edge, uint32_t ctas) {
    if (__builtin_expect(sm->status.n_ordered || sm->status.ctas < ctas, 0))
        return next_edge(now, to, edge);
    return to;
}

/* Counts how often the next cycle to simulate equals the present cycle. MOST repetitions in a row mean a bug in the
 * SM or in a unit, and the SM stops with a fault. */
static __attribute__((noinline, cold)) void check_repeats(struct sm *sm, uint64_t now) {
    enum { MOST = 1000 };
    sm->clock.repeats = sm->clock.walked == now ? sm->clock.repeats + 1 : 1;
    sm->clock.walked = now;
    if (sm->clock.repeats < MOST || sm->status.stopped)
        return;
    sm->fault = (struct fault){.kind = FAULT_STANDSTILL};
    sm->status.fault_cycle = now;
    sm->status.stopped = true;
}

void sm_run(struct sm *sm, uint64_t to, uint32_t edge, uint32_t ctas) {
    struct sm_status *s = &sm->status;
    uint64_t from = s->reached, stop = stop_at(sm, from, to, edge, ctas), sure = lsu_sure(sm->lsu);
    sm_lsu_due(sm, from - 1);
    if (s->lsu_due < s->next)
        s->next = s->lsu_due;
    uint64_t now = sm->clock.polls || s->next < from ? from : s->next;
    while (now < stop && !s->stopped && (s->next != UINT64_MAX || s->ctas)) {
        if (now >= sure && !lsu_goes_on(sm->lsu)) {
            stop = now;
            break;
        }
        if (__builtin_expect(sm->fast.cycles, 1))
            fast_cycle(sm, now);
        else if (sm->fast.modern)
            modern_cycle(sm, now);
        else
            general_cycle(sm, now);
        s->worked = now + 1;
        stop = stop_at(sm, now, stop, edge, ctas);
        if (__builtin_expect(s->next <= now, 0))
            check_repeats(sm, now);
        now = __builtin_expect(sm->clock.polls, 0) ? now + 1 : s->next;
    }
    if (stop > sure && lsu_waits(sm->lsu)) /* the load/store unit may have begun to wait for room in the last cycle */
        stop = max64(max64(sure, from), s->worked);
    s->reached = s->stopped ? to : stop;
}

uint64_t sm_next(struct sm *sm, uint64_t now) {
    sm_lsu_due(sm, now - 1);
    uint64_t next = sm->status.next < sm->status.lsu_due ? sm->status.next : sm->status.lsu_due;
    return next > now ? next : now;
}

void sm_flush(struct sm *sm) { lsu_flush(sm->lsu); }

uint64_t sm_issue_count(const struct sm *sm) { return sm->n.slot[SLOT_ISSUED] + lsu_walk_moved(sm->lsu); }

const struct gpu_profile *sm_profile(const struct sm *sm) { return sm->issue.profile; }
