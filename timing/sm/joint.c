/* Joint issue: forms the members of an issue slot and issues them (joint.h). */
#include "joint.h"
#include "counting.h"
#include "execute.h"

/* Returns true if the instruction of the path cannot share its issue slot. */
static bool issues_alone(struct sm *sm, uint32_t w, uint32_t p) {
    const struct sm_warp *sw = &sm->warps.slot[w];
    const struct timed_inst *ti = &sm->program->inst[sw->path[p].pc];
    if (sw->context || ti->flags & TIMED_RARE || (sm->model.wants.gathers && ti->flags & TIMED_GATHER))
        return true;
    return sm_hooked(sm, HOOK_FORM) && sm_units_form(sm, w, p);
}

/* Returns true if the table of instructions in flight has `n` free entries. */
static bool has_room(const struct sm_in_flight *t, uint32_t n) {
    uint32_t i = t->free;
    for (; n && i < t->fresh; n--)
        i = t->entry[i].next;
    return n <= (i == NO_INFLIGHT ? 0 : MAX_INFLIGHT - t->fresh);
}

/* Returns true if the memory stage has room for one more instruction after those of the present members. */
static bool memory_has_room(const struct sm *sm, const struct sm_joint *j, uint32_t part, uint32_t pc) {
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < j->n; i++) {
        if (j->member[i].pipe != PIPE_MEM)
            continue;
        if (j->member[i].pc == pc && joint_merges(sm, pc))
            return true;
        accesses++;
    }
    return sm->operands.part[part].mem.n_latch + accesses < sm->cfg->sm.pipe[PIPE_MEM].in_ports &&
           sm->memory.n_free > accesses;
}

/* Returns true if the pipe has room for an instruction, in a pass of its own or in the pass of other members. */
static bool pipe_has_room(const struct sm *sm, const struct sm_joint *j, uint32_t w, uint32_t pc, uint64_t now) {
    const struct timed_inst *ti = &sm->program->inst[pc];
    const uint32_t part = operands_part(&sm->operands, w);
    if (operands_take(&sm->operands.part[part], ti->pipe) > now)
        return false;
    if (ti->pipe == PIPE_MEM)
        return memory_has_room(sm, j, part, pc);
    for (uint32_t i = 0; i < j->n; i++)
        if (j->member[i].pipe == ti->pipe && sm->program->inst[j->member[i].pc].initiation != ti->initiation)
            return false;
    return true;
}

/* Returns the lanes of the pipes that the path uses. */
static lanemask_t place_of(const struct sm *sm, uint32_t warp, uint32_t path) {
    const struct sm_warp *sw = &sm->warps.slot[warp];
    const uint32_t slice = sm->joint.slices ? sw->w->index % sm->joint.slices : 0;
    return sw->path[path].lanes << slice * sm->cfg->sm.warp_size;
}

/* Returns true if the lanes fit into the slot. */
static bool lanes_fit(const struct sm *sm, const struct sm_joint *j, lanemask_t lanes) {
    if (sm->cfg->reconv.joint_lanes == JOINT_HOME || sm->joint.slices || !j->n)
        return !(lanes & j->lanes);
    return j->threads + lanes_count(lanes) <= sm->cfg->sm.warp_size;
}

/* Returns true if the path can be a companion or the leader. Does not check its lanes: lanes_fit(). */
static bool may_join(struct sm *sm, const struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now) {
    const struct sm_warp *sw = &sm->warps.slot[warp];
    const struct sm_path *from = &sw->path[path];
    bool near = sm->operands.n_parts == 1 || warp_set_has(&sm->issue.sched[j->scheduler].mine, warp);
    if (j->n == JOINT_MOST || !near || !warp_set_has(&sm->warps.live, warp) || path >= sw->n_paths)
        return false;
    return from->state < N_PIPES && from->lanes && !issues_alone(sm, warp, path) &&
           pipe_has_room(sm, j, warp, from->pc, now) && has_room(&sm->in_flight, j->n + 1);
}

bool sm_joint_may(struct sm *sm, const struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now) {
    return may_join(sm, j, warp, path, now) && lanes_fit(sm, j, place_of(sm, warp, path));
}

/* Returns the first turn in which no member with the same pipe has one of these lanes. */
static uint8_t turn_of(const struct sm_joint *j, lanemask_t lanes, uint8_t pipe) {
    lanemask_t used[JOINT_MOST] = {0};
    uint8_t turn = 0;
    for (uint32_t i = 0; i < j->n; i++)
        used[j->member[i].turn] |= j->member[i].pipe == pipe ? j->member[i].lanes : 0;
    while (used[turn] & lanes)
        turn++;
    return turn;
}

static void add(const struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, bool jump) {
    const struct sm_path *from = &sm->warps.slot[warp].path[path];
    const uint8_t pipe = sm->program->inst[from->pc].pipe;
    j->member[j->n] = (struct sm_joint_member){.warp = warp,
                                               .path = path,
                                               .pc = from->pc,
                                               .lanes = from->lanes,
                                               .counted = jump ? from->lanes & ~j->lanes : from->lanes,
                                               .pipe = pipe,
                                               .turn = jump ? 0 : turn_of(j, from->lanes, pipe),
                                               .mem = MEM_QUEUE};
    j->n++;
    j->lanes |= place_of(sm, warp, path);
    j->threads += lanes_count(from->lanes);
}

bool sm_joint_add(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now) {
    if (!sm_joint_may(sm, j, warp, path, now))
        return false;
    add(sm, j, warp, path, false);
    return true;
}

bool sm_joint_add_jump(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now) {
    if (!may_join(sm, j, warp, path, now) || sm->warps.slot[warp].path[path].pc != j->member[0].pc ||
        !sm_joint_is_jump(sm, j))
        return false;
    add(sm, j, warp, path, true);
    return true;
}

bool sm_joint_is_jump(const struct sm *sm, const struct sm_joint *j) {
    const struct inst *in = &sm->program->program->code[j->member[0].pc];
    return in->kind == K_BRANCH && in->guard == NO_GUARD;
}

bool sm_joint_lead(struct sm *sm, struct sm_joint *j, uint32_t warp, uint32_t path, uint64_t now) {
    struct sm_joint led = {.scheduler = j->scheduler, .all = j->all};
    if (j->n != 1 || !sm_joint_add(sm, &led, warp, path, now))
        return false;
    *j = led;
    return true;
}

struct warp_set sm_joint_ready(const struct sm *sm, const struct sm_joint *j) {
    struct warp_set ready = {.word = {0}};
    for (uint32_t k = 0; k < sm->warps.words; k++)
        ready.word[k] = warps_ready(&sm->warps, k) & sm->issue.sched[j->scheduler].mine.word[k];
    return ready;
}

void sm_joint_fetches(struct sm *sm, uint32_t more, enum joint_reach reach) {
    const uint32_t lanes = sm->cfg->sm.warp_size > WARP_LANES ? sm->cfg->sm.warp_size : WARP_LANES;
    more = more < lanes ? more : lanes - 1; /* a formed warp has at most one member for each lane */
    sm->joint.more = more > sm->joint.more ? more : sm->joint.more;
    sm->joint.reach = reach > sm->joint.reach ? reach : sm->joint.reach;
}

void sm_joint_gangs(struct sm *sm, uint32_t warps) { sm->joint.gang = warps; }

void sm_joint_slices(struct sm *sm) {
    sm->joint.slices = sm->cfg->sm.warp_size < CFG_LANES ? CFG_LANES / sm->cfg->sm.warp_size : 1;
    sm_joint_gangs(sm, sm->joint.slices);
    lsu_note_known(sm->lsu);
}

/* Returns the present index of the member's path; MAX_PATHS if the path no longer exists or can no longer issue. */
static uint32_t find_path(const struct sm *sm, const struct sm_joint_member *m) {
    const struct sm_warp *sw = &sm->warps.slot[m->warp];
    for (uint32_t p = 0; sw->w && p < sw->n_paths; p++)
        if (sw->path[p].pc == m->pc && sw->path[p].lanes == m->lanes && sw->path[p].state == PATH_READY + m->pipe)
            return p;
    return MAX_PATHS;
}

/* Returns the first member before member `i` that uses the same pipe. For the memory pipe, member `i` must also be able
 * to join the access of that member. Returns `i` if there is none. */
static uint32_t shares_pass(const struct sm *sm, const struct sm_joint *j, uint32_t i) {
    const struct sm_joint_member *m = &j->member[i], *k = j->member;
    for (; k < m; k++)
        if (k->pipe == m->pipe &&
            (m->pipe != PIPE_MEM || (k->mem != MEM_QUEUE && k->pc == m->pc && joint_merges(sm, m->pc))))
            break;
    return (uint32_t)(k - j->member);
}

/* Schedules the end of a member without a memory access, in the cycle that joint_reserve() has computed. */
static void finish(struct sm *sm, const struct sm_joint_member *m, uint32_t p, uint64_t now) {
    struct sm_warp *sw = &sm->warps.slot[m->warp];
    const struct timed_inst *ti = &sm->program->inst[m->pc];
    uint64_t done = max64(m->written - sm->cfg->sm.forward, now + 1);
    if (!ti->regs.n_write) {
        if (sm->modern)
            modern_issues(sm, m->warp, &sw->path[p], now);
        if (sm_hooked(sm, HOOK_WRITTEN))
            tell_end(sm, m->warp, sw->path[p].pc, sw->path[p].lanes, now, m->written);
        return;
    }
    uint32_t i = sm_inflight_new(sm, m->warp, m->pc, m->lanes, sw->path[p].board);
    if (sm->modern) {
        modern_joins(sm, m->warp, &sw->path[p], i, now);
        done = max64(done, now + 3); /* its counters rise in cycle now + 2 */
    }
    sm_board_issue(sm, sw, &sw->path[p], ti, false, false);
    wheel_add(&sm->wheel, done, event_make(EVENT_WRITEBACK, i));
}

static void count_member(struct sm *sm, const struct sm_joint *j, uint32_t i, uint32_t p, bool own_pass) {
    const struct sm_joint_member *m = &j->member[i];
    bool decoded = false;
    for (uint32_t k = 0; k < i; k++)
        decoded |= j->member[k].pc == m->pc;
    sm->joint.n.lanes += lanes_count(m->counted);
    if (i == 0) {
        const struct sm_warp *sw = &sm->warps.slot[m->warp];
        sm_count_issue(sm, sw, &sw->path[p], &sm->program->inst[m->pc], false);
        sm_count_lanes(sm, &sm->program->inst[m->pc], m->pc, m->lanes);
        return;
    }
    sm->joint.n.saved++;
    sm->joint.n.jumped += lanes_count(m->lanes & ~m->counted);
    sm->joint.n.decodes += !decoded;
    sm_count_companion(sm, m->pc, m->counted, own_pass, !decoded);
}

/* Tells the policy of the warp's scheduler that a member has executed, with the effects sm->fx. */
static void tell_executed(struct sm *sm, const struct sched *sched, const struct sm_joint_member *m) {
    const struct inst *in = &sm->program->program->code[m->pc];
    sched_tell_executed(sched, &(struct sched_executed){.warp = m->warp,
                                                        .pc = m->pc,
                                                        .lanes = m->lanes,
                                                        .taken = in->kind == K_BRANCH ? sm->fx.taken : 0,
                                                        .in = in});
}

/* Issues member number `i`, whose path has index `p`. Returns false if it has stopped the SM. */
static bool issue_member(struct sm *sm, struct sm_joint *j, uint32_t i, uint32_t p, uint64_t now) {
    struct sm_joint_member *m = &j->member[i];
    struct sm_warp *sw = &sm->warps.slot[m->warp];
    const struct inst *in = &sm->program->program->code[m->pc];
    const struct timed_inst *ti = &sm->program->inst[m->pc];
    const uint16_t id = sw->path[p].id;
    const uint32_t first = shares_pass(sm, j, i);
    sw->last_path = (uint8_t)p;
    sw->w->clock = now;
    sm->memory.unlock = false;
    exec_inst(sw->w, in, m->lanes, &sm->fx);
    if (sm->fx.fault) {
        sm_fault(sm, m->warp, m->pc, now);
        return false;
    }
    if (sm_hooked(sm, HOOK_ISSUED))
        sm_units_tell_issued(sm, m->warp, m->pc, m->lanes, ti, ISSUE_DONE, now);
    const struct sched *sched = &sm->issue.sched[sched_of(&sm->cfg->sm, m->warp)];
    if (sched->hears)
        tell_executed(sm, sched, m);
    count_member(sm, j, i, p, first == i);
    if (!(ti->flags & TIMED_MEMORY))
        finish(sm, m, p, now);
    else if (first == i || !sm->fx.lanes)
        m->mem = access_memory(sm, m->warp, &sw->path[p], ti, NULL, false, now, false);
    else
        joint_merge(sm, m->warp, p, j->member[first].mem);
    if (!(ti->flags & TIMED_CONTROL)) {
        sm_advance(sm, m->warp, p, now);
    } else {
        sm_control(sm, m->warp, p, in, now);
        if (sw->finished)
            sm_warp_check_done(sm, m->warp, now);
    }
    if (ti->flags & sm->model.long_latency)
        sm_long_latency(sm, m->warp, id, ti, now);
    return !sm->status.stopped;
}

static void issue_members(struct sm *sm, struct sm_joint *j, uint64_t now) {
    joint_reserve(sm, j, now);
    sm->joint.n.slots++;
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t p = find_path(sm, &j->member[i]);
        if (p == MAX_PATHS)
            sm->joint.n.left_out++;
        else if (!issue_member(sm, j, i, p, now))
            return;
    }
}

bool sm_issue_jointly(struct sm *sm, uint32_t s, struct sm_joint_member *leader, uint64_t now) {
    struct sm_joint j = {.scheduler = s, .all = launch_full_warp(sm->launch)};
    if (!sm_joint_add(sm, &j, leader->warp, leader->path, now))
        return false;
    sm_units_join(sm, &j, now);
    *leader = j.member[0];
    if (j.n == 1)
        return false;
    sched_issued(&sm->issue.sched[s], (int)leader->warp);
    issue_members(sm, &j, now);
    sm->n.slot[SLOT_ISSUED]++;
    return true;
}
