/* Functions for tuples and cells. A tuple is a value that is linear in the thread index. A cell is a register of the
 * affine warp for one CTA. A box is a range of thread indices in each of the three dimensions. */
#include "value.h"
#include <stdlib.h>
#include <string.h>

/* Sets the box of the thread indices of warp w, which has n threads. */
static void find_box(struct affine_shape *s, uint32_t w, uint32_t n) {
    for (int d = 0; d < 3; d++) {
        const uint32_t *tid = s->tid[d] + (size_t)w * s->lanes;
        s->from[w][d] = s->to[w][d] = tid[0];
        for (uint32_t l = 1; l < n; l++) {
            s->from[w][d] = tid[l] < s->from[w][d] ? tid[l] : s->from[w][d];
            s->to[w][d] = tid[l] > s->to[w][d] ? tid[l] : s->to[w][d];
        }
    }
}

void affine_shape_init(struct affine_shape *s, struct dim3 block, uint32_t lanes) {
    uint32_t threads = dim3_count(block);
    s->block = block;
    s->lanes = lanes;
    s->n_warps = (threads + lanes - 1) / lanes;
    for (uint32_t w = 0; w < s->n_warps; w++) {
        uint32_t first = w * lanes, n = threads - first < lanes ? threads - first : lanes;
        for (int d = 0; d < 3; d++)
            warp_thread_ids(block, first, SPECIAL_TID_X + (unsigned)d, s->tid[d] + first);
        s->launched[w] = n == WARP_LANES ? LANES_ALL : ((rowmask_t)1 << n) - 1;
        /* tid.x increases by 1 within a row and drops at its end, so the lanes are in one row if and only if the last
         * tid.x is the first one + (n - 1) */
        const uint32_t *x = s->tid[0] + first;
        s->one_row[w] = x[n - 1] - x[0] == n - 1;
        s->rows[w] = n == WARP_LANES && x[15] - x[0] == 15 && x[31] - x[16] == 15;
        find_box(s, w, n);
    }
}

/* Defines a function that returns true if the tuple's values stay in the type's range for all threads of a box. The box
 * reaches from `from` to `to` in each dimension. `number` must have more than twice the type's bits. */
#define BOX_IN_RANGE(name, number)                                                                                     \
    static bool name(const struct affine_tuple *t, unsigned bits, bool is_signed, const uint32_t from[3],              \
                     const uint32_t to[3]) {                                                                           \
        number base = is_signed ? (number)affine_signed(t->base, bits) : (number)t->base, low = base, high = base;     \
        number least = is_signed ? -((number)1 << (bits - 1)) : 0;                                                     \
        number most = ((number)1 << (is_signed ? bits - 1 : bits)) - 1;                                                \
        for (int d = 0; d < 3; d++) {                                                                                  \
            number off = affine_signed(t->off[d], bits);                                                               \
            low += off * (number)(off < 0 ? to[d] : from[d]);                                                          \
            high += off * (number)(off < 0 ? from[d] : to[d]);                                                         \
        }                                                                                                              \
        return low >= least && high <= most;                                                                           \
    }
BOX_IN_RANGE(narrow_box_in_range, int64_t)
BOX_IN_RANGE(wide_box_in_range, __int128)

static bool box_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const uint32_t from[3],
                         const uint32_t to[3]) {
    return bits <= 32 ? narrow_box_in_range(t, bits, is_signed, from, to)
                      : wide_box_in_range(t, bits, is_signed, from, to);
}

bool affine_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s) {
    if (affine_is_scalar(t))
        return true;
    return box_in_range(t, bits, is_signed, (uint32_t[3]){0, 0, 0},
                        (uint32_t[3]){s->block.x - 1, s->block.y - 1, s->block.z - 1});
}

/* Returns the tuple relative to the first corner of the warp's box. The base is reduced modulo 2^bits, because it does
 * not matter if the tuple wraps before this corner. */
static struct affine_tuple in_box(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s,
                                  uint32_t warp) {
    struct affine_tuple box = *t;
    for (int d = 0; d < 3; d++)
        box.base += t->off[d] * s->from[warp][d];
    box.base &= affine_mask(bits);
    return box;
}

bool affine_warp_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s,
                          uint32_t warp) {
    const struct affine_tuple box = in_box(t, bits, s, warp);
    const uint32_t *from = s->from[warp], *to = s->to[warp];
    return box_in_range(&box, bits, is_signed, (uint32_t[3]){0, 0, 0},
                        (uint32_t[3]){to[0] - from[0], to[1] - from[1], to[2] - from[2]});
}

void affine_warp_extremes(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s, uint32_t warp,
                          uint64_t out[2]) {
    out[0] = out[1] = in_box(t, bits, s, warp).base;
    for (int d = 0; d < 3; d++)
        out[affine_signed(t->off[d], bits) > 0] += t->off[d] * (s->to[warp][d] - s->from[warp][d]);
}

void affine_expand(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s, uint32_t warp,
                   uint64_t out[WARP_LANES]) {
    const uint64_t mask = affine_mask(bits), x = t->off[0];
    if (affine_is_scalar(t)) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = t->base & mask;
        return;
    }
    if (s->one_row[warp]) {
        uint64_t first = affine_at(t, s, warp, 0);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = (first + x * l) & mask;
        return;
    }
    const size_t at = (size_t)warp * s->lanes;
    const uint32_t *tx = s->tid[0] + at, *ty = s->tid[1] + at, *tz = s->tid[2] + at;
    if (!t->off[2]) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = (t->base + x * tx[l] + t->off[1] * ty[l]) & mask;
        return;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = (t->base + x * tx[l] + t->off[1] * ty[l] + t->off[2] * tz[l]) & mask;
}

void affine_expand_32(const struct affine_tuple *t, const struct affine_shape *s, uint32_t warp,
                      uint32_t out[WARP_LANES]) {
    const size_t at = (size_t)warp * s->lanes;
    const uint32_t *tx = s->tid[0] + at, *ty = s->tid[1] + at, *tz = s->tid[2] + at;
    const uint32_t base = (uint32_t)t->base, x = (uint32_t)t->off[0], y = (uint32_t)t->off[1], z = (uint32_t)t->off[2];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = base + x * tx[l] + y * ty[l] + z * tz[l];
}

void cell_init(struct affine_cell *c) { *c = (struct affine_cell){.n = 1}; }

void cell_free(struct affine_cell *c) {
    free(c->mask);
    free(c->threads);
    cell_init(c);
}

void cell_read(const struct affine_cell *c, unsigned bits, const struct affine_shape *s, uint32_t warp,
               uint64_t out[WARP_LANES]) {
    uint64_t one[WARP_LANES];
    if (c->n == 1) {
        affine_expand(&c->v[0], bits, s, warp, out);
        return;
    }
    if (!c->n) {
        memcpy(out, c->threads + (size_t)warp * WARP_LANES, sizeof one);
        return;
    }
    memset(out, 0, sizeof one);
    for (uint32_t k = 0; k < c->n; k++) {
        rowmask_t m = c->mask[k * s->n_warps + warp];
        if (m)
            affine_expand(&c->v[k], bits, s, warp, one);
        for (; m; m &= m - 1)
            out[__builtin_ctz(m)] = one[__builtin_ctz(m)];
    }
}

bool cell_make_exact(struct affine_cell *c, unsigned bits, const struct affine_shape *s) {
    if (!c->n)
        return true;
    if (!c->threads && !(c->threads = malloc((size_t)s->n_warps * WARP_LANES * sizeof *c->threads)))
        return false;
    for (uint32_t w = 0; w < s->n_warps; w++)
        cell_read(c, bits, s, w, c->threads + (size_t)w * WARP_LANES);
    c->n = 0;
    return true;
}

void cell_write_lanes(struct affine_cell *c, uint32_t warp, rowmask_t lanes, const uint64_t value[WARP_LANES]) {
    uint64_t *to = c->threads + (size_t)warp * WARP_LANES;
    for (; lanes; lanes &= lanes - 1)
        to[__builtin_ctz(lanes)] = value[__builtin_ctz(lanes)];
}

static bool same_tuple(const struct affine_tuple *a, const struct affine_tuple *b) {
    return a->base == b->base && a->off[0] == b->off[0] && a->off[1] == b->off[1] && a->off[2] == b->off[2];
}

static bool covers(const rowmask_t *lanes, const rowmask_t *live, uint32_t n) {
    for (uint32_t w = 0; w < n; w++)
        if (live[w] & ~lanes[w])
            return false;
    return true;
}

/* Removes `lanes` from all variants, and deletes variants that have no live lanes any more. */
static void remove_lanes(struct affine_cell *c, const struct affine_shape *s, const rowmask_t *lanes,
                         const rowmask_t *live) {
    uint32_t kept = 0, n = s->n_warps;
    for (uint32_t k = 0; k < c->n; k++) {
        rowmask_t *m = c->mask + (size_t)k * n, any = 0;
        for (uint32_t w = 0; w < n; w++) {
            m[w] &= ~lanes[w];
            any |= m[w] & live[w];
        }
        if (!any)
            continue;
        if (kept != k) {
            c->v[kept] = c->v[k];
            memcpy(c->mask + (size_t)kept * n, m, n * sizeof *m);
        }
        kept++;
    }
    c->n = kept;
}

static void write_expanded(struct affine_cell *c, unsigned bits, const struct affine_shape *s, const rowmask_t *lanes,
                           const struct affine_tuple *t) {
    uint64_t value[WARP_LANES];
    for (uint32_t w = 0; w < s->n_warps; w++)
        if (lanes[w]) {
            affine_expand(t, bits, s, w, value);
            cell_write_lanes(c, w, lanes[w], value);
        }
}

/* Adds `lanes` to the variant with tuple `t`. If there is none, adds such a variant. */
static void add_variant(struct affine_cell *c, const struct affine_shape *s, const rowmask_t *lanes,
                        const struct affine_tuple *t) {
    uint32_t k = 0;
    while (k < c->n && !same_tuple(&c->v[k], t))
        k++;
    rowmask_t *m = c->mask + (size_t)k * s->n_warps;
    for (uint32_t w = 0; w < s->n_warps; w++)
        m[w] = k < c->n ? m[w] | lanes[w] : lanes[w];
    if (k == c->n)
        c->v[c->n++] = *t;
}

bool cell_write(struct affine_cell *c, unsigned bits, const struct affine_shape *s, const rowmask_t *lanes,
                const rowmask_t *live, const struct affine_tuple *t, bool *expanded) {
    uint32_t n = s->n_warps;
    if (covers(lanes, live, n)) {
        cell_set(c, t);
        return true;
    }
    if (!c->n) {
        write_expanded(c, bits, s, lanes, t);
        return true;
    }
    if (c->n == 1 && same_tuple(&c->v[0], t))
        return true;
    if (!c->mask && !(c->mask = malloc((size_t)n * AFFINE_VARIANTS * sizeof *c->mask)))
        return false;
    if (c->n == 1)
        memcpy(c->mask, s->launched, n * sizeof *c->mask);
    remove_lanes(c, s, lanes, live);
    bool full = c->n == AFFINE_VARIANTS;
    for (uint32_t k = 0; k < c->n; k++)
        full &= !same_tuple(&c->v[k], t);
    if (!full) {
        add_variant(c, s, lanes, t);
        return true;
    }
    if (!cell_make_exact(c, bits, s))
        return false;
    *expanded = true;
    write_expanded(c, bits, s, lanes, t);
    return true;
}
