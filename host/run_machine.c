/* Identifies a run: its machine, and the key under which its result is stored. */
#include "context.h"
#include "host/results/digest.h"
#include "host/results/results_db.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)RESULTS_HASH == (int)DIGEST_TEXT, "a key is a digest");

/* The configuration that a preset and a model give without the user's assignments. Machines share it. */
struct run_base {
    struct run_base *next;
    int uses; /* number of machines and lists that refer to it */
    char *preset, *model;
    struct config plain;
    char *json;
    char hash[RESULTS_HASH];
};

static void let_go(struct run_base *b) {
    if (!b || --b->uses)
        return;
    free(b->preset);
    free(b->model);
    cJSON_free(b->json);
    free(b);
}

void run_bases_free(struct run_base **known) {
    while (*known) {
        struct run_base *b = *known;
        *known = b->next;
        let_go(b);
    }
}

/* Returns all options as JSON. NULL: the host is out of memory. */
static char *json_of(const struct config *c, const char *reconv) {
    cJSON *o = cJSON_CreateObject();
    bool fine = o && cJSON_AddStringToObject(o, "reconv", reconv);
    for (const struct opt *opt = config_options(); fine && opt->key; opt++) {
        char value[256];
        config_value(c, opt, value, sizeof value);
        fine = cJSON_AddStringToObject(o, opt->key, value);
    }
    char *text = fine ? cJSON_PrintUnformatted(o) : NULL;
    cJSON_Delete(o);
    return text;
}

static bool fill_base(struct run_base *b, const char *preset, const char *model, char *err, size_t err_size) {
    struct model_spec spec;
    config_default(&b->plain);
    if (!model_parse(&model_tables, model, &spec, err, err_size) || !config_load(&b->plain, preset, err, err_size) ||
        (spec.base->set && !config_set(&b->plain, spec.base->set, err, err_size)))
        return false;
    b->preset = strdup(preset);
    b->model = strdup(model);
    b->json = json_of(&b->plain, spec.base->ops->name);
    if (b->preset && b->model && b->json) {
        digest_of(b->json, strlen(b->json), b->hash);
        return true;
    }
    snprintf(err, err_size, "the host is out of memory");
    return false;
}

/* Returns the base of a preset and a model, which it adds to `known` if it is new there. */
static struct run_base *find_base(struct run_base **known, const char *preset, const char *model, char *err,
                                  size_t err_size) {
    for (struct run_base *b = *known; b; b = b->next)
        if (strcmp(b->preset, preset) == 0 && strcmp(b->model, model) == 0)
            return b;
    struct run_base *b = calloc(1, sizeof *b);
    if (!b) {
        snprintf(err, err_size, "the host is out of memory");
        return NULL;
    }
    b->uses = 1;
    if (!fill_base(b, preset, model, err, err_size)) {
        let_go(b);
        return NULL;
    }
    b->next = *known;
    *known = b;
    return b;
}

void run_machine_free(struct run_machine *m) {
    for (int i = 0; i < m->n_settings; i++) {
        free(m->settings[i].option);
        free(m->settings[i].value);
    }
    free(m->settings);
    let_go(m->of);
    *m = (struct run_machine){0};
}

static bool add_setting(struct run_machine *m, struct digest *d, const char *option, const char *value) {
    struct run_setting *more = realloc(m->settings, (size_t)(m->n_settings + 1) * sizeof *more);
    if (!more)
        return false;
    m->settings = more;
    more[m->n_settings] = (struct run_setting){strdup(option), strdup(value)};
    m->n_settings++;
    digest_text(d, option);
    digest_text(d, value);
    return more[m->n_settings - 1].option && more[m->n_settings - 1].value;
}

/* Finds the options that differ from those of the base, and makes the digest of the configuration. */
static bool collect(struct run_machine *m, const struct heddle *h) {
    struct digest d;
    bool fine = true;
    digest_start(&d);
    digest_text(&d, m->of->hash);
    if (h->reconv != h->model.base->ops)
        fine = add_setting(m, &d, "reconv", h->reconv->name);
    for (const struct opt *opt = config_options(); fine && opt->key; opt++) {
        char value[256];
        if (config_same(&h->config, &m->of->plain, opt))
            continue;
        config_value(&h->config, opt, value, sizeof value);
        fine = add_setting(m, &d, opt->key, value);
    }
    digest_end(&d, m->config_hash);
    return fine;
}

bool run_machine_plan(struct run_machine *m, const struct heddle_options *o, struct run_base **known, char *err,
                      size_t err_size) {
    const char *preset = o->config ? o->config : "fermi", *model = model_meant(o->model, o->check);
    *m = (struct run_machine){0};
    struct run_base *b = find_base(known, preset, model, err, err_size);
    struct heddle *h =
        b ? context_open(o, &(struct context_parts){.models = &model_tables, .begin = &b->plain, .no_machine = true},
                         err, err_size)
          : NULL;
    if (!h)
        return false;
    b->uses++;
    *m = (struct run_machine){.of = b, .model = b->model, .preset = b->preset, .base = b->json};
    bool fine = collect(m, h);
    if (!fine)
        snprintf(err, err_size, "the host is out of memory");
    heddle_close(h);
    return fine;
}

bool run_machine_find(struct run_machine *m, const struct heddle_options *o, char *err, size_t err_size) {
    struct run_base *known = NULL;
    bool fine = run_machine_plan(m, o, &known, err, err_size);
    run_bases_free(&known);
    return fine;
}

struct heddle *run_machine_open(const struct run_machine *m, const struct heddle_options *o, char *err,
                                size_t err_size) {
    const struct context_parts parts = {.models = &model_tables, .begin = &m->of->plain};
    return context_open(o, &parts, err, err_size);
}

const char *run_key(const struct run_what *w, char out[RESULTS_HASH]) {
    struct digest d;
    digest_start(&d);
    digest_text(&d, w->program);
    digest_text(&d, w->program_hash);
    digest_text(&d, w->size);
    digest_text(&d, w->machine->model);
    digest_text(&d, w->machine->preset);
    digest_text(&d, w->machine->config_hash);
    digest_text(&d, w->binary);
    digest_add(&d, &w->cycle_limit, sizeof w->cycle_limit);
    return digest_end(&d, out);
}

bool run_binary(char out[RESULTS_HASH], char *err, size_t err_size) {
    if (digest_file("/proc/self/exe", out))
        return true;
    snprintf(err, err_size, "the program itself cannot be read (/proc/self/exe): %s", strerror(errno));
    return false;
}
