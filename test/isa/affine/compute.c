/* Tests each row of the instruction table that the affine engine may execute. The expected result of each thread comes
 * from the row's lane function on the thread's own operands. Operands are scalars, one tuple (a value linear in the
 * thread index) with or without wrapping, several tuples, and separate values of each thread. */
#include "isa/affine/engine_parts.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

enum { MAX_WARPS = 6, MAX_BATCH = 3, BANK = 16 * 1024 };

static uint64_t rng;
static uint64_t any(void) { return test_random(&rng); }
static uint32_t below(uint32_t n) { return test_random_below(&rng, n); }

/* A test case: an instruction, its launch, and the register values of all threads before the instruction. */
struct probe {
    struct asm_program *a;
    struct launch l;
    struct affine_engine *e;
    const struct inst *in;
    /* true if other threads will read the old values of the result registers, so these values must be kept */
    bool kept;
    struct warp w;
    _Alignas(64) unsigned char bank[BANK];
};

static const struct dim3 blocks[] = {{64, 1, 1}, {40, 1, 1}, {16, 5, 1}, {7, 3, 4}, {1, 33, 1}, {32, 2, 1}, {5, 1, 7}};

static unsigned wider(unsigned bytes) {
    unsigned to = bytes < 2 ? 2 : bytes;
    while (to < 8 && below(2))
        to *= 2;
    return to;
}

static opnd_t operand(struct asm_program *a, unsigned bytes) {
    if (below(4))
        return asm_reg(a, bytes);
    return bytes ? asm_const(a, bytes, below(2) ? below(40) : any()) : asm_const(a, 4, below(2) ? UINT32_MAX : 0);
}

/* Creates an instruction of the table row with random operands. Returns false if the engine cannot represent the
 * operands of this row. */
static bool make_inst(struct asm_program *a, const struct isa_row *r) {
    const uint8_t types[] = {r->a, r->b, r->c, r->e, r->d, r->d2};
    /* the last source of these instructions is a word of selectors, which the engine does not support */
    if (r->op >= OP_VABSDIFF && r->op <= OP_VSUB4)
        return false;
    for (unsigned i = 0; i < sizeof types; i++)
        if (type_bytes(types[i]) > 8 || (r->kind == K_LANE && type_bytes(types[i]) == 1))
            return false;
    struct inst *in = &a->code[a->p.n++];
    *in =
        (struct inst){.d = OPND_SINK, .d2 = OPND_SINK, .a = OPND_ZERO, .b = OPND_ZERO, .c = OPND_ZERO, .e = OPND_ZERO};
    in->fn.lane = r->fn.lane;
    in->row = isa_row_index(r);
    in->kind = r->kind;
    in->dsize = (uint8_t)type_bytes(r->d);
    in->d2size = (uint8_t)type_bytes(r->d2);
    in->guard = NO_GUARD;
    unsigned asize = type_bytes(r->a), rsize = type_bytes(r->d);
    if (r->kind == K_CVT) {
        in->msize = (uint8_t)asize;
        in->asize = (uint8_t)(asize = wider(asize));
        in->rsize = (uint8_t)(rsize = wider(rsize));
        in->is_signed = type_class(r->d) == 's';
    }
    opnd_t *const from[] = {&in->a, &in->b, &in->c, &in->e};
    for (int i = 0; i < 4; i++)
        if (types[i] != T_NONE)
            *from[i] = operand(a, i == 0 ? asize : type_bytes(types[i]));
    if (r->kind == K_LANE && r->a != T_NONE && r->a == r->d && below(4) == 0 && !(in->a & 1))
        in->d = in->a; /* the destination is also a source */
    else if (r->d != T_NONE)
        in->d = asm_reg(a, rsize);
    if (r->d2 != T_NONE && (!r->d2_optional || below(2)))
        in->d2 = asm_reg(a, type_bytes(r->d2));
    if (below(3) == 0) {
        in->guard = asm_reg(a, 0) >> 1;
        in->guard_not = (uint8_t)below(2);
    }
    return true;
}

static uint64_t number(unsigned bits) {
    const uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t near[] = {0, top, 2 * top, top - 20, 0 - (uint64_t)20, below(100), any(), 4 * below(9)};
    return (near[below(8)] + below(9)) & affine_mask(bits);
}

static struct affine_tuple tuple(unsigned bits) {
    struct affine_tuple t = {.base = number(bits)};
    for (int d = 0; d < 3 && below(4); d++) {
        uint64_t off = below(4) ? (uint64_t)below(17) - 8 : any();
        t.off[d] = (below(3) ? off : 0) & affine_mask(bits);
    }
    return t;
}

static void fill_cell(struct probe *p, struct affine_reg *r, uint32_t c) {
    const struct affine_shape *s = &p->e->shape;
    struct affine_cell *cell = &r->cells[c];
    bool expanded;
    struct affine_tuple t = tuple(r->bits);
    ck_assert(cell_write(cell, r->bits, s, s->launched, s->launched, &t, &expanded));
    for (uint32_t k = below(3) ? 0 : below(5); k > 0; k--) {
        rowmask_t lanes[MAX_CTA_WARPS];
        for (uint32_t w = 0; w < s->n_warps; w++)
            lanes[w] = (rowmask_t)any() & s->launched[w];
        t = tuple(r->bits);
        ck_assert(cell_write(cell, r->bits, s, lanes, s->launched, &t, &expanded));
    }
    if (below(8))
        return;
    ck_assert(cell_make_exact(cell, r->bits, s));
    for (uint32_t i = 0; i < s->n_warps * WARP_LANES; i++)
        cell->threads[i] = any() & affine_mask(r->bits);
}

static void fill_regs(struct probe *p) {
    struct affine_engine *e = p->e;
    for (uint32_t k = 0; k < e->stream.n_regs; k++) {
        struct affine_reg *r = &e->regs[k];
        for (uint32_t c = 0; c < e->n_ctas; c++) {
            if (r->bits) {
                fill_cell(p, r, c);
                continue;
            }
            bool uniform = below(2), value = below(2);
            r->uniform = uniform ? r->uniform | 1u << c : r->uniform & ~(1u << c);
            for (uint32_t w = 0; w < e->shape.n_warps; w++)
                r->pred[c * e->shape.n_warps + w] = !uniform ? (rowmask_t)any() : value ? LANES_ALL : 0;
        }
    }
}

/* Returns the value of a register in one thread, computed from the definition of its tuples (isa/affine/value.h). */
static uint64_t value_of(const struct probe *p, const struct affine_cell *c, unsigned bits, uint32_t w, uint32_t l) {
    uint32_t t = w * WARP_LANES + l, k = 0;
    struct dim3 b = p->l.block;
    if (!c->n)
        return c->threads[t];
    while (c->n > 1 && k < c->n && !(c->mask[k * p->e->shape.n_warps + w] >> l & 1))
        k++;
    if (k == c->n)
        return 0; /* no such thread */
    const struct affine_tuple *v = &c->v[k];
    return (v->base + v->off[0] * (t % b.x) + v->off[1] * (t / b.x % b.y) + v->off[2] * (t / b.x / b.y)) &
           affine_mask(bits);
}

/* Fills a register bank with the values of one warp of the batch. */
static void fill_bank(struct probe *p, uint32_t c, uint32_t w, unsigned char *bank) {
    for (uint32_t k = 0; k < p->e->stream.n_regs; k++) {
        const struct affine_reg *r = &p->e->regs[k];
        if (!r->bits)
            memcpy(bank + r->offset, &r->pred[c * p->e->shape.n_warps + w], sizeof *r->pred);
        for (uint32_t l = 0; l < WARP_LANES && r->bits; l++) {
            uint64_t v = value_of(p, &r->cells[c], r->bits, w, l);
            memcpy(bank + r->offset + l * (r->bits / 8u), &v, r->bits / 8u);
        }
    }
}

/* Adds the other threads as a stack entry below the threads of the instruction, and marks all registers as live, so
 * that the engine must keep the other threads' values. */
static void make_others_wait(struct affine_engine *e) {
    rowmask_t *lanes = e->stack[1].lanes;
    e->stack[1] = e->stack[0];
    e->stack[0].lanes = lanes;
    e->stack[0].pc = e->stack[0].rpc = e->stream.begin + 1;
    memcpy(lanes, e->live, e->n_warps * sizeof *lanes);
    memset(e->stream.live_regs, 0xff,
           (size_t)(e->stream.end - e->stream.begin) * e->stream.reg_words * sizeof *e->stream.live_regs);
    e->depth = 2;
}

static bool is_result(const struct affine_engine *e, uint32_t reg) {
    for (int i = 0; i < e->stream.ops[0].n_dests; i++)
        if (e->stream.ops[0].dest[i].reg == reg)
            return true;
    return false;
}

static void open_probe(struct probe *p, const struct dim3 *ids, uint32_t n) {
    p->l = asm_launch(p->a, NULL, 8, 1);
    p->l.block = blocks[below(sizeof blocks / sizeof blocks[0])];
    p->e = engine_new(&p->l, n, 0);
    ck_assert_ptr_nonnull(p->e);
    engine_start(p->e, ids, n);
    fill_regs(p);
    for (uint32_t i = 0; i < p->e->n_warps; i++)
        if (below(3) == 0)
            p->e->stack[0].lanes[i] &= (rowmask_t)any();
    if (below(3) == 0)
        for (uint32_t i = 0; i < p->e->n_warps; i++) /* some threads have exited */
            p->e->live[i] = p->e->stack[0].lanes[i];
    p->kept = below(2);
    if (p->kept)
        make_others_wait(p->e);
}

static unsigned char before[MAX_BATCH * MAX_WARPS][BANK], after[BANK];

static void check_case(struct probe *p, const char *name) {
    struct affine_engine *e = p->e;
    struct affine_step step;
    struct effects fx;
    rowmask_t lanes[MAX_BATCH * MAX_WARPS];
    uint32_t nw = e->shape.n_warps;
    memcpy(lanes, e->stack[e->depth - 1].lanes, e->n_warps * sizeof *lanes);
    for (uint32_t i = 0; i < e->n_warps; i++)
        fill_bank(p, i / nw, i % nw, before[i]);
    ck_assert(engine_step(e, &step));
    for (uint32_t i = 0; i < e->n_warps; i++) {
        struct warp w = {.bank = {before[i], p->a->constants}, .program = &p->a->p};
        exec_inst(&w, p->in, lanes[i], &fx);
        fill_bank(p, i / nw, i % nw, after);
        for (uint32_t k = 0; k < e->stream.n_regs; k++) {
            const struct affine_reg *r = &e->regs[k];
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint64_t want = 0, got = 0;
                if (!(e->live[i] >> l & 1) || (!p->kept && is_result(e, k) && !(lanes[i] >> l & 1)))
                    continue;
                if (r->bits) {
                    memcpy(&want, before[i] + r->offset + l * (r->bits / 8u), r->bits / 8u);
                    memcpy(&got, after + r->offset + l * (r->bits / 8u), r->bits / 8u);
                } else {
                    memcpy(&want, before[i] + r->offset, 4);
                    memcpy(&got, after + r->offset, 4);
                    want = want >> l & 1;
                    got = got >> l & 1;
                }
                EXPECT(want == got, "%s: CTA %u, warp %u, lane %u: 0x%llx, not 0x%llx", name, i / nw, i % nw, l,
                       (unsigned long long)got, (unsigned long long)want);
            }
        }
    }
    /* a predicate that the engine marks as uniform must have one value in all threads */
    for (uint32_t k = 0; k < e->stream.n_regs; k++)
        for (uint32_t i = 0; i < e->n_warps && !e->regs[k].bits; i++)
            if (e->regs[k].uniform >> i / nw & 1) {
                rowmask_t first = e->regs[k].pred[i / nw * nw] & 1 ? LANES_ALL : 0;
                EXPECT(!((e->regs[k].pred[i] ^ first) & e->live[i]), "%s: not the same for CTA %u", name, i / nw);
            }
}

static struct probe probe;

static void try_row(const struct isa_row *r, const char *name) {
    static const struct dim3 ids[MAX_BATCH] = {{0, 0, 0}, {1, 0, 0}, {5, 2, 1}};
    struct probe *p = &probe;
    p->a = asm_new();
    if (make_inst(p->a, r)) {
        static struct program_stream streams[2] = {{.name = "test"}, {.name = AFFINE_STREAM}};
        p->in = &p->a->code[0];
        asm_op(p->a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
        p->a->p.streams = streams;
        p->a->p.n_streams = 2;
        ck_assert_uint_le(p->a->p.reg_bytes, BANK);
        open_probe(p, ids, 1 + below(MAX_BATCH));
        check_case(p, name);
        engine_free(p->e);
    }
    asm_free(p->a);
}

/* The test runs three times (_i); each run tests a third of the rows of the instruction table. A row gets more random
 * operands if the engine has a rule that computes its result as tuples. */
START_TEST(every_row) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    char name[96];
    rng = 11 + (uint64_t)_i;
    for (uint32_t k = (uint32_t)_i; k < n; k += 3) {
        if (rows[k].kind != K_LANE && rows[k].kind != K_CVT)
            continue;
        const struct inst in = {.row = (uint16_t)k, .kind = rows[k].kind};
        enum affine_rule rule = affine_rule_of(&in);
        isa_row_name(&rows[k], name, sizeof name);
        for (int i = rule == RULE_NONE ? 1 : rule == RULE_SCALAR_ONLY ? 4 : rule == RULE_SETP ? 10 : 40; i > 0; i--)
            try_row(&rows[k], name);
    }
}
END_TEST

/* Instructions whose rule keeps tuples: if each operand is one tuple and does not wrap, and at most one factor is not a
 * scalar, the result is one tuple. */
static const struct {
    const char *opcode;
    unsigned d, a, b, c;
} linear[] = {
    {"mov.u32", 4, 4, 0, 0},      {"add.s32", 4, 4, 4, 0},
    {"sub.u64", 8, 8, 8, 0},      {"neg.s32", 4, 4, 0, 0},
    {"mul.lo.u32", 4, 4, 4, 0},   {"mad.lo.s64", 8, 8, 8, 8},
    {"shl.b32", 4, 4, 4, 0},      {"mul.wide.s32", 8, 4, 4, 0},
    {"mul.wide.u32", 8, 4, 4, 0}, {"mad.wide.s32", 8, 4, 4, 8},
    {"mul.wide.u16", 4, 2, 2, 0}, {"mad.wide.u16", 4, 2, 2, 4},
    {"cvt.s64.s32", 8, 4, 0, 0},  {"cvt.u64.u32", 8, 4, 0, 0},
    {"cvt.u16.u32", 2, 4, 0, 0},  {"cvta.to.global.u64", 8, 8, 0, 0},
    {"mul.lo.u16", 2, 2, 2, 0},
};

START_TEST(linear_stays_linear) {
    static struct program_stream streams[2] = {{.name = "test"}, {.name = AFFINE_STREAM}};
    struct asm_program *a = asm_new();
    const unsigned sizes[] = {linear[_i].a, linear[_i].b, linear[_i].c};
    opnd_t d = asm_reg(a, linear[_i].d), from[3];
    for (int i = 0; i < 3; i++)
        from[i] = sizes[i] ? asm_reg(a, sizes[i]) : OPND_ZERO;
    struct inst *in = asm_op(a, linear[_i].opcode, d, from[0], from[1], from[2]);
    uint32_t n;
    if (in->kind == K_CVT) {
        in->msize = in->asize = (uint8_t)linear[_i].a;
        in->dsize = in->rsize = (uint8_t)linear[_i].d;
        in->is_signed = type_class(isa_rows(&n)[in->row].d) == 's';
    }
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    a->p.streams = streams;
    a->p.n_streams = 2;
    struct launch l = asm_launch(a, NULL, 1, 1);
    l.block = (struct dim3){16, 4, 2};
    struct affine_engine *e = engine_new(&l, 1, 0);
    ck_assert_ptr_nonnull(e);
    engine_start(e, &(struct dim3){0}, 1);
    const struct affine_op *op = &e->stream.ops[0];
    for (int i = 0; i < op->n_sources; i++) /* the first source is 200 + 3x + 2y - z, the other sources are 3 */
        e->regs[op->source[i].reg].cells[0].v[0] =
            i ? (struct affine_tuple){.base = 3}
              : (struct affine_tuple){200, {3, 2, 0xffffffffffffffffull & affine_mask(op->source[i].bits)}};
    struct affine_step step;
    ck_assert(engine_step(e, &step));
    const struct affine_cell *c = &e->regs[op->dest[0].reg].cells[0];
    ck_assert_uint_eq(c->n, 1);
    ck_assert_uint_ne(c->v[0].off[1], 0);
    ck_assert_int_eq(step.class, STEP_AFFINE);
    ck_assert_uint_eq(step.slots, 1);
    ck_assert_uint_eq(step.fallbacks, 0);
    engine_free(e);
    asm_free(a);
}
END_TEST

/* 64 threads compute d = min, max or rem of 16 + tid and a constant, so the values are 16 to 47 in warp 0 and 48 to 79
 * in warp 1. Fields: the number of tuples of the result (0: a separate value for each thread), the issue slots, and the
 * number of CTAs whose tuples became separate values. If the first and the last lane of a warp lie on both sides of the
 * constant, or have different quotients, the lanes of this warp select among the tuples, which costs a slot. */
static const struct {
    const char *opcode;
    uint32_t constant, tuples, slots, fallbacks;
} selects[] = {
    {"min.u32", 50, 2, 2, 0},         /* the results of warp 1 are 48, 49, 50, 50, ... */
    {"min.s32", 48, 2, 1, 0},         /* 48 is the first value of warp 1 */
    {"min.s32", 0xfffffffb, 1, 1, 0}, /* -5 is smaller than all values */
    {"min.u32", 0xfffffffb, 1, 1, 0}, {"max.s32", 47, 2, 1, 0},
    {"max.s32", 20, 2, 2, 0},         /* 20 is between the values of warp 0, so its lanes select */
    {"rem.u32", 48, 2, 1, 0},         /* quotients 0 and 1 */
    {"rem.s32", 100, 1, 1, 0},        /* quotient 0 */
    {"rem.s32", 20, 4, 3, 0},         /* quotients 0 to 2 in warp 0, 2 and 3 in warp 1 */
    {"rem.u32", 16, 4, 3, 0},         /* quotients 1 to 4 */
    {"rem.u32", 15, 0, 2, 1},         /* quotients 1 to 5: too many, so the lanes of both warps compute the result */
    {"rem.s32", 0xfffffff0, 0, 2, 1}, /* a negative divisor */
};

START_TEST(several_tuples_and_a_select) {
    static struct program_stream streams[2] = {{.name = "test"}, {.name = AFFINE_STREAM}};
    struct asm_program *a = asm_new();
    const char *opcode = selects[_i].opcode;
    const uint32_t k = selects[_i].constant;
    opnd_t d = asm_reg(a, 4), x = asm_reg(a, 4);
    asm_op(a, opcode, d, x, asm_const(a, 4, k), OPND_ZERO);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    a->p.streams = streams;
    a->p.n_streams = 2;
    struct launch l = asm_launch(a, NULL, 1, 1);
    l.block = (struct dim3){64, 1, 1};
    struct affine_engine *e = engine_new(&l, 1, 0);
    ck_assert_ptr_nonnull(e);
    engine_start(e, &(struct dim3){0}, 1);
    const struct affine_op *op = &e->stream.ops[0];
    e->regs[op->source[0].reg].cells[0].v[0] = (struct affine_tuple){16, {1, 0, 0}};
    struct affine_step step;
    ck_assert(engine_step(e, &step));
    const struct affine_cell *c = &e->regs[op->dest[0].reg].cells[0];
    ck_assert_uint_eq(c->n, selects[_i].tuples);
    ck_assert_uint_eq(step.slots, selects[_i].slots);
    ck_assert_uint_eq(step.fallbacks, selects[_i].fallbacks);
    ck_assert_int_eq(step.class, c->n ? STEP_AFFINE : STEP_VECTOR);
    for (uint32_t t = 0; t < 64; t++) {
        uint64_t got[WARP_LANES];
        const uint32_t v = 16 + t;
        const bool less = opcode[4] == 's' ? (int32_t)v < (int32_t)k : v < k;
        cell_read(c, 32, &e->shape, t / WARP_LANES, got);
        ck_assert_uint_eq((uint32_t)got[t % WARP_LANES],
                          opcode[0] == 'r' ? (opcode[4] == 's' ? (uint32_t)((int32_t)v % (int32_t)k) : v % k)
                          : less == (opcode[2] == 'n') ? v
                                                       : k);
    }
    engine_free(e);
    asm_free(a);
}
END_TEST

SUITE(isa_affine_compute) {
    TEST_LOOP(several_tuples_and_a_select, 0, (int)(sizeof selects / sizeof selects[0]));
    TEST_LOOP(every_row, 0, 3);
    TEST_LOOP(linear_stays_linear, 0, (int)(sizeof linear / sizeof linear[0]));
}
