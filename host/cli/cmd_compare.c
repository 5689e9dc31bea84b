/* heddle compare: benchmarks in several models, side by side. */
#include "cmd_runs.h"
#include "help.h"
#include "host/progress.h"
#include "host/report/geomean.h"
#include "ptx/diag.h"
#include "sampled_pairs.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_def options[] = {
    {'m', "model", "MODEL,...", "the models, separated by commas; speed-ups are over the first"},
    {0, "size", "SIZE", "small (the default) or paper"},
    {'c', "config", "CONFIG", "the machine: a preset or a file (default fermi)"},
    {'s', "set", "KEY=VALUE", "one option of the machine; may be repeated"},
    {0, "cycle-limit", "N", "give up a launch after N cycles"},
    {0, "columns", "STAT,...", "columns: statistics ('heddle list statistics'), speed-up"},
    {'j', "jobs", "N", "runs at a time (default: the number of processors)"},
    {'v', "set-value", "NAME=VALUE", "sets a value of a program (X.heddle); may be repeated"},
    LAUNCH_OPTIONS,
    SAMPLED_OPTIONS,
    {0, "json", "FILE", "write all results as JSON; - is stdout"},
    {0, "csv", "FILE", "write the table as CSV; - is stdout"},
    {0, NULL, NULL, NULL},
};

/* A column: a statistic of each run. */
struct column {
    const char *title, *stat; /* stat: name of the statistic; NULL: the column shows the speed-up */
    enum number_format format;
    bool timed, mean; /* timed: the functional model has no value; mean: the table shows the geometric mean */
};
enum { MAX_COLUMNS = 64 };

static const struct column usual[] = {
    {">cycles", "gpu.cycles", NUM_COUNT, true, false},
    {">IPC", "gpu.ipc", NUM_FIXED2, true, true},
    {">speed-up", NULL, NUM_FIXED3, true, true},
    {">lanes used", "gpu.lane_utilization", NUM_PERCENT, false, true},
    {">AvgPath", "gpu.avg_paths", NUM_FIXED3, false, true},
    {">idle cycles", "gpu.idle_cycles", NUM_COUNT, true, false},
    {">L1 misses", "l1.misses", NUM_COUNT, true, false},
    {">L2 misses", "l2.misses", NUM_COUNT, true, false},
    {">stack", "gpu.max_stack_depth", NUM_COUNT, false, false},
};

/* The grid of runs: jobs[bench * n_models + model]. */
struct grid {
    const struct cli *c;
    struct job *jobs;
    const struct bench **benches;
    char **models;
    int n_benches, n_models;
    bool sampled;
    double error;
    struct column columns[MAX_COLUMNS];
    int n_columns;
    char *names; /* titles of user-chosen columns, each with a '>' for right alignment */
    struct progress progress;
};

static struct job *at(const struct grid *g, int bench, int model) { return &g->jobs[bench * g->n_models + model]; }

static double speedup(const struct grid *g, int bench, int model) {
    double base = job_stat(at(g, bench, 0), "gpu.cycles"), own = job_stat(at(g, bench, model), "gpu.cycles");
    return base > 0 && own > 0 ? base / own : NAN;
}

/* Splits a list such as "spe,dpe" in place, without empty names. Returns the number of names, at most `max`. */
static int split(char *list, char **out, int max) {
    int n = 0;
    for (char *word = strtok(list, ","); word && n < max; word = strtok(NULL, ","))
        out[n++] = word;
    return n;
}

static double figure(const struct grid *g, const struct column *c, int bench, int model) {
    const struct job *j = at(g, bench, model);
    if (!c->stat)
        return speedup(g, bench, model);
    return c->timed && !(job_stat(j, "gpu.cycles") > 0) ? NAN : job_stat(j, c->stat);
}

static void add_row(struct table *t, const struct grid *g, int bench, int model) {
    const struct job *j = at(g, bench, model);
    table_text(t, model ? "" : j->bench->name);
    table_text(t, g->models[model]);
    table_text(t, job_verdict(j));
    for (int i = 0; i < g->n_columns; i++)
        table_number(t, figure(g, &g->columns[i], bench, model), g->columns[i].format);
}

/* Adds geometric means over the benchmarks of `set`, or over all if it is NULL. */
static void add_means(struct table *t, const struct grid *g, const char *set) {
    char label[64];
    snprintf(label, sizeof label, "mean of %s", set ? set : "all");
    for (int m = 0; m < g->n_models; m++) {
        table_text(t, m ? "" : label);
        table_text(t, g->models[m]);
        table_text(t, "");
        for (int i = 0; i < g->n_columns; i++) {
            const struct column *c = &g->columns[i];
            struct geomean mean = {0};
            for (int b = 0; c->mean && b < g->n_benches; b++)
                if (!set || bench_in(g->benches[b], set))
                    geomean_add(&mean, figure(g, c, b, m));
            table_number(t, geomean_get(&mean), c->format);
        }
    }
}

/* Adds means for each set to which several, but not all, of the benchmarks belong. Then adds the means over all
 * benchmarks. */
static void add_set_means(struct table *t, const struct grid *g) {
    for (int i = 0; i < n_bench_sets; i++) {
        int members = 0;
        for (int b = 0; b < g->n_benches; b++)
            members += bench_in(g->benches[b], bench_sets[i].name);
        if (members < 2 || members == g->n_benches)
            continue;
        table_rule(t);
        add_means(t, g, bench_sets[i].name);
    }
    table_rule(t);
    add_means(t, g, NULL);
}

static void print_bars(const struct grid *g) {
    double max = 0;
    for (int b = 0; b < g->n_benches; b++)
        for (int m = 0; m < g->n_models; m++)
            max = fmax(max, speedup(g, b, m)); /* fmax ignores NAN */
    if (max == 0 || g->n_models < 2)
        return;
    printf("\nspeed-up over %s\n", g->models[0]);
    for (int b = 0; b < g->n_benches; b++)
        for (int m = 1; m < g->n_models; m++) {
            char label[96];
            snprintf(label, sizeof label, "%s %s", g->benches[b]->name, g->models[m]);
            if (!isnan(speedup(g, b, m)))
                bar_print(stdout, label, 24, speedup(g, b, m), 1, max);
        }
}

/* Prints the intervals of a sampled comparison: of each speed-up, and of the cycles of both runs. */
static void print_intervals(const struct grid *g) {
    static const char *const titles[] = {"95 % interval", "model", ">cycles", ">+-", ">speed-up", ">+-", NULL};
    struct table *t = table_new(titles);
    for (int b = 0; b < g->n_benches; b++)
        for (int m = 0; m < g->n_models; m++) {
            table_text(t, m ? "" : g->benches[b]->name);
            table_text(t, g->models[m]);
            table_number(t, job_stat(at(g, b, m), "gpu.cycles"), NUM_COUNT);
            table_number(t, cycles_half_width(at(g, b, m)), NUM_PERCENT);
            table_number(t, speedup(g, b, m), NUM_FIXED3);
            table_number(t, m ? speedup_half_width(at(g, b, 0), at(g, b, m)) : NAN, NUM_PERCENT);
        }
    putchar('\n');
    table_print(t, stdout);
    table_free(t);
}

static void on_done(void *ctx, int finished) {
    struct grid *g = ctx;
    char note[48];
    int all = g->n_benches * g->n_models;
    snprintf(note, sizeof note, "%d of %d runs", finished, all);
    progress_update(&g->progress, (uint64_t)finished, (uint64_t)all, note);
}

static enum heddle_status run_all(struct grid *g, int parallel) {
    int n = g->n_benches * g->n_models;
    progress_init(&g->progress, true);
    progress_start(&g->progress, "compare");
    jobs_run(g->jobs, n, parallel, g->c->argc, g->c->argv, &(struct jobs_watch){.ctx = g, .tick = on_done});
    progress_end(&g->progress);
    const char *titles[MAX_COLUMNS + 4] = {"benchmark", "model", "check"};
    for (int i = 0; i < g->n_columns; i++)
        titles[3 + i] = g->columns[i].title;
    struct table *t = table_new(titles);
    for (int b = 0; b < g->n_benches; b++) {
        if (b)
            table_rule(t);
        for (int m = 0; m < g->n_models; m++)
            add_row(t, g, b, m);
    }
    if (g->n_benches > 1)
        add_set_means(t, g);
    enum heddle_status written = runs_write(g->c, g->jobs, n, t);
    if (g->sampled && runs_to_stdout(g->c))
        print_intervals(g);
    if (color_wanted(stdout) && runs_to_stdout(g->c))
        print_bars(g);
    table_free(t);
    enum heddle_status ran = runs_complain(g->c, g->jobs, n);
    return ran != HEDDLE_OK ? ran : written;
}

/* Finds the statistic that a column name means. Prints a message and returns false on an error. */
static bool find_column(const struct cli *c, const char *name, struct column *out) {
    static const char faster[] = "speed-up";
    int n, i = stat_index(name);
    const struct stat_def *defs = stat_defs(&n);
    bool speed = strcmp(name, faster) == 0;
    if (speed || i >= 0) {
        bool ratio = speed || defs[i].kind == STAT_RATIO;
        bool fraction = !speed && (strcmp(defs[i].unit, "J") == 0 || strcmp(defs[i].unit, "s") == 0);
        *out = (struct column){.stat = speed ? NULL : name,
                               .format = ratio      ? NUM_FIXED3
                                         : fraction ? NUM_SHORT
                                                    : NUM_COUNT,
                               .timed = speed,
                               .mean = ratio};
        return true;
    }
    const char **names = calloc((size_t)n + 1, sizeof *names);
    for (int k = 0; names && k < n; k++)
        names[k] = defs[k].name;
    if (names)
        names[n] = faster;
    const char *near = names ? diag_suggest(name, names, n + 1) : NULL;
    free(names);
    if (near)
        cli_error(c, "--columns: there is no statistic '%s'; did you mean '%s'?", name, near);
    else
        cli_error(c, "--columns: there is no statistic '%s'; 'heddle list statistics' shows them", name);
    return false;
}

/* Chooses the columns: --columns, or the default ones. */
static bool choose_columns(struct grid *g) {
    const char *given = cli_value(g->c, "columns");
    if (!given) {
        memcpy(g->columns, usual, sizeof usual);
        g->n_columns = sizeof usual / sizeof *usual;
        return true;
    }
    if (!(g->names = calloc(2, strlen(given) + 2))) { /* room for a '>' before each name */
        cli_fail(g->c, "the host is out of memory");
        return false;
    }
    char *to = g->names;
    for (const char *from = given;; from++) {
        size_t len = strcspn(from, ",");
        if (g->n_columns == MAX_COLUMNS || !len) {
            cli_error(g->c, len ? "--columns: more than %d" : "--columns takes names separated by commas", MAX_COLUMNS);
            return false;
        }
        struct column *column = &g->columns[g->n_columns++];
        *to = '>';
        memcpy(to + 1, from, len);
        if (!find_column(g->c, to + 1, column))
            return false;
        column->title = to;
        to += len + 2;
        from += len;
        if (!*from)
            return true;
    }
}

/* Checks before any run that every model exists and accepts the options. */
static bool models_fine(const struct grid *g, const struct sim *sim) {
    for (int m = 0; m < g->n_models; m++) {
        char err[1024];
        struct heddle_options o = sim->o;
        o.model = g->models[m];
        struct heddle *h = heddle_open(&o, err, sizeof err);
        if (!h) {
            cli_fail(g->c, "%s", err);
            return false;
        }
        heddle_close(h);
    }
    return true;
}

static enum heddle_status run_grid(struct grid *g, const struct sim *sim) {
    uint64_t parallel = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    int size;
    for (int m = 0; m < g->n_models; m++)
        if (!cli_sampled(g->c, g->models[m], &g->sampled, &g->error))
            return HEDDLE_USAGE;
    if (!choose_columns(g) || !cli_number(g->c, "jobs", 1, 256, &parallel) || !cli_size(g->c, &size) ||
        !runs_files_possible(g->c) || !models_fine(g, sim))
        return HEDDLE_USAGE;
    int n = g->n_benches * g->n_models;
    g->jobs = calloc((size_t)n, sizeof *g->jobs);
    if (!g->jobs)
        return cli_fail(g->c, "the host is out of memory");
    for (int i = 0; i < n; i++) {
        g->jobs[i] =
            (struct job){.bench = g->benches[i / g->n_models], .size = (enum bench_size)size, .options = sim->o};
        g->jobs[i].options.model = g->models[i % g->n_models];
        g->jobs[i].needs = runs_need(g->c);
        g->jobs[i].sampled = g->sampled;
        g->jobs[i].error = g->error;
    }
    enum heddle_status status = run_all(g, (int)parallel);
    for (int i = 0; i < n; i++)
        job_free(&g->jobs[i]);
    free(g->jobs);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    enum { MAX_MODELS = 32 };
    char *models[MAX_MODELS];
    struct grid g = {.c = c, .models = models};
    const char *given = cli_value(c, "model");
    if (!given)
        return cli_error(c, "which models? For example -m spe,dpe,dws");
    char *list = strdup(given);
    if (!list)
        return cli_fail(c, "the host is out of memory");
    struct sim sim = {0};
    enum heddle_status status = HEDDLE_USAGE;
    g.n_models = split(list, models, MAX_MODELS);
    if (!g.n_models)
        cli_error(c, "--model takes names separated by commas, for example spe,dpe,dws");
    else if ((g.n_benches = runs_select(c, false, &g.benches)) > 0 && sim_options(c, &sim) &&
             sim_effective(c, given, &sim))
        status = run_grid(&g, &sim);
    sim_free(&sim);
    runs_free(g.benches, g.n_benches);
    free(g.names);
    free(list);
    return status;
}

const struct command cmd_compare = {
    "compare",
    "[NAME...] -m MODEL,MODEL,... [OPTION...]",
    "compare benchmarks in several models, side by side",
    help_compare,
    options,
    run,
    false,
};
