/* Runs one warp at a time, one basic block at a time. The reconvergence model is called only at block ends. */
#include "interp_affine.h"
#include "interp_watch.h"
#include "isa/machine/pending.h"
#include "isa/machine/warpsync.h"
#include "late.h"
#include <stdlib.h>

enum { PATH_QUANTUM = 512 }; /* number of warp instructions after which another path of the same warp runs */

bool cta_run_init(struct cta_run *r, struct cta *c, const struct reconv_ops *model, const struct reconv_cfg *cfg) {
    memset(r, 0, sizeof *r);
    r->cta = c;
    r->model = model;
    r->cfg = cfg;
    size_t size = model->size(cfg, launch_lanes(c->launch));
    r->warps = calloc(c->n_warps, sizeof *r->warps + size);
    r->shared = model->cta_size ? malloc(model->cta_size(cfg, c->n_warps)) : NULL;
    if (!r->warps || (model->cta_size && !r->shared)) {
        free(r->warps);
        free(r->shared);
        return false;
    }
    unsigned char *states = (unsigned char *)(r->warps + c->n_warps);
    for (uint32_t i = 0; i < c->n_warps; i++) {
        struct warp_run *wr = &r->warps[i];
        wr->control = (struct warp_control){.ops = model, .model = states + i * size, .held = wr->held};
    }
    return true;
}

void cta_run_free(struct cta_run *r) {
    check_cta_free(r->check);
    r->check = NULL;
    cta_affine_free(r->affine);
    r->affine = NULL;
    cta_watch_free(r);
    late_cta_free(r->late);
    r->late = NULL;
    free(r->warps);
    free(r->shared);
    cta_free(r->cta);
    r->warps = NULL;
    r->shared = NULL;
    r->cta = NULL;
}

static const struct native_paths spe_paths;

void cta_run_start(struct cta_run *r) {
    control_cta_start(r->model, r->cfg, r->shared, r->cta->n_warps);
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        struct warp_run *wr = &r->warps[i];
        wr->done = wr->blocked = wr->patient = wr->unmerged = false;
        wr->rounds = 0;
        wr->rotation = 0;
        wr->executed = wr->slept = 0;
        wr->clock_wait = (struct clock_wait){0};
        wr->clock_reads = 0;
        wr->host_polls = (struct host_polls){0};
        wr->has_yielded = false;
        struct reconv_warp who = control_who(&r->cta->warps[i]);
        who.counts = r->model_counts;
        who.shared = r->shared;
        control_start(&wr->control, r->cfg, &who, program_entry(r->cta->launch->program, 0), r->cta->warps[i].launched);
    }
    r->stands = r->wants_entry = false;
    cta_watch_start(r);
    if (r->native.code)
        native_cta_start(r, &spe_paths);
    if (r->check)
        check_cta_start(r->check);
    if (r->late)
        late_cta_start(r->late);
    if (r->affine)
        cta_affine_start(r->affine, r->cta);
}

/* Lets the other warps of the CTA run before copies land that the warp has issued in this turn: such copies take time
 * on a GPU. Returns true if the instruction waits for this reason. */
static bool lets_others_run(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes) {
    if (!cta_lands_fresh(r, w, in, lanes))
        return false;
    pending_new_turn(w);
    r->wants_entry = r->stands = true;
    return true;
}

/* Returns true if may_execute() must decide whether the instruction executes. */
static inline bool may_wait(const struct warp *w, const struct inst *in) {
    return in->hints & (HINT_MEMBERS | HINT_DEQ | HINT_OVERWRITES) || __builtin_expect(w->copies != NULL, 0);
}

/* Returns true if the instruction may execute: all members of its mask have arrived, queues supply its operands, and
 * its copies need no more time. Returns false if the instruction waits or the launch has failed. */
static bool may_execute(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes) {
    bool taken = native_is_taken(&r->native, in);
    if (cta_yields(r, w, in)) { /* before it takes an entry of a queue */
        r->warps[w->index].has_yielded = r->wants_entry = r->stands = true;
        return false;
    }
    if (in->hints & HINT_DEQ && !taken && !cta_affine_take(r, w, in, lanes)) {
        r->wants_entry = r->stands = !r->fx.fault;
        if (r->fx.fault && !r->affine->faulted)
            r->fault_pc = (uint32_t)(in - w->program->code);
        return false;
    }
    if (in->hints & HINT_MEMBERS && !warp_sync_together(w, in, guard_lanes(w, in, lanes))) {
        r->stands = true;
        return false;
    }
    return !w->copies || !lets_others_run(r, w, in, lanes);
}

static uint32_t pc_of(const struct warp *w, const struct inst *in) { return (uint32_t)(in - w->program->code); }

/* Works as run_block(), and tests the control bits of each instruction. */
static const struct inst *run_late_block(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes,
                                         uint64_t clock, bool every_pc, struct tally *t) {
    for (;; in++) {
        bool apart = kind_is_convergence(in->kind) || (in->kind == K_BRANCH && in->hints & HINT_APART);
        if (may_wait(w, in) && !may_execute(r, w, in, lanes))
            return r->stands ? in : NULL;
        late_before(r->late, w, in, lanes);
        if (in->kind == K_BRANCH)
            exec_inst(w, in, lanes, &r->fx);
        else if (!cta_execute(r, w, in, lanes, ++clock)) {
            r->fault_pc = pc_of(w, in);
            return NULL;
        }
        late_after(r->late, w, in, &r->fx);
        t->warp += !apart;
        t->barrier += apart;
        t->thread += apart ? 0 : lanes_count(r->fx.lanes);
        if (in->ends_block || in->kind >= K_BRANCH || every_pc)
            return in;
    }
}

/* Works as run_block(), for a warp of 64 lanes, without native code. No instruction of such a program waits. */
static __attribute__((noinline)) const struct inst *run_block_rows(struct cta_run *r, struct warp *w,
                                                                   const struct inst *in, lanemask_t lanes,
                                                                   uint64_t clock, bool every_pc, struct tally *t) {
    for (uint64_t issued = 1;; in++, issued++) {
        if (!cta_execute(r, w, in, lanes, clock + issued)) {
            r->fault_pc = pc_of(w, in);
            return NULL;
        }
        bool apart = kind_is_convergence(in->kind) || (in->kind == K_BRANCH && in->hints & HINT_APART);
        ++*(apart ? &t->barrier : &t->warp);
        t->thread += apart ? 0 : lanes_count(r->fx.lanes);
        if (in->kind >= K_BRANCH || in->ends_block || every_pc)
            return in;
    }
}

/* Returns true, with the effects in r->fx, if all lanes of the warp reach a barrier for all threads of the CTA. */
static inline bool reaches_barrier_of_all(struct cta_run *r, const struct warp *w, const struct inst *in) {
    uint32_t barrier;
    if (in->kind != K_BARRIER || r->check || r->watch || !exec_barrier_is_of_all(w->bank[1], in, &barrier))
        return false;
    exec_barrier_effects(&r->fx, barrier);
    return true;
}

/* Executes from `in` to the end of its block, or to an instruction that waits (r->stands is then set); with `every_pc`,
 * executes only `in`. Returns the last instruction, or NULL after a fault or a stop. */
static inline __attribute__((always_inline)) const struct inst *run_block(struct cta_run *r, struct warp *w,
                                                                          const struct inst *in, lanemask_t lanes,
                                                                          uint64_t clock, bool every_pc,
                                                                          struct tally *t) {
    uint64_t warp = 0, thread = 0;
    const bool part = lanes != LANES_ALL;
    if (__builtin_expect(w->high != NULL, 0))
        return run_block_rows(r, w, in, lanes, clock, every_pc, t);
    if (__builtin_expect(r->late != NULL, 0))
        return run_late_block(r, w, in, lanes, clock, every_pc, t);
    if (__builtin_expect(r->check != NULL, 0))
        tensor_block(r->check, w, in);
    /* If the program is decoupled, a partial warp is interpreted, because native code takes queue entries only for
     * warps with all lanes active. */
    if (!every_pc && !r->watch && !(part && r->affine) && native_block(r, &r->native, w, &in, &lanes, &clock, t))
        return in;
    w = native_warp(&r->native, w);
    if (__builtin_expect(r->observer != NULL, 0))
        r->observer->block(r->observer->ctx, pc_of(w, in), lanes);
    for (;; in++) {
        warp++;
        if (__builtin_expect(in->kind == K_LANE, 1)) {
            rowmask_t m = guard_row(w, in, (rowmask_t)lanes);
            thread += lanes_count(m);
            if (m == LANES_ALL)
                in->fn.lane(reg_ptr(w, in->d), reg_ptr(w, in->d2), reg_ptr(w, in->a), reg_ptr(w, in->b),
                            reg_ptr(w, in->c), reg_ptr(w, in->e));
            else if (m)
                exec_lane_masked(w, in, m);
        } else if (in->kind == K_BRANCH) {
            if (__builtin_expect(r->check != NULL, 0))
                check_path(r->check, w, lanes);
            if (__builtin_expect(in->hints & HINT_DEQ, 0) && !may_execute(r, w, in, lanes)) {
                in = r->stands ? in : NULL;
                warp -= r->wants_entry;
                break;
            }
            r->fx.lanes = r->fx.taken = guard_lanes(w, in, lanes);
            if (__builtin_expect(r->watch != NULL, 0))
                cta_watch_note(r, w, in, lanes);
            if (__builtin_expect(in->hints & HINT_APART, 0)) {
                warp--;
                t->barrier++;
                break;
            }
            thread += lanes_count(r->fx.lanes);
            break;
        } else {
            if (may_wait(w, in) && !may_execute(r, w, in, lanes)) {
                in = r->stands ? in : NULL;
                /* an instruction that waits for a queue entry or copies is tried again later, and is counted then */
                warp -= r->wants_entry;
                break;
            }
            if (lanes == LANES_ALL && reaches_barrier_of_all(r, w, in)) {
                thread += WARP_LANES;
                break;
            }
            if (!cta_execute(r, w, in, lanes, clock + warp)) {
                r->fault_pc = (uint32_t)(in - w->program->code);
                in = NULL;
                break;
            }
            if (kind_is_convergence(in->kind)) {
                warp--;
                t->barrier++;
            } else {
                thread += lanes_count(r->fx.lanes);
            }
            if (in->kind > K_BRANCH)
                break;
        }
        if (in->ends_block || every_pc)
            break;
    }
    t->warp += warp;
    t->thread += thread;
    return in;
}

void cta_release_barrier(struct cta_run *r, uint32_t barrier) {
    if (r->check)
        check_release(r->check, barrier);
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        struct warp_run *wr = &r->warps[i];
        wr->has_yielded = false;
        if (control_open(&wr->control, &r->cta->warps[i], &r->cta->barriers[barrier]))
            wr->blocked = false;
        if (wr->unmerged)
            spe_merge(wr->control.model);
    }
    cta_barrier_reset(r->cta, barrier);
}

/* Tells the model where the lanes of the path go after instruction `in`, at which run_block() ended, or that they wait
 * at `in`. This is the slow path, through the table of the model's functions. */
static void leave_block(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct inst *in,
                        const struct path *p) {
    uint32_t live = r->cta->live_threads;
    uint32_t opened;
    if (__builtin_expect(r->wants_entry, 0)) { /* the instruction is tried again in the next turn */
        r->stands = r->wants_entry = false;
        wr->starved = true;
        control_advance(&wr->control, p->id, pc_of(w, in));
        return;
    }
    if (__builtin_expect(r->stands, 0)) { /* the path waits for other members of its mask */
        lanemask_t m = guard_lanes(w, in, p->lanes);
        r->stands = false;
        if (r->check && m == p->lanes) /* if m differs from p->lanes, the lanes with a false guard continue first */
            check_members(r->check, w, in, m);
        opened = control_await(&wr->control, w, in, p, &r->fx);
        cta_watch_forget(r, w->index);
    } else {
        opened = control_step(&wr->control, w, in, p, &r->fx);
    }
    if (r->check && wr->control.met)
        check_met(r->check, w, wr->control.met);
    wr->control.met = 0;
    if (r->cta->live_threads != live)
        cta_watch_changed(r);
    for (; opened; opened &= opened - 1)
        cta_release_barrier(r, (uint32_t)__builtin_ctz(opened));
}

static void add_tally(struct cta_run *r, struct warp_run *wr, const struct tally *t, uint64_t paths) {
    r->n.warp_instructions += t->warp;
    r->n.thread_instructions += t->thread;
    r->n.barrier_instructions += t->barrier;
    r->n.path_sum += paths;
    wr->executed += t->warp - t->others;
}

static bool any_lane_waits(const struct warp *w, struct warp_control *c) {
    struct path p[MAX_PATHS];
    control_paths(c, w, p);
    return c->waiting | c->released;
}

/* Returns true if a lane still waits after released lanes have moved past the barrier. */
static inline bool lanes_wait(const struct warp *w, struct warp_run *wr) {
    struct warp_control *c = &wr->control;
    return c->waiting | c->released && (control_all_wait(c, w) || any_lane_waits(w, c));
}

/* Handles a barrier at which all lanes of the warp arrive together. Returns false if the slow path is needed. */
static bool arrive_only_path(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct inst *in) {
    const struct spe_stack *st = wr->control.model;
    const struct path p = warp_only_path(st);
    if (in->kind != K_BARRIER || st->n != 1 || r->fx.lanes != p.lanes || r->check ||
        r->fx.barrier_mode != BARRIER_SYNC || r->fx.barrier == CLUSTER_BARRIER || wr->control.waiting)
        return false;
    if (control_stop(&wr->control, w, in, &p, p.lanes, &r->fx, warp_advance_only_path))
        cta_release_barrier(r, r->fx.barrier);
    warp_step_only_path(wr);
    return true;
}

/* Lets other paths of the warp run instead of the top path. Returns false if there are none. */
static bool take_turns(const struct warp *w, struct warp_run *wr) {
    struct warp_control *c = &wr->control;
    bool moved = w->live & ~c->waiting && spe_take_turns(c->model, c->waiting);
    wr->rounds = 0;
    wr->patient = false;
    wr->unmerged |= moved;
    return moved;
}

bool cta_has_others(const struct cta_run *r) {
    bool others = false;
    for (uint32_t i = 0; r->turns && i < r->cta->n_warps; i++) {
        const struct warp_run *wr = &r->warps[i];
        others |= !wr->done && !wr->blocked && spe_others(wr->control.model) & ~wr->control.waiting;
    }
    return others;
}

void cta_take_turns(struct cta_run *r) {
    for (uint32_t i = 0; r->turns && i < r->cta->n_warps; i++)
        if (!r->warps[i].done && !r->warps[i].blocked)
            take_turns(&r->cta->warps[i], &r->warps[i]);
}

/* Called after an iteration of a loop that waits for other threads. After at least ROUNDS such iterations and
 * PATH_QUANTUM instructions, other warps run; after as many again, other paths of the warp run. Does nothing if the
 * warp has only one path. Returns true if the warp's turn ends. */
static bool ends_turn_waiting(const struct warp *w, struct warp_run *wr, uint64_t now) {
    enum { ROUNDS = 4 };
    if (!wr->rounds)
        wr->since = now;
    if (((const struct spe_stack *)wr->control.model)->n < 2 || ++wr->rounds < ROUNDS || now - wr->since < PATH_QUANTUM)
        return false;
    wr->rounds = 0;
    if (!wr->patient)
        return wr->patient = true;
    take_turns(w, wr);
    return false;
}

/* Returns true if a warp must not enter the block at `pc` (cta_run.known). */
static inline bool stops_before(struct cta_run *r, uint32_t pc) {
    if (__builtin_expect(!r->known, 1) || r->known[pc])
        return false;
    return r->stopped = true;
}

static inline bool repeats_waiting_loop(const struct cta_run *r, const struct inst *in) {
    return in->ends_block & BLOCK_WAITS && r->turns && r->fx.taken;
}

/* Lets the path of the stack model continue after `in`, if all lanes go to one PC. Returns false if leave_block() must
 * decide. */
static inline bool spe_go_on(struct cta_run *r, const struct warp *w, struct spe_stack *st, const struct inst *in,
                             lanemask_t lanes) {
    if (r->stands || in->kind > K_BRANCH)
        return false;
    if (in->kind < K_BRANCH)
        spe_advance(st, pc_of(w, in) + 1);
    else if (in->ends_block == BLOCK_ENDS && (r->fx.taken == lanes || !r->fx.taken))
        spe_advance(st, r->fx.taken ? in->target : pc_of(w, in) + 1);
    else
        return false;
    return true;
}

static const struct spe_entry *path_after(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes,
                                          uint64_t *threads) {
    struct warp_run *wr = &r->warps[w->index];
    struct spe_stack *st = wr->control.model;
    if (in->kind == K_BRANCH)
        r->fx.lanes = r->fx.taken = guard_lanes(w, in, lanes);
    else if (in->kind == K_EXIT)
        exec_inst(w, in, lanes, &r->fx);
    if (in->kind >= K_BRANCH)
        *threads += lanes_count(r->fx.lanes);
    if (!spe_go_on(r, w, st, in, lanes))
        leave_block(r, w, wr, in, &(const struct path){.pc = st->e[st->n - 1].pc, .lanes = lanes});
    return st->n ? &st->e[st->n - 1] : NULL;
}

static const struct native_paths spe_paths = {path_after, cta_release_barrier};

/* Runs the stack model. Steps in which all lanes of the top entry go to the same PC are inline. Requires: no lane
 * waits. */
static enum warp_end run_spe(struct cta_run *r, struct warp *w, uint64_t budget) {
    struct warp_run *wr = &r->warps[w->index];
    struct spe_stack *st = wr->control.model;
    const struct inst *code = w->program->code;
    struct tally t = {0};
    enum warp_end end = WARP_DONE;
    while (st->n) {
        const struct spe_entry *top = &st->e[st->n - 1];
        const uint64_t spent = t.warp - t.others;
        if (spent >= budget || r->polled || r->rests) {
            end = WARP_SPENT;
            break;
        }
        if (stops_before(r, top->pc)) {
            end = WARP_SPENT;
            break;
        }
        native_may_go_on(&r->native, budget - spent, top->rpc);
        const struct inst *in = run_block(r, w, code + top->pc, top->lanes, wr->executed + spent, false, &t);
        w = native_warp(&r->native, w);
        wr = &r->warps[w->index];
        st = wr->control.model;
        if (!in) {
            end = r->fx.fault ? WARP_FAULT : WARP_STOPPED;
            break;
        }
        if (native_has_moved(&r->native)) {
            if (!lanes_wait(w, wr))
                continue;
            end = WARP_WAITS;
            break;
        }
        const struct path p = spe_top(st); /* native code may have run several paths */
        if (!spe_go_on(r, w, st, in, p.lanes)) {
            bool round = repeats_waiting_loop(r, in) && !r->stands;
            if (r->stands || !arrive_only_path(r, w, wr, in))
                leave_block(r, w, wr, in, &p);
            if (wr->starved || (round && ends_turn_waiting(w, wr, wr->executed + t.warp - t.others))) {
                end = WARP_SPENT;
                break;
            }
            if (lanes_wait(w, wr)) {
                end = WARP_WAITS; /* if only some of the lanes wait, warp_run() decides how to continue */
                break;
            }
        }
    }
    warp_note_depth(r, st);
    add_tally(r, wr, &t, t.warp);
    return end;
}

/* Lets a model with shared state change the paths of all warps of the CTA. Returns false if it had nothing to change.
 * Afterwards the paths of this warp may have changed, and other warps may be able to run. */
static bool meet(struct cta_run *r, struct warp_control *c) {
    if (!r->shared || !control_meet(c, r->shared))
        return false;
    for (uint32_t i = 0; i < r->cta->n_warps; i++)
        r->warps[i].blocked &= !reconv_moved(r->shared, i);
    return true;
}

/* Issues a block for a path without lanes, as run_block() does for other paths. Nothing executes. */
static const struct inst *issue_empty(const struct inst *in, bool every_pc, struct tally *t) {
    for (;; in++) {
        uint64_t *count = kind_is_convergence(in->kind) || in->hints & HINT_APART ? &t->barrier : &t->warp;
        ++*count;
        if (in->ends_block || every_pc)
            return in;
    }
}

static bool may_run(const struct warp_control *c, const struct path *p) { return p->lanes & ~c->waiting || !p->lanes; }

/* Runs any model through its table of functions. */
static enum warp_end run_paths(struct cta_run *r, struct warp *w, struct warp_run *wr, uint64_t budget) {
    struct warp_control *c = &wr->control;
    const struct reconv_ops *ops = r->model;
    const struct inst *code = w->program->code;
    struct path p[MAX_PATHS];
    bool every_pc = reconv_wants(ops, r->cfg).every_pc || r->single;
    uint64_t spent = 0, turn = 0;
    for (;;) {
        int n = control_paths(c, w, p), ready = 0;
        if (meet(r, c))
            continue;
        for (int i = 0; i < n; i++)
            if (may_run(c, &p[i]))
                p[ready++] = p[i];
        if (!ready && ops->select && ops->select(c->model))
            continue;
        if (!ready && wr->unmerged && take_turns(w, wr)) /* happens only in the stack model */
            continue;
        if (!ready)
            return ops->finished(c->model) ? WARP_DONE : WARP_WAITS;
        if (spent >= budget || r->polled || r->rests)
            return WARP_SPENT;
        struct path *chosen = &p[wr->rotation % (uint32_t)ready];
        if (stops_before(r, chosen->pc))
            return WARP_SPENT;
        struct tally t = {0};
        lanemask_t lanes = chosen->lanes & ~c->waiting; /* the path may have merged with lanes that wait */
        uint32_t concurrent = control_concurrent(c, n);
        native_may_go_on(&r->native, 0, UINT32_MAX);
        const struct inst *in = code + chosen->pc;
        in = lanes ? run_block(r, w, in, lanes, wr->executed, every_pc, &t) : issue_empty(in, every_pc, &t);
        add_tally(r, wr, &t, t.warp * (uint64_t)concurrent);
        spent += t.warp + t.barrier;
        turn += t.warp + t.barrier;
        if (!in)
            return r->fx.fault ? WARP_FAULT : WARP_STOPPED;
        bool round = lanes && repeats_waiting_loop(r, in) && !r->stands;
        leave_block(r, w, wr, in, chosen);
        if (round && ends_turn_waiting(w, wr, wr->executed))
            return WARP_SPENT;
        if (c->depth > r->n.max_depth)
            r->n.max_depth = c->depth;
        c->depth = 0;
        if (turn >= PATH_QUANTUM || wr->starved || r->polled || r->rests) {
            turn = 0;
            wr->rotation++;
            if (ops->yield && ops->paths(c->model, p, MAX_PATHS) > 0)
                ops->yield(c->model, p[0].id);
        }
        if (wr->starved)
            return WARP_SPENT;
    }
}

enum warp_end warp_run(struct cta_run *r, uint32_t warp, uint64_t budget) {
    struct warp *w = &r->cta->warps[warp];
    struct warp_run *wr = &r->warps[warp];
    enum warp_end end = WARP_WAITS;
    wr->starved = r->polled = r->rests = false;
    if (__builtin_expect(w->copies != NULL, 0))
        pending_new_turn(w);
    native_turn(&r->native, w, budget);
    if (r->model == &reconv_spe) {
        warp_step_only_path(wr);
        if (!r->single && !lanes_wait(w, wr))
            end = run_spe(r, w, budget);
        w = native_warp(&r->native, w);
        wr = &r->warps[w->index];
    }
    r->last = w->index;
    if (end == WARP_WAITS && !(r->model == &reconv_spe && control_all_wait(&wr->control, w)))
        end = run_paths(r, w, wr, budget);
    if (end == WARP_FAULT && !(r->affine && r->affine->faulted))
        r->fault_warp = r->last;
    if (end == WARP_SPENT && r->rests && r->turns)
        take_turns(w, wr);
    wr->done = end == WARP_DONE;
    wr->blocked = end == WARP_WAITS;
    return end;
}
