/* Moves matrices between shared memory and registers. Lane 4 g + t holds elements 2 t and 2 t + 1 of row g of an 8 x 8
 * matrix of 16-bit elements in one register (.trans: of column g). Lanes 0 to 7 supply the row addresses of the first
 * matrix, lanes 8 to 15 the row addresses of the second matrix, and so on. The other lanes get addresses by shuffles,
 * and access their own elements. For a modern core, ldmatrix of 16-bit elements is one load (isa/exec/exec_matrix.c).
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
    if (a->base & 1) /* the address is a constant, so it is the same in all lanes */
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

/* ---- matrices of bytes, and of 6 or 4 bits ---- */

/* Returns the number of bits of an element in memory. The 16 elements of a row have no gaps. */
static unsigned bits_of(const struct isa_row *row) {
    return row->types[1] == T_B6X16_P32 ? 6 : row->types[1] == T_B4X16_P64 ? 4 : 8;
}

/* Returns base + b * scale, computed with the width of address `a`. `base` and `b` are registers or constants. */
static opnd_t offset_address(struct lower *l, const struct address *a, opnd_t base, opnd_t b, unsigned scale) {
    return matrix_multiply_add(l, a->asize, b, word(l, scale), base);
}

/* Loads `n` bytes at `at` into a word, at most 4. */
static opnd_t load_bytes(struct lower *l, struct address at, unsigned n) {
    opnd_t part[4] = {OPND_ZERO, OPND_ZERO, OPND_ZERO, OPND_ZERO}, d = temp_reg(l, RC_32) << 1;
    for (unsigned i = 0; i < n; i++, at.imm = wrap_add(at.imm, 1)) {
        part[i] = temp_reg(l, RC_16) << 1;
        matrix_access(l, false, &at, 1, &part[i], 1);
    }
    matrix_pack(l, d, part, 4);
    return d;
}

/* Returns `to` with a new byte `i`: the `bits` bits of `value` from bit `at` on, and zeros above them. */
static opnd_t put_element(struct lower *l, opnd_t to, opnd_t value, unsigned at, unsigned bits, unsigned i) {
    struct inst *in = emit_op(l, OP_BFE, T_U32, T_NONE, 0);
    opnd_t element = in->d = temp_reg(l, RC_32) << 1;
    in->a = value;
    in->b = word(l, at);
    in->c = word(l, bits);
    emit_done(l);
    in = emit_op(l, OP_BFI, T_B32, T_NONE, 0);
    in->a = element;
    in->b = to;
    in->c = word(l, 8 * i);
    in->e = word(l, 8);
    opnd_t d = in->d = temp_reg(l, RC_32) << 1;
    emit_done(l);
    return d;
}

/* ldmatrix.m8n16, matrix i: lane 4 g + t holds the elements 4 t to 4 t + 3 of row g. */
static void load_small(struct lower *l, const struct address *a, unsigned i, unsigned bits, opnd_t reg) {
    struct address at = *a;
    opnd_t row = i ? binary(l, OP_ADD, T_U32, lane_quad(l), word(l, 8 * i)) : lane_quad(l), d = OPND_ZERO;
    at.base = offset_address(l, a, fetch_address(l, a, row), lane_place(l), bits / 2);
    const opnd_t value = load_bytes(l, at, bits / 2);
    for (unsigned e = 0; e < 4; e++)
        d = put_element(l, d, value, e * bits, bits, e);
    emit_move(l, reg, d, RC_32);
}

/* ldmatrix.m16n16.trans, matrix i: the two registers of lane 4 g + t hold columns g and g + 8 of rows 4 t to 4 t + 3.
 * The first bit of column g is in byte g * bits / 8 of the row. */
static void load_transposed(struct lower *l, const struct address *a, unsigned i, unsigned bits, const opnd_t reg[2]) {
    const opnd_t first = matrix_multiply_add(l, 4, lane_quad(l), word(l, bits), OPND_ZERO),
                 byte = binary(l, OP_SHR, T_U32, first, word(l, 3)),
                 shift = binary(l, OP_AND, T_B32, first, word(l, 7));
    opnd_t d[2] = {OPND_ZERO, OPND_ZERO};
    for (unsigned e = 0; e < 4; e++) {
        const opnd_t row = matrix_multiply_add(l, 4, lane_place(l), word(l, 4), word(l, 16 * i + e));
        struct address at = *a;
        at.base = offset_address(l, a, fetch_address(l, a, row), byte, 1);
        for (unsigned h = 0; h < 2; h++, at.imm = wrap_add(at.imm, bits)) {
            opnd_t value = load_bytes(l, at, bits == 6 ? 2 : 1);
            if (bits < 8)
                value = binary(l, OP_SHR, T_U32, value, shift);
            d[h] = put_element(l, d[h], value, 0, bits, e);
        }
    }
    for (unsigned h = 0; h < 2; h++)
        emit_move(l, reg[h], d[h], RC_32);
}

/* stmatrix.m16n8.trans, matrix i: lane 4 g + t holds elements g and g + 8 of rows 2 t and 2 t + 1 in memory. */
static void store_transposed(struct lower *l, const struct address *a, unsigned i, opnd_t reg) {
    for (unsigned h = 0; h < 2; h++) {
        struct inst *in = emit_op(l, OP_UNPACK, T_B8, T_B32, form_put(CAT_PART, h ? PART_HI : PART_LO));
        opnd_t part[2] = {temp_reg(l, RC_16) << 1, temp_reg(l, RC_16) << 1};
        in->d = part[0];
        in->d2 = part[1];
        in->a = reg;
        emit_done(l);
        for (unsigned k = 0; k < 2; k++) {
            const opnd_t row = matrix_multiply_add(l, 4, lane_place(l), word(l, 2), word(l, 8 * i + k));
            struct address at = *a;
            at.base = offset_address(l, a, fetch_address(l, a, row), lane_quad(l), 1);
            at.imm = wrap_add(at.imm, 8 * h);
            matrix_access(l, true, &at, 1, &part[k], 1);
        }
    }
}

/* ---- matrices of all element sizes ---- */

/* Moves matrix i, which has one or two registers. */
static void move_tile(struct lower *l, const struct address *a, unsigned i, opnd_t *reg) {
    const struct isa_row *row = l->dec->row;
    const bool store = row->op == OP_STMATRIX, trans = form_get(row->form, CAT_OPN) == OPN_TRANS;
    switch (form_get(row->form, CAT_MODE2)) {
    case MODE2_M16N8:
        store_transposed(l, a, i, *reg);
        break;
    case MODE2_M8N16:
        load_small(l, a, i, bits_of(row), *reg);
        break;
    case MODE2_M16N16:
        load_transposed(l, a, i, bits_of(row), reg);
        break;
    default:
        access_tile(l, a, i, store, trans, reg);
    }
}

void lower_tiles(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const bool store = row->op == OP_STMATRIX;
    const struct operand *o = l->st->insn.operands;
    struct address a;
    opnd_t regs[8], to[8];
    if (row->op == OP_MOVMATRIX) {
        lower_transpose(l);
        return;
    }
    const int of_matrix = form_get(row->form, CAT_MODE2) == MODE2_M16N16 ? 2 : 1;
    const int n = of_matrix << (form_get(row->form, CAT_NUM) - NUM_X1);
    if (!operand_count(l, 2, 2) ||
        !matrix_operand(l, store ? o->next : o, T_B32, n, store ? MATRIX_TERM : MATRIX_RESULT, regs) ||
        !address_of(l, store ? o : o->next, l->dec->space, &a))
        return;
    if (l->selects && row->kind == K_LOAD && a.space == SPACE_SHARED) {
        matrix_load(l, row, &a, regs, (unsigned)n);
        return;
    }
    require_all_lanes(l);
    /* A result may use the address register, which the shuffles for later matrices still read. In this case, the loads
     * write temporary registers, which are moved to the results at the end. */
    for (int i = 0; i < n; i++)
        to[i] = store ? regs[i] : temp_reg(l, RC_32) << 1;
    bool overlaps = false;
    for (int i = 0; i < n && !store; i++)
        overlaps |= regs[i] == a.base;
    for (int i = 0; i < n; i += of_matrix)
        move_tile(l, &a, (unsigned)(i / of_matrix), overlaps ? &to[i] : &regs[i]);
    for (int i = 0; i < n && overlaps; i++)
        if (regs[i] != OPND_SINK)
            emit_move(l, regs[i], to[i], RC_32);
}
