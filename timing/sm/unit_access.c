#include "unit_access.h"
#include "stages.h"

const struct config *sm_get_config(const struct sm *sm) { return sm->cfg; }
const struct launch *sm_get_launch(const struct sm *sm) { return sm->launch; }
const struct timed_program *sm_get_program(const struct sm *sm) { return sm->program; }
struct gpu_profile *sm_get_profile(struct sm *sm) {
    return sm->issue.profile;
}
struct lsu *sm_get_lsu(struct sm *sm) {
    return sm->lsu;
}
uint64_t sm_get_accounted(const struct sm *sm) { return sm->clock.accounted; }
uint32_t sm_get_slots(const struct sm *sm) { return sm->warps.slots; }
uint32_t sm_get_most_ctas(const struct sm *sm) { return sm->ctas.most; }
const struct sm_cta *sm_get_cta(const struct sm *sm, uint32_t cta) { return &sm->ctas.slot[cta]; }
uint32_t sm_get_cta_slot(const struct sm *sm, uint32_t slot) { return sm->warps.slot[slot].cta; }
struct warp *sm_get_warp(const struct sm *sm, uint32_t slot) {
    return sm->warps.slot[slot].w;
}

const struct sm_path *sm_get_paths(const struct sm *sm, uint32_t slot, uint32_t *n) {
    *n = sm->warps.slot[slot].n_paths;
    return sm->warps.slot[slot].path;
}

uint32_t sm_get_group(const struct sm *sm, uint32_t slot, uint32_t path) {
    const struct sm_warp *sw = &sm->warps.slot[slot];
    return sm->model.ops->group ? sm->model.ops->group(sw->control.model, sw->path[path].id) : 0;
}

bool sm_is_context(const struct sm *sm, uint32_t slot) { return sm->warps.slot[slot].context; }
bool sm_is_live(const struct sm *sm, uint32_t slot) { return warp_set_has(&sm->warps.live, slot); }
const char *const *sm_get_levels(const struct sm *sm, const struct reconv_level **levels) {
    *levels = sm->model.level;
    return sm->model.ops->levels;
}
bool sm_is_finished(const struct sm *sm, uint32_t slot) { return sm->warps.slot[slot].finished; }

const char *sm_context_name(const struct sm *sm, uint32_t slot) {
    if (slot < sm_warp_slots(&sm->cfg->sm))
        return NULL;
    const struct sm_context *x = &sm->contexts.slot[slot - sm_warp_slots(&sm->cfg->sm)];
    return x->owner ? x->name : NULL;
}

lanemask_t sm_lanes_may_run(const struct sm *sm, uint32_t slot) {
    return control_may_run(&sm->warps.slot[slot].control);
}

struct pipe_use sm_pipe_use(const struct sm *sm, uint32_t pipe) {
    struct pipe_use use = {0, 0};
    if (sm->modern && pipe == PIPE_DP)
        use = (struct pipe_use){sm->modern->f64.n.busy, sm->modern->f64.n.waits};
    for (uint32_t p = 0; p < sm->operands.n_parts; p++) {
        use.busy += sm->operands.part[p].units[pipe].n.busy;
        use.waits += sm->operands.part[p].units[pipe].n.waits;
    }
    return use;
}

bool sm_copies_in_flight(const struct sm *sm) { return sm_copies_pending(sm) || sm_tensor_in_flight(sm); }

uint64_t sm_copies_arrived(const struct sm *sm) { return sm->arrivals_made; }
uint64_t sm_polls(const struct sm *sm, int kind) { return sm->issue.polled[kind]; }
uint64_t sm_local_stride(const struct sm *sm) { return sm->memory.local_stride; }
void sm_wake(struct sm *sm, uint64_t cycle) {
    if (cycle < sm->status.next)
        sm->status.next = cycle;
    if (cycle < sm->clock.own_next)
        sm->clock.own_next = cycle;
}

void sm_lsu_has_work(struct sm *sm, uint64_t now) { sm_lsu_due(sm, now); }

void sm_no_memory(struct sm *sm, uint64_t now) {
    sm->fault = (struct fault){.kind = FAULT_MEMORY};
    sm->status.fault_cycle = now;
    sm->status.stopped = true;
}
