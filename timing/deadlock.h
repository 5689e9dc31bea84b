#ifndef TIMING_DEADLOCK_H
#define TIMING_DEADLOCK_H
/* What a launch that does not end is waiting for. */
#include "timing/sm/sm.h"

/* A report on up to `warps` warps of `n` SMs: their paths, the PCs of these, and what they wait for.
 * malloc'ed; NULL when memory is out. `why`: its first line. */
char *deadlock_report(struct sm *const *sm, uint32_t n, uint32_t warps, const char *why);
/* A report on a clock that does not advance: what holds the clock of `at` (NULL: what SMs wait for), and a few warps.
 * malloc'ed; NULL when memory is out. */
char *standstill_report(struct sm *const *sm, uint32_t n, struct sm *at, const char *why);
#endif
