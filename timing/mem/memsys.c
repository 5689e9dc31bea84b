/* The memory side, that is, everything after the SMs: request network, L2 slices, DRAM channels, reply network.
 *
 * Units are called only in cycles in which they have work. In each cycle, the units run from back to front: reply
 * network, channels, slices, and then the request network. A slice reads a request only after the ROP latency. So all
 * other units may run ahead of the request network by this latency (memsys_lead()): later requests cannot change their
 * results. The units record for the request network in which cycles the queue of a slice gets room for one more
 * packet. */
#include "isa/arith.h"
#include "memsys_parts.h"
#include <assert.h>
#include <string.h>

uint32_t memsys_crossing(const struct memsys *m) { return m->ahead; }

uint32_t memsys_quantum(const struct memsys *m) { return m->quantum; }

uint32_t memsys_window(const struct memsys *m) {
    uint32_t w = (m->slack + 2 * m->ahead) / 2;
    if (!m->ahead || m->poll || w < memsys_quantum(m))
        return 0;
    return w < MEMSYS_WINDOW ? w : MEMSYS_WINDOW;
}

struct memport *memsys_port(struct memsys *m, uint32_t sm) {
    return &m->port[sm];
}

uint64_t memsys_moved(const struct memsys *m) {
    uint64_t n = 0;
    for (uint32_t s = 0; s < m->sms; s++)
        n += m->port[s].removed + m->port[s].taken + (m->port[s].near ? m->port[s].near->taken : 0);
    return n;
}

/* Runs the fixed model: it accepts at most memory.requests requests per cycle from each SM (0: any number), and answers
 * each request memory.latency cycles later. */
static void run_fixed(struct memsys *m, uint64_t to) {
    uint32_t rate = m->cfg->memory.requests;
    for (uint32_t s = 0; s < m->sms; s++) {
        struct memport *p = &m->port[s];
        const struct mem_request *r;
        while ((r = memport_head(p)) && r->cycle < to) {
            uint64_t at = rate ? memport_pace(p, r->cycle, rate) : r->cycle;
            if (memport_replies(p, r)) {
                struct mem_request *reply = memport_reply(p);
                *reply = *r;
                reply->cycle = at + m->cfg->memory.latency;
                m->last_reply = reply->cycle >= m->last_reply ? reply->cycle + 1 : m->last_reply;
            }
            memport_remove(p, at);
        }
    }
}

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

static void offer_reply(struct memsys *m, uint32_t s, uint64_t now) {
    const struct mem_request *r = l2_reply(m->slice[s]);
    if (r)
        icnt_offer(&m->reply, s, r->sm, icnt_flits(&m->reply, r->bytes), max64(r->cycle, now + 1));
}

static void add_partition(struct memsys *m, uint32_t slice) {
    agenda_add(&m->agenda, UNIT_PARTITION + slice / m->share, m->slice[slice]->next);
}

static uint64_t first_room(const struct mem_room *r) {
    return r->head == r->noted ? NEVER : r->cycle[r->head & r->mask];
}

static void note_took(struct mem_room *r, uint64_t now) { r->cycle[r->tail++ & r->mask] = now; }

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

/* Runs the request network for one cycle. Returns true if the network granted an offer. (It may be called in a cycle
 * without work.) */
static bool request_tick(struct memsys *m, uint64_t now) {
    struct icnt_grant grant[ICNT_PORTS];
    int n = icnt_tick(&m->request, now, grant);
    for (int i = 0; i < n; i++) {
        uint32_t in = grant[i].input, s = grant[i].output;
        bool is_sm = in < m->sms;
        const struct mem_request *r =
            is_sm ? tlbs_request(&m->tlbs, in, memport_head(&m->port[in])) : gpc_miss(&m->gpcs.gpc[in - m->sms]);
        m->n.latency_sum += grant[i].arrival - r->cycle;
        uint64_t next = m->slice[s]->next;
        l2_accept(m->slice[s], r, &m->place[in], grant[i].arrival);
        if (m->place[in].far)
            m->partition[s / m->share].counted = true;
        if (m->slice[s]->next != next)
            add_partition(m, s);
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
    return n > 0;
}

/* Runs the caches of clusters, and then passes the requests that wait at SM ports to these caches. */
static void gpcs_turn(struct memsys *m, uint64_t now) {
    for (uint32_t g = 0; g < m->gpcs.n; g++) {
        uint64_t replied;
        if (m->gpcs.gpc[g].next > now)
            continue;
        if (gpc_tick(&m->gpcs.gpc[g], m->port, now, &replied))
            m->worked = max64(m->worked, now + 1);
        m->last_reply = max64(m->last_reply, replied ? replied + 1 : 0);
        if (!m->request.in[m->sms + g].offers)
            offer_miss(m, g);
    }
    for (int s; (s = gpcs_accept(&m->gpcs, m->port, now)) >= 0;) {
        memport_remove(&m->port[s], now);
        offer_request(m, (uint32_t)s, now + 1);
        m->worked = max64(m->worked, now + 1);
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
            m->worked = max64(m->worked, now + 1);
        }
        if (!m->request.in[s].offers)
            m->tlbs.next = min64(m->tlbs.next, max64(tlbs_next(&m->tlbs, s), now + 1));
    }
}

/* Wakes slice `s`, which waited for room for its replies. */
static void give_reply_room(struct memsys *m, uint32_t s, uint64_t now) {
    uint64_t at = max64(now, m->part[s / m->share].done);
    if (m->slice[s]->next > at)
        m->slice[s]->next = at;
    add_partition(m, s);
}

static bool reply_tick(struct memsys *m, uint64_t now) {
    struct icnt_grant grant[ICNT_PORTS];
    int n = icnt_tick(&m->reply, now, grant);
    for (int i = 0; i < n; i++) { /* of each reply, the slice and the port are in other lines of the host's cache */
        __builtin_prefetch(l2_reply(m->slice[grant[i].input]));
        if (grant[i].output < m->sms)
            __builtin_prefetch(memport_next_reply(&m->port[grant[i].output]), 1);
    }
    for (int i = 0; i < n; i++) {
        uint32_t s = grant[i].input, to = grant[i].output;
        const struct mem_request *r = l2_reply(m->slice[s]);
        m->n.latency_sum += grant[i].arrival - r->cycle;
        m->last_reply = grant[i].arrival >= m->last_reply ? grant[i].arrival + 1 : m->last_reply;
        if (to < m->sms) {
            struct mem_request *reply = memport_reply(&m->port[to]);
            *reply = *r;
            reply->cycle = grant[i].arrival;
        } else {
            gpc_fill(&m->gpcs, to - m->sms, r, grant[i].arrival);
        }
        if (l2_reply_taken(m->slice[s]))
            give_reply_room(m, s, now);
        offer_reply(m, s, now);
    }
    return n > 0;
}

static struct partition_did partition_work(struct memsys *m, uint32_t p, uint64_t now) {
    struct part *part = &m->part[p];
    struct partition_did did = partition_tick(&m->partition[p], &part->clock, now);
    for (uint32_t took = did.took; took; took &= took - 1)
        note_took(&m->room[p * m->share + (uint32_t)__builtin_ctz(took)], now);
    part->worked = now + 1;
    return did;
}

/* Reports new room in the slices of partition `p` to the request network. */
static void note_room(struct memsys *m, uint32_t p) {
    for (uint32_t s = p * m->share; s < (p + 1) * m->share; s++) {
        m->room[s].noted = m->room[s].tail;
        if (m->scarce[s / 64] >> s % 64 & 1)
            m->next_room = min64(m->next_room, first_room(&m->room[s]));
    }
}

static void partition_turn(struct memsys *m, uint32_t p, uint64_t now) {
    m->worked = max64(m->worked, now + 1);
    /* a cycle before `done` is already simulated; it can be in the agenda, because the agenda's ring may end before
     * `done` */
    if (now >= m->part[p].done) {
        struct partition_did did = partition_work(m, p, now);
        for (uint32_t i = 0; did.ticked >> i; i++)
            if (!m->reply.in[p * m->share + i].offers)
                offer_reply(m, p * m->share + i, now);
        if (did.took)
            note_room(m, p);
    }
    uint64_t next = partition_next(&m->partition[p]);
    if (next != NEVER)
        agenda_add(&m->agenda, UNIT_PARTITION + p, next);
}

/* Returns true if all slices of the partition have room for the replies of one cycle, even if the reply network
 * takes no reply in this cycle. */
static bool has_room(const struct partition *p) {
    bool all = true;
    for (uint32_t s = 0; s < p->slices; s++)
        all &= p->slice[s].out_depth >= p->slice[s].out_tail - p->slice[s].out_head + 2;
    return all;
}

void memsys_lead_partition(struct memsys *m, uint32_t p, uint64_t to) {
    struct partition *partition = &m->partition[p];
    struct part *part = &m->part[p];
    if (!m->apart || max64(partition_next(partition), m->back) >= to || !has_room(partition))
        return;
    partition->dram_next = max64(partition->dram_next, m->back);
    for (uint64_t now; (now = max64(partition_run_channel(partition, &part->clock, to), m->back)) < to;) {
        partition_work(m, p, now);
        part->done = now + 1;
        if (has_room(partition))
            continue;
        for (uint32_t s = 0; s < partition->slices; s++)
            partition->slice[s].next = min64(partition->slice[s].next, now + 1);
        break;
    }
    part->worked = max64(part->worked, part->clock.cycle + 1);
    part->done = max64(part->done, part->clock.cycle + 1);
}

uint32_t memsys_partitions(const struct memsys *m) { return m->ahead ? m->partitions : 0; }

/* For each partition that has run ahead of the reply network (beyond m->back), passes its results to the networks. */
static void catch_up(struct memsys *m) {
    for (uint32_t p = 0; p < m->partitions; p++) {
        uint64_t next = partition_next(&m->partition[p]);
        if (m->part[p].done <= m->back)
            continue;
        for (uint32_t s = p * m->share; s < (p + 1) * m->share; s++)
            if (!m->reply.in[s].offers)
                offer_reply(m, s, m->back);
        note_room(m, p);
        m->worked = max64(m->worked, m->part[p].worked);
        if (next != NEVER)
            agenda_add(&m->agenda, UNIT_PARTITION + p, next);
    }
    if (m->reply.next != NEVER)
        agenda_add(&m->agenda, UNIT_REPLY, m->reply.next);
}

/* Moves the agenda to cycle `done`. All cycles before `done` have been simulated. */
static void agenda_over(struct agenda *a, uint64_t done) {
    if (done <= a->now)
        return;
    agenda_begin(a, done - 1);
    agenda_end(a);
}

/* Runs all units except the request network over [m->back, to). */
static void run_back(struct memsys *m, uint64_t to) {
    for (uint64_t now; (now = agenda_next(&m->agenda)) < to;) {
        int unit;
        agenda_begin(&m->agenda, now);
        while ((unit = agenda_take(&m->agenda)) >= 0)
            if (unit != UNIT_REPLY)
                partition_turn(m, (uint32_t)unit - UNIT_PARTITION, now);
            else if (reply_tick(m, now))
                m->worked = max64(m->worked, now + 1);
        if (m->reply.next != NEVER)
            agenda_add(&m->agenda, UNIT_REPLY, m->reply.next);
    }
    agenda_over(&m->agenda, to);
    m->back = to;
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

/* Runs the request network, the TLBs and the caches of clusters over [m->front, to). */
static void run_front(struct memsys *m, uint64_t to) {
    for (uint64_t now; (now = min64(min64(next_request(m), m->next_room), min64(m->gpcs.next, m->tlbs.next))) < to;) {
        if (m->next_room == now)
            take_room(m, now);
        if (m->gpcs.next == now)
            gpcs_turn(m, now);
        if (m->tlbs.next <= now)
            tlbs_turn(m, now);
        if (next_request(m) > now)
            continue;
        if (request_tick(m, now))
            m->worked = max64(m->worked, now + 1);
        m->turn = now + 1;
    }
    m->turn = max64(m->turn, to);
    m->front = to;
}

/* Calls every unit in every cycle. */
static void run_polling(struct memsys *m, uint64_t to) {
    for (uint64_t now = m->front; now < to; now++) {
        for (uint32_t i = 0; i < m->partitions; i++) {
            m->partition[i].dram_next = now;
            for (uint32_t s = 0; s < m->share; s++)
                m->partition[i].slice[s].next = now;
            agenda_add(&m->agenda, UNIT_PARTITION + i, now);
        }
        agenda_add(&m->agenda, UNIT_REPLY, now);
        run_back(m, now + 1);
        gpcs_call(&m->gpcs, now);
        m->tlbs.next = m->tlbs.sms ? now : NEVER;
        m->request.next = now;
        run_front(m, now + 1);
    }
}

uint64_t memsys_sure(const struct memsys *m) { return m->ahead ? m->front + m->ahead : NEVER; }

uint64_t memsys_known(const struct memsys *m) {
    bool near = false;
    for (uint32_t s = 0; m->gpcs.n && s < m->sms; s++)
        near |= memport_near_due(&m->port[s]);
    return near ? memsys_sure(m) : m->back + m->ahead;
}

bool memsys_crowded(struct memsys *m, uint64_t past, uint32_t coming) {
    uint64_t most = 0;
    bool near = false;
    for (uint32_t s = 0; s < m->sms; s++) {
        struct memport *p = &m->port[s];
        if (memport_idle(p))
            continue;
        near |= memport_near_due(p);
        most = max64(most, p->sent - p->counted);
        p->counted = p->sent;
    }
    return near || (m->ahead && most * coming * 5 > m->port[0].depth * past * 3);
}

void memsys_exchange(struct memsys *m) {
    uint64_t sure = memsys_sure(m);
    for (uint32_t s = 0; s < m->sms; s++)
        memport_exchange(&m->port[s], sure);
}

/* Returns the cycle of the next known work. */
static uint64_t next_unit(const struct memsys *m) {
    return min64(min64(agenda_next(&m->agenda), next_request(m)), min64(m->gpcs.next, m->tlbs.next));
}

/* Returns true if the oldest request of SM `s` has been offered to the crossbar, to the SM's TLB, or to its cluster. */
static bool is_offered(const struct memsys *m, uint32_t s) {
    return gpcs_offered(&m->gpcs, s) || (m->tlbs.sms ? tlbs_offered(&m->tlbs, s) : m->request.in[s].offers);
}

void memsys_follow(struct memsys *m, uint64_t to) {
    if (!m->ahead) {
        run_fixed(m, to);
        m->front = m->back = to;
        return;
    }
    for (uint32_t s = 0; s < m->sms; s++)
        if (memport_head(&m->port[s]) && !is_offered(m, s))
            offer_request(m, s, m->front);
    if (m->poll)
        run_polling(m, to);
    while (m->front < to) {
        m->front = min64(max64(m->front, next_unit(m)), to); /* no unit has work before this cycle */
        run_back(m, max64(max64(m->back, m->front), min64(to, m->front + m->slack)));
        run_front(m, min64(to, m->back));
    }
}

uint64_t memsys_leads(const struct memsys *m, uint64_t follows) {
    return m->ahead && !m->poll ? max64(m->front, follows) + m->slack : m->back;
}

void memsys_lead(struct memsys *m, uint64_t to) {
    assert(to <= max64(memsys_leads(m, 0), m->back));
    if (to <= m->back)
        return;
    catch_up(m);
    run_back(m, to);
}

uint64_t memsys_led(const struct memsys *m) { return m->back; }

void memsys_run(struct memsys *m, uint64_t from, uint64_t to) {
    if (m->front < from)
        memsys_follow(m, from);
    memsys_exchange(m);
    memsys_follow(m, to);
    memsys_exchange(m);
}

uint64_t memsys_worked(const struct memsys *m) { return m->worked; }

void memsys_end(struct memsys *m, uint64_t end) {
    assert(memsys_next(m, 0) == NEVER);
    tlbs_settle(&m->tlbs);
    m->agenda.now = 0; /* it is empty */
    agenda_over(&m->agenda, end);
    m->turn = m->front = m->back = end;
    for (uint32_t p = 0; m->ahead && p < m->partitions; p++)
        m->part[p].done = end;
}

void memsys_poll(struct memsys *m, bool every_cycle) { m->poll = every_cycle; }

uint64_t memsys_next(const struct memsys *m, uint64_t now) {
    uint64_t next = m->ahead ? next_unit(m) : NEVER;
    for (uint32_t s = 0; s < m->sms; s++) {
        /* p->sent also counts requests that memport_exchange() has not passed on yet */
        const struct memport *p = &m->port[s];
        if (p->mem.removed == p->sent || (m->ahead && m->request.in[s].offers && !m->tlbs.sms))
            continue;
        uint64_t c = p->request[p->mem.removed & p->request_mask].cycle + m->ahead;
        next = c < next ? c : next;
    }
    return next > now ? next : now;
}

uint64_t memsys_settled(const struct memsys *m) {
    struct clock_ratio ratio = clock_ratio(m->cfg->gpu.core_mhz, m->cfg->gpu.dram_mhz);
    uint64_t last = m->last_reply, dram = 0;
    for (uint32_t i = 0; m->ahead && i < m->partitions; i++)
        dram = max64(dram, m->partition[i].dram.settled);
    last = max64(last, m->ahead ? clock_to_cycle(ratio, dram) : 0);
    for (uint32_t i = 0; m->ahead && i < m->slices; i++)
        last = m->slice[i]->settled > last ? m->slice[i]->settled : last;
    return last;
}

/* clang-format off */
static const struct stat_row request_rows[] = {
#define COUNT_ROWS struct icnt_counts
#include "icnt_stats.def"
};
static const struct stat_row reply_rows[] = {
#define COUNT_ROWS struct icnt_counts
#include "icnt_reply_stats.def"
};
/* clang-format on */

static void network_stats(struct memsys *m, struct stats *s) {
    STATS_COUNT(s, request_rows, &m->request.n);
    STATS_COUNT(s, reply_rows, &m->reply.n);
    stats_put(s, STAT_icnt_stall_cycles, (double)(m->request.n.stall_cycles + m->reply.n.stall_cycles));
    stats_put(s, STAT_icnt_latency_sum, (double)m->n.latency_sum);
    memset(&m->request.n, 0, sizeof m->request.n);
    memset(&m->reply.n, 0, sizeof m->reply.n);
    memset(&m->n, 0, sizeof m->n);
}

void memsys_stats(struct memsys *m, struct stats *s) {
    if (!m->ahead)
        return;
    network_stats(m, s);
    gpcs_stats(&m->gpcs, s);
    tlbs_stats(&m->tlbs, s);
    for (uint32_t i = 0; i < m->partitions; i++)
        partition_stats(&m->partition[i], s);
    uint64_t cycles = m->front - m->clock_from;
    stats_put(s, STAT_dram_clocks,
              (double)m->partitions * (double)cycles * m->cfg->gpu.dram_mhz / m->cfg->gpu.core_mhz);
    m->clock_from = m->front;
}

/* Returns a slice whose cache changes outside a tick of its partition. */
static struct l2 *changed_slice(struct memsys *m, uint32_t slice) {
    m->partition[slice / m->share].counted = true;
    return m->slice[slice];
}

void memsys_host_wrote(struct memsys *m, uint64_t address, uint64_t bytes) {
    uint32_t line = m->cfg->l2.line;
    if (!m->ahead || !m->cfg->memory.host_copies || !m->cfg->l2.size)
        return;
    for (uint64_t at = address / line * line; at < address + bytes; at += line) {
        struct mem_place p = memmap_place(&m->map, at);
        struct cache_out out; /* an evicted dirty line costs nothing: copies of the host take no simulated time */
        struct l2 *slice = changed_slice(m, p.slice);
        cache_write(&slice->cache, p.line, 0, slice->all_sectors, &out);
    }
}

void memsys_warm(struct memsys *m, uint64_t address, uint8_t sectors, bool write, bool aside) {
    const uint32_t line = m->cfg->l2.line;
    if (!m->ahead || !m->cfg->l2.size)
        return;
    for (; sectors; address = address / line * line + line) {
        const uint32_t offset = (uint32_t)(address % line) / 32, n = line / 32 - offset;
        const struct mem_place p = memmap_place(&m->map, address);
        struct l2 *slice = changed_slice(m, p.slice);
        const uint8_t here = (uint8_t)(sectors << offset) & slice->all_sectors;
        if (here && !slice->perfect && !slice->uncached)
            cache_warm(&slice->cache, p.line, slice->split ? here : slice->all_sectors, write, aside);
        sectors = n < 8 ? (uint8_t)(sectors >> n) : 0;
    }
}
