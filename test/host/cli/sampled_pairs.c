/* Tests the intervals of speed-ups, computed by hand. */
#include "host/cli/sampled_pairs.h"
#include "test/test.h"
#include <math.h>

/* Returns the result of a run of 1,000 cycles with one launch. The launch has 1,000 warp instructions, 900 of them in
 * gaps, and two units of 100 instructions and 100 cycles, which begin at CTA 5 and at CTA `other`. */
static struct job run_of(int other) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"stats\":{\"gpu.cycles\":1000},\"sampled\":{\"weight\":\"w\",\"groups\":[[0,0]],"
             "\"intervals\":{\"gpu.cycles\":{\"relative\":0.5,\"inexact\":0}},\"samples\":[{\"launch\":0,"
             "\"group\":0,\"weight\":1000,\"cycles\":1000,\"stands_for\":0,\"skipped_instructions\":900,"
             "\"units\":[[5,100,100],[%d,100,100]]}]}}",
             other);
    return (struct job){.result = cJSON_Parse(text)};
}

/* The runs have one common unit. Its deviation is the expected one: 2 % of the 900 skipped cycles, or 0.018 of all
 * cycles. The variance is 0.018^2 * (1 + 9 / 81): the error of the unit, and the error of the 9 skipped units. It has 4
 * degrees of freedom, so half of the interval is 2.7764 standard deviations. With two common units, whose differences
 * are both 0, one of the 4 degrees of freedom has variance 0. So the variance is 3 / 4 * 0.018^2 * (1 / 2 + 9 / 81). */
START_TEST(few_common_units_have_an_expected_deviation) {
    struct job base = run_of(1), other = run_of(2), same = run_of(1);
    ck_assert(base.result && other.result && same.result);
    ck_assert(fabs(speedup_half_width(&base, &other) - 2.7764 * 0.018 * sqrt(10. / 9)) < 1e-9);
    ck_assert(fabs(speedup_half_width(&base, &same) - 2.7764 * 0.018 * sqrt(0.75 * (1. / 2 + 1. / 9))) < 1e-9);
    cJSON_Delete(base.result);
    cJSON_Delete(other.result);
    cJSON_Delete(same.result);
}
END_TEST

/* Runs without a common unit count as independent: the variances of their cycles are added. */
START_TEST(runs_without_common_units_are_no_pairs) {
    struct job base = run_of(1), other = run_of(2);
    cJSON *unit = cJSON_GetArrayItem(
        cJSON_GetObjectItem(
            cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(other.result, "sampled"), "samples"), 0),
            "units"),
        0);
    cJSON_SetNumberValue(cJSON_GetArrayItem(unit, 0), 6);
    ck_assert(fabs(speedup_half_width(&base, &other) - sqrt(0.5)) < 1e-9);
    cJSON_Delete(base.result);
    cJSON_Delete(other.result);
}
END_TEST

SUITE(host_cli_sampled_pairs) {
    TEST(few_common_units_have_an_expected_deviation);
    TEST(runs_without_common_units_are_no_pairs);
}
