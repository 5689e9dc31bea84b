/* Tests how the load/store unit splits accesses of a warp into lines, banks and requests. */
#include "test/timing/mem/lsu_rig.h"

static void set_segments(bool on) { cfg.lsu.segments = on; }
static void set_whole_warp(bool on) { cfg.lsu.split_wide = !on; }
static void set_atomic_lanes(bool on) { cfg.lsu.atomic_lanes = on; }
static void set_constant_lines(bool on) { cfg.lsu.constant_lines = on; }

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

SUITE(timing_lsu_accept) {
    TEST(lines_enter_one_a_cycle);
    TEST(shared_latency_and_conflicts);
    TEST(conflict_delays_the_next_access);
    TEST(constant_addresses_take_turns);
    TEST(lanes_wait_for_both_words);
    TEST(stores_carry_segments);
    TEST(short_lines_of_textures);
    TEST(requests_of_an_access);
    TEST(shared_atomics_take_turns_or_not);
    TEST(requests_leave_by_lane_or_by_address);
}
