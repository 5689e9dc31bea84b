/* Running what a database has not. */
#include "host/progress.h"
#include "interrupt.h"
#include "plan.h"
#include <stdlib.h>
#include <string.h>

/* While it runs: jobs[i] is run todo[i] of the plan. */
struct execution {
    const struct plan *plan;
    struct results_db *db;
    const struct cli *c;
    char *command;
    struct job *jobs;
    int *todo, n;
    struct plan_outcome *out;
    bool broken; /* the database cannot be written: nothing further is begun */
    struct progress progress;
};

static void broke(struct execution *x, const char *why) {
    if (!x->broken) {
        progress_end(&x->progress);
        cli_fail(x->c, "%s", why);
    }
    x->broken = true;
}

/* Another process may have been faster. */
static bool wanted(void *ctx, int job) {
    struct execution *x = ctx;
    char err[1024];
    if (x->broken)
        return false;
    int there = plan_has(x->plan, x->db, x->todo[job], err, sizeof err);
    if (there < 0)
        broke(x, err);
    x->out->there += there == 1;
    return there == 0;
}

static void name_run(const struct plan *p, const struct plan_run *r, char *out, size_t size) {
    const struct run_machine *m = &p->machines[r->machine].machine;
    const struct own *own = bench_own(r->bench);
    int n = snprintf(out, size, "%s in %s on %s", own && own->label ? own->label : r->bench->name, m->model, m->preset);
    for (int i = 0; i < m->n_settings && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, " %s=%s", m->settings[i].option, m->settings[i].value);
}

/* A run that says nothing about the simulated machine (the host had no memory, a process was killed) is not kept. */
static void ended(void *ctx, int job) {
    struct execution *x = ctx;
    struct job *j = &x->jobs[job];
    const struct plan_run *r = &x->plan->runs[x->todo[job]];
    char err[1024] = "";
    if (j->status == HEDDLE_USAGE || j->lost) {
        char name[256];
        name_run(x->plan, r, name, sizeof name);
        progress_end(&x->progress);
        cli_fail(x->c, "%s: %s", name, j->message ? j->message : "the host is out of memory");
        x->out->failed++;
    } else if (!x->broken) {
        struct run_what what;
        struct run_end end = {j->status, job_verdict(j), j->message, j->result};
        if (plan_describe(x->plan, r->bench, r->size, r->machine, &what, err, sizeof err) &&
            results_add(x->db, &what, &end, x->command, err, sizeof err))
            x->out->ran++;
        else
            broke(x, err);
    }
    job_free(j);
}

static void tick(void *ctx, int finished) {
    struct execution *x = ctx;
    char note[48];
    snprintf(note, sizeof note, "%d of %d runs", finished, x->n);
    progress_update(&x->progress, (uint64_t)finished, (uint64_t)x->n, note);
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

/* The jobs of what is missing. */
static bool fill(struct execution *x, struct plan *p, char *err, size_t err_size) {
    x->jobs = calloc((size_t)p->n_runs + 1, sizeof *x->jobs);
    x->todo = calloc((size_t)p->n_runs + 1, sizeof *x->todo);
    x->command = command_line(x->c);
    if (!x->jobs || !x->todo || !x->command) {
        snprintf(err, err_size, "the host is out of memory");
        return false;
    }
    for (int i = 0; i < p->n_runs; i++) {
        const struct plan_run *r = &p->runs[i];
        int there = plan_has(p, x->db, i, err, err_size);
        if (there < 0)
            return false;
        x->out->there += there;
        if (there)
            continue;
        x->jobs[x->n] = (struct job){.bench = r->bench, .size = r->size, .options = p->machines[r->machine].options};
        x->jobs[x->n].options.profile = p->profile;
        x->todo[x->n++] = i;
    }
    return true;
}

enum heddle_status plan_execute(struct plan *p, struct results_db *db, int parallel, const struct cli *c,
                                struct plan_outcome *out) {
    char err[1024];
    *out = (struct plan_outcome){0};
    struct execution x = {.plan = p, .db = db, .c = c, .out = out};
    enum heddle_status status = HEDDLE_OK;
    if (!fill(&x, p, err, sizeof err)) {
        status = cli_fail(c, "%s", err);
    } else if (x.n) {
        progress_init(&x.progress, true);
        progress_start(&x.progress, c->command->name);
        jobs_run(x.jobs, x.n, parallel, c->argc, c->argv,
                 &(struct jobs_watch){.ctx = &x, .wanted = wanted, .ended = ended, .tick = tick});
        progress_end(&x.progress);
        if (interrupt_signal())
            status = HEDDLE_STOPPED;
        else if (x.broken || out->failed)
            status = HEDDLE_USAGE;
    }
    if (status != HEDDLE_OK && x.n)
        fprintf(stderr, "heddle %s: %d of %d runs are there; the same command runs the others\n", c->command->name,
                out->ran + out->there, p->n_runs);
    for (int i = 0; i < x.n; i++)
        job_free(&x.jobs[i]);
    free(x.jobs);
    free(x.todo);
    free(x.command);
    return status;
}

enum heddle_status plan_complain(const struct plan *p, const struct result_set *set, const struct cli *c) {
    enum heddle_status first = HEDDLE_OK;
    for (int i = 0; i < p->n_runs; i++) {
        const struct result_row *row = result_find(set, p->runs[i].key);
        if (!row || row->status == HEDDLE_OK)
            continue;
        char name[256];
        name_run(p, &p->runs[i], name, sizeof name);
        cli_fail(c, "%s: %s: %.*s", name, row->verdict, (int)strcspn(row->message, "\n"), row->message);
        if (first == HEDDLE_OK)
            first = (enum heddle_status)row->status;
    }
    return first;
}
