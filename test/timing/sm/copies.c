/* Tests the cost of one more copy, group or wait of cp.async, as the difference between a short and a long kernel of
 * one warp. configs/tiny.cfg has fixed memory of 100 cycles, and an L1 and shared memory of 10 cycles. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { TEXT = 64 * 1024, FEW = 32, MANY = 96, BUFFER = 1 << 16 };

#define COPY   "cp.async.ca.shared.global [%r2],[%d1],4;\n"
#define COMMIT "cp.async.commit_group;\n"
#define WAIT   "cp.async.wait_group 0;\n"

static double run(const char *repeat, int n, const char *const *set, uint32_t block) {
    static char text[TEXT];
    char err[512] = "";
    size_t at = (size_t)snprintf(
        text, TEXT,
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<16>; .reg "
        ".b64 %%d<8>; .reg .pred %%q<4>;\n.shared .align 16 .b8 s[4000]; .shared .align 8 .b8 b[8];\n"
        "ld.param.u64 %%d1,[p]; mov.u32 %%r1,%%tid.x; mul.wide.u32 %%d2,%%r1,4; add.u64 %%d1,%%d1,%%d2;\n"
        "mov.u32 %%r2,s; mad.lo.u32 %%r2,%%r1,4,%%r2; mov.u32 %%r3,s; mad.lo.u32 %%r3,%%r1,128,%%r3; mov.u32 %%r4,b;\n"
        "mov.u32 %%r5,%%ntid.x; mov.u32 %%r6,0; mov.u32 %%r10,0; mov.u32 %%r11,1000; setp.lt.u32 %%q1,%%r1,16; "
        "setp.eq.u32 %%q2,%%r1,0; \n@%%q2 mbarrier.init.shared.b64 [%%r4],%%r5;\n"
        "ld.global.u32 %%r7,[%%d1]; bar.sync 0; add.u32 %%r8,%%r7,1;\n");
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, TEXT - at, "{ %s }\n", repeat);
        ck_assert_uint_lt(at, TEXT - 256);
    }
    snprintf(text + at, TEXT - at, "cp.async.wait_all; ret;\n}\n");
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "tiny", .set = set, .cycle_limit = 10000000},
                    err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t buffer = heddle_alloc(h, BUFFER);
    const struct heddle_arg arg = {&buffer, 8};
    const struct heddle_dim one = {1, 1, 1}, threads = {block, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, threads, 0, &arg, 1) == HEDDLE_OK, "%.999s", heddle_error(h));
    double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* Returns the cycles that one more `repeat` takes when an option is set. */
static double each_set(const char *repeat, const char *option) {
    const char *const set[] = {option, NULL};
    return (run(repeat, MANY, set, 32) - run(repeat, FEW, set, 32)) / (MANY - FEW);
}
static double each(const char *repeat) { return each_set(repeat, NULL); }

/* Cycles of one iteration of copy, commit and wait:
 * - 1 + 2 + 1: issue latch, operands and pipe
 * - 10: L1, including address generation
 * - 9: one pass of the banks, whose latency of 10 begins in the cycle in which the line arrives
 * - 1: the wait issues in the cycle in which the copy completes, and the next copy issues one cycle later
 * - FETCH: a fetch brings two instructions, and an iteration has three. In every second iteration the next copy is
 *   fetched after the wait, which takes one more cycle. */
enum { TO_UNIT = 1 + 2 + 1, L1 = 10, BANKS = 9, ROUND = TO_UNIT + L1 + BANKS + 1 };
#define FETCH .5

START_TEST(a_copy_goes_through_the_l1_and_the_banks) {
    ck_assert_double_eq(each(COPY COMMIT WAIT), ROUND + FETCH);
    ck_assert_double_eq(each(COPY "cp.async.wait_all;"), ROUND);
    ck_assert_double_eq(each_set(COPY COMMIT WAIT, "l1.latency=35"), ROUND + FETCH + 25);
    ck_assert_double_eq(each_set(COPY COMMIT WAIT, "shared.latency=26"), ROUND + FETCH + 16);
}
END_TEST

/* All lanes use one bank, which takes 32 passes instead of one. */
START_TEST(a_copy_meets_bank_conflicts) {
    ck_assert_double_eq(each("cp.async.ca.shared.global [%r3],[%d1],4;\n" COMMIT WAIT), ROUND + FETCH + 31);
}
END_TEST

/* Only lane 0 copies. With .cg, the request bypasses the L1, which has the line, and leaves in the first cycle of
 * the access. So it takes 1 + 100 cycles instead of the L1's 10. The 16 bytes of the lane are in four banks, which
 * takes one pass. */
START_TEST(cg_goes_past_the_l1) {
    ck_assert_double_eq(each("@%q2 cp.async.cg.shared.global [%r2],[%d1],16;\n" COMMIT WAIT),
                        ROUND + FETCH - L1 + 1 + 100);
    ck_assert_double_eq(each("@%q2 cp.async.ca.shared.global [%r2],[%d1],16;\n" COMMIT WAIT), ROUND + FETCH);
}
END_TEST

/* These copies do not read memory. They write zeros to the banks in one pass, like a store, and do not take the L1's
 * 10 cycles. */
START_TEST(zeros_go_to_the_banks_alone) {
    ck_assert_double_eq(each("cp.async.ca.shared.global [%r2],[%d1],4,%r6;\n" COMMIT WAIT), TO_UNIT + 10 + 1 + FETCH);
    ck_assert_double_eq(each_set("cp.async.ca.shared.global [%r2],[%d1],4,%r6;\n" COMMIT WAIT, "l1.latency=35"),
                        TO_UNIT + 10 + 1 + FETCH);
}
END_TEST

/* If one, two or three groups may be in flight, two, three or four iterations overlap. */
START_TEST(groups_overlap) {
    ck_assert_double_eq_tol(each(COPY COMMIT "cp.async.wait_group 1;"), ROUND / 2., 1);
    ck_assert_double_eq_tol(each(COPY COMMIT "cp.async.wait_group 2;"), ROUND / 3., 1);
    ck_assert_double_eq_tol(each(COPY COMMIT "cp.async.wait_group 3;"), ROUND / 4., 1);
}
END_TEST

/* ADDS: two dependent additions of 10 cycles each (6 in the pipeline, latency 4), which execute while the copy is in
 * flight. */
#define ADDS "add.u32 %r8,%r8,1; add.u32 %r8,%r8,1;\n"
START_TEST(a_copy_hides_behind_arithmetic) {
    ck_assert_double_eq(each(COPY COMMIT ADDS WAIT), ROUND + FETCH);
    ck_assert_double_ge(each(COPY COMMIT ADDS ADDS ADDS WAIT), 60);
    ck_assert_double_le(each(COPY COMMIT ADDS ADDS ADDS WAIT), 60 + 6);
}
END_TEST

/* None of these instructions waits for a copy. Each takes one issue cycle, or two cycles where a fetch is needed. */
static const char *const free_waits[] = {
    COPY WAIT,                                                    /* the copy does not belong to a committed group */
    COPY "@!%q1 cp.async.commit_group;\n@%q1 bra OVER;\nOVER:\n", /* nothing waits */
    COPY COMMIT "membar.cta;",                                    /* a fence orders a thread's own accesses */
    COPY COMMIT "cp.async.wait_group 1000000;",
};
START_TEST(waits_that_need_no_copy) { ck_assert_double_lt(each(free_waits[_i]), ROUND / 2.); }
END_TEST

/* Half of the lanes commit a group, and wait for it. The other half has no group, and does not wait. */
START_TEST(each_lane_has_groups_of_its_own) {
    const char *committed = COPY "@%q1 cp.async.commit_group;\n@!%q1 bra OVER;\n" WAIT "OVER:\n",
               *others = COPY "@%q1 cp.async.commit_group;\n@%q1 bra OVER;\n" WAIT "OVER:\n";
    ck_assert_double_ge(each(committed), ROUND);
    ck_assert_double_lt(each(others), ROUND);
}
END_TEST

/* ARRIVE arrives at an mbarrier when the copies before it are complete. LOOK_FOR is a loop that tests for the arrival,
 * so it does not end earlier. ARRIVE itself does not delay the warp that issued it. */
#define ARRIVE   "cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];\n"
#define LOOK_FOR "L: mbarrier.test_wait.parity.shared.b64 %q2,[%r4],%r10; @!%q2 bra L; xor.b32 %r10,%r10,1;\n"
START_TEST(an_arrival_waits_for_the_copies_before_it) {
    double without = each(ARRIVE LOOK_FOR), with = each(COPY ARRIVE LOOK_FOR);
    double later = each_set(COPY ARRIVE LOOK_FOR, "l1.latency=235");
    ck_assert_double_ge(with, ROUND);
    ck_assert_double_gt(with, without);
    ck_assert_double_eq_tol(later - with, 225, 40); /* the tolerance, 40 cycles, is about one iteration of LOOK_FOR */
}
END_TEST

START_TEST(an_arrival_does_not_delay_its_warp) {
    const char *one = "mbarrier.init.shared.b64 [%r4],%r11;" COPY "cp.async.mbarrier.arrive.shared.b64 [%r4];\n";
    double now = each_set(one, "l1.latency=35"), later = each_set(one, "l1.latency=235");
    ck_assert_double_eq_tol(now, later, now / 2);
}
END_TEST

/* All running warps repeat the same steps for much longer than deadlock.cycles, until the copy completes and arrives
 * at the mbarrier. */
START_TEST(a_spin_that_a_copy_ends_is_no_deadlock) {
    const char *const set[] = {"memory.latency=90000", "deadlock.cycles=10000", NULL};
    const char *spin = "cp.async.ca.shared.global [%r2],[%d1+4096],4;\n" ARRIVE LOOK_FOR;
    ck_assert_double_ge(run(spin, 1, set, 32), 2 * 90000); /* latencies of the first load and of the copy */
}
END_TEST

/* Parts of two kernels in which 31 warps issue three arrivals each while their copies are in flight. These are more
 * arrivals than the table of pending arrivals holds. The mbarrier's phase ends when all have arrived. NEAR arrives by a
 * shared address. GENERIC arrives by a generic address: such arrivals are performed at an edge (timing/windows.h),
 * several in the same cycle. */
#define FAR     "mov.u64 %d3,b; cvta.shared.u64 %d3,%d3; cp.async.ca.shared.global [%r2],[%d1+4096],4;\n"
#define NEAR    "cp.async.mbarrier.arrive.shared.b64 [%r4];\n"
#define GENERIC "cp.async.mbarrier.arrive.b64 [%d3];\n"
#define OWN     "mbarrier.arrive.shared.b64 %d4,[%r4];\n"
static const char *const announce[] = {FAR NEAR NEAR NEAR OWN LOOK_FOR, FAR GENERIC GENERIC GENERIC OWN LOOK_FOR};
START_TEST(arrivals_without_an_entry_happen_too) {
    const char *const set[2][7] = {
        {"sm.warps=32", "sm.registers=65536", "l1.size=65536", "l1.mshrs=64", "memory.latency=20000"},
        {"sm.warps=32", "sm.registers=65536", "l1.size=65536", "l1.mshrs=64", "memory.latency=40000"}};
    double near = run(announce[_i], 1, set[0], 31 * 32), far = run(announce[_i], 1, set[1], 31 * 32);
    if (!LEAST_TABLES) /* with the smallest tables, the test only checks that the kernels end */
        /* memory's latency grows by 20000 and is paid three times: for the first line of code, the load, and the
         * copies */
        ck_assert_double_eq(far - near, 3 * 20000);
}
END_TEST

SUITE(timing_sm_copies) {
    TEST(a_copy_goes_through_the_l1_and_the_banks);
    TEST(a_copy_meets_bank_conflicts);
    TEST(cg_goes_past_the_l1);
    TEST(zeros_go_to_the_banks_alone);
    TEST(groups_overlap);
    TEST(a_copy_hides_behind_arithmetic);
    TEST_LOOP(waits_that_need_no_copy, 0, 4);
    TEST(each_lane_has_groups_of_its_own);
    TEST(an_arrival_waits_for_the_copies_before_it);
    TEST(a_spin_that_a_copy_ends_is_no_deadlock);
    TEST_LOOP(arrivals_without_an_entry_happen_too, 0, 2);
    TEST_SPEED(an_arrival_does_not_delay_its_warp);
}
