/* The order in which schedulers pick warps. */
#include "timing/sm/sched.h"
#include "test/test.h"

static struct sched make(uint32_t policy, uint32_t active) {
    struct config c;
    struct sched s;
    config_default(&c);
    c.sm.warps = 8;
    c.sm.schedulers = 2;
    c.sm.policy = policy;
    c.sm.active_warps = active;
    sched_init(&s, &c.sm, 0);
    return s;
}

START_TEST(warps_are_dealt_out_in_turn) {
    struct config c;
    struct sched s;
    config_default(&c);
    c.sm.warps = 8;
    c.sm.schedulers = 2;
    sched_init(&s, &c.sm, 1);
    ck_assert_uint_eq(s.mine, 0xaa);
}
END_TEST

/* lrr: the next ready warp after the one that issued last, whoever is ready. */
START_TEST(lrr_goes_round) {
    struct sched s = make(SCHED_LRR, 0);
    static const int order[] = {0, 2, 4, 6, 0};
    for (int i = 0; i < 5; i++) {
        int w = sched_pick(&s, 0x55, NULL);
        ck_assert_int_eq(w, order[i]);
        sched_issued(&s, w);
    }
    ck_assert_int_eq(sched_pick(&s, 0x41, NULL), 6); /* last was 0: 2 and 4 are not ready */
    ck_assert_int_eq(sched_pick(&s, 0x01, NULL), 0);
}
END_TEST

/* gto: stays with a warp until it stalls, then takes the oldest. */
START_TEST(gto_is_greedy_then_oldest) {
    struct sched s = make(SCHED_GTO, 0);
    const uint32_t age[8] = {[0] = 30, [2] = 10, [4] = 20, [6] = 40};
    int w = sched_pick(&s, 0x55, age);
    ck_assert_int_eq(w, 2);
    sched_issued(&s, w);
    ck_assert_int_eq(sched_pick(&s, 0x55, age), 2);
    ck_assert_int_eq(sched_pick(&s, 0x51, age), 4);
    sched_issued(&s, 4);
    ck_assert_int_eq(sched_pick(&s, 0x55, age), 4);
}
END_TEST

/* two_level with two places: only warps in the active set issue, and one that waits long makes room. */
START_TEST(two_level_replaces_parked_warps) {
    struct sched s = make(SCHED_TWO_LEVEL, 2);
    sched_update(&s, 0x55, 0);
    ck_assert_uint_eq(s.active, 0x05);
    ck_assert_int_eq(sched_pick(&s, 0x55, NULL), 0);
    ck_assert_int_eq(sched_pick(&s, 0x50, NULL), -1); /* 4 and 6 are ready, but not active */
    sched_update(&s, 0x55, 0x01);                     /* 0 is parked: 4 takes its place */
    ck_assert_uint_eq(s.active, 0x14);
    sched_update(&s, 0x55, 0x04); /* 2 is parked: 6 is next */
    ck_assert_uint_eq(s.active, 0x50);
    sched_update(&s, 0x55, 0x40); /* 6 is parked: the turn comes round to 0 */
    ck_assert_uint_eq(s.active, 0x11);
}
END_TEST

START_TEST(two_level_drops_warps_that_are_gone) {
    struct sched s = make(SCHED_TWO_LEVEL, 4);
    sched_update(&s, 0x55, 0);
    sched_update(&s, 0x50, 0);
    ck_assert_uint_eq(s.active, 0x50);
}
END_TEST

SUITE(timing_sched) {
    TEST(warps_are_dealt_out_in_turn);
    TEST(lrr_goes_round);
    TEST(gto_is_greedy_then_oldest);
    TEST(two_level_replaces_parked_warps);
    TEST(two_level_drops_warps_that_are_gone);
}
