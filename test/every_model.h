#ifndef TEST_EVERY_MODEL_H
#define TEST_EVERY_MODEL_H
/* The models that there are, from the list (mechanisms/all.def): a new one is tested wherever all are. */
#include "isa/paths/reconv.h"

enum { MAX_MODELS = 32 };
struct every_model {
    int n;
    const char *name[MAX_MODELS];
    const struct reconv_ops *ops[MAX_MODELS];
};

/* One name for each table of calls, the simplest. The first is the baseline. */
const struct every_model *base_models(void);
/* The base models with extensions behind each name: "spe+dac", "dpe+dac" ...; `with` is "+dac", or "+cae+mta", and lives
 * as long as the program. */
const struct every_model *bases_with(const char *with);
/* All with time; a model of which there are short forms ("dws10") by these. */
const struct every_model *timed_models(void);
/* These, and every extension with some of them; `ops` is NULL throughout. */
const struct every_model *mixed_models(void);

/* The product's bases, and `more` (up to NULL) in the place of its extensions: a list, in `list`. */
enum { MAX_LISTED_MECHANISMS = 32 };
struct mechanism;
const struct mechanism *const *bases_and(const struct mechanism *const *more, const struct mechanism **list);
#endif
