/* Folds instructions whose operands are constants, as ptxas does: the instruction becomes a copy of its result, and a
 * product of constants in a sum becomes a constant. Other constants get a register, where an instruction has no place
 * for them. Requires: blocks. Keeps: results and control flow. */
#include "select.h"
#include <string.h>

enum { MOST_BYTES = 8 };
struct lanes {
    _Alignas(64) unsigned char byte[WARP_LANES * MOST_BYTES];
};

static bool is_copy_of_constant(const struct inst *in) {
    return in->kind == K_LANE && select_row(in)->op == OP_MOV && in->a & 1 && in->guard == NO_GUARD;
}

opnd_t select_constant_operand(const struct select *s, uint32_t i, opnd_t o) {
    const struct reg_use *read = o & 1 ? NULL : defuse_use(&s->du, i, o >> 1);
    if (o & 1)
        return o;
    if (!read || read->n != 1 || read->start)
        return OPND_SINK;
    const uint32_t from = s->du.defs[s->du.use_defs[read->first]].inst;
    return !s->touched[from] && is_copy_of_constant(&s->ir->code[from]) ? s->ir->code[from].a : OPND_SINK;
}

/* Returns true for an instruction that depends on its operands alone, and writes one register of their full width. */
static bool is_function(const struct select *s, uint32_t i) {
    const struct inst *in = &s->ir->code[i];
    const struct isa_row *row = select_row(in);
    if ((in->kind != K_LANE && in->kind != K_CVT) || in->n_list || (in->dsize != 4 && in->dsize != 8) ||
        row->op == OP_MOV || row->op == OP_CVTA || !select_only_result(s, i))
        return false;
    return in->kind == K_LANE || (in->msize == in->asize && in->dsize == in->rsize);
}

static bool fold_result(struct select *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const opnd_t operands[4] = {in->a, in->b, in->c, in->e};
    struct lanes from[4], d, d2;
    if (!is_function(s, i))
        return false;
    for (int k = 0; k < 4; k++) {
        const opnd_t o = select_constant_operand(s, i, operands[k]);
        if (!(o & 1))
            return false;
        memcpy(from[k].byte, ir->constants + (o >> 1), sizeof from[k].byte);
    }
    in->fn.lane(d.byte, d2.byte, from[0].byte, from[1].byte, from[2].byte, from[3].byte);
    const unsigned bytes = in->dsize;
    uint64_t bits = 0;
    memcpy(&bits, d.byte, bytes);
    ir_note(ir, i, "has constant operands");
    select_become(
        s, i, isa_find_row(OP_MOV, bytes == 8 ? T_B64 : T_B32, T_NONE, 0),
        (const opnd_t[]){ir_constant(ir, bytes == 8 ? RC_64 : RC_32, bits, 0), OPND_ZERO, OPND_ZERO, OPND_ZERO});
    return true;
}

/* Makes mad.lo of two constants and a register a sum. */
static bool fold_product(struct select *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    if (in->kind != K_LANE || row->op != OP_MAD || form_get(row->form, CAT_PART) != PART_LO || in->dsize != 4 ||
        in->c & 1 || !select_only_result(s, i))
        return false;
    const opnd_t a = select_constant_operand(s, i, in->a), b = select_constant_operand(s, i, in->b), sum = in->c;
    if (!(a & 1) || !(b & 1))
        return false;
    const uint32_t product = (uint32_t)select_constant(ir, a, 4) * (uint32_t)select_constant(ir, b, 4);
    ir_note(ir, i, "adds a constant product");
    select_become(s, i, isa_find_row(OP_ADD, T_U32, T_NONE, 0),
                  (const opnd_t[]){sum, ir_constant(ir, RC_32, product, 0), OPND_ZERO, OPND_ZERO});
    return true;
}

bool select_constants(struct select *s, uint32_t i) { return fold_result(s, i) || fold_product(s, i); }

/* Returns the immediate factor of a product of 32-bit integers whose addend is in constant memory, or NULL. No
 * instruction has places for both. A product with a power of two is a shift, which has. */
static opnd_t *factor_without_place(const struct ir *ir, struct inst *in) {
    const struct isa_row *row = select_row(in);
    opnd_t *factor = in->a & 1 ? &in->a : &in->b;
    if (in->kind != K_LANE || row->op != OP_MAD || type_class(row->d) == 'f' || type_bytes(row->a) != 4 ||
        !(*factor & 1) || !select_is_parameter(ir, in->c))
        return NULL;
    const uint32_t value = (uint32_t)select_constant(ir, *factor, 4);
    return value && (in->dsize == 8 || value & (value - 1)) ? factor : NULL;
}

/* Returns the register that holds the constant in this function. */
static uint32_t register_of(struct ir *ir, struct edit *e, uint32_t function, opnd_t constant, uint32_t *known) {
    if (!known[constant >> 1]) {
        struct inst in = inst_of_row(isa_find_row(OP_MOV, T_B32, T_NONE, 0));
        known[constant >> 1] = ir_vreg(ir, RC_32, function, NULL, 0);
        ir->vregs[known[constant >> 1]].written = true;
        in.a = constant;
        in.d = known[constant >> 1] << 1;
        edit_before(e, ir->functions[function].begin, &in);
    }
    return known[constant >> 1];
}

bool select_factors(struct ir *ir) {
    struct edit *e = edit_begin(ir);
    const uint32_t n = ir->n;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        uint32_t *known = arena_array(ir->tmp, (size_t)ir->constant_bytes + 1, sizeof *known);
        for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end && i < n; i++) {
            opnd_t *factor = select_may_change(ir, i) ? factor_without_place(ir, edit_inst(e, i)) : NULL;
            if (!factor)
                continue;
            /* register_of() may move the instruction in the host's memory */
            const uint32_t v = register_of(ir, e, f, *factor, known);
            *factor_without_place(ir, edit_inst(e, i)) = v << 1;
            ir_note(ir, i, "needs its factor in a register");
        }
    }
    return edit_end(e);
}
