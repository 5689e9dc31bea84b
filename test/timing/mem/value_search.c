/* Tests the searches in arrays of each length, with fewer and with more values than a vector of the host holds. */
#include "timing/mem/value_search.h"
#include "test/test.h"

enum { MOST = 80 };

/* Each value from the first to the last is found at its index. A value that is behind the end is not found. */
START_TEST(values_are_found) {
    uint64_t value[MOST + 1];
    for (uint32_t i = 0; i <= MOST; i++)
        value[i] = ~(uint64_t)i * 7;
    for (uint32_t n = 1; n <= MOST; n++) {
        for (uint32_t i = 0; i < n; i++)
            ck_assert_uint_eq(index_of(value, n, value[i]), i);
        ck_assert_uint_eq(index_of(value, n, value[n]), n);
    }
}
END_TEST

/* The smallest value is at index i and, if i is even, also at all later indices. So its first index is i. The other
 * values are above the largest signed number, or are the largest number of all. */
START_TEST(the_first_smallest_value_is_found) {
    for (uint32_t n = 1; n <= MOST; n++)
        for (uint32_t i = 0; i < n; i++) {
            uint64_t value[MOST];
            for (uint32_t k = 0; k < n; k++)
                value[k] = k == i || (k > i && i % 2 == 0) ? 5 : k % 3 ? UINT64_MAX : (1ull << 63) + k;
            ck_assert_uint_eq(index_of_least(value, n), i);
        }
}
END_TEST

SUITE(timing_value_search) {
    TEST(values_are_found);
    TEST(the_first_smallest_value_is_found);
}
