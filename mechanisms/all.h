#ifndef MECHANISMS_ALL_H
#define MECHANISMS_ALL_H
/* The mechanisms of all.def, and names for combinations of them. */
#include "mechanism.h"

extern const struct model_tables model_tables;

/* Returns the passes of frontend/passes/pass.c and of the mechanisms, each at its place, mechanisms in the order of the
 * list. The last one has a NULL name. */
const struct pass *mechanism_passes(void);
/* Returns the compound instructions that passes of mechanisms create, in the order of the list. NULL ends them. */
const struct compound_ops *const *mechanism_instructions(void);
#endif
