#include "plan.h"
#include "host/models.h"
#include "host/program/own.h"
#include "host/results/digest.h"
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

/* Copies options into *to, with copies of their texts. Returns false if out of memory. */
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

/* Makes the digest of a run's input files: a benchmark's PTX, or a program and all files that it reads. */
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
    if (own && own->launch)
        digest_text(&all, own->launch);
    if (!fine)
        snprintf(err, err_size, "%s: %s", file, strerror(errno));
    else if (own)
        digest_end(&all, out);
    return fine;
}

bool plan_describe(const struct plan *p, const struct bench *b, enum bench_size size, int machine, struct run_what *out,
                   char *err, size_t err_size) {
    const struct own *own = bench_own(b);
    *out = (struct run_what){.program = own && own->label ? own->label : b->name,
                             .size = bench_size_name(size),
                             .machine = &p->machines[machine].machine,
                             .cycle_limit = p->machines[machine].options.cycle_limit,
                             .values = own && own->setting ? own->launch : NULL};
    memcpy(out->binary, p->binary, sizeof out->binary);
    return digest_input(b, out->program_hash, err, err_size);
}

int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size) {
    struct run_what what;
    struct plan_run run = {.bench = b, .size = size, .machine = machine};
    if (!plan_describe(p, b, size, machine, &what, err, err_size))
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

int plan_has(const struct plan *p, struct results_db *db, int i, char *err, size_t err_size) {
    return p->profile ? results_has_profile(db, p->runs[i].key, err, err_size)
                      : results_has(db, p->runs[i].key, err, err_size);
}
