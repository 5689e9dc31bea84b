#ifndef TIMING_PROFILE_H
#define TIMING_PROFILE_H
#include "states.h"

/* Ranges of prefetching degrees: each of 1 to 8, 9 to 16, 17 to 32, more. */
enum { PROFILE_DEGREES = 11 };
static inline uint32_t profile_degree(uint32_t degree) {
    return degree <= 8 ? degree - 1 : degree <= 16 ? 8 : degree <= 32 ? 9 : 10;
}
/* Names of the ranges: `before` precedes each name, `to` stands between the ends of a range. */
#define PROFILE_DEGREE_NAMES(before, to)                                                                               \
    before "1", before "2", before "3", before "4", before "5", before "6", before "7", before "8",                    \
        before "9" to "16", before "17" to "32", before "33" to "up"

/* Counts of one instruction in the last launch, over all SMs. */
struct gpu_profile {
    uint64_t issued, lanes; /* number of issues; lanes that executed it: fx_executing() */
    uint64_t misses;        /* accesses that missed the L1 */
    /* idle issue slots in which a warp waited to issue this instruction, by enum slot; the warp is the lowest-numbered
     * one with the slot's cause */
    uint64_t stall[N_SLOTS];
    uint64_t degree[PROFILE_DEGREES]; /* loads: misses with a stride, by the degree of prefetching at that time (ddp) */
};
/* Returns the name of an index of gpu_profile.stall: "scoreboard_load" and so on; NULL for an index without a
 * meaning. */
const char *gpu_stall_name(int slot);
#endif
