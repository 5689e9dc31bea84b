/* Tests schedulers with groups of CTAs, with picks that can be followed by hand. */
#include "test/mechanisms/policy_rig.h"

/* Eight warps in four CTAs of two warps. With owl.group_warps=4, a group has two CTAs: {0 1 2 3} and {4 5 6 7}. */
static void start(const char *policy, uint32_t sm) { rig_start(policy, "owl.group_warps=4", sm, 8, 2); }

static void end_cycle(uint64_t live, uint64_t parked) {
    const struct warp_set l = {.word = {live}}, p = {.word = {parked}};
    sched_cycle_ends(&rig.s, &l, &p);
}

/* Group 0 has priority and issues round-robin. While none of its warps is ready, group 1 issues. When all warps of
 * group 0 are parked, group 1 gets priority, and keeps it when warps of group 0 are ready again. */
START_TEST(a_parked_group_loses_priority) {
    start("cta_groups", 0);
    ck_assert_int_eq(rig_issue(0, 0xff), 0);
    ck_assert_int_eq(rig_issue(1, 0xff), 1);
    ck_assert_int_eq(rig_issue(2, 0xf0), 4);
    ck_assert_int_eq(rig_issue(3, 0xff), 0);
    end_cycle(0xff, 0x07); /* warp 3 is not parked */
    ck_assert_int_eq(rig_issue(4, 0xff), 1);
    end_cycle(0xff, 0x0f);
    ck_assert_int_eq(rig_issue(5, 0xff), 4);
    ck_assert_int_eq(rig_issue(6, 0xff), 5);
    end_cycle(0xff, 0xff); /* no group can run: nothing changes */
    ck_assert_int_eq(rig_issue(7, 0xff), 6);
    end_cycle(0x0f, 0x00); /* the CTAs of group 1 have ended */
    ck_assert_int_eq(rig_issue(8, 0xff), 0);
}
END_TEST

/* A group has the smallest number of CTAs that have at least owl.group_warps warps: 1, 1, 2, 2 and 3 CTAs of two warps.
 * 1. Warp 1 issues, and then warps 0 and 2 are ready. If they are in one group (of at least two CTAs), warp 2 issues,
 *    which is next in round-robin order. Otherwise warp 0 issues, because its group has priority.
 * 2. Warp 3 issues, and then warps 1 and 4 are ready. If they are in one group (of three CTAs), warp 4 issues,
 *    otherwise warp 1. */
START_TEST(groups_have_enough_warps) {
    static const struct {
        const char *set;
        int after_1, after_3;
    } rows[] = {{"owl.group_warps=1", 0, 1},
                {"owl.group_warps=2", 0, 1},
                {"owl.group_warps=3", 2, 1},
                {"owl.group_warps=4", 2, 1},
                {"owl.group_warps=5", 2, 4}};
    rig_start("cta_locality", rows[_i].set, 0, 8, 2);
    ck_assert_int_eq(rig_issue(0, 1 << 1), 1);
    ck_assert_int_eq(rig_issue(1, 1 << 0 | 1 << 2), rows[_i].after_1);
    ck_assert_int_eq(rig_issue(2, 1 << 3), 3);
    ck_assert_int_eq(rig_issue(3, 1 << 1 | 1 << 4), rows[_i].after_3);
}
END_TEST

/* Warp 3 is in the first group, warp 4 in the second one, which has priority from cycle 4096 to 8191. */
START_TEST(priority_changes_with_time) {
    start("cta_locality", 0);
    ck_assert_int_eq(rig_issue(4095, 1 << 3 | 1 << 4), 3);
    ck_assert_int_eq(rig_issue(4096, 1 << 3 | 1 << 4), 4);
    end_cycle(0xff, 0xf0); /* a group keeps priority while it waits */
    ck_assert_int_eq(rig_issue(4097, 0x0f), 0);
    ck_assert_int_eq(rig_issue(4098, 0xff), 4);
    ck_assert_int_eq(rig_issue(8192, 0xff), 0);
}
END_TEST

/* Under cta_banks, SM 1 begins with the second group, and SM 2 with the first one again. */
START_TEST(neighbours_begin_with_other_groups) {
    start("cta_banks", (uint32_t)_i);
    ck_assert_int_eq(rig_issue(0, 0xff), _i % 2 ? 4 : 0);
    ck_assert_int_eq(rig_issue(4096, 0xff), _i % 2 ? 0 : 4);
}
END_TEST

/* The warp in slot 6 is a context, which has no CTA. A context has priority over all groups. */
START_TEST(contexts_come_first) {
    start("cta_locality", 0);
    rig.warp[6] = (struct sched_warp){UINT64_MAX, 64};
    ck_assert_int_eq(rig_issue(0, 0xff), 6);
    ck_assert_int_eq(rig_issue(1, 0x3f), 0);
}
END_TEST

static const char *const options[] = {"sched.policy=cta_groups", "sched.policy=cta_locality", "sched.policy=cta_banks"};
START_TEST(threads_change_nothing) { rig_check_threads(options[_i]); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results(options[_i]); }
END_TEST

SUITE(mechanisms_owl) {
    tcase_add_checked_fixture(tc, NULL, rig_stop);
    TEST(a_parked_group_loses_priority);
    TEST_LOOP(groups_have_enough_warps, 0, 5);
    TEST(priority_changes_with_time);
    TEST_LOOP(neighbours_begin_with_other_groups, 0, 3);
    TEST(contexts_come_first);
    TEST_LOOP(threads_change_nothing, 0, 3);
    TEST_LOOP(results_do_not_change, 0, 3);
}
