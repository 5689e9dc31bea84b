#include "dead_cta.h"
#include "isa/machine/warp.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/ctas.h"
#include "timing/sm/tma.h"
#include "timing/sm/unit_access.h"

/* Returns true if all live lanes of the warp in the slot wait for other lanes of its CTA. */
static bool waits_for_own_cta(const struct sm *sm, uint32_t slot) {
    const struct warp *w = sm_get_warp(sm, slot);
    return sm_is_finished(sm, slot) || (!sm_lanes_may_run(sm, slot) && !sm_has_in_flight(sm, slot) &&
                                        !(w->cta->barriers_used >> CLUSTER_BARRIER & 1));
}

static bool is_stuck(const struct sm *sm, const struct sm_cta *c) {
    bool waits = false;
    uint32_t w;
    for (struct warp_walk at = warp_walk(&c->warps); warp_next(&at, &c->warps, WARP_WORDS, &w);) {
        if (!waits_for_own_cta(sm, w))
            return false;
        waits |= !sm_is_finished(sm, w);
    }
    return waits;
}

/* Returns true if all live lanes of the warp wait at one barrier. */
static bool is_at_one_barrier(const struct warp *w) {
    for (uint32_t used = w->cta->barriers_used; used; used &= used - 1)
        if (w->cta->barriers[__builtin_ctz(used)].waiting[w->index] == w->live)
            return true;
    return false;
}

static bool has_split_warp(const struct sm *sm, const struct sm_cta *c) {
    bool any = false;
    uint32_t w;
    for (struct warp_walk at = warp_walk(&c->warps); warp_next(&at, &c->warps, WARP_WORDS, &w);)
        any |= !sm_is_finished(sm, w) && !is_at_one_barrier(sm_get_warp(sm, w));
    return any;
}

struct dead_cta dead_cta_find(struct sm *const *sm, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < SM_CTA_SLOTS; k++) {
            const struct sm_cta *c = sm_get_cta(sm[i], k);
            if (c->begun && is_stuck(sm[i], c) && !sm_copies_in_flight(sm[i]) && !tma_is_busy(sm[i]))
                return (struct dead_cta){i, k, c->number, has_split_warp(sm[i], c)};
        }
    return (struct dead_cta){.number = CTA_NONE};
}
