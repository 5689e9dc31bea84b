/* Tests how an L2 slice counts the lines that stride prefetchers requested, access by access. */
#include "mechanisms/mechanism.h"
#include "test/test.h"
#include "timing/strides/prefetch_stride.h"
#include <stdio.h>

enum { LINE = 128 };

static struct config cfg;
static struct stats stats;
static struct prefetch_place place = {.level = PREFETCH_AT_L2, .line_bytes = LINE};
static const struct prefetcher_ops *ops;
static void *w;

static void setup(void) {
    config_default(&cfg);
    place.line_bytes = LINE;
    ck_assert(stats_init(&stats));
}

static void begin(bool dynamic, const char *set) {
    char err[256];
    ck_assert_msg(!set || config_set(&cfg, set, err, sizeof err), "%s", err);
    ops = dynamic ? mechanism_ddp.at_slices : mechanism_stride.at_slices;
    w = ops->make(&cfg, &place, NULL);
    ck_assert_ptr_nonnull(w);
}

static void teardown(void) {
    ops->free(w);
    stats_free(&stats);
}

static void see(uint64_t line, enum prefetch_kind kind, enum prefetch_result result, bool first_use, bool late,
                bool into_l1) {
    ops->observe(w, &(struct prefetch_seen){.address = line * LINE,
                                            .line = line * LINE,
                                            .kind = (uint8_t)kind,
                                            .result = (uint8_t)result,
                                            .first_use = first_use,
                                            .late = late,
                                            .into_l1 = into_l1,
                                            .sectors = 5,
                                            .fetched = result == SEEN_MISS ? (1u << LINE / 32) - 1 : 0});
}
static void leaves(uint64_t line, bool ahead, bool unused) {
    ops->evicted(w, &(struct prefetch_victim){.line = line * LINE, .ahead = ahead, .unused = unused});
}

static const char *const names[2][7] = {
    {"stride.issued", "stride.present", "stride.useful", "stride.late", "stride.unused", "stride.pollution",
     "stride.bytes"},
    {"ddp.issued", "ddp.present", "ddp.useful", "ddp.late", "ddp.unused", "ddp.pollution", "ddp.bytes"}};

static void expect_all(const char *e, double issued, double present, double useful, double late, double unused,
                       double pollution, double bytes) {
    const double want[7] = {issued, present, useful, late, unused, pollution, bytes};
    stats_free(&stats);
    ck_assert(stats_init(&stats));
    ops->stats(w, &(struct prefetch_counts){.sent = 99}, &stats);
    for (int dynamic = 0; dynamic < 2; dynamic++) /* the other extension has no counts */
        for (int i = 0; i < 7; i++) {
            double value = dynamic == (strcmp(e, "ddp") == 0) ? want[i] : 0;
            ck_assert_msg(stats_get(&stats, names[dynamic][i]) == value, "%s is %g, not %g", names[dynamic][i],
                          stats_get(&stats, names[dynamic][i]), value);
        }
}

/* Lines 1 to 4 are prefetched. Line 3 is already present and line 4 is pending. Line 1 is used, and line 2 is used
 * late. A second use does not count. Lines 5 and 6 are evicted, and only line 6 was an unused prefetch. */
START_TEST(each_line_has_its_fate) {
    const char *e = _i ? "ddp" : "stride";
    begin(_i, NULL);
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, false);
    see(2, SEEN_AHEAD, SEEN_MISS, false, false, false);
    see(3, SEEN_AHEAD, SEEN_HIT, false, false, false);
    see(4, SEEN_AHEAD, SEEN_MERGED, false, false, false);
    see(1, SEEN_LOAD, SEEN_HIT, true, false, false);
    see(2, SEEN_LOAD, SEEN_MERGED, true, true, false);
    see(2, SEEN_LOAD, SEEN_MERGED, false, true, false);
    leaves(5, false, false), leaves(6, false, true);
    expect_all(e, 2, 2, 2, 1, 1, 0, 2 * LINE);
    expect_all(e, 0, 0, 0, 0, 0, 0, 0); /* the first call reported the events, so the second call reports none */
}
END_TEST

/* Prefetches evict lines 7 and 8, and a load evicts line 9. A later miss of a line that a prefetch evicted counts as
 * pollution. Line 7 is missed twice but counts once, because it was evicted once. A hit of line 8 does not count. */
START_TEST(an_evicted_line_that_is_missed_is_pollution) {
    begin(true, NULL);
    leaves(7, true, false);
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, false);
    leaves(8, true, false);
    see(2, SEEN_AHEAD, SEEN_MISS, false, false, false);
    leaves(9, false, false);
    see(3, SEEN_LOAD, SEEN_MISS, false, false, false);
    see(7, SEEN_LOAD, SEEN_MISS, false, false, false);
    see(7, SEEN_LOAD, SEEN_MISS, false, false, false);
    see(8, SEEN_LOAD, SEEN_HIT, false, false, false);
    see(9, SEEN_LOAD, SEEN_MISS, false, false, false);
    see(0, SEEN_LOAD, SEEN_MISS, false, false, false); /* line 0 was not evicted by a prefetch */
    expect_all("ddp", 2, 0, 0, 0, 0, 1, 2 * LINE);
    see(8, SEEN_STORE, SEEN_MISS, false, false, false); /* the slice remembers line 8 until an access misses it */
    expect_all("ddp", 0, 0, 0, 0, 0, 1, 0);
}
END_TEST

/* A prefetch of line 1 evicts line 7, which is then missed. This counts as pollution once. The prefetch of line 2
 * evicts nothing, so the next miss of line 7 is not pollution. */
START_TEST(a_prefetch_without_a_victim_pollutes_nothing) {
    begin(_i, NULL);
    leaves(7, true, false);
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, false);
    see(7, SEEN_LOAD, SEEN_MISS, false, false, false);
    see(2, SEEN_AHEAD, SEEN_MISS, false, false, false);
    see(7, SEEN_LOAD, SEEN_MISS, false, false, false);
    expect_all(_i ? "ddp" : "stride", 2, 0, 0, 0, 0, 1, 2 * LINE);
}
END_TEST

/* Lines that other units prefetch into an L1 do not count. If this prefetcher prefetches into an L1, the L1 counts
 * their outcomes, and the slice counts their bytes. */
START_TEST(lines_for_another_cache) {
    begin(false, NULL);
    leaves(7, true, false);
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, true);
    see(7, SEEN_LOAD, SEEN_MISS, false, false, false);
    expect_all("stride", 0, 0, 0, 0, 0, 0, 0);
    ops->free(w);
    begin(false, "stride.level=l1");
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, true);
    see(2, SEEN_AHEAD, SEEN_MISS, false, false, false);
    see(1, SEEN_LOAD, SEEN_HIT, true, true, false);
    leaves(5, true, true);
    expect_all("stride", 0, 0, 0, 0, 0, 0, LINE);
    ops->free(w);
    begin(true, "ddp.level=l2"); /* the other extension prefetches into another cache level */
    see(1, SEEN_AHEAD, SEEN_MISS, false, false, false);
    expect_all("ddp", 1, 0, 0, 0, 0, 0, LINE);
}
END_TEST

/* A prefetch requests sectors 0 to 2. The slice already has sector 1, because an SM wrote it, so only the other two
 * sectors, 64 bytes, come from memory. Without a cache nothing is counted. */
START_TEST(bytes_are_those_fetched) {
    begin(false, NULL);
    struct prefetch_seen seen = {
        .address = LINE, .line = LINE, .kind = SEEN_AHEAD, .result = SEEN_MISS, .sectors = 7, .fetched = 5};
    ops->observe(w, &seen);
    expect_all("stride", 1, 0, 0, 0, 0, 0, 64);
    place.line_bytes = 0;
    ops->observe(w, &seen);
    expect_all("stride", 0, 0, 0, 0, 0, 0, 0);
}
END_TEST

SUITE(timing_strides_prefetch_watch) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(each_line_has_its_fate, 0, 2);
    TEST(an_evicted_line_that_is_missed_is_pollution);
    TEST_LOOP(a_prefetch_without_a_victim_pollutes_nothing, 0, 2);
    TEST(lines_for_another_cache);
    TEST(bytes_are_those_fetched);
}
