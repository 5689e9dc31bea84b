/* Tests prefetches and locks through the L1's tag port: the cycles in which they use the port, and the callbacks of
 * their prefetcher. */
#include "timing/mem/prefetch.h"
#include "test/timing/mem/prefetch_rig.h"

/* One prefetch passes the port per cycle: the prefetches read the tags at 35, 36, and so on, and each line arrives
 * 300 cycles later. */
START_TEST(a_prefetch_takes_the_time_of_a_load) {
    start();
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(ask(PREFETCH_LINE, A + 128 * i + 40, i), PREFETCH_QUEUED);
    run(400);
    ck_assert_uint_eq(told.n_answers, 8);
    for (uint32_t i = 0; i < 4; i++) {
        answered(i, i, PREFETCH_SENT, 35 + i);
        answered(4 + i, i, PREFETCH_ARRIVED, 335 + i);
    }
    now = 1000;
    give(MEM_READ, A, 4, 1);
    ck_assert_uint_eq(done(1), 1035);
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "l1.accesses"), 1);
    ck_assert_double_eq(stats_get(&s, "l1.prefetch_lookups"), 4);
    ck_assert_double_eq(stats_get(&s, "l1.prefetches"), 4);
    ck_assert_double_eq(stats_get(&s, "l1.prefetch_useful"), 1);
    ck_assert_double_eq(stats_get(&s, "l1.prefetch_late"), 0);
    ck_assert_uint_eq(told.n.asked, 4);
    ck_assert_uint_eq(told.n.sent, 4);
    ck_assert_uint_eq(told.n.useful, 1);
    stats_free(&s);
    stop();
}
END_TEST

/* A prefetch of a present or pending line is reported as such and sends no request. Its arrival is not reported. */
START_TEST(lines_that_need_no_request) {
    start();
    give(MEM_READ, A, 4, 1); /* tags at 35 */
    run(2);
    ask(PREFETCH_LINE, A, 1);
    run(340);
    ck_assert_uint_eq(told.n_answers, 1);
    answered(0, 1, PREFETCH_PENDING, 2 + 35);
    ask(PREFETCH_LINE, A + 127, 2);
    run(400);
    answered(1, 2, PREFETCH_PRESENT, 340 + 35);
    ck_assert_double_eq(stat("l1.prefetches"), 0);
    ck_assert_uint_eq(told.n.asked, 2);
    ck_assert_uint_eq(told.n.pending, 1);
    ck_assert_uint_eq(told.n.present, 1);
    ck_assert_uint_eq(told.n.sent + told.n.refused + told.n.no_lock, 0);
    stop();
}
END_TEST

/* A load's eight lines enter in cycles 1 to 8, and the prefetch after them in cycle 9. With two ports, the load
 * takes cycles 1 to 4. If the load has three lines, one of the two ports is free in cycle 2. */
START_TEST(warps_go_first) {
    static const struct {
        uint32_t ports, stride;
        uint64_t enters;
    } cases[] = {{1, 32, 9}, {2, 32, 5}, {2, 12, 2}, {1, 4, 2}, {2, 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setup();
        cfg.l1.ports = cases[i].ports;
        start();
        give(MEM_READ, A, cases[i].stride, 1);
        ask(PREFETCH_LINE, A + 0x100000, 1);
        run(100);
        answered(0, 1, PREFETCH_SENT, cases[i].enters + 34);
        stop();
    }
}
END_TEST

/* Two loads of 32 lines keep the port busy from cycle 1 to 64.
 * - after 32 cycles of waiting, the prefetch request of cycle 0 has priority over the loads, and reads the tags at 66
 * - the loads' last line enters in cycle 66 and completes at 66 + 34 + 300 */
START_TEST(an_old_request_has_priority) {
    cfg.lsu.queue = 2;
    cfg.l1.mshrs = 66;
    start();
    give(MEM_READ, A, 128, 1);
    give(MEM_READ, A + 0x100000, 128, 2);
    ask(PREFETCH_LOCK, A + 0x200000, 1);
    ask(PREFETCH_LOCK, A + 0x200080, 2); /* the second request uses the port a cycle after the first */
    ck_assert_uint_eq(done(1), 32 + 2 + 34 + 300);
    answered(0, 1, PREFETCH_SENT, 66);
    answered(1, 2, PREFETCH_SENT, 67);
    ck_assert_uint_eq(done(2), 64 + 2 + 34 + 300);
    stop();
}
END_TEST

/* A queue of two entries refuses the third request. When the first request leaves in cycle 1, the prefetcher is told
 * that the queue has room. Its new request is served after the second request. */
START_TEST(a_full_queue_turns_away) {
    cfg.lsu.prefetch_queue = 2;
    start();
    ck_assert_int_eq(ask(PREFETCH_LINE, A, 1), PREFETCH_QUEUED);
    ck_assert_int_eq(ask(PREFETCH_LINE, A + 128, 2), PREFETCH_QUEUED);
    ck_assert_int_eq(ask(PREFETCH_LINE, A + 256, 3), PREFETCH_FULL);
    told.asks_again = true;
    run(100);
    ck_assert_uint_eq(told.n_room, 1);
    ck_assert_uint_eq(told.room[0], 1);
    ck_assert_uint_eq(told.n_answers, 3);
    answered(2, 99, PREFETCH_SENT, 37);
    ck_assert_double_eq(stat("l1.prefetches"), 3);
    ck_assert_uint_eq(told.n.asked, 3);
    ck_assert_uint_eq(told.n.full, 1);
    stop();
}
END_TEST

/* Requests in the queue and in flight are bounded: one request is sent per cycle until LSU_PREFETCHES are in flight,
 * and the next is refused. The prefetcher is told of new room when the first line arrives, at 335. */
START_TEST(requests_in_flight_are_bounded) {
    cfg.l1.mshrs = LSU_PREFETCHES + 1;
    cfg.l1.size = 256 * 1024;
    start();
    for (uint32_t i = 0; i < LSU_PREFETCHES; i++, run(i))
        ck_assert_int_eq(ask(PREFETCH_LINE, A + 128 * i, i), PREFETCH_QUEUED);
    ck_assert_int_eq(ask(PREFETCH_LINE, A + 0x100000, 0), PREFETCH_FULL);
    run(335);
    ck_assert_uint_eq(told.n_room, 0);
    told.asks_again = true;
    run(336);
    ck_assert_uint_eq(told.n_room, 1);
    ck_assert(!told.asks_again);
    stop();
}
END_TEST

/* With one MSHR, the second request is refused when it reads the tags. It does not wait for the MSHR, so it does not
 * delay the next load, which hits. */
START_TEST(a_refused_request_waits_for_nothing) {
    cfg.l1.mshrs = 1;
    start();
    give(MEM_READ, A, 4, 1);
    run(400);
    ask(PREFETCH_LINE, A + 0x10000, 1);
    ask(PREFETCH_LINE, A + 0x20000, 2);
    run(403);
    give(MEM_READ, A, 4, 2);
    ck_assert_uint_eq(done(2), 403 + 35);
    ck_assert_uint_eq(told.n_answers, 2);
    answered(0, 1, PREFETCH_SENT, 435);
    answered(1, 2, PREFETCH_REFUSED, 436);
    ck_assert_double_eq(stat("l1.prefetch_refused"), 1);
    stop();
}
END_TEST

/* At most three of the four ways of a set can be locked. A way is locked as soon as its line is requested. A lock of
 * a fourth line is refused, and eight other loads use the remaining way. A read that unlocks its line makes another
 * lock possible. */
START_TEST(all_ways_but_one) {
    start();
    for (uint32_t i = 0; i < 4; i++)
        ask(PREFETCH_LOCK, A + SET * i, i);
    run(40);
    for (uint32_t i = 0; i < 3; i++)
        answered(i, i, PREFETCH_SENT, 35 + i);
    answered(3, 3, PREFETCH_NO_LOCK, 38);
    for (uint32_t i = 8; i < 16; i++) {
        give(MEM_READ, A + SET * i, 4, i);
        done(i);
        run(now + 1);
    }
    uint64_t at = now;
    for (uint32_t i = 0; i < 3; i++) { /* they are still present */
        give(MEM_READ, A + SET * i, 4, i);
        ck_assert_uint_eq(done(i), at + 35);
        run(at = now + 1);
    }
    ask(PREFETCH_LOCK, A + SET * 3, 3);
    run(at + 36);
    ck_assert_int_eq(told.answer[told.n_answers - 1].a, PREFETCH_NO_LOCK);
    give_inst(NULL, MEM_READ, A + SET, 4, 4, 1, true);
    run(now + 36);
    ask(PREFETCH_LOCK, A + SET * 3, 3);
    run(now + 36);
    ck_assert_int_eq(told.answer[told.n_answers - 1].a, PREFETCH_SENT);
    ck_assert_double_eq(stat("l1.locked_lines"), 4);
    ck_assert_uint_eq(told.n.no_lock, 2);
    stop();
}
END_TEST

/* A lock of a pending line is granted, and the line's arrival is reported: the lock reads the tags at 37, and the
 * data that the load requested arrive at 335. A line that is locked twice must be unlocked twice, by any access. */
START_TEST(locks_are_counted) {
    start();
    give(MEM_READ, A, 4, 1);
    run(2);
    ask(PREFETCH_LOCK, A, 1);
    run(40);
    ask(PREFETCH_LINE, A + 0x10000, 5); /* an unrelated request between the two callbacks */
    run(400);
    ck_assert_uint_eq(told.n_answers, 4);
    answered(0, 1, PREFETCH_PENDING, 37);
    answered(1, 5, PREFETCH_SENT, 75);
    answered(2, 1, PREFETCH_ARRIVED, 335);
    answered(3, 5, PREFETCH_ARRIVED, 375);
    ask(PREFETCH_LOCK, A, 2);
    run(500);
    answered(4, 2, PREFETCH_PRESENT, 435);
    struct cache *c = &lsu->pipe[PIPE_L1].cache;
    uint32_t way = cache_look(c, A >> 7).way;
    ck_assert_uint_eq(c->way[way].locks, 2);
    give_inst(NULL, MEM_READ, A, 4, 4, 9, true);
    run(600);
    ck_assert_uint_eq(c->way[way].locks, 1);
    ask(PREFETCH_UNLOCK, A + 64, 3);
    run(634);
    ck_assert_uint_eq(c->way[way].locks, 1);
    run(700);
    ck_assert_uint_eq(c->way[way].locks, 0);
    answered(5, 3, PREFETCH_PRESENT, 635);
    stop();
}
END_TEST

/* 8 bytes per lane from A + 64: the first half warp reads lines 0 and 1, the second half reads lines 1 and 2. The
 * load reads line 1 twice, but unlocks it once. A `.cg` load that unlocks lines reads the L1, too. */
START_TEST(an_access_unlocks_each_line_once) {
    static const struct inst cg = {.cache_op = CACHE_CG};
    for (int past = 0; past < 2; past++) {
        setup(), start();
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < 2; k++)
                ask(PREFETCH_LOCK, A + 128 * i, i);
        run(400);
        give_inst(past ? &cg : NULL, MEM_READ, A + 64, 8, 8, 1, true);
        ck_assert_uint_eq(done(1), 400 + 35 + 3); /* four accesses */
        struct cache *c = &lsu->pipe[PIPE_L1].cache;
        for (uint64_t i = 0; i < 3; i++)
            ck_assert_uint_eq(c->way[cache_look(c, (A >> 7) + i).way].locks, 1);
        stop();
    }
}
END_TEST

/* Requests that can never succeed, because the machine has no L1, no second way in a set, or no L2. A perfect L1 has
 * every line. */
START_TEST(impossible_requests) {
    cfg.l1.size = 0;
    start();
    ck_assert_int_eq(ask(PREFETCH_LINE, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_LOCK, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_UNLOCK, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_INTO_L2, A, 1), PREFETCH_NEVER); /* memory of fixed latency has no L2 */
    ck_assert_uint_eq(place->line_bytes, 0);
    stop();
    setup();
    cfg.l1.size = cfg.l1.line * 32;
    cfg.l1.ways = 1;
    start();
    ck_assert_int_eq(ask(PREFETCH_LINE, A, 1), PREFETCH_QUEUED);
    ck_assert_int_eq(ask(PREFETCH_LOCK, A, 1), PREFETCH_NEVER);
    stop();
    setup();
    cfg.memory.model = MEMORY_FULL;
    cfg.l2.size = 0;
    start();
    ck_assert_int_eq(ask(PREFETCH_INTO_L2, A, 1), PREFETCH_NEVER);
    stop();
    setup();
    cfg.memory.perfect_l1 = true;
    start();
    ask(PREFETCH_LINE, A, 1);
    ask(PREFETCH_LOCK, A, 2);
    ask(PREFETCH_UNLOCK, A, 3);
    run(100);
    ck_assert_uint_eq(told.n_answers, 3);
    for (uint32_t i = 0; i < 3; i++)
        answered(i, i + 1, PREFETCH_PRESENT, 35 + i);
    stop();
}
END_TEST

/* Prefetches into the L2: a request of cycle 0 leaves in cycle 1. It does not read the L1's tags. One request leaves
 * per cycle.
 * - the crossbar takes 8 cycles and the ROP 120, so the request reads the L2's tags at 129
 * - a load from DRAM takes 307 - 35 = 272 cycles after the L1 (test/timing/mem/memsys.c); the reply to a prefetch lacks
 *   the three flits of data, so it arrives at 1 + 272 - 3 = 270
 * - a later load of the line takes 175 cycles */
START_TEST(into_the_l2) {
    config_default(&cfg);
    cfg.dram.data_rate = 2;
    cfg.gpu.core_mhz = cfg.gpu.icnt_mhz = cfg.gpu.l2_mhz = cfg.gpu.dram_mhz = 700;
    start();
    ask(PREFETCH_INTO_L2, A + 16, 42);
    ask(PREFETCH_INTO_L2, A + 0x100010, 43);
    run(600);
    answered(0, 42, PREFETCH_SENT, 1);
    answered(1, 43, PREFETCH_SENT, 2);
    answered(2, 42, PREFETCH_ARRIVED, 270);
    ck_assert_double_eq(stat("l1.prefetch_lookups"), 0);
    give(MEM_READ, A, 4, 1);
    ck_assert_uint_eq(done(1), 600 + 175);
    struct stats s;
    ck_assert(stats_init(&s));
    memsys_stats(mem, &s);
    ck_assert_double_eq(stats_get(&s, "l2.prefetches"), 2);
    ck_assert_double_eq(stats_get(&s, "l2.prefetch_useful"), 1);
    stats_free(&s);
    stop();
}
END_TEST

SUITE(timing_mem_prefetch) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(a_prefetch_takes_the_time_of_a_load);
    TEST(lines_that_need_no_request);
    TEST(warps_go_first);
    TEST(an_old_request_has_priority);
    TEST(a_full_queue_turns_away);
    TEST(requests_in_flight_are_bounded);
    TEST(a_refused_request_waits_for_nothing);
    TEST(all_ways_but_one);
    TEST(locks_are_counted);
    TEST(an_access_unlocks_each_line_once);
    TEST(impossible_requests);
    TEST(into_the_l2);
}
