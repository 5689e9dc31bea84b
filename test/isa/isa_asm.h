#ifndef TEST_ISA_ASM_H
#define TEST_ISA_ASM_H
/* Programs built by hand, so that isa/ is tested without the front end. Registers and constants are handed out as
 * operands; opcodes are decoded from their spelling. Everything is in fixed arrays. */
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

/* A program of one function, the kernel. */
struct asm_program *asm_new(void);
void asm_free(struct asm_program *a);
/* A register of `bytes` bytes a lane, 0 for a predicate. */
opnd_t asm_reg(struct asm_program *a, unsigned bytes);
/* A register that holds a special register from the start, 32 bits. */
opnd_t asm_special(struct asm_program *a, enum special s);
/* A constant of `bytes` bytes a lane. */
opnd_t asm_const(struct asm_program *a, unsigned bytes, uint64_t value);
/* The next instruction; operands that are not used are OPND_SINK (d) and OPND_ZERO. Aborts on an unknown opcode. */
struct inst *asm_op(struct asm_program *a, const char *opcode, opnd_t d, opnd_t x, opnd_t y, opnd_t z);
/* ld, st, atom: [base + offset], base a 64-bit register or OPND_ZERO; `reg` of `rsize` bytes is loaded or stored. */
struct inst *asm_mem(struct asm_program *a, const char *opcode, opnd_t reg, unsigned rsize, opnd_t base,
                     int64_t offset);
/* bra, with @guard unless it is 0; target and rpc are PCs. */
struct inst *asm_bra(struct asm_program *a, opnd_t guard, bool negated, uint32_t target, uint32_t rpc);
/* Puts a guard on the last instruction. */
void asm_guard(struct asm_program *a, opnd_t guard, bool negated);
uint32_t asm_pc(const struct asm_program *a);
/* n words more in lists; returns the index of the first. */
uint32_t asm_list(struct asm_program *a, const uint32_t *words, uint32_t n);
/* Marks ends of blocks. To be called when all targets are set. */
void asm_end(struct asm_program *a);

/* A launch of `a` in device memory `m`, one-dimensional. */
struct launch asm_launch(const struct asm_program *a, struct memory *m, uint32_t grid, uint32_t block);
/* Runs it with the default model, in native code where it can; aborts the test with the fault's text when it does not
 * end. */
struct interp_stats asm_run(const struct launch *l);
/* Runs it and returns the fault it must end with (to be freed with fault_free). */
struct fault asm_run_fault(const struct launch *l);
#endif
