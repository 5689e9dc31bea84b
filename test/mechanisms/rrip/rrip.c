/* Tests srrip, brrip and drrip on a cache whose misses are filled at once. The reference increases the predictions of a
 * set one by one until a line has the prediction 3, as the paper describes it. */
#include "test/mechanisms/replacement_rig.h"
#include <string.h>

enum { SETS = 64, WAYS = 4 };

/* A scan of lines that are used once, between uses of lines 1 and 2 in a set of 4 ways. The predictions:
 * - 1 and 2 are read twice: both 0. The ways of the scan are empty.
 * - 10 and 11 get 2.
 * - 12: no line has 3, so all increase by one: 1 and 2 get 1, 10 and 11 get 3. 12 replaces 10 and gets 2.
 * - 13 replaces 11 (3) and gets 2. Now 1, 1, 2, 2.
 * - 14: all increase by one: 2, 2, 3, 3. 14 replaces 12 and gets 2.
 * - 15 replaces 13 (3) and gets 2. Now all have 2.
 * - 1 and 2 hit after this scan of six lines. Under lru, 12 and 13 replace them. */
START_TEST(a_scan_leaves_used_lines) {
    start("srrip", 1, 4);
    for (int i = 0; i < 2; i++)
        ck_assert(reads(1) == (i > 0) && reads(2) == (i > 0));
    for (uint64_t line = 10; line < 16; line++)
        ck_assert(!reads(line));
    ck_assert(reads(1) && reads(2));
    ck_assert(!reads(12) && !reads(13));
    cache_free(&c);
    start("lru", 1, 4);
    for (int i = 0; i < 2; i++)
        ck_assert(reads(1) == (i > 0) && reads(2) == (i > 0));
    for (uint64_t line = 10; line < 16; line++)
        ck_assert(!reads(line));
    ck_assert(!reads(1) && !reads(2));
    cache_free(&c);
}
END_TEST

/* Lines 1, 2, 10 and 11 are in ways 0 to 3, with the predictions 0, 0, 2 and 2. Then a store drops line 10, and new
 * lines come. Predictions of ways 0 to 3 after each new line:
 * - 12 takes the empty way 2:                               0 0 2 2
 * - 13: all increase by 1; it replaces 12 in way 2:         1 1 2 3
 * - 14 replaces 11 in way 3:                                1 1 2 2
 * - 15: all increase by 1; it replaces 13 in way 2:         2 2 2 3
 * - 16 replaces 14 in way 3:                                2 2 2 2
 * - 17: all increase by 1; it replaces line 1 in way 0.
 *
 * If the empty way had kept the prediction 2 of line 10, all would increase already for line 12. Then line 16 would
 * replace line 1, and line 17 line 2. */
START_TEST(a_dropped_line_leaves_no_prediction) {
    start("srrip", 1, 4);
    for (int i = 0; i < 2; i++)
        ck_assert(reads(1) == (i > 0) && reads(2) == (i > 0));
    ck_assert(!reads(10) && !reads(11));
    ck_assert(cache_write_through(&c, 10, true, NULL));
    for (uint64_t line = 12; line < 17; line++)
        ck_assert(!reads(line));
    ck_assert(!reads(17));
    ck_assert_uint_eq(out.victim, 1);
    cache_free(&c);
}
END_TEST

/* The reference: the lines of each set by way, and their predictions. */
static struct {
    uint64_t line[SETS][WAYS];
    int predicted[SETS][WAYS], counter, fills;
} ref;

static bool ref_reads(const char *policy, uint64_t line) {
    uint64_t *set = ref.line[line % SETS];
    int *predicted = ref.predicted[line % SETS], way;
    bool bimodal = strcmp(policy, "brrip") == 0;
    for (way = 0; way < WAYS; way++)
        if (set[way] == line) {
            predicted[way] = 0;
            return true;
        }
    if (strcmp(policy, "drrip") == 0) {
        int part = (int)(line % SETS % 8); /* set 0 of 8 always uses srrip, set 4 always brrip */
        ref.counter += part == 0 ? ref.counter < 1023 : part == 4 ? -(ref.counter > 0) : 0;
        bimodal = part == 4 || (part != 0 && ref.counter >= 512);
    }
    for (way = 0; way < WAYS && set[way] != UINT64_MAX; way++)
        ; /* finds an empty way; way == WAYS if there is none */
    while (way == WAYS) {
        for (way = 0; way < WAYS && predicted[way] < 3; way++)
            ;
        for (int w = 0; way == WAYS && w < WAYS; w++)
            predicted[w]++;
    }
    set[way] = line;
    predicted[way] = bimodal && ++ref.fills % 32 != 0 ? 3 : 2;
    return false;
}

static const char *const policies[] = {"srrip", "brrip", "drrip"};

START_TEST(every_access_is_as_in_the_reference) {
    memset(&ref, 0, sizeof ref);
    ref.counter = 511;
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++) {
            ref.line[set][way] = UINT64_MAX;
            ref.predicted[set][way] = 3;
        }
    hits_as(ref_reads, policies[_i]);
}
END_TEST

START_TEST(locked_lines_stay) { check_locked_lines(policies[_i]); }
END_TEST

SUITE(mechanisms_rrip) {
    TEST(a_scan_leaves_used_lines);
    TEST(a_dropped_line_leaves_no_prediction);
    TEST_LOOP(every_access_is_as_in_the_reference, 0, 3);
    TEST_LOOP(locked_lines_stay, 0, 3);
}
