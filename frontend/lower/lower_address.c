/* Lowers addresses: of accesses, of variables and functions as values, of array elements. */
#include "lower.h"

/* Sets the state space of an access to a variable, and its offset or fix-up. */
static bool symbol_address(struct lower *l, const struct operand *o, const struct symbol *s, enum space wanted,
                           struct address *out) {
    if (wanted != SPACE_GENERIC && wanted != s->space) {
        diag_error(l->d, o->loc, "'%s' is in .%s, but '%s' accesses .%s", s->word->text, space_name(s->space),
                   opcode_text(l), space_name(wanted));
        return false;
    }
    out->base = OPND_ZERO;
    out->asize = 8;
    out->space = s->space;
    switch (s->home) {
    case HOME_NONE:
        return false;
    case HOME_DEVICE: {
        const struct image_variable *v = &l->img->variables[s->index];
        if (v->is_extern) {
            diag_error(l->d, o->loc, "'%s' is declared .extern but not defined", s->word->text);
            return false;
        }
        out->imm = wrap_add(out->imm, v->address);
        break;
    }
    case HOME_DYNAMIC:
        out->fixup = true;
        out->what = FIX_DYNAMIC_SHARED;
        l->ir->uses_dynamic_shared = true;
        break;
    case HOME_FRAME:
        out->fixup = true;
        out->what = FIX_FRAME;
        out->space = SPACE_LOCAL;
        out->imm = wrap_add(out->imm, s->offset);
        break;
    case HOME_THREAD:
    case HOME_SHARED:
    case HOME_PARAM:
        out->imm = wrap_add(out->imm, s->offset);
        break;
    }
    return true;
}

opnd_t symbol_value(struct lower *l, const struct operand *o, struct symbol *s, int64_t addend, enum type t, opnd_t d) {
    unsigned bytes = type_bytes(t);
    struct address a = {.imm = addend};
    if (type_class(t) == 'f' || (bytes != 4 && bytes != 8)) {
        diag_error(l->d, o->loc, "'%s' expects %s, found the address of '%s'", opcode_text(l), type_name(t),
                   s->word->text);
        return OPND_ZERO;
    }
    if (s->kind == SYM_FUNCTION) {
        uint32_t f = require_function(l, s->index);
        if (f != UINT32_MAX)
            l->ir->functions[f].address_taken = true;
        a.imm = wrap_add(a.imm, CODE_BASE + 16ull * s->index);
    } else if (!symbol_address(l, o, s, SPACE_GENERIC, &a)) {
        return OPND_ZERO;
    }
    enum reg_class cls = class_of_bytes(bytes);
    if (!a.fixup) {
        opnd_t value = ir_constant(l->ir, cls, (uint64_t)a.imm, 0);
        if (d != OPND_SINK)
            emit_move(l, d, value, cls);
        return d != OPND_SINK ? d : value;
    }
    uint32_t guard = l->guard;
    if (d == OPND_SINK) {
        pause_guard(l);
        d = temp_reg(l, cls) << 1;
    }
    emit_move(l, d, OPND_ZERO, cls);
    emit_fixup(l, a.what, (uint64_t)a.imm);
    l->guard = guard;
    return d;
}

static opnd_t integer_op(struct lower *l, const struct isa_row *row, opnd_t a, opnd_t b, opnd_t c, enum reg_class cls) {
    opnd_t d = temp_reg(l, cls) << 1;
    struct inst *in = emit(l, row);
    in->d = d;
    in->a = a;
    in->b = b;
    in->c = c;
    emit_done(l);
    return d;
}

opnd_t element_address(struct lower *l, const struct operand *o, struct symbol *s, enum type t) {
    const struct operand *index = o->sub->next, *name = index->kind == OPD_SUM ? index->sub : index;
    const struct symbol *reg = find_reg(l, name);
    unsigned bytes = reg ? type_bytes(reg->type) : 0, size = type_bytes(s->type), wanted = type_bytes(t);
    int64_t first = index->kind == OPD_SUM ? (int64_t)((uint64_t)index->integer * size) : 0;
    if (!reg)
        return OPND_ZERO;
    if (type_class(reg->type) == 'f' || (bytes != 4 && bytes != 8)) {
        diag_error(l->d, name->loc, "'%s' is a %s register; an index takes 32 or 64 bits of an integer",
                   name->name->text, type_name(reg->type));
        return OPND_ZERO;
    }
    uint32_t guard = pause_guard(l);
    opnd_t base = symbol_value(l, o, s, 0, t, OPND_SINK);
    /* The product of the index and the element size is unsigned and has the width of the index. */
    enum type it = bytes == 4 ? T_U32 : T_U64;
    const struct isa_row *mad = isa_find_row(OP_MAD, it, T_NONE, form_put(CAT_PART, PART_LO)),
                         *add = isa_find_row(OP_ADD, wanted == 4 ? T_U32 : T_U64, T_NONE, 0);
    enum reg_class icls = class_of_bytes(bytes);
    opnd_t offset =
        integer_op(l, mad, reg->index << 1, ir_constant(l->ir, icls, size, 0),
                   ir_constant(l->ir, icls, (uint64_t)first & (bytes == 4 ? UINT32_MAX : UINT64_MAX), 0), icls);
    if (bytes != wanted) {
        opnd_t resized = temp_reg(l, class_of_bytes(wanted)) << 1;
        emit_resize(l, resized, wanted, offset, bytes, false);
        offset = resized;
    }
    opnd_t d = integer_op(l, add, base, offset, OPND_ZERO, class_of_bytes(wanted));
    l->guard = guard;
    return d;
}

static bool indexed_address(struct lower *l, const struct operand *o, struct symbol *s, enum space wanted,
                            struct address *out) {
    struct address whole = {.imm = 0};
    if (!symbol_address(l, o->sub, s, wanted, &whole))
        return false;
    out->base = element_address(l, o, s, T_U64);
    out->asize = 8;
    out->space = whole.space;
    return true;
}

bool address_of(struct lower *l, const struct operand *o, enum space wanted, struct address *out) {
    *out = (struct address){.base = OPND_ZERO, .asize = 8, .space = wanted};
    const struct operand *base = o;
    if (o->kind == OPD_ADDRESS) {
        base = o->sub;
        out->imm = (int64_t)o->integer;
        if (base->kind == OPD_INDEX && base->sub->next->kind != OPD_INT)
            base = o->sub;
    }
    if (base->kind == OPD_INDEX) {
        struct symbol *s = find_symbol(l, base->sub, 1u << SYM_VARIABLE, "variable");
        if (!s)
            return false;
        if (base->sub->next->kind != OPD_INT)
            return indexed_address(l, base, s, wanted, out);
        out->imm = wrap_add(out->imm, base->sub->next->integer * type_bytes(s->type));
        return symbol_address(l, base->sub, s, wanted, out);
    }
    if (o->kind != OPD_ADDRESS) {
        bad_operand(l, o, "an address in brackets");
        return false;
    }
    if (base->kind == OPD_INT) {
        out->imm = wrap_add(out->imm, base->integer);
        return true;
    }
    struct symbol *s = find_symbol(l, base, 1u << SYM_REG | 1u << SYM_VARIABLE, "register or variable");
    if (!s)
        return false;
    if (s->kind == SYM_VARIABLE)
        return symbol_address(l, base, s, wanted, out);
    unsigned bytes = type_bytes(s->type);
    if (type_class(s->type) == 'f' || s->type == T_PRED || (bytes != 4 && bytes != 8)) {
        diag_error(l->d, base->loc, "'%s' is a %s register; an address takes 32 or 64 bits of an integer",
                   base->name->text, type_name(s->type));
        return false;
    }
    out->base = s->index << 1;
    out->asize = (uint8_t)bytes;
    if (wanted == SPACE_PARAM && !l->ir->functions[l->fn].is_entry)
        /* the parameters of a function other than a kernel are in its frame, which is in local memory */
        out->space = SPACE_LOCAL;
    return true;
}

void set_address(struct lower *l, struct inst *in, const struct address *a) {
    in->a = a->base;
    in->asize = a->asize;
    in->imm = a->imm;
    in->space = (uint8_t)a->space;
    in->hints = l->dec->hints;
    in->cache_op = l->dec->cache_op;
    if (a->fixup)
        emit_fixup(l, a->what, (uint64_t)a->imm);
}
