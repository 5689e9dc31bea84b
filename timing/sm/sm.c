/* The SM's clock: which cycles are walked, what happens in one, and where the issue slots of all of them went. */
#include "isa/hot_assert.h"
#include "sm_parts.h"
#include <assert.h>
#include <stddef.h>

_Static_assert(offsetof(struct sm, status) == 0, "sm_status() looks there");

/* Of the warps of word `k` of the sets: those with a path in a state; with one that is ready. */
static inline uint64_t in_state(const struct sm *sm, enum path_state state, uint32_t k) {
    return sm->in_state[k][state];
}
static inline uint64_t ready_warps(const struct sm *sm, uint32_t k) {
    uint64_t ready = 0;
    for (int p = 0; p < N_PIPES; p++)
        ready |= sm->in_state[k][PATH_READY + p];
    return ready;
}

/* Those whose states give a slot this cause. */
static inline uint64_t warps_of(const struct sm *sm, enum slot slot, uint32_t k) {
    switch (slot) {
    case SLOT_PIPE:
        return ready_warps(sm, k);
    case SLOT_LOAD:
        return in_state(sm, PATH_LOAD, k) | in_state(sm, PATH_FENCE, k) | in_state(sm, PATH_ORDER, k);
    case SLOT_ARITH:
        return in_state(sm, PATH_ARITH, k);
    case SLOT_FETCH:
        return in_state(sm, PATH_FETCH, k) | in_state(sm, PATH_FETCHING, k);
    case SLOT_RECONVERGENCE:
        return in_state(sm, PATH_SWITCH, k) | in_state(sm, PATH_BLOCKED, k);
    case SLOT_QUEUE:
        return in_state(sm, PATH_QUEUE, k);
    case SLOT_BARRIER:
        return in_state(sm, PATH_BARRIER, k);
    default:
        return 0;
    }
}

/* Of one word of warps those that give a slot one of the first four causes, each with those before it. */
struct waiting {
    uint64_t pipe, to_load, to_arith, to_fetch;
};
static inline struct waiting waiting_of(const struct sm *sm, uint32_t k) {
    struct waiting w = {.pipe = ready_warps(sm, k)};
    w.to_load = w.pipe | warps_of(sm, SLOT_LOAD, k);
    w.to_arith = w.to_load | warps_of(sm, SLOT_ARITH, k);
    w.to_fetch = w.to_arith | warps_of(sm, SLOT_FETCH, k);
    return w;
}

/* What the slot of a scheduler waits for, as far as the warps `mine` of one word say. Which of the first four it is is
 * as good as random: no branches. */
static inline enum slot idle_slot_of(const struct sm *sm, const struct waiting *w, uint64_t mine, uint32_t k) {
    if (w->to_fetch & mine)
        return (enum slot)(SLOT_PIPE + !(w->pipe & mine) + !(w->to_load & mine) + !(w->to_arith & mine));
    if (warps_of(sm, SLOT_RECONVERGENCE, k) & mine)
        return SLOT_RECONVERGENCE;
    if (warps_of(sm, SLOT_QUEUE, k) & mine)
        return SLOT_QUEUE;
    return warps_of(sm, SLOT_BARRIER, k) & mine ? SLOT_BARRIER : SLOT_NO_WARP;
}

/* When it issues nothing: warps may differ, and the first cause in the order of enum slot is named. */
static inline enum slot idle_slot(const struct sm *sm, const struct waiting *w, const struct warp_set *mine,
                                  uint32_t words) {
    enum slot first = SLOT_NO_WARP;
    for (uint32_t k = 0; k < words; k++) {
        enum slot slot = idle_slot_of(sm, &w[k], mine->word[k], k);
        first = slot < first ? slot : first;
    }
    return first;
}

/* Of warps with a ready instruction: are all those instructions for the load/store unit? */
static bool only_memory(const struct sm *sm, const struct warp_set *mine, uint32_t words) {
    uint64_t others = 0;
    for (uint32_t k = 0; k < words; k++)
        for (int p = 0; p < N_PIPES; p++)
            others |= p != PIPE_MEM ? in_state(sm, PATH_READY + p, k) & mine->word[k] : 0;
    return !others;
}

static __attribute__((noinline)) void profile_idle_slot(struct sm *sm, enum slot slot, const struct warp_set *mine,
                                                        uint64_t cycles) {
    uint32_t k = 0;
    while (!(warps_of(sm, slot, k) & mine->word[k]))
        k++;
    const struct sm_warp *sw = &sm->warp[k * 64 + (uint32_t)__builtin_ctzll(warps_of(sm, slot, k) & mine->word[k])];
    if (sw->n_paths)
        sm->profile[sw->path[0].pc].stall[slot] += cycles;
}

/* `cycles` slots of scheduler `s` in which it issues nothing. */
static inline __attribute__((always_inline)) void count_idle_slot(struct sm *sm, const struct waiting *w, uint32_t s,
                                                                  uint64_t cycles, uint32_t words, const bool calm) {
    const struct warp_set *mine = &sm->sched[s].mine;
    enum slot slot = idle_slot(sm, w, mine, words);
    sm->n.slot[slot] += cycles;
    if (slot == SLOT_PIPE && only_memory(sm, mine, words))
        sm->n.busy_memory += cycles;
    if (!calm && sm->profile && slot != SLOT_NO_WARP)
        profile_idle_slot(sm, slot, mine, cycles);
}

/* Those of scheduler `s` and the ones behind it. */
static __attribute__((noinline)) void count_idle_slots(struct sm *sm, uint32_t s, uint64_t cycles) {
    struct waiting w[WARP_WORDS];
    for (uint32_t k = 0; k < sm->words; k++)
        w[k] = waiting_of(sm, k);
    for (; s < sm->cfg->sm.schedulers; s++)
        count_idle_slot(sm, w, s, cycles, sm->words, false);
}

/* `cycles` cycles in which nothing issues and nothing changes. */
static inline void account_idle(struct sm *sm, uint64_t cycles, uint32_t words) {
    uint64_t loads = 0, divergent = 0;
    if (!warp_set_any(&sm->live, words))
        return;
    for (uint32_t k = 0; k < words; k++) { /* an atomic's old value is loaded, too */
        uint64_t l = in_state(sm, PATH_LOAD, k) | in_state(sm, PATH_ORDER, k);
        loads |= l;
        divergent |= l & sm->divergent.word[k];
    }
    sm->n.idle_cycles += cycles;
    sm->n.exposed_load += loads ? cycles : 0;
    sm->n.exposed_load_divergent += divergent ? cycles : 0;
}

/* Warps that were live for `cycles` cycles. */
static inline void count_live(struct sm *sm, uint64_t cycles, uint32_t words, const bool calm) {
    sm->n.warp_cycles += cycles * warp_set_count(&sm->live, words);
    if (!calm && __builtin_expect(sm->n_contexts != 0, 0)) {
        uint64_t awake = cycles * sm_contexts_awake(sm);
        sm->n.context_cycles += awake;
        sm->n.warp_cycles -= awake;
    }
}

static inline __attribute__((always_inline)) void account(struct sm *sm, uint64_t to, uint32_t words, const bool calm) {
    if (to <= sm->accounted)
        return;
    uint64_t cycles = to - sm->accounted;
    struct waiting w[WARP_WORDS];
    sm->accounted = to;
    for (uint32_t k = 0; k < words; k++)
        w[k] = waiting_of(sm, k);
    count_idle_slot(sm, w, 0, cycles, words, calm);
    if (sm->cfg->sm.schedulers == 2)
        count_idle_slot(sm, w, 1, cycles, words, calm);
    else
        count_idle_slots(sm, 1, cycles);
    count_live(sm, cycles, words, calm);
    account_idle(sm, cycles, words);
}

void sm_account(struct sm *sm, uint64_t to) { account(sm, to, sm->words, false); }

static __attribute__((noinline)) void rare_event(struct sm *sm, uint32_t kind, uint32_t value, uint64_t now) {
    if (kind == EVENT_SWITCHED)
        sm_evaluate_all(sm, value, now);
    else if (kind == EVENT_START)
        sm_warps_start(sm, value, now);
    else if (kind == EVENT_TURN)
        sm_turn_begin(sm, value, now);
}

static inline __attribute__((always_inline)) void take_events(struct sm *sm, uint64_t now) {
    uint32_t what;
    while (wheel_take(&sm->wheel, now, &what)) {
        uint32_t value = what / EVENT_KINDS, kind = what % EVENT_KINDS;
        if (kind == EVENT_WRITEBACK)
            sm_complete(sm, value, now);
        else if (kind == EVENT_FETCHED)
            sm_fetched(sm, value, now);
        else
            rare_event(sm, kind, value, now);
    }
}

/* Warps whose next instruction's pipe takes one now: of scheduler `s`, and of those beside it in an SM that is not
 * divided. */
static inline void find_issuable(const struct sm *sm, uint32_t s, uint64_t now, uint32_t words, struct warp_set *out) {
    const uint64_t *takes = sm->part[sm->n_parts > 1 ? s : 0].takes;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t may = 0;
        for (int p = 0; p < N_PIPES; p++)
            may |= takes[p] <= now ? in_state(sm, PATH_READY + p, k) : 0;
        out->word[k] = sm_inflight_free(sm) ? may : 0;
    }
}

/* The path of warp `w` to issue, of several: the next one in turn whose pipe takes it. */
static __attribute__((noinline)) uint32_t pick_path(const struct sm *sm, uint32_t s, uint32_t w, uint64_t now) {
    const struct sm_warp *sw = &sm->warp[w];
    uint32_t part = sm->n_parts > 1 ? s : 0;
    for (uint32_t i = 1; i <= sw->n_paths; i++) {
        uint32_t p = (sw->last_path + i) % sw->n_paths;
        if (sw->path[p].state < N_PIPES && sm_pipe_accepts(sm, part, sw->path[p].state, now))
            return p;
    }
    assert(!"a ready path of a ready warp");
    return 0;
}

/* The slot of a scheduler that picks warp `w`; false: none, if that is negative. */
static inline __attribute__((always_inline)) bool issue_picked(struct sm *sm, uint32_t s, int w, uint64_t now,
                                                               uint32_t words, const bool calm) {
    if (w < 0) {
        struct waiting why[WARP_WORDS];
        for (uint32_t k = 0; k < words; k++)
            why[k] = waiting_of(sm, k);
        count_idle_slot(sm, why, s, 1, words, calm);
        return false;
    }
    sched_issued(&sm->sched[s], w);
    uint32_t path = __builtin_expect(sm->warp[w].n_paths > 1, 0) ? pick_path(sm, s, (uint32_t)w, now) : 0;
    bool issued = sm_issue(sm, (uint32_t)w, path, now);
    sm->n.slot[issued ? SLOT_ISSUED : SLOT_RECONVERGENCE]++;
    return true;
}

/* The slot of a scheduler; false: it issues nothing. `may`: find_issuable() for it. */
static inline __attribute__((always_inline)) bool issue_slot(struct sm *sm, uint32_t s, const struct warp_set *may,
                                                             uint64_t now, uint32_t words, const bool calm) {
    struct warp_set ready = {.word = {0}}; /* two_level looks at all words */
    for (uint32_t k = 0; k < words; k++)
        ready.word[k] = may->word[k] & sm->sched[s].mine.word[k];
    int w = warp_set_any(&ready, words) ? sched_pick(&sm->sched[s], &ready, sm->age, words) : -1;
    return issue_picked(sm, s, w, now, words, calm);
}

/* Two schedulers, or the last one: what follows the first of two is another branch than what follows the second, and
 * each goes the same way every time. */
static inline __attribute__((always_inline)) bool issue_pair(struct sm *sm, uint32_t s, uint32_t second, bool both,
                                                             uint64_t now, uint32_t words, const bool calm) {
    struct warp_set may;
    find_issuable(sm, s, now, words, &may);
    bool first = issue_slot(sm, s, &may, now, words, calm);
    if (!both || sm->status.stopped)
        return first;
    if (first || sm->n_parts > 1) /* else nothing has changed */
        find_issuable(sm, second, now, words, &may);
    return issue_slot(sm, second, &may, now, words, calm) || first;
}

/* The scheduler that issues first in cycle `now`: with peer.sched_alternate each in turn. */
static inline uint32_t first_scheduler(const struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    return !sm->cfg->sm.alternate ? 0 : n == 2 ? (uint32_t)now & 1 : (uint32_t)(now % n);
}

/* Where a table of the model's own is short of entries, who spins at the first schedulers, or is older, would take each
 * one that becomes free, for ever. So the schedulers have the first choice in turn, and so have their warps. */
static bool issue_in_turn(struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    bool any = false;
    for (uint32_t k = 0, s = sm->issue_first; k < n && !sm->status.stopped; k++, s = s + 1 < n ? s + 1 : 0) {
        struct warp_set may = {.word = {0}};
        find_issuable(sm, s, now, sm->words, &may);
        struct warp_set ready = warp_sets_and(&may, &sm->sched[s].mine);
        int w = warp_set_any(&ready, sm->words) ? (int)warp_set_after(&ready, sm->sched[s].last, sm->words) : -1;
        if (issue_picked(sm, s, w, now, sm->words, false)) {
            any = true;
            sm->issue_first = s + 1 < n ? s + 1 : 0;
        }
    }
    return any;
}

/* More or fewer than two, or in turn. */
static __attribute__((noinline)) bool issue_all(struct sm *sm, uint64_t now) {
    const uint32_t n = sm->cfg->sm.schedulers;
    bool any = false;
    if (now < sm->scarce_until)
        return issue_in_turn(sm, now);
    for (uint32_t k = 0, s = first_scheduler(sm, now); k < n && !sm->status.stopped; k += 2) {
        uint32_t second = s + 1 < n ? s + 1 : 0;
        any |= issue_pair(sm, s, second, k + 1 < n, now, sm->words, false);
        s = second + 1 < n ? second + 1 : 0;
    }
    return any;
}

static inline __attribute__((always_inline)) void issue_stage(struct sm *sm, uint64_t now, uint32_t words,
                                                              const bool calm) {
    bool two = sm->cfg->sm.schedulers == 2 && now >= sm->scarce_until && !sm->status.stopped;
    uint32_t first = first_scheduler(sm, now);
    if (!(two ? issue_pair(sm, first, first ^ 1, true, now, words, calm) : issue_all(sm, now)))
        account_idle(sm, 1, words);
}

/* Cycle from which some pipe of part `s` takes an instruction that is ready. */
static inline uint64_t part_takes(const struct sm *sm, uint32_t s, uint32_t words) {
    uint64_t first = UINT64_MAX;
    for (uint32_t k = 0; k < words; k++) {
        /* of one part each scheduler takes what any does */
        uint64_t mine = sm->n_parts > 1 ? sm->sched[s].mine.word[k] : ~0ull;
        for (int p = 0; p < N_PIPES; p++) {
            bool waits = in_state(sm, PATH_READY + p, k) & mine;
            first = min64(first, sm->part[s].takes[p] | -(uint64_t)!waits);
        }
    }
    return first;
}

static __attribute__((noinline)) uint64_t parts_take(const struct sm *sm) {
    uint64_t first = UINT64_MAX;
    for (uint32_t s = 0; s < sm->n_parts; s++)
        first = min64(first, part_takes(sm, s, sm->words));
    return first;
}

/* When may something issue, if no event comes first? Entries of the tables of instructions in flight and of memory
 * instructions become free by events. */
static inline uint64_t next_issue(const struct sm *sm, uint64_t now, uint32_t words) {
    uint64_t ready = 0;
    for (uint32_t k = 0; k < words; k++)
        ready |= ready_warps(sm, k);
    if (!ready || !sm_inflight_free(sm))
        return UINT64_MAX;
    return max64(__builtin_expect(sm->n_parts > 1, 0) ? parts_take(sm) : part_takes(sm, 0, words), now + 1);
}

/* The same where some have been refused. */
static __attribute__((noinline)) bool wants_another_fetch(const struct sm *sm) {
    struct warp_set m = sm_state_set(sm, PATH_FETCH);
    uint32_t w;
    while (warp_set_take(&m, &w)) {
        const struct sm_warp *sw = &sm->warp[w];
        for (uint32_t p = 0; p < sw->n_paths; p++)
            if (sw->path[p].state == PATH_FETCH && !sw->path[p].refused)
                return true;
    }
    return false;
}

/* A path wants to fetch, or has been refused. */
static inline bool some_fetch(const struct sm *sm, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t k = 0; k < words; k++)
        any |= in_state(sm, PATH_FETCH, k);
    return any;
}

static inline bool wants_fetch(const struct sm *sm, uint32_t words) {
    return some_fetch(sm, words) && (__builtin_expect(!sm->any_refused, 1) || wants_another_fetch(sm));
}

/* The next cycle to walk, as far as warps, fetches and events know. */
static inline __attribute__((always_inline)) uint64_t next_own(const struct sm *sm, uint64_t now, uint32_t words) {
    if (sm->fetch.n_ready || wants_fetch(sm, words) || warp_set_any(&sm->spent, words) ||
        wheel_has(&sm->wheel, now + 1))
        return now + 1;
    uint64_t next = next_issue(sm, now, words);
    if (next == now + 1)
        return next;
    uint64_t event = wheel_next(&sm->wheel, now);
    return event < next ? event : next;
}

/* With what is between warps and memory, if the rest of the SM has something to do at `own`. */
static inline uint64_t next_with_memory(const struct sm *sm, uint64_t own) {
    uint64_t memory = sm->status.lsu_due < sm->mem_due ? sm->status.lsu_due : sm->mem_due;
    return memory < own ? memory : own;
}

/* Warps none of whose paths will issue soon leave the active sets. One with a path that waits long and another that can
 * go on is not among them. */
static void update_active(struct sm *sm) {
    struct warp_set parked = {.word = {0}};
    for (uint32_t k = 0; k < sm->words; k++) {
        uint64_t waits = warps_of(sm, SLOT_LOAD, k) | in_state(sm, PATH_BARRIER, k) | in_state(sm, PATH_BLOCKED, k) |
                         in_state(sm, PATH_QUEUE, k);
        parked.word[k] = waits & ~(ready_warps(sm, k) | in_state(sm, PATH_ARITH, k) | warps_of(sm, SLOT_FETCH, k) |
                                   in_state(sm, PATH_SWITCH, k));
    }
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++)
        sched_update(&sm->sched[s], &sm->live, &parked);
}

/* A cycle without CTAs, in which replies come that nobody waits for. It is accounted when a CTA comes, or at the end of
 * the launch. */
static __attribute__((noinline)) void empty_cycle(struct sm *sm, uint64_t now) {
    take_events(sm, now);
    if (sm->polls || sm->status.lsu_due <= now)
        sm_lsu_take(sm, lsu_tick(sm->lsu, now), now);
    if (sm->polls || sm->mem_due <= now) /* the last CTA may have ended in the middle of a tick */
        sm_mem_tick(sm, now);
    sm->own_next = 0;
    sm->status.next = next_with_memory(sm, next_own(sm, now, sm->words));
    hot_assert(sm->status.next > now);
}

/* How much of a cycle has been walked when it turns out that it is not quiet. */
struct walked {
    bool lsu, mem;  /* the load/store unit has had its turn; that, and memory instructions theirs */
    unsigned found; /* lsu: by the unit */
};

/* A calm cycle in which only the load/store unit and memory instructions on their way to it have something to do. True
 * when nothing of it concerns the rest of the SM: to warps it is a cycle like those that are not walked. */
static inline __attribute__((always_inline)) bool quiet_cycle(struct sm *sm, uint64_t now, struct walked *did) {
    if (sm->status.lsu_due <= now) {
        did->found = lsu_tick(sm->lsu, now);
        did->lsu = true;
        if (did->found || fetch_waits(&sm->fetch))
            return false;
        sm_lsu_due(sm, now);
        if (sm->lsu_refused && sm->mem_due > now)
            sm->mem_due = now;
    }
    if (sm->mem_due <= now) {
        did->mem = true;
        if (sm_mem_tick(sm, now) || in_state(sm, PATH_READY + PIPE_MEM, 0)) /* that may issue now */
            return false;
    }
    sm->status.next = next_with_memory(sm, sm->own_next);
    return true;
}

static inline __attribute__((always_inline)) void cycle(struct sm *sm, uint64_t now, uint32_t words,
                                                        const struct walked *did, const bool calm) {
    if (!sm->status.ctas && !sm_hooked(sm, HOOK_TICK)) { /* units may have work of their own */
        empty_cycle(sm, now);
        return;
    }
    const bool counts = calm || sm->status.ctas; /* if not, as in empty_cycle() */
    if (counts) {
        account(sm, now, words, calm);
        sm->accounted = now + 1; /* what begins in this cycle asks here which it is */
    }
    take_events(sm, now);
    if (did->lsu && !did->mem)
        sm_lsu_take(sm, did->found, now);
    else if ((!calm && sm->polls) || sm->status.lsu_due <= now)
        sm_lsu_take(sm, lsu_tick(sm->lsu, now), now);
    if (!did->mem && ((!calm && sm->polls) || sm->mem_due <= now))
        sm_mem_tick(sm, now);
    if (!calm && sm_hooked(sm, HOOK_TICK))
        sm_units_tick(sm, now);
    if (calm && !ready_warps(sm, 0)) { /* a cycle like those behind it, until the next one that is walked */
        sm->accounted = now;
    } else if (counts) {
        count_live(sm, 1, words, calm);
        issue_stage(sm, now, words, calm);
    }
    if (!calm && sm->cfg->sm.in_turn)
        sm_turns(sm, now);
    if (sm->fetch.n_ready || some_fetch(sm, words) || warp_set_any(&sm->spent, words) ||
        sm->words != words) /* a unit may have opened a context */
        sm_fetch(sm, now);
    sm->own_next = calm ? next_own(sm, now, words) : 0;
    if (calm) {
        sm->status.next = next_with_memory(sm, sm->own_next);
        return;
    }
    bool again = sm->wants.interleaves && sm_select(sm, now);
    if (sm->cfg->sm.policy == SCHED_TWO_LEVEL)
        update_active(sm);
    again |= sm->n_split_look && sm_split(sm, now);
    sm->status.next = again ? now + 1 : next_with_memory(sm, next_own(sm, now, words));
    hot_assert(sm->status.next > now);
    if (sm_hooked(sm, HOOK_NEXT)) {
        uint64_t unit = sm_units_next(sm, now);
        sm->status.next = unit < sm->status.next ? unit : sm->status.next;
    }
    if (sm_hooked(sm, HOOK_LOOK))
        sm_units_look(sm, now);
}

static inline __attribute__((always_inline)) void calm_cycle(struct sm *sm, uint64_t now) {
    struct walked did = {false, false, 0};
    if (now >= sm->own_next || !quiet_cycle(sm, now, &did))
        cycle(sm, now, 1, &did, true);
}

static __attribute__((noinline)) void any_cycle(struct sm *sm, uint64_t now) {
    cycle(sm, now, sm->words, &(struct walked){false, false, 0}, false);
}

void sm_start_at(struct sm *sm, uint64_t cycle) { sm->status.reached = cycle; }

static __attribute__((noinline)) uint64_t next_edge(uint64_t now, uint64_t to, uint32_t edge) {
    return min64((now / edge + 1) * edge, to);
}

/* Where it has to stop, when it would be at `to`, now that it stands before the cycle `now` or has just walked it. */
static inline uint64_t stop_at(const struct sm *sm, uint64_t now, uint64_t to, uint32_t edge, uint32_t ctas) {
    if (__builtin_expect(sm->status.n_ordered || sm->status.ctas < ctas, 0))
        return next_edge(now, to, edge);
    return to;
}

/* The cycle that was just walked comes next again. Nothing but a bug of an SM or of one of its units keeps it so: after
 * MOST walks of one cycle the SM stops with a fault. */
static __attribute__((noinline, cold)) void comes_again(struct sm *sm, uint64_t now) {
    enum { MOST = 1000 };
    sm->repeats = sm->walked == now ? sm->repeats + 1 : 1;
    sm->walked = now;
    if (sm->repeats < MOST || sm->status.stopped)
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
    uint64_t now = sm->polls || s->next < from ? from : s->next;
    while (now < stop && !s->stopped && (s->next != UINT64_MAX || s->ctas)) {
        if (now >= sure && !lsu_goes_on(sm->lsu)) {
            stop = now;
            break;
        }
        if (__builtin_expect(sm->calm, 1))
            calm_cycle(sm, now);
        else
            any_cycle(sm, now);
        s->worked = now + 1;
        stop = stop_at(sm, now, stop, edge, ctas);
        if (__builtin_expect(s->next <= now, 0))
            comes_again(sm, now);
        now = __builtin_expect(sm->polls, 0) ? now + 1 : s->next;
    }
    if (stop > sure && lsu_waits(sm->lsu)) /* it may not have waited before */
        stop = max64(max64(sure, from), s->worked);
    s->reached = s->stopped ? to : stop;
}

uint64_t sm_next(struct sm *sm, uint64_t now) {
    sm_lsu_due(sm, now - 1);
    uint64_t next = sm->status.next < sm->status.lsu_due ? sm->status.next : sm->status.lsu_due;
    return next > now ? next : now;
}

void sm_flush(struct sm *sm) { lsu_flush(sm->lsu); }

uint64_t sm_issue_count(const struct sm *sm) { return sm->n.slot[SLOT_ISSUED]; }

const struct gpu_profile *sm_profile(const struct sm *sm) { return sm->profile; }
