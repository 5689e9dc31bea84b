/* Creates and frees the memory side. */
#include "isa/arith.h"
#include "memsys_parts.h"
#include <stdlib.h>
#include <string.h>

/* Initialises the ports of the SMs. The times of `c` are in core cycles. */
static bool init_ports(struct memsys *m, const struct config *c) {
    bool split = m->ahead && c->l2.sectored && c->l2.size;
    uint32_t fan = split ? c->l2.line / 32 : 1;
    uint32_t replies = (1024 + c->l1.mshrs * 8 + c->l1c.mshrs + c->tex.mshrs * 8) * fan;
    uint32_t delay = m->ahead ? m->ahead : memsys_quantum(m);
    m->port = aligned_alloc(_Alignof(struct memport), m->sms * sizeof *m->port);
    if (!m->port)
        return false;
    memset(m->port, 0, m->sms * sizeof *m->port);
    /* each ring also has entries for packets on the links, which occupy no entry of the SM's queue */
    for (uint32_t s = 0; s < m->sms; s++) {
        bool flits = m->ahead && c->icnt.input_flits;
        uint32_t queue = flits ? c->icnt.input_flits : c->icnt.sm_queue;
        if (!memport_init(&m->port[s], queue + m->ahead + delay + 1, replies, delay))
            return false;
        if (flits)
            memport_use_flits(&m->port[s], c->icnt.flit_bytes, c->l2.line);
        m->port[s].write_acks = m->ahead && c->memory.write_acks;
        m->port[s].split = split;
        m->port[s].group_shift = (uint8_t)__builtin_ctz(c->memory.request_sectors);
        m->port[s].whole = 1 << MEM_PREFETCH;
        if (gpcs_clusters(c) && !memport_add_near(&m->port[s], gpcs_requests(c)))
            return false;
        m->port[s].fan_shift = (uint32_t)__builtin_ctz(fan);
    }
    return true;
}

/* Returns the configuration in core cycles, which the memory side uses everywhere: the flit size of the crossbar
 * becomes the number of bytes that it moves in a core cycle, and its latency is in core cycles. Units copy the
 * values that they need in their init functions. */
static struct config in_core_cycles(const struct config *cfg) {
    struct config all = *cfg, *c = &all;
    double icnt = c->gpu.core_mhz / c->gpu.icnt_mhz, l2 = c->gpu.core_mhz / c->gpu.l2_mhz;
    uint32_t flit = (uint32_t)(c->icnt.flit_bytes / icnt + 0.5), port = (uint32_t)(c->memory.l2_port_bytes / l2 + 0.5);
    c->icnt.flit_bytes = flit ? flit : 1;
    c->memory.l2_port_bytes = port ? port : 1;
    c->icnt.latency = (uint32_t)(c->icnt.latency * icnt + 0.999);
    return all;
}

/* Returns memsys_quantum(). */
static uint32_t quantum_of(const struct config *c) {
    uint32_t window = 2 * c->icnt.latency;
    return c->memory.model != MEMORY_FIXED || c->memory.latency > window ? window : c->memory.latency;
}

static bool init_rooms(struct memsys *m) {
    uint32_t size = ring_size(l2_room(m->slice[0]));
    m->next_room = NEVER;
    m->room = aligned_alloc(_Alignof(struct mem_room), m->slices * sizeof *m->room);
    if (!m->room)
        return false;
    memset(m->room, 0, m->slices * sizeof *m->room);
    bool all = true;
    for (uint32_t i = 0; i < m->slices; i++) {
        m->room[i].mask = size - 1;
        m->room[i].cycle = calloc(size, sizeof *m->room[i].cycle);
        all &= m->room[i].cycle != NULL;
    }
    return all;
}

/* Returns the cycles that slices may be ahead of the requests: the ROP latency, up to a limit, and at least one. */
static uint32_t slack_of(const struct config *c) {
    uint32_t rop = c->memory.rop_latency;
    return rop < 1 ? 1 : rop < MAX_SLACK ? rop : MAX_SLACK;
}

/* Initialises the full memory system. The times of `c` are in core cycles. */
static bool init_full(struct memsys *m, const struct config *c) {
    uint32_t ends = m->sms + gpcs_clusters(c); /* ports of the crossbar on the side of the SMs */
    struct icnt_shape shape = {.inputs = ends,
                               .outputs = m->slices,
                               .latency = 0,
                               .flit_bytes = c->icnt.flit_bytes,
                               .speedup = c->icnt.speedup,
                               .buffer = c->icnt.buffer};
    memmap_init(&m->map, c);
    m->partition = calloc(m->partitions, sizeof *m->partition);
    m->slice = calloc(m->slices, sizeof *m->slice);
    m->part = aligned_alloc(_Alignof(struct part), m->partitions * sizeof *m->part);
    if (m->part)
        memset(m->part, 0, m->partitions * sizeof *m->part);
    m->place = calloc(ends, sizeof *m->place);
    if (!m->partition || !m->slice || !m->part || !m->place || !gpcs_init(&m->gpcs, c) || !tlbs_init(&m->tlbs, c) ||
        UNIT_PARTITION + m->partitions > AGENDA_UNITS)
        return false;
    agenda_init(&m->agenda, UNIT_PARTITION + m->partitions, 0);
    m->slack = slack_of(c);
    for (uint32_t i = 0; i < m->partitions; i++) {
        if (!partition_init(&m->partition[i], c, &m->map, i * m->share))
            return false;
        m->part[i].clock = clock_point(clock_ratio(c->gpu.core_mhz, c->gpu.dram_mhz), 0);
        for (uint32_t s = 0; s < m->share; s++)
            m->slice[i * m->share + s] = &m->partition[i].slice[s];
    }
    shape.again = c->icnt.again;
    icnt_init(&m->request, &shape, l2_room(m->slice[0]));
    shape.again = false;
    shape.inputs = m->slices;
    shape.outputs = ends;
    shape.latency = c->icnt.latency;
    icnt_init(&m->reply, &shape, UINT32_MAX);
    /* partitions can run independently because a reply is offered after the cycle in which it was created:
     * l2.latency is at least 1 */
    m->apart = true;
    return init_rooms(m);
}

struct memsys *memsys_new(const struct config *cfg) {
    struct memsys *m = aligned_alloc(_Alignof(struct memsys), sizeof *m);
    if (!m)
        return NULL;
    memset(m, 0, sizeof *m);
    const struct config c = in_core_cycles(cfg);
    m->cfg = cfg;
    m->sms = c.gpu.sms;
    m->slices = c.memory.l2_slices;
    m->partitions = c.dram.channels;
    m->share = m->slices / m->partitions;
    m->poll = c.gpu.poll;
    m->ahead = c.memory.model == MEMORY_FIXED ? 0 : c.icnt.latency;
    m->quantum = quantum_of(&c);
    m->gpcs.next = m->tlbs.next = NEVER;
    if (init_ports(m, &c) && (c.memory.model == MEMORY_FIXED || init_full(m, &c)))
        return m;
    memsys_free(m);
    return NULL;
}

bool memsys_add_prefetcher(struct memsys *m, const struct prefetcher_ops *ops, void *ctx) {
    m->apart = false; /* prefetchers of different partitions may share state */
    for (uint32_t i = 0; m->ahead && i < m->slices; i++)
        if (!l2_add_prefetcher(m->slice[i], ops, ctx, m->cfg))
            return false;
    return true;
}

bool memsys_use_replacement(struct memsys *m, const struct replacement_ops *ops) {
    for (uint32_t i = 0; m->ahead && i < m->slices; i++)
        if (!l2_use_replacement(m->slice[i], ops))
            return false;
    return true;
}

bool memsys_use_bypass(struct memsys *m, const struct bypass_ops *ops) {
    for (uint32_t i = 0; m->ahead && i < m->slices; i++)
        if (!l2_use_bypass(m->slice[i], ops))
            return false;
    return true;
}

void memsys_free(struct memsys *m) {
    if (!m)
        return;
    for (uint32_t s = 0; m->port && s < m->sms; s++)
        memport_free(&m->port[s]);
    for (uint32_t i = 0; m->partition && i < m->partitions; i++)
        partition_free(&m->partition[i]);
    for (uint32_t i = 0; m->room && i < m->slices; i++)
        free(m->room[i].cycle);
    gpcs_free(&m->gpcs);
    tlbs_free(&m->tlbs);
    free(m->room);
    free(m->port);
    free(m->part);
    free(m->slice);
    free(m->partition);
    free(m->place);
    free(m);
}
