/* Computes min, max and rem of tuples. For each thread, the result is the value of one of several tuples: min(a, b) and
 * max(a, b) are a or b, and a rem b is a - q * b for the thread's quotient q. Source: "Decoupled Affine Computation for
 * SIMT GPUs", section 3, which names these operations; the selection is our design (docs/dac.md). */
#include "compute_parts.h"

/* Sets out[0] and out[1] to the least and the greatest value of tuple t in warp w. Returns false if a value may
 * wrap. */
static bool find_extremes(const struct affine_engine *e, const struct affine_op *op, const struct affine_tuple *t,
                          uint32_t w, uint64_t out[2]) {
    if (!affine_warp_in_range(t, op->from_bits, op->is_signed, &e->shape, w))
        return false;
    affine_warp_extremes(t, op->from_bits, &e->shape, w, out);
    return true;
}

/* Returns the lanes of warp w in which operand a is less than operand b. Lanes with equal operands may be included. */
static rowmask_t lanes_less(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                            uint32_t w) {
    const struct affine_tuple *ta = o->t[0], *tb = o->t[1];
    uint64_t a[WARP_LANES], b[WARP_LANES];
    rowmask_t less = 0;
    if (find_extremes(e, op, ta, w, a) && find_extremes(e, op, tb, w, b)) {
        if (compute_rank(op, a[1]) <= compute_rank(op, b[0]))
            return LANES_ALL;
        if (compute_rank(op, a[0]) >= compute_rank(op, b[1]))
            return 0;
    }
    e->selects++;
    affine_expand(ta, op->from_bits, &e->shape, w, a);
    affine_expand(tb, op->from_bits, &e->shape, w, b);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        less |= (rowmask_t)(compute_rank(op, a[l]) < compute_rank(op, b[l])) << l;
    return less;
}

static uint32_t select_less(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                            struct affine_piece *p) {
    struct affine_piece *other = p + 1;
    rowmask_t any[2] = {0};
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        const rowmask_t lanes = p->lanes[w], less = lanes ? lanes_less(e, op, o, w) : 0;
        p->lanes[w] = lanes & (op->rule == RULE_MIN ? less : ~less);
        other->lanes[w] = lanes & ~p->lanes[w];
        any[0] |= p->lanes[w];
        any[1] |= other->lanes[w];
    }
    p->t = *o->t[0];
    other->t = *o->t[1];
    if (!any[0])
        *p = *other;
    return any[0] && any[1] ? 2 : 1;
}

/* Returns the quotient of a value and the divisor, rounded towards zero. */
static uint64_t quotient(const struct affine_op *op, uint64_t value, uint64_t divisor) {
    const uint64_t v = value & affine_mask(op->from_bits);
    return op->is_signed ? (uint64_t)(affine_signed(v, op->from_bits) / (int64_t)divisor) : v / divisor;
}

/* Computes the quotient of each lane of warp w. */
static void find_quotients(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                           uint32_t w, uint64_t divisor, uint64_t out[WARP_LANES]) {
    uint64_t ends[2];
    const bool decided =
        find_extremes(e, op, o->t[0], w, ends) && quotient(op, ends[0], divisor) == quotient(op, ends[1], divisor);
    e->selects += !decided;
    if (!decided)
        affine_expand(o->t[0], op->from_bits, &e->shape, w, out);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = quotient(op, decided ? ends[0] : out[l], divisor);
}

static uint32_t select_quotient(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                                struct affine_piece *p) {
    const uint64_t mask = affine_mask(op->from_bits), divisor = o->t[1]->base & mask;
    uint64_t of[WARP_LANES], q[AFFINE_VARIANTS];
    rowmask_t lanes[MAX_CTA_WARPS];
    uint32_t n = 0;
    if (!affine_is_scalar(o->t[1]) || !divisor || (op->is_signed && affine_signed(divisor, op->from_bits) < 0))
        return 0;
    memcpy(lanes, p->lanes, e->shape.n_warps * sizeof *lanes);
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        if (lanes[w])
            find_quotients(e, op, o, w, divisor, of);
        for (rowmask_t left = lanes[w]; left; left &= left - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(left);
            uint32_t k = 0;
            while (k < n && q[k] != of[l])
                k++;
            if (k == AFFINE_VARIANTS)
                return 0;
            if (k == n) {
                q[n++] = of[l];
                memset(p[k].lanes, 0, e->shape.n_warps * sizeof *lanes);
                p[k].t = *o->t[0];
                p[k].t.base = (p[k].t.base - of[l] * divisor) & mask;
            }
            p[k].lanes[w] |= (rowmask_t)1 << l;
        }
    }
    return n;
}

uint32_t compute_select(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                        struct affine_piece *p) {
    return op->rule == RULE_REM ? select_quotient(e, op, o, p) : select_less(e, op, o, p);
}
