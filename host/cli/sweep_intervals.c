/* Prints the intervals of the sampled runs of a sweep: of their cycles, and of each speed-up over the first model. */
#include "cmd_plan.h"
#include "host/table.h"
#include "sampled_pairs.h"
#include "sweep.h"
#include "timing/gaps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets *j to a run of the database, with the members of its JSON that the intervals need. Returns false if the run was
 * not sampled, or cannot be read. */
static bool read_run(struct results_db *db, const struct result_row *row, struct job *j) {
    cJSON *sampled = NULL;
    char err[256];
    if (!row || !results_sampled(db, row->run, &sampled, err, sizeof err) || !sampled)
        return false;
    const cJSON *intervals = cJSON_GetObjectItemCaseSensitive(sampled, "intervals"),
                *cycles = cJSON_GetObjectItemCaseSensitive(intervals, gap_stats[GAP_CYCLES]);
    const double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(cycles, "value"));
    *j = (struct job){.result = cJSON_CreateObject()};
    cJSON *stats = cJSON_AddObjectToObject(j->result, "stats");
    (void)cJSON_AddNumberToObject(stats, gap_stats[GAP_CYCLES], value);
    (void)cJSON_AddItemToObject(j->result, "sampled", sampled);
    return true;
}

/* Returns true if the two runs differ only in their models. */
static bool same_but_model(const struct plan *p, int a, int b) {
    const struct run_machine *x = &p->machines[p->runs[a].machine].machine,
                             *y = &p->machines[p->runs[b].machine].machine;
    if (p->runs[a].bench != p->runs[b].bench || x->n_settings != y->n_settings || strcmp(x->preset, y->preset) != 0)
        return false;
    for (int i = 0; i < x->n_settings; i++)
        if (strcmp(x->settings[i].option, y->settings[i].option) != 0 ||
            strcmp(x->settings[i].value, y->settings[i].value) != 0)
            return false;
    return true;
}

/* Returns the run of the first model with which a run is compared, or -1. */
static int base_of(const struct sweep *s, int run) {
    const struct plan *p = &s->plan;
    for (int i = 0; i < p->n_runs; i++)
        if (strcmp(p->machines[p->runs[i].machine].machine.model, s->models[0]) == 0 && same_but_model(p, i, run))
            return i == run ? -1 : i;
    return -1;
}

static void add_row(struct table *t, const struct sweep *s, struct results_db *db, const struct result_set *set,
                    int run) {
    char name[256];
    struct job own = {0}, base = {0};
    const int first = base_of(s, run);
    if (!read_run(db, result_find(set, s->plan.runs[run].key), &own))
        return;
    const bool pair = first >= 0 && read_run(db, result_find(set, s->plan.runs[first].key), &base);
    plan_run_name(&s->plan, run, name, sizeof name);
    table_text(t, name);
    table_number(t, job_stat(&own, gap_stats[GAP_CYCLES]), NUM_COUNT);
    table_number(t, cycles_half_width(&own), NUM_PERCENT);
    table_number(t, pair ? job_stat(&base, gap_stats[GAP_CYCLES]) / job_stat(&own, gap_stats[GAP_CYCLES]) : NAN,
                 NUM_FIXED3);
    table_number(t, pair ? speedup_half_width(&base, &own) : NAN, NUM_PERCENT);
    job_free(&own);
    job_free(&base);
}

void sweep_intervals(const struct sweep *s, struct results_db *db, const struct result_set *set) {
    static const char *const titles[] = {"95 % interval", ">cycles", ">+-", ">speed-up", ">+-", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < s->plan.n_runs; i++)
        add_row(t, s, db, set, i);
    putchar('\n');
    table_print(t, stdout);
    table_free(t);
}
