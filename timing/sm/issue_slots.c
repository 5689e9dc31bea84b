/* Functions that count issue slots: functions for rare cases, and functions that need not be inline. */
#include "issue_slots.h"

void sm_profile_idle_slot(struct sm *sm, enum slot slot, const struct warp_set *mine, uint64_t cycles) {
    uint32_t k = 0;
    while (!(warps_causing(&sm->warps, slot, k) & mine->word[k]))
        k++;
    uint64_t causing = warps_causing(&sm->warps, slot, k) & mine->word[k];
    const struct sm_warp *sw = &sm->warps.slot[k * 64 + (uint32_t)__builtin_ctzll(causing)];
    if (sw->n_paths)
        sm->issue.profile[sw->path[0].pc].stall[slot] += cycles;
}

void sm_count_idle_slots(struct sm *sm, uint32_t s, uint64_t cycles) {
    struct slot_causes c[WARP_WORDS];
    for (uint32_t k = 0; k < sm->warps.words; k++)
        c[k] = slot_causes_of(&sm->warps, k);
    for (; s < sm->cfg->sm.schedulers; s++)
        count_idle_slot(sm, c, s, cycles, sm->warps.words, false);
}

void sm_count_contexts(struct sm *sm, uint64_t cycles) {
    uint64_t awake = cycles * contexts_awake(sm);
    sm->n.context_cycles += awake;
    sm->n.warp_cycles -= awake;
}

void sm_account(struct sm *sm, uint64_t to) { account(sm, to, sm->warps.words, false); }
