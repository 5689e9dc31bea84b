/* Results that all batches of a launch share. A batch is the set of CTAs for which the affine warp executes its stream
 * once. Parameters, grid and CTA sizes and thread indices are equal in all CTAs. Results computed from such values are
 * equal, too. The first batch computes them, and later batches reuse them. A tag identifies such a value: two registers
 * with the same tag hold the same values in all CTAs. So an operation whose sources have the recorded tags has the
 * recorded result. */
#include "compute_parts.h"

static uint32_t all_ctas(const struct affine_engine *e) { return UINT32_MAX >> (AFFINE_CTAS - e->n_ctas); }

/* Sets *tag to the tag of a source, 0 for a constant. Returns false if the source may differ between CTAs. */
static inline bool tag_of(const struct affine_engine *e, const struct affine_source *s, uint32_t *tag) {
    *tag = s->reg == NO_REG ? 0 : e->regs[s->reg].tag;
    return *tag || s->reg == NO_REG;
}

static void write_number(struct affine_reg *r, uint32_t some, const struct affine_tuple *t) {
    for (; some; some &= some - 1)
        cell_set(&r->cells[__builtin_ctz(some)], t);
}

static void write_predicate(const struct affine_engine *e, struct affine_reg *r, uint32_t some,
                            const struct affine_memo *m) {
    const uint32_t n = e->shape.n_warps;
    r->uniform |= some;
    for (; some; some &= some - 1) {
        const size_t at = (size_t)__builtin_ctz(some) * n;
        for (uint32_t w = 0; w < n; w++)
            r->pred[at + w] = m->value.base ? LANES_ALL : 0;
        memset(r->compare + at, m->compare, n);
    }
}

bool engine_recall(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                   struct affine_step *step) {
    const struct affine_memo *m = engine_memo(e, op);
    if (g->some & ~g->whole)
        return false;
    for (int i = 0; i < op->n_sources; i++) {
        uint32_t tag;
        if (!tag_of(e, &op->source[i], &tag) || tag != m->from[i])
            return false;
    }
    struct affine_reg *r = &e->regs[op->dest[0].reg];
    const bool all = g->some == all_ctas(e);
    if (op->dest[0].bits)
        write_number(r, g->some, &m->value);
    else
        write_predicate(e, r, g->some, m);
    r->sent = 0;
    r->tag = all ? m->tag : 0;
    r->by_cta = all ? CTA_SAME : r->by_cta;
    step->class = m->class;
    step->slots = 1;
    return true;
}

void engine_remember(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                     const struct affine_step *step) {
    struct affine_memo *m = engine_memo(e, op);
    if (!m->tries || op->n_dests != 1 || step->class > STEP_AFFINE || step->fallbacks ||
        (g->some & g->whole) != all_ctas(e))
        return;
    struct affine_reg *r = &e->regs[op->dest[0].reg];
    if (op->dest[0].bits ? r->cells[0].n != 1 : (r->uniform & all_ctas(e)) != all_ctas(e))
        return;
    uint32_t from[MAX_SOURCES] = {0};
    for (int i = 0; i < op->n_sources; i++)
        /* A source may differ between CTAs. It will also differ in later executions, so recording stops for this
         * operation. */
        if (!tag_of(e, &op->source[i], &from[i])) {
            m->tries = 0;
            m->tag = 0;
            return;
        }
    memcpy(m->from, from, (size_t)op->n_sources * sizeof *from);
    if (op->dest[0].bits)
        m->value = r->cells[0].v[0];
    else
        m->value.base = r->pred[0] & 1;
    m->compare = r->compare ? r->compare[0] : 0;
    m->class = step->class;
    m->tag = --m->tries ? ++e->tags : 0;
    r->tag = m->tag;
}
