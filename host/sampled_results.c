/* Writes how the figures of a sampled simulation were sampled, as text and as JSON. */
#include "context.h"
#include <cjson/cJSON.h>

/* Returns the fraction of the instructions that ran in time. */
static double timed_part(const struct heddle_plan *p) {
    double all = 0, timed = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        all += p->launch[i].weight;
        timed += p->launch[i].measured ? p->launch[i].weight - p->launch[i].gaps.instructions : 0;
    }
    return all > 0 ? timed / all : 1;
}

void sampled_print(const struct heddle *h, FILE *out) {
    const struct heddle_plan *p = h->plan;
    const struct sampling_interval *c = &p->interval[GAP_CYCLES];
    if (c->inexact <= 0)
        fprintf(out, "  %-20s %16s  everything was simulated\n", "", "exact");
    else
        fprintf(out,
                "  %-20s %14.2f %%  95 %% interval of the cycles; with timing: %.1f %% of the instructions, in %llu of "
                "%llu launches\n",
                "", c->value > 0 ? 100 * c->half / c->value : 0, 100 * timed_part(p),
                (unsigned long long)p->measured_launches,
                (unsigned long long)(p->measured_launches + p->skipped_launches));
}

static cJSON *json_interval(const struct sampling_interval *v) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "value", v->value);
    cJSON_AddNumberToObject(o, "half_width", v->half);
    cJSON_AddNumberToObject(o, "relative", v->value > 0 ? v->half / v->value : 0);
    cJSON_AddNumberToObject(o, "inexact", v->value > 0 ? v->inexact / v->value : 0);
    return o;
}

/* Creates the measured launches, for a comparison of models on the same samples. */
static cJSON *json_samples(const struct heddle_plan *p) {
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < p->n; i++) {
        const struct planned *l = &p->launch[i];
        if (!l->measured)
            continue;
        cJSON *o = cJSON_CreateObject(), *units = cJSON_CreateArray();
        cJSON_AddNumberToObject(o, "launch", i);
        cJSON_AddNumberToObject(o, "group", l->group);
        cJSON_AddNumberToObject(o, "stands_for", l->stands_for);
        cJSON_AddNumberToObject(o, "weight", l->weight);
        cJSON_AddNumberToObject(o, "cycles", stats_kept_get(&l->stats, "gpu.cycles"));
        cJSON_AddNumberToObject(o, "skipped_instructions", l->gaps.instructions);
        for (uint32_t k = 0; k < l->gaps.n; k++) {
            const struct gap_unit *u = &l->gaps.unit[k];
            cJSON_AddItemToArray(units, cJSON_CreateDoubleArray((double[]){u->first, u->cycles, u->instructions}, 3));
        }
        cJSON_AddItemToObject(o, "units", units);
        if (l->gaps.why != GAPS_ARE)
            cJSON_AddStringToObject(o, "no_gaps", gaps_reason(l->gaps.why));
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

/* Creates, for each reason why launches have no gaps, the fraction of the program's instructions in these launches. */
static cJSON *json_no_gaps(const struct heddle_plan *p) {
    double all = 0, weight[N_NO_GAPS] = {0};
    cJSON *o = cJSON_CreateObject();
    for (uint32_t i = 0; i < p->n; i++) {
        all += p->launch[i].weight;
        weight[p->launch[i].gaps.why] += p->launch[i].measured ? p->launch[i].weight : 0;
    }
    for (int why = GAPS_ARE + 1; why < N_NO_GAPS; why++)
        if (weight[why] > 0)
            cJSON_AddNumberToObject(o, gaps_reason((enum no_gaps)why), weight[why] / all);
    return o;
}

static cJSON *json_groups(const struct heddle_plan *p) {
    cJSON *list = cJSON_CreateArray();
    for (uint32_t g = 0; g < p->n_groups; g++) {
        double weight = 0;
        uint32_t left = 0;
        for (uint32_t i = p->group[g].first; i < p->n; i++)
            if (p->launch[i].group == g && !p->launch[i].measured) {
                weight += p->launch[i].weight;
                left++;
            }
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray((double[]){left, weight}, 2));
    }
    return list;
}

struct cJSON *sampled_json(const struct heddle *h) {
    const struct heddle_plan *p = h->plan;
    cJSON *o = cJSON_CreateObject(), *intervals = cJSON_CreateObject();
    for (int i = 0; i < GAP_STATS; i++)
        cJSON_AddItemToObject(intervals, gap_stats[i], json_interval(&p->interval[i]));
    cJSON_AddNumberToObject(o, "launches", (double)p->n);
    cJSON_AddNumberToObject(o, "measured_launches", (double)p->measured_launches);
    cJSON_AddNumberToObject(o, "timed", timed_part(p));
    cJSON_AddStringToObject(o, "weight", gap_weight(gpu_regroups(h->gpu)));
    cJSON_AddNumberToObject(o, "skipped_ctas", (double)p->skipped_ctas);
    cJSON_AddNumberToObject(o, "wanted_error", p->error);
    cJSON_AddItemToObject(o, "intervals", intervals);
    cJSON_AddItemToObject(o, "no_gaps", json_no_gaps(p));
    cJSON_AddItemToObject(o, "groups", json_groups(p));
    cJSON_AddItemToObject(o, "samples", json_samples(p));
    return o;
}
