#include "sampled_pairs.h"
#include "host/sampled/estimate.h"
#include "timing/gaps.h"
#include <math.h>
#include <stdlib.h>

static const cJSON *sampled_of(const struct job *j) { return cJSON_GetObjectItemCaseSensitive(j->result, "sampled"); }
static const cJSON *get(const cJSON *o, const char *key) { return cJSON_GetObjectItemCaseSensitive(o, key); }
static double number(const cJSON *o, const char *key) { return cJSON_GetNumberValue(get(o, key)); }
static double element(const cJSON *list, int i) { return cJSON_GetNumberValue(cJSON_GetArrayItem(list, i)); }

double cycles_half_width(const struct job *j) {
    const cJSON *cycles = get(get(sampled_of(j), "intervals"), gap_stats[GAP_CYCLES]);
    return cycles ? number(cycles, "relative") : NAN;
}

/* The allowance of a speed-up, as a fraction. It is less than the allowance of a run (host/sampled/sampling.c), because
 * the errors behind that allowance are mostly the same in both runs. */
static const double allowance = 0.005;
/* The expected standard deviation of the difference of the two runs in a launch or unit, as a fraction of its cycles,
 * for few samples. */
static const double deviation = 0.02;

/* Returns the inexact fraction of the cycles (host/sampled/sampling.h). */
static double inexact_part(const struct job *j) {
    return number(get(get(sampled_of(j), "intervals"), gap_stats[GAP_CYCLES]), "inexact");
}

/* One of the two runs: its samples by launch, and its total cycles. */
struct side {
    const cJSON *samples;
    double cycles;
};

static const cJSON *launch_of(const struct side *s, int launch) {
    const cJSON *l;
    cJSON_ArrayForEach(l, s->samples) if ((int)number(l, "launch") == launch) return l;
    return NULL;
}

/* Returns false if the two runs did not measure the same parts of a launch. */
static bool same_units(const cJSON *la, const cJSON *lb) {
    const double a = number(la, "skipped_instructions"), b = number(lb, "skipped_instructions");
    const cJSON *ua, *ub;
    int common = 0;
    if (number(la, "group") != number(lb, "group"))
        return false;
    cJSON_ArrayForEach(ua, get(la, "units")) cJSON_ArrayForEach(ub, get(lb, "units")) common +=
        element(ua, 0) == element(ub, 0);
    return common > 0 || (a <= 0 && b <= 0);
}

/* Returns true if the two runs have weights of the same kind and the same groups, and measured the same parts of all
 * common launches. */
static bool are_pairs(const struct job *base, const struct job *own, const struct side *a, const struct side *b) {
    const cJSON *la, *weight = get(sampled_of(base), "weight");
    if (!cJSON_Compare(weight, get(sampled_of(own), "weight"), true) ||
        cJSON_GetArraySize(get(sampled_of(base), "groups")) != cJSON_GetArraySize(get(sampled_of(own), "groups")))
        return false;
    cJSON_ArrayForEach(la, a->samples) {
        const cJSON *lb = launch_of(b, (int)number(la, "launch"));
        if (lb && !same_units(la, lb))
            return false;
    }
    return true;
}

/* For one launch, compares the skipped cycles of the two runs, each as a fraction of the run's cycles. Returns the
 * variance of their difference, computed from the units that both runs measured. */
static struct estimate unit_variance(const struct side *a, const cJSON *la, const struct side *b, const cJSON *lb) {
    const double wa = number(la, "skipped_instructions"), wb = number(lb, "skipped_instructions");
    double z[GAP_UNITS], mean = 0, square = 0, each = 0, part = 0;
    uint32_t n = 0;
    const cJSON *ua, *ub;
    cJSON_ArrayForEach(ua, get(la, "units")) cJSON_ArrayForEach(ub, get(lb, "units")) {
        if (element(ua, 0) != element(ub, 0) || n == GAP_UNITS)
            continue;
        z[n] = wa * element(ua, 1) / element(ua, 2) / a->cycles - wb * element(ub, 1) / element(ub, 2) / b->cycles;
        part += wa * element(ua, 1) / element(ua, 2) / a->cycles;
        mean += z[n++];
        each += element(ua, 2);
    }
    if ((wa <= 0 && wb <= 0) || !n)
        return (struct estimate){.freedom = n > 1 ? n - 1 : 1};
    mean /= n;
    for (uint32_t i = 0; i < n; i++)
        square += (z[i] - mean) * (z[i] - mean);
    struct estimate e = estimate_variance(square, n - 1, deviation * part / n);
    e.variance *= 1.0 / n + each / n / fmax(wa, wb);
    return e;
}

/* Sets the number and the total weight of the launches of a group that a run did not measure. */
static void left_of(const struct job *j, int group, double *launches, double *weight) {
    const cJSON *g = cJSON_GetArrayItem(get(sampled_of(j), "groups"), group);
    *launches = element(g, 0);
    *weight = element(g, 1);
}

/* Adds the variance that a group contributes to the difference of the two runs. `s` has room for all samples. */
static void add_group(const struct job *base, const struct job *own, const struct side *a, const struct side *b,
                      int group, struct estimate_sample *s, struct estimate *sum) {
    double launches[2], weight[2];
    uint32_t n = 0;
    double stands = 0, part = 0;
    const cJSON *la;
    cJSON_ArrayForEach(la, a->samples) {
        const cJSON *lb = (int)number(la, "group") == group ? launch_of(b, (int)number(la, "launch")) : NULL;
        if (!lb)
            continue;
        const struct estimate units = unit_variance(a, la, b, lb);
        estimate_add(sum, &units);
        if (number(la, "stands_for") <= 0)
            continue;
        stands += number(la, "stands_for");
        part += number(la, "cycles") / a->cycles;
        s[n++] = (struct estimate_sample){number(la, "weight"),
                                          number(la, "cycles") / a->cycles - number(lb, "cycles") / b->cycles,
                                          units.variance, number(la, "stands_for")};
    }
    left_of(base, group, &launches[0], &weight[0]);
    left_of(own, group, &launches[1], &weight[1]);
    const int most = weight[1] > weight[0];
    for (uint32_t i = 0; i < n; i++) /* the common samples stand for all launches that a run did not measure */
        s[i].stands_for *= weight[most] / stands;
    if (weight[most] <= 0 || !n)
        return;
    const struct estimate rest = estimate_rest(s, n, launches[most], false, deviation * part / n);
    estimate_add(sum, &rest);
}

double speedup_half_width(const struct job *base, const struct job *own) {
    const struct side a = {get(sampled_of(base), "samples"), job_stat(base, "gpu.cycles")},
                      b = {get(sampled_of(own), "samples"), job_stat(own, "gpu.cycles")};
    const int groups = cJSON_GetArraySize(get(sampled_of(base), "groups"));
    struct estimate sum = {.value = 0};
    if (!a.samples || !b.samples || !(a.cycles > 0) || !(b.cycles > 0))
        return NAN;
    if (!are_pairs(base, own, &a, &b))
        return hypot(cycles_half_width(base), cycles_half_width(own));
    struct estimate_sample *s = calloc((size_t)cJSON_GetArraySize(a.samples) + 1, sizeof *s);
    for (int g = 0; s && g < groups; g++)
        add_group(base, own, &a, &b, g, s, &sum);
    const double half =
        s ? hypot(estimate_half_width(&sum), allowance * fmax(inexact_part(base), inexact_part(own))) : (double)NAN;
    free(s);
    return half;
}
