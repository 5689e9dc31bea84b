/* The work of an SM at an edge (timing/windows.h): performs plain stores and ordered instructions. */
#include "counting.h"
#include "isa/paths/host_poll.h"
#include "issue_slots.h"
#include <stdlib.h>

bool sm_has_stores(const struct sm *sm) { return sm->memory.held.used > 0; }

void sm_perform_stores(struct sm *sm) { held_perform(&sm->memory.held); }

/* Counts polls of memory. Without memory for the count, the host runs when the launch ends. */
static void note_host_poll(struct sm *sm, uint32_t w, const struct inst *in) {
    if (!sm->issue.host_polls)
        sm->issue.host_polls = calloc(sm->warps.slots, sizeof *sm->issue.host_polls);
    if (sm->issue.host_polls)
        sm->issue.polled[host_polls_note(&sm->issue.host_polls[w], sm->warps.slot[w].w, in, &sm->fx)]++;
}

bool sm_perform(struct sm *sm, uint64_t cycle, uint64_t now) {
    if (sm->issue.ordered_at == sm->status.n_ordered || sm->issue.ordered[sm->issue.ordered_at].cycle > cycle ||
        sm->status.stopped)
        return false;
    const struct ordered_inst *o = &sm->issue.ordered[sm->issue.ordered_at++];
    sm_account(sm, now);
    struct sm_warp *sw = &sm->warps.slot[o->warp];
    sm->memory.held.off = true;
    sm->memory.unlock = false;
    exec_inst(sw->w, &sm->program->program->code[o->pc], o->active, &sm->fx);
    sm->memory.held.off = false;
    if (sm->issue.ordered_at == sm->status.n_ordered)
        sm->issue.ordered_at = sm->status.n_ordered = 0;
    if (sm->fx.fault) {
        sm_fault(sm, o->warp, o->pc, o->cycle);
        return true;
    }
    if (sm->launch->stands)
        note_host_poll(sm, o->warp, &sm->program->program->code[o->pc]);
    if (sm_hooked(sm, HOOK_ISSUED))
        sm_units_tell_issued(sm, o->warp, o->pc, o->active, &sm->program->inst[o->pc], ISSUE_PERFORMED, o->cycle);
    sm_count_lanes(sm, &sm->program->inst[o->pc], o->pc, o->active);
    if (sm->program->inst[o->pc].flags & TIMED_COPY)
        sm_copies_issued(sm, o->warp, &sm->program->program->code[o->pc], o->mem);
    if (sm->program->inst[o->pc].flags & TIMED_TENSOR)
        sm_tensor_issued(sm, o->warp, &(struct sm_path){.pc = o->pc, .lanes = o->active}, now);
    if (o->mem != MEM_QUEUE)
        sm_mem_performed(sm, o->mem, now);
    sw->ordered &= ~o->active;
    sm_evaluate_all(sm, o->warp, now);
    if (sw->finished) /* the context was closed while the instruction waited */
        sm_warp_check_done(sm, o->warp, now);
    sm_wake(sm, now);
    return true;
}
