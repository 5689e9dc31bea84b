/* Tests statistics of stride prefetchers: outcomes of requests, pollution, changes of their tables, and executions
 * by degree. */
#include "stride_rig.h"

/* If prefetches go into the L1, the SM's prefetcher reports the outcomes that the L1 counted. If they go into the
 * L2, the L2 slices report the outcomes, and the SM's prefetcher reports only its requests. */
START_TEST(fates_are_those_of_the_cache) {
    static const char *const extensions[] = {"stride", "ddp"}, *const levels[] = {"l1", "l2"};
    static const char *const names[2][7] = {
        {"stride.requested", "stride.present", "stride.refused", "stride.issued", "stride.useful", "stride.late",
         "stride.unused"},
        {"ddp.requested", "ddp.present", "ddp.refused", "ddp.issued", "ddp.useful", "ddp.late", "ddp.unused"}};
    static const double want[7] = {
        11, 3 + 4, 5, 6, 2, 1, 8}; /* lines that are present and lines that are pending count in one statistic */
    const struct prefetch_counts n = {.asked = 11,
                                      .full = 99,
                                      .present = 3,
                                      .pending = 4,
                                      .refused = 5,
                                      .no_lock = 77,
                                      .sent = 6,
                                      .useful = 2,
                                      .late = 1,
                                      .unused = 8};
    for (int e = 0; e < 2; e++)
        for (int level = 0; level < 2; level++) {
            char set[32];
            snprintf(set, sizeof set, "%s.level=%s", extensions[e], levels[level]);
            begin(extensions[e], SET(set));
            stride_prefetcher_ops.stats(p, &n, &stats);
            for (int i = 0; i < 7; i++)
                ck_assert_msg(stats_get(&stats, names[e][i]) == (level == 0 || i == 0 ? want[i] : 0), "%s, %s: %g", set,
                              names[e][i], stats_get(&stats, names[e][i]));
        }
}
END_TEST

/* A line that a prefetch evicted counts as pollution once, when it is missed. A line that a load evicted does not
 * count. No line counts if prefetches go to the L2. */
START_TEST(pollution_is_what_is_missed) {
    static const char *const extensions[] = {"stride", "ddp"};
    static const char *const names[] = {"stride.pollution", "ddp.pollution"};
    for (int e = 0; e < 2; e++) {
        char set[32];
        snprintf(set, sizeof set, "%s.level=l1", extensions[e]);
        begin(extensions[e], SET(set));
        stride_prefetcher_ops.evicted(p, &(struct prefetch_victim){.line = BASE + 5 * LINE, .ahead = true});
        stride_prefetcher_ops.evicted(p, &(struct prefetch_victim){.line = BASE + 7 * LINE, .ahead = false});
        miss(5), miss(7), miss(5);
        ck_assert_double_eq(stat_of(names[e]), 1);
        begin(extensions[e], NULL);
        stride_prefetcher_ops.evicted(p, &(struct prefetch_victim){.line = BASE + 5 * LINE, .ahead = true});
        miss(5);
        ck_assert_double_eq(stat_of(names[e]), 0);
    }
}
END_TEST

/* A table of one entry. Misses of lines 0, 1, 2 make the entry confident. The step from line 2 to line 9 changes the
 * entry's stride. Then another load replaces the entry. */
START_TEST(an_entry_changes_and_leaves) {
    static const char *const extensions[] = {"stride", "ddp"};
    static const char *const changes[] = {"stride.changes", "ddp.changes"}, *const conflicts[] = {"stride.conflicts",
                                                                                                  "ddp.conflicts"};
    for (int e = 0; e < 2; e++) {
        char set[32];
        snprintf(set, sizeof set, "%s.table=1", extensions[e]);
        begin(extensions[e], SET(set));
        miss(0), miss(1), miss(2), miss(9), miss(16), miss(23);
        ck_assert_double_eq(stat_of(changes[e]), 1);
        ck_assert_double_eq(stat_of(conflicts[e]), 0);
        see(PC + 1, 0, BASE, SEEN_MISS, true);
        ck_assert_double_eq(stat_of(conflicts[e]), 1);
        ck_assert_double_eq(stat_of(changes[e]), 1); /* both since the start */
    }
}
END_TEST

/* Every line arrives too late, right after its miss. A miss of a requested line raises the degree by one. A miss
 * requests the line that is `degree` lines ahead. The degrees of all executions follow from these rules. */
START_TEST(degrees_by_number) {
    enum { MISSES = 100, AHEAD = 64 };
    static const struct {
        const char *name;
        int from, to;
    } rows[] = {{"ddp.degree_1", 1, 1},       {"ddp.degree_2", 2, 2},         {"ddp.degree_3", 3, 3},
                {"ddp.degree_4", 4, 4},       {"ddp.degree_5", 5, 5},         {"ddp.degree_6", 6, 6},
                {"ddp.degree_7", 7, 7},       {"ddp.degree_8", 8, 8},         {"ddp.degree_9_16", 9, 16},
                {"ddp.degree_17_32", 17, 32}, {"ddp.degree_33_up", 33, AHEAD}};
    bool wanted[MISSES + AHEAD + 1] = {false};
    int with[AHEAD + 1] = {0}, degree = 1, sum = 0;
    begin("ddp", SET("ddp.max_degree=64", "ddp.queue=64", "ddp.grow_by_prefetches=false"));
    for (int i = 0; i < MISSES; i++) {
        miss(i);
        if (wanted[i])
            arrive(i);
        if (i < 2)
            continue;
        degree += wanted[i];
        wanted[i + degree] = true;
        with[degree]++;
        sum += degree;
    }
    ck_assert_int_gt(degree, 36);
    ck_assert_int_lt(degree, AHEAD); /* not capped */
    ck_assert_double_eq(stat_of("ddp.confident"), MISSES - 2);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        int n = 0;
        for (int k = rows[r].from; k <= rows[r].to; k++)
            n += with[k];
        ck_assert_int_gt(n, 0);
        ck_assert_msg(stats_get(&stats, rows[r].name) == n, "%s is %g, not %d", rows[r].name,
                      stats_get(&stats, rows[r].name), n);
    }
    ck_assert_double_eq(stats_get(&stats, "ddp.degree_sum"), sum);
    ck_assert_double_eq(stats_get(&stats, "ddp.most_degree"), degree);
}
END_TEST

SUITE(timing_strides_prefetch_counts) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(fates_are_those_of_the_cache);
    TEST(pollution_is_what_is_missed);
    TEST(an_entry_changes_and_leaves);
    TEST(degrees_by_number);
}
