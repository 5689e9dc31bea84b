/* Allocates and frees an SM. */
#include "isa/machine/lazy.h"
#include "stages.h"

/* Initialises the stages that allocate memory. Returns false if memory is out. */
static bool init_stages(struct sm *sm) {
    const bool modern = sm->cfg->core.kind == CORE_MODERN; /* an instruction of the modern core has more events */
    const uint32_t events =
        (MAX_INFLIGHT + (sm_warp_slots(&sm->cfg->sm) + MAX_CONTEXTS) * MAX_PATHS * 2 + 64) * (modern ? 3 : 1);
    if (modern && !(sm->modern = modern_new(sm_warp_slots(&sm->cfg->sm) + MAX_CONTEXTS)))
        return false;
    return fetch_init(&sm->fetch, sm->cfg, sm->lsu) && in_flight_init(&sm->in_flight) && memory_init(&sm->memory) &&
           warps_init(&sm->warps, sm->model.ops, sm->model.options, sm_warp_slots(&sm->cfg->sm),
                      sm->cfg->sm.warp_size) &&
           issue_init(&sm->issue, sm->cfg, sm->warps.slots) && wheel_init(&sm->wheel, events);
}

struct sm *sm_new(const struct config *cfg, const struct reconv_ops *ops, const struct reconv_cfg *options,
                  struct memsys *mem, uint32_t id) {
    struct sm *sm = lazy_new(sizeof *sm);
    if (!sm)
        return NULL;
    sm->cfg = cfg;
    model_init(&sm->model, ops, options);
    sm->warps.split_check.used = sm->model.wants.splits;
    sm->id = id;
    sm->clock.polls = cfg->gpu.poll;
    sm->status.lsu_due = sm->status.next = UINT64_MAX;
    fetch_stage_init(&sm->fetching);
    sm->lsu = lsu_new(cfg, mem, id);
    if (!operands_init(&sm->operands, cfg) || !shared_collectors_new(sm) || !sm->lsu || !init_stages(sm)) {
        sm_free(sm);
        return NULL;
    }
    sm->issue.sm = (struct sched_sm){.id = id, .next_cycle = &sm->clock.accounted, .warp = sm->warps.sched};
    for (uint32_t i = 0; i < cfg->sm.schedulers; i++)
        sm->issue.sched[i].sm = &sm->issue.sm;
    if (sm->model.wants.rotates)
        lsu_note_misses(sm->lsu);
    if (sm->model.wants.splits)
        lsu_note_known(sm->lsu);
    return sm;
}

void sm_free(struct sm *sm) {
    if (!sm)
        return;
    sm_launch_end(sm);
    if (sm->lsu)
        lsu_free(sm->lsu);
    fetch_free(&sm->fetch);
    modern_free(sm->modern);
    wheel_free(&sm->wheel);
    sm_units_free(sm);
    memory_free(&sm->memory);
    shared_collectors_free(sm);
    operands_free(&sm->operands);
    issue_free(&sm->issue);
    in_flight_free(&sm->in_flight);
    warps_free(&sm->warps);
    lazy_free(sm);
}
