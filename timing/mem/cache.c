#include "cache.h"
#include "isa/arith.h"
#include "isa/hot_assert.h"
#include "isa/machine/lazy.h"
#include "value_search.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY  0ull
#define STAYS  CACHE_STAYS
#define NO_WAY CACHE_NO_WAY

/* Most ways of a cache without `ways_used`; ways that a search looks at together. */
enum { FEW_WAYS = 16, TOGETHER = 8 };

bool cache_init(struct cache *c, const struct cache_shape *s) {
    memset(c, 0, sizeof *c);
    uint32_t each = s->sectored ? s->merges * (s->line_bytes / 32) : s->merges;
    size_t lines = (size_t)s->sets * s->ways, targets = (size_t)s->mshrs * each, all = lines + s->mshrs;
    if (!lines || lines > 1u << 24 || !targets || s->mshrs >= CACHE_MSHRS || s->merges > 255 || s->line_bytes < 32 ||
        s->line_bytes > 256 || (s->line_bytes & (s->line_bytes - 1)))
        return false;
    size_t bytes = all * (sizeof *c->key + sizeof *c->used + sizeof *c->way) + s->mshrs * sizeof *c->mshr +
                   s->mshrs * sizeof *c->free_mshr;
    const uint32_t near = each - 1 < CACHE_NEAR ? each - 1 : CACHE_NEAR;
    const uint32_t counted = s->ways > FEW_WAYS ? s->sets : 0; /* sets in ways_used */
    bytes += near * s->mshrs * sizeof *c->target + counted * sizeof *c->ways_used;
    c->storage = lazy_new(bytes); /* all ways are empty */
    c->far_target = lazy_new((targets - (near + 1) * s->mshrs) * sizeof *c->target);
    if (!c->storage || !c->far_target) {
        cache_free(c);
        return false;
    }
    c->shape = *s;
    c->policy = NULL;
    c->targets = each;
    c->lines = (uint32_t)lines;
    c->set_mask = s->sets & (s->sets - 1) ? 0 : s->sets - 1;
    c->set_bits = log2_of(s->sets);
    c->all_sectors = (uint8_t)((1u << s->line_bytes / 32) - 1);
    c->key = c->storage; /* arrays with the widest elements come first, so that all are aligned */
    c->used = c->key + all;
    c->target = (struct cache_target *)(c->used + all);
    c->mshr = (struct cache_mshr *)(c->target + near * s->mshrs);
    c->way = (struct cache_way *)(c->mshr + s->mshrs);
    uint32_t *used = (uint32_t *)(void *)(c->way + all);
    c->ways_used = counted ? used : NULL;
    c->free_mshr = (uint16_t *)(void *)(used + counted);
    c->n_free = s->mshrs;
    for (uint32_t i = 0; i < s->mshrs; i++)
        c->free_mshr[i] = (uint16_t)(s->mshrs - 1 - i);
    if (!s->replacement || cache_use_replacement(c, s->replacement))
        return true;
    cache_free(c);
    return false;
}

bool cache_use_replacement(struct cache *c, const struct replacement_ops *ops) {
    free(c->policy_state);
    c->policy_state = NULL;
    c->policy = ops == &replacement_lru ? NULL : ops;
    if (!ops->size)
        return true;
    c->policy_state = calloc(1, ops->size(c->shape.sets, c->lines / c->shape.sets)); /* cache_set_ways() */
    if (c->policy_state && ops->start)
        ops->start(c->policy_state, c->shape.sets, c->shape.ways);
    return c->policy_state != NULL;
}

void cache_free(struct cache *c) {
    free(c->policy_state);
    lazy_free(c->storage);
    lazy_free(c->far_target);
    c->far_target = NULL;
    c->policy_state = NULL;
    c->storage = NULL;
}

/* Returns how many ways of a set a search looks at, from the first on: all ways that have had a line, at least one
 * empty way if there is one, and those up to a multiple of TOGETHER. */
static inline uint32_t ways_to_search(const struct cache *c, uint32_t set) {
    const uint32_t ways = c->shape.ways;
    if (__builtin_expect(!c->ways_used, 1))
        return ways;
    const uint32_t some = (c->ways_used[set] + TOGETHER) / TOGETHER * TOGETHER;
    return some < ways ? some : ways;
}

static void drop(struct cache *c, uint32_t w) {
    c->key[w] = EMPTY;
    c->used[w] = 0;
    c->way[w] = (struct cache_way){.filler = 0};
    if (__builtin_expect(c->policy != NULL, 0) && c->policy->drop)
        c->policy->drop(c->policy_state, w / c->shape.ways, c->shape.ways, w % c->shape.ways);
}

void cache_flush(struct cache *c) {
    if (!c->filled)
        return;
    c->filled = false;
    for (uint32_t set = 0; set < c->shape.sets; set++)
        for (uint32_t i = set * c->shape.ways, end = i + ways_to_search(c, set); i < end; i++) {
            if (c->key[i] == EMPTY)
                continue;
            if (c->way[i].filler)
                c->filled = true;
            else
                drop(c, i);
        }
    if (c->ways_used && !c->filled)
        memset(c->ways_used, 0, c->shape.sets * sizeof *c->ways_used);
}

void cache_set_ways(struct cache *c, uint32_t ways) {
    assert(ways && (uint64_t)ways * c->shape.sets <= c->lines);
    if (ways == c->shape.ways)
        return;
    cache_flush(c);
    if (c->filled)
        return;
    c->shape.ways = ways;
    if (c->policy_state && c->policy->start)
        c->policy->start(c->policy_state, c->shape.sets, ways);
}

/* Returns the set index of Fermi's L1 (Nugteren et al., "A detailed GPU cache model based on reuse distance theory",
 * HPCA 2014, measured on the card): address bits 7 to 11 xor bits 13, 14, 15, 17, 19. Index bits above these five are
 * taken from the address unchanged. */
static uint64_t fermi_index(uint64_t line) {
    return line ^ (line >> 6 & 7) ^ (line >> 10 & 1) << 3 ^ (line >> 12 & 1) << 4;
}

/* Returns the line number after the hash of the set index. INDEX_XOR divides the line number into parts as wide as the
 * index and combines them by xor. So accesses with a stride of a power of two spread over the sets. */
static uint64_t hashed(const struct cache *c, uint64_t line) {
    if (c->shape.index == INDEX_FERMI)
        return fermi_index(line);
    return c->set_bits ? line ^ line >> c->set_bits ^ line >> 2 * c->set_bits : line;
}

/* Returns the number of the set of `line`. */
static inline uint32_t set_of(const struct cache *c, uint64_t line) {
    if (c->shape.index != INDEX_LINEAR)
        line = hashed(c, line);
    return c->set_mask ? (uint32_t)line & c->set_mask : (uint32_t)(line % c->shape.sets);
}

/* Returns the index of the first way of the set of `line`. */
static inline uint32_t first_way_of(const struct cache *c, uint64_t line) { return set_of(c, line) * c->shape.ways; }

void cache_expect(const struct cache *c, uint64_t line) {
    enum { PER_HOST_LINE = 64 / sizeof(uint64_t) };
    const uint32_t first = first_way_of(c, line);
    for (uint32_t i = 0; i < c->shape.ways; i += PER_HOST_LINE) {
        __builtin_prefetch(&c->key[first + i]);
        __builtin_prefetch(&c->used[first + i]);
    }
}

struct cache_spot cache_look(const struct cache *c, uint64_t line) {
    const uint32_t set = set_of(c, line), first = set * c->shape.ways, n = ways_to_search(c, set),
                   way = index_of(&c->key[first], n, ~line);
    return (struct cache_spot){first, way == n ? NO_WAY : first + way};
}

/* Returns the way for a new line, chosen by a policy other than LRU. */
static __attribute__((noinline)) uint32_t policy_victim(struct cache *c, uint32_t first) {
    const struct replacement_set set = {first / c->shape.ways, c->shape.ways, &c->used[first]};
    bool may_leave = false;
    for (uint32_t w = 0; w < set.ways; w++) {
        if (c->key[first + w] == EMPTY)
            return first + w;
        may_leave |= set.used[w] != STAYS;
    }
    if (!may_leave)
        return NO_WAY;
    uint32_t way = c->policy->victim(c->policy_state, &set);
    hot_assert(way < set.ways && set.used[way] != STAYS);
    return first + way;
}

/* Returns the way for a new line: under LRU the least recently used way that may be replaced. Empty ways count as never
 * used. */
static uint32_t victim(struct cache *c, uint32_t first) {
    if (__builtin_expect(c->policy != NULL, 0))
        return policy_victim(c, first);
    const uint32_t n = ways_to_search(c, first / c->shape.ways), way = first + index_of_least(&c->used[first], n);
    return c->used[way] == STAYS ? NO_WAY : way;
}

static bool must_stay(const struct cache_way *w) { return w->filler || w->locks; }

/* Makes way `w` the most recently used way of its set. From now on, its line can be replaced, unless the line is
 * reserved or locked. */
static void touch(struct cache *c, uint32_t w) { c->used[w] = must_stay(&c->way[w]) ? STAYS : ++c->clock; }

void cache_tell_hit(struct cache *c, uint32_t way) {
    if (c->policy->hit)
        c->policy->hit(c->policy_state, way / c->shape.ways, c->shape.ways, way % c->shape.ways);
}

static __attribute__((noinline)) void tell_fill(struct cache *c, uint32_t way) {
    if (c->policy->fill)
        c->policy->fill(c->policy_state, way / c->shape.ways, c->shape.ways, way % c->shape.ways);
}

/* Handles an access that finds its line in way `w`. */
static void hit(struct cache *c, uint32_t w) {
    touch(c, w);
    if (__builtin_expect(c->policy != NULL, 0))
        cache_tell_hit(c, w);
}

/* Notes that way `w` has had a line. */
static void note_used(struct cache *c, uint32_t w) {
    const uint32_t set = w / c->shape.ways, after = w % c->shape.ways + 1;
    c->ways_used[set] = c->ways_used[set] > after ? c->ways_used[set] : after;
}

static void replace(struct cache *c, uint32_t w, uint64_t line, struct cache_out *out) {
    struct cache_way *way = &c->way[w];
    if (c->key[w] != EMPTY) {
        c->n.evictions++;
        c->n.prefetch_unused += way->mark.by != 0;
        out->victim = cache_line_in(c, w);
        out->victim_sectors = way->dirty;
        out->evicted = true;
        out->gone = way->mark;
        out->owner = way->owner;
    }
    c->key[w] = ~line;
    c->filled = true;
    if (c->ways_used)
        note_used(c, w);
    *way = (struct cache_way){.filler = 0};
    if (__builtin_expect(c->policy != NULL, 0))
        tell_fill(c, w);
}

static void nothing_yet(struct cache_out *out) { *out = (struct cache_out){.victim = 0}; }

static inline struct cache_target *target_at(struct cache *c, uint32_t mshr, uint32_t i) {
    if (!i)
        return &c->mshr[mshr].first;
    return --i < CACHE_NEAR ? &c->target[i * c->shape.mshrs + mshr]
                            : &c->far_target[(size_t)(i - CACHE_NEAR) * c->shape.mshrs + mshr];
}

/* Registers an access that waits in an MSHR. Requires that the MSHR has room. */
static void wait_in(struct cache *c, uint32_t mshr, uint8_t sectors, uint64_t target) {
    struct cache_mshr *m = &c->mshr[mshr];
    *target_at(c, mshr, m->n++) = (struct cache_target){target, sectors};
    if (!c->shape.sectored)
        return;
    for (unsigned s = sectors & m->pending; s; s &= s - 1)
        m->waits[__builtin_ctz(s)]++;
}

/* Returns CACHE_MERGED if one more access may wait for `sectors`, else the reason why it may not. The sectors in
 * `fetch` are not outstanding yet. */
static enum cache_result room_to_wait(const struct cache *c, const struct cache_mshr *m, uint8_t sectors,
                                      uint8_t fetch) {
    if (m->n == c->targets)
        return CACHE_NO_MERGE;
    if (!c->shape.sectored)
        return CACHE_MERGED;
    for (unsigned s = sectors & m->pending; s; s &= s - 1)
        if (m->waits[__builtin_ctz(s)] == c->shape.merges)
            return CACHE_NO_MERGE;
    return cache_room(c, fetch) ? CACHE_MERGED : CACHE_NO_MSHR;
}

static void open_mshr(struct cache *c, uint32_t w, struct cache_out *out) {
    uint16_t id = c->free_mshr[--c->n_free];
    c->mshr[id] = (struct cache_mshr){.way = w, .arrived = c->way[w].valid};
    c->way[w].filler = (uint16_t)(id + 1);
    c->used[w] = STAYS;
    out->mshr = id;
}

/* Handles a read whose line is in way `w` but whose sectors are not all valid. */
static inline enum cache_result read_partial(struct cache *c, uint32_t w, uint8_t sectors, uint64_t target,
                                             struct cache_out *out) {
    struct cache_way *way = &c->way[w];
    uint8_t missing = sectors & (uint8_t)~way->valid;
    if (!way->filler) {
        if (!cache_mshr_free(c, missing))
            return CACHE_NO_MSHR;
        open_mshr(c, w, out);
    }
    const uint16_t id = (uint16_t)(way->filler - 1);
    struct cache_mshr *m = &c->mshr[id];
    uint8_t fetch = missing & (uint8_t)~m->pending;
    enum cache_result room = room_to_wait(c, m, sectors, fetch);
    if (room != CACHE_MERGED)
        return room;
    out->mshr = id;
    if (fetch && !c->shape.sectored)
        fetch = c->all_sectors & (uint8_t) ~(way->valid | m->pending);
    m->pending |= fetch;
    m->used = ++c->clock;
    wait_in(c, id, sectors, target);
    if (!fetch)
        return CACHE_MERGED;
    if (c->shape.sectored)
        c->outstanding += (uint32_t)__builtin_popcount(fetch);
    out->fetch = fetch;
    return CACHE_MISS;
}

/* Reads a line, and allocates it if it is absent. Stores the way of the line in `*way`. */
static inline __attribute__((always_inline)) enum cache_result read_line(struct cache *c, struct cache_spot at,
                                                                         uint64_t line, uint8_t sectors,
                                                                         uint64_t target, struct cache_out *out,
                                                                         uint32_t *way) {
    uint32_t w = at.way;
    nothing_yet(out);
    if (w == NO_WAY) {
        if (!cache_mshr_free(c, sectors))
            return CACHE_NO_MSHR;
        w = victim(c, at.first);
        if (w == NO_WAY)
            return CACHE_NO_LINE;
        replace(c, w, line, out);
    }
    *way = w;
    if ((sectors & (uint8_t)~c->way[w].valid) == 0)
        return CACHE_HIT;
    enum cache_result r = read_partial(c, w, sectors, target, out);
    if (__builtin_expect(c->policy != NULL, 0) && at.way != NO_WAY && r <= CACHE_MERGED)
        cache_tell_hit(c, w);
    return r;
}

/* Returns the spare way of an MSHR that has no line and waits for all of these sectors, or NO_WAY. */
static uint32_t look_past(const struct cache *c, uint64_t line, uint8_t sectors) {
    for (uint32_t m = 0; m < c->shape.mshrs; m++)
        if (c->key[c->lines + m] == ~line && c->way[c->lines + m].filler == m + 1 && !(sectors & ~c->mshr[m].pending))
            return c->lines + m;
    return NO_WAY;
}

/* Each MSHR has a spare way behind the ways of the sets, for a read without a line. In the spare way, the sectors that
 * the read does not want count as valid, so that the cache does not fetch them. */
enum cache_result cache_read_past(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target,
                                  struct cache_out *out) {
    uint32_t w = look_past(c, line, sectors);
    nothing_yet(out);
    if (w == NO_WAY) {
        if (!cache_mshr_free(c, sectors))
            return CACHE_NO_MSHR;
        w = c->lines + c->free_mshr[c->n_free - 1];
        c->key[w] = ~line;
        c->way[w] = (struct cache_way){.valid = c->all_sectors & (uint8_t)~sectors};
    }
    return read_partial(c, w, sectors, target, out);
}

/* Handles the first use of a prefetched line. */
static void first_use(struct cache *c, struct cache_way *way, uint8_t sectors, struct cache_out *out) {
    out->used = way->mark;
    out->late = (way->mark.sectors & sectors & (uint8_t)~way->valid) != 0;
    way->mark = (struct cache_mark){0, 0, 0};
    c->n.prefetch_useful++;
    c->n.prefetch_late += out->late;
}

static __attribute__((noinline)) enum cache_result read_or_wait(struct cache *c, struct cache_spot at, uint64_t line,
                                                                uint8_t sectors, uint64_t target,
                                                                struct cache_out *out) {
    uint32_t w;
    enum cache_result r = read_line(c, at, line, sectors, target, out, &w);
    if (r > CACHE_MERGED)
        return r;
    if (r == CACHE_HIT)
        hit(c, w);
    struct cache_way *way = &c->way[w];
    if (__builtin_expect(way->mark.sectors & sectors, 0))
        first_use(c, way, sectors, out);
    return r;
}

enum cache_result cache_read_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                struct cache_out *out) {
    if (at.way == NO_WAY)
        return read_or_wait(c, at, line, sectors, target, out);
    const struct cache_way *way = &c->way[at.way];
    if ((sectors & (uint8_t)~way->valid) || (sectors & way->mark.sectors))
        return read_or_wait(c, at, line, sectors, target, out);
    nothing_yet(out);
    hit(c, at.way);
    return CACHE_HIT;
}

enum cache_result cache_read(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out) {
    return cache_read_at(c, cache_look(c, line), line, sectors, target, out);
}

enum cache_result cache_fetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, struct cache_out *out) {
    struct cache_spot at = cache_look(c, line);
    uint32_t w;
    nothing_yet(out);
    if (cache_awaits_fill(c, at))
        return CACHE_HIT; /* outstanding already */
    return read_line(c, at, line, sectors, target, out, &w);
}

enum cache_result cache_await_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint64_t target,
                                 struct cache_out *out) {
    uint32_t w;
    enum cache_result r = read_line(c, at, line, sectors, target, out, &w);
    if (r == CACHE_HIT)
        hit(c, w);
    return r;
}

void cache_mark(struct cache *c, const struct cache_out *out, uint8_t by, uint16_t note) {
    struct cache_way *way = &c->way[c->mshr[out->mshr].way];
    c->n.prefetches += !way->mark.by;
    way->mark = (struct cache_mark){.note = note, .by = by, .sectors = way->mark.sectors | out->fetch};
}

enum cache_result cache_prefetch(struct cache *c, uint64_t line, uint8_t sectors, uint64_t target, uint8_t by,
                                 uint16_t note, struct cache_out *out) {
    enum cache_result r = cache_fetch(c, line, sectors, target, out);
    if (r == CACHE_MISS)
        cache_mark(c, out, by, note);
    return r;
}

enum cache_result cache_write(struct cache *c, uint64_t line, uint8_t sectors, uint8_t full, struct cache_out *out) {
    return cache_write_at(c, cache_look(c, line), line, sectors, full, out);
}

enum cache_result cache_write_at(struct cache *c, struct cache_spot at, uint64_t line, uint8_t sectors, uint8_t full,
                                 struct cache_out *out) {
    uint32_t w = at.way;
    nothing_yet(out);
    if (w == NO_WAY) {
        w = victim(c, at.first);
        if (w == NO_WAY)
            return CACHE_NO_LINE;
        replace(c, w, line, out);
    }
    c->way[w].dirty |= sectors;
    c->way[w].valid |= full;
    if (at.way == NO_WAY) {
        touch(c, w);
        return CACHE_MISS;
    }
    hit(c, w);
    return CACHE_HIT;
}

uint8_t cache_limit_dirty(struct cache *c, uint64_t line, uint32_t most, uint64_t *clean) {
    const uint32_t first = first_way_of(c, line);
    uint32_t n = 0, oldest = NO_WAY;
    for (uint32_t w = first; w < first + c->shape.ways; w++) {
        n += c->way[w].dirty != 0;
        if (c->way[w].dirty && c->used[w] != STAYS && (oldest == NO_WAY || c->used[w] < c->used[oldest]))
            oldest = w;
    }
    if (n <= most || oldest == NO_WAY)
        return 0;
    const uint8_t sectors = c->way[oldest].dirty;
    c->way[oldest].dirty = 0;
    *clean = cache_line_in(c, oldest);
    return sectors;
}

void cache_warm(struct cache *c, uint64_t line, uint8_t sectors, bool dirty, bool aside) {
    struct cache_spot at = cache_look(c, line);
    struct cache_out dropped = {0};
    uint32_t w = at.way == NO_WAY ? victim(c, at.first) : at.way;
    if (w == NO_WAY)
        return;
    const uint64_t evictions = c->n.evictions, unused = c->n.prefetch_unused;
    const uint64_t age = c->used[w];
    if (at.way == NO_WAY)
        replace(c, w, line, &dropped);
    c->n.evictions = evictions; /* statistics count accesses that take time */
    c->n.prefetch_unused = unused;
    if (c->way[w].filler) /* the fill brings the pending sectors */
        sectors &= (uint8_t)~c->mshr[c->way[w].filler - 1].pending;
    c->way[w].valid |= sectors;
    c->way[w].dirty |= dirty ? sectors & c->way[w].valid : 0;
    hit(c, w);
    if (aside && at.way == NO_WAY)
        c->used[w] = age;
}

bool cache_write_through(struct cache *c, uint64_t line, bool evict, struct cache_out *out) {
    uint32_t w = cache_look(c, line).way;
    if (out)
        nothing_yet(out);
    if (w == NO_WAY)
        return false;
    if (!evict) {
        hit(c, w);
    } else if (!must_stay(&c->way[w]) && !c->way[w].dirty) {
        c->n.prefetch_unused += c->way[w].mark.by != 0;
        if (out) {
            out->victim = line;
            out->evicted = true;
            out->gone = c->way[w].mark;
            out->owner = c->way[w].owner;
        }
        drop(c, w);
    }
    return true;
}

void cache_fill(struct cache *c, uint32_t mshr, uint8_t sectors) {
    struct cache_mshr *m = &c->mshr[mshr];
    struct cache_way *way = &c->way[m->way];
    hot_assert(way->filler == mshr + 1 && sectors && (sectors & ~m->pending) == 0);
    way->valid |= sectors;
    m->arrived |= way->valid;
    m->pending &= (uint8_t)~sectors;
    if (c->shape.sectored)
        c->outstanding -= (uint32_t)__builtin_popcount(sectors);
    if (m->pending)
        return;
    way->filler = 0;
    c->used[m->way] = must_stay(way) ? STAYS : m->used;
    if (m->taken == m->n) /* no target waits, because writes have already made the wanted sectors valid */
        c->free_mshr[c->n_free++] = (uint16_t)mshr;
}

bool cache_take(struct cache *c, uint32_t mshr, uint64_t *target) {
    struct cache_mshr *m = &c->mshr[mshr];
    if (m->taken == m->n)
        return false;
    const struct cache_target *t = target_at(c, mshr, m->taken);
    if (t->sectors & ~m->arrived)
        return false;
    *target = t->id;
    if (++m->taken == m->n && !m->pending)
        c->free_mshr[c->n_free++] = (uint16_t)mshr;
    return true;
}

bool cache_take_of(struct cache *c, uint32_t mshr, uint8_t sectors, uint64_t *target) {
    const struct cache_mshr *m = &c->mshr[mshr];
    uint32_t i = m->taken;
    for (; i < m->n; i++) {
        const uint8_t wanted = target_at(c, mshr, i)->sectors;
        if (wanted & sectors && !(wanted & ~m->arrived))
            break;
    }
    if (i >= m->n)
        return false;
    const struct cache_target found = *target_at(c, mshr, i);
    for (; i > m->taken; i--) /* moves the found target to the front; the older targets keep their order */
        *target_at(c, mshr, i) = *target_at(c, mshr, i - 1);
    *target_at(c, mshr, i) = found;
    return cache_take(c, mshr, target);
}

bool cache_may_lock(const struct cache *c, struct cache_spot at) {
    uint32_t others = 0;
    for (uint32_t w = at.first; w < at.first + c->shape.ways; w++)
        others += c->way[w].locks && w != at.way;
    return others + 1 < c->shape.ways && (at.way == NO_WAY || c->way[at.way].locks < UINT8_MAX);
}

bool cache_lock(struct cache *c, uint64_t line) {
    struct cache_spot at = cache_look(c, line);
    if (at.way == NO_WAY || !cache_may_lock(c, at))
        return false;
    c->way[at.way].locks++;
    c->used[at.way] = STAYS;
    return true;
}

void cache_unlock(struct cache *c, uint64_t line) {
    uint32_t w = cache_look(c, line).way;
    if (w == NO_WAY || !c->way[w].locks)
        return;
    c->way[w].locks--;
    touch(c, w);
}

void cache_line_stats(const struct cache_line_counts *n, enum stat_id first, struct stats *s) {
/* clang-format off */
#define IN l1_lines
#define COUNT_ROWS struct cache_line_counts
    static const struct stat_row rows[] = {
#include "timing/report/count_begin.def"
        CACHE_LINE_STATS("", "", "")
#include "timing/report/count_end.def"
    };
#undef IN
    /* clang-format on */
    stats_count(s, rows, sizeof rows / sizeof rows[0], n, (int)first - STAT_l1_lines_prefetches);
}
