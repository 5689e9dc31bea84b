/* Computes the result of a linear operation as a tuple: base + x * tid.x + y * tid.y + z * tid.z. The numbers x, y and
 * z are the thread offsets. */
#include "compute_parts.h"

static bool all_scalar(const struct affine_op *op, const struct affine_operands *o) {
    for (int i = 0; i < op->n_sources; i++)
        if (o->t[i] && !affine_is_scalar(o->t[i]))
            return false;
    return true;
}

/* Computes to = t * k + c modulo 2^bits, where c = NULL means 0. `to` may be t or c. */
static void scaled(struct affine_tuple *to, const struct affine_tuple *t, uint64_t k, const struct affine_tuple *c,
                   unsigned bits) {
    const uint64_t mask = affine_mask(bits);
    to->base = (t->base * k + (c ? c->base : 0)) & mask;
    for (int d = 0; d < 3; d++)
        to->off[d] = (t->off[d] * k + (c ? c->off[d] : 0)) & mask;
}

/* Sets *out to tuple `t` with its values of `from` bits sign- or zero-extended to 64 bits. Returns false if a thread's
 * value wraps at `from` bits, because the extended values are then no tuple. */
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

/* Computes cvt: converts to the destination type, then extends the result to the register's width. */
static bool convert(const struct affine_engine *e, const struct affine_op *op, const struct affine_tuple *a,
                    struct affine_tuple *to) {
    const struct inst *in = &op->in;
    struct affine_tuple t = *a;
    if (in->dsize > in->msize && !widened(e, &t, 8u * in->msize, op->is_signed, &t))
        return false;
    if (in->rsize > in->dsize && !widened(e, &t, 8u * in->dsize, in->is_signed, &t))
        return false;
    scaled(to, &t, 1, NULL, op->dest[0].bits);
    return true;
}

/* Computes mul.wide and mad.wide: extends the affine factor, and multiplies it by the scalar factor. */
static bool multiply_wide(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                          struct affine_tuple *to) {
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

bool compute_offsets(const struct affine_engine *e, const struct affine_op *op, const struct affine_operands *o,
                     struct affine_tuple *to) {
    const struct affine_tuple *a = o->t[0], *b = o->t[1], *c = o->t[2];
    const unsigned bits = op->n_dests ? op->dest[0].bits : 64;
    if (!op->linear && all_scalar(op, o)) {
        *to = (struct affine_tuple){0};
        return true;
    }
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
