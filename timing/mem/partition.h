#ifndef TIMING_PARTITION_H
#define TIMING_PARTITION_H
/* A memory partition: a DRAM channel and the L2 slices in front of it. Partitions share nothing with each other. */
#include "l2.h"
#include "timing/report/stat.h"

struct partition {
    struct dram dram;
    uint64_t dram_next; /* core cycle at which the channel has work */
    struct l2 *slice;
    uint32_t slices; /* up to DRAM_SLICES_MAX */
};

/* What happened in a tick, by slice: bit s for slice s of the partition. */
struct partition_did {
    uint32_t ticked; /* worked: it may have a reply */
    uint32_t took;   /* took a request in: there is room for another */
};

/* Slices are numbered from `first`. False when memory is out. */
bool partition_init(struct partition *p, const struct config *c, const struct memmap *map, uint32_t first);
void partition_free(struct partition *p);
/* The cycle `now`, to which the clock is moved when the channel works. */
struct partition_did partition_tick(struct partition *p, struct clock_point *clock, uint64_t now);
/* The next cycle at which a slice has work, UINT64_MAX: none. */
static inline uint64_t partition_slices_next(const struct partition *p) {
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < p->slices; s++)
        next = p->slice[s].next < next ? p->slice[s].next : next;
    return next;
}
/* The next cycle with work, UINT64_MAX: none. */
static inline uint64_t partition_next(const struct partition *p) {
    uint64_t next = partition_slices_next(p);
    return p->dram_next < next ? p->dram_next : next;
}
/* All cycles before `to` up to the next one at which a slice has work, which is returned (UINT64_MAX: none): those of
 * the channel alone, which concern nobody else. */
uint64_t partition_run_channel(struct partition *p, struct clock_point *clock, uint64_t to);
/* Adds the counts since the last call to `s`, and clears them. */
void partition_stats(struct partition *p, struct stats *s);
#endif
