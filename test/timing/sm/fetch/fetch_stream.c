/* Tests stream buffers, with cycles derived by hand: which lines they request, when these lines arrive, and which
 * events discard them. L1 lines arrive after MISS cycles. A line of the L1 is two lines of an L0. */
#include "timing/sm/fetch/fetch_stream.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"
#include "timing/sm/fetch/fetch.h"

enum { MISS = 50, L1_LATENCY = 12, LINE = 128, L0_LINE = 64, LINES = 4 };

static struct config config;
static struct fetch fetch;

static void make(uint32_t lines, uint32_t mshrs) {
    char err[256];
    ck_assert(config_load(&config, "fermi", err, sizeof err));
    config.l1i =
        (struct cache_cfg){.size = 4096, .ways = 2, .line = LINE, .mshrs = mshrs, .merges = 4, .latency = L1_LATENCY};
    config.l0i = (struct cache_cfg){.size = 512, .ways = 2, .line = L0_LINE, .mshrs = 2, .merges = 2};
    config.sm.subcores = true;
    config.sm.schedulers = 4;
    config.sm.fetch_miss = MISS;
    config.sm.fetch_prefetch = lines;
    ck_assert(fetch_init(&fetch, &config, NULL));
}

static void teardown(void) { fetch_free(&fetch); }

/* Fetches L0 line `line` for scheduler `unit` at `now`. Returns the latency of a hit, -1 if the fetch waits, or -2 if
 * it is refused. */
static int ask(uint32_t unit, uint64_t line, uint32_t ticket, uint64_t now) {
    uint32_t latency = 99;
    enum fetch_result r = fetch_accept(&fetch, unit, line * L0_LINE, ticket, now, &latency);
    fetch_send(&fetch, now);
    return r == FETCH_HIT ? (int)latency : r == FETCH_WAIT ? -1 : -2;
}

/* Runs those cycles from `from` to `to` that have work. Returns the tickets of completed fetches, one bit per
 * ticket. */
static uint64_t run(uint64_t from, uint64_t to) {
    uint64_t tickets = 0;
    for (uint64_t c = from; c <= to; c++) {
        uint64_t next = c ? fetch_next(&fetch, c - 1) : 0;
        if (next > c)
            continue;
        fetch_tick(&fetch, c);
        uint32_t ticket, latency;
        while (fetch_take(&fetch, &ticket, &latency))
            tickets |= 1ull << ticket;
    }
    return tickets;
}

/* Line 0 misses at 10. The L1's port is free from 11 on, and the buffer requests one line per cycle from 12 on. A
 * request of cycle c leaves in cycle c + 1.
 * - line 1 is in the L1 line of line 0, which arrives at 60
 * - lines 2 and 3 are L1 line 1, requested at 13, which arrives at 63
 * - line 4 is in L1 line 2, requested at 15, which arrives at 65 */
START_TEST(a_straight_line_finds_its_lines_in_the_buffer) {
    make(LINES, 8);
    ck_assert_int_eq(ask(0, 0, 1, 10), -1);
    ck_assert_uint_eq(fetch_next(&fetch, 10), 11);
    ck_assert_uint_eq(run(11, 11), 0);
    ck_assert_uint_eq(fetch.n.prefetches, 0);
    for (uint64_t c = 12; c <= 15; c++) {
        run(c, c);
        ck_assert_uint_eq(fetch.n.prefetches, c - 11);
    }
    ck_assert_uint_eq(fetch_next(&fetch, 15), 10 + MISS); /* the buffer is full */
    ck_assert_uint_eq(run(16, 60), 1 << 1);
    ck_assert_int_eq(ask(0, 0, 2, 60), 0);
    ck_assert_int_eq(ask(0, 1, 3, 61), STREAM_LATENCY);
    ck_assert_int_eq(ask(0, 2, 4, 62), -1); /* pending until 63 */
    ck_assert_uint_eq(run(62, 63), 1 << 4); /* meanwhile the buffer requests line 5 (in L1 line 2) and line 6 */
    ck_assert_int_eq(ask(0, 3, 5, 64), STREAM_LATENCY);
    ck_assert_uint_eq(run(64, 65), 0);
    ck_assert_int_eq(ask(0, 4, 6, 66), STREAM_LATENCY);
    ck_assert_int_eq(ask(0, 5, 7, 67), STREAM_LATENCY);
    ck_assert_int_eq(ask(0, 6, 8, 68), -1);
    ck_assert_uint_eq(run(68, 63 + MISS), 1 << 8); /* line 6 was requested at 63 */
    ck_assert_uint_eq(fetch.n.prefetch_useful, 6);
    ck_assert_uint_eq(fetch.n.prefetch_late, 2);
    ck_assert_uint_eq(fetch.n.prefetch_unused, 0);
    ck_assert_uint_eq(fetch.n.misses, 1);
    ck_assert_uint_eq(fetch.n.l0_misses, 7);
    ck_assert_uint_eq(fetch.n.l1_accesses, 1 + fetch.n.prefetches);
}
END_TEST

/* Scheduler 1 misses line 0 at 100, when the L1 has it. Its buffer requests one line per cycle from 101 on. Lines
 * that the L1 has arrive after its latency. */
START_TEST(a_line_of_the_l1_takes_its_latency) {
    make(LINES, 8);
    ask(0, 0, 1, 10);
    run(11, 99);
    fetch.n.prefetch_late = 0;
    ck_assert_int_eq(ask(1, 0, 2, 100), L1_LATENCY);
    ck_assert_uint_eq(run(101, 104), 0);
    ck_assert_int_eq(ask(1, 1, 3, 104), -1);
    ck_assert_int_eq(ask(1, 2, 4, 104), -1);
    ck_assert_uint_eq(run(105, 101 + L1_LATENCY - 1), 0);
    ck_assert_uint_eq(run(101 + L1_LATENCY, 101 + L1_LATENCY), 1 << 3);
    ck_assert_uint_eq(run(102 + L1_LATENCY, 102 + L1_LATENCY), 1 << 4);
    ck_assert_uint_eq(fetch.n.prefetch_late, 2);
    ck_assert_int_eq(ask(1, 3, 5, 120), STREAM_LATENCY);
}
END_TEST

/* A jump from line 0 to line 20 at 61 discards the buffer's lines, and the buffer restarts at line 21. The request
 * for line 2, which was made in cycle 13, is not cancelled. */
START_TEST(a_jump_starts_the_buffer_anew) {
    make(LINES, 8);
    ask(0, 0, 1, 10);
    run(11, 60);
    ck_assert_int_eq(ask(0, 2, 2, 61), -1); /* line 1 is skipped */
    ck_assert_uint_eq(fetch.n.prefetch_unused, 1);
    ck_assert_int_eq(ask(0, 20, 3, 61), -1);
    ck_assert_uint_eq(fetch.n.prefetch_unused, 3); /* lines 3 and 4 are unused as well */
    ck_assert_uint_eq(run(62, 63), 1 << 2);
    uint64_t asked = fetch.n.prefetches; /* only one request, since the fetch used the port at 61 */
    ck_assert_uint_eq(asked, LINES + 1);
    ck_assert_uint_eq(run(64, 61 + MISS), 1 << 3);
    ck_assert_uint_eq(fetch.n.prefetches, 2 * LINES);
    run(62 + MISS, 199);
    for (uint64_t line = 21; line < 25; line++)
        ck_assert_int_eq(ask(0, line, 4, 200), STREAM_LATENCY);
    ck_assert_int_eq(ask(0, 3, 5, 201), L1_LATENCY); /* the line is in the L1 */
    ck_assert_uint_eq(fetch.n.misses, 2);
}
END_TEST

/* Buffers send requests in rotation, one request per cycle, and no request in a cycle in which a fetch uses the L1. */
START_TEST(buffers_share_the_port_and_fetches_go_first) {
    make(LINES, 16);
    ask(0, 0, 1, 10);
    ask(1, 40, 2, 10);
    run(11, 13);
    ck_assert_uint_eq(fetch.stream[0].n, 1);
    ck_assert_uint_eq(fetch.stream[1].n, 1);
    ask(2, 80, 3, 13);
    run(14, 14);
    ck_assert_uint_eq(fetch.n.prefetches, 2);
    run(15, 17);
    ck_assert_uint_eq(fetch.stream[2].n, 1);
    ck_assert_uint_eq(fetch.n.prefetches, 5);
}
END_TEST

/* Of two MSHRs, one remains free for fetches. The buffer sleeps until a line has arrived. With one MSHR it requests
 * nothing. */
START_TEST(one_mshr_stays_free_for_fetches) {
    make(LINES, 2);
    ask(0, 0, 1, 10);
    run(11, 12);
    ck_assert_uint_eq(fetch.n.prefetches, 0);
    ck_assert_uint_eq(fetch_next(&fetch, 12), 10 + MISS);
    ck_assert_int_eq(ask(1, 40, 2, 20), -1); /* this fetch takes the second MSHR */
    ck_assert_uint_eq(run(20, 60), 1 << 1);
    ck_assert_uint_eq(fetch.n.prefetches, 0);
    ck_assert_uint_eq(run(61, 20 + MISS), 1 << 2);
    run(71, 90);
    ck_assert_uint_gt(fetch.n.prefetches, 0);
    fetch_free(&fetch);
    make(LINES, 1);
    ask(0, 0, 1, 10);
    run(11, 200);
    ck_assert_uint_eq(fetch.n.prefetches, 0);
    ck_assert_uint_eq(fetch_next(&fetch, 200), UINT64_MAX);
}
END_TEST

/* Four schedulers fetch along random paths. Every ticket comes back once, and polling gives the same cycles. */
START_TEST(every_fetch_is_answered) {
    static uint64_t cycle[2][400];
    for (int poll = 0; poll < 2; poll++) {
        uint64_t rng = (uint64_t)_i + 1, line[4] = {0, 0, 100, 200};
        bool busy[4] = {false};
        uint32_t owner[64], next = 0, n = 0;
        make((uint32_t[]){1, 3, 8, 64}[_i % 4], (uint32_t[]){1, 2, 4, 16}[_i / 4 % 4]);
        for (uint64_t c = 1; c < 20000 && n < 400; c++) {
            uint32_t ticket, latency;
            if (poll || fetch_next(&fetch, c - 1) <= c)
                fetch_tick(&fetch, c);
            while (fetch_take(&fetch, &ticket, &latency)) {
                ck_assert(busy[owner[ticket]]);
                busy[owner[ticket]] = false;
                cycle[poll][n++ % 400] = c;
            }
            for (uint32_t u = 0; u < 4; u++) {
                uint64_t r = test_random(&rng); /* drawn in both cases, so that both runs use the same random numbers */
                if (busy[u] || r % 8)
                    continue;
                uint64_t to = r >> 8 & 7 ? line[u] + 1 : r >> 16 & 255;
                int got = ask(u, to, next, c);
                owner[next] = u;
                busy[u] = got == -1;
                line[u] = got == -2 ? line[u] : to;
                next = (next + 1) % 64;
            }
        }
        ck_assert_uint_eq(n, 400);
        fetch_free(&fetch);
    }
    ck_assert_int_eq(memcmp(cycle[0], cycle[1], sizeof cycle[0]), 0);
}
END_TEST

START_TEST(a_perfect_cache_is_not_accessed) {
    char err[256];
    ck_assert(config_load(&config, "volta-classic", err, sizeof err));
    config.sm.fetch_perfect = true;
    ck_assert(fetch_init(&fetch, &config, NULL));
    for (uint64_t line = 0; line < 1000; line += 7)
        ck_assert_int_eq(ask(line % 4, line, 1, line), 0);
    ck_assert_uint_eq(fetch.n.l0_accesses + fetch.n.l1_accesses + fetch.n.prefetches, 0);
    ck_assert_uint_eq(fetch_next(&fetch, 9), UINT64_MAX);
}
END_TEST

/* Lines come through the load/store unit, from memory with a latency of 300 cycles.
 * - line 0 is fetched at 10; its buffer requests L1 line 1 at 13 and L1 line 2 at 15
 * - fetches join these requests: a fetch of line 2 waits from 100 to 313, and a fetch of line 4 from 200 to 315
 * - a fetch of line 3 at 150 joins the wait for line 2
 * - line 2 leaves the buffer, which then requests L1 line 3 at 102; a fetch of line 6 by scheduler 1 joins this request
 *   and waits from 250 to 402
 * - line 8 is in L1 line 4; the buffer of scheduler 1 ends with line 10, in L1 line 5 */
START_TEST(prefetched_lines_are_no_demand) {
    static const struct {
        uint64_t cycle, line;
        uint32_t unit;
    } asks[] = {{10, 0, 0}, {100, 2, 0}, {150, 3, 0}, {200, 4, 0}, {250, 6, 1}};
    char err[256];
    ck_assert(config_load(&config, "fermi", err, sizeof err));
    config.l1i =
        (struct cache_cfg){.size = 4096, .ways = 2, .line = LINE, .mshrs = 8, .merges = 4, .latency = L1_LATENCY};
    config.l0i = (struct cache_cfg){.size = 512, .ways = 2, .line = L0_LINE, .mshrs = 4, .merges = 2};
    config.sm.subcores = true;
    config.sm.schedulers = 4;
    config.sm.fetch_miss = 0;
    config.sm.fetch_prefetch = LINES;
    config.memory.model = MEMORY_FIXED;
    config.memory.latency = 300;
    struct memsys *mem = memsys_new(&config);
    struct lsu *lsu = lsu_new(&config, mem, 0);
    struct stats s;
    ck_assert(mem && lsu && stats_init(&s) && fetch_init(&fetch, &config, lsu));
    uint32_t next = 0, ticket, latency, came = 0;
    for (uint64_t c = 0; c < 2000; c++) {
        fetch_tick(&fetch, c);
        while (fetch_take(&fetch, &ticket, &latency))
            came++;
        for (; next < 5 && asks[next].cycle == c; next++)
            ck_assert_int_eq(ask(asks[next].unit, asks[next].line, next, c), -1);
        lsu_tick(lsu, c);
        memsys_run(mem, c, c + 1);
    }
    ck_assert_uint_eq(came, 5);
    lsu_stats(lsu, &s);
    ck_assert_double_eq(stats_get(&s, "mem.replies"), 4);
    ck_assert_double_eq(stats_get(&s, "mem.latency_sum"), 300 + 213 + 115 + 152);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_joined"), 3);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_replies"), 5);
    ck_assert_double_eq(stats_get(&s, "mem.prefetch_latency_sum"), 5 * 300);
    stats_free(&s);
    lsu_free(lsu);
    memsys_free(mem);
}
END_TEST

SUITE(timing_fetch_stream) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(a_straight_line_finds_its_lines_in_the_buffer);
    TEST(a_line_of_the_l1_takes_its_latency);
    TEST(a_jump_starts_the_buffer_anew);
    TEST(buffers_share_the_port_and_fetches_go_first);
    TEST(one_mshr_stays_free_for_fetches);
    TEST_LOOP(every_fetch_is_answered, 0, 16);
    TEST(prefetched_lines_are_no_demand);
    TEST(a_perfect_cache_is_not_accessed);
}
