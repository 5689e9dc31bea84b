/* The modern core: which instructions may issue. */
#include "modern.h"
#include "stages.h"
#include <string.h>

void modern_warp_start(struct sm *sm, uint32_t w) {
    memset(&sm->modern->warp[w], 0, sizeof sm->modern->warp[w]);
    sm->modern->used = true;
    modern_consumers_start(sm, w);
}

static bool is_stalled(const struct modern_warp *mw, lanemask_t lanes, uint64_t now) {
    if (mw->expands & lanes)
        return true;
    for (int i = 0; i < MODERN_STALLS; i++)
        if (mw->stalled[i].until > now && mw->stalled[i].lanes & lanes)
            return true;
    return false;
}

/* Returns the largest value of a counter that the lanes see. */
static unsigned count_of(const struct sm_modern *m, uint32_t w, unsigned counter, lanemask_t lanes) {
    const uint8_t(*count)[CONTROL_COUNTERS] = (const void *)m->warp[w].count;
    unsigned most = 0;
    if (!m->by_lane)
        return count[0][counter];
    for (; lanes; lanes &= lanes - 1) {
        unsigned one = count[__builtin_ctz(lanes)][counter];
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

static bool reads_result(const struct sb_regs *reader, const struct sb_regs *writer) {
    for (uint32_t i = 0; i < reader->n_read; i++)
        for (uint32_t k = 0; k < writer->n_write; k++)
            if (reader->read[i] == writer->write[k])
                return true;
    return false;
}

/* Returns true if the instruction has a variable latency and reads a fixed-latency result that arrives in cycle `now`:
 * without a bypass, the result is there one cycle later. */
static bool lacks_bypass(const struct sm *sm, const struct modern_warp *mw, const struct timed_inst *ti, uint64_t now) {
    bool lacks = false;
    for (int i = 0; i < 2 && modern_is_variable(ti); i++)
        lacks |= mw->fresh[i].cycle == now && reads_result(&ti->regs, &sm->program->inst[mw->fresh[i].pc].regs);
    return lacks;
}

enum sb_verdict modern_check(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                             uint64_t now) {
    const struct sm_modern *m = sm->modern;
    const struct control_bits *c = modern_control(m, pc);
    if (is_stalled(&m->warp[w], lanes, now))
        return SB_WAIT_ARITH;
    if (m->guided)
        return check_counters(m, w, c, lanes);
    if (lacks_bypass(sm, &m->warp[w], &sm->program->inst[pc], now))
        return SB_WAIT_ARITH;
    const struct sb_regs *r = &sm->program->inst[pc].regs;
    const enum sb_verdict verdict = sm->model.sb->check(sm->warps.slot[w].board, board, lanes, r);
    return verdict == SB_READY && m->readers && modern_consumers_hold(sm, w, r) ? SB_WAIT_ARITH : verdict;
}

bool modern_is_variable(const struct timed_inst *ti) {
    return ti->flags & TIMED_MEMORY || ti->op == CLASS_SHFL || ti->pipe == PIPE_SFU ||
           (ti->pipe == PIPE_DP && ti->op != CLASS_MMA);
}

bool modern_is_variable_part(const struct timed_part *t) {
    return t->pipe == PIPE_SFU || (t->pipe == PIPE_DP && t->op != CLASS_MMA);
}

void modern_result(struct sm *sm, uint32_t w, uint32_t pc, uint64_t now) {
    struct modern_warp *mw = &sm->modern->warp[w];
    mw->fresh[1] = mw->fresh[0];
    mw->fresh[0].cycle = now;
    mw->fresh[0].pc = pc;
    if (!sm->modern->guided)
        wheel_add(&sm->wheel, now + 1, event_make(EVENT_STALLED, w));
}

static bool writes_any(const struct sb_regs *writer, const uint16_t *regs, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < writer->n_write; k++)
            if (regs[i] == writer->write[k])
                return true;
    return false;
}

/* Returns true if an instruction in flight of some of the lanes will write a register that `r` reads or writes. */
static bool is_pending(const struct sm *sm, uint32_t w, lanemask_t lanes, const struct sb_regs *r) {
    for (uint32_t i = 0; i < MAX_INFLIGHT; i++) {
        const struct inflight *f = &sm->in_flight.entry[i];
        const struct sb_regs *writer = &sm->program->inst[f->pc].regs;
        if (sm->modern->flight[i].lanes & lanes && f->warp == w &&
            (writes_any(writer, r->read, r->n_read) || writes_any(writer, r->write, r->n_write)))
            return true;
    }
    return false;
}

bool modern_too_early(const struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    /* the scoreboard may count results of other lanes */
    const bool waits = sm->model.sb->check(sm->warps.slot[w].board, path->board, path->lanes, &ti->regs) != SB_READY;
    return (waits && is_pending(sm, w, path->lanes, &ti->regs)) || lacks_bypass(sm, &sm->modern->warp[w], ti, now);
}
