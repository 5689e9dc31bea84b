#include "models.h"
#include "ptx/diag.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LISTED = 64 }; /* mechanisms in one list */

static const struct model *find_model(const struct model_tables *t, const char *name) {
    const struct model *m;
    for (int i = 0; (m = model_at(t, i)); i++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

/* Returns the extension's index, or -1 if no extension has this name. */
static int find_extension(const struct model_tables *t, const char *name) {
    const struct mechanism *e;
    for (int i = 0; (e = extension_at(t, i)) && i < MAX_LISTED; i++)
        if (strcmp(e->name, name) == 0)
            return i;
    return -1;
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
        if (find_extension(t, *x) >= 0)
            n += snprintf(out + n, size - (size_t)n, "+%s", *x);
}

/* A message under construction. */
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

/* Returns the closest name of a base model, model word or extension, for a suggestion, or NULL if no name is close. */
static const char *near_base(const struct model_tables *t, const char *word) {
    const char *names[MAX_NAMES];
    int n = 0;
    const struct model *m;
    const struct mechanism *e;
    for (int i = 0; (m = model_at(t, i)) && n < MAX_NAMES; i++)
        names[n++] = m->name;
    for (const struct model_word *w = t->words; w && w->name && n < MAX_NAMES; w++)
        names[n++] = w->name;
    for (int i = 0; (e = extension_at(t, i)) && n < MAX_NAMES; i++)
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
    const struct mechanism *e;
    for (int i = 0; (e = extension_at(t, i)) && n < MAX_NAMES; i++)
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
        int e = find_extension(t, *x);
        if (e >= 0)
            chosen[e] = true;
    }
}

static bool begins_with_base(const struct model_tables *t, const char *text) {
    char word[64];
    size_t len = strcspn(text, "+");
    snprintf(word, sizeof word, "%.*s", (int)len, text);
    return find_model(t, word) || model_word_of(t, text, len);
}

/* Adds one word of the model's name. `first` is true for the first word, where the base model is expected. */
static bool add_word(const struct model_tables *t, const char *text, const char *word, bool first, bool *chosen,
                     struct model_spec *out, struct reason *r) {
    const struct model *base = find_model(t, word);
    const int e = find_extension(t, word);
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
    if ((base || w) && !begins_with_base(t, text))
        return say(r, "model '%s': '%s' is a base; it must come first, before its extensions", text, word);
    if (base || w)
        return say(r, "model '%s': '%s' and '%s' are two bases; '+' joins one with extensions", text, out->base->name,
                   word);
    if (e < 0)
        return first && !strchr(text, '+') ? unknown_base(t, word, r) : unknown_extension(t, text, word, r);
    if (chosen[e])
        return say(r, "model '%s': the extension '%s' stands there twice", text, word);
    return chosen[e] = true;
}

/* Lists the chosen extensions in the table's order, and checks that they can be combined. */
static bool combine(const struct model_tables *t, const char *text, const bool *chosen, struct model_spec *out,
                    struct reason *r) {
    const struct mechanism *e;
    int n = 0;
    for (int i = 0; (e = extension_at(t, i)) && i < MAX_LISTED; i++)
        if (chosen[i] && n < MAX_EXTENSIONS)
            out->extensions[n++] = e->name;
    out->extensions[n] = NULL;
    for (int i = 0; (e = extension_at(t, i)) && i < MAX_LISTED; i++) {
        const char *why = chosen[i] && e->refuse ? e->refuse(out) : NULL;
        if (why)
            return say(r, "model '%s' has no meaning: '%s' %s", text, e->name, why);
    }
    for (int i = 0; (e = extension_at(t, i)) && i < MAX_LISTED; i++) {
        const char *group = NULL;
        const struct mechanism *other = chosen[i] ? model_rival(t, out, e, &group) : NULL;
        if (other)
            return say(r, "model '%s' has no meaning: '%s' and '%s' are two %s; take one of them", text, e->name,
                       other->name, group);
    }
    return true;
}

bool model_parse(const struct model_tables *t, const char *text, struct model_spec *out, char *err, size_t err_size) {
    struct reason r = {err, err_size, 0};
    bool chosen[MAX_LISTED] = {false}, good = true;
    char word[64];
    *out = (struct model_spec){.base = find_model(t, MODEL_DEFAULT)};
    const char *at = text;
    if (!*text)
        return say(&r, "which model? (see 'heddle list models')");
    if (strchr(text, ','))
        return say(&r, "'%s' is a list, and one model is expected; 'heddle compare' and 'heddle sweep' take lists",
                   text);
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
