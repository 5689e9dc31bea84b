/* Dynamic warp subdivision as evaluated in the dual-path paper (section 2.2; the original is Meng, Tarjan and Skadron,
 * ISCA 2010). A branch whose join is short divides the path into splits, which all run; other branches use the stack
 * (path_tree.h). A split has the rpc of the stack entry that was divided, so splits of splits are siblings. A split has
 * no stack of its own, so every branch that diverges in it makes more splits.
 *
 * In a table of limited size (dws.wst_entries), a branch subdivides a warp only if its sides fit. A branch inside a
 * split always makes further splits; if the table is full, these are parked. */
#include "reconv_dws.h"
#include "isa/paths/path_tree.h"
#include "mechanisms/mechanism.h"

struct dws {
    struct path_tree tree;
    const struct reconv_cfg *cfg;
};

static size_t dws_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct dws) + 7) & ~(size_t)7;
}

static void dws_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct dws *s = st;
    s->cfg = cfg;
    s->tree.entries = cfg->dws_wst_entries;
    s->tree.last_first = cfg->first != FIRST_TAKEN;
    s->tree.merges = true;
    path_tree_start(&s->tree, pc, lanes);
}

static bool subdivides(const struct dws *s, int id, int n, const struct branch_site *site) {
    if (s->tree.node[id].is_split) /* "nested branches within a split warp cause further splits" (2.2) */
        return true;
    return (site->rpc != PC_EXIT || !site->calls) && site->rpc_block <= s->cfg->dws_threshold &&
           path_tree_has_room(&s->tree, (uint32_t)n);
}

static unsigned dws_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct dws *s = st;
    if (n == 1)
        return path_tree_jump(&s->tree, id, t[0].pc, site);
    if (!subdivides(s, id, n, site))
        return path_tree_nest(&s->tree, id, t, n, site, false);
    path_tree_subdivide(&s->tree, id, t, n, site);
    return path_tree_settle(&s->tree) | RECONV_CHANGED;
}

/* Handles memory divergence: the lanes that hit continue as a separate split, even past branches. They merge with the
 * lanes that missed when both are at the same PC. With the option value branch_bypass, a path splits whenever it waits
 * for a load that hit in some lanes only. With revive, it splits only while no warp of the SM can issue, which the
 * caller detects (reconv_wants.revives). */
static unsigned dws_split(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path) {
    struct dws *s = st;
    lanemask_t fast = s->tree.node[id].lanes & ~slow;
    slow &= s->tree.node[id].lanes;
    uint32_t more = s->tree.node[id].is_split ? 1 : 2;
    if (!s->cfg->dws_memory || !slow || !fast || next == s->tree.node[id].rpc || !path_tree_has_room(&s->tree, more))
        return 0;
    struct target t[2] = {{next, fast}, {next, slow}};
    *slow_path = (struct path){.pc = next, .lanes = slow};
    path_tree_subdivide(&s->tree, id, t, 2, NULL);
    /* path_tree_settle() is not called here, because it would merge the two splits at once; they merge at the next step
     * if they are still at the same PC */
    return RECONV_CHANGED;
}

static struct reconv_storage dws_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    /* an entry of the stack or of the warp-split table holds a PC, lanes and an rpc */
    return (struct reconv_storage){.entry = 3 * 32};
}

static struct reconv_wants dws_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){
        .every_pc = true, .splits = cfg->dws_memory != DWS_MEMORY_OFF, .revives = cfg->dws_memory == DWS_REVIVE};
}

const struct reconv_ops reconv_dws = {
    .name = "dws",
    .help = "dynamic warp subdivision: short branches split the warp, splits run independently",
    .flags = RECONV_SIDE_BY_SIDE | RECONV_MEETS,
    .size = dws_size,
    .zeroed = offsetof(struct path_tree, node),
    .start = dws_start,
    .paths = path_tree_paths,
    .finished = path_tree_finished,
    .advance = path_tree_advance,
    .branch = dws_branch,
    .leave = path_tree_leave,
    .give_way = path_tree_give_way,
    .stall = path_tree_stall,
    .wake = path_tree_wake,
    .split = dws_split,
    .describe = path_tree_describe,
    .board = path_tree_board,
    .storage = dws_storage,
    .wants = dws_wants,
    .depth = path_tree_depth,
};

const struct mechanism mechanism_dws = {
    .name = "dws",
    .help = "dynamic warp subdivision",
    .paper = "Meng, Tarjan and Skadron, Dynamic warp subdivision for integrated branch and memory divergence "
             "tolerance, ISCA 2010",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"dws", "dynamic warp subdivision; dws.threshold says how short a join must be (dws50 when not set)",
             &reconv_dws, false, NULL},
            {"dws10", "dws with a threshold of 10 instructions", &reconv_dws, false, "dws.threshold=10"},
            {"dws50", "dws with a threshold of 50 instructions", &reconv_dws, false, "dws.threshold=50"},
            {"dws100", "dws with a threshold of 100 instructions", &reconv_dws, false, "dws.threshold=100"},
            {.name = NULL},
        },
    .options = PREFIXES("dws."),
};
