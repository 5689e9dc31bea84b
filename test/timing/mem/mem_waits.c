/* Latencies of demand misses and of prefetches, counted separately in mem.latency and mem.prefetch_latency. In the
 * fixture an access of cycle t reads the tags at t + 35, and its line arrives 300 cycles later. */
#include "timing/mem/mem_waits.h"
#include "test/timing/mem/prefetch_rig.h"

enum { SECTOR_2 = 64 };

struct sums {
    double latency, replies, prefetch_latency, prefetch_replies, joined;
};

static void expect(struct sums want) {
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    const struct sums got = {stats_get(&s, "mem.latency_sum"), stats_get(&s, "mem.replies"),
                             stats_get(&s, "mem.prefetch_latency_sum"), stats_get(&s, "mem.prefetch_replies"),
                             stats_get(&s, "mem.prefetch_joined")};
    ck_assert_msg(!memcmp(&got, &want, sizeof got),
                  "demand %g of %g, prefetches %g of %g, %g joined; expected %g of %g, %g of %g, %g", got.latency,
                  got.replies, got.prefetch_latency, got.prefetch_replies, got.joined, want.latency, want.replies,
                  want.prefetch_latency, want.prefetch_replies, want.joined);
    if (want.replies > 0)
        ck_assert_double_eq(stats_get(&s, "mem.latency"), want.latency / want.replies);
    if (want.prefetch_replies > 0)
        ck_assert_double_eq(stats_get(&s, "mem.prefetch_latency"), want.prefetch_latency / want.prefetch_replies);
    stats_free(&s);
}

/* Ways to prefetch a line into the L1: by a request, by a request with a lock, by an instruction. */
enum way { ASKED, LOCKED, INSTRUCTION, WAYS };

static void prefetch(enum way way, uint64_t address) {
    static const struct inst ahead = {.kind = K_PREFETCH};
    if (way == INSTRUCTION)
        give_inst(&ahead, MEM_READ, address, 0, 1, 1, false);
    else
        ask(way == LOCKED ? PREFETCH_LOCK : PREFETCH_LINE, address, 1);
}

/* A prefetch for which no access waits does not count as demand. */
START_TEST(a_prefetch_is_no_demand) {
    start();
    prefetch((enum way)_i, A);
    run(1000);
    give(MEM_READ, A, 4, 2);
    run(1200);
    expect((struct sums){0, 0, 300, 1, 0});
    stop();
}
END_TEST

/* - the prefetch leaves at 35, its line arrives at 335
 * - a load of cycle 100 reads the tags at 135 and waits 200 cycles
 * - a load of cycle 150 joins that wait, as it would join a demand request */
START_TEST(a_demand_miss_joins_a_prefetch) {
    start();
    prefetch((enum way)_i, A);
    run(100);
    give(MEM_READ, A, 4, 2);
    run(150);
    give(MEM_READ, A, 4, 3);
    run(1000);
    expect((struct sums){200, 1, 300, 1, 1});
    stop();
}
END_TEST

/* A prefetch of a line that a load has requested is not counted. */
START_TEST(a_prefetch_joins_a_demand_miss) {
    start();
    give(MEM_READ, A, 4, 2);
    run(100);
    prefetch((enum way)_i, A);
    run(1000);
    expect((struct sums){300, 1, 0, 0, 0});
    stop();
}
END_TEST

/* Loads past the L1 and atomics send their own requests, even while a prefetch of the line is in flight. */
START_TEST(accesses_past_the_l1_join_nothing) {
    static const struct inst cg = {.cache_op = CACHE_CG};
    start();
    prefetch(ASKED, A);
    run(100);
    give_inst(&cg, MEM_READ, A, 4, 4, 2, false);
    run(110);
    give(MEM_ATOMIC, A, 0, 3);
    run(1000);
    expect((struct sums){600, 2, 300, 1, 0});
    stop();
}
END_TEST

/* Three cases of a prefetched instruction line that is in flight from 0 to 300:
 * - no fetch waits for the line
 * - one fetch joins at 100 and another at 150: the line counts 200 cycles of demand, from 100 on
 * - a fetch joins before the request leaves: the request then counts as a demand request */
START_TEST(a_fetch_joins_a_prefetch) {
    static const struct sums want[] = {{0, 0, 300, 1, 0}, {200, 1, 300, 1, 1}, {300, 1, 0, 0, 0}};
    cfg.sm.fetch_prefetch = 8;
    start();
    ck_assert(lsu_fetch(lsu, A, 1, true, 0));
    if (_i == 2)
        lsu_fetch_joined(lsu, 1, 0);
    run(100);
    if (_i == 1)
        lsu_fetch_joined(lsu, 1, 100);
    run(150);
    if (_i == 1)
        lsu_fetch_joined(lsu, 1, 150);
    run(1000);
    expect(want[_i]);
    uint32_t tag;
    uint8_t sectors;
    ck_assert(lsu_fetch_done(lsu, now, &tag, &sectors) && tag == 1 && sectors == 15);
    stop();
}
END_TEST

/* With a sectored L2 the prefetch has four replies, one per sector. If a fetch joins, the replies also count as
 * demand. */
START_TEST(a_fetch_joins_sectors) {
    cfg.memory.model = MEMORY_FULL;
    cfg.l2.sectored = true;
    cfg.sm.fetch_prefetch = 8;
    start();
    struct stats s;
    ck_assert(stats_init(&s));
    ck_assert(lsu_fetch(lsu, A, 1, true, 0));
    run(10);
    if (_i)
        lsu_fetch_joined(lsu, 1, 10);
    run(5000);
    lsu_stats(lsu, &s);
    memsys_stats(mem, &s);
    double latency = stats_get(&s, "mem.latency_sum"), ahead = stats_get(&s, "mem.prefetch_latency_sum");
    ck_assert_double_eq(stats_get(&s, "mem.replies"), 4 * _i);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_joined"), 4 * _i);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_replies"), 4);
    ck_assert_double_eq(latency, _i ? ahead - 4 * 10 : 0); /* sent at 0 */
    ck_assert_double_eq(stats_get(&s, "l2.prefetch_accesses"), 4);
    ck_assert_double_eq(stats_get(&s, "l2.prefetch_misses"), 4);
    ck_assert_double_eq(stats_get(&s, "l2.accesses") + stats_get(&s, "l2.misses"), 0);
    stats_free(&s);
    stop();
}
END_TEST

/* An MSHR that served a prefetch and a joined load later serves another load. The reply to the later load is counted
 * once. */
START_TEST(an_mshr_forgets_its_prefetch) {
    cfg.l1.mshrs = 1;
    start();
    prefetch(ASKED, A);
    run(100);
    give(MEM_READ, A, 4, 2);
    run(1000);
    give(MEM_READ, A + 128, 4, 3);
    run(2000);
    prefetch(ASKED, A + 256);
    run(3000);
    expect((struct sums){200 + 300, 2, 600, 2, 1});
    stop();
}
END_TEST

/* A sectored L1 without a sectored L2: a reply brings the sectors of its request.
 * - a prefetch of sector 2 is in flight from 35 to 335
 * - a load of the whole line at 135 requests the other three sectors, which arrive at 435, and waits for sector 2
 *   until 335 */
START_TEST(a_load_wants_more_sectors) {
    cfg.l1.sectored = true;
    start();
    prefetch(ASKED, A + SECTOR_2);
    run(100);
    give(MEM_READ, A, 4, 2);
    run(1000);
    expect((struct sums){200 + 300, 2, 300, 1, 1});
    stop();
}
END_TEST

/* - two prefetches of a line, for sectors 0 and 2, leave at 35 and 85
 * - a load at 135 needs sector 2 alone: it waits until 385 */
START_TEST(a_load_joins_one_of_two_prefetches) {
    cfg.l1.sectored = true;
    start();
    prefetch(ASKED, A);
    run(50);
    prefetch(ASKED, A + SECTOR_2);
    run(100);
    give(MEM_READ, A + SECTOR_2, 0, 2);
    run(1000);
    expect((struct sums){250, 1, 600, 2, 1});
    stop();
}
END_TEST

/* - one prefetch of sectors 0 and 2 has one reply, at 335
 * - a load of sector 0 joins at 135, a load of sector 2 joins at 185: this counts as one wait, from 135 to 335 */
START_TEST(two_loads_join_one_prefetch) {
    const struct prefetch_request both = {.address = A, .tag = 1, .sectors = 5};
    cfg.l1.sectored = true;
    start();
    prefetch_ask(place, &both, now);
    run(100);
    give(MEM_READ, A, 0, 2);
    run(150);
    give(MEM_READ, A + SECTOR_2, 0, 3);
    run(1000);
    expect((struct sums){200, 1, 300, 1, 1});
    stop();
}
END_TEST

/* Statistics are read at 250 and at the end:
 * - by 250 the prefetch has been in flight for 250 - 35 cycles, and the load that joined it for 250 - 135 cycles
 * - the remaining 85 cycles of each, and the replies, belong to the second interval */
START_TEST(intervals_share_a_wait) {
    start();
    prefetch(ASKED, A);
    run(100);
    give(MEM_READ, A, 4, 2);
    run(250);
    lsu_account(lsu, 250);
    expect((struct sums){115, 0, 215, 0, 1});
    run(1000);
    lsu_account(lsu, 1000);
    expect((struct sums){85, 1, 85, 1, 0});
    stop();
}
END_TEST

/* Full memory model with sectored L1 and L2: each sector has its own reply. A prefetch of two sectors has two
 * replies. A load of the whole line joins both sectors and requests the remaining two: four demand replies, two of
 * them for requests of the load. */
START_TEST(sectors_reply_one_by_one) {
    const struct prefetch_request both = {.address = A, .tag = 1, .sectors = 3};
    cfg.memory.model = MEMORY_FULL;
    cfg.l1.sectored = cfg.l2.sectored = true;
    start();
    struct stats s;
    ck_assert(stats_init(&s));
    prefetch_ask(place, &both, now);
    run(20);
    give(MEM_READ, A, 4, 2);
    run(5000);
    lsu_stats(lsu, &s);
    memsys_stats(mem, &s);
    ck_assert_double_eq(stats_get(&s, "mem.replies"), 4);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_replies"), 2);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_joined"), 2);
    ck_assert_double_eq(stats_get(&s, "l2.accesses"), 2);
    ck_assert_double_eq(stats_get(&s, "l2.misses"), 2);
    ck_assert_double_eq(stats_get(&s, "l2.prefetch_accesses"), 2);
    ck_assert_double_eq(stats_get(&s, "l2.prefetch_misses"), 2);
    stats_free(&s);
    stop();
}
END_TEST

/* Prefetches into the L2 by a prefetcher of the SM (case 0) or by an instruction without an L1 (case 1), and
 * prefetches into the L1 by an instruction (case 2). A load comes 5000 cycles after the prefetch, when the line is
 * present, or 10 cycles after the prefetch. The load after 10 cycles joins the prefetch, at the L2 or at the L1. */
START_TEST(prefetches_through_the_l2) {
    static const struct inst ahead = {.kind = K_PREFETCH};
    for (int early = 0; early < 2; early++) {
        setup();
        cfg.memory.model = MEMORY_FULL;
        cfg.l1.size = _i == 1 ? 0 : cfg.l1.size;
        start();
        struct stats s;
        ck_assert(stats_init(&s));
        if (_i)
            give_inst(&ahead, MEM_READ, A, 0, 1, 1, false);
        else
            ask(PREFETCH_INTO_L2, A, 1);
        run(early ? 5000 : 10);
        give(MEM_READ, A, 4, 2);
        run(10000);
        lsu_stats(lsu, &s);
        memsys_stats(mem, &s);
        bool l1 = _i == 2, hits_l1 = l1 && early;
        ck_assert_double_eq(stats_get(&s, "mem.prefetch_replies"), 1);
        ck_assert_double_eq(stats_get(&s, "mem.replies"), !hits_l1);
        ck_assert_double_eq(stats_get(&s, "mem.prefetch_joined"), l1 && !early);
        ck_assert_double_eq(stats_get(&s, "l2.prefetch_accesses"), 1);
        ck_assert_double_eq(stats_get(&s, "l2.prefetch_misses"), 1);
        ck_assert_double_eq(stats_get(&s, "l2.accesses"), !l1);
        ck_assert_double_eq(stats_get(&s, "l2.hits"), !l1 && early);
        ck_assert_double_eq(stats_get(&s, "l2.misses"), !l1 && !early);
        ck_assert_double_eq(stats_get(&s, "l2.pending_hits"), !l1 && !early);
        if (!early)
            ck_assert_double_lt(stats_get(&s, "mem.latency"), stats_get(&s, "mem.prefetch_latency"));
        stats_free(&s);
        stop();
    }
}
END_TEST

SUITE(timing_mem_waits) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST_LOOP(a_prefetch_is_no_demand, 0, WAYS);
    TEST_LOOP(a_demand_miss_joins_a_prefetch, 0, WAYS);
    TEST_LOOP(a_prefetch_joins_a_demand_miss, 0, WAYS);
    TEST(accesses_past_the_l1_join_nothing);
    TEST(an_mshr_forgets_its_prefetch);
    TEST(a_load_wants_more_sectors);
    TEST(a_load_joins_one_of_two_prefetches);
    TEST(two_loads_join_one_prefetch);
    TEST(intervals_share_a_wait);
    TEST(sectors_reply_one_by_one);
    TEST_LOOP(prefetches_through_the_l2, 0, 3);
    TEST_LOOP(a_fetch_joins_a_prefetch, 0, 3);
    TEST_LOOP(a_fetch_joins_sectors, 0, 2);
}
