/* Tags, replacement, write policies and MSHRs, by sequences small enough to follow by hand. */
#include "timing/mem/cache.h"
#include "test/test.h"

static struct cache c;
static struct cache_out out;

/* Sets 2, ways 2, lines of 128 bytes; even lines are in set 0. */
static void start(uint32_t mshrs, uint32_t merges, bool sectored) {
    struct cache_shape s = {
        .sets = 2, .ways = 2, .line_bytes = 128, .mshrs = mshrs, .merges = merges, .sectored = sectored};
    ck_assert(cache_init(&c, &s));
}

static void read_and_fill(uint64_t line) {
    uint64_t target;
    ck_assert_int_eq(cache_read(&c, line, 0xf, 77, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, out.fetch);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert(!cache_take(&c, out.mshr, &target));
}

/* Sectors of a line that are there. */
static unsigned peek(uint64_t line) { return cache_valid(&c, cache_look(&c, line)); }

START_TEST(misses_merge_and_wake_in_order) {
    uint64_t target;
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 1, &out), CACHE_MISS);
    uint32_t mshr = out.mshr;
    ck_assert_uint_eq(out.fetch, 0xf);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 2, &out), CACHE_MERGED);
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 3, &out), CACHE_NO_MERGE);
    ck_assert(!cache_take(&c, mshr, &target));
    cache_fill(&c, mshr, 0xf);
    ck_assert(cache_take(&c, mshr, &target));
    ck_assert_uint_eq(target, 1);
    ck_assert(!cache_idle(&c));
    ck_assert(cache_take(&c, mshr, &target));
    ck_assert_uint_eq(target, 2);
    ck_assert(!cache_take(&c, mshr, &target));
    ck_assert(cache_idle(&c));
    ck_assert_int_eq(cache_read(&c, 8, 0xf, 4, &out), CACHE_HIT);
    cache_free(&c);
}
END_TEST

START_TEST(mshrs_run_out) {
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 2, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 2, 0xf, 3, &out), CACHE_NO_MSHR);
    cache_free(&c);
}
END_TEST

/* Lines 0 and 2 fill set 0 and wait; line 4 has nowhere to go, line 1 is in the other set. */
START_TEST(reserved_ways_stay) {
    start(4, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 2, 0xf, 2, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 3, &out), CACHE_NO_LINE);
    ck_assert_int_eq(cache_write(&c, 4, 0xf, 0xf, &out), CACHE_NO_LINE);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 3, &out), CACHE_MISS);
    cache_free(&c);
}
END_TEST

START_TEST(least_recently_used_leaves) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_HIT);
    read_and_fill(4);
    ck_assert_uint_eq(peek(2), 0);
    ck_assert_uint_eq(peek(0), 0xf);
    ck_assert_uint_eq(peek(4), 0xf);
    ck_assert_uint_eq(c.n.evictions, 1);
    cache_free(&c);
}
END_TEST

/* Sectors 1 and 2 of line 0 are dirty when line 4 drives it out. */
START_TEST(dirty_sectors_are_written_back) {
    start(2, 2, false);
    read_and_fill(0);
    ck_assert_int_eq(cache_write(&c, 0, 0x6, 0, &out), CACHE_HIT);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.victim, 0);
    ck_assert_uint_eq(out.victim_sectors, 0x6);
    cache_free(&c);
}
END_TEST

START_TEST(clean_lines_leave_silently) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert_int_eq(cache_read(&c, 4, 0xf, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.victim_sectors, 0);
    cache_free(&c);
}
END_TEST

/* Two sectors written, one of them whole: that one can be read, the rest of the line must come. */
START_TEST(written_sectors_are_valid_when_whole) {
    start(2, 2, false);
    ck_assert_int_eq(cache_write(&c, 0, 0x3, 0x1, &out), CACHE_MISS);
    ck_assert_uint_eq(peek(0), 0x1);
    ck_assert_int_eq(cache_read(&c, 0, 0x1, 1, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 0, 0x2, 2, &out), CACHE_MISS);
    ck_assert_uint_eq(out.fetch, 0xe);
    cache_free(&c);
}
END_TEST

START_TEST(write_through_drops_or_keeps) {
    start(2, 2, false);
    read_and_fill(0);
    ck_assert(cache_write_through(&c, 0, false));
    ck_assert_uint_eq(peek(0), 0xf);
    ck_assert(cache_write_through(&c, 0, true));
    ck_assert_uint_eq(peek(0), 0);
    ck_assert(!cache_write_through(&c, 0, true));
    cache_free(&c);
}
END_TEST

/* A line on its way is not dropped: its MSHR will fill it. */
START_TEST(write_through_leaves_reserved_lines) {
    uint64_t target;
    start(2, 2, false);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert(cache_write_through(&c, 0, true));
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_uint_eq(peek(0), 0xf);
    cache_free(&c);
}
END_TEST

/* Sectors 0 and 2 are asked for one after the other by one MSHR; the second comes first, and its access waits for its
 * turn behind the first. */
START_TEST(sectors_come_one_by_one) {
    uint64_t target;
    start(2, 4, true);
    ck_assert_int_eq(cache_read(&c, 0, 0x1, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.fetch, 0x1);
    uint32_t mshr = out.mshr;
    ck_assert_int_eq(cache_read(&c, 0, 0x5, 2, &out), CACHE_MISS);
    ck_assert_uint_eq(out.fetch, 0x4);
    ck_assert_uint_eq(out.mshr, mshr);
    ck_assert_int_eq(cache_read(&c, 0, 0x4, 3, &out), CACHE_MERGED);
    cache_fill(&c, mshr, 0x4);
    ck_assert(!cache_take(&c, mshr, &target));
    cache_fill(&c, mshr, 0x1);
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert(cache_take(&c, mshr, &target));
        ck_assert_uint_eq(target, i);
    }
    ck_assert(cache_idle(&c));
    ck_assert_uint_eq(peek(0), 0x5);
    cache_free(&c);
}
END_TEST

/* A locked line outlives two others in its set of two ways; the other way cannot be locked as well. */
START_TEST(locked_lines_stay) {
    start(2, 2, false);
    read_and_fill(0);
    read_and_fill(2);
    ck_assert(cache_lock(&c, 0));
    ck_assert(cache_lock(&c, 0));
    ck_assert(!cache_lock(&c, 2));
    ck_assert(!cache_lock(&c, 6));
    read_and_fill(4);
    read_and_fill(6);
    ck_assert_uint_eq(peek(0), 0xf);
    cache_unlock(&c, 0);
    read_and_fill(8);
    ck_assert_uint_eq(peek(0), 0xf);
    cache_unlock(&c, 0);
    read_and_fill(10);
    read_and_fill(12);
    ck_assert_uint_eq(peek(0), 0);
    cache_free(&c);
}
END_TEST

/* Of three prefetched lines one is used in time, one while it is on its way, one never. */
START_TEST(prefetches_are_told_apart) {
    uint64_t target;
    start(4, 4, false);
    ck_assert_int_eq(cache_prefetch(&c, 0, 0xf, 1, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_int_eq(cache_prefetch(&c, 0, 0xf, 2, &out), CACHE_HIT);
    ck_assert_int_eq(cache_prefetch(&c, 1, 0xf, 3, &out), CACHE_MISS);
    ck_assert_int_eq(cache_prefetch(&c, 2, 0xf, 4, &out), CACHE_MISS);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 5, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 6, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 7, &out), CACHE_MERGED);
    read_and_fill(4); /* drives out 2 */
    ck_assert_uint_eq(c.n.prefetches, 3);
    ck_assert_uint_eq(c.n.prefetch_useful, 2);
    ck_assert_uint_eq(c.n.prefetch_late, 1);
    ck_assert_uint_eq(c.n.prefetch_unused, 1);
    cache_free(&c);
}
END_TEST

/* 32 lines, 32 apart, in a direct-mapped cache of 32 sets: one set without folding; line 32 i goes to set i with it. */
START_TEST(folded_index_spreads_strides) {
    for (int fold = 0; fold < 2; fold++) {
        struct cache_shape s = {
            .sets = 32, .ways = 1, .line_bytes = 128, .mshrs = 1, .merges = 1, .xor_index = fold == 1};
        ck_assert(cache_init(&c, &s));
        for (uint64_t i = 0; i < 32; i++)
            read_and_fill(32 * i);
        unsigned present = 0;
        for (uint64_t i = 0; i < 32; i++)
            present += peek(32 * i) != 0;
        ck_assert_uint_eq(present, fold ? 32 : 1);
        cache_free(&c);
    }
}
END_TEST

START_TEST(flush_forgets_all_but_what_comes) {
    uint64_t target;
    start(2, 2, false);
    read_and_fill(0);
    cache_write(&c, 0, 0xf, 0xf, &out);
    ck_assert_int_eq(cache_read(&c, 1, 0xf, 9, &out), CACHE_MISS);
    cache_flush(&c);
    ck_assert_uint_eq(peek(0), 0);
    cache_fill(&c, out.mshr, 0xf);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert_uint_eq(target, 9);
    cache_free(&c);
}
END_TEST

START_TEST(impossible_shapes_are_refused) {
    struct cache_shape s = {.sets = 2, .ways = 2, .line_bytes = 128, .mshrs = 1, .merges = 1};
    s.line_bytes = 96;
    ck_assert(!cache_init(&c, &s));
    s.line_bytes = 128;
    s.merges = 0;
    ck_assert(!cache_init(&c, &s));
    s.merges = 1;
    s.ways = 0;
    ck_assert(!cache_init(&c, &s));
}
END_TEST

SUITE(timing_cache) {
    TEST(misses_merge_and_wake_in_order);
    TEST(mshrs_run_out);
    TEST(reserved_ways_stay);
    TEST(least_recently_used_leaves);
    TEST(dirty_sectors_are_written_back);
    TEST(clean_lines_leave_silently);
    TEST(written_sectors_are_valid_when_whole);
    TEST(write_through_drops_or_keeps);
    TEST(write_through_leaves_reserved_lines);
    TEST(sectors_come_one_by_one);
    TEST(locked_lines_stay);
    TEST(prefetches_are_told_apart);
    TEST(folded_index_spreads_strides);
    TEST(flush_forgets_all_but_what_comes);
    TEST(impossible_shapes_are_refused);
}
