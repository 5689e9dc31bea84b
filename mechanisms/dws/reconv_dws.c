/* Dynamic warp subdivision as evaluated in the dual-path paper (section 2.2; the original is Meng, Tarjan and Skadron,
 * ISCA 2010). Paths form a tree of nodes. A node's children are either on the stack, and run one at a time, the last
 * pushed first; or they are splits (in the warp-split table), and all run at once. A split has the rpc of its parent
 * node, so splits of splits are siblings. A split has no stack of its own, so every branch that diverges in it makes
 * more splits. 96 nodes are enough, because the lanes of siblings are disjoint subsets of their parent's lanes and a
 * stack child has fewer lanes than its parent.
 *
 * In a table of limited size (dws.wst_entries), a branch subdivides a warp only if its sides fit. A branch inside a
 * split always makes further splits; if the table is full, these are parked. A parked split is not scheduled and does
 * not merge. The oldest parked split enters the table when a split ends or merges, or replaces a split that waits at a
 * barrier. */
#include "reconv_dws.h"
#include "mechanisms/mechanism.h"
#include <assert.h>

enum { MAX_NODES = 96, NO_NODE = 255 };

struct node {
    uint32_t pc, rpc;
    lanemask_t lanes;
    uint16_t depth, rpc_depth; /* current call depth of the lanes, and their call depth at the divergence */
    uint8_t parent;
    bool is_split; /* the node is an entry of the warp-split table */
    bool memory;   /* a split that a load caused (dws.memory) */
    bool parked;   /* a split without an entry in the table */
    bool asleep;   /* the path waits at a barrier, or for lanes of its member mask */
    bool used;
    uint8_t children;
    uint32_t age; /* order of creation */
};

struct dws {
    const struct reconv_cfg *cfg;
    uint32_t clock, n_splits, n_parked;
    int n;    /* nodes in use */
    int high; /* number of slots that were ever used */
    struct node node[MAX_NODES];
};

static size_t dws_size(const struct reconv_cfg *cfg) {
    (void)cfg;
    return (sizeof(struct dws) + 7) & ~(size_t)7;
}

static bool table_full(const struct dws *s) {
    return s->cfg->dws_wst_entries && s->n_splits - s->n_parked >= s->cfg->dws_wst_entries;
}

static int node_new(struct dws *s, int parent, uint32_t pc, lanemask_t lanes, uint32_t rpc, bool is_split) {
    int i = 0;
    while (i < s->high && s->node[i].used)
        i++;
    assert(i < MAX_NODES);
    if (i == s->high)
        s->high++;
    s->node[i] = (struct node){.pc = pc,
                               .rpc = rpc,
                               .lanes = lanes,
                               .parent = (uint8_t)parent,
                               .is_split = is_split,
                               .parked = is_split && table_full(s),
                               .used = true,
                               .age = s->clock++};
    s->n++;
    s->n_parked += s->node[i].parked;
    s->n_splits += is_split;
    if (parent != NO_NODE)
        s->node[parent].children++;
    return i;
}

static void node_free(struct dws *s, int i) {
    struct node *x = &s->node[i];
    if (x->parent != NO_NODE)
        s->node[x->parent].children--;
    s->n_splits -= x->is_split;
    s->n_parked -= x->parked;
    x->used = false;
    s->n--;
}

static void dws_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct dws *s = st;
    s->cfg = cfg;
    node_new(s, NO_NODE, pc, lanes, PC_EXIT, false);
}

/* Returns true if node `i` and each of its ancestors that are stack children are the youngest stack children of their
 * parents. All other nodes are suspended. */
static bool on_top(const struct dws *s, int i) {
    for (; s->node[i].parent != NO_NODE; i = s->node[i].parent) {
        if (s->node[i].is_split)
            continue;
        for (int k = 0; k < s->high; k++)
            if (s->node[k].used && s->node[k].parent == s->node[i].parent && !s->node[k].is_split &&
                s->node[k].age > s->node[i].age)
                return false;
    }
    return true;
}

static int dws_paths(const void *st, struct path *out, int max) {
    const struct dws *s = st;
    int n = 0;
    for (int i = 0; i < s->high && n < max; i++)
        if (s->node[i].used && !s->node[i].children && !s->node[i].parked && on_top(s, i))
            out[n++] = (struct path){s->node[i].pc, s->node[i].lanes, (uint16_t)i, 0};
    return n;
}

static bool dws_finished(const void *st) { return ((const struct dws *)st)->n == 0; }

static void park(struct dws *s, int i, bool parked) {
    s->n_parked += (uint32_t)parked - (uint32_t)s->node[i].parked;
    s->node[i].parked = parked;
}

/* Returns the oldest split with these values of `parked` and `asleep`, or -1 if there is none. */
static int oldest(const struct dws *s, bool parked, bool asleep) {
    int found = -1;
    for (int i = 0; i < s->high; i++) {
        const struct node *x = &s->node[i];
        if (x->used && x->is_split && x->parked == parked && x->asleep == asleep &&
            (found < 0 || x->age < s->node[found].age))
            found = i;
    }
    return found;
}

/* Moves parked splits into the table while it has room, or in place of sleeping splits. Returns true if a split
 * entered the table. */
static bool admit(struct dws *s) {
    bool any = false;
    while (s->n_parked) {
        int in = oldest(s, true, false), out = oldest(s, false, true);
        if (in < 0 && !table_full(s))
            in = oldest(s, true, true);
        if (in < 0 || (table_full(s) && out < 0))
            break;
        if (table_full(s))
            park(s, out, true);
        park(s, in, false);
        any = true;
    }
    return any;
}

/* Returns true if the node may merge with others. A sleeping split must keep its id. */
static bool may_merge(const struct node *x) {
    return x->used && x->is_split && !x->children && !x->parked && !x->asleep;
}

/* Removes nodes that have reached their rpc, and merges splits of one node at the same PC (opportunistic merging). */
static unsigned settle(struct dws *s) {
    unsigned events = 0;
again:
    for (int i = 0; i < s->high; i++) {
        struct node *x = &s->node[i];
        if (!x->used || x->children)
            continue;
        if (!x->lanes || (x->pc == x->rpc && x->rpc != PC_EXIT && x->depth == x->rpc_depth)) {
            node_free(s, i);
            events |= RECONV_CHANGED;
            i = -1; /* restarts, since the parent may have arrived too */
            continue;
        }
        if (!may_merge(x))
            continue;
        for (int k = i + 1; k < s->high; k++) {
            struct node *y = &s->node[k];
            if (may_merge(y) && y->parent == x->parent && y->pc == x->pc && y->depth == x->depth) {
                x->lanes |= y->lanes;
                x->memory &= y->memory;
                node_free(s, k);
                events |= RECONV_CHANGED;
            }
        }
    }
    if (!admit(s))
        return events;
    events |= RECONV_CHANGED;
    goto again; /* a split that has entered the table may be at the same PC as another split */
}

static unsigned dws_advance(void *st, int id, uint32_t next) {
    struct dws *s = st;
    struct node *x = &s->node[id];
    x->pc = next;
    return s->n_splits || next == x->rpc ? settle(s) : 0;
}

static bool subdivides(const struct dws *s, int id, int n, const struct branch_site *site) {
    if (s->node[id].is_split) /* "nested branches within a split warp cause further splits" (2.2) */
        return true;
    return (site->rpc != PC_EXIT || !site->calls) && site->rpc_block <= s->cfg->dws_threshold &&
           (!s->cfg->dws_wst_entries || s->n_splits + (uint32_t)n <= s->cfg->dws_wst_entries);
}

/* Replaces the path by n splits of its node. */
static void subdivide(struct dws *s, int id, const struct target *t, int n, const struct branch_site *site) {
    int owner = s->node[id].is_split ? s->node[id].parent : id;
    uint32_t rpc = s->node[owner].rpc;
    uint16_t rpc_depth = s->node[owner].rpc_depth, was = s->node[id].depth;
    if (s->node[id].is_split)
        node_free(s, id);
    else { /* the parent node continues when its last split has ended */
        s->node[id].pc = rpc;
        s->node[id].depth = rpc_depth;
    }
    for (int i = 0; i < n; i++) {
        int k = node_new(s, owner, t[i].pc, t[i].lanes, rpc, true);
        /* split by a load, or lanes outside the call */
        bool stays = !site || (site->calls > 0 && t[i].pc == site->pc + 1);
        s->node[k].depth = stays ? was : (uint16_t)(was + site->calls);
        s->node[k].rpc_depth = rpc_depth;
    }
}

static unsigned dws_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct dws *s = st;
    uint16_t was = s->node[id].depth, depth = (uint16_t)(was + site->calls);
    if (n == 1) {
        s->node[id].depth = depth;
        return dws_advance(st, id, t[0].pc);
    }
    if (subdivides(s, id, n, site)) {
        subdivide(s, id, t, n, site);
        return settle(s) | RECONV_CHANGED;
    }
    /* as in SPE: a branch without a post-dominator uses the node's rpc */
    uint32_t rpc = site->rpc == PC_EXIT ? s->node[id].rpc : site->rpc;
    uint16_t rpc_depth = site->rpc == PC_EXIT ? s->node[id].rpc_depth : was;
    s->node[id].pc = rpc;
    s->node[id].depth = rpc_depth;
    for (int i = n - 1; i >= 0; i--) { /* the side that runs first is pushed last */
        const struct target *side = &t[s->cfg->first ? n - 1 - i : i];
        if (side->pc == rpc && (depth == rpc_depth || site->calls > 0))
            continue;
        int k = node_new(s, id, side->pc, side->lanes, rpc, false);
        s->node[k].depth = depth;
        s->node[k].rpc_depth = rpc_depth;
    }
    return settle(s) | RECONV_CHANGED;
}

static unsigned dws_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct dws *s = st;
    s->node[id].pc = next;
    for (int i = 0; i < s->high; i++)
        s->node[i].lanes &= ~lanes;
    return settle(s) | RECONV_CHANGED;
}

/* Handles memory divergence: the lanes that hit continue as a separate split, even past branches. They merge with the
 * lanes that missed when both are at the same PC. With the option value branch_bypass, a path splits whenever it waits
 * for a load that hit in some lanes only. With revive, it splits only while no warp of the SM can issue, which the
 * caller detects (reconv_wants.revives). */
static unsigned dws_split(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path) {
    struct dws *s = st;
    lanemask_t fast = s->node[id].lanes & ~slow;
    slow &= s->node[id].lanes;
    uint32_t more = s->node[id].is_split ? 1 : 2;
    if (!s->cfg->dws_memory || !slow || !fast || next == s->node[id].rpc ||
        (s->cfg->dws_wst_entries && s->n_splits + more > s->cfg->dws_wst_entries))
        return 0;
    struct target t[2] = {{next, fast}, {next, slow}};
    *slow_path = (struct path){next, slow, 0, 0};
    subdivide(s, id, t, 2, NULL);
    /* settle() is not called here, because it would merge the two splits at once; they merge at the next step if they
     * are still at the same PC */
    return RECONV_CHANGED;
}

/* Resolves deadlocks. A path becomes the root of a separate tree of nodes if it waits for lanes that cannot be
 * scheduled before the path has ended. */
static unsigned dws_give_way(void *st, const struct lane_waits *ws) {
    struct dws *s = st;
    unsigned events = 0;
    for (int i = 0; i < s->high; i++) {
        struct node *x = &s->node[i];
        lanemask_t runs = 0, wanted = 0;
        if (!x->used || x->children || x->parent == NO_NODE || x->lanes & ~ws->waiting || !on_top(s, i))
            continue;
        for (int k = 0; k < s->high; k++)
            if (s->node[k].used && !s->node[k].children && on_top(s, k))
                runs |= s->node[k].lanes;
        for (lanemask_t m = x->lanes; m; m &= m - 1)
            wanted |= ws->wants[__builtin_ctz(m)];
        if (!(wanted & ~runs))
            continue;
        for (int k = 0; k < s->high; k++)
            s->node[k].lanes &= k == i ? LANES_ALL : ~x->lanes;
        s->node[x->parent].children--;
        park(s, i, false);
        s->n_splits -= x->is_split;
        x->is_split = false;
        x->parent = NO_NODE;
        x->rpc = PC_EXIT;
        events = settle(s) | RECONV_CHANGED;
    }
    return events;
}

/* A split that waits at a barrier gives its table entry to a parked split. */
static unsigned dws_stall(void *st, int id, enum reconv_stall why) {
    struct dws *s = st;
    if (why != STALL_OTHER)
        return 0;
    s->node[id].asleep = true;
    return admit(s) ? settle(s) | RECONV_CHANGED : 0;
}

static unsigned dws_wake(void *st, int id) {
    struct dws *s = st;
    s->node[id].asleep = false;
    return settle(s) | RECONV_CHANGED;
}

static int dws_describe(const void *st, struct path_desc *out, int max) {
    const struct dws *s = st;
    int n = 0;
    for (int i = 0; i < s->high && n < max; i++) {
        const struct node *x = &s->node[i];
        if (!x->used)
            continue;
        const char *state = x->children     ? "waits for its children"
                            : !on_top(s, i) ? "suspended below the top of stack"
                            : x->parked     ? "split that waits for an entry of the warp-split table"
                            : x->is_split   ? "split in the warp-split table"
                                            : "top of stack";
        out[n++] = (struct path_desc){{x->pc, x->lanes, (uint16_t)i, 0}, state, x->rpc};
    }
    return n;
}

static int dws_depth(const void *st) { return ((const struct dws *)st)->n; }

static enum reconv_board dws_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES;
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
    .size = dws_size,
    .start = dws_start,
    .paths = dws_paths,
    .finished = dws_finished,
    .advance = dws_advance,
    .branch = dws_branch,
    .leave = dws_leave,
    .give_way = dws_give_way,
    .stall = dws_stall,
    .wake = dws_wake,
    .split = dws_split,
    .describe = dws_describe,
    .board = dws_board,
    .storage = dws_storage,
    .wants = dws_wants,
    .depth = dws_depth,
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
