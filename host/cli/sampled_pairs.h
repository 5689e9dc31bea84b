#ifndef HOST_CLI_SAMPLED_PAIRS_H
#define HOST_CLI_SAMPLED_PAIRS_H
/* The interval of a speed-up between two sampled runs of a program. Both runs measured the same launches and CTAs, so
 * that most of their sampling errors cancel. */
#include "job.h"

/* Returns the half width of the 95 % interval of the speed-up of `own` over `base`, as a fraction of the speed-up.
 * Returns NAN if one of the runs was not sampled. */
double speedup_half_width(const struct job *base, const struct job *own);
/* Returns the half width of the interval of a run's cycles, as a fraction; NAN if the run was not sampled. */
double cycles_half_width(const struct job *j);
#endif
