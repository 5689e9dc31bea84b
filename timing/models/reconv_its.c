/* Independent thread scheduling as in Volta and later: convergence barriers (BSSY, BSYNC), one subwarp active at a
 * time, and forward progress for every subwarp (subwarp-interleaving paper, section III-A). */
#include "subwarps.h"

static enum reconv_board its_board(const struct reconv_cfg *cfg) {
    return cfg->its_scoreboard ? RECONV_BOARD_LANES : RECONV_BOARD_COUNTED;
}

static struct reconv_storage its_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (struct reconv_storage){.fixed = subwarps_bits()};
}

static struct reconv_wants its_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){.switches = true, .switch_latency = cfg->its_switch_latency};
}

const struct reconv_ops reconv_its = {
    .name = "its",
    .help = "convergence barriers as in Volta: one subwarp at a time, all make progress",
    .flags = RECONV_BARRIERS,
    .size = subwarps_size,
    .start = subwarps_start,
    .paths = subwarps_paths,
    .finished = subwarps_finished,
    .advance = subwarps_advance,
    .branch = subwarps_branch,
    .leave = subwarps_leave,
    .bssy = subwarps_bssy,
    .bsync = subwarps_bsync,
    .stall = subwarps_wait,
    .wake = subwarps_wake,
    .yield = subwarps_yield,
    .give_way = subwarps_give_way,
    .describe = subwarps_describe,
    .runnable = subwarps_runnable,
    .board = its_board,
    .storage = its_storage,
    .wants = its_wants,
    .depth = subwarps_depth,
};
