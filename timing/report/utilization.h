#ifndef TIMING_UTILIZATION_H
#define TIMING_UTILIZATION_H
/* The fraction of a machine's peak f32 rate that a launch used, and the causes of the part that it did not use. */
#include "stat.h"
#include "timing/config/config.h"

/* Adds util.* to `s`, the statistics of an interval. `before` has the statistics of the launch until this interval.
 * The statistics are whole numbers of operations, so that util.flops + util.lost_datapath + util.lost_memory +
 * util.lost_serialization = util.peak_flops. `operations` is the largest number of operations of one instruction on
 * a lane of an f32 pipe. Requires that `s` and `before` have the counts of events, and that `before` has util.*. */
void utilization_stats(const struct config *cfg, uint32_t operations, const struct stats *before, struct stats *s);
#endif
