/* The modern core: memory instructions from issue to the load/store unit, and their results. A sub-core buffers five
 * instructions. Its address unit takes one every four cycles, and the part that all sub-cores share takes one every
 * two. */
#include "memory_replies.h"
#include "modern.h"
#include "stages.h"
#include <string.h>

enum {
    ADDRESS_CYCLES = 4, /* in the address unit */
    TO_SHARED = MODERN_TO_LATCH + ADDRESS_CYCLES,
    SHARED_CYCLES = 2, /* from one instruction to the next in the shared part */
    TAIL = 1           /* least number of cycles from the last data of an access to their write-back */
};

/* Kinds of memory instructions with latencies of their own. */
enum memory_kind { GLOBAL_LOAD, GLOBAL_STORE, SHARED_LOAD, SHARED_STORE, CONSTANT_LOAD, COPY, N_MEMORY_KINDS };

/* Cycles from issue (Huerta et al., Table 2): `read`, until a source may be written; `result`, until a consumer may
 * issue if the access hits. By the address, in regular (0) or uniform registers or immediate (1), and by the size, 32,
 * 64 or 128 bits a lane. Results of 0: none. */
static const struct {
    uint8_t read[2][3], result[2][3];
} latency[N_MEMORY_KINDS] = {
    [GLOBAL_LOAD] = {{{11, 11, 11}, {9, 9, 9}}, {{32, 34, 38}, {29, 31, 35}}},
    [GLOBAL_STORE] = {{{14, 16, 20}, {10, 12, 16}}, {{32, 34, 38}, {29, 31, 35}}}, /* results: of atomics; assumed */
    [SHARED_LOAD] = {{{9, 9, 9}, {9, 9, 9}}, {{24, 24, 26}, {23, 23, 25}}},
    [SHARED_STORE] = {{{12, 14, 18}, {10, 12, 16}}, {{24, 24, 26}, {23, 23, 25}}},
    [CONSTANT_LOAD] = {{{29, 29, 29}, {10, 10, 10}}, {{29, 29, 29}, {26, 26, 26}}}, /* 128 bits: assumed */
    [COPY] = {{{13, 13, 13}, {13, 13, 13}}, {{39, 39, 39}, {39, 39, 39}}},
};

/* What decides the latencies of an instruction. */
struct memory_row {
    enum memory_kind kind;
    uint8_t uniform, size; /* size: log2 of 32-bit words a lane, at most 2 */
};

static struct memory_row row_of(const struct sm *sm, uint32_t pc, uint8_t space) {
    const struct inst *in = &sm->program->program->code[pc];
    const struct control_bits *c = modern_control(sm->modern, pc);
    const unsigned bytes = (in->n_list ? in->n_list : 1u) * in->rsize;
    const bool reads = in->kind == K_LOAD || in->kind == K_TEX || in->kind == K_PREFETCH;
    struct memory_row r = {.uniform = c && c->uniform, .size = bytes > 8 ? 2 : bytes > 4};
    if (in->kind == K_COPY)
        r.kind = COPY;
    else if (space == SPACE_CONST || space == SPACE_PARAM)
        r.kind = CONSTANT_LOAD;
    else if (space == SPACE_SHARED)
        r.kind = reads ? SHARED_LOAD : SHARED_STORE;
    else
        r.kind = reads ? GLOBAL_LOAD : GLOBAL_STORE;
    return r;
}

void modern_accepted(struct sm *sm, uint32_t inflight, uint64_t now) {
    struct exec_part *e = &sm->operands.part[sm->in_flight.entry[inflight].part];
    modern_flies(sm, inflight, true, now);
    sm->modern->flight[inflight].reads_reserved = true;
    for (int p = 0; p < N_PIPES; p++)
        e->takes[p] = max64(e->takes[p], now + 1);
    e->mem.hold = now + 1;
}

/* Moves the oldest instruction of a sub-core into the latch of the address unit, if it is there and the latch is free,
 * and reads its operands. */
static void enter_latch(struct sm *sm, uint32_t part, uint64_t now) {
    struct mem_queue *q = &sm->operands.part[part].mem;
    struct mem_step *s = q->step;
    if (!q->n || s->what % MEM_STAGES != MEM_LATCH || s->at > now)
        return;
    const uint32_t i = sm->memory.inst[s->what / MEM_STAGES].inflight;
    const struct inflight *f = &sm->in_flight.entry[i];
    const struct memory_row r = row_of(sm, f->pc, sm->program->program->code[f->pc].space);
    uint64_t waits = modern_read_when_free(sm, part, f->warp, f->pc, now);
    struct modern_flight *mf = &sm->modern->flight[i];
    mf->has_read = now + latency[r.kind].read[r.uniform][r.size] - MODERN_TO_LATCH + waits;
    wheel_add(&sm->wheel, mf->has_read, event_make(EVENT_READ, i));
    s->at = now + ADDRESS_CYCLES + waits;
    s->what += MEM_OUT - MEM_LATCH;
}

/* Returns true if the oldest instruction of a sub-core can go to the shared part. */
static bool is_due(const struct sm *sm, const struct mem_queue *q, uint64_t now) {
    return q->n && q->step->what % MEM_STAGES == MEM_OUT && q->step->at <= now &&
           !sm->memory.inst[q->step->what / MEM_STAGES].ordered;
}

/* Sends the next instruction, round-robin over the sub-cores, to the load/store unit. */
static void grant(struct sm *sm, uint64_t now, struct mem_turn *turn) {
    struct sm_modern *m = sm->modern;
    for (uint32_t k = 0; k < sm->operands.n_parts; k++) {
        uint32_t part = (m->turn + k) % sm->operands.n_parts;
        struct mem_queue *q = &sm->operands.part[part].mem;
        if (!is_due(sm, q, now))
            continue;
        const uint32_t i = (uint32_t)(q->step->what / MEM_STAGES);
        struct modern_flight *mf = &m->flight[sm->memory.inst[i].inflight];
        mf->granted = now;
        mf->space = sm->memory.inst[i].access.space;
        if (!sm_mem_dispatch(sm, &sm->memory.inst[i], now, turn))
            return;
        memmove(q->step, q->step + 1, --q->n * sizeof *q->step);
        sm_mem_left(sm, &sm->operands.part[part], i, now);
        m->turn = part + 1;
        m->grant_from = now + SHARED_CYCLES;
        enter_latch(sm, part, now);
        return;
    }
}

bool modern_mem_tick(struct sm *sm, uint64_t now) {
    struct mem_turn turn = {false, false};
    uint64_t due = UINT64_MAX;
    sm->memory.lsu_refused = false;
    for (uint32_t k = 0; k < sm->operands.n_parts; k++)
        enter_latch(sm, k, now);
    if (now >= sm->modern->grant_from)
        grant(sm, now, &turn);
    for (uint32_t k = 0; k < sm->operands.n_parts; k++) {
        const struct mem_queue *q = &sm->operands.part[k].mem;
        if (is_due(sm, q, now))
            due = min64(due, max64(now + 1, sm->modern->grant_from));
        else if (q->n && q->step->at > now)
            due = min64(due, q->step->at);
    }
    sm->memory.due = due;
    return turn.ended;
}

uint64_t modern_copy_ends(const struct modern_flight *mf) {
    return mf->granted + latency[COPY].result[0][0] - TO_SHARED;
}

uint64_t modern_returns(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct modern_flight *mf = &sm->modern->flight[inflight];
    struct modern_part *p = &sm->modern->part[f->part];
    const struct memory_row r = row_of(sm, f->pc, mf->space);
    const uint8_t(*result)[3] = latency[r.kind].result;
    if (!sm->program->inst[f->pc].regs.n_write)
        return max64(now, mf->has_read);
    uint64_t hit = mf->granted + result[r.uniform][r.size] - TO_SHARED;
    uint64_t late = now + TAIL + result[r.uniform][0] - result[1][0];
    uint64_t bus = p->returns_free + (2u << r.size); /* 512 bits a cycle */
    p->returns_free = max64(max64(hit, late), bus);
    return max64(p->returns_free, mf->has_read);
}
