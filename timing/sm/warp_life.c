/* How a warp starts and ends. */
#include "stages.h"

void sm_warp_start(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    sw->inflight = sw->accesses = sw->atomics = 0;
    sw->ordered = 0;
    sw->n_paths = sw->last_path = sw->n_await = 0;
    sw->finished = false;
    sw->asleep = sw->asleep && sw->context; /* the slot's previous warp may have finished while it slept */
    warp_set_drop(&sm->fetching.spent, w);
    warp_set_drop(&sm->fetching.reclaimed, w);
    sw->selected = sw->gave_way = false;
    sw->stack_depth = sw->stack_resident = 0;
    struct reconv_warp who = control_who(sw->w);
    who.sm = sm->id;
    who.clock = &sm->clock.accounted;
    who.counts = sm->model.counts;
    who.levels = sm->model.level;
    who.far = warps_far(&sm->warps, w);
    who.shared = sm->ctas.slot[sw->cta].shared;
    control_start(&sw->control, sm->model.options, &who, pc, sw->w->launched);
    if (sm->modern)
        modern_warp_start(sm, w);
    sm->model.sb->start(sw->board, sm->program->program->n_regs);
    sm->warps.age[w] = sm->warps.next_age++;
    sm_set_live(sm, w, true);
    sm_heed_control(sm, sw);
    sm_refresh(sm, w, now);
    if (sm_hooked(sm, HOOK_WARP_START) && !sw->context)
        sm_units_warp_start(sm, w, now);
}

bool sm_warp_over(const struct sm *sm, uint32_t w) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    return sw->w && sw->finished && !sw->inflight && !sw->ordered &&
           !(sm->memory.hold_stores && lsu_stores(sm->lsu, w));
}
