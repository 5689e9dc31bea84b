#ifndef TIMING_PREFETCH_H
#define TIMING_PREFETCH_H
/* Prefetchers, and whoever else asks for lines that no instruction waits for (decoupled access). One that is at the L1
 * belongs to an SM, one at the L2 to a slice: it sees what reads the tags there, and asks by prefetch_ask(). What it
 * asks for takes what any access takes:
 *
 *   - a place in the cache's queue of such requests (lsu.prefetch_queue, l2.prefetch_queue); PREFETCH_FULL without one;
 *   - a turn at the tag port, in the cycle after it was asked for at the earliest. Accesses of warps go first, since a
 *     warp waits for them and none waits for a prefetch; but a request that has waited LSU_PATIENCE cycles for the L1
 *     goes before them, once, so that lines that somebody has to lock come at last;
 *   - the latency of the tags (l1.latency as for a load), their energy, and a count (l1.prefetch_lookups);
 *   - an MSHR, a line, and room on the way to memory. A request that finds none of them does not wait there, where it
 *     would hold up loads, perhaps those that it waits for: it is refused, and its owner asks again or does not.
 *
 * Requests into the L2 by a prefetcher at the L1 read no tags of the L1: they leave by the SM's port, one a cycle,
 * behind what misses, and read those of the slice, where they come.
 *
 * Nobody listens: callers look at a count. SMs and slices run on several host threads: what belongs to one of them must
 * not touch what belongs to another. The calls come in an order that depends on nothing but the configuration. */
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

enum { PREFETCHERS_MAX = 4 }; /* of a cache */

enum prefetch_level { PREFETCH_AT_L1, PREFETCH_AT_L2 };

enum prefetch_want {
    PREFETCH_LINE,    /* into the cache that is asked */
    PREFETCH_LOCK,    /* likewise, and held in place from the moment its tags were read until it is unlocked */
    PREFETCH_INTO_L2, /* at the L1: into the L2 only */
    PREFETCH_UNLOCK,  /* takes back a lock of a line that nobody will read; see lsu_access.unlock for those who do */
};

struct prefetch_request {
    uint64_t address; /* device address, of which the line is meant */
    uint32_t tag;     /* the asker's; comes back with each answer */
    uint32_t pc;      /* on whose behalf: */
    uint16_t note;    /* the asker's; comes back with the line's first use, or when it goes unused */
    uint8_t warp;
    uint8_t want;    /* enum prefetch_want */
    uint8_t sectors; /* of the line, in a sectored cache; 0: L1: the one of the address, L2: all */
};

/* At once: */
enum prefetch_asked {
    PREFETCH_QUEUED,    /* one answer will come, or two */
    PREFETCH_FULL,      /* nothing was done; ops->room() is called when there is a place again */
    PREFETCH_NEVER,     /* nor ever will: there is no such cache, or, for a lock, it has one way and no line may be
                         * locked. The data has to be read without. */
    PREFETCH_ELSEWHERE, /* the line is another slice's */
};

/* When the tags were read. A lock is granted with PRESENT, PENDING and SENT. An L1 that always hits (memory.perfect_l1)
 * says PRESENT to everything and needs no locks; of a cache that is emptied between launches locks and marks go. */
enum prefetch_answer {
    PREFETCH_PRESENT, /* the data is there; for an unlock: done */
    PREFETCH_PENDING, /* it was asked for before. ARRIVED follows for a lock only. */
    PREFETCH_SENT,    /* a request has left; ARRIVED follows */
    PREFETCH_REFUSED, /* no free line, MSHR, place in the MSHR, or room to memory: nothing was done; ask again later */
    PREFETCH_NO_LOCK, /* all ways of the set but one are locked: nothing was done; ask again after an unlock */
    PREFETCH_ARRIVED, /* the data is there now */
};

/* What an access was, for those who observe. */
enum prefetch_kind {
    SEEN_LOAD,
    SEEN_STORE,
    SEEN_ATOMIC, /* at the L2 */
    SEEN_AHEAD,  /* an instruction's prefetch, or a request of another prefetcher or of a level above */
};
enum prefetch_result {
    SEEN_HIT,
    SEEN_MISS,
    SEEN_MERGED, /* a miss that joins one that is under way */
    SEEN_PAST,   /* at the L1: it went past it (atomics aside), or there is none */
};

/* An access that has read the tags, once, when it is no longer refused. */
struct prefetch_seen {
    uint64_t cycle;
    uint64_t address; /* L1: the byte of the lowest lane (local memory: of the line); L2: of the first sector wanted */
    uint64_t line;    /* address of the cache's line */
    uint32_t pc;
    uint16_t sm;
    uint8_t warp;
    uint8_t kind, result; /* enum prefetch_kind, enum prefetch_result */
    bool local;           /* local memory; at the L1 */
    bool first_use;       /* of a line that was asked for ahead, */
    bool late;            /* which is still on its way */
    bool own;             /* first_use: by the one who is being told, */
    uint16_t note;        /* with this note */
    bool leads;           /* at the L1: the first line of its instruction */
    bool into_l1;         /* SEEN_AHEAD, at the L2: for a line of an L1 */
    uint8_t sectors;      /* of the line: wanted */
    uint8_t fetched;      /* SEEN_MISS, at the L2: asked from memory; others are there, or on their way */
};

/* A line that had to leave. */
struct prefetch_victim {
    uint64_t cycle, line;
    bool ahead;    /* it made room for one that is asked for ahead: a demand for it soon is pollution */
    bool unused;   /* it was asked for ahead itself, and not used, */
    bool own;      /* by the one who is being told, */
    uint16_t note; /* with this note */
};

/* What became of the requests of one asker since the last statistics. */
struct prefetch_counts {
    uint64_t asked, full;                              /* taken into the queue; turned away there */
    uint64_t present, pending, sent, refused, no_lock; /* first answers */
    uint64_t useful, late, unused;                     /* lines used first by a load; of these, under way; not used */
};

/* Where a prefetcher is, and how it asks. */
struct prefetch_place {
    enum prefetch_level level;
    uint32_t number;     /* of the SM or the slice */
    uint32_t line_bytes; /* of the cache; 0: there is none */
    uint32_t who;        /* which asker of that cache */
    void *cache;
    enum prefetch_asked (*ask)(void *cache, uint32_t who, const struct prefetch_request *r, uint64_t now);
};
static inline enum prefetch_asked prefetch_ask(const struct prefetch_place *p, const struct prefetch_request *r,
                                               uint64_t now) {
    return p->ask(p->cache, p->who, r, now);
}

/* Each call may be NULL. From all of them but make and stats a prefetcher may ask. */
struct prefetcher_ops {
    const char *name;
    /* `cfg` and `place` outlive it; `ctx` is the row's. NULL: out of memory. */
    void *(*make)(const struct config *cfg, const struct prefetch_place *place, void *ctx);
    void (*free)(void *p);
    void (*observe)(void *p, const struct prefetch_seen *s);
    void (*evicted)(void *p, const struct prefetch_victim *v);
    void (*answer)(void *p, uint32_t tag, enum prefetch_answer a, uint64_t now);
    /* After PREFETCH_FULL, once. */
    void (*room)(void *p, uint64_t now);
    /* Adds the counts since the last call under registered names, and clears them. `n`: what its cache has counted. */
    void (*stats)(void *p, const struct prefetch_counts *n, struct stats *s);
    /* For deadlock reports: the rest of a line. */
    int (*describe)(const void *p, char *out, size_t size);
};

/* A prefetcher that each SM or each slice of a GPU gets, and what its make() is given. */
struct prefetcher_row {
    const struct prefetcher_ops *ops;
    void *ctx;
    enum prefetch_level level;
};

/* For the caches: those who ask one of them, and which of these listen to what. */
struct prefetchers {
    uint32_t n, n_observe, n_evicted;
    struct prefetch_asker {
        const struct prefetcher_ops *ops;
        void *state;
        bool made;   /* here: to be freed here */
        bool turned; /* away, for want of a place */
        struct prefetch_place place;
        struct prefetch_counts n;
    } asker[PREFETCHERS_MAX];
    uint8_t observe[PREFETCHERS_MAX], evicted[PREFETCHERS_MAX];
};

/* Adds one at `place`, whose `who` is set here; `state` NULL: made with `ctx`. NULL: out of memory. Requires fewer than
 * PREFETCHERS_MAX. */
struct prefetch_asker *prefetchers_add(struct prefetchers *p, const struct prefetcher_ops *ops, void *state, void *ctx,
                                       const struct config *cfg, const struct prefetch_place *place);
void prefetchers_free(struct prefetchers *p);
void prefetchers_answer(struct prefetchers *p, uint32_t who, uint32_t tag, enum prefetch_answer a, uint64_t now);
/* Marks in the cache name an asker by its number + 1; PREFETCH_BY_OTHERS: nobody who is here. */
enum { PREFETCH_BY_OTHERS = 0xff };
/* Counts a first use, if it is one, and tells those who observe. `by` and note: of the mark, by 0: it was not ahead. */
void prefetchers_seen(struct prefetchers *p, struct prefetch_seen *s, uint8_t by, uint16_t note);
void prefetchers_evicted(struct prefetchers *p, struct prefetch_victim *v, uint8_t by, uint16_t note);
/* There is a place in the queue. */
void prefetchers_room(struct prefetchers *p, uint64_t now);
void prefetchers_stats(struct prefetchers *p, struct stats *s);
int prefetchers_describe(const struct prefetchers *p, char *out, size_t size);
#endif
