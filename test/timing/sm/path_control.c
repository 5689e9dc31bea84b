/* Tests paths of a warp that run concurrently: their indices in the model, waits at fences and after atomics, and
 * active warps under the two_level scheduler. All tests run on configs/tiny.cfg. */
#include "slots_rig.h"
#include "test/every_model.h"

#define LOW  0x0000ffffu
#define HIGH 0xffff0000u
#define ADDS "add.u32 %r3,%r3,1; add.u32 %r4,%r4,2; add.u32 %r5,%r5,3; add.u32 %r6,%r6,4; add.u32 %r7,%r7,5;\n"

/* One half of a warp waits for its load in the middle of a basic block. Most models do not know its PC at this time,
 * because they are notified only when a block ends. The other half branches twice more, and waits for loads, a
 * barrier and other lanes. There is no loop: no lane issues an instruction twice, however often it is suspended, and
 * all lanes issue the last instructions. */
static const char apart[] =
    "mov.u32 %r3,%l; mov.u32 %r4,%l; mov.u32 %r5,%l; mov.u32 %r6,%l; mov.u32 %r7,%l; @%q bra T;\n" ADDS
    "ld.global.u32 %r8,[%a+2048];\n" ADDS "add.u32 %r3,%r3,%r8;\n" ADDS "bra J;\n"
    "T: setp.lt.u32 %o,%l,8;\n @%o bra U; ld.global.u32 %r8,[%a+4096]; add.u32 %r4,%r4,%r8;\n" ADDS "bra V;\n"
    "U: setp.lt.u32 %w,%l,4;\n @%w bra W; add.u32 %r5,%r5,7;\n" ADDS "bra X;\nW: ld.global.u32 %r8,[%a+8192];\n" ADDS
    "add.u32 %r6,%r6,%r8;\nX:" ADDS "V:" ADDS "J: bar.sync 0;\n" ADDS
    "add.u32 %r3,%r3,%r4; add.u32 %r5,%r5,%r6; add.u32 %r3,%r3,%r5; add.u32 %r3,%r3,%r7;\n"
    "mad.wide.u32 %b,%t,4,%a; st.global.u32 [%b+16384],%r3;";

/* Returns the result of a lane. It is the sum of five times the lane's number, 15 for each execution of ADDS on the
 * lane's path, and 7 for lanes 4 to 7. */
static uint32_t sum_of(uint32_t lane) {
    uint32_t rounds = lane >= 16 ? 4 : lane >= 8 ? 3 : 4;
    return 5 * lane + 15 * rounds + (lane >= 4 && lane < 8 ? 7 : 0);
}

START_TEST(no_lane_does_anything_twice) {
    static const char *const sets[][4] = {{"sm.registers=32768", NULL},
                                          {"sm.registers=32768", "si.trigger=any", NULL},
                                          {"sm.registers=32768", "dpe.scheduler=constrained", NULL},
                                          {"sm.registers=32768", "dws.memory=branch_bypass", NULL}};
    const char *model = base_models()->name[_i / 4];
    rig_run(model, sets[_i % 4], apart, 64);
    uint32_t last = 0;
    for (uint32_t i = 0; i < rig_n; i++)
        last = rig_slot[i].pc > last ? rig_slot[i].pc : last;
    for (uint32_t w = 0; w < 2; w++)
        for (uint32_t pc = 0; pc <= last; pc++)
            for (uint32_t lane = 0; lane < 32; lane++) {
                uint32_t n = rig_times(w, pc, lane);
                EXPECT(n <= 1, "%s: pc %u, lane %u: %u times", model, pc, lane, n);
                EXPECT(n == 1 || pc > 4, "%s: pc %u, lane %u: never", model, pc, lane);
            }
    uint32_t got[64];
    ck_assert_int_eq(heddle_read(rig, rig_buffer + 16384, got, sizeof got), HEDDLE_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(got[t], sum_of(t % 32));
}
END_TEST

/* A load's data are in the register 2 cycles of write-back after the access has ended. A fence waits until the
 * access has ended. An instruction that is independent of the load does not wait. */
START_TEST(a_fence_waits_for_accesses) {
    static const char *const bodies[] = {
        "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,%l; st.global.u32 [%a],%r2;",
        "ld.global.u32 %r2,[%a]; membar.gl; add.u32 %r2,%r2,%l; st.global.u32 [%a],%r2;",
        "ld.global.u32 %r2,[%a]; add.u32 %r3,%l,%l; add.u32 %r2,%r2,%r3; st.global.u32 [%a],%r2;"};
    uint64_t after[3];
    for (int i = 0; i < 3; i++) {
        rig_run("spe", (const char *[]){"memory.latency=600", NULL}, bodies[i], 32);
        after[i] = rig_at(0, 6, ~0u) - rig_at(0, 5, ~0u);
    }
    ck_assert_uint_gt(after[0], 600);
    ck_assert_uint_eq(after[1], after[0] - 2);
    ck_assert_uint_le(after[2], 3);
}
END_TEST

/* Only the result of the load that missed is reported as a miss. Later instructions, which use the same table entry,
 * are not. */
START_TEST(only_the_load_has_missed) {
    rig_run("spe", NULL, "ld.global.u32 %r2,[%a+256]; add.u32 %r2,%r2,1; add.u32 %r2,%r2,1; st.global.u32 [%a],%r2;",
            32);
    for (uint32_t pc = 1; pc < 8; pc++)
        ck_assert_msg(rig_missed[pc] == (pc == 5), "pc %u", pc);
}
END_TEST

/* With peer.sm_atomic_wait, an atomic without a result delays its warp until the atomic has ended. Without this option,
 * the next instruction does not wait. */
START_TEST(an_atomic_delays_its_warp_or_not) {
    uint64_t after[2];
    for (int i = 0; i < 2; i++) {
        rig_run(
            "spe",
            (const char *[]){"memory.latency=600", i ? "peer.sm_atomic_wait=true" : "peer.sm_atomic_wait=false", NULL},
            "red.global.add.u32 [%a],%l; add.u32 %r3,%l,%l; st.global.u32 [%a+4096],%r3;", 32);
        after[i] = rig_at(0, 6, ~0u) - rig_at(0, 5, ~0u);
    }
    ck_assert_uint_lt(after[0], 40); /* the path waits only until the next edge, where the atomic is performed */
    ck_assert_uint_gt(after[1], 600);
}
END_TEST

/* Under two_level with an active set of one warp, a warp stays active while one of its paths can issue, even if the
 * other path waits for memory. So the additions of the two lower halves do not overlap. */
START_TEST(a_warp_that_has_work_stays_active) {
    rig_run("dpe",
            (const char *[]){"sched.policy=two_level", "sched.active_warps=1", "memory.latency=600",
                             "sm.registers=32768", NULL},
            "mov.u32 %r3,%l; @%q bra T; ld.global.u32 %r2,[%a+2048]; add.u32 %r3,%r2,1; bra J;\n"
            "T: add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1;\n"
            "add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1; add.u32 %r3,%r3,1;\n"
            "J: st.global.u32 [%a],%r3;",
            64);
    enum { LOAD = 7, CHAIN = 10, ADDITIONS = 10 };
    uint64_t begin[2], end[2];
    for (uint32_t w = 0; w < 2; w++) {
        begin[w] = rig_at(w, CHAIN, LOW);
        end[w] = rig_at(w, CHAIN + ADDITIONS - 1, LOW);
        ck_assert_uint_eq(end[w], begin[w] + 10 * (ADDITIONS - 1));
        ck_assert_uint_lt(rig_at(w, LOAD, HIGH), begin[w] + 10); /* the other path waits during this time */
    }
    ck_assert_msg(end[0] < begin[1] || end[1] < begin[0], "%u to %u and %u to %u", (unsigned)begin[0], (unsigned)end[0],
                  (unsigned)begin[1], (unsigned)end[1]);
}
END_TEST

SUITE(timing_sm_control) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST_LOOP(no_lane_does_anything_twice, 0, 4 * base_models()->n);
    TEST(a_fence_waits_for_accesses);
    TEST(only_the_load_has_missed);
    TEST(an_atomic_delays_its_warp_or_not);
    TEST(a_warp_that_has_work_stays_active);
}
