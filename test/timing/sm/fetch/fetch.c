/* Tests instruction caches: hits, waits and statistics. Lines arrive after MISS cycles (fetch.miss_latency), so no
 * load/store unit is needed. */
#include "timing/sm/fetch/fetch.h"
#include "test/test.h"
#include "timing/mem/lsu_parts.h"

enum { MISS = 50, L1_LATENCY = 12, LINE = 128, L0_LINE = 64 };

static struct config config;
static struct fetch fetch;
static uint64_t now; /* cycle of the next fetch */

/* Makes an L1 with two ways; with `l0` also four L0s of 64-byte lines. */
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

/* Fetches for scheduler `unit`. Returns the latency of a hit, -1 if the fetch waits, or -2 if it is refused. */
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

/* Takes the fetches that have completed. Returns their tickets (below 64) as one bit per ticket. All must have the
 * latency `want`. */
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

/* Two fetches of one line share a request, which leaves at 10 and arrives at 60. */
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
    ck_assert_int_eq(ask(0, 64, 3), 0); /* this fetch is in the line that arrived, so it hits */
    ck_assert_int_eq(ask(0, LINE, 4), -1);
    ck_assert_uint_eq(fetch.n.fetches, 4);
    ck_assert_uint_eq(fetch.n.misses, 2);
    ck_assert_uint_eq(fetch.n.l1_accesses, 4);
    ck_assert_uint_eq(fetch.n.l0_accesses, 0);
}
END_TEST

/* An L0 caches the lines of its own scheduler only. An L0 miss that hits in the L1 takes the L1's latency. A line of
 * the L1 is two lines of an L0. */
START_TEST(an_l0_miss_takes_the_l1s_latency) {
    make(true, 4);
    ck_assert_int_eq(ask(0, 0, 1), -1); /* both miss */
    fetch_send(&fetch, 0);
    ck_assert(fetch_tick(&fetch, MISS));
    ck_assert_uint_eq(taken(0), 1 << 1);
    ck_assert_int_eq(ask(0, 4, 2), 0);                /* in L0 0 */
    ck_assert_int_eq(ask(0, L0_LINE, 3), L1_LATENCY); /* the other half of the line is only in the L1 */
    ck_assert_int_eq(ask(0, L0_LINE + 4, 4), 0);      /* now the line is in the L0 */
    ck_assert_int_eq(ask(3, 0, 5), L1_LATENCY);       /* another scheduler's L0 is empty */
    ck_assert_int_eq(ask(3, 8, 6), 0);
    ck_assert_uint_eq(fetch.n.l0_accesses, 6);
    ck_assert_uint_eq(fetch.n.l0_misses, 3);
    ck_assert_uint_eq(fetch.n.l1_accesses, 3);
    ck_assert_uint_eq(fetch.n.misses, 1);
    ck_assert_uint_eq(fetch.n.fetches, 6);
}
END_TEST

/* With one MSHR, a fetch of a second line is refused until the first line has arrived. A refused fetch is not
 * counted. */
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

/* The L1 refuses a miss of an L0, which retries when a line has arrived: the request for line 1 leaves at 50 and
 * arrives at 100. */
START_TEST(an_l0_retries_a_refused_miss) {
    make(true, 1);
    ck_assert_int_eq(ask(0, 0, 1), -1);
    ck_assert_int_eq(ask(1, LINE, 2), -1);
    ck_assert_int_eq(ask(2, 0, 3), -1); /* joins in the L1 */
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

/* The L1 refuses both halves of line 1. When line 0 has arrived, the fetch of the first half misses, and the fetch
 * of the second half joins this miss. */
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

/* An MSHR of the L1 takes four accesses. The L1 refuses the fifth L0 miss of its line 0. This miss hits in the L1 when
 * the line has arrived. */
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

/* The cache has 1024 bytes and 2 ways of 128-byte lines, so it has 4 sets. Lines 0, 4 and 8 share a set, and the
 * third evicts the first. */
START_TEST(lines_of_a_set_evict_each_other) {
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

/* The maximum number of tickets wait:
 * - with L0s: two lines, four L0 misses per line (two L0 lines in each of two L0s), and two tickets per L0 miss
 * - without L0s: two lines with four tickets each
 * All lines arrive in one cycle. Tickets come back line by line and in order, at whatever entry the ring of waiting
 * tickets begins. */
START_TEST(all_waiting_tickets_come_back) {
    bool l0 = _i == 1;
    uint32_t each = l0 ? 2 : 1, ticket, latency;
    make(l0, 2);
    for (uint64_t round = 0; round < 5; round++) {
        uint64_t base = round * 2 * LINE;
        uint32_t n = 0;
        for (uint32_t i = 0; i < 8; i++) /* the four fetches of the first line, then those of the second line */
            for (uint32_t k = 0; k < each; k++)
                ck_assert_int_eq(ask(i % 4, base + i / 4 * LINE + 4 * k, n++), -1);
        ck_assert_uint_eq(n, l0 ? 16 : 8);
        fetch_send(&fetch, round * 100);
        ck_assert(fetch_tick(&fetch, round * 100 + MISS));
        for (uint32_t i = 0; i < n - round; i++) {
            ck_assert(fetch_take(&fetch, &ticket, &latency));
            ck_assert_uint_eq(ticket, i);
        }
        for (uint32_t i = n - (uint32_t)round; i < n; i++) /* the ring begins at a different position each time */
            ck_assert(fetch_take(&fetch, &ticket, &latency) && ticket == i);
        ck_assert(!fetch_take(&fetch, &ticket, &latency));
        ck_assert_int_eq(ask(0, base, 7), 0); /* the line is now in the cache nearest to the scheduler */
    }
}
END_TEST

/* A line may arrive sector by sector. One cycle brings all of line 0 and a part of line 1. Then the refused miss of an
 * L0 is retried, and the caller learns that a line arrived. The rest of line 1 arrives later. */
START_TEST(part_of_a_line_arrives) {
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
    ck_assert_int_eq(ask(2, 2 * LINE, 3), -1); /* no MSHR is free */
    fetch_send(&fetch, 0);
    static const uint8_t sectors[] = {0xf, 0x3};
    for (uint32_t i = 0; i < 2; i++) { /* replies at the port: line 0, then the first part of line 1 */
        lsu->fetch.done[i] = i;
        lsu->fetch.sectors[i] = sectors[i];
    }
    lsu->status.n_fetched = 2;
    ck_assert(fetch_tick(&fetch, 50));
    ck_assert(fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(ticket, 1);
    ck_assert(!fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(fetch.n_retry, 0);
    ck_assert_uint_eq(fetch.n.misses, 3);
    ck_assert(!fetch_tick(&fetch, 51));      /* nothing arrived */
    lsu->fetch.done[lsu->fetch.done_at] = 1; /* the second part of line 1 */
    lsu->fetch.sectors[lsu->fetch.done_at] = 0xc;
    lsu->status.n_fetched = 1;
    ck_assert(fetch_tick(&fetch, 52));
    ck_assert(fetch_take(&fetch, &ticket, &latency));
    ck_assert_uint_eq(ticket, 2);
    lsu_free(lsu);
    memsys_free(mem);
}
END_TEST

/* Lines 1 and 2 are warm. Both hit, in the L1 itself without an L0, and after its latency with one. The lines 0 and 3
 * beside them miss. Statistics count the four fetches alone. */
START_TEST(warm_lines_hit) {
    make(_i, 8);
    fetch_warm(&fetch, LINE + 4, 2 * LINE + 4);
    ck_assert_int_eq(ask(0, 0, 0), -1);
    ck_assert_int_eq(ask(0, LINE, 1), _i ? L1_LATENCY : 0);
    ck_assert_int_eq(ask(1, 2 * LINE, 2), _i ? L1_LATENCY : 0);
    ck_assert_int_eq(ask(2, 3 * LINE, 3), -1);
    ck_assert_uint_eq(fetch.n.l1_accesses, 4);
    ck_assert_uint_eq(fetch.n.misses, 2);
}
END_TEST

SUITE(timing_fetch) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(without_a_cache_every_fetch_hits);
    TEST(fetches_of_one_line_share_a_request);
    TEST(an_l0_miss_takes_the_l1s_latency);
    TEST(no_mshr_is_a_refusal);
    TEST(an_l0_retries_a_refused_miss);
    TEST(refused_misses_share_a_request);
    TEST(a_refused_miss_may_hit_later);
    TEST(lines_of_a_set_evict_each_other);
    TEST_LOOP(all_waiting_tickets_come_back, 0, 2);
    TEST(part_of_a_line_arrives);
    TEST_LOOP(warm_lines_hit, 0, 2);
}
