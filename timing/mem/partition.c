#include "partition.h"
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

/* The channel, and what it has for the slices. */
static void channel_tick(struct partition *p, const struct clock_point *now) {
    struct dram_reply r;
    bool moved = dram_tick(&p->dram, now);
    while (dram_take(&p->dram, &r))
        l2_fill(&p->slice[r.slice % p->slices], &r);
    for (uint32_t s = 0; moved && s < p->slices; s++)
        if (p->slice[s].stalled_since != UINT64_MAX) /* maybe for want of room in the channel */
            p->slice[s].next = now->cycle;
    p->dram_next = dram_next(&p->dram, now);
}

struct partition_did partition_tick(struct partition *p, const struct clock_point *now) {
    struct partition_did did = {0, 0};
    if (p->dram_next <= now->cycle)
        channel_tick(p, now);
    uint64_t sent = p->dram.pipe_tail;
    for (uint32_t s = 0; s < p->slices; s++)
        if (p->slice[s].next <= now->cycle) {
            did.ticked |= 1u << s;
            did.took |= (uint32_t)l2_tick(&p->slice[s], now->cycle) << s;
        }
    if (p->dram.pipe_tail != sent)
        p->dram_next = dram_next(&p->dram, now);
    return did;
}

uint64_t partition_next(const struct partition *p) {
    uint64_t next = p->dram_next;
    for (uint32_t s = 0; s < p->slices; s++)
        next = p->slice[s].next < next ? p->slice[s].next : next;
    return next;
}
