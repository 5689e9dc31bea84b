/* Issue: what an instruction does happens here, and all that follows from it in time is reserved or queued. */
#include "isa/hot_assert.h"
#include "isa/machine/warpsync.h"
#include "sm_plain.h"
#include <assert.h>
#include <string.h>

uint32_t sm_inflight_new(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint8_t board) {
    uint32_t i = sm->free_inflight;
    struct inflight *f = &sm->inflight[i];
    hot_assert(i != NO_INFLIGHT);
    sm->free_inflight = f->next;
    f->pc = pc;
    f->lanes = lanes;
    f->warp = (uint8_t)w;
    f->board = board;
    f->part = (uint8_t)(sm->n_parts > 1 ? w % sm->n_parts : 0);
    f->missed = false;
    f->known = false;
    f->used = true;
    f->issued = sm->accounted - 1; /* the cycle that is being walked */
    if (__builtin_expect(sm->free_inflight == NO_INFLIGHT, 0))
        sm_scarce(sm, f->issued);
    sm->warp[w].inflight++;
    return i;
}

static inline void inflight_ends(struct sm *sm, uint32_t inflight, struct sm_warp *sw) {
    struct inflight *f = &sm->inflight[inflight];
    f->used = false;
    f->next = sm->free_inflight;
    sm->free_inflight = inflight;
    sw->inflight--;
}

/* A path that waits for operands: what it waits for now. */
static void operand_written(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    if (path->state == PATH_LOAD || path->state == PATH_ARITH)
        sm_evaluate(sm, w, (uint32_t)(path - sm->warp[w].path), now);
}

static __attribute__((noinline)) void complete_any(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->inflight[inflight];
    uint32_t w = f->warp;
    struct sm_warp *sw = &sm->warp[w];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    if (ti->regs.n_write)
        sm->sb->writeback(sw->board, f->board, f->lanes, &ti->regs);
    if (sm_hooked(sm, HOOK_WRITTEN))
        sm_units_written(
            sm, &(struct sm_written){
                    .from = f->issued, .to = now, .warp = w, .pc = f->pc, .lanes = f->lanes, .missed = f->missed});
    if (sm->wants.splits)
        sm_load_ended(sm, inflight);
    inflight_ends(sm, inflight, sw);
    if (sm->n_served)
        sm_members_start(sm, now);
    if (sw->finished) {
        sm_warp_check_done(sm, w, now);
        return;
    }
    if (!ti->regs.n_write)
        return;
    if (sm->wants.interleaves && sw->control.n_held)
        sm_wake_held(sm, w, now);
    if (sw->n_paths == 1)
        operand_written(sm, w, &sw->path[0], now);
    else
        sm_evaluate_all(sm, w, now);
}

/* What is rare is the last thing that it calls, or done by complete_any() from the beginning: it needs no frame. */
void sm_complete(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->inflight[inflight];
    uint32_t w = f->warp;
    struct sm_warp *sw = &sm->warp[w];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    if (__builtin_expect(!sm->plain | (sm->n_served != 0) | sw->finished | (sw->n_paths != 1), 0)) {
        complete_any(sm, inflight, now);
        return;
    }
    sb_word_writeback(sw->board, &ti->regs);
    inflight_ends(sm, inflight, sw);
    struct sm_path *path = &sw->path[0];
    bool waits = (path->state == PATH_LOAD) | (path->state == PATH_ARITH);
    if (!ti->regs.n_write)
        return;
    ti = &sm->program->inst[path->pc];
    if (__builtin_expect(ti->flags & TIMED_RARE, 0)) {
        if (waits)
            sm_evaluate(sm, w, 0, now);
        return;
    }
    sm_move_plain(sm, w, path, choose32(waits, sm_plain_state(sw, ti), path->state), false);
}

/* An instruction without a result is over. */
static void tell_written(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t from, uint64_t to) {
    sm_units_written(sm, &(struct sm_written){.from = from, .to = to, .warp = w, .pc = path->pc, .lanes = path->lanes});
}

/* Reserves the result bus and then the registers' banks of a result that could be there at `from`: the cycle at which
 * it is written, and the one in which it takes the bus. */
static inline __attribute__((always_inline)) uint64_t deliver(struct sm *sm, uint32_t part, uint32_t w,
                                                              const struct timed_inst *ti, const struct sm_form *form,
                                                              uint64_t from, uint64_t now, uint64_t *on_bus) {
    if (__builtin_expect(!form || !form->file, 1))
        return regfile_deliver(&sm->part[part].regfile, &ti->banks, w, from, now, on_bus);
    *on_bus = regfile_result(form->other.n_writes ? &form->file[part] : &sm->part[part].regfile, from, now);
    return sm_write_registers(sm, part, w, ti, form, *on_bus, now);
}

/* Reserves collector, pipe and write port of an instruction that goes to none of the memories. */
static inline __attribute__((always_inline)) void execute(struct sm *sm, uint32_t w, const struct sm_path *path,
                                                          const struct timed_inst *ti, const struct sm_form *form,
                                                          uint64_t now, const bool plain, const bool lean) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    uint32_t part = !lean && sm->n_parts > 1 ? w % sm->n_parts : 0;
    struct exec_part *e = &sm->part[part];
    struct collector *c = &e->pipe[ti->pipe].collector;
    struct pipes *pipes = &e->pipe[ti->pipe].units;
    uint32_t unit, pipe = pipes_earliest(pipes);
    uint64_t reads = collector_accept(c, now, &unit);
    e->takes[ti->pipe] = collector_free(c);
    uint64_t leaves = collector_leaves(c, sm_read_registers(sm, part, w, ti, form, reads));
    uint64_t enters = pipes_free(pipes, pipe, leaves + cfg->latch_dispatch);
    pipes->n.waits += enters - leaves - cfg->latch_dispatch;
    if (!ti->regs.n_write) {
        collector_dispatched(c, unit, leaves, enters);
        pipes_enter(pipes, pipe, enters, ti->initiation);
        if (!plain && sm_hooked(sm, HOOK_WRITTEN))
            tell_written(sm, w, path, now, enters + ti->latency);
        return;
    }
    uint64_t result = enters + ti->latency + cfg->latch_writeback;
    uint64_t on_bus, written = deliver(sm, part, w, ti, form, result, now, &on_bus);
    enters += on_bus - result; /* a pipe does not start what it could not deliver */
    collector_dispatched(c, unit, leaves, enters);
    pipes_enter(pipes, pipe, enters, ti->initiation);
    uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    sm_board_issue(sm, &sm->warp[w], path, ti, false, plain);
    wheel_add(&sm->wheel, written, event_make(EVENT_WRITEBACK, i));
}

static __attribute__((noinline)) void execute_any(struct sm *sm, uint32_t w, const struct sm_path *path,
                                                  const struct timed_inst *ti, const struct sm_form *form,
                                                  uint64_t now) {
    execute(sm, w, path, ti, form, now, false, false);
}

/* A memory instruction goes to the load/store unit; without lanes it goes nowhere. Returns its place in sm->mem. */
static inline uint32_t access_memory(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                                     const struct sm_form *form, bool ordered, uint64_t now, const bool plain) {
    struct sm_warp *sw = &sm->warp[w];
    if (!ordered && !sm->fx.lanes)
        return MEM_QUEUE;
    uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    sm->inflight[i].form = form;
    sw->accesses += plain || ti->kind != K_COPY; /* sm_copy.c knows of copies */
    sw->atomics += sm->cfg->sm.atomic_wait && ti->kind == K_ATOM;
    if (ti->regs.n_write)
        sm_board_issue(sm, sw, path, ti, true, plain);
    return sm_mem_accept(sm, sm->inflight[i].part, w, path->pc, i, ordered, now);
}

static void sm_fault(struct sm *sm, uint32_t w, uint32_t pc, const struct effects *fx, uint64_t now) {
    const struct warp *warp = sm->warp[w].w;
    const struct inst *in = &sm->program->program->code[pc];
    const struct sm_context *x = sm->warp[w].context ? &sm->context[w - sm->cfg->sm.warps] : NULL;
    sm->fault = (struct fault){
        .kind = fx->fault,
        .pc = pc,
        .cta = warp->cta->id,
        .warp = warp->index,
        .lane = fx->fault_lane,
        .space = fx->space,
        .address = fx->fault_address,
        .bytes = fx->fault_bytes,
        .is_store = fx_is_store(in, fx),
        .text = fx->fault_text,
        .context = x && !x->driven ? x->name : NULL, /* who drives it has said whose lane it was */
    };
    sm->status.fault_cycle = now;
    sm->status.stopped = true;
}

/* False: it is counted apart from all others. */
static bool count_special(struct sm *sm, const struct timed_inst *ti, uint32_t pc, uint32_t lanes) {
    if (ti->flags & TIMED_FREE)
        return false;
    if (ti->flags & TIMED_CHAIN) {
        sm_count_chain(sm, pc);
    } else if (ti->flags & TIMED_REDUCE) {
        sm_count_reduce(sm, pc);
    } else {
        sm->n.op_lanes[ti->op] += lanes;
        ++*(ti->kind == K_STORE ? &sm->n.spill.stores : &sm->n.spill.loads);
    }
    return true;
}

/* `issued` instructions of the kind of `ti` that `lanes` lanes in all have executed: what is counted by its pipe. */
static inline void count_pipe(struct sm_counts *n, const struct timed_inst *ti, uint64_t issued, uint64_t lanes) {
    bool flops = ti->op == CLASS_F32_ADD || ti->op == CLASS_F32_MUL || ti->op == CLASS_F32_FMA;
    if (ti->pipe != PIPE_SP)
        return;
    n->sp_cycles += ti->initiation * issued;
    n->sp_lane_cycles += ti->initiation * lanes;
    n->sp_flop_cycles += flops ? ti->initiation * lanes : 0;
}

/* Lanes that executed are known only now: after exec_inst(). */
void sm_count_lanes(struct sm *sm, const struct timed_inst *ti, uint32_t pc, lanemask_t active) {
    uint32_t lanes = (uint32_t)__builtin_popcount(sm->fx.lanes);
    count_pipe(&sm->n, ti, 1, lanes);
    if (__builtin_expect(ti->flags & (TIMED_FREE | TIMED_CHAIN | TIMED_REDUCE | TIMED_SPILL), 0)) {
        if (!count_special(sm, ti, pc, lanes))
            return;
    } else {
        sm->n.op_lanes[ti->op] += lanes;
    }
    sm->n.thread_instructions += lanes;
    if (sm->profile)
        sm->profile[pc].lanes +=
            (unsigned)__builtin_popcount(fx_executing(&sm->program->program->code[pc], &sm->fx, active));
}

/* What an instruction says of its registers and its pipe when it is issued. */
static inline void count_kind(struct sm_counts *n, const struct timed_inst *ti, uint64_t issued) {
    n->pipe[ti->pipe] += issued;
    n->read_words += ti->read_words * issued;
    n->write_words += ti->write_words * issued;
}

/* The path that issues, if its instruction is not counted apart. */
static inline void count_path(struct sm_counts *n, const struct sm_warp *sw, const struct sm_path *path) {
    n->active_lanes += (unsigned)__builtin_popcount(path->lanes);
    n->path_sum += sw->n_concurrent;
}

/* `driven`: of a driven context, whose unit counts its operands, for they need not be of all lanes. */
static void count_issue(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path,
                        const struct timed_inst *ti, bool driven) {
    if (driven)
        sm->n.pipe[ti->pipe]++;
    else
        count_kind(&sm->n, ti, 1);
    if (sm->profile)
        sm->profile[path->pc].issued++;
    if (ti->flags & TIMED_FREE) {
        sm->n.free_instructions++;
        return;
    }
    sm->n.warp_instructions++;
    count_path(&sm->n, sw, path);
}

/* All that is the same whenever an instruction is issued as plain is counted by its PC, and here multiplied. */
void sm_take_tally(struct sm *sm) {
    struct sm_counts *n = &sm->n;
    for (uint32_t pc = 0; sm->tally && pc < sm->program->program->n; pc++) {
        const struct timed_inst *ti = &sm->program->inst[pc];
        struct sm_tally *t = &sm->tally[pc];
        count_kind(n, ti, t->issued);
        count_pipe(n, ti, t->issued, t->lanes);
        n->warp_instructions += t->issued;
        n->op_lanes[ti->op] += t->lanes;
        n->thread_instructions += t->lanes;
        *t = (struct sm_tally){0, 0};
    }
}

static void tell_issued(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, const struct timed_inst *ti,
                        enum issue_phase phase, uint64_t cycle) {
    bool executed = phase != ISSUE_ORDERED && phase != ISSUE_WAITS;
    sm_units_issued(sm, &(struct sm_issued){.cycle = cycle,
                                            .warp = w,
                                            .pc = pc,
                                            .lanes = lanes,
                                            .phase = (uint8_t)phase,
                                            .in = &sm->program->program->code[pc],
                                            .ti = ti,
                                            .fx = executed ? &sm->fx : NULL});
}

/* It takes its slot, and is performed at the window's end. */
static void issue_ordered(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                          const struct sm_form *form, uint64_t now) {
    struct sm_path *path = &sm->warp[w].path[p];
    uint32_t mem = MEM_QUEUE;
    if (ti->flags & TIMED_MEMORY)
        mem = access_memory(sm, w, path, ti, form, true, now, false);
    else
        execute_any(sm, w, path, ti, form, now);
    sm->ordered[sm->status.n_ordered++] =
        (struct ordered_inst){.cycle = now, .pc = path->pc, .mem = mem, .active = path->lanes, .warp = (uint8_t)w};
    sm->warp[w].ordered |= path->lanes;
    if (sm_hooked(sm, HOOK_ISSUED))
        tell_issued(sm, w, path->pc, path->lanes, ti, ISSUE_ORDERED, now);
    sm_advance(sm, w, p, now);
}

/* One instruction on, in program order, after an instruction that was issued as a plain one: its path waits for
 * nothing else than what is asked here. */
static inline void advance_plain(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti, uint64_t now,
                                 const bool lean) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    if (sw->n_paths > 1 || ti->flags & TIMED_ENDS || sm->wants.every_pc || sw->atomics) {
        if (!sm->jumps || !sm_go_on(sm, w, path->pc + 1))
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
    uint32_t state = sm_plain_state(sw, ti);
    sm_move_plain(sm, w, path, choose32(path->buffered, state, PATH_FETCH), lean);
}

/* A branch that takes all lanes to one place. */
static inline bool jump_plain(struct sm *sm, uint32_t w, const struct sm_path *path, const struct inst *in,
                              const struct timed_inst *ti) {
    lanemask_t taken = sm->fx.taken;
    if (!(ti->flags & (taken ? TIMED_TAKEN : TIMED_NOT_TAKEN)) || !sm->jumps || (taken && taken != path->lanes))
        return false;
    return sm_go_on(sm, w, choose32(taken != 0, in->target, path->pc + 1));
}

static inline __attribute__((always_inline)) bool
issue_plain(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti, uint64_t now, const bool lean) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    const struct inst *in = &sm->program->program->code[path->pc];
    struct sm_tally *tally = &sm->tally[path->pc];
    hot_assert(path->state == PATH_READY + ti->pipe);
    sw->last_path = (uint8_t)p;
    sw->w->clock = now;
    exec_inst(sw->w, in, path->lanes, &sm->fx);
    if (sm->fx.fault) {
        count_issue(sm, sw, path, ti, false);
        sm_fault(sm, w, path->pc, &sm->fx, now);
        return true;
    }
    tally->issued++;
    tally->lanes += (unsigned)__builtin_popcount(sm->fx.lanes);
    count_path(&sm->n, sw, path);
    if (!(ti->flags & TIMED_MEMORY))
        execute(sm, w, path, ti, NULL, now, true, lean);
    else
        access_memory(sm, w, path, ti, NULL, false, now, true);
    if (!(ti->flags & TIMED_CONTROL))
        advance_plain(sm, w, p, ti, now, lean);
    else if (!jump_plain(sm, w, path, in, ti))
        sm_control(sm, w, p, in, now);
    return true;
}

static __attribute__((noinline)) bool issue_divided(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                                                    uint64_t now) {
    return issue_plain(sm, w, p, ti, now, false);
}

static __attribute__((noinline)) bool issue_lean(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                                                 uint64_t now) {
    return issue_plain(sm, w, p, ti, now, true);
}

void sm_find_plain(struct sm *sm) {
    static const enum sm_hook hooks[] = {HOOK_MAY_ISSUE, HOOK_TAKE, HOOK_FORM, HOOK_ISSUED, HOOK_WRITTEN};
    const struct reconv_wants *wants = &sm->wants;
    sm->plain = sm->sb == &scoreboard_warp && sm->program && sm->program->program->n_regs <= SB_WORD &&
                !sm->n_contexts && !sm->profile && !wants->gathers && !wants->splits && !wants->interleaves &&
                !sm->heard;
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        sm->plain &= !sm_hooked(sm, hooks[i]);
    if (sm->plain)
        sm->unlock = false;
    sm->lean = sm->plain && sm->n_parts == 1 && sm->words == 1;
    sm->jumps =
        sm->plain && sm->ops == &reconv_spe && !wants->stack_entries && !wants->every_pc && !sm->cfg->sm.in_turn;
    sm->calm = sm->words == 1 && !sm->cfg->sm.fetch_reclaims && !sm->polls && !sm->cfg->sm.in_turn &&
               sm->cfg->sm.policy != SCHED_TWO_LEVEL && !wants->interleaves && !wants->splits && !sm->n_contexts &&
               !sm->profile && !sm_hooked(sm, HOOK_TICK) && !sm_hooked(sm, HOOK_NEXT) && !sm_hooked(sm, HOOK_LOOK);
}

static __attribute__((noinline)) bool issue_any(struct sm *sm, uint32_t w, uint32_t p, const struct timed_inst *ti,
                                                uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    const uint32_t pc = path->pc;
    const struct inst *in = &sm->program->program->code[pc];
    const lanemask_t lanes = path->lanes;
    const uint16_t id = path->id;
    sw->last_path = (uint8_t)p;
    if (sm->wants.gathers && ti->flags & TIMED_GATHER && !sm_gather(sm, w, p, now))
        return false;
    const struct sm_form *form = sm_hooked(sm, HOOK_FORM) ? sm_units_form(sm, w, p) : NULL;
    if (form)
        ti = &form->ti;
    hot_assert(path->state == PATH_READY + ti->pipe);
    const bool driven = __builtin_expect(sw->context, 0) && sm->context[w - sm->cfg->sm.warps].driven;
    count_issue(sm, sw, path, ti, driven);
    sm->unlock = __builtin_expect(ti->flags & TIMED_DEQ, 0) && !sw->context && sm_units_take(sm, w, p, now);
    const bool units = __builtin_expect(sw->context, 0) && sm_context_execute(sm, w, p, now);
    if (!units && ti->flags & TIMED_MEMBERS && !warp_sync_together(sw->w, in, guard_lanes(sw->w, in, lanes))) {
        if (sm_hooked(sm, HOOK_ISSUED))
            tell_issued(sm, w, pc, lanes, ti, ISSUE_WAITS, now);
        sm_await_members(sm, w, p, now);
        return true;
    }
    if (!units && ti->flags & TIMED_ORDERED) {
        issue_ordered(sm, w, p, ti, form, now);
        return true;
    }
    if (!units) {
        sw->w->clock = now;
        exec_inst(sw->w, in, lanes, &sm->fx);
    }
    if (sm->fx.fault) {
        sm_fault(sm, w, pc, &sm->fx, now);
        return true;
    }
    if (sm_hooked(sm, HOOK_ISSUED))
        tell_issued(sm, w, pc, lanes, ti, units ? ISSUE_UNIT : ISSUE_DONE, now);
    if (__builtin_expect(ti->flags & TIMED_REDUCE, 0) && !sm->fx.taken)
        ti = &sm->program->ladder[in->imm];
    sm_count_lanes(sm, ti, pc, lanes);
    uint32_t mem = MEM_QUEUE;
    if (!(ti->flags & TIMED_MEMORY))
        execute_any(sm, w, path, ti, form, now);
    else if (!units)
        mem = access_memory(sm, w, path, ti, form, false, now, false);
    if (__builtin_expect(ti->flags & TIMED_COPY, 0))
        sm_copies_issued(sm, w, in, mem);
    if (driven)
        sm_context_step(sm, w, p, now);
    else if (ti->flags & TIMED_CONTROL)
        sm_control(sm, w, p, in, now);
    else
        sm_advance(sm, w, p, now);
    if (__builtin_expect(ti->flags & sm->heard, 0))
        sm_long_latency(sm, w, id, ti, now);
    return true;
}

bool sm_issue(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    const struct timed_inst *ti = &sm->program->inst[sm->warp[w].path[p].pc];
    if (__builtin_expect(!sm->plain || ti->flags & TIMED_RARE, 0))
        return issue_any(sm, w, p, ti, now);
    return sm->lean ? issue_lean(sm, w, p, ti, now) : issue_divided(sm, w, p, ti, now);
}

void sm_perform_stores(struct sm *sm) {
    if (sm->held.used)
        held_perform(&sm->held);
}

struct fault sm_take_fault(struct sm *sm) {
    struct fault f = sm->fault;
    assert(sm->status.stopped);
    sm->fault = (struct fault){.kind = FAULT_NONE};
    return f;
}

bool sm_perform(struct sm *sm, uint64_t cycle, uint64_t now) {
    if (sm->ordered_at == sm->status.n_ordered || sm->ordered[sm->ordered_at].cycle > cycle || sm->status.stopped)
        return false;
    const struct ordered_inst *o = &sm->ordered[sm->ordered_at++];
    sm_account(sm, now);
    struct sm_warp *sw = &sm->warp[o->warp];
    sm->held.off = true;
    sm->unlock = false;
    exec_inst(sw->w, &sm->program->program->code[o->pc], o->active, &sm->fx);
    sm->held.off = false;
    if (sm->ordered_at == sm->status.n_ordered)
        sm->ordered_at = sm->status.n_ordered = 0;
    if (sm->fx.fault) {
        sm_fault(sm, o->warp, o->pc, &sm->fx, o->cycle);
        return true;
    }
    if (sm_hooked(sm, HOOK_ISSUED))
        tell_issued(sm, o->warp, o->pc, o->active, &sm->program->inst[o->pc], ISSUE_PERFORMED, o->cycle);
    sm_count_lanes(sm, &sm->program->inst[o->pc], o->pc, o->active);
    if (sm->program->inst[o->pc].flags & TIMED_COPY)
        sm_copies_issued(sm, o->warp, &sm->program->program->code[o->pc], o->mem);
    if (o->mem != MEM_QUEUE)
        sm_mem_performed(sm, o->mem, now);
    sw->ordered &= ~o->active;
    sm_evaluate_all(sm, o->warp, now);
    if (sw->finished) /* a context that was closed meanwhile */
        sm_warp_check_done(sm, o->warp, now);
    sm_wake(sm, now);
    return true;
}
