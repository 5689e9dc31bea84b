#ifndef ISA_AFFINE_SUPPLY_H
#define ISA_AFFINE_SUPPLY_H
/* What the affine warp has sent to the kernel's own warps, until they take it: for each warp one queue of data and
 * addresses and one of predicates. A lane takes its entries in the order in which they were sent; lanes that are apart
 * when they take an entry take it in parts, and lanes that are together though they were sent for apart take several.
 * No sizes here: who models hardware counts. */
#include "engine.h"

enum supply_queue { QUEUE_ADDRESS, QUEUE_PREDICATE, N_QUEUES };
static inline enum supply_queue queue_of(uint8_t kind) { return kind == SITE_PRED ? QUEUE_PREDICATE : QUEUE_ADDRESS; }

struct supply_ring {
    struct affine_entry *e;
    uint32_t first, n, cap; /* cap: 0, or a power of two */
    lanemask_t ready;       /* lanes with an entry */
};
struct supply {
    uint32_t n_warps;
    uint32_t total; /* entries that have not been taken by all their lanes, or stand behind such */
    struct supply_ring (*ring)[N_QUEUES]; /* by warp */
};

/* For so many warps. False: memory is out. */
bool supply_init(struct supply *s, uint32_t n_warps);
void supply_free(struct supply *s);
/* Throws away what is there. */
void supply_clear(struct supply *s);
/* Room for one more entry; cap is 0 or a power of two then, too. False: memory is out. */
bool supply_grow(struct supply_ring *r);
/* A new entry at the end of the queue, which the caller fills, for these lanes. NULL: memory is out. */
static inline struct affine_entry *supply_new(struct supply *s, uint32_t warp, enum supply_queue q, lanemask_t lanes) {
    struct supply_ring *r = &s->ring[warp][q];
    if (r->n == r->cap && !supply_grow(r))
        return NULL;
    r->ready |= lanes;
    s->total++;
    return &r->e[(r->first + r->n++) & (r->cap - 1)];
}
/* At the end of the queue of its kind; the entry's memory is the queue's from now on. False: memory is out. */
static inline bool supply_put(struct supply *s, uint32_t warp, const struct affine_entry *e) {
    struct affine_entry *to = supply_new(s, warp, queue_of(e->kind), e->lanes);
    if (to)
        *to = *e;
    return to != NULL;
}
/* Lanes of the warp that have an entry in this queue. */
static inline lanemask_t supply_ready(const struct supply *s, uint32_t warp, enum supply_queue q) {
    return s->ring[warp][q].ready;
}
static inline uint32_t supply_count(const struct supply *s, uint32_t warp, enum supply_queue q) {
    return s->ring[warp][q].n;
}
/* The oldest entry that some lane has not taken; NULL: there is none. */
static inline struct affine_entry *supply_first(const struct supply *s, uint32_t warp, enum supply_queue q) {
    const struct supply_ring *r = &s->ring[warp][q];
    return r->n ? &r->e[r->first] : NULL;
}
/* Lanes have taken their part of entries: those that nobody waits for any more, up to the first that somebody does, are
 * dropped. */
void supply_drop_taken(struct supply *s, struct supply_ring *r);
/* All lanes that the oldest entry was for have taken it. Mostly the next one is for the same lanes, or there is
 * none. */
static inline void supply_drop_first(struct supply *s, struct supply_ring *r) {
    struct affine_entry *e = &r->e[r->first];
    if (e->exact)
        affine_entry_free(e);
    r->first = (r->first + 1) & (r->cap - 1);
    s->total--;
    if (!--r->n)
        r->ready = 0;
    else if (r->e[r->first].lanes != r->ready)
        supply_drop_taken(s, r);
}
/* supply_predicate() where the oldest entry is for just these lanes, and of this site. False: nothing is done. */
static inline bool supply_predicate_whole(struct supply *s, uint32_t warp, uint32_t site, lanemask_t lanes,
                                          lanemask_t *out) {
    struct supply_ring *r = &s->ring[warp][QUEUE_PREDICATE];
    const struct affine_entry *first = &r->e[r->first];
    if (!r->n || first->lanes != lanes || first->site != site)
        return false;
    *out = (*out & ~lanes) | (first->value & lanes);
    supply_drop_first(s, r);
    return true;
}
/* Each of these lanes takes its oldest entry. `warp`: its queue; `index`: its place in the CTA. Requires that all of
 * them have one. Lanes of `out`, or bits, that are not asked for stay. Returns lanes whose oldest entry belongs to
 * another site: our mistake; nothing is taken then. */
lanemask_t supply_addresses(struct supply *s, const struct affine_shape *shape, uint32_t warp, uint32_t index,
                            uint32_t site, lanemask_t lanes, uint64_t out[WARP_LANES]);
/* take: false, they only look. */
lanemask_t supply_predicate(struct supply *s, uint32_t warp, uint32_t site, lanemask_t lanes, lanemask_t *out,
                            bool take);
#endif
