/* Tests the reports to prefetchers and other observers of the L1: accesses, first uses, evicted lines, and loads
 * that are known to wait. */
#include "test/timing/mem/prefetch_rig.h"

static void saw(uint32_t i, struct prefetch_seen want) {
    const struct prefetch_seen *s = &told.seen[i];
    ck_assert_uint_lt(i, told.n_seen);
    ck_assert_msg(s->cycle == want.cycle && s->address == want.address && s->line == want.line && s->pc == want.pc &&
                      s->warp == want.warp && s->kind == want.kind && s->result == want.result &&
                      s->first_use == want.first_use && s->late == want.late && s->own == want.own &&
                      s->note == want.note && s->local == want.local && s->leads == want.leads &&
                      s->into_l1 == want.into_l1 && s->sectors == want.sectors,
                  "seen %u: cycle %u, %#x in %#x, pc %u, warp %u, kind %u, result %u, %d %d %d %u, sectors %x", i,
                  (unsigned)s->cycle, (unsigned)s->address, (unsigned)s->line, s->pc, s->warp, s->kind, s->result,
                  s->first_use, s->late, s->own, s->note, s->sectors);
}

/* Each access is reported with its address and PC: a miss, a joined miss, a hit, a store, a load past the L1, and a
 * prefetch instruction. */
START_TEST(accesses_are_shown) {
    static const struct inst cg = {.cache_op = CACHE_CG}, ahead = {.kind = K_PREFETCH};
    start();
    give(MEM_READ, A + 20, 0, 1);
    run(10);
    give(MEM_READ, A + 24, 0, 2);
    run(400);
    give(MEM_READ, A, 4, 3);
    run(500);
    give(MEM_WRITE, A + 4, 4, 4); /* two lines, from byte 4 of the first on */
    run(600);
    give_inst(&cg, MEM_READ, A + 256, 4, 4, 5, false);
    run(1000);
    give_inst(&ahead, MEM_READ, A + 300, 0, 1, 6, false);
    run(1100);
    ck_assert_uint_eq(told.n_seen, 7);
    saw(0, (struct prefetch_seen){35, A + 20, A, 41, 0, 5, SEEN_LOAD, SEEN_MISS, 0, 0, 0, 0, 0, 1, 0, 1, 0});
    saw(1, (struct prefetch_seen){45, A + 24, A, 42, 0, 5, SEEN_LOAD, SEEN_MERGED, 0, 0, 0, 0, 0, 1, 0, 1, 0});
    saw(2, (struct prefetch_seen){435, A, A, 43, 0, 5, SEEN_LOAD, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15, 0});
    saw(3, (struct prefetch_seen){535, A + 4, A, 44, 0, 5, SEEN_STORE, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15, 0});
    saw(4, (struct prefetch_seen){536, A + 128, A + 128, 44, 0, 5, SEEN_STORE, SEEN_MISS, 0, 0, 0, 0, 0, 0, 0, 1, 0});
    saw(5, (struct prefetch_seen){601, A + 256, A + 256, 45, 0, 5, SEEN_LOAD, SEEN_PAST, 0, 0, 0, 0, 0, 1, 0, 15, 0});
    saw(6, (struct prefetch_seen){1035, A + 300, A + 256, 46, 0, 5, SEEN_AHEAD, SEEN_MISS, 0, 0, 0, 0, 0, 1, 0, 2, 0});
    stop();
}
END_TEST

/* Tests four prefetched lines: one is used after it arrived, one is used while in flight, one is evicted unused, and
 * one is invalidated by a store before any use. Only the first use of a line counts as a use of the prefetch. */
START_TEST(first_uses_and_lines_unused) {
    start();
    ask(PREFETCH_LINE, A, 1);
    run(400);
    give(MEM_READ, A, 4, 1);
    run(500);
    give(MEM_READ, A, 4, 2);
    run(600);
    saw(0, (struct prefetch_seen){35, A, A, 7, 0, 3, SEEN_AHEAD, SEEN_MISS, 0, 0, 0, 0, 0, 0, 0, 1, 0});
    saw(1, (struct prefetch_seen){435, A, A, 41, 0, 5, SEEN_LOAD, SEEN_HIT, 0, true, false, true, 1001, 1, 0, 15, 0});
    saw(2, (struct prefetch_seen){535, A, A, 42, 0, 5, SEEN_LOAD, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15, 0});
    ask(PREFETCH_LINE, A + 128, 2);
    run(610);
    give(MEM_READ, A + 128, 4, 3);
    run(1000);
    saw(4, (struct prefetch_seen){645, A + 128, A + 128, 43, 0, 5, SEEN_LOAD, SEEN_MERGED, 0, true, true, true, 1002, 1,
                                  0, 15, 0});
    ask(PREFETCH_LINE, A + 256, 3);
    ask(PREFETCH_LINE, A + 384, 4);
    run(1400);
    for (uint64_t i = 1; i <= 4; i++, run(1400 + i * 400))
        give(MEM_READ, A + 256 + SET * i, 4, 4);
    give(MEM_WRITE, A + 384, 4, 5);
    run(now + 50);
    ck_assert_uint_eq(told.n_victims, 2);
    ck_assert_uint_eq(told.victim[0].line, A + 256);
    ck_assert(told.victim[0].unused && told.victim[0].own && !told.victim[0].ahead);
    ck_assert_uint_eq(told.victim[0].note, 1003);
    ck_assert_uint_eq(told.victim[1].line, A + 384);
    ck_assert(told.victim[1].unused && told.victim[1].own);
    ck_assert_uint_eq(told.victim[1].note, 1004);
    ck_assert_double_eq(stat("l1.prefetch_unused"), 2);
    ck_assert_uint_eq(told.n.sent, 4);
    ck_assert_uint_eq(told.n.useful, 2);
    ck_assert_uint_eq(told.n.late, 1);
    ck_assert_uint_eq(told.n.unused, 2);
    stop();
}
END_TEST

/* A prefetch that evicts a used line is reported, so that a prefetcher can count pollution. */
START_TEST(victims_of_prefetches) {
    start();
    for (uint64_t i = 0; i < 4; i++, run(i * 400))
        give(MEM_READ, A + SET * i, 4, 4);
    ask(PREFETCH_LINE, A + SET * 4, 1);
    run(1700);
    ck_assert_uint_eq(told.n_victims, 1);
    ck_assert_uint_eq(told.victim[0].line, A);
    ck_assert_uint_eq(told.victim[0].cycle, 1635);
    ck_assert(told.victim[0].ahead && !told.victim[0].unused && !told.victim[0].own);
    stop();
}
END_TEST

/* In a sectored L1, a prefetch fetches the sector of its address, or the sectors that it names. A load of another
 * sector does not count as a use. */
START_TEST(sectors_are_asked_for) {
    cfg.l1.sectored = true;
    start();
    const struct prefetch_request two = {.address = A + SET, .tag = 2, .sectors = 0x9};
    ask(PREFETCH_LINE, A + 40, 1);
    ck_assert_int_eq(prefetch_ask(place, &two, now), PREFETCH_QUEUED);
    run(400);
    struct cache *c = &lsu->pipe[PIPE_L1].cache;
    ck_assert_uint_eq(cache_valid(c, cache_look(c, A >> 7)), 0x2);
    ck_assert_uint_eq(cache_valid(c, cache_look(c, (A + SET) >> 7)), 0x9);
    give(MEM_READ, A + 64, 0, 1); /* a miss in a line that no access has used yet */
    run(800);
    ck_assert_double_eq(stat("l1.prefetch_useful"), 0);
    give(MEM_READ, A + 32, 0, 2);
    run(1000);
    ck_assert_double_eq(stat("l1.prefetch_useful"), 1);
    stop();
}
END_TEST

/* A load is reported when all its lines have read the tags, and again when data arrive while other data are still
 * missing:
 * - half of the lanes hit and half miss: the load is reported at 36
 * - four lines, whose tags are read one per cycle: the load is reported at 38, and when each of the first three lines
 *   arrives
 * - all lanes hit: the load is never reported */
START_TEST(loads_are_known) {
    uint32_t tag, named = 0;
    uint64_t at[8], begin;
    lanemask_t lanes;
    start();
    lsu_note_known(lsu);
    give(MEM_READ, A, 4, 1);
    run(400);
    begin = now;
    give(MEM_READ, A, 8, 2); /* the first half of the lanes hits */
    for (; now < begin + 400; now++) {
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        while (lsu_known(lsu, &tag)) {
            ck_assert_uint_eq(tag, 2);
            ck_assert(lsu_waits_on_miss(lsu, 2, &lanes));
            ck_assert_uint_eq(lanes, 0xffff0000u);
            at[named++] = now - begin;
        }
    }
    ck_assert_uint_eq(named, 1);
    ck_assert_uint_eq(at[0], 36);
    named = 0;
    begin = now;
    give(MEM_READ, A + 0x10000, 16, 3);
    for (; now < begin + 400; now++) {
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        while (lsu_known(lsu, &tag))
            at[named++] = now - begin;
    }
    ck_assert_uint_eq(named, 4);
    ck_assert_uint_eq(at[0], 38);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(at[1 + i], 335 + i);
    give(MEM_READ, A + 0x10000, 16, 4);
    for (begin = now; now < begin + 100; now++) {
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        ck_assert(!lsu_known(lsu, &tag));
    }
    stop();
}
END_TEST

START_TEST(a_report_names_what_waits) {
    char text[400];
    start();
    ask(PREFETCH_LINE, A, 1);
    lsu_describe(lsu, text, sizeof text);
    ck_assert_msg(strstr(text, "; 1 requests of prefetchers wait; recorder: 0 answers") != NULL, "%s", text);
    for (size_t size = 1; size <= strlen(text) + 1; size++) { /* a smaller buffer truncates the text */
        char less[400];
        memset(less, '#', sizeof less);
        lsu_describe(lsu, less, size);
        ck_assert_uint_eq(strlen(less), size - 1);
        ck_assert_int_eq(memcmp(less, text, size - 1), 0);
        for (size_t k = size; k < sizeof less; k++)
            ck_assert_int_eq(less[k], '#');
    }
    stop();
}
END_TEST

SUITE(timing_mem_prefetch_seen) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(accesses_are_shown);
    TEST(first_uses_and_lines_unused);
    TEST(victims_of_prefetches);
    TEST(sectors_are_asked_for);
    TEST(loads_are_known);
    TEST(a_report_names_what_waits);
}
