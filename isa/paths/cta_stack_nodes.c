/* The nodes and paths of a stack. */
#include "cta_stack_nodes.h"
#include "isa/hot_assert.h"
#include <string.h>

uint16_t cta_new_node(struct cta_stack *s, struct cta_node like) {
    uint32_t i = 0;
    while (i < s->high && s->node[i].used)
        i++;
    hot_assert(i < cta_most_nodes(s->n_warps));
    if (i == s->high)
        s->high++;
    like.used = true;
    s->node[i] = like;
    memset(cta_stack_lanes(s, i), 0, s->n_warps * sizeof(lanemask_t));
    if (like.parent != CTA_NO_NODE)
        *(like.aside ? &s->node[like.parent].away : &s->node[like.parent].children) += 1;
    return (uint16_t)i;
}

/* Counts a path's threads as waiting at a branch (`sign` is 1), or no longer counts them (-1). */
static void count_waiting(const struct cta_stack *s, const struct cta_path *p, int sign) {
    if (p->state == CTA_ARRIVED)
        reconv_level_add(&s->who, CTA_LEVEL_WAITING, sign * (int)lanes_count(p->lanes));
}

void cta_new_path(struct cta_stack *s, uint32_t warp, struct cta_path like) {
    struct cta_path *p = s->path + (size_t)warp * MAX_WARP_LANES;
    while (p->lanes)
        p++;
    *p = like;
    s->node[like.node].paths[like.state]++;
    count_waiting(s, p, 1);
}

void cta_free_path(struct cta_stack *s, struct cta_path *p) {
    s->node[p->node].paths[p->state]--;
    count_waiting(s, p, -1);
    p->lanes = 0;
}

void cta_set_state(struct cta_stack *s, struct cta_path *p, enum cta_path_state state) {
    s->node[p->node].paths[p->state]--;
    count_waiting(s, p, -1);
    p->state = (uint8_t)state;
    s->node[p->node].paths[state]++;
    count_waiting(s, p, 1);
}

struct cta_path *cta_next_path(const struct cta_stack *s, uint32_t node, enum cta_path_state state, uint32_t *at) {
    for (; *at < s->n_warps * MAX_WARP_LANES; ++*at) {
        struct cta_path *p = &s->path[*at];
        if (p->lanes && p->node == node && p->state == state) {
            ++*at;
            return p;
        }
    }
    return NULL;
}
uint32_t cta_warp_before(uint32_t at) { return (at - 1) / MAX_WARP_LANES; }

bool cta_path_ends(struct cta_stack *s, struct cta_path *p, uint32_t warp) {
    const struct cta_node *n = &s->node[p->node];
    if (p->pc != n->rpc || p->depth != n->rpc_depth)
        return false;
    cta_stack_lanes(s, p->node)[warp] &= ~p->lanes;
    cta_free_path(s, p);
    return true;
}

uint16_t cta_new_group(struct cta_stack *s) {
    if (!++s->of->last_group)
        s->of->last_group = 1;
    return s->of->last_group;
}

/* Returns the threads of `m`, all of one warp, that get a lane of the next compacted warp. Threads of earlier warps
 * have already taken the lanes `used`. With plan.any_lane, only the number `riders` of these threads matters. */
static lanemask_t that_ride(const struct cta_stack *s, lanemask_t m, lanemask_t used, uint32_t riders) {
    if (!s->plan.any_lane)
        return m & ~used;
    lanemask_t rides = 0;
    for (; m && riders < s->width; m &= m - 1, riders++) /* the remaining threads get lanes of a later compacted warp */
        rides |= m & -m;
    return rides;
}

void cta_make_paths(struct cta_stack *s, uint16_t node, uint16_t to) {
    const struct cta_node *n = &s->node[node];
    const uint32_t warps = s->n_warps;
    lanemask_t left[MAX_CTA_WARPS], all = 0; /* left: for each warp, the threads that are in no compacted warp yet */
    for (uint32_t w = 0; w < warps; w++)
        all |= left[w] = cta_stack_lanes(s, node)[w];
    for (uint32_t first = 0; all; first++) {
        struct cta_path like = {.pc = n->pc, .depth = n->depth, .node = to, .group = cta_new_group(s)};
        lanemask_t in[MAX_CTA_WARPS], used = 0;
        uint32_t riders = 0, threads = 0;
        all = 0;
        for (uint32_t w = 0; w < warps; w++) {
            in[w] = s->node[to].home && w != first ? 0 : that_ride(s, left[w], used, threads);
            used |= in[w];
            left[w] &= ~in[w];
            all |= left[w];
            riders += in[w] != 0;
            threads += lanes_count(in[w]);
        }
        like.shared = riders > 1;
        for (uint32_t w = 0; w < warps; w++)
            if ((like.lanes = in[w]))
                cta_new_path(s, w, like);
    }
    if (s->top == to)
        s->top = CTA_NO_NODE; /* cta_stack_meet() then reports the new paths */
}

/* Ends the running paths of the node that have reached its rpc. */
static void end_paths(struct cta_stack *s, uint16_t node) {
    uint32_t at = 0;
    for (struct cta_path *p; (p = cta_next_path(s, node, CTA_RUNS, &at));)
        cta_path_ends(s, p, cta_warp_before(at));
}

void cta_come_back(struct cta_stack *s, uint16_t node) {
    uint16_t parent = s->node[node].parent;
    cta_make_paths(s, node, parent);
    s->node[node].used = false;
    s->node[parent].away--;
    end_paths(s, parent);
}

void cta_drop_child(struct cta_stack *s, uint16_t parent) {
    if (parent == CTA_NO_NODE || --s->node[parent].children)
        return;
    if (s->node[parent].aside) {
        cta_come_back(s, parent);
        return;
    }
    cta_make_paths(s, parent, parent);
    end_paths(s, parent);
}

void cta_free_node(struct cta_stack *s, uint16_t node) {
    s->node[node].used = false;
    if (s->top == node)
        s->top = CTA_NO_NODE;
    cta_drop_child(s, s->node[node].parent);
}
