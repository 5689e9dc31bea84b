/* Computes addresses of constant, shared and local memory in 32 bits, as the machine does: these memories are small.
 * Requires: blocks, a register for each value (select_webs.c). Keeps: results and control flow.
 *
 * A register of 64 bits becomes one of 32 bits if every definition needs only the lower halves of its operands, and
 * every use is an address or an operand of such a definition. Sums, products, shifts, extensions and copies are such
 * definitions. Source: ptxas 13 for sm_75 to sm_120. */
#include "frontend/frontend.h"
#include "select.h"

struct narrow {
    struct ir *ir;
    struct defuse du;
    unsigned char *chosen; /* register -> true if it needs its lower half alone */
    uint32_t *to;          /* register -> its register of 32 bits; 0: none yet */
};

static bool is_chosen(const struct narrow *s, opnd_t o) { return !(o & 1) && o >> 1 != SINK_VREG && s->chosen[o >> 1]; }

/* Returns the row that computes the lower half of an instruction's result, or NULL. */
static const struct isa_row *lower_half(const struct inst *in) {
    const struct isa_row *row = select_row(in);
    const unsigned part = form_get(row->form, CAT_PART);
    if (in->kind != K_LANE || in->hints & HINT_DEQ || type_bytes(row->d) != 8 || type_class(row->d) == 'f')
        return NULL;
    switch (row->op) {
    case OP_MOV:
        return isa_find_row(OP_MOV, T_B32, T_NONE, 0);
    case OP_CVT:
        return type_bytes(row->a) == 4 && type_class(row->a) != 'f' && !row->form
                   ? isa_find_row(OP_MOV, T_B32, T_NONE, 0)
                   : NULL;
    case OP_ADD:
    case OP_SUB:
        return row->form ? NULL : isa_find_row(row->op, T_U32, T_NONE, 0);
    case OP_SHL:
        return isa_find_row(OP_SHL, T_B32, T_NONE, 0);
    case OP_MUL:
    case OP_MAD:
        return part == PART_WIDE || part == PART_LO ? isa_find_row(row->op, T_U32, T_NONE, form_put(CAT_PART, PART_LO))
                                                    : NULL;
    default:
        return NULL;
    }
}

/* Returns true if the operand has a lower half in a register or constant of its own: a constant, a chosen register, or
 * a register of 32 bits. */
static bool has_half(const struct narrow *s, opnd_t o) {
    return o & 1 || o == OPND_SINK || is_chosen(s, o) || s->ir->vregs[o >> 1].cls == RC_32;
}

/* Returns true if the instruction defines a register whose lower half a shorter instruction computes. */
static bool defines(const struct narrow *s, const struct inst *in) {
    const bool shift = select_row(in)->op == OP_SHL;
    return lower_half(in) && has_half(s, in->a) && has_half(s, in->c) &&
           (shift ? in->b & 1 && (uint64_t)select_constant(s->ir, in->b, 4) < 32 : has_half(s, in->b));
}

/* Returns true if the instruction reads the register as an address in a small memory, and in no other place. */
static bool is_address(const struct narrow *s, const struct inst *in, uint32_t v) {
    if ((in->kind != K_LOAD && in->kind != K_STORE && in->kind != K_ATOM) || in->hints & HINT_DEQ || in->asize != 8 ||
        (in->space != SPACE_CONST && in->space != SPACE_SHARED && in->space != SPACE_LOCAL) || in->a != v << 1 ||
        in->b == in->a || in->c == in->a || in->e == in->a)
        return false;
    for (unsigned k = 0; k < in->n_list; k++)
        if (s->ir->lists[in->list + k] == in->a)
            return false;
    return true;
}

/* Drops registers until the rest fit together. */
static void choose(struct narrow *s) {
    const struct ir *ir = s->ir;
    for (uint32_t k = 0; k < s->du.n_defs; k++)
        s->chosen[s->du.defs[k].vreg] = ir->vregs[s->du.defs[k].vreg].cls == RC_64;
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        s->chosen[v] &= !ir->vregs[v].special;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < s->du.n_defs; k++) {
            const struct reg_def *d = &s->du.defs[k];
            const bool stays = s->chosen[d->vreg] && select_may_change(ir, d->inst) && defines(s, &ir->code[d->inst]);
            changed |= s->chosen[d->vreg] && !stays;
            s->chosen[d->vreg] = stays;
        }
        for (uint32_t k = 0; k < s->du.n_uses; k++) {
            const struct reg_use *use = &s->du.uses[k];
            const struct inst *in = &ir->code[use->inst];
            if (s->chosen[use->vreg] && !is_address(s, in, use->vreg) && !(is_chosen(s, in->d) && lower_half(in))) {
                s->chosen[use->vreg] = false;
                changed = true;
            }
        }
    }
}

/* Returns true if some chosen register is an address. Without one, a chain of registers that nothing reads is left. */
static bool any_address(const struct narrow *s) {
    for (uint32_t k = 0; k < s->du.n_uses; k++)
        if (s->chosen[s->du.uses[k].vreg] && is_address(s, &s->ir->code[s->du.uses[k].inst], s->du.uses[k].vreg))
            return true;
    return false;
}

static opnd_t half_of(struct narrow *s, opnd_t o) {
    struct ir *ir = s->ir;
    if (o & 1 && o != OPND_ZERO)
        return ir_constant(ir, RC_32, (uint32_t)select_constant(ir, o, 4), 0);
    if (!is_chosen(s, o))
        return o;
    if (!s->to[o >> 1]) {
        const struct vreg old = ir->vregs[o >> 1];
        s->to[o >> 1] = ir_vreg(ir, RC_32, old.function, old.name, old.name_len);
        ir->vregs[s->to[o >> 1]].written = old.written;
    }
    return s->to[o >> 1] << 1;
}

static void change(struct narrow *s, struct edit *e, uint32_t i) {
    const struct isa_row *row = lower_half(&s->ir->code[i]);
    const struct inst in = *edit_inst(e, i);
    const bool address = in.kind == K_LOAD || in.kind == K_STORE || in.kind == K_ATOM;
    if (address ? in.a & 1 || !is_chosen(s, in.a) : !is_chosen(s, in.d))
        return;
    struct inst to = in;
    to.a = half_of(s, in.a);
    if (address) {
        to.asize = 4;
    } else {
        to.b = half_of(s, in.b);
        to.c = half_of(s, in.c);
        to.d = half_of(s, in.d);
        inst_set_row(&to, row);
        ir_note(s->ir, i, "computes an address in 32 bits");
    }
    *edit_inst(e, i) = to;
}

/* Returns true if all addresses of .const variables have 32 bits. */
static bool constants_are_low(const struct ir *ir) {
    for (uint32_t i = 0; i < ir->image->n_variables; i++) {
        const struct image_variable *v = &ir->image->variables[i];
        if (v->space == SPACE_CONST && v->address + v->bytes > UINT32_MAX)
            return false;
    }
    return true;
}

bool select_narrow(struct ir *ir) {
    if (!constants_are_low(ir))
        return true;
    struct narrow s = {.ir = ir, .du = find_defuse(ir->tmp, ir)};
    const uint32_t n = ir->n;
    s.chosen = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    s.to = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.to);
    choose(&s);
    if (!any_address(&s))
        return true;
    struct edit *e = edit_begin(ir);
    for (uint32_t i = 0; i < n; i++)
        change(&s, e, i);
    return edit_end(e);
}
