/* Subwarp interleaving (Damani et al., HPCA 2022, section III): the model `its`, except that a subwarp that meets a
 * load-to-use stall gives way to another subwarp. The caller decides when (si.trigger) and charges si.switch_latency.
 * The model keeps the thread status table: only STALLED subwarps hold its entries (si.max_subwarps). The subwarp that
 * becomes active must be able to get an entry, too; otherwise it could not yield before its BSYNC. So a subwarp becomes
 * STALLED only if a second entry is free for its successor. Thus at most si.max_subwarps subwarps overlap, and with
 * si.max_subwarps = 1 the model behaves as `its`. */
#include "reconv_si.h"
#include "isa/paths/reconv_subwarps.h"
#include "mechanisms/mechanism.h"
#include "si_order.h"
#include "timing/config/config.h"

/* Returns the number of table entries: si.max_subwarps, or without a limit `most`, an entry for each subwarp. */
static uint32_t entries(const struct reconv_cfg *cfg, uint32_t most) {
    return cfg->si_max_subwarps ? cfg->si_max_subwarps : most;
}

/* Returns true if two entries are free: for the subwarp that stalls and for its successor. */
static bool entries_for_two(const struct subwarps *s) {
    return subwarps_in(s, SUBWARP_STALLED) + 2 <= entries(s->cfg, MAX_WARP_LANES);
}

static unsigned si_stall(void *st, int id, enum reconv_stall why) {
    struct subwarps *s = st;
    if (why == STALL_OTHER)
        return subwarps_wait(st, id, why);
    if (s->active != id)
        return 0;
    if (!entries_for_two(s))
        return 0;
    return subwarps_retire(s, id, SUBWARP_STALLED, false); /* subwarp-stall */
}

/* Performs subwarp-yield. A subwarp that yields may later wait for its long-latency operation, so it needs a table
 * entry, too. */
static unsigned si_yield(void *st, int id) { return entries_for_two(st) ? subwarps_yield(st, id) : 0; }

/* Performs a subwarp-select if no subwarp is active. Returns true if a subwarp becomes active. */
static bool si_select(void *st) {
    struct subwarps *s = st;
    return s->active < 0 && subwarps_elect(s);
}

/* Returns a number that looks random: a hash of the branch, its lanes, and the number of divergent branches so far. */
static uint32_t scrambled(const struct subwarps *s, const struct target *t, const struct branch_site *site) {
    uint32_t x = site->pc * 0x9e3779b9u ^ t->lanes * 0x85ebca6bu ^ s->divergences * 0xc2b2ae35u;
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}

/* Chooses the path that runs first (si.order). */
static unsigned si_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct subwarps *s = st;
    if (n < 2 || s->cfg->si_order == SI_ORDER_FIRST)
        return subwarps_branch(st, id, t, n, site);
    s->divergences++;
    if (s->cfg->si_order == SI_ORDER_RANDOM)
        return subwarps_branch_first(st, id, t, n, site, (int)(scrambled(s, t, site) % (uint32_t)n));
    for (int i = 0; i < n; i++)
        if (t[i].pc + 1 == site->hinted)
            return subwarps_branch_first(st, id, t, n, site, i);
    return subwarps_branch(st, id, t, n, site);
}

static enum reconv_board si_board(const struct reconv_cfg *cfg) {
    return cfg->subwarp_board == SUBWARPS_EXACT ? RECONV_BOARD_LANES : RECONV_BOARD_COUNTED_LANES;
}

static struct reconv_storage si_storage(const struct reconv_cfg *cfg) {
    /* number of bits of an entry of the thread status table; section III-C calls them 3, s and t */
    enum { STATE = 3, SCOREBOARD_ID = 3, COUNT = 6 };
    return (struct reconv_storage){.fixed =
                                       subwarps_bits() + entries(cfg, WARP_LANES) * (STATE + SCOREBOARD_ID + COUNT)};
}

static struct reconv_wants si_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){
        .interleaves = true,
        .trigger = cfg->si_trigger,
        .yields = true,
        .yield_after = cfg->si_yield ? cfg->si_yield_after : 0,
        .switches = true,
        .switch_latency = cfg->subwarp_latency,
        .stall_latency = cfg->si_switch_latency,
    };
}

const struct reconv_ops reconv_si = {
    .name = "si",
    .help = "subwarp interleaving: its, and stalled subwarps give way to ready ones",
    SUBWARPS_CALLS,
    .branch = si_branch,
    .stall = si_stall,
    .select = si_select,
    .yield = si_yield,
    .board = si_board,
    .storage = si_storage,
    .wants = si_wants,
};

const struct mechanism mechanism_si = {
    .name = "si",
    .help = "subwarp interleaving: its, and other subwarps run while one waits for memory",
    .paper = "Damani et al., GPU subwarp interleaving, HPCA 2022",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"si", "subwarp interleaving: its, and other subwarps run while one waits for memory", &reconv_si, false,
             NULL},
            {.name = NULL},
        },
    .passes = PASSES(&pass_si_order),
    .options = PREFIXES("si."),
    .shares = SHARES(CONFIG_PART(reconv.subwarp_board), CONFIG_PART(reconv.subwarp_latency)),
};
