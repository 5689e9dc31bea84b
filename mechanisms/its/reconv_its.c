/* Independent thread scheduling, as in Volta and later GPUs: convergence barriers (BSSY, BSYNC), one subwarp active at
 * a time, and forward progress for every subwarp (subwarp-interleaving paper, section III-A). */
#include "reconv_its.h"
#include "isa/paths/reconv_subwarps.h"
#include "mechanisms/mechanism.h"

static enum reconv_board its_board(const struct reconv_cfg *cfg) {
    return cfg->subwarp_board == SUBWARPS_EXACT ? RECONV_BOARD_LANES : RECONV_BOARD_COUNTED;
}

static struct reconv_storage its_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (struct reconv_storage){.fixed = subwarps_bits()};
}

static struct reconv_wants its_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){.switches = true, .switch_latency = cfg->subwarp_latency};
}

const struct reconv_ops reconv_its = {
    .name = "its",
    .help = "convergence barriers as in Volta: one subwarp at a time, all make progress",
    SUBWARPS_CALLS,
    .branch = subwarps_branch,
    .stall = subwarps_wait,
    .yield = subwarps_yield,
    .board = its_board,
    .storage = its_storage,
    .wants = its_wants,
};

const struct mechanism mechanism_its = {
    .name = "its",
    .help = "convergence barriers: independent thread scheduling, one subwarp at a time",
    .paper = "Damani et al., GPU subwarp interleaving, HPCA 2022, section III-A",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"its", "convergence barriers: independent thread scheduling, one subwarp at a time", &reconv_its, false,
             NULL},
            {.name = NULL},
        },
    .options = PREFIXES("its."),
};
