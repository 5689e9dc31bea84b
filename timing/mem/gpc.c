#include "gpc.h"
#include "isa/hot_assert.h"
#include <stdlib.h>
#include <string.h>

uint32_t gpcs_clusters(const struct config *c) {
    if (!c->gpc.sms || !c->gpc.cache.size || c->memory.model == MEMORY_FIXED)
        return 0;
    return (c->gpu.sms + c->gpc.sms - 1) / c->gpc.sms;
}

uint32_t gpcs_requests(const struct config *c) {
    /* maximum number of accesses in flight that bypass the caches of the load/store unit; used if there is no constant
     * cache */
    enum { ANY = 1024 };
    return c->l1i.mshrs + (c->l1c.size ? c->l1c.mshrs : ANY);
}

static bool init_one(struct gpc *g, const struct config *c, uint32_t sender) {
    const struct cache_cfg *k = &c->gpc.cache;
    struct cache_shape shape = {.sets = k->size / (k->ways * k->line),
                                .ways = k->ways,
                                .line_bytes = k->line,
                                .mshrs = k->mshrs,
                                .merges = k->merges};
    g->latency = k->latency;
    g->crossing = c->icnt.latency;
    g->port_bytes = c->gpc.port_bytes;
    g->line_bits = (uint32_t)__builtin_ctz(k->line);
    g->piece_bits = (uint32_t)__builtin_ctz(k->line < c->l2.line ? k->line : c->l2.line);
    g->sender = (uint16_t)sender;
    g->entries = g->n_free = c->gpc.queue;
    g->entry_mask = ring_size(g->entries) - 1;
    g->miss_mask = ring_size(k->mshrs * (k->line >> g->piece_bits)) - 1;
    g->fill_mask = ring_size(k->mshrs * (k->line / 32)) - 1;
    g->sent_at = g->stalled_since = g->next = NEVER;
    g->entry = calloc(g->entries, sizeof *g->entry);
    g->free_entry = calloc(g->entries, sizeof *g->free_entry);
    g->tags = calloc(g->entry_mask + 1, sizeof *g->tags);
    g->data = calloc(g->entry_mask + 1, sizeof *g->data);
    g->miss = calloc(g->miss_mask + 1, sizeof *g->miss);
    g->fill = calloc(g->fill_mask + 1, sizeof *g->fill);
    for (uint32_t i = 0; g->free_entry && i < g->entries; i++)
        g->free_entry[i] = (uint16_t)i;
    return g->entry && g->free_entry && g->tags && g->data && g->miss && g->fill && cache_init(&g->cache, &shape);
}

bool gpcs_init(struct gpcs *x, const struct config *c) {
    *x = (struct gpcs){.n = gpcs_clusters(c), .sms = c->gpu.sms, .next = NEVER};
    if (!x->n)
        return true;
    x->gpc = aligned_alloc(_Alignof(struct gpc), x->n * sizeof *x->gpc);
    if (x->gpc)
        memset(x->gpc, 0, x->n * sizeof *x->gpc);
    x->due = calloc(x->sms, sizeof *x->due);
    if (!x->gpc || !x->due)
        return false;
    for (uint32_t s = 0; s < x->sms; s++)
        x->due[s] = NEVER;
    for (uint32_t i = 0; i < x->n; i++)
        if (!init_one(&x->gpc[i], c, x->sms + i))
            return false;
    return true;
}

void gpcs_free(struct gpcs *x) {
    for (uint32_t i = 0; x->gpc && i < x->n; i++) {
        struct gpc *g = &x->gpc[i];
        cache_free(&g->cache);
        free(g->entry);
        free(g->free_entry);
        free(g->tags);
        free(g->data);
        free(g->miss);
        free(g->fill);
    }
    free(x->gpc);
    free(x->due);
    memset(x, 0, sizeof *x);
}

void gpcs_offer(struct gpcs *x, uint32_t sm, uint64_t cycle) {
    hot_assert(x->due[sm] == NEVER);
    x->due[sm] = cycle;
    x->next = min64(x->next, cycle);
}

/* Picks an SM of cluster `i` whose request is due at `now`, round-robin. Returns -1 if no SM has such a request. */
static int pick_sm(const struct gpcs *x, uint32_t i, uint64_t now) {
    uint32_t mine = (x->sms - i + x->n - 1) / x->n; /* SMs of the cluster */
    for (uint32_t k = 0; k < mine; k++) {
        uint32_t sm = i + (x->gpc[i].turn + k) % mine * x->n;
        if (x->due[sm] <= now)
            return (int)sm;
    }
    return -1;
}

int gpcs_accept(struct gpcs *x, const struct memport *port, uint64_t now) {
    for (uint32_t i = 0; i < x->n; i++) {
        struct gpc *g = &x->gpc[i];
        int sm = g->n_free ? pick_sm(x, i, now) : -1;
        if (sm < 0)
            continue;
        uint16_t id = g->free_entry[--g->n_free];
        g->entry[id] = (struct gpc_entry){*memport_head(&port[sm]), now};
        g->tags[g->tags_tail++ & g->entry_mask] = id;
        g->next = min64(g->next, now + g->latency);
        g->turn = (uint32_t)sm / x->n + 1;
        x->due[sm] = NEVER;
        return sm;
    }
    x->next = NEVER;
    for (uint32_t i = 0; i < x->n; i++)
        x->next = min64(x->next, x->gpc[i].next);
    /* an SM does not count if its cluster's cache has no free entry: its request waits until a reply leaves */
    for (uint32_t s = 0; s < x->sms; s++)
        if (x->gpc[s % x->n].n_free)
            x->next = min64(x->next, max64(x->due[s], now + 1));
    return -1;
}

void gpcs_call(struct gpcs *x, uint64_t now) {
    for (uint32_t i = 0; i < x->n; i++)
        x->gpc[i].next = now;
    x->next = x->n ? now : NEVER;
}

void gpc_fill(struct gpcs *x, uint32_t i, const struct mem_request *reply, uint64_t cycle) {
    struct gpc *g = &x->gpc[i];
    uint32_t piece = reply->tag >> 16; /* number of the L2 line within this cache's line */
    const uint64_t put = atomic_load_explicit(&g->fill_put, memory_order_relaxed);
    g->fill[put & g->fill_mask] = (struct gpc_fill){cycle, (uint16_t)(reply->tag & 0xffff),
                                                    (uint8_t)(reply->sectors << (piece << g->piece_bits) / 32)};
    atomic_store_explicit(&g->fill_put, put + 1, memory_order_release);
    atomic_fetch_add_explicit(&x->fills, 1, memory_order_release);
}

void gpcs_receive(struct gpcs *x) {
    const uint64_t fills = atomic_load_explicit(&x->fills, memory_order_acquire);
    if (fills == x->filled)
        return;
    x->filled = fills;
    for (uint32_t i = 0; i < x->n; i++) {
        struct gpc *g = &x->gpc[i];
        const uint64_t put = atomic_load_explicit(&g->fill_put, memory_order_acquire);
        if (put == g->fill_tail)
            continue;
        if (g->fill_head == g->fill_tail)
            g->next = min64(g->next, g->fill[g->fill_tail & g->fill_mask].cycle);
        g->fill_tail = put;
        x->next = min64(x->next, g->next);
    }
}

/* Fills lines that have arrived. The accesses that waited for these lines are queued for the port. */
static bool fill_lines(struct gpc *g, uint64_t now) {
    bool any = false;
    for (; g->fill_head != g->fill_tail && g->fill[g->fill_head & g->fill_mask].cycle <= now; any = true) {
        const struct gpc_fill *f = &g->fill[g->fill_head++ & g->fill_mask];
        uint64_t id;
        cache_fill(&g->cache, f->mshr, f->sectors);
        while (cache_take(&g->cache, f->mshr, &id))
            g->data[g->data_tail++ & g->entry_mask] = (uint16_t)id;
    }
    return any;
}

/* Requests a line from the L2, with one request for each L2 line in it. */
static void send_miss(struct gpc *g, const struct mem_request *r, uint32_t mshr, uint64_t now) {
    uint64_t line = r->address >> g->line_bits << g->line_bits;
    for (uint32_t piece = 0; piece << g->piece_bits < 1u << g->line_bits; piece++) {
        struct mem_request *m = &g->miss[g->miss_tail++ & g->miss_mask];
        *m = *r;
        m->address = line + (piece << g->piece_bits);
        m->cycle = now;
        m->tag = mshr | piece << 16;
        m->bytes = (uint16_t)(1u << g->piece_bits);
        m->sectors = (uint8_t)((1u << m->bytes / 32) - 1);
        m->sm = g->sender;
    }
}

/* Lets the oldest request read the tags. A miss fetches the whole line. The request is answered when its own sectors
 * have arrived. A request that finds no free line or MSHR waits for the next fill. */
static bool read_tags(struct gpc *g, bool filled, uint64_t now) {
    if (g->tags_head == g->tags_tail || (g->stalled_since != NEVER && !filled))
        return false;
    uint16_t id = g->tags[g->tags_head & g->entry_mask];
    const struct gpc_entry *e = &g->entry[id];
    if (e->arrived + g->latency > now)
        return false;
    struct cache_out out;
    const struct mem_request *q = &e->request;
    uint32_t first = (uint32_t)(q->address & ((1u << g->line_bits) - 1)) / 32; /* first sector, within the line */
    enum cache_result r = cache_read(&g->cache, q->address >> g->line_bits, (uint8_t)(q->sectors << first), id, &out);
    if (r != CACHE_HIT && r != CACHE_MISS && r != CACHE_MERGED) {
        g->stalled_since = min64(g->stalled_since, now);
        return true;
    }
    g->n.accesses++;
    g->n.hits += r == CACHE_HIT;
    g->n.misses += r != CACHE_HIT;
    g->n.pending_hits += r == CACHE_MERGED;
    g->n.stalls += g->stalled_since == NEVER ? 0 : now - g->stalled_since;
    g->stalled_since = NEVER;
    g->tags_head++;
    if (r == CACHE_HIT)
        g->data[g->data_tail++ & g->entry_mask] = id;
    else if (r == CACHE_MISS)
        send_miss(g, q, out.mshr, now);
    return true;
}

/* Sends a reply through the port. The number of cycles of the transfer follows from the bytes of the reply. The reply
 * leaves in the last cycle. Returns the cycle at which the reply reaches its SM, or 0 if no reply left in this
 * cycle. */
static uint64_t send_reply(struct gpc *g, struct memport *port, uint64_t now) {
    if (g->data_head == g->data_tail)
        return 0;
    uint16_t id = g->data[g->data_head & g->entry_mask];
    const struct mem_request *r = &g->entry[id].request;
    if (g->sent_at == NEVER) {
        uint32_t cycles = (r->bytes + g->port_bytes - 1) / g->port_bytes;
        cycles += cycles == 0;
        g->sent_at = max64(now, g->port_free) + cycles - 1;
        g->n.port_cycles += cycles;
    }
    if (g->sent_at > now)
        return 0;
    struct mem_request *reply = memport_near_reply(&port[r->sm]);
    *reply = *r;
    reply->cycle = now + g->crossing;
    g->data_head++;
    g->sent_at = NEVER;
    g->port_free = now + 1;
    g->free_entry[g->n_free++] = id;
    return reply->cycle;
}

/* Returns the first cycle after `now` with work. */
static uint64_t next_work(const struct gpc *g, uint64_t now) {
    uint64_t next = g->fill_head == g->fill_tail ? NEVER : g->fill[g->fill_head & g->fill_mask].cycle;
    if (g->tags_head != g->tags_tail && g->stalled_since == NEVER)
        next = min64(next, g->entry[g->tags[g->tags_head & g->entry_mask]].arrived + g->latency);
    if (g->data_head != g->data_tail)
        next = min64(next, g->sent_at == NEVER ? g->port_free : g->sent_at);
    return next == NEVER ? NEVER : max64(next, now + 1);
}

bool gpc_tick(struct gpc *g, struct memport *port, uint64_t now, uint64_t *replied) {
    bool filled = fill_lines(g, now), read = read_tags(g, filled, now);
    *replied = send_reply(g, port, now);
    g->next = next_work(g, now);
    return filled | read | (*replied != 0);
}

/* clang-format off */
static const struct stat_row gpc_rows[] = {
#define COUNT_ROWS struct gpc_counts
#include "gpc_stats.def"
};
/* clang-format on */

void gpcs_stats(struct gpcs *x, struct stats *s) {
    for (uint32_t i = 0; i < x->n; i++) {
        struct gpc *g = &x->gpc[i];
        STATS_COUNT(s, gpc_rows, &g->n);
        memset(&g->n, 0, sizeof g->n);
        memset(&g->cache.n, 0, sizeof g->cache.n);
    }
}
