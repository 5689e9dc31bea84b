/* Executes a plan: runs the runs that the database lacks. */
#include "cmd_plan.h"
#include "host/progress.h"
#include "host/report/interrupt.h"
#include "host/results/results_queue.h"
#include "plan_live.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The execution of a plan. jobs[i] executes run number todo[i] of the plan. An exchange is one transaction that writes
 * claims and results of several jobs, because each transaction waits for the disk. After an exchange, SHARE times its
 * duration passes before the next exchange. */
struct execution {
    struct plan *plan;
    struct results_db *db;
    const struct cli *c;
    char *command;
    struct job *jobs;
    int *todo, n;
    enum results_claim *claims; /* by job: the result of the claim of this job; valid if asked[job] is true */
    bool *asked;
    int *unstored, n_unstored; /* jobs that have ended and are not in the database yet */
    int ahead;                 /* number of jobs to claim in one exchange */
    double exchanged, took;    /* time of the end of the latest exchange, and its duration, in seconds */
    /* run -> true if it needs no execution any more: it is in the database, or it failed in this process */
    bool *settled;
    int theirs; /* number of runs that this pass of run_missing() skipped because another process had claimed them */
    int before; /* number of the plan's runs that the database had at the start */
    struct plan_outcome *out;
    bool broken; /* true once an access to the database failed; then no further run begins */
    struct progress progress;
    struct plan_live *live; /* the page of --live, or NULL */
};

static void broke(struct execution *x, const char *why) {
    if (!x->broken) {
        progress_end(&x->progress);
        cli_fail(x->c, "%s", why);
    }
    x->broken = true;
}

/* Claims a run for this process. If the run is stored and only lacks its profile, the result is CLAIM_OURS without a
 * claim in the database: two processes may then make the profile, and the database keeps the first one. */
static enum results_claim claim(struct execution *x, int run, char *err, size_t err_size) {
    const char *key = x->plan->runs[run].key;
    int profiled = x->plan->profile ? results_has_profile(x->db, key, err, err_size) : 0;
    int there = x->plan->profile && profiled == 0 ? results_has(x->db, key, err, err_size) : profiled;
    if (profiled < 0 || there < 0)
        return CLAIM_FAILED;
    return profiled ? CLAIM_DONE : there ? CLAIM_OURS : results_claim(x->db, key, err, err_size);
}

/* Adds the result of a job to the database. */
static bool store(struct execution *x, int job, char *err, size_t err_size) {
    const struct job *j = &x->jobs[job];
    const struct plan_run *r = &x->plan->runs[x->todo[job]];
    const struct run_end end = {j->status, job_verdict(j), j->message, j->result};
    struct run_what what;
    return plan_describe(x->plan, r->bench, r->size, r->machine, &what, err, err_size) &&
           results_add(x->db, &what, &end, x->command, err, err_size);
}

/* Returns true if the time has come for the next exchange. */
static bool is_due(const struct execution *x) {
    enum { SHARE = 10 };
    return seconds_now() - x->exchanged >= SHARE * x->took;
}

/* Stores the jobs that have ended, and claims the next `ahead` jobs, from number `from` on. */
static void exchange(struct execution *x, int from) {
    enum { MOST = 1000 };
    char err[1024];
    double began = seconds_now();
    if (x->broken || !results_begin(x->db, err, sizeof err)) {
        broke(x, err);
        return;
    }
    bool fine = true;
    for (int i = 0; fine && i < x->n_unstored; i++)
        fine = store(x, x->unstored[i], err, sizeof err);
    for (int i = from; fine && i < x->n && i - from < x->ahead; i++) {
        x->claims[i] = claim(x, x->todo[i], err, sizeof err);
        fine = x->asked[i] = x->claims[i] != CLAIM_FAILED;
    }
    if (!results_end(x->db, fine, err, sizeof err)) {
        broke(x, err);
        return;
    }
    for (int i = 0; i < x->n_unstored; i++) {
        x->out->ran++;
        x->settled[x->todo[x->unstored[i]]] = true;
        job_free(&x->jobs[x->unstored[i]]);
    }
    x->n_unstored = 0;
    if (from < x->n && began - x->exchanged < 10 * x->took && x->ahead < MOST)
        x->ahead *= 2;
    else if (from < x->n && began - x->exchanged > 40 * x->took && x->ahead > 1)
        x->ahead /= 2;
    x->exchanged = seconds_now();
    x->took = x->exchanged - began;
}

/* Returns true if the run is still missing and this process could claim it. */
static bool wanted(void *ctx, int job) {
    struct execution *x = ctx;
    int run = x->todo[job];
    if (!x->broken && !x->asked[job])
        exchange(x, job);
    if (x->broken)
        return false;
    enum results_claim how = x->claims[job];
    x->settled[run] = how == CLAIM_DONE;
    x->out->there += how == CLAIM_DONE;
    x->theirs += how == CLAIM_THEIRS;
    if (how == CLAIM_OURS)
        plan_live_began(x->live, run);
    return how == CLAIM_OURS;
}

/* Stores a run that ended. A failure of the host (out of memory, a killed process) is not stored. */
static void ended(void *ctx, int job) {
    struct execution *x = ctx;
    struct job *j = &x->jobs[job];
    const struct plan_run *r = &x->plan->runs[x->todo[job]];
    char err[1024] = "";
    plan_live_ended(x->live, x->todo[job], j);
    if (j->status == HEDDLE_USAGE || j->lost) {
        char name[256];
        plan_run_name(x->plan, x->todo[job], name, sizeof name);
        progress_end(&x->progress);
        cli_fail(x->c, "%s: %s", name, j->message ? j->message : "the host is out of memory");
        x->out->failed++;
        x->settled[x->todo[job]] = true;
        if (!x->broken && (!queue_failed(x->db, r->key, j->message ? j->message : "", err, sizeof err) ||
                           !results_unclaim(x->db, r->key, err, sizeof err)))
            broke(x, err);
        job_free(j);
    } else {
        x->unstored[x->n_unstored++] = job;
        if (!x->broken && is_due(x))
            exchange(x, x->n);
    }
}

static void tick(void *ctx, int finished) {
    struct execution *x = ctx;
    char note[80];
    int done = x->out->ran + x->n_unstored + x->out->there;
    if (x->n_unstored && !x->broken && is_due(x))
        exchange(x, x->n);
    (void)finished; /* counts this round only */
    plan_live_count(x->live, done, x->before);
    if (x->n && x->theirs == x->n)
        snprintf(note, sizeof note, "%d of %d runs, the others by another process", done, x->plan->n_runs);
    else
        snprintf(note, sizeof note, "%d of %d runs", done, x->plan->n_runs);
    progress_update(&x->progress, (uint64_t)(done - x->before), (uint64_t)(x->plan->n_runs - x->before), note);
    results_renew(x->db);
    if (x->plan->beat)
        x->plan->beat(x->plan->beat_ctx);
}

static char *command_line(const struct cli *c) {
    size_t size = 1;
    for (int i = 0; i < c->argc; i++)
        size += strlen(c->argv[i]) + 1;
    char *text = calloc(1, size), *at = text;
    for (int i = 0; text && i < c->argc; i++)
        at += sprintf(at, "%s%s", i ? " " : "", c->argv[i]);
    return text;
}

static bool start(struct execution *x, char *err, size_t err_size) {
    size_t n = (size_t)x->plan->n_runs + 1;
    x->jobs = calloc(n, sizeof *x->jobs);
    x->todo = calloc(n, sizeof *x->todo);
    x->settled = calloc(n, sizeof *x->settled);
    x->claims = calloc(n, sizeof *x->claims);
    x->asked = calloc(n, sizeof *x->asked);
    x->unstored = calloc(n, sizeof *x->unstored);
    x->ahead = 1;
    x->command = command_line(x->c);
    if (x->jobs && x->todo && x->settled && x->claims && x->asked && x->unstored && x->command)
        return true;
    snprintf(err, err_size, "the host is out of memory");
    return false;
}

/* Makes jobs for the runs of the plan that are still missing. */
static bool fill(struct execution *x, char *err, size_t err_size) {
    const struct plan *p = x->plan;
    for (int i = 0; i < x->n; i++)
        job_free(&x->jobs[i]);
    x->n = x->theirs = 0;
    for (int i = 0; i < p->n_runs; i++) {
        const struct plan_run *r = &p->runs[i];
        if (x->settled[i])
            continue;
        int there = plan_has(p, x->db, i, err, err_size);
        if (there < 0)
            return false;
        x->settled[i] = there;
        x->out->there += there;
        if (there)
            continue;
        x->jobs[x->n] = (struct job){.bench = r->bench, .size = r->size, .options = p->machines[r->machine].options};
        x->jobs[x->n].machine = &p->machines[r->machine].machine;
        x->jobs[x->n].options.profile = p->profile;
        x->jobs[x->n].needs = JOB_DATABASE;
        x->jobs[x->n].sampled = p->sampled;
        x->jobs[x->n].error = p->error;
        x->asked[x->n] = p->claimed;
        x->claims[x->n] = CLAIM_OURS;
        x->todo[x->n++] = i;
    }
    return true;
}

/* Executes the missing runs in several passes. A pass executes the runs that no other process has claimed. The next
 * pass finds the results of these other processes, and executes the runs whose claim ended without a result. The passes
 * end when no run is missing. */
static bool run_missing(struct execution *x, int parallel, char *err, size_t err_size) {
    const struct timespec moment = {.tv_nsec = 200000000};
    const struct jobs_watch watch = {.ctx = x, .wanted = wanted, .ended = ended, .tick = tick};
    x->before = x->out->there;
    while (x->n && !interrupt_signal() && !x->broken) {
        jobs_run(x->jobs, x->n, parallel, x->c->argc, x->c->argv, &watch);
        if (x->n_unstored && !x->broken)
            exchange(x, x->n);
        if (!x->theirs || interrupt_signal() || x->broken)
            break;
        if (x->theirs == x->n) {
            interrupt_guard(NULL);
            nanosleep(&moment, NULL);
        }
        if (!fill(x, err, err_size))
            return false;
    }
    interrupt_unguard();
    return true;
}

static void finish(struct execution *x) {
    char err[256];
    /* releases the claims of runs that a signal stopped; a failure does no harm, because a claim is void once its
     * process has ended */
    results_unclaim(x->db, NULL, err, sizeof err);
    for (int i = 0; i < x->n; i++)
        job_free(&x->jobs[i]);
    free(x->jobs);
    free(x->todo);
    free(x->settled);
    free(x->claims);
    free(x->asked);
    free(x->unstored);
    free(x->command);
}

enum heddle_status plan_execute(struct plan *p, struct results_db *db, int parallel, const struct cli *c,
                                struct plan_outcome *out) {
    char err[1024];
    *out = (struct plan_outcome){0};
    struct execution x = {.plan = p, .db = db, .c = c, .out = out};
    enum heddle_status status = HEDDLE_OK;
    bool fine = start(&x, err, sizeof err) && fill(&x, err, sizeof err), any = fine && x.n;
    if (any && !plan_live_open(c, p, &x.live)) {
        finish(&x);
        return HEDDLE_USAGE;
    }
    if (any) {
        progress_init(&x.progress, !p->claimed);
        progress_start(&x.progress, c->command->name);
        fine = run_missing(&x, parallel, err, sizeof err);
        progress_end(&x.progress);
        plan_live_close(x.live);
    }
    if (!fine)
        status = cli_fail(c, "%s", err);
    else if (any && interrupt_signal())
        status = HEDDLE_STOPPED;
    else if (x.broken || out->failed)
        status = HEDDLE_USAGE;
    out->broken = !fine || x.broken;
    if (status != HEDDLE_OK && any && !p->claimed)
        fprintf(stderr, "heddle %s: %d of %d runs are there; the same command tries the others again\n",
                c->command->name, out->ran + out->there, p->n_runs);
    finish(&x);
    return status;
}

enum heddle_status plan_complain(const struct plan *p, const struct result_set *set, const struct cli *c) {
    enum heddle_status first = HEDDLE_OK;
    for (int i = 0; i < p->n_runs; i++) {
        const struct result_row *row = result_find(set, p->runs[i].key);
        if (!row || row->status == HEDDLE_OK)
            continue;
        char name[256];
        plan_run_name(p, i, name, sizeof name);
        cli_fail(c, "%s: %s: %.*s", name, row->verdict, (int)strcspn(row->message, "\n"), row->message);
        if (first == HEDDLE_OK)
            first = (enum heddle_status)row->status;
    }
    return first;
}
