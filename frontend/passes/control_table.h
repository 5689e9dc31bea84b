#ifndef FRONTEND_CONTROL_TABLE_H
#define FRONTEND_CONTROL_TABLE_H
/* The latencies that the passes for the modern core (core.kind=modern) assume. Sources: R. Huerta et al., MICRO 2025,
 * and the stall counts that ptxas writes for sm_86 (scripts/ptxas_control.py). */
#include "isa/control_bits.h"
#include "isa/program.h"

enum { CONTROL_GUARD_LATENCY = 13 }; /* cycles from a 32-bit comparison to an instruction with its predicate as guard */

struct control_timing control_timing_of(const struct inst *in);
#endif
