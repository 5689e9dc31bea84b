#ifndef TIMING_UTILIZATION_H
#define TIMING_UTILIZATION_H
/* How much of the peak f32 rate of a machine a launch used, and where the rest went. */
#include "stat.h"
#include "timing/config/config.h"

/* Adds util.* to `s`, the figures of an interval that follows `before`, which is all that the launch has had so far:
 * util.flops + util.lost_datapath + util.lost_memory + util.lost_serialization = util.peak_flops, in whole operations.
 * `operations`: those that one instruction does on a lane of an f32 pipe at most. Both have their counts, and `before`
 * its util.*. */
void utilization_stats(const struct config *cfg, uint32_t operations, const struct stats *before, struct stats *s);
#endif
