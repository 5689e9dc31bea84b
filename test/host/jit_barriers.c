/* Tests barriers in native code, which continues with the next warp when a warp waits. Native code and the interpreter
 * must agree on the order of warps, clocks, counts and faults. */
#include "jit_rig.h"

/* Each thread takes a ticket from a shared counter in each part of an iteration, so tickets show the order of warps. */
#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                                  \
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"                                                       \
    ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%rd<9>;\n.shared .align 4 .b32 counter;\n"                       \
    "ld.param.u64 %%rd1, [k_in]; ld.param.u64 %%rd2, [k_out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r15, %%ctaid.x;\n"      \
    "mov.u32 %%r2, 0; mov.u32 %%r3, %%r1; shr.u32 %%r5, %%r1, 5; mad.lo.u32 %%r16, %%r15, 256, %%r1;\n"                \
    "mul.wide.u32 %%rd3, %%r16, 8; add.u64 %%rd4, %%rd2, %%rd3;\n"
#define WORK "mul.lo.u32 %%r7, %%r3, 5; xor.b32 %%r3, %%r3, %%r7; add.u32 %%r3, %%r3, %%r2;\n"
#define TICKET                                                                                                         \
    "atom.shared.add.u32 %%r6, [counter], 1; mad.lo.u32 %%r3, %%r3, 31, %%r6; mov.u32 %%r8, %%clock;\n"                \
    "add.u32 %%r3, %%r3, %%r8;\n"

static const char *const between[] = {
    "",
    "bar.sync 0;\n",
    "barrier.sync 3;\n",
    "setp.eq.u32 %p3, %r5, 1; @%p3 bra SKIP; add.u32 %r3, %r3, 9; xor.b32 %r3, %r3, 5; SKIP: add.u32 %r3, %r3, 1;\n",
    "and.b32 %r9, %r1, 3; setp.lt.u32 %p3, %r9, 2; @%p3 bra SKIP; mul.lo.u32 %r3, %r3, 9; SKIP: add.u32 %r3, %r3, 1;\n",
    "bar.red.popc.u32 %r9, 1, %p1; add.u32 %r3, %r3, %r9;\n",
    "setp.eq.u32 %p3, %r5, 1; setp.eq.and.u32 %p3, %r2, 9, %p3; @%p3 bra END;\n",
    "setp.eq.u32 %p3, %r1, 40; setp.eq.and.u32 %p3, %r2, 9, %p3; @%p3 ret;\n",
    "setp.eq.u32 %p3, %r5, 0; @%p3 bra ARRIVE; bar.sync 2, 64; bra JOINED; ARRIVE: bar.arrive 2, 64; JOINED:\n",
    "mov.u32 %r9, 4; bar.sync %r9;\n",
    "setp.eq.u32 %p3, %r5, 2; setp.eq.and.u32 %p3, %r2, 11, %p3; mov.u64 %rd5, 16; @%p3 ld.global.u32 %r9, [%rd5];\n",
    ("setp.eq.u32 %p3, %r5, 1; selp.u64 %rd5, 16, %rd1, %p3; setp.lt.u32 %p4, %r2, 11; @%p4 mov.u64 %rd5, %rd1;\n"
     "ld.global.u32 %r9, [%rd5]; add.u32 %r3, %r3, %r9;\n"),
};
enum { N_BETWEEN = sizeof between / sizeof between[0], ARRIVALS = 8 };

START_TEST(warps_run_in_the_same_order) {
    jit_level(_i);
    static const uint32_t threads[] = {16, 32, 63, 64, 80, 128, 256};
    char text[TEXT];
    for (int k = 0; k < N_BETWEEN; k++)
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            if (k == ARRIVALS && threads[t] != 64)
                continue; /* the barrier needs exactly two warps */
            snprintf(text, sizeof text,
                     HEAD "LOOP: " WORK TICKET "bar.sync 0;\n" WORK "%s" TICKET "bar.sync 0;\n" WORK
                          "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p2, %%r2, 24; @%%p2 bra LOOP;\n"
                          "END: st.global.v2.u32 [%%rd4], {%%r3, %%r8}; ret;\n}\n",
                     between[k]);
            const double blocks = both(text, 2, threads[t], 0);
            if (!jit_runs())
                test_skip(JIT_NOT_HERE);
            ck_assert_msg(blocks != 0, "%s", text);
        }
}
END_TEST

/* The limit ends the kernel in any warp, after the same number of instructions. */
START_TEST(limits_are_met_in_the_same_warp) {
    jit_level(_i);
    char text[TEXT];
    snprintf(text, sizeof text,
             HEAD "LOOP: " WORK "bar.sync 0;\n" WORK "st.global.u32 [%%rd4], %%r3; bar.sync 0;\n"
                  "setp.ne.u32 %%p2, %%r7, 0x12345; @%%p2 bra LOOP;\nbra LOOP;\n}\n");
    for (uint64_t limit = 500; limit < 20000; limit = limit * 3 + 1)
        both(text, 1, 128, limit);
}
END_TEST

SUITE(host_jit_barriers) {
    TEST_LEVELS(warps_run_in_the_same_order, 1);
    TEST_LEVELS(limits_are_met_in_the_same_warp, 1);
}
