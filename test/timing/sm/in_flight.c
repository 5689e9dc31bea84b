/* Tests the table of instructions in flight: its list of free entries, which ends with entries never used. */
#include "timing/sm/in_flight.h"
#include "test/test.h"

static uint32_t begin(struct sm_in_flight *t, uint64_t now) {
    ck_assert(in_flight_has_room(t));
    return in_flight_new(t, 1, 0, 2, 3, 0, now);
}

/* An entry that was given back is used again before an entry that was never used. `fresh` counts the entries used. */
START_TEST(an_ended_entry_is_used_first) {
    struct sm_in_flight t = {.free = 0};
    ck_assert(in_flight_init(&t));
    ck_assert_uint_eq(begin(&t, 10), 0);
    ck_assert_uint_eq(begin(&t, 11), 1);
    in_flight_end(&t, 0);
    ck_assert_uint_eq(begin(&t, 12), 0);
    ck_assert_uint_eq(t.fresh, 2);
    ck_assert_uint_eq(begin(&t, 13), 2);
    ck_assert_uint_eq(t.entry[2].issued, 13);
    in_flight_free(&t);
}
END_TEST

/* The last free entry is no pair of entries. When it is taken in cycle 7, the schedulers rotate for SCARCE_CYCLES. A
 * freed entry gives room again. */
START_TEST(the_table_has_a_fixed_number_of_entries) {
    struct sm_in_flight t = {.free = 0};
    ck_assert(in_flight_init(&t));
    for (uint32_t i = 0; i + 1 < MAX_INFLIGHT; i++)
        ck_assert_uint_eq(begin(&t, 5), i);
    t.pairs = true;
    ck_assert(!in_flight_has_room(&t));
    t.pairs = false;
    ck_assert_uint_eq(t.scarce_until, 0);
    ck_assert_uint_eq(begin(&t, 7), MAX_INFLIGHT - 1);
    ck_assert_uint_eq(t.scarce_until, 7 + SCARCE_CYCLES);
    ck_assert(!in_flight_has_room(&t));
    in_flight_end(&t, 3);
    ck_assert_uint_eq(begin(&t, 8), 3);
    ck_assert(!in_flight_has_room(&t));
    in_flight_free(&t);
}
END_TEST

SUITE(timing_in_flight) {
    TEST(an_ended_entry_is_used_first);
    TEST(the_table_has_a_fixed_number_of_entries);
}
