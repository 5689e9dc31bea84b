/* Tests prefetching by spatial locality detection: hand-derived sequences, random accesses against a reference, and
 * the fates of prefetches in kernels. */
#include "test/mechanisms/prefetch_ask_rig.h"
#include "test/mechanisms/prefetch_walk_rig.h"
#include "test/random.h"

static const struct mechanism *const m = &mechanism_sld;

/* Macro-block 2 has lines 8 to 11. When the second of these lines misses, the other two are prefetched. Later misses in
 * the macro-block prefetch nothing. A second miss of the same line does not count, nor do hits and stores. */
START_TEST(half_a_block_prefetches_the_rest) {
    static const char *const none[] = {NULL};
    void *p = start(m, none);
    ck_assert_uint_eq(see(m, p, 9, SEEN_LOAD, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 9, SEEN_LOAD, SEEN_MERGED, false), 0);
    ck_assert_uint_eq(see(m, p, 8, SEEN_LOAD, SEEN_HIT, false), 0);
    ck_assert_uint_eq(see(m, p, 8, SEEN_STORE, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 7, SEEN_LOAD, SEEN_MISS, false), 0); /* another macro-block */
    ck_assert_uint_eq(see(m, p, 12, SEEN_LOAD, SEEN_MISS, false), 0);
    ck_assert_uint_eq(see(m, p, 11, SEEN_LOAD, SEEN_MISS, false), 2);
    ck_assert_uint_eq(asked[0], 8);
    ck_assert_uint_eq(asked[1], 10);
    ck_assert_uint_eq(see(m, p, 10, SEEN_LOAD, SEEN_MISS, false), 0);
    m->at_l1->free(p);
}
END_TEST

/* With two entries, a miss in a third macro-block replaces the macro-block with the oldest miss. The count of the
 * replaced macro-block starts again. */
START_TEST(the_oldest_block_is_replaced) {
    static const char *const two[] = {"sld.entries=2", NULL};
    void *p = start(m, two);
    see(m, p, 0, SEEN_LOAD, SEEN_MISS, false);
    see(m, p, 4, SEEN_LOAD, SEEN_MISS, false);
    see(m, p, 0, SEEN_LOAD, SEEN_MISS, false);
    see(m, p, 8, SEEN_LOAD, SEEN_MISS, false);                       /* replaces the macro-block of line 4 */
    ck_assert_uint_eq(see(m, p, 1, SEEN_LOAD, SEEN_MISS, false), 2); /* lines 0 and 1 */
    ck_assert_uint_eq(see(m, p, 5, SEEN_LOAD, SEEN_MISS, false), 0); /* line 5 only */
    m->at_l1->free(p);
}
END_TEST

enum { BLOCKS = 12, LINES = 8, ENTRIES = 5, LEAST = 3 };

/* The reference: a list of macro-blocks in the order of their last misses, the latest first. `line` marks the lines
 * that have missed or were prefetched. */
static struct seen_block {
    uint64_t block;
    bool line[LINES];
} list[ENTRIES + 1];

/* Adds a miss. Returns the number of lines to prefetch, which go to `out`. */
static uint32_t reference(uint64_t line, uint64_t *out) {
    struct seen_block b = {.block = line / LINES + 1};
    uint32_t at = 0, missed = 0, n = 0;
    while (at < ENTRIES - 1 && list[at].block != b.block)
        at++;
    if (list[at].block == b.block)
        b = list[at];
    for (; at; at--)
        list[at] = list[at - 1];
    bool again = b.line[line % LINES];
    b.line[line % LINES] = true;
    for (uint32_t k = 0; k < LINES; k++)
        missed += b.line[k];
    for (uint64_t k = 0; k < LINES && !again && missed == LEAST; k++)
        if (!b.line[k]) {
            out[n++] = line / LINES * LINES + k;
            b.line[k] = true;
        }
    list[0] = b;
    return n;
}

START_TEST(random_misses_as_the_reference) {
    static const char *const set[] = {"sld.entries=5", "sld.lines=8", "sld.threshold=3", NULL};
    uint64_t random = 5, want[LINES];
    uint32_t blocks = 0;
    void *p = start(m, set);
    for (int i = 0; i < 20000; i++) {
        uint64_t line = test_random_below(&random, BLOCKS * LINES);
        uint32_t n = reference(line, want);
        ck_assert_uint_eq(see(m, p, line, SEEN_LOAD, SEEN_MISS, false), n);
        for (uint32_t k = 0; k < n; k++)
            ck_assert_uint_eq(asked[k], want[k]);
        blocks += n > 0;
    }
    ck_assert_uint_gt(blocks, 200);
    m->at_l1->free(p);
}
END_TEST

#define HALF_BLOCKS                                                                                                    \
    { 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29 }

/* A warp loads 16 lines; in case 7 it loads lines 0, 4, 1 and 2.
 * 1. The first two lines of each of the four macro-blocks of ALL_LINES miss, and the other two are prefetched and used.
 * 2. The loads do not wait for each other. So each load of a prefetched line joins its outstanding prefetch, which
 *    counts as a miss, too.
 * 3. The table has one entry, so each macro-block replaces the previous one.
 * 4. The queue holds one request. So the second of two prefetches is lost, and its line misses later.
 * 5. There is one MSHR, which the missing load still holds when its prefetches read the tags. So every load misses.
 * 6. Every load of HALF_BLOCKS misses, and the other two lines of each of eight macro-blocks are not used. The L1 keeps
 *    the last 8 of the 32 lines. So 4 prefetched lines stay and 12 are replaced.
 * 7. The table has one entry: line 4 replaces the macro-block of line 0, and line 1 begins a new count. So the miss of
 *    line 2 prefetches lines 0 and 3. Line 0 is already present. */
static const struct walk_case cases[] = {
    {{WALK_IN_TIME}, WALK_WAITS, 16, ALL_LINES, {8, 0, 4, 8, 0, 0, 0, 8, 8, 0, 0}},
    {{WALK_TOO_LATE}, WALK_RUNS, 16, ALL_LINES, {16, 0, 4, 8, 0, 0, 0, 8, 8, 8, 0}},
    {{WALK_IN_TIME, "sld.entries=1"}, WALK_WAITS, 16, ALL_LINES, {8, 3, 4, 8, 0, 0, 0, 8, 8, 0, 0}},
    {{WALK_IN_TIME, "lsu.prefetch_queue=1"}, WALK_WAITS, 16, ALL_LINES, {12, 0, 4, 8, 4, 0, 0, 4, 4, 0, 0}},
    {{"l1.mshrs=1"}, WALK_WAITS, 16, ALL_LINES, {16, 0, 4, 8, 0, 0, 8, 0, 0, 0, 0}},
    {{WALK_IN_TIME, WALK_SMALL_L1}, WALK_WAITS, 16, HALF_BLOCKS, {16, 0, 8, 16, 0, 0, 0, 16, 0, 0, 12}},
    {{WALK_IN_TIME, "sld.entries=1"}, WALK_WAITS, 4, {0, 4, 1, 2}, {4, 2, 1, 2, 0, 1, 0, 1, 0, 0, 0}},
};
START_TEST(each_line_has_one_fate) {
    if (LEAST_TABLES && _i == 1) {
        test_skip("the smallest tables hold too few prefetches in flight");
        return;
    }
    static const char *const names[] = {"sld.lookups", "sld.replaced", "sld.blocks",  "sld.candidates",
                                        "sld.full",    "sld.present",  "sld.refused", "sld.issued",
                                        "sld.useful",  "sld.late",     "sld.unused",  NULL};
    walk_check("spe+sld", &cases[_i], names);
}
END_TEST

SUITE(mechanisms_sld) {
    TEST(half_a_block_prefetches_the_rest);
    TEST(the_oldest_block_is_replaced);
    TEST(random_misses_as_the_reference);
    TEST_LOOP(each_line_has_one_fate, 0, 7);
}
