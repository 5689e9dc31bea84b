/* Tests next-line prefetching: its requests, access by access, and the fates of its prefetches in kernels. */
#include "test/mechanisms/prefetch_ask_rig.h"
#include "test/mechanisms/prefetch_walk_rig.h"

static const struct mechanism *const m = &mechanism_nextline;

/* Only misses of loads, and first uses of prefetched lines, prefetch. */
START_TEST(misses_and_first_uses_prefetch) {
    static const char *const none[] = {NULL}, *const two[] = {"nextline.degree=2", "nextline.tagged=off", NULL};
    void *p = start(m, none);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MISS, false), 1);
    ck_assert_uint_eq(asked[0], 8);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MERGED, false), 0);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_HIT, false), 0);
    ck_assert_uint_eq(see(m, p, 8, SEEN_LOAD, SEEN_HIT, true), 1);
    ck_assert_uint_eq(asked[0], 9);
    ck_assert_uint_eq(see(m, p, 9, SEEN_STORE, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 9, SEEN_AHEAD, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 9, SEEN_LOAD, SEEN_PAST, false), 0);
    m->at_l1->free(p);
    p = start(m, two);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MISS, false), 2);
    ck_assert_uint_eq(asked[0], 8);
    ck_assert_uint_eq(asked[1], 9);
    ck_assert_uint_eq(see(m, p, 8, SEEN_LOAD, SEEN_HIT, true), 0);
    m->at_l1->free(p);
}
END_TEST

#define EVEN_LINES                                                                                                     \
    { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 }

/* A warp loads 16 lines. In cases 1 to 4, line 0 misses, and each further line of ALL_LINES is prefetched.
 * 1. The degree is 1: line 0 and the first use of each prefetched line prefetch the next line. Line 16 is not used.
 * 2. The loads do not wait for each other. So each line is still outstanding when its load comes.
 * 3. The degree is 2: each of lines 0 to 15 causes two candidates, 32 in total. For lines 1 to 15, the first of the two
 *    is already present. So 15 candidates are present, and 17 are sent.
 * 4. The degree is 4, and the queue holds one request. So each load loses three of four candidates.
 * 5. There is one MSHR, which the missing load still holds when its prefetch reads the tags. So every load misses.
 * 6. Every load of EVEN_LINES misses, and its prefetch is not used. The 16 loaded and 16 prefetched lines alternate.
 *    The L1 keeps the last 8 lines, so 4 prefetched lines stay and 12 are replaced. */
static const struct walk_case cases[] = {
    {{WALK_IN_TIME}, WALK_WAITS, 16, ALL_LINES, {16, 0, 0, 0, 16, 15, 0, 0}},
    {{WALK_TOO_LATE}, WALK_RUNS, 16, ALL_LINES, {16, 0, 0, 0, 16, 15, 15, 0}},
    {{WALK_IN_TIME, "nextline.degree=2"}, WALK_WAITS, 16, ALL_LINES, {32, 0, 15, 0, 17, 15, 0, 0}},
    {{WALK_IN_TIME, "nextline.degree=4", "lsu.prefetch_queue=1"},
     WALK_WAITS,
     16,
     ALL_LINES,
     {64, 48, 0, 0, 16, 15, 0, 0}},
    {{"l1.mshrs=1"}, WALK_WAITS, 16, ALL_LINES, {16, 0, 0, 16, 0, 0, 0, 0}},
    {{WALK_IN_TIME, WALK_SMALL_L1}, WALK_WAITS, 16, EVEN_LINES, {16, 0, 0, 0, 16, 0, 0, 12}},
};
START_TEST(each_line_has_one_fate) {
    if (LEAST_TABLES && _i == 1) {
        test_skip("the smallest tables hold too few prefetches in flight");
        return;
    }
    static const char *const names[] = {"nextline.candidates", "nextline.full",   "nextline.present",
                                        "nextline.refused",    "nextline.issued", "nextline.useful",
                                        "nextline.late",       "nextline.unused", NULL};
    walk_check("spe+nextline", &cases[_i], names);
}
END_TEST

SUITE(mechanisms_nextline) {
    TEST(misses_and_first_uses_prefetch);
    TEST_LOOP(each_line_has_one_fate, 0, 6);
}
