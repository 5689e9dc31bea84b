#ifndef TIMING_SM_COMPOUND_TIMING_H
#define TIMING_SM_COMPOUND_TIMING_H
/* The time and the counts of a compound instruction (isa/compound.h). Its mechanism defines them and
 * compound_ops.timing points to them. Otherwise the SM issues, reads, executes and writes a compound instruction as any
 * other one. */
#include "sm_counts.h"

struct effects;

/* All in cycles, but for the last. */
struct compound_time {
    uint32_t latency, initiation;
    /* The time where the instruction leaves effects.taken 0: its hardware does not suit the lanes at hand, so that it
     * costs as much as the instructions that it replaces. Both 0: `latency` and `initiation` hold everywhere. */
    uint32_t fallback_latency, fallback_initiation;
    uint8_t read_ports; /* operands a cycle beyond those of a collector unit */
};

struct compound_timing {
    /* Sets the time of the instruction with the data `what` (program_compound.what). On entry latency and initiation
     * are those of its latency class, the rest is 0. NULL: the time of its class. */
    void (*time)(const void *what, const struct config *cfg, struct compound_time *t);
    /* Adds one execution with the effects `fx` to the lanes of each class (op_lanes) and to the mechanism's own
     * counters. NULL: the lanes count as the instruction's latency class. */
    void (*count)(const void *what, const struct effects *fx, struct sm_counts *n);
};
#endif
