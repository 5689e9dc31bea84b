/* The affine stream decoded: operands as registers of the engine, and the rule of each instruction. */
#include "engine_parts.h"
#include "isa/decode.h"
#include <stdlib.h>

static bool new_reg(struct affine_engine *e, uint32_t offset, uint8_t bits) {
    if (e->n_regs == e->cap_regs) {
        uint32_t cap = e->cap_regs ? 2 * e->cap_regs : 64;
        struct affine_reg *more = realloc(e->regs, cap * sizeof *more);
        if (!more)
            return false;
        e->regs = more;
        e->cap_regs = cap;
    }
    struct affine_reg *r = &e->regs[e->n_regs];
    *r = (struct affine_reg){.offset = offset, .bits = bits};
    if (bits)
        r->cells = calloc(e->max_ctas, sizeof *r->cells);
    else if ((r->pred = calloc((size_t)e->max_ctas * e->shape.n_warps, sizeof *r->pred)))
        r->compare = calloc((size_t)e->max_ctas * e->shape.n_warps, sizeof *r->compare);
    e->reg_at[offset / sizeof(lanemask_t)] = (uint16_t)e->n_regs++;
    return bits ? r->cells != NULL : r->compare != NULL;
}

/* The register at this place of bank 0. */
static bool find_reg(struct affine_engine *e, uint32_t offset, unsigned bits, uint16_t *out) {
    uint16_t *at = &e->reg_at[offset / sizeof(lanemask_t)];
    if (*at == NO_REG && !new_reg(e, offset, (uint8_t)bits))
        return false;
    *out = *at;
    return true;
}

static bool add_source(struct affine_engine *e, struct affine_op *op, int place, opnd_t o, unsigned bits) {
    struct affine_source *s = &op->source[place];
    *s = (struct affine_source){.reg = NO_REG, .bits = (uint8_t)bits, .at = o};
    op->n_sources = (uint8_t)(place + 1);
    if (!(o & 1))
        return find_reg(e, o >> 1, bits, &s->reg);
    memcpy(&s->constant.base, e->program->constants + (o >> 1), bits ? bits / 8 : sizeof(lanemask_t));
    return true;
}

static bool add_dest(struct affine_engine *e, struct affine_op *op, opnd_t o, unsigned bits) {
    struct affine_dest *d = &op->dest[op->n_dests];
    if (o == OPND_SINK)
        return true;
    *d = (struct affine_dest){.bits = (uint8_t)bits, .at = o};
    op->n_dests++;
    return find_reg(e, o >> 1, bits, &d->reg);
}

/* Is the result's base what the rule makes of the sources' bases, as its offsets are? */
static bool is_linear(const struct affine_op *op, const struct isa_row *r) {
    switch ((enum affine_rule)op->rule) {
    case RULE_MOV:
        return op->n_dests == 1 && r->op != OP_CVTA; /* which adds a window's place */
    case RULE_ADD:
    case RULE_SUB:
    case RULE_NEG:
    case RULE_MUL:
    case RULE_MAD:
    case RULE_SHL:
    case RULE_WIDEN:
    case RULE_MUL_WIDE:
    case RULE_MAD_WIDE:
    case RULE_SELP:
        return op->n_dests == 1;
    default:
        return false;
    }
}

static bool decode_lanes(struct affine_engine *e, struct affine_op *op, const struct isa_row *r) {
    const struct inst *in = &op->in;
    const uint8_t types[MAX_SOURCES] = {r->a, r->b, r->c, r->e};
    const opnd_t from[MAX_SOURCES] = {in->a, in->b, in->c, in->e};
    bool cvt = in->kind == K_CVT, fine = true;
    for (int i = 0; i < MAX_SOURCES && fine; i++)
        if (types[i] != T_NONE)
            fine = add_source(e, op, i, from[i], 8 * (cvt && i == 0 ? in->asize : type_bytes(types[i])));
    if (r->d != T_NONE && fine)
        fine = add_dest(e, op, in->d, 8 * (cvt ? in->rsize : type_bytes(r->d)));
    if (r->d2 != T_NONE && fine)
        fine = add_dest(e, op, in->d2, 8 * type_bytes(r->d2));
    op->is_signed = type_class(r->a) == 's';
    op->from_bits = (uint8_t)(8 * type_bytes(r->a));
    op->linear = is_linear(op, r);
    unsigned cmp = form_get(r->form, CAT_CMP);
    op->ends = op->rule == RULE_SETP && r->c == T_NONE && cmp != CMP_EQ && cmp != CMP_NE;
    return fine;
}

static bool decode_load(struct affine_engine *e, struct affine_op *op) {
    const struct inst *in = &op->in;
    bool fine = add_source(e, op, 0, in->a, 8u * in->asize);
    for (unsigned i = 0; i < in->n_list && i < MAX_DESTS && fine; i++)
        fine = add_dest(e, op, e->program->lists[in->list + i], 8u * in->rsize);
    return fine && (in->n_list || add_dest(e, op, in->d, 8u * in->rsize));
}

static bool decode(struct affine_engine *e, struct affine_op *op, const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    *op = (struct affine_op){.in = *in, .guard = NO_REG, .guard_not = in->guard_not};
    op->in.guard = NO_GUARD;
    for (int i = 0; i < MAX_SOURCES; i++)
        op->source[i] = (struct affine_source){.reg = NO_REG, .bits = 64, .at = OPND_ZERO};
    op->rule = (uint8_t)affine_rule_of(in);
    if (in->guard != NO_GUARD && !find_reg(e, in->guard, 0, &op->guard))
        return false;
    switch (in->kind) {
    case K_LANE:
    case K_CVT:
        return decode_lanes(e, op, r);
    case K_LOAD:
        return decode_load(e, op);
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
        return add_source(e, op, 0, in->a, 8u * in->asize);
    case K_ENQ_PRED:
        return add_source(e, op, 0, in->a, 0);
    default:
        return true;
    }
}

/* Those that special registers live in: what they hold is known when a batch starts. */
static bool decode_specials(struct affine_engine *e) {
    uint16_t reg;
    for (uint32_t s = 0; s < e->program->n_specials; s++) {
        const struct special_init *i = &e->program->specials[s];
        if (!find_reg(e, i->offset, 8u * i->bytes, &reg))
            return false;
    }
    return true;
}

bool engine_decode(struct affine_engine *e) {
    const struct program *p = e->program;
    const struct program_function *f = &p->functions[p->streams[program_affine_stream(p)].function];
    uint32_t places = p->reg_bytes / (uint32_t)sizeof(lanemask_t) + 1;
    e->begin = f->entry;
    e->end = f->end;
    e->ops = calloc(e->end - e->begin + 1, sizeof *e->ops);
    e->reg_at = malloc(places * sizeof *e->reg_at);
    if (!e->ops || !e->reg_at)
        return false;
    memset(e->reg_at, 0xff, places * sizeof *e->reg_at);
    if (!decode_specials(e))
        return false;
    for (uint32_t pc = e->begin; pc < e->end; pc++)
        if (!decode(e, &e->ops[pc - e->begin], &p->code[pc]))
            return false;
    return true;
}
