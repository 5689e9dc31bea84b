#ifndef TEST_EVERY_MODEL_H
#define TEST_EVERY_MODEL_H
/* Lists of models for tests. They are made from mechanisms/all.def, so that every test includes new models. */
#include "isa/paths/reconv.h"

enum { MAX_MODELS = 64 };
struct every_model {
    int n;
    const char *name[MAX_MODELS];
    const struct reconv_ops *ops[MAX_MODELS];
};

/* Returns, for each ops table, the simplest model name that uses it. The first name is that of the baseline. */
const struct every_model *base_models(void);
/* Returns the base models, each with extensions after its name: "spe+dac", "dpe+dac" ... `with` is "+dac" or "+cae+mta"
 * and must live as long as the program. */
const struct every_model *bases_with(const char *with);
/* Returns all models with timing. Models that have short names ("dws10") appear under these names. */
const struct every_model *timed_models(void);
/* Returns the models with timing, and every extension combined with some of them. `ops` is NULL for all entries. */
const struct every_model *mixed_models(void);

/* Fills `list` with Heddle's reconvergence models, and with `more` (ends with NULL) instead of Heddle's extensions.
 * Returns `list`. */
enum { MAX_LISTED_MECHANISMS = 32 };
struct mechanism;
const struct mechanism *const *bases_and(const struct mechanism *const *more, const struct mechanism **list);
#endif
