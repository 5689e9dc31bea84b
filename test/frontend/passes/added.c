/* Tests the pass `added`: which machine instructions ptxas adds to a program, and that a kernel stores the same. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { WORDS = 8, LANES = 4 };

/* A kernel with an if, a barrier, and a division, whose slow path is a branch; a called function with both. */
#define HEAD ".version 7.0 .target sm_70 .address_size 64\n"
static const char kernel[] =
    HEAD ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .f32 %f<5>;\n"
         ".reg .pred %p<3>; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
         "add.s64 %d1, %d1, %d2; setp.gt.u32 %p1, %r1, 1; @%p1 bra M; bar.warp.sync 3; red.global.add.u32 [%d1], 7;\n"
         "M: bar.sync 0; ld.global.u32 %r2, [%d1]; cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f40000000;\n"
         "div.rn.f32 %f3, %f1, %f2; cvt.rzi.u32.f32 %r3, %f3; st.global.u32 [%d1+16], %r3; ret; }\n";

/* Returns the machine instructions by class on a preset with an option. Stores the words of the kernel. */
static void count(const char *preset, const char *option, uint32_t n[N_MACHINE_CLASSES], uint32_t out[WORDS]) {
    const struct program *p;
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = 100 + i;
    struct heddle *h = late_run(&(struct late_run){kernel, preset, "its", option, 1, LANES, .words = WORDS}, out, &p);
    control_count(p, n);
    heddle_close(h);
}

/* core.entry=1: a move of R1. 2: and the descriptor, on the uniform datapath. Machines without operands in constant
 * memory load R1: ptxas 13 writes LDC for sm_90. */
START_TEST(a_kernel_begins_with_moves) {
    uint32_t n[3][N_MACHINE_CLASSES], out[3][WORDS];
    const bool load = _i == 1;
    const char *const preset = load ? "h100" : "ampere";
    static const char *const options[] = {"core.entry=0", "core.entry=1", "core.entry=2"};
    for (int k = 0; k < 3; k++)
        count(preset, options[k], n[k], out[k]);
    ck_assert_uint_eq(n[1][MACHINE_ALU], n[0][MACHINE_ALU] + !load);
    ck_assert_uint_eq(n[1][MACHINE_MEMORY], n[0][MACHINE_MEMORY] + load);
    ck_assert_uint_eq(n[1][MACHINE_UNIFORM], n[0][MACHINE_UNIFORM]);
    ck_assert_uint_eq(n[2][MACHINE_ALU], n[1][MACHINE_ALU]);
    ck_assert_uint_eq(n[2][MACHINE_UNIFORM], n[1][MACHINE_UNIFORM] + 1);
    ck_assert_uint_eq(out[0][4], 107 / 2); /* lane 0 adds 7 to 100 */
    ck_assert_mem_eq(out[0], out[2], sizeof out[0]);
}
END_TEST

/* core.entry=3: the address of the first variable takes three instructions, that of the second two. ptxas 13 writes
 * S2UR, UMOV, ULEA, UIADD3 and ULEA for sm_90. A variable without accesses has no address. */
START_TEST(shared_variables_have_addresses) {
    static const char *const accesses[] = {"", "st.shared.u32 [a+4], %r1;",
                                           "st.shared.u32 [a+4], %r1; ld.shared.u32 %r1, [b];"};
    static const uint32_t more[] = {0, 3, 5};
    uint32_t n[2][N_MACHINE_CLASSES], out[WORDS];
    char text[1024];
    snprintf(text, sizeof text,
             HEAD ".shared .b32 a[8], b[8], c[8];\n"
                  ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %%d<4>; .reg .b32 %%r<9>;\n"
                  "mov.u32 %%r1, %%tid.x; ld.param.u64 %%d1, [p]; %s st.global.u32 [%%d1], %%r1; ret; }\n",
             accesses[_i]);
    for (int on = 0; on < 2; on++) {
        const struct program *p;
        struct heddle *h = late_run(
            &(struct late_run){text, "h100", "functional", on ? "core.entry=3" : "core.entry=2", 1, 1, .words = WORDS},
            out, &p);
        control_count(p, n[on]);
        heddle_close(h);
    }
    ck_assert_uint_eq(n[1][MACHINE_UNIFORM], n[0][MACHINE_UNIFORM] + more[_i]);
    ck_assert_uint_eq(n[1][MACHINE_ALU], n[0][MACHINE_ALU]);
}
END_TEST

/* core.fillers=2: one instruction for the BSSY of the if, one for that of the division. 3: one for the barrier, too,
 * and a shuffle. */
START_TEST(fillers_precede_barriers) {
    uint32_t n[4][N_MACHINE_CLASSES], out[4][WORDS];
    static const char *const options[] = {"core.fillers=0", "core.fillers=1", "core.fillers=2", "core.fillers=3"};
    for (int k = 0; k < 4; k++)
        count("gv100", options[k], n[k], out[k]);
    ck_assert_uint_eq(n[1][MACHINE_FLOW], n[0][MACHINE_FLOW]);
    ck_assert_uint_eq(n[2][MACHINE_FLOW], n[0][MACHINE_FLOW] + 2);
    ck_assert_uint_eq(n[3][MACHINE_FLOW], n[0][MACHINE_FLOW] + 3);
    ck_assert_uint_eq(n[2][MACHINE_MEMORY], n[0][MACHINE_MEMORY]);
    ck_assert_uint_eq(n[3][MACHINE_MEMORY], n[0][MACHINE_MEMORY] + 1);
    ck_assert_uint_eq(n[3][MACHINE_ALU], n[0][MACHINE_ALU]);
    ck_assert_mem_eq(out[0], out[3], sizeof out[0]);
}
END_TEST

/* The first of two sums of f64 stalls for 15 cycles, and four instructions between them stall for the other 49. */
START_TEST(f64_instructions_are_apart) {
    uint32_t n[2][N_MACHINE_CLASSES], out[2][WORDS];
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .f64 %f<5>;\n"
             "ld.param.u64 %d1, [p]; ld.global.f64 %f1, [%d1]; add.f64 %f2, %f1, %f1; add.f64 %f2, %f2, %f2;\n"
             "st.global.f64 [%d1+8], %f2; ret; }\n";
    for (int on = 0; on < 2; on++) {
        const struct program *p;
        memset(out[on], 0, sizeof out[on]);
        out[on][1] = 0x3ff00000; /* 1.0 */
        struct heddle *h = late_run(&(struct late_run){text, "rtx5070ti", "functional",
                                                       on ? "core.f64_gap=64" : "core.f64_gap=0", 1, 1, .words = WORDS},
                                    out[on], &p);
        control_count(p, n[on]);
        heddle_close(h);
    }
    ck_assert_uint_eq(n[1][MACHINE_FLOW], n[0][MACHINE_FLOW] + 4);
    ck_assert_uint_eq(n[1][MACHINE_F64], 2);
    ck_assert_uint_eq(out[1][3], 0x40100000); /* 4.0 */
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
}
END_TEST

/* Loops that advance the pointer %d1, and the words that ptxas 11.8 copies in each iteration for sm_70 and sm_86. */
static const struct {
    const char *accesses;
    unsigned copies;
} loops[] = {
    {"ld.global.u32 %r2, [%d1]; add.u32 %r3, %r3, %r2; add.s64 %d1, %d1, 4;", 1},
    {"ld.global.v2.u32 {%r2, %r4}, [%d1]; add.u32 %r3, %r3, %r2; add.s64 %d1, %d1, 8;", 2},
    {"ld.global.u32 %r2, [%d1]; add.u32 %r3, %r3, %r2; st.global.u32 [%d1+4], %r3; add.s64 %d1, %d1, 4;", 2},
    {"ld.global.u32 %r2, [%d1]; ld.global.u32 %r4, [%d1+4]; mad.lo.u32 %r3, %r2, %r4, %r3; add.s64 %d1, %d1, 4;", 0},
    {"st.global.u32 [%d1], %r3; add.s64 %d1, %d1, 4;", 0},
};

START_TEST(loops_copy_pointers) {
    uint32_t n[2][N_MACHINE_CLASSES], out[2][WORDS];
    char text[1024];
    snprintf(text, sizeof text,
             HEAD
             ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %%d<4>; .reg .b32 %%r<9>; .reg .pred %%p;\n"
             "ld.param.u64 %%d1, [p]; ld.param.u32 %%r5, [n]; mov.u32 %%r1, 0; mov.u32 %%r3, 5; L: %s\n"
             "add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, %%r5; @%%p bra L; st.global.u32 [%%d1], %%r3; ret; }\n",
             loops[_i].accesses);
    for (int on = 0; on < 2; on++) {
        const struct program *p;
        for (uint32_t i = 0; i < WORDS; i++)
            out[on][i] = 100 + i;
        struct heddle *h = late_run(&(struct late_run){text, "ampere", "functional",
                                                       on ? "core.pointer_copies=on" : "core.pointer_copies=off", 1, 1,
                                                       .n = 3, .words = WORDS},
                                    out[on], &p);
        control_count(p, n[on]);
        heddle_close(h);
    }
    ck_assert_uint_eq(n[1][MACHINE_ALU], n[0][MACHINE_ALU] + loops[_i].copies);
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
}
END_TEST

SUITE(frontend_passes_added) {
    TEST_LOOP(a_kernel_begins_with_moves, 0, 2);
    TEST_LOOP(shared_variables_have_addresses, 0, 3);
    TEST(fillers_precede_barriers);
    TEST(f64_instructions_are_apart);
    TEST_LOOP(loops_copy_pointers, 0, (int)(sizeof loops / sizeof loops[0]));
}
