#include "partition.h"
#include "isa/arith.h"
#include <stdlib.h>
#include <string.h>

bool partition_init(struct partition *p, const struct config *c, const struct memmap *map, uint32_t first) {
    memset(p, 0, sizeof *p);
    p->slices = c->memory.l2_slices / c->dram.channels;
    p->dram_next = UINT64_MAX;
    p->slice = calloc(p->slices, sizeof *p->slice);
    if (!p->slice || p->slices > DRAM_SLICES_MAX ||
        !dram_init(&p->dram, c, p->slices, c->l2.mshrs * (c->l2.line / 32) * p->slices))
        return false;
    for (uint32_t s = 0; s < p->slices; s++)
        if (!l2_init(&p->slice[s], c, map, &p->dram, first + s))
            return false;
    return true;
}

void partition_free(struct partition *p) {
    for (uint32_t s = 0; p->slice && s < p->slices; s++)
        l2_free(&p->slice[s]);
    free(p->slice);
    dram_free(&p->dram);
}

/* The channel, and what it has for the slices. True when one of these may have something to do earlier than before. */
static bool channel_tick(struct partition *p, const struct clock_point *now) {
    struct dram_reply r;
    bool moved = dram_tick(&p->dram, now), filled = false;
    for (; dram_take(&p->dram, &r); filled = true)
        l2_fill(&p->slice[r.slice], &r);
    for (uint32_t s = 0; moved && s < p->slices; s++)
        if (p->slice[s].stalled_since != UINT64_MAX) /* maybe for want of room in the channel */
            p->slice[s].next = now->cycle;
    p->dram_next = dram_next(&p->dram, now);
    return moved | filled;
}

uint64_t partition_run_channel(struct partition *p, struct clock_point *clock, uint64_t to) {
    uint64_t slices = partition_slices_next(p);
    while (p->dram_next < to && p->dram_next < slices) {
        clock_move(clock, p->dram_next);
        if (channel_tick(p, clock))
            slices = partition_slices_next(p);
    }
    return slices;
}

struct partition_did partition_tick(struct partition *p, struct clock_point *clock, uint64_t now) {
    struct partition_did did = {0, 0};
    if (p->dram_next <= now) {
        clock_move(clock, now);
        channel_tick(p, clock);
    }
    uint64_t sent = p->dram.pipe_tail;
    for (uint32_t s = 0; s < p->slices; s++)
        if (p->slice[s].next <= now) {
            did.ticked |= 1u << s;
            did.took |= (uint32_t)l2_tick(&p->slice[s], now) << s;
        }
    if (p->dram.pipe_tail != sent) /* it may be that nothing was before it */
        p->dram_next = min64(p->dram_next, max64(dram_entry(&p->dram), now + 1));
    return did;
}

static void slice_stats(struct l2 *l2, struct stats *s) {
    stats_add(s, "l2.accesses", (double)l2->n.accesses);
    stats_add(s, "l2.sectors", (double)l2->n.sectors);
    stats_add(s, "l2.hits", (double)l2->n.hits);
    stats_add(s, "l2.misses", (double)l2->n.misses);
    stats_add(s, "l2.pending_hits", (double)l2->n.pending_hits);
    stats_add(s, "l2.stalls", (double)l2->n.stalls);
    stats_add(s, "l2.writebacks", (double)l2->n.writebacks);
    stats_add(s, "l2.atomics", (double)l2->n.atomics);
    stats_add(s, "l2.prefetches", (double)l2->cache.n.prefetches);
    stats_add(s, "l2.prefetch_useful", (double)l2->cache.n.prefetch_useful);
    stats_add(s, "l2.prefetch_late", (double)l2->cache.n.prefetch_late);
    stats_add(s, "l2.prefetch_unused", (double)l2->cache.n.prefetch_unused);
    stats_add(s, "l2.prefetch_accesses", (double)l2->n.prefetch_accesses);
    stats_add(s, "l2.prefetch_misses", (double)l2->n.prefetch_misses);
    stats_add(s, "l2.prefetch_lookups", (double)l2->n.lookups);
    stats_add(s, "l2.prefetch_refused", (double)l2->n.refused);
    prefetchers_stats(&l2->prefetchers, s);
    memset(&l2->n, 0, sizeof l2->n);
    memset(&l2->cache.n, 0, sizeof l2->cache.n);
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

void partition_stats(struct partition *p, struct stats *s) {
    for (uint32_t i = 0; i < p->slices; i++)
        slice_stats(&p->slice[i], s);
    channel_stats(&p->dram, s);
}
