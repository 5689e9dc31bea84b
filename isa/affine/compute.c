/* What an operation of the affine stream computes. Its row's executor says what a value is; here is what becomes of
 * thread offsets, and when there is no tuple. */
#include "engine_parts.h"
#include "isa/decode.h"

/* Where the values of one operation come from, for one CTA. */
struct operands {
    const struct affine_tuple *t[MAX_SOURCES]; /* NULL: a predicate */
    bool pred[MAX_SOURCES];
};

/* ---- registers of the warp that executes ---- */

static void put_lane(struct affine_engine *e, const struct affine_source *s, uint32_t lane, uint64_t v) {
    unsigned char *at = e->bank + (s->at >> 1);
    memcpy(at + (size_t)lane * (s->bits / 8u), &v, s->bits / 8u);
}

/* All lanes of a register, from 64-bit values and to them. */
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

static void put_pred(struct affine_engine *e, const struct affine_source *s, uint32_t lane, bool v) {
    lanemask_t m;
    memcpy(&m, e->bank + (s->at >> 1), sizeof m);
    m = v ? m | (lanemask_t)1 << lane : m & ~((lanemask_t)1 << lane);
    memcpy(e->bank + (s->at >> 1), &m, sizeof m);
}

static uint64_t get_lane(const struct affine_engine *e, const struct affine_dest *d, uint32_t lane) {
    uint64_t v = 0;
    memcpy(&v, e->bank + (d->at >> 1) + (size_t)lane * (d->bits / 8u), d->bits / 8u);
    return v;
}

static lanemask_t get_pred(const struct affine_engine *e, const struct affine_dest *d) {
    lanemask_t m;
    memcpy(&m, e->bank + (d->at >> 1), sizeof m);
    return m;
}

/* Executes the operation for lanes that the sources were put into. */
static bool execute(struct affine_engine *e, const struct affine_op *op, lanemask_t lanes) {
    struct warp *w = &e->warp;
    const struct inst *in = &op->in;
    if (in->kind == K_LANE) { /* pure: what idle lanes hold does not matter, and is not looked at */
        in->fn.lane(reg_ptr(w, in->d), reg_ptr(w, in->d2), reg_ptr(w, in->a), reg_ptr(w, in->b), reg_ptr(w, in->c),
                    reg_ptr(w, in->e));
        return true;
    }
    exec_inst(w, in, lanes, &e->fx);
    return e->fx.fault == FAULT_NONE;
}

/* ---- sources ---- */

static const struct affine_cell *cell_of(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return &e->regs[s->reg].cells[c];
}

static lanemask_t pred_of(const struct affine_engine *e, const struct affine_source *s, uint32_t c, uint32_t w) {
    return s->reg == NO_REG ? (lanemask_t)s->constant.base : e->regs[s->reg].pred[c * e->shape.n_warps + w];
}

static bool is_uniform(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return s->reg == NO_REG || e->regs[s->reg].uniform >> c & 1;
}

/* One tuple a source, one value a predicate. */
static bool simple_operands(const struct affine_engine *e, const struct affine_op *op, uint32_t c, struct operands *o) {
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

static void put_operands(struct affine_engine *e, const struct affine_op *op, uint32_t lane, const struct operands *o) {
    for (int i = 0; i < op->n_sources; i++) {
        if (op->source[i].reg == NO_REG)
            continue;
        if (o->t[i])
            put_lane(e, &op->source[i], lane, o->t[i]->base);
        else
            put_pred(e, &op->source[i], lane, o->pred[i]);
    }
}

/* ---- thread offsets ---- */

static bool all_scalar(const struct affine_op *op, const struct operands *o) {
    for (int i = 0; i < op->n_sources; i++)
        if (o->t[i] && !affine_is_scalar(o->t[i]))
            return false;
    return true;
}

/* to = the offsets of t times k, plus those of c (NULL: none), all modulo 2^bits. */
static void scaled(uint64_t to[3], const struct affine_tuple *t, uint64_t k, const struct affine_tuple *c,
                   unsigned bits) {
    for (int d = 0; d < 3; d++)
        to[d] = (t->off[d] * k + (c ? c->off[d] : 0)) & affine_mask(bits);
}

/* The tuple as numbers of `from` bits, offsets sign-extended; false where it wraps in some thread. */
static bool widened(const struct affine_engine *e, const struct affine_tuple *t, unsigned from, bool is_signed,
                    struct affine_tuple *out) {
    const uint64_t mask = affine_mask(from);
    *out = (struct affine_tuple){t->base & mask, {t->off[0] & mask, t->off[1] & mask, t->off[2] & mask}};
    if (!affine_in_range(out, from, is_signed, &e->shape))
        return false;
    for (int d = 0; d < 3; d++)
        out->off[d] = (uint64_t)affine_signed(out->off[d], from);
    if (is_signed)
        out->base = (uint64_t)affine_signed(out->base, from);
    return true;
}

/* cvt: to a smaller type, or a larger one, and then into a register that may be wider. */
static bool convert(const struct affine_engine *e, const struct affine_op *op, const struct affine_tuple *a,
                    uint64_t to[3]) {
    const struct inst *in = &op->in;
    struct affine_tuple t = *a;
    if (in->dsize > in->msize && !widened(e, &t, 8u * in->msize, op->is_signed, &t))
        return false;
    if (in->rsize > in->dsize && !widened(e, &t, 8u * in->dsize, in->is_signed, &t))
        return false;
    scaled(to, &t, 1, NULL, op->dest[0].bits);
    return true;
}

/* mul.wide and mad.wide: the affine factor as numbers, times the scalar one. */
static bool multiply_wide(const struct affine_engine *e, const struct affine_op *op, const struct operands *o,
                          uint64_t to[3]) {
    const struct affine_tuple *x = o->t[0], *k = o->t[1];
    struct affine_tuple wide;
    if (!affine_is_scalar(k)) {
        x = o->t[1];
        k = o->t[0];
    }
    if (!affine_is_scalar(k) || !widened(e, x, op->from_bits, op->is_signed, &wide))
        return false;
    uint64_t factor = op->is_signed ? (uint64_t)affine_signed(k->base, op->from_bits) : k->base;
    scaled(to, &wide, factor, op->rule == RULE_MAD_WIDE ? o->t[2] : NULL, op->dest[0].bits);
    return true;
}

/* The offsets of the result; false: it has none, its values must be computed thread by thread. */
static bool offsets(const struct affine_engine *e, const struct affine_op *op, const struct operands *o,
                    uint64_t to[3]) {
    const struct affine_tuple *a = o->t[0], *b = o->t[1], *c = o->t[2];
    const unsigned bits = op->n_dests ? op->dest[0].bits : 64;
    to[0] = to[1] = to[2] = 0;
    if (all_scalar(op, o))
        return true;
    switch ((enum affine_rule)op->rule) {
    case RULE_MOV:
        scaled(to, a, 1, NULL, bits);
        return true;
    case RULE_NEG:
        scaled(to, a, UINT64_MAX, NULL, bits);
        return true;
    case RULE_ADD:
        scaled(to, a, 1, b, bits);
        return true;
    case RULE_SUB:
        scaled(to, b, UINT64_MAX, a, bits);
        return true;
    case RULE_MUL:
    case RULE_MAD:
        if (!affine_is_scalar(a) && !affine_is_scalar(b))
            return false;
        scaled(to, affine_is_scalar(b) ? a : b, affine_is_scalar(b) ? b->base : a->base,
               op->rule == RULE_MAD ? c : NULL, bits);
        return true;
    case RULE_SHL:
        if (!affine_is_scalar(b))
            return false;
        scaled(to, a, b->base < bits ? (uint64_t)1 << b->base : 0, NULL, bits);
        return true;
    case RULE_WIDEN:
        return convert(e, op, a, to);
    case RULE_MUL_WIDE:
    case RULE_MAD_WIDE:
        return multiply_wide(e, op, o, to);
    case RULE_SELP:
        scaled(to, o->pred[2] ? a : b, 1, NULL, bits);
        return true;
    default:
        return false;
    }
}

/* ---- results ---- */

static const lanemask_t *of_cta(const struct affine_engine *e, const lanemask_t *by_warp, uint32_t c) {
    return by_warp + (size_t)c * e->shape.n_warps;
}

static bool covers_cta(const struct affine_engine *e, const lanemask_t *lanes, uint32_t c) {
    const lanemask_t *m = of_cta(e, lanes, c), *live = of_cta(e, e->live, c);
    for (uint32_t w = 0; w < e->shape.n_warps; w++)
        if (live[w] & ~m[w])
            return false;
    return true;
}

static void put_result_pred(struct affine_engine *e, struct affine_reg *r, uint32_t c, uint32_t w, lanemask_t lanes,
                            lanemask_t value, enum affine_compare how) {
    uint32_t at = c * e->shape.n_warps + w;
    r->pred[at] = (r->pred[at] & ~lanes) | (value & lanes);
    r->compare[at] = (uint8_t)how;
}

/* The same predicate for all threads of a CTA that are in `lanes`. */
static void put_uniform(struct affine_engine *e, struct affine_reg *r, uint32_t c, const lanemask_t *lanes, bool value,
                        enum affine_compare how) {
    const lanemask_t *m = of_cta(e, lanes, c);
    lanemask_t all = value ? LANES_ALL : 0;
    bool full = covers_cta(e, lanes, c);
    if (full)
        r->uniform |= 1u << c;
    else if (!(r->uniform >> c & 1 && r->pred[c * e->shape.n_warps] == all))
        r->uniform &= ~(1u << c);
    for (uint32_t w = 0; w < e->shape.n_warps; w++)
        if (full || m[w])
            put_result_pred(e, r, c, w, full ? LANES_ALL : m[w], all, how);
}

static bool write_tuple(struct affine_engine *e, const struct affine_dest *d, uint32_t c, const lanemask_t *lanes,
                        const struct affine_tuple *t, struct affine_step *step) {
    bool expanded = false;
    if (!cell_write(&e->regs[d->reg].cells[c], d->bits, &e->shape, of_cta(e, lanes, c), of_cta(e, e->live, c), t,
                    &expanded)) {
        e->out_of_memory = true;
        return false;
    }
    step->fallbacks += expanded;
    if (step->class < STEP_AFFINE && !affine_is_scalar(t))
        step->class = STEP_AFFINE;
    return true;
}

/* How dear a predicate that is made of predicates is: as the dearest of them. */
static enum affine_compare dearest(const struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w) {
    enum affine_compare most = COMPARE_CTA;
    for (int i = 0; i < op->n_sources; i++) {
        const struct affine_source *s = &op->source[i];
        if (!s->bits && s->reg != NO_REG && e->regs[s->reg].compare[c * e->shape.n_warps + w] > most)
            most = e->regs[s->reg].compare[c * e->shape.n_warps + w];
    }
    return most;
}

/* ---- thread by thread ---- */

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
        cell_read(cell_of(e, s, c), s->bits, &e->shape, w, v);
        put_lanes(e->bank + (s->at >> 1), s->bits / 8u, v);
    }
}

static bool note_fault(struct affine_step *step, uint32_t c, uint32_t w, uint32_t lane) {
    step->fault_cta = c;
    step->fault_warp = w;
    step->fault_lane = lane;
    return false;
}

static bool take_warp(struct affine_engine *e, const struct affine_op *op, uint32_t c, uint32_t w, lanemask_t lanes,
                      struct affine_step *step) {
    uint64_t v[WARP_LANES];
    for (int i = 0; i < op->n_dests; i++) {
        const struct affine_dest *d = &op->dest[i];
        struct affine_reg *r = &e->regs[d->reg];
        if (!d->bits) {
            enum affine_compare how = op->rule == RULE_PRED ? dearest(e, op, c, w) : COMPARE_LANES;
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

static bool is_exact(const struct affine_engine *e, const struct affine_op *op, uint32_t c) {
    for (int i = 0; i < op->n_sources; i++)
        if (op->source[i].bits && op->source[i].reg != NO_REG && !cell_of(e, &op->source[i], c)->n)
            return true;
    return false;
}

static bool by_thread(struct affine_engine *e, const struct affine_op *op, uint32_t c, const lanemask_t *lanes,
                      struct affine_step *step) {
    bool was_exact = is_exact(e, op, c), numbers = false;
    for (int i = 0; i < op->n_dests; i++)
        numbers |= op->dest[i].bits != 0;
    if (was_exact)
        step->class = STEP_VECTOR;
    step->fallbacks += numbers && !was_exact;
    for (uint32_t w = 0; w < e->shape.n_warps; w++) {
        lanemask_t m = of_cta(e, lanes, c)[w];
        if (!m)
            continue;
        put_warp(e, op, c, w);
        if (!execute(e, op, m))
            return note_fault(step, c, w, e->fx.fault_lane);
        if (!take_warp(e, op, c, w, m, step))
            return false;
        step->slots += numbers || was_exact;
    }
    return true;
}

/* ---- both ends of a row ---- */

/* May both ends of each warp's row stand for all of it? One operand is scalar, the other grows or falls along x without
 * wrapping. */
static bool row_decides(const struct affine_engine *e, const struct affine_op *op, const struct operands *o,
                        uint32_t w) {
    const struct affine_tuple *x = affine_is_scalar(o->t[1]) ? o->t[0] : o->t[1];
    if (!e->shape.one_row[w] || (!affine_is_scalar(o->t[0]) && !affine_is_scalar(o->t[1])))
        return false;
    return affine_row_in_range(x, op->from_bits, op->is_signed, &e->shape, w);
}

/* setp of a CTA whose operands have one tuple each: first by the ends of warps, 16 of them at a time, then the lanes of
 * those whose ends differ. */
static bool by_ends(struct affine_engine *e, const struct affine_op *op, uint32_t c, const struct operands *o,
                    const lanemask_t *lanes, struct affine_step *step) {
    enum { PAIRS = WARP_LANES / 2 };
    const lanemask_t *m = of_cta(e, lanes, c);
    for (uint32_t from = 0; from < e->shape.n_warps; from += PAIRS) {
        uint32_t n = e->shape.n_warps - from < PAIRS ? e->shape.n_warps - from : PAIRS;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t last = (uint32_t)(31 - __builtin_clz(e->shape.launched[from + k]));
            for (int i = 0; i < 2; i++) {
                if (op->source[i].reg == NO_REG)
                    continue;
                put_lane(e, &op->source[i], 2 * k, affine_at(o->t[i], &e->shape, from + k, 0));
                put_lane(e, &op->source[i], 2 * k + 1, affine_at(o->t[i], &e->shape, from + k, last));
            }
        }
        execute(e, op, LANES_ALL);
        lanemask_t ends[2] = {0};
        for (int i = 0; i < op->n_dests; i++)
            ends[i] = get_pred(e, &op->dest[i]);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t w = from + k;
            if (!m[w])
                continue;
            bool same = (ends[0] >> 2 * k & 1) == (ends[0] >> (2 * k + 1) & 1);
            if (!same || !row_decides(e, op, o, w)) {
                put_warp(e, op, c, w);
                execute(e, op, LANES_ALL);
                if (!take_warp(e, op, c, w, m[w], step))
                    return false;
                continue;
            }
            for (int i = 0; i < op->n_dests; i++) {
                struct affine_reg *r = &e->regs[op->dest[i].reg];
                r->uniform &= ~(1u << c);
                put_result_pred(e, r, c, w, m[w], ends[i] >> 2 * k & 1 ? LANES_ALL : 0, COMPARE_ENDS);
            }
        }
    }
    step->class = STEP_AFFINE;
    return true;
}

/* ---- several tuples ---- */

/* The variants of source i, or the two values of a predicate: how many, and for which lanes each is. */
static uint32_t variants(const struct affine_engine *e, const struct affine_source *s, uint32_t c) {
    return !s->bits ? is_uniform(e, s, c) ? 1 : 2 : s->reg == NO_REG ? 1 : cell_of(e, s, c)->n;
}

static void choose(const struct affine_engine *e, const struct affine_source *s, uint32_t c, uint32_t k,
                   struct operands *o, int i, lanemask_t *lanes) {
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

/* One piece for each combination that some thread has. Returns how many; 0: too many, or one has no tuple. */
static uint32_t make_pieces(struct affine_engine *e, const struct affine_op *op, uint32_t c, const lanemask_t *lanes) {
    uint32_t of[MAX_SOURCES] = {1, 1, 1, 1}, all = 1, n = 0;
    for (int i = 0; i < op->n_sources; i++)
        all *= of[i] = variants(e, &op->source[i], c);
    for (uint32_t k = 0; k < all; k++) {
        struct affine_piece *p = &e->pieces[n];
        struct operands o;
        uint32_t rest = k;
        lanemask_t any = 0;
        memcpy(p->lanes, of_cta(e, lanes, c), e->shape.n_warps * sizeof *lanes);
        for (int i = 0; i < op->n_sources; i++) {
            choose(e, &op->source[i], c, rest % of[i], &o, i, p->lanes);
            rest /= of[i];
        }
        for (uint32_t w = 0; w < e->shape.n_warps; w++)
            any |= p->lanes[w];
        if (!any)
            continue;
        if (!offsets(e, op, &o, p->t.off))
            return 0;
        put_operands(e, op, 0, &o);
        if (!execute(e, op, 1))
            return 0;
        p->t.base = get_lane(e, &op->dest[0], 0);
        if (++n == MAX_PIECES)
            return 0;
    }
    return n;
}

/* A CTA whose sources have several tuples, or a predicate that its threads do not share. */
static bool by_variants(struct affine_engine *e, const struct affine_op *op, uint32_t c, const lanemask_t *lanes,
                        struct affine_step *step) {
    bool possible = op->n_dests == 1 && op->dest[0].bits && !is_exact(e, op, c) && op->in.kind != K_LOAD;
    uint32_t n = possible ? make_pieces(e, op, c, lanes) : 0;
    if (!n)
        return by_thread(e, op, c, lanes, step);
    for (uint32_t k = 0; k < n; k++) {
        const struct affine_piece *p = &e->pieces[k];
        bool expanded = false;
        if (!cell_write(&e->regs[op->dest[0].reg].cells[c], op->dest[0].bits, &e->shape, p->lanes,
                        of_cta(e, e->live, c), &p->t, &expanded)) {
            e->out_of_memory = true;
            return false;
        }
        step->fallbacks += expanded;
    }
    if (step->class < STEP_AFFINE)
        step->class = STEP_AFFINE;
    return true;
}

/* ---- how CTAs differ ---- */

static uint8_t by_cta_of(const struct affine_engine *e, const struct affine_source *s) {
    return s->reg == NO_REG ? CTA_SAME : e->regs[s->reg].by_cta;
}

static bool has_offsets(const struct affine_engine *e, const struct affine_source *s) {
    for (uint32_t c = 0; s->reg != NO_REG && c < e->n_ctas; c++)
        if (cell_of(e, s, c)->n != 1 || !affine_is_scalar(&cell_of(e, s, c)->v[0]))
            return true;
    return false;
}

/* Of a product: what does not differ keeps the other factor's, but the offsets of a thread times a CTA's number have no
 * tuple for the batch. */
static uint8_t product_by_cta(const struct affine_engine *e, const struct affine_op *op) {
    const struct affine_source *a = &op->source[0], *b = &op->source[1];
    uint8_t ka = by_cta_of(e, a), kb = by_cta_of(e, b);
    if (ka == CTA_SAME && kb == CTA_SAME)
        return CTA_SAME;
    if ((ka == CTA_SAME && kb == CTA_LINEAR && !has_offsets(e, a)) ||
        (kb == CTA_SAME && ka == CTA_LINEAR && !has_offsets(e, b)))
        return CTA_LINEAR;
    return CTA_EACH;
}

/* Do the numbers that a source holds grow from CTA to CTA by what their bits say, so that widening keeps them linear?
 */
static bool grows_evenly(const struct affine_engine *e, const struct affine_op *op, const struct affine_source *s) {
    const uint64_t mask = affine_mask(op->from_bits);
    uint64_t before = 0;
    for (uint32_t c = 0; s->reg != NO_REG && c < e->n_ctas; c++) {
        const struct affine_cell *cell = cell_of(e, s, c);
        if (cell->n != 1)
            return false;
        uint64_t bits = cell->v[0].base & mask;
        uint64_t v = op->is_signed ? (uint64_t)affine_signed(bits, op->from_bits) : bits;
        if (c && (int64_t)(v - before) != affine_signed((v - before) & mask, op->from_bits))
            return false;
        before = v;
    }
    return true;
}

static uint8_t result_by_cta(const struct affine_engine *e, const struct affine_op *op) {
    uint8_t most = CTA_SAME, k;
    for (int i = 0; i < op->n_sources; i++)
        most = (k = by_cta_of(e, &op->source[i])) > most ? k : most;
    if (most == CTA_SAME)
        return most;
    switch ((enum affine_rule)op->rule) {
    case RULE_MUL_WIDE:
    case RULE_MAD_WIDE:
    case RULE_WIDEN:
        if (!grows_evenly(e, op, &op->source[0]) || (op->rule != RULE_WIDEN && !grows_evenly(e, op, &op->source[1])))
            return CTA_EACH;
        if (op->rule == RULE_WIDEN)
            return most;
        /* fall through */
    case RULE_MUL:
    case RULE_MAD:
        k = op->n_sources > 2 ? by_cta_of(e, &op->source[2]) : CTA_SAME;
        most = product_by_cta(e, op);
        return k > most ? k : most;
    case RULE_SHL:
        return by_cta_of(e, &op->source[1]) == CTA_SAME ? most : CTA_EACH;
    case RULE_SELP:
        return by_cta_of(e, &op->source[2]) == CTA_SAME ? most : CTA_EACH;
    case RULE_MOV:
    case RULE_ADD:
    case RULE_SUB:
    case RULE_NEG:
        return most;
    default:
        return CTA_EACH;
    }
}

/* ---- all CTAs ---- */

/* CTAs with one tuple a source have their bases computed side by side, a CTA a lane. Returns those that are done. */
static uint32_t side_by_side(struct affine_engine *e, const struct affine_op *op, uint32_t some,
                             const lanemask_t *lanes, struct affine_step *step) {
    struct operands o;
    uint64_t off[AFFINE_CTAS][3];
    uint32_t simple = 0;
    for (uint32_t left = some; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (!simple_operands(e, op, c, &o) || !offsets(e, op, &o, off[c]))
            continue;
        put_operands(e, op, c, &o);
        simple |= 1u << c;
    }
    if (!simple)
        return 0;
    if (!execute(e, op, simple)) {
        uint32_t c = e->fx.fault_lane, w = 0;
        while (!of_cta(e, lanes, c)[w])
            w++;
        note_fault(step, c, w, (uint32_t)__builtin_ctz(of_cta(e, lanes, c)[w]));
        return 0;
    }
    for (uint32_t left = simple; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        enum affine_compare how = op->rule == RULE_PRED ? dearest(e, op, c, 0) : COMPARE_CTA;
        for (int i = 0; i < op->n_dests; i++) {
            const struct affine_dest *d = &op->dest[i];
            if (!d->bits) {
                put_uniform(e, &e->regs[d->reg], c, lanes, get_pred(e, d) >> c & 1, how);
                continue;
            }
            struct affine_tuple t = {get_lane(e, d, c), {off[c][0], off[c][1], off[c][2]}};
            if (!write_tuple(e, d, c, lanes, &t, step))
                return 0;
        }
    }
    return simple;
}

static void note_by_cta(struct affine_engine *e, const struct affine_op *op, uint8_t by, uint32_t some,
                        const lanemask_t *lanes) {
    for (int i = 0; i < op->n_dests; i++) {
        struct affine_reg *r = &e->regs[op->dest[i].reg];
        r->sent = 0;
        bool whole = some == (e->n_ctas == AFFINE_CTAS ? UINT32_MAX : (1u << e->n_ctas) - 1);
        for (uint32_t c = 0; c < e->n_ctas && whole; c++)
            whole = covers_cta(e, lanes, c);
        r->by_cta = whole || by > r->by_cta ? by : r->by_cta;
    }
}

bool engine_compute(struct affine_engine *e, const struct affine_op *op, const lanemask_t *lanes,
                    struct affine_step *step) {
    uint32_t some = 0, n = e->shape.n_warps;
    const uint8_t by = e->n_ctas > 1 ? result_by_cta(e, op) : CTA_SAME;
    struct operands o;
    e->fx.fault = FAULT_NONE;
    for (uint32_t i = 0; i < e->n_warps; i++)
        if (lanes[i])
            some |= 1u << i / n;
    step->class = STEP_SCALAR;
    uint32_t done = side_by_side(e, op, some, lanes, step);
    for (uint32_t left = some & ~done; left && !e->fx.fault && !e->out_of_memory; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (op->ends && simple_operands(e, op, c, &o))
            by_ends(e, op, c, &o, lanes, step);
        else if (op->n_dests && !op->dest[0].bits)
            by_thread(e, op, c, lanes, step);
        else if (simple_operands(e, op, c, &o))
            by_thread(e, op, c, lanes, step);
        else
            by_variants(e, op, c, lanes, step);
    }
    note_by_cta(e, op, by, some, lanes);
    bool numbers = op->n_dests && op->dest[0].bits; /* predicates have units of their own for what CTAs differ in */
    if (by == CTA_EACH && numbers && step->class != STEP_VECTOR) {
        step->class = STEP_EACH;
        step->slots = (uint32_t)__builtin_popcount(some);
    }
    if (!step->slots)
        step->slots = 1;
    return e->fx.fault == FAULT_NONE && !e->out_of_memory;
}
