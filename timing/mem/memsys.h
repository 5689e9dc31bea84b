#ifndef TIMING_MEMSYS_H
#define TIMING_MEMSYS_H
/* The memory side, that is, everything after the SMs: crossbar, L2 slices, DRAM channels. SMs access it only through
 * their ports. A crossing, that is, the way from an SM to the memory side or back, takes L cycles. A request sent at
 * cycle t takes part in arbitration at t + L. A reply sent at cycle c is visible to the SM at c + L at the earliest,
 * and so is the queue entry of a request that left at c. So SMs may be L cycles behind the memory side, or L cycles
 * ahead.
 *
 * The memory side has two halves. A request that leaves the crossbar waits in its slice for l2.rop_latency cycles. So
 * slices, channels and replies may run ahead of the requests by this latency, and SMs learn early of replies. An SM
 * knows the room in its queue (the number of free entries) only up to memport.sure. To run beyond this cycle, the SM
 * must have enough room for all requests that it could send. If it has less room, it waits for memsys_follow().
 * - memsys_lead(t) sends the replies of cycles before t. Then SMs may run up to t + L.
 * - memsys_follow(t) moves the requests that were sent before t - L as far as they get before t.
 * Each side receives the other side's actions at memsys_exchange(), while neither side runs. With the fixed memory
 * model L is 0, and the memory side only follows. */
#include "timing/config/warp_set.h"
#include "timing/report/stat.h"

/* Kinds of requests. MEM_PREFETCH brings lines into the L2 only; its reply is empty and comes when the lines have
 * arrived. MEM_READ_AHEAD reads for a prefetch into the L1. MEM_FETCH_AHEAD reads an instruction line for a stream
 * buffer. MEM_WRITE_BACK is a line evicted from the L1, a write without a reply. A sectored L2 sends one reply per
 * sector, except to MEM_PREFETCH. A cluster's cache sends one reply to each request. */
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

/* Bit mask of the kinds of requests that go to the cache of the SM's cluster, if the cluster has a cache. */
enum { MEM_NEAR_KINDS = 1 << MEM_INSTRUCTION | 1 << MEM_FETCH_AHEAD | 1 << MEM_CONSTANT };

/* Returns true if a request of this kind serves a prefetch, so that no access waits for its data when the request
 * leaves. */
static inline bool mem_is_prefetch(uint8_t kind) {
    return kind == MEM_PREFETCH || kind == MEM_READ_AHEAD || kind == MEM_FETCH_AHEAD;
}

struct mem_request {
    uint64_t address; /* device address in the sender's line, a multiple of 32; no request crosses an L2 line */
    /* core cycle in which the request was sent; in a reply: the first cycle in which the SM may see the reply */
    uint64_t cycle;
    uint32_t tag; /* tag of the sender; returned unchanged */
    /* for prefetchers: PC of the instruction that caused it, modulo 2^22; and this instruction's warp */
    uint32_t pc : 22, warp : 10;
    uint16_t bytes; /* payload: number of bytes written or requested */
    uint16_t sm;
    uint8_t sectors; /* bit s is set if the 32-byte sector s from `address` on is requested or written */
    uint8_t kind;    /* enum mem_kind; writes get replies only with l2.write_acks */
    union {
        uint8_t full; /* for writes: sectors that are overwritten completely */
        /* for atomics: largest number of lanes with the same address, which the slice executes one after another */
        uint8_t serial;
    };
};
_Static_assert(WARP_SLOTS <= 1 << 10, "mem_request.warp");
_Static_assert(sizeof(struct mem_request) == 32, "two of them in a cache line");

struct memsys;
struct prefetcher_ops;
struct bypass_ops;
struct replacement_ops;
/* Creates the memory side for `cfg`, which must outlive it. Returns NULL when memory runs out. */
struct memsys *memsys_new(const struct config *cfg);
void memsys_free(struct memsys *m);
/* Adds a prefetcher at each L2 slice (prefetch.h). The fixed model has no slices. Returns false when memory runs
 * out. Requires that nothing is in flight. */
bool memsys_add_prefetcher(struct memsys *m, const struct prefetcher_ops *ops, void *ctx);
/* Sets the replacement policy of the L2. The fixed model has no L2. Returns false when memory runs out. Requires
 * that no request has been sent. */
bool memsys_use_replacement(struct memsys *m, const struct replacement_ops *ops);
/* Sets the bypass policy of the L2. The fixed model has no L2. Returns false when memory runs out. Requires that no
 * request has been sent. */
bool memsys_use_bypass(struct memsys *m, const struct bypass_ops *ops);
/* Returns the crossing L, in cycles. */
uint32_t memsys_crossing(const struct memsys *m);
/* Returns how many cycles SMs may run between two exchanges: 2 L, from L cycles behind the memory side to L cycles
 * ahead of it. With the fixed model, this is its latency, if that is less than 2 x icnt.latency. */
uint32_t memsys_quantum(const struct memsys *m);
enum { MEMSYS_WINDOW = 128 }; /* maximum of memsys_window() */
/* Returns the longest interval between two memsys_follow() calls, in cycles, with which memsys_lead() can stay ahead
 * of running SMs. It is half of the cycles that memsys_lead() may be ahead of the requests, up to MEMSYS_WINDOW.
 * Returns 0 if this is less than memsys_quantum(). */
uint32_t memsys_window(const struct memsys *m);
/* Makes the actions of each side known to the other side. Neither side may run during the call. */
void memsys_exchange(struct memsys *m);
/* Returns the cycle up to which SMs know the room of their queues, as of the last exchange. */
uint64_t memsys_sure(const struct memsys *m);
/* Returns the cycle up to which SMs know all replies to the requests that they have sent, as of the last exchange. */
uint64_t memsys_known(const struct memsys *m);
/* Returns true if some SM will soon have to stop at memsys_sure(). There are two cases: the SM waits for a reply of
 * its cluster's cache, or it sends many requests. The rate of requests is measured since the last call, which
 * was `past` cycles ago. It is high if the requests of `coming` cycles would fill three fifths of the SM's queue. */
bool memsys_crowded(struct memsys *m, uint64_t past, uint32_t coming);
/* Runs the whole memory side up to cycle `to`. All requests sent before to - L must have been exchanged. */
void memsys_follow(struct memsys *m, uint64_t to);
/* Runs the request network alone up to cycle `to`, at most memsys_led(). memsys_lead() and memsys_lead_partition() may
 * run at the same time, up to memsys_slack() cycles after memsys_followed(). */
void memsys_follow_beside(struct memsys *m, uint64_t to);
/* Returns the cycles that memsys_lead() may be ahead of the requests. */
uint32_t memsys_slack(const struct memsys *m);
/* Returns the cycle that the request network has reached. */
uint64_t memsys_followed(const struct memsys *m);
/* Returns the last cycle to which memsys_lead() may run. The cycle follows from the memory side's latest cycle:
 * `follows`, or the cycle of the last memsys_follow() if this cycle is later. */
uint64_t memsys_leads(const struct memsys *m, uint64_t follows);
/* Runs all units except the request network up to cycle `to`, which is at most memsys_leads(). SMs may run at the
 * same time. Requires memsys_lead_partition() for every partition, up to the same cycle. */
void memsys_lead(struct memsys *m, uint64_t to);
/* Returns the cycle up to which these units have run. */
uint64_t memsys_led(const struct memsys *m);
/* Passes new requests to partition `p` of memsys_partitions(), and runs the partition up to `to`. It stops earlier if
 * it needs queue room: only memsys_lead() knows when replies leave and free room. Partitions may run at the same time
 * as each other and as SMs. */
void memsys_lead_partition(struct memsys *m, uint32_t p, uint64_t to);
/* Returns the number of partitions; 0 with the fixed model. */
uint32_t memsys_partitions(const struct memsys *m);
/* Returns the cycle after the last cycle with work. */
uint64_t memsys_worked(const struct memsys *m);
/* Sets the time to `now`. Requires that nothing is pending. `now` may be before the cycle of the last
 * memsys_follow(). */
void memsys_end(struct memsys *m, uint64_t now);
/* Runs the cycles [from, to) with an exchange before and after them, for callers with one thread. Requires that no
 * work is left before `from`. */
void memsys_run(struct memsys *m, uint64_t from, uint64_t to);
/* Turns calls of every unit in every cycle on or off (default: gpu.poll). They are slow, but the result is the same. */
void memsys_poll(struct memsys *m, bool every_cycle);
/* Returns the earliest cycle >= now at which the memory side has work; UINT64_MAX when it is empty. */
uint64_t memsys_next(struct memsys *m, uint64_t now);
/* Returns the requests that have left the SMs plus the replies that SMs have taken, in total. This number grows while
 * memory makes progress. */
uint64_t memsys_moved(const struct memsys *m);
/* Returns the first cycle by which all replies have arrived and all written data is in the DRAM. The result is valid
 * only when memsys_next() reports no work. */
uint64_t memsys_settled(const struct memsys *m);
/* Adds the counts since the last call to `s`, and clears them. The counts belong exactly to the cycles before the
 * last memsys_follow(), unless memsys_lead() ran further. */
void memsys_stats(struct memsys *m, struct stats *s);
/* Informs the memory side that the host has written [address, address + bytes) of device memory between launches.
 * With l2.host_copies, the L2 then has these data. */
void memsys_host_wrote(struct memsys *m, uint64_t address, uint64_t bytes);
/* Warms the L2 with an access to `sectors`; the first sector begins at `address`. The access takes no simulated time
 * (cache_warm()). */
void memsys_warm(struct memsys *m, uint64_t address, uint8_t sectors, bool write, bool aside);
#endif
