#include "plan.h"
#include "host/digest.h"
#include "host/models.h"
#include "host/progress.h"
#include "interrupt.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "the host is out of memory";

bool plan_start(struct plan *p, char *err, size_t err_size) {
    *p = (struct plan){.n_runs = 0};
    return run_binary(p->binary, err, err_size);
}

static void options_free(struct heddle_options *o) {
    for (const char *const *s = o->set; s && *s; s++)
        free((char *)*s);
    free((void *)o->set);
    free((char *)o->model);
    free((char *)o->config);
}

void plan_free(struct plan *p) {
    for (int i = 0; i < p->n_machines; i++) {
        options_free(&p->machines[i].options);
        run_machine_free(&p->machines[i].machine);
    }
    free(p->machines);
    free(p->runs);
    *p = (struct plan){.n_runs = 0};
}

/* A copy that owns its texts. */
static bool options_copy(struct heddle_options *to, const struct heddle_options *o) {
    int n = 0;
    while (o->set && o->set[n])
        n++;
    char **set = calloc((size_t)n + 1, sizeof *set);
    *to = *o;
    to->set = (const char *const *)set;
    to->model = strdup(model_meant(o->model, false));
    to->config = strdup(o->config ? o->config : "fermi");
    bool fine = set && to->model && to->config;
    for (int i = 0; fine && i < n; i++)
        fine = (set[i] = strdup(o->set[i])) != NULL;
    return fine;
}

static bool same_machine(const struct plan_machine *a, const struct run_machine *m, uint64_t cycle_limit) {
    return a->options.cycle_limit == cycle_limit && strcmp(a->machine.config_hash, m->config_hash) == 0 &&
           strcmp(a->machine.model, m->model) == 0 && strcmp(a->machine.preset, m->preset) == 0;
}

int plan_machine(struct plan *p, const struct heddle_options *o, char *err, size_t err_size) {
    struct run_machine m;
    if (!run_machine_find(&m, o, err, err_size)) {
        run_machine_free(&m);
        return -1;
    }
    for (int i = 0; i < p->n_machines; i++)
        if (same_machine(&p->machines[i], &m, o->cycle_limit)) {
            run_machine_free(&m);
            return i;
        }
    struct plan_machine *more = realloc(p->machines, (size_t)(p->n_machines + 1) * sizeof *more);
    if (!more) {
        run_machine_free(&m);
        snprintf(err, err_size, "%s", no_memory);
        return -1;
    }
    p->machines = more;
    struct plan_machine *added = &more[p->n_machines++];
    added->machine = m;
    if (options_copy(&added->options, o))
        return p->n_machines - 1;
    snprintf(err, err_size, "%s", no_memory);
    return -1;
}

/* The files that a run's results follow from: a benchmark's PTX; a program, and all that it reads. */
static bool digest_input(const struct bench *b, char out[DIGEST_TEXT], char *err, size_t err_size) {
    const struct own *own = bench_own(b);
    char path[PATH_MAX], one[DIGEST_TEXT];
    struct digest all;
    const char *file = NULL;
    if (!own && !bench_kernel_path(b->ptx, path, sizeof path)) {
        snprintf(err, err_size, "%s is not found: set HEDDLE_KERNELS to the folder of kernels", b->ptx);
        return false;
    }
    bool fine = own || digest_file(file = path, out);
    digest_start(&all);
    for (int n = 0; own && fine && (file = own->file(own, n)); n++)
        if ((fine = digest_file(file, one)))
            digest_text(&all, one);
    if (!fine)
        snprintf(err, err_size, "%s: %s", file, strerror(errno));
    else if (own)
        digest_end(&all, out);
    return fine;
}

static bool describe(const struct plan *p, const struct bench *b, enum bench_size size, int machine,
                     struct run_what *out, char *err, size_t err_size) {
    *out = (struct run_what){.program = b->name,
                             .size = size == BENCH_PAPER ? "paper" : "small",
                             .machine = &p->machines[machine].machine,
                             .cycle_limit = p->machines[machine].options.cycle_limit};
    memcpy(out->binary, p->binary, sizeof out->binary);
    return digest_input(b, out->program_hash, err, err_size);
}

int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size) {
    struct run_what what;
    struct plan_run run = {.bench = b, .size = size, .machine = machine};
    if (!describe(p, b, size, machine, &what, err, err_size))
        return -1;
    run_key(&what, run.key);
    for (int i = 0; i < p->n_runs; i++)
        if (strcmp(p->runs[i].key, run.key) == 0)
            return i;
    struct plan_run *more = realloc(p->runs, (size_t)(p->n_runs + 1) * sizeof *more);
    if (!more) {
        snprintf(err, err_size, "%s", no_memory);
        return -1;
    }
    p->runs = more;
    more[p->n_runs] = run;
    return p->n_runs++;
}

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
    int there = results_has(x->db, x->plan->runs[x->todo[job]].key, err, sizeof err);
    if (there < 0)
        broke(x, err);
    x->out->there += there == 1;
    return there == 0;
}

static void name_run(const struct plan *p, const struct plan_run *r, char *out, size_t size) {
    const struct run_machine *m = &p->machines[r->machine].machine;
    int n = snprintf(out, size, "%s in %s on %s", r->bench->name, m->model, m->preset);
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
        cli_fail(x->c, "%s: %s", name, j->message ? j->message : no_memory);
        x->out->failed++;
    } else if (!x->broken) {
        struct run_what what;
        struct run_end end = {j->status, job_verdict(j), j->message, j->result};
        if (describe(x->plan, r->bench, r->size, r->machine, &what, err, sizeof err) &&
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
        snprintf(err, err_size, "%s", no_memory);
        return false;
    }
    for (int i = 0; i < p->n_runs; i++) {
        const struct plan_run *r = &p->runs[i];
        int there = results_has(x->db, r->key, err, err_size);
        if (there < 0)
            return false;
        x->out->there += there;
        if (there)
            continue;
        x->jobs[x->n] = (struct job){.bench = r->bench, .size = r->size, .options = p->machines[r->machine].options};
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
