/* Subwarps and convergence barriers (reconv_subwarps.h). The ACTIVE subwarp runs, and READY subwarps may run after it.
 * BLOCKED subwarps wait at a BSYNC for the other lanes of their group. A group is the set of lanes that registered at a
 * barrier together, with one BSSY. */
#include "reconv_subwarps.h"
#include <assert.h>
#include <string.h>

/* The number of taken backward branches after which the active subwarp lets another READY subwarp run. Volta and later
 * guarantee this forward progress between the threads of a warp; without it, a spin loop never ends. */
enum { YIELD_BACKWARD = 32 };

size_t subwarps_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return (sizeof(struct subwarps) + 7) & ~(size_t)7;
}

void subwarps_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct subwarps *s = st;
    s->cfg = cfg;
    s->alive = lanes;
    s->last = 0;
    s->slots = lanes ? MAX_WARP_LANES - __builtin_clzll(lanes) : 1;
    s->w[0] = (struct subwarp){.pc = pc, .lanes = lanes, .state = SUBWARP_ACTIVE};
}

int subwarps_paths(const void *st, struct path *out, int max) {
    const struct subwarps *s = st;
    if (s->active < 0 || !s->alive || max < 1)
        return 0;
    const struct subwarp *w = &s->w[s->active];
    out[0] = (struct path){.pc = w->pc, .lanes = w->lanes, .id = (uint16_t)s->active};
    return 1;
}

bool subwarps_finished(const void *st) { return ((const struct subwarps *)st)->alive == 0; }

bool subwarps_elect(struct subwarps *s) {
    for (int k = 1; k <= s->slots; k++) {
        int i = s->last + k < s->slots ? s->last + k : s->last + k - s->slots;
        if (s->w[i].state == SUBWARP_READY) {
            s->w[i].state = SUBWARP_ACTIVE;
            s->w[i].backward = 0;
            s->active = s->last = i;
            return true;
        }
    }
    return false;
}

/* Returns true if the two subwarps participate in the same convergence barriers, in the same groups. If they do not,
 * they are in different calls of a function or in different iterations of a loop, and would split again at their
 * BSYNC. */
static bool same_groups(const struct subwarps *s, const struct subwarp *a, const struct subwarp *b) {
    int la = (int)lanes_first(a->lanes), lb = (int)lanes_first(b->lanes);
    for (uint32_t used = s->barriers_used; used; used &= used - 1) {
        const lanemask_t *group = s->group[__builtin_ctz(used)];
        if (group[la] != group[lb])
            return false;
    }
    return true;
}

/* Makes subwarp `i` READY. A subwarp is a maximal group of threads at one PC (section III), so it merges with a READY
 * subwarp at the same PC whose lanes are in the same groups. It does not merge with the active subwarp, which may have
 * advanced, so its PC is not known here. */
static void make_ready(struct subwarps *s, int i) {
    s->w[i].state = SUBWARP_READY;
    for (int k = 0; k < s->slots; k++) {
        if (k == i || s->w[k].state != SUBWARP_READY || s->w[k].pc != s->w[i].pc || !same_groups(s, &s->w[k], &s->w[i]))
            continue;
        s->w[k].lanes |= s->w[i].lanes;
        s->w[i] = (struct subwarp){.state = SUBWARP_FREE};
        return;
    }
}

unsigned subwarps_retire(struct subwarps *s, int id, enum subwarp_state to, bool elect) {
    bool was_active = s->active == id;
    if (was_active)
        s->active = -1;
    if (to == SUBWARP_READY)
        make_ready(s, id);
    else
        s->w[id].state = (uint8_t)to;
    if (to == SUBWARP_FREE)
        s->w[id].lanes = 0;
    if (was_active && elect)
        subwarps_elect(s);
    return RECONV_CHANGED;
}

unsigned subwarps_advance(void *st, int id, uint32_t next) {
    ((struct subwarps *)st)->w[id].pc = next;
    return 0;
}

static int free_slot(const struct subwarps *s) {
    int i = 0;
    while (s->w[i].state != SUBWARP_FREE)
        i++;
    assert(i < s->slots);
    return i;
}

/* Makes `lanes` a new READY subwarp at `pc`. */
static void split_off(struct subwarps *s, uint32_t pc, lanemask_t lanes) {
    int slot = free_slot(s);
    s->w[slot] = (struct subwarp){.pc = pc, .lanes = lanes};
    make_ready(s, slot);
}

uint32_t subwarps_in(const struct subwarps *s, enum subwarp_state state) {
    uint32_t n = 0;
    for (int i = 0; i < s->slots; i++)
        n += s->w[i].state == state;
    return n;
}

unsigned subwarps_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    const struct subwarps *s = st;
    return subwarps_branch_first(st, id, t, n, site, n > 1 && s->cfg->first ? n - 1 : 0);
}

unsigned subwarps_branch_first(void *st, int id, const struct target *t, int n, const struct branch_site *site,
                               int stays) {
    struct subwarps *s = st;
    struct subwarp *w = &s->w[id];
    w->pc = t[stays].pc;
    w->lanes = t[stays].lanes;
    for (int i = 0; i < n; i++)
        if (i != stays)
            split_off(s, t[i].pc, t[i].lanes);
    if (w->pc <= site->pc && ++w->backward >= YIELD_BACKWARD)
        return subwarps_yield(st, id) | RECONV_CHANGED;
    return n > 1 ? RECONV_CHANGED : 0;
}

/* Opens barrier `bar` for `group`, whose lanes have all arrived. They continue at `next` as one subwarp. At a soft
 * barrier, they stay in the barrier for the next time. */
static void open_barrier(struct subwarps *s, uint32_t bar, lanemask_t group, bool soft, uint32_t next) {
    int keeper = -1;
    for (int i = 0; i < s->slots; i++) {
        struct subwarp *w = &s->w[i];
        if (w->state == SUBWARP_FREE || !(w->lanes & group) || (w->state == SUBWARP_BLOCKED && w->barrier != bar))
            continue;
        /* A blocked subwarp of the group is at the BSYNC before `next`. It cannot be at another BSYNC of this barrier,
         * because two regions whose threads can reconverge use different barriers. */
        assert(w->state != SUBWARP_BLOCKED || w->pc + 1 == next);
        if (keeper < 0) {
            keeper = i;
            continue;
        }
        s->w[keeper].lanes |= w->lanes;
        if (s->active == i)
            s->active = -1;
        *w = (struct subwarp){.state = SUBWARP_FREE};
    }
    assert(keeper >= 0); /* the subwarp that arrived last also has lanes of the group */
    s->w[keeper].pc = next;
    for (lanemask_t m = soft ? 0 : group; m; m &= m - 1)
        s->group[bar][lanes_first(m)] = 0;
    if (s->active < 0 || s->active == keeper) {
        s->w[keeper].state = SUBWARP_ACTIVE;
        s->active = s->last = keeper;
    } else {
        make_ready(s, keeper);
    }
}

/* Returns the lanes of `group` that are blocked at `bar`. */
static lanemask_t blocked(const struct subwarps *s, uint32_t bar, lanemask_t group) {
    lanemask_t m = 0;
    for (int i = 0; i < s->slots; i++)
        if (s->w[i].state == SUBWARP_BLOCKED && s->w[i].barrier == bar)
            m |= s->w[i].lanes;
    return m & group;
}

/* Returns the groups of barrier `bar`, by lane. No lane takes part in a barrier that was not used yet. */
static lanemask_t *groups_of(struct subwarps *s, uint32_t bar) {
    if (!(s->barriers_used >> bar & 1))
        memset(s->group[bar], 0, sizeof s->group[bar]);
    s->barriers_used |= 1u << bar;
    return s->group[bar];
}

/* Removes `lanes` from `bar`, and opens the barrier for lanes that waited only for the removed lanes. */
static void unregister(struct subwarps *s, uint32_t bar, lanemask_t lanes) {
    lanemask_t *groups = groups_of(s, bar);
    for (int l = 0; l < s->slots; l++)
        groups[l] = lanes >> l & 1 ? 0 : groups[l] & ~lanes;
    for (int i = 0; i < s->slots; i++) {
        struct subwarp *b = &s->w[i];
        if (b->state != SUBWARP_BLOCKED || b->barrier != bar)
            continue;
        lanemask_t group = groups[lanes_first(b->lanes)];
        if (blocked(s, bar, group) == group)
            open_barrier(s, bar, group, b->enough, b->pc + 1);
    }
}

unsigned subwarps_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct subwarps *s = st;
    struct subwarp *w = &s->w[id];
    s->alive &= ~lanes;
    w->lanes &= ~lanes;
    w->pc = next;
    if (!w->lanes)
        subwarps_retire(s, id, SUBWARP_FREE, false);
    for (uint32_t used = s->barriers_used; used; used &= used - 1)
        unregister(s, (uint32_t)__builtin_ctz(used), lanes);
    if (s->active < 0)
        subwarps_elect(s);
    return RECONV_CHANGED;
}

unsigned subwarps_bssy(void *st, int id, uint32_t bar, uint32_t join, uint32_t next) {
    struct subwarps *s = st;
    (void)join;
    assert(bar < N_CONVERGENCE_BARRIERS);
    lanemask_t lanes = s->w[id].lanes;
    s->w[id].pc = next;
    unregister(s, bar, lanes); /* lanes that enter the region of the barrier again leave their old group */
    for (lanemask_t m = lanes; m; m &= m - 1)
        s->group[bar][lanes_first(m)] = lanes;
    return RECONV_CHANGED;
}

unsigned subwarps_bsync(void *st, int id, uint32_t bar, uint32_t enough, uint32_t next) {
    struct subwarps *s = st;
    struct subwarp *w = &s->w[id];
    const lanemask_t *groups = groups_of(s, bar);
    lanemask_t group = groups[lanes_first(w->lanes)];
    lanemask_t rest = w->lanes & ~group;
    if (rest && group) { /* the subwarp also has lanes of another group, which arrive separately */
        w->lanes &= group;
        split_off(s, next - 1, rest);
    }
    if (!group) { /* lanes that do not participate in the barrier do not wait */
        lanemask_t others = 0;
        for (lanemask_t m = w->lanes; m; m &= m - 1)
            others |= groups[lanes_first(m)] ? m & -m : 0;
        if (others) {
            w->lanes &= ~others;
            split_off(s, next - 1, others);
        }
        w->pc = next;
        return others ? RECONV_CHANGED : 0;
    }
    lanemask_t here = blocked(s, bar, group) | w->lanes;
    if (here == group || (enough && (uint32_t)__builtin_popcountll(here) >= enough)) {
        open_barrier(s, bar, here, enough, next);
        return RECONV_CHANGED;
    }
    w->barrier = (uint8_t)bar;
    w->enough = (uint8_t)enough;
    w->pc = next - 1; /* the subwarp stays at the BSYNC until the barrier opens */
    return subwarps_retire(s, id, SUBWARP_BLOCKED, true);
}

unsigned subwarps_leave_barrier(void *st, int id, uint32_t bar, lanemask_t lanes, uint32_t next) {
    struct subwarps *s = st;
    assert(bar < N_CONVERGENCE_BARRIERS);
    s->w[id].pc = next;
    unregister(s, bar, lanes & s->w[id].lanes);
    return RECONV_CHANGED;
}

/* Fills on[l] with the lanes that must make progress before lane l can, directly or through other lanes. A lane depends
 * on lanes of its member mask, and a BLOCKED lane on the lanes of its group that have not arrived. */
static void dependences(const struct subwarps *s, const struct lane_waits *ws, lanemask_t on[MAX_WARP_LANES]) {
    memcpy(on, ws->wants, (size_t)s->slots * sizeof *on);
    for (int i = 0; i < s->slots; i++) {
        const struct subwarp *w = &s->w[i];
        if (w->state != SUBWARP_BLOCKED)
            continue;
        lanemask_t group = s->group[w->barrier][lanes_first(w->lanes)];
        for (lanemask_t m = w->lanes; m; m &= m - 1)
            on[lanes_first(m)] = group & ~blocked(s, w->barrier, group);
    }
    for (int k = 0; k < s->slots; k++)
        for (int l = 0; l < s->slots; l++)
            if (on[l] >> k & 1)
                on[l] |= on[k];
}

/* Makes each BLOCKED subwarp READY whose wait would never end, because Volta promises that every thread makes progress.
 * A BLOCKED subwarp leaves its barrier if the lanes that the barrier needs wait, directly or indirectly, for this same
 * subwarp. */
unsigned subwarps_give_way(void *st, const struct lane_waits *ws) {
    struct subwarps *s = st;
    lanemask_t on[MAX_WARP_LANES];
    unsigned events = 0;
    for (int i = 0; i < s->slots; i++) {
        struct subwarp *w = &s->w[i];
        if (w->state != SUBWARP_BLOCKED)
            continue;
        dependences(s, ws, on);
        bool circle = false;
        for (lanemask_t m = on[lanes_first(w->lanes)]; m; m &= m - 1)
            circle |= (ws->wants[lanes_first(m)] & w->lanes) != 0;
        if (!circle)
            continue;
        w->state = SUBWARP_READY;
        w->pc++;
        unregister(s, w->barrier, w->lanes);
        events = RECONV_CHANGED;
    }
    if (s->active < 0)
        subwarps_elect(s);
    return events;
}

unsigned subwarps_wake(void *st, int id) {
    struct subwarps *s = st;
    if (s->w[id].state != SUBWARP_STALLED && s->w[id].state != SUBWARP_WAITING)
        return 0;
    make_ready(s, id);
    if (s->active < 0)
        subwarps_elect(s);
    return RECONV_CHANGED;
}

unsigned subwarps_wait(void *st, int id, enum reconv_stall why) {
    struct subwarps *s = st;
    if (why != STALL_OTHER || s->w[id].state == SUBWARP_WAITING)
        return 0;
    return subwarps_retire(s, id, SUBWARP_WAITING, true);
}

unsigned subwarps_yield(void *st, int id) {
    struct subwarps *s = st;
    s->w[id].backward = 0;
    if (s->active != id)
        return 0;
    return subwarps_retire(s, id, SUBWARP_READY, true);
}

int subwarps_describe(const void *st, struct path_desc *out, int max) {
    static const char *const names[] = {"free",
                                        "active",
                                        "ready",
                                        "blocked at a convergence barrier",
                                        "stalled on a load",
                                        "waits at a barrier of the CTA"};
    const struct subwarps *s = st;
    int n = 0;
    for (int i = 0; i < s->slots && n < max; i++)
        if (s->w[i].state != SUBWARP_FREE)
            out[n++] = (struct path_desc){
                {.pc = s->w[i].pc, .lanes = s->w[i].lanes, .id = (uint16_t)i}, names[s->w[i].state], PC_EXIT};
    return n;
}

lanemask_t subwarps_runnable(const void *st) {
    const struct subwarps *s = st;
    lanemask_t lanes = 0;
    for (int i = 0; i < s->slots; i++)
        if (s->w[i].state == SUBWARP_ACTIVE || s->w[i].state == SUBWARP_READY || s->w[i].state == SUBWARP_STALLED)
            lanes |= s->w[i].lanes;
    return lanes;
}

int subwarps_depth(const void *st) {
    const struct subwarps *s = st;
    int n = 0;
    for (int i = 0; i < s->slots; i++)
        n += s->w[i].state != SUBWARP_FREE;
    return n;
}
