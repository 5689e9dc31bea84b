/* cp.async in the timing model. A copy is one access of the load/store unit. Its lines arrive like the lines of a
 * load. Then its data occupy the banks of shared memory for some cycles. No register waits for a copy. This file
 * records the copies in flight, so that a thread that waits for its groups (PTX ISA 9.0, section 9.7.9.25.3) waits
 * for exactly the copies of these groups. For each copy and lane, it counts the groups that the lane has committed
 * since the copy was issued. It also records mbarrier arrivals that must happen when copies complete. Fences do not
 * wait for copies. */
#include "copies.h"
#include "isa/exec/exec_mbarrier.h"
#include "isa/machine/pending.h"
#include "stages.h"
#include <assert.h>
#include <stdlib.h>

/* While MAX_ARRIVALS arrivals are pending, a path waits before its next arrival. But each path that is already in the
 * ready state can add one more arrival, and so can each arrival that is performed at an edge (timing/windows.h). So the
 * table has ARRIVAL_PLACES entries: MAX_ARRIVALS, and one more for each path. */
enum { MAX_ARRIVALS = TABLE_SIZE(64, 2), ARRIVAL_PLACES = MAX_ARRIVALS + WARP_SLOTS * MAX_PATHS, SINCE_MAX = 255 };

/* A copy in flight. sm_copies.copy has the same indices as the table of instructions in flight. */
struct copy {
    uint64_t number[2]; /* by row of the warp: number of the pending copy (isa/machine/pending.h), if it has lanes */
    uint32_t next;      /* next older copy of the warp; NO_INFLIGHT if the warp has none */
    lanemask_t lanes;
    uint64_t serial;
    /* for each lane: the number of groups committed since the copy, including the copy's own; at most SINCE_MAX */
    uint8_t since[MAX_WARP_LANES];
};

/* mbarrier arrivals that wait for the copies that were issued before them. */
struct arrival {
    lanemask_t lanes; /* 0: the entry is free */
    uint16_t warp;
    uint64_t serial;
    uint32_t address[MAX_WARP_LANES]; /* address of each lane's mbarrier, in shared memory */
};

struct sm_copies {
    uint32_t first[WARP_SLOTS];
    uint64_t serial;
    struct copy copy[MAX_INFLIGHT];
    uint32_t n_arrivals, arrivals_end; /* entries from arrivals_end on have never been used */
    struct arrival arrival[ARRIVAL_PLACES];
};

bool sm_copies_begin(struct sm *sm) {
    const bool any = sm->program->copies;
    sm->arrivals_made = 0;
    sm->copies = any ? calloc(1, sizeof *sm->copies) : NULL;
    for (uint32_t w = 0; any && sm->copies && w < WARP_SLOTS; w++)
        sm->copies->first[w] = NO_INFLIGHT;
    return sm->copies || !any;
}

void sm_copies_end(struct sm *sm) {
    free(sm->copies);
    sm->copies = NULL;
}

/* Returns the lanes of `lanes` that must wait. A lane must wait if it has a copy in flight that is older than `serial`,
 * and has committed more than `groups` groups since that copy. */
static lanemask_t lanes_in_flight(const struct sm *sm, uint32_t w, lanemask_t lanes, uint64_t serial, int64_t groups) {
    lanemask_t found = 0;
    for (uint32_t i = sm->copies->first[w]; i != NO_INFLIGHT; i = sm->copies->copy[i].next) {
        const struct copy *c = &sm->copies->copy[i];
        for (lanemask_t m = c->serial < serial ? c->lanes & lanes & ~found : 0; m; m &= m - 1) {
            int l = (int)lanes_first(m);
            bool waits = c->since[l] > groups || c->since[l] == SINCE_MAX;
            found |= (lanemask_t)waits << l;
        }
    }
    return found;
}

bool sm_copies_hold(const struct sm *sm, uint32_t w, const struct sm_path *path) {
    const struct inst *in = &sm->program->program->code[path->pc];
    if (!sm->copies)
        return false;
    if (in->kind == K_COLLECT)
        return lanes_in_flight(sm, w, path->lanes, UINT64_MAX, in->imm) != 0;
    return sm->copies->n_arrivals >= MAX_ARRIVALS && lanes_in_flight(sm, w, path->lanes, UINT64_MAX, -1);
}

static void begin_copy(struct sm *sm, uint32_t w, uint32_t inflight) {
    struct copy *c = &sm->copies->copy[inflight];
    const struct warp *warp = sm->warps.slot[w].w;
    *c = (struct copy){.number = {pending_youngest(warp), warp->high ? pending_youngest(warp->high) : 0},
                       .next = sm->copies->first[w],
                       .lanes = sm->fx.lanes,
                       .serial = sm->copies->serial++};
    sm->copies->first[w] = inflight;
}

static void commit(struct sm *sm, uint32_t w, lanemask_t lanes) {
    for (uint32_t i = sm->copies->first[w]; i != NO_INFLIGHT; i = sm->copies->copy[i].next) {
        struct copy *c = &sm->copies->copy[i];
        for (lanemask_t m = c->lanes & lanes; m; m &= m - 1)
            c->since[lanes_first(m)] += c->since[lanes_first(m)] < SINCE_MAX;
    }
}

/* Begins an arrival. Lanes without a copy in flight arrive at once. Other lanes arrive when their last copy
 * completes. */
static void begin_arrival(struct sm *sm, uint32_t w) {
    struct sm_copies *k = sm->copies;
    lanemask_t lanes = sm->fx.lanes & sm->fx.shared_lanes, later = 0;
    if (k)
        later = lanes_in_flight(sm, w, lanes, UINT64_MAX, -1);
    for (lanemask_t m = lanes & ~later; m; m &= m - 1)
        mbarrier_copies_done(sm->warps.slot[w].w->cta, sm->fx.addr[lanes_first(m)]);
    if (!later)
        return;
    struct arrival *a = k->arrival;
    while (a->lanes)
        a++;
    assert(a < k->arrival + ARRIVAL_PLACES);
    if (a == k->arrival + k->arrivals_end)
        k->arrivals_end++;
    *a = (struct arrival){.lanes = later, .warp = (uint16_t)w, .serial = k->serial++};
    for (lanemask_t m = later; m; m &= m - 1)
        a->address[lanes_first(m)] = (uint32_t)sm->fx.addr[lanes_first(m)];
    k->n_arrivals++;
}

void sm_copies_issued(struct sm *sm, uint32_t w, const struct inst *in, uint32_t mem) {
    if (!sm->fx.lanes)
        return;
    if (in->kind == K_ATOM)
        begin_arrival(sm, w);
    else if (in->kind == K_COPY)
        begin_copy(sm, w, sm->memory.inst[mem].inflight);
    else if (in->kind == K_COMMIT && sm->copies)
        commit(sm, w, sm->fx.lanes);
}

/* Called when a copy of the warp has completed. Performs the arrivals of the lanes that wait for no other copy. Returns
 * true if the table of arrivals was full and has room now. */
static bool arrive(struct sm *sm, uint32_t w) {
    struct sm_copies *k = sm->copies;
    bool full = k->n_arrivals >= MAX_ARRIVALS;
    for (struct arrival *a = k->arrival; a < k->arrival + k->arrivals_end; a++) {
        lanemask_t complete =
            a->lanes && a->warp == w ? a->lanes & ~lanes_in_flight(sm, w, a->lanes, a->serial, -1) : 0;
        if (!complete)
            continue;
        for (lanemask_t m = complete; m; m &= m - 1)
            mbarrier_copies_done(sm->warps.slot[w].w->cta, a->address[lanes_first(m)]);
        sm->arrivals_made++;
        a->lanes &= ~complete;
        k->n_arrivals -= !a->lanes;
    }
    return full && k->n_arrivals < MAX_ARRIVALS;
}

/* Writes the data of a copy to shared memory. */
static void land(const struct copy *c, struct warp *w) {
    if (warp_row(c->lanes, 0))
        pending_land(w, c->number[0]);
    if (w->high && warp_row(c->lanes, 1))
        pending_land(w->high, c->number[1]);
}

bool sm_copies_done(struct sm *sm, uint32_t inflight) {
    struct sm_copies *k = sm->copies;
    uint32_t w = sm->in_flight.entry[inflight].warp, *at = &k->first[w];
    land(&k->copy[inflight], sm->warps.slot[w].w);
    while (*at != inflight)
        at = &k->copy[*at].next;
    *at = k->copy[inflight].next;
    return k->n_arrivals && arrive(sm, w);
}

bool sm_copies_pending(const struct sm *sm) {
    for (uint32_t w = 0; sm->copies && w < WARP_SLOTS; w++)
        if (sm->copies->first[w] != NO_INFLIGHT)
            return true;
    return false;
}
