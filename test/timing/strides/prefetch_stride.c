/* Tests the requests of the stride prefetcher and the dynamic-degree prefetcher, load by load, for hand-made
 * sequences of misses. */
#include "timing/strides/prefetch_stride.h"
#include "stride_rig.h"

/* Three misses give two equal strides, and the third miss requests the next line. */
START_TEST(a_stride_is_confident_after_two) {
    begin("stride", NULL);
    miss(0), miss(2);
    ck_assert_int_eq(n_asked, 0);
    miss(4);
    ASKED(6);
    ck_assert_uint_eq(asked[0].want, PREFETCH_INTO_L2);
    ck_assert_uint_eq(asked[0].pc, PC);
    ck_assert_uint_eq(asked[0].sectors, 15);
    ck_assert_double_eq(stat_of("stride.executions"), 3);
    ck_assert_double_eq(stat_of("stride.confident"), 1);
    begin("stride", SET("stride.train=1"));
    miss(0), miss(1);
    ASKED(2);
    begin("stride", SET("stride.train=4"));
    for (int i = 0; i < 6; i++)
        miss(i);
    ASKED(5, 6);
}
END_TEST

/* An entry belongs to one PC and one warp. Another load or another warp has a different entry with its own stride. */
START_TEST(each_load_of_each_warp_has_its_own) {
    begin("stride", NULL);
    for (uint64_t i = 0; i < 3; i++) {
        see(1, 0, BASE + i * LINE, SEEN_MISS, true);
        see(1, 1, BASE + 0x4000 + i * 0x777 * LINE * i, SEEN_MISS, true);
        see(2, 0, BASE + 0x8000 - i * LINE, SEEN_MISS, true);
    }
    ASKED(3, 0x8000 / LINE - 3);
    ck_assert_uint_eq(asked[0].pc, 1);
    ck_assert_uint_eq(asked[1].pc, 2);
}
END_TEST

/* Hits, stores, atomics and prefetches of other units do not train the table. */
START_TEST(only_loads_that_miss) {
    begin("stride", NULL);
    for (uint64_t i = 0; i < 5; i++)
        see(PC, 0, BASE + i * LINE, SEEN_HIT, true);
    static const enum prefetch_kind others[] = {SEEN_STORE, SEEN_ATOMIC, SEEN_AHEAD};
    for (int k = 0; k < 3; k++)
        for (uint64_t i = 0; i < 5; i++)
            stride_prefetcher_ops.observe(p, &(struct prefetch_seen){.address = BASE + i * LINE,
                                                                     .line = BASE + i * LINE,
                                                                     .pc = PC,
                                                                     .kind = (uint8_t)others[k],
                                                                     .result = SEEN_MISS,
                                                                     .leads = true});
    ck_assert_int_eq(n_asked, 0);
    ck_assert_double_eq(stat_of("stride.misses"), 0);
    for (uint64_t i = 0; i < 3;
         i++) { /* loads past the L1 count as loads of the L2, and merged misses count as misses */
        see(PC, 0, BASE + i * LINE, SEEN_PAST, true);
        see(PC + 1, 0, BASE + i * LINE, SEEN_MERGED, true);
    }
    ck_assert_int_eq(n_asked, 1);
    ck_assert_double_eq(stat_of("stride.duplicates"), 1); /* the other load has already requested the line */
}
END_TEST

/* A line arrives after the second and before the third miss that follows its request.
 * - Miss 2 requests line 3. Miss 3 finds it pending, raises the degree to 2, and requests line 5.
 * - Miss 4 requests line 6.
 * - Miss 5 finds line 5 (requested at miss 3) pending, raises the degree to 3, and requests line 8.
 * - Miss 6 finds line 6 (requested at miss 4) pending, raises the degree to 4, and requests line 10.
 * - Line 7 was not requested. Miss 7 requests line 11.
 * - Line 8 has arrived before its load. Line 10 and all later lines also arrive before their loads. */
START_TEST(the_degree_grows_until_lines_come_in_time) {
    static const int from[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, to[] = {3, 5, 6, 8, 10, 11, 12, 13, 14, 15};
    begin("ddp", NULL);
    for (int i = 0; i <= 11; i++) {
        for (int k = 0; k < 10; k++)
            if (from[k] + 3 == i)
                arrive(to[k]);
        miss(i);
    }
    ASKED(3, 5, 6, 8, 10, 11, 12, 13, 14, 15);
    ck_assert_double_eq(stat_of("ddp.misses"), 12); /* each miss looks up the table and trains it */
    ck_assert_double_eq(stat_of("ddp.lookups"), 12);
    ck_assert_double_eq(stat_of("ddp.executions"), 12);
    ck_assert_double_eq(stat_of("ddp.confident"), 10);
    ck_assert_double_eq(stat_of("ddp.candidates"), 10);
    ck_assert_double_eq(stat_of("ddp.grown_by_loads"), 3);
    ck_assert_double_eq(stat_of("ddp.grown_by_prefetches"), 0);
    ck_assert_double_eq(stat_of("ddp.degree_1"),
                        1); /* the degree is 1 at miss 2, 2 at misses 3 and 4, 3 at miss 5, and 4 at misses 6 to 11 */
    ck_assert_double_eq(stat_of("ddp.degree_2"), 2);
    ck_assert_double_eq(stat_of("ddp.degree_3"), 1);
    ck_assert_double_eq(stat_of("ddp.degree_4"), 6);
    ck_assert_double_eq(stat_of("ddp.degree_sum"), 1 + 2 * 2 + 3 + 6 * 4);
    ck_assert_double_eq(stat_of("ddp.most_degree"), 4);
}
END_TEST

/* If the degree stays at one, each line is requested one miss before its load. */
START_TEST(stride_stays_at_one) {
    begin("stride", NULL);
    for (int i = 0; i <= 6; i++)
        miss(i);
    ASKED(3, 4, 5, 6, 7);
}
END_TEST

/* No line arrives. Miss 2 requests line 3. Miss 3 raises the degree to 2 and requests line 5. Miss 4 requests line
 * 6. Miss 5 is at the maximum degree and requests line 7. */
START_TEST(the_degree_has_a_cap) {
    begin("ddp", SET("ddp.max_degree=2"));
    for (int i = 0; i <= 6; i++)
        miss(i);
    ASKED(3, 5, 6, 7, 8);
    ck_assert_double_eq(stat_of("ddp.grown_by_loads"), 1);
    ck_assert_double_eq(stat_of("ddp.capped"), 2); /* misses 5 and 6 */
    begin("ddp", SET("ddp.max_degree=1"));
    for (int i = 0; i <= 6; i++)
        miss(i);
    ASKED(3, 4, 5, 6, 7);
}
END_TEST

/* Two loads read one stream. In each iteration, lines arrive right after both loads.
 * - The second load finds that the first load requested its line. This raises the second load's degree, but it requests
 *   no line in this iteration.
 * - Iteration 3: the first load requests line 4, the second load requests line 5.
 * - Iteration 4: the first load finds line 5 no longer pending and requests it again. The second requests line 6.
 * - If prefetches do not raise the degree, the second load never requests a line. */
START_TEST(a_prefetch_that_was_asked_for_raises_the_degree) {
    for (int both = 0; both < 2; both++) {
        begin("ddp", SET(both ? "ddp.grow_by_prefetches=true" : "ddp.grow_by_prefetches=false"));
        for (int i = 0; i <= 4; i++) {
            see(1, 0, BASE + (uint64_t)i * LINE, SEEN_MISS, true);
            see(2, 0, BASE + (uint64_t)i * LINE, SEEN_MISS, true);
            for (int k = 0; k < n_asked; k++)
                if (asked[k].tag != MOST) {
                    stride_prefetcher_ops.answer(p, asked[k].tag, PREFETCH_ARRIVED, now);
                    asked[k].tag = MOST;
                }
        }
        if (both)
            ASKED(3, 4, 5, 5, 6);
        else
            ASKED(3, 4, 5);
        ck_assert_double_eq(stat_of("ddp.grown_by_prefetches"), both ? 1 : 0);
        ck_assert_double_eq(stat_of("ddp.duplicates"), both ? 1 : 3);
    }
}
END_TEST

/* Two lines of the L1 form one line of the L2. If the first L1 line of a load requests an L2 line, this L2 line does
 * not count as late for the second L1 line of the same load. */
START_TEST(lines_of_one_load_are_not_late) {
    begin("ddp", SET("l2.line=256"));
    for (uint64_t i = 0; i <= 5; i++) {
        see(PC, 0, BASE + i * 256, SEEN_MISS, true);
        see(PC, 0, BASE + i * 256 + LINE, SEEN_MISS, false);
        if (n_asked)
            stride_prefetcher_ops.answer(p, asked[n_asked - 1].tag, PREFETCH_ARRIVED, now);
    }
    ASKED(6, 8, 10, 12); /* one request per execution, from the third execution on */
    ck_assert_double_eq(stat_of("ddp.duplicates"), 4);
    ck_assert_double_eq(stat_of("ddp.most_degree"), 1);
    ck_assert_double_eq(stat_of("ddp.grown_by_prefetches"), 0);
}
END_TEST

/* Lines 0 1 2 3 train a stride of 1, with one confirmation more than needed. So the step to line 100 does not change
 * the stride. The next step, to line 200, changes it to 100. */
START_TEST(a_stride_that_changes) {
    begin("stride", NULL);
    for (int i = 0; i <= 3; i++)
        miss(i);
    miss(100);
    ASKED(3, 4, 101);
    miss(200);
    ASKED(3, 4, 101);
    miss(300);
    ASKED(3, 4, 101, 400);
    ck_assert_double_eq(stat_of("stride.changes"), 1);
}
END_TEST

/* A load reads groups of four lines. The first lines of two groups are ten lines apart. The step to the next group
 * never changes the stride. */
START_TEST(rows_are_forgiven) {
    begin("stride", NULL);
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < 4; i++)
            miss(10 * row + i);
    ASKED(3, 4, 11, 12, 13, 14, 21, 22, 23, 24);
}
END_TEST

/* A load reads one line of a page of 4096 bytes per execution. All executions except two request a line. The last
 * requests are in the next page, since a page is no limit here. In descending order the numbers of requests are
 * equal. */
START_TEST(a_page_of_misses) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        begin("stride", SET("stride.queue=64"));
        for (int i = 0; i < 32; i++)
            miss(sign * i);
        ck_assert_int_eq(n_asked, 30);
        for (int i = 0; i < 30; i++)
            ck_assert_uint_eq(asked[i].address, BASE + (uint64_t)((int64_t)sign * (i + 3) * LINE));
    }
}
END_TEST

/* The lanes of one load read a whole page. The page's first line trains the table, and each line requests the
 * corresponding line of the next page. The queue has 32 entries, so no request for the page after that is possible.
 * One load raises the degree at most once. */
START_TEST(a_page_of_misses_by_one_load) {
    begin("ddp", NULL);
    for (int i = 0; i < 4; i++)
        for (int lane = 0; lane < 32; lane++)
            see(PC, 0, BASE + (uint64_t)(32 * i + lane) * LINE, SEEN_MISS, lane == 0);
    ck_assert_int_eq(n_asked, 32);
    for (int i = 0; i < 32; i++)
        ck_assert_uint_eq(asked[i].address, BASE + (uint64_t)(96 + i) * LINE);
    ck_assert_double_eq(stat_of("ddp.executions"), 4);
    ck_assert_double_eq(stat_of("ddp.full"), 32);
    ck_assert_double_eq(stat_of("ddp.grown_by_loads"), 1);
}
END_TEST

/* With one entry two loads evict each other's entries. With two entries in a set they do not. */
START_TEST(loads_that_meet_in_the_table) {
    static const struct {
        const char *table, *ways;
        int asked, conflicts;
    } of[] = {{"stride.table=1", "stride.ways=4", 0, 9},
              {"stride.table=2", "stride.ways=2", 6, 0},
              {"stride.table=2", "stride.ways=1", 0, 9},
              {"stride.table=3", "stride.ways=1", 6, 0}};
    for (int k = 0; k < 4; k++) {
        begin("stride", SET(of[k].table, of[k].ways));
        for (uint64_t i = 0; i < 5; i++) { /* PCs that are equal modulo 2 but different modulo 3 */
            see(2, 0, BASE + i * LINE, SEEN_MISS, true);
            see(4, 0, BASE + 0x10000 + i * LINE, SEEN_MISS, true);
        }
        ck_assert_int_eq(n_asked, of[k].asked);
        ck_assert_double_eq(stat_of("stride.conflicts"), of[k].conflicts);
    }
}
END_TEST

/* A load whose entry was replaced starts again without a stride and with a degree of 1. */
START_TEST(a_replaced_entry_is_forgotten) {
    begin("ddp", SET("ddp.table=1"));
    for (int i = 0; i <= 4; i++)
        miss(i);
    ASKED(3, 5, 6);
    see(PC + 1, 0, BASE + 0x10000, SEEN_MISS, true);
    for (int i = 40; i <= 42; i++)
        miss(i);
    ASKED(3, 5, 6, 43);
}
END_TEST

START_TEST(strides_that_ask_for_nothing) {
    begin("ddp", NULL);
    for (int i = 0; i < 6; i++)
        miss(0); /* the same address */
    ck_assert_double_eq(stat_of("ddp.candidates"), 0);
    for (uint64_t i = 0; i < 5; i++)
        see(PC + 1, 0, BASE + 8 * i, SEEN_MISS, true); /* within a line */
    ck_assert_double_eq(stat_of("ddp.candidates"), 0);
    see(PC + 2, 0, DEVICE_BASE + 2 * LINE, SEEN_MISS, true); /* out of device memory */
    see(PC + 2, 0, DEVICE_BASE + 1 * LINE, SEEN_MISS, true);
    see(PC + 2, 0, DEVICE_BASE, SEEN_MISS, true);
    ck_assert_double_eq(stat_of("ddp.candidates"), 1);
    ck_assert_double_eq(stat_of("ddp.out_of_range"), 1);
    ck_assert_int_eq(n_asked, 0);
}
END_TEST

/* If there is room for one prefetch in flight, further prefetches are dropped until its line has arrived. A request
 * that the cache refuses takes no room. */
START_TEST(places_are_few) {
    begin("stride", SET("stride.queue=1"));
    miss(0), miss(1), miss(2), miss(3);
    ASKED(3);
    arrive(3);
    says = PREFETCH_FULL;
    miss(4);
    ASKED(3);
    says = PREFETCH_NEVER;
    miss(5);
    says = PREFETCH_QUEUED;
    miss(6);
    ASKED(3, 7);
    ck_assert_double_eq(stat_of("stride.full"), 2);
    ck_assert_double_eq(stat_of("stride.out_of_range"), 1);
    ck_assert_double_eq(stat_of("stride.candidates"), 5);
}
END_TEST

/* Prefetches into the L1. A load that hits a prefetched line for the first time would have missed without the
 * prefetch, so the load continues the stride. First uses of lines that other units prefetched do not count. Loads
 * past the L1 do not count either. */
START_TEST(into_the_l1) {
    begin("stride", SET("stride.level=l1"));
    miss(0), miss(1), miss(2);
    ASKED(3);
    ck_assert_uint_eq(asked[0].want, PREFETCH_LINE);
    struct prefetch_seen use = {.address = BASE + 3 * LINE,
                                .line = BASE + 3 * LINE,
                                .cycle = now,
                                .pc = PC,
                                .kind = SEEN_LOAD,
                                .result = SEEN_HIT,
                                .leads = true,
                                .first_use = true};
    stride_prefetcher_ops.observe(p, &use);
    ASKED(3);
    use.own = true;
    stride_prefetcher_ops.observe(p, &use);
    ASKED(3, 4);
    for (uint64_t i = 0; i < 5; i++)
        see(PC + 1, 0, BASE + i * LINE, SEEN_PAST, true);
    ASKED(3, 4);
    /* a line that the L1 already has, or whose request it refuses, is not pending */
    stride_prefetcher_ops.answer(p, asked[0].tag, PREFETCH_PRESENT, now);
    stride_prefetcher_ops.answer(p, asked[1].tag, PREFETCH_REFUSED, now);
    ck_assert_uint_eq(p->n_queued, 0);
}
END_TEST

/* A warp's words cross the end of a line. The previous load brought the first line, so only the second line misses.
 * This miss trains the table with its lowest lane. */
START_TEST(the_first_line_may_be_there) {
    begin("stride", NULL);
    for (uint64_t i = 0; i < 4; i++) {
        see(PC, 0, BASE + 64 + i * LINE, i ? SEEN_HIT : SEEN_MISS, true);
        see(PC, 0, BASE + (i + 1) * LINE, SEEN_MISS, false);
    }
    /* misses that train the table: address 64, line 2 (a stride of 192 bytes), line 3 (128 bytes), line 4 (128 bytes
     * again) */
    ASKED(5);
    ck_assert_double_eq(stat_of("stride.executions"), 4);
}
END_TEST

/* A load reads the first two sectors of a line.
 * - 160 bytes ahead the words are in the next line, one sector further.
 * - 144 bytes ahead the words are in three sectors.
 * - 224 bytes ahead the second sector is in the line after the next, which is not requested. */
START_TEST(sectors_move_with_the_stride) {
    static const struct {
        uint64_t stride;
        uint8_t sectors;
    } of[] = {{128, 3}, {160, 6}, {144, 7}, {224, 8}, {192, 12}};
    for (int k = 0; k < 5; k++) {
        begin("stride", SET("stride.train=1"));
        for (int i = 1; i >= 0; i--)
            stride_prefetcher_ops.observe(
                p, &(struct prefetch_seen){.cycle = now,
                                           .address = BASE - (uint64_t)i * of[k].stride,
                                           .line = (BASE - (uint64_t)i * of[k].stride) & ~(LINE - 1ull),
                                           .pc = PC,
                                           .kind = SEEN_LOAD,
                                           .result = SEEN_MISS,
                                           .leads = true,
                                           .sectors = 3});
        ck_assert_int_eq(n_asked, 1);
        ck_assert_uint_eq(asked[0].address, BASE + of[k].stride);
        ck_assert_uint_eq(asked[0].sectors, of[k].sectors);
    }
}
END_TEST

START_TEST(victims_are_wanted_back_once) {
    static struct prefetch_victims v;
    ck_assert(!prefetch_victims_take(&v, 0, LINE));
    prefetch_victims_add(&v, BASE, LINE);
    prefetch_victims_add(&v, BASE + LINE, LINE);
    ck_assert(!prefetch_victims_take(&v, BASE + 2 * LINE, LINE));
    ck_assert(prefetch_victims_take(&v, BASE, LINE));
    ck_assert(!prefetch_victims_take(&v, BASE, LINE));
    ck_assert(prefetch_victims_take(&v, BASE + LINE, LINE));
}
END_TEST

/* For another program the table is empty, and no entry counts as replaced. */
START_TEST(a_table_is_cleared) {
    struct prefetch_table t;
    ck_assert(prefetch_table_init(&t, 4, 2, 2));
    for (uint32_t pc = 0; pc < 4; pc++)
        prefetch_table_learn(&t, NULL, pc, 0, BASE);
    ck_assert_uint_eq(t.n.conflicts, 0);
    prefetch_table_clear(&t);
    for (uint32_t pc = 0; pc < 4; pc++) {
        ck_assert_ptr_null(prefetch_table_find(&t, pc, 0));
        prefetch_table_learn(&t, NULL, pc, 0, BASE);
    }
    ck_assert_uint_eq(t.n.conflicts, 0);
    prefetch_table_free(&t);
}
END_TEST

START_TEST(degrees_in_ranges) {
    static const struct {
        uint32_t degree, range;
    } of[] = {{1, 0}, {2, 1}, {8, 7}, {9, 8}, {16, 8}, {17, 9}, {32, 9}, {33, 10}, {64, 10}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        ck_assert_uint_eq(profile_degree(of[i].degree), of[i].range);
}
END_TEST

SUITE(timing_strides_prefetch_stride) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_stride_is_confident_after_two);
    TEST(each_load_of_each_warp_has_its_own);
    TEST(only_loads_that_miss);
    TEST(the_degree_grows_until_lines_come_in_time);
    TEST(stride_stays_at_one);
    TEST(the_degree_has_a_cap);
    TEST(a_prefetch_that_was_asked_for_raises_the_degree);
    TEST(lines_of_one_load_are_not_late);
    TEST(a_stride_that_changes);
    TEST(rows_are_forgiven);
    TEST(a_page_of_misses);
    TEST(a_page_of_misses_by_one_load);
    TEST(loads_that_meet_in_the_table);
    TEST(a_replaced_entry_is_forgotten);
    TEST(strides_that_ask_for_nothing);
    TEST(places_are_few);
    TEST(into_the_l1);
    TEST(the_first_line_may_be_there);
    TEST(sectors_move_with_the_stride);
    TEST(victims_are_wanted_back_once);
    TEST(a_table_is_cleared);
    TEST(degrees_in_ranges);
}
