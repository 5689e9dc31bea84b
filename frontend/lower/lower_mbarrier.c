/* Lowers mbarrier operations on an object in shared memory:
 *   init [a], count;    inval [a];    expect_tx [a], n;    complete_tx [a], n
 *   arrive state, [a]{, count};    arrive.noComplete state, [a], count;    arrive.expect_tx state, [a], n
 *   test_wait p, [a], state;    test_wait.parity p, [a], parity;    try_wait: as test_wait{, suspend time}
 * arrive_drop has the operands of arrive. pending_count is an ordinary operation. */
#include "lower.h"

/* The operands of an mbarrier operation other than its address. */
struct shape {
    enum type d, b; /* T_NONE: absent */
    int min, max;   /* number of operands */
};

static struct shape shape_of(const struct isa_row *row) {
    bool parity = form_get(row->form, CAT_MODE2) == MODE2_PARITY;
    switch (form_get(row->form, CAT_MODE)) {
    case MODE_INVAL:
        return (struct shape){T_NONE, T_NONE, 1, 1};
    case MODE_ARRIVE:
    case MODE_ARRIVE_DROP:
        return (struct shape){T_B64, T_U32, form_get(row->form, CAT_MODE2) ? 3 : 2, 3};
    case MODE_TEST_WAIT:
        return (struct shape){T_PRED, parity ? T_U32 : T_B64, 3, 3};
    case MODE_TRY_WAIT:
        return (struct shape){T_PRED, parity ? T_U32 : T_B64, 3, 4};
    default:
        return (struct shape){T_NONE, T_U32, 2, 2};
    }
}

void lower_mbarrier(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    struct shape shape = shape_of(row);
    struct address a;
    opnd_t d = OPND_SINK, b = OPND_ZERO;
    if (!operand_count(l, shape.min, shape.max))
        return;
    if (l->dec->space != SPACE_GENERIC && l->dec->space != SPACE_SHARED) {
        diag_error(l->d, l->st->insn.opcode_loc, "'%s': an mbarrier must be in .shared memory", opcode_text(l));
        return;
    }
    if (shape.d != T_NONE) {
        d = dest(l, o, shape.d);
        o = o->next;
    }
    if (!address_of(l, o, l->dec->space, &a))
        return;
    if (o->next)
        b = source(l, o->next, shape.b);
    else if (shape.b != T_NONE)
        b = ir_constant(l->ir, RC_32, 1, 0); /* arrive: one arrival */
    if (o->next && o->next->next)
        source(l, o->next->next, T_U32); /* checked, but without effect */
    struct inst *in = emit(l, row);
    in->d = d;
    in->dsize = (uint8_t)type_bytes(shape.d);
    in->d2size = 0;
    in->b = b;
    in->msize = in->rsize = 8;
    set_address(l, in, &a);
    emit_done(l);
}
