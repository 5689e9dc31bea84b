#ifndef TEST_ISA_ASM_H
#define TEST_ISA_ASM_H
/* Builds programs from single instructions, so that tests of isa/ do not need the front end. Registers and constants
 * are allocated as operands. Opcodes are decoded from their text. All arrays have fixed sizes. */
#include "isa/decode.h"
#include "isa/interp/interp.h"

enum { ASM_CODE = 256, ASM_LISTS = 512, ASM_BANK = 64 * 1024, ASM_FUNCTIONS = 8 };

struct asm_program {
    struct program p;
    struct inst code[ASM_CODE];
    struct inst_info info[ASM_CODE];
    struct program_function functions[ASM_FUNCTIONS];
    struct program_stream stream;
    opnd_t lists[ASM_LISTS];
    struct special_init specials[32];
    _Alignas(64) unsigned char constants[ASM_BANK];
};

/* Creates a program of one function, the kernel. */
struct asm_program *asm_new(void);
void asm_free(struct asm_program *a);
/* Allocates a register of `bytes` bytes per lane. 0: a predicate. */
opnd_t asm_reg(struct asm_program *a, unsigned bytes);
/* Allocates a 32-bit register that contains a special register's value at the start. */
opnd_t asm_special(struct asm_program *a, enum special s);
/* Allocates a constant of `bytes` bytes. */
opnd_t asm_const(struct asm_program *a, unsigned bytes, uint64_t value);
/* Appends an instruction. An unused operand is OPND_SINK (d) or OPND_ZERO. Aborts the test if the opcode is unknown. */
struct inst *asm_op(struct asm_program *a, const char *opcode, opnd_t d, opnd_t x, opnd_t y, opnd_t z);
/* Appends ld, st or atom at [base + offset]. `base` is a 64-bit register or OPND_ZERO. `reg`, of `rsize` bytes, is the
 * register that is loaded or stored. */
struct inst *asm_mem(struct asm_program *a, const char *opcode, opnd_t reg, unsigned rsize, opnd_t base,
                     int64_t offset);
/* Appends a branch, with guard `guard` unless it is 0. `target` and `rpc` (the reconvergence point) are PCs. */
struct inst *asm_bra(struct asm_program *a, opnd_t guard, bool negated, uint32_t target, uint32_t rpc);
/* Sets the guard of the last instruction. */
void asm_guard(struct asm_program *a, opnd_t guard, bool negated);
uint32_t asm_pc(const struct asm_program *a);
/* Appends n words to the program's lists. Returns the index of the first word. */
uint32_t asm_list(struct asm_program *a, const uint32_t *words, uint32_t n);
/* Marks the ends of basic blocks. Call it after all branch targets are set. */
void asm_end(struct asm_program *a);

/* Returns a one-dimensional launch of `a` in device memory `m`. */
struct launch asm_launch(const struct asm_program *a, struct memory *m, uint32_t grid, uint32_t block);
/* Runs the launch with the default model, in native code if possible. If the launch faults, aborts the test with the
 * message of the fault. */
struct interp_stats asm_run(const struct launch *l);
/* Runs the launch and returns its fault, which the caller frees with fault_free(). Aborts the test if the launch does
 * not fault. */
struct fault asm_run_fault(const struct launch *l);
#endif
