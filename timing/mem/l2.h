#ifndef TIMING_L2_H
#define TIMING_L2_H
/* One slice of the L2 cache. Requests arrive from the crossbar, wait the ROP latency, and read the tags in order, one
 * per cycle. A hit is answered l2.latency cycles later. A miss goes to the slice's DRAM channel. After the fill, the
 * accesses that wait for the line are answered, one per cycle. The data array moves l2.port_bytes bytes per cycle for
 * hits, writes, fills and write-backs; the port to the crossbar has the same bandwidth. Atomics are performed here: all
 * lanes of a line at once, except that lanes with the same address take one cycle each. A full queue blocks the units
 * before it, back to the SM.
 *
 * A sectored slice splits a packet when it arrives. Each 32-byte sector, or each group of l2.request_sectors, is then a
 * separate request with its own tag cycle, MSHR, DRAM access and reply. If the configuration has no L2, the packet is
 * not split, and the slice reads the requested sectors from DRAM.
 *
 * With l2.far_latency, the L2 has two halves. A request of an SM in the other half waits for this time, too. */
#include "bypass.h"
#include "cache.h"
#include "dram.h"
#include "memport.h"
#include "prefetch.h"
#include "timing/report/stat.h"
#include <stdatomic.h>

/* A packet in the slice, or the part of it that reads the tags. */
struct l2_request {
    uint64_t ready; /* core cycle from which its tags may be read */
    uint64_t line;  /* line number in the slice */
    uint32_t tag;   /* tag of the sender */
    uint32_t pc;    /* mem_request.pc; the field `warp` below is mem_request.warp */
    uint16_t sm, bytes;
    uint16_t warp;
    uint8_t kind;
    uint8_t serial;  /* of an atomic: cycles of the data array for its next sector; else 1 after the first sector */
    uint8_t sectors; /* mask of the requested sectors of the L2's line that have not read the tags yet */
    uint8_t shift;   /* number of this line's sector at which the sender's line begins */
    uint8_t full;    /* for a write: sectors that it overwrites completely */
};

/* A request of a prefetcher at the slice. */
struct l2_ahead {
    uint64_t line;  /* line number in the slice */
    uint64_t asked; /* cycle */
    uint32_t tag, pc;
    uint16_t note;
    uint16_t warp;
    uint8_t who;
};

/* A ring of packets, in the order of their field `ready`. The slice knows the packets before `tail`. */
struct l2_queue {
    struct l2_request *at;
    uint64_t head, tail;
};

/* The crossbar's end of this ring. The packets before `put` are in the ring. */
struct l2_door {
    struct l2_request *at;
    _Atomic uint64_t put;
};

struct l2_counts {
#define COUNT_FIELDS
#include "l2_stats.def"
};

struct l2 {
    /* used when the crossbar delivers a packet, while another thread may run the slice: a line of the host's cache */
    _Alignas(64) struct l2_door door[2]; /* of SMs in the same half of the chip, and in the other half */
    uint32_t door_mask;
    uint32_t rop_latency, far_latency; /* cycles from arrival to the tags; l2.far_latency, cycles */
    uint32_t atomic_bytes;             /* l2.atomic_bytes, bytes a cycle */
    /* used in every cycle with work */
    _Alignas(64) struct l2_queue in[2]; /* by door */
    uint64_t next;                      /* cycle of the next known work; UINT64_MAX if there is none */
    uint64_t port_free;                 /* cycle from which the tag port is free */
    uint32_t in_mask;
    uint32_t in_depth, out_mask, out_depth; /* depths: packets */
    /* used when the crossbar takes a reply */
    struct mem_request *out; /* ring: replies for SMs; `cycle`: when the reply reaches the crossbar */
    uint64_t out_head, out_tail;
    uint64_t out_free; /* cycle from which the next reply may leave */
    struct cache cache;
    struct cache_spot last; /* the location of the line that was read or written last */
    struct bypass bypass;
    const struct memmap *map;
    struct dram *dram;
    uint32_t index, of_channel;      /* number among all slices; number in the channel */
    uint32_t port_shift, write_miss; /* port_shift: log2 of the bytes per cycle of the data array */
    uint32_t latency;                /* cycles from the tags to the reply */
    uint32_t dirty_ways;             /* l2.dirty_ways */
    bool dirty_hits;                 /* l2.dirty_hits, if there is such a limit */
    bool write_acks;
    bool perfect;
    bool uncached;  /* without an L2: a line is dropped when the requested sectors have arrived */
    bool by_sector; /* true if accesses are answered sector by sector */
    bool split;     /* true for a sectored L2: a packet becomes one request per group of sectors */
    uint8_t all_sectors;
    uint8_t group[8]; /* sectors that a request covers together with this one */
    struct {
        uint64_t ready;
        uint16_t mshr;
        uint8_t sectors;
    } * fill; /* ring: data from DRAM, for every MSHR and sector */
    uint32_t fill_mask;
    uint64_t fill_head, fill_tail;
    struct l2_answer {
        uint16_t mshr;
        uint8_t sectors;
    } * answer; /* ring: filled MSHRs whose accesses must be answered */
    uint64_t answer_head, answer_tail;
    struct prefetchers prefetchers;
    struct l2_ahead *ahead; /* ring: prefetchers' requests that have not read the tags */
    uint32_t ahead_depth, ahead_head, ahead_n;
    uint32_t line_shift;
    uint64_t fill_free, answer_free; /* cycles from which fills and answers are free */
    uint64_t stalled_since; /* cycle since which the oldest request of `in` is blocked; NEVER if it is not blocked */
    uint64_t settled;       /* cycle after the last access to the tags */
    struct l2_counts n;
};

bool l2_init(struct l2 *s, const struct config *c, const struct memmap *map, struct dram *dram, uint32_t index);
void l2_free(struct l2 *s);
/* Sets the replacement policy. Returns false when memory runs out. Requires an empty slice. */
bool l2_use_replacement(struct l2 *s, const struct replacement_ops *ops);
/* Sets the bypass policy of the slice. Returns false when memory runs out. Requires an empty slice. */
bool l2_use_bypass(struct l2 *s, const struct bypass_ops *ops);
/* Adds a prefetcher at this slice (prefetch.h). Returns false when memory runs out. It observes the accesses that
 * read the tags. It can request only lines of this slice; requests for other lines return PREFETCH_ELSEWHERE. Its
 * requests read the tags when no other access does and no access of an SM is blocked. `cfg` must outlive the slice. */
bool l2_add_prefetcher(struct l2 *s, const struct prefetcher_ops *ops, void *ctx, const struct config *cfg);
/* Returns the number of packets for which the queues have room. */
static inline uint32_t l2_room(const struct l2 *s) {
    return s->in_depth - (uint32_t)(s->door[0].put - s->in[0].head) - (uint32_t)(s->door[1].put - s->in[1].head);
}
/* Loads the ring entry of the next packet into the host's cache. */
static inline void l2_expect(const struct l2 *s, const struct mem_place *at) {
    const struct l2_door *d = &s->door[at->far];
    __builtin_prefetch(&d->at[atomic_load_explicit(&d->put, memory_order_relaxed) & s->door_mask], 1);
}
/* Puts a packet whose last flit arrives at cycle `arrival` into the queue. Requires l2_room(). The slice may run at the
 * same time, up to the cycle at which the packet may read the tags. The slice sees the packet after l2_receive(). */
void l2_accept(struct l2 *s, const struct mem_request *r, const struct mem_place *at, uint64_t arrival);
/* Makes the packets in the queue known to the slice. Returns true if there is a new one. */
bool l2_receive(struct l2 *s);
/* Receives the data of a read that the slice sent to DRAM. */
void l2_fill(struct l2 *s, const struct dram_reply *r);
/* Runs one cycle. Returns true if the last request of a packet has left the queue `in`. */
bool l2_tick(struct l2 *s, uint64_t now);
/* Returns the reply at the head of `out`, or NULL if there is none. */
static inline const struct mem_request *l2_reply(const struct l2 *s) {
    return s->out_head == s->out_tail ? NULL : &s->out[s->out_head & s->out_mask];
}
/* Removes the reply at the head of `out`. Returns true if `out` was full. The slice may then have work at once, so
 * the caller must set s->next. */
static inline bool l2_reply_taken(struct l2 *s) { return s->out_tail - s->out_head++ == s->out_depth; }
#endif
