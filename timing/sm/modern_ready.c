/* The modern core: which instructions may issue. */
#include "modern.h"
#include "stages.h"
#include <endian.h>
#include <string.h>

void modern_warp_start(struct sm *sm, uint32_t w) {
    memset(&sm->modern->warp[w], 0, sizeof sm->modern->warp[w]);
    sm->modern->used = true;
    modern_consumers_start(sm, w);
}

static inline bool is_stalled(const struct modern_warp *mw, lanemask_t lanes, uint64_t now) {
    if (mw->expands & lanes)
        return true;
    if (mw->stalled_most <= now)
        return false;
    for (int i = 0; i < MODERN_STALLS; i++)
        if (mw->stalled[i].until > now && mw->stalled[i].lanes & lanes)
            return true;
    return false;
}

/* Returns the counters of a lane, or of the warp if the counters are not by lane: one in each byte, the first in the
 * lowest. */
static inline uint64_t counts_of(const struct modern_warp *mw, unsigned lane) {
    uint64_t counts = 0;
    memcpy(&counts, mw->count[lane], CONTROL_COUNTERS);
    return le64toh(counts);
}

/* Returns the high bit of each byte whose counter is above its limit. Both are below 128. */
static inline uint64_t above(uint64_t counts, uint64_t limits) {
    const uint64_t high = 0x8080808080808080u;
    return ~((limits | high) - counts) & high;
}

/* Returns what the counters make the lanes wait for. `limits`: timed_inst.limits. */
static inline enum sb_verdict check_counters(const struct sm_modern *m, uint32_t w, uint64_t limits, lanemask_t lanes) {
    const struct modern_warp *mw = &m->warp[w];
    uint64_t over = 0;
    for (lanes = m->by_lane ? lanes : 1; lanes; lanes &= lanes - 1)
        over |= above(counts_of(mw, lanes_first(lanes)), limits);
    if (!over)
        return SB_READY;
    return mw->of_loads >> __builtin_ctzll(over) / 8 & 1 ? SB_WAIT_LOAD : SB_WAIT_ARITH;
}

static bool reads_result(const struct sb_regs *reader, const struct sb_regs *writer) {
    for (uint32_t i = 0; i < reader->n_read; i++)
        for (uint32_t k = 0; k < writer->n_write; k++)
            if (reader->read[i] == writer->write[k])
                return true;
    return false;
}

/* Returns true if the instruction has a variable latency and reads a fixed-latency result of its lanes that arrives in
 * cycle `now`: without a bypass, the result is there one cycle later. */
static bool lacks_bypass(const struct sm *sm, const struct modern_warp *mw, const struct timed_inst *ti,
                         lanemask_t lanes, uint64_t now) {
    bool lacks = false;
    if (mw->fresh[0].cycle != now || !modern_is_variable(ti)) /* the newest result arrives last */
        return false;
    for (int i = 0; i < 2; i++)
        lacks |= mw->fresh[i].cycle == now && mw->fresh[i].lanes & lanes &&
                 reads_result(&ti->regs, &sm->program->inst[mw->fresh[i].pc].regs);
    return lacks;
}

enum sb_verdict modern_check(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                             uint64_t now) {
    const struct sm_modern *m = sm->modern;
    if (is_stalled(&m->warp[w], lanes, now))
        return SB_WAIT_ARITH;
    if (m->guided)
        return check_counters(m, w, sm->program->inst[pc].limits, lanes);
    if (lacks_bypass(sm, &m->warp[w], &sm->program->inst[pc], lanes, now))
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

void modern_result(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint64_t now) {
    struct modern_warp *mw = &sm->modern->warp[w];
    mw->fresh[1] = mw->fresh[0];
    mw->fresh[0].cycle = now;
    mw->fresh[0].pc = pc;
    mw->fresh[0].lanes = lanes;
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

/* Returns true if an instruction in flight of some of the path's lanes will write a register that `ti` reads, or will
 * write a register of `ti` after `ti` does. A result of variable latency arrives after the results of fixed latency
 * before it. A unit issues an instruction of its warp several times, each time for other warps. */
static bool is_pending(const struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti) {
    const struct sb_regs *r = &ti->regs;
    const bool variable = modern_is_variable(ti);
    for (uint32_t i = 0; i < sm->in_flight.fresh; i++) {
        const struct inflight *f = &sm->in_flight.entry[i];
        const struct modern_flight *mf = &sm->modern->flight[i];
        const struct sb_regs *writer = &sm->program->inst[f->pc].regs;
        if (!(mf->lanes & path->lanes) || f->warp != w || (f->pc == path->pc && sm->warps.slot[w].context))
            continue;
        if (writes_any(writer, r->read, r->n_read) ||
            ((mf->variable || !variable) && writes_any(writer, r->write, r->n_write)))
            return true;
    }
    return false;
}

bool modern_too_early(const struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    /* the scoreboard may count results of other lanes */
    const bool waits = sm->model.sb->check(sm->warps.slot[w].board, path->board, path->lanes, &ti->regs) != SB_READY;
    return (waits && is_pending(sm, w, path, ti)) || lacks_bypass(sm, &sm->modern->warp[w], ti, path->lanes, now);
}
