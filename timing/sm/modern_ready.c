/* The modern core: which instructions may issue. */
#include "modern.h"
#include "stages.h"
#include <string.h>

void modern_warp_start(struct sm *sm, uint32_t w) { memset(&sm->modern->warp[w], 0, sizeof sm->modern->warp[w]); }

static bool is_stalled(const struct modern_warp *mw, lanemask_t lanes, uint64_t now) {
    for (int i = 0; i < MODERN_STALLS; i++)
        if (mw->stalled[i].until > now && mw->stalled[i].lanes & lanes)
            return true;
    return false;
}

/* Returns the largest value of a counter that the lanes see. */
static unsigned count_of(const struct sm_modern *m, uint32_t w, unsigned counter, lanemask_t lanes) {
    const uint8_t *count = m->warp[w].count[counter];
    unsigned most = 0;
    if (!m->by_lane)
        return count[0];
    for (; lanes; lanes &= lanes - 1) {
        unsigned one = count[__builtin_ctz(lanes)];
        most = one > most ? one : most;
    }
    return most;
}

static enum sb_verdict cause(const struct modern_warp *mw, unsigned counter) {
    return mw->of_loads >> counter & 1 ? SB_WAIT_LOAD : SB_WAIT_ARITH;
}

/* Returns what the counters make the lanes wait for. */
static enum sb_verdict check_counters(const struct sm_modern *m, uint32_t w, const struct control_bits *c,
                                      lanemask_t lanes) {
    const struct modern_warp *mw = &m->warp[w];
    for (unsigned i = 0; i < CONTROL_COUNTERS; i++) {
        unsigned most = c->limit_counter == i ? c->limit : CONTROL_MAX_COUNT;
        if (c->raise_read == i || c->raise_write == i)
            most = most < CONTROL_MAX_COUNT ? most : CONTROL_MAX_COUNT - 1;
        if (c->wait >> i & 1)
            most = 0;
        if (most < CONTROL_MAX_COUNT && count_of(m, w, i, lanes) > most)
            return cause(mw, i);
    }
    return SB_READY;
}

enum sb_verdict modern_check(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                             uint64_t now) {
    const struct sm_modern *m = sm->modern;
    const struct control_bits *c = modern_control(m, pc);
    if (is_stalled(&m->warp[w], lanes, now))
        return SB_WAIT_ARITH;
    return m->guided ? check_counters(m, w, c, lanes)
                     : sm->model.sb->check(sm->warps.slot[w].board, board, lanes, &sm->program->inst[pc].regs);
}

bool modern_is_variable(const struct timed_inst *ti) {
    return ti->flags & TIMED_MEMORY || ti->op == CLASS_SHFL || ti->pipe == PIPE_SFU ||
           (ti->pipe == PIPE_DP && ti->op != CLASS_MMA);
}

void modern_result(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now) {
    struct modern_warp *mw = &sm->modern->warp[w];
    mw->fresh[1] = mw->fresh[0];
    mw->fresh[0].cycle = now;
    mw->fresh[0].pc = pc;
}

static bool reads_result(const struct sb_regs *reader, const struct sb_regs *writer) {
    for (uint32_t i = 0; i < reader->n_read; i++)
        for (uint32_t k = 0; k < writer->n_write; k++)
            if (reader->read[i] == writer->write[k])
                return true;
    return false;
}

bool modern_too_early(const struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    const struct timed_inst *inst = sm->program->inst, *ti = &inst[path->pc];
    const struct modern_warp *mw = &sm->modern->warp[w];
    bool early = sm->model.sb->check(sm->warps.slot[w].board, path->board, path->lanes, &ti->regs) != SB_READY;
    for (int i = 0; i < 2 && modern_is_variable(ti); i++)
        early |= mw->fresh[i].cycle == now && reads_result(&ti->regs, &inst[mw->fresh[i].pc].regs);
    return early;
}
