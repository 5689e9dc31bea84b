#ifndef TIMING_SM_CARVEOUT_H
#define TIMING_SM_CARVEOUT_H
/* How a launch divides the unified memory of an SM (sm.unified_bytes) between shared memory and the L1. */
#include "occupancy.h"

/* Returns the bytes of shared memory: of the sizes that a card of gpu.capability supports, the smallest with which an
 * SM holds as many CTAs of the launch as with sm.shared_bytes. */
uint32_t carveout_shared(const struct config *cfg, const struct launch *l, struct sm_demand d);
#endif
