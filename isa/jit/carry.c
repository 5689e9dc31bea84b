/* Compiles add.cc, addc, sub.cc, subc, mad.cc and madc, which compute with integers of several words. The carry is a
 * predicate. All rules need AVX-512, whose masks hold carries. */
#include "jit_rule.h"

#define K_OR16 VECTOR(1, 0, 0, 0x45) /* korw */
/* Masks: lanes with a carry in; lanes whose sum passes this carry on. Mask 1 + i holds the carries out of line i. */
enum { CARRY_IN = 5, PASSES_ON = 7 };
enum { HOW_EQUAL = 0, HOW_BELOW = 1, HOW_NOT_BELOW = 5 };

/* Returns a register with line i of the first addend: operand a, or a product in scratch register 1. */
static unsigned first_addend(struct compiler *c, const struct inst *in, const struct isa_row *row, unsigned i) {
    const unsigned part = form_get(row->form, CAT_PART), a = line_get(c, in->a, i, false);
    if (part == PART_NONE)
        return a;
    const unsigned b = line_get(c, in->b, i, false);
    if (part == PART_HI)
        bits_high_words(&c->e, row->types[0] == T_S32 ? V_WIDE_S32 : V_WIDE_U32, a, b);
    else
        lanes_op(&c->e, in->dsize == 8 ? V_MUL64 : V_MUL32, 1, a, b);
    return 1;
}

/* Emits s = x + y + carry, and sets mask 1 + i to the carries out: s is below x, or equal to it with a carry in. */
static void add_lines(struct compiler *c, const struct inst *in, const struct isa_row *row, unsigned i, unsigned s,
                      unsigned x, unsigned y) {
    struct emit *e = &c->e;
    const bool wide = in->dsize == 8, reads = row->e == T_PRED;
    const uint32_t compare = wide ? V_CMP_U64 : V_CMP_U32;
    const struct lanes where = {CARRY_IN, false};
    emit_vector(e, wide ? V_ADD64 : V_ADD32, s, x, y, WHOLE);
    if (reads) { /* subtracts -1 */
        lanes_of_predicate(e, CARRY_IN, in->e, i, in->dsize);
        emit_vector_mem(e, wide ? V_SUB64 : V_SUB32, s, s, table_at(offsetof(struct jit_tables, ones)), where);
    }
    lanes_compare(e, compare, 1 + i, s, x, HOW_BELOW);
    if (reads) {
        emit_vector(e, compare, PASSES_ON, s, x, where);
        emit_byte(e, HOW_EQUAL);
        emit_mask(e, K_OR16, true, 1 + i, 1 + i, PASSES_ON);
    }
}

/* sub.cc: the carry is 1 if b is not above a. subc adds ~b. */
static void subtract_lines(struct compiler *c, const struct inst *in, const struct isa_row *row, unsigned i, unsigned s,
                           unsigned a, unsigned b) {
    const bool wide = in->dsize == 8;
    if (row->op == OP_SUBC) {
        lanes_not(&c->e, 2, b);
        add_lines(c, in, row, i, s, a, 2);
        return;
    }
    emit_vector(&c->e, wide ? V_SUB64 : V_SUB32, s, a, b, WHOLE);
    lanes_compare(&c->e, wide ? V_CMP_U64 : V_CMP_U32, 1 + i, a, b, HOW_NOT_BELOW);
}

/* Computes all lines before it writes one, since a source may be the destination. Writes the carry last, since it may
 * be the guard. */
void carry_sum(struct compiler *c, const struct inst *in, const struct rule *r) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const unsigned lines = lines_of(c, in->dsize);
    unsigned sum[MAX_LINES];
    (void)r;
    for (unsigned i = 0, sums = 0; i < lines; i++, c->pinned = sums) {
        const unsigned x = first_addend(c, in, row, i);
        const unsigned y = line_get(c, form_get(row->form, CAT_PART) == PART_NONE ? in->b : in->c, i, false);
        sums |= 1u << (sum[i] = line_temporary(c, i));
        if (row->op == OP_SUB || row->op == OP_SUBC)
            subtract_lines(c, in, row, i, sum[i], x, y);
        else
            add_lines(c, in, row, i, sum[i], x, y);
    }
    if (row->d2 == T_PRED)
        lanes_join_masks(&c->e, lines);
    for (unsigned i = 0; i < lines; i++) {
        const unsigned d = destination(c, in, i, false);
        emit_vector(&c->e, V_COPY64, d, 0, sum[i], WHOLE);
        merge_guarded(c, in, i, d, false);
    }
    if (row->d2 == T_PRED && in->d2 != OPND_SINK)
        put_predicate(c, in, in->d2, RAX);
    lines_unpin(c);
}
