/* heddle compare: benchmarks in several models, side by side. */
#include "cmd_runs.h"
#include "host/progress.h"
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
    {'j', "jobs", "N", "runs at a time (default: the processors there are)"},
    LAUNCH_OPTIONS,
    {0, "json", "FILE", "write all results as JSON; - is stdout"},
    {0, "csv", "FILE", "write the table as CSV; - is stdout"},
    {0, NULL, NULL, NULL},
};

static const char text[] = "A speed-up is the ratio of cycles. Means are geometric, one a set and one of all.\n"
                           "After SIGINT, SIGTERM or SIGHUP the rows that are done are printed and written.\n"
                           "\n"
                           "Examples:\n"
                           "    heddle compare -m spe,dpe,dws                 every benchmark in three models\n"
                           "    heddle compare dual-path -m spe,dpe           those of a set (heddle list sets)\n"
                           "    heddle compare lud bfs -m spe,dpe,dws10,dws100 --size paper --csv models.csv\n"
                           "    heddle compare lud -m its,si -c turing -s si.trigger=any\n";

static const char *const titles[] = {"benchmark",  "model",       "check",    ">cycles",      ">IPC",
                                     ">speed-up",  ">lanes used", ">AvgPath", ">idle cycles", ">L1 misses",
                                     ">L2 misses", ">stack",      NULL};

/* The grid of runs: jobs[bench * n_models + model]. */
struct grid {
    const struct cli *c;
    struct job *jobs;
    const struct bench **benches;
    char **models;
    int n_benches, n_models;
    struct progress progress;
};

static struct job *at(const struct grid *g, int bench, int model) { return &g->jobs[bench * g->n_models + model]; }

static double speedup(const struct grid *g, int bench, int model) {
    double base = job_stat(at(g, bench, 0), "gpu.cycles"), own = job_stat(at(g, bench, model), "gpu.cycles");
    return base > 0 && own > 0 ? base / own : NAN;
}

/* Splits "spe,dpe" in place; returns the number of names, 0 for an empty one. */
static int split(char *list, char **out, int max) {
    int n = 0;
    for (char *word = strtok(list, ","); word && n < max; word = strtok(NULL, ","))
        out[n++] = word;
    return n;
}

static void add_row(struct table *t, const struct grid *g, int bench, int model) {
    const struct job *j = at(g, bench, model);
    table_text(t, model ? "" : j->bench->name);
    table_text(t, g->models[model]);
    table_text(t, job_verdict(j));
    bool timed = job_stat(j, "gpu.cycles") > 0;
    table_number(t, timed ? job_stat(j, "gpu.cycles") : NAN, NUM_COUNT);
    table_number(t, timed ? job_stat(j, "gpu.ipc") : NAN, NUM_FIXED2);
    table_number(t, speedup(g, bench, model), NUM_FIXED3);
    table_number(t, job_stat(j, "gpu.lane_utilization"), NUM_PERCENT);
    table_number(t, job_stat(j, "gpu.avg_paths"), NUM_FIXED3);
    table_number(t, timed ? job_stat(j, "gpu.idle_cycles") : NAN, NUM_COUNT);
    table_number(t, timed ? job_stat(j, "l1.misses") : NAN, NUM_COUNT);
    table_number(t, timed ? job_stat(j, "l2.misses") : NAN, NUM_COUNT);
    table_number(t, job_stat(j, "gpu.max_stack_depth"), NUM_COUNT);
}

/* Geometric means over the benchmarks of `set`, over all when it is NULL. */
static void add_means(struct table *t, const struct grid *g, const char *set) {
    char label[64];
    snprintf(label, sizeof label, "mean of %s", set ? set : "all");
    for (int m = 0; m < g->n_models; m++) {
        struct geomean ipc = {0}, faster = {0}, lanes = {0}, paths = {0};
        for (int b = 0; b < g->n_benches; b++) {
            if (set && !bench_in(g->benches[b], set))
                continue;
            geomean_add(&ipc, job_stat(at(g, b, m), "gpu.ipc"));
            geomean_add(&faster, speedup(g, b, m));
            geomean_add(&lanes, job_stat(at(g, b, m), "gpu.lane_utilization"));
            geomean_add(&paths, job_stat(at(g, b, m), "gpu.avg_paths"));
        }
        table_text(t, m ? "" : label);
        table_text(t, g->models[m]);
        table_text(t, "");
        table_number(t, NAN, NUM_COUNT);
        table_number(t, geomean_get(&ipc), NUM_FIXED2);
        table_number(t, geomean_get(&faster), NUM_FIXED3);
        table_number(t, geomean_get(&lanes), NUM_PERCENT);
        table_number(t, geomean_get(&paths), NUM_FIXED3);
        for (int i = 0; i < 4; i++)
            table_number(t, NAN, NUM_COUNT);
    }
}

/* One block of means for each set of which several benchmarks are here, but not all, and one of all. */
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
    jobs_run(g->jobs, n, parallel, g->c->argc, g->c->argv, on_done, g);
    progress_end(&g->progress);
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
    if (color_wanted(stdout) && runs_to_stdout(g->c))
        print_bars(g);
    table_free(t);
    enum heddle_status ran = runs_complain(g->c, g->jobs, n);
    return ran != HEDDLE_OK ? ran : written;
}

/* Every model must exist and take the options, before anything runs. */
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
    if (!cli_number(g->c, "jobs", 1, 256, &parallel) || !cli_size(g->c, &size) || !runs_files_possible(g->c) ||
        !models_fine(g, sim))
        return HEDDLE_USAGE;
    int n = g->n_benches * g->n_models;
    g->jobs = calloc((size_t)n, sizeof *g->jobs);
    if (!g->jobs)
        return cli_fail(g->c, "the host is out of memory");
    for (int i = 0; i < n; i++) {
        g->jobs[i] =
            (struct job){.bench = g->benches[i / g->n_models], .size = (enum bench_size)size, .options = sim->o};
        g->jobs[i].options.model = g->models[i % g->n_models];
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
    else if ((g.n_benches = runs_select(c, &g.benches)) > 0 && sim_options(c, &sim) && sim_effective(c, given, sim.set))
        status = run_grid(&g, &sim);
    sim_free(&sim);
    runs_free(g.benches, g.n_benches);
    free(list);
    return status;
}

const struct command cmd_compare = {
    "compare", "[NAME...] -m MODEL,MODEL,... [OPTION...]", "benchmarks in several models, side by side", text, options,
    run,
};
