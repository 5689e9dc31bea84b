#ifndef HOST_MODELS_H
#define HOST_MODELS_H
/* Parses the value of --model: a base model and extensions, joined by '+'. */
#include "mechanisms/all.h"

#define MODEL_DEFAULT "spe"
/* Returns the model that the options select: `name`, or a default if it is NULL (functional if kernels are checked). */
static inline const char *model_meant(const char *name, bool check) {
    return name ? name : check ? "functional" : MODEL_DEFAULT;
}

/* Parses "base+extension+..."; if an extension comes first, the base is spe. Returns false with the reason in `err` for
 * an unknown name (then `err` suggests the closest name or lists all names), two bases, a repeated extension, or a
 * combination that a mechanism refuses. */
bool model_parse(const struct model_tables *t, const char *text, struct model_spec *out, char *err, size_t err_size);
/* Returns the word (which stands for a base with extensions) with this name of `len` bytes, or NULL if there is
 * none. */
const struct model_word *model_word_of(const struct model_tables *t, const char *name, size_t len);
/* Writes the word's meaning, "base+extension+...", with the extensions that this build has. */
void model_word_text(const struct model_tables *t, const struct model_word *w, char *out, size_t size);
#endif
