#ifndef TIMING_CACHE_H
#define TIMING_CACHE_H
/* One cache: tags, replacement, and miss status holding registers (MSHRs). It knows neither cycles nor what lies below:
 * its owner asks, sends what a miss needs, and hands in the fill. Used for L1 data, constant, texture and instruction
 * caches and for the L2 slices.
 *
 * Lines are named by line number (address / line size, within whatever part of the address space the cache serves).
 * A line consists of 32-byte sectors; an unsectored cache simply asks for all of them. A line is reserved when its miss
 * is sent (allocate on miss), so a reserved way cannot be a victim. What is outstanding of a line is kept together, in
 * one struct cache_mshr, also in a sectored cache, whose MSHRs are counted by sector. */
#include "replacement.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_shape {
    uint32_t sets, ways;
    uint32_t line_bytes;                       /* power of two, 32..256 */
    uint32_t mshrs, merges;                    /* merges: waiting accesses of one MSHR, the first included */
    uint32_t index;                            /* enum cache_index: how a line number becomes a set */
    const struct replacement_ops *replacement; /* NULL: LRU */
    bool sectored; /* a miss fetches the sectors wanted, not the line, and an MSHR is for one sector: `mshrs`
                             * sectors may be outstanding, and `merges` accesses may wait for each */
};

enum cache_result {
    CACHE_HIT,    /* all wanted sectors are there */
    CACHE_MISS,   /* registered; the owner sends a request for out.fetch with tag out.mshr */
    CACHE_MERGED, /* registered; waits for a request that is under way */
    /* refused, nothing changed: try again after a fill */
    CACHE_NO_LINE, /* every way of the set is reserved or locked */
    CACHE_NO_MSHR,
    CACHE_NO_MERGE, /* the line's MSHR has no room for another access */
};

enum { CACHE_NONE = 0xffffu, CACHE_SECTORS = 8 };

/* Of a line that was asked for ahead of its use, until it is used: who asked (the owner's number, 0: nobody) with what
 * note, and which sectors. */
struct cache_mark {
    uint16_t note;
    uint8_t by, sectors;
};

struct cache_out {
    uint64_t victim;        /* line number of a line that had to leave */
    uint8_t victim_sectors; /* its dirty sectors; 0: nothing to write back */
    uint8_t fetch;          /* sectors to ask for; only for CACHE_MISS */
    uint16_t mshr;          /* for CACHE_MISS and CACHE_MERGED: what the access waits in */
    bool evicted;           /* there is a victim */
    bool late;              /* what was used is still on its way */
    struct cache_mark gone; /* the victim's: it was not used */
    struct cache_mark used; /* of the line that was read: this is its first use */
};

struct cache_way {
    uint16_t mshr;          /* that will fill it, CACHE_NONE */
    uint8_t valid, dirty;   /* sectors */
    uint8_t locks;          /* holds it in place while > 0 */
    struct cache_mark mark; /* by 0: it did not come ahead of its use, or was used since */
};

struct cache_target {
    uint64_t id;     /* the owner's */
    uint8_t sectors; /* wanted */
};

struct cache_mshr {
    uint32_t way;                 /* index into way[] */
    uint64_t used;                /* last access: the line's age once it is filled */
    uint8_t pending;              /* sectors on their way */
    uint8_t arrived;              /* sectors that have come for this MSHR, or were there before */
    uint16_t n, taken;            /* targets registered, handed back */
    uint8_t waits[CACHE_SECTORS]; /* of a sectored cache: accesses that wait for each pending sector */
    struct cache_target first;    /* who waits; mostly nobody else does */
};

/* Prefetched lines, and all that were replaced. */
struct cache_line_counts {
    uint64_t evictions;
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    CACHE_LINE_STATS("", "", "")
#include "timing/report/count_end.def"
};

struct cache {
    struct cache_shape shape;
    uint32_t set_mask; /* sets - 1 when that is a mask, else 0 */
    uint32_t set_bits;
    uint8_t all_sectors;
    const struct replacement_ops *policy; /* NULL: LRU, which cache.c has inline */
    void *policy_state;
    uint64_t clock; /* of the order of use */
    uint64_t *tag;  /* sets * ways line numbers, ~0: empty */
    uint64_t *used; /* larger is more recent; ~0: must stay, as it is reserved or locked */
    struct cache_way *way;
    struct cache_mshr *mshr;
    struct cache_target *target; /* mshrs * merges: those behind the first */
    uint16_t *free_mshr;
    uint32_t n_free;
    uint32_t outstanding; /* sectors pending, of a sectored cache */
    uint32_t targets;     /* room for targets in an MSHR */
    void *storage;
    struct cache_line_counts n; /* hits and misses are counted by the owner */
};

/* Where a line is: its set, and its way there, CACHE_NO_WAY when it is absent. Holds until the cache changes. */
struct cache_spot {
    uint32_t first, way;
};
#define CACHE_NO_WAY UINT32_MAX

/* False when memory is out or the shape is impossible. */
bool cache_init(struct cache *c, const struct cache_shape *shape);
void cache_free(struct cache *c);
/* Replaces lines by this policy from now on. False: out of memory. Requires an empty cache. */
bool cache_use_replacement(struct cache *c, const struct replacement_ops *ops);
/* Tells a policy that is not LRU that an access found its line in way `way`, an index into way[]. */
void cache_tell_hit(struct cache *c, uint32_t way);
struct cache_spot cache_look(const struct cache *c, uint64_t line);
/* Sectors that are valid at a spot. */
static inline uint8_t cache_valid(const struct cache *c, struct cache_spot at) {
    return at.way == CACHE_NO_WAY ? 0 : c->way[at.way].valid;
}
/* A read of `sectors` of `line`; when it has to wait, `target` comes back from cache_take(). `out` is filled for
 * accepted reads. */
enum cache_result cache_read(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* A read that hits in way `way` without being a first use, if it is one: like cache_read(), for who remembers where the
 * line was. False: nothing has changed. */
static inline bool cache_read_there(struct cache *c, uint32_t way, uint64_t line, uint8_t sectors) {
    const struct cache_way *w = &c->way[way];
    if (c->tag[way] != line || sectors & (uint8_t)(~w->valid | w->mark.sectors))
        return false;
    c->used[way] = w->mshr != CACHE_NONE || w->locks ? CACHE_STAYS : ++c->clock;
    if (__builtin_expect(c->policy != NULL, 0))
        cache_tell_hit(c, way);
    return true;
}
/* The same when cache_look() has been called. */
enum cache_result cache_read_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                struct cache_out *out);
/* The same by somebody who does not use the data: an access that is no first use. Cache_mark() may follow. */
enum cache_result cache_await_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                 struct cache_out *out);
/* After CACHE_MISS: what `out` says to fetch is asked for ahead of its use by `by` (from 1), with a note of its own.
 * The line counts once, however many of its sectors are asked for before its first use. */
void cache_mark(struct cache *c, const struct cache_out *out, uint8_t by, uint16_t note);
/* A prefetch that joins nothing: a line that is there or on its way is CACHE_HIT, which changes nothing and from which
 * `target` does not come back. A miss is marked. */
enum cache_result cache_prefetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, uint8_t by,
                                 uint16_t note, struct cache_out *out);
/* Asks for what is missing of `sectors` for the owner's own sake; `target` comes back like a reader's. CACHE_HIT:
 * nothing to send, and `target` does not come back. Not counted. */
enum cache_result cache_fetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* A write of `sectors`, of which `full` are overwritten completely. On a hit the sectors become dirty. On a miss the
 * line is allocated, nothing is fetched, and sectors in `full` are valid. CACHE_HIT, CACHE_MISS (allocated; look at the
 * victim), or CACHE_NO_LINE. */
enum cache_result cache_write(struct cache *c, uint64_t line, uint8_t sectors, uint8_t full, struct cache_out *out);
/* A write that goes through: on a hit the line is dropped (evict) or its replacement age renewed. True on a hit. A line
 * that waits for its fill or is locked stays. `out` says whether it went unused; NULL: nobody asks. */
bool cache_write_through(struct cache *c, uint64_t line, bool evict, struct cache_out *out);
/* The answer to the request of `mshr`. Then take the targets until cache_take() says false. */
void cache_fill(struct cache *c, uint32_t mshr, uint8_t sectors);
/* The next access of `mshr` whose sectors are all there, in the order they came. */
bool cache_take(struct cache *c, uint32_t mshr, uint64_t *target);
/* The next access of `mshr` that wants some of `sectors` and whose sectors are all there, whoever came before it. */
bool cache_take_of(struct cache *c, uint32_t mshr, uint8_t sectors, uint64_t *target);
/* Would the line at this spot, or the one that is brought there next, leave a way of its set unlocked? */
bool cache_may_lock(const struct cache *c, struct cache_spot at);
/* Holds a present or reserved line in place until it is unlocked as often as it was locked; false when it is absent or
 * its set would have no free way left. */
bool cache_lock(struct cache *c, uint64_t line);
void cache_unlock(struct cache *c, uint64_t line);
/* May so many more sectors be outstanding? One access may always, however many it wants. */
static inline bool cache_room(const struct cache *c, uint8_t sectors) {
    return !c->shape.sectored || !sectors || !c->outstanding ||
           c->outstanding + (uint32_t)__builtin_popcount(sectors) <= c->shape.mshrs;
}
/* True when a miss for `sectors` of a line of which nothing is outstanding could be sent, as far as MSHRs go. */
static inline bool cache_mshr_free(const struct cache *c, uint8_t sectors) {
    return c->n_free && cache_room(c, sectors);
}
/* Forgets all lines, dirty ones too; those that wait for their fill stay. */
void cache_flush(struct cache *c);
static inline bool cache_idle(const struct cache *c) { return c->n_free == c->shape.mshrs; }
/* Adds the counts of prefetched lines, of which `first` is the first statistic. */
void cache_line_stats(const struct cache_line_counts *n, enum stat_id first, struct stats *s);
#endif
