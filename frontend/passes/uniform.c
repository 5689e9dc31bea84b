/* Finds instructions for the uniform datapath of the modern core (core.kind=modern): integer instructions of 32 bits
 * whose result is the same in all lanes. The datapath computes them once for the warp, in uniform registers, which need
 * no ports of the register banks. Requires: blocks, `select`. Keeps: all instructions. Makes: vregs[].uniform.
 *
 * The datapath fetches words of constant memory where they are used, in divergent code, too.
 *
 * The machine limits the choice. A uniform instruction reads uniform registers, one immediate, or the index of the CTA.
 * It has no operand in constant memory. Any other instruction can have one operand that is a uniform register, in place
 * of an operand in constant memory; a store cannot store one. Source: ptxas 13 for sm_75 and sm_86 chooses so. */
#include "frontend/analysis/affine.h"
#include "pass.h"
#include "select.h"

enum { MOST_UNIFORM = 63 };

struct uniform {
    struct ir *ir;
    struct affine a;
    uint32_t *writers; /* register -> number of its definitions */
    const char **why;  /* register -> why it is no uniform register; NULL: it is one, or no instruction writes it */
};

static bool is_uniform(const struct uniform *u, opnd_t o) {
    return !(o & 1) && o >> 1 != SINK_VREG && u->ir->vregs[o >> 1].uniform;
}

static bool is_cta_index(const struct ir *ir, uint32_t v) {
    for (uint32_t i = 0; i < ir->n_specials; i++)
        if (ir->specials[i].offset == v)
            return ir->specials[i].id >= SPECIAL_CTAID_X && ir->specials[i].id <= SPECIAL_CTAID_Z;
    return false;
}

/* Returns true if the datapath can copy the special register: the index of the CTA, or a parameter on a machine where
 * no other instruction can read it. */
static bool is_source(const struct ir *ir, opnd_t o) {
    return is_cta_index(ir, o >> 1) || (!select_has_constants(ir) && select_is_parameter(ir, o));
}

/* Returns true if the instruction copies a word of constant memory to a register that nothing else writes. The register
 * has one value, whichever lanes execute the instruction. */
static bool fetches_word(const struct uniform *u, const struct inst *in) {
    return select_row(in)->op == OP_MOV && u->writers[in->d >> 1] == 1 && select_is_parameter(u->ir, in->a);
}

/* Returns true if the uniform datapath has the operation. */
static bool has_operation(const struct isa_row *row) {
    switch (row->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_ADD3:
    case OP_NEG:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_LOP3:
    case OP_SHL:
    case OP_SHR:
    case OP_MOV:
        return !row->form;
    case OP_MUL:
    case OP_MAD:
        return row->form == form_put(CAT_PART, PART_LO);
    default:
        return false;
    }
}

/* The datapath copies parameters of 64 bits, and has no other instruction of this width. */
static bool has_types(const struct isa_row *row) {
    const unsigned bytes = type_bytes(row->d);
    return (bytes == 4 || (bytes == 8 && row->op == OP_MOV)) && type_class(row->d) != 'f' &&
           type_bytes(row->a) == bytes;
}

/* Returns why the uniform datapath cannot execute the instruction; NULL: it can. */
static const char *obstacle(const struct uniform *u, uint32_t i) {
    const struct ir *ir = u->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    const opnd_t read[] = {in->a, in->b, in->c, row->op == OP_LOP3 ? OPND_ZERO : in->e};
    unsigned constants = 0;
    if (in->kind != K_LANE || in->guard != NO_GUARD || in->hints & HINT_DEQ || !has_operation(row) || !has_types(row))
        return "the uniform datapath lacks the operation";
    if (u->a.def_class[u->a.defuse.inst_defs[i]] != CLASS_SCALAR && !fetches_word(u, in))
        return "its value or execution depends on the lane";
    for (int k = 0; k < 4; k++) {
        const bool special = !(read[k] & 1) && ir->vregs[read[k] >> 1].special;
        constants += read[k] & 1 && read[k] != OPND_ZERO;
        if (special ? row->op != OP_MOV || !is_source(ir, read[k])
                    : !(read[k] & 1) && read[k] >> 1 != SINK_VREG && !is_uniform(u, read[k]))
            return "an operand is in no uniform register";
    }
    if (constants > 1 || (row->op == OP_MAD && in->c & 1) || (row->op != OP_MOV && in->a & 1 && row->op != OP_MUL))
        return "an operand cannot be immediate";
    return NULL;
}

/* Returns true if the instruction, which does not run on the uniform datapath, can read uniform register v. */
static bool accepts(const struct uniform *u, uint32_t i, uint32_t v) {
    const struct ir *ir = u->ir;
    const struct inst *in = &ir->code[i];
    const struct isa_row *row = select_row(in);
    const opnd_t read[] = {in->a, in->b, in->c, row->op == OP_LOP3 ? OPND_ZERO : in->e};
    unsigned places = 0;
    for (unsigned k = 0; k < in->n_list; k++)
        if (ir->lists[in->list + k] == v << 1)
            return false;
    if (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM)
        return in->a == v << 1 && in->asize == 4 && in->b != v << 1 && in->c != v << 1 && in->e != v << 1;
    if ((in->kind != K_LANE && in->kind != K_CVT) || in->hints & HINT_DEQ ||
        (select_expansion(ir, in) && !select_is_sum(row, 8)) ||
        ((row->op == OP_SHL || row->op == OP_SHR) && in->a == v << 1))
        return false;
    for (int k = 0; k < 4; k++)
        places += is_uniform(u, read[k]) || select_outside(ir, read[k]);
    return places == 1;
}

static const char *use_needs(const struct uniform *u, const struct reg_def *d) {
    const struct defuse *du = &u->a.defuse;
    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        const struct reg_use *use = &du->uses[du->def_uses[k]];
        const struct inst *in = &u->ir->code[use->inst];
        if (use->start)
            return "it may be read before it is written";
        if (!is_uniform(u, in->d) && !accepts(u, use->inst, d->vreg))
            return "an instruction needs it in a vector register";
    }
    return NULL;
}

/* Begins with all registers that the kernel writes, and drops registers until the rest fit together. */
static void choose(struct uniform *u) {
    struct ir *ir = u->ir;
    const struct defuse *du = &u->a.defuse;
    const uint32_t end = du->inst_defs[ir->functions[0].end];
    for (uint32_t k = 0; k < du->n_defs; k++)
        u->writers[du->defs[k].vreg]++;
    for (uint32_t k = 0; k < end; k++)
        ir->vregs[du->defs[k].vreg].uniform =
            ir->vregs[du->defs[k].vreg].cls == RC_32 || ir->vregs[du->defs[k].vreg].cls == RC_64;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < end; k++) {
            const struct reg_def *d = &du->defs[k];
            if (!ir->vregs[d->vreg].uniform)
                continue;
            const char *why = obstacle(u, d->inst);
            why = why ? why : use_needs(u, d);
            u->why[d->vreg] = why;
            ir->vregs[d->vreg].uniform = !why;
            changed |= why != NULL;
        }
    }
}

static void drop_all(struct uniform *u, const char *why) {
    for (uint32_t v = 1; v < u->ir->n_vregs; v++)
        if (u->ir->vregs[v].uniform) {
            u->ir->vregs[v].uniform = false;
            u->why[v] = why;
        }
}

static void note(const struct uniform *u) {
    for (uint32_t i = 0; i < u->ir->functions[0].end; i++) {
        const uint32_t first = u->a.defuse.inst_defs[i];
        const struct inst *in = &u->ir->code[i];
        if (first == u->a.defuse.inst_defs[i + 1] || in->kind != K_LANE)
            continue;
        const uint32_t v = u->a.defuse.defs[first].vreg;
        if (u->ir->vregs[v].uniform)
            ir_note(u->ir, i, "runs on the uniform datapath");
        else if (u->why[v] && u->a.def_class[first] == CLASS_SCALAR && has_operation(select_row(in)))
            ir_note(u->ir, i, "is the same in all lanes, but %s", u->why[v]);
    }
}

bool has_uniform_datapath(const struct ir *ir) {
    return pass_option(&ir->context, "core.uniform", 0) != 0 && pass_option(&ir->context, "pipe.affine.units", 0) != 0;
}

bool pass_uniform(struct ir *ir) {
    struct uniform u = {.ir = ir, .a = find_uniform(ir->tmp, ir)};
    uint32_t n = 0;
    u.why = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.why);
    u.writers = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *u.writers);
    choose(&u);
    for (uint32_t i = 0; i < ir->functions[0].end; i++)
        n += is_uniform(&u, ir->code[i].d) && !fetches_word(&u, &ir->code[i]);
    if (n > MOST_UNIFORM)
        drop_all(&u, "there are too many uniform registers");
    note(&u);
    return true;
}
