#ifndef TIMING_UNIT_TRACE_H
#define TIMING_UNIT_TRACE_H
/* The trace (timing/report/trace.h) as a unit: its state is a struct trace, whose events the GPU writes out. */
#include "timing/report/trace.h"
#include "unit.h"

/* The argument `ctx` of make(). */
struct trace_range {
    uint64_t from, to; /* cycles to trace: [from, to) */
    uint64_t shift;    /* number added to a cycle of the SM to get the cycle in the trace */
    uint32_t waits;    /* cycles of the shortest wait that gets a bar */
};
extern const struct sm_unit_ops unit_trace;
#endif
