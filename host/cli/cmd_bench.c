/* heddle bench: built-in benchmarks in one model, checked against their references. */
#include "cmd_runs.h"
#include "help.h"
#include "host/live/live.h"
#include "host/models.h"
#include "host/progress.h"
#include "host/report/geomean.h"
#include "host/report/interrupt.h"
#include "sampled_pairs.h"
#include <math.h>
#include <stdlib.h>

static const struct option_def options[] = {
    {0, "size", "SIZE", "small (about a second, the default), paper (as in the papers) or card (as measured on cards)"},
    {'v', "set-value", "NAME=VALUE", "sets a value of a program (X.heddle); may be repeated"},
    SIM_OPTIONS,
    SAMPLED_OPTIONS,
    {'j', "threads", "N", "host threads of each run; same results (but see gpu.order)"},
    LAUNCH_OPTIONS,
    LIVE_OPTION,
    PROGRAM_OPTIONS,
    {0, "json", "FILE", "write the results as JSON; - is stdout"},
    {0, "csv", "FILE", "write the table as CSV; - is stdout"},
    {0, NULL, NULL, NULL},
};

static const char *const titles[] = {
    "benchmark", "check", ">warp instructions", ">cycles", ">IPC", ">lanes used", ">host s", ">M wi/s", NULL};
static const char *const sampled_titles[] = {
    "benchmark", "check",   ">warp instructions", ">cycles", ">IPC", ">lanes used",
    ">host s",   ">M wi/s", ">cycles +-",         NULL};

/* Returns the statistic `name`, which depends on simulated time. Returns NAN for a run in the functional model, which
 * has no time. */
static double timed(const struct job *j, const char *name) {
    return job_stat(j, "gpu.cycles") > 0 ? job_stat(j, name) : NAN;
}

static void add_row(struct table *t, const struct job *j, bool sampled) {
    table_text(t, j->bench->name);
    table_text(t, job_verdict(j));
    table_number(t, job_stat(j, "gpu.warp_instructions"), NUM_COUNT);
    table_number(t, timed(j, "gpu.cycles"), NUM_COUNT);
    table_number(t, timed(j, "gpu.ipc"), NUM_FIXED2);
    table_number(t, job_stat(j, "gpu.lane_utilization"), NUM_PERCENT);
    table_number(t, job_stat(j, "host.seconds"), NUM_FIXED3);
    table_number(t, job_stat(j, "host.warp_instructions_per_second"), NUM_MEGA);
    if (sampled)
        table_number(t, cycles_half_width(j), NUM_PERCENT);
}

static void add_means(struct table *t, const struct job *jobs, int n, bool sampled) {
    struct geomean ipc = {0}, lanes = {0}, seconds = {0}, speed = {0};
    for (int i = 0; i < n; i++) {
        geomean_add(&ipc, timed(&jobs[i], "gpu.ipc"));
        geomean_add(&lanes, job_stat(&jobs[i], "gpu.lane_utilization"));
        geomean_add(&seconds, job_stat(&jobs[i], "host.seconds"));
        geomean_add(&speed, job_stat(&jobs[i], "host.warp_instructions_per_second"));
    }
    table_rule(t);
    table_text(t, "geometric mean");
    table_text(t, "");
    table_number(t, NAN, NUM_COUNT);
    table_number(t, NAN, NUM_COUNT);
    table_number(t, geomean_get(&ipc), NUM_FIXED2);
    table_number(t, geomean_get(&lanes), NUM_PERCENT);
    table_number(t, geomean_get(&seconds), NUM_FIXED3);
    table_number(t, geomean_get(&speed), NUM_MEGA);
    if (sampled)
        table_text(t, "");
}

static enum heddle_status run_all(const struct cli *c, struct job *jobs, int n, struct live *live) {
    struct progress progress;
    progress_init(&progress, n > 1);
    progress_start(&progress, "bench");
    for (int i = 0; i < n; i++) {
        progress_update(&progress, (uint64_t)i, (uint64_t)n, jobs[i].bench->name);
        live_program(live, jobs[i].bench->name);
        if (interrupt_signal())
            job_skip(&jobs[i]);
        else
            job_run(&jobs[i], c->argc, c->argv); /* a long launch draws its own progress bar in place of this one */
    }
    progress_end(&progress);
    struct table *t = table_new(jobs[0].sampled ? sampled_titles : titles);
    for (int i = 0; i < n; i++)
        add_row(t, &jobs[i], jobs[i].sampled);
    if (n > 1)
        add_means(t, jobs, n, jobs[0].sampled);
    enum heddle_status written = runs_write(c, jobs, n, t), ran = runs_complain(c, jobs, n);
    table_free(t);
    return ran != HEDDLE_OK ? ran : written;
}

static enum heddle_status run_with(const struct cli *c, const struct sim *sim, const struct bench **list, int n) {
    uint64_t threads = 1;
    int size;
    bool sampled;
    double error;
    if (!cli_sampled(c, sim->o.model, &sampled, &error))
        return HEDDLE_USAGE;
    /* a wrong model, configuration or option affects every run: report it once */
    char err[1024];
    struct heddle *h = heddle_open(&sim->o, err, sizeof err);
    if (!h)
        return cli_fail(c, "%s", err);
    heddle_close(h);
    if (!cli_number(c, "threads", 1, 1024, &threads) || !cli_size(c, &size) || !runs_files_possible(c))
        return HEDDLE_USAGE;
    struct live *live;
    struct heddle_options o = sim->o;
    if (!cli_program_options(c, &o))
        return HEDDLE_USAGE;
    if (o.checkpoint && n > 1)
        return cli_error(c, "--checkpoint is for one benchmark at a time, and %d are selected", n);
    struct job *jobs = calloc((size_t)n, sizeof *jobs);
    if (!jobs)
        return cli_fail(c, "the host is out of memory");
    if (!cli_live(c, &o, &live)) {
        free(jobs);
        return HEDDLE_USAGE;
    }
    for (int i = 0; i < n; i++) {
        jobs[i] = (struct job){.bench = list[i], .size = (enum bench_size)size, .options = o};
        jobs[i].options.threads = (uint32_t)threads;
        jobs[i].needs = runs_need(c);
        jobs[i].sampled = sampled;
        jobs[i].error = error;
    }
    enum heddle_status status = run_all(c, jobs, n, live);
    cli_live_end(live);
    for (int i = 0; i < n; i++)
        job_free(&jobs[i]);
    free(jobs);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    const struct bench **list;
    int n = runs_select(c, false, &list);
    if (!n)
        return HEDDLE_USAGE;
    struct sim sim;
    enum heddle_status status = sim_options(c, &sim) && sim_effective(c, model_meant(sim.o.model, false), &sim)
                                    ? run_with(c, &sim, list, n)
                                    : HEDDLE_USAGE;
    sim_free(&sim);
    runs_free(list, n);
    return status;
}

const struct command cmd_bench = {
    "bench", "[NAME...] [OPTION...]", "run built-in benchmarks and check their results", help_bench, options, run,
    false,
};
