#ifndef TIMING_LSU_H
#define TIMING_LSU_H
/* The load/store unit of one SM: coalescer, shared-memory banks, L1 data, constant and texture caches, MSHRs. Takes
 * memory instructions in order, one at a time into its front queue, and says when each is complete. */
#include "isa/exec/exec.h"
#include "memport.h"
#include "memsys.h"
#include "prefetch.h"
#include "timing/config/table_size.h"

struct lsu;
struct replacement_ops;

enum { LSU_SLOTS = TABLE_SIZE(512, 4) }; /* accesses between lsu_accept() and lsu_done() */

/* What an SM asks in every cycle: the head of a struct lsu. Others leave it to the functions below. */
struct lsu_status {
    uint64_t next; /* cycle with work, replies and room at the port aside */
    struct memport *port;
    uint32_t wants;             /* bits: parts that wait for room at the port */
    uint32_t queue, n_queue;    /* of instructions: places, and those that are taken */
    uint32_t n_free;            /* accesses that there is room for */
    uint32_t most;              /* requests that a cycle can send */
    uint32_t n_done, n_fetched; /* finished: accesses and fetches that nobody has taken */
    uint32_t done_at;           /* the oldest of these accesses */
    struct lsu_finished {
        uint32_t tag;
        bool missed;
    } done[LSU_SLOTS]; /* a ring */
};
static inline struct lsu_status *lsu_status(const struct lsu *l) { return (struct lsu_status *)(const void *)l; }

/* One memory instruction of one warp. */
struct lsu_access {
    const struct inst *inst;
    lanemask_t lanes;
    uint8_t space; /* enum space, generic resolved: lanes in shared_lanes go to the banks, the rest to the caches */
    uint8_t kind;  /* enum mem_kind */
    uint8_t n_elems, msize;
    lanemask_t shared_lanes, local_lanes;
    struct halves halves;  /* how the addresses lie. Shared: byte offsets; local: a thread's own byte offsets; else
                            * device addresses */
    const uint64_t *addr;  /* SHAPE_ANY: each lane's; copied */
    uint64_t local_base;   /* device address of the warp's local memory, for the interleaved timing addresses */
    uint64_t local_stride; /* bytes from one of its words to the next, a multiple of 128 */
    uint8_t fill;          /* of a read that goes on into shared memory (cp.async): cycles at the banks; 0: none */
    uint8_t warp;          /* whose stores are counted: its slot */
    bool unlock;           /* reading a line takes back one lock of it, when its tags are read, by the last part of the
                            * access that reads it; it reads the L1 if there is one, whatever its cache operator */
    uint32_t pc;           /* for prefetchers */
    uint32_t tag;          /* comes back in lsu_done() */
};

struct lsu *lsu_new(const struct config *cfg, struct memsys *mem, uint32_t sm);
void lsu_free(struct lsu *l);
struct trace;
/* Requests and replies are noted there from now on; NULL: nowhere. */
void lsu_trace(struct lsu *l, struct trace *t);
/* Finished accesses that the SM has not taken yet count as in flight, so that their ring cannot run over. */
static inline bool lsu_can_accept(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return s->n_queue < s->queue && s->n_free > s->n_done;
}
/* Requires lsu_can_accept(). `now` is the current core cycle. */
void lsu_accept(struct lsu *l, const struct lsu_access *a, uint64_t now);
/* What there is to take after a cycle: lsu_done(), lsu_missed() and lsu_known() may have something;
 * lsu_fetch_done() has; lsu_stores_ended() has something more. */
enum { LSU_ACCESSES = 1, LSU_FETCHED = 2, LSU_STORES_ENDED = 4 };
/* One cycle of work. Call it for cycles at which lsu_next() said there is some, or for every cycle: the same result.
 * Returns LSU_ bits. */
unsigned lsu_tick(struct lsu *l, uint64_t now);
/* Earliest cycle > now at which tick has work, replies included; UINT64_MAX when it is empty. */
static inline uint64_t lsu_next(const struct lsu *l, uint64_t now) {
    const struct lsu_status *s = lsu_status(l);
    uint64_t next = s->next, reply = memport_reply_cycle(s->port);
    next = reply < next ? reply : next;
    if (s->wants) {
        uint64_t room = memport_room_cycle(s->port);
        next = room < next ? room : next;
    }
    return next > now && !(s->n_done | s->n_fetched) ? next : now + 1;
}
/* The cycle before which it knows the room at its port; later ticks are right when lsu_goes_on(). */
static inline uint64_t lsu_sure(const struct lsu *l) { return lsu_status(l)->port->sure; }
/* Something waits for room, or for a reply of the cluster's cache: nothing is known beyond lsu_sure(). */
static inline bool lsu_waits(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return s->wants || memport_near_due(s->port);
}
bool lsu_has_room(const struct lsu *l); /* for what the next cycle can send, as things stand */
/* There is room for all that a cycle can send, at least, and the cluster's cache owes nothing. */
static inline bool lsu_goes_on(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return !lsu_waits(l) && (memport_ample(s->port, s->most) || lsu_has_room(l));
}
/* Takes one finished access: its tag, and whether it missed the L1. Loads finish when all data is there, those with
 * `fill` when it has passed the banks, stores when they have left the unit, atomics (also without a result) when their
 * reply is there. */
static inline bool lsu_done(struct lsu *l, uint32_t *tag, bool *missed) {
    struct lsu_status *s = lsu_status(l);
    if (!s->n_done)
        return false;
    *tag = s->done[s->done_at].tag;
    *missed = s->done[s->done_at].missed;
    s->done_at = (s->done_at + 1) % LSU_SLOTS;
    s->n_done--;
    return true;
}
/* From now on lsu_missed() names each load or atomic, once, when it is known that a line of it is not in its L1 cache:
 * when the tags were read, or when it is sent past the L1. For models that give way on a miss (dpe.scheduler). */
void lsu_note_misses(struct lsu *l);
/* Takes one of those that the last lsu_tick() found. */
bool lsu_missed(struct lsu *l, uint32_t *tag);
/* From now on lsu_known() names each load when the tags of all its lines have been read, or these were sent past the
 * L1, and not all of its data are there; and then again whenever a line of it comes: what lsu_waits_on_miss() says of
 * it is all there is to know until the next time. For models that split by hit and miss. */
void lsu_note_known(struct lsu *l);
/* Takes one of those that the last lsu_tick() found. */
bool lsu_known(struct lsu *l, uint32_t *tag);
/* Requests of warp `warp`'s stores that have not been acknowledged (0 without acknowledgements). */
uint32_t lsu_stores(const struct lsu *l, uint32_t warp);
/* Takes one of the warps the last of whose stores has been acknowledged; false: there is none. */
bool lsu_stores_ended(struct lsu *l, uint32_t *warp);
/* True when the access `tag` is known to wait for L2 or DRAM: for SI's stall trigger and the divergence-on-miss
 * options. `*miss_lanes` gets the lanes that wait. */
bool lsu_waits_on_miss(const struct lsu *l, uint32_t tag, lanemask_t *miss_lanes);
/* The L1 replaces lines by this policy from now on; false: out of memory. Requires that no access was made. */
bool lsu_use_replacement(struct lsu *l, const struct replacement_ops *ops);
/* A prefetcher at the L1 (prefetch.h), made here; false: out of memory. Requires fewer than PREFETCHERS_MAX, and that
 * nothing is under way. Without an L1 it sees all that goes past it, and may ask for lines into the L2. */
bool lsu_add_prefetcher(struct lsu *l, const struct prefetcher_ops *ops, void *ctx);
/* Somebody who exists already, for whom no prefetcher is made or freed: a unit of the SM that asks for lines and locks
 * them. `ops->answer` and the others are called with `state`, in lsu_tick(): a unit's tick comes after it in the same
 * cycle, and calls sm_lsu_due() if it has asked. The result holds as long as the unit. How a line is locked, read and
 * unlocked:
 *
 *   prefetch_ask(PREFETCH_LOCK)  -> QUEUED; FULL: again in a later cycle; NEVER: read without
 *   answer(PRESENT)              it is there and locked
 *   answer(SENT or PENDING)      it is locked; answer(ARRIVED) when it is there
 *   answer(REFUSED or NO_LOCK)   ask again later, or read without
 *   an access with `unlock`, or prefetch_ask(PREFETCH_UNLOCK): once for each lock
 *
 * Stores to a locked line leave it where it is. A load never waits for a lock to be taken back: one way of each set has
 * none. */
const struct prefetch_place *lsu_join(struct lsu *l, const struct prefetcher_ops *ops, void *state);
/* Instruction fetch goes to memory through the same port. False when the port is full; done through lsu_fetch_done.
 * `ahead`: a prefetch, with fetch.prefetch and a tag below l1i.mshrs. */
bool lsu_fetch(struct lsu *l, uint64_t address, uint32_t tag, bool ahead, uint64_t now);
/* From `now` on a fetch waits for the line that was asked for ahead with `tag`. A request that has not left becomes the
 * fetch's. For a request in flight the fetch's own wait begins: see mem_waits.h. */
void lsu_fetch_joined(struct lsu *l, uint32_t tag, uint64_t now);
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
