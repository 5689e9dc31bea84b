#ifndef MECHANISMS_ALL_H
#define MECHANISMS_ALL_H
/* What there is: the mechanisms of all.def, and words for some of them together. */
#include "mechanism.h"

extern const struct model_tables model_tables;

/* The passes of frontend/passes/pass.c and, each at its place, those of the mechanisms, in the order of the list; the
 * last has a NULL name. */
const struct pass *mechanism_passes(void);
/* The compound instructions that passes of mechanisms make, in the order of the list, up to NULL. */
const struct compound_ops *const *mechanism_instructions(void);
/* All policies up to NULL: first the built-in policies, then the policies of mechanisms in the order of the list. */
const struct sched_ops *const *mechanism_schedulers(void);
const struct replacement_ops *const *mechanism_replacements(void);
/* The policy of this name. NULL: there is none. */
const struct sched_ops *mechanism_scheduler(const char *name);
const struct replacement_ops *mechanism_replacement(const char *name);
#endif
