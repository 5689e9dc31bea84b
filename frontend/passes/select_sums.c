/* Fuses integer products and sums with the sums and differences that use them: operands of sums have signs. Source: the
 * code of ptxas 11.8 for sm_70 and 13 for sm_80. Requires: blocks. Keeps: results and control flow. */
#include "select.h"

static bool is_integer(const struct isa_row *row, enum op_id op) {
    return row->op == op && row->kind == K_LANE && !row->form && type_class(row->d) != 'f' &&
           type_class(row->d) != 'p' && type_bytes(row->d) >= 4;
}

/* Finds the factors of a product of 32 or 64 bits. Returns the row of mad with such a product, or NULL if the
 * instruction is no product. */
static const struct isa_row *product_of(struct select *s, const struct inst *in, opnd_t factors[2]) {
    const struct isa_row *row = select_row(in);
    const unsigned part = form_get(row->form, CAT_PART);
    factors[0] = in->a;
    factors[1] = in->b;
    const bool integers = row->op == OP_MUL && type_class(row->a) != 'f';
    if (integers && (part == PART_LO || (type_bytes(row->a) == 4 && part == PART_WIDE)) && type_bytes(row->a) >= 4)
        return isa_find_row(OP_MAD, row->a, T_NONE, form_put(CAT_PART, part));
    if (row->op != OP_SHL || in->dsize != 4 || !(in->b & 1))
        return NULL;
    const int64_t by = select_constant(s->ir, in->b, 4);
    if (by < 0 || by > 31)
        return NULL;
    factors[1] = ir_constant(s->ir, RC_32, 1ull << by, 0);
    return isa_find_row(OP_MAD, T_U32, T_NONE, form_put(CAT_PART, PART_LO));
}

/* Returns the negative of a constant factor of a product of `bytes` bytes. */
static opnd_t negative(struct ir *ir, opnd_t factor, unsigned bytes) {
    const uint64_t value = -(uint64_t)select_constant(ir, factor, bytes);
    return ir_constant(ir, bytes == 8 ? RC_64 : RC_32, bytes == 8 ? value : (uint32_t)value, 0);
}

/* What an instruction becomes. */
struct fused_sum {
    const struct isa_row *row; /* NULL: the instructions stay apart */
    opnd_t sources[4];
};

/* Returns the instruction that computes the sum or difference `sum` and the product of `in`, one of its operands. `mad`
 * adds to the product; a difference needs a factor of the other sign, or 32 bits. At most one operand is in no
 * register. ptxas does not add a constant to a product of 64 bits. */
static struct fused_sum with_product(struct select *s, const struct inst *in, const struct isa_row *mad,
                                     const opnd_t factors[2], const struct inst *sum) {
    struct ir *ir = s->ir;
    const bool first = sum->a == in->d, difference = is_integer(select_row(sum), OP_SUB);
    const opnd_t other = first ? sum->b : sum->a;
    const bool low = form_get(mad->form, CAT_PART) == PART_LO, wide = low && type_bytes(mad->a) == 8;
    struct fused_sum to = {mad, {factors[0], factors[1], other, OPND_ZERO}};
    if ((!difference && !select_is_sum(select_row(sum), in->dsize)) || type_bytes(select_row(sum)->d) != in->dsize ||
        sum->a == sum->b || (wide && other & 1) ||
        select_outside(ir, factors[0]) + select_outside(ir, factors[1]) + select_outside(ir, other) > 2)
        to.row = NULL;
    else if (difference && first)
        to.row = low && !wide ? isa_find_row(OP_MAD_SUB, T_U32, T_NONE, 0) : NULL;
    else if (difference && low && (factors[0] & 1) != (factors[1] & 1))
        to.sources[factors[0] & 1 ? 0 : 1] = negative(ir, factors[factors[0] & 1 ? 0 : 1], in->dsize);
    else if (difference)
        to.row = NULL;
    return to;
}

bool select_products(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct reg_def *d = select_only_result(s, i);
    opnd_t factors[2];
    const struct isa_row *mad = d && d->n ? product_of(s, &in, factors) : NULL;
    if (!mad)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        if (!select_may_absorb(s, i, use) || !with_product(s, &in, mad, factors, &s->ir->code[use->inst]).row)
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct fused_sum to = with_product(s, &in, mad, factors, &s->ir->code[user]);
        select_become(s, user, to.row, to.sources);
    }
    select_absorbed(s, i);
    return true;
}

/* A sum of at most three operands: the operands with a plus and the operands with a minus. */
struct terms {
    opnd_t plus[4], minus[4];
    unsigned n_plus, n_minus;
};

static void add_term(struct terms *t, opnd_t o, bool minus) {
    if (o == OPND_ZERO)
        return;
    if (minus)
        t->minus[t->n_minus++] = o;
    else
        t->plus[t->n_plus++] = o;
}

/* Returns true if the instruction is a sum, a difference or a negation of integers. Adds its operands to *t, without
 * operand `but`, with the other sign if `minus` is set. Sets *sign if it subtracts operand `but`. */
static bool terms_of(const struct inst *in, opnd_t but, bool minus, struct terms *t, bool *sign) {
    const struct isa_row *row = select_row(in);
    const bool sum = is_integer(row, OP_ADD), difference = is_integer(row, OP_SUB), negation = is_integer(row, OP_NEG);
    if (!sum && !difference && !negation)
        return false;
    if (in->a != but)
        add_term(t, in->a, minus ^ negation);
    if (!negation && in->b != but)
        add_term(t, in->b, minus ^ difference);
    *sign = in->a == but ? negation : difference;
    return in->a != in->b || negation;
}

/* Returns the instruction that computes a sum of integers of `bytes` bytes. Two of its operands may have a minus, and
 * one may be in no register. */
static struct fused_sum sum_of(const struct ir *ir, const struct terms *t, unsigned bytes) {
    static const enum op_id op[4][3] = {
        {0, OP_NEG, OP_SUB_SUB}, {0, OP_SUB, OP_SUB_SUB}, {OP_ADD, OP_ADD_SUB, 0}, {OP_ADD3, 0, 0}};
    struct fused_sum to = {NULL, {OPND_ZERO, OPND_ZERO, OPND_ZERO, OPND_ZERO}};
    unsigned outside = 0, n = t->n_plus || t->n_minus < 2 ? 0 : 1; /* -a - b is 0 - a - b */
    for (unsigned k = 0; k < t->n_plus && n < 3; k++)
        to.sources[n++] = t->plus[k];
    for (unsigned k = 0; k < t->n_minus && n < 3; k++)
        to.sources[n++] = t->minus[k];
    for (unsigned k = 0; k < 3; k++)
        outside += select_outside(ir, to.sources[k]);
    if (t->n_plus + t->n_minus > 3 || t->n_minus > 2 || outside > 1 || !op[t->n_plus][t->n_minus])
        return to;
    const bool negation = !t->n_plus && t->n_minus == 1;
    to.row = isa_find_row(op[t->n_plus][t->n_minus],
                          negation ? (bytes == 8 ? T_S64 : T_S32) : (bytes == 8 ? T_U64 : T_U32), T_NONE, 0);
    return to;
}

/* Returns the instruction that computes both the sum `in` and the sum `next` that reads its result. */
static struct fused_sum joined(const struct ir *ir, const struct inst *in, const struct inst *next) {
    struct terms t = {.n_plus = 0};
    bool minus, ignored;
    if (in->dsize != next->dsize || !terms_of(next, in->d, false, &t, &minus) ||
        !terms_of(in, OPND_SINK, minus, &t, &ignored))
        return (struct fused_sum){.row = NULL};
    return sum_of(ir, &t, in->dsize);
}

/* Fuses two sums, or a negation with all sums that use it. */
bool select_sums(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct isa_row *row = select_row(&in);
    const bool negation = is_integer(row, OP_NEG);
    const bool sum = negation || is_integer(row, OP_ADD) || is_integer(row, OP_SUB);
    const struct reg_def *d = sum ? select_only_result(s, i) : NULL;
    if (!d || !d->n || (d->n > 1 && !negation))
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        if (!select_may_absorb(s, i, use) || !joined(s->ir, &in, &s->ir->code[use->inst]).row)
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct fused_sum to = joined(s->ir, &in, &s->ir->code[user]);
        select_become(s, user, to.row, to.sources);
    }
    select_absorbed(s, i);
    return true;
}
