/* Tests frontend/passes/select_guards.c: which ifs become guarded instructions, and that a kernel stores the same. */
#include "frontend/passes/pass.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 32 };

/* Runs a kernel of one warp, whose lanes load %r1 and %r2 and store %r8. Stores the words, and returns the program. */
static struct heddle *run(const char *body, const char *option, uint32_t out[LANES], const struct program **p) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%d<9>; .shared .b32 s[64]; ld.param.u64 %%d1, [p];\n"
             "ld.param.u32 %%r9, [n]; mov.u32 %%r3, %%tid.x; mul.wide.u32 %%d2, %%r3, 4; add.u64 %%d3, %%d1, %%d2;\n"
             "ld.global.u32 %%r1, [%%d3]; ld.global.u32 %%r2, [%%d3+4]; mov.u32 %%r8, %%r1; %s\n"
             "st.global.u32 [%%d3+512], %%r8; ret;\n}\n",
             body);
    for (uint32_t i = 0; i < LANES; i++)
        out[i] = 0x01234567u * (i + 1);
    return late_run(&(struct late_run){text, "ampere", "functional", option, 1, LANES, 16, LANES, .result = 512}, out,
                    p);
}

#define DIVERGENT "setp.lt.u32 %p1, %r3, %r9; @%p1 bra X;\n"
#define UNIFORM   "setp.lt.u32 %p1, %r9, 99; @%p1 bra X;\n"
#define MUL(a)    "mul.lo.u32 %r8, %r8, " a ";\n"
#define MUL2      MUL("%r1") MUL("%r2")
#define MUL6      MUL2 MUL2 MUL2
#define LOAD      "ld.global.u32 %r4, [%d3+256];\n"

static const struct {
    const char *body;
    unsigned branches; /* that are left */
    const char *why;
} rows[] = {
    {DIVERGENT MUL6 MUL2 "X:", 0, "8 instructions"},
    {DIVERGENT MUL6 MUL2 MUL("%r2") "X:", 1, "9 instructions"},
    {UNIFORM MUL6 "X:", 0, "6 instructions, and all lanes agree"},
    {UNIFORM MUL6 MUL("%r2") "X:", 1, "7 instructions, and all lanes agree"},
    {DIVERGENT "st.shared.u32 [s], %r3; ld.shared.u32 %r8, [s+4];\nX:", 0, "shared memory"},
    {DIVERGENT LOAD MUL("%r4") MUL6 MUL6 MUL6 "X:", 0, "20 instructions, one a load from global memory"},
    {DIVERGENT LOAD MUL("%r4") MUL6 MUL6 MUL6 MUL2 "X:", 1, "22 instructions, one a load from global memory"},
    {DIVERGENT "add.u64 %d4, %d2, %d3; add.u64 %d5, %d4, %d2;\n" MUL6
               "cvt.u32.u64 %r4, %d5; xor.b32 %r8, %r8, %r4;\nX:",
     1, "two 64-bit sums are four instructions"},
    {"setp.ge.u32 %p1, %r3, %r9; @!%p1 bra X;\n" MUL2 "X:", 0, "the branch has a negated guard"},
    {"setp.lt.u32 %p2, %r1, %r2;\n" DIVERGENT "@%p2 mul.lo.u32 %r8, %r8, %r1;\nX:", 1, "an instruction has a guard"},
    {DIVERGENT "red.shared.add.u32 [s], 1;\nX:", 1, "an atomic access"},
    {DIVERGENT LOAD "div.rn.f32 %r8, %r1, %r4;\nX:", 1, "a division has a branch"},
    {DIVERGENT MUL2 "setp.lt.u32 %p1, %r1, %r2;\nX: selp.u32 %r8, %r8, 7, %p1;", 1, "the guard changes"},
    {DIVERGENT "bra Y;\nX:" MUL2 "Y:", 0, "the branch over a jump is inverted first"},
    {DIVERGENT MUL2 "bra Y;\nX:" MUL("%r1") "Y:", 0, "an else"},
    {DIVERGENT MUL6 MUL("%r1") "bra Y;\nX:" MUL6 MUL2 "Y:", 0, "7 instructions and a jump, and an else of 8"},
    {DIVERGENT MUL6 MUL2 "bra Y;\nX:" MUL("%r1") "Y:", 2, "8 instructions and a jump"},
    {DIVERGENT MUL2 "bra Y;\nX:" MUL6 MUL2 MUL("%r1") "Y:", 1, "an else of 9"},
    {UNIFORM MUL2 MUL2 MUL("%r1") "bra Y;\nX:" MUL6 "Y:", 0, "5 instructions and a jump, and all lanes agree"},
    {UNIFORM MUL6 "bra Y;\nX:" MUL6 "Y:", 2, "6 instructions and a jump, and all lanes agree"},
    {UNIFORM MUL2 "bra Y;\nX:" MUL6 MUL("%r1") "Y:", 1, "an else of 7, and all lanes agree"},
    {DIVERGENT MUL2 "setp.lt.u32 %p1, %r1, %r2; bra Y;\nX:" MUL("%r1") "Y: selp.u32 %r8, %r8, 7, %p1;", 2,
     "the first side changes the guard"},
    {DIVERGENT MUL2 "bra Y;\nX:" MUL("%r1") "setp.lt.u32 %p1, %r1, %r2;\nY: selp.u32 %r8, %r8, 7, %p1;", 1,
     "the second side changes the guard"},
};

START_TEST(short_ifs_become_guards) {
    uint32_t with[LANES], without[LANES];
    const struct program *p;
    unsigned branches = 0;
    heddle_close(run(rows[_i].body, "core.select=off", without, &p));
    struct heddle *h = run(rows[_i].body, "core.select=on", with, &p);
    for (uint32_t pc = 0; pc < p->n; pc++)
        branches += p->code[pc].kind == K_BRANCH;
    EXPECT(branches == rows[_i].branches, "%s: %u branches are left, not %u", rows[_i].why, branches,
           rows[_i].branches);
    for (int i = 0; i < LANES; i++)
        EXPECT(with[i] == without[i], "%s: word %d is 0x%x, not 0x%x", rows[_i].why, i, with[i], without[i]);
    heddle_close(h);
}
END_TEST

/* A branch to an exit stays: it ends lanes at once. */
START_TEST(branches_to_an_exit_stay) {
    uint32_t out[LANES];
    const struct program *p;
    unsigned branches = 0;
    struct heddle *h =
        run("setp.lt.u32 %p1, %r3, %r9; @%p1 bra X; st.global.u32 [%d3+512], %r3; X: ret;", "core.select=on", out, &p);
    for (uint32_t pc = 0; pc < p->n; pc++)
        branches += p->code[pc].kind == K_BRANCH;
    ck_assert_uint_eq(branches, 1);
    heddle_close(h);
}
END_TEST

#define LOOP(how)                                                                                                      \
    "mov.u32 %r5, 0; L:\n" DIVERGENT "ld" how ".shared.u32 %r10, [s]; ld.shared.u32 %r11, [s+8];\n"                    \
    "ld.shared.u32 %r12, [s+16]; mul.lo.u32 %r10, %r10, %r11; mul.lo.u32 %r10, %r10, %r12; " MUL(                      \
        "%r10") "X: bar.sync 0; ld.shared.u32 %r13, [s+24]; ld.shared.u32 %r14, [s+32]; ld.shared.u32 %r15, [s+40];\n" \
                "mul.lo.u32 %r13, %r13, %r14; mul.lo.u32 %r13, %r13, %r15; " MUL(                                      \
                    "%r13") "bar.sync 0; add.u32 %r5, %r5, 1;\n"                                                       \
                            "setp.lt.u32 %p3, %r5, 4; @%p3 bra L;"

/* A loop of an if with three temporary values, which the rest of the loop has, too. They take the same registers: a
 * value that only the if uses does not stay live around the loop although its writes have guards. */
START_TEST(values_of_an_if_stay_short) {
    uint32_t out[LANES], regs[2], n[2];
    for (int k = 0; k < 2; k++) {
        const struct program *p;
        struct heddle *h = run(k ? LOOP(".volatile") : LOOP(""), "core.select=on", out, &p);
        regs[k] = p->thread_regs;
        n[k] = p->n;
        heddle_close(h);
    }
    ck_assert_uint_eq(n[0] + 1, n[1]); /* the branch over volatile loads stays */
    ck_assert_uint_eq(regs[0], regs[1]);
}
END_TEST

SUITE(frontend_passes_select_guards) {
    TEST_LOOP(short_ifs_become_guards, 0, (int)(sizeof rows / sizeof rows[0]));
    TEST(branches_to_an_exit_stay);
    TEST(values_of_an_if_stay_short);
}
