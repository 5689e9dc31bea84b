#ifndef HOST_MODELS_H
#define HOST_MODELS_H
/* The table of models: what --model takes. */
#include "isa/paths/reconv.h"

struct model {
    const char *name, *help;
    const struct reconv_ops *ops;
    bool functional; /* the interpreter, without time */
    const char *set; /* an assignment that makes this model out of its reconvergence table, NULL for none */
};

/* The n-th model, NULL after the last. */
const struct model *model_at(int n);
/* The model called `name`; NULL with the reason in `err`. */
const struct model *model_find(const char *name, char *err, size_t err_size);
#endif
