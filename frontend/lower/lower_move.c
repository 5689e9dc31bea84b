/* Lowers mov: between registers, from addresses and special registers, and packing of vectors. */
#include "lower.h"

static enum type bits_of(unsigned bytes) {
    return bytes == 1 ? T_B8 : bytes == 2 ? T_B16 : bytes == 4 ? T_B32 : bytes == 8 ? T_B64 : T_B128;
}

/* Lowers a move of one value. */
static void move_one(struct lower *l, const struct operand *to, const struct operand *from, enum type t) {
    opnd_t d = dest(l, to, t);
    const struct operand *name = from->kind == OPD_SUM ? from->sub : from;
    if (name->kind == OPD_NAME && !from->n && d != OPND_SINK && t != T_PRED) {
        struct symbol *s = names_find(&l->names, name->name);
        unsigned bytes = type_bytes(t);
        if (s && s->kind == SYM_SPECIAL && from->kind == OPD_NAME && bytes >= 2 && bytes <= 8) {
            check_special(l, from->loc, s);
            read_special(l, s->index, bytes, d);
            return;
        }
        if (s && (s->kind == SYM_VARIABLE || s->kind == SYM_FUNCTION)) {
            symbol_value(l, from, s->kind == SYM_VARIABLE ? place_symbol(l, s) : s,
                         from->kind == OPD_SUM ? (int64_t)from->integer : 0, t, d);
            return;
        }
    }
    opnd_t a = source(l, from, t);
    struct inst *in = emit(l, l->dec->row);
    in->d = d;
    in->a = a;
    emit_done(l);
}

/* Returns one element of a packed value. 8-bit elements are in 16-bit registers (isa/rows.h). */
static opnd_t part_source(struct lower *l, const struct operand *o, unsigned bytes) {
    unsigned size;
    if (bytes > 1)
        return source(l, o, bits_of(bytes));
    if (o->kind == OPD_INT)
        return source(l, o, T_B16);
    opnd_t a = wide_source(l, o, T_B8, &size);
    if (size == 2 || (a & 1))
        return a;
    opnd_t wide = temp_reg(l, RC_16) << 1;
    uint32_t guard = pause_guard(l);
    emit_resize(l, wide, 2, a, size, false);
    l->guard = guard;
    return wide;
}

static void pack(struct lower *l, const struct operand *to, const struct operand *parts, int n, enum type t) {
    unsigned whole = type_bytes(t), part = whole / (unsigned)n;
    opnd_t from[4] = {OPND_ZERO, OPND_ZERO, OPND_ZERO, OPND_ZERO}, d = dest(l, to, t);
    for (int i = 0; i < n; i++)
        from[i] = part_source(l, &parts[i], part);
    struct inst *in = emit_op(l, OP_PACK, bits_of(whole), bits_of(part), 0);
    in->d = d;
    in->a = from[0];
    in->b = from[1];
    in->c = from[2];
    in->e = from[3];
    emit_done(l);
}

/* A destination of an unpacking mov. The mov writes 8-bit elements to 16-bit registers; a conversion copies them to
 * registers of other sizes. */
struct part {
    opnd_t reg;     /* register that the instruction writes */
    opnd_t final;   /* destination register that gets a copy of `reg`; OPND_SINK if `reg` itself is the destination */
    unsigned bytes; /* bytes of `final` */
};

static struct part part_dest(struct lower *l, const struct operand *o, unsigned bytes) {
    struct part p = {OPND_SINK, OPND_SINK, bytes};
    if (bytes > 1) {
        p.reg = dest(l, o, bits_of(bytes));
        return p;
    }
    opnd_t d = wide_dest(l, o, T_B8, &p.bytes);
    p.reg = d;
    if (d != OPND_SINK && p.bytes != 2) {
        p.reg = temp_reg(l, RC_16) << 1;
        p.final = d;
    }
    return p;
}

static void unpack(struct lower *l, const struct operand *parts, int n, const struct operand *from, enum type t) {
    unsigned whole = type_bytes(t), part = whole / (unsigned)n;
    opnd_t a = source(l, from, t);
    struct part to[4];
    for (int i = 0; i < n; i++)
        to[i] = part_dest(l, &parts[i], part);
    for (int i = 0; i < n; i += 2) {
        uint64_t form = n == 2 ? 0 : form_put(CAT_PART, i == 0 ? PART_LO : PART_HI);
        if (to[i].reg == OPND_SINK && to[i + 1].reg == OPND_SINK && n > 2)
            continue;
        struct inst *in = emit_op(l, OP_UNPACK, bits_of(part), bits_of(whole), form);
        in->d = to[i].reg;
        in->d2 = to[i + 1].reg;
        in->a = a;
        emit_done(l);
    }
    for (int i = 0; i < n; i++)
        if (to[i].final != OPND_SINK)
            emit_resize(l, to[i].final, to[i].bytes, to[i].reg, 2, false);
}

/* Lowers mov.v4.u32 {a, b, c, d}, {e, f, g, h}. All sources are read before the first destination is written. */
static void move_vector(struct lower *l, const struct operand *to, int n_to, const struct operand *from, int n_from,
                        enum type t) {
    opnd_t a[8], d[8];
    enum reg_class cls = class_of_bytes(type_bytes(t));
    bool overlap = false;
    if (n_to != n_from) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' moves %d elements to %d", opcode_text(l), n_from, n_to);
        return;
    }
    for (int i = 0; i < n_to; i++) {
        a[i] = source(l, &from[i], t);
        d[i] = dest(l, &to[i], t);
        for (int k = 0; k < i; k++)
            overlap |= d[k] != OPND_SINK && d[k] == a[i];
    }
    for (int i = 0; i < n_to && overlap; i++) {
        if (a[i] & 1)
            continue;
        opnd_t copy = temp_reg(l, cls) << 1;
        uint32_t guard = pause_guard(l);
        emit_move(l, copy, a[i], cls);
        l->guard = guard;
        a[i] = copy;
    }
    for (int i = 0; i < n_to; i++)
        if (d[i] != OPND_SINK)
            emit_move(l, d[i], a[i], cls);
}

void lower_mov(struct lower *l) {
    enum type t = l->dec->row->types[0];
    struct operand to[8], from[8];
    if (!operand_count(l, 2, 2))
        return;
    const struct operand *d = l->st->insn.operands, *a = d->next;
    int n_to = elements(l, d, to, 8), n_from = elements(l, a, from, 8);
    if (l->dec->vec <= 1 && a->kind == OPD_NAME && n_from == 4 && names_special_component(&l->names, a->name, 0)) {
        diag_error(l->d, a->loc, "'%s' is a vector of four elements; use mov.v4", a->name->text);
    } else if (n_to > 8 || n_from > 8) {
        diag_error(l->d, l->st->insn.opcode_loc, "a vector has at most 8 elements");
    } else if (l->dec->vec > 1) {
        if (n_to != l->dec->vec || n_from != l->dec->vec)
            diag_error(l->d, l->st->insn.opcode_loc, "'%s' takes vectors of %d elements", opcode_text(l), l->dec->vec);
        else
            move_vector(l, to, n_to, from, n_from, t);
    } else if (n_to == 1 && n_from == 1) {
        move_one(l, to, from, t);
    } else if ((n_to != 1 && n_from != 1) || t == T_PRED) {
        move_vector(l, to, n_to, from, n_from, t);
    } else {
        int n = n_to > n_from ? n_to : n_from;
        unsigned part = type_bytes(t) / (unsigned)n;
        if ((n != 2 && n != 4) || part * (unsigned)n != type_bytes(t) || part == 0 || (n == 4 && type_bytes(t) == 16))
            diag_error(l->d, l->st->insn.opcode_loc, "'%s' cannot take %d parts", opcode_text(l), n);
        else if (n_to == 1)
            pack(l, d, from, n, t);
        else
            unpack(l, to, n, a, t);
    }
}
