/* Tests the arithmetic of estimates with cases computed by hand, and how often the intervals contain the truth. */
#include "host/sampled/estimate.h"
#include "test/test.h"
#include <math.h>

static bool near(double got, double want) { return fabs(got - want) <= 1e-9 * fmax(1, fabs(want)); }

/* Two samples of weight 1 with the values 10 and 14 stand for three launches of weight 1 together, whose sum is 1.5 *
 * 10 + 1.5 * 14 = 36. The variance between samples is ((-2)^2 + 2^2) / 1 = 8. The samples' error contributes 2 * 1.5^2
 * * 8 = 36, and the three launches contribute 3 * 8 = 24. */
START_TEST(rest_of_equal_weights) {
    const struct estimate_sample s[] = {{1, 10, 0, 1.5}, {1, 14, 0, 1.5}};
    const struct estimate e = estimate_rest(s, 2, 3, false, 0);
    ck_assert(near(e.value, 36) && near(e.variance, 60) && near(e.freedom, 1));
}
END_TEST

/* If values are proportional to the weights (here 5 for each unit of weight), the estimate has no variance. */
START_TEST(proportional_values_are_certain) {
    const struct estimate_sample s[] = {{1, 5, 0, 20}, {4, 20, 0, 50}, {2, 10, 0, 30}};
    const struct estimate e = estimate_rest(s, 3, 10, false, 0);
    ck_assert(near(e.value, 500) && near(e.variance, 0) && near(estimate_half_width(&e), 0));
}
END_TEST

/* The samples' own variances 2 and 4 count with the squares of the launches that each stands for: 4 * 2 + 16 * 4. */
START_TEST(variances_of_samples_are_scaled) {
    const struct estimate_sample s[] = {{1, 10, 2, 2}, {1, 10, 4, 4}};
    const struct estimate e = estimate_rest(s, 2, 6, false, 0);
    ck_assert(near(e.value, 60) && near(e.variance, 72));
}
END_TEST

/* The values 5, 7 and 11 of the weights 1, 2 and 4 lie on the line 3 + 2 w, so they have no variance. The values 0, 3
 * and 0 of the weights 1, 2 and 3 have the line 1, and lie -1, 2 and -1 from it. The variance of successive deviations
 * is (3^2 + 3^2) / 2 / 1 = 9. The samples' error contributes 3 * 9, and the three launches 3 * 9. */
START_TEST(a_line_has_a_constant_part) {
    const struct estimate_sample on[] = {{1, 5, 0, 2}, {2, 7, 0, 2}, {4, 11, 0, 4}};
    struct estimate e = estimate_rest(on, 3, 4, true, 0);
    ck_assert(near(e.value, 2 * 5 + 7 + 11) && near(e.variance, 0) && near(e.freedom, 1));
    const struct estimate_sample off[] = {{1, 0, 0, 1}, {2, 3, 0, 2}, {3, 0, 0, 3}};
    e = estimate_rest(off, 3, 3, true, 0);
    ck_assert(near(e.value, 3) && near(e.variance, 54) && near(e.freedom, 1));
}
END_TEST

/* The samples 10 and 14 stand for one and for three launches: 10 + 3 * 14 = 52. The variance between samples is 8 as
 * above; the samples' error contributes (1 + 9) * 8 = 80, and the four launches 4 * 8 = 32. */
START_TEST(samples_stand_for_different_numbers) {
    const struct estimate_sample s[] = {{1, 10, 0, 1}, {1, 14, 0, 3}};
    const struct estimate e = estimate_rest(s, 2, 4, false, 0);
    ck_assert(near(e.value, 52) && near(e.variance, 112));
}
END_TEST

/* The prior 4 has as many degrees of freedom as are missing to 4. One sample: 4 of them, so the variance is 16, and the
 * two launches have (4 + 2) * 16. The samples 10 and 14 have one of their own, with the variance 8, so the variance is
 * (8 + 3 * 16) / 4 = 14; samples that stand for 1.5 launches each have 2 * 1.5^2 * 14, and the three launches 3 * 14.
 * Five samples, here with the steps 2, -2, 2 and -2, have four of their own: the variance is 4 * 2 / 4 = 2. */
START_TEST(a_prior_completes_few_samples) {
    const struct estimate_sample one[] = {{1, 10, 0, 2}}, two[] = {{1, 10, 0, 1.5}, {1, 14, 0, 1.5}},
                                 five[] = {{1, 9, 0, 1}, {1, 11, 0, 1}, {1, 9, 0, 1}, {1, 11, 0, 1}, {1, 9, 0, 1}};
    struct estimate e = estimate_rest(one, 1, 2, false, 4);
    ck_assert(near(e.value, 20) && near(e.variance, 96) && near(e.freedom, 4));
    e = estimate_rest(two, 2, 3, false, 4);
    ck_assert(near(e.value, 36) && near(e.variance, 4.5 * 14 + 3 * 14) && near(e.freedom, 4));
    e = estimate_rest(five, 5, 5, false, 4);
    ck_assert(near(e.value, 49) && near(e.variance, 10 * 2) && near(e.freedom, 4));
}
END_TEST

/* One sample has no variance between launches. With a variance of its own, the interval is unbounded: no degree of
 * freedom is left. */
START_TEST(one_sample_has_no_interval) {
    const struct estimate_sample s[] = {{1, 10, 1, 2}};
    const struct estimate e = estimate_rest(s, 1, 2, false, 0);
    ck_assert(near(e.value, 20) && near(e.freedom, 0) && isinf(estimate_half_width(&e)));
}
END_TEST

/* Satterthwaite: variances 4 and 4 with 2 and 4 degrees of freedom have 64 / (16 / 2 + 16 / 4) = 16 / 3. */
START_TEST(sums_have_satterthwaites_freedom) {
    struct estimate sum = {10, 4, 2};
    estimate_add(&sum, &(struct estimate){5, 4, 4});
    ck_assert(near(sum.value, 15) && near(sum.variance, 8) && near(sum.freedom, 16. / 3));
    estimate_add(&sum, &(struct estimate){1, 0, 0}); /* adding an exact value changes neither */
    ck_assert(near(sum.value, 16) && near(sum.variance, 8) && near(sum.freedom, 16. / 3));
}
END_TEST

/* Quantiles of the table in any textbook: 12.706, 4.303, 2.228, 2.086 for 20 and 1.984 for 100 degrees of freedom. */
START_TEST(quantiles_of_student) {
    ck_assert(fabs(student_quantile(1) - 12.706) < 1e-3 && fabs(student_quantile(2) - 4.303) < 1e-3);
    ck_assert(fabs(student_quantile(10) - 2.228) < 1e-3 && fabs(student_quantile(20) - 2.086) < 1e-3);
    ck_assert(fabs(student_quantile(100) - 1.984) < 1e-3 && student_quantile(2.5) > student_quantile(3));
}
END_TEST

/* Synthetic programs of known truth: 2 groups of 40 launches with random weights, whose cycles are the weight times a
 * group's rate with a deviation of 10 % (a sum of four uniform numbers, so nearly normal). Five launches of each group
 * are measured. The interval must contain the true sum in 95 % of the programs; 90 % to 99 % are accepted for 400. */
START_TEST(intervals_cover_the_truth) {
    uint64_t state = 1;
    int inside = 0;
    enum { PROGRAMS = 400, LAUNCHES = 40, MEASURED = 5 };
    for (int p = 0; p < PROGRAMS; p++) {
        struct estimate all = {.value = 0};
        double truth = 0;
        for (int g = 0; g < 2; g++) {
            struct estimate_sample s[MEASURED];
            double weight = 0;
            for (int i = 0; i < LAUNCHES; i++) {
                double w = 80 + test_random_below(&state, 40), noise = -2;
                for (int k = 0; k < 4; k++)
                    noise += test_random_below(&state, 10001) * 1e-4;
                const double cycles = w * (g + 1) * (1 + 0.173 * noise);
                truth += cycles;
                if (i < MEASURED)
                    s[i] = (struct estimate_sample){w, cycles, 0, 0};
                else
                    weight += w;
            }
            for (int i = 0; i < MEASURED; i++)
                s[i].stands_for = weight / MEASURED;
            const struct estimate rest = estimate_rest(s, MEASURED, LAUNCHES - MEASURED, false, 0);
            for (int i = 0; i < MEASURED; i++)
                all.value += s[i].value;
            estimate_add(&all, &rest);
        }
        inside += fabs(all.value - truth) <= estimate_half_width(&all);
    }
    ck_assert_msg(inside >= PROGRAMS * 90 / 100 && inside <= PROGRAMS * 99 / 100, "%d of %d", inside, PROGRAMS);
}
END_TEST

SUITE(host_sampled_estimate) {
    TEST(rest_of_equal_weights);
    TEST(proportional_values_are_certain);
    TEST(variances_of_samples_are_scaled);
    TEST(samples_stand_for_different_numbers);
    TEST(a_line_has_a_constant_part);
    TEST(a_prior_completes_few_samples);
    TEST(one_sample_has_no_interval);
    TEST(sums_have_satterthwaites_freedom);
    TEST(quantiles_of_student);
    TEST(intervals_cover_the_truth);
}
