/* When a path makes room for another one, which warp's does first, and what it costs: to the cycle, on
 * configs/tiny.cfg. A fetch brings two instructions, which may issue two cycles after it; warps that do the same issue
 * one after another. A dependent addition comes 10 cycles later (test/timing/micro.c). */
#include "slots_rig.h"

#define LOW  0x0000ffffu
#define HIGH 0xffff0000u
enum { WARPS = 4, FETCH = 2, ADD = 10 };

/* ---- si: stalled subwarps ---- */

/* Each half of a warp loads a line and needs it at once. The lower half runs first. */
static const char loads[] = "@%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
                            "T: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2;\n";
enum { BSSY = 5, HIGH_LOAD = 7, HIGH_ADD, LOW_LOAD = 10, LOW_ADD, BSYNC };

static void run_si(const char *trigger, const char *latency, const char *yield, const char *body) {
    const char *const set[] = {"memory.latency=600", trigger, latency, yield, "its.switch_latency=7", "l1.merges=32",
                               "sm.registers=32768", NULL};
    rig_run("si", set, body, WARPS * 32);
}

/* Warps 0 to 3 issue the load of their lower half in four cycles in turn, and stand still from that cycle on. Who makes
 * room pays 3 cycles and fetches. The lowest-numbered warp that can is taken, one a cycle. */
static uint64_t low(uint32_t w) { return rig_at(w, LOW_LOAD, LOW); }
static uint64_t high(uint32_t w) { return rig_at(w, HIGH_LOAD, HIGH); }

START_TEST(any_stalled_warp_makes_room) {
    run_si("si.trigger=any", "si.switch_latency=3", "si.yield=off", loads);
    for (uint32_t w = 0; w < WARPS; w++) {
        ck_assert_uint_eq(low(w), low(0) + w);
        ck_assert_uint_eq(high(w), low(w) + 3 + FETCH);
    }
}
END_TEST

/* Half of four are two: warp 0 goes when warp 1 stalls, 1 when 2 does, 2 when 3 does, and warp 3 is alone until warp 0
 * stalls again, at the load of its other half; which has nobody to make room for. */
START_TEST(half_of_the_warps) {
    run_si("si.trigger=half", "si.switch_latency=3", "si.yield=off", loads);
    for (uint32_t w = 0; w + 1 < WARPS; w++)
        ck_assert_uint_eq(high(w), low(w + 1) + 3 + FETCH);
    ck_assert_uint_eq(high(3), high(0) + 3 + FETCH);
    /* The lower halves' data come, a cycle after one another. All four warps wait for their second load, and at once
     * each of three goes back to its first half, which is ready; warp 3 is then one of four, and stays. */
    for (uint32_t w = 1; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, LOW_ADD, LOW), rig_at(0, LOW_ADD, LOW) + w);
    ck_assert_uint_lt(rig_at(3, HIGH_ADD, HIGH), rig_at(3, LOW_ADD, LOW));
    /* Their BSYNC blocks the lower half: a selection of 7 cycles. The upper one's data are there. */
    for (uint32_t w = 0; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, HIGH_ADD, HIGH), rig_at(w, BSYNC, LOW) + 7 + FETCH);
    ck_assert_double_eq(rig_stat("sm.path_switches"), 3 * 3 + 2); /* warp 3 did not go back before its BSYNC */
}
END_TEST

/* All four: warp 0 goes when warp 3 has stalled, the next one when warp 0 has again, and so on. */
START_TEST(all_of_the_warps) {
    run_si("si.trigger=all", "si.switch_latency=3", "si.yield=off", loads);
    ck_assert_uint_eq(high(0), low(3) + 3 + FETCH);
    for (uint32_t w = 1; w < WARPS; w++)
        ck_assert_uint_eq(high(w), high(w - 1) + 3 + FETCH);
}
END_TEST

/* A switch is made at the end of a cycle, behind its fetch: without a latency the fetch goes out in the next one. With
 * one of n cycles, in the n-th. */
START_TEST(the_latency_of_a_selection) {
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

/* subwarp-yield behind the n-th long-latency operation, in the cycle in which it issues, before the fetch stage; an
 * addition is none. What comes behind waits. */
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
        if (n) /* the first operation was one too few */
            ck_assert_uint_lt(rig_at(0, behind[0] + 1, LOW), rig_at(0, HIGH_LOAD, HIGH));
    }
}
END_TEST

/* While a selection is paid for the slot is lost to reconvergence: 90 cycles more are 90 slots more, and nothing else.
 */
START_TEST(slots_of_a_selection) {
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
    /* Of 10 cycles from the BSYNC to the fetch, that of the BSYNC itself issued. */
    ck_assert_double_eq(slots[0], 9);
    ck_assert_double_eq(slots[1], 99);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq(others[0][k], others[1][k]);
}
END_TEST

/* ---- dpe.scheduler=constrained: one path is shown, and gives its turn to the other ---- */

/* The lower half divides, which is slow: in that cycle the other path is shown, and fetches. It has no slow operation
 * and keeps the turn until it joins. */
START_TEST(a_slow_operation_shows_the_other_path) {
    rig_run("dpe", (const char *[]){"dpe.scheduler=constrained", NULL},
            "@%q bra T; add.u32 %r3,%l,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; bra J;\n"
            "T: div.u32 %r2,%l,3; add.u32 %r4,%l,2;\nJ: st.global.u32 [%a],%r4;\n",
            32);
    uint64_t first = rig_at(0, 6, HIGH);
    ck_assert_uint_eq(first, rig_at(0, 10, LOW) + FETCH);
    ck_assert_uint_eq(rig_at(0, 7, HIGH), first + ADD);
    ck_assert_uint_eq(rig_at(0, 8, HIGH), first + 2 * ADD);
    ck_assert_uint_gt(rig_at(0, 11, LOW), rig_at(0, 9, HIGH)); /* its addition, though it waits for nothing */
    ck_assert_double_eq(rig_stat("sm.path_rotations"), 1);
}
END_TEST

/* An addition shows nobody, a load from shared memory does at once, one from global memory when it misses, and a store
 * does not. */
START_TEST(what_shows_the_other_path) {
    static const struct {
        const char *operation;
        double turns;
    } rows[] = {{"add.u32 %r2,%l,3;", 0},
                {"ld.shared.u32 %r2,[s];", 1},
                {"st.shared.u32 [s],%l;", 0},
                {"ex2.approx.f32 %f1,%f1;", 1},
                {"ld.global.u32 %r2,[%a+2048];", 1},
                {"ld.global.u32 %r2,[%a];", 0}, /* whose line is there */
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

/* ---- dws: paths parted by hit and miss ---- */

/* Half of each warp loads from a line that is there, half from another one: LOAD reads both. */
static const char halves[] =
    "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,1; selp.b32 %r3,0,1024,%q; cvt.u64.u32 %b,%r3; add.u64 %b,%a,%b;\n"
    "ld.global.u32 %r2,[%b]; add.u32 %r2,%r2,1; add.u32 %r4,%r2,1; st.global.u32 [%a],%r4;";
enum { HALF_LOAD = 10, HALF_ADD, HALF_NEXT, HALF_STORE, HALF_EXIT };

static void run_dws(const char *memory, uint32_t threads, const char *body) {
    const char *const set[] = {memory, "memory.latency=600", "sm.registers=32768", "l1.merges=32", NULL};
    rig_run("dws", set, body, threads);
}

/* branch_bypass parts each warp as soon as its two lines have been looked up, which takes a cycle each: so warp 1 is
 * parted two cycles after warp 0, and warp 2 after warp 1. */
START_TEST(every_path_is_parted_at_once) {
    run_dws("dws.memory=branch_bypass", 96, halves);
    for (uint32_t w = 1; w < 3; w++)
        ck_assert_uint_eq(rig_at(w, HALF_ADD, LOW), rig_at(0, HALF_ADD, LOW) + 2 * w);
    ck_assert_double_eq(rig_stat("sm.memory_splits"), 3);
}
END_TEST

/* revive parts a path only while the whole SM stands still, and one at a time: the next one at the end of the cycle in
 * which the lanes that go on have ended, and its data are in the register 2 cycles of write-back later. */
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

/* The last of three warps has a chain of additions to do while the others wait: nobody is parted before its end, and
 * then one warp a time. They are looked at in the order in which something changed for them, which was when their first
 * load was there: for all in one cycle, whose events are taken last come first (wheel.h). So warp 1 comes first. */
START_TEST(nobody_is_revived_while_somebody_works) {
    static const char body[] =
        "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,1; setp.ge.u32 %o,%t,64; @%o bra CHAIN;\n"
        "selp.b32 %r3,0,1024,%q; cvt.u64.u32 %b,%r3; add.u64 %b,%a,%b; ld.global.u32 %r2,[%b]; add.u32 %r2,%r2,1;\n"
        "add.u32 %r4,%r2,1; st.global.u32 [%a],%r4; ret;\nCHAIN:" /* the load is number 12, its use 13 */
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
    TEST_SPEED(any_stalled_warp_makes_room);
    TEST_SPEED(half_of_the_warps);
    TEST_SPEED(all_of_the_warps);
    TEST(the_latency_of_a_selection);
    TEST(yields_are_counted);
    TEST(slots_of_a_selection);
    TEST(a_slow_operation_shows_the_other_path);
    TEST(what_shows_the_other_path);
    TEST(every_path_is_parted_at_once);
    TEST(one_path_at_a_time_is_revived);
    TEST(nobody_is_revived_while_somebody_works);
}
