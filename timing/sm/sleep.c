/* Warps of CTAs that a unit puts to sleep. */
#include "stages.h"
#include <assert.h>

void sm_sleep(struct sm *sm, uint32_t slot, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[slot];
    assert(!sw->context && !sw->finished && !sm_has_in_flight(sm, slot) && sm_may_sleep(sm));
    sw->asleep = true;
    sm_doze(sm, slot, now);
}

void sm_rouse(struct sm *sm, uint32_t slot, uint64_t cycle, uint64_t now) {
    assert(sm->warps.slot[slot].asleep && !sm->warps.slot[slot].waking && cycle >= now);
    sm->warps.slot[slot].waking = true;
    sm->warps.n_waking++;
    if (cycle > now)
        wheel_add(&sm->wheel, cycle, event_make(EVENT_WAKE, slot));
    else
        sm_woken(sm, slot, now);
}

void sm_woken(struct sm *sm, uint32_t w, uint64_t now) {
    sm->warps.n_waking--;
    sm->warps.slot[w].waking = sm->warps.slot[w].asleep = false;
    sm_doze(sm, w, now);
}

bool sm_is_asleep(const struct sm *sm, uint32_t slot) { return sm->warps.slot[slot].asleep; }
bool sm_is_waking(const struct sm *sm, uint32_t slot) { return sm->warps.slot[slot].waking; }
bool sm_may_sleep(const struct sm *sm) { return sm_hooked(sm, HOOK_AFTER_ISSUE); }
const struct warp_set *sm_get_live(const struct sm *sm) { return &sm->warps.live; }

uint32_t sm_count_awake(const struct sm *sm) {
    return warp_set_count(&sm->warps.live, sm->warps.words) - contexts_awake(sm) + sm->warps.n_waking;
}

bool sm_has_in_flight(const struct sm *sm, uint32_t slot) {
    const struct sm_warp *sw = &sm->warps.slot[slot];
    uint32_t await = 0; /* number of instructions that `inflight` counts, but that begin only when other lanes have
                         * arrived */
    for (uint32_t i = 0; i < sw->n_await; i++)
        await += !sw->await[i].served;
    return sw->inflight > await || sw->ordered;
}

bool sm_is_older(const struct sm *sm, uint32_t a, uint32_t b) {
    return (int32_t)(sm->warps.age[a] - sm->warps.age[b]) < 0;
}
