/* The driver between a warp and its reconvergence model (control.h). It reports each control instruction to the model,
 * and records which lanes wait at a CTA barrier or for members of their mask. */
#include "control.h"
#include "isa/bulk.h"
#include "isa/exec/syscall.h"
#include "isa/machine/call.h"
#include "isa/machine/pending.h"
#include "isa/machine/warpsync.h"
#include "isa/tensor_memory.h"

static uint32_t pc_of(const struct warp *w, const struct inst *in) { return (uint32_t)(in - w->program->code); }

static bool only_exits(const struct warp *w, uint32_t pc) {
    return w->program->info && pc < w->program->n && w->program->info[pc].only_exits;
}

static bool only_returns(const struct warp *w, uint32_t pc) {
    return w->program->info && pc < w->program->n && w->program->info[pc].only_returns;
}

static void note_depth(struct warp_control *c) {
    uint32_t depth = (uint32_t)c->ops->depth(c->model);
    if (depth > c->depth)
        c->depth = (uint16_t)depth;
}

void control_cta_start(const struct reconv_ops *ops, const struct reconv_cfg *cfg, struct reconv_cta *cta,
                       uint32_t n_warps) {
    if (!cta)
        return;
    memset(cta, 0, ops->cta_size(cfg, n_warps));
    cta->n_warps = n_warps;
}

bool control_meet(struct warp_control *c, struct reconv_cta *cta) {
    if (!cta->due)
        return false;
    cta->due = false;
    memset(cta->moved, 0, sizeof cta->moved);
    c->ops->meet(cta);
    note_depth(c);
    return true;
}

struct reconv_warp control_who(const struct warp *w) {
    return (struct reconv_warp){.program = w->program, .warp = w->index, .cta = w->cta->linear_id};
}

void control_start(struct warp_control *c, const struct reconv_cfg *cfg, const struct reconv_warp *who, uint32_t pc,
                   lanemask_t lanes) {
    const uint32_t width = lanes ? MAX_WARP_LANES - (uint32_t)__builtin_clzll(lanes) : 1;
    memset(c->model, 0, c->ops->zeroed ? c->ops->zeroed : c->ops->size(cfg, width));
    c->waiting = c->released = 0;
    c->events = c->depth = c->n_held = 0;
    c->met = 0;
    if (c->ops->join)
        c->ops->join(c->model, cfg, who->shared, who->warp);
    c->ops->start(c->model, cfg, pc, lanes);
    if (c->ops->inform)
        c->ops->inform(c->model, who);
    note_depth(c);
}

/* ---- targets of lanes ---- */

/* Returns the value for the field `hinted` of a branch_site. */
static uint32_t hinted(const struct program *p, const struct inst *in, uint32_t pc) {
    uint32_t hint = p->info[pc].order_hint;
    if (hint < ORDER_HINT_TARGET)
        return hint == ORDER_HINT_NEXT ? pc + 2 : 0;
    return (in->kind == K_BRX ? p->lists[in->list + 1 + hint - ORDER_HINT_TARGET] : in->target) + 1;
}

static void diverge(struct warp_control *c, const struct warp *w, const struct inst *in, int id, const struct target *t,
                    int n, uint32_t rpc, uint32_t taken) {
    const struct program *p = w->program;
    struct branch_site site = {.pc = pc_of(w, in), .rpc = rpc, .taken_pc = taken};
    site.calls = in->kind == K_CALL ? 1 : in->kind == K_RET ? -1 : 0;
    bool guarded = (in->kind == K_BRANCH || in->kind == K_CALL || in->kind == K_RET) && in->guard != NO_GUARD;
    site.conditional = guarded || in->kind == K_BRX;
    site.waits = in->kind == K_BRANCH && in->ends_block & BLOCK_WAITS;
    if (n > 1 && p->info)
        site.hinted = hinted(p, in, site.pc);
    if (rpc != PC_EXIT && p->blocks)
        site.rpc_block = p->blocks[p->info[rpc].block].run_end - rpc;
    c->events |= c->ops->branch(c->model, id, t, n, &site);
    note_depth(c);
}

static int two_targets(uint32_t pc, lanemask_t there, uint32_t next, lanemask_t rest, struct target *out) {
    int n = 0;
    if (there)
        out[n++] = (struct target){.pc = pc, .lanes = there};
    if (rest)
        out[n++] = (struct target){.pc = next, .lanes = rest};
    return n;
}

/* Fills `out` with one group of lanes for each target of a brx, call or ret. The lanes that did not execute the
 * instruction continue at `next`: in the group with this target, or else in a group of their own. Returns the number of
 * groups. */
static int all_targets(const struct effects *fx, uint32_t next, lanemask_t lanes, struct target *out) {
    lanemask_t rest = lanes & ~fx->lanes;
    int n = 0;
    for (; n < fx->n_targets; n++) {
        out[n] = fx->targets[n];
        if (out[n].pc == next) {
            out[n].lanes |= rest;
            rest = 0;
        }
    }
    if (rest)
        out[n++] = (struct target){.pc = next, .lanes = rest};
    return n;
}

/* ---- waits ---- */

/* Sets the path aside and tells the model that it waits, if the model handles waits (control_sets_aside()). */
static void set_aside(struct warp_control *c, uint32_t pc, const struct path *p, enum wait_why why) {
    if (!control_sets_aside(c->ops))
        return;
    c->held[c->n_held++] =
        (struct path_wait){.pc = pc, .lanes = p->lanes, .id = p->id, .board = p->board, .why = (uint8_t)why};
    c->ops->stall(c->model, p->id, STALL_OTHER);
}

/* Ends the wait of the lanes `freed` for their member mask. A path that was set aside continues when none of
 * its lanes waits. */
static void release_members(struct warp_control *c, const struct warp *w, lanemask_t freed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_held; i++) {
        const struct path_wait h = c->held[i];
        if (h.why != WAIT_MEMBERS || h.lanes & w->sync.waiting) {
            c->held[kept++] = h;
            continue;
        }
        c->waiting &= ~h.lanes;
        c->released |= h.lanes;
        c->ops->wake(c->model, h.id);
    }
    c->n_held = kept;
    if (!control_sets_aside(c->ops)) {
        c->waiting &= ~freed;
        c->released |= freed;
    }
}

/* Lets lanes of the path exit. Returns the barriers that these exits complete. */
static uint32_t leave(struct warp_control *c, struct warp *w, const struct path *p, lanemask_t lanes, uint32_t next,
                      struct effects *fx) {
    c->events |= c->ops->leave(c->model, p->id, lanes, next);
    uint32_t opened = lanes ? cta_threads_exit(w->cta, w, lanes) : 0;
    lanemask_t freed = w->sync.waiting ? warp_sync_exit(w, fx) : 0;
    c->met |= freed;
    if (freed)
        release_members(c, w, freed);
    return opened;
}

/* Moves the lanes of the path to the targets t[0..n). If the code at a target does nothing but exit, its lanes exit
 * now, so that no other lane waits for them. Returns the barriers that these exits complete. */
static uint32_t move_lanes(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                           struct target *t, int n, uint32_t rpc, uint32_t taken, struct effects *fx) {
    lanemask_t out = 0;
    uint32_t opened = 0;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        lanemask_t ends = only_exits(w, t[i].pc)     ? t[i].lanes
                          : only_returns(w, t[i].pc) ? calls_end_in_exits(w, t[i].lanes)
                                                     : 0;
        out |= ends;
        t[i].lanes &= ~ends;
        if (!t[i].lanes)
            continue;
        if (kept != i) /* a copy of words that were just written would wait for the stores */
            t[kept] = t[i];
        kept++;
    }
    if (out) {
        warp_exit_lanes(w, out);
        opened = leave(c, w, p, out, PC_NOWHERE, fx);
    }
    if (kept)
        diverge(c, w, in, p->id, t, kept, rpc, taken);
    return opened;
}

/* Splits the path: the lanes `stay` remain at `in` and will wait there. The other lanes, whose guard is false,
 * continue. */
static uint32_t split_waiting(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                              lanemask_t stay, struct effects *fx) {
    struct target t[2];
    uint32_t pc = pc_of(w, in);
    uint32_t rpc = only_exits(w, pc + 1) ? PC_EXIT : pc + 1;
    return move_lanes(c, w, in, p, t, two_targets(pc, stay, pc + 1, p->lanes & ~stay, t), rpc, pc, fx);
}

uint32_t control_await(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                       struct effects *fx) {
    uint32_t pc = pc_of(w, in);
    lanemask_t m = guard_lanes(w, in, p->lanes);
    if (m != p->lanes)
        return split_waiting(c, w, in, p, m, fx);
    control_advance(c, p->id, pc); /* the model must know that the path is at `in` */
    lanemask_t freed = warp_sync_arrive(w, in, m, fx);
    c->met |= freed;
    if (w->sync.waiting & m) {
        c->waiting |= p->lanes;
        set_aside(c, pc, p, WAIT_MEMBERS);
        release_members(c, w, freed);
    } else { /* the path may have merged with a path that waited here; then all its lanes continue */
        c->waiting &= ~m;
        control_advance(c, p->id, pc + 1);
        release_members(c, w, freed & ~m);
    }
    return 0;
}

void control_wake_held(struct warp_control *c, lanemask_t freed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_held; i++)
        if (c->held[i].why == WAIT_BARRIER && c->held[i].lanes & freed)
            c->ops->wake(c->model, c->held[i].id);
        else
            c->held[kept++] = c->held[i];
    c->n_held = kept;
}

/* Finds a path of p[0..n) that has released lanes, and moves these lanes to the next instruction. Returns false if no
 * path has released lanes. */
static bool step_over(struct warp_control *c, const struct warp *w, const struct path *p, int n) {
    for (int i = 0; i < n; i++) {
        lanemask_t freed = c->released & p[i].lanes;
        if (!freed)
            continue;
        if (control_step_over(c, &p[i], c->ops->advance))
            return true;
        c->released &= ~freed; /* the other lanes still wait, so the path diverges and reconverges at the next PC */
        uint32_t pc = p[i].pc;
        struct target t[2];
        two_targets(pc, p[i].lanes & ~freed, pc + 1, freed, t);
        diverge(c, w, &w->program->code[pc], p[i].id, t, 2, pc + 1, pc);
        return true;
    }
    return false;
}

/* Finds the new ids of the paths that are set aside, after the model has moved paths. Identifies each path by its PC
 * and lanes. */
static void find_held(struct warp_control *c) {
    struct path_desc d[2 * MAX_PATHS];
    int n = c->ops->describe(c->model, d, 2 * MAX_PATHS);
    for (uint32_t i = 0; i < c->n_held; i++)
        for (int k = 0; k < n; k++)
            if (d[k].path.lanes == c->held[i].lanes && d[k].path.pc == c->held[i].pc)
                c->held[i].id = d[k].path.id;
}

lanemask_t control_may_run(const struct warp_control *c) {
    struct path p[MAX_PATHS];
    lanemask_t lanes = 0;
    if (c->ops->runnable)
        return c->ops->runnable(c->model) & ~c->waiting;
    for (int i = c->ops->paths(c->model, p, MAX_PATHS); i-- > 0;)
        lanes |= p[i].lanes;
    return lanes & ~c->waiting;
}

/* Adds to `ws` that lanes at a barrier of all threads of the CTA wait for the other lanes of the warp. Returns false if
 * no lane waits at such a barrier. */
static bool want_at_barriers(const struct warp *w, struct lane_waits *ws) {
    bool any = false;
    for (uint32_t used = w->cta->barriers_used & ~(1u << CLUSTER_BARRIER); used; used &= used - 1) {
        const struct cta_barrier *b = &w->cta->barriers[__builtin_ctz(used)];
        const lanemask_t here = b->waiting[w->index];
        if (!b->whole_cta)
            continue;
        for (lanemask_t m = here; m; m &= m - 1)
            ws->wants[lanes_first(m)] |= w->live & ~here;
        any |= here != 0;
    }
    return any;
}

static bool give_way(struct warp_control *c, const struct warp *w) {
    struct lane_waits ws;
    if (!c->ops->give_way || !(w->live & ~c->waiting))
        return false;
    ws.waiting = c->waiting;
    memset(ws.wants, 0, (w->high ? MAX_WARP_LANES : WARP_LANES) * sizeof *ws.wants);
    for (lanemask_t m = w->sync.waiting; m; m &= m - 1) {
        int l = (int)lanes_first(m);
        ws.wants[l] = warp_sync_missing(w, (rowmask_t)1 << l, w->sync.pc[l]);
    }
    unsigned events = c->ops->give_way(c->model, &ws);
    /* Barriers of a CTA count threads, as on GPUs since Volta. If no lane can run, lanes no longer reconverge first. */
    if (!(events & RECONV_CHANGED) && !control_may_run(c) && want_at_barriers(w, &ws))
        events |= c->ops->give_way(c->model, &ws);
    c->events |= events;
    if (events & RECONV_CHANGED)
        find_held(c);
    return events & RECONV_CHANGED;
}

int control_paths(struct warp_control *c, const struct warp *w, struct path out[MAX_PATHS]) {
    int n = c->ops->paths(c->model, out, MAX_PATHS);
    if (control_all_wait(c, w))
        return n;
    while ((c->released && step_over(c, w, out, n)) || (c->waiting && give_way(c, w)))
        n = c->ops->paths(c->model, out, MAX_PATHS);
    return n;
}

/* ---- one instruction ---- */

static uint32_t at_barrier(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                           struct effects *fx) {
    uint32_t pc = pc_of(w, in);
    lanemask_t here = p->lanes & c->waiting; /* the path may have merged with a path that waits here */
    lanemask_t stop = fx->lanes | here, arriving = fx->lanes & ~here;
    if (fx->barrier == CLUSTER_BARRIER && arriving) {
        lanemask_t passing = cluster_pass(w, arriving);
        stop &= ~passing;
        arriving &= ~passing;
    }
    if (!stop) {
        control_advance(c, p->id, pc + 1);
        return 0;
    }
    if (stop != p->lanes) /* the lanes that stop execute the barrier again, as a separate path */
        return split_waiting(c, w, in, p, stop, fx);
    if (fx->barrier_mode == BARRIER_ARRIVE) {
        control_advance(c, p->id, pc + 1);
        return cta_barrier_arrive(w->cta, w, in, arriving, fx) ? 1u << fx->barrier : 0;
    }
    uint32_t opened = control_stop(c, w, in, p, arriving, fx, c->ops->advance);
    set_aside(c, pc, p, WAIT_BARRIER);
    return opened;
}

uint32_t control_step(struct warp_control *c, struct warp *w, const struct inst *in, const struct path *p,
                      struct effects *fx) {
    const uint32_t next = pc_of(w, in) + 1;
    struct target t[MAX_WARP_LANES + 1];
    int n;
    if (!p->lanes) {
        control_advance(c, p->id, next);
        return 0;
    }
    switch (in->kind) {
    case K_BRANCH:
        n = two_targets(in->target, fx->taken, next, p->lanes & ~fx->taken, t);
        return move_lanes(c, w, in, p, t, n, in->rpc, in->target, fx);
    case K_RET:
    case K_BRX:
    case K_CALL:
        /* A `ret` in the entry function ends its lanes, which are then in fx->taken. All lanes of a path have the same
         * call depth, so either all of them or none exit. */
        if (in->kind == K_RET && fx->taken)
            return leave(c, w, p, fx->taken, next, fx);
        n = all_targets(fx, next, p->lanes, t);
        return move_lanes(c, w, in, p, t, n, in->kind == K_RET ? reconv_return_rpc(w->program, t, n) : in->rpc, PC_EXIT,
                          fx);
    case K_EXIT:
    case K_TRAP:
        return leave(c, w, p, fx->taken, next, fx);
    case K_BARRIER:
        return at_barrier(c, w, in, p, fx);
    case K_BSSY:
        if (!c->ops->bssy)
            break;
        c->events |= c->ops->bssy(c->model, p->id, in->rpc, in->target, next);
        return 0;
    case K_BSYNC:
        if (!c->ops->bsync)
            break;
        c->events |= c->ops->bsync(c->model, p->id, (uint32_t)in->imm, in->msize, next);
        return 0;
    case K_BREAK:
        if (!c->ops->leave_barrier)
            break;
        c->events |= c->ops->leave_barrier(c->model, p->id, (uint32_t)in->imm, fx->lanes, next);
        return 0;
    default:
        break;
    }
    control_advance(c, p->id, next);
    return 0;
}

/* ---- order ---- */

bool inst_is_ordered(const struct inst *in) {
    uint32_t n;
    bool leaves = in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC;
    switch (in->kind) {
    case K_ATOM:
        return leaves;
    case K_LOAD: /* strong accesses: they communicate with other threads */
    case K_STORE:
        return leaves && inst_is_strong(in);
    case K_WARP:
        if (isa_rows(&n)[in->row].op == OP_BULK)
            return bulk_is_ordered(in->imm);
        if (isa_rows(&n)[in->row].op == OP_CLUSTERLAUNCHCONTROL)
            return form_get(isa_rows(&n)[in->row].form, CAT_MODE2) == MODE2_TRY_CANCEL;
        if (isa_rows(&n)[in->row].op == OP_TCGEN05)
            return tensor_leaves_cta(in, form_get(isa_rows(&n)[in->row].form, CAT_MODE2));
        return in->fn.warp == sys_vprintf || in->fn.warp == sys_malloc || in->fn.warp == sys_free;
    case K_TEX: /* textures are read-only; stores and reductions on surfaces are not */
        return isa_rows(&n)[in->row].op == OP_SURED || isa_rows(&n)[in->row].op == OP_SUST;
    default:
        return false;
    }
}
