/* Tests the pass `descriptors`: which accesses get copies of their descriptors, and that a kernel stores the same. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"

enum { WORDS = 8 };

/* A kernel of one thread, which calls f0 or f1. */
#define HEAD                                                                                                           \
    ".version 7.0 .target sm_75 .address_size 64\n"                                                                    \
    ".func f0(.param .b64 a) { .reg .b64 %d<3>; .reg .b32 %r<5>; .reg .pred %p<3>; ld.param.u64 %d1, [a];\n"           \
    "ld.global.u32 %r1, [%d1]; mov.u32 %r2, 0; L: st.global.u32 [%d1+4], %r2; add.u32 %r2, %r2, 1;\n"                  \
    "setp.lt.u32 %p1, %r2, 4; @%p1 bra L; st.global.u32 [%d1+8], %r1; ret; }\n"                                        \
    ".func f1(.param .b64 a) { .reg .b64 %d<3>; .reg .b32 %r<5>; ld.param.u64 %d1, [a]; ld.global.u32 %r1, [%d1];\n"   \
    "st.global.u32 [%d1+12], %r1; ret; }\n"                                                                            \
    ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"          \
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; { .param .b64 a; st.param.b64 [a], %d1;\n"
static const char pointer[] = HEAD "mov.u64 %d2, f0; mov.u64 %d3, f1; setp.eq.u32 %p1, %r1, 6;\n"
                                   "selp.b64 %d4, %d2, %d3, %p1; P: .callprototype _ (.param .b64 _);\n"
                                   "call %d4, (a), P; } ret; }\n",
                  direct[] = HEAD "call f0, (a); } { .param .b64 a; st.param.b64 [a], %d1; call f1, (a); } ret; }\n";

/* Function f0 has three accesses to global memory in three blocks: two copies each. Function f1 has its accesses in one
 * block. Functions that no pointer calls load descriptors with the uniform datapath. */
START_TEST(functions_called_through_pointers_copy_descriptors) {
    uint32_t count[2][N_MACHINE_CLASSES], out[2][WORDS];
    for (int on = 0; on < 2; on++) {
        const struct program *p;
        for (int i = 0; i < WORDS; i++)
            out[on][i] = 100u + (uint32_t)i;
        struct heddle *h = late_run(&(struct late_run){_i ? direct : pointer, "ampere", "functional",
                                                       on ? "core.descriptors=on" : "core.descriptors=off", 1, 1,
                                                       .n = 6, .words = WORDS},
                                    out[on], &p);
        control_count(p, count[on]);
        heddle_close(h);
    }
    ck_assert_uint_eq(out[1][1], 3); /* the loop's last store */
    ck_assert_uint_eq(out[1][2], 100);
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
    ck_assert_uint_eq(count[1][MACHINE_ALU] - count[0][MACHINE_ALU], _i ? 0 : 3 * 2);
    ck_assert_uint_eq(count[1][MACHINE_MEMORY], count[0][MACHINE_MEMORY]);
}
END_TEST

SUITE(frontend_passes_descriptors) { TEST_LOOP(functions_called_through_pointers_copy_descriptors, 0, 2); }
