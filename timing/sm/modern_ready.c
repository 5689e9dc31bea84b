/* The modern core: which instructions may issue. */
#include "modern_ready.h"
#include "modern.h"

void modern_warp_start(struct sm *sm, uint32_t w) {
    memset(&sm->modern->warp[w], 0, sizeof sm->modern->warp[w]);
    sm->modern->dues[w].n = 0;
    sm->modern->used = true;
    modern_consumers_start(sm, w);
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
    if (m->guided)
        return modern_check_guided(sm, w, pc, lanes, now);
    if (modern_is_stalled(&m->warp[w], lanes, now))
        return SB_WAIT_ARITH;
    if (lacks_bypass(sm, &m->warp[w], &sm->program->inst[pc], lanes, now))
        return SB_WAIT_ARITH;
    const struct sb_regs *r = &sm->program->inst[pc].regs;
    const enum sb_verdict verdict = sm->model.sb->check(sm->warps.slot[w].board, board, lanes, r);
    return verdict == SB_READY && m->readers && modern_consumers_hold(sm, w, r) ? SB_WAIT_ARITH : verdict;
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
    const struct modern_dues *d = &sm->modern->dues[w];
    for (uint32_t i = 0; i < d->n; i++) {
        const struct sb_regs *writer = &sm->program->inst[d->due[i].pc].regs;
        if (d->due[i].lanes & path->lanes &&
            (writes_any(writer, r->read, r->n_read) || (!variable && writes_any(writer, r->write, r->n_write))))
            return true;
    }
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
