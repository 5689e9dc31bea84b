/* A contest of mechanisms: the best one for each program, and the issue slots that it saves. */
#include "figure.h"
#include "host/table.h"
#include "timing/report/stat.h"
#include "timing/report/states.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a series must be better than the base by this share to be the best */
static const double least_gain = 0.005;

static const struct result_row *row_of(const struct figure_runs *r, int series, int program, const struct plan *plan,
                                       const struct result_set *set) {
    int run = r->run[series * r->n_programs + program];
    const struct result_row *row = run >= 0 ? result_find(set, plan->runs[run].key) : NULL;
    return row && row->status == HEDDLE_OK ? row : NULL;
}

static int base_of(const struct figure_runs *r, const struct panel *p) {
    int s = 0;
    while (p->series[s].label && strcmp(p->series[s].label, r->figure->contest) != 0)
        s++;
    return s;
}

/* Finds the use of issue slots that decreases most from row `base` to row `best`. Slots without a live warp are not
 * counted: on an SM without work, their number falls whenever the launch gets shorter, whatever the cause. */
static void find_slot(struct figure_best *b, const struct result_set *set, const struct result_row *base,
                      const struct result_row *best) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    double all = figure_expression(set, base, "issue.slots+-1*issue.no_warp");
    for (int slot = 0; slot < SLOT_NO_WARP && all > 0; slot++) {
        char name[64];
        snprintf(name, sizeof name, "issue.%s", issue_slot_names[slot]);
        double saved = (figure_expression(set, base, name) - figure_expression(set, best, name)) / all;
        if (saved > b->saved) { /* never NAN */
            b->saved = saved;
            b->slot = defs[stat_index(name)].name;
        }
    }
}

struct figure_best *figure_best(const struct figure_runs *r, const struct panel_values *first, const struct plan *plan,
                                const struct result_set *set) {
    struct figure_best *all = calloc((size_t)r->n_programs + 1, sizeof *all);
    int base = base_of(r, first->panel);
    for (int i = 0; all && i < r->n_programs; i++) {
        struct figure_best *b = &all[i];
        *b = (struct figure_best){.series = -1, .value = 1 + least_gain};
        for (int s = 0; s < first->n_series; s++)
            if (!first->panel->series[s].bound && first->value[s * r->n_programs + i] > b->value) {
                b->series = s;
                b->value = first->value[s * r->n_programs + i];
            }
        if (b->series < 0) {
            b->value = NAN;
            continue;
        }
        const struct result_row *from = row_of(r, base, i, plan, set), *to = row_of(r, b->series, i, plan, set);
        if (from && to)
            find_slot(b, set, from, to);
    }
    return all;
}

struct table *figure_best_table(const struct figure_runs *r, const struct panel_values *first,
                                const struct figure_best *best) {
    static const char *const titles[] = {
        "program", "best", ">speed-up", "issue slots that it saves most", ">share of the base's", NULL};
    struct table *t = table_new(titles);
    int n;
    const struct stat_def *defs = stat_defs(&n);
    for (int i = 0; i < r->n_programs; i++) {
        const struct figure_best *b = &best[i];
        table_text(t, r->programs[i]->name);
        table_text(t, b->series < 0 ? "none" : first->panel->series[b->series].label);
        panel_put(t, first->panel, b->value);
        table_text(t, b->slot ? defs[stat_index(b->slot)].help : "-");
        table_number(t, b->slot ? b->saved : NAN, NUM_PERCENT);
    }
    return t;
}

/* Prints a row for each series: its mean over all programs in each panel, and for how many programs it is the best. */
static void print_means(const struct figure_runs *r, const struct panel_values *v, int n,
                        const struct figure_best *best, FILE *out) {
    char titles[FIGURE_PANELS][72];
    const char *list[FIGURE_PANELS + 3] = {"mechanism"};
    for (int p = 0; p < n; p++) {
        snprintf(titles[p], sizeof titles[p], ">%s", v[p].panel->title);
        list[p + 1] = titles[p];
    }
    list[n + 1] = ">best for";
    struct table *t = table_new(list);
    for (int s = 0; s < v[0].n_series; s++) {
        int programs = 0;
        for (int i = 0; i < r->n_programs; i++)
            programs += best[i].series == s;
        table_text(t, v[0].panel->series[s].label);
        for (int p = 0; p < n; p++)
            panel_put(t, v[p].panel, v[p].mean[s][v[p].n_groups - 1]);
        table_number(t, programs, NUM_COUNT);
    }
    table_print(t, out);
    table_free(t);
}

void figure_contest_print(const struct figure_runs *r, const struct panel_values *v, int n,
                          const struct figure_best *best, FILE *out) {
    figure_title(r->figure, out);
    fprintf(out, "\nMeans over %d program%s; ratios are to %s\n\n", r->n_programs, r->n_programs == 1 ? "" : "s",
            r->figure->contest);
    print_means(r, v, n, best, out);
    fputs("\nThe best for each program\n\n", out);
    struct table *t = figure_best_table(r, &v[0], best);
    table_print(t, out);
    table_free(t);
    figure_remarks(r, out);
}
