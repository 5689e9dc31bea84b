/* Lowers alloca, stacksave and stackrestore. A function with alloca gets a new frame at each call, as a recursive
 * function does, so that its return frees the memory. */
#include "lower.h"

enum { DEFAULT_ALIGN = 8 }; /* PTX ISA, alloca; MAX_ALIGN is the largest alignment */

/* Returns the alignment, a constant power of two and at least 8 bytes, or 0 after reporting an error. */
static uint64_t alignment(struct lower *l, const struct operand *o) {
    uint64_t v;
    if (!o)
        return DEFAULT_ALIGN;
    if (o->kind != OPD_INT) {
        bad_operand(l, o, "a constant alignment");
        return 0;
    }
    if (!immediate(l, o, T_U32, &v))
        return 0;
    if (v && v <= MAX_ALIGN && (v & (v - 1)) == 0)
        return v < DEFAULT_ALIGN ? DEFAULT_ALIGN : v;
    diag_error(l->d, o->loc, "the alignment of '%s' must be a power of two up to %d", opcode_text(l), MAX_ALIGN);
    return 0;
}

void lower_stack(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const struct operand *o = l->st->insn.operands;
    enum type t = row->types[0];
    bool allocates = row->op == OP_ALLOCA, saves = row->op == OP_STACKSAVE;
    opnd_t d = OPND_SINK, a = OPND_ZERO;
    uint64_t align = 0;
    if (!operand_count(l, allocates ? 2 : 1, allocates ? 3 : 1))
        return;
    if (allocates && !(align = alignment(l, o->next->next)))
        return;
    if (allocates)
        a = source(l, o->next, t);
    if (allocates || saves)
        d = dest(l, o, t);
    else if (find_reg(l, o)) /* find_reg() reports an error for a constant, which PTX does not allow here */
        a = source(l, o, t);
    l->ir->uses_stack = true;
    l->ir->functions[l->fn].uses_alloca |= allocates;
    struct inst *in = emit(l, row);
    in->d = d;
    in->a = a;
    in->imm = (int64_t)align;
    emit_done(l);
}
