#ifndef FRONTEND_CONTROL_TABLE_H
#define FRONTEND_CONTROL_TABLE_H
/* The latencies that the passes for the modern core (core.kind=modern) assume. Sources: R. Huerta et al., MICRO 2025,
 * and the stall counts that ptxas writes for sm_86 (scripts/ptxas_control.py). */
#include "frontend/frontend.h"
#include "isa/control_bits.h"
#include "isa/decode.h"
#include "isa/program.h"

enum { CONTROL_GUARD_LATENCY = 13 }; /* cycles from a 32-bit comparison to an instruction with its predicate as guard */

/* The latencies of a machine, relative to the table. */
struct control_latencies {
    int more[N_LATENCIES]; /* by latency class: cycles by which latency.* exceeds the table's latency for 32 bits */
    int guard;             /* cycles by which core.guard_latency exceeds CONTROL_GUARD_LATENCY */
};

/* Reads the options latency.* and core.guard_latency of the machine. Without a machine, the latencies are those of the
 * table. */
void control_latencies_read(struct control_latencies *l, const struct pass_context *context);

/* Returns the unit and the latency of an instruction on a machine. The options latency.* apply to 32-bit instructions;
 * an instruction that the table makes slower, such as a 64-bit addition, changes by the same number of cycles.
 * `expansion`: enum expansion_id; the latency counts from the issue of the last machine instruction. */
struct control_timing control_timing_of(const struct control_latencies *l, const struct inst *in, uint8_t expansion);
/* Returns the timing of an instruction that the uniform datapath executes. */
struct control_timing control_uniform_timing(void);
/* Returns true if the unit has a fixed latency and writes results. */
static inline bool control_is_fixed(struct control_timing t) {
    return t.unit == CONTROL_ALU || t.unit == CONTROL_FMA || t.unit == CONTROL_UNIFORM;
}
/* Returns true if the special function units execute the instruction, a conversion. */
bool control_converts_apart(const struct isa_row *row);
/* assumed cycles of an instruction of variable latency that is no memory access */
enum { QUEUED_LATENCY = 20 };
/* cycles of a load from shared or local memory, or of a parameter, in the order of ptxas */
enum { LOAD_LATENCY = 37 };
/* Returns the cycles between the issue of the first and of the last machine instruction of an expansion, if nothing
 * else delays them. */
unsigned control_expansion_cycles(const struct control_latencies *l, uint8_t expansion);
#endif
