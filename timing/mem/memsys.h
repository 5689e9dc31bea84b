#ifndef TIMING_MEMSYS_H
#define TIMING_MEMSYS_H
/* Everything behind the SMs: crossbar, L2 slices, DRAM channels. SMs reach it only through these queues, each of which
 * takes a crossing of the crossbar: a request sent at cycle t takes part in arbitration at t + L, and a reply or the
 * room of a request that went at cycle c is seen at c + L at the earliest. So SMs may be L cycles behind the memory
 * side, and as many ahead of it. The memory side itself has two halves: a request that the crossbar brings waits in its
 * slice first (l2.rop_latency), so slices, channels and replies may be that far ahead of the requests, and what they
 * answer is known to the SMs long before its time. What an SM does not know so early is how much room its queue will
 * have: up to memport.sure it does, and later it must have more than enough, or wait until the requests have followed.
 *     memsys_lead(t)     replies of cycles before t are under way: SMs may go on to t + L
 *     memsys_follow(t)   requests that were sent before t - L have gone as far as they get before t
 * Either side learns what the other has done at memsys_exchange(), while none is running. With the fixed memory model
 * L is 0, and the memory side follows. */
#include "timing/config/config.h"
#include "timing/report/stat.h"

/* MEM_PREFETCH brings lines into the L2 only; its reply, when they are there, is empty. MEM_READ_AHEAD is a read for a
 * prefetch into the L1. MEM_FETCH_AHEAD is a read of an instruction line for a stream buffer. MEM_WRITE_BACK is a line
 * that left the L1, a write that nobody waits for. With a sectored L2 a request is answered sector by sector
 * (MEM_PREFETCH aside): as many replies come back, each with its sector. */
enum mem_kind {
    MEM_READ,
    MEM_WRITE,
    MEM_ATOMIC,
    MEM_INSTRUCTION,
    MEM_CONSTANT,
    MEM_TEXTURE,
    MEM_PREFETCH,
    MEM_WRITE_BACK,
    MEM_READ_AHEAD,
    MEM_FETCH_AHEAD,
    N_MEM_KINDS
};
enum { MEM_KIND_BITS = 5 };
_Static_assert(N_MEM_KINDS <= 1 << MEM_KIND_BITS, "slices keep a kind in so many bits");

/* Kinds that go to the cache of the SM's cluster where it has one, a bit each. */
enum { MEM_NEAR_KINDS = 1 << MEM_INSTRUCTION | 1 << MEM_FETCH_AHEAD | 1 << MEM_CONSTANT };

/* Does a request of this kind serve a prefetch? Then no access waits for its data when it leaves. */
static inline bool mem_is_prefetch(uint8_t kind) {
    return kind == MEM_PREFETCH || kind == MEM_READ_AHEAD || kind == MEM_FETCH_AHEAD;
}

struct mem_request {
    uint64_t address; /* device address of the sender's line, a multiple of 32; no request crosses a line of the L2 */
    uint64_t cycle;   /* core cycle it was sent; in a reply: the first cycle the SM may see it, and no address */
    uint32_t tag;     /* the sender's; comes back unchanged */
    uint32_t pc;      /* of the instruction that it is for, of warp slot `warp`: for prefetchers */
    uint16_t bytes;   /* payload: written bytes, or bytes wanted */
    uint16_t sm;
    uint8_t warp;
    uint8_t sectors; /* bit s: 32-byte sector s from `address` is wanted or written */
    uint8_t kind;    /* enum mem_kind; a reply to a write only says that it was done, and only with l2.write_acks */
    union {
        uint8_t full;   /* writes: sectors that are overwritten completely */
        uint8_t serial; /* atomics: most lanes on one address, which the slice performs one after another */
    };
};
_Static_assert(sizeof(struct mem_request) == 32, "two of them in a cache line");

struct memsys;
struct prefetcher_ops;
struct replacement_ops;
struct memsys *memsys_new(const struct config *cfg);
void memsys_free(struct memsys *m);
/* A prefetcher at each L2 slice (prefetch.h); with the fixed model there are none, and nothing is made. False: out of
 * memory. Requires that nothing is under way. */
bool memsys_add_prefetcher(struct memsys *m, const struct prefetcher_ops *ops, void *ctx);
/* The L2 replaces lines by this policy; with the fixed model there is no L2. False: out of memory. Requires that no
 * request was made. */
bool memsys_use_replacement(struct memsys *m, const struct replacement_ops *ops);
/* L above. */
uint32_t memsys_crossing(const struct memsys *m);
/* Cycles that SMs may be ahead of the cycle to which the memory side has been advanced, at most: 2 L, or the latency of
 * the fixed model. */
uint32_t memsys_quantum(const struct memsys *m);
/* Cycles from one memsys_follow() to the next with which memsys_lead() can keep ahead of the SMs while they run: half
 * of what the slack allows, up to MEMSYS_WINDOW; 0 when it allows less than memsys_quantum(). */
enum { MEMSYS_WINDOW = 64 };
uint32_t memsys_window(const struct memsys *m);
/* While neither side runs: what each has done becomes known to the other. */
void memsys_exchange(struct memsys *m);
/* The cycle up to which SMs know the room of their queues, as of the last exchange. */
uint64_t memsys_sure(const struct memsys *m);
/* Will an SM soon have to stop at memsys_sure()? Either the cache of its cluster owes it a reply, or it has sent much
 * since the last exchange, which was `past` cycles ago: its queue would be three fifths full after `coming` such cycles
 * if nothing left it. */
bool memsys_crowded(const struct memsys *m, uint64_t past, uint32_t coming);
/* Advances the memory side to `to`. All requests that were sent before to - L have been exchanged. */
void memsys_follow(struct memsys *m, uint64_t to);
/* The cycle up to which memsys_lead() may go, after memsys_follow(follows) if that is later than the last. */
uint64_t memsys_leads(const struct memsys *m, uint64_t follows);
/* Advances all but the requests to `to`, which is not later than memsys_leads(), if they are not there yet. SMs may run
 * at the same time. */
void memsys_lead(struct memsys *m, uint64_t to);
/* Before that: runs partition `p` of memsys_partitions() to `to`, or as far as it needs no room that replies leave,
 * which memsys_lead() knows. Partitions may be run at the same time as each other and as SMs. */
void memsys_lead_partition(struct memsys *m, uint32_t p, uint64_t to);
/* 0 with the fixed model. */
uint32_t memsys_partitions(const struct memsys *m);
/* The cycle after the last in which anything had work. */
uint64_t memsys_worked(const struct memsys *m);
/* Nothing is pending, and time goes on at `now`, which may be before the cycle that memsys_follow() has seen to. */
void memsys_end(struct memsys *m, uint64_t now);
/* For callers with one thread: over [from, to), before which it had nothing to do, between two exchanges. */
void memsys_run(struct memsys *m, uint64_t from, uint64_t to);
/* Calls every unit every cycle from now on (or not; gpu.poll says how it begins): slow, and the same result. */
void memsys_poll(struct memsys *m, bool every_cycle);
/* Earliest cycle >= now at which the memory side has work; UINT64_MAX when it is empty. */
uint64_t memsys_next(const struct memsys *m, uint64_t now);
/* Requests that have left the SMs and replies that they have taken, since the beginning: grows while memory works. */
uint64_t memsys_moved(const struct memsys *m);
/* The first cycle at which nothing of what was asked so far is on its way any more: replies are there, written data is
 * in the DRAM. Of use when memsys_next() says that all is done. */
uint64_t memsys_settled(const struct memsys *m);
/* Adds the counts since the last call to `s`, and clears them. They are those up to the cycle of memsys_follow() when
 * memsys_lead() was not called for later ones. */
void memsys_stats(struct memsys *m, struct stats *s);
/* The host has written [address, address + bytes) of device memory, between launches: with l2.host_copies it is in the
 * L2 now. */
void memsys_host_wrote(struct memsys *m, uint64_t address, uint64_t bytes);
#endif
