/* The modern core: instructions without a memory access in their pipes, from Control to write-back. */
#include "modern_issues.h"
#include "modern_operands.h"

enum {
    TO_ALLOCATE = 2, /* cycles from issue to Allocate */
    ALLOCATE_TO_PIPE = 4,
    TO_QUEUE = 3, /* cycles from issue to the operand reads of a variable-latency instruction */
    READS = 3     /* cycles of operand reads */
};

void modern_hold(struct exec_part *e, uint64_t from) {
    e->held = max64(e->held, from);
    e->takes[PIPE_MEM] = max64(e->takes[PIPE_MEM], from);
    e->mem.hold = from;
}

/* Reserves the pipe of an instruction that can enter it at `from`. Returns the cycle in which it enters. */
static uint64_t enter_pipe(struct exec_part *e, const struct timed_part *t, uint64_t from) {
    struct pipes *pipes = &e->units[t->pipe];
    uint32_t unit = pipes_earliest(pipes);
    uint64_t enters = pipes_free(pipes, unit, from);
    pipes->n.waits += enters - from;
    pipes_enter(pipes, unit, enters, t->initiation);
    uint64_t next = pipes->unit_free[pipes_earliest(pipes)];
    if (next > MODERN_TO_PIPE)
        operands_full(e, t->pipe, next - MODERN_TO_PIPE);
    return enters;
}

/* Does the same as modern_fixed(), inline. */
static inline uint64_t fixed(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, const struct timed_part *t,
                             bool own_file, uint64_t now) {
    struct modern_part *p = &sm->modern->part[part];
    struct exec_part *e = &sm->operands.part[part];
    uint64_t arrives = max64(now + TO_ALLOCATE, p->allocate_free);
    uint64_t leaves = own_file ? arrives : modern_allocate(sm, part, w, pc, arrives);
    p->allocate_free = leaves + 1;
    modern_hold(e, arrives - 1); /* the instruction leaves Control in cycle `arrives` */
    /* The result counts only the wait for the pipe, not for register ports: a dependent instruction reaches Allocate
     * later by the same number of cycles. */
    uint64_t waits = enter_pipe(e, t, now + MODERN_TO_PIPE) - now - MODERN_TO_PIPE;
    if (!own_file)
        modern_queue_result(sm, part, pc, leaves + ALLOCATE_TO_PIPE + waits + t->latency);
    return waits;
}

uint64_t modern_fixed(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, const struct timed_part *t, bool own_file,
                      uint64_t now) {
    return fixed(sm, part, w, pc, t, own_file, now);
}

void modern_plain(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti, uint64_t now) {
    const struct timed_part t = {.pipe = ti->pipe, .op = ti->op, .latency = ti->latency, .initiation = ti->initiation};
    modern_issues_plain(sm, w, path, ti, now);
    if (!modern_has_due_room(sm, w)) {
        const uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
        modern_flies(sm, i, false, now);
        sb_word_issue(sm->warps.slot[w].board, &ti->regs, false);
        modern_finish(sm, i, &t, false, now);
        return;
    }
    sb_word_issue(sm->warps.slot[w].board, &ti->regs, false);
    const uint64_t waits = fixed(sm, operands_part(&sm->operands, w), w, path->pc, &t, false, now);
    modern_due_add(sm, w, path, max64(now + t.latency + waits, now + 1));
}

/* Sends a variable-latency instruction to its pipe. Returns the number of cycles that it waits for the pipe. */
static uint64_t execute_variable(struct sm *sm, uint32_t inflight, const struct timed_part *t, uint64_t now) {
    const uint32_t part = sm->in_flight.entry[inflight].part;
    modern_hold(&sm->operands.part[part], now + 1);
    return modern_enter_queue(sm, part, t, now, &sm->modern->flight[inflight].entry) - now - MODERN_TO_PIPE;
}

uint64_t modern_pass(struct sm *sm, uint32_t inflight, const struct timed_part *t, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    if (!modern_is_variable_part(t))
        return modern_fixed(sm, f->part, f->warp, f->pc, t, false, now);
    return execute_variable(sm, inflight, t, now) + modern_read_when_free(sm, f->part, f->warp, f->pc, now + TO_QUEUE);
}

void modern_finish(struct sm *sm, uint32_t inflight, const struct timed_part *t, bool own_file, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    struct modern_flight *mf = &sm->modern->flight[inflight];
    const bool raises = mf->read_counter || mf->write_counter;
    if (mf->variable) {
        mf->granted = now + t->latency + execute_variable(sm, inflight, t, now);
        wheel_add(&sm->wheel, now + TO_QUEUE, event_make(EVENT_READ, inflight));
        return;
    }
    uint64_t done = now + t->latency + modern_fixed(sm, f->part, f->warp, f->pc, t, own_file, now);
    wheel_add(&sm->wheel, max64(done, now + 1 + raises * (TO_QUEUE + READS)), event_make(EVENT_WRITEBACK, inflight));
}

void modern_reads(struct sm *sm, uint32_t inflight, uint64_t now) {
    struct modern_flight *mf = &sm->modern->flight[inflight];
    const struct inflight *f = &sm->in_flight.entry[inflight];
    if (!mf->variable) /* fixed latency: modern_completes() lowers both counters */
        return;
    if (mf->reads_reserved) {
        modern_has_read(sm, inflight, now);
        return;
    }
    uint64_t waits = modern_read_when_free(sm, f->part, f->warp, f->pc, now);
    modern_queue_waits(sm, f->part, mf->entry, waits);
    mf->reads_reserved = true;
    mf->has_read = now + READS + waits;
    wheel_add(&sm->wheel, mf->has_read, event_make(EVENT_READ, inflight));
    wheel_add(&sm->wheel, max64(mf->granted + waits, mf->has_read), event_make(EVENT_WRITEBACK, inflight));
}

bool modern_completes(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct modern_flight *mf = &sm->modern->flight[inflight];
    uint64_t from = mf->has_read;
    if (sm->program->inst[f->pc].kind == K_COPY)
        from = max64(from, modern_copy_ends(mf));
    if (from <= now && mf->variable && !modern_write_now(sm, f->part, f->pc, now)) {
        sm->modern->n.late_loads++;
        from = now + 1;
    }
    if (from > now) {
        wheel_add(&sm->wheel, from, event_make(EVENT_WRITEBACK, inflight));
        return false;
    }
    if (!mf->variable && !mf->write_counter) /* a counter falls when the result is in the register file */
        modern_result(sm, f->warp, f->pc, f->lanes, now);
    modern_has_read(sm, inflight, now); /* a fixed-latency instruction has read its operands by now */
    modern_has_written(sm, inflight, now);
    return true;
}
