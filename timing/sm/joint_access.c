/* Memory accesses of several members of an issue slot. The first member's entry of the table of instructions in flight
 * stands for the access; the entries of the other members follow it in a list. */
#include "joint.h"
#include "stages.h"
#include "uniform_path.h"

bool joint_merges(const struct sm *sm, uint32_t pc) {
    const struct inst *in = &sm->program->program->code[pc];
    if (sm->model.wants.splits || sm->model.wants.rotates || in->cache_op == CACHE_WALK)
        return false; /* these models and the walk unit handle each load of each path separately */
    if (in->space == SPACE_GENERIC || in->space == SPACE_LOCAL)
        return false;
    /* If a CTA stays until its stores are acknowledged, stores are not merged, because their acknowledgements are
     * counted by warp. */
    return in->kind == K_LOAD || (in->kind == K_STORE && !sm->memory.hold_stores);
}

/* Writes the address of each of the lanes to `addr`. If the shape is SHAPE_ANY, the addresses come from `any`, else
 * from `h`. */
static void spell_out(uint64_t *addr, const struct halves *h, const uint64_t *any, lanemask_t lanes, uint32_t bytes) {
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = lanes_first(lanes);
        addr[l] = h->shape == SHAPE_ANY ? any[l] : halves_lane(h, l, bytes);
    }
}

/* Adds the addresses of a member's threads to the access. Other threads may already use the home lane of a thread. A
 * thread gets its home lane if this lane is free, else the first free lane. */
static void cross_over(struct mem_inst *m, const struct effects *fx, uint32_t bytes) {
    uint64_t addr[MAX_WARP_LANES];
    spell_out(addr, &fx->halves, fx->addr, fx->lanes, bytes);
    lanemask_t *used = &m->access.lanes, home = fx->lanes & ~*used;
    for (lanemask_t all = home; all; all &= all - 1)
        m->addr[lanes_first(all)] = addr[lanes_first(all)];
    *used |= home;
    for (lanemask_t moved = fx->lanes & ~home; moved; moved &= moved - 1) {
        unsigned to = lanes_first(~*used);
        m->addr[to] = addr[lanes_first(moved)];
        *used |= (lanemask_t)1 << to;
    }
}

void joint_merge(struct sm *sm, uint32_t w, uint32_t p, uint32_t mem) {
    struct sm_warp *sw = &sm->warps.slot[w];
    const struct sm_path *path = &sw->path[p];
    const struct timed_inst *ti = &sm->program->inst[path->pc];
    const struct effects *fx = &sm->fx;
    struct mem_inst *m = &sm->memory.inst[mem];
    struct lsu_access *a = &m->access;
    const uint32_t bytes = (uint32_t)fx->n_elems * fx->msize,
                   i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    sw->accesses++;
    if (ti->regs.n_write)
        sm_board_issue(sm, sw, path, ti, true, false);
    if (sm->modern)
        modern_joins(sm, w, path, i, sm->clock.accounted - 1);
    spell_out(m->addr, &a->halves, m->addr, a->lanes, bytes);
    a->halves.shape = SHAPE_ANY;
    const lanemask_t before = a->lanes;
    if (!(a->lanes & fx->lanes)) {
        spell_out(m->addr, &fx->halves, fx->addr, fx->lanes, bytes);
        a->lanes |= fx->lanes;
    } else {
        cross_over(m, fx, bytes);
    }
    if (sm->joint.slices) {
        sm->joined.at[i] = a->lanes & ~before;
        if (!sm->joined.next[m->inflight])
            sm->joined.at[m->inflight] = before;
    }
    sm->joined.next[i] = sm->joined.next[m->inflight];
    sm->joined.next[m->inflight] = (uint16_t)(i + 1);
    sm->joint.merged++;
    sm->joint.n.accesses++;
}

uint32_t joint_take(struct sm *sm, uint32_t inflight) {
    uint32_t next = sm->joined.next[inflight];
    sm->joined.next[inflight] = 0;
    sm->joint.merged -= next != 0;
    return next ? next - 1 : NO_INFLIGHT;
}

/* Makes a new entry for the first member of the access, whose data have arrived. The others still need the old
 * entry. */
static uint32_t part_from(struct sm *sm, uint32_t tag) {
    const struct inflight old = sm->in_flight.entry[tag];
    uint32_t i = sm_inflight_new(sm, old.warp, old.pc, old.lanes, old.board);
    sm->in_flight.entry[i].issued = old.issued;
    if (sm->modern)
        modern_hand_over(sm, tag, i);
    sm->joined.ended[tag] = true;
    sm->joint.merged++;
    return i;
}

uint32_t joint_known(struct sm *sm, uint32_t tag, uint32_t end[JOINT_MOST]) {
    uint32_t n = 0;
    lanemask_t waits;
    if (!sm->joined.next[tag] || !lsu_waits_on_miss(sm->lsu, tag, &waits))
        return 0;
    if (!sm->joined.ended[tag] && !(sm->joined.at[tag] & waits) && in_flight_has_room(&sm->in_flight))
        end[n++] = part_from(sm, tag);
    for (uint16_t *link = &sm->joined.next[tag]; *link;) {
        uint32_t i = *link - 1u;
        if (sm->joined.at[i] & waits) {
            link = &sm->joined.next[i];
            continue;
        }
        *link = sm->joined.next[i];
        sm->joined.next[i] = 0;
        sm->joint.merged--;
        end[n++] = i;
    }
    return n;
}

bool joint_end(struct sm *sm, uint32_t inflight, uint64_t now) {
    const uint32_t w = sm->in_flight.entry[inflight].warp;
    if (!sm->joint.slices || !sm->joined.ended[inflight])
        return false;
    sm->joined.ended[inflight] = false;
    sm->joint.merged--;
    in_flight_end(&sm->in_flight, inflight);
    sm->warps.slot[w].inflight--;
    if (sm->warps.slot[w].finished)
        sm_warp_check_done(sm, w, now);
    return true;
}

uint64_t joint_collect(struct sm *sm, uint32_t inflight, uint64_t from) {
    uint64_t last = from;
    for (uint32_t i = sm->joined.next[inflight]; i; i = sm->joined.next[i - 1]) {
        const struct inflight *f = &sm->in_flight.entry[i - 1];
        last = max64(last, operands_read(&sm->operands, f->part, f->warp, &sm->program->inst[f->pc], NULL, from));
    }
    return last;
}
