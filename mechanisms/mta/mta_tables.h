#ifndef MECHANISMS_MTA_TABLES_H
#define MECHANISMS_MTA_TABLES_H
/* Tables of many-thread aware prefetching: strides of the loads of an SM ("Many-Thread Aware Prefetching Mechanisms for
 * GPGPU Applications", MICRO 2010, section III). There are three tables. The per-warp table learns the stride between
 * successive executions of a load by one warp. The global table learns such a stride for all warps if several warps
 * have it. The inter-warp table learns the stride from one warp to another.
 *
 * Tables are set-associative, with LRU replacement. */
#include <stdbool.h>
#include <stdint.h>

/* the number of a load is this constant times the number of its kernel, plus the PC of the load in the kernel */
#define MTA_KERNEL (1ull << 32)

struct mta_sizes {
    uint32_t warp_entries, global_entries, inter_entries, ways;
    uint32_t train;   /* number of consecutive equal strides after which a stride is trusted */
    uint32_t promote; /* number of warps with the same stride after which the stride is used for all warps */
};

struct mta_entry {
    uint64_t address; /* address of the last execution */
    int64_t stride;   /* bytes */
    uint64_t used;    /* time of the last use, for LRU; 0 if the entry is free */
    uint64_t pc;
    uint16_t warp; /* warp of the last execution; in the per-warp table: owner of the entry */
    /* number of consecutive occurrences of the stride; in the global table, number of warps with the stride;
     * saturates */
    uint8_t seen;
};

struct mta_table {
    struct mta_entry *entry; /* sets * ways entries */
    uint32_t sets, ways;
};

struct mta_tables {
    struct mta_sizes size;
    struct mta_table warp, global, inter;
    uint64_t clock;
    struct {
        /* counts of table reads, of evicted entries, and of strides that became global */
        uint64_t lookups, conflicts, promotions;
    } n;
};

/* The table that makes a prediction. As in the paper, the global table has priority over the inter-warp table, and both
 * have priority over the per-warp table. */
enum mta_source { MTA_NONE, MTA_WARP, MTA_GLOBAL, MTA_INTER };
struct mta_prediction {
    uint8_t source; /* enum mta_source */
    /* stride in bytes from one execution to the next, or for MTA_INTER from one warp to the next; never 0 */
    int64_t stride;
};

/* Creates the tables. Returns false if memory runs out. Sizes are at least 1; `ways` is limited to the entries of a
 * table. */
bool mta_tables_init(struct mta_tables *t, const struct mta_sizes *size);
void mta_tables_free(struct mta_tables *t);
/* Removes the entries of warp `warp`, because another warp begins in its slot. */
void mta_forget_warp(struct mta_tables *t, uint16_t warp);
/* Learns from a load with number `pc`, which is unique among all loads. `warp` executed the load; `address` is in the
 * first line that the load accesses. */
void mta_learn(struct mta_tables *t, uint64_t pc, uint16_t warp, uint64_t address);
struct mta_prediction mta_predict(struct mta_tables *t, uint64_t pc, uint16_t warp);
#endif
