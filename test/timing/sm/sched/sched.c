/* Tests the order in which schedulers pick warps. */
#include "timing/sm/sched/sched.h"
#include "test/test.h"
#include "test/toys/policies.h"
#include <stdio.h>

/* Returns a set of warps with these bits in its first word. A machine of 8 warps does not use the remaining words,
 * so they get garbage. */
static struct warp_set set(uint64_t bits) {
    struct warp_set s;
    memset(&s, 0xff, sizeof s);
    s.word[0] = bits;
    return s;
}

/* Returns the warp that the policy picks from the set `ready`. The words that the machine does not use contain garbage,
 * which the policy must not read. */
static int pick(const struct sched *s, uint64_t ready, const uint32_t *age) {
    struct warp_set r = set(ready);
    memset(r.word + 1, 0xff, sizeof r.word - sizeof r.word[0]);
    return sched_pick(s, &r, age, s->words);
}

static void update(const struct sched *s, uint64_t live, uint64_t parked) {
    struct warp_set l = set(live), p = set(parked);
    sched_cycle_ends(s, &l, &p);
}

/* Returns the warps that the policy two_level would pick if no other warp were ready. */
static uint64_t active(const struct sched *s) {
    uint64_t found = 0;
    for (int w = 0; w < 64; w++)
        if (warp_set_has(&s->mine, (uint32_t)w) && pick(s, 1ull << w, NULL) == w)
            found |= 1ull << w;
    return found;
}

static struct sched s; /* freed by teardown() */
static void teardown(void) { sched_free(&s); }

static void make(const struct sched_ops *ops, uint32_t active_warps) {
    struct config c;
    config_default(&c);
    c.sm.warps = 8;
    c.sm.schedulers = 2;
    c.sm.active_warps = active_warps;
    ck_assert(sched_init(&s, ops, &c.sm, 0));
}

START_TEST(warps_are_dealt_out_in_turn) {
    struct config c;
    config_default(&c);
    c.sm.warps = 8;
    c.sm.schedulers = 2;
    ck_assert(sched_init(&s, NULL, &c.sm, 1));
    ck_assert_uint_eq(s.mine.word[0], 0xaa);
}
END_TEST

/* The choices of sched.policy are the names of the built-in policies, and each choice selects the policy of this
 * name. */
START_TEST(option_selects_the_policy) {
    static const char *const names[] = {"lrr", "gto", "two_level", "oldest", "youngest", "cggty"};
    static const struct sched_ops *const all[] = {&sched_lrr,    &sched_gto,      &sched_two_level,
                                                  &sched_oldest, &sched_youngest, &sched_cggty};
    char text[64], err[256];
    struct config c;
    config_default(&c);
    snprintf(text, sizeof text, "sched.policy=%s", names[_i]);
    ck_assert_msg(config_set(&c, text, err, sizeof err), "%s", err);
    ck_assert(sched_init(&s, NULL, &c.sm, 0));
    ck_assert_ptr_eq(s.ops, all[_i]);
    ck_assert_str_eq(s.ops->name, names[_i]);
    ck_assert_ptr_eq(sched_built_in[_i], all[_i]);
    ck_assert_ptr_null(sched_built_in[6]);
}
END_TEST

/* The functions in the policy table of lrr pick the same warp as the inline code of sched_pick(). */
START_TEST(lrr_is_the_same_inline) {
    uint64_t state = 7;
    make(&sched_lrr, 0);
    ck_assert_ptr_null(s.other);
    for (int i = 0; i < 1000; i++) {
        const struct warp_set ready = set((test_random(&state) & 0x55) | 1);
        int w = sched_pick(&s, &ready, NULL, 1);
        ck_assert_int_eq(sched_pick_other(&s, &ready, NULL, 1), w);
        sched_issued(&s, w);
    }
}
END_TEST

/* lrr picks the next ready warp after the warp that issued last. */
START_TEST(lrr_goes_round) {
    make(&sched_lrr, 0);
    static const int order[] = {0, 2, 4, 6, 0};
    for (int i = 0; i < 5; i++) {
        int w = pick(&s, 0x55, NULL);
        ck_assert_int_eq(w, order[i]);
        sched_issued(&s, w);
    }
    ck_assert_int_eq(pick(&s, 0x41, NULL), 6); /* warp 0 issued last; warps 2 and 4 are not ready */
    ck_assert_int_eq(pick(&s, 0x01, NULL), 0);
}
END_TEST

/* gto keeps picking a warp until it stalls, and then picks the oldest warp. */
START_TEST(gto_is_greedy_then_oldest) {
    make(&sched_gto, 0);
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

/* Under two_level with an active set of two warps, only warps of the active set issue, and a parked warp leaves the
 * set. */
START_TEST(two_level_replaces_parked_warps) {
    make(&sched_two_level, 2);
    update(&s, 0x55, 0);
    ck_assert_uint_eq(active(&s), 0x05);
    ck_assert_int_eq(pick(&s, 0x55, NULL), 0);
    ck_assert_int_eq(pick(&s, 0x50, NULL), -1); /* warps 4 and 6 are ready, but not active */
    update(&s, 0x55, 0x01);                     /* warp 0 is parked, and warp 4 takes its place */
    ck_assert_uint_eq(active(&s), 0x14);
    update(&s, 0x55, 0x04); /* warp 2 is parked, and warp 6 takes its place */
    ck_assert_uint_eq(active(&s), 0x50);
    update(&s, 0x55, 0x40); /* warp 6 is parked, and the rotation returns to warp 0 */
    ck_assert_uint_eq(active(&s), 0x11);
}
END_TEST

START_TEST(two_level_drops_warps_that_are_gone) {
    make(&sched_two_level, 4);
    update(&s, 0x55, 0);
    update(&s, 0x50, 0);
    ck_assert_uint_eq(active(&s), 0x50);
}
END_TEST

/* Makes an SM with two schedulers, 128 warps of CTAs, and four more warp slots for contexts. Warps 0, 2, ... 126 belong
 * to the first scheduler. Slots 128 and 130 also belong to it when contexts open them. */
static void make_wide(const struct sched_ops *ops) {
    struct config c;
    config_default(&c);
    c.sm.warps = 128;
    c.sm.schedulers = 2;
    c.sm.active_warps = 2;
    ck_assert(sched_init(&s, ops, &c.sm, 0));
    ck_assert_uint_eq(warp_set_count(&s.mine, WARP_WORDS), 64);
    ck_assert_uint_eq(s.words, 2);
    sched_add(&s, 130);
    ck_assert_uint_eq(s.words, 3);
    ck_assert(warp_set_has(&s.mine, 126) && !warp_set_has(&s.mine, 127) && warp_set_has(&s.mine, 130));
}

static struct warp_set these(int n, const uint32_t w[]) {
    struct warp_set all = {.word = {0}};
    for (int i = 0; i < n; i++)
        warp_set_add(&all, w[i]);
    return all;
}

static bool is_active(uint32_t w) {
    const struct warp_set ready = these(1, &w);
    return sched_pick(&s, &ready, NULL, s.words) == (int)w;
}

/* lrr rotates through all words of the set. The warp that issued last is a candidate, too. */
START_TEST(lrr_goes_round_all_words) {
    make_wide(&sched_lrr);
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
    make_wide(&sched_gto);
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
    make_wide(&sched_two_level);
    struct warp_set live = these(4, (const uint32_t[]){62, 64, 65, 130}), none = {.word = {0}};
    sched_cycle_ends(&s, &live, &none); /* warp 65 belongs to the other scheduler */
    ck_assert(is_active(62) && is_active(64) && !is_active(130));
    struct warp_set parked = these(1, (const uint32_t[]){64});
    sched_cycle_ends(&s, &live, &parked);
    ck_assert(is_active(62) && !is_active(64) && is_active(130));
    struct warp_set ready = these(2, (const uint32_t[]){64, 130});
    ck_assert_int_eq(sched_pick(&s, &ready, NULL, s.words), 130);
    uint32_t n = 0;
    for (uint32_t w = 0; w <= 130; w += 2)
        n += is_active(w);
    ck_assert_uint_eq(n, 2);
}
END_TEST

/* lrr also rotates through the slots beyond 255. */
START_TEST(lrr_goes_round_many_warps) {
    struct config c;
    config_default(&c);
    c.sm.warps = CFG_MAX_SLOTS;
    c.sm.schedulers = 2;
    ck_assert(sched_init(&s, &sched_lrr, &c.sm, 0));
    struct warp_set ready = these(4, (const uint32_t[]){2, 62, CFG_MAX_SLOTS - 4, CFG_MAX_SLOTS - 2});
    static const int order[] = {2, 62, CFG_MAX_SLOTS - 4, CFG_MAX_SLOTS - 2, 2};
    for (int i = 0; i < 5; i++) {
        int w = sched_pick(&s, &ready, NULL, s.words);
        ck_assert_int_eq(w, order[i]);
        sched_issued(&s, w);
    }
}
END_TEST

/* Warp 6 started last, then 0, 4 and 2. */
static const uint32_t by_start[8] = {[0] = 30, [2] = 10, [4] = 20, [6] = 40};

START_TEST(youngest_picks_the_last_start) {
    make(&sched_youngest, 0);
    ck_assert_int_eq(pick(&s, 0x55, by_start), 6);
    sched_issued(&s, 6);
    ck_assert_int_eq(pick(&s, 0x55, by_start), 6);
    ck_assert_int_eq(pick(&s, 0x15, by_start), 0);
    ck_assert_int_eq(pick(&s, 0x14, by_start), 4);
    ck_assert_int_eq(pick(&s, 0x04, by_start), 2);
}
END_TEST

/* Unlike gto, cggty takes the youngest warp when the warp that issued last is not ready. */
START_TEST(cggty_is_greedy_then_youngest) {
    make(&sched_cggty, 0);
    ck_assert_int_eq(pick(&s, 0x15, by_start), 0);
    sched_issued(&s, 2);
    ck_assert_int_eq(pick(&s, 0x55, by_start), 2);
    ck_assert_int_eq(pick(&s, 0x51, by_start), 6);
}
END_TEST

/* Unlike gto, oldest leaves the warp that issued last as soon as an older one is ready. */
START_TEST(oldest_picks_the_first_start) {
    make(&sched_oldest, 0);
    ck_assert_int_eq(pick(&s, 0x51, by_start), 4);
    sched_issued(&s, 4);
    ck_assert_int_eq(pick(&s, 0x55, by_start), 2);
    ck_assert_int_eq(pick(&s, 0x41, by_start), 0);
    ck_assert_int_eq(pick(&s, 0x40, by_start), 6);
}
END_TEST

/* test/toys/highest.c picks the ready warp in the highest slot, whatever the ages. */
START_TEST(toy_picks_the_highest_slot) {
    make(&sched_highest, 0);
    ck_assert_int_eq(pick(&s, 0x55, by_start), 6);
    sched_issued(&s, 6);
    ck_assert_int_eq(pick(&s, 0x15, by_start), 4);
    ck_assert_int_eq(pick(&s, 0x05, by_start), 2);
}
END_TEST

/* A policy that records the events that it receives. */
struct told {
    char text[256];
};
static size_t told_size(const struct sm_cfg *cfg) {
    (void)cfg;
    return sizeof(struct told);
}
static void told_note(void *state, const char *what, uint32_t warp) {
    struct told *t = state;
    size_t at = strlen(t->text);
    snprintf(t->text + at, sizeof t->text - at, "%s%u ", what, warp);
}
static void told_init(void *state, const struct sm_cfg *cfg) { told_note(state, "init", cfg->schedulers); }
static int told_pick(void *state, const struct sched_view *v, const struct warp_set *ready) {
    told_note(state, "pick", v->last);
    return (int)warp_set_first(ready);
}
static void told_issued(void *state, const struct sched_view *v, uint32_t w) {
    told_note(state, "issued", w);
    ck_assert_uint_eq(v->last, w);
}
static void told_starts(void *state, const struct sched_view *v, uint32_t w) {
    (void)v;
    told_note(state, "starts", w);
}
static void told_ends(void *state, const struct sched_view *v, uint32_t w) {
    (void)v;
    told_note(state, "ends", w);
}

/* The policy's state is zeroed at the start. Each event arrives once, in order. A policy without event functions
 * receives no events. */
START_TEST(policy_hears_events) {
    static const struct sched_ops ops = {.name = "told",
                                         .size = told_size,
                                         .init = told_init,
                                         .pick = told_pick,
                                         .issued = told_issued,
                                         .warp_starts = told_starts,
                                         .warp_ends = told_ends};
    make(&ops, 0);
    sched_warp_starts(&s, 4);
    int w = pick(&s, 0x10, NULL);
    sched_issued(&s, w);
    update(&s, 0x10, 0); /* the policy has no cycle_ends(), so this call reports nothing to it */
    sched_warp_ends(&s, 4);
    ck_assert_str_eq(((struct told *)s.state)->text, "init2 starts4 pick63 issued4 ends4 ");
    sched_free(&s);
    make(&sched_gto, 0);
    sched_warp_starts(&s, 4);
    sched_issued(&s, 4);
    sched_warp_ends(&s, 4);
    update(&s, 0x10, 0);
    ck_assert_ptr_null(s.state);
}
END_TEST

SUITE(timing_sched) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST_LOOP(option_selects_the_policy, 0, 6);
    TEST(lrr_is_the_same_inline);
    TEST(youngest_picks_the_last_start);
    TEST(cggty_is_greedy_then_youngest);
    TEST(oldest_picks_the_first_start);
    TEST(toy_picks_the_highest_slot);
    TEST(policy_hears_events);
    TEST(lrr_goes_round_all_words);
    TEST(lrr_goes_round_many_warps);
    TEST(gto_knows_ages_in_all_words);
    TEST(two_level_fills_up_from_all_words);
    TEST(warps_are_dealt_out_in_turn);
    TEST(lrr_goes_round);
    TEST(gto_is_greedy_then_oldest);
    TEST(two_level_replaces_parked_warps);
    TEST(two_level_drops_warps_that_are_gone);
}
