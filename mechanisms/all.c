#include "all.h"
#include "timing/mem/replacement.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/sched_ops.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

static const struct mechanism *const list[] = {
#define MECHANISM(name) &mechanism_##name,
#include "all.def"
    NULL,
};

static const struct model_word words[] = {
#define MODEL_WORD(word, meaning, base, ...) {word, meaning, base, {__VA_ARGS__}},
#include "all.def"
    {.name = NULL},
};

const struct model_tables model_tables = {list, words};

/* Filled once, constant afterwards. */
enum { MAX_PASSES = 64, MAX_INSTRUCTIONS = 16, MAX_POLICIES = 32 };
static struct pass all_passes[MAX_PASSES];
static const struct compound_ops *all_instructions[MAX_INSTRUCTIONS];
static const struct sched_ops *all_schedulers[MAX_POLICIES];
static const struct replacement_ops *all_replacements[MAX_POLICIES];
static const struct cta_ops *all_cta_policies[MAX_POLICIES];

static int add_passes_before(const char *place, int n) {
    for (const struct mechanism *const *m = list; *m; m++)
        for (const struct pass *const *p = (*m)->passes; p && *p; p++)
            if (strcmp((*p)->before, place) == 0) {
                assert(n < MAX_PASSES - 1);
                all_passes[n++] = **p;
            }
    return n;
}

static void merge_passes(void) {
    int n = 0;
    for (const struct pass *p = passes; p->name; p++) {
        n = add_passes_before(p->name, n);
        assert(n < MAX_PASSES - 1);
        all_passes[n++] = *p;
    }
}

static void list_instructions(void) {
    int n = 0;
    for (const struct mechanism *const *m = list; *m; m++)
        for (const struct compound_ops *const *c = (*m)->instructions; c && *c; c++) {
            assert(n < MAX_INSTRUCTIONS - 1);
            all_instructions[n++] = *c;
        }
}

static void list_schedulers(void) {
    int n = 0;
    for (; sched_built_in[n]; n++)
        all_schedulers[n] = sched_built_in[n];
    for (const struct mechanism *const *m = list; *m; m++)
        for (const struct sched_ops *const *s = (*m)->schedulers; s && *s; s++) {
            assert(n < MAX_POLICIES - 1);
            all_schedulers[n++] = *s;
        }
}

static void list_replacements(void) {
    int n = 0;
    for (; replacement_built_in[n]; n++)
        all_replacements[n] = replacement_built_in[n];
    for (const struct mechanism *const *m = list; *m; m++)
        for (const struct replacement_ops *const *r = (*m)->replacements; r && *r; r++) {
            assert(n < MAX_POLICIES - 1);
            all_replacements[n++] = *r;
        }
}

static void list_cta_policies(void) {
    int n = 0;
    for (; cta_built_in[n]; n++)
        all_cta_policies[n] = cta_built_in[n];
    for (const struct mechanism *const *m = list; *m; m++)
        for (const struct cta_ops *const *c = (*m)->cta_policies; c && *c; c++) {
            assert(n < MAX_POLICIES - 1);
            all_cta_policies[n++] = *c;
        }
}

static void make_tables(void) {
    merge_passes();
    list_instructions();
    list_schedulers();
    list_replacements();
    list_cta_policies();
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const struct pass *mechanism_passes(void) {
    pthread_once(&once, make_tables);
    return all_passes;
}

const struct compound_ops *const *mechanism_instructions(void) {
    pthread_once(&once, make_tables);
    return all_instructions;
}

const struct sched_ops *const *mechanism_schedulers(void) {
    pthread_once(&once, make_tables);
    return all_schedulers;
}

const struct replacement_ops *const *mechanism_replacements(void) {
    pthread_once(&once, make_tables);
    return all_replacements;
}

const struct cta_ops *const *mechanism_cta_policies(void) {
    pthread_once(&once, make_tables);
    return all_cta_policies;
}

const struct sched_ops *mechanism_scheduler(const char *name) {
    const struct sched_ops *const *at = mechanism_schedulers();
    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    return *at;
}

const struct replacement_ops *mechanism_replacement(const char *name) {
    const struct replacement_ops *const *at = mechanism_replacements();
    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    return *at;
}

const struct cta_ops *mechanism_cta_policy(const char *name) {
    const struct cta_ops *const *at = mechanism_cta_policies();
    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    return *at;
}
