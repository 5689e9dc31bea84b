#ifndef MECHANISMS_MTA_TABLES_H
#define MECHANISMS_MTA_TABLES_H
/* Tables of many-thread aware prefetching: strides of the loads of an SM ("Many-Thread Aware Prefetching Mechanisms for
 * GPGPU Applications", MICRO 2010, section III). They learn three strides: from one execution of a load to the next by
 * the same warp; the same stride in several warps, which then holds for all warps; and from warp to warp.
 *
 * Tables are set-associative, with LRU replacement. */
#include <stdbool.h>
#include <stdint.h>

#define MTA_KERNEL (1ull << 32) /* a load's number is this times its kernel's number, plus its PC in the kernel */

struct mta_sizes {
    uint32_t warp_entries, global_entries, inter_entries, ways;
    uint32_t train;   /* equal strides in a row until a stride is trusted */
    uint32_t promote; /* warps with the same stride until it holds for all warps */
};

struct mta_entry {
    uint64_t address; /* address of the last execution */
    int64_t stride;   /* bytes */
    uint64_t used;    /* time of the last use, for LRU; 0: the entry is free */
    uint64_t pc;
    uint8_t warp; /* warp of the last execution; in the per-warp table: owner of the entry */
    uint8_t seen; /* times in a row that the stride was seen; global table: warps that have it; saturates */
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
        uint64_t lookups, conflicts, promotions; /* table reads; entries evicted; strides that became global */
    } n;
};

/* The table of a prediction. As in the paper, global precedes inter, and both precede the per-warp table. */
enum mta_source { MTA_NONE, MTA_WARP, MTA_GLOBAL, MTA_INTER };
struct mta_prediction {
    uint8_t source; /* enum mta_source */
    int64_t stride; /* bytes from one execution to the next; MTA_INTER: from one warp to the next; never 0 */
};

/* Returns false if memory runs out. Sizes are at least 1; `ways` is limited to the entries of a table. */
bool mta_tables_init(struct mta_tables *t, const struct mta_sizes *size);
void mta_tables_free(struct mta_tables *t);
/* Forgets warp `warp`: another warp begins in its slot. */
void mta_forget_warp(struct mta_tables *t, uint8_t warp);
/* Learns from a load: number `pc`, unique among all loads, executed by `warp`; its first line is the line of
 * `address`. */
void mta_learn(struct mta_tables *t, uint64_t pc, uint8_t warp, uint64_t address);
struct mta_prediction mta_predict(struct mta_tables *t, uint64_t pc, uint8_t warp);
#endif
