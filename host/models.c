#include "models.h"
#include "ptx/diag.h"
#include "timing/config/models.h"
#include "timing/dac/cae.h"
#include "timing/dac/dac.h"
#include "timing/dac/mta.h"
#include "timing/pepsc/prefetch_stride.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct model models[] = {
    {"functional", "no time: results and instruction counts, as fast as possible; --set reconv=MODEL chooses its paths",
     &reconv_spe, true, NULL},
    {"spe", "single-path execution: a reconvergence stack, the baseline", &reconv_spe, false, NULL},
    {"dpe", "dual-path execution: both sides of a branch may issue", &reconv_dpe, false, NULL},
    {"dws", "dynamic warp subdivision; dws.threshold says how short a join must be (dws50 when not set)", &reconv_dws,
     false, NULL},
    {"dws10", "dws with a threshold of 10 instructions", &reconv_dws, false, "dws.threshold=10"},
    {"dws50", "dws with a threshold of 50 instructions", &reconv_dws, false, "dws.threshold=50"},
    {"dws100", "dws with a threshold of 100 instructions", &reconv_dws, false, "dws.threshold=100"},
    {"its", "convergence barriers: independent thread scheduling, one subwarp at a time", &reconv_its, false, NULL},
    {"si", "subwarp interleaving: its, and other subwarps run while one waits for memory", &reconv_si, false, NULL},
    {"minpc", "lowest PC first: no stack, paths merge where they meet", &reconv_minpc, false, NULL},
    {.name = NULL},
};

static const char *only_time(const struct model_spec *s) {
    return s->base->functional ? "changes how long a kernel takes, not what it computes; take a timing model" : NULL;
}

static const char *needs_time(const struct model_spec *s) {
    if (s->base->functional)
        return only_time(s);
    return model_has(s, "dac") ? "is what 'dac' is compared with; take one of them" : NULL;
}

/* Of three prefetchers by strides. */
static const char *is_alone(const struct model_spec *s) {
    if (model_has(s, "mta") + model_has(s, "stride") + model_has(s, "ddp") > 1)
        return "is one of the prefetchers mta, stride and ddp; take one of them";
    return only_time(s);
}

static const struct extension extensions[] = {
    {"dac", "decoupled affine computation: one affine warp computes addresses and predicates for all warps", NULL,
     &unit_dac, NULL},
    {"chain", "PEPSC: dependent f32 operations in one instruction, on chained FPUs (docs/pepsc.md)", NULL, NULL, NULL},
    {"fold", "PEPSC: short f32 operations on both sides of a branch in one instruction (docs/pepsc.md)", NULL, NULL,
     NULL},
    {"reduce", "PEPSC: sums over the lanes of a warp in one instruction, on a tree of adders (docs/pepsc-passes.md)",
     NULL, NULL, NULL},
    {"cae",
     "compact affine execution: what is affine in a warp is done once for it, on a unit of its own (docs/cae-mta.md)",
     needs_time, &cae_unit, NULL},
    {"mta", "many-thread aware prefetching: strides of warps, and from warp to warp, into the L1 (docs/cae-mta.md)",
     needs_time, &mta_unit, NULL},
    {"stride", "prefetching by the strides of loads into the L2, one stride ahead (docs/prefetching.md)", is_alone,
     &stride_unit, &stride_watch},
    {"ddp",
     "dynamic-degree prefetching: as far ahead as lines take to come, which differs by load (docs/prefetching.md)",
     is_alone, &ddp_unit, &ddp_watch},
    {.name = NULL},
};

static const struct model_word words[] = {
    {"pepsc", "what the PEPSC core has (docs/pepsc.md)", "spe", {"chain", "fold", "reduce", "ddp"}},
    {.name = NULL},
};

const struct model_tables model_tables = {models, extensions, words};

bool model_has(const struct model_spec *s, const char *extension) {
    for (const char *const *e = s->extensions; *e; e++)
        if (strcmp(*e, extension) == 0)
            return true;
    return false;
}

static const struct model *find_model(const struct model_tables *t, const char *name) {
    const struct model *m = t->models;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    return m->name ? m : NULL;
}

static const struct extension *find_extension(const struct model_tables *t, const char *name) {
    const struct extension *e = t->extensions;
    while (e->name && strcmp(e->name, name) != 0)
        e++;
    return e->name ? e : NULL;
}

const struct model_word *model_word_of(const struct model_tables *t, const char *name, size_t len) {
    for (const struct model_word *w = t->words; w && w->name; w++)
        if (strncmp(w->name, name, len) == 0 && !w->name[len])
            return w;
    return NULL;
}

void model_word_text(const struct model_tables *t, const struct model_word *w, char *out, size_t size) {
    int n = snprintf(out, size, "%s", w->base);
    for (const char *const *x = w->extensions; *x && n >= 0 && (size_t)n < size; x++)
        if (find_extension(t, *x))
            n += snprintf(out + n, size - (size_t)n, "+%s", *x);
}

/* A message in parts. */
struct reason {
    char *text;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static bool say(struct reason *r, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(r->text + r->len, r->size - r->len, fmt, args);
    va_end(args);
    if (n > 0)
        r->len += (size_t)n < r->size - r->len ? (size_t)n : r->size - r->len - 1;
    return false;
}

enum { MAX_NAMES = 64 };

/* What could have been meant; NULL when nothing is near. */
static const char *near_base(const struct model_tables *t, const char *word) {
    const char *names[MAX_NAMES];
    int n = 0;
    for (const struct model *m = t->models; m->name && n < MAX_NAMES; m++)
        names[n++] = m->name;
    for (const struct model_word *w = t->words; w && w->name && n < MAX_NAMES; w++)
        names[n++] = w->name;
    for (const struct extension *e = t->extensions; e->name && n < MAX_NAMES; e++)
        names[n++] = e->name;
    return diag_suggest(word, names, n);
}

static bool unknown_base(const struct model_tables *t, const char *word, struct reason *r) {
    const char *near = near_base(t, word);
    say(r, "no model is called '%s'", word);
    return say(r, near ? "; did you mean '%s'?" : " (see 'heddle list models')", near);
}

static bool unknown_extension(const struct model_tables *t, const char *text, const char *word, struct reason *r) {
    const char *names[MAX_NAMES];
    int n = 0;
    for (const struct extension *e = t->extensions; e->name && n < MAX_NAMES; e++)
        names[n++] = e->name;
    const char *near = diag_suggest(word, names, n);
    say(r, "model '%s': unknown extension '%s'", text, word);
    if (near)
        return say(r, "; did you mean '%s'?", near);
    if (!n)
        return say(r, "; this version has no extensions");
    for (int i = 0; i < n; i++)
        say(r, "%s%s", i ? ", " : "; there are ", names[i]);
    return false;
}

static void add_all(const struct model_tables *t, const struct model_word *w, bool *chosen, struct model_spec *out) {
    out->base = find_model(t, w->base);
    for (const char *const *x = w->extensions; *x; x++) {
        const struct extension *e = find_extension(t, *x);
        if (e)
            chosen[e - t->extensions] = true;
    }
}

/* One word of the model's name; `first`: where a base stands. */
static bool add_word(const struct model_tables *t, const char *text, const char *word, bool first, bool *chosen,
                     struct model_spec *out, struct reason *r) {
    const struct model *base = find_model(t, word);
    const struct extension *e = find_extension(t, word);
    if (!*word)
        return say(r, "model '%s': a name is missing %s '+'", text, first ? "before" : "after");
    if (first && base) {
        out->base = base;
        return true;
    }
    const struct model_word *w = model_word_of(t, word, strlen(word));
    if (first && w) {
        add_all(t, w, chosen, out);
        return true;
    }
    if (base || w)
        return say(r, "model '%s': '%s' and '%s' are two bases; '+' joins one with extensions", text, out->base->name,
                   word);
    if (!e)
        return first && !strchr(text, '+') ? unknown_base(t, word, r) : unknown_extension(t, text, word, r);
    if (chosen[e - t->extensions])
        return say(r, "model '%s': the extension '%s' stands there twice", text, word);
    return chosen[e - t->extensions] = true;
}

/* The extensions in the table's order, and whether they go together. */
static bool combine(const struct model_tables *t, const char *text, const bool *chosen, struct model_spec *out,
                    struct reason *r) {
    int n = 0;
    for (const struct extension *e = t->extensions; e->name; e++)
        if (chosen[e - t->extensions])
            out->extensions[n++] = e->name;
    out->extensions[n] = NULL;
    for (const struct extension *e = t->extensions; e->name; e++) {
        const char *why = chosen[e - t->extensions] && e->refuse ? e->refuse(out) : NULL;
        if (why)
            return say(r, "model '%s' has no meaning: '%s' %s", text, e->name, why);
    }
    return true;
}

bool model_parse(const struct model_tables *t, const char *text, struct model_spec *out, char *err, size_t err_size) {
    struct reason r = {err, err_size, 0};
    bool chosen[MAX_EXTENSIONS + 1] = {false}, good = true;
    char word[64];
    *out = (struct model_spec){.base = find_model(t, MODEL_DEFAULT)};
    const char *at = text;
    if (!*text)
        return say(&r, "which model? (see 'heddle list models')");
    for (bool first = true; good; first = false) {
        size_t len = strcspn(at, "+");
        if (len >= sizeof word)
            return say(&r, "no model has a name as long as '%.40s...'", at);
        memcpy(word, at, len);
        word[len] = '\0';
        good = add_word(t, text, word, first, chosen, out, &r);
        if (!at[len])
            break;
        at += len + 1;
    }
    return good && combine(t, text, chosen, out, &r);
}
