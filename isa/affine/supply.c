/* Queues from the affine warp to the CTA's warps, as ring buffers that grow. */
#include "supply.h"
#include <stdlib.h>

bool supply_init(struct supply *s, uint32_t n_warps) {
    s->n_warps = n_warps;
    s->ring = calloc(n_warps, sizeof *s->ring);
    return s->ring != NULL;
}

static struct affine_entry *at(const struct supply_ring *r, uint32_t i) { return &r->e[(r->first + i) & (r->cap - 1)]; }

void supply_clear(struct supply *s) {
    for (uint32_t w = 0; s->ring && w < s->n_warps; w++)
        for (int q = 0; q < N_QUEUES; q++) {
            struct supply_ring *r = &s->ring[w][q];
            for (uint32_t i = 0; i < r->n; i++)
                affine_entry_free(at(r, i));
            r->first = r->n = 0;
            r->ready = 0;
        }
    s->total = 0;
}

void supply_free(struct supply *s) {
    supply_clear(s);
    for (uint32_t w = 0; s->ring && w < s->n_warps; w++)
        for (int q = 0; q < N_QUEUES; q++)
            free(s->ring[w][q].e);
    free(s->ring);
    s->ring = NULL;
}

bool supply_grow(struct supply_ring *r) {
    uint32_t cap = r->cap ? 2 * r->cap : 8;
    /* aligned, because an entry is as large as a cache line of the host */
    struct affine_entry *more = aligned_alloc(64, cap * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        more[i] = *at(r, i);
    free(r->e);
    r->e = more;
    r->cap = cap;
    r->first = 0;
    return true;
}

/* Returns the lanes of `lanes` that have no entry, or whose oldest entry belongs to a site other than `site`. */
static rowmask_t lanes_at_other_site(const struct supply_ring *r, uint32_t site, rowmask_t lanes) {
    rowmask_t wrong = 0;
    for (uint32_t i = 0; i < r->n && lanes; i++) {
        const struct affine_entry *e = at(r, i);
        wrong |= e->site != site ? e->lanes & lanes : 0;
        lanes &= ~e->lanes;
    }
    return wrong | lanes;
}

/* Drops the oldest entry, which all its lanes must have taken. */
static void drop_first(struct supply *s, struct supply_ring *r) {
    struct affine_entry *e = at(r, 0);
    if (e->exact)
        affine_entry_free(e);
    r->first = (r->first + 1) & (r->cap - 1);
    r->n--;
    s->total--;
}

void supply_drop_taken(struct supply *s, struct supply_ring *r) {
    /* Only lanes of r->ready can have an entry, so the search ends when it has found an entry for each of them. */
    const rowmask_t before = r->ready;
    rowmask_t ready = 0;
    while (r->n && !at(r, 0)->lanes)
        drop_first(s, r);
    for (uint32_t i = 0; i < r->n && ready != before; i++)
        ready |= at(r, i)->lanes;
    r->ready = ready;
}

/* supply_addresses() and supply_predicate() try the common case first, in which the oldest entry is for exactly these
 * lanes. */
rowmask_t supply_addresses(struct supply *s, const struct affine_shape *shape, uint32_t warp, uint32_t index,
                           uint32_t site, rowmask_t lanes, uint64_t out[WARP_LANES]) {
    struct supply_ring *r = &s->ring[warp][QUEUE_ADDRESS];
    const struct affine_entry *first = r->n ? at(r, 0) : NULL;
    if (first && lanes == shape->launched[index] && first->lanes == lanes && first->site == site) {
        affine_entry_addresses(first, shape, index, out);
        supply_drop_first(s, r);
        return 0;
    }
    rowmask_t wrong = lanes_at_other_site(r, site, lanes);
    uint64_t some[WARP_LANES];
    for (uint32_t i = 0; !wrong && lanes; i++) {
        struct affine_entry *e = at(r, i);
        rowmask_t m = e->lanes & lanes;
        if (!m)
            continue;
        e->lanes &= ~m;
        lanes &= ~m;
        if (m == shape->launched[index]) {
            affine_entry_addresses(e, shape, index, out);
            break;
        }
        affine_entry_addresses(e, shape, index, some);
        for (; m; m &= m - 1)
            out[__builtin_ctz(m)] = some[__builtin_ctz(m)];
    }
    if (!wrong)
        supply_drop_taken(s, r);
    return wrong;
}

rowmask_t supply_predicate(struct supply *s, uint32_t warp, uint32_t site, rowmask_t lanes, rowmask_t *out, bool take) {
    struct supply_ring *r = &s->ring[warp][QUEUE_PREDICATE];
    if (take && supply_predicate_whole(s, warp, site, lanes, out))
        return 0;
    rowmask_t wrong = lanes_at_other_site(r, site, lanes);
    for (uint32_t i = 0; !wrong && lanes; i++) {
        struct affine_entry *e = at(r, i);
        rowmask_t m = e->lanes & lanes;
        if (take)
            e->lanes &= ~m;
        lanes &= ~m;
        *out = (*out & ~m) | (e->value & m);
    }
    if (!wrong && take)
        supply_drop_taken(s, r);
    return wrong;
}
