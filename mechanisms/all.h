#ifndef MECHANISMS_ALL_H
#define MECHANISMS_ALL_H
/* The tables made from all.def: mechanisms, words for models, passes and compound instructions. */
#include "mechanism.h"

extern const struct model_tables model_tables;

/* Returns the passes of frontend/passes/pass.c and of all mechanisms, in the order in which they run; the last one has
 * a NULL name. */
const struct pass *mechanism_passes(void);
/* Returns the compound instructions of all mechanisms, up to NULL. */
const struct compound_ops *const *mechanism_instructions(void);
#endif
