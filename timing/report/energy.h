#ifndef TIMING_ENERGY_H
#define TIMING_ENERGY_H
/* Energy of a launch: its events times the energies of the configuration, and static power times time. */
#include "stat.h"
#include "timing/config/config.h"

/* Adds the energy.* figures that follow from the counts in `s`, which are those of one launch. */
void energy_stats(const struct config *cfg, struct stats *s);
#endif
