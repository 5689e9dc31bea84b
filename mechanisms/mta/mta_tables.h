#ifndef MECHANISMS_MTA_TABLES_H
#define MECHANISMS_MTA_TABLES_H
/* What many-thread aware prefetching learns from the loads of an SM ("Many-Thread Aware Prefetching Mechanisms for
 * GPGPU Applications", MICRO 2010, section III): the stride from one execution of a load to the next by the same warp;
 * a stride that several warps have, which then holds for all of them; and the stride from warp to warp.
 *
 * Tables are set-associative, with the least recently used entry replaced. */
#include <stdbool.h>
#include <stdint.h>

#define MTA_KERNEL (1ull << 32) /* a load's number: so much for each kernel before, and its place in the kernel */

struct mta_sizes {
    uint32_t warp_entries, global_entries, inter_entries, ways;
    uint32_t train;   /* equal strides in a row until one is believed */
    uint32_t promote; /* warps with the same stride until it holds for all */
};

struct mta_entry {
    uint64_t address; /* of the last execution */
    int64_t stride;   /* bytes */
    uint64_t used;    /* when, for replacement; 0: the entry is free */
    uint64_t pc;
    uint8_t warp; /* of the last execution; per warp: whose entry it is */
    uint8_t seen; /* times in a row that the stride was seen; globally: warps that have it; saturates */
};

struct mta_table {
    struct mta_entry *entry; /* sets x ways */
    uint32_t sets, ways;
};

struct mta_tables {
    struct mta_sizes size;
    struct mta_table warp, global, inter;
    uint64_t clock;
    struct {
        uint64_t lookups, conflicts, promotions; /* tables read; entries that had to go; strides that became global */
    } n;
};

/* Which table a prediction is from. Global goes before inter, as in the paper, and both before one warp's own. */
enum mta_source { MTA_NONE, MTA_WARP, MTA_GLOBAL, MTA_INTER };
struct mta_prediction {
    uint8_t source; /* enum mta_source */
    int64_t stride; /* bytes from one execution to the next, MTA_INTER: from one warp to the next; not 0 */
};

/* False: out of memory. Sizes are at least 1; `ways` is cut to what a table has. */
bool mta_tables_init(struct mta_tables *t, const struct mta_sizes *size);
void mta_tables_free(struct mta_tables *t);
/* Another warp begins in the place of `warp`: what is known of the old one says nothing about it. */
void mta_forget_warp(struct mta_tables *t, uint8_t warp);
/* The load at `pc`, a number that no other load has, was executed by `warp`, its first line being that of `address`. */
void mta_learn(struct mta_tables *t, uint64_t pc, uint8_t warp, uint64_t address);
struct mta_prediction mta_predict(struct mta_tables *t, uint64_t pc, uint8_t warp);
#endif
