#ifndef TIMING_LSU_H
#define TIMING_LSU_H
/* The load/store unit of one SM: coalescer, shared-memory banks, L1 data, constant and texture caches, MSHRs. It
 * accepts memory instructions in order, one at a time, into its front queue, and reports when each is complete. It
 * sends requests through the SM's port to the memory side (memport.h); "room at the port" means free entries in the
 * port's queue of requests. */
#include "isa/exec/exec.h"
#include "memport.h"
#include "memsys.h"
#include "prefetch.h"
#include "timing/config/table_size.h"

struct lsu;
struct replacement_ops;
struct bypass_ops;

enum { LSU_SLOTS = TABLE_SIZE(512, 4) }; /* accesses between lsu_accept() and lsu_done() */

/* The fields that an SM reads in every cycle. They are at the start of struct lsu. Only the functions in this file
 * use them. */
struct lsu_status {
    uint64_t next; /* cycle of the next work, not counting replies and room at the port */
    struct memport *port;
    uint32_t wants;             /* bit mask of the unit's parts that wait for room at the port */
    uint32_t queue, n_queue;    /* instruction queue: number of entries; number of entries in use */
    uint32_t n_free;            /* free access slots */
    uint32_t most;              /* largest number of requests sent in one cycle */
    uint32_t n_done, n_fetched; /* number of finished accesses and fetches that the SM has not taken */
    uint32_t done_at;           /* index of the oldest finished access */
    struct lsu_finished {
        uint32_t tag;
        bool missed;
    } done[LSU_SLOTS]; /* a ring */
};
static inline struct lsu_status *lsu_status(const struct lsu *l) { return (struct lsu_status *)(const void *)l; }

/* One memory instruction of one warp.
 *
 * Addresses are byte offsets in shared memory, a thread's own byte offsets in local memory, and device addresses in
 * all other spaces. With `unlock`, the last part of the access that reads a line releases one lock of this line when
 * it reads the tags. Such an access uses the L1, if there is one, whatever its cache operator is. */
struct lsu_access {
    const struct inst *inst;
    lanemask_t lanes;
    /* enum space, where generic addresses are resolved: lanes in shared_lanes access shared memory, all others the
     * caches */
    uint8_t space;
    uint8_t kind; /* enum mem_kind */
    uint8_t n_elems, msize;
    lanemask_t shared_lanes, local_lanes;
    struct halves halves;  /* layout of the addresses */
    const uint64_t *addr;  /* for SHAPE_ANY: the address of each lane; the unit copies it */
    uint64_t local_base;   /* device address of the warp's local memory, for the interleaved timing addresses */
    uint64_t local_stride; /* bytes from one word of the warp's local memory to the next word, a multiple of 128 */
    uint8_t fill;          /* for a read into shared memory (cp.async): cycles at the banks; 0 for other reads */
    uint16_t warp;         /* warp slot, for counting its stores */
    bool unlock;           /* true if it releases the lock of each line that it reads */
    uint32_t pc;           /* for prefetchers */
    uint32_t tag;          /* returned by lsu_done() */
};

/* A request of an SM to read or write the shared memory of another SM of the cluster (timing/clusters.h). */
struct lsu_guest {
    uint64_t sent, cycle; /* cycle at which its SM sent it; cycle at which the last step began */
    uint64_t arrived;     /* cycle at which it arrives at the unit */
    uint32_t tag;         /* of the sender */
    uint16_t from, to;    /* SMs */
    uint32_t out, back;   /* bytes of the request, and of its reply */
    uint32_t passes;      /* cycles that it occupies the banks of shared memory, at least 1 */
};

/* Makes the load/store unit of SM `sm`; `cfg` and `mem` must outlive the unit. Returns NULL when memory runs out. */
struct lsu *lsu_new(const struct config *cfg, struct memsys *mem, uint32_t sm);
void lsu_free(struct lsu *l);
struct trace;
/* Records requests and replies in the trace `t` from now on. NULL means no trace. */
void lsu_trace(struct lsu *l, struct trace *t);
/* Returns true if the unit can accept an instruction. Finished accesses that the SM has not taken count as in flight,
 * so that their ring cannot overflow. */
static inline bool lsu_can_accept(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return s->n_queue < s->queue && s->n_free > s->n_done;
}
/* Returns true if the walk unit has a place for one more heddle.walk. Such an instruction is accepted like any other;
 * the addresses of its access are the host addresses of the lists of its lanes (walker.h). */
bool lsu_can_walk(const struct lsu *l);
/* Returns the number of visits of the walk unit so far. The number never decreases. */
uint64_t lsu_walk_moved(const struct lsu *l);
/* Accepts a memory instruction. Requires lsu_can_accept(). `now` is the current core cycle. */
void lsu_accept(struct lsu *l, const struct lsu_access *a, uint64_t now);
/* Results of a cycle that the SM can take. LSU_ACCESSES: lsu_done(), lsu_missed() or lsu_known() may return an access.
 * LSU_FETCHED: lsu_fetch_done() returns a fetch. LSU_STORES_ENDED: lsu_stores_ended() returns a new warp. */
enum { LSU_ACCESSES = 1, LSU_FETCHED = 2, LSU_STORES_ENDED = 4 };
/* Runs one cycle. The caller may call it in every cycle, or only in the cycles that lsu_next() returns. The results
 * are the same. Returns LSU_ bits. */
unsigned lsu_tick(struct lsu *l, uint64_t now);
/* Returns the earliest cycle after `now` at which the unit has work, including replies that arrive. Returns
 * UINT64_MAX when the unit is empty. */
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
/* Returns the first cycle for which the unit does not know how many requests its port can accept. Ticks from this cycle
 * on are correct only while lsu_goes_on() is true. */
static inline uint64_t lsu_sure(const struct lsu *l) { return lsu_status(l)->port->sure; }
/* Returns true if an access waits for room at the port or for a reply of the cluster's cache. Then the unit must not
 * run beyond lsu_sure(). */
static inline bool lsu_waits(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return s->wants || memport_near_due(s->port);
}
/* returns true if the port has room for all requests that the unit can send in the next cycle */
bool lsu_has_room(const struct lsu *l);
/* Returns true if the port has room for all requests of a cycle, and no reply of the cluster's cache is due. */
static inline bool lsu_goes_on(const struct lsu *l) {
    const struct lsu_status *s = lsu_status(l);
    return !lsu_waits(l) && (memport_ample(s->port, s->most) || lsu_has_room(l));
}
/* Takes one finished access: its tag, and whether it missed the L1. A load finishes when all its data has arrived. A
 * read into shared memory (with `fill`) finishes when the data has been written to the banks. A store finishes when
 * it has left the unit. An atomic finishes when its reply has arrived, even if the atomic has no result. */
static inline bool lsu_done(struct lsu *l, uint32_t *tag, bool *missed) {
    struct lsu_status *s = lsu_status(l);
    if (!s->n_done)
        return false;
    *tag = s->done[s->done_at].tag;
    *missed = s->done[s->done_at].missed;
    s->done_at = --s->n_done ? (s->done_at + 1) % LSU_SLOTS : 0; /* few entries of the ring are accessed */
    return true;
}
/* Lets a reader beside the unit occupy the banks of shared memory for `cycles` cycles, after all accesses that occupy
 * them now. Accesses in the front queue wait. Returns the first cycle in which the banks are free again. */
uint64_t lsu_occupy(struct lsu *l, uint32_t cycles, uint64_t now);
/* Turns on lsu_missed(), which returns each load or atomic once, when one of its lines is known to miss the L1. The
 * miss is known when the tags are read, or when the access is sent past the L1. Models that yield on a miss need
 * this. */
void lsu_note_misses(struct lsu *l);
/* Counts the sectors of accesses in profile[pc] from now on; NULL: nowhere. */
struct gpu_profile;
void lsu_count_in(struct lsu *l, struct gpu_profile *profile);
/* Takes one of the misses that the last lsu_tick() found. */
bool lsu_missed(struct lsu *l, uint32_t *tag);
/* Turns on lsu_known(). lsu_known() returns each load when the tags of all its lines have been read (or the lines
 * were sent past the L1) and some data are missing. It returns the load again whenever one of its lines arrives.
 * Between two such events lsu_waits_on_miss() does not change. Models that split a warp by hit and miss need this. */
void lsu_note_known(struct lsu *l);
/* Takes one of the loads that the last lsu_tick() found. */
bool lsu_known(struct lsu *l, uint32_t *tag);
/* Returns how many stores of warp `warp` have not been acknowledged (always 0 if stores are not acknowledged). */
uint32_t lsu_stores(const struct lsu *l, uint32_t warp);
/* Takes a warp whose last store has been acknowledged. Returns false if no such warp is left. */
bool lsu_stores_ended(struct lsu *l, uint32_t *warp);
/* Returns true if the access `tag` is known to wait for the L2 or DRAM. `*miss_lanes` gets the lanes that wait. SI's
 * stall trigger and the divergence-on-miss options need this. */
bool lsu_waits_on_miss(const struct lsu *l, uint32_t tag, lanemask_t *miss_lanes);
/* Sets the replacement policy of the L1. Returns false when memory runs out. Requires that the L1 has had no access. */
bool lsu_use_replacement(struct lsu *l, const struct replacement_ops *ops);
/* Makes the unit ask whether the warp of each memory instruction is critical, for the replacement policy of the L1. The
 * function is called when the unit accepts the instruction. */
void lsu_ask_critical(struct lsu *l, bool (*critical)(const void *ctx, uint32_t warp), const void *ctx);
/* Sets the bypass policy of the L1. Returns false when memory runs out. Requires that the L1 has had no access. */
bool lsu_use_bypass(struct lsu *l, const struct bypass_ops *ops);
/* Creates a prefetcher at the L1 (prefetch.h). Returns false when memory runs out. Requires fewer than PREFETCHERS_MAX
 * prefetchers, and that nothing is in flight. Without an L1 it observes all accesses that go past it, and may request
 * lines into the L2. */
bool lsu_add_prefetcher(struct lsu *l, const struct prefetcher_ops *ops, void *ctx);
/* Registers an existing unit of the SM as a prefetcher that requests and locks lines. The load/store unit does not
 * create or free it. lsu_tick() passes `state` to `ops->answer` and the other callbacks. The tick() of that unit
 * follows in the same cycle. If it has made a request, it must call sm_lsu_has_work(). The returned pointer is valid as
 * long as the load/store unit exists. To lock, read and unlock a line:
 *
 *   prefetch_ask(PREFETCH_LOCK)  -> QUEUED; FULL: try again in a later cycle; NEVER: read without a lock
 *   answer(PRESENT)              the line is there and locked
 *   answer(SENT or PENDING)      the line is locked; answer(ARRIVED) when it is there
 *   answer(REFUSED or NO_LOCK)   try again later, or read without a lock
 *   an access with `unlock`, or prefetch_ask(PREFETCH_UNLOCK): once for each lock
 *
 * Stores to a locked line leave it in place. A load never waits for an unlock: one way of each set stays unlocked. */
const struct prefetch_place *lsu_join(struct lsu *l, const struct prefetcher_ops *ops, void *state);
/* Accepts a request of another SM; calls come in the order of `arrived`. When it has arrived, it waits for the banks,
 * and has priority over the unit's own accesses. Returns false if memory is out. */
bool lsu_guest(struct lsu *l, const struct lsu_guest *g);
/* Takes the oldest request of another SM that entered the banks in cycle `until` or before. Sets g->cycle to that
 * cycle. Returns false if there is none. */
bool lsu_guest_served(struct lsu *l, uint64_t until, struct lsu_guest *g);
/* Fetches an instruction line through the unit's memory port. Returns false if the port is full. lsu_fetch_done()
 * reports the completion. `ahead` marks a prefetch, which needs fetch.prefetch and a tag below l1i.mshrs. */
bool lsu_fetch(struct lsu *l, uint64_t address, uint32_t tag, bool ahead, uint64_t now);
/* Records that from `now` on a fetch waits for the line that was prefetched with `tag`. If the prefetch request has
 * not left, it becomes the request of the fetch. If it is in flight, the wait of the fetch begins: see mem_waits.h. */
void lsu_fetch_joined(struct lsu *l, uint32_t tag, uint64_t now);
/* Takes a finished fetch: `sectors` of its line have arrived. With a sectored L2 they arrive one by one. */
bool lsu_fetch_done(struct lsu *l, uint64_t now, uint32_t *tag, uint8_t *sectors);
/* Adds the time of requests in flight to the interval that ends at `now`. Call it before lsu_stats(). */
void lsu_account(struct lsu *l, uint64_t now);
void lsu_stats(struct lsu *l, struct stats *s);
/* Prints one line that describes the unit's contents, for deadlock reports. */
void lsu_describe(const struct lsu *l, char *out, size_t size);
/* Warms the L1 and, where the L1 misses, the L2 with an instruction that was executed without time: `fx` has its
 * effects. Accesses to device and constant memory warm the caches; accesses to local memory only if its place, `local`,
 * is not NULL. The access takes no simulated time, and statistics do not count it. `aside`: see cache_warm(). */
struct lsu_local {
    uint64_t base, stride; /* as in struct lsu_access */
};
void lsu_warm(struct lsu *l, struct memsys *mem, const struct inst *in, const struct effects *fx,
              const struct lsu_local *local, bool aside);
/* Gives `bytes` of the unified memory (sm.unified_bytes) to the L1 and to the texture cache, rounded down to whole
 * ways, at least one. A change empties both. */
void lsu_divide(struct lsu *l, uint32_t bytes);
/* Empties the L1 data cache (between launches). Constant and texture caches keep their lines. */
void lsu_flush(struct lsu *l);
#endif
