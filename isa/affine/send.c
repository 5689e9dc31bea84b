/* Sends queue entries from the affine warp to the warps of its CTAs. The instructions enq.data, enq.addr and enq.pred
 * of the affine stream do this. */
#include "engine_parts.h"
#include "supply.h"
#include <stdlib.h>

static uint32_t marker_of(const struct affine_engine *e, uint32_t warp, rowmask_t lanes) {
    uint32_t most = 0;
    for (; e->has_thread_markers && lanes; lanes &= lanes - 1) {
        uint32_t k = e->thread_markers[warp * WARP_LANES + (uint32_t)__builtin_ctz(lanes)];
        most = k > most ? k : most;
    }
    return e->markers[warp] + most;
}

/* Returns the tuple that the source has in all of `lanes`, or NULL if there is none. */
static const struct affine_tuple *tuple_of(const struct affine_engine *e, const struct affine_source *s, uint32_t cta,
                                           uint32_t w, rowmask_t lanes) {
    const struct affine_cell *c = &e->regs[s->reg].cells[cta];
    for (uint32_t k = 0; k < c->n; k++)
        if (!(lanes & ~c->mask[k * e->shape.n_warps + w]))
            return &c->v[k];
    return NULL;
}

/* Sets *out to the tuple of an access's addresses: tuple `t` plus the instruction's constant offset. Returns false if a
 * 32-bit address wraps in some thread. */
static bool full_address(const struct affine_engine *e, const struct inst *in, const struct affine_tuple *t,
                         struct affine_tuple *out) {
    *out = *t;
    out->base += (uint64_t)in->imm;
    if (in->asize == 8)
        return true;
    out->base &= UINT32_MAX;
    if (!affine_in_range(out, 32, false, &e->shape))
        return false;
    for (int d = 0; d < 3; d++)
        out->off[d] = (uint64_t)affine_signed(out->off[d], 32);
    return true;
}

/* Fills entry `to` with a separate address for each lane, for lanes without a common tuple. */
static bool send_exact(struct affine_engine *e, const struct affine_op *op, uint32_t i, struct affine_entry *to,
                       struct affine_step *step) {
    const struct affine_source *s = &op->source[0];
    to->exact = malloc(WARP_LANES * sizeof *to->exact);
    if (!to->exact)
        return false;
    e->has_exact |= to == &e->entries[i];
    cell_read(&e->regs[s->reg].cells[i / e->shape.n_warps], s->bits, &e->shape, i % e->shape.n_warps, to->exact);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        to->exact[l] = (to->exact[l] + (uint64_t)op->in.imm) & affine_mask(s->bits);
    step->class = STEP_VECTOR;
    step->slots++;
    return true;
}

/* Returns the entry for warp i of the batch, in its queue or in step->entries. All its fields are set, except the
 * address or the predicate, which the caller writes in place; this is faster than a copy. Returns NULL when memory runs
 * out. */
static inline struct affine_entry *entry_for(struct affine_engine *e, uint32_t i, rowmask_t lanes,
                                             const struct affine_entry *what) {
    struct affine_entry *to = &e->entries[i];
    if (e->to && lanes && i - e->to_first < e->shape.n_warps) {
        if (!(to = supply_new(e->to, i - e->to_first, queue_of(what->kind), lanes)))
            return NULL;
        to->exact = NULL;
    }
    to->site = what->site;
    to->lanes = lanes;
    to->marker = marker_of(e, i, lanes);
    to->kind = what->kind;
    return to;
}

/* Sends addresses to the warps of CTA c. `what` gives the communication site and the kind of the entries. Returns false
 * when memory runs out. */
static bool send_addresses(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                           const struct affine_entry *what, struct affine_step *step) {
    const struct affine_source *s = &op->source[0];
    const struct affine_cell *cell = s->reg == NO_REG ? NULL : &e->regs[s->reg].cells[c];
    const struct affine_tuple *t = !cell ? &s->constant : cell->n == 1 ? &cell->v[0] : NULL;
    struct affine_tuple whole;
    bool fits = t && full_address(e, &op->in, t, &whole);
    for (uint32_t w = 0, i = c * e->shape.n_warps; w < e->shape.n_warps; w++, i++) {
        struct affine_entry *to = entry_for(e, i, lanes[w], what);
        const struct affine_tuple *own = t || !lanes[w] ? NULL : tuple_of(e, s, c, w, lanes[w]);
        if (!to)
            return false;
        if (fits)
            to->at = whole;
        else if (!lanes[w] || (own && full_address(e, &op->in, own, &to->at)))
            continue;
        else if (!send_exact(e, op, i, to, step))
            return false;
    }
    return true;
}

static bool send_predicates(struct affine_engine *e, const struct affine_op *op, uint32_t c, const rowmask_t *lanes,
                            const struct affine_entry *what, uint32_t compared[N_COMPARES]) {
    const struct affine_source *s = &op->source[0];
    const struct affine_reg *r = s->reg == NO_REG ? NULL : &e->regs[s->reg];
    for (uint32_t w = 0, i = c * e->shape.n_warps; w < e->shape.n_warps; w++, i++) {
        struct affine_entry *to = entry_for(e, i, lanes[w], what);
        if (!to)
            return false;
        to->value = r ? r->pred[i] : (rowmask_t)s->constant.base;
        to->compare = r ? r->compare[i] : (uint8_t)COMPARE_CTA;
        compared[to->compare] += to != &e->entries[i];
    }
    return true;
}

bool engine_send(struct affine_engine *e, const struct affine_op *op, const struct affine_group *g,
                 uint32_t compared[N_COMPARES], struct affine_step *step) {
    const uint8_t kind = op->in.kind;
    const bool predicate = kind == K_ENQ_PRED;
    const struct affine_entry entry = {.site = e->program->info[step->pc].site - 1u,
                                       .kind = kind == K_ENQ_DATA ? SITE_DATA
                                               : predicate        ? SITE_PRED
                                                                  : SITE_ADDR};
    step->entries = e->entries;
    for (uint32_t c = 0; c < e->n_ctas; c++) {
        const rowmask_t *lanes = g->lanes + (size_t)c * e->shape.n_warps;
        if (!(predicate ? send_predicates(e, op, c, lanes, &entry, compared)
                        : send_addresses(e, op, c, lanes, &entry, step)))
            return !(e->out_of_memory = true);
    }
    if (predicate) {
        step->number = ++e->sent;
        if (op->source[0].reg != NO_REG)
            e->regs[op->source[0].reg].sent = step->number;
    }
    return true;
}
