/* CTAs on an SM: how they and their warps begin and end. */
#include "stages.h"
#include <stdlib.h>

bool sm_place_shared(struct sm *sm) {
    const struct reconv_ops *ops = sm->model.ops;
    if (!ops->cta_size)
        return true;
    size_t size = (ops->cta_size(sm->model.options, sm->ctas.warps_each) + 63) & ~(size_t)63;
    sm->ctas.shared_states = calloc(sm->ctas.most + MAX_CONTEXTS, size);
    for (uint32_t i = 0; i < SM_CTA_SLOTS + MAX_CONTEXTS && sm->ctas.shared_states; i++) {
        uint32_t at = i < SM_CTA_SLOTS ? i : sm->ctas.most + i - SM_CTA_SLOTS;
        if (i < sm->ctas.most || i >= SM_CTA_SLOTS)
            sm->ctas.slot[i].shared = (struct reconv_cta *)(sm->ctas.shared_states + at * size);
    }
    return sm->ctas.shared_states != NULL;
}

void sm_free_shared(struct sm *sm) {
    free(sm->ctas.shared_states);
    sm->ctas.shared_states = NULL;
    if (!sm->model.ops->cta_size)
        return;
    for (uint32_t i = 0; i < SM_CTA_SLOTS + MAX_CONTEXTS; i++)
        sm->ctas.slot[i].shared = NULL;
}

/* Gives the CTA of the slot this rank in cluster `k`. If the slot still holds a CTA of a cluster that has not ended,
 * that cluster keeps its CTA, and the slot gets a new one. */
static bool join_cluster(struct sm_cta *c, const struct launch *l, struct cluster *k, uint32_t rank) {
    struct cta *old = c->cta;
    if (old->cluster != &old->alone) {
        old->cluster->left[old->rank] = true;
        c->cta = cta_new(l);
        if (c->cta)
            c->cta->rounding_error = old->rounding_error;
    }
    if (c->cta)
        cluster_join(k, c->cta, rank);
    return c->cta != NULL;
}

void sm_set_source(struct sm *sm, const struct cluster_source *source) { sm->ctas.source = source; }

bool sm_cta_start(struct sm *sm, struct dim3 id, uint64_t cycle) {
    return sm_cluster_cta_start(sm, id, NULL, 0, cycle);
}

bool sm_cluster_cta_start(struct sm *sm, struct dim3 id, struct cluster *k, uint32_t rank, uint64_t cycle) {
    uint32_t slot = 0;
    while (warp_set_any(&sm->ctas.slot[slot].warps, WARP_WORDS))
        slot++;
    struct sm_cta *c = &sm->ctas.slot[slot];
    if (!c->cta)
        c->cta = cta_new(sm->launch);
    if (slot >= sm->ctas.n_slots)
        sm->ctas.n_slots = slot + 1;
    if (!c->cta || (k && !join_cluster(c, sm->launch, k, rank)))
        return false;
    c->cta->held = &sm->memory.held;
    c->cta->tensor_used = &sm->ctas.tensor_used;
    c->cta->source = sm->ctas.source;
    c->cta->copies_take_time = true;
    c->id = id;
    c->begun = false;
    const struct dim3 *grid = &sm->launch->grid;
    c->number = id.x + (uint64_t)grid->x * (id.y + (uint64_t)grid->y * id.z);
    uint32_t w = 0;
    for (uint32_t i = 0; i < sm->ctas.warps_each; i++, w++) {
        while (sm->warps.slot[w].w)
            w++;
        sm->warps.slot[w].w = &c->cta->warps[i];
        sm->warps.slot[w].cta = (uint8_t)slot;
        sm->warps.sched[w] = (struct sched_warp){c->number, slot};
        warp_set_add(&c->warps, w);
    }
    sm->status.ctas++;
    sm->ctas.warps_used += sm->ctas.warps_each;
    sm->ctas.registers_used += sm->ctas.registers_each;
    sm->ctas.shared_used += sm->ctas.shared_each;
    wheel_add(&sm->wheel, cycle, event_make(EVENT_START, slot));
    sm_wake(sm, cycle);
    return true;
}

void sm_warps_start(struct sm *sm, uint32_t cta, uint64_t now) {
    struct sm_cta *c = &sm->ctas.slot[cta];
    cta_start(c->cta, c->id, sm->id);
    c->begun = true;
    control_cta_start(sm->model.ops, sm->model.options, c->shared, c->cta->n_warps);
    sm->n.ctas++;
    uint32_t w;
    for (struct warp_set m = c->warps; warp_set_take(&m, &w); sm->n.warps++) {
        sm->warps.issued[w] = 0;
        sm_warp_start(sm, w, program_entry(sm->program->program, 0), now);
    }
    sm_contexts_sleep(sm, false, now);
    uint32_t live = warp_set_count(&sm->warps.live, sm->warps.words) - contexts_awake(sm);
    if (sm_may_sleep(sm)) /* sleeping warps are resident, too */
        live = sm->ctas.warps_used;
    if (live > sm->n.max_warps)
        sm->n.max_warps = live;
    if (sm_hooked(sm, HOOK_CTA_START))
        sm_units_cta_start(sm, cta, now);
}

static void cta_done(struct sm *sm, struct sm_cta *c, uint64_t now) {
    if (sm_hooked(sm, HOOK_CTA_END))
        sm_units_cta_end(sm, (uint32_t)(c - sm->ctas.slot), now);
    if (!--sm->status.ctas)
        sm_contexts_sleep(sm, true, now);
    sm->ctas.warps_used -= sm->ctas.warps_each;
    sm->ctas.registers_used -= sm->ctas.registers_each;
    sm->ctas.shared_used -= sm->ctas.shared_each;
    cta_free_tensor(c->cta);
    sm->status.finished_at = now + 1;
}

static bool warp_gone(const struct sm *sm, uint32_t w) {
    return sm_warp_over(sm, w) && (!sm->cfg->sm.fetch_retires_warps || warp_set_has(&sm->fetching.reclaimed, w));
}

void sm_warp_check_done(struct sm *sm, uint32_t w, uint64_t now) {
    if (!sm_warp_over(sm, w))
        return;
    if (sm->warps.slot[w].context) {
        sm_context_gone(sm, w, now);
        return;
    }
    if (!warp_gone(sm, w)) {
        warp_set_add(&sm->fetching.spent, w);
        return;
    }
    struct sm_cta *c = &sm->ctas.slot[sm->warps.slot[w].cta];
    for (struct warp_set m = c->warps; warp_set_take(&m, &w);)
        if (!warp_gone(sm, w))
            return;
    while (warp_set_take(&c->warps, &w))
        sm->warps.slot[w].w = NULL;
    cta_done(sm, c, now);
}
