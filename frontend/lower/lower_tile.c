/* Moves 8 x 8 matrices of 16-bit elements between shared memory and registers. Lane 4 g + t holds elements 2 t and 2 t
 * + 1 of row g in one register (.trans: of column g). Lanes 0 to 7 supply the row addresses of the first matrix, lanes
 * 8 to 15 the row addresses of the second matrix, and so on. The other lanes get addresses by shuffles and access
 * their own elements.
 *   ldmatrix {d...}, [a];    stmatrix [a], {b...};    movmatrix.trans d, a */
#include "lower_matrix.h"
#include <string.h>

static opnd_t word(struct lower *l, uint64_t value) { return ir_constant(l->ir, RC_32, value, 0); }

static opnd_t binary(struct lower *l, enum op_id op, enum type t, opnd_t a, opnd_t b) {
    struct inst *in = emit_op(l, op, t, T_NONE, 0);
    opnd_t d = temp_reg(l, RC_32) << 1;
    in->d = d;
    in->a = a;
    in->b = b;
    emit_done(l);
    return d;
}

/* Emits a shuffle and returns its result, the value of `a` in lane `from`. */
static opnd_t fetch(struct lower *l, opnd_t a, opnd_t from) {
    struct inst *in = matrix_emit(l, isa_find_row(OP_SHFL, T_B32, T_NONE, form_put(CAT_MODE, MODE_IDX)));
    opnd_t d = temp_reg(l, RC_32) << 1;
    in->d = d;
    in->a = a;
    in->b = from;
    in->c = word(l, WARP_LANES - 1);
    emit_done(l);
    return d;
}

static opnd_t fetch_address(struct lower *l, const struct address *a, opnd_t from) {
    if (a->base & 1) /* the address is a constant, which is the same in all lanes */
        return a->base;
    if (a->asize == 4)
        return fetch(l, a->base, from);
    opnd_t part[2];
    struct inst *in = emit_op(l, OP_UNPACK, T_B32, T_B64, 0);
    in->d = part[0] = temp_reg(l, RC_32) << 1;
    in->d2 = part[1] = temp_reg(l, RC_32) << 1;
    in->a = a->base;
    emit_done(l);
    for (int i = 0; i < 2; i++)
        part[i] = fetch(l, part[i], from);
    in = emit_op(l, OP_PACK, T_B64, T_B32, 0);
    opnd_t d = temp_reg(l, RC_64) << 1;
    in->d = d;
    in->a = part[0];
    in->b = part[1];
    emit_done(l);
    return d;
}

/* Returns the address of the lane's elements in matrix `i`. Without `trans`, they are in the row with the lane's quad
 * number. With `trans`, the lane has one element in each of two rows, and `which` (0 or 1) selects the row. */
static struct address row_address(struct lower *l, const struct address *a, unsigned i, bool trans, unsigned which) {
    struct address at = *a;
    opnd_t row = trans ? matrix_multiply_add(l, 4, lane_place(l), word(l, 2), word(l, 8 * i + which)) : lane_quad(l);
    if (!trans && i)
        row = binary(l, OP_ADD, T_U32, row, word(l, 8 * i));
    opnd_t base = fetch_address(l, a, row);
    at.base = matrix_multiply_add(l, a->asize, trans ? lane_quad(l) : lane_place(l), word(l, trans ? 2 : 4), base);
    return at;
}

static void lower_transpose(struct lower *l) {
    const struct operand *o = l->st->insn.operands;
    if (!operand_count(l, 2, 2))
        return;
    opnd_t a = source(l, o->next, T_B32), d = dest(l, o, T_B32), half[2];
    require_all_lanes(l);
    /* Elements 2 t and 2 t + 1 of column g are in rows 2 t and 2 t + 1. In the quad of such a row, the lane with
     * position g / 2 holds the element, in half g % 2 of its register. */
    opnd_t place = binary(l, OP_SHR, T_U32, lane_quad(l), word(l, 1)),
           odd = binary(l, OP_AND, T_B32, lane_quad(l), word(l, 1));
    for (unsigned i = 0; i < 2; i++) {
        opnd_t from = matrix_multiply_add(l, 4, lane_place(l), word(l, 8), place);
        half[i] = fetch(l, a, i ? binary(l, OP_ADD, T_U32, from, word(l, 4)) : from);
    }
    opnd_t select = matrix_multiply_add(l, 4, odd, word(l, 0x2222), word(l, 0x5410));
    struct inst *in = emit_op(l, OP_PRMT, T_B32, T_NONE, 0);
    in->d = d;
    in->a = half[0];
    in->b = half[1];
    in->c = select;
    emit_done(l);
}

static void access_tile(struct lower *l, const struct address *a, unsigned i, bool store, bool trans, opnd_t *reg) {
    opnd_t part[2];
    if (!trans) {
        const struct address at = row_address(l, a, i, false, 0);
        matrix_access(l, store, &at, 4, reg, 1);
        return;
    }
    if (store)
        matrix_unpack(l, part, *reg);
    for (unsigned k = 0; k < 2; k++) {
        const struct address at = row_address(l, a, i, true, k);
        if (!store)
            part[k] = temp_reg(l, RC_16) << 1;
        matrix_access(l, store, &at, 2, &part[k], 1);
    }
    if (!store)
        matrix_pack(l, *reg, part, 2);
}

void lower_tiles(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const bool store = row->op == OP_STMATRIX, trans = form_get(row->form, CAT_OPN) == OPN_TRANS;
    const struct operand *o = l->st->insn.operands;
    struct address a;
    opnd_t regs[8], to[8];
    if (row->op == OP_MOVMATRIX) {
        lower_transpose(l);
        return;
    }
    const int n = 1 << (form_get(row->form, CAT_NUM) - NUM_X1);
    if (!operand_count(l, 2, 2) ||
        !matrix_operand(l, store ? o->next : o, T_B32, n, store ? MATRIX_TERM : MATRIX_RESULT, regs) ||
        !address_of(l, store ? o : o->next, l->dec->space, &a))
        return;
    require_all_lanes(l);
    /* A result may use the address register, which the shuffles for later matrices still read. In this case, the loads
     * write temporary registers, which are moved to the results at the end. */
    for (int i = 0; i < n; i++)
        to[i] = store ? regs[i] : temp_reg(l, RC_32) << 1;
    bool overlaps = false;
    for (int i = 0; i < n && !store; i++)
        overlaps |= regs[i] == a.base;
    for (int i = 0; i < n; i++)
        access_tile(l, &a, (unsigned)i, store, trans, overlaps ? &to[i] : &regs[i]);
    for (int i = 0; i < n && overlaps; i++)
        if (regs[i] != OPND_SINK)
            emit_move(l, regs[i], to[i], RC_32);
}
