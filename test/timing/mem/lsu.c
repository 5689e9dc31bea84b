/* Tests the queues, pipelines and replies of the load/store unit. */
#include "timing/mem/lsu.h"
#include "test/timing/mem/lsu_rig.h"

/* - the first load is accepted at 0 and reads the tags at 35; its line arrives 300 cycles later
 * - the second load hits and takes 35 cycles */
START_TEST(load_misses_then_hits) {
    setup(), start();
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 7);
    expect(335, 7, true);
    give(SPACE_GLOBAL, MEM_READ, 4, 8);
    expect(335 + 35, 8, false);
    stop();
}
END_TEST

/* An atomic leaves the queue in cycle 1, and its reply comes 300 cycles later. */
START_TEST(atomic_goes_past_the_l1) {
    setup(), start();
    strided(0x10000000, 0);
    give(SPACE_GLOBAL, MEM_ATOMIC, 4, 1);
    expect(301, 1, true);
    stop();
}
END_TEST

/* Loads past the L1 (.cg, .cv, volatile) leave in cycle 1, like atomics, although the line is in the L1. Their reply
 * comes 300 cycles later. Other loads of the line hit. */
START_TEST(loads_past_the_l1) {
    static const struct {
        uint8_t cache_op, hints;
        bool past;
    } cases[] = {{CACHE_DEFAULT, 0, false},
                 {CACHE_CA, 0, false},
                 {CACHE_CS, 0, false},
                 {CACHE_LU, 0, false},
                 {CACHE_CG, 0, true},
                 {CACHE_CV, 0, true},
                 {CACHE_DEFAULT, HINT_VOLATILE, true}};
    setup(), start();
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    expect(335, 1, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct inst in = {.kind = K_LOAD, .cache_op = cases[i].cache_op, .hints = cases[i].hints};
        uint64_t begin = now;
        inst = &in;
        give(SPACE_GLOBAL, MEM_READ, 4, 2);
        expect(begin + (cases[i].past ? 301 : 35), 2, cases[i].past);
    }
    stop();
}
END_TEST

/* A store completes when it leaves the unit. It invalidates the line, so the next load misses. */
START_TEST(store_drops_the_line) {
    setup(), start();
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    expect(335, 1, true);
    give(SPACE_GLOBAL, MEM_WRITE, 4, 2);
    expect(370, 2, false);
    give(SPACE_GLOBAL, MEM_READ, 4, 3);
    expect(370 + 335, 3, true);
    stop();
}
END_TEST

/* The L1 uses write-back for local memory, not write-through: a fully written line stays in the L1, and a later load
 * of it hits. */
START_TEST(local_store_stays) {
    setup(), start();
    strided(8, 0);
    give(SPACE_LOCAL, MEM_WRITE, 4, 1);
    expect(35, 1, false);
    give(SPACE_LOCAL, MEM_READ, 4, 2);
    expect(70, 2, false);
    stop();
}
END_TEST

/* Two loads of one line: the second load joins the miss of the first load, and both complete in the same cycle. */
START_TEST(second_miss_merges) {
    setup();
    cfg.lsu.queue = 2;
    start();
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    expect(335, 1, true);
    expect(335, 2, true);
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "l1.accesses"), 2);
    ck_assert_double_eq(stats_get(&s, "l1.misses"), 2);
    ck_assert_double_eq(stats_get(&s, "l1.pending_hits"), 1);
    ck_assert_double_eq(stats_get(&s, "l1.fills"), 1);
    ck_assert_double_eq(stats_get(&s, "mem.latency"), 300);
    stats_free(&s);
    stop();
}
END_TEST

/* Accesses 1 and 2 read line A, access 3 reads line B, and there is one MSHR.
 * - tags are read at 35, 36 and 37
 * - A arrives at 335: accesses 1 and 2 return, and the request for B leaves
 * - with peer.lsu_serial_returns access 2 returns at 336, and keeps the MSHR until then */
START_TEST(accesses_return_one_a_cycle) {
    for (int on = 0; on < 2; on++) {
        setup();
        cfg.lsu.returns = on;
        cfg.lsu.queue = 3;
        cfg.l1.mshrs = 1;
        start();
        strided(0x10000000, 4);
        give(SPACE_GLOBAL, MEM_READ, 4, 1);
        give(SPACE_GLOBAL, MEM_READ, 4, 2);
        strided(0x10000080, 4);
        give(SPACE_GLOBAL, MEM_READ, 4, 3);
        expect(335, 1, true);
        now += (uint64_t)on; /* access 2 returns one cycle later, and expect() begins at cycle `now` */
        expect(335 + (uint64_t)on, 2, true);
        expect(635 + (uint64_t)on, 3, true);
        stop();
    }
}
END_TEST

/* The L1 and the constant cache alternate in returning accesses.
 * - a load enters an L1 of 10 cycles at 1, reads the tags at 10, and its line arrives at 310
 * - 16 constants of one line enter at 2 to 17 and miss at 3: their line arrives at 303, and all 16 return in that cycle
 * - with peer.lsu_serial_returns, one access returns per cycle: the last constant would return at 318, but returns
 *   at 319, because the load returns in the cycle between two constants */
START_TEST(caches_return_in_turn) {
    for (int on = 0; on < 2; on++) {
        setup();
        cfg.lsu.returns = on;
        cfg.lsu.queue = 2;
        cfg.l1.latency = 10;
        start();
        strided(0x10000000, 4);
        give(SPACE_GLOBAL, MEM_READ, 4, 1);
        for (unsigned l = 0; l < WARP_LANES; l++)
            addr[l] = 0x20000000 + 4 * (l & 15);
        give(SPACE_CONST, MEM_CONSTANT, 4, 2);
        if (!on)
            expect(303, 2, true);
        expect(310, 1, true);
        now++;
        if (on)
            expect(303 + 15 + 1, 2, true);
        stop();
    }
}
END_TEST

/* While a line is pending, lsu_waits_on_miss() returns the lanes that wait for it. */
START_TEST(waiting_lanes_are_known) {
    setup(), start();
    lanemask_t lanes;
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    expect(335, 1, true);
    for (unsigned l = 16; l < WARP_LANES; l++)
        addr[l] += 4096;
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    ck_assert(!lsu_waits_on_miss(lsu, 2, &lanes));
    for (; now < 335 + 37; now++)
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
    ck_assert(lsu_waits_on_miss(lsu, 2, &lanes));
    ck_assert_uint_eq(lanes, 0xffff0000u);
    stop();
}
END_TEST

/* A queue of three entries is never empty and wraps around. Twelve loads of two lines each enter as soon as there is
 * room.
 * - line k of all loads enters in cycle k + 1, as if the lines belonged to one load
 * - load i reads the tags of its second line at 36 + 2 i, and completes 300 cycles later */
START_TEST(the_queue_goes_round) {
    uint32_t given = 0, finished = 0, tag;
    bool missed;
    setup();
    cfg.lsu.queue = 3;
    start();
    for (; now < 600; now++) {
        for (; given < 12 && lsu_can_accept(lsu); given++) {
            strided(0x10000000 + 256 * (uint64_t)given, 8);
            give(SPACE_GLOBAL, MEM_READ, 4, given);
        }
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        while (lsu_done(lsu, &tag, &missed)) {
            ck_assert_uint_eq(tag, finished);
            ck_assert_uint_eq(now, 336 + 2 * finished);
            finished++;
        }
    }
    ck_assert_uint_eq(finished, 12);
    stop();
}
END_TEST

/* The pipeline holds 36 lines: one for each cycle of latency, and one more.
 * - line k of 38 enters in cycle k + 1
 * - line 0 reads its tags at 35 and has the only MSHR until 335, so line 1 stalls from 36 on
 * - lines 1 to 36 are in the pipeline at 37, and line 37, the last, waits in front of the full pipeline from 38 until
 *   335 */
START_TEST(a_full_pipeline_holds_the_front) {
    setup();
    cfg.l1.mshrs = 1;
    cfg.lsu.queue = 2;
    start();
    strided(0x10000000, 128);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = 0x10100000 + (uint64_t)(l % 6) * 128;
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    for (; now < 500; now++) {
        char text[400];
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        lsu_describe(lsu, text, sizeof text);
        bool held = now >= 38 && now < 335;
        ck_assert_msg((strstr(text, "the first held since cycle 38") != NULL) == held, "cycle %u: %s", (unsigned)now,
                      text);
    }
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "lsu.stall_cycles"), 335 - 38);
    stats_free(&s);
    stop();
}
END_TEST

/* Tests the report of an access that waits for a pending line: the access has left the L1's pipeline, but holds an
 * MSHR. After the line has arrived, the report does not mention the L1. */
START_TEST(pending_lines_are_described) {
    char text[400];
    setup();
    cfg.l1.mshrs = 4;
    start();
    strided(0x10000000, 4);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    for (; now < 1000; now++) {
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        lsu_describe(lsu, text, sizeof text);
        if (now == 100)
            ck_assert_str_eq(text,
                             "load/store unit: 1 accesses in flight, 0 in the queue; L1: 0 in the pipeline, 3 of 4 "
                             "MSHRs free");
    }
    ck_assert_ptr_null(strstr(text, "L1:"));
    stop();
}
END_TEST

/* Tags that are equal modulo LSU_TAGS share an entry of the lookup table, which the later load takes.
 * lsu_waits_on_miss() must still find each of the four loads and its lanes. */
START_TEST(waiting_lanes_of_tags_that_collide) {
    static const uint32_t tags[] = {0, 1, LSU_TAGS, LSU_TAGS + 1};
    setup();
    cfg.lsu.queue = 4;
    start();
    for (uint32_t i = 0; i < 4; i++) {
        strided(0x10000000 + i * 0x10000, 4);
        struct lsu_access a = {.lanes = 0xffu << 8 * i,
                               .space = SPACE_GLOBAL,
                               .kind = MEM_READ,
                               .n_elems = 1,
                               .msize = 4,
                               .addr = addr,
                               .tag = tags[i]};
        lsu_accept(lsu, &a, now);
    }
    for (; now < 100; now++)
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
    for (uint32_t i = 0; i < 4; i++) {
        lanemask_t lanes;
        ck_assert(lsu_waits_on_miss(lsu, tags[i], &lanes));
        ck_assert_uint_eq(lanes, 0xffu << 8 * i);
    }
    lanemask_t lanes;
    ck_assert(!lsu_waits_on_miss(lsu, 2 * LSU_TAGS, &lanes));
    ck_assert_uint_eq(lanes, 0);
    stop();
}
END_TEST

/* With one MSHR, the second line stalls at the pipeline's end until the first line has arrived. It then takes 300
 * cycles itself. */
START_TEST(full_mshrs_stall) {
    setup();
    cfg.l1.mshrs = 1;
    start();
    strided(0x10000000, 8);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    expect(335 + 300, 1, true);
    struct stats s;
    ck_assert(stats_init(&s));
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "l1.stalls"), 335 - 36);
    stats_free(&s);
    stop();
}
END_TEST

START_TEST(fetch_comes_back) {
    setup(), start();
    uint32_t tag = 0;
    uint8_t sectors = 0;
    ck_assert(lsu_fetch(lsu, 0x4000, 99, false, 0));
    for (; !lsu_fetch_done(lsu, now, &tag, &sectors) && now < 1000; now++)
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
    ck_assert_uint_eq(tag, 99);
    ck_assert_uint_eq(sectors, 0xf);
    ck_assert_uint_eq(now, 301); /* the request was sent at 0, and its reply arrived at 300; the loop adds one cycle */
    stop();
}
END_TEST

/* Without allocation a local store that misses leaves the L1 unchanged, so a load misses. A line that a store hits
 * stays in the L1. */
START_TEST(local_store_without_allocation) {
    setup();
    cfg.lsu.local_allocate = false;
    start();
    strided(8, 0);
    give(SPACE_LOCAL, MEM_WRITE, 4, 1);
    expect(35, 1, false);
    give(SPACE_LOCAL, MEM_READ, 4, 2);
    expect(35 + 335, 2, true);
    give(SPACE_LOCAL, MEM_WRITE, 4, 3);
    expect(370 + 35, 3, false);
    give(SPACE_LOCAL, MEM_READ, 4, 4);
    expect(405 + 35, 4, false);
    stop();
}
END_TEST

/* lsu_waits() returns true if an access waits because the port's queue has no free entry. While it returns true, the SM
 * does not run cycles for which it does not know the number of free entries. lsu_waits() returns false for an access
 * that waits for replies, or for an entry in the table of accesses past the L1. */
START_TEST(accesses_that_wait_for_room) {
    enum { THE_RING, REPLIES, THE_TABLE };
    static const int kinds[] = {MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_INSTRUCTION};
    const int by = _i / 4, kind = kinds[_i % 4];
    setup(), start();
    struct memport *p = memsys_port(mem, 0);
    uint32_t depth = p->depth;
    uint16_t free_bypass = lsu->free_bypass;
    if (by == THE_RING)
        p->depth = 0;
    else if (by == REPLIES)
        p->outstanding = p->max_outstanding;
    else
        lsu->free_bypass = LSU_BYPASS;
    strided(0x10000000, 4);
    if (kind == MEM_INSTRUCTION)
        ck_assert(lsu_fetch(lsu, 0x1000, 1, false, now));
    else
        give(SPACE_GLOBAL, (enum mem_kind)kind, 4, 1);
    for (; now < 100; now++)
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
    bool goes = by == THE_TABLE && kind != MEM_ATOMIC;
    ck_assert_uint_eq(p->sent, goes);
    ck_assert_int_eq(lsu_waits(lsu), by == THE_RING);
    p->depth = depth;
    p->outstanding -= by == REPLIES ? p->max_outstanding : 0;
    lsu->free_bypass = goes ? lsu->free_bypass : free_bypass;
    lsu_tick(lsu, now);
    ck_assert_uint_eq(p->sent, 1);
    ck_assert(!lsu_waits(lsu));
    stop();
}
END_TEST

/* Warms the caches with an instruction of all lanes that was executed without time. `own`: lanes that access local
 * memory. */
static void warm(enum inst_kind kind, enum space space, lanemask_t own, const struct lsu_local *local) {
    static struct effects fx;
    const struct inst in = {.kind = (uint8_t)kind};
    fx = (struct effects){.lanes = LANES_ALL, .space = (uint8_t)space, .n_elems = 1, .msize = 4, .local_lanes = own};
    memcpy(fx.addr, addr, sizeof addr);
    lsu_warm(lsu, mem, &in, &fx, local, false);
}

/* Constants and parameters warm the constant cache, where a hit is known at 2. They do not warm the L1: a load of the
 * line reads its tags 35 cycles later, and its line arrives 300 cycles later. */
START_TEST(constants_warm_their_cache) {
    setup(), start();
    strided(0x10000000, 0);
    warm(K_LOAD, _i ? SPACE_PARAM : SPACE_CONST, 0, NULL);
    give(SPACE_CONST, MEM_CONSTANT, 4, 1);
    expect(2, 1, false);
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    expect(2 + 335, 2, true);
    stop();
}
END_TEST

/* Loads and stores warm the L1 with local memory if its place is known. A store without allocation brings no line. In a
 * generic access, the lower half of the lanes accesses local memory, and the upper half a line of device memory. A
 * store of half a line leaves the other half invalid. */
START_TEST(local_accesses_warm_the_l1) {
    static const struct lsu_local place = {0x20000000, 128};
    static const struct {
        enum inst_kind kind;
        enum space space;
        bool known, allocates, warms;
    } cases[] = {
        {K_LOAD, SPACE_LOCAL, true, true, true},     {K_STORE, SPACE_LOCAL, true, true, true},
        {K_LOAD, SPACE_LOCAL, false, true, false},   {K_STORE, SPACE_LOCAL, false, true, false},
        {K_LOAD, SPACE_LOCAL, true, false, true},    {K_STORE, SPACE_LOCAL, true, false, false},
        {K_LOAD, SPACE_GENERIC, true, true, true},   {K_STORE, SPACE_GENERIC, true, true, false},
        {K_LOAD, SPACE_GENERIC, false, true, false},
    };
    const bool generic = cases[_i].space == SPACE_GENERIC, loads = cases[_i].kind == K_LOAD;
    setup();
    cfg.lsu.local_allocate = cases[_i].allocates;
    start();
    strided(8, 0);
    for (unsigned l = WARP_LANES / 2; l < WARP_LANES && generic; l++)
        addr[l] = 0x10000000;
    warm(cases[_i].kind, cases[_i].space, generic ? 0xffff : 0, cases[_i].known ? &place : NULL);
    strided(8, 0);
    give(SPACE_LOCAL, MEM_READ, 4, 1);
    const uint64_t first = cases[_i].warms ? 35 : 335;
    expect(first, 1, !cases[_i].warms);
    if (generic) { /* a store to device memory goes past the L1 */
        strided(0x10000000, 0);
        give(SPACE_GLOBAL, MEM_READ, 4, 2);
        expect(first + (loads ? 35 : 335), 2, !loads);
    }
    stop();
}
END_TEST

SUITE(timing_lsu) {
    TEST_LOOP(constants_warm_their_cache, 0, 2);
    TEST_LOOP(local_accesses_warm_the_l1, 0, 9);
    TEST(load_misses_then_hits);
    TEST(atomic_goes_past_the_l1);
    TEST(loads_past_the_l1);
    TEST(store_drops_the_line);
    TEST(local_store_stays);
    TEST(second_miss_merges);
    TEST(accesses_return_one_a_cycle);
    TEST(caches_return_in_turn);
    TEST(waiting_lanes_are_known);
    TEST_SPEED(the_queue_goes_round);
    TEST(a_full_pipeline_holds_the_front);
    TEST(pending_lines_are_described);
    TEST(waiting_lanes_of_tags_that_collide);
    TEST(full_mshrs_stall);
    TEST(fetch_comes_back);
    TEST(local_store_without_allocation);
    TEST_LOOP(accesses_that_wait_for_room, 0, 12);
}
