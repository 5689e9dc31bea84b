#ifndef TIMING_ENERGY_H
#define TIMING_ENERGY_H
/* The energy of a launch: the number of its events times the configured energy per event, plus static power times
 * time. */
#include "stat.h"
#include "timing/config/config.h"

/* Adds the energy.* statistics, computed from the counts of one launch in `s`. */
void energy_stats(const struct config *cfg, struct stats *s);
#endif
