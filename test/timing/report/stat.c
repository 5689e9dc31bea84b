/* The registry of statistics. */
#include "timing/report/stat.h"
#include "test/test.h"

START_TEST(sums_add_and_maxima_rise) {
    struct stats s;
    ck_assert(stats_init(&s));
    stats_add(&s, "gpu.cycles", 3);
    stats_add(&s, "gpu.cycles", 4);
    stats_add(&s, "gpu.max_stack_depth", 5);
    stats_add(&s, "gpu.max_stack_depth", 2);
    ck_assert_double_eq(stats_get(&s, "gpu.cycles"), 7);
    ck_assert_double_eq(stats_get(&s, "gpu.max_stack_depth"), 5);
    stats_free(&s);
}
END_TEST

START_TEST(merging_adds_sums_and_keeps_the_larger_maximum) {
    struct stats a, b;
    ck_assert(stats_init(&a) && stats_init(&b));
    stats_add(&a, "gpu.cycles", 10);
    stats_add(&b, "gpu.cycles", 32);
    stats_add(&a, "gpu.max_stack_depth", 4);
    stats_add(&b, "gpu.max_stack_depth", 3);
    stats_merge(&a, &b);
    ck_assert_double_eq(stats_get(&a, "gpu.cycles"), 42);
    ck_assert_double_eq(stats_get(&a, "gpu.max_stack_depth"), 4);
    stats_free(&a);
    stats_free(&b);
}
END_TEST

/* Counters are added in groups, and groups of zeros are skipped. Of 20 counters for the same sum, counter i has the
 * value 2^i if i is 3, 8, 15 or 19: 8 + 256 + 32768 + 524288 = 557320. Counter 20, for a maximum, raises 2 to 6. */
START_TEST(counters_of_every_group_are_added) {
    enum { SUMS = 20, N };
    uint64_t counts[N] = {[3] = 1 << 3, [8] = 1 << 8, [15] = 1 << 15, [19] = 1 << 19, [SUMS] = 6};
    struct stat_row rows[N];
    struct stats s;
    ck_assert(stats_init(&s));
    for (size_t i = 0; i < N; i++)
        rows[i] = (struct stat_row){i * sizeof counts[0], stat_index(i < SUMS ? "gpu.cycles" : "gpu.max_stack_depth")};
    stats_add(&s, "gpu.max_stack_depth", 2);
    STATS_COUNT(&s, rows, counts);
    ck_assert_double_eq(stats_get(&s, "gpu.cycles"), 557320);
    ck_assert_double_eq(stats_get(&s, "gpu.max_stack_depth"), 6);
    stats_free(&s);
}
END_TEST

/* Looks names up in several orders: forwards, backwards, and from the middle across the end of the table. */
START_TEST(names_come_in_any_order) {
    int n;
    const struct stat_def *d = stat_defs(&n);
    struct stats s;
    ck_assert(stats_init(&s));
    for (int i = n - 1; i >= 0; i--)
        if (d[i].kind != STAT_RATIO)
            stats_add(&s, d[i].name, i + 1);
    for (int i = 0; i < n; i++)
        if (d[i].kind != STAT_RATIO)
            stats_add(&s, d[i * 7 % n].kind == STAT_RATIO ? "gpu.cycles" : d[i * 7 % n].name, 0);
    for (int i = 0; i < n; i++)
        if (d[i].kind != STAT_RATIO)
            ck_assert_double_eq(stats_get(&s, d[i].name), i + 1);
    stats_free(&s);
}
END_TEST

/* Merging and keeping skip groups of zeros. Each statistic alone is still merged and kept, the first and last one too.
 * Expected: 0 and 3 give 3; a sum of 2 and 3 is 5, a maximum of them is 3. */
START_TEST(single_statistics_are_merged_and_kept) {
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        struct stats one, to;
        struct stats_kept kept;
        if (d[i].kind == STAT_RATIO)
            continue;
        ck_assert(stats_init(&one) && stats_init(&to));
        stats_add(&one, d[i].name, 3);
        stats_merge(&to, &one);
        ck_assert_double_eq(stats_get(&to, d[i].name), 3);
        stats_clear(&to);
        stats_add(&to, d[i].name, 2);
        stats_merge(&to, &one);
        ck_assert_double_eq(stats_get(&to, d[i].name), d[i].kind == STAT_SUM ? 5 : 3);
        ck_assert(stats_keep(&kept, &one));
        ck_assert_int_eq(kept.n, 1);
        ck_assert_double_eq(stats_kept_get(&kept, d[i].name), 3);
        stats_kept_free(&kept);
        stats_free(&one);
        stats_free(&to);
    }
}
END_TEST

START_TEST(ratios_are_of_the_sums) {
    struct stats s;
    ck_assert(stats_init(&s));
    ck_assert_double_eq(stats_get(&s, "gpu.ipc"), 0); /* 0 / 0 */
    stats_add(&s, "gpu.cycles", 50);
    stats_add(&s, "gpu.thread_instructions", 600);
    ck_assert_double_eq(stats_get(&s, "gpu.ipc"), 12);
    stats_add(&s, "icnt.latency_sum", 90);
    stats_add(&s, "icnt.request_packets", 4);
    stats_add(&s, "icnt.reply_packets", 5);
    ck_assert_double_eq(stats_get(&s, "icnt.latency"), 10); /* the ratio is 90 / (4 + 5) */
    stats_free(&s);
}
END_TEST

START_TEST(the_table_is_sound) {
    int n;
    const struct stat_def *d = stat_defs(&n);
    struct stats s;
    ck_assert(stats_init(&s));
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(stat_index(d[i].name), i); /* no name twice */
        ck_assert_msg(*d[i].unit && *d[i].help, "%s", d[i].name);
        ck_assert_int_eq(d[i].kind == STAT_RATIO, d[i].num && d[i].den);
        stats_get(&s, d[i].name); /* asserts that ratios name existing sums */
    }
    ck_assert_int_eq(stat_index("gpu.cycle"), -1);
    stats_free(&s);
}
END_TEST

/* The total of these statistics over launches and SMs is the largest value, not a sum. */
START_TEST(maxima_are_not_summed) {
    static const char *const names[] = {"dac.locked_max",     "cae.most_compact",    "ddp.most_degree",
                                        "mta.throttle_level", "gpu.max_stack_depth", "chain.max_relative_error"};
    struct stats s;
    ck_assert(stats_init(&s));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        stats_add(&s, names[i], 5);
        stats_add(&s, names[i], 3);
        ck_assert_msg(stats_get(&s, names[i]) == 5, "%s is %g", names[i], stats_get(&s, names[i]));
    }
    stats_free(&s);
}
END_TEST

/* A statistic can still be found by each of its former names. */
START_TEST(renamed_statistics) {
    static const char *const renamed[][2] = {
#define RENAMED(old, name) {old, name},
#include "timing/report/renamed.def"
#undef RENAMED
    };
    int n;
    const struct stat_def *d = stat_defs(&n);
    struct stats s;
    ck_assert(stats_init(&s));
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        int at = stat_index(renamed[i][0]);
        ck_assert_msg(at >= 0 && strcmp(d[at].name, renamed[i][1]) == 0, "%s", renamed[i][0]);
        ck_assert_str_eq(stat_renamed(renamed[i][0]), renamed[i][1]);
        ck_assert_ptr_null(stat_renamed(renamed[i][1]));
    }
    stats_add(&s, "sm.warp_swaps", 3);
    ck_assert_double_eq(stats_get(&s, "sm.turns"), 3);
    ck_assert_ptr_null(stat_renamed("gpu.cycles"));
    stats_free(&s);
}
END_TEST

SUITE(timing_stat) {
    TEST(maxima_are_not_summed);
    TEST(sums_add_and_maxima_rise);
    TEST(merging_adds_sums_and_keeps_the_larger_maximum);
    TEST(counters_of_every_group_are_added);
    TEST(names_come_in_any_order);
    TEST(single_statistics_are_merged_and_kept);
    TEST(ratios_are_of_the_sums);
    TEST(the_table_is_sound);
    TEST(renamed_statistics);
}
