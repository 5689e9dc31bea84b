#ifndef TEST_ISA_INTERP_RIG_H
#define TEST_ISA_INTERP_RIG_H
/* Fixture for the tests of the interpreter. A test assembles a program by hand, and each thread of the program stores
 * one word. */
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static uint64_t out; /* address of the output, which has one word for each thread, or is a trace */
static opnd_t tid, zero, one, at;

enum { OUT_BYTES = 1 << 16 };

static inline opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

/* Starts a program. Its first two instructions compute `at` = out + 4 * tid.x. */
static inline void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    out = mem_alloc(&mem, OUT_BYTES, 0, NULL, false);
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
    one = c32(1);
    at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, c32(4), OPND_ZERO);
    asm_op(a, "add.u64", at, at, asm_const(a, 8, out), OPND_ZERO);
}
enum { SETUP_INSTRUCTIONS = 2 };

static inline void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static inline void store(opnd_t value) { asm_mem(a, "st.global.u32", value, 4, at, 0); }
static inline void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }
static inline uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}
#endif
