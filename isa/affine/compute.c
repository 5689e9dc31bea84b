/* Computes an operation of the affine stream for a batch of CTAs. compute_offsets.c computes the tuples of linear
 * operations. For other operations, the executor of the instruction's row computes the bases of the results.
 * compute_threads.c and compute_variants.c compute CTAs whose values have no single tuple. */
#include "compute_parts.h"
#include "isa/decode.h"

/* ---- sources ---- */

/* Returns true if each source has, in CTA c, one tuple or one predicate value for all threads, and fills *o with these.
 * Else returns false. */
static bool compute_simple(const struct affine_engine *e, const struct affine_op *op, uint32_t c,
                           struct affine_operands *o) {
    for (int i = 0; i < op->n_sources; i++) {
        const struct affine_source *s = &op->source[i];
        o->t[i] = NULL;
        if (!s->bits) {
            if (!is_uniform(e, s, c))
                return false;
            o->pred[i] = pred_of(e, s, c, 0) & 1;
        } else if (s->reg == NO_REG) {
            o->t[i] = &s->constant;
        } else {
            const struct affine_cell *cell = cell_of(e, s, c);
            if (cell->n != 1)
                return false;
            o->t[i] = &cell->v[0];
        }
    }
    return true;
}

/* ---- results ---- */

/* Sets a predicate to one value for the threads of CTA c that are in group `g`. */
static void put_uniform(struct affine_engine *e, struct affine_reg *r, uint32_t c, const struct affine_group *g,
                        bool value, enum affine_compare how) {
    const uint32_t n = e->shape.n_warps;
    const rowmask_t *m = of_cta(e, g->lanes, c), all = value ? LANES_ALL : 0;
    if (g->whole >> c & 1) {
        r->uniform |= 1u << c;
        for (uint32_t w = 0; w < n; w++)
            r->pred[c * n + w] = all;
        memset(r->compare + (size_t)c * n, how, n);
        return;
    }
    if (!(r->uniform >> c & 1 && r->pred[c * n] == all))
        r->uniform &= ~(1u << c);
    for (uint32_t w = 0; w < n; w++)
        if (m[w])
            put_result_pred(e, r, c, w, m[w], all, how);
}

static bool put_tuple(struct affine_engine *e, const struct affine_dest *d, uint32_t c, const struct affine_group *g,
                      const struct affine_tuple *t, struct affine_step *step) {
    if (step->class < STEP_AFFINE && !affine_is_scalar(t))
        step->class = STEP_AFFINE;
    if (!(g->whole >> c & 1))
        return compute_write(e, d, c, of_cta(e, g->lanes, c), t, step);
    cell_set(&e->regs[d->reg].cells[c], t);
    return true;
}

/* ---- all CTAs ---- */

/* Writes the results of an operation in CTA c. The executor has left their bases in lane c of the destination
 * registers; `t` has their thread offsets. Returns false when memory runs out. */
static bool take_results(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct affine_group *g,
                         struct affine_tuple *t, struct affine_step *step) {
    const enum affine_compare how = op->rule == RULE_PRED ? compute_costliest(e, op, c, 0) : COMPARE_CTA;
    for (int i = 0; i < op->n_dests; i++) {
        const struct affine_dest *d = &op->dest[i];
        if (!d->bits) {
            put_uniform(e, &e->regs[d->reg], c, g, get_pred(e, d) >> c & 1, how);
            continue;
        }
        t->base = get_lane(e, d, c);
        if (!put_tuple(e, d, c, g, t, step))
            return false;
    }
    return true;
}

/* Computes the result of a linear operation by its rule alone, in all CTAs that have one tuple for each source. Returns
 * the set of CTAs that it has computed. A result for all threads of a CTA is written in place. The cell that receives
 * it may also be an operand, so compute_offsets() writes each field of the cell only after reading it for the last
 * time. */
static uint32_t by_rule(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                        struct affine_step *step) {
    struct affine_cell *cells = e->regs[op->dest[0].reg].cells;
    struct affine_operands o;
    struct affine_tuple t;
    uint32_t done = 0;
    for (uint32_t left = g->some; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        const bool whole = g->whole >> c & 1;
        /* cppcheck-suppress uninitvar */
        struct affine_tuple *to = whole ? &cells[c].v[0] : &t;
        if (!compute_simple(e, op, c, &o) || !compute_offsets(e, op, &o, to))
            continue;
        if (whole) {
            cells[c].n = 1;
            if (step->class < STEP_AFFINE && !affine_is_scalar(to))
                step->class = STEP_AFFINE;
        } else if (!put_tuple(e, &op->dest[0], c, g, to, step)) {
            return done;
        }
        done |= 1u << c;
    }
    return done;
}

/* Works like by_rule(), for a batch with one CTA and for all its threads. This is the most frequent case in the
 * interpreter. */
static bool single_cta_by_rule(struct affine_engine *e, const struct affine_op *op, struct affine_step *step) {
    struct affine_reg *r = &e->regs[op->dest[0].reg];
    struct affine_operands o;
    if (!compute_simple(e, op, 0, &o) || !compute_offsets(e, op, &o, &r->cells[0].v[0]))
        return false;
    r->cells[0].n = 1;
    r->by_cta = CTA_SAME;
    r->sent = r->tag = 0;
    step->class = affine_is_scalar(&r->cells[0].v[0]) ? STEP_SCALAR : STEP_AFFINE;
    step->slots = 1;
    return true;
}

/* Works like single_cta_by_rule(), for a comparison of two scalars. */
static bool single_cta_by_relation(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                                   struct affine_step *step) {
    struct affine_operands o;
    if (!compute_simple(e, op, 0, &o) || !affine_is_scalar(o.t[0]) || !affine_is_scalar(o.t[1]))
        return false;
    const bool holds = compute_related(op, o.t[0]->base, o.t[1]->base);
    for (int i = 0; i < op->n_dests; i++) {
        struct affine_reg *r = &e->regs[op->dest[i].reg];
        put_uniform(e, r, 0, g, holds == !i, COMPARE_CTA);
        r->by_cta = CTA_SAME;
        r->sent = r->tag = 0;
    }
    step->class = STEP_SCALAR;
    step->slots = 1;
    return true;
}

/* Computes the result in all CTAs that have one tuple for each source. One execution of the instruction computes the
 * bases of all these CTAs, one CTA per lane. Returns the set of CTAs that it has computed. */
static uint32_t by_executor(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                            struct affine_step *step) {
    struct affine_operands o;
    struct affine_tuple t[AFFINE_CTAS];
    uint32_t simple = 0;
    for (uint32_t left = g->some; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (!compute_simple(e, op, c, &o) || !compute_offsets(e, op, &o, &t[c]))
            continue;
        compute_put_operands(e, op, c, &o);
        simple |= 1u << c;
    }
    if (!simple)
        return 0;
    if (!compute_execute(e, op, simple)) {
        uint32_t c = e->fx.fault_lane, w = 0;
        while (!of_cta(e, g->lanes, c)[w])
            w++;
        note_fault(step, c, w, (uint32_t)__builtin_ctz(of_cta(e, g->lanes, c)[w]));
        return 0;
    }
    for (uint32_t left = simple; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (!take_results(e, op, c, g, &t[c], step))
            return 0;
    }
    return simple;
}

static void note_by_cta(struct affine_engine *e, const struct affine_op *op, uint8_t by, const struct affine_group *g) {
    const uint32_t all = UINT32_MAX >> (AFFINE_CTAS - e->n_ctas);
    const bool whole = (g->some & g->whole) == all;
    for (int i = 0; i < op->n_dests; i++) {
        struct affine_reg *r = &e->regs[op->dest[i].reg];
        r->sent = r->tag = 0;
        r->by_cta = whole || by > r->by_cta ? by : r->by_cta;
    }
}

/* Computes the result in a CTA where it has no tuple, or may have several tuples. */
static void compute_cta(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct affine_group *g,
                        struct affine_step *step) {
    const rowmask_t *lanes = of_cta(e, g->lanes, c);
    struct affine_operands o;
    const bool simple = compute_simple(e, op, c, &o);
    if (op->relation && !op->combined && simple)
        compute_by_ends(e, op, c, &o, lanes, step);
    else if ((simple && !affine_rule_selects((enum affine_rule)op->rule)) || (op->n_dests && !op->dest[0].bits))
        compute_by_thread(e, op, c, lanes, step);
    else
        compute_by_variants(e, op, c, lanes, g->whole >> c & 1, step);
}

/* Returns a copy of group `g`. If the threads that wait on the stack will not read the result register, the copy marks
 * all CTAs of the group as whole, so that the old values of these threads are not kept. If old values were always kept,
 * a loop that threads leave one by one would add a value to keep in each iteration. */
static struct affine_group with_dead_results(const struct affine_engine *e, const struct affine_op *op,
                                             const struct affine_group *g) {
    struct affine_group all = *g;
    if (g->some & ~g->whole && engine_is_dead_elsewhere(e, op))
        all.whole |= g->some;
    return all;
}

bool engine_compute(struct affine_engine *e, const struct affine_op *op, const struct affine_group *who,
                    struct affine_step *step) {
    const struct affine_group all = with_dead_results(e, op, who), *g = &all;
    const struct affine_memo *memo = engine_memo(e, op);
    if (memo->tag && engine_recall(e, op, g, step))
        return true;
    const bool alone = e->n_ctas == 1 && g->whole && !memo->tries;
    if (alone && op->linear && single_cta_by_rule(e, op, step))
        return true;
    if (alone && op->relation && !op->combined && single_cta_by_relation(e, op, g, step))
        return true;
    const uint8_t by = e->n_ctas > 1 ? compute_by_cta(e, op) : CTA_SAME;
    e->fx.fault = FAULT_NONE;
    e->selects = 0;
    step->class = STEP_SCALAR;
    uint32_t done = op->linear ? by_rule(e, op, g, step) : by_executor(e, op, g, step);
    for (uint32_t left = g->some & ~done; left && !e->fx.fault && !e->out_of_memory; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        compute_cta(e, op, c, g, step);
    }
    note_by_cta(e, op, by, g);
    /* The class STEP_EACH is for numbers only: a predicate is computed for each CTA separately in every case. */
    bool numbers = op->n_dests && op->dest[0].bits;
    if (by == CTA_EACH && numbers && step->class != STEP_VECTOR) {
        step->class = STEP_EACH;
        step->slots = (uint32_t)__builtin_popcount(g->some);
    }
    if (!step->slots)
        step->slots = 1;
    step->slots += step->class == STEP_VECTOR ? 0 : e->selects;
    if (memo->tries && !e->selects)
        engine_remember(e, op, g, step);
    return e->fx.fault == FAULT_NONE && !e->out_of_memory;
}
