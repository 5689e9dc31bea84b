#ifndef TIMING_ENERGY_H
#define TIMING_ENERGY_H
/* Energy of a launch: its events times the energies of the configuration, and static power times time. */
#include "stat.h"
#include "timing/config/config.h"

/* Adds the energy.* statistics, computed from the counts of one launch in `s`. */
void energy_stats(const struct config *cfg, struct stats *s);
#endif
