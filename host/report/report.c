#include "report.h"
#include "breakdown.h"
#include "host/html.h"
#include "report_machines.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 16 };

static void heading(struct report *r, const char *id, const char *text) {
    fprintf(r->out, "<h2 id=%s>", id);
    html_text(r->out, text);
    fputs("</h2>\n", r->out);
}

static void sentence(struct report *r, const char *text) {
    fputs("<p>", r->out);
    html_text(r->out, text);
    fputs("</p>\n", r->out);
}

/* Returns the number of distinct values of a text field over all runs. Sets `first` and `last` to the smallest and
 * the largest value in sorted order. */
static int count(const struct report *r, const char *name, const char **first, const char **last) {
    struct field f;
    char why[256], number[48];
    int n = 0;
    if (!field_find(r->db, r->set, name, &f, why, sizeof why))
        return 0;
    for (int i = 0; i < r->n; i++) {
        const char *own = field_text(r->set, r->rows[i], &f, number);
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = strcmp(own, field_text(r->set, r->rows[k], &f, number)) == 0;
        n += !seen;
        *first = i == 0 || strcmp(own, *first) < 0 ? own : *first;
        *last = i == 0 || strcmp(own, *last) > 0 ? own : *last;
    }
    return n;
}

/* Writes which runs the page shows, with their versions and dates. */
static void what_was_run(struct report *r) {
    const char *first = "", *last = "", *low, *high;
    int programs = count(r, "program", &low, &high), models = count(r, "model", &low, &high);
    int presets = count(r, "preset", &low, &high), versions = count(r, "version", &low, &high);
    fprintf(r->out, "<p>%d run%s: %d program%s, %d model%s, %d machine%s; by heddle ", r->n, r->n == 1 ? "" : "s",
            programs, programs == 1 ? "" : "s", models, models == 1 ? "" : "s", presets, presets == 1 ? "" : "s");
    html_text(r->out, low);
    if (versions > 1) {
        fputs(" to ", r->out);
        html_text(r->out, high);
    }
    int binaries = count(r, "binary", &low, &high);
    fprintf(r->out, " (%s", binaries == 1 ? "binary " : "several binaries");
    html_text(r->out, binaries == 1 ? low : "");
    fputs("), ", r->out);
    count(r, "ended", &first, &last);
    html_text(r->out, first);
    fputs(" to ", r->out);
    html_text(r->out, last);
    fputs(". A click on a column's head sorts.</p>\n", r->out);
}

/* Lists the options that have the same value in every run. Options that differ become columns. */
static void common_options(struct report *r) {
    bool any = false;
    for (int i = 0; i < r->set->n_options; i++) {
        struct field f = {FIELD_OPTION, i, ""};
        char number[48];
        if (field_differs(r->set, r->rows, r->n, &f))
            continue;
        fputs(any ? ", " : "<p>Set alike in all of them, or as the preset has it: ", r->out);
        html_text(r->out, r->set->options[i]);
        fputc('=', r->out);
        html_text(r->out, field_text(r->set, r->rows[0], &f, number));
        any = true;
    }
    fputs(any ? ".</p>\n" : "", r->out);
}

static void failures(struct report *r) {
    for (int i = 0; i < r->n; i++) {
        const struct result_row *row = r->rows[i];
        if (row->status == HEDDLE_OK)
            continue;
        fputs("<p class=missing>", r->out);
        html_text(r->out, row->program);
        fputs(" in ", r->out);
        html_text(r->out, row->model);
        fprintf(r->out, ": %s. ", row->verdict);
        html_text(r->out, row->message);
        fputs("</p>\n", r->out);
    }
}

/* Appends the statistics with these comma-separated names to the n in `stats`. Returns the new n. With `used`, leaves
 * out statistics that are 0 in every run. */
static int add_statistics(struct report *r, const char *names, bool used, struct field *stats, int n) {
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        char name[64], why[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        bool wanted = !used;
        for (int i = 0; !wanted && i < r->n; i++)
            wanted = report_stat(r, r->rows[i], name) > 0;
        n += wanted && field_find(r->db, r->set, name, &stats[n], why, sizeof why);
    }
    return n;
}

static bool runs(struct report *r) {
    static const char names[] = "gpu.cycles,gpu.ipc,gpu.warp_instructions,gpu.lane_utilization,gpu.avg_paths,"
                                "l1.miss_rate,l2.miss_rate,dram.read_bytes,dram.write_bytes,energy.total_joules";
    /* statistics of a part that few kernels use: shown if a run used the part */
    static const char parts[] = "util.tensor,util.tma,util.dsmem";
    struct field stats[MAX_FIELDS];
    int n = 0;
    heading(r, "runs", "What was run");
    n = add_statistics(r, names, false, stats, n);
    n = add_statistics(r, parts, true, stats, n);
    what_was_run(r);
    common_options(r);
    struct table *t = view_list(r->set, r->rows, r->n, n ? stats : NULL, n);
    bool fine = report_table(r, t);
    failures(r);
    return fine;
}

/* Writes the speed-up of each model if the runs have several models. */
static bool speed_ups(struct report *r) {
    struct field rows[MAX_FIELDS], model;
    struct pivot p = {.rows = rows, .columns = &model, .n_columns = 1, .labels = true};
    struct pivot_values v;
    char why[900];
    int older;
    if (!pivot_value(r->db, r->set, "speed-up", &p, why, sizeof why) ||
        !field_find(r->db, r->set, "model", &model, why, sizeof why) || !field_differs(r->set, r->rows, r->n, &model))
        return true;
    int n = fields_that_differ(r->set, r->rows, r->n, rows, MAX_FIELDS);
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].name, "model") != 0)
            rows[p.n_rows++] = rows[i];
    heading(r, "speed-up", "Speed-up of each model");
    if (!pivot_fill(&v, r->set, r->rows, r->n, &p, &older, why, sizeof why)) {
        sentence(r, why); /* `why` is the reason why the runs cannot be compared */
        return true;
    }
    struct chart c = {.kind = CHART_BARS, .title = "", .y_label = "speed-up", .places = v.rows, .n = v.n_rows};
    char *title = NULL;
    bool fine = asprintf(&title, "Speed-up over %s", v.base >= 0 ? v.columns[v.base] : "") >= 0;
    c.title = fine ? title : "";
    c.series = v.columns;
    c.n_series = v.n_columns;
    c.y = v.v;
    c.level = true;
    fine = report_chart(r, &c);
    struct table *t = view_pivot(r->set, r->rows, r->n, &p, &older, why, sizeof why);
    table_html(t, r->out);
    table_free(t);
    free(title);
    pivot_values_free(&v);
    return fine;
}

static void breakdown_table(struct report *r, const struct breakdown *b, const struct pivot_values *v) {
    char titles[TABLE_COLUMNS][72];
    const char *list[TABLE_COLUMNS + 1] = {"run"};
    for (int c = 0; c < v->n_columns && c < TABLE_COLUMNS - 1; c++) {
        snprintf(titles[c], sizeof titles[c], ">%s", v->columns[c]);
        list[c + 1] = titles[c];
    }
    struct table *t = table_new(list);
    for (int row = 0; row < v->n_rows; row++) {
        table_text(t, v->rows[row]);
        for (int c = 0; c < v->n_columns; c++) {
            double own = v->v[row * v->n_columns + c];
            table_number(t, b->shares ? own / 100 : own, b->shares ? NUM_PERCENT : NUM_SHORT);
        }
    }
    table_html(t, r->out);
    table_free(t);
}

/* Draws the breakdown as one or several charts. A chart has at most MOST bars, so that the names of the bars are
 * legible. */
static bool breakdown_charts(struct report *r, const struct breakdown *b, const struct pivot_values *v) {
    enum { MOST = 50 };
    bool fine = true;
    for (int from = 0; fine && from < v->n_rows; from += MOST) {
        int n = v->n_rows - from < MOST ? v->n_rows - from : MOST;
        struct chart c = {.kind = CHART_STACK, .title = b->title, .y_label = b->unit, .places = v->rows + from, .n = n};
        c.series = v->columns;
        c.n_series = v->n_columns;
        c.y = v->v + (size_t)from * (size_t)v->n_columns;
        c.percent = b->shares;
        fine = report_chart(r, &c);
    }
    return fine;
}

static bool breakdown(struct report *r, const struct breakdown *b) {
    struct field by[MAX_FIELDS];
    struct pivot_values v;
    int older, n = fields_that_differ(r->set, r->rows, r->n, by, MAX_FIELDS);
    char why[900];
    bool fine = true;
    heading(r, b->name, b->title);
    if (!breakdown_fill(b, &v, r->set, r->rows, r->n, by, n, &older, why, sizeof why)) {
        sentence(r, why);
    } else if (!v.n_rows) {
        sentence(r, "None of the runs has these figures: the functional model has no time.");
    } else {
        fine = breakdown_charts(r, b, &v);
        breakdown_table(r, b, &v);
    }
    pivot_values_free(&v);
    return fine;
}

bool report_write(struct report *r) {
    html_begin(r->out, r->title);
    fputs("<h1>", r->out);
    html_text(r->out, r->title);
    fputs("</h1>\n", r->out);
    bool fine = runs(r) && speed_ups(r);
    for (int i = 0; fine && breakdown_at(i); i++)
        fine = breakdown(r, breakdown_at(i));
    fine = fine && report_roofs(r) && report_kernel_roofs(r) && report_operations(r) && report_lines(r) &&
           report_line_roofs(r) && report_source(r) && report_paths(r);
    html_end(r->out);
    return fine;
}
