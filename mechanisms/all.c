#include "all.h"

static const struct mechanism *const list[] = {
#define MECHANISM(name) &mechanism_##name,
#include "all.def"
#undef MECHANISM
    NULL,
};

static const struct model_word words[] = {
    {"pepsc", "what the PEPSC core has (docs/pepsc.md)", "spe", {"chain", "fold", "reduce", "ddp"}},
    {.name = NULL},
};

const struct model_tables model_tables = {list, words};
