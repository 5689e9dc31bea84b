/* The half of the memory side that moves requests: the request network, the TLBs, and the caches of clusters. */
#include "isa/arith.h"
#include "memsys_parts.h"

/* Returns the place of an address for port `in` of the crossbar, which belongs to an SM or to a cluster's cache. With
 * l2.far_latency, the first half of the clusters (without clusters: of the SMs) is in the half of the chip that has the
 * first half of the slices. */
static struct mem_place place_for(const struct memsys *m, uint32_t in, uint64_t address) {
    struct mem_place at = memmap_place(&m->map, address);
    if (__builtin_expect(m->cfg->memory.l2_far == 0, 1))
        return at;
    const uint32_t clusters = m->gpcs.n, all = clusters ? clusters : m->sms;
    const uint32_t number = in >= m->sms ? in - m->sms : clusters ? in % clusters : in;
    at.far = (number * 2 >= all) != (at.slice * 2 >= m->slices);
    return at;
}

/* Offers request `r` of SM `s` to the crossbar from cycle `ready` on. */
static void offer_translated(struct memsys *m, uint32_t s, const struct mem_request *r, uint64_t ready) {
    bool data = r->kind == MEM_WRITE || r->kind == MEM_WRITE_BACK || r->kind == MEM_ATOMIC;
    uint32_t payload = data ? r->bytes : 0;
    m->place[s] = place_for(m, s, r->address);
    l2_expect(m->slice[m->place[s].slice], &m->place[s]);
    icnt_offer(&m->request, s, m->place[s].slice, icnt_flits(&m->request, payload), ready);
}

/* Offers the oldest request of SM `s` to the crossbar, to its TLB, or to the cache of its cluster, from cycle `from` on
 * or later. */
static void offer_request(struct memsys *m, uint32_t s, uint64_t from) {
    const struct mem_request *r = memport_head(&m->port[s]);
    if (!r)
        return;
    __builtin_prefetch(memport_second(&m->port[s]));
    if (gpcs_take(&m->gpcs, r->kind)) {
        gpcs_offer(&m->gpcs, s, max64(from, r->cycle + m->ahead));
        return;
    }
    if (__builtin_expect(m->tlbs.sms != 0, 0))
        tlbs_offer(&m->tlbs, s, max64(from, r->cycle + m->ahead));
    else
        offer_translated(m, s, r, r->cycle + m->ahead);
}

/* Offers the oldest request of cluster `g`'s cache to the crossbar. */
static void offer_miss(struct memsys *m, uint32_t g) {
    const struct mem_request *r = gpc_miss(&m->gpcs.gpc[g]);
    if (!r)
        return;
    uint32_t in = m->sms + g;
    m->place[in] = place_for(m, in, r->address);
    icnt_offer(&m->request, in, m->place[in].slice, icnt_flits(&m->request, 0), r->cycle);
}

static uint64_t first_room(const struct mem_room *r) {
    return r->head == atomic_load_explicit(&r->tail, memory_order_acquire) ? NEVER : r->cycle[r->head & r->mask];
}

/* Reports to the request network how many packets slice `s` can accept at cycle `now`. If this number may be too small
 * for the next cycle, the slice becomes "scarce": from then on, each free entry of its queue is reported at once. */
static void take_room_of(struct memsys *m, uint32_t s, uint64_t now) {
    struct mem_room *r = &m->room[s];
    for (; first_room(r) <= now; r->head++)
        icnt_give_room(&m->request, s, now);
    uint64_t bit = 1ull << s % 64;
    bool scarce = icnt_room(&m->request, s) < m->request.shape.speedup;
    m->scarce[s / 64] = scarce ? m->scarce[s / 64] | bit : m->scarce[s / 64] & ~bit;
    m->next_room = scarce ? min64(m->next_room, first_room(r)) : m->next_room;
}

/* Passes a granted request of input `in` to its slice `s`, and offers the input's next request. */
static void pass_request(struct memsys *m, const struct icnt_grant *grant, uint64_t now) {
    uint32_t in = grant->input, s = grant->output;
    bool is_sm = in < m->sms;
    const struct mem_request *r =
        is_sm ? tlbs_request(&m->tlbs, in, memport_head(&m->port[in])) : gpc_miss(&m->gpcs.gpc[in - m->sms]);
    m->front.latency_sum += grant->arrival - r->cycle;
    l2_accept(m->slice[s], r, &m->place[in], grant->arrival);
    m->put[s / 64] |= 1ull << s % 64;
    if (icnt_room(&m->request, s) < m->request.shape.speedup)
        take_room_of(m, s, now);
    if (is_sm && tlbs_granted(&m->tlbs, in, now)) {
        memport_remove(&m->port[in], now);
        offer_request(m, in, now + 1);
    } else if (!is_sm) {
        gpc_miss_taken(&m->gpcs.gpc[in - m->sms]);
        offer_miss(m, in - m->sms);
    }
}

/* Runs the request network for one cycle. Returns true if the network granted an offer. (It may be called in a cycle
 * without work.) */
static bool request_tick(struct memsys *m, uint64_t now) {
    struct icnt_grant grant[ICNT_PORTS];
    bool any = false;
    for (int n; (n = icnt_tick(&m->request, now, grant)) > 0; any = true) {
        for (int i = 0; i < n; i++)
            pass_request(m, &grant[i], now);
        if (!m->request.shape.again || m->request.next > now)
            return true;
    }
    return any;
}

/* Runs the caches of clusters, and then passes the requests that wait at SM ports to these caches. */
static void gpcs_turn(struct memsys *m, uint64_t now) {
    for (uint32_t g = 0; g < m->gpcs.n; g++) {
        uint64_t replied;
        if (m->gpcs.gpc[g].next > now)
            continue;
        if (gpc_tick(&m->gpcs.gpc[g], m->port, now, &replied))
            m->front.worked = max64(m->front.worked, now + 1);
        m->front.last_reply = max64(m->front.last_reply, replied ? replied + 1 : 0);
        if (!m->request.in[m->sms + g].offers)
            offer_miss(m, g);
    }
    for (int s; (s = gpcs_accept(&m->gpcs, m->port, now)) >= 0;) {
        memport_remove(&m->port[s], now);
        offer_request(m, (uint32_t)s, now + 1);
        m->front.worked = max64(m->front.worked, now + 1);
    }
}

/* Runs the TLBs for one cycle. */
static void tlbs_turn(struct memsys *m, uint64_t now) {
    m->tlbs.next = NEVER;
    for (uint32_t s = 0; s < m->tlbs.sms; s++) {
        if (m->request.in[s].offers)
            continue;
        const struct mem_request *head = memport_head(&m->port[s]);
        const enum tlb_did did = tlbs_next(&m->tlbs, s) <= now ? tlbs_tick(&m->tlbs, s, head, now) : TLB_NOTHING;
        if (did == TLB_TRANSLATED) {
            offer_translated(m, s, tlbs_request(&m->tlbs, s, head), now);
            continue;
        }
        if (did == TLB_MISSED) {
            memport_remove(&m->port[s], now);
            offer_request(m, s, now + 1);
            m->front.worked = max64(m->front.worked, now + 1);
        }
        if (!m->request.in[s].offers)
            m->tlbs.next = min64(m->tlbs.next, max64(tlbs_next(&m->tlbs, s), now + 1));
    }
}

static void take_room(struct memsys *m, uint64_t now) {
    m->next_room = NEVER;
    for (uint32_t w = 0; w < ICNT_WORDS; w++)
        for (uint64_t scarce = m->scarce[w]; scarce; scarce &= scarce - 1)
            take_room_of(m, w * 64 + (uint32_t)__builtin_ctzll(scarce), now);
}

/* Returns the cycle of the request network's next work. Returns NEVER if it has no work until a packet is offered or a
 * slice has room again. */
static uint64_t next_request(const struct memsys *m) { return max64(m->request.next, m->turn); }

uint64_t request_half_next(const struct memsys *m) { return min64(next_request(m), min64(m->gpcs.next, m->tlbs.next)); }

/* Returns true if the oldest request of SM `s` has been offered to the crossbar, to the SM's TLB, or to its cluster. */
static bool is_offered(const struct memsys *m, uint32_t s) {
    return gpcs_offered(&m->gpcs, s) || (m->tlbs.sms ? tlbs_offered(&m->tlbs, s) : m->request.in[s].offers);
}

void request_half_offer(struct memsys *m) {
    for (uint32_t s = 0; m->exchanged && s < m->sms; s++)
        if (memport_head(&m->port[s]) && !is_offered(m, s))
            offer_request(m, s, m->front.done);
    m->exchanged = false;
}

void request_half_receive(struct memsys *m) {
    gpcs_receive(&m->gpcs);
    for (uint32_t w = 0; w < ICNT_WORDS; w++)
        for (uint64_t scarce = m->scarce[w]; scarce; scarce &= scarce - 1)
            m->next_room = min64(m->next_room, first_room(&m->room[w * 64 + (uint32_t)__builtin_ctzll(scarce)]));
}

void request_half_run(struct memsys *m, uint64_t to) {
    for (uint64_t now; (now = min64(m->next_room, request_half_next(m))) < to;) {
        if (m->next_room == now)
            take_room(m, now);
        if (m->gpcs.next == now)
            gpcs_turn(m, now);
        if (m->tlbs.next <= now)
            tlbs_turn(m, now);
        if (next_request(m) > now)
            continue;
        if (request_tick(m, now))
            m->front.worked = max64(m->front.worked, now + 1);
        m->turn = now + 1;
    }
    m->turn = max64(m->turn, to);
    m->front.done = to;
}
