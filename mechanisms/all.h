#ifndef MECHANISMS_ALL_H
#define MECHANISMS_ALL_H
/* The tables made from all.def: mechanisms, words that --model accepts, passes, and compound instructions. */
#include "mechanism.h"

extern const struct model_tables model_tables;

/* Returns the passes of frontend/passes/pass.c and of all mechanisms, in the order in which they run; the last one has
 * a NULL name. */
const struct pass *mechanism_passes(void);
/* Returns the compound instructions of all mechanisms, up to NULL. */
const struct compound_ops *const *mechanism_instructions(void);
/* Return the array of all policies, which ends with NULL: first the built-in policies, then the policies of mechanisms
 * in the order of all.def. */
const struct sched_ops *const *mechanism_schedulers(void);
const struct replacement_ops *const *mechanism_replacements(void);
const struct cta_ops *const *mechanism_cta_policies(void);
/* Returns the policy of this name. NULL: no policy has this name. */
const struct sched_ops *mechanism_scheduler(const char *name);
const struct replacement_ops *mechanism_replacement(const char *name);
const struct cta_ops *mechanism_cta_policy(const char *name);
#endif
