/* heddle results: lists, filters, pivots and merges databases of runs. */
#include "cmd.h"
#include "help.h"
#include "host/report/outfile.h"
#include "host/report/results_view.h"
#include "where.h"
#include "work.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    {0, "where", "CONDITION", "only matching runs: model=spe,dpe; 'l1.size>=16K and check=pass'; may be repeated"},
    {0, "value", "STAT,...", "the statistics (default gpu.cycles,gpu.ipc); of a pivot one, or speed-up"},
    {0, "rows", "FIELD,...", "a pivot with one row for each value of these fields"},
    {0, "columns", "FIELD,...", "and one column for each value of these (default model)"},
    {0, "relative-to", "COLUMN", "divide by this column of the row, and show geometric means"},
    {0, "launches", NULL, "one line for each launch of a kernel, not for each run"},
    {0, "csv", "FILE",
     "write CSV; - is stdout. One complete row for each run, with every statistic unless --value selects"},
    {0, "json", "FILE", "write the runs as JSON; - is stdout"},
    {0, "live", "WHERE", "with --progress: show it in a browser until no run is left (a PORT, or as for 'heddle run')"},
    {0, "progress", NULL, "how far a queue is: runs, an estimate of the time left, failures, processes"},
    {0, "merge", NULL, "merge the runs of all FILES into the database of -o, without duplicates"},
    {'o', "output", "FILE", "the database of --merge, created if missing"},
    {0, NULL, NULL, NULL},
};

/* a value for --value: it is computed, and no field of the runs has this name */
static const char speed_up[] = "speed-up";
enum { MAX_FIELDS = 16 };
struct view {
    const struct cli *c;
    struct results_db *db;
    struct result_set set;
    const struct result_row **rows;
    int n;
    struct field values[MAX_FIELDS];
    int n_values;
};

static bool choose(struct view *v) {
    char err[1024];
    if (!cli_rows(v->c, v->db, &v->set, &v->rows, &v->n, err, sizeof err)) {
        cli_error(v->c, "%s", err);
        return false;
    }
    const char *values = cli_value(v->c, "value");
    if (!values || strcmp(values, speed_up) == 0)
        return true;
    v->n_values = fields_find(v->db, &v->set, values, v->values, MAX_FIELDS, err, sizeof err);
    if (!v->n_values)
        cli_error(v->c, "--value: %s", err);
    return v->n_values > 0;
}

static struct table *pivot(struct view *v) {
    struct field rows[MAX_FIELDS], columns[MAX_FIELDS];
    const char *by = cli_value(v->c, "rows"), *across = cli_value(v->c, "columns"), *value = cli_value(v->c, "value");
    struct pivot p = {.rows = rows, .columns = columns, .relative_to = cli_value(v->c, "relative-to")};
    char err[1024];
    int older;
    struct table *t = NULL;
    if (v->n_values > 1) {
        cli_error(v->c, "a pivot shows one value, not %d", v->n_values);
        return NULL;
    }
    if ((p.n_rows = fields_find(v->db, &v->set, by ? by : "program", rows, MAX_FIELDS, err, sizeof err)) &&
        (p.n_columns = fields_find(v->db, &v->set, across ? across : "model", columns, MAX_FIELDS, err, sizeof err)) &&
        pivot_value(v->db, &v->set, value ? value : "gpu.cycles", &p, err, sizeof err)) {
        t = view_pivot(&v->set, v->rows, v->n, &p, &older, err, sizeof err);
        if (t && older)
            fprintf(stderr, "heddle results: note: %d older run%s of the same by other builds left out\n", older,
                    older == 1 ? "" : "s");
    }
    if (!t)
        cli_error(v->c, "%s", err);
    return t;
}

/* Writes CSV with one line for each run (with --launches, for each launch): what ran, the machine options that differ
 * between runs, and the chosen statistics, or all if none are chosen. */
static void tidy(const struct view *v, FILE *out) {
    static const char *const head[] = {"program", "size", "model", "preset", "check", "version", "binary", "ended"};
    enum { HEAD = sizeof head / sizeof head[0] };
    bool launches = cli_has(v->c, "launches");
    int n_stats = v->n_values ? v->n_values : v->set.n_names;
    for (int i = 0; i < HEAD; i++)
        fprintf(out, "%s%s", i ? "," : "", head[i]);
    fputs(launches ? ",launch,kernel" : "", out);
    for (int i = 0; i < v->set.n_options; i++)
        fprintf(out, ",%s", v->set.options[i]);
    for (int i = 0; i < n_stats; i++)
        fprintf(out, ",%s", v->n_values ? v->values[i].name : v->set.names[i]);
    fputc('\n', out);
    for (int r = 0; r < v->n; r++) {
        const struct result_row *row = v->rows[r];
        const char *const texts[HEAD] = {row->program, row->size,    row->model,  row->preset,
                                         row->verdict, row->version, row->binary, row->ended};
        for (int i = 0; i < HEAD; i++) {
            fputs(i ? "," : "", out);
            csv_cell(out, texts[i]);
        }
        if (launches) {
            fprintf(out, ",%d,", row->launch);
            csv_cell(out, row->kernel);
        }
        for (int i = 0; i < v->set.n_options; i++) {
            fputc(',', out);
            csv_cell(out, row->options[i]);
        }
        for (int i = 0; i < n_stats; i++) {
            char number[48];
            const struct field stat = {FIELD_STATISTIC, i, ""};
            fputc(',', out);
            csv_cell(out, field_text(&v->set, row, v->n_values ? &v->values[i] : &stat, number));
        }
        fputc('\n', out);
    }
}

static cJSON *json_row(const struct view *v, const struct result_row *r) {
    cJSON *o = cJSON_CreateObject(), *machine, *stats;
    bool ok = o && cJSON_AddStringToObject(o, "program", r->program) && cJSON_AddStringToObject(o, "size", r->size) &&
              cJSON_AddStringToObject(o, "model", r->model) && cJSON_AddStringToObject(o, "preset", r->preset) &&
              cJSON_AddStringToObject(o, "check", r->verdict) && cJSON_AddStringToObject(o, "heddle", r->version) &&
              cJSON_AddStringToObject(o, "binary", r->binary) && cJSON_AddStringToObject(o, "ended", r->ended);
    if (ok && r->kernel)
        ok = cJSON_AddNumberToObject(o, "launch", r->launch) && cJSON_AddStringToObject(o, "kernel", r->kernel);
    ok = ok && (machine = cJSON_AddObjectToObject(o, "options")) && (stats = cJSON_AddObjectToObject(o, "stats"));
    for (int i = 0; ok && i < v->set.n_options; i++)
        ok = cJSON_AddStringToObject(machine, v->set.options[i], r->options[i]);
    for (int i = 0; ok && i < v->set.n_names; i++)
        ok = isnan(r->values[i]) || cJSON_AddNumberToObject(stats, v->set.names[i], r->values[i]);
    if (!ok) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

static bool write_json(const struct view *v, FILE *out) {
    fputc('[', out);
    for (int i = 0; i < v->n; i++) {
        cJSON *o = json_row(v, v->rows[i]);
        char *text_of = o ? cJSON_PrintUnformatted(o) : NULL;
        cJSON_Delete(o);
        if (!text_of)
            return false;
        fprintf(out, "%s\n%s", i ? "," : "", text_of);
        cJSON_free(text_of);
    }
    fputs("\n]\n", out);
    return true;
}

static bool write_file(const struct view *v, const char *path, bool json, const struct table *t, char *err,
                       size_t err_size) {
    struct outfile f = {0};
    snprintf(err, err_size, "the host is out of memory");
    bool fine = outfile_open(&f, path, err, err_size);
    if (fine && json)
        fine = write_json(v, f.stream);
    else if (fine && t)
        table_csv(t, f.stream);
    else if (fine)
        tidy(v, f.stream);
    fine = fine && outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size);
    outfile_discard(&f);
    return fine;
}

static enum heddle_status show(struct view *v) {
    const char *csv = cli_value(v->c, "csv"), *json = cli_value(v->c, "json");
    bool pivots = cli_has(v->c, "rows") || cli_has(v->c, "columns") || cli_has(v->c, "relative-to") ||
                  (cli_value(v->c, "value") && strcmp(cli_value(v->c, "value"), speed_up) == 0);
    struct table *t = pivots ? pivot(v) : NULL;
    char err[1024];
    if (pivots && !t)
        return HEDDLE_USAGE;
    bool fine = (!csv || write_file(v, csv, false, t, err, sizeof err)) &&
                (!json || write_file(v, json, true, NULL, err, sizeof err));
    if (fine && !outfile_is_stdout(csv) && !outfile_is_stdout(json)) {
        if (!t)
            t = view_list(&v->set, v->rows, v->n, v->n_values ? v->values : NULL, v->n_values);
        if (v->n)
            table_print(t, stdout);
        else
            puts(v->set.n ? "no run fits" : "no runs yet");
    }
    table_free(t);
    return fine ? HEDDLE_OK : cli_fail(v->c, "%s", err);
}

/* Merges databases. Stops at a file that cannot be merged; the files before it stay merged. Running the command again
 * continues the merge. */
static enum heddle_status merge(const struct cli *c) {
    const char *to = cli_value(c, "output");
    char err[1024];
    if (!c->n_words || !to)
        return cli_error(c, "which files, and into which? For example 'heddle results --merge a.db b.db -o all.db'");
    for (int i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].def->name, "merge") != 0 && strcmp(c->options[i].def->name, "output") != 0)
            return cli_error(c, "--%s does nothing with --merge", c->options[i].def->name);
    for (int i = 0; i < c->n_words; i++) { /* checks all inputs before the output file is made */
        struct results_db *from = results_open(c->words[i], false, err, sizeof err);
        if (!from)
            return cli_fail(c, "%s", err);
        results_close(from);
    }
    struct results_db *db = results_open(to, true, err, sizeof err);
    struct results_merge all = {0};
    bool fine = db && results_merge(db, c->words, c->n_words, &all, err, sizeof err);
    results_close(db);
    if (!fine)
        return cli_fail(c, "%s", err);
    printf("%d run%s added to %s, %d already there\n", all.added, all.added == 1 ? "" : "s", to, all.there);
    return HEDDLE_OK;
}

/* Checks that the output files differ from the database and from each other. */
static bool files_fine(const struct cli *c) {
    const char *csv = cli_value(c, "csv"), *json = cli_value(c, "json");
    char err[1024] = "the host is out of memory";
    struct file_uses uses = {0};
    bool fine = file_uses_read(&uses, c->words[0], "the database") &&
                (!csv || file_uses_write(&uses, csv, "--csv", NULL)) &&
                (!json || file_uses_write(&uses, json, "--json", NULL)) && file_uses_check(&uses, err, sizeof err);
    file_uses_free(&uses);
    if (!fine)
        cli_error(c, "%s", err);
    return fine;
}

static void print_lost(void *ctx, long long number, const char *key, const char *message) {
    (void)ctx;
    printf("  given up: run %lld, %s: %.*s\n", number, key, (int)strcspn(message, "\n"), message);
}

static void print_owner(void *ctx, const char *place, long long pid, long long claims, long long age) {
    (void)ctx;
    printf("  %.*s, process %lld: %lld run%s, renewed %lld s ago\n",
           pid ? (int)strcspn(place, " ") : (int)strlen(place), place, pid, claims, claims == 1 ? "" : "s", age);
}

/* Prints the progress of a queue: the number of runs, the estimated remaining time, failures and processes. */
static enum heddle_status progress(const struct cli *c) {
    char err[1024], line[PROGRESS_LINE];
    struct queue_state q;
    struct results_db *db = results_open(c->words[0], false, err, sizeof err);
    bool fine = db && queue_count(db, &q, err, sizeof err);
    if (fine) {
        results_progress(&q, NULL, line);
        puts(line);
        fine = !queue_is(db) || queue_list(db, print_lost, print_owner, NULL, err, sizeof err);
    }
    const bool live = fine && cli_has(c, "live");
    if (live && !queue_is(db)) {
        results_close(db);
        return cli_error(c, "--live is for queues: 'heddle sweep ... --queue %s' makes one", c->words[0]);
    }
    results_close(db);
    if (live)
        return fleet_live(c, c->words[0], cli_value(c, "live"));
    return fine ? HEDDLE_OK : cli_fail(c, "%s", err);
}

static enum heddle_status run(const struct cli *c) {
    char err[1024];
    struct view v = {.c = c};
    if (cli_has(c, "merge"))
        return merge(c);
    if (cli_has(c, "output"))
        return cli_error(c, "--output does nothing without --merge");
    if (c->n_words > 1)
        return cli_error(c, "one file at a time; 'heddle results --merge %s %s -o all.db' makes one of several",
                         c->words[0], c->words[1]);
    if (!c->n_words)
        return cli_error(c, "which file? For example 'heddle results results.db'");
    if (cli_has(c, "live") && !cli_has(c, "progress"))
        return cli_error(c, "--live does nothing without --progress");
    if (cli_has(c, "progress"))
        return progress(c);
    if (!files_fine(c))
        return HEDDLE_USAGE;
    v.db = results_open(c->words[0], false, err, sizeof err);
    if (!v.db)
        return cli_fail(c, "%s", err);
    enum heddle_status status = HEDDLE_USAGE;
    if (!cli_load(c, v.db, cli_has(c, "launches"), &v.set, err, sizeof err))
        cli_fail(c, "%s", err);
    else if (choose(&v))
        status = show(&v);
    free(v.rows);
    result_set_free(&v.set);
    results_close(v.db);
    return status;
}

const struct command cmd_results = {
    "results",
    "FILE [OPTION...] | --merge FILE... -o FILE",
    "list and pivot a database of runs; CSV, JSON",
    help_results,
    options,
    run,
    false,
};
