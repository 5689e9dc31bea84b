/* Finds machine options that have no effect in the chosen models. */
#include "cmd.h"
#include "host/models.h"
#include "timing/config/config.h"
#include <string.h>

static bool is_model(const char *name, size_t len, const char *family) {
    size_t n = strlen(family);
    return len >= n && memcmp(name, family, n) == 0 && strspn(name + n, "0123456789") + n == len;
}

static bool word_has(const struct model_word *w, const char *family) {
    for (const char *const *x = w->extensions; *x; x++)
        if (strcmp(*x, family) == 0)
            return true;
    return strcmp(w->base, family) == 0;
}

/* Returns true if one of the models (names joined by commas) has the mechanism as its base or as an extension. */
static bool runs(const char *models, const char *family) {
    for (const char *at = models; *at;) {
        size_t len = strcspn(at, "+,");
        const struct model_word *w = model_word_of(&model_tables, at, len);
        if (is_model(at, len, family) || (w && word_has(w, family)))
            return true;
        at += len + (at[len] != '\0');
    }
    return false;
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool begins_one(const char *text, const char *const *with) {
    for (; with && *with; with++)
        if (begins(text, *with))
            return true;
    return false;
}

/* Returns the next base or extension after `after` (NULL: the first) that owns the option; NULL: none. An option that
 * no mechanism owns affects every model. */
static const struct mechanism *owner_of(const char *key, const struct mechanism *after) {
    const struct mechanism *const *at = model_tables.mechanisms;
    while (after && *at++ != after)
        ;
    for (; *at; at++)
        if ((*at)->kind != MECHANISM_MACHINE && mechanism_has_option(*at, key))
            return *at;
    return NULL;
}

/* Returns true if the option may have an effect in the functional model: each option of a mechanism, and the options of
 * reconvergence, native code, the order of CTAs, the compute capability and the warp size. */
static bool of_reconvergence(const char *key) {
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        if (mechanism_has_option(*m, key))
            return true;
    static const char *const of_execution[] = {"reconv",       "gpu.jit", "gpu.order",        "gpu.capability",
                                               "sm.warp_size", "core.",   "gpu.mma_accuracy", NULL};
    return begins_one(key, of_execution);
}

/* Returns true if the text before "=" is the name of a mechanism, not the key of an option. */
static bool names_mechanism(const char *set) {
    const size_t len = strcspn(set, "=");
    for (const struct mechanism *const *at = model_tables.mechanisms; *at; at++)
        if ((*at)->kind != MECHANISM_MACHINE && strlen((*at)->name) == len && begins(set, (*at)->name))
            return true;
    return false;
}

/* Prefixes of the options that affect only one of the two memory models behind the L1: memory.model=fixed or
 * memory.model=full. */
static const char *const of_fixed[] = {"memory.latency=", "memory.requests=", NULL};
static const char *const of_full[] = {"l2.", "dram.", "icnt.", "gpc.", "peer.l2_", "peer.icnt_", NULL};

/* Sets *fixed and *full: whether a chosen machine uses this memory model. The last assignment of memory.model decides
 * (a sweep may list both models), or the configuration if there is no assignment. */
static void memory_models(const struct sim *sim, bool *fixed, bool *full) {
    static const char key[] = "memory.model=";
    const char *given = NULL, *file = sim->o.config;
    struct config config;
    char err[512];
    for (const char *const *s = sim->set; *s; s++)
        if (begins(*s, key))
            given = *s + strlen(key);
    if (given) {
        *fixed = strstr(given, "fixed") != NULL;
        *full = strstr(given, "full") != NULL;
        return;
    }
    config_default(&config);
    *fixed = file && config_load(&config, file, err, sizeof err) && config.memory.model == MEMORY_FIXED;
    *full = !*fixed;
}

void sim_note(const struct cli *c, const struct sim *sim) {
    bool fixed = true, full = true;
    for (const char *const *s = sim->set; *s; s++) {
        bool is_fixed = begins_one(*s, of_fixed), is_full = begins_one(*s, of_full);
        if (is_fixed || is_full)
            memory_models(sim, &fixed, &full);
        if (is_fixed ? !fixed : is_full && !full)
            fprintf(stderr, "heddle %s: note: -s %s: %.*s changes nothing %s memory.model=fixed\n", c->command->name,
                    *s, (int)strcspn(*s, "="), *s, is_fixed ? "without -s" : "with");
    }
}

bool sim_effective(const struct cli *c, const char *models, const struct sim *sim) {
    enum { WHOLE = 64 }; /* a list with more assignments is a whole configuration, copied from a result */
    const char *functional = MODEL_DEFAULT;
    const char *const *set = sim->set;
    int n = 0;
    for (const char *const *s = set; *s; s++, n++)
        if (begins(*s, "reconv="))
            functional = *s + strlen("reconv=");
    if (n >= WHOLE)
        return true;
    bool timed = !runs(models, "functional") || strchr(models, ',');
    for (const char *const *s = set; *s; s++) {
        int len = (int)strcspn(*s, "=");
        if (names_mechanism(*s)) {
            cli_error(c, "-s %s: %.*s is no option, it is said with the model: 'heddle list models' shows how", *s, len,
                      *s);
            return false;
        }
        const struct mechanism *owner = owner_of(*s, NULL);
        bool used = !owner;
        for (const struct mechanism *m = owner; m; m = owner_of(*s, m))
            used = used || runs(models, m->name) || (runs(models, "functional") && runs(functional, m->name));
        if (!used) {
            cli_error(c, "-s %s: %.*s is an option of model '%s', which does not run", *s, len, *s, owner->name);
            return false;
        }
        if (!timed && !of_reconvergence(*s)) {
            cli_error(c, "-s %s: the functional model has no time, and %.*s changes nothing in it", *s, len, *s);
            return false;
        }
    }
    sim_note(c, sim);
    return true;
}
