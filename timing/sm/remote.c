#include "remote.h"
#include "issue_slots.h"
#include "memory_replies.h"
#include "stages.h"
#include "timing/mem/shared_banks.h"
#include "unit_access.h"
#include <stdlib.h>

enum { HEADER = 8 }; /* bytes of a request for each pass over the banks, and of a reply, without data */

bool remote_begin(struct sm *sm) {
    free(sm->remote);
    sm->remote = NULL;
    if (launch_cluster_ctas(sm->launch) == 1)
        return true;
    sm->remote = calloc(1, sizeof *sm->remote);
    return sm->remote != NULL;
}

void remote_end(struct sm *sm) {
    free(sm->remote);
    sm->remote = NULL;
}

bool remote_is(struct sm *sm, uint32_t w, const struct inst *in, lanemask_t lanes) {
    bool access = in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM;
    if (!access || (in->space != SPACE_SHARED && in->space != SPACE_GENERIC))
        return false;
    return exec_is_remote(sm->warps.slot[w].w, in, lanes, &sm->fx);
}

void remote_take(const struct sm *sm, struct mem_inst *m) {
    const struct effects *fx = &sm->fx;
    struct lsu_access *a = &m->access;
    lanemask_t remote = 0;
    for (lanemask_t left = fx->shared_lanes & fx->lanes; left; left &= left - 1)
        remote |= (lanemask_t)cluster_is_remote(fx->addr[lanes_first(left)]) << lanes_first(left);
    m->remote = remote;
    if (!remote)
        return;
    a->lanes &= ~remote;
    a->shared_lanes &= ~remote;
    m->skip = MEM_REMOTE;
}

/* Returns the number of different addresses. */
static uint32_t different(const uint64_t *address, lanemask_t lanes) {
    uint32_t n = 0;
    for (lanemask_t left = lanes; left; left &= left - 1) {
        bool seen = false;
        for (lanemask_t before = lanes & ~left; before && !seen; before &= before - 1)
            seen = address[lanes_first(before)] == address[lanes_first(left)];
        n += !seen;
    }
    return n;
}

/* Makes the request of the lanes in `lanes`, which access CTA `to`. */
static struct lsu_guest request(const struct sm *sm, const struct mem_inst *m, const uint64_t *offset, lanemask_t lanes,
                                const struct cta *to, uint64_t now) {
    const struct lsu_access *a = &m->access;
    const struct shared_banks banks = shared_banks_of(sm->cfg);
    const unsigned bytes = (unsigned)a->n_elems * a->msize;
    const bool turns = a->kind == MEM_ATOMIC && sm->cfg->lsu.shared_serial;
    const uint32_t data = (a->kind == MEM_ATOMIC ? lanes_count(lanes) : different(offset, lanes)) * bytes;
    const bool returns = a->kind == MEM_READ || (a->kind == MEM_ATOMIC && a->inst->d != OPND_SINK);
    const uint32_t passes =
        turns ? shared_atomic_cycles(&banks, offset, lanes, bytes) : shared_cycles(&banks, offset, lanes, bytes);
    return (struct lsu_guest){.cycle = now + sm->cfg->lsu.agu_latency,
                              .sent = now,
                              .tag = m->inflight,
                              .from = (uint16_t)sm->id,
                              .to = (uint16_t)to->warps[0].smid,
                              .out = HEADER * passes + (a->kind == MEM_READ ? 0 : data),
                              .back = HEADER + (returns ? data : 0),
                              .passes = passes};
}

static void send_requests(struct sm *sm, struct mem_inst *m, uint64_t now) {
    struct sm_remote *r = sm->remote;
    const struct cta *own = sm->warps.slot[sm->in_flight.entry[m->inflight].warp].w->cta;
    uint64_t offset[MAX_WARP_LANES] = {0};
    const uint32_t before = r->n_out;
    for (lanemask_t left = m->remote; left;) {
        const struct cta *to = cluster_place(own, m->addr[lanes_first(left)]).cta;
        lanemask_t same = 0;
        for (lanemask_t all = left; all; all &= all - 1) {
            const struct cluster_place p = cluster_place(own, m->addr[lanes_first(all)]);
            offset[lanes_first(all)] = p.offset;
            same |= (lanemask_t)(p.cta == to) << lanes_first(all);
        }
        r->out[r->n_out++] = request(sm, m, offset, same, to, now);
        left &= ~same;
    }
    r->inst[m->inflight] = (struct remote_inst){.rest = m->access.lanes ? m : NULL, .pending = r->n_out - before};
    r->n.accesses++;
    r->n.packets += r->n_out - before;
}

bool remote_send(struct sm *sm, struct mem_inst *m, uint64_t now, struct mem_turn *turn) {
    if (turn->lsu_used || !m->remote || sm->remote->n_out + MAX_CLUSTER_CTAS > REMOTE_MOST)
        return false; /* if no lane has a remote request left, the instruction only waits for replies */
    turn->lsu_used = true;
    send_requests(sm, m, now);
    m->remote = 0;
    return !m->access.lanes;
}

void remote_replied(struct sm *sm, uint32_t inflight, uint64_t now) {
    struct mem_inst *rest = sm->remote->inst[inflight].rest;
    if (!rest) {
        sm_access_done(sm, inflight, false, now);
        return;
    }
    rest->skip = MEM_ACCESS; /* the lanes that access the own SM or device memory follow */
    sm->memory.due = now;
}

/* ---- edges ---- */

bool sm_remote_sent(struct sm *sm, uint64_t cycle, struct lsu_guest *out) {
    struct sm_remote *r = sm->remote;
    if (r->taken == r->n_out || r->out[r->taken].sent > cycle)
        return false;
    *out = r->out[r->taken++];
    if (r->taken == r->n_out)
        r->taken = r->n_out = 0;
    return true;
}

bool sm_remote_guest(struct sm *sm, const struct lsu_guest *g) {
    if (!lsu_guest(sm->lsu, g))
        return false;
    if (g->arrived < sm->status.lsu_due)
        sm->status.lsu_due = g->arrived;
    sm_wake(sm, g->arrived);
    return true;
}

bool sm_remote_served(struct sm *sm, uint64_t cycle, struct lsu_guest *out) {
    return lsu_guest_served(sm->lsu, cycle, out);
}

void sm_remote_reply(struct sm *sm, const struct lsu_guest *g, uint64_t at) {
    struct remote_inst *i = &sm->remote->inst[g->tag];
    i->ready = i->ready > at ? i->ready : at;
    if (--i->pending)
        return;
    wheel_add(&sm->wheel, i->ready, event_make(EVENT_REMOTE, g->tag));
    sm_wake(sm, i->ready);
}

struct remote_counts *sm_remote_counts(struct sm *sm) {
    return &sm->remote->n;
}

void sm_cluster_release(struct sm *sm, const struct cta *c, uint64_t now) {
    if (sm->status.stopped || !(c->barriers_used >> CLUSTER_BARRIER & 1))
        return;
    for (uint32_t slot = 0; slot < SM_CTA_SLOTS; slot++)
        if (sm->ctas.slot[slot].cta == c) {
            sm_account(sm, now);
            sm_barrier_opens(sm, slot, CLUSTER_BARRIER, now);
            sm_wake(sm, now);
        }
}

void sm_cluster_settle(struct sm *sm, uint64_t now) {
    for (uint32_t slot = 0; slot < SM_CTA_SLOTS; slot++) {
        const struct sm_cta *c = &sm->ctas.slot[slot];
        if (warp_set_any(&c->warps, WARP_WORDS) && cluster_settle(c->cta->cluster))
            sm_cluster_release(sm, c->cta, now);
    }
}
