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

/* ---- indices ---- */

/* The arrays of a plan. Each element has a key. */
enum part { MACHINES, RUNS, INPUTS };

static const char *key_at(const struct plan *p, enum part part, int i) {
    return part == MACHINES ? p->machines[i].key : part == RUNS ? p->runs[i].key : p->inputs[i].key;
}

static struct plan_index *index_of(struct plan *p, enum part part) {
    return part == MACHINES ? &p->machine_index : part == RUNS ? &p->run_index : &p->input_index;
}

/* Returns the slot that has the index of the key, or else a free slot. Requires a free slot. */
static int *slot_of(const struct plan *p, enum part part, const struct plan_index *x, const char *key) {
    for (uint32_t at = digest_bits(key);; at++) {
        int *slot = &x->slot[at & (uint32_t)(x->slots - 1)];
        if (!*slot || strcmp(key_at(p, part, *slot - 1), key) == 0)
            return slot;
    }
}

static int find(const struct plan *p, enum part part, const char *key) {
    const struct plan_index *x = index_of((struct plan *)p, part);
    return x->slots ? *slot_of(p, part, x, key) - 1 : -1;
}

/* Grows an array that has `n` elements, when `n` is a power of 2. Returns false if out of memory. */
static bool grow(void **array, int n, size_t size) {
    if (n & (n - 1))
        return true;
    void *more = realloc(*array, 2 * (size_t)(n ? n : 1) * size);
    if (more)
        *array = more;
    return more != NULL;
}

/* Adds element `n` - 1, the last one, to its index. Returns false if out of memory. */
static bool put(struct plan *p, enum part part, int n) {
    struct plan_index *x = index_of(p, part), larger = {.slots = x->slots ? 2 * x->slots : 64};
    if (2 * n > x->slots) {
        larger.slot = calloc((size_t)larger.slots, sizeof *larger.slot);
        for (int i = 0; larger.slot && i < n - 1; i++)
            *slot_of(p, part, &larger, key_at(p, part, i)) = i + 1;
        if (!larger.slot)
            return false;
        free(x->slot);
        *x = larger;
    }
    *slot_of(p, part, x, key_at(p, part, n - 1)) = n;
    return true;
}

/* ---- the plan ---- */

static void options_free(struct heddle_options *o) {
    for (const char *const *s = o->set; s && *s; s++)
        free((char *)*s);
    free((void *)o->set);
    free((char *)o->model);
    free((char *)o->config);
}

static void index_clear(struct plan_index *x) {
    for (int i = 0; i < x->slots; i++)
        x->slot[i] = 0;
}

void plan_clear(struct plan *p) {
    for (int i = 0; i < p->n_machines; i++) {
        options_free(&p->machines[i].options);
        run_machine_free(&p->machines[i].machine);
    }
    free(p->machines);
    free(p->runs);
    p->machines = NULL;
    p->runs = NULL;
    p->n_machines = p->n_runs = 0;
    index_clear(&p->machine_index);
    index_clear(&p->run_index);
}

void plan_free(struct plan *p) {
    plan_clear(p);
    free(p->inputs);
    free(p->machine_index.slot);
    free(p->run_index.slot);
    free(p->input_index.slot);
    run_bases_free(&p->bases);
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

static void machine_key(struct plan_machine *m) {
    struct digest d;
    digest_start(&d);
    digest_text(&d, m->machine.config_hash);
    digest_text(&d, m->machine.model);
    digest_text(&d, m->machine.preset);
    digest_add(&d, &m->options.cycle_limit, sizeof m->options.cycle_limit);
    digest_end(&d, m->key);
}

int plan_machine(struct plan *p, const struct heddle_options *o, char *err, size_t err_size) {
    struct plan_machine m = {.options = {.cycle_limit = o->cycle_limit}};
    if (!run_machine_plan(&m.machine, o, &p->bases, err, err_size)) {
        run_machine_free(&m.machine);
        return -1;
    }
    machine_key(&m);
    int there = find(p, MACHINES, m.key);
    if (there >= 0 || !grow((void **)&p->machines, p->n_machines, sizeof m)) {
        run_machine_free(&m.machine);
        snprintf(err, err_size, "%s", no_memory);
        return there;
    }
    struct plan_machine *added = &p->machines[p->n_machines++];
    *added = m;
    if (options_copy(&added->options, o) && put(p, MACHINES, p->n_machines))
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

/* Returns the digest of the run's input files, or NULL with the reason. */
static const char *input_of(struct plan *p, const struct bench *b, char *err, size_t err_size) {
    struct plan_input in = {.bench = b};
    digest_of(&b, sizeof b, in.key);
    int at = find(p, INPUTS, in.key);
    if (at >= 0)
        return p->inputs[at].hash;
    if (!digest_input(b, in.hash, err, err_size))
        return NULL;
    bool fine = grow((void **)&p->inputs, p->n_inputs, sizeof in);
    if (fine)
        p->inputs[p->n_inputs++] = in;
    if (fine && put(p, INPUTS, p->n_inputs))
        return p->inputs[p->n_inputs - 1].hash;
    snprintf(err, err_size, "%s", no_memory);
    return NULL;
}

bool plan_describe(struct plan *p, const struct bench *b, enum bench_size size, int machine, struct run_what *out,
                   char *err, size_t err_size) {
    const struct own *own = bench_own(b);
    const char *hash = input_of(p, b, err, err_size);
    *out = (struct run_what){.program = own && own->label ? own->label : b->name,
                             .size = bench_size_name(size),
                             .machine = &p->machines[machine].machine,
                             .cycle_limit = p->machines[machine].options.cycle_limit,
                             .values = own && own->setting ? own->launch
                                       : *p->sampling      ? p->sampling
                                                           : NULL};
    memcpy(out->binary, p->binary, sizeof out->binary);
    if (hash)
        memcpy(out->program_hash, hash, sizeof out->program_hash);
    if (hash && *p->sampling) { /* a sampled run has a key of its own */
        struct digest d;
        digest_start(&d);
        digest_text(&d, hash);
        digest_text(&d, p->sampling);
        digest_end(&d, out->program_hash);
    }
    return hash != NULL;
}

int plan_add(struct plan *p, const struct bench *b, enum bench_size size, int machine, char *err, size_t err_size) {
    struct run_what what;
    struct plan_run run = {.bench = b, .size = size, .machine = machine};
    if (!plan_describe(p, b, size, machine, &what, err, err_size))
        return -1;
    int there = find(p, RUNS, run_key(&what, run.key));
    if (there >= 0)
        return there;
    if (grow((void **)&p->runs, p->n_runs, sizeof run)) {
        p->runs[p->n_runs++] = run;
        if (put(p, RUNS, p->n_runs))
            return p->n_runs - 1;
    }
    snprintf(err, err_size, "%s", no_memory);
    return -1;
}

void plan_keep(struct plan *p, const bool *keep) {
    int n = 0;
    for (int i = 0; i < p->n_runs; i++)
        if (keep[i])
            p->runs[n++] = p->runs[i];
    p->n_runs = n;
    index_clear(&p->run_index);
    for (int i = 0; i < n; i++)
        *slot_of(p, RUNS, &p->run_index, p->runs[i].key) = i + 1;
}

int plan_has(const struct plan *p, struct results_db *db, int i, char *err, size_t err_size) {
    return p->profile ? results_has_profile(db, p->runs[i].key, err, err_size)
                      : results_has(db, p->runs[i].key, err, err_size);
}

void plan_run_name(const struct plan *p, int run, char *out, size_t size) {
    const struct plan_run *r = &p->runs[run];
    const struct run_machine *m = &p->machines[r->machine].machine;
    const struct own *own = bench_own(r->bench);
    int n = snprintf(out, size, "%s in %s on %s", own && own->label ? own->label : r->bench->name, m->model, m->preset);
    for (int i = 0; own && own->setting && own->setting(own, i) && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, " values.%s", own->setting(own, i));
    for (int i = 0; i < m->n_settings && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, " %s=%s", m->settings[i].option, m->settings[i].value);
}
