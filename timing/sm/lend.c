#include "lend.h"
#include "issue_slots.h"
#include "modern_place.h"
#include <string.h>

bool sm_lends(const struct sm *sm) {
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        if (!sm->units.all[i].ops->observes)
            return false;
    return !sm_hooked(sm, HOOK_MAY_ISSUE) && !sm_hooked(sm, HOOK_TICK) && !sm->remote && !sm->contexts.n &&
           !sm->program->copies && !sm->program->tensor && !sm->memory.hold_stores && !sm->cfg->sm.fetch_retires_warps;
}

bool sm_may_lend(const struct sm *sm) { return !sm->status.n_ordered && !sm->status.stopped && !sm->memory.held.used; }

uint32_t sm_lent_slots(const struct sm *sm) { return sm->ctas.n_slots; }

/* Ends the waits for loads of paths that the model has set aside: their registers have their values. */
static void end_load_waits(struct sm_warp *sw) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sw->control.n_held; i++)
        if (sw->control.held[i].why == WAIT_LOAD)
            sw->control.ops->wake(sw->control.model, sw->control.held[i].id);
        else
            sw->control.held[kept++] = sw->control.held[i];
    sw->control.n_held = kept;
}

void sm_lend(struct sm *sm, struct sm_loan *loan, uint64_t now) {
    sm_account(sm, now);
    memcpy(loan->counts, sm->model.counts, sizeof loan->counts);
    for (uint32_t w = 0; w < sm->warps.slots; w++) {
        struct sm_warp *sw = &sm->warps.slot[w];
        if (!sw->w || sw->finished || !sm->ctas.slot[sw->cta].begun)
            continue;
        sm_tell_all(sm, sw);
        end_load_waits(sw);
    }
}

bool sm_lent_cta(struct sm *sm, uint32_t slot, struct lent_cta *out) {
    struct sm_cta *c = &sm->ctas.slot[slot];
    uint32_t w;
    if (!warp_set_any(&c->warps, WARP_WORDS) || !c->begun)
        return false;
    out->cta = c->cta;
    out->shared = c->shared;
    for (struct warp_set m = c->warps; warp_set_take(&m, &w);)
        out->control[sm->warps.slot[w].w->index] = &sm->warps.slot[w].control;
    return true;
}

void sm_take_issued(struct sm *sm, uint32_t slot, uint32_t *issued) {
    uint32_t w;
    for (struct warp_set m = sm->ctas.slot[slot].warps; warp_set_take(&m, &w); sm->warps.issued[w] = 0)
        issued[sm->warps.slot[w].w->index] = sm->warps.issued[w];
}

void sm_note_issued(const struct sm *sm, bool *issued) {
    for (uint32_t pc = 0; pc < sm->program->program->n; pc++)
        issued[pc] |= sm->issue.tally[pc].issued || (sm->issue.profile && sm->issue.profile[pc].issued);
}

/* Returns the slot of a warp, which has one. */
static uint32_t slot_of(const struct sm *sm, const struct warp *warp) {
    uint32_t w = 0;
    while (sm->warps.slot[w].w != warp)
        w++;
    return w;
}

void sm_warm(struct sm *sm, struct memsys *mem, const struct warp *warp, const struct inst *in,
             const struct effects *fx) {
    struct lsu_local local = {.stride = sm->memory.local_stride};
    if (warp && (fx->space == SPACE_LOCAL || fx->local_lanes))
        local.base = sm_local_base(sm, slot_of(sm, warp));
    lsu_warm(sm->lsu, mem, in, fx, warp ? &local : NULL, !warp && sm->status.ctas > 0);
}

void sm_warm_code(struct sm *sm, uint64_t from, uint64_t to) { fetch_warm(&sm->fetch, from, to); }

void sm_lent_fault(struct sm *sm, const struct warp *warp, uint32_t pc, const struct effects *fx, uint64_t now) {
    sm->fx = *fx;
    sm_fault(sm, slot_of(sm, warp), pc, now);
}

/* Empties the instruction buffers of a warp. Returns the number of instructions in the fullest one. A modern core
 * counts fetches that have not arrived, too. */
static uint8_t empty_buffers(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint8_t had = 0;
    if (sm->modern)
        modern_ahead_end(sm, w, now);
    for (uint32_t p = 0; p < sw->n_paths; p++) {
        struct sm_path *path = &sw->path[p];
        const uint8_t n = (uint8_t)(path->buffered + path->coming);
        had = n > had ? n : had;
        path->buffered = 0;
        path->coming = 0; /* then the core ignores the instructions that arrive */
        path->missed = false;
    }
    return had;
}

/* Returns how many instructions from the path's PC on one buffer can hold. */
static uint32_t buffer_room(const struct sm *sm, const struct sm_path *path) {
    const struct timed_inst *code = sm->program->inst;
    const uint32_t left = code[sm->program->program->n].place - code[path->pc].place;
    return !sm->modern ? code[path->pc].fetch /* what one fetch brings */ : left < MODERN_BUFFER ? left : MODERN_BUFFER;
}

/* Gives the warp its new paths. Its instruction buffer is as full as before. */
static void take_back(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const uint8_t had = empty_buffers(sm, w, now);
    sw->control.met = 0;
    sm_heed_control(sm, sw);
    sm_refresh(sm, w, now);
    for (uint32_t p = 0; p < sw->n_paths; p++) {
        struct sm_path *path = &sw->path[p];
        const uint32_t most = buffer_room(sm, path);
        if (sm->modern)
            path->at = sm->program->inst[path->pc].place;
        if (sm->modern || path->state != PATH_FETCHING)
            path->buffered = (uint8_t)(most < had ? most : had);
    }
    sm_evaluate_all(sm, w, now);
    if (sw->n_await)
        sm_members_served(sm, w, now);
    if (sw->finished)
        sm_warp_check_done(sm, w, now);
}

void sm_take_back(struct sm *sm, const struct sm_loan *loan, uint64_t now) {
    struct sm_counts counts = sm->n;
    for (uint32_t w = 0; w < sm->warps.slots; w++)
        if (sm->warps.slot[w].w && !sm->warps.slot[w].finished && sm->ctas.slot[sm->warps.slot[w].cta].begun)
            take_back(sm, w, now);
    sm->n = counts;
    memcpy(sm->model.counts, loan->counts, sizeof loan->counts);
    sm_wake(sm, now);
}
