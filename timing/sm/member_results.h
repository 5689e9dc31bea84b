#ifndef TIMING_SM_MEMBER_RESULTS_H
#define TIMING_SM_MEMBER_RESULTS_H
/* Results of instructions with a member mask (isa/machine/warpsync.h) whose lanes are on several paths. Each path takes
 * an issue slot when it arrives, and waits as at a barrier. The result is written one instruction latency after the
 * last arrival. */
#include "warps.h"

struct sm;

/* Lanes that wait for other lanes of their member mask. Waiting lanes hold no entry of the table of instructions in
 * flight, because the lanes that have not arrived may need it. Waiting lanes get an entry when their result starts. */
struct sm_await {
    uint64_t issued; /* cycle */
    lanemask_t lanes;
    uint32_t pc;
    uint8_t board;
    bool served; /* true if all lanes have arrived and the result waits for a table entry */
};

/* State of the results that wait for a free table entry. */
struct sm_member_results {
    uint32_t n_served; /* number of entries of sm_warp.await, over all warps, whose lanes have all arrived */
};

/* Handles the arrival of a path. `arriving`: lanes of the path that had not arrived before. */
void sm_members_arrive(struct sm *sm, uint32_t w, const struct sm_path *path, lanemask_t arriving);
/* Checks the entries of sm_warp.await, and starts the results of entries whose lanes have all stopped waiting. Call
 * it when lanes may have stopped waiting. */
void sm_members_served(struct sm *sm, uint32_t w, uint64_t now);
/* Starts results that wait for a table entry. Call it when an instruction in flight has ended, which frees its
 * entry. */
void sm_members_start(struct sm *sm, uint64_t now);
#endif
