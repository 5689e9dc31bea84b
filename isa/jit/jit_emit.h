#ifndef ISA_JIT_EMIT_H
#define ISA_JIT_EMIT_H
/* Writes x86-64 machine code into a buffer. Supports the instructions that isa/jit needs, without checks of operands.
 * Vector instructions are EVEX with 512 bits, or VEX with 256 (Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2, sections 2.3 and 2.7). When memory runs out, `full` is set and further output is dropped. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit {
    unsigned char *code; /* malloc'ed */
    size_t n, cap;
    bool full; /* out of memory: the buffer's contents are invalid */
    bool vex;  /* emit AVX2: 16 vector registers, no mask registers */
};

enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
/* Conditions of jumps. */
enum { IF_BELOW = 2, IF_NOT_BELOW = 3, IF_ZERO = 4, IF_NOT_ZERO = 5, IF_ABOVE = 7 };
/* Arithmetic operations on general registers. The values are the operation numbers in the opcodes. */
enum { ALU_ADD = 0, ALU_OR = 1, ALU_AND = 4, ALU_SUB = 5, ALU_XOR = 6, ALU_CMP = 7 };

/* Encodes a vector or mask instruction: opcode, map (1: 0F, 2: 0F38, 3: 0F3A), prefix (0: none, 1: 66, 2: F3, 3: F2),
 * W. If EVEX and VEX can both encode the instruction, the values are those of EVEX. VEX uses W only in maps 2 and 3,
 * and not with VECTOR_EVEX_W. */
#define VECTOR(map, prefix, w, opcode) ((uint32_t)(opcode) << 16 | (w) << 8 | (prefix) << 4 | (map))
#define VECTOR_128                     0x1000u /* 128 bits wide */
/* the instruction broadcasts one element; its memory operand is one element */
#define VECTOR_ELEMENT 0x2000u
#define VECTOR_EVEX_W  0x4000u /* W is set in the EVEX encoding only */

/* Memory at base + disp. */
struct place {
    enum gpr base;
    int32_t disp;
};
static inline struct place at(enum gpr base, int64_t disp) { return (struct place){base, (int32_t)disp}; }

/* Offset in the code of a jump's displacement, which emit_land() fills in. */
typedef size_t jump_t;

void emit_free(struct emit *e);
void emit_bytes(struct emit *e, const void *bytes, size_t n);
void emit_byte(struct emit *e, unsigned byte);

/* The operands have the manual's names reg, vvvv (`second`, 0 if unused) and r/m. Mask 1 to 7: only lanes of that mask
 * register are written; the others keep their value, or become 0 with `zero`. */
struct lanes {
    unsigned mask;
    bool zero;
};
void emit_vector(struct emit *e, uint32_t op, unsigned reg, unsigned second, unsigned third, struct lanes l);
/* Emits a vector instruction whose last operand is in memory. */
void emit_vector_mem(struct emit *e, uint32_t op, unsigned reg, unsigned second, struct place from, struct lanes l);
/* Gathers from base + disp + index[lane] bytes, for the lanes set in a mask register (with VEX: in a vector
 * register). */
void emit_vector_index(struct emit *e, uint32_t op, unsigned reg, struct place base, unsigned index, unsigned mask);
/* Emit mask instructions (VEX). Operands are k0 to k7, or general registers where the instruction has them. `wide`:
 * VEX.L. */
void emit_mask(struct emit *e, uint32_t op, bool wide, unsigned reg, unsigned second, unsigned third);
void emit_mask_mem(struct emit *e, uint32_t op, unsigned reg, struct place m);

/* Emit instructions on general registers. `wide`: 64 bits; else 32 bits, which zeroes the upper half. */
void emit_load(struct emit *e, bool wide, enum gpr to, struct place from);
void emit_store(struct emit *e, bool wide, struct place to, enum gpr from);
void emit_constant(struct emit *e, enum gpr to, uint64_t value);
void emit_alu(struct emit *e, unsigned alu, bool wide, enum gpr to, enum gpr from);
void emit_alu_mem(struct emit *e, unsigned alu, bool wide, enum gpr to, struct place from);
void emit_alu_imm(struct emit *e, unsigned alu, bool wide, enum gpr to, int32_t value);
/* Adds a constant or a register to the 64-bit word in memory at `place`. */
void emit_add_to(struct emit *e, struct place to, int32_t value);
void emit_add_gpr_to(struct emit *e, struct place to, enum gpr from);
void emit_mov(struct emit *e, enum gpr to, enum gpr from);
void emit_lea(struct emit *e, enum gpr to, struct place from);
void emit_not(struct emit *e, enum gpr r);
void emit_popcount(struct emit *e, enum gpr to, struct place from);
void emit_popcount_of(struct emit *e, enum gpr to, enum gpr from);
/* Memory at base + disp + index * scale; the index is not RSP. */
struct indexed {
    enum gpr base, index;
    unsigned scale; /* 1, 2, 4 or 8 */
    int32_t disp;
};
/* Load or store an element of 1, 2, 4 or 8 bytes. A load extends it to 64 bits, with its sign if `is_signed`. */
void emit_load_indexed(struct emit *e, unsigned bytes, bool is_signed, enum gpr to, struct indexed from);
void emit_store_indexed(struct emit *e, unsigned bytes, struct indexed to, enum gpr from);
/* Sets `to` to the number of the lowest bit that is set in a 32-bit register (tzcnt). */
void emit_first_bit(struct emit *e, enum gpr to, enum gpr from);
/* Prefetches the cache line at `p` into all caches of the host (prefetcht0). */
void emit_prefetch(struct emit *e, struct place p);
void emit_multiply(struct emit *e, enum gpr to, int32_t by);
/* Shifts a 32-bit register left. */
void emit_shift(struct emit *e, enum gpr r, unsigned by);
void emit_test_imm(struct emit *e, enum gpr r, uint32_t bits);
void emit_compare_byte(struct emit *e, struct place p, unsigned value);
/* Compares 32 bits in memory with a constant. */
void emit_compare(struct emit *e, struct place p, uint32_t value);
void emit_push(struct emit *e, enum gpr r);
void emit_pop(struct emit *e, enum gpr r);
void emit_call(struct emit *e, enum gpr r);
void emit_call_mem(struct emit *e, struct place p);
void emit_jump_gpr(struct emit *e, enum gpr r);
void emit_return(struct emit *e);
jump_t emit_jump_if(struct emit *e, unsigned condition);
void emit_jump_to(struct emit *e, size_t target);
void emit_jump_back_if(struct emit *e, unsigned condition, size_t target);
/* Makes the jump go to the current end of the code. */
void emit_land(struct emit *e, jump_t j);
#endif
