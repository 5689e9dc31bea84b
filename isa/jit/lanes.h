#ifndef ISA_JIT_LANES_H
#define ISA_JIT_LANES_H
/* Lane operations that AVX-512 and AVX2 implement differently: masks, halves of a vector, gathers, and operations that
 * AVX2 lacks. These functions only emit instructions. They do not use the compiler's tables of side exits
 * and of lines. A line is a part of a warp register that fits one vector register (compile.h).
 *
 * Vector registers 0 to 3 are scratch and never hold a line. Mask m is 1 or 2. With AVX-512 mask m is a mask
 * register. With AVX2 it is vector register 4 (m = 1, which then holds no line) or 3 (m = 2), and all bits of a
 * lane are equal. A mask is valid until the next line_get() or line_new(). */
#include "jit.h"
#include "vector_ops.h"

/* Contents of the general registers while native code runs. RAX, RCX, RDX, RSI and RDI are scratch; R8 to R11, R14 and
 * R15 hold the host addresses of groups. */
#define BANK0  RBX
#define FRAME  RBP
#define BANK1  R12
#define TABLES R13

static inline struct place frame_at(size_t offset) { return at(FRAME, (int64_t)offset); }
static inline struct place table_at(size_t offset) { return at(TABLES, (int64_t)offset); }
static inline struct place operand_at(opnd_t o, unsigned offset) {
    return at(o & 1 ? BANK1 : BANK0, (o >> 1) + offset);
}

/* Emits vzeroupper. Code without AVX is slow after AVX code that left upper halves set. */
void lanes_zero_upper(struct emit *e);
/* Returns the vector registers that may hold lines, one bit each. */
uint32_t lanes_line_registers(const struct emit *e);
/* Emits d = result of the operation on a and b. An operation with one source uses b. Operations that AVX2 lacks are
 * emulated. Uses vector registers 2 and 3 before it writes d. */
void lanes_op(struct emit *e, uint32_t op, unsigned d, unsigned a, unsigned b);
/* Emits d = ~a. */
void lanes_not(struct emit *e, unsigned d, unsigned a);
/* Emits the truth table of d, a and b, into d. AVX-512 only. */
void lanes_logic(struct emit *e, unsigned d, unsigned a, unsigned b, unsigned table);
/* Emits d |= a ^ b. Uses vector register 2, which may be a. */
void lanes_or_difference(struct emit *e, unsigned d, unsigned a, unsigned b);
/* Emits code that sets the lower half of d to the upper half of v. */
void lanes_upper_half(struct emit *e, unsigned d, unsigned v);
/* Emits code that sets d to the lower half of `low`, below the lower half of `high`. */
void lanes_join_halves(struct emit *e, unsigned d, unsigned low, unsigned high);
/* Emits d = lower words of the 64-bit elements of `low` and `high`. Uses vector registers 1 and 2. */
void lanes_narrow(struct emit *e, unsigned d, unsigned low, unsigned high);
/* Copies a general register to all lanes of d. `wide`: the lanes have 64 bits, not 32. */
void lanes_broadcast(struct emit *e, bool wide, unsigned d, enum gpr from);
/* Loads lane l of d from p + index[l]. `partial`: only the active lanes of line i, with elements of `size` bytes.
 * Uses mask 1. d must be neither vector register 3 nor the index. */
void lanes_gather(struct emit *e, uint32_t op, unsigned d, struct place p, unsigned index, bool partial, unsigned i,
                  unsigned size);
/* Emits code that sets mask m to the result of a float comparison; `how` is the predicate number of vcmpps. */
void lanes_compare(struct emit *e, uint32_t op, unsigned m, unsigned a, unsigned b, unsigned how);
/* Copies elements of v to d where mask m is set. */
void lanes_merge(struct emit *e, unsigned m, unsigned d, unsigned v);
/* Emits d = `yes` where predicate p is set, else `no`, for line i with elements of `size` bytes. Uses mask 1. */
void lanes_select(struct emit *e, unsigned d, unsigned yes, unsigned no, opnd_t p, unsigned i, unsigned size);
/* Compares line i; call it from the last line down to line 0. After line 0, EAX has a bit for each lane of the warp.
 * Uses RCX and vector registers 1 to 3. */
void lanes_compare_line(struct emit *e, uint32_t op, unsigned how, unsigned i, unsigned lines, unsigned a, unsigned b);
/* Emits code that sets EAX to a mask of 32 lanes. Mask register 1 + i has the lanes of line i. There are
 * `lines` lines. AVX-512 only. */
void lanes_join_masks(struct emit *e, unsigned lines);
/* Emits code that sets d to the active lanes of v, and its other lanes to 0. AVX-512 only. Uses mask 3. */
void lanes_keep_active(struct emit *e, unsigned d, unsigned v, unsigned i);
/* Emits code that sets mask m to the active lanes of line i with elements of `size` bytes. */
void lanes_active(struct emit *e, unsigned m, unsigned i, unsigned size);
/* Emits code that sets mask m to the lanes of line i whose predicate p is set, for elements of `size` bytes. */
void lanes_of_predicate(struct emit *e, unsigned m, opnd_t p, unsigned i, unsigned size);
/* Stores the active lanes of v. The other lanes of v get the values in memory. Overwrites mask 1 with AVX2, and the
 * processor's mask register 6 with AVX-512. */
void lanes_store_active(struct emit *e, unsigned v, struct place p, unsigned i, unsigned size);
/* Emits d |= v in the active lanes, or, if not `partial`, in all lanes. Uses mask 1 and vector register 2, which may be
 * v. */
void lanes_or_active(struct emit *e, bool partial, unsigned d, unsigned v, unsigned i, unsigned size);
/* lanes_test_any() emits code that clears the processor's zero flag if a bit of v is set. lanes_test_nan() emits code
 * that clears it if an active lane of n f64 vectors (n is even) has a NaN. */
void lanes_test_any(struct emit *e, unsigned v);
void lanes_test_nan(struct emit *e, bool partial, const unsigned *v, unsigned n);
/* Emits d = v, where zeros replace subnormals of f32 and keep their signs. Overwrites mask 1 with AVX-512, and, if d is
 * v, vector register 3 with AVX2. */
void lanes_flush(struct emit *e, unsigned d, unsigned v);
/* Replaces each NaN of an f32 vector by the canonical one. Overwrites mask 1 with AVX2, and the processor's mask
 * register 7 with AVX-512. */
void lanes_canonical_nan(struct emit *e, unsigned v);
#endif
