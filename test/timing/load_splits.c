/* Tests that a warp splits at a load: lanes that hit continue before lanes that miss, and meet them again. */
#include "test/timing/gpu_rig.h"
#include <stdio.h>

/* The two halves of a warp load different lines. Under si, the second load is sent while the first load waits (600
 * cycles). */
START_TEST(subwarps_overlap_their_loads) {
    static const char halves[] = HEAD
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .pred %q; .reg .b64 %a;\n ld.param.u64 %a,[p];\n"
        " mov.u32 %r1,%laneid; setp.lt.u32 %q,%r1,16;\n @%q bra T;\n ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1;\n"
        " bra J;\nT: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2; ret;\n}\n";
    open_with("its", "turing", NULL, 1, 0);
    run(halves, 1, 32, 4096, NULL);
    double its = stat("gpu.cycles");
    open_with("si", "turing", NULL, 1, 0);
    run(halves, 1, 32, 4096, NULL);
    ck_assert_double_gt(its - stat("gpu.cycles"), 500); /* the latency of one of the two loads is mostly hidden */
    ck_assert_double_ge(stat("sm.path_switches"), 1);
    ck_assert_double_lt(stat("sm.exposed_load_stalls"), its);
}
END_TEST

/* Half of the lanes load from a line that is in the L1, and the other half from another line. Lanes that hit must not
 * wait for the other lanes. */
START_TEST(a_load_splits_by_hit_and_miss) {
    static const char halves[] = HEAD
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .pred %q; .reg .b64 %a<4>;\n ld.param.u64 "
        "%a1,[p];\n"
        " mov.u32 %r1,%laneid; ld.global.u32 %r2,[%a1]; setp.lt.u32 %q,%r1,16; selp.b64 %a2,0,1024,%q;\n"
        " cvt.u64.u32 %a3,%r2; add.u64 %a2,%a2,%a3; add.u64 %a2,%a2,%a1; ld.global.u32 %r3,[%a2];\n"
        " add.u32 %r3,%r3,%r1; mul.wide.u32 %a2,%r1,4; add.u64 %a2,%a2,%a1; st.global.u32 [%a2+128],%r3; ret;\n}\n";
    static const char *const with[][4] = {{"dws50", "dws.memory=branch_bypass"},
                                          {"dws50", "dws.memory=revive"},
                                          {"dpe", "dpe.memory_divergence=on"},
                                          {"dpe", "dpe.memory_divergence=on", "dpe.scheduler=constrained"},
                                          {"dpe", "dpe.memory_divergence=on", "dpe.scoreboard=optimistic"}};
    const char *set[] = {with[_i][1], "memory.model=fixed", "memory.latency=600", with[_i][2], NULL};
    uint32_t out[512];
    open_with(with[_i][0], "fermi", set, 1, 0);
    run(halves, 1, 32, sizeof out, out);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(out[32 + i], i);
    ck_assert_double_eq(stat("sm.memory_splits"), 1);
    /* of 14 instructions, the 5 after the second load issue once for each half: add, mul, add, st, ret */
    ck_assert_double_eq(stat("gpu.warp_instructions"), 14 - 5 + 2 * 5);
}
END_TEST

/* Warp 0 executes the load of the previous test. A second warp executes additions for more than 2,000 cycles, while the
 * loads of warp 0 take 600 cycles each. Since the second warp has work, dws.memory=revive does not split warp 0. */
START_TEST(revive_splits_only_when_no_warp_has_work) {
    static const char halves[] =
        HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .pred %q; .reg .b64 %a<4>;\n"
             " ld.param.u64 %a1,[p]; mov.u32 %r4,%tid.x; setp.ge.u32 %q,%r4,32; @%q bra BUSY;\n"
             " mov.u32 %r1,%laneid; ld.global.u32 %r2,[%a1]; setp.lt.u32 %q,%r1,16; selp.b64 %a2,0,1024,%q;\n"
             " cvt.u64.u32 %a3,%r2; add.u64 %a2,%a2,%a3; add.u64 %a2,%a2,%a1; ld.global.u32 %r3,[%a2];\n"
             " add.u32 %r3,%r3,%r1; mul.wide.u32 %a2,%r1,4; add.u64 %a2,%a2,%a1; st.global.u32 [%a2+128],%r3; ret;\n"
             "BUSY: add.u32 %r4,%r4,1; setp.lt.u32 %q,%r4,1100; @%q bra BUSY; ret;\n}\n";
    static const char *const how[] = {"dws.memory=branch_bypass", "dws.memory=revive"};
    const char *set[] = {how[_i], "memory.model=fixed", "memory.latency=600", "gpu.poll=off", NULL};
    for (int polls = 0; polls < 2; polls++)
        for (uint32_t block = 32; block <= 64; block += 32) {
            uint32_t out[512];
            set[3] = polls ? "gpu.poll=on" : "gpu.poll=off";
            open_with("dws50", "fermi", set, 1, 0);
            run(halves, 1, block, sizeof out, out);
            for (uint32_t i = 0; i < 32; i++)
                ck_assert_uint_eq(out[32 + i], i);
            ck_assert_double_eq(stat("sm.memory_splits"), block == 64 && _i == 1 ? 0 : 1);
        }
}
END_TEST

/* Returns a kernel. First, all lanes load lines 8 to 23, one after another. Then each lane loads its own line, executes
 * `others` independent instructions, and adds to the loaded value. The kernel reads the clock before this load and
 * after the addition. */
static const char *a_line_for_each_lane(int others) {
    int at =
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<64>; .reg .b64 %%a<5>;\n"
                      " ld.param.u64 %%a1,[p]; mov.u32 %%r1,%%laneid; mul.wide.u32 %%a3,%%r1,128; mov.u32 %%r3,0;\n");
    for (int line = 8; line < 24; line++)
        at += snprintf(text + at, sizeof text - (size_t)at, " ld.global.u32 %%r2,[%%a1+%d]; add.u32 %%r3,%%r3,%%r2;\n",
                       line * 128);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   " cvt.u64.u32 %%a2,%%r3; add.u64 %%a3,%%a3,%%a2; add.u64 %%a3,%%a3,%%a1; mul.wide.u32 %%a4,%%r1,8;\n"
                   " add.u64 %%a4,%%a4,%%a1; mov.u32 %%r4,%%clock; ld.global.u32 %%r5,[%%a3];\n");
    for (int i = 0; i < others; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " xor.b32 %%r%d,%%r1,%d;\n", 10 + i, i);
    snprintf(text + at, sizeof text - (size_t)at,
             " add.u32 %%r5,%%r5,%%r1; mov.u32 %%r6,%%clock; sub.u32 %%r6,%%r6,%%r4;\n"
             " st.global.v2.u32 [%%a4+4096],{%%r6,%%r5}; ret;\n}\n");
    return text;
}

/* The L1 reads one tag per cycle: eight misses, sixteen hits, eight misses. The warp begins to wait for the value
 * before, during or after these cycles. Only lanes that hit may continue early: a lane that missed gets its value at
 * least the memory's latency after the load. */
START_TEST(a_split_waits_for_all_tags) {
    enum { LATENCY = 600 };
    static const char *const with[][2] = {
        {"dws50", "dws.memory=branch_bypass"}, {"dws50", "dws.memory=revive"}, {"dpe", "dpe.memory_divergence=on"}};
    for (int others = 0; others < 48; others += 4) {
        const char *set[] = {with[_i][1], "memory.model=fixed", "memory.latency=600", "l1i.size=0", NULL};
        uint32_t out[1024 + 64];
        open_with(with[_i][0], "fermi", set, 1, 0);
        run(a_line_for_each_lane(others), 1, 32, sizeof out, out);
        ck_assert_double_ge(stat("sm.memory_splits"), 1);
        for (uint32_t l = 0; l < 32; l++)
            ck_assert_msg((out[1024 + 2 * l] < LATENCY) == (l >= 8 && l < 24), "%s, %d others: lane %u after %u cycles",
                          with[_i][1], others, l, out[1024 + 2 * l]);
    }
}
END_TEST

/* The half of the warp that hits reaches a vote and a barrier long before the other half. The vote must still include
 * all lanes, although its old form has no member mask: its result has a bit for each of the 24 lanes whose value is
 * below 24. The barrier must count all 32 threads. */
START_TEST(halves_of_a_load_meet_before_a_barrier) {
    static const char halves[] =
        ".version 6.0\n.target sm_60\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .pred %q; .reg .b64 %a<4>;\n ld.param.u64 "
        "%a1,[p];\n"
        " mov.u32 %r1,%laneid; ld.global.u32 %r2,[%a1]; setp.lt.u32 %q,%r1,16; selp.b64 %a2,0,1024,%q;\n"
        " cvt.u64.u32 %a3,%r2; add.u64 %a2,%a2,%a3; add.u64 %a2,%a2,%a1; ld.global.u32 %r3,[%a2];\n"
        " add.u32 %r3,%r3,%r1; setp.lt.u32 %q,%r3,24; vote.ballot.b32 %r4,%q; bar.sync 0;\n"
        " mul.wide.u32 %a2,%r1,4; add.u64 %a2,%a2,%a1; st.global.u32 [%a2+128],%r4; ret;\n}\n";
    static const char *const scheduler[] = {"dpe.scheduler=expanded", "dpe.scheduler=constrained"};
    for (int i = 0; i < 2; i++) {
        const char *set[] = {"dpe.memory_divergence=on", scheduler[i], "memory.model=fixed", "memory.latency=600",
                             NULL};
        uint32_t out[512];
        open_with("dpe", "fermi", set, 1, 0);
        run(halves, 1, 32, sizeof out, out);
        for (uint32_t l = 0; l < 32; l++)
            ck_assert_uint_eq(out[32 + l], 0x00ffffff);
        ck_assert_double_eq(stat("sm.memory_splits"), 1);
    }
}
END_TEST

SUITE(timing_load_splits) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(subwarps_overlap_their_loads);
    TEST_LOOP(a_load_splits_by_hit_and_miss, 0, 5);
    TEST_LOOP(revive_splits_only_when_no_warp_has_work, 0, 2);
    TEST_LOOP(a_split_waits_for_all_tags, 0, 3);
    TEST(halves_of_a_load_meet_before_a_barrier);
}
