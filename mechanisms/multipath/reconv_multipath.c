/* Multi-path execution [ElTantawy et al., HPCA 2014]. All sides of all nested branches can issue, and they still
 * reconverge at the immediate post-dominators of the branches. The paper has a splits table with the paths that can
 * issue, and a reconvergence table with an entry for each reconvergence point that waits for paths. Here both are one
 * tree (path_tree.h): its leaves are the entries of the splits table, its other nodes those of the reconvergence table.
 *
 * A branch whose reconvergence point is that of its path adds no entry to the reconvergence table, as on a stack, so a
 * loop needs only one entry. If the splits table is full (multipath.entries), new paths wait outside. The paper's
 * opportunistic early reconvergence also merges paths at the same PC before their reconvergence point; here only paths
 * that wait for the same entry of the reconvergence table merge [rebuilt]. */
#include "reconv_multipath.h"
#include "isa/paths/path_tree.h"
#include "mechanisms/mechanism.h"

static size_t multipath_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct path_tree) + 7) & ~(size_t)7;
}

static void multipath_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct path_tree *s = st;
    s->entries = cfg->multipath_entries;
    s->merges = cfg->multipath_opportunistic;
    path_tree_start(s, pc, lanes);
}

/* Returns true if the sides of the branch reconverge where the path reconverges. This is also the case if the branch
 * has no reconvergence point of its own. */
static bool joins_with_path(const struct path_node *path, const struct branch_site *site) {
    return site->rpc == PC_EXIT || (path->is_split && site->rpc == path->rpc && path->depth == path->rpc_depth);
}

static unsigned multipath_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct path_tree *s = st;
    if (n == 1)
        return path_tree_jump(s, id, t[0].pc, site);
    if (!joins_with_path(&s->node[id], site))
        return path_tree_nest(s, id, t, n, site, true);
    path_tree_subdivide(s, id, t, n, site);
    return path_tree_settle(s) | RECONV_CHANGED;
}

static struct reconv_storage multipath_storage(const struct reconv_cfg *cfg) {
    (void)cfg;
    /* An entry of the splits table holds a PC, lanes and an rpc. An entry of the reconvergence table also holds the
     * lanes that have arrived, so 128 bits are enough for both. */
    return (struct reconv_storage){.entry = 4 * 32};
}

/* Returns the calls that the model requests. Without opportunistic merging, paths change only where blocks end. */
static struct reconv_wants multipath_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){.every_pc = cfg->multipath_opportunistic};
}

const struct reconv_ops reconv_multipath = {
    .name = "multipath",
    .help = "multi-path execution: all sides of nested branches run, and reconverge at post-dominators",
    .flags = RECONV_SIDE_BY_SIDE,
    .size = multipath_size,
    .zeroed = offsetof(struct path_tree, node),
    .start = multipath_start,
    .paths = path_tree_paths,
    .finished = path_tree_finished,
    .advance = path_tree_advance,
    .branch = multipath_branch,
    .leave = path_tree_leave,
    .give_way = path_tree_give_way,
    .stall = path_tree_stall,
    .wake = path_tree_wake,
    .describe = path_tree_describe,
    .board = path_tree_board,
    .storage = multipath_storage,
    .wants = multipath_wants,
    .depth = path_tree_depth,
};

const struct mechanism mechanism_multipath = {
    .name = "multipath",
    .help = "multi-path execution",
    .paper = "ElTantawy, Ma, O'Connor and Aamodt, A scalable multi-path microarchitecture for efficient GPU control "
             "flow, HPCA 2014",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"multipath", "multi-path execution: all sides of nested branches run and reconverge", &reconv_multipath,
             false, NULL},
            {.name = NULL},
        },
    .options = PREFIXES("multipath."),
};
