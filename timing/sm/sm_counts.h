#ifndef TIMING_SM_COUNTS_H
#define TIMING_SM_COUNTS_H
/* What an SM counts between two calls of sm_stats(). */
#include "isa/chain.h"
#include "timed.h"
#include "timing/report/states.h"

/* By warp instructions; `lost_` by lanes. */
struct sm_chain_counts {
    uint64_t instructions, operations, by_length[CHAIN_LENGTH], dual, folded, reads_saved, writes_saved;
    uint64_t lost_adds, lost_muls;
    struct chain_error error;
};

/* By warp instructions. */
struct sm_reduce_counts {
    uint64_t instructions, serial, fallbacks, saved;
};

struct sm_counts {
    uint64_t warp_instructions, thread_instructions, active_lanes, free_instructions, path_sum;
    uint64_t slot[N_SLOTS];
    uint64_t idle_cycles, exposed_load, exposed_load_divergent, warp_cycles, path_switches, path_turns, splits;
    uint64_t context_cycles, context_instructions;
    uint64_t stack_spills, stack_fills, stack_bytes;
    uint64_t op_lanes[N_OP_CLASSES], pipe[N_PIPES];
    uint64_t turns, turn_stored, turn_loaded, turn_cycles; /* in_turn */
    uint64_t busy_memory;                                  /* of slot[SLOT_PIPE] */
    uint64_t sp_cycles, sp_lane_cycles, sp_flop_cycles;    /* utilization.c */
    uint64_t read_words, write_words;
    struct sm_chain_counts chain;
    struct sm_reduce_counts reduce;
    uint64_t spills[2]; /* loads, stores */
    uint64_t ctas, warps;
    uint32_t max_depth, max_warps;
};
#endif
