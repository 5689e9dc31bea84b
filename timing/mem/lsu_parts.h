#ifndef TIMING_LSU_PARTS_H
#define TIMING_LSU_PARTS_H
/* The inside of the load/store unit. lsu_accept.c splits instructions into line accesses (coalescing). lsu.c
 * has the front queue and the banks. lsu_pipes.c has the pipelines into the caches, the misses and the replies. */
#include "bypass.h"
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
#include "timing/report/profile.h"
#include "timing/report/stat.h"
#include "timing/report/trace.h"
#include "walker.h"
#include <stddef.h>

enum {
    LSU_BYPASS = TABLE_SIZE(512, 2),     /* number of loads and atomics in flight past the L1 */
    LSU_PREFETCHES = TABLE_SIZE(256, 8), /* number of prefetchers' requests, queued or in flight */
    LSU_PATIENCE = 32, /* number of cycles after which a prefetcher's request has priority over an access of a warp */
    LSU_FETCHES = TABLE_SIZE(64, 2), /* number of instruction fetches that wait for the memory port */
    /* number of instruction replies, counted by sector, that are due or wait for the SM */
    LSU_FETCH_REPLIES = 8 * LSU_FETCHES,
    LSU_TAGS = TABLE_SIZE(1024, 2), /* entries of the look-up table from tags to slots */
    NO_SLOT = 0xfffe,               /* value of `slot` for an access for which no instruction waits */
    PIPE_WAYS = 8,                  /* number of lines whose way a pipeline remembers */
    PREFETCH_SLOT = 0xffff,         /* value of `slot` for a prefetcher's request, whose index is in `lanes` */
};
#define BYPASS_TAG 0x80000000u /* marks a request's tag as an index into bypass[] */
#define UNTAGGED   0xffffffffu /* tag of a prefetch into the L2 that needs no answer */

/* The kind of a line access. */
enum line_kind {
    LINE_LOAD,
    LINE_STORE,
    LINE_LOCAL_LOAD,
    LINE_LOCAL_STORE,
    LINE_ATOMIC,
    LINE_PREFETCH, /* of an instruction */
    LINE_ASKED,    /* access of a prefetcher: `slot` is an index into prefetch[] */
};

/* An access to one line in a pipeline. */
struct line_op {
    uint64_t address; /* of the line */
    uint64_t ready;   /* cycle at which the tags are read */
    lanemask_t lanes;
    uint32_t pc;
    uint16_t slot, bytes;
    uint8_t sectors, full, kind, serial;
    uint16_t warp;
    uint8_t offset;       /* offset in the line of the lowest lane's first byte */
    uint8_t cache_op : 5; /* enum cache_op; set with lsu.details only */
    bool unlocks : 1,
        leads : 1,    /* unlocks: the access releases a lock; leads: it is the first access of its instruction */
        critical : 1; /* the warp is critical; set with lsu.details only */
};
_Static_assert(sizeof(struct line_op) == 40, "small: it is copied into pipelines");

/* A request of a prefetcher. */
struct lsu_ahead {
    struct prefetch_request r;
    uint64_t asked;     /* cycle of the request */
    uint16_t who, link; /* link: lsu_link() of the next entry of the free list */
};

/* Prefetch requests in flight for one MSHR of the L1 or of the L1 instruction cache. */
struct lsu_ahead_sent {
    uint8_t alone;                  /* sectors for which only prefetches wait */
    uint8_t request[CACHE_SECTORS]; /* for each sector of `alone`: the sectors that arrive in the same reply */
};

/* An access in flight. */
struct lsu_slot {
    uint32_t tag;
    uint32_t pending; /* number of unfinished parts (its lines, and its access to the banks); 0 if the slot is free */
    uint32_t unread;  /* number of lines whose tags have not been read */
    lanemask_t miss_lanes;
    bool missed;
    bool wide;  /* true if a lane may wait for several lines, or a lane above 31 waits; miss_lanes then only grows */
    bool walks; /* true for an access of the walk unit */
    uint16_t warp;
    /* number of cycles in which the data are written to the banks, after all lines have arrived, as the last part of
     * the access; 0: the access has no such write */
    uint8_t fill;
};

/* Counts of the pipeline of one cache. Each port lets one access per cycle into the pipeline. An access reads the tags
 * at the pipeline's end. */
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

/* A bank of the L1: its part of the pipeline, and the cycle after the last access entered. */
struct lsu_bank {
    uint64_t head, tail, entered;
};

struct lsu_pipe {
    struct cache cache;
    struct bypass bypass; /* at the L1 */
    bool present;
    bool always_hits; /* memory.perfect_l1, peer.lsu_perfect_constants */
    bool awaits_fill; /* true if the cache refused the oldest access, which must wait for a fill */
    uint8_t id;       /* enum lsu_part */
    uint8_t mem_kind; /* kind of the requests that its misses send */
    uint8_t line_shift, all_sectors;
    uint32_t line_bytes;
    bool write_back_local, write_back_global;
    uint32_t latency, ports;
    uint16_t *returns; /* ring, used with peer.lsu_serial_returns: filled MSHRs with accesses that have not returned */
    bool *returning;   /* indexed by MSHR: true if the MSHR is in this ring */
    uint32_t returns_head, n_returns;
    struct lsu_ahead_sent *ahead_sent; /* indexed by MSHR; NULL if no prefetch goes into this cache */
    struct line_op *ring;
    uint32_t mask, depth;
    uint64_t head, tail;     /* with banks: their sums over all banks */
    struct lsu_bank *bank;   /* peer.l1_banks: `ports` banks, each with depth + 1 entries of `ring`; else NULL */
    uint32_t miss_queue;     /* peer.l1_miss_queue; 0: no limit */
    uint64_t miss_queue_end; /* cycle at which the queue of misses and stores becomes empty */
    bool misses_full;        /* true if this queue had no room for the last refused access */
    uint64_t stalled_since;  /* cycle in which the oldest access was first refused; NEVER if it was not refused */
    uint32_t way[PIPE_WAYS]; /* cache way where a line was last found, indexed by the line's low bits */
    struct lsu_pipe_counts n;
};

/* The parts of the unit that have an entry in due[]: the pipelines, the front, and the pipeline of shared memory. */
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

/* A memory instruction in the front queue of the unit. */
struct lsu_front {
    uint64_t ready; /* first cycle in which it may start */
    uint32_t bank_cycles;
    uint32_t n, next; /* number of lines, and index of the next line to send */
    uint16_t slot;
    uint8_t dest; /* enum lsu_part */
    struct line_op op[COALESCE_MAX];
};

struct lsu_bypass {
    lanemask_t lanes;
    uint16_t slot, link; /* link: lsu_link() of the next entry of the free list */
    uint8_t due;         /* replies due */
};

struct lsu {
    struct lsu_status status; /* must be the first member: see lsu_status() */
    /* For each part, the first cycle in which it has work. NEVER: the part is empty, or waits for a fill of its cache.
     * 0: the part was refused, and tries again in every cycle in which the unit runs because of a reply or room at the
     * port. */
    uint64_t due[LSU_PARTS];
    /* number of other jobs: fetches, filled accesses before the banks, prefetchers' requests, walks, entries of
     * `returns` */
    uint32_t n_others;
    uint32_t n_returns;   /* number of filled MSHRs of all pipelines whose accesses must return */
    uint32_t return_turn; /* pipeline that has priority in returning an access */
    uint32_t sm;
    struct trace *trace;         /* NULL if there is no trace */
    struct gpu_profile *profile; /* counts by PC; NULL: off */
    struct coalescer coalescer;
    struct shared_banks banks;
    struct lsu_pipe pipe[LSU_PIPES];

    struct lsu_front *front; /* ring of cfg->lsu.queue entries; status.n_queue are in use */
    uint32_t front_head;
    uint64_t front_free;          /* cycle before which the banks are busy */
    uint64_t front_stalled_since; /* cycle since which the head is blocked; NEVER if it is not blocked */

    bool details; /* line accesses have the details that prefetchers, lock owners and policies of the L1 need */
    bool ended;   /* true if a warp was added to stores_ended in this cycle */
    struct {
        bool (*of)(const void *ctx, uint32_t warp); /* lsu_ask_critical(); NULL: no warp is critical */
        const void *ctx;
    } critical;
    struct walker walker;
    struct mem_waits waits; /* waits for replies */
    struct lsu_counts n;
    const struct config *cfg; /* outlives the unit */
    struct {
        struct lsu_guest *at; /* in order of arrival; the first `served` have entered the banks, `taken` were taken */
        uint32_t n, cap, served, taken;
    } guests;
    struct warp_set stores_ended;
    uint16_t free_bypass; /* head of the free list of `bypass`, which ends with LSU_BYPASS */
    struct {
        uint16_t free; /* head of the free list of `prefetch`, which ends with LSU_PREFETCHES */
        /* ring of cfg->lsu.prefetch_queue entries: requests that wait for the L1's tags or for the port */
        uint16_t *queue;
        uint32_t head, n; /* head and length of the queue */
    } ahead;
    struct prefetchers prefetchers;
    struct {
        bool wanted;
        uint32_t n, tag[LSU_SLOTS];
    } misses; /* misses found in this cycle: lsu_missed() */
    struct {
        bool wanted;
        uint32_t n, taken;
        bool noted[LSU_SLOTS];
        uint16_t slot[LSU_SLOTS];
    } known; /* loads found in this cycle: lsu_known() */

    /* Most runs access only the first entries of these tables. */
    struct {
        uint64_t head, tail;
        uint16_t slot[LSU_SLOTS];
    } fills; /* accesses whose data wait for the banks */
    struct {
        uint64_t address[LSU_FETCHES];
        uint32_t tag[LSU_FETCHES];
        bool ahead[LSU_FETCHES];           /* for a stream buffer */
        uint64_t head, tail;               /* head and tail of the fetches that wait for the port */
        struct lsu_ahead_sent *ahead_sent; /* indexed by tag; NULL if there are no stream buffers */
        uint32_t done_at;                  /* index of the oldest of status.n_fetched replies */
        uint32_t in_flight;                /* replies due */
        uint8_t sectors[LSU_FETCH_REPLIES];
        uint32_t done[LSU_FETCH_REPLIES];
    } fetch;
    uint16_t slot_of_tag[LSU_TAGS]; /* last slot used for a tag, indexed by the tag's low bits */
    uint32_t stores[WARP_SLOTS];    /* acknowledgements due, by warp */
    struct {
        uint64_t head, tail;
        uint16_t slot[LSU_SLOTS];
        uint64_t ready[LSU_SLOTS];
    } shared;                      /* accesses in the shared-memory pipeline, in the order of `ready` */
    uint16_t free_slot[LSU_SLOTS]; /* stack of status.n_free */
    struct lsu_slot slot[LSU_SLOTS];
    struct lsu_bypass bypass[LSU_BYPASS];
    struct lsu_ahead prefetch[LSU_PREFETCHES];
};
_Static_assert(offsetof(struct lsu, status) == 0, "lsu_status() looks there");

/* The free lists of `bypass` and `prefetch`. A link counts from the following entry, so that the entries of zeroed
 * memory form a list in order, and entries that were never used are not touched. */
static inline uint16_t lsu_link(uint32_t entry, uint32_t next) { return (uint16_t)(next - entry - 1); }
static inline uint16_t lsu_next_free(uint32_t entry, uint16_t link) { return (uint16_t)(entry + 1 + link); }

/* Returns the largest size of the L1 or of the texture cache, in whole ways: all of the unified memory, if any. */
static inline uint32_t lsu_largest(const struct config *c, const struct cache_cfg *cache) {
    const uint32_t way = cache->size / cache->ways, unified = way ? c->sm.unified_bytes / way * way : 0;
    return !c->sm.unified_bytes ? cache->size : unified ? unified : way;
}
/* `bytes`: the largest size of the cache: c->size, or more where launches change it (lsu_divide()). `banks`: each port
 * has a bank of its own (lsu_banks.c). */
bool lsu_pipe_init(struct lsu_pipe *p, const struct cache_cfg *c, uint32_t bytes, enum mem_kind kind, bool banks);
void lsu_pipe_free(struct lsu_pipe *p);
/* Records whether `part` waits for room at the port: it was refused, and the port lacks room for its `n` requests. A
 * part that was refused for another reason waits for a reply or a table entry. Returns `refused`. */
static inline bool lsu_refused(struct lsu *l, uint32_t part, uint32_t n, bool refused) {
    uint32_t wants = refused && memport_full(l->status.port, n);
    l->status.wants = (l->status.wants & ~(1u << part)) | wants << part;
    return refused;
}
static inline bool lsu_pipe_full(const struct lsu_pipe *p) { return p->tail - p->head >= p->depth; }
/* Runs the tag stage at the end of a pipeline for one cycle. */
void lsu_pipe_tick(struct lsu *l, struct lsu_pipe *p, uint64_t now);
/* Functions of a pipeline with banks (lsu_banks.c). lsu_banks_enter() may follow lsu_banks_take() or, for prefetches,
 * !lsu_pipe_full(). */
bool lsu_banks_take(const struct lsu_pipe *p, const struct line_op *op, uint64_t now);
void lsu_banks_enter(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
/* Performs an access that reads the tags. Returns false if it must wait. */
typedef bool lsu_finish_fn(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
void lsu_banks_tick(struct lsu *l, struct lsu_pipe *p, uint64_t now, lsu_finish_fn *finish);
/* Returns true if the pipeline has room for `op`. */
static inline bool lsu_pipe_takes(const struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    return __builtin_expect(p->bank != NULL, 0) ? lsu_banks_take(p, op, now) : !lsu_pipe_full(p);
}
static inline void lsu_pipe_enter(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now) {
    if (__builtin_expect(p->bank != NULL, 0)) {
        lsu_banks_enter(l, p, op, now);
        return;
    }
    struct line_op *to = &p->ring[p->tail & p->mask];
    uint64_t ready = now + (p->latency > 1 ? p->latency - 1 : 1);
    if (p->head == p->tail)
        l->due[p->id] = ready;
    p->tail++;
    *to = *op;
    to->ready = ready;
}
/* Takes the first reply from the port: one reply per cycle. */
void lsu_replies(struct lsu *l, uint64_t now);
/* Completes one access that waits for a line that has been filled (peer.lsu_serial_returns). */
void lsu_return(struct lsu *l, uint64_t now);
/* Sends an access past the L1. Returns false if the port or the table is full. */
bool lsu_send_past(struct lsu *l, const struct line_op *op, uint64_t now);
/* Converts `sectors` of `op` to sectors of the cache's line, which may be longer than the coalescer's line. */
static inline uint8_t lsu_sectors_in_line(const struct lsu_pipe *p, const struct line_op *op, uint8_t sectors) {
    unsigned first = (unsigned)(op->address & ((1u << p->line_shift) - 1)) / SECTOR_BYTES;
    return (uint8_t)(sectors << first);
}
/* Executes a prefetch instruction when its access reads the tags of its cache, or when it goes past the L1. The
 * prefetch is dropped whenever a load would wait. */
void lsu_prefetch(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
void lsu_prefetch_past(struct lsu *l, const struct line_op *op, uint64_t now);
/* Makes a demand access wait for `sectors` of the line of `mshr`. If only prefetches wait for some of these sectors,
 * a demand wait begins (see mem_waits.h). */
void lsu_join_prefetch(struct lsu *l, struct lsu_pipe *p, uint32_t mshr, uint8_t sectors, uint64_t now);
/* lsu_ahead_leaves() records that a prefetch request of kind `kind` for `sectors` leaves. lsu_ahead_came() records
 * that the reply to a prefetch has arrived. */
void lsu_ahead_leaves(struct lsu *l, struct lsu_ahead_sent *a, uint8_t kind, uint8_t sectors);
void lsu_ahead_came(struct lsu *l, struct lsu_ahead_sent *a, const struct mem_request *r);
/* Executes a prefetcher's request that reads the tags. */
void lsu_asked(struct lsu *l, struct lsu_pipe *p, const struct line_op *op, uint64_t now);
/* Reports to the owner of request `index` that its data have arrived. */
void lsu_asked_arrived(struct lsu *l, uint32_t index, uint64_t now);
/* Moves prefetchers' requests from their queue into the L1's pipeline, through up to `ports` ports. Returns the
 * number of ports used. */
uint32_t lsu_asked_tick(struct lsu *l, uint32_t ports, uint64_t now);
/* Returns true if the oldest request in the prefetchers' queue has priority over an access of a warp. */
bool lsu_asked_first(const struct lsu *l, uint64_t now);
/* Reports an access that has read the tags, or went past the L1, to the prefetchers at the L1. */
void lsu_seen(struct lsu *l, const struct line_op *op, enum prefetch_result result, const struct cache_out *out,
              uint64_t now);
static inline void lsu_show(struct lsu *l, const struct lsu_pipe *p, const struct line_op *op,
                            enum prefetch_result result, const struct cache_out *out, uint64_t now) {
    if (__builtin_expect(l->prefetchers.n != 0, 0) && (!p || p == &l->pipe[PIPE_L1]))
        lsu_seen(l, op, result, out, now);
}
/* Continues the rays that waited for the access `slot` of the walk unit, which has ended, and frees the slot. */
static inline void walker_arrived(struct lsu *l, uint32_t slot) {
    struct walker *w = &l->walker;
    struct walk *k = &w->walk[w->access[slot].walk];
    const uint64_t ready = w->now + l->cfg->walk.latency;
    for (lanemask_t m = w->access[slot].lanes; m; m &= m - 1)
        k->ray[lanes_first(m)].ready = ready;
    k->next = min64(k->next, ready);
    w->next = min64(w->next, ready);
    l->slot[slot].walks = false;
    l->free_slot[l->status.n_free++] = (uint16_t)slot;
}
/* Records that one of the parts that `slot` waits for has ended. */
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
    if (__builtin_expect(s->walks, 0)) {
        walker_arrived(l, slot);
        return;
    }
    uint32_t at = (l->status.done_at + l->status.n_done++) % LSU_SLOTS;
    l->status.done[at] = (struct lsu_finished){s->tag, s->missed};
    l->free_slot[l->status.n_free++] = (uint16_t)slot;
}
#endif
