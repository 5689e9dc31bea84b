#ifndef TIMING_CACHE_H
#define TIMING_CACHE_H
/* One cache: tags, replacement, and miss status holding registers (MSHRs). The cache models neither time nor the next
 * level. Its owner reads and writes lines, sends the requests of misses, and reports the fills. L1 data, constant,
 * texture and instruction caches use it, and the L2 slices.
 *
 * A line number is address / line size, where addresses count within the part of the address space that the cache
 * serves. A line consists of 32-byte sectors; an unsectored cache requests all of them. A miss reserves its line
 * when it is sent (allocate on miss), so a reserved way cannot be a victim. One struct cache_mshr holds all
 * outstanding sectors of a line. This is also true of a sectored cache, but a sectored cache counts one MSHR for
 * each outstanding sector. */
#include "replacement.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_shape {
    uint32_t sets, ways;
    uint32_t line_bytes;    /* power of two, 32..256 */
    uint32_t mshrs, merges; /* merges: maximum number of waiting accesses of one MSHR, including the first */
    uint32_t index;         /* enum cache_index: how a line number becomes a set */
    const struct replacement_ops *replacement; /* NULL selects LRU */
    /* True if a miss fetches only the wanted sectors and not the whole line. The limits are then per sector: `mshrs`
     * sectors may be outstanding, and `merges` accesses may wait for each sector. */
    bool sectored;
};

enum cache_result {
    CACHE_HIT,    /* all wanted sectors are valid */
    CACHE_MISS,   /* the access is registered; the owner sends a request for out.fetch with tag out.mshr */
    CACHE_MERGED, /* the access is registered and waits for an outstanding request */
    /* the access is refused and changed nothing; the owner must try again after a fill */
    CACHE_NO_LINE, /* every way of the set is reserved or locked */
    CACHE_NO_MSHR,
    CACHE_NO_MERGE, /* the line's MSHR has no room for another access */
};

enum { CACHE_MSHRS = 0xffffu, CACHE_SECTORS = 8, CACHE_NEAR = 7 }; /* a cache has fewer than CACHE_MSHRS MSHRs */

/* The mark that a prefetched line has until its first use: the number that the cache's owner assigned to the
 * prefetcher (0 means no mark), a note for the prefetcher, and the prefetched sectors. */
struct cache_mark {
    uint16_t note;
    uint8_t by, sectors;
};

struct cache_out {
    uint64_t victim;        /* line number of the replaced line */
    uint8_t victim_sectors; /* dirty sectors of the replaced line; 0: no write-back */
    uint8_t fetch;          /* sectors to request; only for CACHE_MISS */
    uint16_t mshr;          /* for CACHE_MISS and CACHE_MERGED: the MSHR of the access */
    uint16_t owner;         /* owner of the replaced or dropped line: cache_own() */
    bool evicted;           /* there is a victim */
    bool late;              /* used sectors of a prefetched line are still outstanding */
    struct cache_mark gone; /* mark of the evicted line, if no access has used it */
    struct cache_mark used; /* mark of the prefetched line, if this access is its first use */
};

struct cache_way {
    uint16_t filler;        /* 1 + number of the MSHR that will fill the line; 0: none */
    uint8_t valid, dirty;   /* sectors */
    uint8_t locks;          /* number of locks; the line cannot be replaced while it is > 0 */
    uint16_t owner;         /* cache_own(); 0 for a line without an owner */
    struct cache_mark mark; /* mark; `by` is 0 if the line was not prefetched or has been used since */
};

struct cache_target {
    uint64_t id;     /* the owner's */
    uint8_t sectors; /* wanted */
};

struct cache_mshr {
    uint32_t way;                 /* index into way[] */
    uint64_t used;                /* time of the last access, which becomes the line's `used` when the line is filled */
    uint8_t pending;              /* outstanding sectors */
    uint8_t arrived;              /* sectors that were filled by this MSHR, or were valid before */
    uint16_t n, taken;            /* targets registered, handed back */
    uint8_t waits[CACHE_SECTORS]; /* for a sectored cache: number of accesses that wait for each pending sector */
    struct cache_target first;    /* the first target; most misses have no other */
};

/* Counts of prefetched lines, and of all replaced lines. */
struct cache_line_counts {
    uint64_t evictions;
#define COUNT_FIELDS
#include "timing/report/count_begin.def"
    CACHE_LINE_STATS("", "", "")
#include "timing/report/count_end.def"
};

struct cache {
    struct cache_shape shape;
    uint32_t lines;    /* sets * ways of cache_init(); arrays below have as many entries, and one more for each MSHR */
    uint32_t set_mask; /* sets - 1 if `sets` is a power of two, else 0 */
    uint32_t set_bits;
    uint8_t all_sectors;
    bool filled;                          /* false: all ways are empty, so a flush has nothing to do */
    const struct replacement_ops *policy; /* replacement policy; NULL means LRU, which cache.c implements inline */
    void *policy_state;
    uint64_t clock; /* clock for the order of use */
    uint64_t *key;  /* sets * ways complements of line numbers; 0 means an empty way */
    uint64_t *used; /* time of last use; CACHE_STAYS for a reserved or locked way */
    struct cache_way *way;
    struct cache_mshr *mshr;
    /* the second target of each MSHR, then the third of each, and so on; those after the first 1 + CACHE_NEAR of each
     * MSHR are in far_target, as most misses have few targets */
    struct cache_target *target, *far_target;
    /* by set: 1 + the last way that has had a line since the cache was empty; 0: none. Searches end soon after this
     * way, so a run with few lines reads few tags. NULL for caches of few ways. */
    uint32_t *ways_used;
    uint16_t *free_mshr;
    uint32_t n_free;
    uint32_t outstanding;       /* number of pending sectors, for a sectored cache */
    uint32_t targets;           /* number of targets that fit into an MSHR */
    void *storage;              /* from lazy_new(), so sets without an access take no memory of the host */
    struct cache_line_counts n; /* the owner counts hits and misses itself */
};

/* The location of a line: the first way of its set, and the way of the line, or CACHE_NO_WAY if the line is absent.
 * The location is valid until the cache changes. */
struct cache_spot {
    uint32_t first, way;
};
#define CACHE_NO_WAY UINT32_MAX

/* Initialises an empty cache. Returns false when memory runs out or the geometry is impossible. */
bool cache_init(struct cache *c, const struct cache_shape *shape);
void cache_free(struct cache *c);
/* Sets the replacement policy. Returns false when memory runs out. Requires an empty cache. */
bool cache_use_replacement(struct cache *c, const struct replacement_ops *ops);
/* Tells the replacement policy, which is not LRU, that an access found its line in way `way` (an index into way[]). */
void cache_tell_hit(struct cache *c, uint32_t way);
struct cache_spot cache_look(const struct cache *c, uint64_t line);
/* Does the same, but faster if `last`, the location of a line of this cache, is that of `line`. Requires that the
 * associativity is the same as when `last` was found. */
static inline struct cache_spot cache_look_again(const struct cache *c, struct cache_spot last, uint64_t line) {
    return last.way != CACHE_NO_WAY && c->key[last.way] == ~line ? last : cache_look(c, line);
}
/* Loads into the host's caches what an access to `line` reads, before this access. */
void cache_expect(const struct cache *c, uint64_t line);
/* Prepare cache_fill(): cache_expect_mshr() loads the MSHR into the host's caches. Later, cache_expect_way() reads the
 * MSHR and loads the way that the fill changes. */
static inline void cache_expect_mshr(const struct cache *c, uint32_t mshr) {
    __builtin_prefetch(&c->mshr[mshr], 1);
    __builtin_prefetch(&c->mshr[mshr].first, 1);
}
static inline void cache_expect_way(const struct cache *c, uint32_t mshr) {
    __builtin_prefetch(&c->way[c->mshr[mshr].way], 1);
}
/* Returns the number of the line in a way that is not empty. */
static inline uint64_t cache_line_in(const struct cache *c, uint32_t way) { return ~c->key[way]; }
/* Returns true if the line at a location waits for its fill. */
static inline bool cache_awaits_fill(const struct cache *c, struct cache_spot at) {
    return at.way != CACHE_NO_WAY && c->way[at.way].filler;
}
/* Returns the valid sectors of the line at a location. */
static inline uint8_t cache_valid(const struct cache *c, struct cache_spot at) {
    return at.way == CACHE_NO_WAY ? 0 : c->way[at.way].valid;
}
/* Reads `sectors` of `line`. If the read has to wait, cache_take() returns `target` later. Fills in `out` unless the
 * read is refused. */
enum cache_result cache_read(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* Works like cache_read(), but faster, for a caller that remembers the way of the line. Returns false and changes
 * nothing in three cases: `line` is not in this way, the read does not hit, or the read is the first use of a
 * prefetched line. */
static inline bool cache_read_there(struct cache *c, uint32_t way, uint64_t line, uint8_t sectors) {
    const struct cache_way *w = &c->way[way];
    if (c->key[way] != ~line || sectors & (uint8_t)(~w->valid | w->mark.sectors))
        return false;
    if (c->used[way] != c->clock) /* else the line is the most recently used one, and may be replaced */
        c->used[way] = w->filler || w->locks ? CACHE_STAYS : ++c->clock;
    if (__builtin_expect(c->policy != NULL, 0))
        cache_tell_hit(c, way);
    return true;
}
/* Reads a line that is absent, without allocating a way for it. The miss holds an MSHR, and its fill writes no line. A
 * later read of sectors that such a miss awaits joins it. */
enum cache_result cache_read_past(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target,
                                  struct cache_out *out);
/* Returns true if the MSHR fills no line. */
static inline bool cache_fills_nothing(const struct cache *c, uint32_t mshr) { return c->mshr[mshr].way >= c->lines; }
/* Works like cache_read(). `at` is the result of cache_look() for the line. */
enum cache_result cache_read_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                struct cache_out *out);
/* Works like cache_read_at(), for an access that does not use the data. Such an access does not count as the first use
 * of a prefetched line. cache_mark() may follow. */
enum cache_result cache_await_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                 struct cache_out *out);
/* Marks the sectors of out->fetch as prefetched by prefetcher `by` (numbered from 1), with a note. Call it after
 * CACHE_MISS. A line counts as one prefetch, however many of its sectors are prefetched before its first use. */
void cache_mark(struct cache *c, const struct cache_out *out, uint8_t by, uint16_t note);
/* After CACHE_MISS: sets the owner of the line, a number that the cache's user chooses. */
static inline void cache_own(struct cache *c, const struct cache_out *out, uint16_t owner) {
    c->way[c->mshr[out->mshr].way].owner = owner;
}
/* Reads the tags for a prefetch, which never joins an outstanding miss. If the line is present or outstanding,
 * returns CACHE_HIT and changes nothing, and cache_take() will not return `target`. On a miss, the line is requested
 * and marked as prefetched. */
enum cache_result cache_prefetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, uint8_t by,
                                 uint16_t note, struct cache_out *out);
/* Requests those of `sectors` that are missing, for the owner of the cache. cache_take() returns `target` as after a
 * read. If nothing must be sent, returns CACHE_HIT, and cache_take() will not return `target`. Statistics do not
 * count the request. */
enum cache_result cache_fetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* Writes `sectors`, of which `full` are overwritten completely. On a hit the sectors become dirty. On a miss the line
 * is allocated, nothing is fetched, and sectors in `full` are valid. Returns CACHE_HIT, CACHE_MISS (a line was
 * allocated; the caller must check the victim), or CACHE_NO_LINE. */
enum cache_result cache_write(struct cache *c, uint64_t line, uint8_t sectors, uint8_t full, struct cache_out *out);
/* Works like cache_write(). `at` is the result of cache_look() for the line. */
enum cache_result cache_write_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint8_t full,
                                 struct cache_out *out);
/* If more than `most` lines of the set of `line` are dirty, makes the least recently used of them clean. Returns its
 * sectors that were dirty, which the caller writes to the next level, and stores its number in `*clean`. Otherwise
 * returns 0. Lines that wait for a fill, or are locked, stay dirty. */
uint8_t cache_limit_dirty(struct cache *c, uint64_t line, uint32_t most, uint64_t *clean);
/* Makes `sectors` of a line valid at once, and dirty with `dirty`, as after an access that has ended: for accesses that
 * take no simulated time. Sectors that the cache waits for become valid when they arrive. Does nothing if the line
 * would need a way and every way of its set is reserved or locked. A dirty victim is dropped without a write-back. With
 * `aside`, a new line under LRU gets the age of the line that it replaces, so that such lines take at most one way of a
 * full set, and the lines of running CTAs stay. */
void cache_warm(struct cache *c, uint64_t line, uint8_t sectors, bool dirty, bool aside);
/* Handles a write that is sent to the next level. On a hit, drops the line (with `evict`) or counts it as used, and
 * returns true. Locked lines and lines that wait for their fill are not dropped. `out`, if not NULL, reports the
 * dropped line. */
bool cache_write_through(struct cache *c, uint64_t line, bool evict, struct cache_out *out);
/* Handles a reply with `sectors` to the request of `mshr`. The caller must then call cache_take() until it returns
 * false. */
void cache_fill(struct cache *c, uint32_t mshr, uint8_t sectors);
/* Removes the oldest access of `mshr` and stores its id in `*target`, if all its sectors are valid. Otherwise
 * returns false. */
bool cache_take(struct cache *c, uint32_t mshr, uint64_t *target);
/* Works like cache_take(), for the oldest access of `mshr` that wants some of `sectors` and has all its sectors valid.
 * This access may overtake older accesses. */
bool cache_take_of(struct cache *c, uint32_t mshr, uint8_t sectors, uint64_t *target);
/* Returns true if one more line of the set can be locked so that an unlocked way is left. The line is the line at
 * this location, or the next line that is allocated there. */
bool cache_may_lock(const struct cache *c, struct cache_spot at);
/* Locks a present or reserved line. Each lock needs its own unlock. Returns false if the line is absent or its set
 * would have no unlocked way left. */
bool cache_lock(struct cache *c, uint64_t line);
void cache_unlock(struct cache *c, uint64_t line);
/* Returns true if these sectors can become outstanding in addition to the present ones. Always true if no sector is
 * outstanding. */
static inline bool cache_room(const struct cache *c, uint8_t sectors) {
    return !c->shape.sectored || !sectors || !c->outstanding ||
           c->outstanding + (uint32_t)__builtin_popcount(sectors) <= c->shape.mshrs;
}
/* Returns true if there are enough MSHRs for a miss of `sectors` of a line without outstanding sectors. */
static inline bool cache_mshr_free(const struct cache *c, uint8_t sectors) {
    return c->n_free && cache_room(c, sectors);
}
/* Drops all lines, including dirty lines, except lines that wait for their fill. */
void cache_flush(struct cache *c);
/* Changes the associativity to `ways`, at most that of cache_init(), and drops all lines if it changes. A cache with a
 * line that waits for its fill keeps its associativity. */
void cache_set_ways(struct cache *c, uint32_t ways);
static inline bool cache_idle(const struct cache *c) { return c->n_free == c->shape.mshrs; }
/* Adds the counts of prefetched lines to the statistics from `first` on. */
void cache_line_stats(const struct cache_line_counts *n, enum stat_id first, struct stats *s);
#endif
