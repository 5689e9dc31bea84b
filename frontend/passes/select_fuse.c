/* Fuses two instructions into one machine instruction: product and sum of floats, shift and sum, two logic operations,
 * comparison and logic operation, logic operation and comparison with 0, both halves of a product, or two conversions.
 * select_sums.c fuses other sums of integers. Requires: blocks. Keeps: results and control flow. */
#include "select.h"
#include <string.h>

/* Fuses a shift of 64 bits to the left with the sum that uses it. Several sums share the result of the shift. */
static bool fuse_shift(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const bool shifts = select_row(&in)->op == OP_SHL && in.dsize == 8 && !(in.a & 1) && in.b & 1;
    const struct reg_def *d = shifts ? select_only_result(s, i) : NULL;
    if (!d || d->n != 1 || (uint64_t)select_constant(s->ir, in.b, 4) > 31)
        return false;
    const struct reg_use *use = &s->du.uses[s->du.def_uses[d->first]];
    const struct inst *sum = &s->ir->code[use->inst];
    if (!select_is_sum(select_row(sum), 8) || sum->a == sum->b || !select_may_absorb(s, i, use) ||
        s->ir->info[use->inst].block != s->ir->info[i].block)
        return false;
    select_become(s, use->inst, isa_find_row(OP_LEA, T_U64, T_U64, 0),
                  (const opnd_t[]){in.a, in.b, sum->a == in.d ? sum->b : sum->a, OPND_ZERO});
    select_absorbed(s, i);
    return true;
}

/* Returns the row of the instruction that shifts as `in` does and adds a value, or NULL. It shifts by a constant. */
static const struct isa_row *shift_and_sum(const struct inst *in) {
    const struct isa_row *row = select_row(in);
    if (row->op == OP_SHR && in->dsize == 4 && in->b & 1 && !(in->a & 1))
        return isa_find_row(OP_LEA_HI, type_class(row->d) == 's' ? T_S32 : T_U32, T_NONE, 0);
    return row->op == OP_SHF && row->form == (form_put(CAT_MODE, MODE_L) | form_put(CAT_MODE2, MODE2_WRAP)) &&
                   in->c & 1 && !(in->a & 1) && !(in->b & 1)
               ? isa_find_row(OP_LEA_HI, T_B32, T_NONE, 0)
               : NULL;
}

/* Fuses a shift to the right, or of two registers to the left, with all sums that use it. */
static bool fuse_shift_right(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct isa_row *row = shift_and_sum(&in);
    const struct reg_def *d = row ? select_only_result(s, i) : NULL;
    const bool pair = row && row->d == T_B32;
    if (!d || !d->n || (uint64_t)select_constant(s->ir, pair ? in.c : in.b, 4) > 31)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const struct inst *sum = &s->ir->code[use->inst];
        if (!select_is_sum(select_row(sum), 4) || sum->a == sum->b || !select_may_absorb(s, i, use))
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct inst *sum = &s->ir->code[user];
        const opnd_t other = sum->a == in.d ? sum->b : sum->a;
        select_become(s, user, row, (const opnd_t[]){in.a, in.b, pair ? in.c : other, pair ? other : OPND_ZERO});
    }
    select_absorbed(s, i);
    return true;
}

/* Returns the row of the instruction that computes a float product and the sum or difference that reads it, or NULL.
 * PTX leaves it to the assembler to contract both if neither names a rounding. */
static const struct isa_row *contraction_of(const struct isa_row *product, const struct inst *next, opnd_t d) {
    const struct isa_row *sum = select_row(next);
    if (sum->form != product->form || memcmp(sum->types, product->types, sizeof sum->types) != 0 || next->a == next->b)
        return NULL;
    const enum op_id op = sum->op == OP_ADD ? OP_MUL_ADD : next->a == d ? OP_MUL_SUB : OP_SUB_MUL;
    return sum->op == OP_ADD || sum->op == OP_SUB ? isa_find_row_of(op, product->types, product->form) : NULL;
}

/* Contracts a float product and all sums and differences of its block that use it. Both results are rounded, as PTX
 * has them, not once as on a card. */
static bool fuse_float_product(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct isa_row *row = select_row(&in);
    const struct reg_def *d = row->op == OP_MUL && type_class(row->a) == 'f' ? select_only_result(s, i) : NULL;
    if (!d || !d->n)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const struct inst *next = &s->ir->code[use->inst];
        const opnd_t other = next->a == in.d ? next->b : next->a;
        if (!select_may_absorb(s, i, use) || s->ir->info[use->inst].block != s->ir->info[i].block ||
            !contraction_of(row, next, in.d) ||
            select_outside(s->ir, in.a) + select_outside(s->ir, in.b) + select_outside(s->ir, other) > 1)
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct inst *next = &s->ir->code[user];
        select_become(s, user, contraction_of(row, next, in.d),
                      (const opnd_t[]){in.a, in.b, next->a == in.d ? next->b : next->a, OPND_ZERO});
    }
    select_absorbed(s, i);
    return true;
}

/* The signs of the product and of the addend of an fma that has no .sat and rounds to nearest, or of an f32 sum. */
static const struct {
    enum op_id op;
    bool product, addend, sums; /* sums: the operation adds a and b; `product` is the sign of a */
} signs[] = {{OP_FMA, false, false, false},   {OP_FMA_SUB, false, true, false}, {OP_SUB_FMA, true, false, false},
             {OP_NEG_FMA, true, true, false}, {OP_ADD, false, false, true},     {OP_SUB, false, true, true}};
enum { N_SIGNS = sizeof signs / sizeof signs[0] };

/* Returns the row that computes the same as the instruction `next` if its operands that are `d` have the other sign, or
 * NULL. Sets `swap` if the two operands of a sum change places. */
static const struct isa_row *negated(const struct inst *next, opnd_t d, bool *swap) {
    const struct isa_row *row = select_row(next);
    bool product = next->a == d, addend = next->c == d;
    unsigned k = 0, to = 0;
    while (k < N_SIGNS && signs[k].op != row->op)
        k++;
    if (k == N_SIGNS || type_class(row->d) != 'f' || (signs[k].sums && type_bytes(row->d) != 4))
        return NULL;
    if (signs[k].sums)
        addend = next->b == d;
    else
        product ^= next->b == d;
    product ^= signs[k].product;
    addend ^= signs[k].addend;
    *swap = signs[k].sums && product && !addend;
    if (*swap) {
        product = false;
        addend = true;
    }
    while (to < N_SIGNS &&
           (signs[to].sums != signs[k].sums || signs[to].product != product || signs[to].addend != addend))
        to++;
    return to < N_SIGNS ? isa_find_row_of(signs[to].op, row->types, row->form) : NULL;
}

/* Makes a negation of a float part of the sums that use it: operands of machine instructions have signs. */
static bool fuse_negation(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct isa_row *row = select_row(&in);
    const struct reg_def *d = row->op == OP_NEG && type_class(row->d) == 'f' && type_bytes(row->d) >= 4 && !(in.a & 1)
                                  ? select_only_result(s, i)
                                  : NULL;
    bool swap;
    if (!d || !d->n)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const struct inst *next = &s->ir->code[use->inst];
        const struct isa_row *to = select_may_absorb(s, i, use) ? negated(next, in.d, &swap) : NULL;
        if (!to || memcmp(to->types, row->types, sizeof to->types) != 0 ||
            form_get(row->form, CAT_FTZ) > form_get(to->form, CAT_FTZ))
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct inst *next = &s->ir->code[user];
        const struct isa_row *to = negated(next, in.d, &swap);
        const opnd_t a = next->a == in.d ? in.a : next->a, b = next->b == in.d ? in.a : next->b;
        select_become(s, user, to,
                      (const opnd_t[]){swap ? b : a, swap ? a : b, next->c == in.d ? in.a : next->c, OPND_ZERO});
    }
    select_absorbed(s, i);
    return true;
}

/* Fuses a comparison with the logic operation that combines its predicate with another one. */
static bool fuse_comparison(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct isa_row *row = select_row(in);
    const bool plain = row->op == OP_SETP && in->d2 == OPND_SINK && !form_get(row->form, CAT_OPN);
    const struct reg_def *d = plain ? select_only_result(s, i) : NULL;
    if (!d || d->n != 1)
        return false;
    const struct reg_use *use = &s->du.uses[s->du.def_uses[d->first]];
    const struct inst *next = &s->ir->code[use->inst];
    const struct isa_row *logic = select_row(next);
    const unsigned operation = logic->op == OP_AND   ? OPN_AND
                               : logic->op == OP_OR  ? OPN_OR
                               : logic->op == OP_XOR ? OPN_XOR
                                                     : 0;
    const opnd_t other = next->a == in->d ? next->b : next->a;
    if (!operation || logic->d != T_PRED || next->guard == d->vreg || next->a == next->b || other & 1 ||
        !select_may_absorb(s, i, use))
        return false;
    const struct isa_row *both = isa_find_row_of(OP_SETP, row->types, row->form | form_put(CAT_OPN, operation));
    if (!both)
        return false;
    select_become(s, use->inst, both, (const opnd_t[]){in->a, in->b, other, OPND_ZERO});
    select_absorbed(s, i);
    return true;
}

/* Returns the row that compares a & b with 0 as an instruction compares the result `d` of the logic operation, or
 * NULL. */
static const struct isa_row *test_of(const struct ir *ir, const struct inst *in, opnd_t d) {
    const struct isa_row *row = select_row(in);
    const unsigned how = form_get(row->form, CAT_CMP), with = form_get(row->form, CAT_OPN);
    const opnd_t other = in->a == d ? in->b : in->a;
    if (in->kind != K_LANE || row->op != OP_SETP || in->d2 != OPND_SINK || type_bytes(row->a) != 4 ||
        type_class(row->a) == 'f' || (how != CMP_EQ && how != CMP_NE) || (with && with != OPN_AND && with != OPN_OR) ||
        in->a == in->b || in->c == d || !(other & 1) || select_constant(ir, other, 4))
        return NULL;
    return isa_find_row(OP_TEST, T_B32, T_NONE, form_put(CAT_CMP, how) | form_put(CAT_OPN, with));
}

/* Fuses a logic operation with the comparisons of its result with 0. */
static bool fuse_test(struct select *s, uint32_t i) {
    const struct inst in = s->ir->code[i];
    const struct reg_def *d = select_row(&in)->op == OP_AND && in.dsize == 4 ? select_only_result(s, i) : NULL;
    if (!d || !d->n)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        if (!select_may_absorb(s, i, use) || !test_of(s->ir, &s->ir->code[use->inst], in.d) ||
            s->ir->code[use->inst].guard == d->vreg)
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        const struct inst *test = &s->ir->code[user];
        select_become(s, user, test_of(s->ir, test, in.d), (const opnd_t[]){in.a, in.b, test->c, OPND_ZERO});
    }
    select_absorbed(s, i);
    return true;
}

/* A function of up to three bits: bit 4x + 2y + z of the table is its value for operands x, y, z. */
struct logic {
    opnd_t operand[3]; /* OPND_ZERO: none */
    unsigned table;
};

/* The truth tables of the three operands of lop3. */
enum { TABLE_A = 0xf0, TABLE_B = 0xcc, TABLE_C = 0xaa };

/* Returns true if the instruction is a logic operation on 32 or 64 bits, and sets *f. */
static bool logic_of(const struct ir *ir, const struct inst *in, struct logic *f) {
    if (in->kind != K_LANE || (in->dsize != 4 && in->dsize != 8))
        return false;
    *f = (struct logic){{in->a, in->b, OPND_ZERO}, 0};
    switch (select_row(in)->op) {
    case OP_AND:
        f->table = TABLE_A & TABLE_B;
        return true;
    case OP_OR:
        f->table = TABLE_A | TABLE_B;
        return true;
    case OP_XOR:
        f->table = TABLE_A ^ TABLE_B;
        return true;
    case OP_NOT:
        f->operand[1] = OPND_ZERO;
        f->table = ~TABLE_A & 0xff;
        return true;
    case OP_LOP3:
    case OP_LOGIC3:
        f->operand[2] = in->c;
        f->table = in->e & 1 ? (unsigned)select_constant(ir, in->e, 4) & 0xff : 0;
        return in->e & 1;
    default:
        return false;
    }
}

/* Makes `o` an operand of `f`, unless it is one. Returns false if `f` already has three other operands. */
static bool add_operand(struct logic *f, opnd_t o) {
    for (int k = 0; k < 3; k++)
        if (f->operand[k] == o || f->operand[k] == OPND_ZERO) {
            f->operand[k] = o;
            return true;
        }
    return o == OPND_ZERO;
}

/* Returns the value of `f` if the operands of `all` have the bits of `x`. Operand `inner`, a result of another
 * function, has the value `bit`. */
static unsigned value_of(const struct logic *f, const struct logic *all, unsigned x, opnd_t inner, unsigned bit) {
    unsigned at = 0;
    for (int k = 0; k < 3; k++) {
        unsigned value = f->operand[k] == inner ? bit : 0;
        for (int j = 0; j < 3 && f->operand[k] != inner && f->operand[k] != OPND_ZERO; j++)
            value |= all->operand[j] == f->operand[k] ? x >> (2 - j) & 1 : 0;
        at = at << 1 | value;
    }
    return f->table >> at & 1;
}

/* Fuses two logic operations that have at most three operands together. */
static bool fuse_logic(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    struct logic first, second, both = {{OPND_ZERO, OPND_ZERO, OPND_ZERO}, 0};
    const struct reg_def *d = logic_of(s->ir, in, &first) ? select_only_result(s, i) : NULL;
    if (!d || d->n != 1)
        return false;
    const struct reg_use *use = &s->du.uses[s->du.def_uses[d->first]];
    if (!select_may_absorb(s, i, use) || !logic_of(s->ir, &s->ir->code[use->inst], &second))
        return false;
    unsigned outside = 0;
    for (int k = 0; k < 6; k++) {
        const opnd_t o = k < 3 ? first.operand[k] : second.operand[k - 3];
        if ((k < 3 || o != in->d) && !add_operand(&both, o))
            return false;
    }
    for (int k = 0; k < 3; k++)
        outside += select_outside(s->ir, both.operand[k]);
    if (outside > 1)
        return false;
    for (unsigned x = 0; x < 8; x++)
        both.table |= value_of(&second, &both, x, in->d, value_of(&first, &both, x, OPND_SINK, 0)) << x;
    const opnd_t e = ir_constant(s->ir, RC_32, both.table, 0);
    const bool wide = s->ir->code[use->inst].dsize == 8;
    select_become(s, use->inst, isa_find_row(wide ? OP_LOGIC3 : OP_LOP3, wide ? T_B64 : T_B32, T_NONE, 0),
                  (const opnd_t[]){both.operand[0], both.operand[1], both.operand[2], e});
    select_absorbed(s, i);
    return true;
}

/* Returns the rounding to an integral value that is all an instruction does; RND_NONE for any other instruction. */
static unsigned rounds_to_integral(const struct inst *in, const struct isa_row *row) {
    const unsigned r = form_get(row->form, CAT_RND);
    return in->kind == K_LANE && row->op == OP_CVT && row->a == T_F32 && row->form == form_put(CAT_RND, r) &&
                   r >= RND_RNI && r <= RND_RPI
               ? r
               : RND_NONE;
}

/* Fuses a rounding to an integral float with the conversions of this float to an integer. */
static bool fuse_rounding(struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct isa_row *row = select_row(in);
    const unsigned how = row->d == T_F32 ? rounds_to_integral(in, row) : RND_NONE;
    const struct reg_def *d = how ? select_only_result(s, i) : NULL;
    if (!d || !d->n)
        return false;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &s->du.uses[s->du.def_uses[k]];
        const struct inst *next = &s->ir->code[use->inst];
        const struct isa_row *to = select_row(next);
        if ((to->d != T_S32 && to->d != T_U32) || !rounds_to_integral(next, to) || !select_may_absorb(s, i, use) ||
            !isa_find_row_of(OP_CVT, to->types, row->form))
            return false;
    }
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const uint32_t user = s->du.uses[s->du.def_uses[k]].inst;
        select_become(s, user, isa_find_row_of(OP_CVT, select_row(&s->ir->code[user])->types, row->form),
                      (const opnd_t[]){in->a, OPND_ZERO, OPND_ZERO, OPND_ZERO});
        edit_inst(s->e, user)->kind = K_LANE; /* its registers have the sizes of its types */
    }
    select_absorbed(s, i);
    return true;
}

/* Returns true if both operands have the same value of 32 bits where both are read. */
static bool same_word(const struct ir *ir, opnd_t a, opnd_t b) {
    return a == b || (a & b & 1 && select_constant(ir, a, 4) == select_constant(ir, b, 4));
}

static bool is_half(const struct inst *in, unsigned part) {
    const struct isa_row *row = select_row(in);
    return in->kind == K_LANE && row->op == OP_MUL && row->form == form_put(CAT_PART, part) && in->dsize == 4 &&
           type_class(row->a) != 'f' && type_bytes(row->a) == 4;
}

/* Returns true if instructions [from, to) do not read register `v`. */
static bool not_read(const struct ir *ir, uint32_t v, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        for (unsigned k = 0; k < ir->info[i].n_reads; k++)
            if (ir->regs[ir->info[i].regs + k] == v)
                return false;
    return true;
}

/* Returns true if instruction `i` can also compute the result of instruction `k`, the other half of its product. */
static bool joins_half(const struct select *s, uint32_t i, uint32_t k, unsigned part) {
    const struct ir *ir = s->ir;
    const struct inst *x = &ir->code[i], *y = &ir->code[k];
    const struct reg_def *d = is_half(y, part) ? select_only_result(s, k) : NULL;
    return d && s->writers[d->vreg] == 1 && not_read(ir, d->vreg, i, k) && select_keeps(s, x->a, i, k) &&
           select_keeps(s, x->b, i, k) &&
           ((same_word(ir, x->a, y->a) && same_word(ir, x->b, y->b)) ||
            (same_word(ir, x->a, y->b) && same_word(ir, x->b, y->a)));
}

bool select_halves(struct select *s, uint32_t i) {
    enum { NEAR = 64 }; /* assumed maximum distance of both halves */
    const struct ir *ir = s->ir;
    const struct inst in = ir->code[i];
    const bool upper = is_half(&in, PART_HI);
    if ((!upper && !is_half(&in, PART_LO)) || !select_only_result(s, i))
        return false;
    const uint32_t end = ir->blocks[ir->info[i].block].end, last = end - i > NEAR ? i + NEAR : end;
    uint32_t k = i + 1;
    while (k < last && !joins_half(s, i, k, upper ? PART_LO : PART_HI))
        k++;
    if (k >= last)
        return false;
    const struct inst other = ir->code[k];
    /* the upper half depends on the signs, the lower half does not */
    select_become(s, i, isa_find_row(OP_HALVES, select_row(upper ? &in : &other)->a, T_NONE, 0),
                  (const opnd_t[]){in.a, in.b, OPND_ZERO, OPND_ZERO});
    edit_inst(s->e, i)->d = upper ? other.d : in.d;
    edit_inst(s->e, i)->d2 = upper ? in.d : other.d;
    s->touched[k] = true;
    edit_remove(s->e, k);
    ir_note(s->ir, k, "is part of the instruction that computes the other half of the product");
    return true;
}

bool select_fuse(struct select *s, uint32_t i) {
    return s->ir->code[i].kind == K_LANE &&
           (select_products(s, i) || fuse_shift(s, i) || fuse_shift_right(s, i) || fuse_float_product(s, i) ||
            fuse_negation(s, i) || fuse_test(s, i) || fuse_logic(s, i) || select_sums(s, i) || fuse_comparison(s, i) ||
            fuse_rounding(s, i));
}
