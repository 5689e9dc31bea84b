#ifndef TIMING_SM_ISSUE_SLOTS_H
#define TIMING_SM_ISSUE_SLOTS_H
/* Counts the use of issue slots, cycle by cycle or for many cycles in which nothing changes. `words` is the number of
 * words that the SM's sets of warps use (warp_set.h). `fast` is sm_fast_path.cycles. */
#include "part_slots.h"

/* Counts the issue slots of the cycles before `to` that are not counted yet. Uses the present states of the warps. */
void sm_account(struct sm *sm, uint64_t to);
/* Adds the cycles of a slot to the profile of the first warp with this cause. */
void sm_profile_idle_slot(struct sm *sm, enum slot slot, const struct warp_set *mine, uint64_t cycles);
/* Counts cycles in which scheduler `s` and the schedulers after it issue nothing. */
void sm_count_idle_slots(struct sm *sm, uint32_t s, uint64_t cycles);
/* Subtracts contexts that are awake from the counted warp cycles. */
void sm_count_contexts(struct sm *sm, uint64_t cycles);

/* Counts `cycles` slots in which scheduler `s` issues nothing. */
static inline __attribute__((always_inline)) void count_idle_slot(struct sm *sm, const struct slot_causes *c,
                                                                  uint32_t s, uint64_t cycles, uint32_t words,
                                                                  const bool fast) {
    const struct warp_set *mine = &sm->issue.sched[s].mine;
    enum slot slot = slot_cause(&sm->warps, c, mine, words);
    sm->n.slot[slot] += cycles;
    if (slot == SLOT_PIPE && slot_waits_for_memory(&sm->warps, mine, words))
        sm->n.busy_memory += cycles;
    if (!fast && sm->issue.profile && slot != SLOT_NO_WARP)
        sm_profile_idle_slot(sm, slot, mine, cycles);
}

/* Counts `cycles` cycles in which nothing issues and nothing changes. */
static inline void count_idle_cycles(struct sm *sm, uint64_t cycles, uint32_t words) {
    uint64_t loads = 0, divergent = 0;
    if (!warp_set_any(&sm->warps.live, words))
        return;
    for (uint32_t k = 0; k < words; k++) { /* an atomic counts as a load, because it returns the old value */
        uint64_t l = warps_with(&sm->warps, PATH_LOAD, k) | warps_with(&sm->warps, PATH_ORDER, k);
        loads |= l;
        divergent |= l & sm->warps.divergent.word[k];
    }
    sm->n.idle_cycles += cycles;
    sm->n.exposed_load += loads ? cycles : 0;
    sm->n.exposed_load_divergent += divergent ? cycles : 0;
}

/* Counts `cycles` cycles for each live warp. */
static inline void count_live_warps(struct sm *sm, uint64_t cycles, uint32_t words, const bool fast) {
    sm->n.warp_cycles += cycles * warp_set_count(&sm->warps.live, words);
    if (!fast && __builtin_expect(sm->contexts.n != 0, 0))
        sm_count_contexts(sm, cycles);
}

/* Counts `cycles` cycles in which no scheduler of an SM whose sets have one word issues. */
static inline __attribute__((always_inline)) void count_idle_parts(struct sm *sm, uint64_t cycles) {
    struct part_slots slots;
    part_slots_find(sm, &slots);
    for (uint32_t s = 0; s < sm->cfg->sm.schedulers; s++)
        part_slots_count(sm, &slots, s, cycles);
}

/* Does the same as sm_account(), inline. */
static inline __attribute__((always_inline)) void account(struct sm *sm, uint64_t to, uint32_t words, const bool fast) {
    if (to <= sm->clock.accounted)
        return;
    uint64_t cycles = to - sm->clock.accounted;
    struct slot_causes c[WARP_WORDS];
    sm->clock.accounted = to;
    if (part_slots_fit(sm, words)) {
        count_idle_parts(sm, cycles);
        count_live_warps(sm, cycles, words, fast);
        count_idle_cycles(sm, cycles, words);
        return;
    }
    for (uint32_t k = 0; k < words; k++)
        c[k] = slot_causes_of(&sm->warps, k);
    count_idle_slot(sm, c, 0, cycles, words, fast);
    if (sm->cfg->sm.schedulers == 2)
        count_idle_slot(sm, c, 1, cycles, words, fast);
    else if (fast)
        sm_count_idle_slots(sm, 1, cycles);
    else
        for (uint32_t s = 1; s < sm->cfg->sm.schedulers; s++)
            count_idle_slot(sm, c, s, cycles, words, false);
    count_live_warps(sm, cycles, words, fast);
    count_idle_cycles(sm, cycles, words);
}
#endif
