/* The memory side, that is, everything after the SMs: request network, L2 slices, DRAM channels, reply network. This
 * file runs all of it except the request network (request_half.c).
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
                m->back.last_reply = max64(m->back.last_reply, reply->cycle + 1);
            }
            memport_remove(p, at);
        }
    }
}

static void offer_reply(struct memsys *m, uint32_t s, uint64_t now) {
    const struct mem_request *r = l2_reply(m->slice[s]);
    if (r)
        icnt_offer(&m->reply, s, r->sm, icnt_flits(&m->reply, r->bytes), max64(r->cycle, now + 1));
}

static void add_partition(struct memsys *m, uint32_t slice) {
    agenda_add(&m->agenda, UNIT_PARTITION + slice / m->share, m->slice[slice]->next);
}

/* Makes the packets that the request network has put into the queues of slices known to the slices. */
static void deliver(struct memsys *m) {
    for (uint32_t w = 0; w < ICNT_WORDS; w++) {
        for (uint64_t put = m->put[w]; put; put &= put - 1) {
            const uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(put);
            const uint64_t next = m->slice[s]->next;
            partition_receive(&m->partition[s / m->share], s % m->share);
            if (m->slice[s]->next != next)
                add_partition(m, s);
        }
        m->put[w] = 0;
    }
}

static void note_took(struct mem_room *r, uint64_t now) {
    const uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    r->cycle[tail & r->mask] = now;
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
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
        m->back.latency_sum += grant[i].arrival - r->cycle;
        m->back.last_reply = max64(m->back.last_reply, grant[i].arrival + 1);
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

static void partition_turn(struct memsys *m, uint32_t p, uint64_t now) {
    m->back.worked = max64(m->back.worked, now + 1);
    /* a cycle before `done` is already simulated; it can be in the agenda, because the agenda's ring may end before
     * `done` */
    if (now >= m->part[p].done) {
        struct partition_did did = partition_work(m, p, now);
        for (uint32_t i = 0; did.ticked >> i; i++)
            if (!m->reply.in[p * m->share + i].offers)
                offer_reply(m, p * m->share + i, now);
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
    for (uint32_t s = 0; s < m->share; s++)
        partition_receive(partition, s);
    if (!m->apart || max64(partition_next(partition), m->back.done) >= to || !has_room(partition))
        return;
    partition->dram_next = max64(partition->dram_next, m->back.done);
    for (uint64_t now; (now = max64(partition_run_channel(partition, &part->clock, to), m->back.done)) < to;) {
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

/* Passes the results of the partitions to the reply network and the agenda. A partition may have run ahead of the
 * reply network (beyond m->back.done), and may have got packets. */
static void catch_up(struct memsys *m) {
    for (uint32_t p = 0; p < m->partitions; p++) {
        uint64_t next = partition_next(&m->partition[p]);
        if (next != NEVER)
            agenda_add(&m->agenda, UNIT_PARTITION + p, next);
        if (m->part[p].done <= m->back.done)
            continue;
        for (uint32_t s = p * m->share; s < (p + 1) * m->share; s++)
            if (!m->reply.in[s].offers)
                offer_reply(m, s, m->back.done);
        m->back.worked = max64(m->back.worked, m->part[p].worked);
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

/* Runs all units except the request network over [m->back.done, to). */
static void run_back(struct memsys *m, uint64_t to) {
    for (uint64_t now; (now = agenda_next(&m->agenda)) < to;) {
        int unit;
        agenda_begin(&m->agenda, now);
        while ((unit = agenda_take(&m->agenda)) >= 0)
            if (unit != UNIT_REPLY)
                partition_turn(m, (uint32_t)unit - UNIT_PARTITION, now);
            else if (reply_tick(m, now))
                m->back.worked = max64(m->back.worked, now + 1);
        if (m->reply.next != NEVER)
            agenda_add(&m->agenda, UNIT_REPLY, m->reply.next);
    }
    agenda_over(&m->agenda, to);
    m->back.done = to;
}

/* Calls every unit in every cycle. */
static void run_polling(struct memsys *m, uint64_t to) {
    for (uint64_t now = m->front.done; now < to; now++) {
        for (uint32_t i = 0; i < m->partitions; i++) {
            m->partition[i].dram_next = now;
            for (uint32_t s = 0; s < m->share; s++)
                m->partition[i].slice[s].next = now;
            agenda_add(&m->agenda, UNIT_PARTITION + i, now);
        }
        agenda_add(&m->agenda, UNIT_REPLY, now);
        run_back(m, now + 1);
        request_half_receive(m);
        gpcs_call(&m->gpcs, now);
        m->tlbs.next = m->tlbs.sms ? now : NEVER;
        m->request.next = now;
        request_half_run(m, now + 1);
        deliver(m);
    }
}

uint64_t memsys_sure(const struct memsys *m) { return m->ahead ? m->front.done + m->ahead : NEVER; }

uint64_t memsys_known(const struct memsys *m) {
    bool near = false;
    for (uint32_t s = 0; m->gpcs.n && s < m->sms; s++)
        near |= memport_near_due(&m->port[s]);
    return near ? memsys_sure(m) : m->back.done + m->ahead;
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
    m->exchanged = true;
}

/* Returns the cycle of the next known work. */
static uint64_t next_unit(const struct memsys *m) { return min64(agenda_next(&m->agenda), request_half_next(m)); }

/* Makes the actions of each half known to the other half. */
static void exchange_halves(struct memsys *m) {
    deliver(m);
    request_half_receive(m);
}

void memsys_follow(struct memsys *m, uint64_t to) {
    if (!m->ahead) {
        run_fixed(m, to);
        m->front.done = m->back.done = to;
        return;
    }
    request_half_offer(m);
    if (m->poll)
        run_polling(m, to);
    for (exchange_halves(m); m->front.done < to; deliver(m)) {
        m->front.done = min64(max64(m->front.done, next_unit(m)), to); /* no unit has work before this cycle */
        run_back(m, max64(max64(m->back.done, m->front.done), min64(to, m->front.done + m->slack)));
        request_half_receive(m);
        request_half_run(m, min64(to, m->back.done));
    }
}

void memsys_follow_beside(struct memsys *m, uint64_t to) {
    request_half_offer(m);
    request_half_receive(m);
    request_half_run(m, to);
}

uint64_t memsys_leads(const struct memsys *m, uint64_t follows) {
    return m->ahead && !m->poll ? max64(m->front.done, follows) + m->slack : m->back.done;
}

void memsys_lead(struct memsys *m, uint64_t to) {
    if (to <= m->back.done)
        return;
    catch_up(m);
    run_back(m, to);
}

uint32_t memsys_slack(const struct memsys *m) { return m->slack; }

uint64_t memsys_followed(const struct memsys *m) { return m->front.done; }

uint64_t memsys_led(const struct memsys *m) { return m->back.done; }

void memsys_run(struct memsys *m, uint64_t from, uint64_t to) {
    if (m->front.done < from)
        memsys_follow(m, from);
    memsys_exchange(m);
    memsys_follow(m, to);
    memsys_exchange(m);
}

uint64_t memsys_worked(const struct memsys *m) { return max64(m->front.worked, m->back.worked); }

void memsys_end(struct memsys *m, uint64_t end) {
    assert(memsys_next(m, 0) == NEVER);
    tlbs_settle(&m->tlbs);
    m->agenda.now = 0; /* it is empty */
    agenda_over(&m->agenda, end);
    m->turn = m->front.done = m->back.done = end;
    for (uint32_t p = 0; m->ahead && p < m->partitions; p++)
        m->part[p].done = end;
}

void memsys_poll(struct memsys *m, bool every_cycle) { m->poll = every_cycle; }

uint64_t memsys_next(struct memsys *m, uint64_t now) {
    exchange_halves(m);
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
    uint64_t last = max64(m->front.last_reply, m->back.last_reply), dram = 0;
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
    stats_put(s, STAT_icnt_latency_sum, (double)(m->front.latency_sum + m->back.latency_sum));
    memset(&m->request.n, 0, sizeof m->request.n);
    memset(&m->reply.n, 0, sizeof m->reply.n);
    m->front.latency_sum = m->back.latency_sum = 0;
}

void memsys_stats(struct memsys *m, struct stats *s) {
    if (!m->ahead)
        return;
    network_stats(m, s);
    gpcs_stats(&m->gpcs, s);
    tlbs_stats(&m->tlbs, s);
    for (uint32_t i = 0; i < m->partitions; i++)
        partition_stats(&m->partition[i], s);
    uint64_t cycles = m->front.done - m->clock_from;
    stats_put(s, STAT_dram_clocks,
              (double)m->partitions * (double)cycles * m->cfg->gpu.dram_mhz / m->cfg->gpu.core_mhz);
    m->clock_from = m->front.done;
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
