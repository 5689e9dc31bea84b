#ifndef HOST_MODELS_H
#define HOST_MODELS_H
/* What --model takes: a base and extensions, joined by '+'. */
#include "mechanisms/all.h"

#define MODEL_DEFAULT "spe"
/* The model that options mean: the one they name (NULL: none), else the functional one to check kernels. */
static inline const char *model_meant(const char *name, bool check) {
    return name ? name : check ? "functional" : MODEL_DEFAULT;
}

/* Reads "base+extension+..."; an extension in the base's place means that of spe. False, with the reason in `err`: an
 * unknown name (with the nearest one, or with all), two bases, an extension twice, a combination without a meaning. */
bool model_parse(const struct model_tables *t, const char *text, struct model_spec *out, char *err, size_t err_size);
/* The word with this name of `len` bytes; NULL: there is none. */
const struct model_word *model_word_of(const struct model_tables *t, const char *name, size_t len);
/* "base+extension+...", as far as the extensions exist. */
void model_word_text(const struct model_tables *t, const struct model_word *w, char *out, size_t size);
#endif
