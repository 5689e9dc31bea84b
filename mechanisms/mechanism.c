#include "mechanism.h"
#include "timing/config/config.h"
#include <string.h>

const struct model *model_at(const struct model_tables *t, int n) {
    for (const struct mechanism *const *at = t->mechanisms; *at; at++)
        for (const struct model *m = (*at)->models; m && m->name; m++)
            if (!n--)
                return m;
    return NULL;
}

const struct mechanism *extension_at(const struct model_tables *t, int n) {
    for (const struct mechanism *const *at = t->mechanisms; *at; at++)
        if ((*at)->kind == MECHANISM_EXTENSION && !n--)
            return *at;
    return NULL;
}

bool model_has(const struct model_spec *s, const char *extension) {
    for (const char *const *e = s->extensions; *e; e++)
        if (strcmp(*e, extension) == 0)
            return true;
    return false;
}

static bool takes_part(const struct mechanism *m, const struct model_spec *s) {
    if (m->kind == MECHANISM_EXTENSION)
        return model_has(s, m->name);
    for (const struct model *b = m->models; b && b->name; b++)
        if (b == s->base)
            return true;
    return m->kind == MECHANISM_MACHINE;
}

const struct mechanism *mechanism_next(const struct mechanism *const **at, const struct model_spec *s) {
    while (**at) {
        const struct mechanism *m = *(*at)++;
        if (takes_part(m, s))
            return m;
    }
    return NULL;
}

uint32_t mechanism_units(const struct mechanism *const *list, const struct model_spec *s, const struct config *cfg,
                         struct sm_unit_row *out, uint32_t most) {
    const struct mechanism *m;
    uint32_t n = 0;
    while (n < most && (m = mechanism_next(&list, s)))
        if (m->unit && (!m->on || m->on(cfg)))
            out[n++] = (struct sm_unit_row){m->unit, NULL};
    return n;
}

uint32_t mechanism_prefetchers(const struct mechanism *const *list, const struct model_spec *s,
                               const struct config *cfg, struct prefetcher_row *out, uint32_t most) {
    const struct mechanism *m;
    uint32_t n = 0;
    while ((m = mechanism_next(&list, s))) {
        if (m->on && !m->on(cfg))
            continue;
        if (m->at_l1 && n < most)
            out[n++] = (struct prefetcher_row){m->at_l1, NULL, PREFETCH_AT_L1};
        if (m->at_slices && n < most)
            out[n++] = (struct prefetcher_row){m->at_slices, NULL, PREFETCH_AT_L2};
    }
    return n;
}

static const struct opt *option_of(const char *key) {
    const size_t len = strcspn(key, "=");
    const struct opt *o = config_options();
    while (o->key && (strlen(o->key) != len || strncmp(o->key, key, len) != 0))
        o++;
    return o->key ? o : NULL;
}

bool mechanism_has_option(const struct mechanism *m, const char *key) {
    for (const char *const *with = m->options; with && *with; with++)
        if (strncmp(key, *with, strlen(*with)) == 0)
            return true;
    const struct opt *o = m->shares ? option_of(key) : NULL;
    for (const struct config_part *part = m->shares; o && part->size; part++)
        if (o->offset >= part->at && o->offset < part->at + part->size)
            return true;
    return false;
}

/* Returns a group that has both mechanisms; NULL: there is none. */
static const char *shared_group(const struct mechanism *a, const struct mechanism *b) {
    for (const char *const *x = a->groups; x && *x; x++)
        for (const char *const *y = b->groups; y && *y; y++)
            if (strcmp(*x, *y) == 0)
                return *x;
    return NULL;
}

const struct mechanism *model_rival(const struct model_tables *t, const struct model_spec *s, const struct mechanism *m,
                                    const char **group) {
    const struct mechanism *e;
    for (int i = 0; (e = extension_at(t, i)); i++)
        if (e != m && model_has(s, e->name) && (*group = shared_group(e, m)))
            return e;
    return NULL;
}

const char *model_needs_time(const struct model_spec *s) {
    return s->base->functional ? "changes how long a kernel takes, not what it computes; take a timing model" : NULL;
}

const char *model_needs_paths(const struct model_spec *s) {
    if (s->base->functional)
        return model_needs_time(s);
    return s->base->ops->flags & RECONV_SIDE_BY_SIDE ? NULL
                                                     : "issues paths of a warp together, and under this model one path "
                                                       "of a warp can issue at a time; 'heddle "
                                                       "help joint-issue' lists the bases with several";
}
