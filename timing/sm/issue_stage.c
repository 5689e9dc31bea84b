/* Issues an instruction: executes it, and reserves or queues its later steps. */
#include "issue_stage.h"
#include "counting.h"
#include "execute.h"
#include "isa/hot_assert.h"
#include "isa/machine/lazy.h"
#include "isa/machine/warpsync.h"
#include <stdlib.h>

bool issue_init(struct sm_issue_stage *s, const struct config *cfg, uint32_t slots) {
    for (uint32_t i = 0; i < cfg->sm.schedulers; i++)
        if (!sched_init(&s->sched[i], NULL, &cfg->sm, i))
            return false;
    issue_warps_changed(s);
    s->ordered = lazy_new((size_t)slots * MAX_PATHS * sizeof *s->ordered);
    return s->ordered != NULL;
}

void issue_free(struct sm_issue_stage *s) {
    for (size_t i = 0; i < sizeof s->sched / sizeof s->sched[0]; i++)
        sched_free(&s->sched[i]);
    free(s->profile);
    lazy_free(s->ordered);
    free(s->host_polls);
}

bool sm_use_scheduler(struct sm *sm, const struct sched_ops *ops) {
    for (uint32_t i = 0; i < sm->cfg->sm.schedulers; i++) {
        sched_free(&sm->issue.sched[i]);
        if (!sched_init(&sm->issue.sched[i], ops, &sm->cfg->sm, i))
            return false;
        sm->issue.sched[i].sm = &sm->issue.sm;
    }
    issue_warps_changed(&sm->issue);
    return true;
}

static __attribute__((noinline)) void execute_general(struct sm *sm, uint32_t w, const struct sm_path *path,
                                                      const struct timed_inst *ti, const struct sm_form *form,
                                                      uint64_t now) {
    if (__builtin_expect(sm->modern != NULL, 0))
        modern_execute(sm, w, path, ti, form, now);
    else if (__builtin_expect(sm->operands.shared != NULL, 0))
        shared_collectors_issue(sm, w, path, ti, form, now);
    else
        execute(sm, w, path, ti, form, now, false, false);
}

/* Issues an instruction that uses its issue slot now and executes at the next edge (ordered.c). */
static void issue_ordered(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                          const struct sm_form *form, uint64_t now) {
    struct sm_path *path = &sm->warps.slot[w].path[p];
    uint32_t mem = MEM_QUEUE;
    if (ti->flags & TIMED_MEMORY)
        mem = access_memory(sm, w, path, ti, form, true, now, false);
    else
        execute_general(sm, w, path, ti, form, now);
    sm->issue.ordered[sm->status.n_ordered++] =
        (struct ordered_inst){.cycle = now, .pc = path->pc, .mem = mem, .active = path->lanes, .warp = (uint16_t)w};
    sm->warps.slot[w].ordered |= path->lanes;
    if (sm_hooked(sm, HOOK_ISSUED))
        sm_units_tell_issued(sm, w, path->pc, path->lanes, ti, ISSUE_ORDERED, now);
    sm_advance(sm, w, p, now);
}

/* Advances the path to the next instruction in program order, on the fast path. This function checks all causes for
 * which a path can wait on the fast path. */
static inline void advance_fast(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti, uint64_t now,
                                const bool one_part) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    if (sw->n_paths > 1 || ti->flags & TIMED_ENDS || sm->model.wants.every_pc || sw->atomics) {
        if (!sm->fast.stack || !sm_go_on(sm, w, path->pc + 1))
            sm_advance(sm, w, p, now);
        return;
    }
    path->pc++;
    path->buffered--;
    path->stale = true;
    ti++;
    if (__builtin_expect(ti->flags & (TIMED_RARE | TIMED_FENCE), 0)) {
        sm_evaluate(sm, w, p, now);
        return;
    }
    uint32_t state = sm_fast_state(sw, ti, false);
    warps_move_only(&sm->warps, w, path, choose32(path->buffered, state, PATH_FETCH), one_part);
}

/* Ends the warp if all lanes have exited. */
static inline void end_if_finished(struct sm *sm, uint32_t w, uint64_t now) {
    if (sm->warps.slot[w].finished)
        sm_warp_check_done(sm, w, now);
}

static inline void control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now) {
    sm_control(sm, w, p, in, now);
    end_if_finished(sm, w, now);
}

/* Advances the path at a branch that all lanes take or no lane takes. Returns false if the branch needs the general
 * path. */
static inline bool jump_fast(struct sm *sm, uint32_t w, const struct sm_path *path, const struct inst *in,
                             const struct timed_inst *ti) {
    lanemask_t taken = sm->fx.taken;
    if (!(ti->flags & (taken ? TIMED_TAKEN : TIMED_NOT_TAKEN)) || !sm->fast.stack || (taken && taken != path->lanes))
        return false;
    return sm_go_on(sm, w, choose32(taken != 0, in->target, path->pc + 1));
}

/* Returns true if sm_take_tally() can derive the counts of the instruction from the number of its issues and lanes. */
static inline bool is_tallied(const struct sm *sm, const struct sm_warp *sw, const struct timed_inst *ti,
                              const struct sm_form *form) {
    return !form && !sw->context && !sm->remote && !sm->issue.profile &&
           !(ti->flags & (TIMED_RARE | TIMED_UNIFORM | TIMED_FALLBACK));
}

/* Counts an instruction that has issued and executed, for which is_tallied() is true. */
static inline void tally(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path) {
    struct sm_tally *t = &sm->issue.tally[path->pc];
    t->issued++;
    t->lanes += lanes_count(sm->fx.lanes);
    count_path(&sm->n, sw, path);
}

static inline __attribute__((always_inline)) bool
issue_fast(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti, uint64_t now, const bool one_part) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    const struct inst *in = &sm->program->program->code[path->pc];
    hot_assert(path->state == PATH_READY + ti->pipe);
    sw->last_path = (uint8_t)p;
    sw->w->clock = now;
    exec_row(sw->w, in, (rowmask_t)path->lanes, &sm->fx);
    if (sm->fx.fault) {
        sm_count_issue(sm, sw, path, ti, false);
        sm_fault(sm, w, path->pc, now);
        return true;
    }
    tally(sm, sw, path);
    if (!(ti->flags & TIMED_MEMORY))
        execute(sm, w, path, ti, NULL, now, true, one_part);
    else
        access_memory(sm, w, path, ti, NULL, false, now, true);
    if (!(ti->flags & TIMED_CONTROL))
        advance_fast(sm, w, p, ti, now, one_part);
    else if (!jump_fast(sm, w, path, in, ti))
        control(sm, w, p, in, now);
    return true;
}

static __attribute__((noinline)) bool issue_fast_divided(struct sm *sm, uint32_t w, uint32_t p,
                                                         const struct timed_inst *ti, uint64_t now) {
    return issue_fast(sm, w, p, ti, now, false);
}

static __attribute__((noinline)) bool issue_fast_one_part(struct sm *sm, uint32_t w, uint32_t p,
                                                          const struct timed_inst *ti, uint64_t now) {
    return issue_fast(sm, w, p, ti, now, true);
}

/* An instruction on the general path. */
struct issued {
    const struct sm_form *form;
    lanemask_t lanes;
    uint32_t pc;
    uint16_t id;  /* of its path */
    bool driven;  /* a unit advances the context */
    bool tallied; /* is_tallied() */
    bool units;   /* a unit executed it */
};

/* Returns true if the instruction must wait for other lanes or for its turn, and does not execute now. */
static inline bool issue_later(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                               const struct issued *is, uint64_t now) {
    struct warp *warp = sm->warps.slot[w].w;
    const struct inst *in = &sm->program->program->code[is->pc];
    if (ti->flags & TIMED_MEMBERS && !warp_sync_together(warp, in, guard_lanes(warp, in, is->lanes))) {
        if (sm_hooked(sm, HOOK_ISSUED))
            sm_units_tell_issued(sm, w, is->pc, is->lanes, ti, ISSUE_WAITS, now);
        sm_await_members(sm, w, p, now);
        end_if_finished(sm, w, now);
        return true;
    }
    const bool remote = __builtin_expect(sm->remote != NULL, 0) && remote_is(sm, w, in, is->lanes);
    if (!(ti->flags & TIMED_ORDERED || remote) || !is->lanes)
        return false;
    issue_ordered(sm, w, p, ti, is->form, now);
    return true;
}

/* Counts an instruction that has executed, sends it to its pipe and advances its path. */
static inline void go_on(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti, const struct issued *is,
                         uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    const struct inst *in = &sm->program->program->code[is->pc];
    if (sm_hooked(sm, HOOK_ISSUED))
        sm_units_tell_issued(sm, w, is->pc, is->lanes, ti, is->units ? ISSUE_UNIT : ISSUE_DONE, now);
    if (__builtin_expect(ti->flags & TIMED_FALLBACK, 0) && !sm->fx.taken)
        ti = &sm->program->fallback[in->imm];
    if (is->tallied)
        tally(sm, sw, path);
    else
        sm_count_lanes(sm, ti, is->pc, is->lanes);
    uint32_t mem = MEM_QUEUE;
    if (!(ti->flags & TIMED_MEMORY))
        execute_general(sm, w, path, ti, is->form, now);
    else if (!is->units)
        mem = access_memory(sm, w, path, ti, is->form, false, now, false);
    else if (sm->modern)
        modern_issues(sm, w, path, now); /* the unit has the data */
    if (__builtin_expect(ti->flags & TIMED_COPY, 0))
        sm_copies_issued(sm, w, in, mem);
    if (__builtin_expect(ti->flags & TIMED_TENSOR, 0))
        sm_tensor_issued(sm, w, path, now);
    if (is->driven)
        sm_context_step(sm, w, p, now);
    else if (ti->flags & TIMED_CONTROL)
        control(sm, w, p, in, now);
    else
        sm_advance(sm, w, p, now);
    if (__builtin_expect(ti->flags & TIMED_SLEEP, 0) && !sw->context && sw->w->clock > now)
        sm_nap(sm, w, is->lanes, sw->w->clock - now, now);
    if (__builtin_expect(ti->flags & sm->model.long_latency, 0))
        sm_long_latency(sm, w, is->id, ti, now);
}

static __attribute__((noinline)) bool issue_general(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                                                    uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    struct issued is = {.lanes = path->lanes, .pc = path->pc, .id = path->id};
    sw->last_path = (uint8_t)p;
    if (sm->model.wants.gathers && ti->flags & TIMED_GATHER && !sm_gather(sm, w, p, now))
        return false;
    is.form = sm_hooked(sm, HOOK_FORM) ? sm_units_form(sm, w, p) : NULL;
    if (is.form)
        ti = &is.form->ti;
    hot_assert(path->state == PATH_READY + ti->pipe);
    is.driven = __builtin_expect(sw->context, 0) && sm->contexts.slot[w - sm_warp_slots(&sm->cfg->sm)].driven;
    is.tallied = is_tallied(sm, sw, ti, is.form);
    if (!is.tallied)
        sm_count_issue(sm, sw, path, ti, is.driven);
    sm->memory.unlock = __builtin_expect(ti->flags & TIMED_DEQ, 0) && !sw->context && sm_units_take(sm, w, p, now);
    is.units = __builtin_expect(sw->context, 0) && sm_context_execute(sm, w, p, now);
    if (!is.units) {
        if (issue_later(sm, w, p, ti, &is, now))
            return true;
        sw->w->clock = now;
        exec_inst(sw->w, &sm->program->program->code[is.pc], is.lanes, &sm->fx);
    }
    if (sm->fx.fault) {
        if (is.tallied)
            sm_count_issue(sm, sw, path, ti, false);
        sm_fault(sm, w, is.pc, now);
        return true;
    }
    go_on(sm, w, p, ti, &is, now);
    return true;
}

/* Issues an instruction if sm_fast_path.modern_instructions is true. */
static __attribute__((noinline)) bool issue_modern(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                                                   uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = &sw->path[p];
    const struct inst *in = &sm->program->program->code[path->pc];
    const bool tallied = !(ti->flags & TIMED_UNIFORM);
    hot_assert(path->state == PATH_READY + ti->pipe);
    sw->last_path = (uint8_t)p;
    sm->memory.unlock = false;
    sw->w->clock = now;
    exec_inst(sw->w, in, path->lanes, &sm->fx);
    if (sm->fx.fault || !tallied)
        sm_count_issue(sm, sw, path, ti, false);
    if (sm->fx.fault) {
        sm_fault(sm, w, path->pc, now);
        return true;
    }
    if (tallied)
        tally(sm, sw, path);
    else
        sm_count_lanes(sm, ti, path->pc, path->lanes);
    if (ti->flags & TIMED_MEMORY)
        access_memory(sm, w, path, ti, NULL, false, now, false);
    else
        modern_execute(sm, w, path, ti, NULL, now);
    if (ti->flags & TIMED_CONTROL)
        control(sm, w, p, in, now);
    else
        sm_advance(sm, w, p, now);
    return true;
}

/* Does the same as issue_modern() for an instruction with TIMED_PLAIN of a warp's only path (sm_fast_path.plain). */
static __attribute__((noinline)) bool issue_plain(struct sm *sm, uint32_t w, const struct timed_inst *ti,
                                                  uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    struct sm_path *path = sw->path;
    hot_assert(path->state == PATH_READY + ti->pipe);
    sw->last_path = 0;
    sw->w->clock = now;
    exec_inst(sw->w, &sm->program->program->code[path->pc], path->lanes, &sm->fx);
    if (__builtin_expect(sm->fx.fault, 0)) {
        sm_count_issue(sm, sw, path, ti, false);
        sm_fault(sm, w, path->pc, now);
        return true;
    }
    tally(sm, sw, path);
    modern_plain(sm, w, path, ti, now);
    sm_pass(sm, w, ti, now);
    return true;
}

bool sm_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    const struct timed_inst *ti = &sm->program->inst[sm->warps.slot[w].path[p].pc];
    sm->warps.issued[w]++;
    if (sm->fast.modern_instructions && !(ti->flags & (TIMED_RARE | TIMED_FALLBACK))) {
        const bool plain = sm->fast.plain && ti->flags & TIMED_PLAIN && sm->warps.slot[w].n_paths == 1;
        return plain ? issue_plain(sm, w, ti, now) : issue_modern(sm, w, p, ti, now);
    }
    if (__builtin_expect(!sm->fast.instructions || ti->flags & TIMED_RARE, 0))
        return issue_general(sm, w, p, ti, now);
    return sm->fast.one_part ? issue_fast_one_part(sm, w, p, ti, now) : issue_fast_divided(sm, w, p, ti, now);
}
