/* Tests the table of stride prefetchers alone: which entry is replaced, and which warps share an entry. */
#include "timing/strides/prefetch_table.h"
#include "test/test.h"

enum { TRAIN = 2 };

static struct prefetch_table t;

static void begin(uint32_t entries, uint32_t ways) {
    prefetch_table_free(&t);
    ck_assert(prefetch_table_init(&t, entries, ways, TRAIN));
}
static void teardown(void) { prefetch_table_free(&t); }

static struct prefetch_entry *see(uint32_t pc, uint8_t warp, uint64_t address) {
    return prefetch_table_learn(&t, prefetch_table_find(&t, pc, warp), pc, warp, address);
}

/* One set of three ways holds the entries of loads 1, 2 and 3. Load 1 is used again, so load 2 is the least recently
 * used. Load 4 replaces load 2, and then load 5 replaces load 3. First-in-first-out replacement would replace loads
 * 1 and 2. */
START_TEST(the_least_recently_used_leaves) {
    static const uint32_t stay[] = {1, 4, 5}, leave[] = {2, 3};
    begin(3, 3);
    for (uint32_t pc = 1; pc <= 3; pc++)
        see(pc, 0, 0x1000 * pc);
    ck_assert_ptr_nonnull(prefetch_table_find(&t, 1, 0));
    see(4, 0, 0x4000);
    ck_assert_ptr_nonnull(prefetch_table_find(&t, 1, 0));
    see(5, 0, 0x5000);
    ck_assert_uint_eq(t.n.conflicts, 2);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(prefetch_table_find(&t, stay[i], 0) != NULL, "load %u", stay[i]);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(prefetch_table_find(&t, leave[i], 0) == NULL, "load %u", leave[i]);
}
END_TEST

/* Learning counts as a use: after loads 1, 2, 1 the entry of load 2 is the least recently used. */
START_TEST(learning_is_a_use) {
    begin(2, 2);
    see(1, 0, 0x1000), see(2, 0, 0x2000), see(1, 0, 0x1080);
    see(3, 0, 0x3000);
    ck_assert_ptr_null(prefetch_table_find(&t, 2, 0));
    ck_assert_int_eq(prefetch_table_find(&t, 1, 0)->stride, 0x80);
}
END_TEST

/* A load misses consecutive lines of 128 bytes. Lane 0 is inactive in every third execution, beginning with the first.
 * The address of such a miss, for example 4 or 388, is then that of lane 1, 4 bytes above the begin of the line. The
 * distance from line to line is always 128 bytes, so the stride is confirmed. The distances of the addresses are 124,
 * 128, 132, and so on, so no stride is confirmed if they are compared. */
START_TEST(masked_lanes_keep_the_stride) {
    static const uint64_t address[] = {4, 128, 256, 388, 512, 640, 772};
    static const uint8_t seen[] = {0, 1, 2, 3, 3, 3, 3};
    begin(1, 1);
    t.grain = _i ? 128 : 1;
    for (size_t k = 0; k < sizeof address / sizeof address[0]; k++)
        ck_assert_uint_eq(see(1, 0, address[k])->seen, _i ? seen[k] : k > 0);
}
END_TEST

/* All 256 warps execute one load, and the table has one set of 256 ways. Each warp has its own entry, address and
 * stride. */
START_TEST(each_of_256_warps_has_its_entry) {
    begin(256, 256);
    for (uint64_t k = 0; k < 3; k++)
        for (uint32_t w = 0; w < 256; w++)
            see(7, (uint8_t)w, 0x10000ull * w + k * (w + 1));
    ck_assert_uint_eq(t.n.conflicts, 0);
    for (uint32_t w = 0; w < 256; w++) {
        const struct prefetch_entry *e = prefetch_table_find(&t, 7, (uint8_t)w);
        ck_assert_msg(e && e->warp == w && e->stride == w + 1 && e->seen == 2, "warp %u", w);
    }
}
END_TEST

/* Sets of one way. A warp's set is (PC + 61 x warp) modulo 7, and 61 is 5 modulo 7:
 * - warp 0: set 0
 * - warp 32: 160 = 22 x 7 + 6, set 6
 * - warp 64: 320 = 45 x 7 + 5, set 5
 * - warp 35: 175 = 25 x 7, set 0, like warp 0 */
START_TEST(warps_beyond_32_have_sets_of_their_own) {
    begin(7, 1);
    see(0, 0, 0x1000), see(0, 32, 0x2000), see(0, 64, 0x3000);
    ck_assert_uint_eq(t.n.conflicts, 0);
    ck_assert(prefetch_table_find(&t, 0, 0) == &t.entry[0]);
    ck_assert(prefetch_table_find(&t, 0, 32) == &t.entry[6]);
    ck_assert(prefetch_table_find(&t, 0, 64) == &t.entry[5]);
    see(0, 35, 0x4000);
    ck_assert_uint_eq(t.n.conflicts, 1);
    ck_assert_ptr_null(prefetch_table_find(&t, 0, 0));
}
END_TEST

SUITE(timing_strides_prefetch_table) {
    tcase_add_checked_fixture(tc, NULL, teardown);
    TEST(the_least_recently_used_leaves);
    TEST(learning_is_a_use);
    TEST_LOOP(masked_lanes_keep_the_stride, 0, 2);
    TEST(each_of_256_warps_has_its_entry);
    TEST(warps_beyond_32_have_sets_of_their_own);
}
