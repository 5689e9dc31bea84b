/* Removes conversions between integers of 8, 16, 32 and 64 bits that the machine does not need: its registers have 32
 * bits, and an instruction reads or writes either word of a pair. Source: the code of ptxas 11.8 for sm_70 and 13 for
 * sm_80. Requires: blocks. Keeps: results and control flow. */
#include "select.h"

/* Returns true if the instruction converts an integer or float of the types without modifiers. */
static bool converts(const struct inst *in, unsigned from, unsigned to) {
    const struct isa_row *row = select_row(in);
    return in->kind == K_LANE && row->op == OP_CVT && !row->form && type_class(row->a) != 'f' &&
           type_class(row->d) != 'f' && type_bytes(row->a) == from && type_bytes(row->d) == to;
}

/* Returns use `k` of a definition if the definition is the only one of its value, else NULL. */
static const struct reg_use *use_of(const struct select *s, const struct reg_def *d, uint32_t k) {
    const struct reg_use *use = &s->du.uses[s->du.def_uses[d->first + k]];
    return use->n == 1 && !use->start && !s->touched[use->inst] ? use : NULL;
}

/* Returns true if a load with 32 bits a register gives the instruction, an extension of 16 bits to 32, its result. */
static bool load_extends(const struct inst *load, const struct inst *extension, bool is_signed) {
    if (!converts(extension, 2, 4))
        return false;
    const bool keeps_sign = type_class(select_row(extension)->a) == 's';
    return load->msize == 2 ? keeps_sign == is_signed : !load->is_signed || keeps_sign;
}

/* Makes a load of 8 or 16 bits write 32 bits, if all its uses extend its result. */
static bool extend_load(struct select *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst load = ir->code[i];
    const struct reg_def *d =
        load.kind == K_LOAD && load.msize < 4 && load.rsize == 2 && !load.n_list && load.space != SPACE_PARAM
            ? select_only_result(s, i)
            : NULL;
    if (!d || !d->n)
        return false;
    const struct inst *first = &ir->code[s->du.uses[s->du.def_uses[d->first]].inst];
    const bool is_signed = load.msize == 1 ? load.is_signed : type_class(select_row(first)->a) == 's';
    for (uint32_t k = 0; k < d->n; k++) {
        const struct reg_use *use = use_of(s, d, k);
        if (!use || !load_extends(&load, &ir->code[use->inst], is_signed))
            return false;
    }
    const struct vreg old = ir->vregs[d->vreg];
    const opnd_t to = ir_vreg(ir, RC_32, old.function, old.name, old.name_len) << 1;
    ir->vregs[to >> 1].written = true;
    for (uint32_t k = 0; k < d->n; k++)
        select_become(s, use_of(s, d, k)->inst, isa_find_row(OP_MOV, T_B32, T_NONE, 0),
                      (const opnd_t[]){to, OPND_ZERO, OPND_ZERO, OPND_ZERO});
    struct inst *in = edit_inst(s->e, i);
    in->d = to;
    in->rsize = 4;
    in->is_signed = is_signed;
    return true;
}

/* Makes stores of 8 or 16 bits read a register of 32 bits, if all uses of its lower half are such stores. */
static bool shorten_in_store(struct select *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const opnd_t from = in->a;
    const struct reg_def *d =
        converts(in, 4, 2) && !(from & 1) && !ir->vregs[from >> 1].special ? select_only_result(s, i) : NULL;
    if (!d || !d->n)
        return false;
    for (uint32_t k = 0; k < d->n; k++) {
        const struct reg_use *use = use_of(s, d, k);
        const struct inst *store = use ? &ir->code[use->inst] : NULL;
        if (!store || store->kind != K_STORE || store->n_list || store->msize > 2 || store->rsize != 2 ||
            store->b != in->d || store->a == in->d || !select_keeps(s, from, i, use->inst))
            return false;
    }
    for (uint32_t k = 0; k < d->n; k++) {
        const uint32_t user = use_of(s, d, k)->inst;
        edit_inst(s->e, user)->b = from;
        edit_inst(s->e, user)->rsize = 4;
    }
    for (uint32_t k = 0; k < d->n; k++)
        s->touched[s->du.uses[s->du.def_uses[d->first + k]].inst] = true;
    select_keep_definitions(s, i, from);
    edit_remove(s->e, i);
    ir_note(ir, i, "stores read the register itself");
    return true;
}

/* Returns true if instruction `i` shifts 64 bits to the right by 32. */
static bool shifts_by_word(const struct ir *ir, const struct inst *in) {
    return in->kind == K_LANE && select_row(in)->op == OP_SHR && in->dsize == 8 && in->b & 1 && !(in->a & 1) &&
           select_constant(ir, in->b, 4) == 32 && !ir->vregs[in->a >> 1].special;
}

/* Returns true if all uses of a value of 64 bits need one of its words: they convert the value to 32 bits, or shift it
 * right by 32. */
static bool is_read_by_word(const struct select *s, const struct reg_def *d) {
    for (uint32_t k = 0; k < d->n; k++) {
        const struct inst *in = &s->ir->code[s->du.uses[s->du.def_uses[d->first + k]].inst];
        if (!converts(in, 8, 4) && !shifts_by_word(s->ir, in))
            return false;
    }
    return true;
}

/* Returns the product of two values of 32 bits, with 64 bits, which an instruction reads as operand `o`; or NULL if
 * there is none, or an instruction needs all bits of the product. */
static const struct inst *wide_product(const struct select *s, uint32_t i, opnd_t o, uint32_t *at) {
    const struct reg_use *read = o & 1 ? NULL : defuse_use(&s->du, i, o >> 1);
    const struct reg_def *d = read ? defuse_only_def(&s->du, read) : NULL;
    const struct inst *in = d && !s->touched[d->inst] ? &s->ir->code[d->inst] : NULL;
    if (!in || in->guard != NO_GUARD || select_row(in)->op != OP_MUL || type_bytes(select_row(in)->a) != 4 ||
        select_row(in)->form != form_put(CAT_PART, PART_WIDE) || !is_read_by_word(s, d) ||
        !select_keeps(s, in->a, d->inst, i) || !select_keeps(s, in->b, d->inst, i))
        return NULL;
    *at = d->inst;
    return in;
}

/* Makes instruction `i` compute one half of a product. */
static void become_half(struct select *s, uint32_t i, const struct inst *product, uint32_t at, unsigned part) {
    const opnd_t a = product->a, b = product->b;
    select_become(s, i, isa_find_row(OP_MUL, select_row(product)->a, T_NONE, form_put(CAT_PART, part)),
                  (const opnd_t[]){a, b, OPND_ZERO, OPND_ZERO});
    select_keep_definitions(s, at, a);
    select_keep_definitions(s, at, b);
}

/* Makes the lower word of a product of 64 bits a product of 32 bits. */
static bool lower_of_product(struct select *s, uint32_t i) {
    uint32_t at;
    const struct inst *in = &s->ir->code[i];
    const struct inst *product = converts(in, 8, 4) && select_only_result(s, i) ? wide_product(s, i, in->a, &at) : NULL;
    if (!product)
        return false;
    become_half(s, i, product, at, PART_LO);
    return true;
}

/* Makes the conversions of a value of 64 bits, shifted right by 32, to 32 bits read its upper word, or compute the
 * upper word of a product. */
static bool upper_word(struct select *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst in = ir->code[i];
    const struct reg_def *d = shifts_by_word(ir, &in) ? select_only_result(s, i) : NULL;
    uint32_t at = 0;
    if (!d || !d->n)
        return false;
    for (uint32_t k = 0; k < d->n; k++) {
        const struct reg_use *use = use_of(s, d, k);
        if (!use || !converts(&ir->code[use->inst], 8, 4) || ir->code[use->inst].d2 != OPND_SINK ||
            !select_only_result(s, use->inst) || !select_keeps(s, in.a, i, use->inst))
            return false;
    }
    const struct inst *product = d->n == 1 ? wide_product(s, i, in.a, &at) : NULL;
    const uint32_t first = s->du.uses[s->du.def_uses[d->first]].inst;
    if (product && select_keeps(s, product->a, at, first) && select_keeps(s, product->b, at, first)) {
        become_half(s, first, product, at, PART_HI);
    } else {
        for (uint32_t k = 0; k < d->n; k++) {
            const uint32_t user = s->du.uses[s->du.def_uses[d->first + k]].inst;
            const opnd_t to = ir->code[user].d;
            select_become(s, user, isa_find_row(OP_UNPACK, T_B32, T_B64, 0),
                          (const opnd_t[]){in.a, OPND_ZERO, OPND_ZERO, OPND_ZERO});
            edit_inst(s->e, user)->d = OPND_SINK;
            edit_inst(s->e, user)->d2 = to;
        }
    }
    select_keep_definitions(s, i, in.a);
    edit_remove(s->e, i);
    ir_note(ir, i, "is the upper word of a value");
    return true;
}

bool select_sizes(struct select *s, uint32_t i) {
    return extend_load(s, i) || shorten_in_store(s, i) || lower_of_product(s, i) || upper_word(s, i);
}
