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
/* All policies up to NULL: first the built-in policies, then the policies of mechanisms in the order of the list. */
const struct sched_ops *const *mechanism_schedulers(void);
const struct replacement_ops *const *mechanism_replacements(void);
/* The policy of this name. NULL: there is none. */
const struct sched_ops *mechanism_scheduler(const char *name);
const struct replacement_ops *mechanism_replacement(const char *name);
#endif
