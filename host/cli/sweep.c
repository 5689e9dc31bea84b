/* The runs that a command line `heddle sweep ...` describes (sweep.h). */
#include "sweep.h"
#include "cmd_runs.h"
#include "host/models.h"
#include <stdlib.h>
#include <string.h>

int sweep_add(struct sweep *s, uint64_t number, char *err, size_t err_size) {
    const char **set = calloc((size_t)s->axes.n + 1, sizeof *set);
    struct heddle_options o = s->sim.o;
    int run = -1;
    o.set = set;
    if (set) {
        o.model = s->models[axes_combination(&s->axes, number / (uint64_t)s->n_benches, set)];
        int machine = plan_machine(&s->plan, &o, err, err_size);
        if (machine >= 0)
            run = plan_add(&s->plan, s->benches[number % (uint64_t)s->n_benches], (enum bench_size)s->size, machine,
                           err, err_size);
    } else {
        snprintf(err, err_size, "the host is out of memory");
    }
    free(set);
    return run;
}

void sweep_words(const struct cli *c, void (*put)(void *ctx, const char *word), void *ctx) {
    static const char *const left_out[] = {"output", "jobs", "slurm", "tasks", "part", "dry-run", "queue", "live"};
    for (int i = 0; i < c->n_options; i++) {
        const struct cli_option *o = &c->options[i];
        char name[64];
        bool out = false;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            out |= strcmp(o->def->name, left_out[k]) == 0;
        if (out)
            continue;
        snprintf(name, sizeof name, "--%s", o->def->name);
        put(ctx, name);
        if (o->def->value)
            put(ctx, o->value);
    }
    put(ctx, "--");
    for (int i = 0; i < c->n_words; i++)
        put(ctx, c->words[i]);
}

/* Sets the number of runs. */
static bool count(struct sweep *s) {
    uint64_t n = axes_product(&s->axes, SWEEP_MOST);
    s->runs = n > SWEEP_MOST ? n : n * (uint64_t)s->n_models;
    s->runs = s->runs > SWEEP_MOST ? s->runs : s->runs * (uint64_t)s->n_benches;
    if (s->runs > SWEEP_MOST)
        cli_error(s->c, "more than %d runs; a sweep of so many is taken apart", SWEEP_MOST);
    return s->runs <= SWEEP_MOST;
}

/* Reads --sampled. A program in a file cannot be sampled, because the database stores the sampling where it stores the
 * values of such a program. */
static bool sampling(struct sweep *s) {
    struct plan *p = &s->plan;
    for (int m = 0; m < s->n_models; m++)
        if (!cli_sampled(s->c, s->models[m], &p->sampled, &p->error))
            return false;
    for (int i = 0; p->sampled && i < s->n_benches; i++)
        if (bench_own(s->benches[i])) {
            cli_error(s->c, "--sampled: a sweep samples built-in benchmarks only, and '%s' is a file; use 'heddle run'",
                      s->benches[i]->name);
            return false;
        }
    if (p->sampled && p->error > 0)
        snprintf(p->sampling, sizeof p->sampling, "values.sampled=%g%%", 100 * p->error);
    else if (p->sampled)
        snprintf(p->sampling, sizeof p->sampling, "values.sampled=yes");
    return true;
}

bool sweep_begin(struct sweep *s, const struct cli *c) {
    const char *given = model_meant(cli_value(c, "model"), false);
    char err[1024];
    *s = (struct sweep){.c = c, .list = strdup(given)};
    if (!s->list) {
        cli_fail(c, "the host is out of memory");
        return false;
    }
    for (char *word = strtok(s->list, ","); word && s->n_models < 32; word = strtok(NULL, ","))
        s->models[s->n_models++] = word;
    if (!c->n_words)
        cli_error(c, "which programs? For example 'heddle sweep lud -m spe,dpe'; 'heddle list benchmarks' shows them");
    else if (!s->n_models)
        cli_error(c, "--model takes names separated by commas, for example spe,dpe,dws");
    else if ((s->n_benches = runs_select(c, true, &s->benches)) > 0 && cli_size(c, &s->size) &&
             sim_options(c, &s->sim) && sim_effective(c, given, &s->sim) && axes_read(&s->axes, c, "set") && count(s)) {
        if (plan_start(&s->plan, err, sizeof err)) {
            s->plan.profile = cli_has(c, "profile");
            return sampling(s);
        }
        cli_fail(c, "%s", err);
    }
    return false;
}

void sweep_end(struct sweep *s) {
    axes_free(&s->axes);
    plan_free(&s->plan);
    sim_free(&s->sim);
    runs_free(s->benches, s->n_benches);
    free(s->list);
}
