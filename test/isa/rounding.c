/* Tests the statistics that compare results with and without intermediate rounding: the number of relative errors above
 * 0.5 %, and the greatest error. */
#include "isa/rounding.h"
#include "test/test.h"
#include <float.h>
#include <math.h>

/* Pairs of results and their relative errors |a - b| / max(|a|, |b|), derived by hand. */
static const struct {
    float have, want;
    double error;
    bool differ; /* true if the two results differ in any bit */
} rows[] = {
    {1, 1, 0, false},
    {200, 199, 1 / 200., true}, /* an error of exactly 0.5 % is not above 0.5 % */
    {1000, 994, 6 / 1000., true},
    {1, 4, 3 / 4., true},
    {1, -1, 2, true},
    {0, 1, 1, true},
    {0.0f, -0.0f, 0, true},
    {-0.0f, -0.0f, 0, false},
    {0x1p-149f, 0x1p-148f, 1 / 2., true}, /* subnormal */
    {0x1p-149f, -0.0f, 1, true},
    {FLT_MAX, -FLT_MAX, 2, true}, /* the difference is greater than the greatest float */
    {INFINITY, INFINITY, 0, false},
    {FLT_MAX, INFINITY, 1, true}, /* intermediate rounding overflows, but the exact result does not */
    {INFINITY, 1, 1, true},
    {INFINITY, -FLT_MAX, 1, true},
    {-INFINITY, 0, 1, true},
    {INFINITY, -INFINITY, 2, true},
    {NAN, 1, 2, true},
    {0, NAN, 2, true},
    {INFINITY, NAN, 2, true},
    {NAN, NAN, 0, false},
    {NAN, -NAN, 0, true},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

START_TEST(each_pair_has_its_error) {
    for (int swapped = 0; swapped < 2; swapped++) {
        struct rounding_error e = {0};
        const float a = rows[_i].have, b = rows[_i].want;
        rounding_error_see(&e, swapped ? b : a, swapped ? a : b);
        ck_assert_uint_eq(e.results, 1);
        ck_assert_uint_eq(e.differ, rows[_i].differ);
        ck_assert_double_eq(e.largest, rows[_i].error);
        ck_assert_uint_eq(e.beyond, rows[_i].error > 1 / 200.);
    }
}
END_TEST

/* Counts all rows of the table, first at once, then in two parts whose counts are added. Both totals must be equal.
 * `beyond` counts errors above 0.5 %. */
START_TEST(errors_add_up) {
    struct rounding_error all = {0}, part[2] = {{0}}, sum = {0};
    uint64_t differ = 0, beyond = 0;
    for (int i = 0; i < N_ROWS; i++) {
        rounding_error_see(&all, rows[i].have, rows[i].want);
        rounding_error_see(&part[i % 2], rows[i].have, rows[i].want);
        differ += rows[i].differ;
        beyond += rows[i].error > 1 / 200.;
        ck_assert_int_eq(all.beyond > 0, all.largest > 1 / 200.);
    }
    rounding_error_add(&sum, &part[0]);
    rounding_error_add(&sum, &part[1]);
    ck_assert_uint_eq(all.results, N_ROWS);
    ck_assert_uint_eq(all.differ, differ);
    ck_assert_uint_eq(all.beyond, beyond);
    ck_assert_double_eq(all.largest, 2);
    ck_assert_mem_eq(&sum, &all, sizeof all);
}
END_TEST

SUITE(isa_rounding) {
    TEST_LOOP(each_pair_has_its_error, 0, N_ROWS);
    TEST(errors_add_up);
}
