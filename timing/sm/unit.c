#include "isa/hot_assert.h"
#include "stages.h"
#include "unit_calls.h"
#include <assert.h>

/* Iterates over the units that have subscribed to a call, the last one first. If a unit unsubscribes during the
 * call, only units that have already been called move in the list, so no unit is skipped. */
#define EACH(hook, u)                                                                                                  \
    for (uint32_t i_ = sm->units.n[hook]; i_-- > 0;)                                                                   \
        for (const struct sm_unit *u = sm->units.list[hook][i_]; u; u = NULL)

struct sm_candidate sm_candidate(const struct sm *sm, uint32_t w, uint32_t p) {
    const struct sm_path *path = &sm->warps.slot[w].path[p];
    return (struct sm_candidate){.warp = w,
                                 .path = p,
                                 .pc = path->pc,
                                 .lanes = path->lanes,
                                 .in = &sm->program->program->code[path->pc],
                                 .ti = &sm->program->inst[path->pc]};
}

void *sm_unit_without_state(const struct config *cfg, uint32_t sm, void *ctx) {
    static char nothing;
    (void)cfg, (void)sm, (void)ctx;
    return &nothing;
}

/* Returns true if the unit implements the call. */
static bool has(const struct sm_unit_ops *ops, enum sm_hook hook) {
    const bool has[N_HOOKS] = {
        [HOOK_CTA_START] = ops->cta_start,
        [HOOK_CTA_END] = ops->cta_end,
        [HOOK_BARRIER] = ops->barrier,
        [HOOK_MAY_ISSUE] = ops->may_issue,
        [HOOK_TAKE] = ops->take,
        [HOOK_FORM] = ops->form,
        [HOOK_JOIN] = ops->join,
        [HOOK_ISSUED] = ops->issued,
        [HOOK_WRITTEN] = ops->written,
        [HOOK_EXITED] = ops->exited,
        [HOOK_WARP_START] = ops->warp_start,
        [HOOK_AFTER_ISSUE] = ops->after_issue,
        [HOOK_TICK] = ops->tick,
        [HOOK_LOOK] = ops->look,
        [HOOK_NEXT] = ops->next,
    };
    return has[hook];
}

bool sm_add_unit(struct sm *sm, const struct sm_unit_row *row) {
    assert(sm->units.n_all < MAX_UNITS && !sm->launch);
    struct sm_unit *u = &sm->units.all[sm->units.n_all];
    *u = (struct sm_unit){.ops = row->ops, .state = row->ops->make(sm->cfg, sm->id, row->ctx), .ctx = row->ctx};
    if (!u->state)
        return false;
    sm->units.n_all++;
    for (enum sm_hook h = 0; h < N_HOOKS; h++)
        if (has(row->ops, h))
            sm->units.list[h][sm->units.n[h]++] = u;
    return true;
}

void *sm_unit_state(const struct sm *sm, const struct sm_unit_ops *ops) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops == ops)
            return sm->units.all[i].state;
    return NULL;
}

void sm_unit_listen(struct sm *sm, const struct sm_unit_ops *ops, enum sm_hook hook, bool on) {
    const struct sm_unit **list = sm->units.list[hook];
    uint8_t n = sm->units.n[hook], at = 0;
    assert(has(ops, hook));
    while (at < n && list[at]->ops != ops)
        at++;
    if (on == (at < n))
        return;
    if (!on) {
        for (; at + 1 < n; at++)
            list[at] = list[at + 1];
        sm->units.n[hook]--;
        sm_find_fast_path(sm);
        return;
    }
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops == ops)
            list[sm->units.n[hook]++] = &sm->units.all[i];
    sm_find_fast_path(sm);
}

void sm_units_free(struct sm *sm) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->free)
            sm->units.all[i].ops->free(sm->units.all[i].state);
    sm->units.n_all = 0;
}

bool sm_units_launch(struct sm *sm, uint64_t now) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->launch && !sm->units.all[i].ops->launch(sm->units.all[i].state, sm, now))
            return false;
    return true;
}

void sm_units_launch_end(struct sm *sm) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->launch_end)
            sm->units.all[i].ops->launch_end(sm->units.all[i].state, sm);
}

void sm_units_cta_start(struct sm *sm, uint32_t cta, uint64_t now) {
    EACH(HOOK_CTA_START, u)
    u->ops->cta_start(u->state, sm, cta, now);
}

void sm_units_cta_end(struct sm *sm, uint32_t cta, uint64_t now) {
    EACH(HOOK_CTA_END, u)
    u->ops->cta_end(u->state, sm, cta, now);
}

void sm_units_barrier(struct sm *sm, uint32_t cta, uint32_t barrier, uint64_t now) {
    EACH(HOOK_BARRIER, u)
    u->ops->barrier(u->state, sm, cta, barrier, now);
}

uint8_t sm_units_may_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    const struct sm_candidate c = sm_candidate(sm, w, p);
    EACH(HOOK_MAY_ISSUE, u) {
        uint8_t state = u->ops->may_issue(u->state, sm, &c, now);
        if (state != PATH_READY)
            return state;
    }
    return PATH_READY;
}

bool sm_units_take(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    const struct sm_candidate c = sm_candidate(sm, w, p);
    bool unlocks = false;
    EACH(HOOK_TAKE, u)
    unlocks |= u->ops->take(u->state, sm, &c, now);
    return unlocks;
}

const struct sm_form *sm_units_form(struct sm *sm, uint32_t w, uint32_t p) {
    const struct sm_candidate c = sm_candidate(sm, w, p);
    EACH(HOOK_FORM, u) {
        const struct sm_form *f = u->ops->form(u->state, sm, &c);
        if (f)
            /* cppcheck-suppress returnDanglingLifetime ; the returned state belongs to the unit, not to the local
             * variable */
            return f;
    }
    return NULL;
}

void sm_units_join(struct sm *sm, struct sm_joint *j, uint64_t now) {
    EACH(HOOK_JOIN, u)
    u->ops->join(u->state, sm, j, now);
}

void sm_units_issued(struct sm *sm, const struct sm_issued *i) {
    EACH(HOOK_ISSUED, u)
    u->ops->issued(u->state, sm, i);
}

void sm_units_tell_issued(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, const struct timed_inst *ti,
                          enum issue_phase phase, uint64_t cycle) {
    bool executed = phase != ISSUE_ORDERED && phase != ISSUE_WAITS;
    sm_units_issued(sm, &(struct sm_issued){.cycle = cycle,
                                            .warp = w,
                                            .pc = pc,
                                            .lanes = lanes,
                                            .phase = (uint8_t)phase,
                                            .in = &sm->program->program->code[pc],
                                            .ti = ti,
                                            .fx = executed ? &sm->fx : NULL});
}

void sm_units_written(struct sm *sm, const struct sm_written *r) {
    EACH(HOOK_WRITTEN, u)
    u->ops->written(u->state, sm, r);
}

void sm_units_exited(struct sm *sm, uint32_t warp, uint64_t now) {
    EACH(HOOK_EXITED, u)
    u->ops->exited(u->state, sm, warp, now);
}

void sm_units_warp_start(struct sm *sm, uint32_t warp, uint64_t now) {
    EACH(HOOK_WARP_START, u)
    u->ops->warp_start(u->state, sm, warp, now);
}

void sm_units_after_issue(struct sm *sm, uint64_t now) {
    EACH(HOOK_AFTER_ISSUE, u)
    u->ops->after_issue(u->state, sm, now);
}

void sm_units_tick(struct sm *sm, uint64_t now) {
    EACH(HOOK_TICK, u)
    u->ops->tick(u->state, sm, now);
}

void sm_units_look(struct sm *sm, uint64_t now) {
    EACH(HOOK_LOOK, u)
    u->ops->look(u->state, sm, now);
}

uint64_t sm_units_next(struct sm *sm, uint64_t now) {
    uint64_t next = UINT64_MAX;
    EACH(HOOK_NEXT, u) {
        uint64_t c = u->ops->next(u->state, sm, now);
        next = c < next ? c : next;
    }
    return next;
}

void sm_units_stats(struct sm *sm, struct stats *s) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->stats)
            sm->units.all[i].ops->stats(sm->units.all[i].state, s);
}

void sm_units_describe_path(const struct sm *sm, uint32_t warp, uint32_t pc, lanemask_t lanes, FILE *out) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->describe_path)
            sm->units.all[i].ops->describe_path(sm->units.all[i].state, sm, warp, pc, lanes, out);
}

void sm_units_describe(const struct sm *sm, FILE *out) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (sm->units.all[i].ops->describe)
            sm->units.all[i].ops->describe(sm->units.all[i].state, sm, out);
}
