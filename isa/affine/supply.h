#ifndef ISA_AFFINE_SUPPLY_H
#define ISA_AFFINE_SUPPLY_H
/* Queues from the affine warp to the warps of its CTA: each warp has one queue of data and addresses and one queue of
 * predicates. A lane takes its entries in the order sent. If lanes have diverged, each path takes its lanes' part of an
 * entry. Converged lanes whose entries were sent separately take several entries at once. Queues have no size limit
 * here; a timing model limits them itself. */
#include "engine.h"

enum supply_queue { QUEUE_ADDRESS, QUEUE_PREDICATE, N_QUEUES };
static inline enum supply_queue queue_of(uint8_t kind) { return kind == SITE_PRED ? QUEUE_PREDICATE : QUEUE_ADDRESS; }

struct supply_ring {
    struct affine_entry *e;
    /* first: index of the oldest entry; n: number of entries; cap: size of the ring, 0 or a power of two */
    uint32_t first, n, cap;
    rowmask_t ready; /* lanes with an entry */
};
struct supply {
    uint32_t n_warps;
    /* number of entries in the queues; a taken entry counts until all older entries of its queue are taken */
    uint32_t total;
    struct supply_ring (*ring)[N_QUEUES]; /* by warp */
};

/* Allocates queues for n_warps warps. Returns false when memory runs out. */
bool supply_init(struct supply *s, uint32_t n_warps);
void supply_free(struct supply *s);
/* Drops all entries. */
void supply_clear(struct supply *s);
/* Doubles the ring; cap stays a power of two. Returns false when memory runs out. */
bool supply_grow(struct supply_ring *r);
/* Appends an entry for these lanes, which the caller fills. Returns NULL when memory runs out. */
static inline struct affine_entry *supply_new(struct supply *s, uint32_t warp, enum supply_queue q, rowmask_t lanes) {
    struct supply_ring *r = &s->ring[warp][q];
    if (r->n == r->cap && !supply_grow(r))
        return NULL;
    r->ready |= lanes;
    s->total++;
    return &r->e[(r->first + r->n++) & (r->cap - 1)];
}
/* Appends a copy of the entry, whose memory then belongs to the queue. Returns false when memory runs out. */
static inline bool supply_put(struct supply *s, uint32_t warp, const struct affine_entry *e) {
    struct affine_entry *to = supply_new(s, warp, queue_of(e->kind), e->lanes);
    if (to)
        *to = *e;
    return to != NULL;
}
/* Returns the lanes that have an entry in this queue. */
static inline rowmask_t supply_ready(const struct supply *s, uint32_t warp, enum supply_queue q) {
    return s->ring[warp][q].ready;
}
static inline uint32_t supply_count(const struct supply *s, uint32_t warp, enum supply_queue q) {
    return s->ring[warp][q].n;
}
/* Returns the oldest entry that a lane has not taken, or NULL if there is none. */
static inline struct affine_entry *supply_first(const struct supply *s, uint32_t warp, enum supply_queue q) {
    const struct supply_ring *r = &s->ring[warp][q];
    return r->n ? &r->e[r->first] : NULL;
}
/* Drops the oldest entries whose lanes have all taken them, and updates `ready`. */
void supply_drop_taken(struct supply *s, struct supply_ring *r);
/* Drops the oldest entry, which all its lanes have taken. This is fast if there is no next entry or the next entry is
 * for the same lanes. */
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
/* Works like supply_predicate() if the oldest entry is for exactly these lanes and this site. Otherwise does nothing
 * and returns false. */
static inline bool supply_predicate_whole(struct supply *s, uint32_t warp, uint32_t site, rowmask_t lanes,
                                          rowmask_t *out) {
    struct supply_ring *r = &s->ring[warp][QUEUE_PREDICATE];
    const struct affine_entry *first = &r->e[r->first];
    if (!r->n || first->lanes != lanes || first->site != site)
        return false;
    *out = (*out & ~lanes) | (first->value & lanes);
    supply_drop_first(s, r);
    return true;
}
/* Takes the oldest entry of each of `lanes` and writes the addresses to out[]. `warp` is the index of the queue, and
 * `index` is the warp's index in its CTA. Requires an entry for each lane. Other lanes or bits of `out` are unchanged.
 * Returns the lanes whose oldest entry belongs to another site, which is a bug; then no entry is taken. */
rowmask_t supply_addresses(struct supply *s, const struct affine_shape *shape, uint32_t warp, uint32_t index,
                           uint32_t site, rowmask_t lanes, uint64_t out[WARP_LANES]);
/* Works like supply_addresses(), for the queue of predicates: writes the bits of `lanes` to *out. If `take` is
 * false, reads the predicate without taking the entry. */
rowmask_t supply_predicate(struct supply *s, uint32_t warp, uint32_t site, rowmask_t lanes, rowmask_t *out, bool take);
#endif
