/* Lowers instructions whose operands are fully described by their row of the opcode table: arithmetic, comparison,
 * conversion, cross-lane. */
#include "lower.h"
#include <string.h>

/* Returns true if the instruction reads the carry, a hidden predicate source: addc, subc, madc. */
static bool reads_carry(const struct isa_row *row) {
    return row->op == OP_ADDC || row->op == OP_SUBC || row->op == OP_MADC;
}

static bool writes_carry(const struct isa_row *row) { return form_get(row->form, CAT_CC); }

static opnd_t carry_reg(struct lower *l) {
    if (!l->carry)
        l->carry = ir_vreg(l->ir, RC_PRED, l->fn, "%cc", 3);
    return l->carry << 1;
}

/* Lowers the destinations, of which the first may be a pair p|q. Returns the operand after the destinations. */
static const struct operand *destinations(struct lower *l, const struct isa_row *row, const struct operand *o,
                                          opnd_t *d, opnd_t *d2, unsigned *dbytes) {
    bool second = row->d2 != T_NONE && !writes_carry(row);
    const struct operand *first = o;
    if (o->kind == OPD_PAIR) {
        if (!second) {
            bad_operand(l, o, "one destination");
            return o->next;
        }
        first = o->sub;
        *d2 = dest(l, first->next, row->d2);
    } else if (second && !row->d2_optional) {
        bad_operand(l, o, "two destinations, written p|q");
    }
    if (row->kind == K_CVT)
        *d = wide_dest(l, first, row->d, dbytes);
    else
        *d = dest(l, first, row->d);
    return o->next;
}

/* Fills `types` with the types of the source operands that the PTX text has, in order, and T_NONE for a source that it
 * does not have (such as the hidden carry). Returns the number of these operands. */
static int source_slots(const struct isa_row *row, enum type types[4]) {
    const uint8_t all[4] = {row->a, row->b, row->c, row->e};
    int n = 0;
    for (int i = 0; i < 4; i++)
        types[i] = T_NONE;
    for (int i = 0; i < 4; i++) {
        bool hidden = i == 3 && reads_carry(row);
        types[i] = hidden ? T_NONE : all[i];
        n += types[i] != T_NONE;
    }
    return n;
}

/* Lowers the address of isspacep. isspacep has only 64-bit rows, so 32-bit addresses are extended. */
static opnd_t generic_address(struct lower *l, const struct operand *o) {
    const struct symbol *s = o->kind == OPD_NAME ? names_find(&l->names, o->name) : NULL;
    if (!s || s->kind != SYM_REG || type_bytes(s->type) != 4)
        return source(l, o, T_U64);
    opnd_t wide = temp_reg(l, RC_64) << 1, narrow = source(l, o, T_U32);
    uint32_t guard = pause_guard(l);
    emit_resize(l, wide, 8, narrow, 4, false);
    l->guard = guard;
    return wide;
}

/* Sets the register sizes of a conversion. If the registers have exactly the sizes of the row's types, the conversion
 * becomes an ordinary lane operation (K_LANE). */
static void set_conversion(struct inst *in, const struct isa_row *row, unsigned dbytes, unsigned abytes) {
    in->rsize = (uint8_t)dbytes;
    in->asize = (uint8_t)abytes;
    in->msize = (uint8_t)type_bytes(row->a);
    in->is_signed = type_class(row->d) == 's';
    if (in->rsize == in->dsize && in->asize == in->msize)
        in->kind = K_LANE;
}

/* Lowers lop3.and.b32 d|p, a, b, c, table, q. The instruction has one source more than the instruction format can hold,
 * so the table is stored as the immediate. */
void lower_lop3(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    opnd_t d = OPND_SINK, p = OPND_SINK, from[3], q;
    uint64_t table;
    unsigned bytes;
    if (!operand_count(l, 6, 6))
        return;
    const struct operand *a = destinations(l, row, o, &d, &p, &bytes);
    for (int i = 0; i < 3; i++, a = a->next)
        from[i] = source(l, a, T_B32);
    if (!immediate(l, a, T_U32, &table))
        return;
    q = source(l, a->next, T_PRED);
    struct inst *in = emit(l, row);
    in->d = d;
    in->d2 = p;
    in->a = from[0];
    in->b = from[1];
    in->c = from[2];
    in->e = q;
    in->imm = (int64_t)table;
    emit_done(l);
}

/* Returns the opcode-table row to use. min and max with three sources have separate rows. */
static const struct isa_row *row_of_operands(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    if ((row->op != OP_MIN && row->op != OP_MAX) || l->st->insn.n_operands != 4 || row->c != T_NONE)
        return row;
    const struct isa_row *three =
        isa_find_row(row->op == OP_MIN ? OP_MIN3 : OP_MAX3, row->types[0], row->types[1], row->form);
    return three ? three : row;
}

/* Returns true for cvt.rs d, {a, b, e, f}, random bits, which converts to four small floating-point numbers. It becomes
 * two instructions that convert a pair each (isa/exec/exec_cvt_pack.c). */
static bool is_random_four(const struct isa_row *row) {
    return row->op == OP_CVT && form_get(row->form, CAT_RND) == RND_RS && row->d != T_F16X2 && row->d != T_BF16X2;
}

static void lower_random_four(struct lower *l) {
    const struct isa_row *row = l->dec->row, *first = isa_find_row(OP_RSPAIR, row->types[0], row->types[1], row->form);
    const struct operand *o = l->st->insn.operands;
    struct operand part[4];
    opnd_t from[4];
    if (!operand_count(l, 3, 3))
        return;
    int n = elements(l, o->next, part, 4);
    if (n != 4) {
        diag_error(l->d, o->next->loc, "'%s' takes a vector of 4 elements, found %d", opcode_text(l), n);
        return;
    }
    for (int i = 0; i < 4; i++)
        from[i] = source(l, &part[i], row->a);
    opnd_t random = source(l, o->next->next, row->c), d = dest(l, o, row->d), half = temp_reg(l, RC_32) << 1;
    for (int i = 0; i < 2; i++) {
        struct inst *in = emit(l, i == 0 ? first : row);
        in->d = i == 0 ? half : d;
        in->a = from[2 * i];
        in->b = from[2 * i + 1];
        in->c = i == 0 ? random : half;
        emit_done(l);
    }
}

void lower_row(struct lower *l) {
    const struct isa_row *row = row_of_operands(l);
    const struct operand *o = l->st->insn.operands;
    enum type types[4];
    int n = source_slots(row, types), has_d = row->d != T_NONE;
    opnd_t d = OPND_SINK, d2 = OPND_SINK, from[4] = {OPND_ZERO, OPND_ZERO, OPND_ZERO, OPND_ZERO};
    unsigned dbytes = type_bytes(row->d), abytes = type_bytes(row->a);
    if (is_random_four(row)) {
        lower_random_four(l);
        return;
    }
    /* shfl, vote and related instructions have a mask operand if and only if the opcode has .sync. */
    int optional = row->optional_sources, masked = row->kind == K_WARP && optional && row->e != T_NONE;
    if (masked && strstr(opcode_text(l), ".sync"))
        optional = 0;
    else if (masked)
        n -= optional, optional = 0;
    if (!operand_count(l, has_d + n - optional, has_d + n))
        return;
    const struct operand *sources = has_d ? o->next : o;
    for (int i = 0; i < 4; i++) {
        if (types[i] == T_NONE || !sources)
            continue;
        if (row->kind == K_CVT)
            from[i] = wide_source(l, sources, types[i], &abytes);
        else if (row->op == OP_ISSPACEP)
            from[i] = generic_address(l, sources);
        else
            from[i] = source(l, sources, types[i]);
        sources = sources->next;
    }
    if (has_d)
        destinations(l, row, o, &d, &d2, &dbytes);
    if (reads_carry(row))
        from[3] = carry_reg(l);
    if (writes_carry(row))
        d2 = carry_reg(l);
    struct inst *in = emit(l, row);
    in->d = d;
    in->d2 = d2;
    in->a = from[0];
    in->b = from[1];
    in->c = from[2];
    in->e = from[3];
    if (row->kind == K_CVT)
        set_conversion(in, row, dbytes, abytes);
    else if (row->op == OP_ISSPACEP)
        in->imm = strstr(opcode_text(l), ".shared::cluster") != NULL;
    emit_done(l);
}
