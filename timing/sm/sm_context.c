/* Warps that units have without a CTA (unit.h): how they begin and end, and when they sleep. In all else they are warps
 * like others. */
#include "sm_parts.h"
#include <assert.h>

static uint32_t slot_of(const struct sm *sm, uint32_t i) { return sm->cfg->sm.warps + i; }
static uint32_t index_of(const struct sm *sm, uint32_t w) { return w - sm->cfg->sm.warps; }

/* What instructions ask the CTA of a warp for: one that has this warp alone, no shared memory, and barriers that nobody
 * else knows. Blocks and grid are those of the launch. */
static struct cta *lone_cta(const struct launch *l) {
    struct launch small = *l;
    small.block = (struct dim3){WARP_LANES, 1, 1};
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
    while (i < MAX_CONTEXTS && sm->context[i].owner)
        i++;
    assert(i < MAX_CONTEXTS && sm->launch && how->lanes);
    uint32_t w = slot_of(sm, i);
    struct sm_warp *sw = &sm->warp[w];
    struct sm_cta *c = &sm->cta[SM_CTA_SLOTS + i];
    if (!c->cta)
        c->cta = lone_cta(sm->launch);
    if (!c->cta)
        return NO_CONTEXT;
    for (uint32_t k = 0; k < sm->units.n_all; k++)
        if (sm->units.all[k].ops == ops)
            sm->context[i] = (struct sm_context){.owner = &sm->units.all[k], .name = how->name, .driven = how->driven};
    assert(sm->context[i].owner);
    sm->n_contexts++;
    sm_find_plain(sm);
    if (sm->words <= w / 64)
        sm->words = w / 64 + 1;
    sched_add(&sm->sched[w % sm->cfg->sm.schedulers], w);
    sw->w = &c->cta->warps[0];
    sw->w->launched = how->lanes;
    sw->cta = (uint8_t)(SM_CTA_SLOTS + i);
    sw->context = true;
    sw->asleep = sm->asleep;
    c->cta->held = &sm->held;
    c->cta->n_threads = (uint32_t)__builtin_popcount(how->lanes);
    warp_set_add(&c->warps, w);
    cta_start(c->cta, (struct dim3){0, 0, 0}, sm->id);
    sm_warp_start(sm, w, program_entry(sm->program->program, how->stream), now);
    sm_doze(sm, w, now);
    return w;
}

/* Its lanes go nowhere any more. */
static void stop(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    for (uint32_t i = 0; i < sw->n_await; i++) /* counted from their arrival on, and never to be written */
        if (sw->await[i].served)
            sm->n_served--;
    sw->inflight -= sw->n_await;
    sw->n_await = sw->n_paths = 0;
    sw->control.n_held = 0;
    sw->finished = true;
    warp_set_drop(&sm->divergent, w);
    sw->asleep = true; /* in no state, and not live */
    sm_doze(sm, w, now);
}

void sm_context_close(struct sm *sm, uint32_t warp, uint64_t now) {
    assert(sm->warp[warp].context);
    if (sm->warp[warp].finished)
        return;
    stop(sm, warp, now);
    sm_warp_check_done(sm, warp, now);
}

static const struct sm_unit *release(struct sm *sm, uint32_t w) {
    struct sm_context *x = &sm->context[index_of(sm, w)];
    const struct sm_unit *u = x->owner;
    x->owner = NULL;
    sm->n_contexts--;
    sm_find_plain(sm);
    sm->warp[w].w = NULL;
    sm->warp[w].context = sm->warp[w].asleep = false;
    warp_set_drop(&sm->cta[sm->warp[w].cta].warps, w);
    return u;
}

void sm_context_gone(struct sm *sm, uint32_t w, uint64_t now) {
    const struct sm_unit *u = release(sm, w);
    if (u->ops->context_end)
        u->ops->context_end(u->state, sm, w, now);
}

void sm_contexts_end(struct sm *sm) {
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        if (!sm->context[i].owner)
            continue;
        if (!sm->warp[slot_of(sm, i)].finished)
            stop(sm, slot_of(sm, i), sm->accounted);
        release(sm, slot_of(sm, i));
    }
}

void sm_contexts_sleep(struct sm *sm, bool asleep, uint64_t now) {
    if (sm->asleep == asleep)
        return;
    sm->asleep = asleep;
    for (uint32_t i = 0; i < MAX_CONTEXTS; i++) {
        struct sm_warp *sw = &sm->warp[slot_of(sm, i)];
        if (!sw->context || sw->finished)
            continue;
        sw->asleep = asleep;
        sm_doze(sm, slot_of(sm, i), now);
    }
}

uint32_t sm_contexts_awake(const struct sm *sm) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < MAX_CONTEXTS && sm->n_contexts; i++)
        n += warp_set_has(&sm->live, slot_of(sm, i));
    return n;
}

void sm_context_goto(struct sm *sm, uint32_t warp, uint32_t pc) {
    struct sm_context *x = &sm->context[index_of(sm, warp)];
    assert(x->owner && x->driven);
    x->next = pc;
}

void sm_context_step(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    sm_heed(sm, sw, sm->ops->advance(sw->control.model, sw->path[p].id, sm->context[index_of(sm, w)].next));
    sm_refresh(sm, w, now);
}

bool sm_context_execute(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_context *x = &sm->context[index_of(sm, w)];
    const struct sm_unit *u = x->owner;
    const struct sm_path *path = &sm->warp[w].path[p];
    const struct sm_candidate c = sm_candidate_of(sm, w, p);
    if (!(c.ti->flags & TIMED_FREE))
        sm->n.context_instructions++;
    x->next = c.pc + 1;
    if (!u->ops->execute || (c.in->kind == K_EXIT && !x->driven))
        return false;
    sm->fx.lanes = guard_lanes(sm->warp[w].w, c.in, path->lanes);
    sm->fx.fault = FAULT_NONE;
    return u->ops->execute(u->state, sm, &c, &sm->fx, now);
}
