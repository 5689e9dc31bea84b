/* Tests the criticality of warps and the picks of the warp scheduler gcaws. Expected values are computed by hand. */
#include "isa/program.h"
#include "test/mechanisms/policy_rig.h"

/* Issues an instruction of warp `w`, which has two lanes, at PC 100 in cycle `now`. If `target` is not 0, the
 * instruction is a branch, which the lanes in `taken` take. */
static void issue(uint32_t w, uint64_t now, uint32_t target, uint32_t rpc, lanemask_t taken) {
    struct inst in = {.kind = target ? K_BRANCH : K_LANE};
    in.target = target;
    in.rpc = rpc;
    rig.next_cycle = now + 1;
    sched_issued(&rig.s, (int)w);
    sched_tell_executed(&rig.s, &(struct sched_executed){w, 100, 3, taken, &in});
}

/* Returns the warp that is picked if the warp that issued last is not ready. */
static int next(uint64_t now, uint64_t ready) {
    rig.s.last = 63;
    return rig_issue(now, ready);
}

/* The warp that issued last is picked while it is ready. Then the oldest of equal warps is picked. */
START_TEST(greedy_then_oldest) {
    rig_start("gcaws", NULL, 0, 4, 2);
    rig.age[0] = 9;
    ck_assert_int_eq(rig_issue(0, 0xf), 1);
    ck_assert_int_eq(rig_issue(1, 0xf), 1);
    ck_assert_int_eq(rig_issue(2, 0xd), 2);
}
END_TEST

/* A warp without branches issues n instructions; its last one issues c cycles after its start.
 * 1. Each instruction subtracts one from the instructions left: left = -n.
 * 2. CPI = c / n, and stalls = c - (n - 1).
 * 3. The criticality is left x CPI + stalls = -c + c - (n - 1) = -(n - 1).
 * So the warp that has issued the fewest instructions is the most critical one, however long it has stalled. Warp 0
 * issues 3 instructions, warp 1 issues 2 with long stalls in between, and warp 2 issues 2. */
START_TEST(slow_warps_are_critical) {
    rig_start("gcaws", NULL, 0, 4, 2);
    for (uint64_t i = 0; i < 3; i++)
        issue(0, i, 0, 0, 0);
    issue(1, 3, 0, 0, 0);
    issue(2, 4, 0, 0, 0);
    issue(2, 5, 0, 0, 0);
    issue(1, 90, 0, 0, 0);
    ck_assert_int_eq(next(100, 0x7), 1); /* warps 1 and 2 are equally critical, and warp 1 is older */
    rig.age[1] = 9;
    ck_assert_int_eq(next(101, 0x7), 2);
    ck_assert_int_eq(next(102, 0x3), 1);
    ck_assert_int_eq(next(103, 0x1), 0);
}
END_TEST

/* Each row has a branch at PC 100 and the length of the path that warp 1 takes after it. Warp 0 takes a path that is as
 * long, one instruction shorter or one instruction longer. Both warps issue an instruction in cycle 0, and the branch
 * in cycle 8. So both have issued 2 instructions, with a CPI of 8 / 2 and 7 stalls: the criticality is (length - 2) x 4
 * + 7. The warp with the longer path is picked. */
START_TEST(branches_predict) {
    static const struct {
        uint32_t target, rpc;
        lanemask_t taken;
        uint32_t length;
    } rows[] = {{111, 131, 3, 20},    /* else: from the target to the reconvergence point */
                {111, 131, 0, 10},    /* then: up to the target */
                {111, 131, 1, 30},    /* both */
                {111, 111, 3, 0},     /* an if without else, skipped */
                {111, 111, 0, 10},    /* an if without else */
                {111, PC_EXIT, 3, 0}, /* the end of the path is not known */
                {91, 101, 3, 10},     /* a loop of PCs 91 to 100 */
                {91, 101, 1, 10},     /* the loop continues for some lanes */
                {91, 101, 0, 0}};     /* the loop ends */
    const uint32_t length = rows[_i].length;
    for (uint32_t other = length ? length - 1 : 0; other <= length + 1; other++) {
        rig_start("gcaws", NULL, 0, 4, 2);
        rig.age[0] = 9; /* warp 1 is older, so it is picked if both paths are equally long */
        issue(0, 0, 0, 0, 0);
        issue(1, 0, 0, 0, 0);
        issue(0, 8, 101 + other, 101 + other, 0);
        issue(1, 8, rows[_i].target, rows[_i].rpc, rows[_i].taken);
        ck_assert_int_eq(next(20, 0x3), other > length ? 0 : 1);
        rig.age[0] = 0;
        ck_assert_int_eq(next(21, 0x3), other >= length ? 0 : 1);
        rig_stop();
    }
}
END_TEST

/* A new warp in the slot starts without a history. */
START_TEST(a_new_warp_starts_anew) {
    rig_start("gcaws", NULL, 0, 4, 2);
    issue(0, 0, 201, 201, 0);
    issue(0, 5, 0, 0, 0);
    issue(1, 6, 0, 0, 0);
    rig.age[0] = 9;
    ck_assert_int_eq(next(7, 0x3), 0); /* warp 0 has 98 instructions left */
    sched_warp_starts(&rig.s, 0);
    issue(0, 8, 0, 0, 0);
    ck_assert_int_eq(next(9, 0x3), 1);
}
END_TEST

START_TEST(threads_change_nothing) { rig_check_threads("sched.policy=gcaws"); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results("sched.policy=gcaws"); }
END_TEST

SUITE(mechanisms_cawa) {
    tcase_add_checked_fixture(tc, NULL, rig_stop);
    TEST(greedy_then_oldest);
    TEST(slow_warps_are_critical);
    TEST_LOOP(branches_predict, 0, 9);
    TEST(a_new_warp_starts_anew);
    TEST(threads_change_nothing);
    TEST(results_do_not_change);
}
