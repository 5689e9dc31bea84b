#ifndef TIMING_DEADLOCK_H
#define TIMING_DEADLOCK_H
/* Reports on a launch that does not end: the warps that have not ended, and what each of them waits for. */
#include "dead_cta.h"

/* Returns a report on up to `warps` warps of the `n` SMs, or of the CTA `dead` if it is not NULL: their paths, the PCs
 * of the paths, and what the paths wait for. Its first line is `why`. The caller frees the report. Returns NULL if
 * memory is out. */
char *deadlock_report(struct sm *const *sm, uint32_t n, uint32_t warps, const struct dead_cta *dead, const char *why);
/* Returns a report on a clock that does not advance. The report names what stops the clock of the SM `at` (if `at`
 * is NULL: what all SMs wait for), and a few warps. The caller frees the report. Returns NULL if memory is out. */
char *standstill_report(struct sm *const *sm, uint32_t n, struct sm *at, const char *why);
#endif
