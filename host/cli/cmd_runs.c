#include "cmd_runs.h"
#include "axes.h"
#include "host/models.h"
#include "host/report/outfile.h"
#include "input.h"
#include "ptx/diag.h"
#include "request.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool unknown_bench(const struct cli *c, const char *name) {
    const char **names = calloc((size_t)n_all_benches + (size_t)n_bench_sets, sizeof *names);
    const char *near = NULL;
    for (int i = 0; names && i < n_all_benches + n_bench_sets; i++)
        names[i] = i < n_all_benches ? benches[i]->name : bench_sets[i - n_all_benches].name;
    if (names)
        near = diag_suggest(name, names, n_all_benches + n_bench_sets);
    if (near)
        cli_error(c, "there is no benchmark or set '%s'; did you mean '%s'?", name, near);
    else
        cli_error(c, "there is no benchmark or set '%s'; 'heddle list benchmarks' and 'heddle list sets' show them",
                  name);
    free(names);
    return false;
}

/* The state of the selection of benchmarks. */
struct choice {
    const struct cli *c;
    struct axes values; /* -v */
    bool *used;         /* axis -> true if at least one program declares this value */
    const struct bench **list;
    int n, cap;
};

static bool add_bench(struct choice *s, const struct bench *b) {
    if (s->n == s->cap) {
        int cap = s->cap ? 2 * s->cap : 64;
        const struct bench **more = realloc(s->list, (size_t)cap * sizeof *more);
        if (!more) {
            cli_fail(s->c, "the host is out of memory");
            return false;
        }
        s->list = more;
        s->cap = cap;
    }
    s->list[s->n++] = b;
    return true;
}

static bool add_own(struct choice *s, struct own *o) {
    if (o && add_bench(s, &o->bench))
        return true;
    own_free(o);
    return false;
}

static struct own *open_program(const char *word, const char *const *given) {
    char err[2048];
    struct own *o = own_script(word, given, err, sizeof err);
    if (!o)
        fputs(err, stderr);
    return o;
}

/* Selects the axes of -v whose values the program declares. `out` refers to the axes in `s`, which owns them. */
static bool axes_of(struct choice *s, const struct own *o, struct axes *out) {
    *out = (struct axes){.axis = calloc((size_t)s->values.n + 1, sizeof *out->axis)};
    for (int i = 0; out->axis && i < s->values.n; i++) {
        const char *name;
        bool has = false;
        for (int k = 0; !has && (name = o->value(o, k)); k++)
            has = axis_is(&s->values.axis[i], name);
        s->used[i] |= has;
        if (has)
            out->axis[out->n++] = s->values.axis[i];
    }
    return out->axis != NULL;
}

/* Adds a .heddle file to the selection, once for every combination of the values that -v gives. `word` must outlive the
 * selection. */
static bool add_program(struct choice *s, const char *word) {
    enum { MOST = 1000000 };
    struct own *o = open_program(word, NULL);
    struct axes own;
    if (!o)
        return false;
    if (!s->values.n)
        return add_own(s, o);
    bool fine = axes_of(s, o, &own);
    own_free(o);
    const char **given = fine ? calloc((size_t)own.n + 1, sizeof *given) : NULL;
    uint64_t n = fine ? axes_product(&own, MOST) : 0;
    if (!given)
        cli_fail(s->c, "the host is out of memory");
    else if (n > MOST)
        cli_error(s->c, "%s: more than %d combinations of values", word, MOST);
    fine = given && n <= MOST;
    for (uint64_t at = 0; fine && at < n; at++) {
        axes_combination(&own, at, given);
        fine = add_own(s, open_program(word, given));
    }
    free(given);
    free(own.axis);
    return fine;
}

/* Returns true if `word` names PTX: a .ptx file, or a pipe that is no .heddle program. */
static bool is_ptx(const char *word) {
    size_t len = strlen(word);
    return (len > 4 && strcmp(word + len - 4, ".ptx") == 0) || (!own_is_program(word) && cli_input_is_pipe(word));
}

/* Adds a file that serves as a benchmark: a .heddle program, or PTX with the launch that LAUNCH_OPTIONS describe. */
static bool add_file(struct choice *s, const char *word) {
    if (own_is_program(word))
        return add_program(s, word);
    if (is_ptx(word))
        return add_own(s, request_own(s->c, word));
    cli_error(s->c, "%s: a file is a program (X.heddle) or a kernel's (X.ptx, with -g and -b)", word);
    return false;
}

void runs_free(const struct bench **list, int n) {
    for (int i = 0; list && i < n; i++)
        if (bench_own(list[i]))
            own_free((struct own *)bench_own(list[i]));
    free(list);
}

/* Checks that launch options (-k, -g ...) come with a PTX file. */
static bool options_fit(const struct cli *c) {
    const char *option = request_option(c);
    for (int i = 0; option && i < c->n_words; i++)
        if (is_ptx(c->words[i]))
            option = NULL;
    if (option)
        cli_error(c, "--%s is for a kernel of a PTX file, and none is among the names", option);
    return !option;
}

/* Finds the benchmarks that `word` names: one benchmark, or the members of a set that are not selected yet.
 * Returns their number; 0: the name is unknown. For a set whose members are all selected already, the result is a
 * single NULL. */
static int select_word(const struct choice *s, const struct bench **out, const char *word) {
    int n = 0;
    bool set = false;
    if ((out[0] = bench_find(word)))
        return 1;
    for (int b = 0; b < n_all_benches; b++) {
        bool there = !bench_in(benches[b], word);
        for (int i = 0; !there && i < s->n; i++)
            there = s->list[i] == benches[b];
        if (!there)
            out[n++] = benches[b];
    }
    for (int i = 0; i < n_bench_sets; i++)
        set = set || strcmp(bench_sets[i].name, word) == 0;
    return !set ? 0 : n ? n : 1;
}

/* Appends the benchmarks that the words of the command line name. Prints a message and returns false on an error. */
static bool select_words(struct choice *s) {
    const struct bench **found = calloc((size_t)n_all_benches + 1, sizeof *found);
    bool fine = found != NULL;
    if (!fine)
        cli_fail(s->c, "the host is out of memory");
    for (int i = 0; fine && i < s->c->n_words; i++) {
        const char *word = s->c->words[i];
        if (own_is_file(word) || strcmp(word, "-") == 0) {
            fine = add_file(s, word);
            continue;
        }
        int n = select_word(s, found, word);
        fine = n > 0 || unknown_bench(s->c, word);
        for (int k = 0; fine && k < n; k++)
            fine = found[k] == NULL || add_bench(s, found[k]);
    }
    free(found);
    return fine;
}

/* Reports a value of -v that no program declares. Returns false if there is one. */
static bool values_known(const struct choice *s) {
    enum { MAX = 64 };
    const char *names[MAX], *name;
    int n = 0;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; bench_own(s->list[i]) && bench_own(s->list[i])->value && n < MAX &&
                        (name = bench_own(s->list[i])->value(bench_own(s->list[i]), k));
             k++)
            names[n++] = name;
    for (int i = 0; i < s->values.n; i++)
        if (!s->used[i])
            return cli_unknown_value(s->c, s->values.axis[i].values[0], names, n);
    return true;
}

int runs_select(const struct cli *c, bool several, const struct bench ***out) {
    struct choice s = {.c = c};
    bool fine = axes_read(&s.values, c, "set-value") && (several || axes_single(&s.values, c, "set-value"));
    s.used = calloc((size_t)s.values.n + 1, sizeof *s.used);
    if (fine && !s.used)
        cli_fail(c, "the host is out of memory");
    fine = fine && s.used && options_fit(c) && select_words(&s) && values_known(&s);
    for (int i = 0; fine && !c->n_words && i < n_benches; i++)
        fine = add_bench(&s, benches[i]);
    axes_free(&s.values);
    free(s.used);
    if (!fine) {
        runs_free(s.list, s.n);
        s.list = NULL;
    }
    *out = s.list;
    return fine ? s.n : 0;
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

enum job_needs runs_need(const struct cli *c) { return cli_value(c, "json") ? JOB_ALL : JOB_TOTALS; }

bool runs_to_stdout(const struct cli *c) {
    return !outfile_is_stdout(cli_value(c, "json")) && !outfile_is_stdout(cli_value(c, "csv"));
}

/* Makes the JSON of a run without a result: what ran, and why there is no result. */
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

/* Makes the JSON: for one run, its result; for several runs, {"heddle", "command", "check", "runs": [...]}. */
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

/* Prints at most `max_lines` lines of a message, since several runs may each have a long one (a deadlock report). */
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
                      : j->status == HEDDLE_USAGE ? "the host is out of memory" /* there was no memory for a message */
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
