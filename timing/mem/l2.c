#include "l2.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "isa/machine/lazy.h"
#include <string.h>

/* The value of `sm` in an access that needs no reply to an SM. If the kind is MEM_PREFETCH, a prefetcher of the
 * slice gets the answer, and `serial` is the number of this prefetcher. */
enum { NO_SM = 0x3ff };

static bool init_rings(struct l2 *s, const struct config *c) {
    uint32_t in = c->memory.rop_latency + s->far_latency + c->icnt.slice_queue, fills = c->l2.mshrs * (c->l2.line / 32);
    s->in_depth = in;
    s->out_depth = c->icnt.slice_queue;
    s->in_mask = ring_size(in) - 1;
    s->out_mask = ring_size(s->out_depth) - 1;
    s->fill_mask = ring_size(fills) - 1;
    s->in[0].at = lazy_new((s->in_mask + 1) * sizeof *s->in[0].at);
    s->in[1].at = s->far_latency ? lazy_new((s->in_mask + 1) * sizeof *s->in[1].at) : NULL;
    s->out = lazy_new((s->out_mask + 1) * sizeof *s->out);
    s->fill = lazy_new((s->fill_mask + 1) * sizeof *s->fill);
    s->answer = lazy_new((s->fill_mask + 1) * sizeof *s->answer);
    s->ahead_depth = c->memory.l2_prefetch_queue;
    s->ahead = lazy_new(s->ahead_depth * sizeof *s->ahead);
    s->door_mask = s->in_mask;
    for (int far = 0; far < 2; far++)
        s->door[far].at = s->in[far].at;
    return s->in[0].at && (s->in[1].at || !s->far_latency) && s->out && s->fill && s->answer && s->ahead;
}

bool l2_init(struct l2 *s, const struct config *c, const struct memmap *map, struct dram *dram, uint32_t index) {
    memset(s, 0, sizeof *s);
    s->map = map;
    s->dram = dram;
    s->index = index;
    s->of_channel = index % map->slices;
    s->line_shift = (uint32_t)__builtin_ctz(c->l2.line);
    s->rop_latency = c->memory.rop_latency;
    s->latency = c->l2.latency;
    s->far_latency = c->memory.l2_far;
    s->atomic_bytes = c->memory.atomic_bytes;
    s->port_shift = log2_of(c->memory.l2_port_bytes);
    s->next = NEVER;
    s->last.way = CACHE_NO_WAY;
    s->write_acks = c->memory.write_acks;
    s->dirty_ways = c->memory.dirty_ways;
    s->dirty_hits = c->memory.dirty_hits && s->dirty_ways;
    s->perfect = c->memory.perfect_memory;
    s->uncached = !c->l2.size;
    s->split = c->l2.sectored && !s->uncached;
    s->by_sector = c->memory.sector_answers && c->l2.sectored;
    s->write_miss = s->uncached ? L2_THROUGH : c->memory.l2_write_miss;
    s->all_sectors = (uint8_t)((1u << c->l2.line / 32) - 1);
    for (uint32_t i = 0, n = c->memory.request_sectors; i < 8; i++)
        s->group[i] = (uint8_t)(((1u << n) - 1) << (i & ~(n - 1)));
    s->stalled_since = NEVER;
    struct cache_shape shape = {.sets = s->uncached ? 1 : c->l2.size / (c->memory.l2_slices * c->l2.ways * c->l2.line),
                                .ways = s->uncached ? c->l2.mshrs : c->l2.ways,
                                .line_bytes = c->l2.line,
                                .mshrs = c->l2.mshrs,
                                .merges = c->l2.merges,
                                .index = c->l2.index,
                                .replacement = replacement_selected(c->l2.replacement),
                                .sectored = c->l2.sectored};
    return init_rings(s, c) && cache_init(&s->cache, &shape);
}

void l2_free(struct l2 *s) {
    prefetchers_free(&s->prefetchers);
    lazy_free(s->ahead);
    bypass_free(&s->bypass);
    cache_free(&s->cache);
    lazy_free(s->in[0].at);
    lazy_free(s->in[1].at);
    lazy_free(s->out);
    lazy_free(s->fill);
    lazy_free(s->answer);
    memset(s, 0, sizeof *s);
}

void l2_fill(struct l2 *s, const struct dram_reply *r) {
    uint64_t at = s->fill_tail++ & s->fill_mask;
    s->fill[at].ready = r->ready;
    s->fill[at].mshr = r->tag;
    s->fill[at].sectors = r->sectors;
    cache_expect_mshr(&s->cache, r->tag);
    s->next = min64(s->next, max64(r->ready, s->fill_free));
}

/* Packs a waiting access into 64 bits: 32 bits for the tag, 10 for the SM, 5 for the kind, 8 for the sectors, 3 for
 * the shift, and 6 for the number of an atomic's lanes that execute one by one (up to 32). unpack() reverses this. */
static uint64_t pack(const struct l2_request *r) {
    return r->tag | (uint64_t)r->sm << 32 | (uint64_t)r->kind << 42 | (uint64_t)r->sectors << 47 |
           (uint64_t)r->shift << 55 | (uint64_t)r->serial << 58;
}
_Static_assert(32 + 10 + MEM_KIND_BITS + 8 + 3 + 6 == 64, "pack()");

static struct l2_request unpack(uint64_t id) {
    return (struct l2_request){.tag = (uint32_t)id,
                               .sm = id >> 32 & 0x3ff,
                               .kind = id >> 42 & 31,
                               .sectors = (uint8_t)(id >> 47),
                               .shift = id >> 55 & 7,
                               .serial = id >> 58};
}

static bool out_full(const struct l2 *s) { return s->out_tail - s->out_head == s->out_depth; }

/* Returns the number of cycles in which the data array moves `bytes` bytes, at least 1. */
static uint32_t move_cycles(const struct l2 *s, uint32_t bytes) {
    uint32_t cycles = (bytes + (1u << s->port_shift) - 1) >> s->port_shift;
    return cycles ? cycles : 1;
}

static uint32_t sector_bytes(uint8_t sectors) { return 32u * (uint32_t)__builtin_popcount(sectors); }

static bool writes(const struct l2_request *r) { return r->kind == MEM_WRITE || r->kind == MEM_WRITE_BACK; }

/* Returns true if the SM waits for a reply. */
static bool answered(const struct l2 *s, const struct l2_request *r) {
    return r->kind == MEM_WRITE ? s->write_acks : r->kind != MEM_WRITE_BACK;
}

/* Returns the cycles for which an access occupies the data array. */
static uint32_t port_cycles(const struct l2 *s, const struct l2_request *r) {
    if (r->kind == MEM_ATOMIC) /* lanes with the same address take one cycle each: see atom_same in test/reference */
        return r->serial ? r->serial : 1;
    if (r->kind == MEM_PREFETCH)
        return 1;
    return move_cycles(s, writes(r) ? r->bytes : sector_bytes(r->sectors));
}

/* Sends a reply to the crossbar, which receives l2.port_bytes bytes per cycle. */
static inline __attribute__((always_inline)) void reply(struct l2 *s, const struct l2_request *r, uint64_t ready) {
    uint64_t at = max64(ready, s->out_free);
    uint32_t bytes = r->kind == MEM_WRITE || r->kind == MEM_PREFETCH ? 0 : sector_bytes(r->sectors);
    s->out[s->out_tail++ & s->out_mask] = (struct mem_request){.cycle = at,
                                                               .tag = r->tag,
                                                               .bytes = (uint16_t)bytes,
                                                               .sm = r->sm,
                                                               .sectors = r->sectors >> r->shift,
                                                               .kind = r->kind};
    s->out_free = at + move_cycles(s, bytes);
}

static void to_dram(struct l2 *s, uint64_t line, bool write, unsigned tag, unsigned sectors, uint64_t now) {
    dram_accept(s->dram, memmap_dram(s->map, s->of_channel, line), write, s->of_channel, tag, sectors, now);
    if (write)
        s->n.writebacks++;
}

/* Writes back the dirty line that was evicted. */
static void write_back(struct l2 *s, const struct cache_out *out, uint64_t now) {
    if (!out->victim_sectors)
        return;
    to_dram(s, out->victim, true, 0, out->victim_sectors, now);
    s->port_free = now + move_cycles(s, sector_bytes(out->victim_sectors));
}

/* Returns true if the DRAM lacks room for two requests. A miss may need one request for itself and one for the evicted
 * dirty line. */
static bool dram_full(const struct l2 *s) { return dram_room(s->dram, s->of_channel) < 2; }

static __attribute__((noinline, cold)) void notify_observers(struct l2 *s, const struct l2_request *r,
                                                             enum prefetch_result result, const struct cache_out *out,
                                                             uint64_t now) {
    uint64_t line = memmap_address(s->map, s->index, r->line);
    bool ahead = mem_is_prefetch(r->kind) && r->kind != MEM_FETCH_AHEAD; /* prefetchers count data alone */
    struct prefetch_seen seen = {.cycle = now,
                                 .address = line + 32 * (uint32_t)__builtin_ctz(r->sectors | 0x100),
                                 .line = line,
                                 .pc = r->pc,
                                 .sm = r->sm,
                                 .warp = r->warp,
                                 .kind = ahead                   ? SEEN_AHEAD
                                         : r->kind == MEM_ATOMIC ? SEEN_ATOMIC
                                         : writes(r)             ? SEEN_STORE
                                                                 : SEEN_LOAD,
                                 .result = (uint8_t)result,
                                 .into_l1 = r->kind == MEM_READ_AHEAD,
                                 .sectors = r->sectors,
                                 .fetched = out && result == SEEN_MISS ? out->fetch : 0,
                                 .late = out && out->late};
    if (out && out->evicted)
        prefetchers_evicted(&s->prefetchers,
                            &(struct prefetch_victim){
                                .cycle = now, .line = memmap_address(s->map, s->index, out->victim), .ahead = ahead},
                            out->gone.by, out->gone.note);
    prefetchers_seen(&s->prefetchers, &seen, out ? out->used.by : 0, out ? out->used.note : 0);
}

/* Reports an access that has read the tags to prefetchers. */
static void observe(struct l2 *s, const struct l2_request *r, enum prefetch_result result, const struct cache_out *out,
                    uint64_t now) {
    if (__builtin_expect(s->prefetchers.n != 0, 0))
        notify_observers(s, r, result, out, now);
}

static void count_hit_or_miss(struct l2 *s, const struct l2_request *r, enum cache_result got) {
    if (__builtin_expect(mem_is_prefetch(r->kind), 0)) {
        s->n.prefetch_misses += got != CACHE_HIT;
        return;
    }
    s->n.hits += got == CACHE_HIT;
    s->n.misses += got != CACHE_HIT;
    s->n.pending_hits += got == CACHE_MERGED;
}

static struct bypass_access bypass_access(const struct l2_request *r) {
    return (struct bypass_access){
        .line = r->line, .pc = r->pc, .sm = r->sm, .warp = r->warp, .store = r->kind == MEM_WRITE};
}

/* Returns true if an access to the line at `at` goes past the L2. */
static bool goes_past(const struct l2 *s, const struct l2_request *r, struct cache_spot at) {
    if (__builtin_expect(!s->bypass.ops, 1) || (r->kind != MEM_READ && r->kind != MEM_WRITE))
        return false;
    struct bypass_access a = bypass_access(r);
    return bypass_goes_past(&s->bypass, &s->cache, at, &a);
}

/* Tells the bypass policy about an access that has succeeded. */
static void tell_bypass(struct l2 *s, const struct l2_request *r, bool past, bool hit) {
    if (__builtin_expect(!s->bypass.ops, 1) || (r->kind != MEM_READ && r->kind != MEM_WRITE))
        return;
    const struct bypass_access a = bypass_access(r);
    bypass_tell(&s->bypass, &s->cache, &a, past, hit);
    s->n.bypassed += past;
}

static bool read(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out;
    uint8_t sectors = s->cache.shape.sectored ? r->sectors : s->all_sectors;
    struct cache_spot at = cache_look_again(&s->cache, s->last, r->line);
    bool there = (sectors & (uint8_t)~cache_valid(&s->cache, at)) == 0;
    bool writes = s->uncached && r->kind == MEM_ATOMIC; /* without an L2, an atomic writes its result to DRAM at once */
    if ((there && out_full(s)) || ((!there || writes) && dram_full(s)))
        return false;
    bool ahead = r->kind == MEM_PREFETCH; /* a prefetch does not count as the first use of its line */
    bool past = goes_past(s, r, at);
    enum cache_result got = past    ? cache_read_past(&s->cache, r->line, r->sectors, pack(r), &out)
                            : ahead ? cache_await_at(&s->cache, at, r->line, sectors, pack(r), &out)
                                    : cache_read_at(&s->cache, at, r->line, sectors, pack(r), &out);
    if (got > CACHE_MERGED)
        return false;
    s->last = got == CACHE_MISS && !past ? (struct cache_spot){at.first, s->cache.mshr[out.mshr].way} : at;
    if (ahead && got == CACHE_MISS)
        cache_mark(&s->cache, &out, PREFETCH_BY_OTHERS, 0);
    count_hit_or_miss(s, r, got);
    tell_bypass(s, r, past, at.way != CACHE_NO_WAY);
    write_back(s, &out, now);
    if (got == CACHE_MISS)
        to_dram(s, r->line, false, out.mshr, out.fetch, now);
    if (writes)
        to_dram(s, r->line, true, 0, r->sectors, now);
    observe(s, r, got == CACHE_HIT ? SEEN_HIT : got == CACHE_MERGED ? SEEN_MERGED : SEEN_MISS, &out, now);
    if (got != CACHE_HIT)
        return true;
    uint32_t cycles = port_cycles(s, r);
    s->port_free = max64(s->port_free, now + cycles);
    if (r->kind == MEM_ATOMIC) {
        s->n.atomics += r->serial;
        if (!s->uncached)
            cache_write_at(&s->cache, at, r->line, r->sectors, 0, &out);
        reply(s, r, now + s->latency + cycles - 1);
    } else {
        reply(s, r, now + s->latency);
    }
    return true;
}

/* Fetches the sectors that a write does not fill. No SM gets a reply for this. The caller must have checked that
 * DRAM has room. */
static __attribute__((noinline)) void fetch_rest(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out;
    struct l2_request nobody = *r;
    nobody.sm = NO_SM;
    if (cache_fetch(&s->cache, r->line, s->cache.shape.sectored ? r->sectors : s->all_sectors, pack(&nobody), &out) !=
        CACHE_MISS)
        return;
    write_back(s, &out, now);
    to_dram(s, r->line, false, out.mshr, out.fetch, now);
}

/* Writes a dirty line to DRAM if the set of `line` has more than `most` of them. */
static __attribute__((noinline)) void limit_dirty(struct l2 *s, uint64_t line, uint32_t most, uint64_t now) {
    uint64_t clean;
    const uint8_t sectors = cache_limit_dirty(&s->cache, line, most, &clean);
    if (!sectors)
        return;
    to_dram(s, clean, true, 0, sectors, now);
    s->port_free = max64(s->port_free, now) + move_cycles(s, sector_bytes(sectors));
}

static bool write(struct l2 *s, const struct l2_request *r, uint64_t now) {
    struct cache_out out = {.victim = 0};
    struct cache_spot at = cache_look_again(&s->cache, s->last, r->line);
    bool hit = !s->uncached && at.way != CACHE_NO_WAY, past = goes_past(s, r, at);
    bool through = !hit && (past || s->write_miss == L2_THROUGH || s->write_miss == L2_THROUGH_FETCH);
    bool fetches = !hit && !past && (s->write_miss == L2_FETCH || s->write_miss == L2_THROUGH_FETCH);
    if ((answered(s, r) && out_full(s)) || ((!hit || s->dirty_ways) && dram_full(s)) ||
        (fetches &&
         (!cache_mshr_free(&s->cache, r->sectors) || dram_room(s->dram, s->of_channel) < (s->dirty_ways ? 4 : 3))))
        return false;
    /* of a packet, only the first sector that reads the tags counts */
    const bool rewrites = s->dirty_hits && hit && s->cache.way[at.way].dirty && !r->serial;
    if (through)
        to_dram(s, r->line, true, 0, r->sectors, now);
    else if (cache_write_at(&s->cache, at, r->line, r->sectors, r->full, &out) > CACHE_MERGED)
        return false;
    else
        write_back(s, &out, now);
    s->last = at;
    observe(s, r, hit ? SEEN_HIT : SEEN_MISS, &out, now);
    if (fetches)
        fetch_rest(s, r, now);
    s->n.hits += hit;
    s->n.misses += !hit;
    tell_bypass(s, r, past, hit);
    if (!through)
        s->port_free = max64(s->port_free, now + port_cycles(s, r));
    if (!through && s->dirty_ways)
        limit_dirty(s, r->line, s->dirty_ways - rewrites, now);
    if (answered(s, r))
        reply(s, r, now + s->latency);
    return true;
}

static __attribute__((noinline, cold)) bool always_hit(struct l2 *s, const struct l2_request *r, uint64_t now) {
    bool answers = answered(s, r);
    if (answers && out_full(s))
        return false;
    count_hit_or_miss(s, r, CACHE_HIT);
    observe(s, r, SEEN_HIT, NULL, now);
    s->port_free = now + port_cycles(s, r);
    if (answers)
        reply(s, r, now + s->latency);
    return true;
}

/* Returns the cycle from which the oldest request of a queue may read the tags; NEVER if the queue is empty. */
static uint64_t ready_at(const struct l2 *s, const struct l2_queue *q) {
    return q->head == q->tail ? NEVER : q->at[q->head & s->in_mask].ready;
}

/* A split packet reads the tags once for each group of sectors (l2.request_sectors). Returns its sectors of the group
 * that is next. */
static inline uint8_t first_group(const struct l2 *s, uint8_t sectors) {
    return sectors & s->group[__builtin_ctz(sectors)];
}

/* Returns the part of packet `p` that reads the tags next: with a split, the request for its first group. */
static inline struct l2_request first_part(const struct l2 *s, const struct l2_request *p, bool split) {
    struct l2_request r = *p;
    if (split) {
        r.sectors = first_group(s, r.sectors);
        r.bytes = (uint16_t)sector_bytes(r.sectors);
    }
    return r;
}

/* Removes the first group of packet `p`. Returns false if the packet has no other. The lanes of an atomic that access
 * one address delay its first group only. */
static inline bool next_part(const struct l2 *s, struct l2_request *p) {
    p->sectors &= (uint8_t)~first_group(s, p->sectors);
    p->serial = 1;
    return p->sectors != 0;
}

/* Lets the oldest access of the queues read the tags. Returns true if it was the last one of its packet. */
static bool tag_tick(struct l2 *s, uint64_t now) {
    if (s->port_free > now)
        return false;
    const uint64_t ready = ready_at(s, &s->in[0]);
    const bool far = s->in[1].head != s->in[1].tail && ready_at(s, &s->in[1]) < ready;
    struct l2_queue *q = &s->in[far];
    if ((far ? ready_at(s, q) : ready) > now)
        return false;
    struct l2_request *packet = &q->at[q->head & s->in_mask];
    const bool split = s->split && packet->kind != MEM_PREFETCH;
    const struct l2_request part = first_part(s, packet, split), *r = &part;
    bool done = s->perfect ? always_hit(s, r, now) : writes(r) ? write(s, r, now) : read(s, r, now);
    if (!done) {
        if (s->stalled_since == NEVER)
            s->stalled_since = now;
        return false;
    }
    s->settled = now + 1;
    if (mem_is_prefetch(r->kind))
        s->n.prefetch_accesses++;
    else
        s->n.accesses++;
    s->n.sectors += (uint32_t)__builtin_popcount(s->cache.shape.sectored ? r->sectors : s->all_sectors);
    if (s->stalled_since != NEVER)
        s->n.stalls += now - s->stalled_since;
    s->stalled_since = NEVER;
    if (split && next_part(s, packet))
        return false;
    q->head++;
    if (q->head != q->tail)
        cache_expect(&s->cache, q->at[q->head & s->in_mask].line);
    return true;
}

static enum prefetch_asked ask(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now) {
    struct l2 *s = cache;
    struct prefetch_asker *a = &s->prefetchers.asker[who];
    struct mem_place at = memmap_place(s->map, r->address);
    if (r->want != PREFETCH_LINE || s->uncached)
        return PREFETCH_NEVER;
    if (at.slice != s->index)
        return PREFETCH_ELSEWHERE;
    if (s->ahead_n == s->ahead_depth) {
        a->n.full++;
        a->turned = true;
        return PREFETCH_FULL;
    }
    s->ahead[(s->ahead_head + s->ahead_n++) % s->ahead_depth] = (struct l2_ahead){.line = at.line,
                                                                                  .asked = now,
                                                                                  .tag = r->tag,
                                                                                  .pc = r->pc,
                                                                                  .note = r->note,
                                                                                  .warp = r->warp,
                                                                                  .who = (uint8_t)who};
    a->n.asked++;
    return PREFETCH_QUEUED;
}

/* Reads the tags for a request of a prefetcher of this slice. */
static enum prefetch_answer look_up(struct l2 *s, const struct l2_ahead *x, uint64_t now) {
    struct l2_request r = {.line = x->line,
                           .tag = x->tag,
                           .pc = x->pc,
                           .sm = NO_SM,
                           .kind = MEM_PREFETCH,
                           .serial = x->who,
                           .warp = x->warp,
                           .sectors = s->all_sectors};
    struct cache_out out;
    struct cache_spot at = cache_look(&s->cache, x->line);
    bool there = s->perfect || (s->all_sectors & (uint8_t)~cache_valid(&s->cache, at)) == 0;
    if (there || cache_awaits_fill(&s->cache, at)) {
        observe(s, &r, there ? SEEN_HIT : SEEN_MERGED, NULL, now);
        return there ? PREFETCH_PRESENT : PREFETCH_PENDING;
    }
    if (dram_full(s) || cache_await_at(&s->cache, at, x->line, s->all_sectors, pack(&r), &out) != CACHE_MISS)
        return PREFETCH_REFUSED;
    cache_mark(&s->cache, &out, (uint8_t)(x->who + 1), x->note);
    write_back(s, &out, now);
    to_dram(s, x->line, false, out.mshr, out.fetch, now);
    observe(s, &r, SEEN_MISS, &out, now);
    return PREFETCH_SENT;
}

/* Runs a request of the slice's own prefetchers. The request reads the tags only in a cycle in which no other access
 * reads them, and while no access of an SM waits for the same resources. */
static __attribute__((noinline, cold)) void ahead_tick(struct l2 *s, uint64_t now) {
    const struct l2_ahead x = s->ahead[s->ahead_head];
    if (s->port_free > now || s->stalled_since != NEVER || x.asked >= now || s->settled == now + 1)
        return;
    s->ahead_head = (s->ahead_head + 1) % s->ahead_depth;
    s->ahead_n--;
    s->port_free = now + 1;
    s->settled = now + 1;
    s->n.lookups++;
    enum prefetch_answer a = look_up(s, &x, now);
    s->n.refused += a == PREFETCH_REFUSED;
    prefetchers_answer(&s->prefetchers, x.who, x.tag, a, now);
    prefetchers_room(&s->prefetchers, now);
}

bool l2_use_replacement(struct l2 *s, const struct replacement_ops *ops) {
    return s->uncached || cache_use_replacement(&s->cache, ops);
}

bool l2_use_bypass(struct l2 *s, const struct bypass_ops *ops) {
    return s->uncached || bypass_use(&s->bypass, ops, &s->cache);
}

bool l2_add_prefetcher(struct l2 *s, const struct prefetcher_ops *ops, void *ctx, const struct config *cfg) {
    struct prefetch_place place = {.level = PREFETCH_AT_L2,
                                   .number = s->index,
                                   .line_bytes = s->uncached ? 0 : s->cache.shape.line_bytes,
                                   .cache = s,
                                   .ask = ask};
    return prefetchers_add(&s->prefetchers, ops, NULL, ctx, cfg, &place) != NULL;
}

/* Fills a line with data from DRAM, at the bandwidth of the data array. */
static void fill_tick(struct l2 *s, uint64_t now) {
    uint64_t at = s->fill_head & s->fill_mask;
    if (s->fill_free > now || s->fill[at].ready > now)
        return;
    s->fill_head++;
    if (s->fill_head != s->fill_tail)
        cache_expect_way(&s->cache, s->fill[s->fill_head & s->fill_mask].mshr);
    uint16_t mshr = s->fill[at].mshr;
    cache_fill(&s->cache, mshr, s->fill[at].sectors);
    if (s->uncached)
        cache_write_through(&s->cache, cache_line_in(&s->cache, s->cache.mshr[mshr].way), true, NULL);
    s->answer[s->answer_tail++ & s->fill_mask] = (struct l2_answer){.mshr = mshr, .sectors = s->fill[at].sectors};
    s->fill_free = now + move_cycles(s, sector_bytes(s->fill[at].sectors));
}

/* Performs an atomic whose line has arrived. Returns the number of cycles that it takes. */
static __attribute__((noinline)) uint32_t late_atomic(struct l2 *s, const struct l2_request *r, uint64_t line) {
    struct cache_out out;
    s->n.atomics += r->serial;
    if (!s->uncached && cache_look(&s->cache, line).way != CACHE_NO_WAY)
        cache_write(&s->cache, line, r->sectors, 0, &out);
    return port_cycles(s, r);
}

/* Answers the accesses that waited for a fill, one access per cycle. */
static void answer_tick(struct l2 *s, uint64_t now) {
    uint64_t id;
    while (s->answer_head != s->answer_tail && s->answer_free <= now && !out_full(s)) {
        const struct l2_answer a = s->answer[s->answer_head & s->fill_mask];
        const uint16_t mshr = a.mshr;
        const struct cache_mshr *m = &s->cache.mshr[mshr];
        uint64_t line = cache_line_in(&s->cache, m->way);
        bool any = s->by_sector ? cache_take_of(&s->cache, mshr, a.sectors, &id) : cache_take(&s->cache, mshr, &id);
        s->answer_head += !any || m->taken == m->n;
        struct l2_request r = unpack(id);
        if (any && r.sm == NO_SM && r.kind == MEM_PREFETCH)
            prefetchers_answer(&s->prefetchers, r.serial, r.tag, PREFETCH_ARRIVED, now);
        if (!any || r.sm == NO_SM)
            continue;
        uint32_t cycles = r.kind == MEM_ATOMIC ? late_atomic(s, &r, line) : 1;
        s->answer_free = now + cycles;
        reply(s, &r, now + s->latency + cycles - 1);
    }
}

static uint64_t next_work(const struct l2 *s, uint64_t now) {
    uint64_t next = NEVER;
    if (s->answer_head != s->answer_tail && !out_full(s))
        next = s->answer_free;
    if (s->fill_head != s->fill_tail)
        next = min64(next, max64(s->fill_free, s->fill[s->fill_head & s->fill_mask].ready));
    if (s->stalled_since == NEVER) {
        const uint64_t ready = min64(ready_at(s, &s->in[0]), ready_at(s, &s->in[1]));
        next = ready == NEVER ? next : min64(next, max64(s->port_free, ready));
    }
    if (s->ahead_n && s->stalled_since == NEVER)
        next = min64(next, max64(s->port_free, s->ahead[s->ahead_head].asked + 1));
    return max64(next, now + 1);
}

bool l2_tick(struct l2 *s, uint64_t now) {
    if (s->fill_head != s->fill_tail)
        fill_tick(s, now);
    if (s->answer_head != s->answer_tail)
        answer_tick(s, now);
    bool took = tag_tick(s, now);
    if (__builtin_expect(s->ahead_n != 0, 0))
        ahead_tick(s, now);
    s->next = next_work(s, now);
    return took;
}
