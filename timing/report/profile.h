#ifndef TIMING_PROFILE_H
#define TIMING_PROFILE_H
#include "states.h"

/* Degrees of prefetching, in ranges: 1 to 8 each, 9 to 16, 17 to 32, more. */
enum { PROFILE_DEGREES = 11 };
static inline uint32_t profile_degree(uint32_t degree) {
    return degree <= 8 ? degree - 1 : degree <= 16 ? 8 : degree <= 32 ? 9 : 10;
}
/* Their names: a string before each, and one between the ends of a range. */
#define PROFILE_DEGREE_NAMES(before, to)                                                                               \
    before "1", before "2", before "3", before "4", before "5", before "6", before "7", before "8",                    \
        before "9" to "16", before "17" to "32", before "33" to "up"

/* One instruction of the last launch, over all SMs. */
struct gpu_profile {
    uint64_t issued, lanes; /* times; lanes that executed it: fx_executing() */
    uint64_t misses;        /* accesses that missed the L1 */
    /* issue slots in which nobody issued and this instruction was what a warp waited to issue (the lowest-numbered warp
     * that gives the slot its cause), by enum slot */
    uint64_t stall[N_SLOTS];
    uint64_t degree[PROFILE_DEGREES]; /* loads: misses with a stride, by the degree of prefetching then (ddp) */
};
/* "scoreboard_load" and so on, for gpu_profile.stall; NULL for an index that has no meaning there. */
const char *gpu_stall_name(int slot);
#endif
