/* Subwarp interleaving (Damani et al., HPCA 2022, section III): its, and a subwarp that meets a load-to-use stall makes
 * room for another. The caller decides when (si.trigger) and charges si.switch_latency; the model keeps the thread
 * status table. A subwarp without an entry there (si.max_subwarps) cannot be set aside. */
#include "subwarps.h"

static unsigned si_stall(void *st, int id, enum reconv_stall why) {
    struct subwarps *s = st;
    if (why == STALL_OTHER)
        return subwarps_wait(st, id, why);
    if (s->active != id)
        return 0;
    s->w[id].tracked = s->w[id].tracked || subwarps_tracked(s) < s->max_tracked; /* an entry may have become free */
    if (!s->w[id].tracked)
        return 0;
    return subwarps_retire(s, id, SUBWARP_STALLED, false); /* subwarp-stall */
}

/* subwarp-select. */
static bool si_select(void *st) {
    struct subwarps *s = st;
    return s->active < 0 && subwarps_elect(s);
}

static enum reconv_board si_board(const struct reconv_cfg *cfg) {
    return cfg->its_scoreboard ? RECONV_BOARD_LANES : RECONV_BOARD_COUNTED_LANES;
}

static struct reconv_storage si_storage(const struct reconv_cfg *cfg) {
    enum { STATE = 3, SCOREBOARD_ID = 3, COUNT = 6 }; /* of a TST entry: 3 + s + t, section III-C */
    uint32_t entries = cfg->si_max_subwarps ? cfg->si_max_subwarps : WARP_LANES;
    return (struct reconv_storage){.fixed = subwarps_bits() + entries * (STATE + SCOREBOARD_ID + COUNT)};
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
    .give_way = subwarps_give_way,
    .describe = subwarps_describe,
    .runnable = subwarps_runnable,
    .board = si_board,
    .storage = si_storage,
    .depth = subwarps_depth,
};
