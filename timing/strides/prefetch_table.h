#ifndef TIMING_PREFETCH_TABLE_H
#define TIMING_PREFETCH_TABLE_H
/* The table of a stride prefetcher ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-B).
 * It has an entry for each load of each warp. The entry has the address of the last miss, the stride from the
 * previous miss to it, how many times in succession this stride occurred, and the degree: the number of strides from
 * a miss to its prefetch. The table is set-associative with LRU replacement. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stdint.h>

struct prefetch_entry {
    uint64_t address; /* address of the last miss */
    int64_t stride;   /* bytes */
    int64_t blocks;   /* bytes from the block of the last but one miss to the block of the last miss */
    uint64_t used;    /* time of the last use, for replacement; 0: the entry is free */
    uint32_t pc;
    uint16_t warp;
    uint8_t seen;    /* number of successive misses with this stride, at most `train` + 1; 0: no stride yet */
    uint16_t degree; /* at least 1 */
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
    uint32_t train; /* number of equal successive strides that start prefetching */
    /* bytes of a block; equal distances of blocks also confirm a stride (prefetch_table_learn()); 1: blocks are not
     * used */
    uint32_t grain;
    uint64_t clock;
    struct stride_table_counts n;
};

/* Allocates a table. `entries`, `ways` and `train` are at least 1; `ways` is limited to `entries`. Returns false if
 * memory is out. */
bool prefetch_table_init(struct prefetch_table *t, uint32_t entries, uint32_t ways, uint32_t train);
void prefetch_table_free(struct prefetch_table *t);
/* Removes all entries, but keeps the counts. */
void prefetch_table_clear(struct prefetch_table *t);
/* Returns the entry of a load, or NULL if the load has no entry. */
struct prefetch_entry *prefetch_table_find(struct prefetch_table *t, uint32_t pc, uint16_t warp);
/* Trains the table with a miss of the load at `address`; `e` is the result of prefetch_table_find(). Returns the
 * load's entry. An equal stride confirms the stride, and so does an equal distance between the blocks of `grain` bytes
 * that missed: masked lanes change the address of the lowest active lane, but not its block. The stride is then the
 * distance of the blocks. A different stride replaces the old stride. But a stride that occurred `train` + 1 times
 * survives one different stride, such as the step from the end of a matrix row to the next row. */
struct prefetch_entry *prefetch_table_learn(struct prefetch_table *t, struct prefetch_entry *e, uint32_t pc,
                                            uint16_t warp, uint64_t address);
/* Returns true if the entry's stride may cause prefetches: it occurred often enough, and is not 0. */
static inline bool prefetch_believed(const struct prefetch_table *t, const struct prefetch_entry *e) {
    return e && e->seen >= t->train && e->stride;
}
#endif
