/* Computes operations whose sources have several tuples, each for a part of the threads. A tuple is a value that is
 * linear in the thread index; the tuples of one source are called its variants. */
#include "compute_parts.h"

/* Returns the number of variants of a source: the number of its tuples, or of the values of a predicate. */
static uint32_t variants(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return !s->bits ? is_uniform(e, s, c) ? 1 : 2 : s->reg == NO_REG ? 1 : cell_of(e, s, c)->n;
}

/* Sets operand i to variant k of its source, and removes from `lanes` the lanes in which the source has another
 * variant. */
static void choose(const struct affine_engine *e, const struct affine_source *s, uint32_t c, uint32_t k,
                   struct affine_operands *o, int i, rowmask_t *lanes) {
    const uint32_t n = e->shape.n_warps, of = variants(e, s, c);
    o->t[i] = NULL;
    if (!s->bits) {
        o->pred[i] = of == 1 ? pred_of(e, s, c, 0) & 1 : k;
        for (uint32_t w = 0; w < n && of == 2; w++)
            lanes[w] &= k ? pred_of(e, s, c, w) : ~pred_of(e, s, c, w);
        return;
    }
    const struct affine_cell *cell = s->reg == NO_REG ? NULL : cell_of(e, s, c);
    o->t[i] = cell ? &cell->v[k] : &s->constant;
    for (uint32_t w = 0; w < n && of > 1; w++)
        lanes[w] &= cell->mask[k * n + w];
}

/* Computes a partial result for each combination of variants that occurs in some thread. Returns the number of these
 * combinations, or 0 if there are too many combinations, or if the result of a combination has no tuple. */
static uint32_t make_pieces(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes) {
    uint32_t of[MAX_SOURCES] = {1, 1, 1, 1}, all = 1, n = 0;
    for (int i = 0; i < op->n_sources; i++)
        all *= of[i] = variants(e, &op->source[i], c);
    for (uint32_t k = 0; k < all; k++) {
        struct affine_piece *p = &e->pieces[n];
        struct affine_operands o;
        uint32_t rest = k;
        rowmask_t any = 0;
        memcpy(p->lanes, lanes, e->shape.n_warps * sizeof *lanes);
        for (int i = 0; i < op->n_sources; i++) {
            choose(e, &op->source[i], c, rest % of[i], &o, i, p->lanes);
            rest /= of[i];
        }
        for (uint32_t w = 0; w < e->shape.n_warps; w++)
            any |= p->lanes[w];
        if (!any)
            continue;
        if (affine_rule_selects((enum affine_rule)op->rule)) {
            const uint32_t more = n + AFFINE_VARIANTS <= MAX_PIECES ? compute_select(e, op, &o, p) : 0;
            if (!more)
                return 0;
            n += more;
            continue;
        }
        if (!compute_offsets(e, op, &o, &p->t))
            return 0;
        if (!op->linear) {
            compute_put_operands(e, op, 0, &o);
            if (!compute_execute(e, op, 1))
                return 0;
            p->t.base = get_lane(e, &op->dest[0], 0);
        }
        if (++n == MAX_PIECES)
            return 0;
    }
    return n;
}

bool compute_by_variants(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                         bool whole, struct affine_step *step) {
    bool possible = op->n_dests == 1 && op->dest[0].bits && !compute_is_exact(e, op, c) && op->in.kind != K_LOAD;
    uint32_t n = possible ? make_pieces(e, op, c, lanes) : 0;
    if (!n)
        return compute_by_thread(e, op, c, lanes, step);
    for (uint32_t k = 0; k < n; k++) {
        const struct affine_piece *p = &e->pieces[k];
        /* If no thread needs the old value, the first partial result replaces it in all threads. The other partial
         * results then overwrite the first one in their lanes. */
        if (!k && whole)
            cell_set(&e->regs[op->dest[0].reg].cells[c], &p->t);
        else if (!compute_write(e, &op->dest[0], c, p->lanes, &p->t, step))
            return false;
    }
    if (step->class < STEP_AFFINE)
        step->class = STEP_AFFINE;
    return true;
}
