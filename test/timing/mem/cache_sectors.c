/* Tests the sectors of a cache's lines: which are valid, which MSHRs fetch, and which a warmed line gets. */
#include "cache_rig.h"

/* Two sectors of a line are written, one of them completely. A read of the complete sector hits. The other sectors must
 * be fetched. */
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

/* One MSHR fetches sectors 0 and 2 of a line, one after the other. Sector 2 arrives first, but its access waits until
 * the access to sector 0 is served. */
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

/* Line 0 waits for sector 0 when sectors 0 and 1 are warmed: sector 1 is valid at once, sector 0 after its fill. */
START_TEST(warmed_sectors_join_a_pending_line) {
    uint64_t target;
    start(2, 4, true);
    ck_assert_int_eq(cache_read(&c, 0, 0x1, 1, &out), CACHE_MISS);
    cache_warm(&c, 0, 0x3, false, false);
    ck_assert_uint_eq(peek(0), 0x2);
    cache_fill(&c, out.mshr, 0x1);
    ck_assert_uint_eq(peek(0), 0x3);
    ck_assert(cache_take(&c, out.mshr, &target));
    ck_assert(cache_idle(&c));
    cache_free(&c);
}
END_TEST

/* In a sectored cache, each pending sector takes an MSHR. There are four MSHRs, and each holds two accesses. So four
 * sectors may be pending, of any lines, and two accesses may wait for each sector. */
START_TEST(mshrs_of_sectors) {
    uint64_t target;
    start(4, 2, true);
    for (unsigned s = 0; s < 3; s++)
        ck_assert_int_eq(cache_read(&c, 0, (uint8_t)(1 << s), s, &out), CACHE_MISS);
    uint32_t mshr = out.mshr;
    ck_assert_int_eq(cache_read(&c, 0, 1, 10, &out), CACHE_MERGED);
    ck_assert_int_eq(cache_read(&c, 0, 1, 11, &out), CACHE_NO_MERGE);
    /* another sector has its own limit of two waiting accesses */
    ck_assert_int_eq(cache_read(&c, 0, 2, 12, &out), CACHE_MERGED);
    /* with two more sectors, five sectors would be pending */
    ck_assert_int_eq(cache_read(&c, 1, 3, 13, &out), CACHE_NO_MSHR);
    ck_assert_int_eq(cache_read(&c, 1, 1, 14, &out), CACHE_MISS);
    ck_assert_int_eq(cache_read(&c, 0, 8, 15, &out), CACHE_NO_MSHR);
    cache_fill(&c, mshr, 1);
    ck_assert(cache_take(&c, mshr, &target));
    ck_assert_uint_eq(target, 0);
    ck_assert_int_eq(cache_read(&c, 0, 1, 16, &out), CACHE_HIT);
    ck_assert_int_eq(cache_read(&c, 0, 8, 17, &out), CACHE_MISS);
    ck_assert_uint_eq(out.mshr, mshr);
    ck_assert_uint_eq(out.fetch, 8);
    cache_fill(&c, mshr, 0xe);
    static const uint64_t rest[] = {1, 2, 10, 12, 17};
    for (unsigned i = 0; i < 5; i++) {
        ck_assert(cache_take(&c, mshr, &target));
        ck_assert_uint_eq(target, rest[i]);
    }
    ck_assert(!cache_take(&c, mshr, &target));
    cache_free(&c);
}
END_TEST

/* If no other sector is pending, an access to more sectors than there are MSHRs is accepted. */
START_TEST(one_access_may_exceed_the_mshrs) {
    start(1, 1, true);
    ck_assert_int_eq(cache_read(&c, 0, 0xf, 1, &out), CACHE_MISS);
    ck_assert_uint_eq(out.fetch, 0xf);
    ck_assert_int_eq(cache_read(&c, 1, 1, 2, &out), CACHE_NO_MSHR);
    cache_free(&c);
}
END_TEST

SUITE(timing_cache_sectors) {
    TEST(written_sectors_are_valid_when_whole);
    TEST(sectors_come_one_by_one);
    TEST(warmed_sectors_join_a_pending_line);
    TEST(mshrs_of_sectors);
    TEST(one_access_may_exceed_the_mshrs);
}
