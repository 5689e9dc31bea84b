#ifndef TIMING_CACHE_H
#define TIMING_CACHE_H
/* One cache: tags, replacement, and miss status holding registers (MSHRs). The cache knows neither cycles nor the next
 * level. Its owner reads and writes lines, sends the requests of misses, and hands in the fills. L1 data, constant,
 * texture and instruction caches use it, and the L2 slices.
 *
 * A line number is address / line size, within the part of the address space that the cache serves. A line consists of
 * 32-byte sectors; an unsectored cache requests all of them. A miss reserves its line when it is sent (allocate on
 * miss), so a reserved way cannot be a victim. One struct cache_mshr holds everything outstanding of a line. A sectored
 * cache does so too, but counts its MSHRs by sector. */
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
    /* A miss fetches the wanted sectors, not the line. An MSHR is for one sector: `mshrs` sectors may be outstanding,
     * and `merges` accesses may wait for each. */
    bool sectored;
};

enum cache_result {
    CACHE_HIT,    /* all wanted sectors are valid */
    CACHE_MISS,   /* registered; the owner sends a request for out.fetch with tag out.mshr */
    CACHE_MERGED, /* registered; waits for an outstanding request */
    /* refused, nothing changed: try again after a fill */
    CACHE_NO_LINE, /* every way of the set is reserved or locked */
    CACHE_NO_MSHR,
    CACHE_NO_MERGE, /* the line's MSHR has no room for another access */
};

enum { CACHE_NONE = 0xffffu, CACHE_SECTORS = 8 };

/* The mark of a prefetched line until its first use: the prefetcher (the owner's number, 0: no mark), the prefetcher's
 * note, and the prefetched sectors. */
struct cache_mark {
    uint16_t note;
    uint8_t by, sectors;
};

struct cache_out {
    uint64_t victim;        /* line number of the replaced line */
    uint8_t victim_sectors; /* its dirty sectors; 0: nothing to write back */
    uint8_t fetch;          /* sectors to request; only for CACHE_MISS */
    uint16_t mshr;          /* for CACHE_MISS and CACHE_MERGED: the MSHR of the access */
    bool evicted;           /* there is a victim */
    bool late;              /* the used sectors are still outstanding */
    struct cache_mark gone; /* mark of a victim that was never used */
    struct cache_mark used; /* mark of the line that was read for the first time */
};

struct cache_way {
    uint16_t mshr;          /* MSHR that will fill it, or CACHE_NONE */
    uint8_t valid, dirty;   /* sectors */
    uint8_t locks;          /* the line stays while > 0 */
    struct cache_mark mark; /* by 0: not prefetched, or used since */
};

struct cache_target {
    uint64_t id;     /* the owner's */
    uint8_t sectors; /* wanted */
};

struct cache_mshr {
    uint32_t way;                 /* index into way[] */
    uint64_t used;                /* last access: the line's age once it is filled */
    uint8_t pending;              /* outstanding sectors */
    uint8_t arrived;              /* sectors that were filled by this MSHR, or were valid before */
    uint16_t n, taken;            /* targets registered, handed back */
    uint8_t waits[CACHE_SECTORS]; /* of a sectored cache: accesses that wait for each pending sector */
    struct cache_target first;    /* most misses have no other */
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
    uint32_t set_mask; /* sets - 1 if `sets` is a power of two, else 0 */
    uint32_t set_bits;
    uint8_t all_sectors;
    const struct replacement_ops *policy; /* NULL: LRU, which cache.c has inline */
    void *policy_state;
    uint64_t clock; /* of the order of use */
    uint64_t *tag;  /* sets * ways line numbers, ~0: empty */
    uint64_t *used; /* larger is more recent; CACHE_STAYS: reserved or locked */
    struct cache_way *way;
    struct cache_mshr *mshr;
    struct cache_target *target; /* mshrs * merges: the targets behind the first */
    uint16_t *free_mshr;
    uint32_t n_free;
    uint32_t outstanding; /* sectors pending, of a sectored cache */
    uint32_t targets;     /* room for targets in an MSHR */
    void *storage;
    struct cache_line_counts n; /* the owner counts hits and misses */
};

/* The place of a line: the first way of its set, and its way, or CACHE_NO_WAY if the line is absent. Valid until the
 * cache changes. */
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
/* Reads `sectors` of `line`. If the read has to wait, cache_take() returns `target` later. `out` is filled for accepted
 * reads. */
enum cache_result cache_read(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* Like cache_read(), for a caller that remembers the way of the line. False: `line` is not in that way, the read does
 * not hit, or it is a first use; nothing has changed. */
static inline bool cache_read_there(struct cache *c, uint32_t way, uint64_t line, uint8_t sectors) {
    const struct cache_way *w = &c->way[way];
    if (c->tag[way] != line || sectors & (uint8_t)(~w->valid | w->mark.sectors))
        return false;
    c->used[way] = w->mshr != CACHE_NONE || w->locks ? CACHE_STAYS : ++c->clock;
    if (__builtin_expect(c->policy != NULL, 0))
        cache_tell_hit(c, way);
    return true;
}
/* cache_read() after cache_look(). */
enum cache_result cache_read_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                struct cache_out *out);
/* cache_read_at() without a use of the data: it is no first use. cache_mark() may follow. */
enum cache_result cache_await_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                 struct cache_out *out);
/* After CACHE_MISS: marks the sectors of out->fetch as prefetched by `by` (from 1), with a note. A line counts as one
 * prefetch, however many of its sectors are prefetched before its first use. */
void cache_mark(struct cache *c, const struct cache_out *out, uint8_t by, uint16_t note);
/* A prefetch, which never joins an outstanding miss. A present or outstanding line is CACHE_HIT: nothing changes, and
 * `target` does not come back. A miss is marked. */
enum cache_result cache_prefetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, uint8_t by,
                                 uint16_t note, struct cache_out *out);
/* Requests the missing sectors of `sectors` for the owner. `target` comes back as after a read. CACHE_HIT: nothing to
 * send, and `target` does not come back. Not counted. */
enum cache_result cache_fetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out);
/* A write of `sectors`, of which `full` are overwritten completely. On a hit the sectors become dirty. On a miss the
 * line is allocated, nothing is fetched, and sectors in `full` are valid. CACHE_HIT, CACHE_MISS (allocated; look at the
 * victim), or CACHE_NO_LINE. */
enum cache_result cache_write(struct cache *c, uint64_t line, uint8_t sectors, uint8_t full, struct cache_out *out);
/* A write to the next level. On a hit the line is dropped (evict), or counts as used. True on a hit. Locked lines and
 * lines that wait for their fill stay. `out`, if not NULL, reports the dropped line. */
bool cache_write_through(struct cache *c, uint64_t line, bool evict, struct cache_out *out);
/* The reply to the request of `mshr`. Then take the targets until cache_take() returns false. */
void cache_fill(struct cache *c, uint32_t mshr, uint8_t sectors);
/* Takes the next access of `mshr` whose sectors are all valid, in order of arrival. */
bool cache_take(struct cache *c, uint32_t mshr, uint64_t *target);
/* Takes the next access of `mshr` that wants some of `sectors` and whose sectors are all valid. It may overtake
 * others. */
bool cache_take_of(struct cache *c, uint32_t mshr, uint8_t sectors, uint64_t *target);
/* True if the set keeps an unlocked way when the line at this spot, or the next line there, is locked. */
bool cache_may_lock(const struct cache *c, struct cache_spot at);
/* Locks a present or reserved line until it is unlocked as often as it was locked. False: the line is absent, or its
 * set would have no unlocked way left. */
bool cache_lock(struct cache *c, uint64_t line);
void cache_unlock(struct cache *c, uint64_t line);
/* True if these sectors may become outstanding, too. A single access always may. */
static inline bool cache_room(const struct cache *c, uint8_t sectors) {
    return !c->shape.sectored || !sectors || !c->outstanding ||
           c->outstanding + (uint32_t)__builtin_popcount(sectors) <= c->shape.mshrs;
}
/* True if there are MSHRs for a miss of `sectors` of a line without outstanding sectors. */
static inline bool cache_mshr_free(const struct cache *c, uint8_t sectors) {
    return c->n_free && cache_room(c, sectors);
}
/* Drops all lines, also dirty lines. Lines that wait for their fill stay. */
void cache_flush(struct cache *c);
static inline bool cache_idle(const struct cache *c) { return c->n_free == c->shape.mshrs; }
/* Adds the counts of prefetched lines to the statistics from `first` on. */
void cache_line_stats(const struct cache_line_counts *n, enum stat_id first, struct stats *s);
#endif
