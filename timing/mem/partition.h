#ifndef TIMING_PARTITION_H
#define TIMING_PARTITION_H
/* A memory partition: a DRAM channel and its L2 slices. Partitions are independent of each other. */
#include "isa/arith.h"
#include "l2.h"
#include "timing/report/stat.h"

struct partition {
    struct dram dram;
    uint64_t dram_next; /* next core cycle at which the channel has work */
    struct l2 *slice;
    uint32_t slices; /* up to DRAM_SLICES_MAX */
    bool counted;    /* a count may differ from 0; set before each change of a count */
};

/* Results of a tick, with bit s for slice s of the partition. */
struct partition_did {
    uint32_t ticked; /* slices that worked and may have a reply */
    uint32_t took;   /* slices that accepted a request and have room for another */
};

/* Initialises a partition whose slices are numbered from `first`. Returns false when memory runs out. */
bool partition_init(struct partition *p, const struct config *c, const struct memmap *map, uint32_t first);
void partition_free(struct partition *p);
/* Makes the packets that the crossbar has delivered known to slice `s` of the partition. */
static inline void partition_receive(struct partition *p, uint32_t s) { p->counted |= l2_receive(&p->slice[s]); }
/* Runs the channel in cycle `now`, and moves *clock to this cycle. */
void partition_tick_channel(struct partition *p, struct clock_point *clock, uint64_t now);
/* Runs cycle `now`. If the channel has work, *clock is moved to this cycle. */
static inline struct partition_did partition_tick(struct partition *p, struct clock_point *clock, uint64_t now) {
    struct partition_did did = {0, 0};
    p->counted = true;
    if (p->dram_next <= now)
        partition_tick_channel(p, clock, now);
    uint64_t sent = p->dram.pipe_tail;
    for (uint32_t s = 0; s < p->slices; s++)
        if (p->slice[s].next <= now) {
            did.ticked |= 1u << s;
            did.took |= (uint32_t)l2_tick(&p->slice[s], now) << s;
        }
    if (p->dram.pipe_tail != sent) /* a slice has sent a request, so the channel may have work earlier than before */
        p->dram_next = min64(p->dram_next, max64(dram_entry(&p->dram), now + 1));
    return did;
}
/* Returns the next cycle at which a slice has work, or UINT64_MAX if no slice has work. */
static inline uint64_t partition_slices_next(const struct partition *p) {
    uint64_t next = p->slice[0].next; /* many GPUs have one slice a channel */
    for (uint32_t s = 1; s < p->slices; s++)
        next = p->slice[s].next < next ? p->slice[s].next : next;
    return next;
}
/* Returns the next cycle with work of a slice or the channel, or UINT64_MAX if neither has work. */
static inline uint64_t partition_next(const struct partition *p) {
    uint64_t next = partition_slices_next(p);
    return p->dram_next < next ? p->dram_next : next;
}
/* Runs the channel alone, up to `to` or the next cycle at which a slice has work. Returns the next cycle at which a
 * slice has work, or UINT64_MAX if no slice has work. Nothing outside the partition changes. */
uint64_t partition_run_channel(struct partition *p, struct clock_point *clock, uint64_t to);
/* Adds to `s` the counts since the last call, and clears them. */
void partition_stats(struct partition *p, struct stats *s);
#endif
