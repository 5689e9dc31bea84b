#ifndef TIMING_MTA_H
#define TIMING_MTA_H
/* Many-thread aware prefetching into the L1, as "Decoupled Affine Computation for SIMT GPUs" compares with it (its
 * reference [15]). docs/cae-mta.md says what is the papers' and what is this project's. Options: struct mta_cfg. */
#include "timing/sm/unit.h"

extern const struct sm_unit_ops mta_unit;
#endif
