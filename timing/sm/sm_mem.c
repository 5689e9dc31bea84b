/* Memory instructions between issue and the load/store unit: issue latch, collector unit, dispatch latch. The unit's
 * back-pressure is not known beforehand, so these steps are walked, unlike those of the other pipes. */
#include "sm_parts.h"
#include "timing/mem/shared_banks.h"
#include <assert.h>
#include <string.h>

/* A copy reads where lanes have something to read, and then goes to the banks for all of them. */
static void take_copy(const struct sm *sm, struct mem_inst *m) {
    const struct effects *fx = &sm->fx;
    struct lsu_access *a = &m->access;
    a->kind = MEM_READ;
    if (fx->fetched) {
        const struct shared_banks banks = {.banks = sm->cfg->lsu.shared_banks, .width = sm->cfg->lsu.shared_bank_bytes};
        a->lanes = fx->fetched;
        a->fill = (uint8_t)shared_cycles(&banks, fx->to, fx->lanes, fx->msize);
        return;
    }
    memcpy(m->addr, fx->to, sizeof m->addr);
    a->kind = MEM_WRITE;
    a->space = SPACE_SHARED;
}

static void take_addresses(struct sm *sm, struct mem_inst *m) {
    const struct inflight *f = &sm->inflight[m->inflight];
    const struct inst *in = &sm->program->program->code[f->pc];
    const struct effects *fx = &sm->fx;
    static const uint8_t kinds[N_KINDS] = {[K_LOAD] = MEM_READ,
                                           [K_STORE] = MEM_WRITE,
                                           [K_ATOM] = MEM_ATOMIC,
                                           [K_TEX] = MEM_TEXTURE,
                                           [K_PREFETCH] = MEM_READ};
    memcpy(m->addr, fx->addr, sizeof m->addr);
    lanemask_t lanes = in->kind == K_PREFETCH ? fx->fetched & fx->lanes : fx->lanes;
    m->skip = !lanes;
    m->access = (struct lsu_access){
        .inst = in,
        .lanes = lanes,
        .space = fx->space,
        .kind = fx->space == SPACE_CONST || fx->space == SPACE_PARAM ? MEM_CONSTANT : kinds[in->kind],
        .n_elems = fx->n_elems,
        .msize = fx->msize,
        .shared_lanes = fx->shared_lanes,
        .local_lanes = fx->local_lanes,
        .addr = m->addr,
        .local_base = fx->local_lanes || fx->space == SPACE_LOCAL ? sm_local_base(sm, f->warp) : 0,
        .local_stride = sm->local_stride,
        .warp = f->warp,
        .unlock = sm->unlock,
        .pc = f->pc,
        .tag = m->inflight,
    };
    if (__builtin_expect(in->kind == K_COPY, 0))
        take_copy(sm, m);
}

/* The table of memory instructions has room, or has not: to all parts. */
static void room_changed(struct sm *sm) {
    for (uint32_t i = 0; i < sm->n_parts; i++)
        sm_mem_latch_changed(sm, &sm->part[i]);
}

uint32_t sm_mem_accept(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t inflight, bool ordered,
                       uint64_t now) {
    struct exec_part *e = &sm->part[part];
    uint32_t i = sm->free_mem[--sm->n_free_mem];
    if (!sm->n_free_mem)
        room_changed(sm);
    struct mem_inst *m = &sm->mem[i];
    (void)w;
    (void)pc;
    m->stage = MEM_LATCH;
    m->at = now + sm->cfg->sm.latch_collect;
    m->inflight = inflight;
    m->ordered = ordered;
    e->order[e->n_mem++] = (uint8_t)i;
    e->n_latch++;
    sm_mem_latch_changed(sm, e);
    if (sm->wants.splits)
        sm_load_issued(sm, inflight);
    if (!ordered)
        take_addresses(sm, m);
    if (m->at < sm->mem_due)
        sm->mem_due = m->at;
    return i;
}

void sm_mem_performed(struct sm *sm, uint32_t mem, uint64_t now) {
    struct mem_inst *m = &sm->mem[mem];
    take_addresses(sm, m);
    m->ordered = false;
    if (now < sm->mem_due)
        sm->mem_due = now;
}

static void access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now);

/* What happened in a cycle, and when there is something to do again. */
struct mem_turn {
    uint64_t due;
    uint32_t out; /* instructions of a part that came to the dispatch latch */
    bool lsu_used;
    bool ended; /* an instruction, without having gone to the load/store unit */
};

static inline void soon(struct mem_turn *turn, uint64_t cycle) { turn->due = cycle < turn->due ? cycle : turn->due; }

/* Leaves the dispatch latch. False: the load/store unit is busy, and has work when it no longer is. */
static inline bool leave(struct sm *sm, struct mem_inst *m, uint64_t now, struct mem_turn *turn) {
    if (__builtin_expect(m->skip, 0)) {
        sm_account(sm, now);
        access_done(sm, m->inflight, false, now);
        turn->ended = true;
        return true;
    }
    if (turn->lsu_used) {
        soon(turn, now + 1);
        return false;
    }
    if (!lsu_can_accept(sm->lsu)) {
        sm->lsu_refused = true;
        return false;
    }
    lsu_accept(sm->lsu, &m->access, now);
    turn->lsu_used = true;
    uint64_t next = lsu_status(sm->lsu)->next; /* for the rest of its work is known */
    next = next > now ? next : now + 1;
    if (next < sm->status.lsu_due)
        sm->status.lsu_due = next;
    return true;
}

/* Out of the issue latch, if a collector unit is free. */
static inline void collect(struct sm *sm, struct exec_part *e, struct mem_inst *m, uint64_t now,
                           struct mem_turn *turn) {
    const struct inflight *f = &sm->inflight[m->inflight];
    if (e->n_collect == e->mem_collectors)
        return;
    const struct timed_inst *ti = f->form ? &f->form->ti : &sm->program->inst[f->pc];
    m->stage = MEM_COLLECT;
    m->at = sm_read_registers(sm, f->part, f->warp, ti, f->form, now + 1);
    e->n_latch--;
    e->n_collect++;
    sm_mem_latch_changed(sm, e);
    soon(turn, m->ordered ? UINT64_MAX : m->at);
}

/* Into the dispatch latch, if it has room. */
static inline void dispatch(const struct sm_cfg *cfg, struct exec_part *e, struct mem_inst *m, uint64_t now,
                            struct mem_turn *turn) {
    if (e->n_out >= cfg->pipe[PIPE_MEM].out_ports || turn->out >= cfg->pipe[PIPE_MEM].out_ports)
        return;
    m->stage = MEM_OUT;
    m->at = now + cfg->latch_dispatch;
    e->n_collect--;
    e->n_out++;
    turn->out++;
    soon(turn, m->at > now ? m->at : now + 1); /* the unit's turn in this cycle is over */
}

/* One step of one instruction whose stage's time is over. True when it is gone. */
static inline bool step(struct sm *sm, struct exec_part *e, struct mem_inst *m, uint64_t now, struct mem_turn *turn) {
    if (m->stage == MEM_LATCH) {
        collect(sm, e, m, now, turn);
    } else if (m->stage == MEM_COLLECT) {
        dispatch(&sm->cfg->sm, e, m, now, turn);
    } else if (leave(sm, m, now, turn)) {
        e->n_out--;
        soon(turn, now + 1); /* an older one that was refused may follow */
        return true;
    }
    return false;
}

/* Those of one part, the oldest first: a younger one takes the place that an older one leaves in the same cycle. */
static inline void part_tick(struct sm *sm, struct exec_part *e, uint64_t now, struct mem_turn *turn) {
    uint32_t kept = 0, n = e->n_mem;
    turn->out = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t at = e->order[i];
        struct mem_inst *m = &sm->mem[at];
        uint64_t moves = m->stage == MEM_COLLECT && m->ordered ? UINT64_MAX : m->at;
        e->order[kept++] = at;
        if (moves > now) {
            soon(turn, moves);
        } else if (step(sm, e, m, now, turn)) {
            kept--;
            sm->free_mem[sm->n_free_mem++] = at;
            if (sm->n_free_mem == 1)
                room_changed(sm);
        }
    }
    e->n_mem = kept;
}

bool sm_mem_tick(struct sm *sm, uint64_t now) {
    struct mem_turn turn = {.due = UINT64_MAX};
    sm->lsu_refused = false;
    if (sm->n_parts == 1)
        part_tick(sm, &sm->part[0], now, &turn);
    for (uint32_t k = 0, n = sm->n_parts; n > 1 && k < n; k++) /* divided SMs share the unit: turn by turn */
        part_tick(sm, &sm->part[(now + k) % n], now, &turn);
    sm->mem_due = turn.due;
    return turn.ended;
}

static void access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now) {
    struct inflight *f = &sm->inflight[inflight];
    struct sm_warp *sw = &sm->warp[f->warp];
    const struct timed_inst *ti = &sm->program->inst[f->pc];
    uint32_t w = f->warp;
    f->missed = missed;
    f->known = false;
    if (sm->profile && missed)
        sm->profile[f->pc].misses++;
    if (__builtin_expect(ti->kind == K_COPY, 0)) {
        sm_copy_done(sm, inflight, now);
        return;
    }
    bool last = !--sw->accesses;
    if (sm->cfg->sm.atomic_wait && ti->kind == K_ATOM)
        last |= !--sw->atomics;
    uint64_t written = now;
    if (ti->banks.n_writes)
        written = sm_write_registers(sm, f->part, w, f->form ? &f->form->ti : ti, f->form,
                                     now + sm->cfg->sm.latch_writeback, now);
    if (written > now)
        wheel_add(&sm->wheel, written, event_make(EVENT_WRITEBACK, inflight));
    else
        sm_complete(sm, inflight, now);
    if (last && sm_state_has(sm, PATH_FENCE, w))
        sm_evaluate_all(sm, w, now);
}

bool sm_add_prefetcher(struct sm *sm, const struct prefetcher_ops *ops, void *ctx) {
    return lsu_add_prefetcher(sm->lsu, ops, ctx);
}

void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now) {
    uint32_t tag, latency;
    bool missed;
    if (found & LSU_ACCESSES) {
        while (sm->wants.rotates && lsu_missed(sm->lsu, &tag))
            sm_missed(sm, tag, now);
        while (sm->wants.splits && lsu_known(sm->lsu, &tag))
            sm_load_known(sm, tag);
        while (lsu_done(sm->lsu, &tag, &missed))
            access_done(sm, tag, missed, now);
    }
    while (found & LSU_STORES_ENDED && sm->hold_stores && lsu_stores_ended(sm->lsu, &tag))
        sm_warp_check_done(sm, tag, now);
    if ((found & LSU_FETCHED || fetch_waits(&sm->fetch)) && fetch_tick(&sm->fetch, now))
        sm_fetch_retry(sm);
    while (sm->n_parts > 1 && fetch_take(&sm->fetch, &tag, &latency))
        sm_fetch_arrived(sm, tag, latency, now);
    sm_lsu_due(sm, now);
    if (sm->lsu_refused && sm->mem_due > now)
        sm->mem_due = now; /* the unit may have room again */
}
