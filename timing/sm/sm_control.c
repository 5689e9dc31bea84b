/* Control: the reconvergence model is told where lanes go, and the warp's paths follow. */
#include "sm.h"

void sm_heed(struct sm *sm, struct sm_warp *sw, unsigned flags) {
    if (sm->sb->shadow && flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1))
        sm->sb->shadow(sw->board, flags & (RECONV_SHADOW_0 | RECONV_SHADOW_1));
}

/* In the middle of a block the model is not told of every step; before it is asked for paths it must know where the
 * others are. */
static void tell_others(struct sm *sm, struct sm_warp *sw, uint32_t p) {
    for (uint32_t i = 0; i < sw->n_paths; i++) {
        struct sm_path *path = &sw->path[i];
        if (i != p && path->stale)
            sm_heed(sm, sw, sm->ops->advance(sw->model, path->id, path->pc));
        path->stale = false;
    }
}

void sm_tell_all(struct sm *sm, struct sm_warp *sw) { tell_others(sm, sw, sw->n_paths); }

bool sm_gather(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path *path = &sw->path[p];
    unsigned flags = sm->ops->gather(sw->model, path->id, path->pc);
    if (!flags)
        return true;
    tell_others(sm, sw, p);
    sm_heed(sm, sw, flags);
    sm_refresh(sm, w, now);
    return false;
}

static void note_depth(struct sm *sm, const struct sm_warp *sw) {
    uint32_t depth = (uint32_t)sm->ops->depth(sw->model);
    if (depth > sm->n.max_depth)
        sm->n.max_depth = depth;
}

void sm_advance(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    struct sm_path *path = &sw->path[p];
    if (sm->every_pc || (sm->program->inst[path->pc].flags & TIMED_ENDS)) {
        tell_others(sm, sw, p);
        sm_heed(sm, sw, sm->ops->advance(sw->model, path->id, path->pc + 1));
        sm_refresh(sm, w, now);
        return;
    }
    path->pc++;
    path->buffered--;
    path->stale = true;
    if (sw->n_paths > 1)
        sm_evaluate_all(sm, w, now); /* its write may hold up the others */
    else
        sm_evaluate(sm, w, p, now);
}

/* Groups that leave a brx, call or ret: its targets, and the lanes that did not execute it. */
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

static int two_targets(uint32_t pc, lanemask_t there, uint32_t next, lanemask_t rest, struct target *out) {
    int n = 0;
    if (there)
        out[n++] = (struct target){.pc = pc, .lanes = there};
    if (rest)
        out[n++] = (struct target){.pc = next, .lanes = rest};
    return n;
}

static void branch(struct sm *sm, struct sm_warp *sw, const struct sm_path *path, const struct target *t, int n,
                   uint32_t rpc, uint32_t taken) {
    const struct program *p = sm->program->program;
    uint8_t kind = p->code[path->pc].kind;
    struct branch_site site = {.pc = path->pc,
                               .rpc = rpc,
                               .taken_pc = taken,
                               .calls = kind == K_CALL  ? 1
                                        : kind == K_RET ? -1
                                                        : 0};
    if (rpc != PC_EXIT && p->blocks) {
        const struct block *b = &p->blocks[p->info[rpc].block];
        site.rpc_block = b->end - b->begin;
    }
    sm_heed(sm, sw, sm->ops->branch(sw->model, path->id, t, n, &site));
    note_depth(sm, sw);
}

void sm_two_ways(struct sm *sm, struct sm_warp *sw, const struct sm_path *path, lanemask_t here, lanemask_t on) {
    struct target t[2];
    int n = two_targets(path->pc, here, path->pc + 1, on, t);
    branch(sm, sw, path, t, n, path->pc + 1, path->pc);
}

/* Lanes of the path stand at the barrier of sm->fx. */
static void arrive(struct sm *sm, uint32_t w, const struct sm_path *path, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct effects *fx = &sm->fx;
    lanemask_t arriving = fx->lanes & ~sw->waiting; /* a path may have merged with one that stands here already */
    if (fx->barrier_mode != BARRIER_ARRIVE) {
        sm_heed(sm, sw, sm->ops->advance(sw->model, path->id, path->pc)); /* it stands here */
        sw->waiting |= fx->lanes;
        if (sm->ops->stall && sm->ops->wake) {
            sw->held[sw->n_held++] = (struct sm_held){.id = path->id, .lanes = fx->lanes, .why = HELD_BARRIER};
            sm->ops->stall(sw->model, path->id, STALL_OTHER);
        }
    } else {
        sm_heed(sm, sw, sm->ops->advance(sw->model, path->id, path->pc + 1));
    }
    if (cta_barrier_arrive(sm->cta[sw->cta].cta, sw->w, in, arriving, fx))
        sm_barrier_open(sm, sw->cta, fx->barrier, now);
}

static void at_barrier(struct sm *sm, uint32_t w, const struct sm_path *path, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct effects *fx = &sm->fx;
    if (!fx->lanes) {
        sm_heed(sm, sw, sm->ops->advance(sw->model, path->id, path->pc + 1));
    } else if (fx->lanes != path->lanes) { /* lanes whose guard is false go on: a divergence */
        sm_two_ways(sm, sw, path, fx->lanes, path->lanes & ~fx->lanes);
    } else {
        arrive(sm, w, path, in, now);
    }
}

static void leave(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    lanemask_t lanes = sm->fx.taken;
    sm_heed(sm, sw, sm->ops->leave(sw->model, path->id, lanes, path->pc + 1));
    sm_lanes_left(sm, w, lanes, now);
}

void sm_control(struct sm *sm, uint32_t w, uint32_t p, const struct inst *in, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path path = sw->path[p]; /* a copy: opening a barrier may move the paths */
    struct target t[WARP_LANES + 1];
    unsigned flags = 0;
    int n;
    tell_others(sm, sw, p);
    switch (in->kind) {
    case K_BRANCH:
        n = two_targets(in->target, sm->fx.taken, path.pc + 1, path.lanes & ~sm->fx.taken, t);
        branch(sm, sw, &path, t, n, in->rpc, in->target);
        break;
    case K_RET:
    case K_BRX:
    case K_CALL:
        if (in->kind == K_RET && sm->fx.taken) {
            leave(sm, w, &path, now);
            break;
        }
        n = all_targets(&sm->fx, path.pc + 1, path.lanes, t);
        branch(sm, sw, &path, t, n, in->kind == K_RET ? reconv_return_rpc(sm->program->program, t, n) : in->rpc,
               PC_EXIT);
        break;
    case K_EXIT:
    case K_TRAP:
        leave(sm, w, &path, now);
        break;
    case K_BARRIER:
        at_barrier(sm, w, &path, in, now);
        break;
    case K_BSSY:
        flags = sm->ops->bssy ? sm->ops->bssy(sw->model, path.id, in->rpc, in->target, path.pc + 1)
                              : sm->ops->advance(sw->model, path.id, path.pc + 1);
        break;
    case K_BSYNC:
        flags = sm->ops->bsync ? sm->ops->bsync(sw->model, path.id, (uint32_t)in->imm, path.pc + 1)
                               : sm->ops->advance(sw->model, path.id, path.pc + 1);
        break;
    default: /* warpsync */
        flags = sm->ops->advance(sw->model, path.id, path.pc + 1);
        break;
    }
    sm_heed(sm, sw, flags);
    if (sw->w && !sw->finished)
        sm_refresh(sm, w, now);
}
