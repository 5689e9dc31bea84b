/* The modern core: memory instructions from issue to the load/store unit. A sub-core buffers five instructions, and its
 * address unit takes one every four cycles. All sub-cores share an arbiter, which passes one instruction every two
 * cycles to the load/store unit. */
#include "memory_replies.h"
#include "modern.h"
#include "stages.h"
#include <string.h>

enum {
    ADDRESS_CYCLES = MODERN_TO_SHARED - MODERN_TO_LATCH, /* in the address unit */
    SHARED_CYCLES = 2                                    /* from one instruction to the next in the arbiter */
};

void modern_accepted(struct sm *sm, uint32_t inflight, uint64_t now) {
    modern_flies(sm, inflight, true, now);
    const uint32_t part = sm->in_flight.entry[inflight].part;
    sm->modern->flight[inflight].reads_reserved = true;
    sm->modern->mem_parts |= 1u << part;
    modern_hold(&sm->operands.part[part], now + 1);
}

/* Moves the oldest instruction of a sub-core into the latch of the address unit and reads its operands. */
static __attribute__((noinline)) void move_to_latch(struct sm *sm, uint32_t part, uint64_t now) {
    struct mem_step *s = sm->operands.part[part].mem.step;
    const uint32_t i = sm->memory.inst[s->what / MEM_STAGES].inflight;
    const struct inflight *f = &sm->in_flight.entry[i];
    uint64_t waits = modern_read_when_free(sm, part, f->warp, f->pc, now);
    struct modern_flight *mf = &sm->modern->flight[i];
    mf->has_read = now + modern_read_cycles(sm, f->pc) + waits;
    if (mf->read_counter || mf->reads_held) /* else nothing waits for the reads */
        wheel_add(&sm->wheel, mf->has_read, event_make(EVENT_READ, i));
    s->at = now + ADDRESS_CYCLES + waits;
    s->what += MEM_OUT - MEM_LATCH;
}

/* Calls move_to_latch() from the cycle on in which the oldest instruction can enter the latch. */
static inline void enter_latch(struct sm *sm, uint32_t part, uint64_t now) {
    const struct mem_queue *q = &sm->operands.part[part].mem;
    if (q->n && q->step->what % MEM_STAGES == MEM_LATCH && q->step->at <= now)
        move_to_latch(sm, part, now);
}

/* Returns bit `part` if the oldest instruction of the sub-core can go to the arbiter, else 0. If that instruction waits
 * for a later cycle, lowers *next to this cycle. */
static inline uint32_t look_at(const struct sm *sm, uint32_t part, uint64_t now, uint64_t *next) {
    const struct mem_queue *q = &sm->operands.part[part].mem;
    if (!q->n)
        return 0;
    const uint64_t at = q->step->at, what = q->step->what;
    *next = min64(*next, at > now ? at : UINT64_MAX);
    return (uint32_t)(at <= now && what % MEM_STAGES == MEM_OUT && !sm->memory.inst[what / MEM_STAGES].ordered) << part;
}

/* Returns the sub-core of `due` (bit mask) that is next, round-robin. */
static inline uint32_t next_turn(uint32_t turn, uint32_t due) {
    const uint32_t later = due >> turn << turn;
    return (uint32_t)__builtin_ctz(later ? later : due);
}

/* Sends the oldest instruction of a sub-core to the load/store unit. Returns false if it stays. */
static bool grant(struct sm *sm, uint32_t part, uint64_t now, struct mem_turn *turn) {
    struct sm_modern *m = sm->modern;
    struct mem_queue *q = &sm->operands.part[part].mem;
    const uint32_t i = (uint32_t)(q->step->what / MEM_STAGES);
    struct modern_flight *mf = &m->flight[sm->memory.inst[i].inflight];
    mf->granted = now;
    mf->space = sm->memory.inst[i].access.space;
    if (!sm_mem_dispatch(sm, &sm->memory.inst[i], now, turn))
        return false;
    memmove(q->step, q->step + 1, --q->n * sizeof *q->step);
    m->mem_parts &= ~((uint32_t)!q->n << part);
    sm_mem_left(sm, &sm->operands.part[part], i, now);
    m->turn = part + 1 < sm->operands.n_parts ? part + 1 : 0;
    m->grant_from = now + SHARED_CYCLES;
    enter_latch(sm, part, now);
    return true;
}

bool modern_mem_tick(struct sm *sm, uint64_t now) {
    struct mem_turn turn = {false, false};
    uint64_t next = UINT64_MAX;
    uint32_t due = 0; /* bit mask of the sub-cores whose oldest instruction can go to the arbiter */
    sm->memory.lsu_refused = false;
    for (uint32_t parts = sm->modern->mem_parts; parts; parts &= parts - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(parts);
        enter_latch(sm, k, now);
        due |= look_at(sm, k, now, &next);
    }
    if (due && now >= sm->modern->grant_from) {
        const uint32_t part = next_turn(sm->modern->turn, due);
        if (grant(sm, part, now, &turn))
            due = (due & ~(1u << part)) | look_at(sm, part, now, &next);
    }
    if (due && !sm->memory.lsu_refused) /* else sm_lsu_take() sets memory.due */
        next = min64(next, max64(now + 1, sm->modern->grant_from));
    sm->memory.due = next;
    return turn.ended;
}
