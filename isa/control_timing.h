#ifndef ISA_CONTROL_TIMING_H
#define ISA_CONTROL_TIMING_H
/* Latencies of the modern core (core.kind=modern), which its compiler must know: control bits make a consumer wait.
 * One table serves the pass that sets the bits and the checker that tests them. Sources: R. Huerta et al., MICRO 2025,
 * and the stall counts that ptxas writes for sm_86 (scripts/ptxas_control.py). */
#include "program.h"

enum control_unit {
    CONTROL_ALU,    /* fixed latency: logic, additions and comparisons of integers */
    CONTROL_FMA,    /* fixed latency: multiplications, and floating point of up to 32 bits */
    CONTROL_FLOW,   /* no result: branches, barriers, fences */
    CONTROL_QUEUED, /* variable latency: counters say when operands are read and results are written */
};
enum {
    CONTROL_GUARD_LATENCY = 13, /* cycles from a 32-bit comparison to an instruction with its predicate as guard */
    CONTROL_LEAST_QUEUED = 8,   /* least cycles from the issue of a variable-latency instruction to its result */
};

struct control_timing {
    uint8_t unit;    /* enum control_unit */
    uint8_t latency; /* of a fixed-latency result: least cycles between issue and the issue of a consumer in the unit */
    uint8_t guard;   /* the same if the result is a predicate and the consumer's guard */
};
struct control_timing control_timing_of(const struct inst *in);

/* How an instruction uses a register of bank 0. */
enum control_use { CONTROL_READS, CONTROL_GUARDED_BY, CONTROL_WRITES };
/* Least cycles from the issue of a fixed-latency instruction that writes a register to the issue of an instruction that
 * uses it. `predicate`: the register is a predicate. At most CONTROL_MAX_STALL; 0: no constraint. */
unsigned control_distance(struct control_timing writer, struct control_timing user, enum control_use use,
                          bool predicate);
/* Calls `fn` for each register operand of an instruction, with its byte offset in bank 0: guard, sources, destinations.
 * Position: 0 to 2 for operands a, b, c; 3 for others. */
typedef void control_use_fn(void *ctx, uint32_t offset, enum control_use use, unsigned position);
void control_uses(const struct program *p, const struct inst *in, control_use_fn *fn, void *ctx);
/* Returns the bytes per lane of the register at `offset`; 0 for a predicate. */
unsigned control_register_bytes(const struct program *p, uint32_t offset);
/* Returns true for calls and returns. Such an instruction issues only when all earlier results have been written. */
static inline bool control_drains(const struct inst *in) { return in->kind == K_CALL || in->kind == K_RET; }
#endif
