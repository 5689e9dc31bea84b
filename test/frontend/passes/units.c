/* Tests the pass `units`: which moves, sums and shifts the multiplier executes, and that control bits suffice. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>
#include <string.h>

enum { THREADS = 40 };

/* Runs a kernel of three basic blocks. `body` is the second one. Each thread stores one value that depends on %r3, %r4,
 * %r5 and %r6. */
static struct heddle *run(const char *body, const char *option, uint32_t out[THREADS], const struct program **p) {
    char text[2048];
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .b32 %%r<19>; .reg .b64 %%d<9>;\nmov.u32 %%r10, %%tid.x; mad.lo.u32 %%r1, %%r10, %%r10, 3;\n"
             "mad.lo.u32 %%r2, %%r1, %%r10, 5; mul.lo.u32 %%r3, %%r1, %%r2; mul.lo.u32 %%r4, %%r2, %%r2;\n"
             "mul.lo.u32 %%r5, %%r1, %%r1; mul.lo.u32 %%r6, %%r3, %%r4; bra.uni A;\nA: %s\nbra.uni B;\n"
             "B: mad.lo.u32 %%r8, %%r3, %%r4, %%r5; mad.lo.u32 %%r8, %%r8, %%r6, %%r3; ld.param.u64 %%d1, [p];\n"
             "mul.wide.u32 %%d2, %%r10, 4; add.u64 %%d3, %%d1, %%d2; st.global.u32 [%%d3], %%r8; ret;\n}\n",
             body);
    memset(out, 0, THREADS * sizeof *out);
    return late_run(&(struct late_run){.text = text,
                                       .config = "gv100",
                                       .model = "functional",
                                       .option = option,
                                       .ctas = 1,
                                       .threads = THREADS,
                                       .n = 6,
                                       .words = THREADS},
                    out, p);
}

/* Returns the number of instructions that are no product but run on the multiplier. */
static uint32_t on_multiplier(const struct program *p) {
    uint32_t n, found = 0;
    for (uint32_t pc = 0; pc < p->n; pc++) {
        const unsigned op = isa_rows(&n)[p->code[pc].row].op;
        found +=
            (op == OP_ADD || op == OP_SUB || op == OP_SHL || op == OP_MOV) && p->control[pc].timing.unit == CONTROL_FMA;
    }
    return found;
}

/* A unit takes an instruction in two cycles. So the instruction one cycle after another one goes to the other unit. The
 * result of a unit is there after 4 cycles for the same unit, after 5 for the other unit. */
static const struct {
    const char *body;
    uint32_t expected;
    const char *why;
} rows[] = {
    {"xor.b32 %r3, %r1, %r2; add.u32 %r4, %r1, %r2;", 1, "the integer unit is busy in cycle 1"},
    {"xor.b32 %r3, %r1, %r2; sub.u32 %r4, %r1, %r2;", 1, "a difference"},
    {"xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r1, 3;", 1, "a shift by a constant"},
    {"xor.b32 %r3, %r1, %r2; shl.b32 %r4, %r1, %r2;", 0, "a shift by a register"},
    {"xor.b32 %r3, %r1, %r2; shr.u32 %r4, %r1, 3;", 0, "a shift to the right"},
    {"xor.b32 %r3, %r1, %r2; min.u32 %r4, %r1, %r2;", 0, "a minimum"},
    {"add.u32 %r4, %r1, %r2; xor.b32 %r3, %r1, %r2;", 0, "both units are free in cycle 0"},
    {"mul.lo.u32 %r3, %r1, %r2; add.u32 %r4, %r1, %r2;", 0, "the multiplier is busy"},
    {"xor.b32 %r3, %r1, %r2; add.u32 %r4, %r1, %r2; add.u32 %r5, %r2, %r2;", 1,
     "in cycle 2, the integer unit is free, and the multiplier is busy with the first sum"},
    {"xor.b32 %r3, %r1, %r2; add.u32 %r4, %r3, %r1;", 0, "the integer unit has the operand a cycle earlier"},
    {"xor.b32 %r3, %r1, %r2; mov.u32 %r4, %tid.y;", 0, "a special register"},
};

START_TEST(the_multiplier_adds_while_the_integer_unit_is_busy) {
    uint32_t with[THREADS], without[THREADS];
    const struct program *p;
    struct heddle *h = run(rows[_i].body, "core.multiplier_adds=off", without, &p);
    ck_assert_uint_eq(on_multiplier(p), 0);
    heddle_close(h);
    h = run(rows[_i].body, "core.multiplier_adds=on", with, &p);
    EXPECT(on_multiplier(p) == rows[_i].expected, "%s: %u on the multiplier, not %u", rows[_i].why, on_multiplier(p),
           rows[_i].expected);
    for (int i = 0; i < THREADS; i++)
        EXPECT(with[i] == without[i], "%s: word %d is 0x%x, not 0x%x", rows[_i].why, i, with[i], without[i]);
    heddle_close(h);
}
END_TEST

SUITE(frontend_passes_units) {
    TEST_LOOP(the_multiplier_adds_while_the_integer_unit_is_busy, 0, (int)(sizeof rows / sizeof rows[0]));
}
