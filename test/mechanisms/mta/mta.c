/* Tests the tables and the throttle of many-thread aware prefetching on hand-written sequences. */
#include "mechanisms/mta/mta_tables.h"
#include "mechanisms/mta/mta_throttle.h"
#include "test/test.h"

static struct mta_tables t;

static void begin(uint32_t train, uint32_t promote) {
    mta_tables_free(&t);
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){64, 64, 64, 4, train, promote}));
}
static void setup(void) { t = (struct mta_tables){.clock = 0}; }
static void teardown(void) { mta_tables_free(&t); }

static void expect(uint32_t pc, uint8_t warp, uint8_t source, int64_t stride) {
    struct mta_prediction p = mta_predict(&t, pc, warp);
    ck_assert_msg(p.source == source && p.stride == stride, "load %u of warp %u: source %u, stride %lld", pc, warp,
                  p.source, (long long)p.stride);
}

/* Three executions of a load give two strides. With train = 2, the third execution is the first that predicts an
 * address. */
START_TEST(a_stride_is_found_after_training) {
    begin(2, 3);
    for (int i = 0; i < 3; i++) {
        expect(5, 1, MTA_NONE, 0);
        mta_learn(&t, 5, 1, 0x1000 + 0x200 * (uint64_t)i);
    }
    expect(5, 1, MTA_WARP, 0x200);
    expect(5, 2, MTA_NONE, 0); /* another warp, another load */
    expect(6, 1, MTA_NONE, 0);
    begin(4, 3);
    for (int i = 0; i < 5; i++) {
        expect(5, 1, MTA_NONE, 0);
        mta_learn(&t, 5, 1, 0x1000 - 0x80 * (uint64_t)i);
    }
    expect(5, 1, MTA_WARP, -0x80);
}
END_TEST

/* After a change, the new stride must be observed as often as the first stride. */
START_TEST(a_changed_stride_is_trained_again) {
    static const uint64_t address[] = {0, 100, 200, 300, 350, 400};
    static const int64_t predicted[] = {0, 0, 100, 100, 0, 50};
    begin(2, 3);
    for (int i = 0; i < 6; i++) {
        mta_learn(&t, 9, 3, address[i]);
        expect(9, 3, predicted[i] ? MTA_WARP : MTA_NONE, predicted[i]);
    }
    for (int i = 0; i < 4; i++) /* a load of the same address again has the stride 0, which predicts nothing */
        mta_learn(&t, 9, 3, 400);
    expect(9, 3, MTA_NONE, 0);
}
END_TEST

/* Three warps confirm a stride of 64. Then the stride applies to a fourth warp even before its first load. The
 * addresses of the warps have no common distance, so the inter-warp table learns nothing. */
START_TEST(a_stride_of_three_warps_becomes_global) {
    static const uint64_t from[] = {0x10000, 0x90000, 0x31000, 0x70300};
    begin(2, 3);
    for (uint8_t w = 0; w < 3; w++) {
        expect(4, 7, MTA_NONE, 0);
        for (uint64_t i = 0; i < 3; i++)
            mta_learn(&t, 4, w, from[w] + 64 * i);
    }
    ck_assert_uint_eq(t.n.promotions, 1);
    expect(4, 7, MTA_GLOBAL, 64);
    for (uint64_t i = 0; i < 3; i++) /* a warp that confirms another stride invalidates the global stride */
        mta_learn(&t, 4, 3, from[3] + 128 * i);
    expect(4, 7, MTA_NONE, 0);
    expect(4, 3, MTA_WARP, 128);
    expect(4, 0, MTA_WARP, 64);
}
END_TEST

/* Warps 0, 1, 2 and so on access addresses that are 256 bytes apart. The third warp gives the second of two equal
 * strides. Warp 7 confirms the stride. One warp that does not fit takes back a confirmation; a second such warp ends
 * the stride. */
START_TEST(a_stride_from_warp_to_warp) {
    begin(2, 3);
    for (uint8_t w = 0; w < 3; w++) {
        expect(8, w, MTA_NONE, 0);
        mta_learn(&t, 8, w, 0x4000 + 256 * (uint64_t)w);
    }
    expect(8, 2, MTA_INTER, 256);
    mta_learn(&t, 8, 7, 0x4000 + 256 * 7);
    expect(8, 7, MTA_INTER, 256);
    mta_learn(&t, 8, 5, 0x9999);
    expect(8, 5, MTA_INTER, 256);
    mta_learn(&t, 8, 6, 0x4000);
    expect(8, 6, MTA_NONE, 0);
    mta_learn(&t, 8, 6, 0x4000); /* a second load of the same warp gives no information about other warps */
    expect(8, 6, MTA_NONE, 0);
}
END_TEST

/* The warps access memory in another order: first warp 3, then warp 1, whose address is 2 x 512 bytes lower. A
 * difference of 1001 bytes between two warps whose numbers differ by two is not a stride, since 1001 is not divisible
 * by two. */
START_TEST(warps_in_another_order) {
    begin(2, 3);
    mta_learn(&t, 8, 3, 0x8000);
    mta_learn(&t, 8, 1, 0x8000 - 1024);
    mta_learn(&t, 8, 2, 0x8000 - 512);
    expect(8, 2, MTA_INTER, 512);
    mta_learn(&t, 2, 0, 0);
    mta_learn(&t, 2, 2, 1001);
    mta_learn(&t, 2, 4, 2002);
    expect(2, 4, MTA_NONE, 0);
}
END_TEST

/* The addresses of three warps are 4096 bytes apart, and each warp has a stride of 64 bytes. When the third warp
 * confirms the stride of 64, it becomes global. A global stride has precedence over the stride between warps. */
START_TEST(global_goes_before_inter) {
    begin(2, 3);
    for (uint64_t i = 0; i < 3; i++)
        for (uint8_t w = 0; w < 3; w++) {
            mta_learn(&t, 4, w, 4096 * w + 64 * i);
            if (i == 1 && w == 2)
                expect(4, 2, MTA_INTER, 4096);
        }
    expect(4, 2, MTA_GLOBAL, 64);
}
END_TEST

/* A new warp in the slot of an old warp starts untrained. The strides of other warps, and global strides, stay. */
START_TEST(a_new_warp_starts_untrained) {
    begin(2, 9);
    for (uint64_t i = 0; i < 3; i++)
        for (uint8_t w = 0; w < 2; w++)
            mta_learn(&t, 4, w, 0x77777 * w + 64 * i);
    mta_forget_warp(&t, 1);
    expect(4, 0, MTA_WARP, 64);
    expect(4, 1, MTA_NONE, 0);
    mta_learn(&t, 4, 1, 0x99999);
    mta_learn(&t, 4, 1, 0x99999 + 64);
    expect(4, 1, MTA_NONE, 0);
    mta_learn(&t, 4, 1, 0x99999 + 128);
    expect(4, 1, MTA_WARP, 64);
}
END_TEST

/* A table with one set of two ways: the third load evicts the least recently used load. */
START_TEST(the_least_recently_used_entry_is_evicted) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){2, 64, 64, 2, 2, 3}));
    for (uint64_t i = 0; i < 3; i++) {
        mta_learn(&t, 1, 0, 100 * i);
        mta_learn(&t, 2, 0, 100 * i);
    }
    ck_assert_uint_eq(t.n.conflicts, 0);
    expect(1, 0, MTA_WARP, 100); /* this use makes load 2 the least recently used entry */
    mta_learn(&t, 3, 0, 0);
    ck_assert_uint_eq(t.n.conflicts, 1);
    expect(1, 0, MTA_WARP, 100);
    expect(2, 0, MTA_NONE, 0);
}
END_TEST

/* A table of one entry is valid. If the number of ways exceeds the number of entries, the table has as many ways as
 * entries. */
START_TEST(tables_of_one_entry) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){1, 1, 1, 64, 1, 1}));
    mta_learn(&t, 1, 0, 0);
    mta_learn(&t, 1, 0, 32);
    expect(1, 0, MTA_GLOBAL, 32); /* a stride of a single warp suffices */
    mta_learn(&t, 2, 0, 0);
    ck_assert_uint_eq(t.n.conflicts, 2); /* one conflict in the table by warp, and one in the inter-warp table */
    expect(2, 0, MTA_NONE, 0);
}
END_TEST

/* Counters have one byte. After 300 confirmations, a stride must still be valid, for a warp and globally. */
START_TEST(counters_do_not_overflow) {
    begin(2, 9);
    for (uint64_t i = 0; i < 600; i++) {
        mta_learn(&t, 5, 1, 0x1000 + 0x200 * i);
        expect(5, 1, i < 2 ? MTA_NONE : MTA_WARP, i < 2 ? 0 : 0x200);
    }
    begin(1, 3);
    for (uint64_t w = 0; w < 600; w++) { /* several new warps use one slot; each of them has one vote */
        mta_forget_warp(&t, 7);
        mta_learn(&t, 6, 7, 0x1000 * w);
        mta_learn(&t, 6, 7, 0x1000 * w + 0x80);
        expect(6, 9, w < 2 ? MTA_NONE : MTA_GLOBAL, w < 2 ? 0 : 0x80);
    }
    ck_assert_uint_eq(t.n.promotions, 1); /* counted only once, when the third warp confirmed the stride */
}
END_TEST

/* Tables with four sets of one entry. The loads of warps 0 to 3 use different sets, and so do loads 0 to 3 of one warp.
 * A fifth warp or load evicts the first. In the other two tables, the load alone selects the set. */
START_TEST(sets_by_load_and_warp) {
    for (int by_warp = 0; by_warp < 2; by_warp++) {
        mta_tables_free(&t);
        ck_assert(mta_tables_init(&t, &(struct mta_sizes){4, 64, 64, 1, 2, 300}));
        for (uint64_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < 4; k++)
                mta_learn(&t, by_warp ? 8 : 8 + k, (uint8_t)(by_warp ? k : 2), 100000 * k * k + 100 * i);
        ck_assert_uint_eq(t.n.conflicts, 0);
        for (uint32_t k = 0; k < 4; k++)
            expect(by_warp ? 8 : 8 + k, (uint8_t)(by_warp ? k : 2), MTA_WARP, 100);
        mta_learn(&t, by_warp ? 8 : 12, by_warp ? 4 : 2, 5);
        ck_assert_uint_eq(t.n.conflicts, 1);
        expect(8, by_warp ? 0 : 2, MTA_NONE, 0);
        expect(by_warp ? 8 : 9, by_warp ? 1 : 2, MTA_WARP, 100);
    }
}
END_TEST

/* A table of seven entries with two ways per set has three sets. Loads 1, 4 and 7 are in one set, so the third of them
 * evicts the first. */
START_TEST(entries_beyond_whole_sets_are_unused) {
    ck_assert(mta_tables_init(&t, &(struct mta_sizes){7, 64, 64, 2, 2, 3}));
    ck_assert_uint_eq(t.warp.sets, 3);
    for (uint32_t pc = 1; pc <= 7; pc += 3)
        for (uint64_t i = 0; i < 3; i++)
            mta_learn(&t, pc, 0, 1000 * pc + 100 * i);
    ck_assert_uint_eq(t.n.conflicts, 1);
    expect(1, 0, MTA_NONE, 0);
    expect(4, 0, MTA_WARP, 100);
    expect(7, 0, MTA_WARP, 100);
}
END_TEST

/* A prediction reads the global table, then the inter-warp table, then the table by warp, until one of them predicts.
 * When a warp learns, it reads the table by warp and the inter-warp table; when it votes for a global stride, also the
 * global table. */
START_TEST(lookups_are_counted) {
    begin(2, 2);
    mta_predict(&t, 3, 0);
    ck_assert_uint_eq(t.n.lookups, 3);
    for (uint64_t i = 0; i < 3; i++) /* the third execution votes */
        mta_learn(&t, 3, 0, 100 * i);
    ck_assert_uint_eq(t.n.lookups, 3 + 3 * 2 + 1);
    mta_learn(&t, 3, 0, 300); /* it has voted before */
    ck_assert_uint_eq(t.n.lookups, 10 + 2);
    for (uint64_t i = 0; i < 3; i++)
        mta_learn(&t, 3, 4, 70001 + 100 * i);
    ck_assert_uint_eq(t.n.lookups, 12 + 3 * 2 + 1);
    expect(3, 0, MTA_GLOBAL, 100);
    ck_assert_uint_eq(t.n.lookups, 19 + 1);
}
END_TEST

static const struct mta_limits limits = {.period = 10, .least = 4, .low = 0.25, .high = 0.5, .merges = 0.15};

/* Returns the throttle level after a period of ten loads with these numbers of prefetches sent, prefetches used, misses
 * and merges. */
static uint32_t after(uint32_t level, uint32_t sent, uint32_t useful, uint32_t misses, uint32_t merged) {
    struct mta_throttle h = {.limits = limits, .level = level};
    h.sent = sent, h.useful = useful, h.misses = misses, h.merged = merged;
    for (int i = 0; i < 9; i++) {
        mta_throttle_load(&h);
        ck_assert_uint_eq(h.level, level); /* the level does not change before the period ends */
    }
    mta_throttle_load(&h);
    ck_assert(h.sent == 0 && h.useful == 0 && h.misses == 0 && h.merged == 0 && h.loads == 0);
    return h.level;
}

START_TEST(the_level_follows_what_is_used) {
    ck_assert_uint_eq(after(0, 8, 1, 10, 10), 5); /* 12.5 %: no prefetches */
    ck_assert_uint_eq(after(2, 8, 2, 10, 0), 3);  /* 25 % used: the level rises by one, which means fewer prefetches */
    ck_assert_uint_eq(after(2, 8, 3, 10, 1), 3);
    ck_assert_uint_eq(after(2, 8, 3, 10, 2), 2); /* but late */
    ck_assert_uint_eq(after(2, 8, 4, 10, 0), 1); /* 50 % used: the level falls by one, which means more prefetches */
    ck_assert_uint_eq(after(0, 8, 8, 10, 0), 0);
    ck_assert_uint_eq(after(5, 8, 2, 0, 0), 5);
    ck_assert_uint_eq(after(5, 0, 0, 10, 0), 4); /* a period without prefetches lowers the level */
    ck_assert_uint_eq(after(0, 3, 0, 10, 0), 0); /* fewer than four prefetches do not change the level */
}
END_TEST

START_TEST(the_level_is_a_share_of_five) {
    for (uint32_t level = 0; level <= MTA_LEVELS; level++) {
        struct mta_throttle h = {.limits = limits, .level = level};
        int sent = 0;
        for (int i = 0; i < 50; i++)
            sent += mta_throttle_lets(&h);
        ck_assert_int_eq(sent, 10 * (MTA_LEVELS - (int)level));
    }
}
END_TEST

SUITE(mechanisms_mta) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(a_stride_is_found_after_training);
    TEST(a_changed_stride_is_trained_again);
    TEST(a_stride_of_three_warps_becomes_global);
    TEST(a_stride_from_warp_to_warp);
    TEST(warps_in_another_order);
    TEST(global_goes_before_inter);
    TEST(a_new_warp_starts_untrained);
    TEST(the_least_recently_used_entry_is_evicted);
    TEST(tables_of_one_entry);
    TEST(counters_do_not_overflow);
    TEST(sets_by_load_and_warp);
    TEST(entries_beyond_whole_sets_are_unused);
    TEST(lookups_are_counted);
    TEST(the_level_follows_what_is_used);
    TEST(the_level_is_a_share_of_five);
}
