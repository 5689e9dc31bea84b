/* Lowers wgmma. mma_async has these operands; operands in braces exist only in some forms:
 *   {d}, {a} or descriptor of a, descriptor of b, {metadata, selector,} scale-d
 *   {, scale-a, scale-b {, trans-a, trans-b}}
 * The product is added to d. trans-b exists only for matrices of f16 and bf16, and trans-a only if a is also in shared
 * memory. commit_group and fence have no operands; the operand of wait_group is a number of groups. */
#include "isa/group_matrix.h"
#include "lower.h"
#include <stdio.h>
#include <string.h>

/* Reads the shape from the opcode, and checks it for the types. */
static bool shape_of(struct lower *l, struct group_form *f) {
    const unsigned type = l->dec->row->types[1], want = group_k(type) * (f->sparse ? 2 : 1);
    const bool integers = l->dec->row->types[0] == T_S32;
    unsigned n = 0, k = 0;
    const char *at = strstr(opcode_text(l), ".m64n");
    char why[96];
    if (!at || sscanf(at, ".m64n%3uk%3u", &n, &k) != 2)
        return refuse_opcode(l, "a shape is missing, such as .m64n128k16");
    if (k != want) {
        snprintf(why, sizeof why, "matrices %s%s have the shape .m64n%uk%u", f->sparse ? ".sp of " : "of ",
                 type_name(type), n, want);
        return refuse_opcode(l, why);
    }
    if (integers && n % 16 && n != 8 && n != 24)
        return refuse_opcode(l, "with integers, N is 8, 24 or a multiple of 16");
    f->n = (uint16_t)n;
    f->k = (uint16_t)k;
    return true;
}

/* Adds an operand of `n` registers of type `t` to the list of the instruction. */
static bool add_vector(struct lower *l, const struct operand *o, enum type t, unsigned n, bool written) {
    struct operand list[GROUP_MOST_N / 2];
    struct ir *ir = l->ir;
    const unsigned found = (unsigned)elements(l, o, list, GROUP_MOST_N / 2);
    if ((o->kind != OPD_VECTOR && found < 2) || found != n) {
        diag_error(l->d, o->loc, "'%s' takes a vector of %u registers here, found %u", opcode_text(l), n,
                   o->kind == OPD_VECTOR || found > 1 ? found : 0);
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct symbol *s = find_reg(l, &list[i]);
        if (!s)
            return false;
        if (!written && s->type == T_F32) {
            bad_operand(l, &list[i], "a register of type .b32");
            return false;
        }
        const opnd_t reg = written ? dest(l, &list[i], t) : source(l, &list[i], t);
        ir_list_add(ir, reg);
    }
    return true;
}

/* Reads a constant that is `low` or `high`. */
static bool constant_of(struct lower *l, const struct operand *o, const char *what, int64_t low, int64_t high,
                        bool *is_low) {
    const int64_t v = (int64_t)o->integer;
    if (o->kind == OPD_INT && (v == low || v == high)) {
        *is_low = v == low;
        return true;
    }
    char expected[64];
    if (low == high)
        snprintf(expected, sizeof expected, "%s, the constant %lld", what, (long long)low);
    else
        snprintf(expected, sizeof expected, "%s, the constant %lld or %lld", what, (long long)low, (long long)high);
    bad_operand(l, o, expected);
    return false;
}

/* Reads the constants that follow scale-d. */
static bool read_constants(struct lower *l, const struct operand *o, struct group_form *f) {
    const unsigned bits = group_bits(l->dec->row->types[1]);
    bool keeps_a = true, keeps_b = true;
    if (!o)
        return true;
    if (!constant_of(l, o, "scale-a", -1, 1, &f->negate_a) || !constant_of(l, o->next, "scale-b", -1, 1, &f->negate_b))
        return false;
    o = o->next->next;
    if (bits != 16)
        return true;
    if (!f->registers) {
        if (!constant_of(l, o, "trans-a", 0, 1, &keeps_a))
            return false;
        o = o->next;
    }
    if (!constant_of(l, o, "trans-b", 0, 1, &keeps_b))
        return false;
    f->across_a = !keeps_a;
    f->across_b = !keeps_b;
    return true;
}

static bool read_selector(struct lower *l, const struct operand *o, struct group_form *f) {
    const bool all_lanes = group_bits(l->dec->row->types[1]) == 8;
    bool first;
    if (!constant_of(l, o, "a selector of metadata", 0, all_lanes ? 0 : 1, &first))
        return false;
    f->selector = !first;
    return true;
}

static enum type register_type(unsigned type) { return type == T_F32 ? T_F32 : T_B32; }

static void lower_product(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    const bool floats = row->types[0] != T_S32, halves = group_bits(row->types[1]) == 16;
    struct group_form f = {.sparse = has_word(l, "sp")};
    const struct operand *d = l->st->insn.operands, *a = d ? d->next : NULL;
    if (!shape_of(l, &f))
        return;
    if (row->types[1] == T_B1 && (f.sparse || !has_word(l, "popc"))) {
        refuse_opcode(l, f.sparse ? "matrices of bits cannot be sparse" : ".and.popc is incomplete");
        return;
    }
    f.registers = a && a->kind == OPD_VECTOR;
    const int n = 4 + 2 * f.sparse + 2 * floats + halves * (f.registers ? 1 : 2);
    if (!operand_count(l, n, n))
        return;
    const struct operand *b = a->next, *o = b->next, *meta = f.sparse ? o : NULL;
    const unsigned regs = group_registers(f.n, row->types[0]);
    if (meta) {
        if (!read_selector(l, o->next, &f))
            return;
        o = o->next->next;
    }
    if (!read_constants(l, o->next, &f))
        return;
    const opnd_t from_a = f.registers ? OPND_ZERO : source(l, a, T_B64), from_b = source(l, b, T_B64);
    const opnd_t scale = o->kind != OPD_INT ? source(l, o, T_PRED)
                         : o->integer       ? ir_constant(l->ir, RC_PRED, 1, 0)
                                            : OPND_ZERO;
    const opnd_t metadata = meta ? source(l, meta, T_B32) : OPND_ZERO;
    const uint32_t list = l->ir->n_lists;
    if (!add_vector(l, d, register_type(row->types[0]), regs, true) ||
        (f.registers && !add_vector(l, a, T_B32, GROUP_A_REGISTERS, false)))
        return;
    if (meta) {
        l->ir->lists = IR_ROOM(l->ir, l->ir->lists, l->ir->n_lists, l->ir->cap_lists);
        l->ir->lists[l->ir->n_lists++] = metadata;
    }
    struct inst *in = emit(l, row);
    in->a = from_a;
    in->b = from_b;
    in->c = scale;
    in->e = ir_constant(l->ir, RC_32, LANES_ALL, 0);
    in->list = list;
    in->n_list = (uint8_t)(l->ir->n_lists - list);
    in->msize = (uint8_t)regs;
    in->rsize = 4;
    in->imm = group_pack(f);
    emit_done(l);
}

/* Lowers fence, commit_group and wait_group. */
static void lower_order(struct lower *l) {
    const bool waits = form_get(l->dec->row->form, CAT_MODE2) == MODE2_WAIT_GROUP;
    const struct operand *o = l->st->insn.operands;
    if (form_get(l->dec->row->form, CAT_MODE2) == MODE2_NONE && !has_word(l, "fence")) {
        refuse_opcode(l, "an operation is missing, such as .mma_async");
        return;
    }
    if (!operand_count(l, waits, waits))
        return;
    if (waits && (o->kind != OPD_INT || (int64_t)o->integer < 0 || o->integer > INT32_MAX)) {
        bad_operand(l, o, "a number of groups, a constant from 0 on");
        return;
    }
    struct inst *in = emit(l, l->dec->row);
    in->e = ir_constant(l->ir, RC_32, LANES_ALL, 0);
    in->imm = waits ? (int64_t)o->integer : 0;
    if (waits) { /* a barrier of some threads of the CTA */
        in->rsize = 4;
        l->ir->warp_groups = true;
    }
    emit_done(l);
}

void lower_wgmma(struct lower *l) {
    if (!(l->dec->hints & HINT_ALIGNED)) {
        refuse_opcode(l, "it is incomplete; add .aligned after .sync");
        return;
    }
    if (form_get(l->dec->row->form, CAT_MODE2) == MODE2_MMA_ASYNC)
        lower_product(l);
    else
        lower_order(l);
}
