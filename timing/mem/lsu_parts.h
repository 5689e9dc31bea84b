#ifndef TIMING_LSU_PARTS_H
#define TIMING_LSU_PARTS_H
/* The inside of the load/store unit: lsu.c has the front (queue, coalescing, banks), lsu_pipes.c what is behind it (the
 * pipelines into the caches, misses and replies). */
#include "cache.h"
#include "coalesce.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "lsu.h"
#include "mem_waits.h"
#include "memport.h"
#include "prefetch.h"
#include "shared_banks.h"
#include "timing/config/warp_set.h"
#include "timing/report/stat.h"
#include "timing/report/trace.h"
#include <stddef.h>

enum {
    LSU_BYPASS = TABLE_SIZE(512, 2),     /* loads and atomics on their way past the L1 */
    LSU_PREFETCHES = TABLE_SIZE(256, 8), /* requests of prefetchers, in the queue or under way */
    LSU_PATIENCE = 32,                   /* cycles after which one of them goes before an access of a warp */
    LSU_FETCHES = TABLE_SIZE(64, 2),     /* instruction fetches that wait for the memory port */
    LSU_FETCH_REPLIES = 8 * LSU_FETCHES, /* and their replies, by sector, that are due or wait for the SM */
    LSU_TAGS = TABLE_SIZE(1024, 2),      /* entries of the tag look-up */
    NO_SLOT = 0xfffe,                    /* of an access that nobody waits for */
    PIPE_WAYS = 8,                       /* lines whose ways a pipeline remembers */
    PREFETCH_SLOT = 0xffff,              /* of such a request; its index takes the place of the lanes */
};
#define BYPASS_TAG 0x80000000u /* marks a request's tag as an index of bypass[] */
#define UNTAGGED   0xffffffffu /* of a prefetch into the L2 that no one asked to be told of */

/* What a line access does. */
enum line_kind {
    LINE_LOAD,
    LINE_STORE,
    LINE_LOCAL_LOAD,
    LINE_LOCAL_STORE,
    LINE_ATOMIC,
    LINE_PREFETCH, /* an instruction's */
    LINE_ASKED,    /* a prefetcher's: slot is an index into ahead[] */
};

/* One access to one line, on its way through a pipeline. */
struct line_op {
    uint64_t address; /* of the line */
    uint64_t ready;   /* cycle at which the tags are read */
    lanemask_t lanes;
    uint32_t pc;
    uint16_t slot, bytes;
    uint8_t sectors, full, kind, serial;
    uint8_t warp, offset; /* offset: of the byte that the lowest lane wants */
    bool unlocks, leads;  /* leads: the first of its instruction */
};

/* A request of a prefetcher. */
struct lsu_ahead {
    struct prefetch_request r;
    uint64_t asked;     /* cycle */
    uint16_t who, next; /* next: of the free ones */
};

/* What prefetches have in flight for one MSHR of the L1, or of the L1 instruction cache. */
struct lsu_ahead_sent {
    uint8_t alone;                  /* sectors that no demand access waits for */
    uint8_t request[CACHE_SECTORS]; /* of each such sector: the sectors that its reply brings */
};

/* An access in flight. */
struct lsu_slot {
    uint32_t tag;
    uint32_t pending; /* lines, and the banks, that are not done; 0: free */
    uint32_t unread;  /* lines whose tags have not been read */
    lanemask_t miss_lanes;
    bool missed;
    bool wide; /* a lane may wait for several lines */
    uint8_t warp;
    uint8_t fill; /* cycles at the banks when all lines are there: the last of `pending` */
};

/* The pipeline of one cache: accesses enter at one end, one a cycle, and find their data or not at the other. */
struct lsu_pipe_counts {
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    CACHE_STATS("", "")
#include "timing/report/count_end.def"
#define COUNT_FIELDS
#include "l1_stats.def"
};
struct lsu_counts {
#define COUNT_FIELDS
#include "lsu_stats.def"
#define COUNT_FIELDS
#include "l1_prefetch_stats.def"
};

struct lsu_pipe {
    struct cache cache;
    bool present;
    bool awaits_fill; /* its cache has refused the head, which nothing but a fill changes */
    uint8_t id;       /* enum lsu_part */
    uint8_t mem_kind; /* of its misses */
    uint8_t line_shift, all_sectors;
    uint32_t line_bytes;
    bool write_back_local, write_back_global;
    uint32_t latency, ports;
    uint16_t *returns; /* ring with peer.lsu_serial_returns: filled MSHRs whose accesses have not returned */
    bool *returning;   /* by MSHR: it is in that ring */
    uint32_t returns_head, n_returns;
    struct lsu_ahead_sent *ahead_sent; /* by MSHR; NULL: no prefetch goes into this cache */
    struct line_op *ring;
    uint32_t mask, depth;
    uint64_t head, tail;
    uint64_t stalled_since;  /* the head was refused first at this cycle; NEVER: it was not */
    uint32_t way[PIPE_WAYS]; /* of the cache: where a line was last, by its low bits */
    struct lsu_pipe_counts n;
};

/* Parts that have a cycle of their own: pipelines, the front, the pipeline of shared memory. */
enum lsu_part {
    PIPE_L1,
    PIPE_CONST,
    PIPE_TEX,
    LSU_PIPES,
    TO_MEMORY = LSU_PIPES,
    PART_FRONT = LSU_PIPES,
    PART_SHARED,
    LSU_PARTS,
    PART_FETCH = LSU_PARTS /* in status.wants only */
};

/* A memory instruction in the front queue. */
struct lsu_front {
    uint64_t ready; /* first cycle it may start */
    uint32_t bank_cycles;
    uint32_t n, next; /* lines, and the next to go */
    uint16_t slot;
    uint8_t dest; /* enum lsu_part */
    struct line_op op[COALESCE_MAX];
};

struct lsu_bypass {
    lanemask_t lanes;
    uint16_t slot, next_free;
    uint8_t due; /* replies */
};

struct lsu {
    struct lsu_status status; /* first: lsu_status() */
    /* By part: the first cycle in which it has something to do. NEVER: it is empty, or waits for a fill of its cache;
     * 0: it was refused, so that it tries again whenever there is a cycle of the unit, which a reply brings, or room at
     * the port. */
    uint64_t due[LSU_PARTS];
    uint32_t n_others;    /* what waits besides: fetches, filled accesses before the banks, requests of prefetchers */
    uint32_t n_returns;   /* of all pipelines */
    uint32_t return_turn; /* pipeline that returns an access first */
    uint32_t sm;
    struct trace *trace; /* NULL: off */
    struct coalescer coalescer;
    struct shared_banks banks;
    struct lsu_pipe pipe[LSU_PIPES];

    struct lsu_front *front; /* ring of cfg.lsu.queue; status.n_queue */
    uint32_t front_head;
    uint64_t front_free;          /* the banks are busy before this cycle */
    uint64_t front_stalled_since; /* NEVER: it goes on */

    struct {
        uint16_t slot[LSU_SLOTS];
        uint64_t ready[LSU_SLOTS];
        uint64_t head, tail;
    } shared; /* accesses in the shared-memory pipeline; ready never falls */
    struct {
        uint16_t slot[LSU_SLOTS];
        uint64_t head, tail;
    } fills; /* accesses whose data wait for the banks */
    struct {
        uint64_t address[LSU_FETCHES];
        uint32_t tag[LSU_FETCHES];
        bool ahead[LSU_FETCHES]; /* for a stream buffer */
        uint64_t head, tail;     /* waiting for the port */
        uint32_t done[LSU_FETCH_REPLIES];
        uint8_t sectors[LSU_FETCH_REPLIES];
        uint32_t done_at;                  /* the oldest of status.n_fetched */
        uint32_t in_flight;                /* replies */
        struct lsu_ahead_sent *ahead_sent; /* by tag; NULL: there are no stream buffers */
    } fetch;

    struct prefetchers prefetchers;
    struct {
        struct lsu_ahead all[LSU_PREFETCHES];
        uint16_t free;    /* list, NO_SLOT ends */
        uint16_t *queue;  /* ring of cfg.lsu.prefetch_queue: before the L1's tags, or the port */
        uint32_t head, n; /* of the queue */
    } ahead;

    struct {
        bool wanted;
        uint32_t n, tag[LSU_SLOTS];
    } misses; /* found in this cycle: lsu_missed() */
    struct {
        bool wanted, noted[LSU_SLOTS];
        uint32_t n, taken;
        uint16_t slot[LSU_SLOTS];
    } known; /* likewise: lsu_known() */

    struct lsu_slot slot[LSU_SLOTS];
    uint16_t free_slot[LSU_SLOTS];  /* status.n_free */
    uint16_t slot_of_tag[LSU_TAGS]; /* last slot used for a tag, by its low bits */
    struct lsu_bypass bypass[LSU_BYPASS];
    uint16_t free_bypass;        /* list, NO_SLOT ends */
    uint32_t stores[WARP_SLOTS]; /* acknowledgements due, by warp */
    struct warp_set stores_ended;
    bool ended; /* in this cycle another one came to it */

    struct mem_waits waits; /* for replies */
    struct lsu_counts n;
    struct config cfg;
};
_Static_assert(offsetof(struct lsu, status) == 0, "lsu_status() looks there");

bool lsu_pipe_init(struct lsu_pipe *p, const struct cache_cfg *c, enum mem_kind kind);
void lsu_pipe_free(struct lsu_pipe *p);
/* The part has asked for room for `n` at the port, and was refused or not. Who waits for replies, or for a place in a
 * table, wants no room. */
static inline bool lsu_refused(struct lsu *l, uint32_t part, uint32_t n, bool refused) {
    uint32_t wants = refused && memport_full(l->status.port, n);
    l->status.wants = (l->status.wants & ~(1u << part)) | wants << part;
    return refused;
}
static inline bool lsu_pipe_full(const struct lsu_pipe *p) { return p->tail - p->head == p->depth; }
/* One cycle of a pipeline's end. */
void lsu_pipe_tick(struct lsu *l, struct lsu_pipe *p, uint64_t now);
static inline void lsu_pipe_enter(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    struct line_op *to = &p->ring[p->tail & p->mask];
    uint64_t ready = now + (p->latency > 1 ? p->latency - 1 : 1);
    if (p->head == p->tail)
        l->due[p->id] = ready;
    p->tail++;
    *to = *op;
    to->ready = ready;
}
/* Takes a reply that is due. */
void lsu_replies(struct lsu *l, uint64_t now);
/* With peer.lsu_serial_returns: one access that waits for a filled line returns. */
void lsu_return(struct lsu *l, uint64_t now);
/* Sends an access past the L1. False when the port or the table is full. */
bool lsu_send_past(struct lsu *l, const struct line_op *op, uint64_t now);
/* `sectors` of `op` as those of the cache's line, which may be longer than the coalescer's. */
static inline uint8_t lsu_sectors_in_line(const struct lsu_pipe *p, const struct line_op *op, uint8_t sectors) {
    unsigned first = (unsigned)(op->address & ((1u << p->line_shift) - 1)) / SECTOR_BYTES;
    return (uint8_t)(sectors << first);
}
/* An instruction's prefetch at the tags of its cache, or on its way past it: dropped where a load would wait. */
void lsu_prefetch(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
void lsu_prefetch_past(struct lsu *l, const struct line_op *op, uint64_t now);
/* A demand access waits for `sectors` of the line of `mshr`. Where only prefetches wait for some of them, its own wait
 * begins: see mem_waits.h. */
void lsu_join_prefetch(struct lsu *l, struct lsu_pipe *p, uint32_t mshr, uint8_t sectors, uint64_t now);
/* A prefetch, a request of kind `kind`, leaves for `sectors`; a prefetch's reply has come. */
void lsu_ahead_leaves(struct lsu *l, struct lsu_ahead_sent *a, uint8_t kind, uint8_t sectors);
void lsu_ahead_came(struct lsu *l, struct lsu_ahead_sent *a, const struct mem_request *r);
/* A prefetcher's request at the tags. */
void lsu_asked(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
/* The data of the request with this index have come. */
void lsu_asked_arrived(struct lsu *l, uint32_t index, uint64_t now);
/* Takes requests out of the queue, through so many of the L1's ports. Returns how many it used. */
uint32_t lsu_asked_tick(struct lsu *l, uint32_t ports, uint64_t now);
/* True when the first of them goes before an access of a warp. */
bool lsu_asked_first(const struct lsu *l, uint64_t now);
/* An access has read the tags, or went past them: to prefetchers at the L1. */
void lsu_seen(struct lsu *l, const struct line_op *op, enum prefetch_result result, const struct cache_out *out,
              uint64_t now);
static inline void lsu_show(struct lsu *l, const struct lsu_pipe *p, const struct line_op *op,
                            enum prefetch_result result, const struct cache_out *out, uint64_t now) {
    if (__builtin_expect(l->prefetchers.n != 0, 0) && (!p || p == &l->pipe[PIPE_L1]))
        lsu_seen(l, op, result, out, now);
}
/* One of the parts that `slot` waits for is done. */
static inline void lsu_part_done(struct lsu *l, uint32_t slot) {
    struct lsu_slot *s = &l->slot[slot];
    hot_assert(s->pending);
    if (--s->pending) {
        if (__builtin_expect(s->fill != 0, 0) && s->pending == 1) {
            l->fills.slot[l->fills.tail++ % LSU_SLOTS] = (uint16_t)slot;
            l->n_others++;
        }
        return;
    }
    uint32_t at = (l->status.done_at + l->status.n_done++) % LSU_SLOTS;
    l->status.done[at] = (struct lsu_finished){s->tag, s->missed};
    l->free_slot[l->status.n_free++] = (uint16_t)slot;
}
#endif
