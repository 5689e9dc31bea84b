/* The modern core: how variable-latency instructions without a memory access reach their pipes. They pass the queue of
 * their sub-core (core.queue). All sub-cores may share one f64 pipe (core.f64_shared). */
#include "modern.h"
#include "stages.h"

static bool is_shared(const struct sm *sm, const struct timed_part *t) {
    return sm->cfg->core.f64_shared && t->pipe == PIPE_DP && t->op != CLASS_MMA;
}

/* Returns the first cycle in which the queue of the sub-core has room, as far as is known now. The entries leave in
 * order, so with a full queue the oldest entry makes room. */
static uint64_t queue_room(const struct sm *sm, uint32_t part) {
    const struct modern_queue *q = &sm->modern->part[part].queue;
    const uint32_t size = sm->cfg->core.queue;
    return size ? q->leaves[q->next % size] : 0;
}

uint64_t modern_queue_free(const struct sm *sm, uint32_t part, const struct timed_inst *ti) {
    return modern_is_variable(ti) && !(ti->flags & TIMED_MEMORY) ? queue_room(sm, part) : 0;
}

uint64_t modern_enter_queue(struct sm *sm, uint32_t part, const struct timed_part *t, uint64_t now, uint32_t *entry) {
    struct exec_part *e = &sm->operands.part[part];
    struct modern_queue *q = &sm->modern->part[part].queue;
    struct pipes *pipes = is_shared(sm, t) ? &sm->modern->f64 : &e->units[t->pipe];
    const uint32_t size = sm->cfg->core.queue, unit = pipes_earliest(pipes);
    const uint64_t from = size ? max64(now + MODERN_TO_PIPE, q->last + 1) : now + MODERN_TO_PIPE;
    const uint64_t enters = pipes_free(pipes, unit, from);
    pipes->n.waits += enters - now - MODERN_TO_PIPE;
    pipes_enter(pipes, unit, enters, t->initiation);
    *entry = q->next;
    if (size) {
        q->last = q->leaves[q->next++ % size] = enters;
        if (t->pipe == PIPE_SFU || t->pipe == PIPE_DP) /* only these pipes have no fixed-latency instructions */
            operands_full(e, t->pipe, queue_room(sm, part));
        return enters;
    }
    /* an instruction for the shared pipe waits in the latch of its sub-core, which holds one */
    const uint64_t next = is_shared(sm, t) ? enters + 1 : pipes->unit_free[pipes_earliest(pipes)];
    operands_full(e, t->pipe, next > MODERN_TO_PIPE ? next - MODERN_TO_PIPE : 0);
    return enters;
}

void modern_queue_waits(struct sm *sm, uint32_t part, uint32_t entry, uint64_t waits) {
    struct modern_queue *q = &sm->modern->part[part].queue;
    const uint32_t size = sm->cfg->core.queue;
    if (!size || !waits || q->next - entry > size)
        return;
    q->leaves[entry % size] += waits;
    for (uint32_t i = entry + 1; i != q->next; i++)
        q->leaves[i % size] = max64(q->leaves[i % size], q->leaves[(i - 1) % size] + 1);
    q->last = q->leaves[(q->next - 1) % size];
}
