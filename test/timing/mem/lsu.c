/* Tests the load/store unit with a memory of fixed latency. Expected cycles follow from the configuration. */
#include "timing/mem/lsu.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

/* Latencies of Fermi (the defaults): address generation 1 cycle, L1 35 cycles, shared memory 26 cycles. Memory
 * beyond the L1 takes 300 cycles. */
static struct config cfg;
static struct memsys *mem;
static struct lsu *lsu;
static uint64_t now;
static uint64_t addr[WARP_LANES];
static const struct inst *inst; /* instruction of the next accesses; NULL: the instruction does not matter */

static void start(void) {
    cfg.memory.model = MEMORY_FIXED;
    cfg.memory.latency = 300;
    mem = memsys_new(&cfg);
    lsu = lsu_new(&cfg, mem, 0);
    ck_assert_ptr_nonnull(mem);
    ck_assert_ptr_nonnull(lsu);
    now = 0;
}

static void setup(void) {
    config_default(&cfg);
    inst = NULL;
}

static void stop(void) {
    lsu_free(lsu);
    memsys_free(mem);
}

static void strided(uint64_t base, unsigned stride) {
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
}

static void give(enum space space, enum mem_kind kind, unsigned bytes, uint32_t tag) {
    struct lsu_access a = {.inst = inst,
                           .lanes = LANES_ALL,
                           .space = (uint8_t)space,
                           .kind = (uint8_t)kind,
                           .n_elems = 1,
                           .msize = (uint8_t)bytes,
                           .addr = addr,
                           .local_base = 0x20000000,
                           .local_stride = 128,
                           .tag = tag};
    ck_assert(lsu_can_accept(lsu));
    lsu_accept(lsu, &a, now);
}

static void set_segments(bool on) { cfg.lsu.segments = on; }
static void set_whole_warp(bool on) { cfg.lsu.split_wide = !on; }
static void set_atomic_lanes(bool on) { cfg.lsu.atomic_lanes = on; }
static void set_constant_lines(bool on) { cfg.lsu.constant_lines = on; }

/* Runs until an access completes. Returns the cycle, its tag, and whether it missed. */
static uint64_t wait(uint32_t *tag, bool *missed) {
    for (uint64_t limit = now + 10000; now < limit; now++) {
        lsu_tick(lsu, now);
        memsys_run(mem, now, now + 1);
        if (lsu_done(lsu, tag, missed))
            return now;
    }
    ck_abort_msg("nothing finished in 10000 cycles");
    return 0;
}

static void expect(uint64_t cycle, uint32_t tag, bool missed) {
    uint32_t t;
    bool m;
    ck_assert_uint_eq(wait(&t, &m), cycle);
    ck_assert_uint_eq(t, tag);
    ck_assert_int_eq(m, missed);
}

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

/* Four lines enter the L1, one per cycle, so the last line reads its tags at 35 + 3. */
START_TEST(lines_enter_one_a_cycle) {
    setup(), start();
    strided(0x10000000, 16);
    give(SPACE_GLOBAL, MEM_READ, 4, 1);
    expect(338, 1, true);
    give(SPACE_GLOBAL, MEM_READ, 4, 2);
    expect(338 + 38, 2, false);
    stop();
}
END_TEST

/* Shared memory takes 26 cycles, and one more cycle for each pass after the first. */
START_TEST(shared_latency_and_conflicts) {
    setup(), start();
    strided(0, 4);
    give(SPACE_SHARED, MEM_READ, 4, 1);
    expect(26, 1, false);
    strided(0, 4 * 32);
    give(SPACE_SHARED, MEM_READ, 4, 2);
    expect(26 + 26 + 31, 2, false);
    stop();
}
END_TEST

/* The banks are busy for the conflict's 32 passes, so the next access starts 32 cycles later. The pipeline latencies
 * of both accesses overlap. */
START_TEST(conflict_delays_the_next_access) {
    setup();
    cfg.lsu.queue = 2;
    start();
    strided(0, 4 * 32);
    give(SPACE_SHARED, MEM_READ, 4, 1);
    strided(0, 4);
    give(SPACE_SHARED, MEM_READ, 4, 2);
    expect(26 + 31, 1, false);
    expect(26 + 32, 2, false);
    stop();
}
END_TEST

/* Constants take one cycle for each distinct address:
 * - all lanes read one address: the access is accepted at 0 and looked up at 2, and its line arrives 300 cycles later
 * - lanes read four addresses of that line: the addresses enter a pipeline of length 1 in cycles 1 to 4, and the
 *   last address leaves the pipeline at 5 */
START_TEST(constant_addresses_take_turns) {
    setup(), start();
    strided(0x10000000, 0);
    give(SPACE_CONST, MEM_CONSTANT, 4, 1);
    expect(302, 1, true);
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = 0x10000000 + 4 * (l & 3);
    give(SPACE_CONST, MEM_CONSTANT, 4, 2);
    expect(302 + 5, 2, false);
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

/* - 8 bytes of local memory per lane lie in two lines, each of which has one word of every lane
 * - their tags are read at 35 and 36, and they arrive at 335 and 336
 * - every lane needs both lines, so no lane is done when only the first line has arrived
 * - 4 bytes per lane lie in one line */
START_TEST(lanes_wait_for_both_words) {
    lanemask_t lanes;
    setup(), start();
    strided(0, 0);
    give(SPACE_LOCAL, MEM_READ, 8, 1);
    for (; now < 336; now++) {
        lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
        if (now < 36)
            continue;
        ck_assert(lsu_waits_on_miss(lsu, 1, &lanes));
        ck_assert_uint_eq(lanes, LANES_ALL);
    }
    expect(336, 1, true);
    ck_assert(!lsu_waits_on_miss(lsu, 1, &lanes));
    stop();
    setup(), start();
    strided(0, 0);
    give(SPACE_LOCAL, MEM_READ, 4, 1);
    expect(335, 1, true);
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

/* Lanes access words 0 and 16 of two lines, that is, sectors 0 and 2. With lsu.segments, a store carries whole segments
 * of 64 bytes, here both halves of each line. A load requests only the sectors that it reads. A sectored L1 counts the
 * sectors of an access. */
START_TEST(stores_carry_segments) {
    for (int on = 0; on < 2; on++)
        for (int store = 0; store < 2; store++) {
            struct stats s;
            ck_assert(stats_init(&s));
            setup();
            cfg.l1.sectored = true;
            set_segments(on);
            start();
            for (unsigned l = 0; l < WARP_LANES; l++)
                addr[l] = 0x10000000 + l % 4 * 64;
            give(SPACE_GLOBAL, store ? MEM_WRITE : MEM_READ, 4, 1);
            for (; now < 400; now++)
                lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
            lsu_stats(lsu, &s);
            ck_assert_double_eq(stats_get(&s, "l1.accesses"), 2);
            ck_assert_double_eq(stats_get(&s, "l1.sectors"), on && store ? 8 : 4);
            stats_free(&s);
            stop();
        }
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

/* A texture cache with lines of 32 bytes: 128 bytes are four accesses, and the last reads its tags at 35 + 3. */
START_TEST(short_lines_of_textures) {
    setup();
    cfg.tex.line = 32;
    start();
    strided(0x10000000, 4);
    give(SPACE_TEX, MEM_TEXTURE, 4, 1);
    expect(338, 1, true);
    give(SPACE_TEX, MEM_TEXTURE, 4, 2);
    expect(338 + 38, 2, false);
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

/* Number of requests of one access of all lanes. Each item has two results: with an option off, and with the option on.
 * - byte elements 4 bytes apart: one line, or four segments of 32 bytes
 * - half words 4 bytes apart: one line, or two segments of 64 bytes
 * - 8 or 16 bytes at one address: one access per half or quarter warp, or one access for all lanes
 * - 32 atomics in a line: one request, or four sectors; on one word: one request, or one request per lane
 * - 32 words of constants: one access per word, or one access per line of 64 bytes */
START_TEST(requests_of_an_access) {
    static const struct {
        uint8_t space, kind, bytes, stride;
        void (*set)(bool);
        uint8_t off, on;
    } cases[] = {
        {SPACE_GLOBAL, MEM_READ, 1, 4, set_segments, 1, 4},
        {SPACE_GLOBAL, MEM_READ, 1, 1, set_segments, 1, 1},
        {SPACE_GLOBAL, MEM_READ, 2, 4, set_segments, 1, 2},
        {SPACE_GLOBAL, MEM_READ, 4, 4, set_segments, 1, 1},
        {SPACE_GLOBAL, MEM_WRITE, 2, 64, set_segments, 16, 32},
        {SPACE_GLOBAL, MEM_READ, 8, 0, set_whole_warp, 2, 1},
        {SPACE_GLOBAL, MEM_READ, 8, 8, set_whole_warp, 2, 2},
        {SPACE_GLOBAL, MEM_READ, 16, 0, set_whole_warp, 4, 1},
        {SPACE_GLOBAL, MEM_ATOMIC, 4, 4, set_atomic_lanes, 1, 4},
        {SPACE_GLOBAL, MEM_ATOMIC, 4, 0, set_atomic_lanes, 1, 32},
        {SPACE_CONST, MEM_CONSTANT, 4, 4, set_constant_lines, 32, 2},
        {SPACE_CONST, MEM_CONSTANT, 4, 0, set_constant_lines, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int on = 0; on < 2; on++) {
            struct stats s;
            ck_assert(stats_init(&s));
            setup();
            cases[i].set(on == 1);
            start();
            strided(0x10000000, cases[i].stride);
            give(cases[i].space, cases[i].kind, cases[i].bytes, 1);
            lsu_stats(lsu, &s);
            ck_assert_msg(stats_get(&s, "lsu.transactions") == (on ? cases[i].on : cases[i].off), "case %zu: %g", i,
                          stats_get(&s, "lsu.transactions"));
            stats_free(&s);
            stop();
        }
}
END_TEST

/* Shared-memory atomics of all lanes on one word take 32 passes with shared.atomic_serial. Without this option they
 * take one pass, like a load. The access takes 26 cycles, and one more for each pass after the first. */
START_TEST(shared_atomics_take_turns_or_not) {
    for (int turns = 0; turns < 2; turns++) {
        setup();
        cfg.lsu.shared_serial = turns == 1;
        start();
        strided(0x40, 0);
        give(SPACE_SHARED, MEM_ATOMIC, 4, 1);
        expect(1 + (turns ? 32 : 1) + 26 - 2, 1, false);
        stop();
    }
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
        lsu->free_bypass = NO_SLOT;
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

/* - a load reads four lines, 8 lanes each: its requests leave in order of lanes or, with peer.lsu_descending_order,
 *   from the highest address down
 * - an atomic needs a separate request for each lane on one word: the first three requests cover all 8 words of the
 *   sector, the fourth covers words 0 to 6, and the fifth covers word 0 again
 * The smallest tables (TINY=1) hold fewer atomics in flight than these five requests. */
START_TEST(requests_leave_by_lane_or_by_address) {
    static const uint32_t atomic_bytes[5] = {32, 32, 32, 28, 4};
    for (unsigned on = 0; on < 2; on++)
        for (int atomic = 0; atomic < (LEAST_TABLES ? 1 : 2); atomic++) {
            setup();
            cfg.lsu.descending = on;
            set_atomic_lanes(true);
            start();
            const struct memport *p = memsys_port(mem, 0);
            strided(0x10000000, 16);
            for (unsigned l = 0; l < WARP_LANES && atomic; l++)
                addr[l] = 0x10000000 + 4 * (l < 31 ? l % 8 : 0);
            give(SPACE_GLOBAL, atomic ? MEM_ATOMIC : MEM_READ, 4, 1);
            for (; now < 100; now++)
                lsu_tick(lsu, now), memsys_run(mem, now, now + 1);
            const unsigned n = atomic ? 5 : 4;
            ck_assert_uint_eq(p->sent, n);
            for (unsigned i = 0; i < n; i++) {
                unsigned k = on ? n - 1 - i : i;
                ck_assert_uint_eq(p->request[i].address, 0x10000000 + (atomic ? 0 : 128 * k));
                ck_assert_uint_eq(p->request[i].bytes, atomic ? atomic_bytes[k] : 128);
            }
            stop();
        }
}
END_TEST

/* The entries of a port's request queue are flits of 40 bytes, of which 8 are the header. A read takes one entry,
 * and a write of 128 bytes takes four. A request of any size is accepted only if four entries are free.
 * - 24 entries have room for 6 requests; after a write and a read 19 entries are left, which is room for 4 requests
 * - the write leaves at cycle 10, which the SM sees 2 cycles later
 * - a queue always has entries for 4 of the largest requests */
START_TEST(places_of_flits) {
    struct memport p;
    ck_assert(memport_init(&p, 24, 64, 2));
    memport_use_flits(&p, 40, 128);
    ck_assert_uint_eq(memport_room(&p, 0), 6);
    *memport_place(&p) = (struct mem_request){.kind = MEM_WRITE, .bytes = 128};
    memport_send(&p);
    ck_assert_uint_eq(memport_room(&p, 0), 5);
    *memport_place(&p) = (struct mem_request){.kind = MEM_READ, .bytes = 128};
    memport_send(&p);
    ck_assert_uint_eq(memport_room(&p, 0), 4);
    ck_assert(memport_full(&p, 5) && !memport_full(&p, 4));
    memport_exchange(&p, 0);
    ck_assert(memport_ample(&p, 4) && !memport_ample(&p, 5));
    memport_remove(&p, 10);
    memport_exchange(&p, 0);
    ck_assert_uint_eq(memport_room(&p, 11), 4);
    /* memport_ample() counts all 23 free entries at once, whatever the cycle */
    ck_assert(memport_ample(&p, 5) && !memport_ample(&p, 6));
    ck_assert_uint_eq(memport_room(&p, 12), 5);
    memport_free(&p);
    ck_assert(memport_init(&p, 3, 64, 2));
    memport_use_flits(&p, 40, 128);
    ck_assert_uint_eq(memport_room(&p, 0), 4);
    memport_free(&p);
}
END_TEST

SUITE(timing_lsu) {
    TEST(accesses_return_one_a_cycle);
    TEST(caches_return_in_turn);
    TEST(requests_leave_by_lane_or_by_address);
    TEST(places_of_flits);
    TEST(requests_of_an_access);
    TEST(shared_atomics_take_turns_or_not);
    TEST(local_store_without_allocation);
    TEST(load_misses_then_hits);
    TEST(pending_lines_are_described);
    TEST(lines_enter_one_a_cycle);
    TEST(shared_latency_and_conflicts);
    TEST(conflict_delays_the_next_access);
    TEST(constant_addresses_take_turns);
    TEST(atomic_goes_past_the_l1);
    TEST(loads_past_the_l1);
    TEST(store_drops_the_line);
    TEST(local_store_stays);
    TEST(second_miss_merges);
    TEST(waiting_lanes_are_known);
    TEST(lanes_wait_for_both_words);
    TEST(waiting_lanes_of_tags_that_collide);
    TEST(stores_carry_segments);
    TEST_SPEED(the_queue_goes_round);
    TEST_LOOP(accesses_that_wait_for_room, 0, 12);
    TEST(a_full_pipeline_holds_the_front);
    TEST(full_mshrs_stall);
    TEST(short_lines_of_textures);
    TEST(fetch_comes_back);
}
