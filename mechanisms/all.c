#include "all.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

static const struct mechanism *const list[] = {
#define MECHANISM(name) &mechanism_##name,
#include "all.def"
#undef MECHANISM
    NULL,
};

static const struct model_word words[] = {
    {"pepsc", "what the PEPSC core has (docs/pepsc.md)", "spe", {"chain", "fold", "reduce", "ddp"}},
    {.name = NULL},
};

const struct model_tables model_tables = {list, words};

/* Made once and constant from then on. */
enum { MAX_PASSES = 64 };
static struct pass all_passes[MAX_PASSES];

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

const struct pass *mechanism_passes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, merge_passes);
    return all_passes;
}
