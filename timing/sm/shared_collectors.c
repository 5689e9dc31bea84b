/* Collector units that all kinds of pipes share. */
#include "shared_collectors.h"
#include "reserve_pipe.h"
#include "uniform_path.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An instruction without a memory access, between issue and its pipe. */
struct waiting {
    uint64_t order; /* greater for later instructions; 0: none */
    uint64_t issued;
    uint64_t ready; /* in a unit: the cycle after the reads of the operands */
    const struct timed_inst *ti;
    const struct sm_form *form;
    lanemask_t lanes;
    uint32_t pc, warp;
    uint32_t inflight; /* NO_INFLIGHT: the instruction has no result */
};

/* `order` of a unit that a memory instruction has. */
static const uint64_t MEMORY = UINT64_MAX;

struct shared_part {
    struct waiting unit[MAX_COLLECTORS], latch[N_PIPES];
};

struct sm_shared_collectors {
    uint32_t units;   /* of each part */
    uint32_t waiting; /* instructions in latches and units, without memory instructions */
    uint64_t issued;  /* number of instructions that have been in a latch */
    struct shared_part part[];
};

bool shared_collectors_new(struct sm *sm) {
    const uint32_t n = sm->operands.n_parts;
    sm->operands.shared = NULL;
    if (!sm->cfg->sm.shared_collectors || sm->cfg->core.kind == CORE_MODERN)
        return true;
    struct sm_shared_collectors *s = calloc(1, sizeof *s + n * sizeof s->part[0]);
    sm->operands.shared = s;
    if (s)
        s->units = sm->cfg->sm.shared_collectors / n;
    return s != NULL;
}

void shared_collectors_free(struct sm *sm) { free(sm->operands.shared); }

void shared_collectors_launch(struct sm *sm) {
    struct sm_shared_collectors *s = sm->operands.shared;
    if (!s)
        return;
    s->waiting = 0;
    memset(s->part, 0, sm->operands.n_parts * sizeof s->part[0]);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        for (uint32_t p = 0; p < N_PIPES; p++)
            if (p != PIPE_MEM && pipe_exists(&sm->cfg->sm, (int)p))
                sm->operands.part[i].takes[p] = 0;
}

void shared_collectors_issue(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                             const struct sm_form *form, uint64_t now) {
    struct sm_shared_collectors *s = sm->operands.shared;
    const uint32_t part = operands_part(&sm->operands, w);
    struct waiting *l = &s->part[part].latch[ti->pipe];
    assert(!l->order);
    *l = (struct waiting){.order = ++s->issued,
                          .issued = now,
                          .ti = ti,
                          .form = form,
                          .lanes = path->lanes,
                          .pc = path->pc,
                          .warp = w,
                          .inflight = NO_INFLIGHT};
    s->waiting++;
    sm->operands.part[part].takes[ti->pipe] = UINT64_MAX;
    sm->memory.due = min64(sm->memory.due, now + 1);
    if (!ti->regs.n_write)
        return;
    l->inflight = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    sm_board_issue(sm, &sm->warps.slot[w], path, ti, false, false);
}

/* Returns the first free unit, or the number of units. */
static uint32_t free_unit(const struct sm_shared_collectors *s, const struct shared_part *p) {
    uint32_t u = 0;
    while (u < s->units && p->unit[u].order)
        u++;
    return u;
}

/* Moves the oldest instruction of a kind of pipe into a unit. Returns false if none waits or its part has no free
 * unit. */
static bool collect_oldest(struct sm *sm, uint32_t pipe, uint64_t now) {
    struct sm_shared_collectors *s = sm->operands.shared;
    uint32_t part = sm->operands.n_parts;
    for (uint32_t i = 0; i < sm->operands.n_parts; i++) {
        const uint64_t order = s->part[i].latch[pipe].order;
        if (order && (part == sm->operands.n_parts || order < s->part[part].latch[pipe].order))
            part = i;
    }
    if (part == sm->operands.n_parts)
        return false;
    struct waiting *l = &s->part[part].latch[pipe];
    const uint32_t unit = free_unit(s, &s->part[part]);
    if (unit == s->units || l->issued + sm->cfg->sm.latch_collect > now)
        return false;
    l->ready = operands_read(&sm->operands, part, l->warp, l->ti, l->form, now);
    s->part[part].unit[unit] = *l;
    l->order = 0;
    sm->operands.part[part].takes[pipe] = now;
    return true;
}

/* Moves instructions whose operands have been read to the dispatch latches of their pipes. The first units have
 * priority (dispatch_unit_t::find_ready). Returns true if an instruction moves. */
static bool dispatch_ready(struct sm *sm, uint32_t part, uint64_t now) {
    struct sm_shared_collectors *s = sm->operands.shared;
    bool any = false;
    for (uint32_t u = 0; u < s->units; u++) {
        struct waiting *l = &s->part[part].unit[u];
        if (!l->order || l->order == MEMORY || l->ready > now ||
            collector_leaves(&sm->operands.part[part].collector[l->ti->pipe], now) > now)
            continue;
        const uint64_t end = reserve_pipe(sm, part, l->warp, l->ti, l->form, now, now);
        if (l->inflight != NO_INFLIGHT)
            wheel_add(&sm->wheel, max64(end - sm->cfg->sm.forward, now + 1), event_make(EVENT_WRITEBACK, l->inflight));
        else if (sm_hooked(sm, HOOK_WRITTEN))
            tell_end(sm, l->warp, l->pc, l->lanes, l->issued, end);
        l->order = 0;
        s->waiting--;
        any = true;
    }
    return any;
}

bool shared_collectors_tick(struct sm *sm, enum shared_turn turn, uint64_t now) {
    static const uint8_t kinds[] = {PIPE_SP, PIPE_SFU, PIPE_DP, PIPE_INT, PIPE_BRANCH, PIPE_AFFINE};
    static const struct {
        bool dispatches;
        uint8_t first, end;
    } does[] = {[BEFORE_MEMORY] = {true, 0, 2},
                [AFTER_MEMORY] = {false, 2, sizeof kinds},
                [SECOND_STEP] = {true, 0, sizeof kinds}};
    bool any = false;
    if (!sm->operands.shared->waiting)
        return false;
    for (uint32_t i = 0; does[turn].dispatches && i < sm->operands.n_parts; i++)
        any |= dispatch_ready(sm, i, now);
    for (uint32_t i = does[turn].first; i < does[turn].end; i++)
        while (collect_oldest(sm, kinds[i], now))
            any = true;
    return any;
}

bool shared_collectors_wait(const struct sm *sm) {
    uint32_t latched = 0;
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        latched += sm->operands.part[i].mem.n_latch;
    return latched || sm->operands.shared->waiting;
}

/* Returns true if a memory instruction of another part has waited for a longer time in its latch. */
static bool older_waits(const struct sm *sm, const struct exec_part *mine, uint64_t issued, uint64_t now) {
    for (uint32_t i = 0; i < sm->operands.n_parts; i++) {
        const struct mem_queue *q = &sm->operands.part[i].mem;
        for (uint32_t k = 0; &sm->operands.part[i] != mine && q->n_latch && k < q->n; k++) {
            const struct mem_step *p = &q->step[k];
            if (p->what % MEM_STAGES == MEM_LATCH && p->at <= now &&
                sm->in_flight.entry[sm->memory.inst[p->what / MEM_STAGES].inflight].issued < issued)
                return true;
        }
    }
    return false;
}

bool shared_collectors_take(struct sm *sm, struct exec_part *e, uint32_t inflight, uint64_t now) {
    struct sm_shared_collectors *s = sm->operands.shared;
    struct shared_part *p = &s->part[e - sm->operands.part];
    const uint32_t unit = free_unit(s, p);
    if (unit == s->units || older_waits(sm, e, sm->in_flight.entry[inflight].issued, now))
        return false;
    p->unit[unit].order = MEMORY;
    return true;
}

void shared_collectors_leave(struct sm *sm, struct exec_part *e) {
    struct shared_part *p = &sm->operands.shared->part[e - sm->operands.part];
    uint32_t u = 0;
    while (p->unit[u].order != MEMORY)
        u++;
    p->unit[u].order = 0;
}
