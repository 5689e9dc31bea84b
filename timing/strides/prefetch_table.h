#ifndef TIMING_PREFETCH_TABLE_H
#define TIMING_PREFETCH_TABLE_H
/* What the stride prefetchers know of loads ("PEPSC: A Power-Efficient Processor for Scientific Computing", section
 * III-B): for each load of each warp the address of its last miss, the stride from the one before, how often in a row
 * that was seen, and the degree, which is how many strides ahead of a miss the next prefetch goes. Set-associative,
 * with the least recently used entry replaced. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stdint.h>

struct prefetch_entry {
    uint64_t address; /* of the last miss */
    int64_t stride;   /* bytes */
    uint64_t used;    /* when, for replacement; 0: the entry is free */
    uint32_t pc;
    uint8_t warp;
    uint8_t seen;    /* times that the stride was seen, one more than `train` at most; 0: there is none yet */
    uint16_t degree; /* from 1 */
};

/* clang-format off */
struct stride_table_counts {
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    STRIDE_TABLE_STATS("")
#include "timing/report/count_end.def"
};
/* clang-format on */

struct prefetch_table {
    struct prefetch_entry *entry; /* sets x ways */
    uint32_t sets, ways;
    uint32_t train; /* equal strides in a row until one is believed */
    uint64_t clock;
    struct stride_table_counts n;
};

/* `entries`, `ways` and `train` are at least 1; `ways` is cut to what there is. False: out of memory. */
bool prefetch_table_init(struct prefetch_table *t, uint32_t entries, uint32_t ways, uint32_t train);
void prefetch_table_free(struct prefetch_table *t);
/* Forgets everything but the counts. */
void prefetch_table_clear(struct prefetch_table *t);
/* NULL: nothing is known of the load. */
struct prefetch_entry *prefetch_table_find(struct prefetch_table *t, uint32_t pc, uint8_t warp);
/* The load missed at `address`; `e` is what prefetch_table_find() has said of it. Returns its entry. A stride that does
 * not fit is learned in place of the old one, but one that was seen once more than it had to be is believed for one
 * miss longer: the step from the end of a row to the next is forgiven. */
struct prefetch_entry *prefetch_table_learn(struct prefetch_table *t, struct prefetch_entry *e, uint32_t pc,
                                            uint8_t warp, uint64_t address);
/* Whether prefetches may follow the entry's stride: it was seen often enough, and leads elsewhere. */
static inline bool prefetch_believed(const struct prefetch_table *t, const struct prefetch_entry *e) {
    return e && e->seen >= t->train && e->stride;
}
#endif
