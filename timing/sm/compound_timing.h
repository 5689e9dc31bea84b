#ifndef TIMING_SM_COMPOUND_TIMING_H
#define TIMING_SM_COMPOUND_TIMING_H
/* The time and the counts of a compound instruction (isa/compound.h). The mechanism that adds the instruction
 * defines them, and compound_ops.timing points to them. In all other respects the SM treats a compound instruction
 * like any other instruction. */
#include "sm_counts.h"

struct effects;

/* All fields except `read_ports` are in cycles. */
struct compound_time {
    uint32_t latency, initiation;
    /* The time of an execution that leaves effects.taken at 0. This means that the hardware cannot handle the active
     * lanes, so the instruction costs as much as the instructions that it replaces. If both fields are 0, `latency`
     * and `initiation` always apply. */
    uint32_t fallback_latency, fallback_initiation;
    uint8_t read_ports; /* operands read per cycle in addition to the reads of a collector unit */
};

struct compound_timing {
    /* Sets the time of the compound instruction. `what` is its data (program_compound.what). On entry `latency` and
     * `initiation` have the values of the instruction's latency class, and the other fields are 0. NULL: the time of
     * the latency class applies. */
    void (*time)(const void *what, const struct config *cfg, struct compound_time *t);
    /* Adds one execution with the effects `fx` to the lanes of each class (op_lanes) and to the mechanism's own
     * counters. NULL: the lanes count for the instruction's latency class. */
    void (*count)(const void *what, const struct effects *fx, struct sm_counts *n);
};
#endif
