#ifndef ISA_CONTROL_USES_H
#define ISA_CONTROL_USES_H
/* Determines which registers an instruction uses, and how far apart two uses of a register must be. Control bits
 * (control_bits.h) are sufficient if they keep these distances. The pass that sets the bits and the two checkers of the
 * bits share these functions. */
#include "control_bits.h"
#include "program.h"

/* least cycles from the issue of a variable-latency instruction to its result */
enum { CONTROL_LEAST_QUEUED = 8 };

/* Cycles from an instruction of the uniform datapath to an instruction that reads its result: of the same datapath, of
 * another unit, and with a variable latency. Source: ptxas 13 for sm_75 and sm_86. */
enum { UNIFORM_LATENCY = 4, UNIFORM_TO_VECTOR = 6, UNIFORM_TO_QUEUED = 9 };

/* The least stall count of a jump, call, return, exit or BSYNC, whatever follows. Source: ptxas 13 for sm_75 to
 * sm_120. */
enum { CONTROL_JUMP_STALL = 5 };

/* The least number of cycles from one load from constant memory to the next. Source: ptxas 13 for sm_75 to sm_120. */
enum { CONTROL_CONSTANT_GAP = 8 };

/* How an instruction uses a register of bank 0. */
enum control_use { CONTROL_READS, CONTROL_GUARDED_BY, CONTROL_WRITES };
/* Returns the least number of cycles from the issue of a fixed-latency instruction that writes a register to the issue
 * of an instruction that uses this register: at most CONTROL_MAX_STALL; 0: no constraint. `predicate`: the register is
 * a predicate. */
unsigned control_distance(struct control_timing writer, struct control_timing user, enum control_use use,
                          bool predicate);
/* Calls `fn` for each register operand of an instruction, with its byte offset in bank 0: guard, sources, destinations.
 * `position` is 0, 1 or 2 for operand a, b or c, and 3 for any other operand. */
typedef void control_use_fn(void *ctx, uint32_t offset, enum control_use use, unsigned position);
void control_uses(const struct program *p, const struct inst *in, control_use_fn *fn, void *ctx);
/* Returns the bytes per lane of the register at `offset`; 0 for a predicate. */
unsigned control_register_bytes(const struct program *p, uint32_t offset);
/* Returns true for calls and returns. Such an instruction issues only when all earlier results have been written. */
static inline bool control_drains(const struct inst *in) { return in->kind == K_CALL || in->kind == K_RET; }
/* Returns true for loads from constant memory, which are CONTROL_CONSTANT_GAP apart. */
static inline bool control_loads_constant(const struct inst *in) {
    return in->kind == K_LOAD && in->space == SPACE_CONST;
}
/* Returns true if the stall count of the instruction is at least CONTROL_JUMP_STALL. */
static inline bool control_jumps(const struct inst *in) {
    return (in->kind >= K_BRANCH && in->kind <= K_EXIT) || in->kind == K_BSYNC;
}
#endif
