/* Instructions with a member mask (isa/machine/warpsync.h) when lanes of the mask are on other paths: the path arrives,
 * which takes an issue slot, and waits as at a barrier; the result of all comes a latency after the last arrival. */
#include "isa/machine/warpsync.h"
#include "sm.h"

/* The result of lanes that have waited is on its way. */
static void start_result(struct sm *sm, uint32_t w, uint32_t inflight, uint64_t now) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    const struct inflight *f = &sm->inflight[inflight];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    struct regfile *banks = &sm->part[f->part].regfile;
    uint64_t read = now + cfg->latch_collect + 1,
             result = read + cfg->latch_dispatch + ti->latency + cfg->latch_writeback;
    uint64_t on_bus = regfile_result(banks, result, now);
    wheel_add(&sm->wheel, regfile_write(banks, &ti->banks, w, on_bus, now), event_make(EVENT_WRITEBACK, inflight));
}

/* Lanes of `freed` have done what they waited for. A path that was set aside goes on when all its lanes have. */
static void release(struct sm *sm, uint32_t w, lanemask_t freed, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    lanemask_t waiting = sw->w->sync.waiting;
    int kept = 0;
    for (int i = 0; i < sw->n_await; i++)
        if (sw->await[i].lanes & waiting)
            sw->await[kept++] = sw->await[i];
        else
            start_result(sm, w, sw->await[i].inflight, now);
    sw->n_await = (uint8_t)kept;
    kept = 0;
    for (int i = 0; i < sw->n_held; i++) {
        const struct sm_held h = sw->held[i];
        if (h.why != HELD_MEMBERS || h.lanes & waiting) {
            sw->held[kept++] = h;
            continue;
        }
        sw->waiting &= ~h.lanes;
        sw->released |= h.lanes;
        sm->ops->wake(sw->model, h.id);
    }
    sw->n_held = (uint8_t)kept;
    if (!sm->ops->stall || !sm->ops->wake) {
        sw->waiting &= ~freed;
        sw->released |= freed;
    }
}

/* The lanes arrive; registers that they will write are pending from now on. */
static void arrive(struct sm *sm, uint32_t w, const struct sm_path *path, lanemask_t lanes) {
    struct sm_warp *sw = &sm->warp[w];
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    sm->fx.lanes = lanes;
    sm_count_lanes(sm, ti, path->pc);
    if (!ti->regs.n_write || !lanes)
        return;
    uint32_t i = sm_inflight_new(sm, w, path->pc, lanes, path->board);
    sm->sb->issue(sw->board, path->board, lanes, &ti->regs, false);
    sw->await[sw->n_await++] = (struct sm_await){.lanes = lanes, .inflight = i};
}

void sm_await_members(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path path = sw->path[p];
    const struct inst *in = &sm->program->program->code[path.pc];
    const struct reconv_ops *ops = sm->ops;
    lanemask_t m = guard_lanes(sw->w, in, path.lanes);
    livelock_disturb_warp(sm, w);
    sm_tell_all(sm, sw);
    if (m != path.lanes) { /* those whose guard is false go on: a divergence */
        sm_two_ways(sm, sw, &path, m, path.lanes & ~m);
        sm_refresh(sm, w, now);
        return;
    }
    sm_heed(sm, sw, ops->advance(sw->model, path.id, path.pc)); /* it stands here */
    arrive(sm, w, &path, m & ~sw->w->sync.waiting);
    lanemask_t freed = warp_sync_arrive(sw->w, in, m, &sm->fx);
    bool sets_aside = ops->stall && ops->wake;
    if (sw->w->sync.waiting & m || !sets_aside) { /* it may have merged with a path that waits here: all are released */
        sw->waiting |= m;
        if (sets_aside) {
            sw->held[sw->n_held++] =
                (struct sm_held){.pc = path.pc, .lanes = m, .id = path.id, .board = path.board, .why = HELD_MEMBERS};
            ops->stall(sw->model, path.id, STALL_OTHER);
        }
    } else {
        sw->waiting &= ~m;
        freed &= ~m;
        sm_heed(sm, sw, ops->advance(sw->model, path.id, path.pc + 1));
    }
    release(sm, w, freed, now);
    sm_refresh(sm, w, now);
}

void sm_members_left(struct sm *sm, uint32_t w, uint64_t now) {
    lanemask_t freed = warp_sync_exit(sm->warp[w].w, &sm->fx);
    if (freed)
        release(sm, w, freed, now);
}
