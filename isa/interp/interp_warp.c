/* One warp at a time, a basic block at a time: the reconvergence model is asked only where a block ends. */
#include "interp_warp.h"
#include "interp_watch.h"
#include "isa/exec/exec_surf.h"
#include "isa/exec/syscall.h"
#include "isa/machine/warpsync.h"
#include <stdlib.h>

enum { PATH_QUANTUM = 512 }; /* warp instructions before another path of the same warp gets its turn */

bool cta_run_init(struct cta_run *r, struct cta *c, const struct reconv_ops *model, const struct reconv_cfg *cfg) {
    memset(r, 0, sizeof *r);
    r->cta = c;
    r->model = model;
    r->cfg = cfg;
    size_t size = model->size(cfg);
    r->warps = calloc(c->n_warps, sizeof *r->warps + size);
    if (!r->warps)
        return false;
    unsigned char *states = (unsigned char *)(r->warps + c->n_warps);
    for (uint32_t i = 0; i < c->n_warps; i++)
        r->warps[i].state = states + i * size;
    return true;
}

void cta_run_free(struct cta_run *r) {
    check_cta_free(r->check);
    r->check = NULL;
    cta_watch_free(r);
    free(r->warps);
    cta_free(r->cta);
    r->warps = NULL;
    r->cta = NULL;
}

void cta_run_start(struct cta_run *r) {
    size_t size = r->model->size(r->cfg);
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        struct warp_run *wr = &r->warps[i];
        void *state = wr->state;
        memset(state, 0, size);
        memset(wr, 0, sizeof *wr);
        wr->state = state;
        r->model->start(state, r->cfg, program_entry(r->cta->launch->program, 0), r->cta->warps[i].launched);
    }
    if (r->check)
        check_cta_start(r->check);
}

/* Does the order of this instruction among CTAs show in results? Plain accesses are not asked: programs whose results
 * depend on these are racy. */
static bool needs_turn(const struct inst *in) {
    bool global = in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC;
    switch (in->kind) {
    case K_ATOM:
        return global;
    case K_LOAD: /* .cg and .cv: loads that look for what others wrote */
    case K_STORE:
        return global && ((in->hints & HINT_VOLATILE) || in->cache_op == CACHE_CG || in->cache_op == CACHE_CV);
    case K_WARP:
        return in->fn.warp == sys_vprintf || in->fn.warp == sys_malloc || in->fn.warp == sys_free;
    case K_TEX:
        return in->fn.warp == exec_sured;
    default:
        return false;
    }
}

/* What a block added to the counts. */
struct tally {
    uint64_t warp, thread, barrier;
};

static bool run_checked(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes) {
    check_before(r->check, w, in, lanes);
    exec_inst(w, in, lanes, &r->fx);
    if (r->fx.fault != FAULT_NONE)
        return false;
    check_after(r->check, w, in, lanes, &r->fx);
    return true;
}

/* An instruction that is not K_LANE. False: it faulted, or the run is to stop. */
static bool run_other(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t lanes, uint64_t clock) {
    if (!r->communicates && needs_turn(in)) {
        if (r->wait_for_turn && !r->wait_for_turn(r->turn_ctx)) {
            r->fx.fault = FAULT_NONE;
            return false;
        }
        r->communicates = true;
    }
    w->clock = clock;
    if (__builtin_expect(r->check != NULL, 0))
        return run_checked(r, w, in, lanes);
    exec_inst(w, in, lanes, &r->fx);
    if (__builtin_expect(r->watch != NULL, 0))
        cta_watch_note(r, w, in, lanes);
    return r->fx.fault == FAULT_NONE;
}

/* Executes from `in` to the instruction that ends its block and returns that; NULL after a fault. */
static inline __attribute__((always_inline)) const struct inst *run_block(struct cta_run *r, struct warp *w,
                                                                          const struct inst *in, lanemask_t lanes,
                                                                          uint64_t clock, bool every_pc,
                                                                          struct tally *t) {
    uint64_t warp = 0, thread = 0;
    for (;; in++) {
        warp++;
        if (__builtin_expect(in->kind == K_LANE, 1)) {
            lanemask_t m = guard_lanes(w, in, lanes);
            thread += (unsigned)__builtin_popcount(m);
            if (m == LANES_ALL)
                in->fn.lane(reg_ptr(w, in->d), reg_ptr(w, in->d2), reg_ptr(w, in->a), reg_ptr(w, in->b),
                            reg_ptr(w, in->c), reg_ptr(w, in->e));
            else if (m)
                exec_lane_masked(w, in, m);
        } else if (in->kind == K_BRANCH) {
            if (__builtin_expect(r->check != NULL, 0))
                check_path(r->check, w, lanes);
            r->fx.lanes = r->fx.taken = guard_lanes(w, in, lanes);
            if (__builtin_expect(r->watch != NULL, 0))
                cta_watch_note(r, w, in, lanes);
            if (__builtin_expect(in->hints & HINT_APART, 0)) {
                warp--;
                t->barrier++;
                break;
            }
            thread += (unsigned)__builtin_popcount(r->fx.lanes);
            break;
        } else {
            if (in->hints & HINT_MEMBERS && !warp_sync_together(w, in, guard_lanes(w, in, lanes))) {
                r->lanes_missing = true;
                break;
            }
            if (!run_other(r, w, in, lanes, clock + warp)) {
                r->fault_pc = (uint32_t)(in - w->program->code);
                in = NULL;
                break;
            }
            if (in->kind == K_BSSY || in->kind == K_BSYNC) {
                warp--;
                t->barrier++;
            } else {
                thread += (unsigned)__builtin_popcount(r->fx.lanes);
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

static uint32_t pc_of(const struct warp *w, const struct inst *in) { return (uint32_t)(in - w->program->code); }

/* Lanes of a complete barrier may go on: marks them; models that were told to wait are told to wake. */
static void release(struct cta_run *r, uint32_t barrier) {
    const struct cta_barrier *b = &r->cta->barriers[barrier];
    if (r->check)
        check_release(r->check, barrier);
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        struct warp_run *wr = &r->warps[i];
        lanemask_t freed = b->waiting[i];
        wr->waiting &= ~freed;
        wr->released |= freed;
        wr->blocked = wr->blocked && !freed;
        int kept = 0;
        for (int k = 0; k < wr->n_paths; k++) {
            if (wr->path[k].lanes & freed)
                r->model->wake(wr->state, wr->path[k].id);
            else
                wr->path[kept++] = wr->path[k];
        }
        wr->n_paths = kept;
    }
    cta_barrier_reset(r->cta, barrier);
}

/* Lanes of the path `id` stand at the barrier `in`. */
static void arrive(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct inst *in, int id,
                   lanemask_t lanes) {
    wr->waiting |= lanes;
    if (r->model->stall && r->model->wake) {
        wr->path[wr->n_paths++] = (struct waiting_path){.id = (uint16_t)id, .lanes = lanes};
        r->model->stall(wr->state, id, STALL_OTHER);
    }
    if (cta_barrier_arrive(r->cta, w, in, lanes, &r->fx))
        release(r, r->fx.barrier);
}

/* Lanes of `freed` have done what they waited for others of their mask for. A path goes on when all its lanes have. */
static void release_members(struct cta_run *r, struct warp *w, struct warp_run *wr, lanemask_t freed) {
    int kept = 0;
    for (int k = 0; k < wr->n_paths; k++) {
        struct waiting_path *p = &wr->path[k];
        if (!p->members || p->lanes & w->sync.waiting) {
            wr->path[kept++] = *p;
            continue;
        }
        wr->waiting &= ~p->lanes;
        wr->released |= p->lanes;
        r->model->wake(wr->state, p->id);
    }
    wr->n_paths = kept;
    if (!r->model->stall || !r->model->wake) {
        wr->waiting &= ~freed;
        wr->released |= freed;
    }
}

static void exited(struct cta_run *r, struct warp *w, struct warp_run *wr, lanemask_t lanes) {
    int barrier = lanes ? cta_threads_exit(r->cta, lanes) : -1;
    if (barrier >= 0)
        release(r, (uint32_t)barrier);
    lanemask_t freed = w->sync.waiting ? warp_sync_exit(w, &r->fx) : 0;
    if (freed)
        release_members(r, w, wr, freed);
}

/* Groups that leave `in`: fx->targets and the lanes that did not execute it, which go on behind it. */
static int all_targets(const struct warp *w, const struct inst *in, const struct effects *fx, lanemask_t lanes,
                       struct target *out) {
    int n = 0;
    lanemask_t rest = lanes & ~fx->lanes;
    for (int i = 0; i < fx->n_targets; i++)
        out[n++] = fx->targets[i];
    uint32_t next = pc_of(w, in) + 1;
    for (int i = 0; i < n && rest; i++) {
        if (out[i].pc == next) {
            out[i].lanes |= rest;
            rest = 0;
        }
    }
    if (rest)
        out[n++] = (struct target){.pc = next, .lanes = rest};
    return n;
}

/* The two sides of a branch, or of a guarded barrier where only some lanes stop. */
static int two_targets(uint32_t pc, lanemask_t there, uint32_t next, lanemask_t rest, struct target *out) {
    int n = 0;
    if (there)
        out[n++] = (struct target){.pc = pc, .lanes = there};
    if (rest)
        out[n++] = (struct target){.pc = next, .lanes = rest};
    return n;
}

static struct branch_site site_of(const struct warp *w, const struct inst *in, uint32_t rpc, uint32_t taken) {
    const struct program *p = w->program;
    struct branch_site s = {.pc = pc_of(w, in), .rpc = rpc, .taken_pc = taken};
    if (rpc != PC_EXIT && p->blocks) {
        const struct block *b = &p->blocks[p->info[rpc].block];
        s.rpc_block = b->end - b->begin;
    }
    return s;
}

/* The lanes of `freed` that stand at `in` have executed it. */
static void checked_members(struct cta_run *r, struct warp *w, const struct inst *in, lanemask_t freed) {
    lanemask_t here = 0;
    for (; freed; freed &= freed - 1)
        if (w->sync.pc[__builtin_ctz(freed)] == pc_of(w, in))
            here |= freed & -freed;
    r->fx.lanes = here;
    check_before(r->check, w, in, here);
    check_after(r->check, w, in, here, &r->fx);
}

/* Path `p`, which has just come to the instruction where others of its mask wait, may have merged with one of them. */
static bool has_merged(const struct cta_run *r, const struct warp_run *wr, const struct path *p) {
    struct path now[MAX_PATHS];
    int n = r->model->paths(wr->state, now, MAX_PATHS);
    for (int i = 0; i < n; i++)
        if (now[i].id == p->id)
            return now[i].lanes != p->lanes;
    return false;
}

/* The path stands before an instruction whose member mask names lanes that are elsewhere. False: it waits there. */
static bool await_members(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct inst *in,
                          const struct path *p) {
    const struct reconv_ops *ops = r->model;
    uint32_t pc = pc_of(w, in), next = pc + 1;
    lanemask_t m = guard_lanes(w, in, p->lanes);
    r->lanes_missing = false;
    if (m != p->lanes) { /* those whose guard is false go on */
        struct target t[2];
        struct branch_site site = site_of(w, in, next, pc);
        ops->branch(wr->state, p->id, t, two_targets(pc, m, next, p->lanes & ~m, t), &site);
        return true;
    }
    if (p->pc != pc)
        ops->advance(wr->state, p->id, pc);
    lanemask_t freed = warp_sync_arrive(w, in, m, &r->fx);
    if (r->check && freed)
        checked_members(r, w, in, freed);
    bool waits = w->sync.waiting & m;
    cta_watch_forget(r, w->index);
    if (waits) {
        wr->waiting |= m;
        if (ops->stall && ops->wake) {
            wr->path[wr->n_paths++] = (struct waiting_path){.id = p->id, .lanes = m, .members = true};
            ops->stall(wr->state, p->id, STALL_OTHER);
        }
    } else if (freed & ~m && has_merged(r, wr, p)) {
        waits = true; /* all step over alike */
    } else {
        wr->waiting &= ~m;
        ops->advance(wr->state, p->id, next);
    }
    release_members(r, w, wr, waits ? freed : freed & ~m);
    return !waits;
}

/* Lanes of a path that waited have been released: they step over the instruction they stand at. */
static void step_over(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct path *p) {
    lanemask_t freed = wr->released & p->lanes;
    wr->released &= ~freed;
    if (freed == p->lanes) {
        r->model->advance(wr->state, p->id, p->pc + 1);
        return;
    }
    struct target t[2];
    struct branch_site site = site_of(w, w->program->code + p->pc, p->pc + 1, p->pc + 1);
    r->model->branch(wr->state, p->id, t, two_targets(p->pc + 1, freed, p->pc, p->lanes & ~freed, t), &site);
}

/* Moves the path on after the last instruction of a block. Everything but the models' cheap uniform steps is here.
 * False: the path stands at a barrier, which may already have opened. */
static bool leave_block(struct cta_run *r, struct warp *w, struct warp_run *wr, const struct inst *in,
                        const struct path *p) {
    const struct reconv_ops *ops = r->model;
    const struct effects *fx = &r->fx;
    uint32_t pc = pc_of(w, in), next = pc + 1;
    struct target t[WARP_LANES + 1];
    struct branch_site site;
    int n;
    if (__builtin_expect(r->lanes_missing, 0))
        return await_members(r, w, wr, in, p);
    switch (in->kind) {
    case K_BRANCH:
        n = two_targets(in->target, fx->taken, next, p->lanes & ~fx->taken, t);
        site = site_of(w, in, in->rpc, in->target);
        ops->branch(wr->state, p->id, t, n, &site);
        return true;
    case K_BRX:
    case K_CALL:
    case K_RET:
        if (in->kind == K_RET && fx->taken) { /* without a caller */
            ops->leave(wr->state, p->id, fx->taken, next);
            exited(r, w, wr, fx->taken);
            return true; /* all lanes of a path are equally deep in a program's own code: nobody is left */
        }
        n = all_targets(w, in, fx, p->lanes, t);
        site = site_of(w, in, in->kind == K_RET ? reconv_return_rpc(w->program, t, n) : in->rpc, PC_EXIT);
        site.calls = in->kind == K_CALL ? 1 : in->kind == K_RET ? -1 : 0;
        ops->branch(wr->state, p->id, t, n, &site);
        return true;
    case K_EXIT:
        ops->leave(wr->state, p->id, fx->taken, next);
        exited(r, w, wr, fx->taken);
        return true;
    case K_BARRIER:
        if (!fx->lanes)
            break;
        if (fx->lanes != p->lanes) { /* those whose guard is false go on: a divergence */
            n = two_targets(pc, fx->lanes, next, p->lanes & ~fx->lanes, t);
            site = site_of(w, in, next, pc);
            ops->branch(wr->state, p->id, t, n, &site);
            return true; /* the lanes that stop execute the barrier again, by themselves */
        }
        if (fx->barrier_mode == BARRIER_ARRIVE) {
            if (cta_barrier_arrive(r->cta, w, in, fx->lanes, fx))
                release(r, fx->barrier);
            break;
        }
        if (p->pc != pc) /* the model knows where the block began; a release goes on from where it waits */
            ops->advance(wr->state, p->id, pc);
        arrive(r, w, wr, in, p->id, fx->lanes);
        return false;
    case K_BSSY:
        if (ops->bssy) {
            ops->bssy(wr->state, p->id, in->rpc, in->target, next);
            return true;
        }
        break;
    case K_BSYNC:
        if (ops->bsync) {
            ops->bsync(wr->state, p->id, (uint32_t)in->imm, next);
            return true;
        }
        break;
    default:
        break;
    }
    ops->advance(wr->state, p->id, next);
    return true;
}

static void add_tally(struct cta_run *r, struct warp_run *wr, const struct tally *t, uint64_t paths) {
    r->n.warp_instructions += t->warp;
    r->n.thread_instructions += t->thread;
    r->n.barrier_instructions += t->barrier;
    r->n.path_sum += paths;
    wr->executed += t->warp;
}

/* The stack model, with its uniform steps inline. */
static enum warp_end run_spe(struct cta_run *r, struct warp *w, struct warp_run *wr, uint64_t budget) {
    struct spe_stack *st = wr->state;
    const struct inst *code = w->program->code;
    struct tally t = {0};
    enum warp_end end = WARP_DONE;
    if (wr->released && st->n) {
        struct path top = {.pc = st->e[st->n - 1].pc, .lanes = st->e[st->n - 1].lanes};
        step_over(r, w, wr, &top);
    }
    while (st->n) {
        struct path p = {.pc = st->e[st->n - 1].pc, .lanes = st->e[st->n - 1].lanes};
        if (t.warp >= budget) {
            end = WARP_SPENT;
            break;
        }
        const struct inst *in = run_block(r, w, code + p.pc, p.lanes, wr->executed + t.warp, false, &t);
        if (!in) {
            end = r->fx.fault ? WARP_FAULT : WARP_STOPPED;
            break;
        }
        if (in->kind < K_BRANCH && !r->lanes_missing)
            spe_advance(st, pc_of(w, in) + 1);
        else if (in->kind == K_BRANCH && (r->fx.taken == p.lanes || !r->fx.taken))
            spe_advance(st, r->fx.taken ? in->target : pc_of(w, in) + 1);
        else if (!leave_block(r, w, wr, in, &p)) {
            if (wr->waiting) {
                end = WARP_WAITS;
                break;
            }
            step_over(r, w, wr, &(struct path){.pc = pc_of(w, in), .lanes = p.lanes});
        }
    }
    if (st->max_depth > r->n.max_depth)
        r->n.max_depth = st->max_depth;
    add_tally(r, wr, &t, t.warp);
    return end;
}

/* Moves paths whose barrier has opened on, and returns how many of p[0..n) may run: these come first in it. */
static int runnable(struct cta_run *r, struct warp *w, struct warp_run *wr, struct path *p, int *n) {
    int ready = 0;
    for (int i = 0; i < *n; i++) {
        if (wr->released & p[i].lanes) {
            step_over(r, w, wr, &p[i]);
            *n = r->model->paths(wr->state, p, MAX_PATHS);
            ready = 0;
            i = -1;
        } else if (p[i].lanes & ~wr->waiting) {
            p[i].lanes &= ~wr->waiting; /* a path may merge with one that waits where it is about to wait itself */
            p[ready++] = p[i];
        }
    }
    return ready;
}

/* Any model, through its table. */
static enum warp_end run_paths(struct cta_run *r, struct warp *w, struct warp_run *wr, uint64_t budget) {
    const struct reconv_ops *ops = r->model;
    const struct inst *code = w->program->code;
    struct path p[MAX_PATHS];
    bool every_pc = ops->flags & RECONV_EVERY_PC;
    uint64_t spent = 0, turn = 0;
    for (;;) {
        int n = ops->paths(wr->state, p, MAX_PATHS), ready = runnable(r, w, wr, p, &n);
        if (!ready && ops->select && ops->select(wr->state))
            continue;
        if (!ready)
            return ops->finished(wr->state) ? WARP_DONE : WARP_WAITS;
        if (spent >= budget)
            return WARP_SPENT;
        struct path *chosen = &p[wr->rotation % (uint32_t)ready];
        struct tally t = {0};
        const struct inst *in = run_block(r, w, code + chosen->pc, chosen->lanes, wr->executed, every_pc, &t);
        add_tally(r, wr, &t, t.warp * (uint64_t)ready);
        spent += t.warp + t.barrier;
        turn += t.warp + t.barrier;
        if (!in)
            return r->fx.fault ? WARP_FAULT : WARP_STOPPED;
        leave_block(r, w, wr, in, chosen);
        uint32_t depth = (uint32_t)ops->depth(wr->state);
        if (depth > r->n.max_depth)
            r->n.max_depth = depth;
        if (turn >= PATH_QUANTUM) {
            turn = 0;
            wr->rotation++;
            if (ops->yield && (n = ops->paths(wr->state, p, MAX_PATHS)) > 0)
                ops->yield(wr->state, p[0].id);
        }
    }
}

enum warp_end warp_run(struct cta_run *r, uint32_t warp, uint64_t budget) {
    struct warp *w = &r->cta->warps[warp];
    struct warp_run *wr = &r->warps[warp];
    enum warp_end end = r->model == &reconv_spe ? run_spe(r, w, wr, budget) : run_paths(r, w, wr, budget);
    if (end == WARP_FAULT)
        r->fault_warp = warp;
    wr->done = end == WARP_DONE;
    wr->blocked = end == WARP_WAITS;
    return end;
}
