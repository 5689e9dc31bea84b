/* Models that split a path by the hits and misses of a load. */
#include "stages.h"
#include <string.h>

void sm_load_issued(struct sm *sm, uint32_t inflight) {
    struct inflight *f = &sm->in_flight.entry[inflight];
    struct sm_warp *sw = &sm->warps.slot[f->warp];
    if (!(sm->program->inst[f->pc].flags & TIMED_LOAD))
        return;
    f->next = sw->loads;
    sw->loads = inflight;
}

void sm_load_known(struct sm *sm, uint32_t inflight) {
    struct inflight *f = &sm->in_flight.entry[inflight];
    f->known = true;
    warps_check_split(&sm->warps, f->warp);
}

void sm_load_ended(struct sm *sm, uint32_t inflight) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    uint32_t *at = &sm->warps.slot[f->warp].loads;
    if (!(sm->program->inst[f->pc].flags & TIMED_LOAD))
        return;
    while (*at != NO_INFLIGHT && *at != inflight)
        at = &sm->in_flight.entry[*at].next;
    if (*at == inflight)
        *at = f->next;
    warps_check_split(&sm->warps, f->warp); /* the path may wait for another load now */
}

static bool writes(const struct timed_inst *ti, int reg) {
    for (uint32_t k = 0; k < ti->regs.n_write; k++)
        if (ti->regs.write[k] == reg)
            return true;
    return false;
}

/* Returns the load for which the path waits: the path's oldest load of a register that the next instruction needs.
 * Only loads that exactly the lanes of the path issued count. Returns NULL if there is none. */
static struct inflight *awaited_load(struct sm *sm, const struct sm_warp *sw, const struct sm_path *path) {
    int reg = sm->model.sb->waits_for(sw->board, path->board, path->lanes, &sm->program->inst[path->pc].regs);
    struct inflight *oldest = NULL;
    for (uint32_t i = sw->loads; i != NO_INFLIGHT && reg >= 0; i = sm->in_flight.entry[i].next) {
        struct inflight *f = &sm->in_flight.entry[i];
        if (f->lanes == path->lanes && writes(&sm->program->inst[f->pc], reg))
            oldest = f;
    }
    return oldest;
}

/* Writes the data of lanes that hit into the registers, with the same timing as for any load. */
static void write_hits(struct sm *sm, uint32_t of, const struct path *fast, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[of];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    uint32_t i = sm_inflight_new(sm, f->warp, f->pc, fast->lanes, fast->board);
    sm->in_flight.entry[i].issued = f->issued;
    sm->model.sb->issue(sm->warps.slot[f->warp].board, fast->board, fast->lanes, &ti->regs, true);
    if (sm->modern)
        modern_split(sm, of, i);
    uint64_t written =
        regfile_write(&sm->operands.part[f->part].regfile, &ti->banks, f->warp, now + sm->cfg->sm.latch_writeback, now);
    wheel_add(&sm->wheel, written > now ? written : now + 1, event_make(EVENT_WRITEBACK, i));
}

/* Splits the path by hits and misses of the load for which it waits, if the hits and misses are known and the model
 * allows the split. Lanes that hit continue when their data are written. For lanes that miss, the register stays
 * pending. Returns true if the path was split. */
static bool split_path(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sm_path was = *path;
    struct inflight *f = awaited_load(sm, sw, path);
    lanemask_t slow;
    if (!f || !f->known || !lsu_waits_on_miss(sm->lsu, (uint32_t)(f - sm->in_flight.entry), &slow) ||
        !(slow & was.lanes) || !(was.lanes & ~slow))
        return false;
    if (!in_flight_has_room(&sm->in_flight)) {
        warps_check_split(&sm->warps, w);
        return false;
    }
    const struct sb_regs *r = &sm->program->inst[f->pc].regs;
    slow &= was.lanes;
    sm_tell_all(sm, sw);
    struct path slow_path;
    unsigned flags = sm->model.ops->split(sw->control.model, was.id, slow, was.pc, &slow_path);
    if (!(flags & RECONV_CHANGED))
        return false;
    const struct path fast = {.lanes = f->lanes & ~slow, .board = f->board};
    sm->model.sb->writeback(sw->board, f->board, f->lanes, r);
    sm_heed(sm, sw, flags);
    write_hits(sm, (uint32_t)(f - sm->in_flight.entry), &fast, now);
    f->board = slow_path.board;
    f->lanes = slow;
    sm->model.sb->issue(sw->board, f->board, slow, r, true);
    sm->n.splits++;
    warps_check_split(&sm->warps, w); /* other paths of the warp may split, too */
    sm_refresh(sm, w, now);
    return true;
}

/* Returns true if no warp has a path that is ready, fetches, waits for a path switch, or waits for an arithmetic
 * result. So all warps wait for memory or for other lanes. */
static bool no_warp_works(const struct sm *sm) {
    static const uint8_t works[] = {PATH_ARITH, PATH_FETCH, PATH_FETCHING, PATH_SWITCH};
    uint64_t any = 0;
    for (uint32_t k = 0; k < sm->warps.words; k++) {
        for (size_t i = 0; i < sizeof works; i++)
            any |= sm->warps.in_state[k][works[i]];
        for (int p = 0; p < N_PIPES; p++)
            any |= sm->warps.in_state[k][PATH_READY + p];
    }
    return !any;
}

/* Tries to split paths of the warps that are listed now. Warps added during this call are checked in the next cycle.
 * For a model that revives paths, warps are checked only while no warp of the SM can issue. The check then ends after
 * the first split, and the remaining warps stay listed. */
bool sm_split(struct sm *sm, uint64_t now) {
    bool revived = false;
    uint32_t n = sm->warps.split_check.n, i = 0;
    if (sm->model.wants.revives && !no_warp_works(sm))
        return false;
    for (; i < n && !revived; i++) {
        uint32_t w = sm->warps.split_check.warp[i];
        const struct sm_warp *sw = &sm->warps.slot[w];
        sm->warps.slot[w].in_split_check = false;
        for (uint32_t p = 0; p < sw->n_paths; p++)
            if (sw->path[p].state == PATH_LOAD && split_path(sm, w, &sw->path[p], now)) {
                revived = sm->model.wants.revives;
                break; /* the paths have changed */
            }
    }
    sm->warps.split_check.n -= i;
    memmove(sm->warps.split_check.warp, sm->warps.split_check.warp + i, sm->warps.split_check.n);
    return sm->warps.split_check.n && !revived;
}
