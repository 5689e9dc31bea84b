#ifndef TIMING_LSU_H
#define TIMING_LSU_H
/* The load/store unit of one SM: coalescer, shared-memory banks, L1 data, constant and texture caches, MSHRs. Takes
 * memory instructions in order, one at a time into its front queue, and says when each is complete. */
#include "isa/exec.h"
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
    const uint64_t *addr; /* copied; shared: byte offsets; local: a thread's own byte offsets; else device addresses */
    uint64_t local_base;  /* device address of the warp's local memory, for the interleaved timing addresses */
    uint32_t tag;         /* comes back in lsu_done() */
};

struct lsu *lsu_new(const struct config *cfg, struct memsys *mem, uint32_t sm);
void lsu_free(struct lsu *l);
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
/* True when the access `tag` is known to wait for L2 or DRAM: for SI's stall trigger and the divergence-on-miss
 * options. `*miss_lanes` gets the lanes that wait. */
bool lsu_waits_on_miss(const struct lsu *l, uint32_t tag, lanemask_t *miss_lanes);
/* Instruction fetch goes to memory through the same port. False when the port is full; done through lsu_fetch_done. */
bool lsu_fetch(struct lsu *l, uint64_t address, uint32_t tag, uint64_t now);
bool lsu_fetch_done(struct lsu *l, uint64_t now, uint32_t *tag);
void lsu_stats(struct lsu *l, struct stats *s);
/* For deadlock reports: one line on what it holds. */
void lsu_describe(const struct lsu *l, char *out, size_t size);
/* Empties the L1 caches (between launches). */
void lsu_flush(struct lsu *l);
#endif
