#ifndef ISA_AFFINE_VALUE_H
#define ISA_AFFINE_VALUE_H
/* Values of the affine warp for each CTA of a batch, always exact. Source: "Decoupled Affine Computation for SIMT
 * GPUs", sections 4.2 and 4.6. Wrapping tuples are our addition (docs/dac.md).
 *
 * A tuple is a value linear in the thread index: base + x * tid.x + y * tid.y + z * tid.z modulo 2^bits. For one CTA,
 * a register holds one tuple, or up to AFFINE_VARIANTS tuples that divergent paths wrote for different threads, or a
 * value for each thread. */
#include "isa/machine/warp.h"

enum { AFFINE_CTAS = 32, AFFINE_VARIANTS = 4 };

struct affine_tuple {
    uint64_t base, off[3]; /* all are below 2^bits; off[0], off[1], off[2]: offsets for tid.x, tid.y, tid.z */
};

/* The thread indices of a CTA, which are equal in all CTAs of a launch. */
struct affine_shape {
    struct dim3 block;
    uint32_t n_warps, lanes; /* lanes: of a warp */
    rowmask_t launched[MAX_CTA_WARPS];
    bool one_row[MAX_CTA_WARPS]; /* all threads of the warp have the same tid.y and tid.z (they are in one row) */
    bool rows[MAX_CTA_WARPS]; /* all 32 lanes exist, and the threads of each half warp have the same tid.y and tid.z */
    uint32_t from[MAX_CTA_WARPS][3], to[MAX_CTA_WARPS][3]; /* least and greatest tid.x, y and z of the warp's threads */
    /* tid[0], tid[1], tid[2]: thread -> its tid.x, tid.y, tid.z. Reads of a warp are WARP_LANES entries long, and so
     * may reach beyond the last thread */
    uint32_t tid[3][MAX_CTA_THREADS + WARP_LANES];
};

/* The value of a register in one CTA. The cell owns `mask` and `threads`. */
struct affine_cell {
    uint32_t n; /* number of tuples; 0 if `threads` has a value for each thread */
    struct affine_tuple v[AFFINE_VARIANTS];
    /* if n > 1: mask[k * n_warps + w] has the lanes of warp w with tuple v[k]; the masks are disjoint */
    rowmask_t *mask;
    uint64_t *threads; /* if n == 0: n_warps * WARP_LANES values */
};

/* Computes the thread indices of a CTA of size `block`. `lanes`: number of lanes of a warp (launch_lanes()). */
void affine_shape_init(struct affine_shape *s, struct dim3 block, uint32_t lanes);

static inline uint64_t affine_mask(unsigned bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }
static inline bool affine_is_scalar(const struct affine_tuple *t) { return !(t->off[0] | t->off[1] | t->off[2]); }
/* Returns the lowest `bits` bits of v, sign-extended. */
static inline int64_t affine_signed(uint64_t v, unsigned bits) {
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Returns true if the tuple, as signed or unsigned numbers of `bits` bits, does not wrap in any thread of the CTA.
 * Offsets are signed. The answer is exact, because a linear function has its extremes at the corners of the CTA's box
 * of thread indices. */
bool affine_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s);
/* Works like affine_in_range(), for the box of one warp's thread indices. If the warp's threads have several rows
 * (values of tid.y and tid.z) of different lengths, the box also contains indices of other threads. */
bool affine_warp_in_range(const struct affine_tuple *t, unsigned bits, bool is_signed, const struct affine_shape *s,
                          uint32_t warp);
/* Returns the least (out[0]) and the greatest value in the warp's box. Requires affine_warp_in_range(). */
void affine_warp_extremes(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s, uint32_t warp,
                          uint64_t out[2]);
/* Returns the tuple's value in a lane, not reduced modulo 2^bits. */
static inline uint64_t affine_at(const struct affine_tuple *t, const struct affine_shape *s, uint32_t warp,
                                 uint32_t lane) {
    uint32_t i = warp * s->lanes + lane;
    return t->base + t->off[0] * s->tid[0][i] + t->off[1] * s->tid[1][i] + t->off[2] * s->tid[2][i];
}
/* Returns the least (out[0]) and the greatest value in the CTA. Requires affine_in_range(). */
static inline void affine_extremes(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s,
                                   uint64_t out[2]) {
    const uint64_t last[3] = {s->block.x - 1, s->block.y - 1, s->block.z - 1};
    out[0] = out[1] = t->base;
    for (int d = 0; d < 3; d++)
        out[affine_signed(t->off[d], bits) > 0] += t->off[d] * last[d];
}
/* Computes a tuple's values in all lanes of a warp, modulo 2^bits. */
void affine_expand(const struct affine_tuple *t, unsigned bits, const struct affine_shape *s, uint32_t warp,
                   uint64_t out[WARP_LANES]);
/* Works like affine_expand(), for values of 32 bits. */
void affine_expand_32(const struct affine_tuple *t, const struct affine_shape *s, uint32_t warp,
                      uint32_t out[WARP_LANES]);

/* Initializes a cell to 0 in all threads. cell_free() frees the memory that the cell owns. */
void cell_init(struct affine_cell *c);
void cell_free(struct affine_cell *c);
/* Reads all lanes of a warp. Lanes that were never written are 0. */
void cell_read(const struct affine_cell *c, unsigned bits, const struct affine_shape *s, uint32_t warp,
               uint64_t out[WARP_LANES]);
/* Writes a tuple's value to threads lanes[w] of each warp w. live[w] are the threads that have not exited; the values
 * of other threads need not be kept. If there are more than AFFINE_VARIANTS tuples, the cell becomes exact, and
 * *expanded is set. Returns false when memory runs out. */
bool cell_write(struct affine_cell *c, unsigned bits, const struct affine_shape *s, const rowmask_t *lanes,
                const rowmask_t *live, const struct affine_tuple *t, bool *expanded);
/* Works like cell_write(), for all threads that have not exited. */
static inline void cell_set(struct affine_cell *c, const struct affine_tuple *t) {
    c->n = 1;
    c->v[0] = *t;
}
/* Converts the cell to the form with a value for each thread, without changing any value. Returns false when memory
 * runs out. */
bool cell_make_exact(struct affine_cell *c, unsigned bits, const struct affine_shape *s);
/* Writes the lanes of one warp in an exact cell. */
void cell_write_lanes(struct affine_cell *c, uint32_t warp, rowmask_t lanes, const uint64_t value[WARP_LANES]);
#endif
