/* Subwarp interleaving (Damani et al., HPCA 2022, section III): its, and a subwarp that meets a load-to-use stall makes
 * room for another. The caller decides when (si.trigger) and charges si.switch_latency; the model keeps the thread
 * status table. A subwarp without an entry there (si.max_subwarps) cannot be set aside. */
#include "subwarps.h"

static unsigned si_stall(void *st, int id, enum reconv_stall why) {
    struct subwarps *s = st;
    if (why == STALL_OTHER)
        return subwarps_wait(st, id, why);
    if (s->active != id || !s->w[id].tracked)
        return 0;
    return subwarps_retire(s, id, SUBWARP_STALLED, false); /* subwarp-stall */
}

/* subwarp-select. */
static bool si_select(void *st) {
    struct subwarps *s = st;
    return s->active < 0 && subwarps_elect(s);
}

const struct reconv_ops reconv_si = {
    .name = "si",
    .help = "subwarp interleaving: its, and stalled subwarps give way to ready ones",
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
    .stall = si_stall,
    .wake = subwarps_wake,
    .select = si_select,
    .yield = subwarps_yield,
    .describe = subwarps_describe,
    .runnable = subwarps_runnable,
    .board = subwarps_board,
    .depth = subwarps_depth,
};
