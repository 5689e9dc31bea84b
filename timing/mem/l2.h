#ifndef TIMING_L2_H
#define TIMING_L2_H
/* One slice of the L2 cache. Requests arrive from the crossbar, wait the ROP latency, and read the tags in order, one a
 * cycle. Hits answer; misses go to the slice's DRAM channel and answer after the fill, one waiting access a cycle. The
 * data array moves l2.port_bytes a cycle, for hits, writes, fills and lines written back, and so much goes to the
 * crossbar. Atomics are performed here: a line's lanes at once, lanes on one address one after another. A queue that is
 * full stops what fills it, back to the SM.
 *
 * A sectored slice takes a packet apart when it arrives: each 32-byte sector is a request of its own from there on,
 * with a cycle at the tags, an MSHR, a DRAM access and a reply. Without an L2 the packet stays whole, and the slice
 * reads the sectors that it asks for. */
#include "cache.h"
#include "dram.h"
#include "memport.h"
#include "prefetch.h"
#include "timing/report/stat.h"

/* A request in the slice. */
struct l2_request {
    uint64_t ready; /* core cycle its tags may be read */
    uint64_t line;  /* line number in the slice */
    uint32_t tag;   /* the sender's */
    uint32_t pc;    /* of mem_request, as warp */
    uint16_t sm, bytes;
    uint8_t kind, serial, warp;
    uint8_t sectors; /* of the L2's line */
    uint8_t shift;   /* the sender's line starts at this sector */
    uint8_t full;    /* of a write: sectors that it overwrites completely */
    bool last;       /* of its packet: the packet's place is free when it goes */
};

/* A request of a prefetcher at the slice. */
struct l2_ahead {
    uint64_t line;  /* line number in the slice */
    uint64_t asked; /* cycle */
    uint32_t tag, pc;
    uint16_t note;
    uint8_t warp, who;
};

struct l2_counts {
#define COUNT_FIELDS
#include "l2_stats.def"
};

struct l2 {
    struct cache cache;
    const struct memmap *map;
    struct dram *dram;
    uint32_t index, of_channel;      /* number among all slices, and among those of the channel */
    uint32_t port_shift, write_miss; /* port_shift: log2 of the bytes that the data array moves a cycle */
    uint32_t rop_latency, latency;   /* cycles: arrival to tags, tags to reply */
    bool write_acks;
    bool perfect;
    bool uncached;  /* no L2: a line is forgotten when the sectors that were asked for have come */
    bool by_sector; /* accesses are answered by the sector they wait for */
    bool split;     /* sectored, with an L2: a packet becomes a request for each sector */
    uint8_t all_sectors;
    struct l2_request *in;                           /* ring: from the crossbar */
    struct mem_request *out;                         /* ring: replies, as the SM gets them; cycle: to the crossbar */
    uint32_t in_mask, in_depth, out_mask, out_depth; /* depths: packets */
    uint32_t in_packets;
    uint64_t in_head, in_tail, out_head, out_tail;
    struct {
        uint64_t ready;
        uint16_t mshr;
        uint8_t sectors;
    } * fill; /* ring of data from DRAM, as many as there are MSHRs and sectors */
    uint32_t fill_mask;
    uint64_t fill_head, fill_tail;
    struct l2_answer {
        uint16_t mshr;
        uint8_t sectors;
    } * answer; /* ring of MSHRs that were filled and have accesses to answer */
    uint64_t answer_head, answer_tail;
    struct prefetchers prefetchers;
    struct l2_ahead *ahead; /* ring: before the tags */
    uint32_t ahead_depth, ahead_head, ahead_n;
    uint32_t line_shift;
    uint64_t port_free, fill_free, answer_free; /* cycles */
    uint64_t out_free;                          /* cycle at which the next reply may follow the last one */
    uint64_t stalled_since;                     /* the head of `in` cannot go on */
    uint64_t settled;                           /* cycle after the last access to the tags */
    uint64_t next;                              /* cycle with work, as far as it is known here; UINT64_MAX: none */
    struct l2_counts n;
};

bool l2_init(struct l2 *s, const struct config *c, const struct memmap *map, struct dram *dram, uint32_t index);
void l2_free(struct l2 *s);
/* Replaces lines by this policy from now on; false: out of memory. Requires an empty slice. */
bool l2_use_replacement(struct l2 *s, const struct replacement_ops *ops);
/* A prefetcher at this slice (prefetch.h); false: out of memory. It sees what reads the tags, and asks for lines of
 * this slice only: others are PREFETCH_ELSEWHERE. Its requests read the tags when the slice has nothing else to do
 * there and no access of an SM is held up. `cfg` outlives it. */
bool l2_add_prefetcher(struct l2 *s, const struct prefetcher_ops *ops, void *ctx, const struct config *cfg);
static inline uint32_t l2_room(const struct l2 *s) { return s->in_depth - s->in_packets; }
/* A packet whose last flit is there at cycle `arrival`; requires l2_room(). */
void l2_accept(struct l2 *s, const struct mem_request *r, const struct mem_place *at, uint64_t arrival);
/* Data of a read that l2 sent to DRAM. */
void l2_fill(struct l2 *s, const struct dram_reply *r);
/* One cycle. True when it took a packet out of `in`, or the last of its sectors. */
bool l2_tick(struct l2 *s, uint64_t now);
/* The reply at the head of `out`, NULL: none. */
static inline const struct mem_request *l2_reply(const struct l2 *s) {
    return s->out_head == s->out_tail ? NULL : &s->out[s->out_head & s->out_mask];
}
/* True when there was no room for another one before: then the slice may have work at once, and the caller sets
 * s->next. */
static inline bool l2_reply_taken(struct l2 *s) { return s->out_tail - s->out_head++ == s->out_depth; }
#endif
