/* Everything behind the SMs: request network, L2 slices, DRAM channels, reply network.
 *
 * The memory side runs ahead of the SMs by the crossbar's latency L: a request sent at cycle t takes part in
 * arbitration at t + L, and a reply that leaves at cycle c is seen at c + L at the earliest. So when the SMs have come
 * to cycle T, the memory side can be advanced to T + L, and all replies before T + 2 L are then known: the window is 2
 * L long.
 *
 * Units are called only for cycles at which they have work, back to front in each cycle: reply network, channels,
 * slices, request network. */
#include "memsys.h"
#include "agenda.h"
#include "icnt.h"
#include "l2.h"
#include "memport.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

struct memsys {
    struct config cfg;
    struct memmap map;
    uint32_t sms, slices, channels, ahead; /* ahead: L above, 0 with the fixed model */
    struct memport *port;
    struct mem_place *place; /* by SM: where the request goes that it offers */
    struct l2 *slice;
    struct dram *channel;
    struct icnt request, reply;
    struct agenda agenda;
    struct clock_point clock; /* of the cycle that is being worked on */
    bool poll;                /* call every unit every cycle: slow, and the same result */
    uint64_t end;             /* memory cycles before this one are done */
    uint64_t clock_from;      /* of the statistics: core cycle of the last memsys_stats() */
    struct {
        uint64_t latency_sum;
    } n;
};

/* Numbers of the units in the agenda, in the order of their turns. */
enum { UNIT_REPLY = 1, UNIT_CHANNEL = 2 };
static uint32_t unit_slice(const struct memsys *m, uint32_t s) { return UNIT_CHANNEL + m->channels + s; }
static uint32_t unit_request(const struct memsys *m) { return UNIT_CHANNEL + m->channels + m->slices; }

static bool init_ports(struct memsys *m) {
    const struct config *c = &m->cfg;
    uint32_t replies = 1024 + c->l1.mshrs * 8 + c->l1c.mshrs + c->tex.mshrs * 8;
    uint32_t delay = m->ahead ? m->ahead : memsys_quantum(m);
    m->port = aligned_alloc(_Alignof(struct memport), m->sms * sizeof *m->port);
    if (!m->port)
        return false;
    memset(m->port, 0, m->sms * sizeof *m->port);
    for (uint32_t s = 0; s < m->sms; s++) /* what is on the wires takes no place in the queue */
        if (!memport_init(&m->port[s], c->icnt.sm_queue + m->ahead + delay + 1, replies, delay))
            return false;
    return true;
}

static bool init_full(struct memsys *m) {
    const struct config *c = &m->cfg;
    struct icnt_shape shape = {.inputs = m->sms,
                               .outputs = m->slices,
                               .latency = 0,
                               .flit_bytes = c->icnt.flit_bytes,
                               .speedup = c->icnt.speedup,
                               .buffer = c->icnt.buffer};
    memmap_init(&m->map, c);
    m->slice = calloc(m->slices, sizeof *m->slice);
    m->channel = calloc(m->channels, sizeof *m->channel);
    m->place = calloc(m->sms, sizeof *m->place);
    if (!m->slice || !m->channel || !m->place)
        return false;
    uint32_t share = m->slices / m->channels, reads = c->l2.mshrs * (c->l2.line / 32);
    for (uint32_t i = 0; i < m->channels; i++)
        if (!dram_init(&m->channel[i], c, share, reads * share))
            return false;
    for (uint32_t i = 0; i < m->slices; i++)
        if (!l2_init(&m->slice[i], c, &m->map, &m->channel[i / share], i))
            return false;
    icnt_init(&m->request, &shape, l2_room(&m->slice[0]));
    shape.inputs = m->slices;
    shape.outputs = m->sms;
    shape.latency = c->icnt.latency;
    icnt_init(&m->reply, &shape, 1);
    agenda_init(&m->agenda, unit_request(m));
    m->clock = clock_point(clock_ratio(c->gpu.core_mhz, c->gpu.dram_mhz), 0);
    return true;
}

struct memsys *memsys_new(const struct config *cfg) {
    struct memsys *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->cfg = *cfg;
    m->sms = cfg->gpu.sms;
    m->slices = cfg->memory.l2_slices;
    m->channels = cfg->dram.channels;
#ifdef HEDDLE_POLL
    m->poll = true;
#endif
    m->ahead = cfg->memory.model == MEMORY_FIXED ? 0 : cfg->icnt.latency;
    if (init_ports(m) && (cfg->memory.model == MEMORY_FIXED || init_full(m)))
        return m;
    memsys_free(m);
    return NULL;
}

void memsys_free(struct memsys *m) {
    if (!m)
        return;
    for (uint32_t s = 0; m->port && s < m->sms; s++)
        memport_free(&m->port[s]);
    for (uint32_t s = 0; m->slice && s < m->slices; s++)
        l2_free(&m->slice[s]);
    for (uint32_t s = 0; m->channel && s < m->channels; s++)
        dram_free(&m->channel[s]);
    free(m->port);
    free(m->slice);
    free(m->channel);
    free(m->place);
    free(m);
}

uint32_t memsys_quantum(const struct memsys *m) {
    uint32_t window = 2 * m->cfg.icnt.latency;
    return m->ahead || m->cfg.memory.latency > window ? window : m->cfg.memory.latency;
}

uint32_t memsys_room(struct memsys *m, uint32_t sm, uint64_t now) { return memport_room(&m->port[sm], now); }
uint64_t memsys_room_cycle(const struct memsys *m, uint32_t sm) { return memport_room_cycle(&m->port[sm]); }
void memsys_send(struct memsys *m, const struct mem_request *r) { memport_send(&m->port[r->sm], r); }
uint64_t memsys_reply_cycle(const struct memsys *m, uint32_t sm) { return memport_reply_cycle(&m->port[sm]); }
bool memsys_receive(struct memsys *m, uint32_t sm, uint64_t now, struct mem_request *out) {
    return memport_receive(&m->port[sm], now, out);
}

/* The fixed model: every request is answered memory.latency cycles after it left, at most memory.requests a cycle. */
static void run_fixed(struct memsys *m, uint64_t to) {
    uint32_t rate = m->cfg.memory.requests;
    for (uint32_t s = 0; s < m->sms; s++) {
        struct memport *p = &m->port[s];
        const struct mem_request *r;
        while ((r = memport_head(p)) && r->cycle < to) {
            uint64_t at = rate ? memport_pace(p, r->cycle, rate) : r->cycle;
            if (r->kind != MEM_WRITE) {
                struct mem_request *reply = memport_reply(p);
                *reply = *r;
                reply->cycle = at + m->cfg.memory.latency;
            }
            memport_remove(p, at);
        }
    }
}

/* SM `s` offers the request at the head of its queue. */
static void offer_request(struct memsys *m, uint32_t s) {
    const struct mem_request *r = memport_head(&m->port[s]);
    if (!r || m->request.offered[s])
        return;
    uint64_t ready = r->cycle + m->ahead;
    uint32_t payload = r->kind == MEM_WRITE || r->kind == MEM_ATOMIC ? r->bytes : 0;
    m->place[s] = memmap_place(&m->map, r->address);
    icnt_offer(&m->request, s, m->place[s].slice, icnt_flits(&m->request, payload), ready);
    agenda_add(&m->agenda, unit_request(m), ready);
}

static void offer_reply(struct memsys *m, uint32_t s, uint64_t now) {
    const struct l2_request *r = l2_reply(&m->slice[s]);
    if (!r || m->reply.offered[s])
        return;
    uint64_t ready = r->ready > now ? r->ready : now + 1;
    icnt_offer(&m->reply, s, r->sm, icnt_flits(&m->reply, r->bytes), ready);
    agenda_add(&m->agenda, UNIT_REPLY, ready);
}

static void request_tick(struct memsys *m, uint64_t now) {
    struct icnt_grant grant[ICNT_PORTS];
    int n = icnt_tick(&m->request, now, grant);
    for (int i = 0; i < n; i++) {
        uint32_t sm = grant[i].input, s = grant[i].output;
        const struct mem_request *r = memport_head(&m->port[sm]);
        m->n.latency_sum += grant[i].arrival - r->cycle;
        l2_accept(&m->slice[s], r, &m->place[sm], grant[i].arrival);
        agenda_add(&m->agenda, unit_slice(m, s), grant[i].arrival + m->cfg.memory.rop_latency);
        memport_remove(&m->port[sm], now);
        offer_request(m, sm);
    }
    uint64_t next = icnt_next(&m->request, now + 1);
    if (next != NEVER)
        agenda_add(&m->agenda, unit_request(m), next);
}

static void reply_tick(struct memsys *m, uint64_t now) {
    struct icnt_grant grant[ICNT_PORTS];
    int n = icnt_tick(&m->reply, now, grant);
    for (int i = 0; i < n; i++) {
        uint32_t s = grant[i].input, sm = grant[i].output;
        const struct l2_request *r = l2_reply(&m->slice[s]);
        m->n.latency_sum += grant[i].arrival - r->ready;
        *memport_reply(&m->port[sm]) = (struct mem_request){.cycle = grant[i].arrival,
                                                            .tag = r->tag,
                                                            .sectors = r->sectors >> r->shift,
                                                            .bytes = r->bytes,
                                                            .sm = r->sm,
                                                            .kind = r->kind};
        l2_reply_taken(&m->slice[s]);
        m->reply.room[sm]++; /* an SM always takes what it has asked for */
        agenda_add(&m->agenda, unit_slice(m, s), now);
        offer_reply(m, s, now);
    }
    uint64_t next = icnt_next(&m->reply, now + 1);
    if (next != NEVER)
        agenda_add(&m->agenda, UNIT_REPLY, next);
}

static void channel_tick(struct memsys *m, uint32_t c, uint64_t now) {
    struct dram *d = &m->channel[c];
    struct dram_reply r;
    bool moved = dram_tick(d, &m->clock);
    while (dram_take(d, &r)) {
        l2_fill(&m->slice[r.slice], &r);
        agenda_add(&m->agenda, unit_slice(m, r.slice), r.ready);
    }
    for (uint32_t s = c * d->slices; moved && s < (c + 1) * d->slices; s++)
        if (m->slice[s].stalled_since != NEVER)
            agenda_add(&m->agenda, unit_slice(m, s), now);
    uint64_t next = dram_next(d, &m->clock);
    if (next != NEVER)
        agenda_add(&m->agenda, UNIT_CHANNEL + c, next);
}

static void slice_tick(struct memsys *m, uint32_t s, uint64_t now) {
    struct l2 *l2 = &m->slice[s];
    uint64_t sent = l2->dram->pipe_tail;
    uint32_t took = (uint32_t)l2_tick(l2, now);
    if (took && !m->request.room[s])
        agenda_add(&m->agenda, unit_request(m), now);
    m->request.room[s] += took;
    offer_reply(m, s, now);
    if (l2->dram->pipe_tail != sent)
        agenda_add(&m->agenda, UNIT_CHANNEL + s / l2->dram->slices, dram_next(l2->dram, &m->clock));
    uint64_t next = l2_next(l2, now);
    if (next != NEVER)
        agenda_add(&m->agenda, unit_slice(m, s), next);
}

static void unit_tick(struct memsys *m, uint32_t unit, uint64_t now) {
    if (unit == UNIT_REPLY)
        reply_tick(m, now);
    else if (unit < UNIT_CHANNEL + m->channels)
        channel_tick(m, unit - UNIT_CHANNEL, now);
    else if (unit < unit_request(m))
        slice_tick(m, unit - UNIT_CHANNEL - m->channels, now);
    else
        request_tick(m, now);
}

static void run_polling(struct memsys *m, uint64_t from, uint64_t end) {
    for (uint64_t now = from; now < end; now++) {
        agenda_begin(&m->agenda, now);
        clock_move(&m->clock, now);
        for (uint32_t unit = UNIT_REPLY; unit <= unit_request(m); unit++)
            unit_tick(m, unit, now);
        while (agenda_take(&m->agenda))
            ;
    }
}

void memsys_run(struct memsys *m, uint64_t from, uint64_t to) {
    if (!m->ahead) {
        run_fixed(m, to);
        return;
    }
    uint64_t end = to + m->ahead, now = agenda_next(&m->agenda);
    if (now == NEVER && from > m->agenda.now) /* nothing was pending: skip the gap */
        agenda_begin(&m->agenda, from);
    for (uint32_t s = 0; s < m->sms; s++)
        offer_request(m, s);
    if (m->poll)
        run_polling(m, m->end, end);
    while ((now = agenda_next(&m->agenda)) < end) {
        uint32_t unit;
        agenda_begin(&m->agenda, now);
        clock_move(&m->clock, now);
        while ((unit = agenda_take(&m->agenda)))
            unit_tick(m, unit, now);
    }
    m->end = end;
}

void memsys_poll(struct memsys *m, bool every_cycle) { m->poll = every_cycle; }

uint64_t memsys_next(const struct memsys *m, uint64_t now) {
    uint64_t next = NEVER;
    if (m->ahead) {
        next = agenda_next(&m->agenda);
        if (next != NEVER)
            next = next > m->ahead ? next - m->ahead : 0;
    }
    for (uint32_t s = 0; s < m->sms; s++) {
        const struct mem_request *r = memport_head(&m->port[s]);
        if (r && r->cycle < next && !(m->ahead && m->request.offered[s]))
            next = r->cycle;
    }
    return next > now ? next : now;
}

static void network_stats(struct memsys *m, struct stats *s) {
    stats_add(s, "icnt.request_packets", (double)m->request.n.packets);
    stats_add(s, "icnt.reply_packets", (double)m->reply.n.packets);
    stats_add(s, "icnt.request_flits", (double)m->request.n.flits);
    stats_add(s, "icnt.reply_flits", (double)m->reply.n.flits);
    stats_add(s, "icnt.stall_cycles", (double)(m->request.n.stall_cycles + m->reply.n.stall_cycles));
    stats_add(s, "icnt.latency_sum", (double)m->n.latency_sum);
    memset(&m->request.n, 0, sizeof m->request.n);
    memset(&m->reply.n, 0, sizeof m->reply.n);
    memset(&m->n, 0, sizeof m->n);
}

static void slice_stats(struct l2 *l2, struct stats *s) {
    stats_add(s, "l2.accesses", (double)l2->n.accesses);
    stats_add(s, "l2.hits", (double)l2->n.hits);
    stats_add(s, "l2.misses", (double)l2->n.misses);
    stats_add(s, "l2.pending_hits", (double)l2->n.pending_hits);
    stats_add(s, "l2.stalls", (double)l2->n.stalls);
    stats_add(s, "l2.writebacks", (double)l2->n.writebacks);
    stats_add(s, "l2.atomics", (double)l2->n.atomics);
    memset(&l2->n, 0, sizeof l2->n);
}

static void channel_stats(struct dram *d, struct stats *s) {
    stats_add(s, "dram.reads", (double)d->n.reads);
    stats_add(s, "dram.writes", (double)d->n.writes);
    stats_add(s, "dram.read_bytes", (double)d->n.read_bytes);
    stats_add(s, "dram.write_bytes", (double)d->n.write_bytes);
    stats_add(s, "dram.activates", (double)d->n.activates);
    stats_add(s, "dram.row_hits", (double)d->n.row_hits);
    stats_add(s, "dram.requests", (double)d->n.requests);
    stats_add(s, "dram.busy_clocks", (double)((d->n.reads + d->n.writes) * d->burst_clocks));
    stats_add(s, "dram.queue_sum", (double)d->n.queue_sum);
    memset(&d->n, 0, sizeof d->n);
}

void memsys_stats(struct memsys *m, struct stats *s) {
    if (!m->ahead)
        return;
    network_stats(m, s);
    for (uint32_t i = 0; i < m->slices; i++)
        slice_stats(&m->slice[i], s);
    for (uint32_t i = 0; i < m->channels; i++)
        channel_stats(&m->channel[i], s);
    uint64_t cycles = m->end - m->clock_from;
    stats_add(s, "dram.clocks", (double)m->channels * (double)cycles * m->cfg.gpu.dram_mhz / m->cfg.gpu.core_mhz);
    m->clock_from = m->end;
}

void memsys_flush(struct memsys *m) {
    for (uint32_t i = 0; m->ahead && i < m->slices; i++)
        cache_flush(&m->slice[i].cache);
}
