#ifndef TIMING_PARTITION_H
#define TIMING_PARTITION_H
/* A memory partition: a DRAM channel and its L2 slices. Partitions are independent of each other. */
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
/* Runs cycle `now`. If the channel has work, *clock is moved to this cycle. */
struct partition_did partition_tick(struct partition *p, struct clock_point *clock, uint64_t now);
/* Returns the next cycle at which a slice has work, or UINT64_MAX if no slice has work. */
static inline uint64_t partition_slices_next(const struct partition *p) {
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < p->slices; s++)
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
