#include "footprint.h"
#include "timing/mem/cache.h"
#include "timing/mem/dram.h"
#include "timing/mem/gpc.h"
#include "timing/mem/icnt.h"
#include "timing/mem/l2.h"
#include "timing/mem/lsu_parts.h"
#include "timing/mem/memport.h"
#include "timing/sm/stages.h"
#include <inttypes.h>

/* One kind of table. */
struct table {
    const char *what; /* name, and the options that set the size */
    double bytes;     /* total size of all tables of this kind */
};

enum { MAX_TABLES = 16 };
struct tables {
    struct table list[MAX_TABLES];
    int n;
};

static void add(struct tables *t, const char *what, double bytes) { t->list[t->n++] = (struct table){what, bytes}; }

/* Returns the number of entries that a ring buffer allocates: the next power of two. */
static double ring(double entries) {
    double n = 1;
    while (n < entries)
        n *= 2;
    return n;
}

static double cache_tables(const struct cache_cfg *c, uint32_t bytes, uint32_t line) {
    /* Each MSHR has a spare way. An MSHR of a sectored cache has `merges` targets for each sector. */
    double lines = (double)bytes / line + c->mshrs, sectors = c->sectored ? c->line / 32 : 1;
    return c->size ? lines * (2 * sizeof(uint64_t) + sizeof(struct cache_way)) +
                         c->mshrs * (sizeof(struct cache_mshr) + sizeof(uint16_t) +
                                     (c->merges * sectors - 1) * sizeof(struct cache_target))
                   : 0;
}

static double pipe_ring(const struct cache_cfg *c) {
    return c->size ? ring((double)c->latency * c->ports + 1) * sizeof(struct line_op) : 0;
}

/* Tables of one SM. */
static void add_sm(struct tables *t, const struct config *c, const struct reconv_ops *ops) {
    const double n = c->gpu.sms;
    double l0 = c->sm.subcores ? c->sm.schedulers : 1, waiting = (double)c->l1i.mshrs * c->l1i.merges;
    if (c->l0i.size)
        waiting *= c->l0i.merges;
    add(t, "the L1 data cache (l1.size, sm.unified_bytes, l1.mshrs, l1.merges)",
        n * (cache_tables(&c->l1, lsu_largest(c, &c->l1), c->l1.line) + pipe_ring(&c->l1) +
             (c->l1.size ? c->l1.mshrs * (double)sizeof(struct lsu_ahead_sent) : 0)));
    add(t, "the constant cache (l1c.size, l1c.mshrs, l1c.merges)",
        n * (cache_tables(&c->l1c, c->l1c.size, c->l1c.line) + pipe_ring(&c->l1c)));
    add(t, "the texture cache (tex.size, sm.unified_bytes, tex.mshrs, tex.merges)",
        n * (cache_tables(&c->tex, lsu_largest(c, &c->tex), c->tex.line) + pipe_ring(&c->tex)));
    add(t, "the L0 instruction caches (l0i.size, l0i.mshrs, l0i.merges)",
        n * l0 * cache_tables(&c->l0i, c->l0i.size, c->l0i.line));
    add(t, "the L1 instruction cache (l1i.size, l1i.mshrs, l1i.merges, l0i.merges)",
        c->l1i.size
            ? n * (cache_tables(&c->l1i, c->l1i.size, c->l1i.line) + waiting * sizeof(struct fetch_ready) +
                   c->l1i.mshrs * (sizeof(uint64_t) + sizeof(bool) + sizeof(uint16_t) + sizeof(struct fetch_coming)) +
                   (c->sm.fetch_prefetch ? c->l1i.mshrs * (double)sizeof(struct lsu_ahead_sent) : 0) +
                   (c->l0i.size ? l0 * c->l0i.mshrs : 0) * sizeof(struct fetch_retry))
            : 0);
    add(t, "the model's state of warps (sm.warps, options of the model)",
        n * (sm_warp_slots(&c->sm) + MAX_CONTEXTS) *
            (double)(warps_near_size(ops, &c->reconv, c->sm.warp_size) +
                     warps_model_size(ops, &c->reconv, c->sm.warp_size)));
    const double slots = sm_warp_slots(&c->sm) + MAX_CONTEXTS, paths = slots * MAX_PATHS;
    add(t, "walks of rays (walk.warps, walk.queue)",
        n * ((c->walk.warps + c->walk.queue) * (double)(sizeof(struct walk) + sizeof(uint16_t)) +
             LSU_SLOTS * sizeof(struct walk_access)));
    add(t, "the SMs (gpu.sms, lsu.queue)",
        n * (sizeof(struct sm) + sizeof(struct lsu) + c->lsu.queue * (double)sizeof(struct lsu_front) +
             c->lsu.prefetch_queue * (double)sizeof(uint16_t) + slots * (double)warps_path_size(ops, c->sm.warp_size) +
             paths * (2 * sizeof(struct wheel_event) + sizeof(struct path_wait) + sizeof(struct sm_await) +
                      sizeof(struct ordered_inst)) +
             MAX_INFLIGHT * (sizeof(struct inflight) + sizeof(struct sm_form *) + sizeof(struct wheel_event)) +
             MEM_QUEUE * sizeof(struct mem_inst)));
}

/* Adds the tables of the memory side. A ring buffer holds the packets that are in transit during a link's latency. */
static void add_memory(struct tables *t, const struct config *c) {
    const double n = c->gpu.sms, slices = c->memory.l2_slices, channels = c->dram.channels;
    double crossing = c->icnt.latency * (c->gpu.core_mhz / c->gpu.icnt_mhz);
    double fan = c->memory.model == MEMORY_FULL && c->l2.sectored && c->l2.size ? c->l2.line / 32
                                                                                : 1; /* replies to one request */
    double replies = (1024 + c->l1.mshrs * 8. + c->l1c.mshrs + c->tex.mshrs * 8.) * fan;
    add(t, "the ports of the crossbar (icnt.latency, icnt.sm_queue, clock.icnt_mhz)",
        2 * sizeof(struct icnt) +
            n * (ring(c->icnt.sm_queue + 2 * crossing + 2) * (sizeof(struct mem_request) + sizeof(uint64_t)) +
                 ring(replies) * sizeof(struct mem_request)));
    if (c->memory.model == MEMORY_FIXED)
        return;
    const double clusters = gpcs_clusters(c), entries = c->gpc.queue;
    double lines = c->gpc.cache.mshrs, pieces = c->gpc.cache.line > c->l2.line ? c->gpc.cache.line / c->l2.line : 1;
    add(t, "the caches of clusters (gpc.size, gpc.mshrs, gpc.merges, gpc.queue)",
        clusters * (sizeof(struct gpc) + cache_tables(&c->gpc.cache, c->gpc.cache.size, c->gpc.cache.line) +
                    entries * (sizeof(struct gpc_entry) + sizeof(uint16_t)) + ring(entries) * (2 * sizeof(uint16_t)) +
                    ring(lines * pieces) * sizeof(struct mem_request) +
                    ring(lines * (c->gpc.cache.line / 32)) * sizeof(struct gpc_fill)) +
            (clusters != 0) * n * (sizeof(struct memport_near) + ring(gpcs_requests(c)) * sizeof(struct mem_request)));
    struct cache_cfg l2 = c->l2;
    if (!l2.size)
        l2.size = l2.mshrs * l2.line * c->memory.l2_slices;
    double per_line = l2.line / 32, pending = (double)l2.mshrs * per_line;
    struct cache_cfg tags = {.size = l2.size, .line = l2.line}, mshrs = l2;
    mshrs.size = l2.line;
    add(t, "the L2 cache (l2.size, l2.mshrs, l2.merges)",
        cache_tables(&tags, tags.size, l2.line) + slices * cache_tables(&mshrs, mshrs.size, l2.line));
    add(t, "the queues of the L2 (l2.slices, l2.rop_latency, l2.mshrs, icnt.slice_queue)",
        slices * (sizeof(struct l2) + c->memory.l2_prefetch_queue * (double)sizeof(struct l2_ahead) +
                  ring(c->memory.rop_latency + c->icnt.slice_queue) * sizeof(struct l2_request) +
                  ring(c->icnt.slice_queue) * sizeof(struct mem_request) +
                  ring(c->memory.rop_latency + c->icnt.slice_queue) * sizeof(uint64_t) +
                  ring(pending) * (sizeof *((struct l2 *)NULL)->fill + sizeof *((struct l2 *)NULL)->answer)));
    add(t, "the DRAM (dram.channels, dram.queue, dram.latency, l2.mshrs)",
        channels * (sizeof(struct dram) + c->dram.queue * sizeof(struct dram_request) +
                    ring(c->dram.latency + 16 * slices / channels) * sizeof(struct dram_request) +
                    ring(pending * slices / channels) * sizeof(struct dram_reply)));
}

static double total(struct tables *t, const struct config *c, const struct reconv_ops *ops) {
    double sum = 0;
    add_sm(t, c, ops);
    add_memory(t, c);
    for (int i = 0; i < t->n; i++)
        sum += t->list[i].bytes;
    return sum;
}

uint64_t footprint(const struct config *c, const struct reconv_ops *ops) {
    struct tables t = {.n = 0};
    double sum = total(&t, c, ops);
    return sum < 9e18 ? (uint64_t)sum : UINT64_MAX / 2;
}

bool footprint_check(const struct config *c, const struct reconv_ops *ops, char *err, size_t err_size) {
    struct tables t = {.n = 0};
    double sum = total(&t, c, ops);
    int most = 0;
    if (sum <= (double)FOOTPRINT_MAX)
        return true;
    for (int i = 1; i < t.n; i++)
        if (t.list[i].bytes > t.list[most].bytes)
            most = i;
    snprintf(err, err_size,
             "this machine takes %.0f bytes of the host's memory, and at most %" PRIu64
             " are allowed; %.0f of them are "
             "for %s%s",
             sum, (uint64_t)FOOTPRINT_MAX, t.list[most].bytes, t.list[most].what,
             c->gpu.sms > 1 && most < 7 ? ", in each of gpu.sms" : "");
    return false;
}
