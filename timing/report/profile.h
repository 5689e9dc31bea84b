#ifndef TIMING_PROFILE_H
#define TIMING_PROFILE_H
#include "states.h"

/* Ranges of prefetch degrees: one range for each degree from 1 to 8, one for 9 to 16, one for 17 to 32, and one for
 * larger degrees. */
enum { PROFILE_DEGREES = 11 };
static inline uint32_t profile_degree(uint32_t degree) {
    return degree <= 8 ? degree - 1 : degree <= 16 ? 8 : degree <= 32 ? 9 : 10;
}
/* Names of the ranges. `before` is the prefix of each name, and `to` separates the two ends of a range. */
#define PROFILE_DEGREE_NAMES(before, to)                                                                               \
    before "1", before "2", before "3", before "4", before "5", before "6", before "7", before "8",                    \
        before "9" to "16", before "17" to "32", before "33" to "up"

/* Counts of one instruction in the last launch, over all SMs. */
struct gpu_profile {
    uint64_t issued, lanes; /* number of issues; number of executed lanes: fx_executing() */
    uint64_t misses;        /* number of accesses that missed the L1 */
    uint64_t sectors;       /* number of sectors accessed in the L1, as l1.sectors counts them */
    /* number of idle issue slots in which a warp waited to issue this instruction, indexed by the cause (enum slot).
     * If several warps wait for this cause, the slot counts for the lowest-numbered warp. */
    uint64_t stall[N_SLOTS];
    uint64_t degree[PROFILE_DEGREES]; /* for loads: number of misses with a stride, by prefetch degree */
};
/* Returns the name of an index of gpu_profile.stall, such as "scoreboard_load". Returns NULL for an index without a
 * meaning. */
const char *gpu_stall_name(int slot);
#endif
