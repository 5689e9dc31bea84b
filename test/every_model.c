/* Makes the lists of models for tests (every_model.h). A base is a reconvergence model; an extension is added to a
 * base by its name, as in "spe+dac". */
#include "every_model.h"
#include "host/models.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static void add(struct every_model *e, const struct model *m) {
    assert(e->n < MAX_MODELS);
    e->name[e->n] = m->name;
    e->ops[e->n++] = m->ops;
}

static bool has_short_forms(const struct model *m) {
    const struct model *o;
    for (int i = 0; (o = model_at(&model_tables, i)); i++)
        if (o->ops == m->ops && o->set)
            return true;
    return false;
}

const struct every_model *base_models(void) {
    static struct every_model all;
    static bool full;
    const struct model *m;
    for (int i = 0; !full && (m = model_at(&model_tables, i)); i++)
        if (!m->functional && !m->set)
            add(&all, m);
    full = true;
    return &all;
}

const struct every_model *bases_with(const char *with) {
    enum { LISTS = 16, NAME = 32 };
    static struct {
        const char *with;
        struct every_model all;
        char name[MAX_MODELS][NAME];
    } lists[LISTS];
    int at = 0;
    while (lists[at].with && strcmp(lists[at].with, with) != 0)
        at++;
    assert(at < LISTS);
    if (lists[at].with)
        return &lists[at].all;
    for (int i = 0; i < base_models()->n; i++) {
        snprintf(lists[at].name[i], NAME, "%s%s", base_models()->name[i], with);
        lists[at].all.name[i] = lists[at].name[i];
    }
    lists[at].all.n = base_models()->n;
    lists[at].with = with;
    return &lists[at].all;
}

const struct every_model *timed_models(void) {
    static struct every_model all;
    static bool full;
    const struct model *m;
    for (int i = 0; !full && (m = model_at(&model_tables, i)); i++)
        if (!m->functional && (m->set || !has_short_forms(m)))
            add(&all, m);
    full = true;
    return &all;
}

static bool has_extension(const struct every_model *e, const char *name) {
    struct model_spec s;
    char err[256];
    for (int i = 0; i < e->n; i++)
        if (model_parse(&model_tables, e->name[i], &s, err, sizeof err) && model_has(&s, name))
            return true;
    return false;
}

/* Adds each extension that no model in the list has yet. Such an extension is added by its name alone, which means the
 * baseline with this extension. */
static void add_others(struct every_model *e) {
    const struct mechanism *x;
    for (int i = 0; (x = extension_at(&model_tables, i)); i++) {
        if (has_extension(e, x->name))
            continue;
        assert(e->n < MAX_MODELS);
        e->name[e->n++] = x->name;
    }
}

const struct every_model *mixed_models(void) {
    /* few of these combinations have the extension dac, because the test suites of dac combine it with every base
     * model */
    static const char *const extended[] = {
        "spe+dac",        "dpe+dac",       "dws50+dac",         "its+dac",    "tbc+dac",       "pepsc",
        "pepsc+dac",      "spe+cae",       "its+cae+mta",       "dpe+mta",    "spe+stride",    "si+ddp",
        "spe+dac+stride", "its+dac+ddp",   "spe+chain",         "dpe+reduce", "anypc+sbi+swi", "multipath+mimd",
        "anypc+dwf",      "its+specrecon", "dpe+ccws+nextline", "dws50+sld"};
    static struct every_model all;
    enum { N = sizeof extended / sizeof extended[0] };
    const struct every_model *timed = timed_models();
    if (all.n)
        return &all;
    assert(timed->n + N <= MAX_MODELS);
    for (int i = 0; i < timed->n; i++)
        all.name[all.n++] = timed->name[i];
    for (int i = 0; i < N; i++)
        all.name[all.n++] = extended[i];
    add_others(&all);
    return &all;
}

const struct mechanism *const *bases_and(const struct mechanism *const *more, const struct mechanism **list) {
    int n = 0;
    for (const struct mechanism *const *at = model_tables.mechanisms; *at; at++)
        if ((*at)->kind == MECHANISM_BASE)
            list[n++] = *at;
    for (; *more; more++)
        list[n++] = *more;
    assert(n < MAX_LISTED_MECHANISMS);
    list[n] = NULL;
    return list;
}
