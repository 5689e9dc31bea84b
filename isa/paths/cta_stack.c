#include "cta_stack_nodes.h"
#include <string.h>

size_t cta_stack_warp_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return sizeof(struct cta_stack_warp);
}

/* Returns the bytes of one stack. */
static size_t stack_size(uint32_t n_warps, size_t predictor) {
    size_t nodes = cta_most_nodes(n_warps) * (sizeof(struct cta_node) + n_warps * sizeof(lanemask_t));
    return (sizeof(struct cta_stack) + nodes + n_warps * MAX_WARP_LANES * sizeof(struct cta_path) + predictor + 15) &
           ~(size_t)7;
}

/* Returns how many of the `n` warps of a CTA have a common stack. */
static uint32_t warps_of(const struct cta_stack_plan *plan, uint32_t n) {
    return plan->warps && plan->warps < n ? plan->warps : n;
}

size_t cta_stack_size(const struct cta_stack_plan *plan, uint32_t n_warps) {
    const uint32_t each = warps_of(plan, n_warps);
    return sizeof(struct cta_stacks) + (n_warps + each - 1) / each * stack_size(each, plan->predictor);
}

/* Begins the stack of the warps from `first` on. */
static void begin(struct cta_stack *s, const struct cta_stack_plan *plan, struct cta_stacks *all, uint32_t first) {
    const uint32_t each = all->each, left = all->cta.n_warps - first;
    s->of = all;
    s->plan = *plan;
    s->first = first;
    s->n_warps = each < left ? each : left;
    s->path = (struct cta_path *)(void *)(s->node + cta_most_nodes(each));
    s->lanes = (lanemask_t *)(void *)(s->path + (size_t)each * MAX_WARP_LANES);
    uintptr_t behind = (uintptr_t)(s->lanes + (size_t)cta_most_nodes(each) * each);
    s->predictor = (void *)((behind + 7) & ~(uintptr_t)7);
    s->top = CTA_NO_NODE;
}

void cta_stack_join(void *st, const struct cta_stack_plan *plan, struct reconv_cta *cta, uint32_t warp) {
    struct cta_stacks *all = (struct cta_stacks *)cta;
    all->each = warps_of(plan, cta->n_warps);
    all->bytes = stack_size(all->each, plan->predictor);
    struct cta_stack *s = cta_stack_at(all, warp / all->each);
    if (!s->of)
        begin(s, plan, all, warp / all->each * all->each);
    const uint32_t own = warp - s->first;
    *(struct cta_stack_warp *)st =
        (struct cta_stack_warp){.s = s, .path = s->path + (size_t)own * MAX_WARP_LANES, .warp = own};
}

void cta_stack_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct cta_stack_warp *w = st;
    struct cta_stack *s = w->s;
    (void)cfg;
    if (!s->high)
        s->top = cta_new_node(
            s, (struct cta_node){
                   .pc = pc, .rpc = PC_EXIT, .parent = CTA_NO_NODE, .stack = CTA_NO_NODE, .home = s->plan.home});
    w->alive = lanes;
    s->width = lanes_count(lanes) > s->width ? lanes_count(lanes) : s->width;
    cta_stack_lanes(s, 0)[w->warp] = lanes;
    if (lanes)
        cta_new_path(s, w->warp, (struct cta_path){.pc = pc, .lanes = lanes, .group = cta_new_group(s)});
}

void cta_stack_inform(void *st, const struct reconv_warp *w) { ((struct cta_stack_warp *)st)->s->who = *w; }

bool cta_stack_finished(const void *st) { return !((const struct cta_stack_warp *)st)->alive; }

int cta_stack_paths(const void *st, struct path *out, int max) {
    const struct cta_stack_warp *w = st;
    int n = 0;
    for (uint16_t i = 0; i < MAX_WARP_LANES && n < max; i++) {
        const struct cta_path *p = &w->path[i];
        if (p->lanes && p->state <= CTA_POLLS && cta_stack_is_top(w->s, p->node))
            out[n++] = (struct path){.pc = p->pc, .lanes = p->lanes, .id = i};
    }
    return n;
}

uint32_t cta_stack_group(const void *st, int id) {
    const struct cta_path *p = &((const struct cta_stack_warp *)st)->path[id];
    return p->shared ? p->group : 0;
}

unsigned cta_stack_advance(void *st, int id, uint32_t next) {
    struct cta_stack_warp *w = st;
    w->path[id].pc = next;
    if (cta_path_ends(w->s, &w->path[id], w->warp))
        cta_stack_due(w->s);
    return 0;
}

/* Returns true if the path waits for other compacted warps at the branch. */
static bool stops(struct cta_stack *s, const struct cta_path *p, const struct target *t, int n) {
    uint32_t set = 0;
    if (s->node[p->node].stack != CTA_NO_NODE)
        return true; /* the stack of an aside node holds only one compacted warp */
    for (uint32_t w = 0; w < s->n_warps; w++)
        set += cta_stack_lanes(s, p->node)[w] != 0;
    return s->plan.waits(s->predictor, p->site, t, n, set);
}

/* Paths wait for each other only at conditional branches. They do not wait at the branches of loops that wait for other
 * threads. If a path diverges at another instruction, its parts continue in the same node. */
unsigned cta_stack_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct cta_stack_warp *w = st;
    struct cta_path p = w->path[id];
    uint16_t depth = (uint16_t)(p.depth + site->calls);
    p.site_depth = p.depth;
    p.site = site->pc;
    p.rpc = site->rpc;
    bool meets = site->conditional && !site->waits;
    p.alone = meets && w->s->plan.waits && !stops(w->s, &p, t, n);
    meets &= !p.alone || n > 1 || p.shared || w->s->node[p.node].stack != CTA_NO_NODE;
    cta_free_path(w->s, &w->path[id]);
    for (int i = 0; i < n; i++) {
        bool skips_call = t[i].pc == site->pc + 1 && site->calls > 0;
        p.pc = t[i].pc;
        p.lanes = t[i].lanes;
        p.depth = skips_call ? p.site_depth : depth;
        p.rank = (uint8_t)i;
        p.state = meets ? CTA_ARRIVED : site->waits && p.pc <= site->pc ? CTA_POLLS : CTA_RUNS;
        cta_new_path(w->s, w->warp, p);
    }
    for (uint32_t i = 0; i < MAX_WARP_LANES && !meets; i++)
        if (w->path[i].lanes && w->path[i].node == p.node && w->path[i].state == CTA_RUNS)
            cta_path_ends(w->s, &w->path[i], w->warp);
    cta_stack_due(w->s);
    return 0;
}

unsigned cta_stack_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct cta_stack_warp *w = st;
    struct cta_path *p = &w->path[id];
    for (uint32_t i = 0; i < w->s->high; i++)
        cta_stack_lanes(w->s, i)[w->warp] &= ~lanes;
    w->alive &= ~lanes;
    cta_stack_due(w->s);
    if (p->lanes & ~lanes) {
        p->lanes &= ~lanes;
        return cta_stack_advance(st, id, next);
    }
    cta_free_path(w->s, p);
    return 0;
}

unsigned cta_stack_stall(void *st, int id, enum reconv_stall why) {
    struct cta_stack_warp *w = st;
    if (why != STALL_OTHER)
        return 0;
    cta_set_state(w->s, &w->path[id], CTA_SLEEPS);
    cta_stack_due(w->s);
    return RECONV_CHANGED;
}

unsigned cta_stack_wake(void *st, int id) {
    struct cta_stack_warp *w = st;
    cta_set_state(w->s, &w->path[id], CTA_RUNS);
    cta_stack_due(w->s);
    return RECONV_CHANGED;
}

/* ---- what the warps do together ---- */

/* Moves the paths of `node` in this state to a new node with the same parent and rpc. Paths that have arrived at branch
 * `site` stay. */
static void set_apart(struct cta_stack *s, uint16_t node, enum cta_path_state state, uint32_t site) {
    struct cta_node like = s->node[node];
    like.children = like.away = 0;
    memset(like.paths, 0, sizeof like.paths);
    uint16_t to = cta_new_node(s, like);
    uint32_t at = 0;
    for (struct cta_path *p; (p = cta_next_path(s, node, state, &at));) {
        if (state == CTA_ARRIVED && p->site == site)
            continue;
        s->node[node].paths[state]--;
        s->node[to].paths[state]++;
        p->node = to;
        cta_stack_lanes(s, node)[cta_warp_before(at)] &= ~p->lanes;
        cta_stack_lanes(s, to)[cta_warp_before(at)] |= p->lanes;
    }
}

/* Returns the turn of the path's target; a target with a higher turn runs later. Targets run in their order; the
 * fall-through runs last, or first if plan.fallthrough_first is set. */
static uint32_t turn_of(const struct cta_stack *s, const struct cta_path *p) {
    return p->pc != p->site + 1 ? 1u + p->rank : s->plan.fallthrough_first ? 0 : UINT8_MAX;
}

/* Returns the path of the node whose target has the highest turn, so that this target runs last. */
static const struct cta_path *last_target(const struct cta_stack *s, uint16_t node) {
    const struct cta_path *last = NULL;
    uint32_t at = 0;
    for (const struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));)
        if (!last || turn_of(s, p) > turn_of(s, last))
            last = p;
    return last;
}

/* Ends the paths of the node that have the same target as `like`. Their threads join node `to`; if `to` is CTA_NO_NODE,
 * only the nodes below have these threads. */
static void take_target(struct cta_stack *s, uint16_t node, struct cta_path like, uint16_t to) {
    uint32_t at = 0;
    for (struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));) {
        if (p->pc != like.pc || p->depth != like.depth)
            continue;
        if (to != CTA_NO_NODE)
            cta_stack_lanes(s, to)[cta_warp_before(at)] |= p->lanes;
        cta_free_path(s, p);
    }
}

/* Makes a node for each target of the branch at which all paths of `node` have arrived. */
static void branch_out(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    const struct cta_path first = *last_target(s, node);
    uint32_t at = 0, rpc = PC_EXIT;
    uint16_t rpc_depth = first.site_depth;
    bool same = true;
    for (const struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));) {
        same &= p->pc == first.pc && p->depth == first.depth;
        rpc = p->rpc != PC_EXIT ? p->rpc : rpc;
    }
    if (rpc == PC_EXIT || same) {
        rpc = n->rpc;
        rpc_depth = n->rpc_depth;
    }
    uint16_t below = !n->aside && rpc == n->rpc && rpc_depth == n->rpc_depth ? n->parent : node;
    while (n->paths[CTA_ARRIVED]) {
        struct cta_path to = *last_target(s, node);
        uint16_t child = CTA_NO_NODE;
        if (to.pc != rpc || to.depth != rpc_depth)
            child = cta_new_node(s, (struct cta_node){.pc = to.pc,
                                                      .rpc = rpc,
                                                      .depth = to.depth,
                                                      .rpc_depth = rpc_depth,
                                                      .parent = below,
                                                      .stack = n->stack,
                                                      .home = same && n->home,
                                                      .order = ++s->clock});
        take_target(s, node, to, child);
        if (child != CTA_NO_NODE)
            cta_make_paths(s, child, child);
    }
    if (below == node) {
        n->pc = rpc;
        n->depth = rpc_depth;
    } else {
        cta_free_node(s, node);
    }
}

/* Moves paths of `node` that have arrived at the branch of path `of` to a new aside node. If `all` is set, it moves all
 * such paths; otherwise it moves the paths of one compacted warp, to which `of` belongs. The caller has checked that
 * all paths of this compacted warp have arrived. If all moved paths take one target, they return to `node` at once. */
static void branch_aside(struct cta_stack *s, uint16_t node, const struct cta_path of, bool all) {
    struct cta_node like = s->node[node];
    like.children = like.away = 0;
    like.aside = true;
    like.parent = node;
    like.own_top = CTA_NO_NODE;
    memset(like.paths, 0, sizeof like.paths);
    uint16_t to = cta_new_node(s, like);
    s->node[to].stack = to;
    uint32_t at = 0;
    bool same = true;
    for (struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));) {
        if (p->site != of.site || (!all && p->group != of.group))
            continue;
        s->node[node].paths[CTA_ARRIVED]--;
        s->node[to].paths[CTA_ARRIVED]++;
        p->node = to;
        cta_stack_lanes(s, to)[cta_warp_before(at)] |= p->lanes;
        same &= p->pc == of.pc && p->depth == of.depth;
    }
    if (!same) {
        branch_out(s, to);
        return;
    }
    s->node[to].pc = of.pc;
    s->node[to].depth = of.depth;
    take_target(s, to, of, CTA_NO_NODE);
    cta_come_back(s, to);
}

/* Lets a compacted warp of the node continue if all its paths have arrived at a branch where it does not wait for other
 * compacted warps (cta_path.alone). Returns false if there is no such compacted warp. */
static bool go_alone(struct cta_stack *s, uint16_t node) {
    uint32_t at = 0;
    for (const struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));) {
        bool all = p->alone;
        uint32_t from = 0;
        for (const struct cta_path *q; all && (q = cta_next_path(s, node, CTA_RUNS, &from));)
            all = q->group != p->group;
        if (!all)
            continue;
        branch_aside(s, node, *p, false);
        return true;
    }
    return false;
}

/* Takes the node out of the tree, so that its threads no longer reconverge with threads of the nodes below. */
static void detach(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    uint16_t parent = n->parent;
    for (uint32_t a = parent; a != CTA_NO_NODE; a = s->node[a].parent)
        for (uint32_t w = 0; w < s->n_warps; w++)
            cta_stack_lanes(s, a)[w] &= ~cta_stack_lanes(s, node)[w];
    n->parent = n->stack = CTA_NO_NODE;
    n->rpc = PC_EXIT;
    n->rpc_depth = 0;
    cta_drop_child(s, parent);
}

/* Changes a node if it need not wait: frees it if all its paths have ended, or makes nodes for the targets of the
 * branch at which its paths have arrived. Returns false if the node must wait. With a predictor, some warps may have
 * passed a branch before other warps wait there. So paths that wait at a branch do not wait for stacks aside of their
 * node, nor for paths that sleep or wait at another branch (our reading of the paper). */
static bool settle(struct cta_stack *s, uint16_t node) {
    struct cta_node *n = &s->node[node];
    if (s->plan.waits && go_alone(s, node))
        return true;
    const bool apart = s->plan.waits && n->stack == CTA_NO_NODE;
    if (n->children || n->paths[CTA_RUNS] || n->paths[CTA_POLLS])
        return false;
    if (n->paths[CTA_SLEEPS] && !(apart && n->paths[CTA_ARRIVED]))
        return false;
    if (!n->paths[CTA_ARRIVED]) {
        if (!n->away)
            cta_free_node(s, node);
        return !n->away;
    }
    uint32_t at = 0, others = 0;
    const struct cta_path first = *cta_next_path(s, node, CTA_ARRIVED, &at);
    for (const struct cta_path *p; (p = cta_next_path(s, node, CTA_ARRIVED, &at));)
        others += p->site != first.site;
    if (n->away || (apart && (others || n->paths[CTA_SLEEPS]))) {
        branch_aside(s, node, first, true);
        return true;
    }
    if (others)
        set_apart(s, node, CTA_ARRIVED, first.site);
    branch_out(s, node);
    return true;
}

/* Returns true if the node, or a stack that is aside of it, has a path in this state. */
static bool has(const struct cta_stack *s, uint16_t node, enum cta_path_state state) {
    bool any = s->node[node].paths[state];
    for (uint16_t i = 0; s->node[node].away && i < s->high && !any; i++)
        any = s->node[i].used && s->node[i].paths[state] && s->node[i].stack != CTA_NO_NODE &&
              s->node[s->node[i].stack].parent == node;
    return any;
}

static bool is_higher(const struct cta_stack *s, uint16_t node, uint16_t than) {
    return than == CTA_NO_NODE || s->node[node].order >= s->node[than].order;
}

/* Returns the node with the highest order that has a path in the state `a` and one in the state `b`. With `child`, the
 * node must also have a parent. */
static uint16_t highest(const struct cta_stack *s, enum cta_path_state a, enum cta_path_state b, bool child) {
    uint16_t found = CTA_NO_NODE;
    for (uint16_t i = 0; i < s->high; i++) {
        const struct cta_node *n = &s->node[i];
        if (n->used && n->paths[a] && n->paths[b] && (!child || n->parent != CTA_NO_NODE) && is_higher(s, i, found))
            found = i;
    }
    return found;
}

/* Returns the node of this stack with the highest order that has a path in this state. */
static uint16_t highest_in(const struct cta_stack *s, uint16_t stack, enum cta_path_state with) {
    uint16_t found = CTA_NO_NODE;
    for (uint16_t i = 0; i < s->high; i++)
        if (s->node[i].used && s->node[i].stack == stack && has(s, i, with) && is_higher(s, i, found))
            found = i;
    return found;
}

static bool settle_all(struct cta_stack *s) {
    bool any = false;
    for (uint16_t i = 0; i < s->high; i++)
        any |= s->node[i].used && settle(s, i);
    return any;
}

enum { PATIENCE = 64 }; /* number of polls after which the other threads no longer wait for a polling path at a join */

/* Called if no path runs. If a node has paths that wait at a branch, moves its polling or sleeping paths to a new node,
 * so that the others continue without them. Otherwise detaches a node whose paths poll or sleep, so that the nodes
 * below continue without it. Returns false if neither is possible. */
static bool separate(struct cta_stack *s) {
    for (enum cta_path_state state = CTA_POLLS; state <= CTA_SLEEPS; state++) {
        uint16_t node = highest(s, CTA_ARRIVED, state, false);
        if (node == CTA_NO_NODE)
            continue;
        set_apart(s, node, state, 0);
        return true;
    }
    if (highest(s, CTA_POLLS, CTA_POLLS, false) != CTA_NO_NODE && ++s->patience < PATIENCE)
        return false;
    uint16_t node = highest(s, CTA_POLLS, CTA_POLLS, true);
    if (node == CTA_NO_NODE)
        node = highest(s, CTA_SLEEPS, CTA_SLEEPS, true);
    if (node != CTA_NO_NODE)
        detach(s, node);
    return node != CTA_NO_NODE;
}

/* Returns the first node of this stack with paths that poll, in round-robin order after node `top`. */
static uint16_t next_poller(const struct cta_stack *s, uint16_t stack, uint16_t top) {
    for (uint32_t i = 1; i <= s->high; i++) {
        uint16_t node = (uint16_t)((top + i) % s->high);
        if (s->node[node].used && s->node[node].stack == stack && has(s, node, CTA_POLLS))
            return node;
    }
    return CTA_NO_NODE;
}

/* Reports each warp that has paths in a top node as changed, because these paths appear or disappear. */
static void announce(struct cta_stack *s) {
    for (uint32_t i = 0; i < s->n_warps * MAX_WARP_LANES; i++)
        if (s->path[i].lanes && cta_stack_is_top(s, s->path[i].node) && s->path[i].state <= CTA_POLLS)
            reconv_move(&s->of->cta, s->first + i / MAX_WARP_LANES);
}

/* Chooses the top of each stack that is aside of the CTA's top node. */
static void choose_aside(struct cta_stack *s) {
    for (uint16_t i = 0; i < s->high; i++) {
        struct cta_node *n = &s->node[i];
        if (!n->used || !n->aside || n->parent != s->top)
            continue;
        const struct cta_node *own = n->own_top == CTA_NO_NODE ? n : &s->node[n->own_top];
        if (!own->used || own->stack != i || !own->paths[CTA_RUNS])
            n->own_top = highest_in(s, i, CTA_RUNS);
        if (n->own_top == CTA_NO_NODE)
            n->own_top = next_poller(s, i, i);
    }
}

static void meet(struct cta_stack *s) {
    uint16_t top;
    do {
        while (settle_all(s)) {
        }
        top = s->top;
        if (top == CTA_NO_NODE || !has(s, top, CTA_RUNS))
            top = highest_in(s, CTA_NO_NODE, CTA_RUNS);
    } while (top == CTA_NO_NODE && separate(s));
    if (top != CTA_NO_NODE)
        s->patience = 0;
    else if (s->high)
        top = next_poller(s, CTA_NO_NODE, s->top);
    if (s->plan.waits) { /* reports all warps as changed, because stacks aside of the top may have new paths, too */
        s->top = top;
        choose_aside(s);
        for (uint32_t w = 0; w < s->n_warps; w++)
            reconv_move(&s->of->cta, s->first + w);
    } else if (top != s->top) {
        announce(s);
        s->top = top;
        announce(s);
    }
}

void cta_stack_meet(struct reconv_cta *cta) {
    struct cta_stacks *all = (struct cta_stacks *)cta;
    for (uint32_t first = 0; first < cta->n_warps; first += all->each) {
        struct cta_stack *s = cta_stack_at(all, first / all->each);
        if (s->due)
            meet(s);
        s->due = false;
    }
}
