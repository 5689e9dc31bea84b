#ifndef TIMING_PROFILE_H
#define TIMING_PROFILE_H
#include "states.h"

/* One instruction of the last launch, over all SMs. */
struct gpu_profile {
    uint64_t issued, lanes; /* times; lanes that executed */
    uint64_t misses;        /* accesses that missed the L1 */
    /* issue slots in which nobody issued and this instruction was what a warp waited to issue (the lowest-numbered warp
     * that gives the slot its cause), by enum slot */
    uint64_t stall[N_SLOTS];
};
#endif
