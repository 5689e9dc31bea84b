/* Time and counts of a sum over a warp. */
#include "isa/fused.h"
#include "isa/machine/effects.h"
#include "mechanisms/fused_inst.h"
#include "reduce_parts.h"
#include "timing/config/config.h"
#include "timing/sm/compound_timing.h"

/* Returns the number of cycles from the result of an instruction until a dependent instruction has read the result as
 * an operand. */
static uint32_t between_instructions(const struct config *cfg) {
    return cfg->sm.latch_collect + cfg->sm.latch_dispatch + cfg->sm.latch_writeback + 2;
}

/* Returns the latency of a tree with `levels` levels. A sum takes the latency of an addition for each level. It
 * takes at least as long as a fused instruction with as many operations, because both use the same adders. */
static uint32_t tree_latency(const struct config *cfg, uint32_t levels) {
    const uint32_t adds = levels * cfg->latency[LAT_F32_ADD].latency;
    const uint32_t fused = fused_latency(cfg, levels < FUSED_LENGTH ? levels : FUSED_LENGTH);
    return adds > fused ? adds : fused;
}

/* Computes the times of a sum of one lane. The sum reads consecutive words of shared memory, adds them in the tree, and
 * adds the lane's start value at the end. In the fallback, the loads do not wait for each other, but the additions
 * do. */
static void time_serial(const struct program_reduce *r, const struct config *cfg, struct compound_time *t) {
    const struct latency_cfg *add = &cfg->latency[LAT_F32_ADD];
    const uint32_t tree =
        cfg->reduce.latency ? cfg->reduce.latency + add->latency : tree_latency(cfg, reduce_levels(r));
    t->latency = cfg->lsu.shared_latency + tree;
    t->fallback_latency = cfg->lsu.shared_latency + r->serial * (add->latency + between_instructions(cfg));
    t->fallback_initiation = r->serial * add->initiation + r->moves;
}

/* Computes the times of a sum over lanes. The tree has a level for each step of the ladder. The fallback takes the time
 * of the ladder's instructions, each of which waits for the previous instruction. */
static void time_of(const void *what, const struct config *cfg, struct compound_time *t) {
    const struct program_reduce *r = what;
    const struct latency_cfg *add = &cfg->latency[LAT_F32_ADD], *shuffle = &cfg->latency[LAT_SHFL],
                             *move = &cfg->latency[LAT_INT_OTHER];
    /* cycles until another lane's value arrives */
    const uint32_t exchange = r->tree ? cfg->lsu.shared_latency : shuffle->latency;
    const uint32_t n = REDUCE_STEPS, m = r->moves;
    if (r->serial) {
        time_serial(r, cfg, t);
        return;
    }
    t->latency = cfg->reduce.latency ? cfg->reduce.latency : tree_latency(cfg, n);
    t->fallback_latency =
        n * (add->latency + exchange) + m * move->latency + (2 * n + m - 1) * between_instructions(cfg);
    t->fallback_initiation = n * (add->initiation + shuffle->initiation) + m * move->initiation;
}

/* Counts the additions of the tree, or the operations of the fallback. */
static void count(const void *what, const struct effects *fx, struct sm_counts *n) {
    const struct program_reduce *r = what;
    const uint64_t lanes = lanes_count(fx->lanes);
    const uint64_t additions = lanes * (r->serial ? r->serial : REDUCE_STEPS);
    n->reduce.instructions++;
    n->reduce.serial += r->serial != 0;
    if (fx->taken) {
        n->reduce.saved += reduce_ladder(r) - 1;
        n->op_lanes[CLASS_F32_ADD] += r->serial ? additions : REDUCE_ADDERS;
        return;
    }
    n->reduce.fallbacks++;
    n->op_lanes[CLASS_F32_ADD] += additions;
    if (r->serial)
        return;
    n->op_lanes[CLASS_SHFL] += additions;
    n->op_lanes[CLASS_INT] += lanes * r->moves;
}

const struct compound_timing reduce_timing = {.time = time_of, .count = count};
