/* The order in which schedulers pick warps. */
#include "timing/sm/sched.h"
#include "test/test.h"

/* Returns a set of these warps. A machine of 8 warps uses one word; the others hold anything. */
static struct warp_set set(uint64_t bits) {
    struct warp_set s;
    memset(&s, 0xff, sizeof s);
    s.word[0] = bits;
    return s;
}

/* Picks a warp. The unused words of a set hold anything. */
static int pick(const struct sched *s, uint64_t ready, const uint32_t *age) {
    struct warp_set r = set(ready);
    memset(r.word + 1, 0xff, sizeof r.word - sizeof r.word[0]);
    return sched_pick(s, &r, age, s->words);
}

static void update(struct sched *s, uint64_t live, uint64_t parked) {
    struct warp_set l = set(live), p = set(parked);
    sched_update(s, &l, &p);
}

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
    ck_assert_uint_eq(s.mine.word[0], 0xaa);
}
END_TEST

/* lrr: the next ready warp after the last issuer. */
START_TEST(lrr_goes_round) {
    struct sched s = make(SCHED_LRR, 0);
    static const int order[] = {0, 2, 4, 6, 0};
    for (int i = 0; i < 5; i++) {
        int w = pick(&s, 0x55, NULL);
        ck_assert_int_eq(w, order[i]);
        sched_issued(&s, w);
    }
    ck_assert_int_eq(pick(&s, 0x41, NULL), 6); /* 0 was last: 2 and 4 are not ready */
    ck_assert_int_eq(pick(&s, 0x01, NULL), 0);
}
END_TEST

/* gto: stays with a warp until it stalls, then picks the oldest. */
START_TEST(gto_is_greedy_then_oldest) {
    struct sched s = make(SCHED_GTO, 0);
    const uint32_t age[8] = {[0] = 30, [2] = 10, [4] = 20, [6] = 40};
    int w = pick(&s, 0x55, age);
    ck_assert_int_eq(w, 2);
    sched_issued(&s, w);
    ck_assert_int_eq(pick(&s, 0x55, age), 2);
    ck_assert_int_eq(pick(&s, 0x51, age), 4);
    sched_issued(&s, 4);
    ck_assert_int_eq(pick(&s, 0x55, age), 4);
}
END_TEST

/* two_level with two places: only active warps issue, and a parked warp is replaced. */
START_TEST(two_level_replaces_parked_warps) {
    struct sched s = make(SCHED_TWO_LEVEL, 2);
    update(&s, 0x55, 0);
    ck_assert_uint_eq(s.active.word[0], 0x05);
    ck_assert_int_eq(pick(&s, 0x55, NULL), 0);
    ck_assert_int_eq(pick(&s, 0x50, NULL), -1); /* 4 and 6 are ready, but not active */
    update(&s, 0x55, 0x01);                     /* 0 is parked: 4 takes its place */
    ck_assert_uint_eq(s.active.word[0], 0x14);
    update(&s, 0x55, 0x04); /* 2 is parked: 6 is next */
    ck_assert_uint_eq(s.active.word[0], 0x50);
    update(&s, 0x55, 0x40); /* 6 is parked: 0 is next in turn */
    ck_assert_uint_eq(s.active.word[0], 0x11);
}
END_TEST

START_TEST(two_level_drops_warps_that_are_gone) {
    struct sched s = make(SCHED_TWO_LEVEL, 4);
    update(&s, 0x55, 0);
    update(&s, 0x50, 0);
    ck_assert_uint_eq(s.active.word[0], 0x50);
}
END_TEST

/* 128 warps, two schedulers, and four more slots for contexts. Warps 0, 2, ... 126 belong to the first scheduler, and
 * slots 128 and 130 when they are opened. */
static struct sched make_wide(uint32_t policy) {
    struct config c;
    struct sched s;
    config_default(&c);
    c.sm.warps = 128;
    c.sm.schedulers = 2;
    c.sm.policy = policy;
    c.sm.active_warps = 2;
    sched_init(&s, &c.sm, 0);
    ck_assert_uint_eq(warp_set_count(&s.mine, WARP_WORDS), 64);
    ck_assert_uint_eq(s.words, 2);
    sched_add(&s, 130);
    ck_assert_uint_eq(s.words, 3);
    ck_assert(warp_set_has(&s.mine, 126) && !warp_set_has(&s.mine, 127) && warp_set_has(&s.mine, 130));
    return s;
}

static struct warp_set these(int n, const uint32_t w[]) {
    struct warp_set s = {.word = {0}};
    for (int i = 0; i < n; i++)
        warp_set_add(&s, w[i]);
    return s;
}

/* lrr goes round all words, including the warp that issued last. */
START_TEST(lrr_goes_round_all_words) {
    struct sched s = make_wide(SCHED_LRR);
    struct warp_set ready = these(5, (const uint32_t[]){2, 62, 64, 126, 130});
    static const int order[] = {2, 62, 64, 126, 130, 2, 62};
    for (int i = 0; i < 7; i++) {
        int w = sched_pick(&s, &ready, NULL, s.words);
        ck_assert_int_eq(w, order[i]);
        sched_issued(&s, w);
    }
    ready = these(1, (const uint32_t[]){62});
    ck_assert_int_eq(sched_pick(&s, &ready, NULL, s.words), 62);
}
END_TEST

START_TEST(gto_knows_ages_in_all_words) {
    struct sched s = make_wide(SCHED_GTO);
    uint32_t age[WARP_SLOTS] = {[2] = 7, [64] = 5, [126] = 3, [130] = 4};
    struct warp_set ready = these(4, (const uint32_t[]){2, 64, 126, 130});
    int w = sched_pick(&s, &ready, age, s.words);
    ck_assert_int_eq(w, 126);
    sched_issued(&s, w);
    warp_set_drop(&ready, 126);
    ck_assert_int_eq(sched_pick(&s, &ready, age, s.words), 130);
    sched_issued(&s, 64); /* stays with it */
    ck_assert_int_eq(sched_pick(&s, &ready, age, s.words), 64);
}
END_TEST

START_TEST(two_level_fills_up_from_all_words) {
    struct sched s = make_wide(SCHED_TWO_LEVEL);
    struct warp_set live = these(4, (const uint32_t[]){62, 64, 65, 130}), none = {.word = {0}};
    sched_update(&s, &live, &none); /* 65 belongs to the other scheduler */
    ck_assert(warp_set_has(&s.active, 62) && warp_set_has(&s.active, 64) && !warp_set_has(&s.active, 130));
    struct warp_set parked = these(1, (const uint32_t[]){64});
    sched_update(&s, &live, &parked);
    ck_assert(warp_set_has(&s.active, 62) && !warp_set_has(&s.active, 64) && warp_set_has(&s.active, 130));
    struct warp_set ready = these(2, (const uint32_t[]){64, 130});
    ck_assert_int_eq(sched_pick(&s, &ready, NULL, s.words), 130);
    ck_assert_uint_eq(warp_set_count(&s.active, WARP_WORDS), 2);
}
END_TEST

SUITE(timing_sched) {
    TEST(lrr_goes_round_all_words);
    TEST(gto_knows_ages_in_all_words);
    TEST(two_level_fills_up_from_all_words);
    TEST(warps_are_dealt_out_in_turn);
    TEST(lrr_goes_round);
    TEST(gto_is_greedy_then_oldest);
    TEST(two_level_replaces_parked_warps);
    TEST(two_level_drops_warps_that_are_gone);
}
