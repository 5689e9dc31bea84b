/* Tests the swizzles of shared memory against patterns that are written out by hand. */
#include "isa/swizzle.h"
#include "test/test.h"

/* For each swizzle, one string for each row of a period. Digit i of a string is the number of the unit that holds unit
 * i of the row of 128 bytes. Unit u of row r is held by unit u XOR (bits of r). */
static const struct {
    enum swizzle swizzle;
    uint32_t unit;
    const char *rows[8];
} patterns[] = {
    /* 16 bytes within 32: rows 0 and 1 differ */
    {SWIZZLE_32B, 16, {"01234567", "10325476", "01234567", "10325476", "01234567", "10325476", "01234567", "10325476"}},
    /* 16 bytes within 64: unit XOR row % 4 */
    {SWIZZLE_64B, 16, {"01234567", "10325476", "23016745", "32107654", "01234567", "10325476", "23016745", "32107654"}},
    /* 16 bytes within 128: unit XOR row % 8 */
    {SWIZZLE_128B,
     16,
     {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"}},
    {SWIZZLE_128B_32B, 32, {"0123", "1032", "2301", "3210", "0123", "1032", "2301", "3210"}},
    {SWIZZLE_128B_64B, 64, {"01", "10", "01", "10", "01", "10", "01", "10"}},
};

START_TEST(units_move_as_written) {
    const enum swizzle s = patterns[_i].swizzle;
    const uint32_t unit = patterns[_i].unit;
    ck_assert_uint_eq(swizzle_unit(s), unit);
    for (uint64_t at = 0x1400; at < 0x1800; at++) {
        const uint64_t row = at / 128 % 8, place = at % 128;
        const uint64_t to = (uint64_t)(patterns[_i].rows[row][place / unit] - '0');
        ck_assert_uint_eq(swizzle_address(s, at), at / 128 * 128 + to * unit + place % unit);
        ck_assert_uint_eq(swizzle_address(s, swizzle_address(s, at)), at);
    }
}
END_TEST

/* Row 1 of the flipped swizzle: units of 32 bytes as in SWIZZLE_128B_32B, and within each 16 bytes the halves change
 * places. Byte 128 + 0 goes to unit 1 (byte 32), and its half 0 to half 1 (byte 8): 128 + 40. Byte 128 + 24 goes to
 * 128 + 32 + 16. Row 2 only moves units: 256 + 0 goes to 256 + 64. */
START_TEST(each_second_row_is_flipped) {
    ck_assert_uint_eq(swizzle_address(SWIZZLE_128B_32B_FLIP_8B, 0), 0);
    ck_assert_uint_eq(swizzle_address(SWIZZLE_128B_32B_FLIP_8B, 128), 128 + 40);
    ck_assert_uint_eq(swizzle_address(SWIZZLE_128B_32B_FLIP_8B, 128 + 24), 128 + 48);
    ck_assert_uint_eq(swizzle_address(SWIZZLE_128B_32B_FLIP_8B, 256), 256 + 64);
    for (uint64_t at = 0; at < 1024; at++)
        ck_assert_uint_eq(swizzle_address(SWIZZLE_128B_32B_FLIP_8B, swizzle_address(SWIZZLE_128B_32B_FLIP_8B, at)), at);
}
END_TEST

START_TEST(none_moves_nothing_and_periods_repeat) {
    static const uint32_t period[N_SWIZZLES] = {128, 256, 512, 1024, 512, 512, 256};
    for (int s = 0; s < N_SWIZZLES; s++) {
        ck_assert_uint_eq(swizzle_period(s), period[s]);
        for (uint64_t at = 0; at < 1024; at++) {
            ck_assert_uint_eq(swizzle_address(s, at + period[s]), swizzle_address(s, at) + period[s]);
            ck_assert(s != SWIZZLE_NONE || swizzle_address(s, at) == at);
        }
    }
}
END_TEST

SUITE(isa_swizzle) {
    TEST_LOOP(units_move_as_written, 0, (int)(sizeof patterns / sizeof patterns[0]));
    TEST(each_second_row_is_flipped);
    TEST(none_moves_nothing_and_periods_repeat);
}
