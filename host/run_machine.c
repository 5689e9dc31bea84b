/* Identifies a run: its machine, and the key under which its result is stored. */
#include "context.h"
#include "host/results/digest.h"
#include "host/results/results_db.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)RESULTS_HASH == (int)DIGEST_TEXT, "a key is a digest");

void run_machine_free(struct run_machine *m) {
    for (int i = 0; i < m->n_settings; i++) {
        free(m->settings[i].option);
        free(m->settings[i].value);
    }
    free(m->settings);
    free(m->model);
    free(m->preset);
    free(m->config);
    *m = (struct run_machine){0};
}

static bool add_setting(struct run_machine *m, const char *option, const char *value) {
    struct run_setting *more = realloc(m->settings, (size_t)(m->n_settings + 1) * sizeof *more);
    if (!more)
        return false;
    m->settings = more;
    more[m->n_settings] = (struct run_setting){strdup(option), strdup(value)};
    m->n_settings++;
    return more[m->n_settings - 1].option && more[m->n_settings - 1].value;
}

/* Computes the configuration that the context would have without the user's assignments: that of its preset and
 * model. */
static bool untouched(const struct heddle *h, struct config *out, char *err, size_t err_size) {
    config_default(out);
    return config_load(out, h->config_name, err, err_size) &&
           (!h->model.base->set || config_set(out, h->model.base->set, err, err_size));
}

static bool collect(struct run_machine *m, const struct heddle *h, const struct config *plain) {
    cJSON *o = cJSON_CreateObject();
    bool fine = o && cJSON_AddStringToObject(o, "reconv", h->reconv->name);
    if (fine && h->reconv != h->model.base->ops)
        fine = add_setting(m, "reconv", h->reconv->name);
    for (const struct opt *opt = config_options(); fine && opt->key; opt++) {
        char value[256], own[256];
        config_value(&h->config, opt, value, sizeof value);
        config_value(plain, opt, own, sizeof own);
        fine =
            cJSON_AddStringToObject(o, opt->key, value) && (strcmp(value, own) == 0 || add_setting(m, opt->key, value));
    }
    m->config = fine ? cJSON_PrintUnformatted(o) : NULL;
    cJSON_Delete(o);
    return m->config != NULL;
}

bool run_machine_find(struct run_machine *m, const struct heddle_options *o, char *err, size_t err_size) {
    *m = (struct run_machine){0};
    struct heddle *h = heddle_open(o, err, err_size);
    if (!h)
        return false;
    struct config plain;
    bool fine = untouched(h, &plain, err, err_size);
    if (fine) {
        m->model = strdup(h->model_name);
        m->preset = strdup(h->config_name);
        fine = m->model && m->preset && collect(m, h, &plain);
        if (!fine)
            snprintf(err, err_size, "the host is out of memory");
    }
    heddle_close(h);
    if (fine)
        digest_of(m->config, strlen(m->config), m->config_hash);
    return fine;
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
