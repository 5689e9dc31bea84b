#ifndef ISA_AFFINE_VALUE_H
#define ISA_AFFINE_VALUE_H
/* Values of the affine warp: one for each CTA of a batch, exact always. "Decoupled Affine Computation for SIMT GPUs",
 * sections 4.2 and 4.6; that tuples wrap, and what is done then, is ours (docs/dac.md).
 *
 * A tuple is a value that is linear in the thread's place: base + x * tid.x + y * tid.y + z * tid.z modulo 2^bits. A
 * register holds, for a CTA, one tuple; or up to AFFINE_VARIANTS of them, each for some of its threads (written on
 * divergent paths); or a value for every thread. */
#include "isa/machine/warp.h"

enum { AFFINE_CTAS = 32, AFFINE_VARIANTS = 4 };

struct affine_tuple {
    uint64_t base, off[3]; /* all below 2^bits; off by x, y, z */
};

/* Where the threads of a CTA stand: the same for all CTAs of a launch. */
struct affine_shape {
    struct dim3 block;
    uint32_t n_warps;
    lanemask_t launched[MAX_CTA_WARPS];
    bool one_row[MAX_CTA_WARPS]; /* all its threads have the same tid.y and tid.z */
    bool rows[MAX_CTA_WARPS];    /* the threads of each half have, and all 32 are there */
    uint32_t tid[3][MAX_CTA_THREADS];
};

/* A register for one CTA. */
struct affine_cell {
    uint32_t n; /* tuples; 0: `threads` holds a value for each */
    struct affine_tuple v[AFFINE_VARIANTS];
    lanemask_t *mask;  /* n > 1: mask[k * n_warps + w], the lanes of warp w that v[k] is for; they are disjoint */
    uint64_t *threads; /* n == 0: n_warps * WARP_LANES values */
};

void affine_shape_init(struct affine_shape *s, struct dim3 block);

static inline uint64_t affine_mask(unsigned bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }
static inline bool affine_is_scalar(const struct affine_tuple *t) { return !(t->off[0] | t->off[1] | t->off[2]); }
/* The number that `bits` bits are: sign-extended, or the same. */
static inline int64_t affine_signed(uint64_t v, unsigned bits) {
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Is the tuple, taken as signed or unsigned numbers of `bits` bits, linear without wrapping over all threads of a CTA?
 * Exact, up to threads that a CTA has in its box: offsets are taken as signed, the base in the type's range, and both
 * corners of each dimension looked at. */
bool affine_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s);
/* The same for the threads of one warp, which must stand in one row. */
bool affine_row_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s,
                         uint32_t warp);
/* The tuple's value for thread `lane` of warp `warp`. */
static inline uint64_t affine_at(const struct affine_tuple *t, const struct affine_shape *s, uint32_t warp,
                                 uint32_t lane) {
    uint32_t i = warp * WARP_LANES + lane;
    return t->base + t->off[0] * s->tid[0][i] + t->off[1] * s->tid[1][i] + t->off[2] * s->tid[2][i];
}
/* The least and the greatest value that a thread of a CTA has, where affine_in_range(). */
static inline void affine_extremes(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s,
                                   uint64_t out[2]) {
    const uint64_t last[3] = {s->block.x - 1, s->block.y - 1, s->block.z - 1};
    out[0] = out[1] = t->base;
    for (int d = 0; d < 3; d++)
        out[affine_signed(t->off[d], bits) > 0] += t->off[d] * last[d];
}
/* Values of a tuple for all lanes of a warp, modulo 2^bits. */
void affine_expand(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s, uint32_t warp,
                   uint64_t out[WARP_LANES]);
/* The same of 32 bits. */
void affine_expand_32(const struct affine_tuple *t, const struct affine_shape *s, uint32_t warp,
                      uint32_t out[WARP_LANES]);

/* A cell that holds 0 for every thread; memory is its own. */
void cell_init(struct affine_cell *c);
void cell_free(struct affine_cell *c);
/* All lanes of a warp; those that never were written are 0. */
void cell_read(const struct affine_cell *c, unsigned bits, const struct affine_shape *s, uint32_t warp,
               uint64_t out[WARP_LANES]);
/* The threads lanes[w] of each warp w get the value of a tuple; live[w] are those that have not exited, which alone
 * matter. More than AFFINE_VARIANTS make it exact: *expanded is set then. False: memory is out. */
bool cell_write(struct affine_cell *c, unsigned bits, const struct affine_shape *s, const lanemask_t *lanes,
                const lanemask_t *live, const struct affine_tuple *t, bool *expanded);
/* The same for all threads that have not exited. */
static inline void cell_set(struct affine_cell *c, const struct affine_tuple *t) {
    c->n = 1;
    c->v[0] = *t;
}
/* From now on the cell holds a value for each thread, as yet the same ones. */
bool cell_make_exact(struct affine_cell *c, unsigned bits, const struct affine_shape *s);
/* The lanes of one warp of an exact cell. */
void cell_write_lanes(struct affine_cell *c, uint32_t warp, lanemask_t lanes, const uint64_t value[WARP_LANES]);
#endif
