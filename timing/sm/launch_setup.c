/* The begin and the end of a launch on an SM. */
#include "carveout.h"
#include "counting.h"
#include "occupancy.h"
#include <assert.h>
#include <stdlib.h>

/* Allocates the counts by instruction. */
static bool begin_counts(struct sm *sm, bool wanted) {
    free(sm->issue.profile);
    sm->issue.profile = wanted ? calloc(sm->program->program->n + 1, sizeof *sm->issue.profile) : NULL;
    lsu_count_in(sm->lsu, sm->issue.profile);
    sm->issue.tally = calloc(sm->program->program->n + 1, sizeof *sm->issue.tally);
    return sm->issue.tally && (sm->issue.profile || !wanted);
}

bool sm_launch(struct sm *sm, const struct launch *l, const struct timed_program *p, bool profile, uint64_t now) {
    struct sm_demand demand = {0, 0};
    assert(!sm->status.ctas);
    for (uint32_t i = 0; i < sm->units.n_all; i++)
        sm_demand_add(&demand, sm->units.all[i].ops, sm->units.all[i].ctx, sm->cfg, l);
    struct sm_footprint f = sm_footprint_of(sm->cfg, l, demand);
    if (sm->cfg->sm.unified_bytes)
        lsu_divide(sm->lsu, sm->cfg->sm.unified_bytes - carveout_shared(sm->cfg, l, demand));
    sm->launch = l;
    sm->program = p;
    sm->ctas.most = sm_occupancy(sm->cfg, l, demand);
    sm->ctas.warps_each = sm->issue.sm.cta_warps = f.warps;
    sm->issue.sm.most_ctas = sm->ctas.most;
    sm->memory.hold_stores = sm->cfg->sm.hold_stores;
    sm->memory.local_stride = 4ull * sm->cfg->sm.warp_size;
    if (sm->cfg->lsu.local_map == LOCAL_BY_WORD)
        sm->memory.local_stride *= (uint64_t)f.warps * sm->ctas.most * sm->cfg->gpu.sms;
    sm->fetching.spent = sm->fetching.reclaimed = (struct warp_set){.word = {0}};
    sm->ctas.registers_each = f.registers;
    sm->ctas.shared_each = f.shared;
    sm->clock.accounted = now;
    for (uint32_t i = 0; i < RECONV_LEVELS; i++)
        sm->model.level[i] = (struct reconv_level){.since = now};
    sm->status.finished_at = now;
    sm->status.stopped = false;
    sm->contexts.asleep = true;
    bool ok = warps_place_boards(&sm->warps, sm->model.sb->size(p->program->n_regs)) && begin_counts(sm, profile) &&
              sm_copies_begin(sm) && sm_tensor_begin(sm) && sm_place_shared(sm) && remote_begin(sm) &&
              sm_units_launch(sm, now);
    if (sm->modern)
        ok &= modern_launch(sm);
    shared_collectors_launch(sm);
    sm_find_fast_path(sm);
    return ok;
}

void sm_launch_end(struct sm *sm) {
    if (sm->launch) {
        sm_units_launch_end(sm);
        sm_take_tally(sm);
    }
    free(sm->issue.tally);
    sm->issue.tally = NULL;
    sm_contexts_end(sm);
    for (uint32_t i = 0; i < sm->ctas.n_slots; i++) {
        cta_free(sm->ctas.slot[i].cta);
        sm->ctas.slot[i].cta = NULL;
    }
    sm->ctas.n_slots = 0;
    warps_free_boards(&sm->warps);
    sm_free_shared(sm);
    sm_copies_end(sm);
    remote_end(sm);
    sm_tensor_end(sm);
    sm->launch = NULL;
    sm->program = NULL;
}
