/* Dual-path execution (Rhu and Erez, HPCA 2013, sections 3 and 7): a stack entry holds both sides of a branch, and both
 * may be scheduled. Entries are stored in slots and linked to their parents, because path forwarding (section 7.1) lets
 * a lower entry finish before a higher entry. Without path forwarding, the links form an ordinary stack. An entry's
 * lanes are a proper subset of the lanes of its parent side. So two-way branches need at most one entry per lane.
 * With n-way branches, whose further targets need further entries, fewer than two entries per lane are needed. */
#include "reconv_dpe.h"
#include "mechanisms/mechanism.h"
#include <assert.h>
#include <string.h>

enum { MAX_ENTRIES = 2 * MAX_WARP_LANES, NO_ENTRY = 255 };

struct side {
    uint32_t pc;
    lanemask_t lanes; /* 0: the side is not valid */
    uint16_t depth;   /* call depth of the lanes */
    bool waits;       /* this half of a split load waits for the other half */
    /* the side waits at a barrier, so with the constrained scheduler (section 3.3) paths() offers the other side */
    bool asleep;
};

struct entry {
    struct side side[2]; /* left, right */
    uint32_t rpc;
    /* call depth where the lanes diverged: under recursion, a PC alone does not identify the reconvergence point */
    uint16_t rpc_depth;
    uint8_t parent; /* slot of the parent entry; NO_ENTRY for the first entry */
    /* the side of the parent that diverged into this entry; its PC is this entry's rpc, and it waits until the entries
     * above the parent are popped */
    uint8_t parent_side;
    bool split; /* the entry's sides are the two halves of a split load (7.2) */
};

struct dpe {
    const struct reconv_cfg *cfg;
    int depth;
    uint8_t visible;                  /* with the constrained scheduler: number of the side that may issue, 0 or 1 */
    uint64_t used[MAX_ENTRIES / 64];  /* bit i % 64 of word i / 64: slot i is in use */
    uint8_t order[MAX_ENTRIES];       /* slots in stack order, starting with the bottom; not zeroed at the start */
    uint8_t children[MAX_ENTRIES][2]; /* number of entries that each side diverged into */
    struct entry e[MAX_ENTRIES];
};

static size_t dpe_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct dpe) + 7) & ~(size_t)7;
}

static int push(struct dpe *s, int parent, int parent_side, uint32_t rpc) {
    const int word = !~s->used[0], slot = 64 * word + __builtin_ctzll(~s->used[word]);
    assert(s->depth < MAX_ENTRIES);
    s->used[word] |= 1ull << slot % 64;
    s->order[s->depth++] = (uint8_t)slot;
    s->e[slot] = (struct entry){.rpc = rpc, .parent = (uint8_t)parent, .parent_side = (uint8_t)parent_side};
    s->children[slot][0] = s->children[slot][1] = 0;
    if (parent != NO_ENTRY)
        s->children[parent][parent_side]++;
    return slot;
}

static void dpe_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct dpe *s = st;
    s->cfg = cfg;
    int slot = push(s, NO_ENTRY, 0, PC_EXIT);
    s->e[slot].side[0] = (struct side){.pc = pc, .lanes = lanes};
}

/* Returns true if a side can run: it has lanes, did not diverge, and does not wait for its other half. */
static bool runs(const struct dpe *s, int slot, int side) {
    const struct side *p = &s->e[slot].side[side];
    return p->lanes && !s->children[slot][side] && !p->waits;
}

static struct path side_path(const struct dpe *s, int slot, int side, uint8_t board) {
    const struct side *p = &s->e[slot].side[side];
    return (struct path){.pc = p->pc, .lanes = p->lanes, .id = (uint16_t)(slot * 2 + side), .board = board};
}

static int collect(const struct dpe *s, struct path *out) {
    int n = 0;
    if (!s->depth)
        return 0;
    int top = s->order[s->depth - 1];
    for (int k = 0; k < 2; k++)
        if (runs(s, top, k))
            out[n++] = side_path(s, top, k, (uint8_t)k);
    if (!s->cfg->dpe_forwarding || n != 1)
        return n;
    /* section 7.1: an independent path of a lower entry takes the free scoreboard */
    for (int i = s->depth - 2; i >= 0; i--)
        for (int k = 0, slot = s->order[i]; k < 2; k++)
            if (runs(s, slot, k)) {
                out[1] = side_path(s, slot, k, !out[0].board);
                return 2;
            }
    return n;
}

/* Returns the number of concurrent paths. "NumPath equals 2 when an interleavable branch, which generates both PathL
 * and PathR at the TOS, is executed" (6.1). So this counts both valid sides of the top entry, even if the constrained
 * scheduler offers only one of them or one side waits for its other half. It also counts a path that was forwarded to
 * the free side. */
static int dpe_concurrent(const void *st) {
    const struct dpe *s = st;
    struct path all[2];
    int n = collect(s, all);
    const struct entry *top = &s->e[s->order[s->depth ? s->depth - 1 : 0]];
    return s->depth && top->side[0].lanes && top->side[1].lanes ? 2 : n;
}

static bool sleeps(const struct dpe *s, const struct path *p) { return s->e[p->id / 2].side[p->id & 1].asleep; }

static int dpe_paths(const void *st, struct path *out, int max) {
    const struct dpe *s = st;
    struct path all[2];
    int n = collect(s, all);
    /* constrained scheduler (section 3.3): only one side of a warp may issue */
    if (n == 2 && s->cfg->dpe_scheduler == DPE_CONSTRAINED) {
        int shown = s->visible & 1;
        all[0] = all[sleeps(s, &all[shown]) ? !shown : shown];
        n = 1;
    }
    for (int i = 0; i < n && i < max; i++)
        out[i] = all[i];
    return n < max ? n : max;
}

/* Returns the lanes of all runnable paths. Both sides count, because the constrained scheduler will offer the other
 * side later. */
static lanemask_t dpe_runnable(const void *st) {
    struct path all[2];
    lanemask_t lanes = 0;
    for (int n = collect(st, all); n-- > 0;)
        lanes |= all[n].lanes;
    return lanes;
}

static bool dpe_finished(const void *st) { return ((const struct dpe *)st)->depth == 0; }

/* Merges the halves of a split load if possible. The halves execute the same instructions, one of them ahead; both stop
 * before an instruction that could make them diverge (dpe_gather()). When both wait, they become one path again, on the
 * left scoreboard, which takes over the pending bits of the right scoreboard. A half whose other half has ended no
 * longer waits. */
static unsigned settle_split(struct entry *e) {
    struct side *l = &e->side[0], *r = &e->side[1];
    if (!e->split || (l->lanes && r->lanes && !(l->waits && r->waits)))
        return 0;
    assert(!l->lanes || !r->lanes || l->pc == r->pc);
    bool joined = l->lanes && r->lanes;
    if (joined) {
        l->lanes |= r->lanes;
        r->lanes = 0;
    }
    e->split = l->waits = r->waits = false;
    return joined ? RECONV_CHANGED | RECONV_SHADOW_1 : RECONV_CHANGED;
}

static void release(struct dpe *s, int slot) {
    struct entry *e = &s->e[slot];
    if (e->parent != NO_ENTRY)
        s->children[e->parent][e->parent_side]--;
    s->used[slot / 64] &= ~(1ull << slot % 64);
    int i = 0;
    while (s->order[i] != slot)
        i++;
    for (s->depth--; i < s->depth; i++)
        s->order[i] = s->order[i + 1];
}

/* Releases an entry whose only remaining side waits at the entry's own rpc, where it will only be popped. First
 * attaches the entries above it to its parent. Without this, entries would accumulate in loops. */
static void replace(struct dpe *s, int slot, int side) {
    const struct entry *e = &s->e[slot];
    if (!s->children[slot][side])
        return; /* no entry diverged from this side, so it can continue or end by itself */
    for (int i = 0; i < s->depth; i++) {
        struct entry *child = &s->e[s->order[i]];
        if (s->order[i] == slot || child->parent != slot)
            continue;
        child->parent = e->parent;
        child->parent_side = e->parent_side;
        if (e->parent != NO_ENTRY)
            s->children[e->parent][e->parent_side]++;
    }
    release(s, slot);
}

/* Invalidates sides that have arrived at their rpc and pops entries without sides, until nothing changes. A side that
 * diverged into higher entries has the reconvergence point as its PC, but has not arrived yet. */
static unsigned settle(struct dpe *s) {
    unsigned events = 0;
    for (int i = s->depth - 1; i >= 0; i--) {
        int slot = s->order[i];
        struct entry *e = &s->e[slot];
        for (int k = 0; k < 2; k++)
            if (e->side[k].lanes && !s->children[slot][k] && e->side[k].pc == e->rpc && e->rpc != PC_EXIT &&
                e->side[k].depth == e->rpc_depth) {
                e->side[k].lanes = 0;
                events |= (RECONV_SHADOW_0 << k) | RECONV_CHANGED;
            }
        events |= settle_split(e);
        if (!e->side[0].lanes && !e->side[1].lanes && !s->children[slot][0] && !s->children[slot][1]) {
            release(s, slot);
            events |= RECONV_CHANGED;
            i = s->depth; /* restarts, since the parent may have arrived too */
        }
    }
    /* a path may change to another scoreboard when path forwarding of it starts or ends */
    if (events && s->cfg->dpe_forwarding)
        events |= RECONV_SHADOW_0 | RECONV_SHADOW_1;
    return events;
}

static unsigned dpe_advance(void *st, int id, uint32_t next) {
    struct dpe *s = st;
    struct entry *e = &s->e[id / 2];
    e->side[id & 1].pc = next;
    return next == e->rpc || e->split ? settle(s) : 0;
}

static unsigned dpe_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct dpe *s = st;
    int slot = id / 2, k = id & 1;
    struct entry *e = &s->e[slot];
    uint16_t was = e->side[k].depth, depth = (uint16_t)(was + site->calls);
    if (n == 1) {
        e->side[k].depth = depth;
        return dpe_advance(st, id, t[0].pc);
    }
    assert(!e->split || !e->side[!k].lanes); /* dpe_gather() was called first: the halves have merged */
    /* A branch without a post-dominator (threads exit on one side) uses the reconvergence point of its path. */
    uint32_t rpc = site->rpc == PC_EXIT ? e->rpc : site->rpc;
    uint16_t rpc_depth = site->rpc == PC_EXIT ? e->rpc_depth : was;
    e->side[k].pc = rpc;
    e->side[k].depth = rpc_depth;
    struct target live[MAX_WARP_LANES];
    int n_live = 0;
    for (int i = 0; i < n; i++) /* a side that begins at the rpc has nothing to execute */
        if (t[i].pc != rpc || (depth != rpc_depth && site->calls <= 0))
            live[n_live++] = t[i];
    s->visible = 0; /* offer the left side of a new pair first */
    /* Pushes pairs of sides; the pair that runs first is pushed last. A single path keeps the scoreboard of its
     * parent. */
    for (int i = (n_live - 1) & ~1; i >= 0; i -= 2) {
        int child = push(s, slot, k, rpc);
        bool lone = i + 1 == n_live;
        s->e[child].rpc_depth = rpc_depth;
        s->e[child].side[lone ? k : 0] = (struct side){.pc = live[i].pc, .lanes = live[i].lanes, .depth = depth};
        if (!lone)
            s->e[child].side[1] = (struct side){.pc = live[i + 1].pc, .lanes = live[i + 1].lanes, .depth = depth};
    }
    if (rpc == e->rpc && rpc_depth == e->rpc_depth && !e->side[!k].lanes && !s->children[slot][!k])
        replace(s, slot, k);
    return settle(s) | RECONV_CHANGED | RECONV_SHADOW_0 | RECONV_SHADOW_1;
}

static unsigned dpe_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct dpe *s = st;
    s->e[id / 2].side[id & 1].pc = next;
    for (int i = 0; i < s->depth; i++)
        for (int k = 0; k < 2; k++)
            s->e[s->order[i]].side[k].lanes &= ~lanes;
    return settle(s) | RECONV_CHANGED;
}

static unsigned dpe_stall(void *st, int id, enum reconv_stall why) {
    struct dpe *s = st;
    if (why == STALL_OTHER)
        s->e[id / 2].side[id & 1].asleep = true;
    if (s->cfg->dpe_scheduler != DPE_CONSTRAINED)
        return 0;
    if (why == STALL_LOAD_USE) {
        struct path all[2];
        if (collect(s, all) < 2)
            return 0; /* it is the only path, so paths() still returns it */
        s->visible ^= 1;
    }
    return RECONV_CHANGED;
}

static unsigned dpe_wake(void *st, int id) {
    struct dpe *s = st;
    s->e[id / 2].side[id & 1].asleep = false;
    return s->cfg->dpe_scheduler == DPE_CONSTRAINED ? RECONV_CHANGED : 0;
}

/* Splits a path after a memory access, by section 7.2: the lanes that hit stay on their side; the lanes that missed
 * become the other side. */
static unsigned dpe_split(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path) {
    struct dpe *s = st;
    int slot = id / 2, k = id & 1;
    struct entry *e = &s->e[slot];
    lanemask_t fast = e->side[k].lanes & ~slow;
    slow &= e->side[k].lanes;
    if (!s->cfg->dpe_memory_divergence || slot != s->order[s->depth - 1] || e->side[!k].lanes || !slow || !fast ||
        next == e->rpc)
        return 0;
    uint16_t depth = e->side[k].depth;
    e->side[k] = (struct side){.pc = next, .lanes = fast, .depth = depth};
    e->side[!k] = (struct side){.pc = next, .lanes = slow, .depth = depth};
    e->split = true;
    s->visible = (uint8_t)k;
    *slow_path = side_path(s, slot, !k, !k);
    return RECONV_CHANGED | RECONV_SHADOW_0 << k;
}

static unsigned dpe_gather(void *st, int id, uint32_t pc) {
    struct dpe *s = st;
    struct entry *e = &s->e[id / 2];
    if (!e->split)
        return 0;
    e->side[id & 1].pc = pc; /* sets the PC, which the model otherwise learns only at block ends */
    e->side[id & 1].waits = true;
    return settle(s) | RECONV_CHANGED;
}

/* Returns the root of an entry's tree. Entries of one tree may reconverge; a root never reconverges with the entry from
 * which it diverged. */
static int root_of(const struct dpe *s, int slot) {
    while (s->e[slot].parent != NO_ENTRY && s->e[slot].rpc != PC_EXIT)
        slot = s->e[slot].parent;
    return slot;
}

/* Moves the tree below `root` to the bottom of the stack. */
static void to_bottom(struct dpe *s, int root) {
    struct entry *e = &s->e[root];
    if (e->parent != NO_ENTRY) /* the tree diverged from sides of an entry below, which no longer wait for the tree */
        s->children[e->parent][e->parent_side]--;
    for (int from = root; e->parent != NO_ENTRY && s->e[from].parent != NO_ENTRY; from = s->e[from].parent)
        s->e[s->e[from].parent].side[s->e[from].parent_side].lanes &= ~(e->side[0].lanes | e->side[1].lanes);
    e->parent = NO_ENTRY;
    uint8_t mine[MAX_ENTRIES] = {0}, others[MAX_ENTRIES] = {0};
    int n = 0, m = 0;
    for (int i = 0; i < s->depth; i++)
        if (root_of(s, s->order[i]) == root)
            mine[n++] = s->order[i];
        else
            others[m++] = s->order[i];
    memcpy(s->order, mine, (size_t)n);
    memcpy(s->order + n, others, (size_t)m);
}

/* Makes the side the root of a new tree of entries at the bottom of the stack. It no longer reconverges with the
 * entries below. */
static unsigned detach(struct dpe *s, int id) {
    struct side side = s->e[id / 2].side[id & 1];
    for (int i = 0; i < s->depth; i++)
        for (int k = 0; k < 2; k++)
            s->e[s->order[i]].side[k].lanes &= ~side.lanes;
    int slot = push(s, NO_ENTRY, 0, PC_EXIT);
    s->e[slot].side[0] = side;
    to_bottom(s, slot);
    return settle(s) | RECONV_CHANGED | RECONV_SHADOW_0 | RECONV_SHADOW_1;
}

/* Resolves deadlocks. A side is detached if it waits for lanes that cannot be scheduled before this side continues.
 * If all sides of a tree wait, the tree moves below the other trees. */
static unsigned dpe_give_way(void *st, const struct lane_waits *ws) {
    struct dpe *s = st;
    unsigned events = 0;
    for (int turns = 0; turns < 2 * MAX_ENTRIES; turns++) {
        struct path p[2];
        lanemask_t runs = 0, all = 0, below = 0;
        int n = collect(s, p), leaves = -1, root = n ? root_of(s, p[0].id / 2) : 0;
        for (int i = 0; i < s->depth; i++)
            for (int k = 0, slot = s->order[i]; k < 2; k++) {
                all |= s->e[slot].side[k].lanes;
                below |= root_of(s, slot) == root ? 0 : s->e[slot].side[k].lanes;
            }
        for (int i = 0; i < n; i++)
            runs |= p[i].lanes;
        for (int i = 0; i < n; i++) {
            lanemask_t wanted = 0;
            for (lanemask_t m = p[i].lanes & ws->waiting; m; m &= m - 1)
                wanted |= ws->wants[lanes_first(m)];
            if (!(p[i].lanes & ~ws->waiting) && wanted & all & ~runs && all & ~ws->waiting && turns < MAX_ENTRIES)
                leaves = p[i].id;
        }
        if (leaves >= 0)
            events |= detach(s, leaves);
        else if (!(runs & ~ws->waiting) && below & ~ws->waiting) {
            to_bottom(s, root);
            events |= settle(s) | RECONV_CHANGED | RECONV_SHADOW_0 | RECONV_SHADOW_1;
        } else /* returns the events of moves, since paths have new ids even if none can run now */
            return runs & ~ws->waiting || turns < MAX_ENTRIES ? events : 0;
    }
    return 0;
}

static int dpe_describe(const void *st, struct path_desc *out, int max) {
    const struct dpe *s = st;
    int n = 0;
    for (int i = s->depth - 1; i >= 0; i--)
        for (int k = 0, slot = s->order[i]; k < 2 && n < max; k++) {
            const struct entry *e = &s->e[slot];
            if (!e->side[k].lanes)
                continue;
            const char *state = s->children[slot][k] ? "waits at the reconvergence point for the entries above"
                                : e->side[k].waits   ? "half of a load, waits for the other half"
                                : i == s->depth - 1  ? (k ? "top of stack, right" : "top of stack, left")
                                                     : "suspended below the top of stack";
            out[n++] = (struct path_desc){side_path(s, slot, k, (uint8_t)k), state, e->rpc};
        }
    return n;
}

static int dpe_depth(const void *st) { return ((const struct dpe *)st)->depth; }

static enum reconv_board dpe_board(const struct reconv_cfg *cfg) {
    return cfg->dpe_scoreboard == DPE_OPTIMISTIC ? RECONV_BOARD_LANES : RECONV_BOARD_SIDES;
}

static struct reconv_storage dpe_storage(const struct reconv_cfg *cfg) {
    /* further bits of an entry: one marks a split load, and one per half marks a half that waits */
    uint32_t split = cfg->dpe_memory_divergence ? 3 : 0;
    return (struct reconv_storage){.entry = 2 * 2 * 32 + 32 + split};
}

static struct reconv_wants dpe_wants(const struct reconv_cfg *cfg) {
    return (struct reconv_wants){
        .splits = cfg->dpe_memory_divergence,
        .gathers = cfg->dpe_memory_divergence,
        .rotates = cfg->dpe_scheduler == DPE_CONSTRAINED,
        .stack_entries = cfg->stack_entries,
    };
}

const struct reconv_ops reconv_dpe = {
    .name = "dpe",
    .help = "dual-path execution: both sides of the innermost branch may issue",
    .flags = RECONV_SIDE_BY_SIDE,
    .size = dpe_size,
    .zeroed = offsetof(struct dpe, order),
    .start = dpe_start,
    .paths = dpe_paths,
    .finished = dpe_finished,
    .advance = dpe_advance,
    .branch = dpe_branch,
    .leave = dpe_leave,
    .stall = dpe_stall,
    .wake = dpe_wake,
    .split = dpe_split,
    .gather = dpe_gather,
    .give_way = dpe_give_way,
    .concurrent = dpe_concurrent,
    .describe = dpe_describe,
    .runnable = dpe_runnable,
    .board = dpe_board,
    .storage = dpe_storage,
    .wants = dpe_wants,
    .depth = dpe_depth,
};

const struct mechanism mechanism_dpe = {
    .name = "dpe",
    .help = "dual-path execution: both sides of a branch may issue",
    .paper = "Rhu and Erez, The dual-path execution model for efficient GPU control flow, HPCA 2013",
    .kind = MECHANISM_BASE,
    .models =
        (const struct model[]){
            {"dpe", "dual-path execution: both sides of a branch may issue", &reconv_dpe, false, NULL},
            {.name = NULL},
        },
    .options = PREFIXES("dpe."),
};
