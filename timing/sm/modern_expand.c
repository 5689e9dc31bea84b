/* The modern core: the machine instructions of an expansion (isa/expansions.h). The instruction of the program has its
 * effect when the first one issues. Its result arrives when the last one has been executed. In between, its lanes wait,
 * and other paths and warps issue. Each machine instruction waits until it has been fetched. */
#include "isa/expansions.h"
#include "modern_place.h"
#include "stages.h"

bool modern_expands_variable(const struct sm *sm, const struct control_bits *c) {
    const struct timed_part last = timed_part_of(sm->cfg, expansion_last(c->expansion)->latency);
    return modern_is_variable_part(&last);
}

/* Counts the machine instruction that issues. Returns true if it is the last one. */
static bool advance(struct modern_flight *mf, const struct control_bits *c) {
    const struct expansion_step *s = &expansion_of(c->expansion)->step[mf->step];
    mf->issued++;
    if (++mf->done < s->count)
        return false;
    mf->done = 0;
    mf->step++;
    return s == expansion_last(c->expansion);
}

/* Issues the next machine instruction, `t`. Returns true if it is the last one. */
static bool issue(struct sm *sm, uint32_t inflight, const struct control_bits *c, const struct timed_part *t,
                  uint64_t now) {
    struct modern_flight *mf = &sm->modern->flight[inflight];
    const struct expansion_step *s = &expansion_of(c->expansion)->step[mf->step];
    if (advance(mf, c)) {
        struct timed_part last = *t;
        last.latency = timed_release(sm->cfg, sm->program->program, sm->in_flight.entry[inflight].pc, t->latency);
        modern_finish(sm, inflight, &last, false, now);
        return true;
    }
    uint64_t waits = modern_pass(sm, inflight, t, now);
    wheel_add(&sm->wheel, now + waits + (s->gap ? s->gap : t->latency), event_make(EVENT_EXPAND, inflight));
    return false;
}

static struct timed_part next_part(const struct sm *sm, uint32_t inflight, const struct control_bits *c) {
    return timed_part_of(sm->cfg, expansion_of(c->expansion)->step[sm->modern->flight[inflight].step].latency);
}

void modern_expand_begin(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct control_bits *c = modern_control(sm->modern, f->pc);
    const struct timed_part t = next_part(sm, inflight, c);
    /* The wheel takes the events of a cycle in reverse order. So the fetches get their events now: the events of the
     * expansion are added later, and are taken first. */
    modern_ahead_end(sm, f->warp, now);
    sm->modern->warp[f->warp].expands |= f->lanes;
    issue(sm, inflight, c, &t, now);
}

/* Takes the next machine instruction from the buffer of the path that has its lanes now. Returns false if the
 * machine instruction has not arrived in this buffer. */
static bool take_fetched(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const uint32_t at = sm->program->inst[f->pc].place + sm->modern->flight[inflight].issued;
    struct sm_warp *sw = &sm->warps.slot[f->warp];
    for (uint32_t p = 0; p < sw->n_paths; p++) {
        struct sm_path *path = &sw->path[p];
        if (path->at != at || !(path->lanes & f->lanes))
            continue;
        if (!path->buffered)
            return false;
        modern_move(sm, f->warp, path, at + 1, now);
        warp_set_add(&sm->fetching.room, f->warp);
        sm_evaluate(sm, f->warp, p, now);
        return true;
    }
    modern_fetch_alone(sm, f->part, f->warp, at, now);
    return true;
}

void modern_expand(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct control_bits *c = modern_control(sm->modern, f->pc);
    const struct timed_part t = next_part(sm, inflight, c);
    const uint64_t takes = operands_take(&sm->operands.part[f->part], t.pipe);
    const uint32_t w = f->warp;
    const lanemask_t lanes = f->lanes;
    if (takes > now) {
        wheel_add(&sm->wheel, takes, event_make(EVENT_EXPAND, inflight));
        return;
    }
    if (!take_fetched(sm, inflight, now)) {
        wheel_add(&sm->wheel, now + 1, event_make(EVENT_EXPAND, inflight));
        return;
    }
    sm->modern->part[f->part].expanded = sm->modern->expanded = now + 1;
    sm->modern->n.machine++;
    sm->modern->n.expanded++;
    if (!issue(sm, inflight, c, &t, now))
        return;
    sm->modern->warp[w].expands &= ~lanes;
    modern_stall(sm, w, lanes, c, now);
    sm_reconsider(sm, w, now);
}
