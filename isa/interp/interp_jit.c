/* Connects the interpreter with native code: functions that the code calls, and the counts that it returns
 * (interp_jit.h). */
#include "interp_affine.h"
#include "interp_warp.h"
#include "isa/machine/call.h"
#include "isa/machine/warpsync.h"

/* Executes one non-control instruction of a block, like run_block(). */
static uint32_t step(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    const struct inst *in = &f->first[i];
    struct warp *w = r->native.warp;
    if (cta_yields(r, w, in))
        return JIT_WAITS;
    if (in->hints & HINT_DEQ && !cta_affine_take(r, w, in, LANES_ALL))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    if (in->hints & HINT_MEMBERS && !warp_sync_together(w, in, guard_lanes(w, in, f->active)))
        return JIT_WAITS;
    if (__builtin_expect(w->copies != NULL, 0) && cta_lands_fresh(r, w, in, f->active))
        return JIT_WAITS;
    if (!cta_execute(r, w, in, f->active, f->clock + f->executed + i + 1))
        return JIT_STOPPED;
    if (r->polled || r->rests)
        f->budget = 0; /* the code ends after the block */
    f->threads += (unsigned)__builtin_popcount(r->fx.lanes);
    return JIT_WENT_ON;
}

static uint32_t row(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    const struct inst *in = &f->first[i];
    if (cta_yields(r, r->native.warp, in))
        return JIT_WAITS;
    if (!cta_affine_wait(r, r->native.warp, in))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    if (!cta_affine_row(r, r->native.warp, in))
        return step(f, i);
    f->threads += WARP_LANES;
    f->loads += in->kind == K_LOAD;
    return JIT_WENT_ON;
}

static uint32_t take(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    if (!cta_affine_take(r, r->native.warp, &f->first[i], LANES_ALL))
        return r->fx.fault ? JIT_STOPPED : JIT_WAITS;
    f->taken = &f->first[i];
    return JIT_WENT_ON;
}

static void set_lanes(struct jit_frame *f, rowmask_t lanes) {
    f->active = lanes;
    f->inactive = ~lanes;
    f->n_active = (unsigned)__builtin_popcount(lanes);
}

static void *code_of(const struct cta_run *r, rowmask_t lanes, uint32_t pc) {
    return atomic_load_explicit(&r->native.code->entry[lanes != LANES_ALL][pc].inside, memory_order_acquire);
}

static void continue_path(struct jit_frame *f, const struct spe_entry *top) {
    f->first = &f->warp->program->code[top->pc];
    f->rpc = top->rpc;
}

/* Does nothing outside of run_spe(), where the budget is 0, and for loops that wait for other threads. */
static void *next(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    struct warp *w = r->native.warp;
    const struct inst *in = &f->first[i];
    const bool falls = i && in[-1].ends_block;
    if (!f->budget || r->affine || (!falls && in->ends_block & BLOCK_WAITS))
        return NULL;
    f->executed += i + !falls;
    const struct spe_entry *top = r->native.paths->after(r, w, in - falls, f->active, &f->threads);
    void *code = top && f->executed < f->budget ? code_of(r, (rowmask_t)top->lanes, top->pc) : NULL;
    f->moved = !code;
    if (!code)
        return NULL;
    continue_path(f, top);
    set_lanes(f, (rowmask_t)top->lanes);
    return code;
}

static void *call(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    const struct inst *in = &f->first[i];
    struct warp *w = r->native.warp;
    uint32_t next;
    if (f->executed + i + 1 >= f->budget || !calls_next(w, in, __builtin_ctz(f->active), &next) || next == f->rpc ||
        !jit_may_enter(w->program, next))
        return NULL;
    void *code = code_of(r, f->active, next);
    if (!code || !calls_step(w, in, f->active, &next))
        return NULL;
    /* only model spe lets native code continue in other blocks, so the model is spe here */
    spe_calls(r->warps[w->index].control.model, in->kind == K_CALL ? 1 : -1);
    f->threads += f->n_active;
    f->executed += i + 1;
    f->first = &w->program->code[next];
    return code;
}

/* Tells the code whether the warp must let other warps run before a store (cta_yields()). */
static void set_yields(struct jit_frame *f, const struct cta_run *r, const struct warp_run *wr) {
    f->yields = r->cta->n_warps > 1 && !wr->has_yielded;
}

static bool any_lane_waits(const struct warp_run *wr) { return wr->control.waiting | wr->control.released; }

/* Ends the turn of the frame's warp, which waits. Begins the turn of the next warp, if it has one path, which can
 * continue in native code; after the last warp, the first begins the next round. Returns this code, or NULL if it did
 * nothing. */
static void *next_warp(struct jit_frame *f, struct cta_run *r, struct warp_run *wr) {
    struct native_cta *n = &r->native;
    const bool is_last = n->warp->index + 1 == r->cta->n_warps;
    struct warp *w = is_last ? r->cta->warps : n->warp + 1;
    struct warp_run *other = is_last ? r->warps : wr + 1;
    if ((is_last && !r->more_rounds) || other->done || other->blocked)
        return NULL;
    const struct spe_stack *st = other->control.model;
    warp_step_only_path(other);
    if (st->n != 1 || any_lane_waits(other))
        return NULL;
    const rowmask_t lanes = (rowmask_t)st->e[0].lanes;
    void *code = code_of(r, lanes, st->e[0].pc);
    if (!code)
        return NULL;
    r->more_rounds -= is_last;
    struct tally *t = n->tally;
    t->warp += f->executed;
    wr->executed += t->warp - t->others;
    t->others = t->warp;
    wr->blocked = true;
    warp_note_depth(r, wr->control.model);
    native_turn(n, w, n->budget);
    set_lanes(f, lanes);
    f->warp = w;
    f->executed = 0;
    f->budget = n->budget;
    f->clock = other->executed;
    set_yields(f, r, other);
    continue_path(f, &st->e[0]);
    return code;
}

static void *wait(struct jit_frame *f, uint32_t i) {
    struct cta_run *r = f->ctx;
    struct warp *w = f->warp;
    struct warp_run *wr = &r->warps[w->index];
    struct spe_stack *st = wr->control.model;
    const struct inst *in = &f->first[i];
    void *code = NULL;
    uint32_t barrier = r->native.barrier;
    if (!f->budget || r->affine || st->n != 1 || any_lane_waits(wr) ||
        (in != r->native.barrier_inst && !exec_barrier_is_of_all(w->bank[1], in, &barrier)))
        return NULL;
    r->native.barrier = barrier;
    r->native.barrier_inst = in;
    f->executed += i + 1;
    f->threads += f->n_active;
    spe_advance(st, (uint32_t)(in - w->program->code));
    wr->control.waiting |= f->active;
    exec_barrier_effects(&r->fx, barrier);
    if (cta_barrier_arrive(r->cta, w, in, f->active, &r->fx)) {
        r->native.paths->release(r, barrier);
        set_yields(f, r, wr);
        warp_step_only_path(wr);
        if (f->executed < f->budget && st->n)
            code = code_of(r, f->active, st->e[0].pc);
        if (code)
            continue_path(f, &st->e[0]);
    } else {
        code = next_warp(f, r, wr);
    }
    f->moved = !code;
    return code;
}

/* Counts n warp instructions, and reports them if they are many. */
static void count_executed(struct native_cta *c, uint64_t n, uint64_t many) {
    c->executed += n;
    if (c->executed <= many)
        return;
    jit_executed(c->code, c->executed);
    c->executed = 0;
}

void native_cta_start(struct cta_run *r, const struct native_paths *paths) {
    const struct launch *l = r->cta->launch;
    count_executed(&r->native, 0, 0);
    r->native.paths = paths;
    r->native.frame = (struct jit_frame){.bank = {NULL, r->cta->warps[0].bank[1]},
                                         .tables = &jit_tables,
                                         .memory = l->memory,
                                         .shared = r->cta->shared,
                                         .shared_bytes = r->cta->shared_bytes,
                                         .params = l->params,
                                         .param_bytes = l->program->param_bytes,
                                         .step = step,
                                         .row = row,
                                         .take = take,
                                         .call = call,
                                         .next = next,
                                         .wait = wait,
                                         .jit = r->native.code,
                                         .fx = &r->fx,
                                         .ctx = r};
}

/* number of warp instructions after which a CTA reports them to the code cache, which all threads share */
enum { MANY = 4096 };

bool native_run(struct cta_run *r, const struct inst **in, jit_code *code, lanemask_t *lanes, uint64_t *clock,
                struct tally *t) {
    struct jit_frame *f = &r->native.frame;
    const struct inst *program = r->native.warp->program->code;
    const uint64_t before = t->warp;
    f->warp = r->native.warp;
    set_yields(f, r, &r->warps[f->warp->index]);
    set_lanes(f, (rowmask_t)*lanes);
    f->moved = false;
    f->threads = f->loads = f->executed = 0;
    f->first = *in;
    f->clock = *clock;
    r->native.tally = t;
    uint32_t done = code(f), n = done & ~(uint32_t)JIT_REASON, reason = done & JIT_REASON;
    if (f->moved) /* next() or wait() has counted the instructions */
        n = reason = 0;
    /* the instruction in which the code stopped, or the first instruction that the code did not execute */
    const struct inst *at = f->first + n;
    t->warp += f->executed + n + (reason == JIT_STOPPED);
    t->thread += f->threads;
    count_executed(&r->native, t->warp - before, MANY);
    if (reason == JIT_LEFT)
        jit_left(r->native.code, f, (uint32_t)(f->first - program), n);
    r->n.affine.all_loads += f->loads;
    *lanes = f->active;
    *clock = f->clock + f->executed + n;
    if (reason == JIT_STOPPED) {
        if (!r->affine || !r->affine->faulted)
            r->fault_pc = (uint32_t)(at - program);
        *in = NULL;
        return true;
    }
    if (f->moved)
        return true;
    bool ended = n && at[-1].ends_block;
    *in = ended ? at - 1 : at;
    return ended;
}

struct jit *native_new(const struct program *p, uint32_t after) {
    return jit_new(p, after);
}

void native_free(struct jit *n) { jit_free(n); }

struct native_counts native_count(const struct jit *n) {
    if (!n)
        return (struct native_counts){0};
    const struct jit_counts c = jit_count(n);
    return (struct native_counts){c.blocks, c.seconds};
}
