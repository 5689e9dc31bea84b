#include "cta_stack.h"
#include "isa/hot_assert.h"
#include <string.h>

/* An entry of m threads and all entries above it for its threads are at most 2m - 1: an entry is divided into two or
 * more disjoint sets, or one proper subset, and again only after these have ended. */
static uint32_t most_nodes(uint32_t n_warps) { return 2 * WARP_LANES * n_warps; }

size_t cta_stack_warp_size(const struct reconv_cfg *cfg) {
    (void)cfg;
    return sizeof(struct cta_stack_warp);
}

size_t cta_stack_size(const struct reconv_cfg *cfg, uint32_t n_warps) {
    (void)cfg;
    size_t nodes = most_nodes(n_warps) * (sizeof(struct cta_node) + n_warps * sizeof(lanemask_t));
    return (sizeof(struct cta_stack) + nodes + n_warps * WARP_LANES * sizeof(struct cta_path) + 7) & ~(size_t)7;
}

void cta_stack_join(void *st, const struct reconv_cfg *cfg, struct reconv_cta *cta, uint32_t warp) {
    struct cta_stack *s = (struct cta_stack *)cta;
    struct cta_stack_warp *w = st;
    if (!s->path) {
        s->path = (struct cta_path *)(void *)(s->node + most_nodes(cta->n_warps));
        s->lanes = (lanemask_t *)(void *)(s->path + (size_t)cta->n_warps * WARP_LANES);
        s->fallthrough_first = cfg && cfg->first == FIRST_FALLTHROUGH;
        s->top = CTA_NO_NODE;
    }
    *w = (struct cta_stack_warp){.s = s, .path = s->path + (size_t)warp * WARP_LANES, .warp = warp};
}

/* ---- nodes ---- */

static lanemask_t *lanes_of(const struct cta_stack *s, uint32_t node) {
    return s->lanes + (size_t)node * s->cta.n_warps;
}

static uint16_t new_node(struct cta_stack *s, struct cta_node like) {
    uint32_t i = 0;
    while (i < s->high && s->node[i].used)
        i++;
    hot_assert(i < most_nodes(s->cta.n_warps));
    if (i == s->high)
        s->high++;
    like.used = true;
    s->node[i] = like;
    memset(lanes_of(s, i), 0, s->cta.n_warps * sizeof(lanemask_t));
    if (like.parent != CTA_NO_NODE)
        s->node[like.parent].children++;
    return (uint16_t)i;
}

static void new_path(struct cta_stack *s, uint32_t warp, struct cta_path like) {
    struct cta_path *p = s->path + (size_t)warp * WARP_LANES;
    while (p->lanes)
        p++;
    *p = like;
    s->node[like.node].paths[like.state]++;
}

static void free_path(struct cta_stack *s, struct cta_path *p) {
    s->node[p->node].paths[p->state]--;
    p->lanes = 0;
}

static void set_state(struct cta_stack *s, struct cta_path *p, enum cta_path_state state) {
    s->node[p->node].paths[p->state]--;
    p->state = (uint8_t)state;
    s->node[p->node].paths[state]++;
}

/* Returns the next path of the node in this state, from path number *at on, which is then the number of the path behind
 * it. The paths of warp w begin with number w * WARP_LANES. NULL: there is none. */
static struct cta_path *next_path(const struct cta_stack *s, uint32_t node, enum cta_path_state state, uint32_t *at) {
    for (; *at < s->cta.n_warps * WARP_LANES; ++*at) {
        struct cta_path *p = &s->path[*at];
        if (p->lanes && p->node == node && p->state == state) {
            ++*at;
            return p;
        }
    }
    return NULL;
}
static uint32_t warp_before(uint32_t at) { return (at - 1) / WARP_LANES; }

/* Ends the path if it has reached the rpc of its node, whose parent then holds its lanes. */
static bool ends(struct cta_stack *s, struct cta_path *p, uint32_t warp) {
    const struct cta_node *n = &s->node[p->node];
    if (p->pc != n->rpc || p->depth != n->rpc_depth)
        return false;
    lanes_of(s, p->node)[warp] &= ~p->lanes;
    free_path(s, p);
    return true;
}

/* Returns a number for a compacted warp. The numbers are reused only after all others. */
static uint16_t new_group(struct cta_stack *s) {
    if (!++s->last_group)
        s->last_group = 1;
    return s->last_group;
}

/* Makes paths of the threads of a node, at its PC. In compacted warp i rides the i-th thread of each lane. */
static void make_paths(struct cta_stack *s, uint16_t node) {
    const struct cta_node *n = &s->node[node];
    const uint32_t warps = s->cta.n_warps;
    lanemask_t in[MAX_CTA_WARPS][MAX_CTA_WARPS] = {{0}}; /* threads by compacted warp and warp */
    uint8_t next[WARP_LANES] = {0}, riders[MAX_CTA_WARPS] = {0};
    for (uint32_t w = 0; w < warps; w++)
        for (lanemask_t m = lanes_of(s, node)[w]; m; m &= m - 1)
            in[n->home ? w : next[__builtin_ctz(m)]++][w] |= m & -m;
    for (uint32_t g = 0; g < warps; g++)
        for (uint32_t w = 0; w < warps; w++)
            riders[g] += in[g][w] != 0;
    for (uint32_t g = 0; g < warps; g++) {
        uint16_t group = riders[g] > 1 ? new_group(s) : 0;
        for (uint32_t w = 0; w < warps; w++)
            if (in[g][w])
                new_path(
                    s, w,
                    (struct cta_path){.pc = n->pc, .depth = n->depth, .lanes = in[g][w], .node = node, .group = group});
    }
    if (s->top == node)
        s->top = CTA_NO_NODE; /* so that the new paths are announced */
}

/* A child of the node has ended, or no longer belongs to it. After the last child, the node continues. */
static void drop_child(struct cta_stack *s, uint16_t parent) {
    if (parent == CTA_NO_NODE || --s->node[parent].children)
        return;
    make_paths(s, parent);
    uint32_t at = 0;
    for (struct cta_path *p; (p = next_path(s, parent, CTA_RUNS, &at));)
        ends(s, p, warp_before(at));
}

static void free_node(struct cta_stack *s, uint16_t node) {
    s->node[node].used = false;
    if (s->top == node)
        s->top = CTA_NO_NODE;
    drop_child(s, s->node[node].parent);
}

/* ---- steps ---- */

void cta_stack_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct cta_stack_warp *w = st;
    struct cta_stack *s = w->s;
    (void)cfg;
    if (!s->high)
        s->top = new_node(s, (struct cta_node){.pc = pc, .rpc = PC_EXIT, .parent = CTA_NO_NODE, .home = true});
    w->alive = lanes;
    lanes_of(s, 0)[w->warp] = lanes;
    if (lanes)
        new_path(s, w->warp, (struct cta_path){.pc = pc, .lanes = lanes});
}

bool cta_stack_finished(const void *st) { return !((const struct cta_stack_warp *)st)->alive; }

int cta_stack_paths(const void *st, struct path *out, int max) {
    const struct cta_stack_warp *w = st;
    int n = 0;
    for (uint16_t i = 0; i < WARP_LANES && n < max; i++) {
        const struct cta_path *p = &w->path[i];
        if (p->lanes && p->state <= CTA_POLLS && p->node == w->s->top)
            out[n++] = (struct path){.pc = p->pc, .lanes = p->lanes, .id = i};
    }
    return n;
}

uint32_t cta_stack_group(const void *st, int id) { return ((const struct cta_stack_warp *)st)->path[id].group; }

unsigned cta_stack_advance(void *st, int id, uint32_t next) {
    struct cta_stack_warp *w = st;
    w->path[id].pc = next;
    if (ends(w->s, &w->path[id], w->warp))
        w->s->cta.due = true;
    return 0;
}

/* Paths wait only at conditional branches, and not at those of loops that wait for other threads. If a path diverges at
 * another instruction, its parts run on in the same node. */
unsigned cta_stack_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct cta_stack_warp *w = st;
    struct cta_path p = w->path[id];
    uint16_t depth = (uint16_t)(p.depth + site->calls);
    p.site_depth = p.depth;
    p.site = site->pc;
    p.rpc = site->rpc;
    bool meets = site->conditional && !site->waits;
    free_path(w->s, &w->path[id]);
    for (int i = 0; i < n; i++) {
        bool skips_call = t[i].pc == site->pc + 1 && site->calls > 0;
        p.pc = t[i].pc;
        p.lanes = t[i].lanes;
        p.depth = skips_call ? p.site_depth : depth;
        p.rank = (uint8_t)i;
        p.state = meets ? CTA_ARRIVED : site->waits && p.pc <= site->pc ? CTA_POLLS : CTA_RUNS;
        new_path(w->s, w->warp, p);
    }
    for (uint32_t i = 0; i < WARP_LANES && !meets; i++)
        if (w->path[i].lanes && w->path[i].node == p.node && w->path[i].state == CTA_RUNS)
            ends(w->s, &w->path[i], w->warp);
    w->s->cta.due = true;
    return 0;
}

unsigned cta_stack_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct cta_stack_warp *w = st;
    struct cta_path *p = &w->path[id];
    for (uint32_t i = 0; i < w->s->high; i++)
        lanes_of(w->s, i)[w->warp] &= ~lanes;
    w->alive &= ~lanes;
    w->s->cta.due = true;
    if (p->lanes & ~lanes) {
        p->lanes &= ~lanes;
        return cta_stack_advance(st, id, next);
    }
    free_path(w->s, p);
    return 0;
}

unsigned cta_stack_stall(void *st, int id, enum reconv_stall why) {
    struct cta_stack_warp *w = st;
    if (why != STALL_OTHER)
        return 0;
    set_state(w->s, &w->path[id], CTA_SLEEPS);
    w->s->cta.due = true;
    return RECONV_CHANGED;
}

unsigned cta_stack_wake(void *st, int id) {
    struct cta_stack_warp *w = st;
    set_state(w->s, &w->path[id], CTA_RUNS);
    w->s->cta.due = true;
    return RECONV_CHANGED;
}

/* ---- what the warps do together ---- */

/* Moves the paths of `node` in this state, but only those that did not arrive at branch `site`, to a new node with the
 * same parent and rpc. */
static void set_apart(struct cta_stack *s, uint16_t node, enum cta_path_state state, uint32_t site) {
    struct cta_node like = s->node[node];
    like.children = 0;
    memset(like.paths, 0, sizeof like.paths);
    uint16_t to = new_node(s, like);
    uint32_t at = 0;
    for (struct cta_path *p; (p = next_path(s, node, state, &at));) {
        if (state == CTA_ARRIVED && p->site == site)
            continue;
        s->node[node].paths[state]--;
        s->node[to].paths[state]++;
        p->node = to;
        lanes_of(s, node)[warp_before(at)] &= ~p->lanes;
        lanes_of(s, to)[warp_before(at)] |= p->lanes;
    }
}

/* Returns a number that is higher for targets that run later: the order of the targets, with the fall-through last. */
static uint32_t turn_of(const struct cta_stack *s, const struct cta_path *p) {
    return p->pc != p->site + 1 ? 1u + p->rank : s->fallthrough_first ? 0 : UINT8_MAX;
}

/* Returns the path of the node whose target runs last. */
static const struct cta_path *last_target(const struct cta_stack *s, uint16_t node) {
    const struct cta_path *last = NULL;
    uint32_t at = 0;
    for (const struct cta_path *p; (p = next_path(s, node, CTA_ARRIVED, &at));)
        if (!last || turn_of(s, p) > turn_of(s, last))
            last = p;
    return last;
}

/* Moves all threads of the node whose target is that of `like` to node `to`; CTA_NO_NODE: their parent holds them. */
static void take_target(struct cta_stack *s, uint16_t node, struct cta_path like, uint16_t to) {
    uint32_t at = 0;
    for (struct cta_path *p; (p = next_path(s, node, CTA_ARRIVED, &at));) {
        if (p->pc != like.pc || p->depth != like.depth)
            continue;
        if (to != CTA_NO_NODE)
            lanes_of(s, to)[warp_before(at)] |= p->lanes;
        free_path(s, p);
    }
}

/* All paths of the node have arrived at one branch: makes an entry for each target. */
static void branch_out(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    const struct cta_path first = *last_target(s, node);
    uint32_t at = 0, rpc = PC_EXIT;
    uint16_t rpc_depth = first.site_depth;
    bool same = true;
    for (const struct cta_path *p; (p = next_path(s, node, CTA_ARRIVED, &at));) {
        same &= p->pc == first.pc && p->depth == first.depth;
        rpc = p->rpc != PC_EXIT ? p->rpc : rpc;
    }
    if (rpc == PC_EXIT || same) {
        rpc = n->rpc;
        rpc_depth = n->rpc_depth;
    }
    uint16_t below = rpc == n->rpc && rpc_depth == n->rpc_depth ? n->parent : node;
    while (n->paths[CTA_ARRIVED]) {
        struct cta_path to = *last_target(s, node);
        uint16_t child = CTA_NO_NODE;
        if (to.pc != rpc || to.depth != rpc_depth)
            child = new_node(s, (struct cta_node){.pc = to.pc,
                                                  .rpc = rpc,
                                                  .depth = to.depth,
                                                  .rpc_depth = rpc_depth,
                                                  .parent = below,
                                                  .home = same && n->home,
                                                  .order = ++s->clock});
        take_target(s, node, to, child);
        if (child != CTA_NO_NODE)
            make_paths(s, child);
    }
    if (below == node) {
        n->pc = rpc;
        n->depth = rpc_depth;
    } else {
        free_node(s, node);
    }
}

/* The node, and with it the threads that run in it, no longer reconverges with the nodes below. */
static void detach(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    uint16_t parent = n->parent;
    for (uint32_t a = parent; a != CTA_NO_NODE; a = s->node[a].parent)
        for (uint32_t w = 0; w < s->cta.n_warps; w++)
            lanes_of(s, a)[w] &= ~lanes_of(s, node)[w];
    n->parent = CTA_NO_NODE;
    n->rpc = PC_EXIT;
    n->rpc_depth = 0;
    drop_child(s, parent);
}

/* Lets the threads continue that the node's paths have waited for. Returns false if it waits for others. */
static bool settle(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    if (n->children || n->paths[CTA_RUNS] || n->paths[CTA_POLLS] || n->paths[CTA_SLEEPS])
        return false;
    if (!n->paths[CTA_ARRIVED]) {
        free_node(s, node);
        return true;
    }
    uint32_t at = 0, site = next_path(s, node, CTA_ARRIVED, &at)->site;
    for (const struct cta_path *p; (p = next_path(s, node, CTA_ARRIVED, &at));)
        if (p->site != site) {
            set_apart(s, node, CTA_ARRIVED, site);
            break;
        }
    branch_out(s, node);
    return true;
}

/* Returns the node with the highest order that has a path in this state and, if `child` is set, a parent. */
static uint16_t highest(const struct cta_stack *s, enum cta_path_state with, bool child) {
    uint16_t found = CTA_NO_NODE;
    for (uint16_t i = 0; i < s->high; i++) {
        const struct cta_node *n = &s->node[i];
        if (n->used && n->paths[with] && (!child || n->parent != CTA_NO_NODE) &&
            (found == CTA_NO_NODE || n->order >= s->node[found].order))
            found = i;
    }
    return found;
}

static bool settle_all(struct cta_stack *s) {
    bool any = false;
    for (uint16_t i = 0; i < s->high; i++)
        any |= s->node[i].used && settle(s, i);
    return any;
}

/* If no path runs: paths that wait at a branch continue without the polling and sleeping paths of their node, else the
 * threads below continue without a node whose paths poll or sleep. Returns false if nothing can continue. */
static bool separate(struct cta_stack *s) {
    uint16_t node = highest(s, CTA_ARRIVED, false);
    if (node != CTA_NO_NODE) {
        set_apart(s, node, CTA_POLLS, 0);
        set_apart(s, node, CTA_SLEEPS, 0);
        return true;
    }
    node = highest(s, CTA_POLLS, true);
    if (node == CTA_NO_NODE)
        node = highest(s, CTA_SLEEPS, true);
    if (node != CTA_NO_NODE)
        detach(s, node);
    return node != CTA_NO_NODE;
}

/* Returns the next node after the top, in turn, with paths that poll. */
static uint16_t next_poller(const struct cta_stack *s) {
    for (uint32_t i = 1; i <= s->high; i++) {
        uint16_t node = (uint16_t)((s->top + i) % s->high);
        if (s->node[node].used && s->node[node].paths[CTA_POLLS])
            return node;
    }
    return CTA_NO_NODE;
}

/* Notes that the paths of the top node have appeared or disappeared. */
static void announce(struct cta_stack *s) {
    for (uint32_t i = 0; i < s->cta.n_warps * WARP_LANES; i++)
        if (s->path[i].lanes && s->path[i].node == s->top && s->path[i].state <= CTA_POLLS)
            s->cta.moved |= 1u << i / WARP_LANES;
}

void cta_stack_meet(struct reconv_cta *cta) {
    struct cta_stack *s = (struct cta_stack *)cta;
    uint16_t top;
    do {
        while (settle_all(s)) {
        }
        top = s->top;
        if (top == CTA_NO_NODE || !s->node[top].paths[CTA_RUNS])
            top = highest(s, CTA_RUNS, false);
    } while (top == CTA_NO_NODE && separate(s));
    if (top == CTA_NO_NODE)
        top = next_poller(s);
    if (top == s->top)
        return;
    announce(s);
    s->top = top;
    announce(s);
}

/* ---- reports ---- */

int cta_stack_describe(const void *st, struct path_desc *out, int max) {
    static const char *const words[] = {"in the top entry", "polls", "waits", "waits for other warps at a branch"};
    const struct cta_stack_warp *w = st;
    const struct cta_stack *s = w->s;
    lanemask_t seen = 0;
    int n = 0;
    for (uint16_t i = 0; i < WARP_LANES && n < max; i++) {
        const struct cta_path *p = &w->path[i];
        if (!p->lanes)
            continue;
        bool below = p->state <= CTA_POLLS && p->node != s->top;
        seen |= p->lanes;
        out[n++] =
            (struct path_desc){.path = {.pc = p->state == CTA_ARRIVED ? p->site : p->pc, .lanes = p->lanes, .id = i},
                               .state = below ? "below, waits for the entries above" : words[p->state],
                               .rpc = s->node[p->node].rpc};
    }
    for (uint32_t i = s->high; i-- > 0 && n < max;) {
        lanemask_t m = s->node[i].used ? lanes_of(s, i)[w->warp] & ~seen : 0;
        if (!m)
            continue;
        seen |= m;
        out[n++] = (struct path_desc){.path = {.pc = s->node[i].pc, .lanes = m, .id = WARP_LANES},
                                      .state = "waits for other threads of the CTA to reconverge",
                                      .rpc = s->node[i].rpc};
    }
    return n;
}

int cta_stack_depth(const void *st) {
    const struct cta_stack *s = ((const struct cta_stack_warp *)st)->s;
    int n = 0;
    for (uint32_t i = 0; i < s->high; i++)
        n += s->node[i].used;
    return n;
}
