/* Tests the prefetch-aware scheduler, with picks that can be followed by hand. */
#include "test/mechanisms/policy_rig.h"

static void end_cycle(uint64_t live, uint64_t parked) {
    const struct warp_set l = {.word = {live}}, p = {.word = {parked}};
    sched_cycle_ends(&rig.s, &l, &p);
}

/* Eight warps and four in a group: group 0 has the even warps, group 1 the odd ones. A group keeps priority until all
 * its warps are parked. Meanwhile the other group fills idle slots. */
START_TEST(consecutive_warps_are_in_different_groups) {
    rig_start("prefetch_aware", "sched.active_warps=4", 0, 8, 2);
    ck_assert_int_eq(rig_issue(0, 0xff), 0);
    ck_assert_int_eq(rig_issue(1, 0xff), 2);
    ck_assert_int_eq(rig_issue(2, 0xaa), 3);
    end_cycle(0xff, 0x15); /* warp 6 is not parked */
    ck_assert_int_eq(rig_issue(3, 0xff), 4);
    end_cycle(0xff, 0x55);
    ck_assert_int_eq(rig_issue(4, 0xff), 5);
    ck_assert_int_eq(rig_issue(5, 0xff), 7);
    ck_assert_int_eq(rig_issue(6, 0xff), 1);
    end_cycle(0xff, 0xff); /* no group can run: nothing changes */
    ck_assert_int_eq(rig_issue(7, 0xff), 3);
    end_cycle(0x55, 0x00); /* the warps of group 1 have ended */
    ck_assert_int_eq(rig_issue(8, 0xff), 4);
}
END_TEST

/* With 3 warps in a group, 8 warps need 3 groups. After warp 0, warp 3 is the next one of group 0. */
START_TEST(the_last_group_may_be_smaller) {
    rig_start("prefetch_aware", "sched.active_warps=3", 0, 8, 2);
    ck_assert_int_eq(rig_issue(0, 0xff), 0);
    ck_assert_int_eq(rig_issue(1, 0xff), 3);
    ck_assert_int_eq(rig_issue(2, 0xff), 6);
    ck_assert_int_eq(rig_issue(3, 0xff), 0);
}
END_TEST

/* With two schedulers, an even number of groups would put all warps of a scheduler into half of the groups. So the 16
 * warps, at most 4 of each scheduler in a group, form 3 groups instead of 2: scheduler 1 has the warps 1, 3, 5 ... 15,
 * of which 3, 9 and 15 are in group 0. */
START_TEST(each_scheduler_has_warps_of_each_group) {
    struct config cfg;
    struct sched s;
    uint32_t age[WARP_SLOTS] = {0};
    const struct warp_set all = {.word = {0xaaaa}};
    static const int picks[] = {3, 9, 15, 3};
    config_default(&cfg);
    cfg.sm.warps = 16;
    cfg.sm.schedulers = 2;
    cfg.sm.active_warps = 4;
    ck_assert(sched_init(&s, mechanism_scheduler("prefetch_aware"), &cfg.sm, 1));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(sched_pick(&s, &all, age, 1), picks[i]);
        sched_issued(&s, picks[i]);
    }
    sched_free(&s);
}
END_TEST

/* A context (a warp without a CTA) is in no group. It has priority over all groups. */
START_TEST(contexts_come_first) {
    rig_start("prefetch_aware", "sched.active_warps=4", 0, 8, 2);
    ck_assert_int_eq(rig_issue(0, 0x1ff), 8);
    ck_assert_int_eq(rig_issue(1, 0xff), 0);
}
END_TEST

START_TEST(threads_change_nothing) { rig_check_threads("sched.policy=prefetch_aware"); }
END_TEST
START_TEST(results_do_not_change) { rig_check_results("sched.policy=prefetch_aware"); }
END_TEST

SUITE(mechanisms_orchestrated) {
    tcase_add_checked_fixture(tc, NULL, rig_stop);
    TEST(consecutive_warps_are_in_different_groups);
    TEST(the_last_group_may_be_smaller);
    TEST(each_scheduler_has_warps_of_each_group);
    TEST(contexts_come_first);
    TEST(threads_change_nothing);
    TEST(results_do_not_change);
}
