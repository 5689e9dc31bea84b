/* Lowers operands as values: registers, immediates, special registers. Reports errors in them. */
#include "lower.h"
#include <string.h>

/* Returns true if a register that is declared with type `reg` may hold a value of type `t`. With `wider`, the register
 * may be larger than the value. */
static bool types_match(enum type reg, enum type t, bool wider) {
    unsigned rbytes = type_bytes(reg), bytes = type_bytes(t);
    char rclass = type_class(reg), class = type_class(t);
    if (reg == t)
        return true;
    if (reg == T_PRED || t == T_PRED || rbytes < bytes || (rbytes > bytes && !wider))
        return false;
    if (class == 'b')
        return rbytes == bytes || rclass != 'f';
    if (rclass == 'b')
        return true;
    /* Values in packed formats and in formats such as bf16 have registers of type .b, or integer registers of their
     * size. */
    bool packed = (class == 'f' && t != T_F16 && t != T_F32 && t != T_F64) || t == T_U16X2 || t == T_S16X2;
    if (packed)
        return rbytes == bytes;
    if (reg == T_F16X2)
        return t == T_F16X2;
    return (rclass == 'f') == (class == 'f') && (class != 'f' || rbytes == bytes);
}

static bool check_type(struct lower *l, const struct operand *o, enum type reg, enum type t, bool wider) {
    if (types_match(reg, t, wider))
        return true;
    if (reg == T_PRED)
        diag_error(l->d, o->loc, "'%s' expects a %s register, but '%s' is a predicate", opcode_text(l), type_name(t),
                   o->name->text);
    else if (t == T_PRED)
        diag_error(l->d, o->loc, "'%s' expects a predicate, but '%s' is a %s register", opcode_text(l), o->name->text,
                   type_name(reg));
    else
        diag_error(l->d, o->loc, "'%s' expects %s, but '%s' is a %s register", opcode_text(l), type_name(t),
                   o->name->text, type_name(reg));
    return false;
}

static bool integer_bits(struct lower *l, const struct operand *o, enum type t, uint64_t *bits) {
    unsigned width = 8 * type_bytes(t);
    *bits = o->integer;
    if (t == T_PRED) {
        *bits = o->integer != 0;
        return true;
    }
    if (t == T_F32 || t == T_F64) {
        diag_error(l->d, o->loc, "'%s' expects %s, found an integer", opcode_text(l), type_name(t));
        diag_help(l->d, "write %lld.0", (long long)o->integer);
        return false;
    }
    if (width < 64) /* a constant that is wider than the type is truncated (PTX ISA, 4.5) */
        *bits &= (1ull << width) - 1;
    return true;
}

static bool real_bits(struct lower *l, const struct operand *o, enum type t, uint64_t *bits) {
    unsigned width = 8 * type_bytes(t);
    *bits = o->real;
    if ((t == T_F32 || t == T_F64 || type_class(t) == 'b') && width == (unsigned)o->real_bits)
        return true;
    if (t == T_F32) {
        double wide;
        memcpy(&wide, &o->real, sizeof wide);
        float narrow = (float)wide;
        *bits = 0;
        memcpy(bits, &narrow, sizeof narrow);
        return true;
    }
    if (t == T_F64) /* the exact bits of a 0f number are not converted; ptxas zero-extends them */
        return true;
    diag_error(l->d, o->loc, "'%s' expects %s, found a floating-point number", opcode_text(l), type_name(t));
    return false;
}

bool immediate(struct lower *l, const struct operand *o, enum type t, uint64_t *bits) {
    *bits = 0;
    if (o->kind == OPD_INT)
        return integer_bits(l, o, t, bits);
    if (o->kind == OPD_FLOAT)
        return real_bits(l, o, t, bits);
    bad_operand(l, o, "a constant");
    return false;
}

/* Returns the virtual register for a special register that never changes in a thread, such as %tid.x. */
static opnd_t fixed_special(struct lower *l, enum special s, bool wide) {
    uint32_t *reg = &l->special_reg[s][wide];
    if (!*reg)
        *reg = ir_special(l->ir, s, wide);
    return *reg << 1;
}

static void emit_sreg(struct lower *l, enum special s, opnd_t d, unsigned bytes) {
    struct inst *in = emit_op(l, OP_SREG, T_NONE, T_NONE, 0);
    in->d = d;
    in->dsize = (uint8_t)bytes;
    in->imm = s;
    emit_done(l);
}

opnd_t read_special(struct lower *l, enum special s, unsigned bytes, opnd_t d) {
    unsigned natural = bytes < 4 ? 4 : bytes;
    bool changes = special_is_volatile(s);
    if (!changes && natural == bytes && d == OPND_SINK)
        return fixed_special(l, s, bytes == 8);
    uint32_t guard = l->guard;
    opnd_t value = changes ? OPND_SINK : fixed_special(l, s, natural == 8);
    if (d == OPND_SINK || natural != bytes)
        pause_guard(l);
    if (changes) {
        value = d != OPND_SINK && natural == bytes ? d : temp_reg(l, class_of_bytes(natural)) << 1;
        emit_sreg(l, s, value, natural);
    }
    if (d == OPND_SINK && natural != bytes)
        d = temp_reg(l, class_of_bytes(bytes)) << 1;
    else
        l->guard = guard;
    if (natural != bytes)
        emit_resize(l, d, bytes, value, natural, false);
    else if (d != OPND_SINK && d != value)
        emit_move(l, d, value, class_of_bytes(bytes));
    l->guard = guard;
    return d != OPND_SINK ? d : value;
}

/* Emits instructions that turn a special register of type .pred into a predicate, and returns this predicate. */
static opnd_t predicate_special(struct lower *l, enum special s) {
    opnd_t value = read_special(l, s, 4, OPND_SINK), p = temp_reg(l, RC_PRED) << 1;
    uint32_t guard = pause_guard(l);
    struct inst *in = emit_op(l, OP_SETP, T_B32, T_NONE, form_put(CAT_CMP, CMP_NE));
    in->d = p;
    in->a = value;
    emit_done(l);
    l->guard = guard;
    return p;
}

/* Lowers !p as a predicate source. */
static opnd_t negated(struct lower *l, const struct operand *o, enum type t) {
    if (t != T_PRED) {
        bad_operand(l, o, type_name(t));
        return OPND_ZERO;
    }
    opnd_t p = source(l, o->sub, T_PRED), out = temp_reg(l, RC_PRED) << 1;
    uint32_t guard = pause_guard(l);
    struct inst *in = emit_op(l, OP_NOT, T_PRED, T_NONE, 0);
    in->d = out;
    in->a = p;
    emit_done(l);
    l->guard = guard;
    return out;
}

static opnd_t constant(struct lower *l, const struct operand *o, enum type t) {
    uint64_t bits;
    if (!immediate(l, o, t, &bits))
        return OPND_ZERO;
    bool negative = o->kind == OPD_INT && !o->is_unsigned && (int64_t)o->integer < 0;
    return ir_constant(l->ir, class_of_bytes(type_bytes(t)), bits, type_bytes(t) == 16 && negative ? UINT64_MAX : 0);
}

static opnd_t named_source(struct lower *l, const struct operand *o, enum type t, bool wider, unsigned *bytes) {
    if (o->name->text[0] == 'W' && strcmp(o->name->text, "WARP_SZ") == 0) {
        struct operand size = {.kind = OPD_INT, .loc = o->loc, .integer = WARP_LANES};
        check_constant_size(l, o->loc);
        return constant(l, &size, t);
    }
    struct symbol *s = find_symbol(l, o, 1u << SYM_REG | 1u << SYM_SPECIAL | 1u << SYM_VARIABLE | 1u << SYM_FUNCTION,
                                   t == T_PRED ? "predicate" : "register");
    if (!s)
        return OPND_ZERO;
    if (s->kind == SYM_REG) {
        if (!check_type(l, o, s->type, t, wider))
            return OPND_ZERO;
        *bytes = type_bytes(s->type);
        return s->index << 1;
    }
    if (s->kind == SYM_SPECIAL) {
        check_special(l, o->loc, s);
        if (s->index == SPECIAL_IS_EXPLICIT_CLUSTER && t == T_PRED)
            return predicate_special(l, s->index);
        if (t == T_PRED || type_bytes(t) > 8) {
            bad_operand(l, o, type_name(t));
            return OPND_ZERO;
        }
        return read_special(l, s->index, type_bytes(t), OPND_SINK);
    }
    return symbol_value(l, o, s, 0, t, OPND_SINK);
}

/* Lowers %r+4 in place of a register, which ptxas accepts for integers: the sum, in the register's size. */
static opnd_t register_sum(struct lower *l, const struct operand *o, const struct symbol *s, enum type t, bool wider,
                           unsigned *bytes) {
    unsigned size = type_bytes(s->type);
    if (!check_type(l, o->sub, s->type, t, wider))
        return OPND_ZERO;
    if (type_class(s->type) == 'f' || s->type == T_PRED || (size != 2 && size != 4 && size != 8)) {
        diag_error(l->d, o->sub->loc, "'%s' is a %s register; a constant is added to integers of 16 to 64 bits",
                   o->sub->name->text, type_name(s->type));
        return OPND_ZERO;
    }
    uint32_t guard = pause_guard(l);
    enum reg_class cls = class_of_bytes(size);
    struct inst *in = emit_op(l, OP_ADD, size == 2 ? T_U16 : size == 4 ? T_U32 : T_U64, T_NONE, 0);
    opnd_t d = temp_reg(l, cls) << 1;
    in->d = d;
    in->a = s->index << 1;
    in->b = ir_constant(l->ir, cls, o->integer, 0);
    emit_done(l);
    l->guard = guard;
    *bytes = size;
    return d;
}

static opnd_t any_source(struct lower *l, const struct operand *o, enum type t, bool wider, unsigned *bytes) {
    *bytes = type_bytes(t);
    switch (o->kind) {
    case OPD_NAME:
        return named_source(l, o, t, wider, bytes);
    case OPD_INT:
    case OPD_FLOAT:
        return constant(l, o, t);
    case OPD_NOT:
        return negated(l, o, t);
    case OPD_SUM: {
        struct symbol *s =
            find_symbol(l, o->sub, 1u << SYM_VARIABLE | 1u << SYM_FUNCTION | 1u << SYM_REG, "register or variable");
        if (s && s->kind == SYM_REG)
            return register_sum(l, o, s, t, wider, bytes);
        return s ? symbol_value(l, o, s, (int64_t)o->integer, t, OPND_SINK) : OPND_ZERO;
    }
    case OPD_INDEX: {
        struct symbol *s = find_symbol(l, o->sub, 1u << SYM_VARIABLE, "variable");
        if (!s)
            return OPND_ZERO;
        if (o->sub->next->kind != OPD_INT)
            return element_address(l, o, s, t);
        return symbol_value(l, o, s, (int64_t)(o->sub->next->integer * type_bytes(s->type)), t, OPND_SINK);
    }
    default:
        bad_operand(l, o, t == T_PRED ? "a predicate" : "a register or a constant");
        return OPND_ZERO;
    }
}

opnd_t wide_source(struct lower *l, const struct operand *o, enum type t, unsigned *bytes) {
    return any_source(l, o, t, true, bytes);
}

opnd_t source(struct lower *l, const struct operand *o, enum type t) {
    unsigned bytes;
    return any_source(l, o, t, false, &bytes);
}

static opnd_t any_dest(struct lower *l, const struct operand *o, enum type t, bool wider, unsigned *bytes) {
    *bytes = type_bytes(t);
    if (o->kind == OPD_SINK)
        return OPND_SINK;
    const struct symbol *s = find_symbol(l, o, 1u << SYM_REG, t == T_PRED ? "predicate" : "register");
    if (!s || !check_type(l, o, s->type, t, wider))
        return OPND_SINK;
    *bytes = type_bytes(s->type);
    return s->index << 1;
}

opnd_t dest(struct lower *l, const struct operand *o, enum type t) {
    unsigned bytes;
    return any_dest(l, o, t, false, &bytes);
}

opnd_t wide_dest(struct lower *l, const struct operand *o, enum type t, unsigned *bytes) {
    return any_dest(l, o, t, true, bytes);
}

/* Fills `out` with the four components of the special vector register `o`. Returns their number, or 0 if `o` is not
 * such a register. */
static int special_elements(struct lower *l, const struct operand *o, struct operand *out, int max) {
    for (int i = 0; i < 4 && i < max; i++) {
        const struct word *w = names_special_component(&l->names, o->name, (unsigned)i);
        if (!w)
            return 0;
        out[i] = *o;
        out[i].name = w;
    }
    return 4;
}

int elements(struct lower *l, const struct operand *o, struct operand *out, int max) {
    int n = 0;
    if (o->kind == OPD_VECTOR) {
        for (const struct operand *e = o->sub; e; e = e->next, n++)
            if (n < max)
                out[n] = *e;
        return n;
    }
    const struct symbol *s = o->kind == OPD_NAME ? names_find(&l->names, o->name) : NULL;
    if (!s && o->kind == OPD_NAME && o->name->text[0] == '%' && (n = special_elements(l, o, out, max)))
        return n;
    if (!s || s->kind != SYM_VECTOR) {
        out[0] = *o;
        return 1;
    }
    for (; n < s->n && n < max; n++) {
        out[n] = *o;
        out[n].n = n + 1; /* number of the component, counted from 1 */
    }
    return s->n;
}
