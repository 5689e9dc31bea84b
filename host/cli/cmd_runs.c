#include "cmd_runs.h"
#include "host/models.h"
#include "outfile.h"
#include "ptx/diag.h"
#include "request.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool unknown_bench(const struct cli *c, const char *name) {
    const char **names = calloc((size_t)(n_benches + n_bench_sets), sizeof *names);
    const char *near = NULL;
    for (int i = 0; names && i < n_benches + n_bench_sets; i++)
        names[i] = i < n_benches ? benches[i]->name : bench_sets[i - n_benches].name;
    if (names)
        near = diag_suggest(name, names, n_benches + n_bench_sets);
    if (near)
        cli_error(c, "there is no benchmark or set '%s'; did you mean '%s'?", name, near);
    else
        cli_error(c, "there is no benchmark or set '%s'; 'heddle list benchmarks' and 'heddle list sets' show them",
                  name);
    free(names);
    return false;
}

/* Appends what `word` names to the n benchmarks in `out`: a benchmark (again, when it is named twice), or those of a
 * set that are not there yet. Returns their number, 0 when it names nothing. */
static int select_word(const struct bench **out, int n, const char *word) {
    const struct bench *one = bench_find(word);
    int before = n;
    if (one)
        out[n++] = one;
    for (int b = 0; !one && b < n_benches; b++) {
        bool there = !bench_in(benches[b], word);
        for (int i = 0; !there && i < before; i++)
            there = out[i] == benches[b];
        if (!there)
            out[n++] = benches[b];
    }
    bool set = false;
    for (int i = 0; i < n_bench_sets; i++)
        set = set || strcmp(bench_sets[i].name, word) == 0;
    return one || set ? n : 0;
}

/* One program in the place of a benchmark: a .heddle file, or a .ptx with the launch that the options of `c` describe
 * (LAUNCH_OPTIONS). NULL after a message. `word` and `c` must outlive it. */
static const struct bench *runs_own(const struct cli *c, const char *word) {
    char err[2048];
    struct own *o;
    size_t len = strlen(word);
    if (own_is_program(word)) {
        if (!(o = own_script(word, err, sizeof err)))
            fputs(err, stderr);
    } else if (len > 4 && strcmp(word + len - 4, ".ptx") == 0) {
        o = request_own(c, word);
    } else {
        cli_error(c, "%s: a file is a program (X.heddle) or a kernel's (X.ptx, with -g and -b)", word);
        return NULL;
    }
    return o ? &o->bench : NULL;
}

void runs_free(const struct bench **list, int n) {
    for (int i = 0; list && i < n; i++)
        if (bench_own(list[i]))
            own_free((struct own *)bench_own(list[i]));
    free(list);
}

/* -k, -g and the others need a .ptx. */
static bool options_fit(const struct cli *c) {
    const char *option = request_option(c);
    for (int i = 0; option && i < c->n_words; i++) {
        size_t len = strlen(c->words[i]);
        if (len > 4 && strcmp(c->words[i] + len - 4, ".ptx") == 0)
            option = NULL;
    }
    if (option)
        cli_error(c, "--%s is for a kernel of a PTX file, and none is among the names", option);
    return !option;
}

/* Appends what the words name; false after a message. */
static bool select_words(const struct cli *c, const struct bench **out, int *n) {
    for (int i = 0; i < c->n_words; i++) {
        const char *word = c->words[i];
        int before = *n;
        if (own_is_file(word)) {
            if (!(out[*n] = runs_own(c, word)))
                return false;
            ++*n;
        } else if ((*n = select_word(out, *n, word)) == 0) {
            *n = before;
            return unknown_bench(c, word);
        }
    }
    return true;
}

int runs_select(const struct cli *c, const struct bench ***out) {
    int n = 0;
    *out = calloc((size_t)(c->n_words + n_benches), sizeof **out); /* names may come again, sets bring each one once */
    if (!*out) {
        cli_fail(c, "the host is out of memory");
        return 0;
    }
    if (!options_fit(c) || !select_words(c, *out, &n)) {
        runs_free(*out, n);
        *out = NULL;
        return 0;
    }
    for (int i = 0; !c->n_words && i < n_benches; i++)
        (*out)[n++] = benches[i];
    return n;
}

bool runs_files_possible(const struct cli *c) {
    char err[1024] = "the host is out of memory";
    const char *json = cli_value(c, "json"), *csv = cli_value(c, "csv"), *config = cli_value(c, "config");
    struct file_uses uses = {0};
    bool fine = (!config || file_uses_read(&uses, config, "--config")) &&
                (!json || file_uses_write(&uses, json, "--json", NULL)) &&
                (!csv || file_uses_write(&uses, csv, "--csv", NULL)) && file_uses_check(&uses, err, sizeof err);
    file_uses_free(&uses);
    if (!fine)
        cli_error(c, "%s", err);
    return fine;
}

bool runs_to_stdout(const struct cli *c) {
    return !outfile_is_stdout(cli_value(c, "json")) && !outfile_is_stdout(cli_value(c, "csv"));
}

/* One run that did not end: what it was, and why it has no figures. */
static cJSON *json_failure(const struct job *j) {
    cJSON *o = cJSON_CreateObject();
    bool ok = o && cJSON_AddStringToObject(o, "benchmark", j->bench->name) &&
              cJSON_AddStringToObject(o, "model", model_meant(j->options.model, false)) &&
              cJSON_AddNullToObject(o, "check") && cJSON_AddNumberToObject(o, "status", j->status) &&
              cJSON_AddStringToObject(o, "error", j->message ? j->message : "");
    if (!ok) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

/* One run: its own result. Several: {"heddle", "command", "check", "runs": [...]}. */
static cJSON *json_of(const struct cli *c, const struct job *jobs, int n) {
    if (n == 1)
        return cJSON_Duplicate(jobs[0].result, true);
    cJSON *o = cJSON_CreateObject(), *runs, *command;
    bool pass = true;
    bool ok =
        o && cJSON_AddStringToObject(o, "heddle", HEDDLE_VERSION) && (command = cJSON_AddArrayToObject(o, "command"));
    for (int i = 0; ok && i < c->argc; i++)
        ok = cJSON_AddItemToArray(command, cJSON_CreateString(c->argv[i]));
    for (int i = 0; i < n; i++)
        pass = pass && jobs[i].status == HEDDLE_OK;
    ok =
        ok && cJSON_AddStringToObject(o, "check", pass ? "pass" : "fail") && (runs = cJSON_AddArrayToObject(o, "runs"));
    for (int i = 0; ok && i < n; i++)
        ok =
            cJSON_AddItemToArray(runs, jobs[i].result ? cJSON_Duplicate(jobs[i].result, true) : json_failure(&jobs[i]));
    if (!ok) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

static bool write_json(const struct cli *c, const struct job *jobs, int n, FILE *out) {
    cJSON *o = json_of(c, jobs, n);
    char *text = o ? cJSON_Print(o) : NULL;
    cJSON_Delete(o);
    if (!text)
        return false;
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    return true;
}

enum heddle_status runs_write(const struct cli *c, const struct job *jobs, int n, const struct table *t) {
    char err[512] = "the host is out of memory";
    const char *json = cli_value(c, "json"), *csv = cli_value(c, "csv");
    struct outfile files[2] = {{0}};
    bool any = false, fine = true;
    for (int i = 0; i < n; i++)
        any = any || jobs[i].result;
    fine = table_whole(t);
    if (any && json && fine)
        fine = outfile_open(&files[0], json, err, sizeof err) && write_json(c, jobs, n, files[0].stream) &&
               outfile_flush(&files[0], err, sizeof err);
    if (any && csv && fine) {
        fine = outfile_open(&files[1], csv, err, sizeof err);
        if (fine)
            table_csv(t, files[1].stream);
        fine = fine && outfile_flush(&files[1], err, sizeof err);
    }
    for (int i = 0; fine && i < 2; i++)
        fine = outfile_commit(&files[i], err, sizeof err);
    for (int i = 0; i < 2; i++)
        outfile_discard(&files[i]);
    if (runs_to_stdout(c))
        table_print(t, stdout);
    return fine ? HEDDLE_OK : cli_fail(c, "%s", err);
}

/* A message of many lines (a deadlock report) is cut short where several runs have one. */
static void print_message(const char *text, int max_lines) {
    for (int i = 0; *text && i < max_lines; i++) {
        size_t len = strcspn(text, "\n");
        fprintf(stderr, "%.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
    if (*text)
        fputs("  ... the rest is shown when this run is the only one\n", stderr);
}

static void print_notes(const struct cli *c, const struct job *j) {
    for (const char *at = j->notes; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        fprintf(stderr, "heddle %s: note: %s in %s: %.*s\n", c->command->name, j->bench->name,
                model_meant(j->options.model, false), (int)strcspn(at, "\n"), at);
}

enum heddle_status runs_complain(const struct cli *c, const struct job *jobs, int n) {
    enum heddle_status first = HEDDLE_OK;
    int stopped = 0;
    fflush(stdout);
    for (int i = 0; i < n; i++) {
        const struct job *j = &jobs[i];
        stopped += j->status == HEDDLE_STOPPED;
        print_notes(c, j);
        if (j->status == HEDDLE_OK || j->status == HEDDLE_STOPPED)
            continue;
        fprintf(stderr, "heddle %s: %s in %s: ", c->command->name, j->bench->name,
                model_meant(j->options.model, false));
        print_message(j->message                  ? j->message
                      : j->status == HEDDLE_USAGE ? "the host is out of memory" /* for the message, too */
                                                  : job_verdict(j),
                      n > 1 ? 8 : INT_MAX);
        if (first == HEDDLE_OK)
            first = j->status;
    }
    if (!stopped)
        return first;
    fprintf(stderr, "heddle %s: stopped by a signal, with %d of %d runs done\n", c->command->name, n - stopped, n);
    return first == HEDDLE_OK ? HEDDLE_STOPPED : first;
}
