/* Computes values without a tuple thread by thread, and predicates from the first and the last thread of a row (threads
 * with equal tid.y and tid.z). */
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
            lanemask_t m = pred_of(e, s, c, w);
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

static bool take_warp(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, lanemask_t lanes,
                      struct affine_step *step) {
    uint64_t v[WARP_LANES];
    for (int i = 0; i < op->n_dests; i++) {
        const struct affine_dest *d = &op->dest[i];
        struct affine_reg *r = &e->regs[d->reg];
        if (!d->bits) {
            enum affine_compare how = op->rule == RULE_PRED ? compute_costliest(e, op, c, w) : COMPARE_LANES;
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

bool compute_by_thread(struct affine_engine *e, const struct affine_op *op, uint32_t c, const lanemask_t *lanes,
                       struct affine_step *step) {
    bool was_exact = compute_is_exact(e, op, c), numbers = false;
    for (int i = 0; i < op->n_dests; i++)
        numbers |= op->dest[i].bits != 0;
    if (was_exact)
        step->class = STEP_VECTOR;
    step->fallbacks += numbers && !was_exact;
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        lanemask_t m = lanes[w];
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

/* ---- both ends of a row ---- */

/* If one operand is scalar, returns the other operand, else NULL. The comparison of a scalar with a linear value is
 * decided for a whole row if its results at both ends of the row are equal. */
static const struct affine_tuple *along_rows(const struct affine_operands *o) {
    const bool scalar[2] = {affine_is_scalar(o->t[0]), affine_is_scalar(o->t[1])};
    return scalar[1] ? o->t[0] : scalar[0] ? o->t[1] : NULL;
}

/* Writes the values of tuple `t` in the first and last thread of n <= 16 warps to lanes 2 k and 2 k + 1 of the source
 * register, for the warps from + k. */
static void put_ends(struct affine_engine *e, const struct affine_source *s, const struct affine_tuple *t,
                     uint32_t from, uint32_t n) {
    uint64_t v[WARP_LANES] = {0};
    if (s->reg == NO_REG)
        return;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t last = (uint32_t)(31 - __builtin_clz(e->shape.launched[from + k]));
        v[2 * k] = affine_at(t, &e->shape, from + k, 0);
        v[2 * k + 1] =
            e->shape.one_row[from + k] ? v[2 * k] + t->off[0] * last : affine_at(t, &e->shape, from + k, last);
    }
    put_lanes(e->bank + (s->at >> 1), s->bits / 8u, v);
}

static bool compare_lanes(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, lanemask_t lanes,
                          struct affine_step *step) {
    put_warp(e, op, c, w);
    compute_execute(e, op, LANES_ALL);
    return take_warp(e, op, c, w, lanes, step);
}

enum { PAIRS = WARP_LANES / 2 };

/* Compares in the first and last thread of n <= 16 warps. The results for warp from + k are bits 2 k and 2 k + 1 of
 * ends[], where ends[0] and ends[1] belong to the two destinations. */
static void compare_ends(struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                         uint32_t from, uint32_t n, lanemask_t ends[2]) {
    for (int i = 0; i < 2; i++)
        put_ends(e, &op->source[i], o->t[i], from, n);
    compute_execute(e, op, LANES_ALL);
    for (int i = 0; i < op->n_dests; i++)
        ends[i] = get_pred(e, &op->dest[i]);
}

static bool has_rows(const struct affine_shape *s) {
    for (uint32_t w = 0; w < s->n_warps; w++)
        if (s->one_row[w])
            return true;
    return false;
}

/* Compares with the least and with the greatest value in the CTA. Returns true if both results are equal. Then *value
 * is the result of the comparison in all threads. Requires that no thread's value wraps. */
static bool compare_extremes(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                             bool *value) {
    uint64_t a[2], b[2];
    affine_extremes(o->t[0], op->from_bits, &e->shape, a);
    affine_extremes(o->t[1], op->from_bits, &e->shape, b);
    *value = compute_related(op, a[0], b[0]);
    return *value == compute_related(op, a[1], b[1]);
}

static void put_decided(struct affine_engine *e, const struct affine_op *op, uint32_t c, const lanemask_t *lanes,
                        bool value) {
    for (int i = 0; i < op->n_dests; i++) {
        struct affine_reg *r = &e->regs[op->dest[i].reg];
        r->uniform &= ~(1u << c);
        for (uint32_t w = 0; w < e->shape.n_warps; w++)
            if (lanes[w])
                put_result_pred(e, r, c, w, lanes[w], value == !i ? LANES_ALL : 0,
                                e->shape.one_row[w] ? COMPARE_ENDS : COMPARE_LANES);
    }
}

bool compute_by_ends(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct affine_operands *o,
                     const lanemask_t *lanes, struct affine_step *step) {
    const struct affine_tuple *x = has_rows(&e->shape) ? along_rows(o) : NULL;
    const bool nowhere_wraps = x && affine_in_range(x, op->from_bits, op->is_signed, &e->shape);
    lanemask_t ends[2] = {0};
    bool value;
    step->class = STEP_AFFINE;
    if (nowhere_wraps && compare_extremes(e, op, o, &value)) {
        put_decided(e, op, c, lanes, value);
        return true;
    }
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        const uint32_t at = 2 * (w % PAIRS), left = e->shape.n_warps - w;
        if (x && !at)
            compare_ends(e, op, o, w, left < PAIRS ? left : PAIRS, ends);
        if (!lanes[w])
            continue;
        bool decided = x && (ends[0] >> at & 1) == (ends[0] >> (at + 1) & 1) && e->shape.one_row[w] &&
                       (nowhere_wraps || affine_row_in_range(x, op->from_bits, op->is_signed, &e->shape, w));
        if (!decided) {
            if (!compare_lanes(e, op, c, w, lanes[w], step))
                return false;
            continue;
        }
        for (int i = 0; i < op->n_dests; i++) {
            struct affine_reg *r = &e->regs[op->dest[i].reg];
            r->uniform &= ~(1u << c);
            put_result_pred(e, r, c, w, lanes[w], ends[i] >> at & 1 ? LANES_ALL : 0, COMPARE_ENDS);
        }
    }
    return true;
}
