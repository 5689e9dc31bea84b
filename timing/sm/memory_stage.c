/* Memory instructions between issue and the load/store unit. */
#include "memory_stage.h"
#include "isa/arith.h"
#include "isa/decode.h"
#include "isa/machine/lazy.h"
#include "isa/walk.h"
#include "issue_slots.h"
#include "memory_replies.h"
#include "stages.h"
#include "timing/mem/shared_banks.h"
#include <assert.h>
#include <string.h>

/* Where local memory begins in the timing model's address space: above all device addresses of programs. */
#define LOCAL_TIMING_BASE   (1ull << 44)
#define CONTEXT_TIMING_BASE (1ull << 45) /* start of the local memory of contexts, for any storage order */
#define CONTEXT_TIMING_STEP (1ull << 30)

bool memory_init(struct sm_memory *m) {
    m->inst = lazy_new(MEM_QUEUE * sizeof *m->inst);
    m->due = UINT64_MAX;
    for (uint32_t i = 0; i < MEM_QUEUE; i++)
        m->free[m->n_free++] = (uint8_t)i;
    return m->inst != NULL;
}

void memory_free(struct sm_memory *m) {
    lazy_free(m->inst);
    held_free(&m->held);
}

uint64_t sm_local_base(const struct sm *sm, uint32_t w) {
    const uint64_t lanes = sm->cfg->sm.warp_size, bytes = round_up(sm->warps.slot[w].w->local_bytes, 4) * lanes;
    if (sm->warps.slot[w].context)
        return CONTEXT_TIMING_BASE +
               ((uint64_t)sm->id * MAX_CONTEXTS + w - sm_warp_slots(&sm->cfg->sm)) * CONTEXT_TIMING_STEP;
    if (sm->cfg->lsu.local_map == LOCAL_BY_WORD) /* storage order: one CTA slot of all SMs, then the next CTA slot */
        return LOCAL_TIMING_BASE +
               4 * lanes * sm->ctas.warps_each * (sm->id + (uint64_t)sm->cfg->gpu.sms * sm->warps.slot[w].cta) +
               4 * lanes * sm->warps.slot[w].w->index;
    return LOCAL_TIMING_BASE +
           ((uint64_t)sm->id * round_up(sm_warp_slots(&sm->cfg->sm), 64) + w) * round_up(bytes, 4096);
}

/* Updates e->takes, after the room in the issue latch or in the table of memory instructions changed. */
static inline void latch_changed(struct sm *sm, struct exec_part *e) {
    bool room = e->mem.n_latch < e->mem.room && sm->memory.n_free;
    e->takes[PIPE_MEM] = room ? e->mem.hold : UINT64_MAX;
}

/* Moves an instruction into a collector unit. Returns the cycle at which the instruction may leave the unit. Not
 * inline, to keep the caller's loop small. */
static __attribute__((noinline)) uint64_t collect(struct sm *sm, struct mem_inst *m, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[m->inflight];
    const struct sm_form *form = in_flight_form(&sm->in_flight, m->inflight);
    const struct timed_inst *ti = form ? &form->ti : &sm->program->inst[f->pc];
    const uint64_t reads = now + (sm->operands.shared ? 0 : 1);
    uint64_t there = operands_read(&sm->operands, f->part, f->warp, ti, form, reads);
    if (__builtin_expect(sm->joint.merged != 0, 0))
        there = max64(there, joint_collect(sm, m->inflight, now + 1));
    if (__builtin_expect(!m->ordered, 1))
        return there;
    m->collected = there;
    return UINT64_MAX;
}

/* Sets the access of a copy. The access reads memory for the lanes that read data. It then occupies the shared-memory
 * banks for all lanes. If no lane reads data, the access only writes zeros to shared memory. */
static __attribute__((noinline, cold)) void take_copy(const struct sm *sm, struct mem_inst *m) {
    const struct effects *fx = &sm->fx;
    struct lsu_access *a = &m->access;
    a->kind = MEM_READ;
    if (fx->fetched) {
        const struct shared_banks banks = shared_banks_of(sm->cfg);
        a->lanes = fx->fetched;
        a->fill = (uint8_t)shared_cycles(&banks, fx->to, fx->lanes, fx->msize);
        return;
    }
    memcpy(m->addr, fx->to, sizeof m->addr);
    a->halves.shape = SHAPE_ANY;
    a->kind = MEM_WRITE;
    a->space = SPACE_SHARED;
}

/* Sets the local-memory fields of an access. */
static __attribute__((noinline, cold)) void take_local(const struct sm *sm, struct lsu_access *a) {
    a->local_base = sm_local_base(sm, a->warp);
    a->local_stride = sm->memory.local_stride;
}

static inline bool is_walk(const struct inst *in) { return __builtin_expect(in->cache_op == CACHE_WALK, 0); }

/* Sets the host addresses of the lists that the lanes of a heddle.walk read. The execution of the instruction has
 * checked the lists. */
static __attribute__((noinline, cold)) void take_walk(const struct sm *sm, struct mem_inst *m) {
    const struct memory *memory = sm->launch->memory;
    m->access.halves.shape = SHAPE_ANY;
    for (lanemask_t left = m->access.lanes; left; left &= left - 1) {
        unsigned l = lanes_first(left);
        struct walk_record r = {.list = 0};
        mem_read(memory, sm->fx.addr[l], &r, sizeof r);
        const struct allocation *a = mem_find(memory, r.list, sizeof(uint64_t), NULL);
        m->addr[l] = (uintptr_t)(a->host + (r.list - a->begin));
    }
}

/* Returns true for test_wait and try_wait of an mbarrier: of the mbarrier operations, only these write a predicate.
 * They only read memory, so lanes with the same address share one pass over the banks [est]. */
static bool only_reads(const struct inst *in) {
    uint32_t n;
    return in->d != OPND_SINK && !in->dsize && isa_rows(&n)[in->row].op == OP_MBARRIER;
}

/* Sets up the access field by field, because an assignment of the whole struct would also clear all other bytes. */
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
    if (in->kind == K_ATOM && only_reads(in))
        a->kind = MEM_READ;
    a->n_elems = fx->n_elems;
    a->msize = fx->msize;
    a->shared_lanes = fx->shared_lanes;
    a->local_lanes = fx->local_lanes;
    a->halves = fx->halves;
    a->addr = m->addr;
    a->fill = 0;
    a->warp = (uint16_t)w;
    a->unlock = sm->memory.unlock;
    a->pc = pc;
    a->tag = m->inflight;
    m->skip = a->lanes ? MEM_ACCESS : MEM_SKIP;
    if (__builtin_expect(fx->halves.shape == SHAPE_ANY, 0))
        memcpy(m->addr, fx->addr, fx->lanes >> WARP_LANES ? sizeof m->addr : WARP_LANES * sizeof *m->addr);
    if (__builtin_expect(fx->local_lanes || fx->space == SPACE_LOCAL, 0))
        take_local(sm, a);
    if (__builtin_expect(in->kind == K_COPY, 0))
        take_copy(sm, m);
    if (is_walk(in))
        take_walk(sm, m);
}

/* Notifies all parts that the table of memory instructions has become full, or is no longer full. */
static __attribute__((noinline, cold)) void room_changed(struct sm *sm, uint64_t now) {
    if (!sm->memory.n_free)
        in_flight_scarce(&sm->in_flight, now);
    for (uint32_t i = 0; i < sm->operands.n_parts; i++)
        latch_changed(sm, &sm->operands.part[i]);
}

/* Gives the memory instruction of step `p` a collector unit, or returns false. `n_collect` other memory instructions
 * have units. */
static inline bool gets_unit(struct sm *sm, struct exec_part *e, const struct mem_step *p, uint32_t n_collect,
                             uint64_t now) {
    if (__builtin_expect(!sm->operands.shared, 1))
        return n_collect < e->mem.collectors;
    return shared_collectors_take(sm, e, sm->memory.inst[p->what / MEM_STAGES].inflight, now);
}

/* Moves the newest instruction of a part into a collector unit in the cycle of its issue (collector.latch=0), if a unit
 * is free and no older instruction waits for one. Otherwise the instruction waits until the next cycle, since the
 * memory stage has already run in this cycle. Returns the cycle of the instruction's next step. */
static __attribute__((noinline)) uint64_t skip_latch(struct sm *sm, struct exec_part *e, uint64_t now) {
    struct mem_step *newest = &e->mem.step[e->mem.n - 1];
    newest->at = now + 1;
    if (e->mem.n_latch == 1 && gets_unit(sm, e, newest, e->mem.n_collect, now)) {
        newest->at = collect(sm, &sm->memory.inst[newest->what / MEM_STAGES], now);
        newest->what += MEM_COLLECT - MEM_LATCH;
        e->mem.n_collect++;
        e->mem.n_latch--;
    }
    return newest->at;
}

uint32_t sm_mem_accept(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t inflight, bool ordered,
                       uint64_t now) {
    struct exec_part *e = &sm->operands.part[part];
    uint32_t i = sm->memory.free[--sm->memory.n_free];
    if (!sm->memory.n_free)
        room_changed(sm, now);
    struct mem_inst *m = &sm->memory.inst[i];
    uint64_t at = now + e->mem.latch;
    m->inflight = inflight;
    m->ordered = ordered;
    m->collected = UINT64_MAX;
    e->mem.step[e->mem.n++] = (struct mem_step){.at = at, .what = i * MEM_STAGES + MEM_LATCH};
    e->mem.n_latch++;
    if (__builtin_expect(at == now, 0))
        at = skip_latch(sm, e, now);
    latch_changed(sm, e);
    if (sm->model.wants.splits)
        sm_load_issued(sm, inflight);
    if (!ordered)
        take_addresses(sm, m, w, pc);
    if (at < sm->memory.due)
        sm->memory.due = at;
    return i;
}

void sm_mem_performed(struct sm *sm, uint32_t mem, uint64_t now) {
    struct mem_inst *m = &sm->memory.inst[mem];
    const struct inflight *f = &sm->in_flight.entry[m->inflight];
    take_addresses(sm, m, f->warp, f->pc);
    if (sm->remote)
        remote_take(sm, m);
    m->ordered = false;
    struct mem_step *p = sm->operands.part[f->part].mem.step;
    while (p->what / MEM_STAGES != mem)
        p++;
    if (p->what % MEM_STAGES == MEM_COLLECT)
        p->at = m->collected;
    if (now < sm->memory.due)
        sm->memory.due = now;
}

/* Moves an instruction out of the dispatch latch. Returns false if the load/store unit cannot accept the instruction.
 * The memory stage tries again after the unit's next tick (sm_memory.lsu_refused). */
static inline __attribute__((always_inline)) bool dispatch(struct sm *sm, struct mem_inst *m, uint64_t now,
                                                           struct mem_turn *turn) {
    if (__builtin_expect(m->skip, 0)) {
        if (m->skip == MEM_REMOTE)
            return remote_send(sm, m, now, turn);
        sm_account(sm, now);
        sm_access_done(sm, m->inflight, false, now);
        turn->ended = true;
        return true;
    }
    if (turn->lsu_used | sm->memory.reserved || !lsu_can_accept(sm->lsu) ||
        (is_walk(m->access.inst) && !lsu_can_walk(sm->lsu))) {
        sm->memory.lsu_refused |= !turn->lsu_used;
        return false;
    }
    lsu_accept(sm->lsu, &m->access, now);
    sm->memory.accepted++;
    turn->lsu_used = true;
    /* only now is it known in which cycle the load/store unit has work for this access */
    uint64_t next = lsu_status(sm->lsu)->next;
    sm->status.lsu_due = min64(sm->status.lsu_due, next > now ? next : now + 1);
    return true;
}

bool sm_mem_dispatch(struct sm *sm, struct mem_inst *m, uint64_t now, struct mem_turn *turn) {
    return dispatch(sm, m, now, turn);
}

static void free_inst(struct sm *sm, uint32_t mem, uint64_t now) {
    sm->memory.free[sm->memory.n_free++] = (uint8_t)mem;
    if (sm->memory.n_free == 1)
        room_changed(sm, now);
}

void sm_mem_left(struct sm *sm, struct exec_part *e, uint32_t mem, uint64_t now) {
    free_inst(sm, mem, now);
    e->mem.n_latch--;
    latch_changed(sm, e);
}

/* Moves the instructions of one part, the oldest first. So an instruction can move into an entry that an older
 * instruction leaves in the same cycle. Returns the next cycle with known work. Each step and each count is stored
 * once, with a single host store: a wide read of data that several small stores have just written would stall the
 * host's pipeline. */
static inline uint64_t part_tick(struct sm *sm, struct exec_part *e, uint64_t now, struct mem_turn *turn) {
    const struct sm_cfg *cfg = &sm->cfg->sm;
    const uint32_t ports = cfg->pipe[PIPE_MEM].out_ports;
    uint32_t out = 0; /* number of instructions that entered the dispatch latch in this cycle */
    uint32_t n_collect = e->mem.n_collect, n_out = e->mem.n_out;
    uint64_t due = UINT64_MAX;
    struct mem_step *kept = e->mem.step, *end = kept + e->mem.n;
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
                if (__builtin_expect(sm->operands.shared != NULL, 0))
                    shared_collectors_leave(sm, e);
                due = min64(due, at > now ? at : now + 1); /* the load/store unit has already run in this cycle */
            }
        } else if (what % MEM_STAGES == MEM_OUT) {
            if (dispatch(sm, &sm->memory.inst[what / MEM_STAGES], now, turn)) {
                n_out--;
                free_inst(sm, (uint32_t)(what / MEM_STAGES), now);
                due = now + 1; /* an instruction that found no room in this cycle may move in the next cycle */
                continue;
            }
        } else if (gets_unit(sm, e, p, n_collect, now)) {
            what += MEM_COLLECT - MEM_LATCH;
            at = collect(sm, &sm->memory.inst[what / MEM_STAGES], now);
            due = min64(due, max64(at, now + 1));
            n_collect++;
            e->mem.n_latch--;
            latch_changed(sm, e);
        }
        *kept++ = (struct mem_step){at, what};
    }
    e->mem.n = (uint32_t)(kept - e->mem.step);
    e->mem.n_collect = n_collect;
    e->mem.n_out = n_out;
    return due;
}

/* Runs the memory stages of all parts of a divided SM, round-robin, because the parts share the load/store unit. */
static __attribute__((noinline)) uint64_t parts_tick(struct sm *sm, uint64_t now, struct mem_turn *turn) {
    uint64_t due = UINT64_MAX;
    for (uint32_t k = 0; k < sm->operands.n_parts; k++)
        due = min64(due, part_tick(sm, &sm->operands.part[(now + k) % sm->operands.n_parts], now, turn));
    return due;
}

/* Does the same as sm_mem_tick() for shared collectors. Returns true if any instruction moved out of a latch or to a
 * pipe, since then the rest of the SM has work. */
static __attribute__((noinline)) bool shared_tick(struct sm *sm, uint64_t now, struct mem_turn *turn) {
    turn->ended |= shared_collectors_tick(sm, BEFORE_MEMORY, now);
    sm->memory.due = parts_tick(sm, now, turn);
    turn->ended |= shared_collectors_tick(sm, AFTER_MEMORY, now);
    turn->ended |= shared_collectors_tick(sm, SECOND_STEP, now);
    if (shared_collectors_wait(sm))
        sm->memory.due = min64(sm->memory.due, now + 1);
    return turn->ended;
}

bool sm_mem_tick(struct sm *sm, uint64_t now) {
    struct mem_turn turn = {false, false};
    sm->memory.lsu_refused = false;
    if (__builtin_expect(sm->operands.shared != NULL, 0))
        return shared_tick(sm, now, &turn);
    sm->memory.due =
        sm->operands.n_parts == 1 ? part_tick(sm, &sm->operands.part[0], now, &turn) : parts_tick(sm, now, &turn);
    return turn.ended;
}
