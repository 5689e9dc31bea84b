/* The instructions and operands that lower_matrix.c and lower_tile.c share. */
#include "isa/machine/warpsync.h"
#include "lower_matrix.h"

opnd_t lane_quad(struct lower *l) { return read_special(l, SPECIAL_QUAD, 4, OPND_SINK); }
opnd_t lane_place(struct lower *l) { return read_special(l, SPECIAL_QUAD_PLACE, 4, OPND_SINK); }

int matrix_operand(struct lower *l, const struct operand *o, enum type t, int n, enum matrix_use use, opnd_t *out) {
    struct operand list[8];
    int written = elements(l, o, list, 8);
    bool vector = o->kind == OPD_VECTOR || written > 1;
    if (!vector || written != n) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %d register%s here, found %d", opcode_text(l), n,
                   n == 1 ? "" : "s", vector ? written : 0);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const struct symbol *s = list[i].kind == OPD_NAME ? names_find(&l->names, list[i].name) : NULL;
        if (use == MATRIX_FACTOR && (!s || (s->kind != SYM_REG && s->kind != SYM_VECTOR) || s->type == T_F32)) {
            bad_operand(l, &list[i], type_bytes(t) == 8 ? "a register of 64 bits" : "a register of type .b32");
            return 0;
        }
        out[i] = use == MATRIX_RESULT ? dest(l, &list[i], t) : source(l, &list[i], t);
    }
    return n;
}

struct inst *matrix_emit(struct lower *l, const struct isa_row *row) {
    struct inst *in = emit(l, row);
    in->e = ir_constant(l->ir, RC_32, LANES_ALL, 0);
    return in;
}

void require_all_lanes(struct lower *l) {
    const struct isa_row *row = isa_find_row(OP_WHOLE, T_NONE, T_NONE, form_put(CAT_SYNC, 1));
    matrix_emit(l, row);
    emit_done(l);
}

opnd_t matrix_multiply_add(struct lower *l, unsigned bytes, opnd_t a, opnd_t b, opnd_t c) {
    struct inst *in = emit_op(l, OP_MAD, T_U32, T_NONE, form_put(CAT_PART, bytes == 8 ? PART_WIDE : PART_LO));
    opnd_t d = temp_reg(l, class_of_bytes(bytes)) << 1;
    in->d = d;
    in->dsize = (uint8_t)bytes;
    in->a = a;
    in->b = b;
    in->c = c;
    emit_done(l);
    return d;
}

/* Sets the registers of the n words that a load writes or a store reads: *one, its d or b, or else a list. */
static void set_values(struct ir *ir, struct inst *in, opnd_t *one, const opnd_t *regs, unsigned n) {
    if (n == 1)
        *one = regs[0];
    for (unsigned i = 0; i < n && n > 1; i++) {
        if (i == 0)
            in->list = ir->n_lists;
        ir_list_add(ir, regs[i]);
    }
    in->n_list = (uint8_t)(n > 1 ? n : 0);
}

void matrix_access(struct lower *l, bool store, const struct address *a, unsigned bytes, opnd_t *regs, unsigned n) {
    struct ir *ir = l->ir;
    struct inst *in = emit_op(l, store ? OP_ST : OP_LD,
                              bytes == 8   ? T_B64
                              : bytes == 4 ? T_B32
                              : bytes == 2 ? T_B16
                                           : T_B8,
                              T_NONE, 0);
    in->msize = (uint8_t)bytes;
    in->rsize = (uint8_t)(bytes == 1 ? 2 : bytes);
    in->dsize = store ? 0 : in->rsize;
    in->d2size = 0;
    set_address(l, in, a);
    in->hints = 0;
    set_values(ir, in, store ? &in->b : &in->d, regs, n);
    emit_done(l);
}

void matrix_load(struct lower *l, const struct isa_row *row, const struct address *a, const opnd_t *regs, unsigned n) {
    struct inst *in = matrix_emit(l, row);
    in->rsize = in->dsize = 4;
    in->msize = row->op == OP_FRAGMENT ? 8 : 4;
    in->hints = warp_sync_hints(in);
    set_address(l, in, a);
    set_values(l->ir, in, &in->d, regs, n);
    emit_done(l);
}

void matrix_pack(struct lower *l, opnd_t d, const opnd_t *part, unsigned n) {
    struct inst *in = emit_op(l, OP_PACK, T_B32, n == 2 ? T_B16 : T_B8, 0);
    in->d = d;
    in->a = part[0];
    in->b = part[1];
    in->c = n == 4 ? part[2] : OPND_ZERO;
    in->e = n == 4 ? part[3] : OPND_ZERO;
    emit_done(l);
}

void matrix_unpack(struct lower *l, opnd_t part[2], opnd_t a) {
    struct inst *in = emit_op(l, OP_UNPACK, T_B16, T_B32, 0);
    part[0] = temp_reg(l, RC_16) << 1;
    part[1] = temp_reg(l, RC_16) << 1;
    in->d = part[0];
    in->d2 = part[1];
    in->a = a;
    emit_done(l);
}
