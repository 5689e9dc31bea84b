/* Faults: they stop the SM. */
#include "stages.h"
#include <assert.h>

void sm_fault(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now) {
    const struct effects *fx = &sm->fx;
    const struct warp *warp = sm->warps.slot[w].w;
    const struct inst *in = &sm->program->program->code[pc];
    const struct sm_context *x = sm->warps.slot[w].context ? &sm->contexts.slot[w - sm_warp_slots(&sm->cfg->sm)] : NULL;
    sm->fault = (struct fault){
        .kind = fx->fault,
        .pc = pc,
        .cta = warp->cta->id,
        .warp = warp->index,
        .lane = fx->fault_lane,
        .space = fx->space,
        .address = fx->fault_address,
        .bytes = fx->fault_bytes,
        .is_store = fx_is_store(in, fx),
        .text = fx->fault_text,
        /* a driven context needs no name here: its unit has set the CTA and lane of the faulting thread */
        .context = x && !x->driven ? x->name : NULL,
    };
    if (!x)
        fault_note_lanes(&sm->fault, warp->cta->launch, in, fx);
    sm->status.fault_cycle = now;
    sm->status.stopped = true;
}

struct fault sm_take_fault(struct sm *sm) {
    struct fault f = sm->fault;
    assert(sm->status.stopped);
    sm->fault = (struct fault){.kind = FAULT_NONE};
    return f;
}
