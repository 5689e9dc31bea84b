/* heddle sweep: runs programs in models with every combination of option values, into a database. */
#include "cmd_plan.h"
#include "cmd_runs.h"
#include "help.h"
#include "host/models.h"
#include "host/report/results_view.h"
#include "input.h"
#include "plan_live.h"
#include "slurm.h"
#include "sweep.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_def options[] = {
    {'m', "model", "MODEL,...", "the models, separated by commas (default spe)"},
    {'s', "set", "KEY=VALUES",
     "an option of the machine: a value, several (8K,16K,32K), or FROM:TO:STEP; may be repeated"},
    {'c', "config", "CONFIG", "the machine: a preset or a file (default fermi)"},
    {0, "size", "SIZE", "small (the default) or paper"},
    {0, "cycle-limit", "N", "give up a launch after N cycles"},
    {'o', "output", "FILE", "the database, created if missing (default results.db)"},
    {'j', "jobs", "N", "runs at a time (default: the number of processors)"},
    {'v', "set-value", "NAME=VALUES", "sets one or several values of the programs (X.heddle), as -s; may be repeated"},
    LAUNCH_OPTIONS,
    SAMPLED_OPTIONS,
    {0, "profile", NULL, "keep the cost of each line of the kernels, for heddle report"},
    {0, "slurm", "[=submit]",
     "write FILE.slurm, a script that runs the sweep as a Slurm job array; =submit also submits it"},
    {0, "tasks", "N", "tasks of the array (default: one for each missing run, at most 64)"},
    {0, "part", "I/N", "only share I (from 0) of N of the missing runs, into FILE.parts/I-of-N.db"},
    {0, "queue", "FILE", "only plan: list the missing runs in FILE, from which 'heddle work FILE' takes them"},
    PLAN_LIVE_OPTION,
    {0, "dry-run", NULL, "list the missing runs, and run nothing"},
    {0, NULL, NULL, NULL},
};

/* Makes every configuration before any run, so that a wrong value is reported at once. */
static bool fill(struct sweep *s) {
    char err[1024];
    for (uint64_t i = 0; i < s->runs; i++)
        if (sweep_add(s, i, err, sizeof err) < 0) {
            cli_error(s->c, "%s", err);
            return false;
        }
    return true;
}

/* Prints the table of runs, up to MANY of them, then how many were run. */
static enum heddle_status show(struct sweep *s, struct results_db *db, const struct plan_outcome *done) {
    enum { MANY = 2000 };
    char err[1024];
    struct result_set set;
    if (!results_load(db, false, &set, err, sizeof err))
        return cli_fail(s->c, "%s", err);
    const struct result_row **rows = calloc((size_t)s->plan.n_runs + 1, sizeof *rows);
    int n = 0;
    for (int i = 0; rows && s->plan.n_runs <= MANY && i < s->plan.n_runs; i++)
        if ((rows[n] = result_find(&set, s->plan.runs[i].key)))
            n++;
    struct table *t = rows ? view_list(&set, rows, n, NULL, 0) : NULL;
    if (n)
        table_print(t, stdout);
    if (n && s->plan.sampled)
        sweep_intervals(s, db, &set);
    table_free(t);
    free(rows);
    printf("%d run%s done, %d already in the database\n", done->ran, done->ran == 1 ? "" : "s", done->there);
    fflush(stdout);
    enum heddle_status status = plan_complain(&s->plan, &set, s->c);
    result_set_free(&set);
    return status;
}

/* Prints for each run whether the database lacks it, without executing any. `db` is NULL if the database does not
 * exist; it is not created. */
static enum heddle_status dry_run(const struct sweep *s, struct results_db *db) {
    char err[1024];
    int missing = 0;
    for (int i = 0; i < s->plan.n_runs; i++) {
        const struct run_machine *m = &s->plan.machines[s->plan.runs[i].machine].machine;
        int there = db ? plan_has(&s->plan, db, i, err, sizeof err) : 0;
        if (there < 0)
            return cli_fail(s->c, "%s", err);
        missing += !there;
        const struct own *own = bench_own(s->plan.runs[i].bench);
        printf("%s %s %s", there ? "there  " : "missing", s->plan.runs[i].bench->name, m->model);
        for (int k = 0; own && own->setting && own->setting(own, k); k++)
            printf(" values.%s", own->setting(own, k));
        for (int k = 0; k < m->n_settings; k++)
            printf(" %s=%s", m->settings[k].option, m->settings[k].value);
        putchar('\n');
    }
    printf("%d run%s, %d of them missing\n", s->plan.n_runs, s->plan.n_runs == 1 ? "" : "s", missing);
    return HEDDLE_OK;
}

/* Reduces the plan to the runs that belong to one part (`share`) of the sweep and that the main database `whole`
 * lacks. */
static bool keep_share(struct sweep *s, const char *whole, const struct share *share) {
    struct plan *p = &s->plan;
    char err[1024] = "the host is out of memory";
    bool *keep = calloc((size_t)p->n_runs + 1, sizeof *keep);
    struct results_db *db = keep && access(whole, F_OK) == 0 ? results_open(whole, false, err, sizeof err) : NULL;
    bool fine = keep && (db || access(whole, F_OK) != 0);
    for (int i = 0; fine && i < p->n_runs; i++) {
        int there = i % share->n != share->i ? 1 : db ? plan_has(p, db, i, err, sizeof err) : 0;
        fine = there >= 0;
        keep[i] = there == 0;
    }
    results_close(db);
    if (fine)
        plan_keep(p, keep);
    else
        cli_fail(s->c, "%s", err);
    free(keep);
    return fine;
}

/* Returns the path of the database of --part, which the caller frees. Prints a message and returns NULL on an error. */
static char *part_file(struct sweep *s, const char *whole) {
    struct share share;
    if (!share_read(cli_value(s->c, "part"), &share)) {
        cli_error(s->c, "--part takes I/N, I from 0 to below N, N up to 1000, not '%s'", cli_value(s->c, "part"));
        return NULL;
    }
    char *folder = share_folder(whole), *file = share_database(whole, &share);
    bool fine = folder && file && (mkdir(folder, 0777) == 0 || errno == EEXIST);
    if (!fine)
        cli_fail(s->c, "%s: %s", folder ? folder : whole, strerror(errno));
    fine = fine && keep_share(s, whole, &share);
    free(folder);
    if (fine)
        return file;
    free(file);
    return NULL;
}

/* Writes the Slurm script that executes the missing runs as a job array. With --slurm=submit, also runs this script,
 * which submits the jobs. */
static enum heddle_status slurm(struct sweep *s, struct results_db *db, const char *file) {
    const char *how = cli_value(s->c, "slurm");
    char err[1024];
    uint64_t tasks = 0;
    if (*how && strcmp(how, "submit") != 0)
        return cli_error(s->c, "--slurm or --slurm=submit, not '%s'", how);
    if (cli_input_copied(s->c))
        return cli_fail(s->c, "--slurm: its jobs cannot read a pipe of this command; write it to a file first");
    for (int i = 0; i < s->plan.n_runs; i++) {
        int there = plan_has(&s->plan, db, i, err, sizeof err);
        if (there < 0)
            return cli_fail(s->c, "%s", err);
        tasks += !there;
    }
    int missing = (int)tasks;
    tasks = tasks > 64 ? 64 : tasks ? tasks : 1;
    if (!cli_number(s->c, "tasks", 1, 1000, &tasks) || !slurm_write(s->c, file, (int)tasks))
        return HEDDLE_USAGE;
    printf("%s.slurm: %d run%s in %d task%s\n", file, missing, missing == 1 ? "" : "s", (int)tasks,
           tasks == 1 ? "" : "s");
    return *how ? slurm_submit(s->c, file) : HEDDLE_OK;
}

static enum heddle_status run_on(struct sweep *s, const char *file) {
    uint64_t parallel = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    char err[1024];
    if (!cli_number(s->c, "jobs", 1, 256, &parallel))
        return HEDDLE_USAGE;
    bool dry = cli_has(s->c, "dry-run"), none = dry && access(file, F_OK) != 0;
    struct results_db *db = none ? NULL : results_open(file, !dry, err, sizeof err);
    if (!db && !none)
        return cli_fail(s->c, "%s", err);
    enum heddle_status status = HEDDLE_OK;
    struct plan_outcome done;
    if (dry) {
        status = dry_run(s, db);
    } else if (cli_has(s->c, "slurm")) {
        status = slurm(s, db, file);
    } else {
        status = plan_execute(&s->plan, db, (int)parallel, s->c, &done);
        if (status == HEDDLE_OK)
            status = show(s, db, &done);
    }
    results_close(db);
    return status;
}

static enum heddle_status run_sweep(struct sweep *s) {
    const char *file = cli_value(s->c, "output") ? cli_value(s->c, "output") : "results.db";
    if (cli_has(s->c, "part") && cli_has(s->c, "slurm"))
        return cli_error(s->c, "--part is what a task of --slurm does: not both");
    if (cli_has(s->c, "tasks") && !cli_has(s->c, "slurm"))
        return cli_error(s->c, "--tasks does nothing without --slurm");
    if (!cli_has(s->c, "part"))
        return run_on(s, file);
    char *part = part_file(s, file);
    enum heddle_status status = part ? run_on(s, part) : HEDDLE_USAGE;
    free(part);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct sweep s;
    enum heddle_status status = HEDDLE_USAGE;
    const char *queue = cli_value(c, "queue");
    if (!sweep_begin(&s, c)) {
        status = HEDDLE_USAGE;
    } else if (cli_has(c, "live") && (queue || cli_has(c, "dry-run") || cli_has(c, "slurm"))) {
        status = cli_error(c, "--live shows runs, and this command runs nothing");
    } else if (queue && (cli_has(c, "output") || cli_has(c, "part") || cli_has(c, "slurm") || cli_has(c, "jobs"))) {
        status = cli_error(c, "--queue only plans: not with --output, --jobs, --part or --slurm");
    } else if (queue) {
        status = sweep_queue(&s, queue);
    } else if (fill(&s)) {
        status = run_sweep(&s);
    }
    sweep_end(&s);
    return status;
}

const struct command cmd_sweep = {
    "sweep",
    "PROGRAM... [OPTION...]",
    "run every combination of programs, models and options, into a database",
    help_sweep,
    options,
    run,
    false,
};
