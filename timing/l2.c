#include "l2.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX
enum { NO_SM = 0x3ff }; /* in a waiting access: nobody wants an answer */

static uint32_t power_of_two(uint32_t n) {
    uint32_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static bool init_rings(struct l2 *s, const struct config *c) {
    uint32_t in = c->memory.rop_latency + c->icnt.slice_queue, fills = c->l2.mshrs * (c->l2.line / 32);
    s->in_depth = in;
    s->out_depth = c->icnt.slice_queue;
    s->in_mask = power_of_two(in) - 1;
    s->out_mask = power_of_two(s->out_depth) - 1;
    s->fill_mask = power_of_two(fills) - 1;
    s->in = calloc(s->in_mask + 1, sizeof *s->in);
    s->out = calloc(s->out_mask + 1, sizeof *s->out);
    s->fill = calloc(s->fill_mask + 1, sizeof *s->fill);
    s->answer = calloc(s->fill_mask + 1, sizeof *s->answer);
    return s->in && s->out && s->fill && s->answer;
}

bool l2_init(struct l2 *s, const struct config *c, const struct memmap *map, struct dram *dram, uint32_t index) {
    memset(s, 0, sizeof *s);
    s->map = map;
    s->dram = dram;
    s->index = index;
    s->rop_latency = c->memory.rop_latency;
    s->latency = c->l2.latency;
    s->port_bytes = c->memory.l2_port_bytes;
    s->atomic_units = c->memory.atomic_units;
    s->perfect = c->memory.perfect_memory;
    s->uncached = !c->l2.size;
    s->write_miss = s->uncached ? L2_THROUGH : c->memory.l2_write_miss;
    s->all_sectors = (uint8_t)((1u << c->l2.line / 32) - 1);
    s->stalled_since = NEVER;
    struct cache_shape shape = {.sets = s->uncached ? 1 : c->l2.size / (c->memory.l2_slices * c->l2.ways * c->l2.line),
                                .ways = s->uncached ? c->l2.mshrs : c->l2.ways,
                                .line_bytes = c->l2.line,
                                .mshrs = c->l2.mshrs,
                                .merges = c->l2.merges,
                                .xor_index = c->l2.xor_index,
                                .sectored = c->lsu.sectors};
    return init_rings(s, c) && cache_init(&s->cache, &shape);
}

void l2_free(struct l2 *s) {
    cache_free(&s->cache);
    free(s->in);
    free(s->out);
    free(s->fill);
    free(s->answer);
    memset(s, 0, sizeof *s);
}

void l2_accept(struct l2 *s, const struct mem_request *r, const struct mem_place *at, uint64_t arrival) {
    assert(l2_room(s));
    unsigned shift = at->offset / 32;
    s->in[s->in_tail++ & s->in_mask] = (struct l2_request){.ready = arrival + s->rop_latency,
                                                           .line = at->line,
                                                           .tag = r->tag,
                                                           .sm = r->sm,
                                                           .bytes = r->bytes,
                                                           .kind = r->kind,
                                                           .serial = r->serial,
                                                           .sectors = (uint8_t)(r->sectors << shift),
                                                           .shift = (uint8_t)shift};
}

void l2_fill(struct l2 *s, const struct dram_reply *r) {
    uint64_t at = s->fill_tail++ & s->fill_mask;
    s->fill[at].ready = r->ready;
    s->fill[at].mshr = r->tag;
    s->fill[at].sectors = r->sectors;
}

/* An access that waits for a line, in 64 bits, and back. */
static uint64_t pack(const struct l2_request *r) {
    return r->tag | (uint64_t)r->sm << 32 | (uint64_t)r->kind << 42 | (uint64_t)r->sectors << 45 |
           (uint64_t)r->shift << 53 | (uint64_t)r->serial << 56;
}

static struct l2_request unpack(uint64_t id) {
    return (struct l2_request){.tag = (uint32_t)id,
                               .sm = id >> 32 & 0x3ff,
                               .kind = id >> 42 & 7,
                               .sectors = (uint8_t)(id >> 45),
                               .shift = id >> 53 & 7,
                               .serial = (uint8_t)(id >> 56)};
}

static bool out_full(const struct l2 *s) { return s->out_tail - s->out_head == s->out_depth; }

static uint32_t cycles_of(uint32_t work, uint32_t rate) { return work > rate ? (work + rate - 1) / rate : 1; }

/* Cycles that an access keeps the data array. */
static uint32_t port_cycles(const struct l2 *s, const struct l2_request *r) {
    if (r->kind == MEM_ATOMIC)
        return cycles_of(r->serial, s->atomic_units);
    return cycles_of(r->kind == MEM_WRITE ? r->bytes : 32u * (uint32_t)__builtin_popcount(r->sectors), s->port_bytes);
}

static void reply(struct l2 *s, const struct l2_request *r, uint64_t ready) {
    struct l2_request *o = &s->out[s->out_tail++ & s->out_mask];
    *o = *r;
    o->ready = ready;
    o->bytes = (uint16_t)(32 * __builtin_popcount(r->sectors));
}

static void to_dram(struct l2 *s, uint64_t line, bool write, unsigned tag, unsigned sectors, uint64_t now) {
    dram_accept(s->dram, memmap_dram(s->map, s->index, line), write, s->index, tag, sectors, now);
    if (write)
        s->n.writebacks++;
}

static void write_back(struct l2 *s, const struct cache_out *out, uint64_t now) {
    if (out->victim_sectors)
        to_dram(s, out->victim, true, 0, out->victim_sectors, now);
}

/* A miss may need two places on the way to DRAM: for itself and for the dirty line it drives out. */
static bool dram_full(const struct l2 *s) { return dram_room(s->dram, s->index) < 2; }

static bool read(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out;
    uint8_t sectors = s->cache.shape.sectored ? r->sectors : s->all_sectors;
    bool there = (sectors & (uint8_t)~cache_peek(&s->cache, r->line)) == 0;
    if (there ? out_full(s) : dram_full(s))
        return false;
    enum cache_result got = cache_read(&s->cache, r->line, sectors, pack(r), &out);
    if (got > CACHE_MERGED)
        return false;
    s->n.reads++;
    s->n.hits += got == CACHE_HIT;
    s->n.misses += got != CACHE_HIT;
    s->n.pending_hits += got == CACHE_MERGED;
    write_back(s, &out, now);
    if (got == CACHE_MISS)
        to_dram(s, r->line, false, out.mshr, out.fetch, now);
    if (s->uncached && r->kind == MEM_ATOMIC)
        to_dram(s, r->line, true, 0, r->sectors, now);
    if (got != CACHE_HIT)
        return true;
    uint32_t cycles = port_cycles(s, r);
    s->port_free = now + cycles;
    if (r->kind == MEM_ATOMIC) {
        s->n.atomics += r->serial;
        cache_write(&s->cache, r->line, r->sectors, 0, &out);
        reply(s, r, now + s->latency + cycles - 1);
    } else {
        reply(s, r, now + s->latency);
    }
    return true;
}

/* Reads what the write leaves missing; nobody is answered. The caller has seen to the room. */
static void fetch_rest(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out;
    struct l2_request nobody = *r;
    nobody.sm = NO_SM;
    if (cache_fetch(&s->cache, r->line, s->cache.shape.sectored ? r->sectors : s->all_sectors, pack(&nobody), &out) !=
        CACHE_MISS)
        return;
    write_back(s, &out, now);
    to_dram(s, r->line, false, out.mshr, out.fetch, now);
}

static bool write(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out;
    uint8_t full = r->bytes == 32 * __builtin_popcount(r->sectors) ? r->sectors : 0;
    bool hit = cache_has(&s->cache, r->line);
    bool through = !hit && (s->write_miss == L2_THROUGH || s->write_miss == L2_THROUGH_FETCH);
    bool fetches = !hit && (s->write_miss == L2_FETCH || s->write_miss == L2_THROUGH_FETCH);
    if ((!hit && dram_full(s)) || (fetches && (!s->cache.n_free || dram_room(s->dram, s->index) < 3)))
        return false;
    if (through)
        to_dram(s, r->line, true, 0, r->sectors, now);
    else if (cache_write(&s->cache, r->line, r->sectors, full, &out) > CACHE_MERGED)
        return false;
    else
        write_back(s, &out, now);
    if (fetches)
        fetch_rest(s, r, now);
    s->n.writes++;
    s->n.hits += hit;
    s->n.misses += !hit;
    if (!through)
        s->port_free = now + port_cycles(s, r);
    return true;
}

static bool always_hit(struct l2 *s, const struct l2_request *r, uint64_t now) {
    if (r->kind != MEM_WRITE && out_full(s))
        return false;
    s->n.hits++;
    s->port_free = now + port_cycles(s, r);
    if (r->kind != MEM_WRITE)
        reply(s, r, now + s->latency);
    return true;
}

/* The tags, one access a cycle. */
static int tag_tick(struct l2 *s, uint64_t now) {
    if (s->in_head == s->in_tail || s->port_free > now)
        return 0;
    const struct l2_request *r = &s->in[s->in_head & s->in_mask];
    if (r->ready > now)
        return 0;
    bool done = s->perfect ? always_hit(s, r, now) : r->kind == MEM_WRITE ? write(s, r, now) : read(s, r, now);
    if (!done) {
        if (s->stalled_since == NEVER)
            s->stalled_since = now;
        return 0;
    }
    s->n.accesses++;
    if (s->stalled_since != NEVER)
        s->n.stalls += now - s->stalled_since;
    s->stalled_since = NEVER;
    s->in_head++;
    return 1;
}

/* Data from DRAM goes into the line, as fast as the port takes it. */
static void fill_tick(struct l2 *s, uint64_t now) {
    if (s->fill_head == s->fill_tail || s->fill_free > now || s->fill[s->fill_head & s->fill_mask].ready > now)
        return;
    uint64_t at = s->fill_head++ & s->fill_mask;
    uint16_t mshr = s->fill[at].mshr;
    cache_fill(&s->cache, mshr, s->fill[at].sectors);
    if (s->uncached)
        cache_write_through(&s->cache, s->cache.tag[s->cache.mshr[mshr].way], true);
    s->answer[s->answer_tail++ & s->fill_mask] = mshr;
    s->fill_free = now + cycles_of(32u * (uint32_t)__builtin_popcount(s->fill[at].sectors), s->port_bytes);
}

/* One access that waited for a fill is answered a cycle. */
static void answer_tick(struct l2 *s, uint64_t now) {
    uint64_t id;
    while (s->answer_head != s->answer_tail && s->answer_free <= now && !out_full(s)) {
        uint16_t mshr = s->answer[s->answer_head & s->fill_mask];
        uint64_t line = s->cache.tag[s->cache.mshr[mshr].way];
        if (!cache_take(&s->cache, mshr, &id)) {
            s->answer_head++;
            continue;
        }
        struct l2_request r = unpack(id);
        if (r.sm == NO_SM)
            continue;
        uint32_t cycles = r.kind == MEM_ATOMIC ? port_cycles(s, &r) : 1;
        if (r.kind == MEM_ATOMIC) {
            struct cache_out out;
            s->n.atomics += r.serial;
            if (!s->uncached && cache_has(&s->cache, line))
                cache_write(&s->cache, line, r.sectors, 0, &out);
        }
        s->answer_free = now + cycles;
        reply(s, &r, now + s->latency + cycles - 1);
    }
}

int l2_tick(struct l2 *s, uint64_t now) {
    answer_tick(s, now);
    fill_tick(s, now);
    return tag_tick(s, now);
}

static uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t l2_next(const struct l2 *s, uint64_t now) {
    uint64_t next = NEVER;
    if (s->answer_head != s->answer_tail && !out_full(s))
        next = s->answer_free;
    if (s->fill_head != s->fill_tail)
        next = min64(next, max64(s->fill_free, s->fill[s->fill_head & s->fill_mask].ready));
    if (s->in_head != s->in_tail && s->stalled_since == NEVER)
        next = min64(next, max64(s->port_free, s->in[s->in_head & s->in_mask].ready));
    return next > now ? next : now + 1;
}
