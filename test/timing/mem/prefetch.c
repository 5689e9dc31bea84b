/* Prefetches and locks through the L1's tag port, in front of a memory of fixed latency; and what those who observe are
 * shown. Cycles derived from Fermi's numbers: an access given in cycle 0 enters the L1's pipeline in cycle 1 and reads
 * the tags at 35; a miss is back 300 later. A request asked for in cycle 0 has its turn in cycle 1, too. */
#include "timing/mem/prefetch.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

enum { A = 0x10000000, SET = 4096 /* from a line to the next of its set: 32 sets of 128 bytes, 4 ways */ };

static struct config cfg;
static struct memsys *mem;
static struct lsu *lsu;
static uint64_t now;
static const struct prefetch_place *place;

/* What an asker has been told. */
static struct told {
    struct {
        uint32_t tag;
        enum prefetch_answer a;
        uint64_t cycle;
    } answer[1024];
    struct prefetch_seen seen[256];
    struct prefetch_victim victim[64];
    uint64_t room[8];
    uint32_t n_answers, n_seen, n_victims, n_room;
    struct prefetch_counts n;
    bool asks_again;
} told;

static uint32_t tag_asked_again(void) { return 99; }

static void on_answer(void *p, uint32_t tag, enum prefetch_answer a, uint64_t cycle) {
    struct told *t = p;
    t->answer[t->n_answers].tag = tag;
    t->answer[t->n_answers].a = a;
    t->answer[t->n_answers++].cycle = cycle;
}
static void on_observe(void *p, const struct prefetch_seen *s) {
    struct told *t = p;
    t->seen[t->n_seen++] = *s;
}
static void on_evicted(void *p, const struct prefetch_victim *v) {
    struct told *t = p;
    t->victim[t->n_victims++] = *v;
}
static void on_room(void *p, uint64_t cycle) {
    struct told *t = p;
    t->room[t->n_room++] = cycle;
    if (t->asks_again) {
        t->asks_again = false;
        const struct prefetch_request r = {.address = A + 128 * 99, .tag = tag_asked_again()};
        ck_assert_int_eq(prefetch_ask(place, &r, cycle), PREFETCH_QUEUED);
    }
}
static void on_stats(void *p, const struct prefetch_counts *n, struct stats *s) {
    (void)s;
    ((struct told *)p)->n = *n;
}
static int on_describe(const void *p, char *out, size_t size) {
    return snprintf(out, size, "%u answers", ((const struct told *)p)->n_answers);
}
static const struct prefetcher_ops ops = {.name = "recorder",
                                          .observe = on_observe,
                                          .evicted = on_evicted,
                                          .answer = on_answer,
                                          .room = on_room,
                                          .stats = on_stats,
                                          .describe = on_describe};

static void setup(void) {
    config_default(&cfg);
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = 300;
    memset(&told, 0, sizeof told);
}

static void start(void) {
    mem = memsys_new(&cfg);
    lsu = lsu_new(&cfg, mem, 0);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_nonnull(lsu);
    place = lsu_join(lsu, &ops, &told);
    now = 0;
}

static void stop(void) {
    lsu_free(lsu);
    memsys_free(mem);
}

static enum prefetch_asked ask(enum prefetch_want want, uint64_t address, uint32_t tag) {
    const struct prefetch_request r = {
        .address = address, .tag = tag, .pc = 7, .warp = 3, .note = (uint16_t)(tag + 1000), .want = (uint8_t)want};
    return prefetch_ask(place, &r, now);
}

static void give_inst(const struct inst *in, enum mem_kind kind, uint64_t base, unsigned stride, unsigned bytes,
                      uint32_t tag, bool unlock) {
    uint64_t addr[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
    struct lsu_access a = {.inst = in,
                           .lanes = LANES_ALL,
                           .space = SPACE_GLOBAL,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = (uint8_t)bytes,
                           .addr = addr,
                           .pc = 40 + tag,
                           .warp = 5,
                           .unlock = unlock,
                           .tag = tag};
    ck_assert(lsu_can_accept(lsu));
    lsu_accept(lsu, &a, now);
}

static void give(enum mem_kind kind, uint64_t base, unsigned stride, uint32_t tag) {
    give_inst(NULL, kind, base, stride, 4, tag, false);
}

/* Cycles until `end`; accesses that finish are forgotten. */
static void run(uint64_t end) {
    uint32_t tag;
    bool missed;
    for (; now < end; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        while (lsu_done(lsu, now, &tag, &missed))
            ;
    }
}

/* The cycle in which the next access is done. */
static uint64_t done(uint32_t tag) {
    uint32_t t;
    bool missed;
    for (uint64_t end = now + 5000; now < end; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        if (lsu_done(lsu, now, &t, &missed)) {
            ck_assert_uint_eq(t, tag);
            return now;
        }
    }
    ck_abort_msg("not done");
    return 0;
}

static void answered(uint32_t i, uint32_t tag, enum prefetch_answer a, uint64_t cycle) {
    ck_assert_uint_lt(i, told.n_answers);
    ck_assert_msg(told.answer[i].tag == tag && told.answer[i].a == a && told.answer[i].cycle == cycle,
                  "answer %u: tag %u, answer %d at %u, expected tag %u, %d at %u", i, told.answer[i].tag,
                  told.answer[i].a, (unsigned)told.answer[i].cycle, tag, a, (unsigned)cycle);
}

static double stat(const char *name) {
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    double v = stats_get(&s, name);
    stats_free(&s);
    return v;
}

/* One a cycle through the port: tags at 35, 36 ...; each comes 300 later. */
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

/* A line that is there, or asked for by somebody else, is said to be; nobody is told when the other's has come. */
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
    stop();
}
END_TEST

/* Eight lines of a load enter in cycles 1 to 8, and the prefetch behind them in 9. With two ports they take cycles 1 to
 * 4; with three lines there is one port left in cycle 2. */
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

/* Two loads of 32 lines keep the port busy from cycle 1 to 64. In cycle 32 the request of cycle 0 goes first: tags at
 * 66. The loads' last line enters in cycle 65: it is there at 65 + 34 + 300. */
START_TEST(patience_ends) {
    cfg.lsu.queue = 2;
    cfg.l1.mshrs = 66;
    start();
    give(MEM_READ, A, 128, 1);
    give(MEM_READ, A + 0x100000, 128, 2);
    ask(PREFETCH_LOCK, A + 0x200000, 1);
    ask(PREFETCH_LOCK, A + 0x200080, 2); /* and the next one in the cycle after it */
    ck_assert_uint_eq(done(1), 32 + 2 + 34 + 300);
    answered(0, 1, PREFETCH_SENT, 66);
    answered(1, 2, PREFETCH_SENT, 67);
    ck_assert_uint_eq(done(2), 64 + 2 + 34 + 300);
    stop();
}
END_TEST

/* A queue of two; the third is turned away, and hears of room when the first goes in cycle 1. What it asks for then has
 * its turn behind the second. */
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

/* So many requests can be in the queue and under way, one asked for each cycle. The next is turned away, and hears of
 * room when the first has come, at 335. */
START_TEST(requests_under_way_are_bounded) {
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

/* One MSHR: the second request is refused at once, and does not hold up the load behind it, which finds its line. */
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

/* Three of four ways may be locked, from the moment of the request; a fourth line may not, and loads of eight others
 * pass through the way that is left. A read that takes its lock back makes room for another lock. */
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
    for (uint32_t i = 0; i < 3; i++) { /* they are still there */
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
    ck_assert_double_eq(stat("l1.locked"), 4);
    ck_assert_uint_eq(told.n.no_lock, 2);
    stop();
}
END_TEST

/* A lock of a line that a load has asked for is granted, and its owner hears when it comes: tags at 37, the load's data
 * at 335. Locked twice it has to be unlocked twice, by whoever. */
START_TEST(locks_are_counted) {
    start();
    give(MEM_READ, A, 4, 1);
    run(2);
    ask(PREFETCH_LOCK, A, 1);
    run(40);
    ask(PREFETCH_LINE, A + 0x10000, 5); /* somebody else's business between the two answers */
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

/* 8 bytes a lane from A + 64 on: the first half warp reads lines 0 and 1, the second 1 and 2. Line 1 is read twice, and
 * one lock of it is taken back. `.cg` would pass the L1 by: one that unlocks does not. */
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

/* Without an L1, without a way to spare, without an L2. An L1 in which all is there says so. */
START_TEST(what_can_never_be) {
    cfg.l1.size = 0;
    start();
    ck_assert_int_eq(ask(PREFETCH_LINE, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_LOCK, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_UNLOCK, A, 1), PREFETCH_NEVER);
    ck_assert_int_eq(ask(PREFETCH_INTO_L2, A, 1), PREFETCH_NEVER); /* the memory of fixed latency has none */
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

/* Into the L2 by the port: a request of cycle 0 leaves in cycle 1, past the L1's tags, one a cycle. Crossbar 8, ROP
 * 120: tags at 129. DRAM as test/timing/mem/memsys.c derives it: 307 - 35 after the L1's tags, less the data's three
 * more flits, and 1: 1 + 272 - 3 = 270. A load then takes 175. */
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

/* A load that misses, one that joins it, one that hits, a store, and one past the L1, each with its place and PC. */
START_TEST(accesses_are_shown) {
    static const struct inst cg = {.cache_op = CACHE_CG}, ahead = {.kind = K_PREFETCH};
    start();
    give(MEM_READ, A + 20, 0, 1);
    run(10);
    give(MEM_READ, A + 24, 0, 2);
    run(400);
    give(MEM_READ, A, 4, 3);
    run(500);
    give(MEM_WRITE, A + 4, 4, 4); /* two lines: in this one from byte 4 on */
    run(600);
    give_inst(&cg, MEM_READ, A + 256, 4, 4, 5, false);
    run(1000);
    give_inst(&ahead, MEM_READ, A + 300, 0, 1, 6, false);
    run(1100);
    ck_assert_uint_eq(told.n_seen, 7);
    saw(0, (struct prefetch_seen){35, A + 20, A, 41, 0, 5, SEEN_LOAD, SEEN_MISS, 0, 0, 0, 0, 0, 1, 0, 1});
    saw(1, (struct prefetch_seen){45, A + 24, A, 42, 0, 5, SEEN_LOAD, SEEN_MERGED, 0, 0, 0, 0, 0, 1, 0, 1});
    saw(2, (struct prefetch_seen){435, A, A, 43, 0, 5, SEEN_LOAD, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15});
    saw(3, (struct prefetch_seen){535, A + 4, A, 44, 0, 5, SEEN_STORE, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15});
    saw(4, (struct prefetch_seen){536, A + 128, A + 128, 44, 0, 5, SEEN_STORE, SEEN_MISS, 0, 0, 0, 0, 0, 0, 0, 1});
    saw(5, (struct prefetch_seen){601, A + 256, A + 256, 45, 0, 5, SEEN_LOAD, SEEN_PAST, 0, 0, 0, 0, 0, 1, 0, 15});
    saw(6, (struct prefetch_seen){1035, A + 300, A + 256, 46, 0, 5, SEEN_AHEAD, SEEN_MISS, 0, 0, 0, 0, 0, 1, 0, 2});
    stop();
}
END_TEST

/* Of four lines asked for one is used in time, one while it is under way, one goes unused since others need its place,
 * and one since a store drops it. The second use of a line is none of a prefetch. */
START_TEST(first_uses_and_lines_unused) {
    start();
    ask(PREFETCH_LINE, A, 1);
    run(400);
    give(MEM_READ, A, 4, 1);
    run(500);
    give(MEM_READ, A, 4, 2);
    run(600);
    saw(0, (struct prefetch_seen){35, A, A, 7, 0, 3, SEEN_AHEAD, SEEN_MISS, 0, 0, 0, 0, 0, 0, 0, 1});
    saw(1, (struct prefetch_seen){435, A, A, 41, 0, 5, SEEN_LOAD, SEEN_HIT, 0, true, false, true, 1001, 1, 0, 15});
    saw(2, (struct prefetch_seen){535, A, A, 42, 0, 5, SEEN_LOAD, SEEN_HIT, 0, 0, 0, 0, 0, 1, 0, 15});
    ask(PREFETCH_LINE, A + 128, 2);
    run(610);
    give(MEM_READ, A + 128, 4, 3);
    run(1000);
    saw(4, (struct prefetch_seen){645, A + 128, A + 128, 43, 0, 5, SEEN_LOAD, SEEN_MERGED, 0, true, true, true, 1002, 1,
                                  0, 15});
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

/* A used line that makes room for a prefetch is shown to those who count pollution. */
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

/* In a sectored L1 a request is for the sector of its address, or those it names; a load of another sector is no use of
 * it. */
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
    give(MEM_READ, A + 64, 0, 1); /* a miss, of a line that is not used yet */
    run(800);
    ck_assert_double_eq(stat("l1.prefetch_useful"), 0);
    give(MEM_READ, A + 32, 0, 2);
    run(1000);
    ck_assert_double_eq(stat("l1.prefetch_useful"), 1);
    stop();
}
END_TEST

/* Loads are named when the last of their lines has been looked up, and when data come while more are missing. Half of
 * the lanes hit, and half miss: known at 36 after its beginning. Four lines that come one a cycle: known with the last,
 * then named at each of the first three. All hits: never. */
START_TEST(loads_are_known) {
    uint32_t tag, named = 0;
    uint64_t at[8], begin;
    lanemask_t lanes;
    start();
    lsu_note_known(lsu);
    give(MEM_READ, A, 4, 1);
    run(400);
    begin = now;
    give(MEM_READ, A, 8, 2); /* the first half of the lanes is in the line that is there */
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
    stop();
}
END_TEST

SUITE(timing_mem_prefetch) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(a_prefetch_takes_the_time_of_a_load);
    TEST(lines_that_need_no_request);
    TEST(warps_go_first);
    TEST(patience_ends);
    TEST(a_full_queue_turns_away);
    TEST(requests_under_way_are_bounded);
    TEST(a_refused_request_waits_for_nothing);
    TEST(all_ways_but_one);
    TEST(locks_are_counted);
    TEST(an_access_unlocks_each_line_once);
    TEST(what_can_never_be);
    TEST(into_the_l2);
    TEST(accesses_are_shown);
    TEST(first_uses_and_lines_unused);
    TEST(victims_of_prefetches);
    TEST(sectors_are_asked_for);
    TEST(loads_are_known);
    TEST(a_report_names_what_waits);
}
