/* Tests the functions of isa/arith.h at the limits of their arguments. */
#include "isa/arith.h"
#include "test/test.h"

START_TEST(the_lesser_and_the_greater) {
    ck_assert_uint_eq(min64(3, 4), 3);
    ck_assert_uint_eq(min64(NEVER, 4), 4);
    ck_assert_uint_eq(max64(3, 4), 4);
    ck_assert_uint_eq(max64(NEVER, 4), NEVER);
}
END_TEST

START_TEST(rounded_up) {
    ck_assert_uint_eq(round_up(0, 16), 0);
    ck_assert_uint_eq(round_up(1, 16), 16);
    ck_assert_uint_eq(round_up(16, 16), 16);
    ck_assert_uint_eq(round_up(17, 16), 32);
    ck_assert_uint_eq(round_up(10, 3), 12);
    ck_assert_uint_eq(round_up(UINT32_MAX, 4096), 1ull << 32); /* the sum needs 64 bits */
}
END_TEST

START_TEST(powers_of_two) {
    int n = 0;
    for (uint64_t v = 0; v <= 1024; v++)
        n += is_power_of_two(v);
    ck_assert_int_eq(n, 11); /* 2^0 to 2^10 */
    ck_assert(is_power_of_two(1ull << 63) && !is_power_of_two(0) && !is_power_of_two((1ull << 63) + 1));
}
END_TEST

START_TEST(rings_hold_what_was_asked_for) {
    ck_assert_uint_eq(ring_size(0), 1);
    ck_assert_uint_eq(ring_size(1), 1);
    ck_assert_uint_eq(ring_size((1u << 31) - 1), 1u << 31);
    for (uint32_t n = 2; n < 5000; n++)
        ck_assert(is_power_of_two(ring_size(n)) && ring_size(n) >= n && ring_size(n) < 2 * n);
}
END_TEST

SUITE(isa_arith) {
    TEST(the_lesser_and_the_greater);
    TEST(rounded_up);
    TEST(powers_of_two);
    TEST(rings_hold_what_was_asked_for);
}
