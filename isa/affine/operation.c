/* Decodes the affine stream: operands become registers of the engine, and each instruction gets its rule (rule.h),
 * which says how the engine computes the result. */
#include "engine_parts.h"
#include "isa/decode.h"
#include <stdlib.h>

/* Returns the number of offsets at which a register may begin in bank 0, the memory of a warp's registers. */
static size_t places_of(const struct program *p) { return p->reg_bytes / sizeof(rowmask_t) + 1; }

/* State of decoding. */
struct decoder {
    const struct program *program;
    struct affine_stream *to; /* the stream that is filled; if to->regs is NULL, registers are only counted */
};

/* Returns the number of the register at an offset of bank 0. Adds the register if it is new. */
static uint16_t find_reg(struct decoder *e, uint32_t offset, unsigned bits) {
    struct affine_stream *s = e->to;
    uint16_t *at = &s->reg_at[offset / sizeof(rowmask_t)];
    if (*at == NO_REG) {
        if (s->regs)
            s->regs[s->n_regs] = (struct affine_place){.offset = offset, .bits = (uint8_t)bits};
        *at = (uint16_t)s->n_regs++;
    }
    return *at;
}

static void add_source(struct decoder *e, struct affine_op *op, int place, opnd_t o, unsigned bits) {
    struct affine_source *s = &op->source[place];
    *s = (struct affine_source){.reg = NO_REG, .bits = (uint8_t)bits, .at = o};
    op->n_sources = (uint8_t)(place + 1);
    if (!(o & 1))
        s->reg = find_reg(e, o >> 1, bits);
    else
        memcpy(&s->constant.base, e->program->constants + (o >> 1), bits ? bits / 8 : sizeof(rowmask_t));
}

static void add_dest(struct decoder *e, struct affine_op *op, opnd_t o, unsigned bits) {
    if (o != OPND_SINK)
        op->dest[op->n_dests++] =
            (struct affine_dest){.bits = (uint8_t)bits, .at = o, .reg = find_reg(e, o >> 1, bits)};
}

/* Returns true if the rule uses one formula for bases and offsets: then the formula, applied to the sources' bases,
 * gives the result's base. */
static bool is_linear(const struct affine_op *op, const struct isa_row *r) {
    switch ((enum affine_rule)op->rule) {
    case RULE_MOV:
        /* The rule of cvta is not such a formula: cvta adds the base address of the memory window to the base alone. */
        return op->n_dests == 1 && r->op != OP_CVTA;
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

static void decode_lanes(struct decoder *e, struct affine_op *op, const struct isa_row *r) {
    const struct inst *in = &op->in;
    const uint8_t types[MAX_SOURCES] = {r->a, r->b, r->c, r->e};
    const opnd_t from[MAX_SOURCES] = {in->a, in->b, in->c, in->e};
    bool cvt = in->kind == K_CVT;
    for (int i = 0; i < MAX_SOURCES; i++)
        if (types[i] != T_NONE)
            add_source(e, op, i, from[i], 8 * (cvt && i == 0 ? in->asize : type_bytes(types[i])));
    if (r->d != T_NONE)
        add_dest(e, op, in->d, 8 * (cvt ? in->rsize : type_bytes(r->d)));
    if (r->d2 != T_NONE)
        add_dest(e, op, in->d2, 8 * type_bytes(r->d2));
    op->is_signed = type_class(r->a) == 's';
    op->from_bits = (uint8_t)(8 * type_bytes(r->a));
    op->linear = is_linear(op, r);
    unsigned cmp = form_get(r->form, CAT_CMP);
    if (op->rule == RULE_SETP && in->d != OPND_SINK)
        op->relation = (uint8_t)cmp;
    op->combined = op->relation && r->c != T_NONE;
}

static void decode_load(struct decoder *e, struct affine_op *op) {
    const struct inst *in = &op->in;
    add_source(e, op, 0, in->a, 8u * in->asize);
    for (unsigned i = 0; i < in->n_list && i < MAX_DESTS; i++)
        add_dest(e, op, e->program->lists[in->list + i], 8u * in->rsize);
    if (!in->n_list)
        add_dest(e, op, in->d, 8u * in->rsize);
}

static void decode(struct decoder *e, struct affine_op *op, const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    *op = (struct affine_op){.in = *in, .guard = NO_REG, .guard_not = in->guard_not};
    op->in.guard = NO_GUARD;
    for (int i = 0; i < MAX_SOURCES; i++)
        op->source[i] = (struct affine_source){.reg = NO_REG, .bits = 64, .at = OPND_ZERO};
    op->rule = (uint8_t)affine_rule_of(in);
    if (in->guard != NO_GUARD)
        op->guard = find_reg(e, in->guard, 0);
    op->plain = (in->kind == K_LANE || in->kind == K_CVT || in->kind == K_LOAD) && op->guard == NO_REG &&
                !(in->hints & HINT_APART);
    switch (in->kind) {
    case K_LANE:
    case K_CVT:
        decode_lanes(e, op, r);
        break;
    case K_LOAD:
        decode_load(e, op);
        break;
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
        add_source(e, op, 0, in->a, 8u * in->asize);
        break;
    case K_ENQ_PRED:
        add_source(e, op, 0, in->a, 0);
        break;
    default:
        break;
    }
}

/* Decodes all instructions. Special registers get the first register numbers, because their values are set when a batch
 * starts. */
static void decode_stream(const struct program *p, struct affine_stream *s) {
    struct decoder d = {.program = p, .to = s};
    memset(s->reg_at, 0xff, places_of(p) * sizeof *s->reg_at);
    s->n_regs = 0;
    for (uint32_t i = 0; i < p->n_specials; i++)
        find_reg(&d, p->specials[i].offset, 8u * p->specials[i].bytes);
    for (uint32_t pc = s->begin; pc < s->end; pc++)
        decode(&d, &s->ops[pc - s->begin], &p->code[pc]);
}

bool affine_stream_init(struct affine_stream *s, const struct program *p, affine_alloc *alloc, void *ctx) {
    const struct program_function *f = &p->functions[p->streams[program_affine_stream(p)].function];
    *s = (struct affine_stream){.begin = f->entry, .end = f->end};
    const size_t n = s->end - s->begin + 1;
    s->ops = alloc(ctx, n * sizeof *s->ops);
    s->reg_at = alloc(ctx, places_of(p) * sizeof *s->reg_at);
    if (!s->ops || !s->reg_at)
        return false;
    decode_stream(p, s); /* counts the registers */
    s->regs = alloc(ctx, (s->n_regs + 1) * sizeof *s->regs);
    s->reg_words = (s->n_regs + 63) / 64;
    s->live_regs = alloc(ctx, (n * s->reg_words + 1) * sizeof *s->live_regs);
    if (!s->regs || !s->live_regs)
        return false;
    decode_stream(p, s);
    return affine_find_liveness(s);
}

struct affine_stream *affine_stream_new(const struct program *p, affine_alloc *alloc, void *ctx) {
    struct affine_stream *s = alloc(ctx, sizeof *s);
    return s && affine_stream_init(s, p, alloc, ctx) ? s : NULL;
}
