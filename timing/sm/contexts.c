/* Contexts: warps of units, without a CTA. All other files treat them as ordinary warps. */
#include "contexts.h"
#include "stages.h"
#include <assert.h>

static uint32_t slot_of(const struct sm *sm, uint32_t i) { return sm_warp_slots(&sm->cfg->sm) + i; }

static uint32_t index_of(const struct sm *sm, uint32_t w) { return w - sm_warp_slots(&sm->cfg->sm); }

/* Makes the CTA whose properties the instructions of a context read. It has one warp, no shared memory, its own
 * barriers, and the CTA size and grid size of the launch. */
static struct cta *lone_cta(const struct launch *l) {
    struct launch small = *l;
    small.block = (struct dim3){WARP_LANES, 1, 1};
    small.warp_size = WARP_LANES;
    small.dynamic_shared = 0;
    struct cta *c = cta_new(&small);
    if (!c)
        return NULL;
    c->launch = l;
    c->shared_bytes = 0;
    return c;
}

uint32_t sm_context_open(struct sm *sm, const struct sm_unit_ops *ops, const struct sm_context_start *how,
                         uint64_t now) {
    uint32_t i = 0;
    while (i < MAX_CONTEXTS && sm->contexts.slot[i].owner)
        i++;
    assert(i < MAX_CONTEXTS && sm->launch && how->lanes);
    uint32_t w = slot_of(sm, i);
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_cta *c = &sm->ctas.slot[SM_CTA_SLOTS + i];
    if (!c->cta)
        c->cta = lone_cta(sm->launch);
    if (!c->cta)
        return NO_CONTEXT;
    if (SM_CTA_SLOTS + i >= sm->ctas.n_slots)
        sm->ctas.n_slots = SM_CTA_SLOTS + i + 1;
    for (uint32_t k = 0; k < sm->units.n_all; k++)
        if (sm->units.all[k].ops == ops)
            sm->contexts.slot[i] =
                (struct sm_context){.owner = &sm->units.all[k], .name = how->name, .driven = how->driven};
    assert(sm->contexts.slot[i].owner);
    sm->contexts.n++;
    sm_find_fast_path(sm);
    if (sm->warps.words <= w / 64)
        sm->warps.words = w / 64 + 1;
    sched_add(&sm->issue.sched[sched_of(&sm->cfg->sm, w)], w);
    issue_warps_changed(&sm->issue);
    sw->w = &c->cta->warps[0];
    sw->w->launched = how->lanes;
    sw->cta = (uint8_t)(SM_CTA_SLOTS + i);
    sm->warps.sched[w] = (struct sched_warp){UINT64_MAX, SM_CTA_SLOTS + i};
    sw->context = true;
    sw->asleep = sm->contexts.asleep;
    c->cta->held = &sm->memory.held;
    c->cta->n_threads = lanes_count(how->lanes);
    warp_set_add(&c->warps, w);
    cta_start(c->cta, (struct dim3){0, 0, 0}, sm->id);
    control_cta_start(sm->model.ops, sm->model.options, c->shared, 1);
    sm_warp_start(sm, w, program_entry(sm->program->program, how->stream), now);
    sm_doze(sm, w, now);
    return w;
}

/* Stops a context: its lanes execute no further instructions. */
static void stop(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    /* if `served` is true, all lanes have arrived, and n_served counts the result, which will now never be written */
    for (uint32_t i = 0; i < sw->n_await; i++)
        if (sw->await[i].served)
            sm->members.n_served--;
    sw->inflight -= sw->n_await;
    sw->n_await = sw->n_paths = 0;
    sw->control.n_held = 0;
    sw->finished = true;
    warp_set_drop(&sm->warps.divergent, w);
    sw->asleep = true; /* sm_doze() removes the warp from the live set and from the sets of all path states */
    sm_doze(sm, w, now);
}

static const struct sm_unit *release(struct sm *sm, uint32_t w) {
    struct sm_context *x = &sm->contexts.slot[index_of(sm, w)];
    const struct sm_unit *u = x->owner;
    x->owner = NULL;
    sm->contexts.n--;
    sm_find_fast_path(sm);
    sm->warps.slot[w].w = NULL;
    sm->warps.slot[w].context = sm->warps.slot[w].asleep = false;
    warp_set_drop(&sm->ctas.slot[sm->warps.slot[w].cta].warps, w);
    return u;
}

void sm_context_gone(struct sm *sm, uint32_t w, uint64_t now) {
    const struct sm_unit *u = release(sm, w);
    if (u->ops->context_end)
        u->ops->context_end(u->state, sm, w, now);
}

void sm_context_close(struct sm *sm, uint32_t warp, uint64_t now) {
    assert(sm->warps.slot[warp].context);
    if (sm->warps.slot[warp].finished)
        return;
    stop(sm, warp, now);
    if (sm_warp_over(sm, warp))
        sm_context_gone(sm, warp, now);
}

void sm_contexts_end(struct sm *sm) {
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        if (!sm->contexts.slot[i].owner)
            continue;
        if (!sm->warps.slot[slot_of(sm, i)].finished)
            stop(sm, slot_of(sm, i), sm->clock.accounted);
        release(sm, slot_of(sm, i));
    }
}

void sm_contexts_sleep(struct sm *sm, bool asleep, uint64_t now) {
    if (sm->contexts.asleep == asleep)
        return;
    sm->contexts.asleep = asleep;
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        struct sm_warp *sw = &sm->warps.slot[slot_of(sm, i)];
        if (!sw->context || sw->finished)
            continue;
        sw->asleep = asleep;
        sm_doze(sm, slot_of(sm, i), now);
    }
}

void sm_context_goto(struct sm *sm, uint32_t warp, uint32_t pc) {
    struct sm_context *x = &sm->contexts.slot[index_of(sm, warp)];
    assert(x->owner && x->driven);
    x->next = pc;
}

void sm_context_step(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    sm_heed(sm, sw, sm->model.ops->advance(sw->control.model, sw->path[p].id, sm->contexts.slot[index_of(sm, w)].next));
    sm_refresh(sm, w, now);
}

bool sm_context_execute(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_context *x = &sm->contexts.slot[index_of(sm, w)];
    const struct sm_unit *u = x->owner;
    const struct sm_path *path = &sm->warps.slot[w].path[p];
    const struct sm_candidate c = sm_candidate(sm, w, p);
    if (!(c.ti->flags & TIMED_FREE))
        sm->n.context_instructions++;
    x->next = c.pc + 1;
    if (!u->ops->execute || (c.in->kind == K_EXIT && !x->driven))
        return false;
    sm->fx.lanes = guard_lanes(sm->warps.slot[w].w, c.in, path->lanes);
    sm->fx.fault = FAULT_NONE;
    return u->ops->execute(u->state, sm, &c, &sm->fx, now);
}
