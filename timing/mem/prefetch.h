#ifndef TIMING_PREFETCH_H
#define TIMING_PREFETCH_H
/* Prefetchers, and other units that request lines which no instruction waits for (decoupled access). A prefetcher at
 * the L1 belongs to an SM. A prefetcher at the L2 belongs to a slice. A prefetcher observes the accesses that read the
 * tags of its cache, and makes requests with prefetch_ask(). A request needs these resources, as any access does:
 *
 *   - an entry in the cache's queue for prefetch requests (lsu.prefetch_queue, l2.prefetch_queue); if no entry is free,
 *     the result is PREFETCH_FULL;
 *   - a cycle of the tag port, in the next cycle at the earliest. Accesses of warps have priority, since a warp waits
 *     for them. At the L1, a request that has waited LSU_PATIENCE cycles has priority over these accesses. So lines
 *     that shall be locked arrive eventually;
 *   - the latency of the tags (l1.latency, as for a load), their energy, and a count (l1.prefetch_lookups);
 *   - an MSHR, a line, and room on the way to memory. A request that lacks one of these three is refused: if it
 *     waited, it would block loads, perhaps the same loads that hold the resource. The prefetcher may try again.
 *
 * A request into the L2 from the L1's prefetcher reads no tags of the L1. It leaves through the SM's port after misses,
 * one request per cycle, and reads the tags of its slice.
 *
 * SMs and slices run on several host threads, so a prefetcher must not touch data of another SM or slice. The order of
 * calls depends on nothing but the configuration. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

enum { PREFETCHERS_MAX = 4 }; /* per cache */

enum prefetch_level { PREFETCH_AT_L1, PREFETCH_AT_L2 };

enum prefetch_want {
    PREFETCH_LINE,    /* a line for the cache that gets the request */
    PREFETCH_LOCK,    /* like PREFETCH_LINE, and also locks the line, from the reading of its tags until an unlock */
    PREFETCH_INTO_L2, /* a request to the L1's prefetch port for a line that goes only into the L2 */
    PREFETCH_UNLOCK,  /* releases a lock of a line that no access will read; accesses have lsu_access.unlock */
};

struct prefetch_request {
    uint64_t address; /* device address in the line */
    uint32_t tag;     /* tag of the requester, returned with each answer */
    uint32_t pc;      /* PC of the instruction that caused the request; `warp` is the warp of this instruction */
    uint16_t note;    /* note of the requester, returned when the line is used first or evicted unused */
    uint16_t warp;
    uint8_t want; /* enum prefetch_want */
    /* wanted sectors of a sectored cache; 0 means the sector of the address at the L1, and all sectors at the L2 */
    uint8_t sectors;
};

/* The result of prefetch_ask(). After PREFETCH_NEVER, the data must be read without a prefetch. A cache with one way
 * cannot lock a line. */
enum prefetch_asked {
    PREFETCH_QUEUED,    /* one or two answers will follow */
    PREFETCH_FULL,      /* rejected; ops->room() is called when the queue has a free entry again */
    PREFETCH_NEVER,     /* rejected forever: the cache does not exist or cannot lock a line */
    PREFETCH_ELSEWHERE, /* the line belongs to another slice */
};

/* The answer to a request that has read the tags. If the request asked for a lock, PRESENT, PENDING and SENT mean
 * that the line is locked. An L1 that always hits (memory.perfect_l1) answers PRESENT to everything and needs no
 * locks. When a cache is emptied between launches, its locks and marks are dropped. */
enum prefetch_answer {
    PREFETCH_PRESENT, /* the data are present; for an unlock: the lock is released */
    PREFETCH_PENDING, /* an earlier request for the line is in flight; ARRIVED follows only for a lock */
    PREFETCH_SENT,    /* a request has been sent; ARRIVED follows */
    /* no line, MSHR, entry in the MSHR, or room on the path to memory is free; the prefetcher may try again */
    PREFETCH_REFUSED,
    PREFETCH_NO_LOCK, /* all ways of the set but one are locked; the prefetcher may try again after an unlock */
    PREFETCH_ARRIVED, /* the data has arrived */
};

/* The kind of an observed access. */
enum prefetch_kind {
    SEEN_LOAD,
    SEEN_STORE,
    SEEN_ATOMIC, /* at the L2 */
    SEEN_AHEAD,  /* a prefetch instruction, or a request of another prefetcher or of a level above */
};
enum prefetch_result {
    SEEN_HIT,
    SEEN_MISS,
    SEEN_MERGED, /* a miss that joins an earlier request in flight */
    SEEN_PAST,   /* at the L1: the access bypassed the L1 (atomics excluded), or the machine has no L1 */
};

/* An access that has read the tags. It is reported once, when it is no longer refused. */
struct prefetch_seen {
    uint64_t cycle;
    /* at the L1: address of the first byte of the lowest lane (for local memory: address of the line); at the L2:
     * address of the first wanted sector */
    uint64_t address;
    uint64_t line; /* address of the cache's line */
    uint32_t pc;
    uint16_t sm;
    uint16_t warp;
    uint8_t kind, result; /* enum prefetch_kind, enum prefetch_result */
    bool local;           /* only at the L1: an access to local memory */
    bool first_use;       /* the access is the first use of a prefetched line */
    bool late;            /* first_use, and the line is still in flight */
    bool own;             /* first_use, and the observer prefetched the line */
    uint16_t note;        /* with this note */
    bool leads;           /* only at the L1: this is the first line of the instruction */
    bool into_l1;         /* for SEEN_AHEAD at the L2: the request is for a line of an L1 */
    uint8_t sectors;      /* first_use: note of the prefetch of this line */
    uint8_t fetched; /* for SEEN_MISS at the L2: sectors requested from memory; all others are present or in flight */
};

enum { PREFETCH_NO_WARP = 0xffff };
/* An evicted line. */
struct prefetch_victim {
    uint64_t cycle, line;
    /* at the L1: slot of the last warp whose access or prefetch requested data of the line; PREFETCH_NO_WARP: none */
    uint16_t warp;
    bool dropped;  /* a store dropped the line; no other line replaced it */
    bool ahead;    /* a prefetch evicted the line; a demand access to the line soon after shows cache pollution */
    bool unused;   /* the line was prefetched and never used */
    bool own;      /* the observer itself prefetched the line */
    uint16_t note; /* note of the request that prefetched the line */
};

/* Counts of one prefetcher's requests since statistics were last taken. */
struct prefetch_counts {
    uint64_t asked, full; /* number of requests that were queued; number rejected because the queue was full */
    uint64_t present, pending, sent, refused, no_lock; /* first answers */
    /* useful: lines whose first use was by a load; late: useful lines that were still in flight at their first use;
     * unused: lines that were never used */
    uint64_t useful, late, unused;
};

/* Adds the counts to the statistics NAME.present, refused, issued, useful, late and unused of a prefetcher. */
#define PREFETCH_STATS_PUT(name, counts, s)                                                                            \
    do {                                                                                                               \
        stats_put(s, STAT_##name##_present, (double)((counts)->present + (counts)->pending));                          \
        stats_put(s, STAT_##name##_refused, (double)(counts)->refused);                                                \
        stats_put(s, STAT_##name##_issued, (double)(counts)->sent);                                                    \
        stats_put(s, STAT_##name##_useful, (double)(counts)->useful);                                                  \
        stats_put(s, STAT_##name##_late, (double)(counts)->late);                                                      \
        stats_put(s, STAT_##name##_unused, (double)(counts)->unused);                                                  \
    } while (0)

/* The cache at which a prefetcher works, and the function that makes its requests. */
struct prefetch_place {
    enum prefetch_level level;
    uint32_t number;     /* number of the SM or slice */
    uint32_t line_bytes; /* line size of the cache; 0 if there is no cache */
    uint32_t who;        /* number that the cache has given to this prefetcher */
    void *cache;
    enum prefetch_asked (*ask)(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now);
};
static inline enum prefetch_asked prefetch_ask(const struct prefetch_place *p, const struct prefetch_request *r,
                                               uint64_t now) {
    return p->ask(p->cache, p->who, r, now);
}

/* The functions of a prefetcher. Each may be NULL. A prefetcher may make requests in all functions except make and
 * stats. */
struct prefetcher_ops {
    const char *name;
    /* Returns the state, or NULL when memory runs out. `cfg` and `place` outlive the state. `ctx` is the field ctx
     * of the prefetcher_row. */
    void *(*make)(const struct config *cfg, const struct prefetch_place *place, void *ctx);
    void (*free)(void *p);
    void (*observe)(void *p, const struct prefetch_seen *s);
    void (*evicted)(void *p, const struct prefetch_victim *v);
    void (*answer)(void *p, uint32_t tag, enum prefetch_answer a, uint64_t now);
    /* Called once after PREFETCH_FULL, when the queue has a free entry. */
    void (*room)(void *p, uint64_t now);
    /* Adds the counts since the last call to `s`, and clears them. `n` has the counts of the cache. */
    void (*stats)(void *p, const struct prefetch_counts *n, struct stats *s);
    /* Prints the prefetcher's part of a line of a deadlock report. */
    int (*describe)(const void *p, char *out, size_t size);
};

/* A kind of prefetcher, and the argument of its make(). Each SM or slice gets one prefetcher of this kind. */
struct prefetcher_row {
    const struct prefetcher_ops *ops;
    void *ctx;
    enum prefetch_level level;
};

/* The prefetchers of one cache, a list of the prefetchers with an observe() call, and a list of the prefetchers with an
 * evicted() call. */
struct prefetchers {
    uint32_t n, n_observe, n_evicted;
    struct prefetch_asker {
        const struct prefetcher_ops *ops;
        void *state;
        bool made;   /* true if prefetchers_add() made `state`, which is then freed with the list */
        bool turned; /* got PREFETCH_FULL, and waits for a free queue entry */
        struct prefetch_place place;
        struct prefetch_counts n;
    } asker[PREFETCHERS_MAX];
    uint8_t observe[PREFETCHERS_MAX], evicted[PREFETCHERS_MAX];
};

/* Adds a prefetcher at `place`, and sets the number `who` of the place. If `state` is NULL, the prefetcher's make() is
 * called with `ctx` to create the state. Returns NULL when memory runs out. Requires fewer than PREFETCHERS_MAX
 * prefetchers. */
struct prefetch_asker *prefetchers_add(struct prefetchers *p, const struct prefetcher_ops *ops, void *state, void *ctx,
                                       const struct config *cfg, const struct prefetch_place *place);
void prefetchers_free(struct prefetchers *p);
void prefetchers_answer(struct prefetchers *p, uint32_t who, uint32_t tag, enum prefetch_answer a, uint64_t now);
/* A line's mark is the number of its prefetcher + 1. PREFETCH_BY_OTHERS means that a prefetcher of another cache
 * prefetched the line. */
enum { PREFETCH_BY_OTHERS = 0xff };
/* Counts the access if it is a first use, and informs observers. `by` and `note` are the line's mark. `by` is 0 if the
 * line was not prefetched. */
void prefetchers_seen(struct prefetchers *p, struct prefetch_seen *s, uint8_t by, uint16_t note);
void prefetchers_evicted(struct prefetchers *p, struct prefetch_victim *v, uint8_t by, uint16_t note);
/* Informs prefetchers that got PREFETCH_FULL that the queue has a free entry. */
void prefetchers_room(struct prefetchers *p, uint64_t now);
void prefetchers_stats(struct prefetchers *p, struct stats *s);
int prefetchers_describe(const struct prefetchers *p, char *out, size_t size);
#endif
