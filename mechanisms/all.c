#include "all.h"
#include "timing/mem/bypass.h"
#include "timing/mem/replacement.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/sched/sched_ops.h"
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

static void make_tables(void);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Defines the table of all policies of one kind, in which the built-in policies come first, and the functions
 * mechanism_<many>() and mechanism_<one>(), which read it. */
#define POLICIES(one, many, ops, built_in)                                                                             \
    static const struct ops *all_##many[MAX_POLICIES];                                                                 \
    static void list_##many(void) {                                                                                    \
        int n = 0;                                                                                                     \
        for (; built_in[n]; n++)                                                                                       \
            all_##many[n] = built_in[n];                                                                               \
        for (const struct mechanism *const *m = list; *m; m++)                                                         \
            for (const struct ops *const *p = (*m)->many; p && *p; p++) {                                              \
                assert(n < MAX_POLICIES - 1);                                                                          \
                all_##many[n++] = *p;                                                                                  \
            }                                                                                                          \
    }                                                                                                                  \
    const struct ops *const *mechanism_##many(void) {                                                                  \
        pthread_once(&once, make_tables);                                                                              \
        return all_##many;                                                                                             \
    }                                                                                                                  \
    const struct ops *mechanism_##one(const char *name) {                                                              \
        const struct ops *const *at = mechanism_##many();                                                              \
        while (*at && strcmp((*at)->name, name) != 0)                                                                  \
            at++;                                                                                                      \
        return *at;                                                                                                    \
    }

POLICIES(scheduler, schedulers, sched_ops, sched_built_in)
POLICIES(replacement, replacements, replacement_ops, replacement_built_in)
POLICIES(bypass, bypasses, bypass_ops, bypass_built_in)
POLICIES(cta_policy, cta_policies, cta_ops, cta_built_in)

static void make_tables(void) {
    merge_passes();
    list_instructions();
    list_schedulers();
    list_replacements();
    list_bypasses();
    list_cta_policies();
}

const struct pass *mechanism_passes(void) {
    pthread_once(&once, make_tables);
    return all_passes;
}

const struct compound_ops *const *mechanism_instructions(void) {
    pthread_once(&once, make_tables);
    return all_instructions;
}
