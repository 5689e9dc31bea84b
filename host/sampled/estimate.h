#ifndef HOST_ESTIMATE_H
#define HOST_ESTIMATE_H
/* The arithmetic of sampled statistics: ratio estimates, their variances, and intervals by Student's t-distribution. */
#include <stdbool.h>
#include <stdint.h>

/* One measured launch: its weight (warp instructions), the measured value, the variance of this value if the launch was
 * itself sampled (0: exact), and the total weight of the launches that it stands for. */
struct estimate_sample {
    double weight, value, variance, stands_for;
};

/* An estimated value, its variance, and the degrees of freedom of the variance. */
struct estimate {
    double value, variance, freedom;
};

/* Fewest degrees of freedom of a variance, if there is a prior. */
enum { ESTIMATE_FREEDOM = 4 };
/* Returns the variance of values whose squared deviations, with `freedom` degrees of freedom, have the sum `squares`.
 * Sets the degrees of freedom. `prior` is the expected standard deviation. If there are fewer than ESTIMATE_FREEDOM
 * degrees of freedom, the others come from the prior, a scaled inverse chi-squared distribution (Gelman et al.,
 * Bayesian Data Analysis, section 2.6). Without a prior (0), no degree of freedom gives the variance 0. */
struct estimate estimate_variance(double squares, double freedom, double prior);
/* Returns the estimated sum of the values of `rest` launches that were not measured. The samples are in the order of
 * the program: the variance between launches is that of successive samples, so that a slow change of the launches,
 * which interpolation follows, counts little. The values of launches are about proportional to their weights (Sieve,
 * ISPASS 2023). `n` is at least 1. `prior` is the expected standard deviation of a launch (estimate_variance()). The
 * variance has three parts: the error of the samples as estimates of the ratio, the deviation of the `rest` launches
 * from this ratio, and the variances of the samples' own values. With `line` and at least three samples, a line through
 * the values takes the place of the ratio: launches then also have a constant part. */
struct estimate estimate_rest(const struct estimate_sample *s, uint32_t n, double rest, bool line, double prior);
/* Adds an independent estimate. The degrees of freedom follow Satterthwaite's rule. */
void estimate_add(struct estimate *sum, const struct estimate *e);
/* Returns the half width of the interval that contains the true value in 95 of 100 cases. Returns 0 if the variance is
 * 0, and INFINITY if the variance has no degree of freedom. */
double estimate_half_width(const struct estimate *e);
/* Returns the 97.5 % quantile of Student's distribution with `freedom` degrees of freedom, at least 1. Between whole
 * numbers the function interpolates. */
double student_quantile(double freedom);
#endif
