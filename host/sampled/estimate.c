#include "estimate.h"
#include <math.h>

double student_quantile(double freedom) {
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
    enum { N = sizeof table / sizeof table[0] };
    const double z = 1.959964;
    if (freedom < 1)
        return INFINITY;
    if (freedom < N) {
        const int i = (int)freedom;
        return table[i - 1] + (freedom - i) * (table[i] - table[i - 1]);
    }
    /* the first terms of the expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5) */
    const double f = freedom, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

/* Sets *slope and *constant to the line with the least squares of deviations from the values. Returns false if all
 * samples have the same weight. */
static bool fit_line(const struct estimate_sample *s, uint32_t n, double *slope, double *constant) {
    double w = 0, v = 0, ww = 0, wv = 0;
    for (uint32_t i = 0; i < n; i++) {
        w += s[i].weight / n;
        v += s[i].value / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        ww += (s[i].weight - w) * (s[i].weight - w);
        wv += (s[i].weight - w) * (s[i].value - v);
    }
    *slope = ww > 0 ? wv / ww : 0;
    *constant = v - *slope * w;
    return ww > 0;
}

struct estimate estimate_variance(double squares, double freedom, double prior) {
    const double lacks = prior > 0 ? fmax(0, ESTIMATE_FREEDOM - freedom) : 0, all = freedom + lacks;
    return (struct estimate){0, all > 0 ? (squares + lacks * prior * prior) / all : 0, all};
}

struct estimate estimate_rest(const struct estimate_sample *s, uint32_t n, double rest, bool line, double prior) {
    double value = 0, all = 0, square = 0, weight = 0, sum = 0, times = 0, own = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        value += s[i].value;
        all += s[i].weight;
        weight += s[i].stands_for;
    }
    if (all <= 0)
        return (struct estimate){0, 0, n > 1 ? n - 1 : 0};
    double slope = value / all, constant = 0;
    const bool fits = line && n > 2 && fit_line(s, n, &slope, &constant);
    for (uint32_t i = 0; i < n; i++) {
        const double e = s[i].value - slope * s[i].weight - constant,
                     many = s[i].weight > 0 ? s[i].stands_for / s[i].weight : 0;
        square += i ? (e - last) * (e - last) / 2 : 0;
        last = e;
        sum += many * s[i].value;
        times += many * many;
        own += many * many * s[i].variance;
    }
    const struct estimate each_launch = estimate_variance(square, n > 1 ? n - 1 - fits : 0, prior);
    square = each_launch.variance;
    /* in units of the samples' mean weight, the rest is as_many launches, which may differ from `rest` */
    const double as_many = weight * n / all, each = rest > 0 ? as_many * as_many / rest : 0;
    return (struct estimate){sum, times * square + each * square + own, each_launch.freedom};
}

void estimate_add(struct estimate *sum, const struct estimate *e) {
    const double variance = sum->variance + e->variance;
    double terms = 0;
    const struct estimate *const both[] = {sum, e};
    for (int i = 0; i < 2; i++)
        if (both[i]->variance > 0)
            terms += both[i]->variance * both[i]->variance / both[i]->freedom;
    sum->freedom = terms > 0 ? variance * variance / terms : sum->freedom > e->freedom ? sum->freedom : e->freedom;
    sum->variance = variance;
    sum->value += e->value;
}

double estimate_half_width(const struct estimate *e) {
    return e->variance > 0 ? student_quantile(e->freedom) * sqrt(e->variance) : 0;
}
