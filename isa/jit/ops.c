/* Arithmetic instructions. Each rule emits vector code with the results of a lane function of isa/exec. The suite
 * isa_jit_ops compares the two. */
#include "jit_rule.h"

/* ---- words of 32 and 64 bits ---- */

static void two_sources(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false), d = destination(c, in, i, false);
        lanes_op(&c->e, r->code, d, a, b);
        merge_guarded(c, in, i, d, false);
    }
}

static void one_source(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), d = destination(c, in, i, false);
        lanes_op(&c->e, r->code, d, 0, a);
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits a product and a sum of each line: r->code multiplies, r->second adds. */
static void product_and_sum(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false), x = line_get(c, in->c, i, false);
        unsigned d = destination(c, in, i, false);
        lanes_op(&c->e, r->code, 1, a, b);
        emit_vector(&c->e, r->second, d, 1, x, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

static void invert(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), d = destination(c, in, i, false);
        lanes_not(&c->e, d, a);
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits 0 - a. */
static void negate(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), d = destination(c, in, i, false);
        emit_vector(&c->e, V_XOR, 1, 1, 1, WHOLE);
        emit_vector(&c->e, r->code, d, 1, a, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits code that sets scratch register v to the 64-bit elements of line i, converted from 32-bit operand o. */
static void load_widened(struct compiler *c, unsigned v, opnd_t o, unsigned i, uint32_t code) {
    unsigned from = line_get(c, o, i / 2, false);
    if (i % 2 && !(o & 1)) {
        lanes_upper_half(&c->e, v, from);
        from = v;
    }
    emit_vector(&c->e, code, v, 0, from, WHOLE);
}

/* Emits a shift of each line. Shift counts are 32-bit words. Counts beyond the width shift everything out, in x86 as in
 * PTX. */
static void shift(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), n = 1;
        if (in->dsize == 8)
            load_widened(c, 1, in->b, i, V_LOW32);
        else
            n = line_get(c, in->b, i, false);
        unsigned d = destination(c, in, i, false);
        lanes_op(&c->e, r->code, d, a, n);
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits mul.wide, or mad.wide if r->second is set. r->code is the instruction that widens. */
static void wide(struct compiler *c, const struct inst *in, const struct rule *r) {
    uint32_t multiply = r->code == V_LOW32 ? V_WIDE_U32 : V_WIDE_S32;
    for (unsigned i = line_first(c, 8); i < line_end(c, 8); i++, lines_unpin(c)) {
        load_widened(c, 1, in->a, i, r->code);
        load_widened(c, 2, in->b, i, r->code);
        unsigned x = r->second ? line_get(c, in->c, i, false) : 0;
        unsigned d = destination(c, in, i, false);
        emit_vector(&c->e, multiply, r->second ? 1 : d, 1, 2, WHOLE);
        if (r->second)
            emit_vector(&c->e, V_ADD64, d, 1, x, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

static void widen(struct compiler *c, const struct inst *in, const struct rule *r) {
    for (unsigned i = line_first(c, 8); i < line_end(c, 8); i++, lines_unpin(c)) {
        load_widened(c, 1, in->a, i, r->code);
        unsigned d = destination(c, in, i, false);
        emit_vector(&c->e, V_COPY64, d, 0, 1, WHOLE);
        merge_guarded(c, in, i, d, false);
    }
}

static void narrow(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = line_first(c, 4); i < line_end(c, 4); i++, lines_unpin(c)) {
        unsigned low = line_get(c, in->a, 2 * i, false), high = line_get(c, in->a, 2 * i + 1, false);
        unsigned d = destination(c, in, i, false);
        lanes_narrow(&c->e, d, low, high);
        merge_guarded(c, in, i, d, false);
    }
}

/* ---- predicates ---- */

/* Emits p = EAX op c, q = ~EAX op c. The modifiers of the instruction select op. */
static void put_compared(struct compiler *c, const struct inst *in, uint64_t form) {
    struct emit *e = &c->e;
    static const int ops[] = {[OPN_AND] = ALU_AND, [OPN_OR] = ALU_OR, [OPN_XOR] = ALU_XOR};
    unsigned op = form_get(form, CAT_OPN);
    emit_mov(e, RDX, RAX);
    emit_not(e, RDX);
    if (op != OPN_NONE) {
        emit_alu_mem(e, (unsigned)ops[op], false, RAX, operand_at(in->c, 0));
        emit_alu_mem(e, (unsigned)ops[op], false, RDX, operand_at(in->c, 0));
    }
    /* computes both results before it writes one, because writing a result may change the guard */
    if (writes_some_lanes(c, in) && in->d2 != OPND_SINK) {
        guard_mask(c, in, RCX);
        put_predicate(c, in, in->d, RAX);
        emit_load(e, false, RDI, operand_at(in->d2, 0));
        emit_alu(e, ALU_XOR, false, RDX, RDI);
        emit_alu(e, ALU_AND, false, RDX, RCX);
        emit_alu(e, ALU_XOR, false, RDX, RDI);
        emit_store(e, false, operand_at(in->d2, 0), RDX);
        return;
    }
    put_predicate(c, in, in->d, RAX);
    if (in->d2 != OPND_SINK)
        put_predicate(c, in, in->d2, RDX);
}

static void compare(struct compiler *c, const struct inst *in, const struct rule *r) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    unsigned lines = lines_of(c, type_bytes(r->type));
    bool is_float = type_class(r->type) == 'f';
    for (unsigned i = lines; i-- > 0; lines_unpin(c)) {
        unsigned a = arith_source(c, in, in->a, i, 2, is_float), b = arith_source(c, in, in->b, i, 3, is_float);
        lanes_compare_line(&c->e, r->code, r->second, i, lines, a, b);
    }
    put_compared(c, in, row->form);
}

static void select_lanes(struct compiler *c, const struct inst *in, const struct rule *r) {
    (void)r;
    for (unsigned i = line_first(c, in->dsize); i < line_end(c, in->dsize); i++, lines_unpin(c)) {
        unsigned a = line_get(c, in->a, i, false), b = line_get(c, in->b, i, false), d = destination(c, in, i, false);
        lanes_select(&c->e, d, a, b, in->c, i, in->dsize);
        merge_guarded(c, in, i, d, false);
    }
}

/* Emits an operation on predicates. The result is: r->code of a and b if r->second is 0; a copy of a if it is 1; the
 * inverse of a if it is 2. */
static void predicate(struct compiler *c, const struct inst *in, const struct rule *r) {
    emit_load(&c->e, false, RAX, operand_at(in->a, 0));
    if (r->second == 0)
        emit_alu_mem(&c->e, r->code, false, RAX, operand_at(in->b, 0));
    else if (r->second == 2)
        emit_not(&c->e, RAX);
    put_predicate(c, in, in->d, RAX);
}

/* ---- the rules ---- */

#define WRAPS           ((uint64_t)MODE2_WRAP << 31)
#define CLAMPS          ((uint64_t)MODE2_CLAMP << 31)
#define LEFT            ((uint64_t)MODE_L << 25)
#define RIGHT           ((uint64_t)MODE_R << 25)
#define HIGH_PART       ((uint64_t)PART_HI << 17)
#define IN_TABLE(field) (uint32_t) offsetof(struct jit_tables, field)
#define CARRY_OUT       ((uint64_t)1 << 37)
#define LOW_PART        ((uint64_t)PART_LO << 17)
#define WIDE_PART       ((uint64_t)PART_WIDE << 17)
#define NEAREST         ((uint64_t)RND_RN << 0)
#define CMP(x)          ((uint64_t)CMP_##x << 8)
#define APPROX          ((uint64_t)APPROX_APPROX << 6)
#define FULL            ((uint64_t)APPROX_FULL << 6)
/* cvt of f32, rounded to an integer, to f32, s32 and u32 */
#define INTEGRAL(rnd, how)                                                                                             \
    {OP_CVT, T_F32, T_F32, MODIFIED, RND_##rnd, floats_round, 0, how},                                                 \
        {OP_CVT, T_S32, T_F32, MODIFIED, RND_##rnd, floats_to_s32, 0, how}, {                                          \
        OP_CVT, T_U32, T_F32, AVX512_ONLY | MODIFIED, RND_##rnd, floats_to_u32, 0, how                                 \
    }
#define FOR32(op, form, fn, code, second)                                                                              \
    {OP_##op, T_U32, T_NONE, 0, form, fn, code, second}, { OP_##op, T_S32, T_NONE, 0, form, fn, code, second }
#define FOR64(op, form, fn, code, second)                                                                              \
    {OP_##op, T_U64, T_NONE, 0, form, fn, code, second}, { OP_##op, T_S64, T_NONE, 0, form, fn, code, second }
#define BITS(op, fn, code, second)                                                                                     \
    {OP_##op, T_B32, T_NONE, 0, 0, fn, code, second}, { OP_##op, T_B64, T_NONE, 0, 0, fn, code, second }
#define SETPS(type, flags, code)                                                                                       \
    {OP_SETP, type, T_NONE, flags, CMP(EQ), compare, code, 0}, {                                                       \
        OP_SETP, type, T_NONE, flags, CMP(NE), compare, code, 4                                                        \
    }
#define INEQUALITIES(type, flags, code, lt, le, gt, ge)                                                                \
    {OP_SETP, type, T_NONE, flags, CMP(lt), compare, code, 1},                                                         \
        {OP_SETP, type, T_NONE, flags, CMP(le), compare, code, 2},                                                     \
        {OP_SETP, type, T_NONE, flags, CMP(gt), compare, code, 6}, {                                                   \
        OP_SETP, type, T_NONE, flags, CMP(ge), compare, code, 5                                                        \
    }
#define ORDERED(type, flags, code)  INEQUALITIES(type, flags, code, LT, LE, GT, GE)
#define UNSIGNED(type, flags, code) INEQUALITIES(type, flags, code, LO, LS, HI, HS)
/* Ordered comparisons are false if an operand is a NaN. Comparisons with a trailing U are
 * then true. */
#define FLOATS(type, flags, code)                                                                                      \
    {OP_SETP, type, T_NONE, flags, CMP(EQ), compare, code, 0x00},                                                      \
        {OP_SETP, type, T_NONE, flags, CMP(NE), compare, code, 0x0c},                                                  \
        {OP_SETP, type, T_NONE, flags, CMP(LT), compare, code, 0x11},                                                  \
        {OP_SETP, type, T_NONE, flags, CMP(LE), compare, code, 0x12},                                                  \
        {OP_SETP, type, T_NONE, flags, CMP(GT), compare, code, 0x1e},                                                  \
        {OP_SETP, type, T_NONE, flags, CMP(GE), compare, code, 0x1d},                                                  \
        {OP_SETP, type, T_NONE, flags, CMP(EQU), compare, code, 0x08},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(NEU), compare, code, 0x04},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(LTU), compare, code, 0x19},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(LEU), compare, code, 0x1a},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(GTU), compare, code, 0x16},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(GEU), compare, code, 0x15},                                                 \
        {OP_SETP, type, T_NONE, flags, CMP(NUM), compare, code, 0x07}, {                                               \
        OP_SETP, type, T_NONE, flags, CMP(NAN), compare, code, 0x03                                                    \
    }
#define F32S(op, fn, code, second)                                                                                     \
    {OP_##op, T_F32, T_NONE, MODIFIED, 0, fn, code, second}, {                                                         \
        OP_##op, T_F32, T_NONE, MODIFIED, NEAREST, fn, code, second                                                    \
    }
#define F64S(op, fn, code)                                                                                             \
    {OP_##op, T_F64, T_NONE, HAS_EXIT, 0, fn, code, 0}, { OP_##op, T_F64, T_NONE, HAS_EXIT, NEAREST, fn, code, 0 }
#define MOVES(type, code)                                                                                              \
    { OP_MOV, type, T_NONE, 0, 0, one_source, code, 0 }
#define SELECTS(type)                                                                                                  \
    { OP_SELP, type, T_NONE, 0, 0, select_lanes, 0, 0 }

#define FOR16(op, form, fn, code, second)                                                                              \
    {OP_##op, T_U16, T_NONE, AVX512_ONLY, form, fn, code, second}, {                                                   \
        OP_##op, T_S16, T_NONE, AVX512_ONLY, form, fn, code, second                                                    \
    }
#define BITS16(op, fn, code)                                                                                           \
    { OP_##op, T_B16, T_NONE, AVX512_ONLY, 0, fn, code, 0 }
#define WIDENS(to, from, is_signed)                                                                                    \
    { OP_CVT, to, from, AVX512_ONLY, 0, narrow_widen, is_signed, 0 }
#define CUTS(to, from)                                                                                                 \
    { OP_CVT, to, from, AVX512_ONLY, 0, narrow_cut, 0, 0 }

/* A sum that reads or writes a carry; `form` is its part of the product. */
#define CARRY(op, type, form)                                                                                          \
    { OP_##op, type, T_NONE, AVX512_ONLY, form, carry_sum, 0, 0 }
#define CARRIES(first, next, type, form)                                                                               \
    CARRY(first, type, (form) | CARRY_OUT), CARRY(next, type, form), CARRY(next, type, (form) | CARRY_OUT)
#define CARRY_SUMS(type) CARRIES(ADD, ADDC, type, 0), CARRIES(SUB, SUBC, type, 0), CARRIES(MAD, MADC, type, LOW_PART)

static const struct rule rules[] = {
    CARRY_SUMS(T_U32),
    CARRY_SUMS(T_S32),
    CARRY_SUMS(T_U64),
    CARRY_SUMS(T_S64),
    CARRIES(MAD, MADC, T_U32, HIGH_PART),
    CARRIES(MAD, MADC, T_S32, HIGH_PART),
    FOR16(ADD, 0, two_sources, VECTOR(1, 1, 0, 0xfd), 0),
    FOR16(SUB, 0, two_sources, VECTOR(1, 1, 0, 0xf9), 0),
    FOR16(MUL, LOW_PART, two_sources, V_MUL16, 0),
    FOR16(MAD, LOW_PART, product_and_sum, V_MUL16, VECTOR(1, 1, 0, 0xfd)),
    {OP_MUL, T_U16, T_NONE, AVX512_ONLY, WIDE_PART, narrow_product, 0, 0},
    {OP_MUL, T_S16, T_NONE, AVX512_ONLY, WIDE_PART, narrow_product, 1, 0},
    {OP_MAD, T_U16, T_NONE, AVX512_ONLY, WIDE_PART, narrow_product, 0, 1},
    {OP_MAD, T_S16, T_NONE, AVX512_ONLY, WIDE_PART, narrow_product, 1, 1},
    {OP_MIN, T_U16, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 0, 0x3a), 0},
    {OP_MIN, T_S16, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(1, 1, 0, 0xea), 0},
    {OP_MAX, T_U16, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 0, 0x3e), 0},
    {OP_MAX, T_S16, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(1, 1, 0, 0xee), 0},
    BITS16(AND, two_sources, V_AND),
    BITS16(OR, two_sources, V_OR),
    BITS16(XOR, two_sources, V_XOR),
    BITS16(NOT, invert, 0),
    BITS16(MOV, one_source, V_COPY64),
    FOR16(MOV, 0, one_source, V_COPY64, 0),
    BITS16(SELP, select_lanes, 0),
    FOR16(SELP, 0, select_lanes, 0, 0),
    BITS16(SHL, narrow_shift, VECTOR(2, 1, 1, 0x12)),
    BITS16(SHR, narrow_shift, VECTOR(2, 1, 1, 0x10)),
    {OP_SHR, T_U16, T_NONE, AVX512_ONLY, 0, narrow_shift, VECTOR(2, 1, 1, 0x10), 0},
    {OP_SHR, T_S16, T_NONE, AVX512_ONLY, 0, narrow_shift, VECTOR(2, 1, 1, 0x11), 0},
    WIDENS(T_U32, T_U16, 0),
    WIDENS(T_S32, T_U16, 0),
    WIDENS(T_U32, T_S16, 1),
    WIDENS(T_S32, T_S16, 1),
    WIDENS(T_U64, T_U16, 0),
    WIDENS(T_S64, T_U16, 0),
    WIDENS(T_U64, T_S16, 1),
    WIDENS(T_S64, T_S16, 1),
    CUTS(T_U16, T_U32),
    CUTS(T_S16, T_U32),
    CUTS(T_U16, T_S32),
    CUTS(T_S16, T_S32),
    SETPS(T_B16, AVX512_ONLY, V_CMP_U16),
    SETPS(T_U16, AVX512_ONLY, V_CMP_U16),
    SETPS(T_S16, AVX512_ONLY, V_CMP_S16),
    ORDERED(T_U16, AVX512_ONLY, V_CMP_U16),
    UNSIGNED(T_U16, AVX512_ONLY, V_CMP_U16),
    ORDERED(T_S16, AVX512_ONLY, V_CMP_S16),
    {OP_PACK, T_B32, T_B16, AVX512_ONLY, 0, narrow_pack, 0, 0},
    {OP_UNPACK, T_B16, T_B32, AVX512_ONLY, 0, narrow_unpack, 0, 0},
    {OP_CVT, T_F32, T_F16, AVX512_ONLY, 0, narrow_from_f16, 0, 0},
    {OP_CVT, T_F16, T_F32, AVX512_ONLY, NEAREST, narrow_to_f16, 0, 0},
    FOR32(ADD, 0, two_sources, V_ADD32, 0),
    FOR32(SUB, 0, two_sources, V_SUB32, 0),
    FOR64(ADD, 0, two_sources, V_ADD64, 0),
    FOR64(SUB, 0, two_sources, V_SUB64, 0),
    FOR32(MUL, LOW_PART, two_sources, V_MUL32, 0),
    FOR64(MUL, LOW_PART, two_sources, V_MUL64, 0),
    FOR32(MAD, LOW_PART, product_and_sum, V_MUL32, V_ADD32),
    FOR64(MAD, LOW_PART, product_and_sum, V_MUL64, V_ADD64),
    {OP_MUL, T_U32, T_NONE, 0, WIDE_PART, wide, V_LOW32, 0},
    {OP_MUL, T_S32, T_NONE, 0, WIDE_PART, wide, V_LOW32S, 0},
    {OP_MAD, T_U32, T_NONE, 0, WIDE_PART, wide, V_LOW32, 1},
    {OP_MAD, T_S32, T_NONE, 0, WIDE_PART, wide, V_LOW32S, 1},
    {OP_MIN, T_U32, T_NONE, 0, 0, two_sources, V_MIN_U32, 0},
    {OP_MIN, T_S32, T_NONE, 0, 0, two_sources, VECTOR(2, 1, 0, 0x39), 0},
    {OP_MAX, T_U32, T_NONE, 0, 0, two_sources, VECTOR(2, 1, 0, 0x3f), 0},
    {OP_MAX, T_S32, T_NONE, 0, 0, two_sources, VECTOR(2, 1, 0, 0x3d), 0},
    {OP_ABS, T_S32, T_NONE, 0, 0, one_source, VECTOR(2, 1, 0, 0x1e), 0},
    {OP_ABS, T_S64, T_NONE, 0, 0, one_source, V_ABS64, 0},
    {OP_NEG, T_S32, T_NONE, 0, 0, negate, V_SUB32, 0},
    {OP_NEG, T_S64, T_NONE, 0, 0, negate, V_SUB64, 0},
    BITS(AND, two_sources, V_AND, 0),
    BITS(OR, two_sources, V_OR, 0),
    BITS(XOR, two_sources, V_XOR, 0),
    BITS(NOT, invert, 0, 0),
    {OP_SHL, T_B32, T_NONE, 0, 0, shift, V_SHL32, 0},
    {OP_SHL, T_B64, T_NONE, 0, 0, shift, VECTOR(2, 1, 1, 0x47), 0},
    {OP_SHR, T_B32, T_NONE, 0, 0, shift, V_SHR32, 0},
    {OP_SHR, T_B64, T_NONE, 0, 0, shift, V_SHR64, 0},
    {OP_SHR, T_U32, T_NONE, 0, 0, shift, V_SHR32, 0},
    {OP_SHR, T_U64, T_NONE, 0, 0, shift, V_SHR64, 0},
    {OP_SHR, T_S32, T_NONE, 0, 0, shift, VECTOR(2, 1, 0, 0x46), 0},
    {OP_SHR, T_S64, T_NONE, 0, 0, shift, V_SHR64S, 0},
    {OP_SHF, T_B32, T_NONE, 0, LEFT | WRAPS, bits_funnel, FUNNEL_LEFT, 1},
    {OP_SHF, T_B32, T_NONE, 0, LEFT | CLAMPS, bits_funnel, FUNNEL_LEFT, 0},
    {OP_SHF, T_B32, T_NONE, 0, RIGHT | WRAPS, bits_funnel, FUNNEL_RIGHT, 1},
    {OP_SHF, T_B32, T_NONE, 0, RIGHT | CLAMPS, bits_funnel, FUNNEL_RIGHT, 0},
    {OP_PRMT, T_B32, T_NONE, CONSTANT_C, 0, bits_permute, 0, 0},
    {OP_LOP3, T_B32, T_NONE, CONSTANT_E | AVX512_ONLY, 0, bits_lop3, 0, 0},
    {OP_LOGIC3, T_B64, T_NONE, CONSTANT_E | AVX512_ONLY, 0, bits_lop3, 0, 0},
    {OP_CLZ, T_B32, T_NONE, AVX512_ONLY, 0, one_source, VECTOR(2, 1, 0, 0x44), 0},
    {OP_MUL, T_U32, T_NONE, 0, HIGH_PART, bits_high_product, V_WIDE_U32, 0},
    {OP_MUL, T_S32, T_NONE, 0, HIGH_PART, bits_high_product, V_WIDE_S32, 0},
    {OP_MAD, T_U32, T_NONE, 0, HIGH_PART, bits_high_product, V_WIDE_U32, 1},
    {OP_MAD, T_S32, T_NONE, 0, HIGH_PART, bits_high_product, V_WIDE_S32, 1},
    {OP_MIN, T_U64, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 1, 0x3b), 0},
    {OP_MIN, T_S64, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 1, 0x39), 0},
    {OP_MAX, T_U64, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 1, 0x3f), 0},
    {OP_MAX, T_S64, T_NONE, AVX512_ONLY, 0, two_sources, VECTOR(2, 1, 1, 0x3d), 0},
    MOVES(T_B32, V_COPY32),
    MOVES(T_U32, V_COPY32),
    MOVES(T_S32, V_COPY32),
    MOVES(T_F32, V_COPY32),
    MOVES(T_B64, V_COPY64),
    MOVES(T_U64, V_COPY64),
    MOVES(T_S64, V_COPY64),
    MOVES(T_F64, V_COPY64),
    {OP_CVTA, T_U64, T_NONE, 0, (uint64_t)SPACE_GLOBAL << 19, one_source, V_COPY64, 0},
    {OP_CVTA, T_U64, T_NONE, 0, (uint64_t)SPACE_GLOBAL << 19 | 1ull << 39, one_source, V_COPY64, 0},
    SELECTS(T_B32),
    SELECTS(T_U32),
    SELECTS(T_S32),
    SELECTS(T_F32),
    SELECTS(T_B64),
    SELECTS(T_U64),
    SELECTS(T_S64),
    SELECTS(T_F64),
    {OP_CVT, T_U64, T_U32, 0, 0, widen, V_LOW32, 0},
    {OP_CVT, T_S64, T_U32, 0, 0, widen, V_LOW32, 0},
    {OP_CVT, T_S64, T_S32, 0, 0, widen, V_LOW32S, 0},
    {OP_CVT, T_U64, T_S32, 0, 0, widen, V_LOW32S, 0},
    {OP_CVT, T_U32, T_U64, 0, 0, narrow, 0, 0},
    {OP_CVT, T_U32, T_S64, 0, 0, narrow, 0, 0},
    {OP_CVT, T_S32, T_U64, 0, 0, narrow, 0, 0},
    {OP_CVT, T_S32, T_S64, 0, 0, narrow, 0, 0},
    {OP_CVT, T_F32, T_S32, 0, NEAREST, one_source, V_F32_S32, 0},
    {OP_CVT, T_F32, T_U32, 0, NEAREST, one_source, V_F32_U32, 0},
    F32S(ADD, arith_f32_two, VECTOR(1, 0, 0, 0x58), 0),
    F32S(SUB, arith_f32_two, VECTOR(1, 0, 0, 0x5c), 0),
    F32S(MUL, arith_f32_two, VECTOR(1, 0, 0, 0x59), 0),
    {OP_DIV, T_F32, T_NONE, MODIFIED, NEAREST, arith_f32_two, VECTOR(1, 0, 0, 0x5e), 0},
    {OP_SQRT, T_F32, T_NONE, MODIFIED, NEAREST, arith_f32_one, VECTOR(1, 0, 0, 0x51), 0},
    {OP_RCP, T_F32, T_NONE, MODIFIED, NEAREST, arith_f32_reciprocal, VECTOR(1, 0, 0, 0x5e), 0},
    {OP_FMA, T_F32, T_NONE, MODIFIED, NEAREST, arith_f32_fused, 0, 0},
    F32S(MAD, arith_f32_fused, 0, 0),
    {OP_MIN, T_F32, T_NONE, MODIFIED, 0, arith_f32_extreme, V_MIN_F32, V_OR},
    {OP_MAX, T_F32, T_NONE, MODIFIED, 0, arith_f32_extreme, V_MAX_F32, V_AND},
    {OP_NEG, T_F32, T_NONE, MODIFIED, 0, floats_sign, V_XOR, IN_TABLE(f32_sign)},
    {OP_ABS, T_F32, T_NONE, MODIFIED, 0, floats_sign, V_AND, IN_TABLE(f32_magnitude)},
    {OP_COPYSIGN, T_F32, T_NONE, 0, 0, floats_copysign, 0, 0},
    {OP_NEG, T_F64, T_NONE, 0, 0, floats_sign, V_XOR, IN_TABLE(sign8)},
    {OP_ABS, T_F64, T_NONE, 0, 0, floats_sign, V_AND, IN_TABLE(magnitude8)},
    {OP_DIV, T_F32, T_NONE, MODIFIED, FULL, arith_f32_two, VECTOR(1, 0, 0, 0x5e), 0},
    {OP_DIV, T_F32, T_NONE, MODIFIED, APPROX, floats_div_approx, 0, 0},
    {OP_RCP, T_F32, T_NONE, MODIFIED, APPROX, arith_f32_reciprocal, VECTOR(1, 0, 0, 0x5e), 0},
    {OP_SQRT, T_F32, T_NONE, MODIFIED, APPROX, arith_f32_one, VECTOR(1, 0, 0, 0x51), 0},
    {OP_RSQRT, T_F32, T_NONE, MODIFIED, APPROX, floats_rsqrt, 0, 0},
    INTEGRAL(RNI, ROUND_NEAREST),
    INTEGRAL(RZI, ROUND_ZERO),
    INTEGRAL(RMI, ROUND_DOWN),
    INTEGRAL(RPI, ROUND_UP),
    {OP_CVT, T_F64, T_F32, 0, 0, widen, VECTOR(1, 0, 0, 0x5a), 0},
    {OP_CVT, T_F64, T_S32, 0, NEAREST, widen, VECTOR(1, 2, 0, 0xe6), 0},
    {OP_CVT, T_F64, T_U32, AVX512_ONLY, NEAREST, widen, VECTOR(1, 2, 0, 0x7a), 0},
    {OP_CVT, T_F32, T_F64, MODIFIED, NEAREST, floats_narrow, 0, 0},
    {OP_CVT, T_F32, T_F32, MODIFIED, 0, arith_f32_one, V_COPY32, 0},
    {OP_CVT, T_S32, T_F64, 0, RND_RZI, floats_f64_to_s32, 0, 0},
    F64S(ADD, arith_f64_two, VECTOR(1, 1, 1, 0x58)),
    F64S(SUB, arith_f64_two, VECTOR(1, 1, 1, 0x5c)),
    F64S(MUL, arith_f64_two, VECTOR(1, 1, 1, 0x59)),
    {OP_FMA, T_F64, T_NONE, HAS_EXIT, NEAREST, arith_f64_fused, 0, 0},
    F64S(MAD, arith_f64_fused, 0),
    SETPS(T_B32, 0, V_CMP_U32),
    SETPS(T_U32, 0, V_CMP_U32),
    SETPS(T_S32, 0, V_CMP_U32),
    SETPS(T_B64, 0, V_CMP_U64),
    SETPS(T_U64, 0, V_CMP_U64),
    SETPS(T_S64, 0, V_CMP_U64),
    ORDERED(T_U32, 0, V_CMP_U32),
    ORDERED(T_U64, 0, V_CMP_U64),
    UNSIGNED(T_U32, 0, V_CMP_U32),
    UNSIGNED(T_U64, 0, V_CMP_U64),
    ORDERED(T_S32, 0, V_CMP_S32),
    ORDERED(T_S64, 0, V_CMP_S64),
    FLOATS(T_F32, MODIFIED, V_CMP_F32),
    FLOATS(T_F64, 0, V_CMP_F64),
    {OP_AND, T_PRED, T_NONE, 0, 0, predicate, ALU_AND, 0},
    {OP_OR, T_PRED, T_NONE, 0, 0, predicate, ALU_OR, 0},
    {OP_XOR, T_PRED, T_NONE, 0, 0, predicate, ALU_XOR, 0},
    {OP_NOT, T_PRED, T_NONE, 0, 0, predicate, 0, 2},
    {OP_MOV, T_PRED, T_NONE, 0, 0, predicate, 0, 1},
};

#define MODIFIERS ((uint64_t)1 << 4 | (uint64_t)1 << 5) /* .ftz .sat */

static const struct rule *rule_of(const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    uint64_t form = row->form;
    if (row->op == OP_SETP) /* one rule handles all instructions that combine the comparison with a predicate */
        form &= ~(15ull << 13);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].op == row->op && rules[i].type == row->types[0] &&
            rules[i].form == (rules[i].flags & MODIFIED ? form & ~MODIFIERS : form) && rules[i].type2 == row->types[1])
            return &rules[i];
    return NULL;
}

static bool has_what_it_needs(const struct compiler *c, const struct inst *in, const struct rule *r) {
    return !(r->flags & AVX512_ONLY && c->e.vex) && !(r->flags & CONSTANT_C && !(in->c & 1)) &&
           !(r->flags & CONSTANT_E && !(in->e & 1));
}

const struct rule *op_rule(const struct compiler *c, const struct inst *in) {
    if ((in->kind != K_LANE && in->kind != K_CVT) || in->hints & HINT_DEQ)
        return NULL;
    if (in->kind == K_CVT && (in->asize != in->msize || in->rsize != in->dsize))
        return NULL;
    const struct rule *r = rule_of(in);
    if (r && !has_what_it_needs(c, in, r))
        return NULL;
    bool may_not = r && r->flags & HAS_EXIT && (in->guard != NO_GUARD || profiled_call(c, in));
    return may_not ? NULL : r;
}

bool rule_is_lanewise(const struct rule *r) {
    return !(r->flags & HAS_EXIT) && r->compile != compare && r->compile != predicate;
}

void compile_op(struct compiler *c) {
    const struct rule *r = c->rule[c->at];
    r->compile(c, inst_of(c), r);
}
