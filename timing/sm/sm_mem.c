/* Memory instructions between issue and the load/store unit: issue latch, collector unit, dispatch latch. The unit's
 * back-pressure is not known beforehand, so these steps are walked, unlike those of the other pipes. */
#include "isa/arith.h"
#include "sm_parts.h"
#include "timing/mem/shared_banks.h"
#include <assert.h>
#include <string.h>

/* A copy reads where lanes have something to read, and then goes to the banks for all of them. */
static __attribute__((noinline, cold)) void take_copy(const struct sm *sm, struct mem_inst *m) {
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
    a->halves.shape = SHAPE_ANY;
    a->kind = MEM_WRITE;
    a->space = SPACE_SHARED;
}

/* Where threads' own memory is, for lanes that go there. */
static __attribute__((noinline, cold)) void take_local(const struct sm *sm, struct lsu_access *a) {
    a->local_base = sm_local_base(sm, a->warp);
    a->local_stride = sm->local_stride;
}

/* Field by field: as a whole it would be cleared first. */
static inline void take_addresses(struct sm *sm, struct mem_inst *m, uint32_t w, uint32_t pc) {
    const struct inst *in = &sm->program->program->code[pc];
    const struct effects *fx = &sm->fx;
    static const uint8_t kinds[N_KINDS] = {[K_LOAD] = MEM_READ,
                                           [K_STORE] = MEM_WRITE,
                                           [K_ATOM] = MEM_ATOMIC,
                                           [K_TEX] = MEM_TEXTURE,
                                           [K_PREFETCH] = MEM_READ};
    struct lsu_access *a = &m->access;
    a->inst = in;
    a->lanes = in->kind == K_PREFETCH ? fx->fetched & fx->lanes : fx->lanes;
    a->space = fx->space;
    a->kind = fx->space == SPACE_CONST || fx->space == SPACE_PARAM ? MEM_CONSTANT : kinds[in->kind];
    a->n_elems = fx->n_elems;
    a->msize = fx->msize;
    a->shared_lanes = fx->shared_lanes;
    a->local_lanes = fx->local_lanes;
    a->halves = fx->halves;
    a->addr = m->addr;
    a->fill = 0;
    a->warp = (uint8_t)w;
    a->unlock = sm->unlock;
    a->pc = pc;
    a->tag = m->inflight;
    m->skip = !a->lanes;
    if (__builtin_expect(fx->halves.shape == SHAPE_ANY, 0))
        memcpy(m->addr, fx->addr, sizeof m->addr);
    if (__builtin_expect(fx->local_lanes || fx->space == SPACE_LOCAL, 0))
        take_local(sm, a);
    if (__builtin_expect(in->kind == K_COPY, 0))
        take_copy(sm, m);
}

/* The table of memory instructions has room, or has not: to all parts. */
static __attribute__((noinline, cold)) void room_changed(struct sm *sm, uint64_t now) {
    if (!sm->n_free_mem)
        sm_scarce(sm, now);
    for (uint32_t i = 0; i < sm->n_parts; i++)
        sm_mem_latch_changed(sm, &sm->part[i]);
}

uint32_t sm_mem_accept(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t inflight, bool ordered,
                       uint64_t now) {
    struct exec_part *e = &sm->part[part];
    uint32_t i = sm->free_mem[--sm->n_free_mem];
    if (!sm->n_free_mem)
        room_changed(sm, now);
    struct mem_inst *m = &sm->mem[i];
    uint64_t at = now + sm->cfg->sm.latch_collect;
    m->inflight = inflight;
    m->ordered = ordered;
    m->collected = UINT64_MAX;
    e->place[e->n_mem++] = (struct mem_step){.at = at, .what = i * MEM_STAGES + MEM_LATCH};
    e->n_latch++;
    sm_mem_latch_changed(sm, e);
    if (sm->wants.splits)
        sm_load_issued(sm, inflight);
    if (!ordered)
        take_addresses(sm, m, w, pc);
    if (at < sm->mem_due)
        sm->mem_due = at;
    return i;
}

void sm_mem_performed(struct sm *sm, uint32_t mem, uint64_t now) {
    struct mem_inst *m = &sm->mem[mem];
    const struct inflight *f = &sm->inflight[m->inflight];
    take_addresses(sm, m, f->warp, f->pc);
    m->ordered = false;
    struct mem_step *p = sm->part[f->part].place;
    while (p->what / MEM_STAGES != mem)
        p++;
    if (p->what % MEM_STAGES == MEM_COLLECT)
        p->at = m->collected;
    if (now < sm->mem_due)
        sm->mem_due = now;
}

static void access_done(struct sm *sm, uint32_t inflight, bool missed, uint64_t now);

/* What happened in a cycle. */
struct mem_turn {
    bool lsu_used;
    bool ended; /* an instruction, without having gone to the load/store unit */
};

/* Leaves the dispatch latch. False: the load/store unit is busy, and has work when it no longer is. */
static inline __attribute__((always_inline)) bool leave(struct sm *sm, struct mem_inst *m, uint64_t now,
                                                        struct mem_turn *turn) {
    if (__builtin_expect(m->skip, 0)) {
        sm_account(sm, now);
        access_done(sm, m->inflight, false, now);
        turn->ended = true;
        return true;
    }
    if (turn->lsu_used || !lsu_can_accept(sm->lsu)) {
        sm->lsu_refused |= !turn->lsu_used;
        return false;
    }
    lsu_accept(sm->lsu, &m->access, now);
    turn->lsu_used = true;
    uint64_t next = lsu_status(sm->lsu)->next; /* for the rest of its work is known */
    sm->status.lsu_due = min64(sm->status.lsu_due, next > now ? next : now + 1);
    return true;
}

/* Goes into a collector unit. Returns when it may leave that. Out of line, for the sake of the loop that it is called
 * from. */
static __attribute__((noinline)) uint64_t collect(struct sm *sm, struct mem_inst *m, uint64_t now) {
    const struct inflight *f = &sm->inflight[m->inflight];
    const struct timed_inst *ti = f->form ? &f->form->ti : &sm->program->inst[f->pc];
    uint64_t there = sm_read_registers(sm, f->part, f->warp, ti, f->form, now + 1);
    if (__builtin_expect(!m->ordered, 1))
        return there;
    m->collected = there;
    return UINT64_MAX;
}

/* Those of one part, the oldest first: a younger one takes the place that an older one leaves in the same cycle.
 * Returns the next cycle with something to do, as far as it is known. A step and the counts are written once, each as a
 * whole: a read of several words that were just written one by one would wait for them. */
static inline uint64_t part_tick(struct sm *sm, struct exec_part *e, uint64_t now, struct mem_turn *turn) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    const uint32_t ports = cfg->pipe[PIPE_MEM].out_ports;
    uint32_t out = 0; /* that came to the dispatch latch */
    uint32_t n_collect = e->n_collect, n_out = e->n_out;
    uint64_t due = UINT64_MAX;
    struct mem_step *kept = e->place, *end = kept + e->n_mem;
    for (struct mem_step *p = kept; p < end; p++) {
        uint64_t at = p->at, what = p->what;
        if (at > now) {
            due = min64(due, at);
        } else if (what % MEM_STAGES == MEM_COLLECT) {
            if (n_out < ports && out < ports) {
                what += MEM_OUT - MEM_COLLECT;
                at = now + cfg->latch_dispatch;
                n_collect--;
                n_out++;
                out++;
                due = min64(due, at > now ? at : now + 1); /* the unit's turn in this cycle is over */
            }
        } else if (what % MEM_STAGES == MEM_OUT) {
            if (leave(sm, &sm->mem[what / MEM_STAGES], now, turn)) {
                n_out--;
                sm->free_mem[sm->n_free_mem++] = (uint8_t)(what / MEM_STAGES);
                if (sm->n_free_mem == 1)
                    room_changed(sm, now);
                due = now + 1; /* an older one that was refused may follow */
                continue;
            }
        } else if (n_collect < e->mem_collectors) {
            what += MEM_COLLECT - MEM_LATCH;
            at = collect(sm, &sm->mem[what / MEM_STAGES], now);
            due = min64(due, at > now ? at : UINT64_MAX); /* who was refused waits for another */
            n_collect++;
            e->n_latch--;
            sm_mem_latch_changed(sm, e);
        }
        *kept++ = (struct mem_step){at, what};
    }
    e->n_mem = (uint32_t)(kept - e->place);
    e->n_collect = n_collect;
    e->n_out = n_out;
    return due;
}

/* Divided SMs share the load/store unit: turn by turn. */
static __attribute__((noinline)) uint64_t parts_tick(struct sm *sm, uint64_t now, struct mem_turn *turn) {
    uint64_t due = UINT64_MAX;
    for (uint32_t k = 0; k < sm->n_parts; k++)
        due = min64(due, part_tick(sm, &sm->part[(now + k) % sm->n_parts], now, turn));
    return due;
}

bool sm_mem_tick(struct sm *sm, uint64_t now) {
    struct mem_turn turn = {false, false};
    sm->lsu_refused = false;
    sm->mem_due = sm->n_parts == 1 ? part_tick(sm, &sm->part[0], now, &turn) : parts_tick(sm, now, &turn);
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
    if (__builtin_expect(sm_state_has(sm, PATH_FENCE, w), 0) && last)
        sm_evaluate_all(sm, w, now);
}

bool sm_add_prefetcher(struct sm *sm, const struct prefetcher_ops *ops, void *ctx) {
    return lsu_add_prefetcher(sm->lsu, ops, ctx);
}

/* What models that switch and split want to hear of. */
static __attribute__((noinline, cold)) void take_notes(struct sm *sm, uint64_t now) {
    uint32_t tag;
    while (sm->wants.rotates && lsu_missed(sm->lsu, &tag))
        sm_missed(sm, tag, now);
    while (sm->wants.splits && lsu_known(sm->lsu, &tag))
        sm_load_known(sm, tag);
}

static __attribute__((noinline)) void take_rest(struct sm *sm, unsigned found, uint64_t now) {
    uint32_t tag, latency;
    while (found & LSU_STORES_ENDED && sm->hold_stores && lsu_stores_ended(sm->lsu, &tag))
        sm_warp_check_done(sm, tag, now);
    if ((found & LSU_FETCHED || fetch_waits(&sm->fetch)) && fetch_tick(&sm->fetch, now))
        sm_fetch_retry(sm);
    while (sm->n_parts > 1 && fetch_take(&sm->fetch, &tag, &latency))
        sm_fetch_arrived(sm, tag, latency, now);
}

void sm_lsu_take(struct sm *sm, unsigned found, uint64_t now) {
    uint32_t tag;
    bool missed;
    if (found & LSU_ACCESSES) {
        if (__builtin_expect(sm->wants.rotates | sm->wants.splits, 0))
            take_notes(sm, now);
        while (lsu_done(sm->lsu, &tag, &missed))
            access_done(sm, tag, missed, now);
    }
    if (__builtin_expect(found & ~LSU_ACCESSES || sm->n_parts > 1 || fetch_waits(&sm->fetch), 0))
        take_rest(sm, found, now);
    sm_lsu_due(sm, now);
    if (sm->lsu_refused && sm->mem_due > now)
        sm->mem_due = now; /* the unit may have room again */
}
