/* Implements the tree of paths (path_tree.h). A split is an entry of a table; a parked split has found no free entry; a
 * sleeping split waits at a barrier or for members of its mask. */
#include "path_tree.h"
#include <assert.h>

static bool table_full(const struct path_tree *s) { return s->entries && s->n_splits - s->n_parked >= s->entries; }

/* Subtracts node `x` from the numbers of splits and of parked splits. A split leaves the table while it has children,
 * and returns when its last child has ended. */
static void leave_table(struct path_tree *s, struct path_node *x) {
    s->n_splits -= x->is_split;
    s->n_parked -= x->parked;
    x->parked = false;
}
static void lose_child(struct path_tree *s, int parent) {
    if (parent == TREE_NO_NODE || --s->node[parent].children || !s->node[parent].is_split)
        return;
    s->node[parent].parked = table_full(s);
    s->n_parked += s->node[parent].parked;
    s->n_splits++;
}

static int node_new(struct path_tree *s, int parent, uint32_t pc, lanemask_t lanes, uint32_t rpc, bool is_split) {
    int i = 0;
    if (parent != TREE_NO_NODE && s->node[parent].children++ == 0)
        leave_table(s, &s->node[parent]);
    while (i < s->high && s->node[i].used)
        i++;
    assert(i < TREE_NODES);
    if (i == s->high)
        s->high++;
    s->node[i] = (struct path_node){.pc = pc,
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
    return i;
}

static void node_free(struct path_tree *s, int i) {
    struct path_node *x = &s->node[i];
    leave_table(s, x);
    lose_child(s, x->parent);
    x->used = false;
    s->n--;
}

void path_tree_start(struct path_tree *s, uint32_t pc, lanemask_t lanes) {
    node_new(s, TREE_NO_NODE, pc, lanes, PC_EXIT, false);
}

/* Returns true if node `i` and each of its ancestors that are stack children are the youngest stack children of their
 * parents. All other nodes are suspended. */
static bool on_top(const struct path_tree *s, int i) {
    for (; s->node[i].parent != TREE_NO_NODE; i = s->node[i].parent) {
        if (s->node[i].is_split)
            continue;
        for (int k = 0; k < s->high; k++)
            if (s->node[k].used && s->node[k].parent == s->node[i].parent && !s->node[k].is_split &&
                s->node[k].age > s->node[i].age)
                return false;
    }
    return true;
}

int path_tree_paths(const void *st, struct path *out, int max) {
    const struct path_tree *s = st;
    int n = 0;
    for (int i = 0; i < s->high && n < max; i++)
        if (s->node[i].used && !s->node[i].children && !s->node[i].parked && on_top(s, i))
            out[n++] = (struct path){.pc = s->node[i].pc, .lanes = s->node[i].lanes, .id = (uint16_t)i};
    return n;
}

bool path_tree_finished(const void *st) { return ((const struct path_tree *)st)->n == 0; }

static void park(struct path_tree *s, int i, bool parked) {
    s->n_parked += (uint32_t)parked - (uint32_t)s->node[i].parked;
    s->node[i].parked = parked;
}

/* Returns the oldest split with these values of `parked` and `asleep`, or -1 if there is none. */
static int oldest(const struct path_tree *s, bool parked, bool asleep) {
    int found = -1;
    for (int i = 0; i < s->high; i++) {
        const struct path_node *x = &s->node[i];
        if (x->used && x->is_split && !x->children && x->parked == parked && x->asleep == asleep &&
            (found < 0 || x->age < s->node[found].age))
            found = i;
    }
    return found;
}

/* Moves parked splits into the table while it has room, or in place of sleeping splits. Returns true if a split
 * entered the table. */
static bool admit(struct path_tree *s) {
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
static bool may_merge(const struct path_node *x) {
    return x->used && x->is_split && !x->children && !x->parked && !x->asleep;
}

unsigned path_tree_settle(struct path_tree *s) {
    unsigned events = 0;
again:
    for (int i = 0; i < s->high; i++) {
        struct path_node *x = &s->node[i];
        if (!x->used || x->children)
            continue;
        if (!x->lanes || (x->pc == x->rpc && x->rpc != PC_EXIT && x->depth == x->rpc_depth)) {
            node_free(s, i);
            events |= RECONV_CHANGED;
            i = -1; /* starts again, because the parent may have reached its rpc, too */
            continue;
        }
        if (!s->merges || !may_merge(x))
            continue;
        for (int k = i + 1; k < s->high; k++) {
            struct path_node *y = &s->node[k];
            if (may_merge(y) && y->parent == x->parent && y->pc == x->pc && y->depth == x->depth) {
                x->lanes |= y->lanes;
                node_free(s, k);
                events |= RECONV_CHANGED;
            }
        }
    }
    if (!admit(s))
        return events;
    events |= RECONV_CHANGED;
    /* a split that has entered the table may be at the same PC as another split, so the merging starts again */
    goto again;
}

unsigned path_tree_advance(void *st, int id, uint32_t next) {
    struct path_tree *s = st;
    struct path_node *x = &s->node[id];
    x->pc = next;
    return s->n_splits || next == x->rpc ? path_tree_settle(s) : 0;
}

unsigned path_tree_jump(struct path_tree *s, int id, uint32_t pc, const struct branch_site *site) {
    s->node[id].depth = (uint16_t)(s->node[id].depth + site->calls);
    return path_tree_advance(s, id, pc);
}

void path_tree_subdivide(struct path_tree *s, int id, const struct target *t, int n, const struct branch_site *site) {
    int owner = s->node[id].is_split ? s->node[id].parent : id;
    uint32_t rpc = s->node[id].rpc;
    uint16_t rpc_depth = s->node[id].rpc_depth, was = s->node[id].depth;
    if (s->node[id].is_split)
        node_free(s, id);
    else { /* the parent node continues when its last split has ended */
        s->node[id].pc = rpc;
        s->node[id].depth = rpc_depth;
    }
    for (int i = 0; i < n; i++) {
        int k = node_new(s, owner, t[i].pc, t[i].lanes, rpc, true);
        bool stays = !site || (site->calls > 0 && t[i].pc == site->pc + 1); /* these lanes do not execute the call */
        s->node[k].depth = stays ? was : (uint16_t)(was + site->calls);
        s->node[k].rpc_depth = rpc_depth;
    }
}

unsigned path_tree_nest(struct path_tree *s, int id, const struct target *t, int n, const struct branch_site *site,
                        bool splits) {
    uint16_t was = s->node[id].depth, depth = (uint16_t)(was + site->calls);
    uint32_t rpc = site->rpc == PC_EXIT ? s->node[id].rpc : site->rpc;
    uint16_t rpc_depth = site->rpc == PC_EXIT ? s->node[id].rpc_depth : was;
    s->node[id].pc = rpc;
    s->node[id].depth = rpc_depth;
    for (int i = n - 1; i >= 0; i--) { /* the side that runs first is pushed last */
        const struct target *side = &t[s->last_first ? n - 1 - i : i];
        if (side->pc == rpc && (depth == rpc_depth || site->calls > 0))
            continue;
        int k = node_new(s, id, side->pc, side->lanes, rpc, splits);
        s->node[k].depth = depth;
        s->node[k].rpc_depth = rpc_depth;
    }
    return path_tree_settle(s) | RECONV_CHANGED;
}

unsigned path_tree_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct path_tree *s = st;
    s->node[id].pc = next;
    for (int i = 0; i < s->high; i++)
        s->node[i].lanes &= ~lanes;
    return path_tree_settle(s) | RECONV_CHANGED;
}

unsigned path_tree_give_way(void *st, const struct lane_waits *ws) {
    struct path_tree *s = st;
    unsigned events = 0;
    for (int i = 0; i < s->high; i++) {
        struct path_node *x = &s->node[i];
        lanemask_t runs = 0, wanted = 0;
        if (!x->used || x->children || x->parent == TREE_NO_NODE || x->lanes & ~ws->waiting || !on_top(s, i))
            continue;
        for (int k = 0; k < s->high; k++)
            if (s->node[k].used && !s->node[k].children && on_top(s, k))
                runs |= s->node[k].lanes;
        for (lanemask_t m = x->lanes; m; m &= m - 1)
            wanted |= ws->wants[lanes_first(m)];
        if (!(wanted & ~runs))
            continue;
        for (int k = 0; k < s->high; k++)
            s->node[k].lanes &= k == i ? LANES_ALL : ~x->lanes;
        leave_table(s, x);
        lose_child(s, x->parent);
        x->is_split = false;
        x->parent = TREE_NO_NODE;
        x->rpc = PC_EXIT;
        events = path_tree_settle(s) | RECONV_CHANGED;
    }
    return events;
}

unsigned path_tree_stall(void *st, int id, enum reconv_stall why) {
    struct path_tree *s = st;
    if (why != STALL_OTHER)
        return 0;
    s->node[id].asleep = true;
    return admit(s) ? path_tree_settle(s) | RECONV_CHANGED : 0;
}

unsigned path_tree_wake(void *st, int id) {
    struct path_tree *s = st;
    s->node[id].asleep = false;
    return path_tree_settle(s) | RECONV_CHANGED;
}

int path_tree_describe(const void *st, struct path_desc *out, int max) {
    const struct path_tree *s = st;
    int n = 0;
    for (int i = 0; i < s->high && n < max; i++) {
        const struct path_node *x = &s->node[i];
        if (!x->used)
            continue;
        const char *state = x->children     ? "waits for its children"
                            : !on_top(s, i) ? "suspended below the top of stack"
                            : x->parked     ? "split that waits for an entry of the table of paths"
                            : x->is_split   ? "split in the table of paths"
                                            : "top of stack";
        out[n++] = (struct path_desc){{.pc = x->pc, .lanes = x->lanes, .id = (uint16_t)i}, state, x->rpc};
    }
    return n;
}

int path_tree_depth(const void *st) { return ((const struct path_tree *)st)->n; }

enum reconv_board path_tree_board(const struct reconv_cfg *cfg) {
    (void)cfg;
    return RECONV_BOARD_LANES;
}
