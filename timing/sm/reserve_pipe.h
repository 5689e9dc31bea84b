#ifndef TIMING_SM_RESERVE_PIPE_H
#define TIMING_SM_RESERVE_PIPE_H
/* Reservation of the steps of an instruction without a memory access, from its collector unit on. */
#include "stages.h"

/* Reserves the dispatch latch, the pipe, the result bus and the register writes of an instruction of warp slot `w`,
 * which leaves its collector unit at cycle `leaves`. Returns the cycle of the last write; without a result, the cycle
 * in which the instruction leaves its pipe. */
static inline __attribute__((always_inline)) uint64_t reserve_pipe(struct sm *sm, uint32_t part, uint32_t w,
                                                                   const struct timed_inst *ti,
                                                                   const struct sm_form *form, uint64_t leaves,
                                                                   uint64_t now) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    struct exec_part *e = &sm->operands.part[part];
    struct pipes *pipes = &e->units[ti->pipe];
    uint64_t enters = leaves + cfg->latch_dispatch;
    const uint32_t pipe = pipes_choose(pipes, &enters, ti->latency);
    pipes->n.waits += enters - leaves - cfg->latch_dispatch;
    uint64_t end = enters + ti->latency;
    if (ti->regs.n_write) {
        uint64_t on_bus, result = end + cfg->latch_writeback;
        end = operands_deliver(&sm->operands, part, w, ti, form, result, now, &on_bus);
        enters += on_bus - result; /* the instruction enters its pipe later if the result bus is busy */
    }
    collector_left(&e->collector[ti->pipe], leaves, enters);
    pipes_enter(pipes, pipe, enters, ti->initiation);
    if (__builtin_expect(pipes->ends != NULL, 0))
        pipes_note_end(pipes, pipe, enters + ti->latency);
    return end;
}

/* Notifies the SM's units that an instruction without a result has ended. */
static inline void tell_end(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint64_t from, uint64_t to) {
    sm_units_written(sm, &(struct sm_written){.from = from, .to = to, .warp = w, .pc = pc, .lanes = lanes});
}
#endif
