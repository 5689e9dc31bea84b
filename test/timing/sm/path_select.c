/* Tests switches between the paths of a warp: when a warp switches, which warp switches first, and the exact cost in
 * cycles. All tests run on configs/tiny.cfg:
 * - a fetch brings two instructions, which can issue two cycles later
 * - equal warps issue one after another
 * - a dependent addition issues 10 cycles later (test/timing/micro.c) */
#include "slots_rig.h"

#define LOW  0x0000ffffu
#define HIGH 0xffff0000u
enum { WARPS = 4, FETCH = 2, ADD = 10 };

/* ---- si: stalled subwarps ---- */

/* Each half of a warp loads a line and uses it at once. The lower half runs first. */
static const char loads[] = "@%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
                            "T: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2;\n";
enum { BSSY = 5, HIGH_LOAD = 7, HIGH_ADD, LOW_LOAD = 10, LOW_ADD, BSYNC };

static void run_si(const char *trigger, const char *latency, const char *yield, const char *body) {
    const char *const set[] = {"memory.latency=600", trigger, latency, yield, "its.switch_latency=7", "l1.merges=32",
                               "sm.registers=32768", NULL};
    rig_run("si", set, body, WARPS * 32);
}

/* low() and high() return the cycle in which warp `w` issues the load of its lower or upper half. */
static uint64_t low(uint32_t w) { return rig_at(w, LOW_LOAD, LOW); }
static uint64_t high(uint32_t w) { return rig_at(w, HIGH_LOAD, HIGH); }

/* Warps 0 to 3 issue the load of their lower half in four consecutive cycles. Each is stalled from that cycle on, and
 * switches to its upper half at once. A switch takes 3 cycles, and the fetch after it FETCH cycles. */
START_TEST(any_stalled_warp_switches) {
    run_si("si.trigger=any", "si.switch_latency=3", "si.yield=off", loads);
    for (uint32_t w = 0; w < WARPS; w++) {
        ck_assert_uint_eq(low(w), low(0) + w);
        ck_assert_uint_eq(high(w), low(w) + 3 + FETCH);
    }
}
END_TEST

/* With si.trigger=half, a warp switches when half of the four warps, that is, two warps, are stalled.
 * - warp 0 switches when warp 1 stalls, warp 1 when warp 2 stalls, warp 2 when warp 3 stalls
 * - warp 3 waits until warp 0 stalls again, at the load of its other half, and has no path left to switch to */
START_TEST(half_of_the_warps) {
    run_si("si.trigger=half", "si.switch_latency=3", "si.yield=off", loads);
    for (uint32_t w = 0; w + 1 < WARPS; w++)
        ck_assert_uint_eq(high(w), low(w + 1) + 3 + FETCH);
    ck_assert_uint_eq(high(3), high(0) + 3 + FETCH);
    /* The data of the lower halves arrive one cycle apart. All four warps wait for their second load, so three of
     * them switch back to the lower half, which is ready. Then only one of the four warps, warp 3, is stalled, so it
     * does not switch. */
    for (uint32_t w = 1; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, LOW_ADD, LOW), rig_at(0, LOW_ADD, LOW) + w);
    ck_assert_uint_lt(rig_at(3, HIGH_ADD, HIGH), rig_at(3, LOW_ADD, LOW));
    /* The BSYNC blocks the lower half, so the warp switches in 7 cycles to the upper half, whose data have arrived. */
    for (uint32_t w = 0; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, HIGH_ADD, HIGH), rig_at(w, BSYNC, LOW) + 7 + FETCH);
    ck_assert_double_eq(rig_stat("sm.path_switches"), 3 * 3 + 2); /* warp 3 did not switch back before its BSYNC */
}
END_TEST

/* With si.trigger=all, all four warps must be stalled: warp 0 switches when warp 3 has stalled, the next warp when
 * warp 0 has stalled again, and so on. */
START_TEST(all_of_the_warps) {
    run_si("si.trigger=all", "si.switch_latency=3", "si.yield=off", loads);
    ck_assert_uint_eq(high(0), low(3) + 3 + FETCH);
    for (uint32_t w = 1; w < WARPS; w++)
        ck_assert_uint_eq(high(w), high(w - 1) + 3 + FETCH);
}
END_TEST

/* A switch is made at the end of a cycle, after the fetch of this cycle. With a switch latency of 0, the next fetch
 * leaves one cycle later. With a latency of n, it leaves n cycles later. */
START_TEST(the_latency_of_a_switch) {
    static const struct {
        const char *option;
        uint32_t cycles;
    } rows[] = {{"si.switch_latency=0", 1},
                {"si.switch_latency=1", 1},
                {"si.switch_latency=2", 2},
                {"si.switch_latency=40", 40}};
    for (int i = 0; i < 4; i++) {
        rig_run("si", (const char *[]){"memory.latency=600", "si.trigger=any", rows[i].option, "si.yield=off", NULL},
                loads, 32);
        ck_assert_uint_eq(high(0), low(0) + rows[i].cycles + FETCH);
    }
}
END_TEST

/* A subwarp yields after its n-th long-latency operation, in the cycle in which the operation issues and before the
 * fetch stage. An addition is not a long-latency operation. Later instructions of the path wait. */
START_TEST(yields_are_counted) {
    static const char body[] =
        "@%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
        "T: ld.global.u32 %r3,[%a+2048]; add.u32 %r5,%l,1; ld.global.u32 %r4,[%a+2048]; add.u32 %r6,%l,1;\n"
        "add.u32 %r7,%l,1; ld.global.u32 %r8,[%a+2048]; add.u32 %r9,%l,1;\nJ: st.global.u32 [%a],%r2;\n";
    static const uint32_t behind[] = {10, 12, 15};
    for (int n = 0; n < 3; n++) {
        char option[32];
        snprintf(option, sizeof option, "si.yield_after=%d", n + 1);
        const char *const set[] = {"memory.latency=600", "si.switch_latency=4", option,
                                   "si.yield=on",        "si.trigger=all",      NULL};
        rig_run("si", set, body, 32);
        ck_assert_uint_eq(rig_at(0, HIGH_LOAD, HIGH), rig_at(0, behind[n], LOW) + 4 + FETCH);
        ck_assert_uint_gt(rig_at(0, behind[n] + 1, LOW), rig_at(0, HIGH_LOAD, HIGH));
        if (n) /* with si.yield_after above 1, the path continues after its first long-latency operation */
            ck_assert_uint_lt(rig_at(0, behind[0] + 1, LOW), rig_at(0, HIGH_LOAD, HIGH));
    }
}
END_TEST

/* During a switch, issue slots are lost to reconvergence: a switch that takes 90 cycles more adds 90 slots of this
 * cause and no slots of other causes. */
START_TEST(slots_of_a_switch) {
    static const char *const options[] = {"its.switch_latency=10", "its.switch_latency=100"};
    static const char *const other[] = {"issue.scoreboard_load", "issue.scoreboard_arith",
                                        "issue.fetch",           "issue.barrier",
                                        "issue.queue",           "issue.issued"};
    double slots[2], others[2][6];
    for (int i = 0; i < 2; i++) {
        rig_run("its", (const char *[]){options[i], NULL},
                "@%q bra T; add.u32 %r2,%l,1; bra J;\nT: add.u32 %r2,%l,2;\nJ: add.u32 %r2,%r2,1;\n", 32);
        ck_assert_double_eq(rig_stat("sm.path_switches"), 1);
        slots[i] = rig_stat("issue.reconvergence");
        for (int k = 0; k < 6; k++)
            others[i][k] = rig_stat(other[k]);
    }
    /* The first of the 10 cycles from BSYNC to fetch is not lost, because the BSYNC issues in it. */
    ck_assert_double_eq(slots[0], 9);
    ck_assert_double_eq(slots[1], 99);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq(others[0][k], others[1][k]);
}
END_TEST

/* ---- dpe.scheduler=constrained: one path is visible at a time ---- */

/* The lower half issues a division, which is slow. In the same cycle the upper half becomes visible and fetches. The
 * upper half has no slow operation, so it stays visible until it reconverges with the lower half. */
START_TEST(a_slow_operation_hands_over) {
    rig_run("dpe", (const char *[]){"dpe.scheduler=constrained", NULL},
            "@%q bra T; add.u32 %r3,%l,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; bra J;\n"
            "T: div.u32 %r2,%l,3; add.u32 %r4,%l,2;\nJ: st.global.u32 [%a],%r4;\n",
            32);
    uint64_t first = rig_at(0, 6, HIGH);
    ck_assert_uint_eq(first, rig_at(0, 10, LOW) + FETCH);
    ck_assert_uint_eq(rig_at(0, 7, HIGH), first + ADD);
    ck_assert_uint_eq(rig_at(0, 8, HIGH), first + 2 * ADD);
    /* the addition of the lower half waits, though its operands are ready */
    ck_assert_uint_gt(rig_at(0, 11, LOW), rig_at(0, 9, HIGH));
    ck_assert_double_eq(rig_stat("sm.path_rotations"), 1);
}
END_TEST

/* An addition or a store does not make the other path visible. A load from shared memory or a special function makes
 * it visible at once. A load from global memory makes it visible when the load misses. */
START_TEST(operations_that_hand_over) {
    static const struct {
        const char *operation;
        double turns;
    } rows[] = {{"add.u32 %r2,%l,3;", 0},
                {"ld.shared.u32 %r2,[s];", 1},
                {"st.shared.u32 [s],%l;", 0},
                {"ex2.approx.f32 %f1,%f1;", 1},
                {"ld.global.u32 %r2,[%a+2048];", 1},
                {"ld.global.u32 %r2,[%a];", 0}, /* a hit */
                {"st.global.u32 [%a+2048],%l;", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r9,[%%a]; add.u32 %%r9,%%r9,1; @%%q bra T; add.u32 %%r3,%%l,1; bra J;\n"
                 "T: %s add.u32 %%r4,%%l,2; add.u32 %%r4,%%r4,2; add.u32 %%r4,%%r4,2; add.u32 %%r4,%%r4,2; add.u32 "
                 "%%r4,%%r4,2;\nJ: st.global.u32 [%%a+4096],%%r4;\n",
                 rows[i].operation);
        rig_run("dpe", (const char *[]){"dpe.scheduler=constrained", NULL}, body, 32);
        ck_assert_msg(rig_stat("sm.path_rotations") == rows[i].turns, "%s %g", rows[i].operation,
                      rig_stat("sm.path_rotations"));
    }
}
END_TEST

/* ---- dws: paths split by hit and miss ---- */

/* Half of each warp loads from a line that the L1 has, and half loads from another line: HALF_LOAD reads both. */
static const char halves[] =
    "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,1; selp.b32 %r3,0,1024,%q; cvt.u64.u32 %b,%r3; add.u64 %b,%a,%b;\n"
    "ld.global.u32 %r2,[%b]; add.u32 %r2,%r2,1; add.u32 %r4,%r2,1; st.global.u32 [%a],%r4;";
enum { HALF_LOAD = 10, HALF_ADD, HALF_NEXT, HALF_STORE, HALF_EXIT };

static void run_dws(const char *memory, uint32_t threads, const char *body) {
    const char *const set[] = {memory, "memory.latency=600", "sm.registers=32768", "l1.merges=32", NULL};
    rig_run("dws", set, body, threads);
}

/* branch_bypass splits a warp when the tags of its two lines have been read, one line per cycle. So warp 1 is split
 * two cycles after warp 0, and warp 2 two cycles after warp 1. */
START_TEST(every_path_is_split_at_once) {
    run_dws("dws.memory=branch_bypass", 96, halves);
    for (uint32_t w = 1; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, HALF_ADD, LOW), rig_at(0, HALF_ADD, LOW) + 2 * w);
    ck_assert_double_eq(rig_stat("sm.memory_splits"), 3);
}
END_TEST

/* Under dws.memory=revive, a path is split only while the whole SM is stalled, and only one path at a time. When the
 * lanes of a split path that hit have exited, the SM is stalled again, and the next path is split at the end of this
 * cycle. The data of its lanes that hit are in the register after 2 more cycles of write-back. */
START_TEST(one_path_at_a_time_is_revived) {
    run_dws("dws.memory=revive", 96, halves);
    for (uint32_t w = 0; w < 3; w++) {
        uint64_t begin = rig_at(w, HALF_ADD, LOW);
        ck_assert_uint_eq(rig_at(w, HALF_NEXT, LOW), begin + ADD);
        ck_assert_uint_eq(rig_at(w, HALF_STORE, LOW), begin + 2 * ADD);
        ck_assert_uint_eq(rig_at(w, HALF_EXIT, LOW), begin + 2 * ADD + FETCH);
        if (w)
            ck_assert_uint_eq(begin, rig_at(w - 1, HALF_EXIT, LOW) + 2);
    }
    ck_assert_double_eq(rig_stat("sm.memory_splits"), 3);
}
END_TEST

/* The last of three warps executes a chain of additions while the other warps wait. No path is split before the chain
 * ends. After its end, paths are split one at a time.
 * - candidates are tried in the order of their last event: the arrival of their first load, in one cycle for all
 * - events of one cycle are processed last in, first out (wheel.h), so warp 1 is first */
START_TEST(nothing_is_revived_while_a_warp_can_issue) {
    static const char body[] =
        "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,1; setp.ge.u32 %o,%t,64; @%o bra CHAIN;\n"
        "selp.b32 %r3,0,1024,%q; cvt.u64.u32 %b,%r3; add.u64 %b,%a,%b; ld.global.u32 %r2,[%b]; add.u32 %r2,%r2,1;\n"
        /* the load is instruction 12, and its use is instruction 13 */
        "add.u32 %r4,%r2,1; st.global.u32 [%a],%r4; ret;\nCHAIN:"
        "add.u32 %r5,%t,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1;\n"
        "add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1;\n"
        "add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1; add.u32 %r5,%r5,1;";
    run_dws("dws.memory=revive", 96, body);
    uint64_t end = 0;
    for (uint32_t i = 0; i < rig_n; i++)
        if (rig_slot[i].warp == 2)
            end = rig_slot[i].cycle;
    ck_assert_uint_gt(end, rig_at(0, 12, ~0u) + 4 * ADD);
    ck_assert_uint_eq(rig_at(1, 13, LOW), end + 2);
    ck_assert_uint_eq(rig_at(0, 13, LOW), rig_at(1, 16, LOW) + 2);
}
END_TEST

SUITE(timing_sm_select) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_SPEED(any_stalled_warp_switches);
    TEST_SPEED(half_of_the_warps);
    TEST_SPEED(all_of_the_warps);
    TEST(the_latency_of_a_switch);
    TEST(yields_are_counted);
    TEST(slots_of_a_switch);
    TEST(a_slow_operation_hands_over);
    TEST(operations_that_hand_over);
    TEST(every_path_is_split_at_once);
    TEST(one_path_at_a_time_is_revived);
    TEST(nothing_is_revived_while_a_warp_can_issue);
}
