/* Instructions with a member mask (isa/machine/warpsync.h) when lanes of the mask are on other paths: the path arrives,
 * which takes an issue slot, and waits as at a barrier; the result of all comes a latency after the last arrival. */
#include "sm_parts.h"
#include <assert.h>

/* The scoreboard that these lanes look at now: their path may have moved while they waited. */
static uint8_t board_of(const struct sm_warp *sw, lanemask_t lanes) {
    struct path p[MAX_PATHS];
    int n = sw->control.ops->paths(sw->control.model, p, MAX_PATHS);
    for (int i = 0; i < n; i++)
        if (p[i].lanes & lanes)
            return p[i].board;
    return 0;
}

/* The result of lanes that have waited is on its way. */
static void start_result(struct sm *sm, uint32_t w, const struct sm_await *a, uint64_t now) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    const struct timed_inst *ti = &sm->program->inst[a->pc];
    if (ti->flags & TIMED_REDUCE) /* its lanes are on several paths */
        ti = &sm->program->ladder[sm->program->program->code[a->pc].imm];
    uint32_t i = sm_inflight_new(sm, w, a->pc, a->lanes, a->board);
    struct regfile *banks = &sm->part[sm->inflight[i].part].regfile;
    sm->warp[w].inflight--; /* counted since the lanes arrived */
    sm->inflight[i].issued = a->issued;
    uint64_t read = now + cfg->latch_collect + 1,
             result = read + cfg->latch_dispatch + ti->latency + cfg->latch_writeback;
    uint64_t on_bus = regfile_result(banks, result, now);
    wheel_add(&sm->wheel, regfile_write(banks, &ti->banks, w, on_bus, now), event_make(EVENT_WRITEBACK, i));
}

/* Starts what may be started of the warp. */
static void start_served(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint8_t kept = 0;
    for (int i = 0; i < sw->n_await; i++) {
        if (!sw->await[i].served || !sm_inflight_free(sm)) {
            sw->await[kept++] = sw->await[i];
            continue;
        }
        start_result(sm, w, &sw->await[i], now);
        sm->n_served--;
    }
    sw->n_await = kept;
}

/* Registers are pending from now on: earlier they would hold up those that are waited for, where a warp has one
 * scoreboard. */
void sm_members_served(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    uint32_t before = sm->n_served;
    for (int i = 0; i < sw->n_await; i++) {
        struct sm_await *a = &sw->await[i];
        if (a->served || a->lanes & sw->w->sync.waiting)
            continue;
        a->served = true;
        a->board = board_of(sw, a->lanes);
        sm->sb->issue(sw->board, a->board, a->lanes, &sm->program->inst[a->pc].regs, false);
        sm->n_served++;
    }
    if (sm->n_served > before) /* the paths may have joined others already, which must see what is pending */
        sm_heed(sm, sw, RECONV_SHADOW_0 | RECONV_SHADOW_1);
    start_served(sm, w, now);
}

void sm_members_start(struct sm *sm, uint64_t now) {
    for (uint32_t w = 0; w < sm->slots && sm->n_served && sm_inflight_free(sm); w++)
        if (sm->warp[w].n_await)
            start_served(sm, w, now);
}

/* The lanes arrive: counted now, with a result when they are served. */
static void arrive(struct sm *sm, uint32_t w, const struct sm_path *path, lanemask_t lanes) {
    struct sm_warp *sw = &sm->warp[w];
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    sm->fx.lanes = lanes;
    sm->fx.taken = 0;
    sm_count_lanes(sm, ti, path->pc, path->lanes);
    if (!ti->regs.n_write || !lanes)
        return;
    assert(sw->n_await < MAX_PATHS);
    sw->inflight++; /* the warp is not gone before the result is written */
    sw->await[sw->n_await++] = (struct sm_await){.issued = sm->accounted - 1, .lanes = lanes, .pc = path->pc};
}

void sm_await_members(struct sm *sm, uint32_t w, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warp[w];
    const struct sm_path *here = &sw->path[p];
    const struct path path = {.pc = here->pc, .lanes = here->lanes, .id = here->id, .board = here->board};
    const struct inst *in = &sm->program->program->code[path.pc];
    sm_tell_all(sm, sw);
    if (guard_lanes(sw->w, in, path.lanes) == path.lanes) /* else they come again, by themselves */
        arrive(sm, w, here, path.lanes & ~sw->w->sync.waiting);
    uint32_t live = sw->w->cta->live_threads;
    uint32_t opened = control_await(&sw->control, sw->w, in, &path, &sm->fx);
    sm_controlled(sm, w, live, opened, now);
}
