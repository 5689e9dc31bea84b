#ifndef TIMING_SM_EXECUTE_H
#define TIMING_SM_EXECUTE_H
/* Execution of an issued instruction. The functions reserve all later steps of the instruction, or pass it to the
 * memory stage. The arguments `fast` and `one_part` are the fields `instructions` and `one_part` of struct
 * sm_fast_path. */
#include "reserve_pipe.h"
#include "uniform_path.h"

/* Reserves the collector, pipe and write port of an instruction without a memory access. */
static inline __attribute__((always_inline)) void execute(struct sm *sm, uint32_t w, const struct sm_path *path,
                                                          const struct timed_inst *ti, const struct sm_form *form,
                                                          uint64_t now, const bool fast, const bool one_part) {
    uint32_t unit, part = one_part ? 0 : operands_part(&sm->operands, w);
    struct exec_part *e = &sm->operands.part[part];
    struct collector *c = &e->collector[ti->pipe];
    uint64_t reads = collector_accept(c, now, &unit);
    e->takes[ti->pipe] = collector_free(c);
    const uint64_t leaves = collector_leaves(c, operands_read(&sm->operands, part, w, ti, form, reads));
    c->unit_free[unit] = leaves;
    const uint64_t end = reserve_pipe(sm, part, w, ti, form, leaves, now);
    if (!ti->regs.n_write) {
        if (!fast && sm_hooked(sm, HOOK_WRITTEN))
            tell_end(sm, w, path->pc, path->lanes, now, end);
        return;
    }
    uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    sm_board_issue(sm, &sm->warps.slot[w], path, ti, false, fast);
    wheel_add(&sm->wheel, max64(end - sm->cfg->sm.forward, now + 1), event_make(EVENT_WRITEBACK, i));
}

/* Passes a memory instruction to the memory stage, unless no lane executes it. Returns its index in sm_memory.inst;
 * MEM_QUEUE: none. */
static inline uint32_t access_memory(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                                     const struct sm_form *form, bool ordered, uint64_t now, const bool fast) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const bool modern = !fast && __builtin_expect(sm->modern != NULL, 0);
    if (modern)
        modern_issues(sm, w, path, now);
    if (!ordered && !sm->fx.lanes)
        return MEM_QUEUE;
    uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    in_flight_set_form(&sm->in_flight, i, form);
    sw->accesses += fast || ti->kind != K_COPY; /* copies.c counts copies */
    sw->atomics += sm->cfg->sm.atomic_wait && ti->kind == K_ATOM;
    if (ti->regs.n_write)
        sm_board_issue(sm, sw, path, ti, true, fast);
    if (modern)
        modern_accepted(sm, i, now);
    return sm_mem_accept(sm, sm->in_flight.entry[i].part, w, path->pc, i, ordered, now);
}
#endif
