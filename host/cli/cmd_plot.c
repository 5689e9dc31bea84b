/* heddle plot: draws charts of the runs in a database. */
#include "cmd.h"
#include "help.h"
#include "host/report/breakdown.h"
#include "host/report/chart.h"
#include "host/report/gnuplot.h"
#include "host/report/outfile.h"
#include "ptx/diag.h"
#include "where.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    {0, "kind", "KIND", "bars (the default), lines, scatter or stack"},
    {'o', "output", "FILE", "X.svg or X.png; another name gives both (default plot)"},
    {0, "value", "STAT", "a statistic, or speed-up (default); for a stack: issue (default), energy or dynamic-energy"},
    {0, "x", "FIELD", "the x axis: a swept option (lines), a statistic (scatter)"},
    {0, "rows", "FIELD,...", "bars, stack: one cluster or bar for each value of these (default: all that differ)"},
    {0, "columns", "FIELD,...", "one colour for each value of these (default what was swept; lines: all that differ)"},
    {0, "relative-to", "COLUMN",
     "divide by this column of the row; for speed-up the base (default spe, else the first)"},
    {0, "where", "CONDITION", "only matching runs, as for heddle results; may be repeated"},
    {0, "title", "TEXT", "title of the chart"},
    {0, NULL, NULL, NULL},
};

/* MOST_BARS: more bars cannot be told apart; clusters of bars become a map of colours, and a stack is refused. */
enum { MAX_FIELDS = 16, MAX_SERIES = 100, MAX_PLACES = 5000, MOST_BARS = 60 };
static const char *const kinds[] = {"bars", "lines", "scatter", "stack"};
enum kind { BARS, LINES, SCATTER, STACK, N_KINDS };

struct plot {
    const struct cli *c;
    enum kind kind;
    struct results_db *db;
    struct result_set set;
    const struct result_row **rows;
    int n, older;
    struct pivot_values values;
    double *x; /* line and scatter charts: row of `values` -> its x; other charts: NULL */
    struct chart chart;
    char *title, *note; /* the title, and the chart's x_label; NULL: none */
    char y_name[sizeof((struct field *)0)->name], err[1024];
};

static bool no_memory(struct plot *p) {
    snprintf(p->err, sizeof p->err, "the host is out of memory");
    return false;
}

static bool choose(struct plot *p) {
    if (!cli_rows(p->c, p->db, &p->set, &p->rows, &p->n, p->err, sizeof p->err))
        return false;
    rows_sort(&p->set, p->rows, p->n);
    if (!p->n)
        snprintf(p->err, sizeof p->err, "nothing to draw: %s",
                 p->set.n ? "no run fits --where" : "there are no runs yet");
    return p->n > 0;
}

static int fields(struct plot *p, const char *option, const char *usual, struct field *out) {
    const char *given = cli_value(p->c, option);
    char why[900];
    int n = fields_find(p->db, &p->set, given ? given : usual, out, MAX_FIELDS, why, sizeof why);
    if (!n)
        snprintf(p->err, sizeof p->err, "--%s: %s", option, why);
    return n;
}

/* Reads the fields of --rows or --columns. Without the option, takes all fields in which the runs differ, except the
 * fields `other` of the other axis. */
static int fields_beside(struct plot *p, const char *option, const struct field *other, int n_other,
                         struct field *out) {
    if (cli_has(p->c, option))
        return fields(p, option, "", out);
    int n = fields_that_differ(&p->set, p->rows, p->n, out, MAX_FIELDS), kept = 0;
    for (int i = 0; i < n; i++) {
        bool taken = false;
        for (int k = 0; k < n_other; k++)
            taken = taken || strcmp(other[k].name, out[i].name) == 0;
        if (!taken)
            out[kept++] = out[i];
    }
    return kept;
}

/* Reads --value, or uses the default. */
static bool value_of(struct plot *p, const char *usual, struct pivot *pivot) {
    const char *given = cli_value(p->c, "value");
    char why[900];
    if (pivot_value(p->db, &p->set, given ? given : usual, pivot, why, sizeof why))
        return true;
    snprintf(p->err, sizeof p->err, "--value: %s", why);
    return false;
}

static bool pivot(struct plot *p, const struct field *rows, int n_rows, const struct field *columns, int n_columns,
                  const char *value) {
    struct pivot pivot = {.rows = rows,
                          .n_rows = n_rows,
                          .columns = columns,
                          .n_columns = n_columns,
                          .labels = true,
                          .relative_to = cli_value(p->c, "relative-to")};
    if (!value_of(p, value, &pivot) ||
        !pivot_fill(&p->values, &p->set, p->rows, p->n, &pivot, &p->older, p->err, sizeof p->err))
        return false;
    const char *name = pivot.faster ? "speed-up" : pivot.value.name;
    const char *base = p->values.base >= 0 ? p->values.columns[p->values.base] : NULL;
    p->chart.level = base != NULL;
    p->chart.y_label = pivot.faster || pivot.value.kind != FIELD_STATISTIC ? NULL : p->set.units[pivot.value.index];
    /* the names of columns that are values of one option do not contain the option's name */
    const char *option = n_columns == 1 && columns[0].kind == FIELD_OPTION ? columns[0].name : NULL;
    if (option && p->kind == BARS && asprintf(&p->note, "colours: %s", option) < 0)
        p->note = NULL;
    p->chart.x_label = p->note;
    return asprintf(&p->title, "%s%s%s%s%s", name, base ? " over " : "", base && option ? option : "",
                    base && option ? "=" : "", base ? base : "") >= 0 ||
           no_memory(p);
}

/* Reads --columns of a bar chart. Without it, takes the models. If all runs have one model, takes the options in which
 * the runs differ; the first value is then the base of a speed-up. */
static int bar_columns(struct plot *p, struct field *out) {
    struct field differ[MAX_FIELDS];
    int n = cli_has(p->c, "columns") ? 0 : fields_that_differ(&p->set, p->rows, p->n, differ, MAX_FIELDS), swept = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(differ[i].name, "model") == 0)
            return fields(p, "columns", "model", out);
        if (differ[i].kind == FIELD_OPTION)
            out[swept++] = differ[i];
    }
    return swept ? swept : fields(p, "columns", "model", out);
}

static bool bars(struct plot *p) {
    struct field rows[MAX_FIELDS], columns[MAX_FIELDS];
    int n_columns = bar_columns(p, columns);
    int n_rows = n_columns ? fields_beside(p, "rows", columns, n_columns, rows) : 0;
    return (n_rows || (n_columns && !cli_has(p->c, "rows"))) && pivot(p, rows, n_rows, columns, n_columns, "speed-up");
}

static bool stack(struct plot *p) {
    const char *name = cli_value(p->c, "value");
    const struct breakdown *b = breakdown_find(name ? name : "issue");
    struct field rows[MAX_FIELDS];
    if (!b) {
        snprintf(
            p->err, sizeof p->err,
            "--value: a stack is of issue (issue slots by cause), energy or dynamic-energy (by component), not '%s'",
            name);
        return false;
    }
    int n = fields_beside(p, "rows", NULL, 0, rows);
    p->chart.y_label = b->unit;
    p->chart.percent = b->shares;
    return n && breakdown_fill(b, &p->values, &p->set, p->rows, p->n, rows, n, &p->older, p->err, sizeof p->err) &&
           ((p->title = strdup(b->title)) || no_memory(p));
}

/* Finds the field of --x. Returns false on an error, with a message in p->err. */
static bool find_x(struct plot *p, struct field *out) {
    const char *name = cli_value(p->c, "x");
    char why[900];
    if (!name) {
        snprintf(p->err, sizeof p->err, "--kind %s needs --x: %s", kinds[p->kind],
                 p->kind == LINES ? "the option that was swept, for example --x l1.size"
                                  : "a statistic, for example --x l1.miss_rate");
        return false;
    }
    if (field_find(p->db, &p->set, name, out, why, sizeof why))
        return true;
    snprintf(p->err, sizeof p->err, "--x: %s", why);
    return false;
}

static bool x_number(struct plot *p, const struct field *f, const struct result_row *r, double *out) {
    char number[48];
    *out = field_number(&p->set, r, f);
    if (!isnan(*out) || f->kind == FIELD_STATISTIC)
        return true;
    snprintf(p->err, sizeof p->err, "--x %s: '%s' is no number; --kind bars --rows %s takes names", f->name,
             field_text(&p->set, r, f, number), f->name);
    return false;
}

/* Prepares a line chart from a pivot. The pivot's rows are the values of the field x as text; p->x gets these values as
 * numbers. */
static bool lines(struct plot *p) {
    struct field x, columns[MAX_FIELDS];
    if (!find_x(p, &x))
        return false;
    int n = fields_beside(p, "columns", &x, 1, columns);
    if ((!n && cli_has(p->c, "columns")) || !pivot(p, &x, 1, columns, n, "gpu.cycles"))
        return false;
    if (!(p->x = calloc((size_t)p->values.n_rows + 1, sizeof *p->x)))
        return no_memory(p);
    for (int i = 0; i < p->n; i++) {
        char number[48];
        const char *own = field_label(&p->set, p->rows[i], &x, number);
        for (int r = 0; r < p->values.n_rows; r++)
            if (strcmp(p->values.rows[r], own) == 0 && !x_number(p, &x, p->rows[i], &p->x[r]))
                return false;
    }
    p->chart.x_label = cli_value(p->c, "x");
    return true;
}

/* Prepares a scatter chart: a table of values in which each row is one run. */
static bool scatter(struct plot *p) {
    struct field x, across[MAX_FIELDS];
    struct pivot y = {.rows = NULL};
    struct pivot_values *v = &p->values;
    int n_across = 0;
    if (!find_x(p, &x) || !value_of(p, "gpu.ipc", &y) || !(n_across = fields(p, "columns", "model", across)))
        return false;
    if (y.faster || cli_has(p->c, "relative-to")) {
        snprintf(p->err, sizeof p->err, "a scatter shows values as they are: no speed-up, no --relative-to");
        return false;
    }
    p->x = calloc((size_t)p->n + 1, sizeof *p->x);
    if (!p->x || !points_fill(v, &p->set, p->rows, p->n, across, n_across, &y.value))
        return no_memory(p);
    for (int i = 0; i < p->n; i++)
        if (!x_number(p, &x, p->rows[i], &p->x[i]))
            return false;
    p->chart.x_label = cli_value(p->c, "x");
    memcpy(p->y_name, y.value.name, sizeof p->y_name);
    p->chart.y_label = p->y_name;
    return asprintf(&p->title, "%s over %s", y.value.name, x.name) >= 0 || no_memory(p);
}

static bool fill(struct plot *p) {
    static const enum chart_kind as[] = {CHART_BARS, CHART_LINES, CHART_POINTS, CHART_STACK};
    bool (*const how[])(struct plot *) = {bars, lines, scatter, stack};
    if (!choose(p) || !how[p->kind](p))
        return false;
    p->chart.kind = as[p->kind];
    p->chart.title = cli_has(p->c, "title") ? cli_value(p->c, "title") : p->title;
    p->chart.places = p->values.rows;
    p->chart.n = p->values.n_rows;
    p->chart.series = p->values.columns;
    p->chart.n_series = p->values.n_columns;
    p->chart.x = p->x;
    p->chart.y = p->values.v;
    if (p->chart.kind == CHART_BARS && p->chart.n * p->chart.n_series > MOST_BARS)
        p->chart.kind = CHART_HEAT;
    if (p->chart.kind == CHART_STACK && p->chart.n > MOST_BARS)
        snprintf(p->err, sizeof p->err,
                 "%d stacks are too many to be seen: --where chooses runs, and 'heddle report' draws all of them",
                 p->chart.n);
    else if (p->chart.n_series > MAX_SERIES || p->chart.n > MAX_PLACES)
        snprintf(p->err, sizeof p->err, "%d colours and %d places are too many to be seen; --where chooses runs",
                 p->chart.n_series, p->chart.n);
    else if (!chart_any(&p->chart))
        snprintf(p->err, sizeof p->err, "nothing to draw: none of the %d runs has these values (%s)", p->n,
                 p->chart.title);
    else
        return true;
    return false;
}

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n > m + 1 && path[n - m - 1] == '.' && strcmp(path + n - m, ending) == 0;
}

/* Returns the file name's ending if it names a format that plots do not have; else NULL. */
static const char *foreign_ending(const char *path) {
    static const char *const foreign[] = {"pdf", "eps", "ps", "jpg", "jpeg", "gif", "bmp", "tex", "html", "db"};
    for (size_t i = 0; path && i < sizeof foreign / sizeof foreign[0]; i++)
        if (ends_in(path, foreign[i]))
            return foreign[i];
    return NULL;
}

/* Makes the names of the SVG file and the PNG file from --output. A name is NULL if this file is not wanted. */
static bool name_files(const struct cli *c, char *files[2]) {
    static const char *const endings[] = {"svg", "png"};
    const char *given = cli_value(c, "output") ? cli_value(c, "output") : "plot";
    bool fine = true, both = !ends_in(given, "svg") && !ends_in(given, "png");
    for (int i = 0; i < 2 && fine; i++) {
        if (both)
            fine = asprintf(&files[i], "%s.%s", given, endings[i]) >= 0;
        else if (ends_in(given, endings[i]))
            fine = (files[i] = strdup(given)) != NULL;
    }
    return fine;
}

/* Checks that the files do not overwrite the database and that their folder exists. */
static bool files_possible(struct plot *p, char *const files[2]) {
    struct file_uses uses = {0};
    bool fine = file_uses_read(&uses, p->c->words[0], "the database") &&
                (!files[0] || file_uses_write(&uses, files[0], "--output", NULL)) &&
                (!files[1] || file_uses_write(&uses, files[1], "--output", NULL));
    fine = fine ? file_uses_check(&uses, p->err, sizeof p->err) : no_memory(p);
    file_uses_free(&uses);
    return fine;
}

/* Draws the files. If both an SVG and a PNG are wanted, a missing gnuplot only loses the PNG. */
static enum heddle_status draw(struct plot *p, char *const files[2]) {
    static const char *const endings[] = {"svg", "png"};
    bool drawn[2] = {false, false};
    for (int i = 0; i < 2; i++) {
        int done = files[i] ? chart_file(&p->chart, endings[i], files[i], p->err, sizeof p->err) : 0;
        if (done < 0)
            return cli_fail(p->c, "%s", p->err);
        drawn[i] = done > 0;
    }
    if (files[1] && !drawn[1] && !files[0])
        return cli_fail(p->c, "gnuplot is not installed, and draws PNG files: " GNUPLOT_INSTALL "; or write X.svg");
    printf("Written:%s%s%s%s\n", drawn[0] ? " " : "", drawn[0] ? files[0] : "", drawn[1] ? " " : "",
           drawn[1] ? files[1] : "");
    if (files[1] && !drawn[1])
        fprintf(stderr, "heddle plot: note: no PNG, since gnuplot is not installed: " GNUPLOT_INSTALL "\n");
    if (p->older)
        fprintf(stderr, "heddle plot: note: %d older run%s of the same by other builds left out\n", p->older,
                p->older == 1 ? "" : "s");
    return HEDDLE_OK;
}

static enum heddle_status with_database(struct plot *p) {
    char *files[2] = {NULL, NULL};
    enum heddle_status status = HEDDLE_USAGE;
    if (!name_files(p->c, files))
        cli_fail(p->c, "the host is out of memory");
    else if (!cli_load(p->c, p->db, false, &p->set, p->err, sizeof p->err) || !files_possible(p, files))
        cli_fail(p->c, "%s", p->err);
    else if (!fill(p))
        cli_error(p->c, "%s", p->err);
    else
        status = draw(p, files);
    free(files[0]);
    free(files[1]);
    free(p->rows);
    free(p->x);
    free(p->title);
    free(p->note);
    pivot_values_free(&p->values);
    result_set_free(&p->set);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct plot p = {.c = c};
    const char *kind = cli_value(c, "kind");
    if (c->n_words != 1)
        return cli_error(c, "which file? For example 'heddle plot results.db'");
    while (kind && p.kind < N_KINDS && strcmp(kinds[p.kind], kind) != 0)
        p.kind++;
    if (p.kind == N_KINDS) {
        const char *near = diag_suggest(kind, kinds, N_KINDS);
        return cli_error(c, "--kind is bars, lines, scatter or stack, not '%s'%s%s%s", kind,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (cli_has(c, "x") && p.kind != LINES && p.kind != SCATTER)
        return cli_error(c, "--x does nothing with --kind %s: it is for lines and scatter", kinds[p.kind]);
    const char *ending = foreign_ending(cli_value(c, "output"));
    if (ending)
        return cli_error(c, "-o %s: a plot is X.svg or X.png, not X.%s", cli_value(c, "output"), ending);
    if (!(p.db = results_open(c->words[0], false, p.err, sizeof p.err)))
        return cli_fail(c, "%s", p.err);
    enum heddle_status status = with_database(&p);
    results_close(p.db);
    return status;
}

const struct command cmd_plot = {
    "plot", "FILE [OPTION...]", "draw a database of runs: bars, lines, scatter, stacks", help_plot, options, run, false,
};
