/* Results of instructions whose lanes arrived on several paths. */
#include "counting.h"
#include <assert.h>

/* Returns the scoreboard of the path that contains the lanes now. While the lanes waited, the model may have merged or
 * split their path. */
static uint8_t board_of(const struct sm_warp *sw, lanemask_t lanes) {
    struct path p[MAX_PATHS];
    int n = sw->control.ops->paths(sw->control.model, p, MAX_PATHS);
    for (int i = 0; i < n; i++)
        if (p[i].lanes & lanes)
            return p[i].board;
    return 0;
}

/* Starts the result of lanes that have stopped waiting. From now on the result occupies an entry of the table of
 * instructions in flight. */
static void start_result(struct sm *sm, uint32_t w, const struct sm_await *a, uint64_t now) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    const struct timed_inst *ti = &sm->program->inst[a->pc];
    /* lanes on several paths have effects.taken = 0, so they execute the fallback, and its time applies */
    if (ti->flags & TIMED_FALLBACK)
        ti = &sm->program->fallback[sm->program->program->code[a->pc].imm];
    uint32_t i = sm_inflight_new(sm, w, a->pc, a->lanes, a->board);
    struct regfile *banks = &sm->operands.part[sm->in_flight.entry[i].part].regfile;
    /* sm_members_arrive() has counted this instruction, and sm_inflight_new() counts it again */
    sm->warps.slot[w].inflight--;
    sm->in_flight.entry[i].issued = a->issued;
    uint64_t read = now + cfg->latch_collect + 1,
             result = read + cfg->latch_dispatch + ti->latency + cfg->latch_writeback;
    uint64_t on_bus = regfile_result(banks, result, now);
    uint64_t written = regfile_write(banks, &ti->banks, w, on_bus, now);
    wheel_add(&sm->wheel, max64(written - cfg->forward, now + 1), event_make(EVENT_WRITEBACK, i));
}

/* Starts results of the warp as long as the table has free entries. */
static void start_served(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint8_t kept = 0;
    for (int i = 0; i < sw->n_await; i++) {
        if (!sw->await[i].served || !in_flight_has_room(&sm->in_flight)) {
            sw->await[kept++] = sw->await[i];
            continue;
        }
        start_result(sm, w, &sw->await[i], now);
        sm->members.n_served--;
    }
    sw->n_await = kept;
}

/* Marks the results as pending only now. If they were marked earlier, and if the warp has a single scoreboard, they
 * would block the lanes that have not arrived yet. */
void sm_members_served(struct sm *sm, uint32_t w, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    uint32_t before = sm->members.n_served;
    for (int i = 0; i < sw->n_await; i++) {
        struct sm_await *a = &sw->await[i];
        if (a->served || a->lanes & sw->w->sync.waiting)
            continue;
        a->served = true;
        a->board = board_of(sw, a->lanes);
        sm->model.sb->issue(sw->board, a->board, a->lanes, &sm->program->inst[a->pc].regs, false);
        sm->members.n_served++;
    }
    if (sm->members.n_served > before) /* paths may have merged, and the merged path must see the pending bits */
        sm_heed(sm, sw, RECONV_SHADOW_0 | RECONV_SHADOW_1);
    start_served(sm, w, now);
}

void sm_members_start(struct sm *sm, uint64_t now) {
    for (uint32_t w = 0; w < sm->warps.slots && sm->members.n_served && in_flight_has_room(&sm->in_flight); w++)
        if (sm->warps.slot[w].n_await)
            start_served(sm, w, now);
}

/* Counts the arriving lanes. Their result starts later, when all members have arrived. */
void sm_members_arrive(struct sm *sm, uint32_t w, const struct sm_path *path, lanemask_t lanes) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    sm->fx.lanes = lanes;
    sm->fx.taken = 0;
    sm_count_lanes(sm, ti, path->pc, path->lanes);
    if (ti->flags & TIMED_TENSOR && lanes & 1) /* all lanes of the warp share one product, which begins once */
        sm_tensor_issued(sm, w, path, sm->clock.accounted - 1);
    if (!ti->regs.n_write || !lanes)
        return;
    assert(sw->n_await < MAX_PATHS);
    sw->inflight++; /* keeps the warp in its slot until the result is written */
    sw->await[sw->n_await++] = (struct sm_await){.issued = sm->clock.accounted - 1, .lanes = lanes, .pc = path->pc};
}
