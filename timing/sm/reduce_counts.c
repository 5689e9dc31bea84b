/* Sums over a warp on an SM: what each counts; timed.c says how long they take. */
#include "counting.h"
#include "isa/reduce.h"

void sm_count_reduce(struct sm *sm, uint32_t pc) {
    const struct program *p = sm->program->program;
    const struct program_reduce *r = reduce_of(p, &p->code[pc]);
    struct sm_reduce_counts *n = &sm->n.reduce;
    uint64_t lanes = (uint64_t)__builtin_popcount(sm->fx.lanes) * REDUCE_STEPS;
    n->instructions++;
    if (r->serial) {
        n->serial++;
        lanes = (uint64_t)__builtin_popcount(sm->fx.lanes) * r->serial;
    }
    if (sm->fx.taken) {
        n->saved += reduce_ladder(r) - 1;
        sm->n.op_lanes[CLASS_F32_ADD] += r->serial ? lanes : REDUCE_ADDERS;
        return;
    }
    n->fallbacks++;
    sm->n.op_lanes[CLASS_F32_ADD] += lanes;
    if (r->serial)
        return;
    sm->n.op_lanes[CLASS_SHFL] += lanes;
    sm->n.op_lanes[CLASS_INT] += (uint64_t)__builtin_popcount(sm->fx.lanes) * r->moves;
}
