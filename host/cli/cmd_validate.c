/* heddle validate: measures a machine, and prints the values beside figures that others published about the real
 * card. */
#include "cmd_validate.h"
#include "cmd_runs.h"
#include "help.h"
#include "host/progress.h"
#include "host/report/micro.h"
#include "reproduce/cards.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    {0, "programs", NULL, "benchmarks beside counts of public programs on the card, not micro-benchmarks (minutes)"},
    {0, "only", "TEXT", "quantities, or with --programs kernels, whose name contains TEXT"},
    {'m', "model", "MODEL", "the reconvergence model (default spe)"},
    {'c', "config", "CONFIG", "another machine beside the figures of CARD: a preset or a file"},
    {'s', "set", "KEY=VALUE", "one option of the machine; may be repeated ('heddle list options')"},
    {'j', "jobs", "N", "--programs: benchmarks at a time (default: the number of processors)"},
    {0, "json", "FILE", "write the values as JSON; - is stdout"},
    {0, "csv", "FILE", "write the table as CSV; - is stdout"},
    {0, NULL, NULL, NULL},
};

struct validation {
    const struct cli *c;
    const char *card; /* name of the card, from the command line */
    const struct micro **micros;
    double *values;
    int n;
};

static enum heddle_status list_cards(void) {
    static const char *const titles[] = {"card", "what it is", NULL};
    struct table *t = table_new(titles);
    for (const struct card *c = cards; c->name; c++) {
        table_text(t, c->name);
        table_text(t, c->title);
    }
    table_print(t, stdout);
    table_free(t);
    return HEDDLE_OK;
}

/* Returns the next published figure of a quantity after `after` (NULL: the first); NULL: there is none. */
static const struct card_figure *next_figure(const struct validation *v, const struct micro *m,
                                             const struct card_figure *after) {
    for (const struct card_figure *f = after ? after + 1 : card_figures; f->card; f++)
        if (strcmp(f->card, v->card) == 0 && strcmp(f->quantity, m->name) == 0)
            return f;
    return NULL;
}

static double difference(double measured, double published) { return measured / published - 1; }

static void add_row(struct table *t, const struct validation *v, int i, const struct card_figure *f) {
    const struct micro *m = v->micros[i];
    table_text(t, m->name);
    table_text(t, m->title);
    table_text(t, micro_unit(m));
    table_number(t, v->values[i], NUM_FIXED2);
    table_number(t, f ? f->value : NAN, NUM_FIXED2);
    table_number(t, f ? difference(v->values[i], f->value) : NAN, NUM_PERCENT);
    table_text(t, f ? f->source : "");
}

static struct table *table_of(const struct validation *v) {
    static const char *const titles[] = {"quantity",   "what it is",  "unit",   ">here",
                                         ">published", ">difference", "source", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < v->n; i++) {
        const struct card_figure *f = next_figure(v, v->micros[i], NULL);
        add_row(t, v, i, f);
        while (f && (f = next_figure(v, v->micros[i], f)))
            add_row(t, v, i, f);
    }
    return t;
}

/* Prints each source that has a figure of a measured quantity. */
static void print_sources(const struct validation *v) {
    bool first = true;
    for (const struct card_source *s = card_sources; s->name; s++) {
        bool used = false;
        for (int i = 0; i < v->n; i++)
            for (const struct card_figure *f = NULL; (f = next_figure(v, v->micros[i], f));)
                used = used || strcmp(f->source, s->name) == 0;
        if (used) {
            printf("%s%s: %s\n", first ? "\nOthers measured or documented the published figures on real cards:\n" : "",
                   s->name, s->text);
            first = false;
        }
    }
}

static bool json_figures(cJSON *row, const struct validation *v, int i) {
    cJSON *list = cJSON_AddArrayToObject(row, "published");
    for (const struct card_figure *f = NULL; list && (f = next_figure(v, v->micros[i], f));) {
        cJSON *o = cJSON_CreateObject();
        if (!cJSON_AddItemToArray(list, o) || !cJSON_AddNumberToObject(o, "value", f->value) ||
            !cJSON_AddNumberToObject(o, "difference", difference(v->values[i], f->value)) ||
            !cJSON_AddStringToObject(o, "source", card_source_find(f->source)->text))
            return false;
    }
    return list != NULL;
}

/* Makes {"heddle", "card", "quantities": [{"name", "unit", "value", "published": [...]}, ...]}. NULL: out of memory. */
static cJSON *json_of(const struct validation *v) {
    cJSON *o = cJSON_CreateObject(), *list = NULL;
    bool fine = o && cJSON_AddStringToObject(o, "heddle", HEDDLE_VERSION) &&
                cJSON_AddStringToObject(o, "card", v->card) && (list = cJSON_AddArrayToObject(o, "quantities"));
    for (int i = 0; fine && i < v->n; i++) {
        const struct micro *m = v->micros[i];
        cJSON *row = cJSON_CreateObject();
        fine = cJSON_AddItemToArray(list, row) && cJSON_AddStringToObject(row, "name", m->name) &&
               cJSON_AddStringToObject(row, "what", m->title) && cJSON_AddStringToObject(row, "unit", micro_unit(m)) &&
               cJSON_AddNumberToObject(row, "value", v->values[i]) && json_figures(row, v, i);
    }
    if (!fine) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

/* Selects the quantities of --only. Prints a message and returns false if there are none. */
static bool select_micros(struct validation *v) {
    const char *only = cli_value(v->c, "only");
    v->micros = calloc((size_t)n_micros, sizeof *v->micros);
    v->values = calloc((size_t)n_micros, sizeof *v->values);
    if (!v->micros || !v->values)
        return cli_fail(v->c, "the host is out of memory") == HEDDLE_OK;
    for (int i = 0; i < n_micros; i++)
        if (!only || strstr(micros[i].name, only))
            v->micros[v->n++] = &micros[i];
    if (!v->n)
        cli_error(v->c, "--only: no quantity has '%s' in its name; without --only, the table shows all names", only);
    return v->n > 0;
}

static enum heddle_status measure(struct validation *v, const struct heddle_options *o) {
    char err[1024];
    struct progress progress;
    progress_init(&progress, true);
    progress_start(&progress, "validate");
    for (int i = 0; i < v->n; i++) {
        progress_update(&progress, (uint64_t)i, (uint64_t)v->n, v->micros[i]->name);
        v->values[i] = micro_measure(v->micros[i], o, err, sizeof err);
        if (isnan(v->values[i])) {
            progress_end(&progress);
            return cli_fail(v->c, "%s", err);
        }
    }
    progress_end(&progress);
    struct table *t = table_of(v);
    bool printed;
    enum heddle_status status = validate_write(v->c, t, json_of(v), &printed);
    if (printed)
        print_sources(v);
    table_free(t);
    return status;
}

static enum heddle_status validate(struct validation *v, struct sim *sim) {
    char err[1024];
    sim->o.progress = false;
    if (!sim->o.config)
        sim->o.config = v->card;
    struct heddle *h = heddle_open(&sim->o, err, sizeof err); /* reports a wrong card or option once */
    if (!h)
        return card_find(v->card) ? cli_fail(v->c, "%s", err)
                                  : cli_fail(v->c, "%s; 'heddle validate list' shows the cards", err);
    heddle_close(h);
    if (cli_has(v->c, "programs"))
        return validate_programs(v->c, v->card, sim);
    return select_micros(v) && runs_files_possible(v->c) ? measure(v, &sim->o) : HEDDLE_USAGE;
}

static enum heddle_status run(const struct cli *c) {
    if (c->n_words != 1)
        return cli_error(c, "name one card, as in 'heddle validate gv100'; 'heddle validate list' shows the cards");
    if (strcmp(c->words[0], "list") == 0)
        return list_cards();
    struct validation v = {.c = c, .card = c->words[0]};
    struct sim sim;
    const char *model = cli_value(c, "model");
    enum heddle_status status = HEDDLE_USAGE;
    if (model && strcmp(model, "functional") == 0)
        status = cli_error(c, "--model: the functional model has no time; 'heddle list models' shows the others");
    else if (sim_options(c, &sim)) {
        status = validate(&v, &sim);
        sim_free(&sim);
    }
    free(v.micros);
    free(v.values);
    return status;
}

const struct command cmd_validate = {
    "validate",
    "CARD [OPTION...]",
    "measure a machine beside published figures of the real card",
    help_validate,
    options,
    run,
    false,
};
