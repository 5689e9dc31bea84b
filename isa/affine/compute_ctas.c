/* Determines how the result of an operation differs between the CTAs of a batch, the CTAs for which the affine warp
 * executes its stream once. */
#include "compute_parts.h"

static uint8_t by_cta_of(const struct affine_engine *e, const struct affine_source *s) {
    return s->reg == NO_REG ? CTA_SAME : e->regs[s->reg].by_cta;
}

static bool has_offsets(const struct affine_engine *e, const struct affine_source *s) {
    for (uint32_t c = 0; s->reg != NO_REG && c < e->n_ctas; c++)
        if (cell_of(e, s, c)->n != 1 || !affine_is_scalar(&cell_of(e, s, c)->v[0]))
            return true;
    return false;
}

/* Returns how a product differs between CTAs. The product is linear in the CTA index if one factor is linear in it and
 * the other factor is equal in all CTAs and in all threads. If the other factor has thread offsets, the offsets of the
 * product differ between CTAs. */
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

/* Returns true if the source's values stay linear in the CTA index when they are extended to more bits. */
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

uint8_t compute_by_cta(const struct affine_engine *e, const struct affine_op *op) {
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
