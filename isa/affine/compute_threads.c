/* Computes values thread by thread if they have no tuple (a tuple is a value that is linear in the thread index). Also
 * computes predicates from the least and the greatest value of a warp. */
#include "compute_parts.h"

/* Convert between 64-bit values and all lanes of a register. */
static void put_lanes(unsigned char *to, unsigned bytes, const uint64_t v[WARP_LANES]) {
    switch (bytes) {
    case 8:
        memcpy(to, v, WARP_LANES * sizeof *v);
        break;
    case 4:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            ((uint32_t *)(void *)to)[l] = (uint32_t)v[l];
        break;
    default:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            memcpy(to + (size_t)l * bytes, &v[l], bytes);
    }
}

static void get_lanes(uint64_t v[WARP_LANES], const unsigned char *from, unsigned bytes) {
    switch (bytes) {
    case 8:
        memcpy(v, from, WARP_LANES * sizeof *v);
        break;
    case 4:
        for (uint32_t l = 0; l < WARP_LANES; l++)
            v[l] = ((const uint32_t *)(const void *)from)[l];
        break;
    default:
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            v[l] = 0;
            memcpy(&v[l], from + (size_t)l * bytes, bytes);
        }
    }
}

static void put_warp(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w) {
    uint64_t v[WARP_LANES];
    for (int i = 0; i < op->n_sources; i++) {
        const struct affine_source *s = &op->source[i];
        if (s->reg == NO_REG)
            continue;
        if (!s->bits) {
            rowmask_t m = pred_of(e, s, c, w);
            memcpy(e->bank + (s->at >> 1), &m, sizeof m);
            continue;
        }
        const struct affine_cell *cell = cell_of(e, s, c);
        if (s->bits == 32 && cell->n == 1) {
            affine_expand_32(&cell->v[0], &e->shape, w, (uint32_t *)(void *)(e->bank + (s->at >> 1)));
            continue;
        }
        cell_read(cell, s->bits, &e->shape, w, v);
        put_lanes(e->bank + (s->at >> 1), s->bits / 8u, v);
    }
}

/* ---- both ends of a warp ---- */

/* Returns the other operand if one operand is scalar, else NULL. The least and the greatest value of the returned
 * operand may decide the comparison. */
static const struct affine_tuple *beside_scalar(const struct affine_operands *o) {
    const bool scalar[2] = {affine_is_scalar(o->t[0]), affine_is_scalar(o->t[1])};
    return scalar[1] ? o->t[0] : scalar[0] ? o->t[1] : NULL;
}

/* Returns true if the comparisons of a[0] with b[0] and of a[1] with b[1] have one result, *value, that also holds for
 * all values between them. For == and !=, both values must be below the scalar, or both not below it. The paper
 * requires that both are below or both are above the scalar; values equal to the scalar are our addition. */
static bool ends_decide(const struct affine_op *op, const uint64_t a[2], const uint64_t b[2], bool *value) {
    *value = compute_related(op, a[0], b[0]);
    if (*value != compute_related(op, a[1], b[1]))
        return false;
    const uint64_t first = compute_rank(op, a[0]), last = compute_rank(op, a[1]);
    const bool order = op->relation != CMP_EQ && op->relation != CMP_NE;
    return order || (first < compute_rank(op, b[0])) == (last < compute_rank(op, b[1]));
}

/* Decides the comparison for all threads of the CTA. Requires that no thread's value wraps. */
static bool cta_decides(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                        bool *value) {
    uint64_t a[2], b[2];
    affine_extremes(o->t[0], op->from_bits, &e->shape, a);
    affine_extremes(o->t[1], op->from_bits, &e->shape, b);
    return ends_decide(op, a, b, value);
}

/* Decides the comparison for a warp by its least and its greatest value. Requires that no value wraps in the warp's
 * box, the range of its thread indices in each dimension. */
static bool warp_decides(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                         uint32_t w, bool *value) {
    uint64_t a[2], b[2];
    affine_warp_extremes(o->t[0], op->from_bits, &e->shape, w, a);
    affine_warp_extremes(o->t[1], op->from_bits, &e->shape, w, b);
    return ends_decide(op, a, b, value);
}

static const struct affine_tuple *only_tuple(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return s->reg == NO_REG ? &s->constant : cell_of(e, s, c)->n == 1 ? &cell_of(e, s, c)->v[0] : NULL;
}

/* Returns the cost of a predicate whose lanes compute_by_thread() computes. A comparison that is combined with another
 * predicate costs as much as the costlier of the two. */
static enum affine_compare cost_of(const struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w) {
    if (op->rule == RULE_PRED)
        return compute_costliest(e, op, c, w);
    if (!op->combined)
        return COMPARE_LANES;
    const struct affine_operands o = {.t = {only_tuple(e, &op->source[0], c), only_tuple(e, &op->source[1], c)}};
    enum affine_compare own = COMPARE_LANES, other = compute_costliest(e, op, c, w);
    bool value;
    if (o.t[0] && o.t[1] && affine_is_scalar(o.t[0]) && affine_is_scalar(o.t[1]))
        own = COMPARE_CTA;
    else if (o.t[0] && o.t[1] && beside_scalar(&o) &&
             affine_warp_in_range(beside_scalar(&o), op->from_bits, op->is_signed, &e->shape, w) &&
             warp_decides(e, op, &o, w, &value))
        own = e->shape.one_row[w] ? COMPARE_ENDS : COMPARE_CORNERS;
    return own > other ? own : other;
}

/* ---- single threads ---- */

static bool take_warp(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, rowmask_t lanes,
                      struct affine_step *step) {
    uint64_t v[WARP_LANES];
    for (int i = 0; i < op->n_dests; i++) {
        const struct affine_dest *d = &op->dest[i];
        struct affine_reg *r = &e->regs[d->reg];
        if (!d->bits) {
            enum affine_compare how = cost_of(e, op, c, w);
            r->uniform &= ~(1u << c);
            put_result_pred(e, r, c, w, lanes, get_pred(e, d), how);
            step->class = step->class < STEP_AFFINE ? STEP_AFFINE : step->class;
            continue;
        }
        if (!cell_make_exact(&r->cells[c], d->bits, &e->shape)) {
            e->out_of_memory = true;
            return false;
        }
        get_lanes(v, e->bank + (d->at >> 1), d->bits / 8u);
        cell_write_lanes(&r->cells[c], w, lanes, v);
        step->class = STEP_VECTOR;
    }
    return true;
}

bool compute_is_exact(const struct affine_engine *e, const struct affine_op *op, uint32_t c) {
    for (int i = 0; i < op->n_sources; i++)
        if (op->source[i].bits && op->source[i].reg != NO_REG && !cell_of(e, &op->source[i], c)->n)
            return true;
    return false;
}

bool compute_by_thread(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                       struct affine_step *step) {
    bool was_exact = compute_is_exact(e, op, c), numbers = false;
    for (int i = 0; i < op->n_dests; i++)
        numbers |= op->dest[i].bits != 0;
    if (was_exact)
        step->class = STEP_VECTOR;
    step->fallbacks += numbers && !was_exact;
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        rowmask_t m = lanes[w];
        if (!m)
            continue;
        put_warp(e, op, c, w);
        if (!compute_execute(e, op, m))
            return note_fault(step, c, w, e->fx.fault_lane);
        if (!take_warp(e, op, c, w, m, step))
            return false;
        step->slots += numbers || was_exact;
    }
    return true;
}

static void put_decided(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, rowmask_t lanes,
                        bool value) {
    for (int i = 0; i < op->n_dests; i++) {
        struct affine_reg *r = &e->regs[op->dest[i].reg];
        r->uniform &= ~(1u << c);
        put_result_pred(e, r, c, w, lanes, value == !i ? LANES_ALL : 0,
                        e->shape.one_row[w] ? COMPARE_ENDS : COMPARE_CORNERS);
    }
}

static bool compare_lanes(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, rowmask_t lanes,
                          struct affine_step *step) {
    put_warp(e, op, c, w);
    compute_execute(e, op, LANES_ALL);
    return take_warp(e, op, c, w, lanes, step);
}

bool compute_by_ends(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct affine_operands *o,
                     const rowmask_t *lanes, struct affine_step *step) {
    const struct affine_tuple *x = beside_scalar(o);
    const bool nowhere_wraps = x && affine_in_range(x, op->from_bits, op->is_signed, &e->shape);
    bool value = false;
    step->class = STEP_AFFINE;
    const bool all = nowhere_wraps && cta_decides(e, op, o, &value);
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        if (!lanes[w])
            continue;
        if (all || (x && (nowhere_wraps || affine_warp_in_range(x, op->from_bits, op->is_signed, &e->shape, w)) &&
                    warp_decides(e, op, o, w, &value)))
            put_decided(e, op, c, w, lanes[w], value);
        else if (!compare_lanes(e, op, c, w, lanes[w], step))
            return false;
    }
    return true;
}
