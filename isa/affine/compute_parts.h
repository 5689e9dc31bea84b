#ifndef ISA_AFFINE_COMPUTE_PARTS_H
#define ISA_AFFINE_COMPUTE_PARTS_H
/* Shared by the files that compute an operation of the affine stream, lowest level first: compute_execute.c (one
 * execution), compute_offsets.c (tuples), compute_ctas.c (differences between CTAs), compute_threads.c (single threads;
 * predicates from the ends of a warp), compute_variants.c and compute_select.c (several tuples), compute.c (all CTAs of
 * a batch). */
#include "engine_parts.h"
#include "isa/decode.h"

/* The operands of an operation in one CTA. */
struct affine_operands {
    const struct affine_tuple *t[MAX_SOURCES]; /* NULL for a predicate */
    bool pred[MAX_SOURCES];
};

/* Store or load one register value of `bits` bits. The sizes 64 and 32 have their own memcpy() with a constant size,
 * which the compiler makes inline. */
static inline void put_value(unsigned char *at, unsigned bits, uint64_t v) {
    if (bits == 64)
        memcpy(at, &v, 8);
    else if (bits == 32)
        memcpy(at, &v, 4);
    else
        memcpy(at, &v, bits / 8u);
}

static inline uint64_t get_value(const unsigned char *at, unsigned bits) {
    uint64_t v = 0;
    if (bits == 64)
        memcpy(&v, at, 8);
    else if (bits == 32)
        memcpy(&v, at, 4);
    else
        memcpy(&v, at, bits / 8u);
    return v;
}

/* These functions access registers of e->warp, which executes operations: one lane of a source or of a destination, or
 * all lanes of a predicate. */
static inline void put_lane(struct affine_engine *e, const struct affine_source *s, uint32_t lane, uint64_t v) {
    put_value(e->bank + (s->at >> 1) + (size_t)lane * (s->bits / 8u), s->bits, v);
}

static inline uint64_t get_lane(const struct affine_engine *e, const struct affine_dest *d, uint32_t lane) {
    return get_value(e->bank + (d->at >> 1) + (size_t)lane * (d->bits / 8u), d->bits);
}

static inline rowmask_t get_pred(const struct affine_engine *e, const struct affine_dest *d) {
    rowmask_t m;
    memcpy(&m, e->bank + (d->at >> 1), sizeof m);
    return m;
}

/* These functions return the value of a source in CTA c, from the engine's registers. */
static inline struct affine_cell *cell_of(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return &e->regs[s->reg].cells[c];
}

static inline rowmask_t pred_of(const struct affine_engine *e, const struct affine_source *s, uint32_t c, uint32_t w) {
    return s->reg == NO_REG ? (rowmask_t)s->constant.base : e->regs[s->reg].pred[c * e->shape.n_warps + w];
}

static inline bool is_uniform(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return s->reg == NO_REG || e->regs[s->reg].uniform >> c & 1;
}

/* Returns the masks of the warps of CTA c; `by_warp` has a mask for each warp of the batch. */
static inline const rowmask_t *of_cta(const struct affine_engine *e, const rowmask_t *by_warp, uint32_t c) {
    return by_warp + (size_t)c * e->shape.n_warps;
}

static inline void put_result_pred(struct affine_engine *e, struct affine_reg *r, uint32_t c, uint32_t w,
                                   rowmask_t lanes, rowmask_t value, enum affine_compare how) {
    uint32_t at = c * e->shape.n_warps + w;
    r->pred[at] = (r->pred[at] & ~lanes) | (value & lanes);
    r->compare[at] = (uint8_t)how;
}

static inline bool note_fault(struct affine_step *step, uint32_t c, uint32_t w, uint32_t lane) {
    step->fault_cta = c;
    step->fault_warp = w;
    step->fault_lane = lane;
    return false;
}

/* ---- compute_execute.c ---- */
/* Executes the operation in `lanes`; the source registers have the operands in these lanes. Returns false if it faults
 * (e->fx.fault). */
bool compute_execute(struct affine_engine *e, const struct affine_op *op, rowmask_t lanes);
/* Puts the bases of the operands into lane `lane` of the source registers. */
void compute_put_operands(struct affine_engine *e, const struct affine_op *op, uint32_t lane,
                          const struct affine_operands *o);
/* Writes tuple t for threads lanes[w] of each warp w of CTA c. Returns false when memory runs out. */
bool compute_write(struct affine_engine *e, const struct affine_dest *d, uint32_t c, const rowmask_t *lanes,
                   const struct affine_tuple *t, struct affine_step *step);
/* Returns the cost (enum affine_compare) of a predicate that is computed from other predicates: the highest cost of
 * these source predicates. */
enum affine_compare compute_costliest(const struct affine_engine *e, const struct affine_op *op, uint32_t c,
                                      uint32_t w);

/* Maps v, a number of source a's type, to an unsigned number. Unsigned comparison then gives the order of the type. */
static inline uint64_t compute_rank(const struct affine_op *op, uint64_t v) {
    return (v & affine_mask(op->from_bits)) ^ (op->is_signed ? (uint64_t)1 << (op->from_bits - 1) : 0);
}

/* Returns the result of the operation's comparison. Requires op->relation. */
static inline bool compute_related(const struct affine_op *op, uint64_t a, uint64_t b) {
    a = compute_rank(op, a);
    b = compute_rank(op, b);
    switch (op->relation) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
    case CMP_LO:
        return a < b;
    case CMP_LE:
    case CMP_LS:
        return a <= b;
    case CMP_GT:
    case CMP_HI:
        return a > b;
    default: /* CMP_GE, CMP_HS */
        return a >= b;
    }
}

/* ---- compute_offsets.c ----
 *
 * Computes the result's thread offsets, and if op->linear also its base. Returns false if the result has no tuple and
 * must be computed thread by thread. */
bool compute_offsets(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                     struct affine_tuple *to);

/* ---- compute_threads.c ----
 *
 * Computes the operation for the threads lanes[w] of each warp w of CTA c, thread by thread. Returns false after a
 * fault or when memory runs out. */
bool compute_by_thread(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                       struct affine_step *step);
/* Computes a comparison (op->relation) of CTA c, whose operands `o` have one tuple each. Compares only the least and
 * the greatest value of each warp: of the first and the last lane, or of the corners if the warp has several rows. If
 * these values do not decide for the warp, it compares all lanes. The other arguments and the result are as in
 * compute_by_thread(). */
bool compute_by_ends(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct affine_operands *o,
                     const rowmask_t *lanes, struct affine_step *step);
/* Returns true if a source is exact in CTA c: it has a separate value for each thread instead of tuples. */
bool compute_is_exact(const struct affine_engine *e, const struct affine_op *op, uint32_t c);

/* ---- compute_variants.c ----
 *
 * Computes the operation in CTA c if a source has several tuples, or is a predicate that differs between threads.
 * `whole` means that no thread outside `lanes` will read the old value of the result register. */
bool compute_by_variants(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                         bool whole, struct affine_step *step);

/* ---- compute_select.c ----
 *
 * Computes a min, max or rem of operands that have one tuple each, for the lanes of the group p[0]. Splits this group
 * into up to AFFINE_VARIANTS pieces with one tuple each, and returns their number. Returns 0 if more are needed, or if
 * a divisor is not scalar or not positive. Adds the number of warps whose lanes it compares to e->selects. */
uint32_t compute_select(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                        struct affine_piece *p);

/* ---- compute_ctas.c ----
 *
 * Returns how the result differs between the CTAs of the batch: enum by_cta. */
uint8_t compute_by_cta(const struct affine_engine *e, const struct affine_op *op);
#endif
