#include "partition.h"
#include "isa/arith.h"
#include <stdlib.h>
#include <string.h>

bool partition_init(struct partition *p, const struct config *c, const struct memmap *map, uint32_t first) {
    memset(p, 0, sizeof *p);
    p->slices = c->memory.l2_slices / c->dram.channels;
    p->dram_next = UINT64_MAX;
    p->slice = aligned_alloc(_Alignof(struct l2), p->slices * sizeof *p->slice);
    if (p->slice)
        memset(p->slice, 0, p->slices * sizeof *p->slice);
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

/* Returns true if a slice may be waiting for room in the channel. */
static bool some_stalled(const struct partition *p) {
    bool any = false;
    for (uint32_t s = 0; s < p->slices; s++)
        any |= p->slice[s].stalled_since != UINT64_MAX;
    return any;
}

/* Runs the channel at p->dram_next, and in later cycles before `to` up to a cycle after which a slice may have work
 * earlier than before. Delivers the channel's data to the slices. */
static void run_channel(struct partition *p, struct clock_point *clock, uint64_t to) {
    const bool waits = some_stalled(p);
    struct dram_reply r;
    p->counted = true;
    const bool moved = dram_run(&p->dram, clock, to, waits, &p->dram_next);
    while (dram_take(&p->dram, &r))
        l2_fill(&p->slice[r.slice], &r);
    for (uint32_t s = 0; waits && moved && s < p->slices; s++)
        if (p->slice[s].stalled_since != UINT64_MAX)
            p->slice[s].next = clock->cycle;
}

uint64_t partition_run_channel(struct partition *p, struct clock_point *clock, uint64_t to) {
    uint64_t slices = partition_slices_next(p);
    while (p->dram_next < to && p->dram_next < slices) {
        run_channel(p, clock, min64(to, slices));
        slices = partition_slices_next(p);
    }
    return slices;
}

void partition_tick_channel(struct partition *p, struct clock_point *clock, uint64_t now) {
    p->dram_next = now;
    run_channel(p, clock, now + 1);
}

/* clang-format off */
static const struct stat_row l2_rows[] = {
#define COUNT_ROWS struct l2_counts
#include "l2_stats.def"
};
static const struct stat_row dram_rows[] = {
#define COUNT_ROWS struct dram_counts
#include "dram_stats.def"
};
/* clang-format on */

static void slice_stats(struct l2 *l2, struct stats *s) {
    STATS_COUNT(s, l2_rows, &l2->n);
    cache_line_stats(&l2->cache.n, STAT_l2_lines_prefetches, s);
    prefetchers_stats(&l2->prefetchers, s);
    memset(&l2->n, 0, sizeof l2->n);
    memset(&l2->cache.n, 0, sizeof l2->cache.n);
}

static void channel_stats(struct dram *d, struct stats *s) {
    STATS_COUNT(s, dram_rows, &d->n);
    stats_put(s, STAT_dram_busy_clocks, (double)((d->n.reads + d->n.writes) * d->burst_clocks));
    memset(&d->n, 0, sizeof d->n);
}

void partition_stats(struct partition *p, struct stats *s) {
    if (!p->counted && !p->slice[0].prefetchers.n) /* a prefetcher may report values that are no counts */
        return;
    p->counted = false;
    for (uint32_t i = 0; i < p->slices; i++)
        slice_stats(&p->slice[i], s);
    channel_stats(&p->dram, s);
}
