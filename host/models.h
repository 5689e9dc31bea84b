#ifndef HOST_MODELS_H
#define HOST_MODELS_H
/* What --model takes: a base and extensions, joined by '+'. */
#include "isa/paths/reconv.h"
#include "timing/mem/prefetch.h"
#include "timing/sm/unit.h"

struct model {
    const char *name, *help;
    const struct reconv_ops *ops;
    bool functional; /* the interpreter, without time */
    const char *set; /* an assignment that makes this model out of its reconvergence table, NULL for none */
};

struct model_spec;
/* A part that is added to a base: passes ask for it by name (pass_extension()), units are added where the GPU is made.
 */
struct extension {
    const char *name, *help;
    /* Why this combination has no meaning, as the rest of a sentence that begins with the extension's name; NULL: it
     * has one. NULL in its place: every combination has. */
    const char *(*refuse)(const struct model_spec *s);
    const struct sm_unit_ops *unit;         /* what it adds to each SM; NULL: nothing */
    const struct prefetcher_ops *at_slices; /* what it adds to each slice of the L2; NULL: nothing */
};

/* A word for a base with extensions; further ones may follow it. */
struct model_word {
    const char *name, *help, *base;
    const char *extensions[8]; /* NULL ends; those that the table of extensions lacks are left out */
};

/* The tables end with a NULL name. */
struct model_tables {
    const struct model *models;
    const struct extension *extensions;
    const struct model_word *words; /* NULL: none */
};
/* What there is. */
extern const struct model_tables model_tables;

#define MODEL_DEFAULT "spe"
/* The model that options mean: the one they name (NULL: none), else the functional one to check kernels. */
static inline const char *model_meant(const char *name, bool check) {
    return name ? name : check ? "functional" : MODEL_DEFAULT;
}

enum { MAX_EXTENSIONS = 16 };
/* A model as the user chose it. */
struct model_spec {
    const struct model *base;
    const char *extensions[MAX_EXTENSIONS + 1]; /* names in the order of the table; NULL ends */
};

/* Reads "base+extension+..."; an extension in the base's place means that of spe. False, with the reason in `err`: an
 * unknown name (with the nearest one, or with all), two bases, an extension twice, a combination without a meaning. */
bool model_parse(const struct model_tables *t, const char *text, struct model_spec *out, char *err, size_t err_size);
bool model_has(const struct model_spec *s, const char *extension);
/* The word with this name of `len` bytes; NULL: there is none. */
const struct model_word *model_word_of(const struct model_tables *t, const char *name, size_t len);
/* "base+extension+...", as far as the extensions exist. */
void model_word_text(const struct model_tables *t, const struct model_word *w, char *out, size_t size);
#endif
