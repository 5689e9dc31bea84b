#ifndef TIMING_LSU_H
#define TIMING_LSU_H
/* The load/store unit of one SM: coalescer, shared-memory banks, L1 data, constant and texture caches, MSHRs. Takes
 * memory instructions in order, one at a time into its front queue, and says when each is complete. */
#include "isa/exec/exec.h"
#include "memsys.h"

struct lsu;

/* One memory instruction of one warp. */
struct lsu_access {
    const struct inst *inst;
    lanemask_t lanes;
    uint8_t space; /* enum space, generic resolved: lanes in shared_lanes go to the banks, the rest to the caches */
    uint8_t kind;  /* enum mem_kind */
    uint8_t n_elems, msize;
    lanemask_t shared_lanes, local_lanes;
    const uint64_t *addr;  /* copied; shared: byte offsets; local: a thread's own byte offsets; else device addresses */
    uint64_t local_base;   /* device address of the warp's local memory, for the interleaved timing addresses */
    uint64_t local_stride; /* bytes from one of its words to the next, a multiple of 128 */
    uint8_t warp;          /* whose stores are counted: its slot */
    uint32_t tag;          /* comes back in lsu_done() */
};

struct lsu *lsu_new(const struct config *cfg, struct memsys *mem, uint32_t sm);
void lsu_free(struct lsu *l);
struct trace;
/* Requests and replies are noted there from now on; NULL: nowhere. */
void lsu_trace(struct lsu *l, struct trace *t);
bool lsu_can_accept(const struct lsu *l);
/* Requires lsu_can_accept(). `now` is the current core cycle. */
void lsu_accept(struct lsu *l, const struct lsu_access *a, uint64_t now);
/* One cycle of work. Call it for cycles at which lsu_next() said there is some, or for every cycle: the same result. */
void lsu_tick(struct lsu *l, uint64_t now);
/* Earliest cycle > now at which tick has work, replies included; UINT64_MAX when it is empty. */
uint64_t lsu_next(const struct lsu *l, uint64_t now);
/* Takes one finished access whose cycle is <= now: its tag, and whether it missed the L1. Loads finish when all data is
 * there, stores when they have left the unit, atomics (also without a result) when their reply is there. */
bool lsu_done(struct lsu *l, uint64_t now, uint32_t *tag, bool *missed);
/* From now on lsu_missed() names each load or atomic, once, when it is known that a line of it is not in its L1 cache:
 * when the tags were read, or when it is sent past the L1. For models that give way on a miss (dpe.scheduler). */
void lsu_note_misses(struct lsu *l);
/* Takes one of those that the last lsu_tick() found. */
bool lsu_missed(struct lsu *l, uint32_t *tag);
/* Requests of warp `warp`'s stores that have not been acknowledged (0 without acknowledgements). */
uint32_t lsu_stores(const struct lsu *l, uint32_t warp);
/* Takes one of the warps the last of whose stores has been acknowledged; false: there is none. */
bool lsu_stores_ended(struct lsu *l, uint32_t *warp);
/* True when the access `tag` is known to wait for L2 or DRAM: for SI's stall trigger and the divergence-on-miss
 * options. `*miss_lanes` gets the lanes that wait. */
bool lsu_waits_on_miss(const struct lsu *l, uint32_t tag, lanemask_t *miss_lanes);
/* Prefetching, for hardware prefetchers and decoupled access: asks for the line of device address `address`, into the
 * L1 or into the L2 only. LSU_PREFETCH_FULL: nothing was done for want of a free line, MSHR or room at the memory port.
 * With LSU_PREFETCH_SENT, and only then, `tag` comes back from lsu_prefetch_done() when the line has come. */
enum lsu_prefetch { LSU_PREFETCH_SENT, LSU_PREFETCH_PENDING, LSU_PREFETCH_PRESENT, LSU_PREFETCH_FULL };
enum lsu_prefetch lsu_prefetch(struct lsu *l, uint64_t address, bool into_l1, uint32_t tag, uint64_t now);
bool lsu_prefetch_done(struct lsu *l, uint64_t now, uint32_t *tag);
/* So far in this launch: lines prefetched into the L1; used by a load; of these, while still on their way; replaced
 * unused. */
struct lsu_prefetch_counts {
    uint64_t sent, useful, late, unused;
};
struct lsu_prefetch_counts lsu_prefetch_counts(const struct lsu *l);
/* Holds the L1 line of `address`, which is there or on its way, in place until it is unlocked as often as it was
 * locked. False when it is absent, or when no other way of its set would be left to replace. */
bool lsu_lock(struct lsu *l, uint64_t address);
void lsu_unlock(struct lsu *l, uint64_t address);
/* Instruction fetch goes to memory through the same port. False when the port is full; done through lsu_fetch_done. */
bool lsu_fetch(struct lsu *l, uint64_t address, uint32_t tag, uint64_t now);
/* `sectors` of the line have come; with a sectored L2 they come one by one. */
bool lsu_fetch_done(struct lsu *l, uint64_t now, uint32_t *tag, uint8_t *sectors);
/* Before lsu_stats(), when `now` ends an interval: the time that requests under way have taken so far belongs to it. */
void lsu_account(struct lsu *l, uint64_t now);
void lsu_stats(struct lsu *l, struct stats *s);
/* For deadlock reports: one line on what it holds. */
void lsu_describe(const struct lsu *l, char *out, size_t size);
/* Empties the L1 data cache (between launches). Constants and textures stay. */
void lsu_flush(struct lsu *l);
#endif
