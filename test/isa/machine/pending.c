/* Tests pending copies of one row (isa/machine/pending.h): which copies land at a wait, and in which order they write.
 */
#include "isa/machine/pending.h"
#include "test/test.h"
#include <string.h>

enum { BYTES = 4096 };

static unsigned char shared[BYTES];
static struct cta cta;
static struct warp row;

static void setup(void) {
    memset(shared, 0, sizeof shared);
    cta = (struct cta){.shared = shared, .shared_bytes = BYTES, .n_rows = 1, .warps = &row};
    row = (struct warp){.cta = &cta};
}

static void teardown(void) { pending_free(row.copies); }

/* Issues a copy of `bytes` bytes a lane to address `at` + l * bytes, whose bytes all have the value `value`. */
static void copy(rowmask_t lanes, uint32_t at, unsigned bytes, int value) {
    unsigned char spare[PENDING_BYTES], *data = pending_room(&row, spare);
    uint64_t to[WARP_LANES];
    ck_assert_ptr_ne(data, spare);
    memset(data, value, (size_t)bytes * WARP_LANES);
    for (unsigned l = 0; l < WARP_LANES; l++)
        to[l] = at + (uint64_t)l * bytes;
    pending_add(&row, lanes, to, bytes, data);
}

/* Returns the value of `bytes` equal bytes of lane l of a copy to `at`. */
static int value(uint32_t at, unsigned bytes, unsigned l) {
    for (unsigned i = 1; i < bytes; i++)
        ck_assert_int_eq(shared[at + l * bytes], shared[at + l * bytes + i]);
    return shared[at + l * bytes];
}

START_TEST(each_size_lands_in_its_lanes) {
    static const unsigned sizes[] = {4, 8, 16};
    const unsigned bytes = sizes[_i];
    copy(0x80000005, 64, bytes, 9);
    ck_assert_int_eq(value(64, bytes, 0), 0);
    pending_wait(&row, 0x80000001, -1);
    ck_assert_int_eq(value(64, bytes, 0), 9);
    ck_assert_int_eq(value(64, bytes, 1), 0);
    ck_assert_int_eq(value(64, bytes, 2), 0); /* pending, since the lane has not waited */
    ck_assert_int_eq(value(64, bytes, 31), 9);
    pending_wait(&row, LANES_ALL, -1);
    ck_assert_int_eq(value(64, bytes, 2), 9);
}
END_TEST

/* Three groups with a word each, then an empty group, then a copy in no group. Of the youngest `n` groups, the first is
 * the empty one. So the words 0 to 3 - n land, and never word 3, which is in no group. */
START_TEST(the_youngest_groups_stay) {
    const int n = _i;
    for (unsigned k = 0; k < 3; k++) {
        copy(LANES_ALL, 128 * k, 4, 1);
        pending_commit(&row, LANES_ALL);
    }
    pending_commit(&row, LANES_ALL);
    copy(LANES_ALL, 128 * 3, 4, 1);
    pending_wait(&row, LANES_ALL, n);
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(value(128 * (uint32_t)k, 4, 7), k < 3 && k <= 3 - n);
}
END_TEST

START_TEST(copies_write_in_the_order_of_issue) {
    copy(LANES_ALL, 0, 4, 1);
    copy(LANES_ALL, 0, 4, 2);
    copy(1, 0, 4, 3);
    pending_wait(&row, LANES_ALL, -1);
    ck_assert_int_eq(value(0, 4, 0), 3);
    ck_assert_int_eq(value(0, 4, 1), 2);
}
END_TEST

/* The driver ends the second of three copies. The others keep their order. */
START_TEST(one_copy_lands_by_its_number) {
    copy(LANES_ALL, 0, 4, 1);
    copy(LANES_ALL, 128, 4, 2);
    const uint64_t second = pending_youngest(&row);
    copy(LANES_ALL, 0, 4, 3);
    pending_land(&row, second);
    ck_assert_int_eq(value(128, 4, 5), 2);
    ck_assert_int_eq(value(0, 4, 5), 0);
    pending_land(&row, second); /* has no effect: the copy has landed */
    pending_exit(&row, LANES_ALL);
    ck_assert_int_eq(value(0, 4, 5), 3);
}
END_TEST

/* The oldest copy lands when PENDING_MOST younger ones are pending. Copy k writes k + 1 to word k % 8. */
START_TEST(the_oldest_copies_land_when_too_many_are_pending) {
    for (int k = 0; k < PENDING_MOST; k++)
        copy(1, 4 * ((uint32_t)k % 8), 4, k % 100 + 1);
    ck_assert_int_eq(value(0, 4, 0), 0);
    copy(1, 128, 4, 77);
    ck_assert_int_eq(value(0, 4, 0), 1); /* copy 0 */
    ck_assert_int_eq(value(4, 4, 0), 0);
    copy(1, 128, 4, 78);
    ck_assert_int_eq(value(4, 4, 0), 2); /* copy 1 */
    pending_wait(&row, 1, -1);
    for (uint32_t i = 0; i < 8; i++) /* the youngest copy to word i is PENDING_MOST - 8 + i */
        ck_assert_int_eq(value(4 * i, 4, 0), (PENDING_MOST - 8 + (int)i) % 100 + 1);
    ck_assert_int_eq(value(128, 4, 0), 78);
}
END_TEST

/* A copy is fresh in the turn of its issue. wait_group 1 concerns the first copy, wait_group 0 both. */
START_TEST(copies_are_fresh_for_one_turn) {
    copy(LANES_ALL, 0, 4, 1);
    pending_commit(&row, LANES_ALL);
    ck_assert(pending_is_fresh(&row, 1, 0));
    ck_assert(!pending_is_fresh(&row, 1, 1));
    pending_new_turn(&row);
    ck_assert(!pending_is_fresh(&row, 1, 0));
    copy(2, 128, 4, 1);
    pending_commit(&row, LANES_ALL);
    ck_assert(!pending_is_fresh(&row, 2, 1));
    ck_assert(!pending_is_fresh(&row, 1, 0)); /* the fresh copy has only lane 1 */
    ck_assert(pending_is_fresh(&row, 2, 0));
}
END_TEST

START_TEST(another_cta_begins_without_copies) {
    copy(LANES_ALL, 0, 4, 1);
    pending_commit(&row, LANES_ALL);
    pending_forget(&row);
    pending_exit(&row, LANES_ALL);
    ck_assert_int_eq(value(0, 4, 0), 0);
    copy(LANES_ALL, 0, 4, 2);
    ck_assert_int_eq((int)pending_youngest(&row), 1);
    pending_wait(&row, LANES_ALL, 0); /* the copy is in no group */
    ck_assert_int_eq(value(0, 4, 0), 0);
}
END_TEST

/* Without memory for a copy, it lands at once, after the older copies of its lanes. */
START_TEST(without_memory_a_copy_lands_at_once) {
    unsigned char spare[PENDING_BYTES];
    uint64_t to[WARP_LANES] = {0};
    copy(1, 0, 4, 1);
    memset(spare, 2, sizeof spare);
    pending_add(&row, 1, to, 4, spare);
    ck_assert_int_eq(value(0, 4, 0), 2);
    pending_wait(&row, 1, -1);
    ck_assert_int_eq(value(0, 4, 0), 2);
}
END_TEST

/* Lane l copies 16 bytes to 16 l, and then 4 bytes to 4 l. Lane 0 overwrites its own bytes 0 to 3. Lane 1 writes the
 * bytes 16 to 31 and 4 to 7, which do not overlap. The younger copy lands first. So lane 0's older copy lands
 * before it, and lane 1's does not. */
START_TEST(an_older_copy_to_the_same_place_lands_before) {
    copy(3, 0, 16, 1);
    copy(3, 0, 4, 2);
    pending_land(&row, pending_youngest(&row));
    ck_assert_int_eq(shared[0], 2);
    ck_assert_int_eq(shared[8], 1); /* lane 0's older copy */
    ck_assert_int_eq(shared[16], 0);
    pending_land(&row, pending_youngest(&row) - 1);
    ck_assert_int_eq(shared[0], 2);
    ck_assert_int_eq(shared[4], 2);
    ck_assert_int_eq(shared[16], 1);
}
END_TEST

SUITE(isa_pending) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(each_size_lands_in_its_lanes, 0, 3);
    TEST_LOOP(the_youngest_groups_stay, 0, 5);
    TEST(copies_write_in_the_order_of_issue);
    TEST(one_copy_lands_by_its_number);
    TEST(the_oldest_copies_land_when_too_many_are_pending);
    TEST(copies_are_fresh_for_one_turn);
    TEST(another_cta_begins_without_copies);
    TEST(without_memory_a_copy_lands_at_once);
    TEST(an_older_copy_to_the_same_place_lands_before);
}
