/* Instruction caches: what hits, what waits for how long, what is counted. Lines come by themselves after MISS cycles
 * (sm.fetch_miss), so no load/store unit is needed. */
#include "timing/sm/fetch.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

enum { MISS = 50, L1_LATENCY = 12, LINE = 128, L0_LINE = 64 };

static struct config config;
static struct fetch fetch;
static uint64_t now; /* of fetches */

/* An L1 of two lines a set and 4 MSHRs; with `l0`, four L0s of 64-byte lines before it. */
static void make(bool l0, uint32_t mshrs) {
    char err[256];
    ck_assert(config_load(&config, "fermi", err, sizeof err));
    config.l1i =
        (struct cache_cfg){.size = 1024, .ways = 2, .line = LINE, .mshrs = mshrs, .merges = 4, .latency = L1_LATENCY};
    config.l0i = (struct cache_cfg){.size = l0 ? 256 : 0, .ways = 2, .line = L0_LINE, .mshrs = 2, .merges = 2};
    config.sm.subcores = l0;
    config.sm.schedulers = 4;
    config.sm.fetch_miss = MISS;
    ck_assert(fetch_init(&fetch, &config, NULL));
}

static void teardown(void) { fetch_free(&fetch); }

/* Asks as scheduler `unit`; the latency of a hit, -1 when it waits, -2 when it is refused. */
static int ask(uint32_t unit, uint64_t address, uint32_t ticket) {
    uint32_t latency = 99;
    switch (fetch_accept(&fetch, unit, address, ticket, now, &latency)) {
    case FETCH_HIT:
        return (int)latency;
    case FETCH_WAIT:
        return -1;
    default:
        return -2;
    }
}

/* A bit for each ticket below 64 that comes back; all with this latency. */
static uint64_t taken(uint32_t latency) {
    uint64_t tickets = 0;
    uint32_t ticket, with;
    while (fetch_take(&fetch, &ticket, &with)) {
        ck_assert_uint_eq(with, latency);
        tickets |= 1ull << ticket;
    }
    return tickets;
}

START_TEST(without_a_cache_every_fetch_hits) {
    char err[256];
    ck_assert(config_load(&config, "tiny", err, sizeof err)); /* l1i.size = 0 */
    ck_assert(fetch_init(&fetch, &config, NULL));
    for (uint64_t a = 0; a < 1 << 20; a += 4096)
        ck_assert_int_eq(ask(0, a, 1), 0);
    ck_assert_uint_eq(fetch.n.fetches, 256);
    ck_assert_uint_eq(fetch.n.misses + fetch.n.l1_accesses, 0);
    ck_assert_uint_eq(fetch_next(&fetch, 7), UINT64_MAX);
}
END_TEST

/* Two fetches of one line: one request, which leaves in cycle 10 and is there in 60. */
START_TEST(fetches_of_one_line_share_a_request) {
    make(false, 4);
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(0, LINE - 4, 2), -1);
    fetch_send(&fetch, 10);
    ck_assert_uint_eq(fetch_next(&fetch, 10), 10 + MISS);
    ck_assert(!fetch_tick(&fetch, 10 + MISS - 1));
    ck_assert_uint_eq(taken(0), 0);
    ck_assert(fetch_tick(&fetch, 10 + MISS));
    ck_assert_uint_eq(taken(0), 1 << 1 | 1 << 2);
    ck_assert_uint_eq(fetch_next(&fetch, 10 + MISS), UINT64_MAX);
    ck_assert_int_eq(ask(0, 64, 3), 0); /* in the line now */
    ck_assert_int_eq(ask(0, LINE, 4), -1);
    ck_assert_uint_eq(fetch.n.fetches, 4);
    ck_assert_uint_eq(fetch.n.misses, 2);
    ck_assert_uint_eq(fetch.n.l1_accesses, 4);
    ck_assert_uint_eq(fetch.n.l0_accesses, 0);
}
END_TEST

/* An L0 holds its own scheduler's lines. A miss that the L1 can serve takes the L1's latency; the L1's line is two of
 * the L0's. */
START_TEST(an_l0_miss_takes_the_l1s_latency) {
    make(true, 4);
    ck_assert_int_eq(ask(0, 0, 1), -1); /* both miss */
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    ck_assert_uint_eq(taken(0), 1 << 1);
    ck_assert_int_eq(ask(0, 4, 2), 0);                /* in L0 0 */
    ck_assert_int_eq(ask(0, L0_LINE, 3), L1_LATENCY); /* the line's other half is in the L1 only */
    ck_assert_int_eq(ask(0, L0_LINE + 4, 4), 0);      /* and now here */
    ck_assert_int_eq(ask(3, 0, 5), L1_LATENCY);       /* another scheduler's L0 is empty */
    ck_assert_int_eq(ask(3, 8, 6), 0);
    ck_assert_uint_eq(fetch.n.l0_accesses, 6);
    ck_assert_uint_eq(fetch.n.l0_misses, 3);
    ck_assert_uint_eq(fetch.n.l1_accesses, 3);
    ck_assert_uint_eq(fetch.n.misses, 1);
    ck_assert_uint_eq(fetch.n.fetches, 6);
}
END_TEST

/* With one MSHR a second line is refused until the first has come; what is refused is not counted. */
START_TEST(no_mshr_is_a_refusal) {
    make(false, 1);
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(0, LINE, 2), -2);
    ck_assert_uint_eq(fetch.n.fetches, 1);
    ck_assert_uint_eq(fetch.n.l1_accesses, 1);
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    ck_assert_int_eq(ask(0, LINE, 2), -1);
}
END_TEST

/* An L0 has taken a miss that the L1 refuses: it asks by itself when a line has come. Line 1's request leaves then, in
 * cycle 50, and is there in 100. */
START_TEST(an_l0_asks_again_for_what_the_l1_refused) {
    make(true, 1);
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(1, LINE, 2), -1);
    ck_assert_int_eq(ask(2, 0, 3), -1); /* merges in the L1 */
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    ck_assert_uint_eq(taken(0), 1 << 1 | 1 << 3);
    ck_assert_uint_eq(fetch_next(&fetch, MISS), 2 * MISS);
    ck_assert(!fetch_tick(&fetch, 2 * MISS - 1));
    ck_assert(fetch_tick(&fetch, 2 * MISS));
    ck_assert_uint_eq(taken(0), 1 << 2);
    ck_assert_uint_eq(fetch.n.misses, 2);
}
END_TEST

/* Both halves of line 1 are refused by the L1; when line 0 has come the first of them misses and the second merges. */
START_TEST(refused_misses_share_a_request) {
    make(true, 1);
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(1, LINE, 2), -1);
    ck_assert_int_eq(ask(1, LINE + L0_LINE, 3), -1);
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    ck_assert_uint_eq(taken(0), 1 << 1);
    ck_assert(fetch_tick(&fetch, 2 * MISS));
    ck_assert_uint_eq(taken(0), 1 << 2 | 1 << 3);
    ck_assert_uint_eq(fetch.n.misses, 2);
    ck_assert_uint_eq(fetch.n.l1_accesses, 3);
}
END_TEST

/* An MSHR takes four: the fifth that wants line 0 is refused, and finds the line in the L1 when it has come. */
START_TEST(a_refused_miss_may_hit_later) {
    make(true, 4);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_int_eq(ask(i / 2, i % 2 * L0_LINE, i), -1);
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    uint32_t ticket, latency, came = 0;
    while (fetch_take(&fetch, &ticket, &latency)) {
        ck_assert_uint_eq(latency, ticket == 4 ? L1_LATENCY : 0);
        came |= 1u << ticket;
    }
    ck_assert_uint_eq(came, 0x1f);
    ck_assert_uint_eq(fetch.n.misses, 1);
}
END_TEST

/* 1024 bytes, 2 ways of 128: 4 sets. Lines 0, 4 and 8 share a set: the third drives the first out. */
START_TEST(lines_of_a_set_drive_each_other_out) {
    make(false, 4);
    for (uint64_t line = 0; line <= 8; line += 4) {
        ck_assert_int_eq(ask(0, line * LINE, 1), -1);
        fetch_send(&fetch, line * 100);
        ck_assert(fetch_tick(&fetch, line * 100 + MISS));
        ck_assert_uint_eq(taken(0), 1 << 1);
    }
    ck_assert_int_eq(ask(0, 8 * LINE, 1), 0);
    ck_assert_int_eq(ask(0, 4 * LINE, 1), 0);
    ck_assert_int_eq(ask(0, 0, 1), -1);
}
END_TEST

/* As many tickets as can wait: two lines of four L0 misses each, which are those of all four L0s (two each), of two
 * tickets each; without L0s, two lines of four. All lines come in one cycle; tickets come back line by line in the
 * order in which they were given, wherever the ring begins. */
START_TEST(all_that_can_wait_comes_back) {
    bool l0 = _i == 1;
    uint32_t each = l0 ? 2 : 1, ticket, latency;
    make(l0, 2);
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t base = round * 2 * LINE;
        uint32_t n = 0;
        for (uint32_t i = 0; i < 8; i++) /* the first line's four, then the second's */
            for (uint32_t k = 0; k < each; k++)
                ck_assert_int_eq(ask(i % 4, base + i / 4 * LINE + 4 * k, n++), -1);
        ck_assert_uint_eq(n, l0 ? 16 : 8);
        fetch_send(&fetch, round * 100);
        ck_assert(fetch_tick(&fetch, round * 100 + MISS));
        for (uint32_t i = 0; i < n - round; i++) {
            ck_assert(fetch_take(&fetch, &ticket, &latency));
            ck_assert_uint_eq(ticket, i);
        }
        for (uint32_t i = n - (uint32_t)round; i < n; i++) /* the ring begins elsewhere each time */
            ck_assert(fetch_take(&fetch, &ticket, &latency) && ticket == i);
        ck_assert(!fetch_take(&fetch, &ticket, &latency));
        ck_assert_int_eq(ask(0, base, 7), 0); /* in the nearest cache */
    }
}
END_TEST

/* Through the port a line may come by sectors. In one cycle come all of line 0 and a part of line 1: an L0's miss that
 * was refused goes then, and the caller is told that a line came; the rest of line 1 comes later. */
START_TEST(a_part_of_a_line_hides_no_line) {
    uint32_t ticket, latency;
    struct config c;
    make(true, 2);
    fetch_free(&fetch);
    config.sm.fetch_miss = 0;
    config_default(&c);
    c.memory.model = MEMORY_FIXED;
    struct memsys *mem = memsys_new(&c);
    struct lsu *lsu = lsu_new(&c, mem, 0);
    ck_assert(mem && lsu && fetch_init(&fetch, &config, lsu));
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(1, LINE, 2), -1);
    ck_assert_int_eq(ask(2, 2 * LINE, 3), -1); /* there is no MSHR for it */
    fetch_send(&fetch, 0);
    static const uint8_t sectors[] = {0xf, 0x3, 0xc};
    for (uint32_t i = 0; i < 3; i++) { /* the port's answers: the first MSHR's, and the second's in two parts */
        lsu->fetch.done[i] = i > 0;
        lsu->fetch.sectors[i] = sectors[i];
    }
    lsu->status.n_fetched = 2;
    ck_assert(fetch_tick(&fetch, 50));
    ck_assert(fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(ticket, 1);
    ck_assert(!fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(fetch.n_retry, 0);
    ck_assert_uint_eq(fetch.n.misses, 3);
    ck_assert(!fetch_tick(&fetch, 51)); /* nothing came */
    lsu->status.n_fetched = 1;
    ck_assert(fetch_tick(&fetch, 52));
    ck_assert(fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(ticket, 2);
    lsu_free(lsu);
    memsys_free(mem);
}
END_TEST

SUITE(timing_fetch) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(without_a_cache_every_fetch_hits);
    TEST(fetches_of_one_line_share_a_request);
    TEST(an_l0_miss_takes_the_l1s_latency);
    TEST(no_mshr_is_a_refusal);
    TEST(an_l0_asks_again_for_what_the_l1_refused);
    TEST(refused_misses_share_a_request);
    TEST(a_refused_miss_may_hit_later);
    TEST(lines_of_a_set_drive_each_other_out);
    TEST_LOOP(all_that_can_wait_comes_back, 0, 2);
    TEST(a_part_of_a_line_hides_no_line);
}
