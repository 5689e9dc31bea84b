/* Tests one atomic instruction of one warp. Several lanes address the same word, so a lane sees the results of lanes
 * before it. */
#include "isa/exec/exec_atom.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static uint64_t buffer;
static opnd_t base, d, b, c;
enum { BYTES = 1024, SLOTS = 5 };

static struct inst *setup(const char *opcode, unsigned bytes) {
    a = asm_new();
    a->p.shared_bytes = BYTES;
    mem_init(&mem, 0);
    buffer = mem_alloc(&mem, BYTES, 0, NULL, false);
    base = asm_reg(a, 8);
    d = asm_reg(a, bytes);
    b = asm_reg(a, bytes);
    c = asm_reg(a, bytes);
    struct inst *in = asm_mem(a, opcode, d, bytes, base, 16);
    in->b = b;
    in->c = c;
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
    return in;
}

static void teardown(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

static uint64_t get(opnd_t o, int lane, unsigned bytes) {
    uint64_t v = 0;
    memcpy(&v, (char *)reg_ptr(w, o) + (unsigned)lane * bytes, bytes > 8 ? 8 : bytes);
    return v;
}
static void set(opnd_t o, int lane, unsigned bytes, uint64_t v) {
    memset((char *)reg_ptr(w, o) + (unsigned)lane * bytes, 0, bytes);
    memcpy((char *)reg_ptr(w, o) + (unsigned)lane * bytes, &v, bytes > 8 ? 8 : bytes);
}

/* Returns one of eight values, so that lanes often have equal values. The limits of the types are among them. */
static uint64_t value(int i) {
    static const uint64_t v[] = {0, 1, 5, 0x7fffffff, 0x80000000, 0xffffffff, 0x8000000080000000, 0xfffffffffffffffe};
    return v[i % 8];
}

enum what { ADD, AND, OR, XOR, MIN, MAX, INC, DEC, EXCH, CAS };

/* Computes the expected result of the operation in plain C, on `bytes` bytes. */
static uint64_t model(enum what op, bool sign, unsigned bytes, uint64_t x, uint64_t y, uint64_t z) {
    unsigned shift = 64 - 8 * bytes;
    int64_t sx = (int64_t)(x << shift) >> shift, sy = (int64_t)(y << shift) >> shift;
    bool less = sign ? sx < sy : x < y;
    switch (op) {
    case ADD:
        return (x + y) << shift >> shift;
    case AND:
        return x & y;
    case OR:
        return x | y;
    case XOR:
        return x ^ y;
    case MIN:
        return less ? x : y;
    case MAX:
        return less ? y : x;
    case INC:
        return x >= y ? 0 : x + 1;
    case DEC:
        return x == 0 || x > y ? y : x - 1;
    case EXCH:
        return y;
    default:
        return x == y ? z : x;
    }
}

static const struct {
    const char *opcode;
    unsigned bytes;
    enum what op;
    bool sign;
} cases[] = {
    {"atom.global.add.u32", 4, ADD, 0},     {"atom.global.add.s32", 4, ADD, 1},   {"atom.global.add.u64", 8, ADD, 0},
    {"atom.global.and.b32", 4, AND, 0},     {"atom.global.and.b64", 8, AND, 0},   {"atom.global.or.b32", 4, OR, 0},
    {"atom.global.or.b64", 8, OR, 0},       {"atom.global.xor.b32", 4, XOR, 0},   {"atom.global.xor.b64", 8, XOR, 0},
    {"atom.global.min.u32", 4, MIN, 0},     {"atom.global.min.s32", 4, MIN, 1},   {"atom.global.min.u64", 8, MIN, 0},
    {"atom.global.min.s64", 8, MIN, 1},     {"atom.global.max.u32", 4, MAX, 0},   {"atom.global.max.s32", 4, MAX, 1},
    {"atom.global.max.u64", 8, MAX, 0},     {"atom.global.max.s64", 8, MAX, 1},   {"atom.global.inc.u32", 4, INC, 0},
    {"atom.global.dec.u32", 4, DEC, 0},     {"atom.global.exch.b32", 4, EXCH, 0}, {"atom.global.exch.b64", 8, EXCH, 0},
    {"atom.global.exch.b128", 16, EXCH, 0}, {"atom.global.cas.b16", 2, CAS, 0},   {"atom.global.cas.b32", 4, CAS, 0},
    {"atom.global.cas.b64", 8, CAS, 0},     {"atom.global.cas.b128", 16, CAS, 0},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static void check_case(int i, rowmask_t m) {
    unsigned bytes = cases[i].bytes, low = bytes > 8 ? 8 : bytes;
    uint64_t want[SLOTS], keep = low == 8 ? ~0ull : (1ull << 8 * low) - 1;
    struct inst *in = setup(cases[i].opcode, bytes);
    for (int s = 0; s < SLOTS; s++) {
        want[s] = value(s + 3) & keep;
        memcpy(mem.list[0].host + 32 + (unsigned)s * bytes, &want[s], low);
    }
    for (int l = 0; l < WARP_LANES; l++) {
        ((uint64_t *)reg_ptr(w, base))[l] = buffer + 16 + (unsigned)(l % SLOTS) * bytes;
        /* in a cas, the first SLOTS lanes compare with the value in memory */
        set(b, l, bytes, cases[i].op == CAS && l < SLOTS ? want[l % SLOTS] : value(l / 2));
        set(c, l, bytes, value(l / 2 + 1) & keep);
        set(d, l, bytes, 99);
    }
    exec_inst(w, in, m, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t *x = &want[l % SLOTS];
        ck_assert_uint_eq(get(d, l, bytes), m >> l & 1 ? *x : 99);
        if (m >> l & 1)
            *x = model(cases[i].op, cases[i].sign, low, *x, get(b, l, bytes), get(c, l, bytes)) & keep;
    }
    for (int s = 0; s < SLOTS; s++)
        ck_assert_mem_eq(mem.list[0].host + 32 + (unsigned)s * bytes, &want[s], low);
    teardown();
}

START_TEST(integers) {
    check_case(_i, LANES_ALL);
    check_case(_i, 0x8421f00f);
}
END_TEST

static uint32_t f32(float x) {
    uint32_t v;
    memcpy(&v, &x, 4);
    return v;
}
static uint64_t f64(double x) {
    uint64_t v;
    memcpy(&v, &x, 8);
    return v;
}

/* One lane adds y to x in memory. The encodings were derived by hand: 1.5 is 0x3e00 in f16 and 0x3fc0 in bf16; 3 is
 * 0x4200 in f16 and 0x4040 in bf16. */
START_TEST(floats) {
    static const struct {
        const char *opcode;
        unsigned bytes;
        uint64_t x, y, sum;
    } adds[] = {
        {"atom.global.add.noftz.f16", 2, 0x3e00, 0x3e00, 0x4200},
        {"atom.global.add.noftz.f16", 2, 0x0001, 0x0001, 0x0002}, /* subnormal */
        {"atom.global.add.noftz.bf16", 2, 0x3fc0, 0x3fc0, 0x4040},
        {"atom.global.add.noftz.f16x2", 4, 0x3e000001, 0x3e000001, 0x42000002},
        {"atom.global.add.noftz.bf16x2", 4, 0x3fc00000, 0x3fc03fc0, 0x40403fc0},
        {"atom.global.add.f32", 4, 0x3fc00000, 0x3fc00000, 0x40400000},
        {"atom.global.add.f32", 4, 0x00000001, 0x00000001, 0}, /* flushed in device memory */
        {"atom.global.add.f64", 8, 0x3ff8000000000000, 0x3ff8000000000000, 0x4008000000000000},
        {"atom.global.add.f64", 8, 1, 1, 2},
    };
    unsigned bytes = adds[_i].bytes;
    struct inst *in = setup(adds[_i].opcode, bytes);
    memcpy(mem.list[0].host + 16, &adds[_i].x, bytes);
    ((uint64_t *)reg_ptr(w, base))[3] = buffer;
    set(b, 3, bytes, adds[_i].y);
    exec_inst(w, in, 8, &fx);
    ck_assert_mem_eq(mem.list[0].host + 16, &adds[_i].sum, bytes);
    ck_assert_uint_eq(get(d, 3, bytes), adds[_i].x);
    teardown();
}
END_TEST

START_TEST(shared_keeps_subnormals) {
    struct inst *in = setup("atom.shared.add.f32", 4);
    for (int l = 0; l < WARP_LANES; l++)
        set(b, l, 4, 1); /* adds the smallest subnormal number once per lane, 32 times */
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(*(uint32_t *)(cta->shared + 16), 32);
    ck_assert_uint_eq(fx.shared_lanes, LANES_ALL);
    teardown();
}
END_TEST

START_TEST(order_of_float_sums) {
    struct inst *in = setup("atom.global.add.f32", 4);
    float want = 0.1f;
    memcpy(mem.list[0].host + 16, &want, 4);
    for (int l = 0; l < WARP_LANES; l++) {
        float x = 1.0f / (float)(l + 1);
        ((uint64_t *)reg_ptr(w, base))[l] = buffer;
        set(b, l, 4, f32(x));
        ck_assert_uint_eq(f64(want) >> 63, 0);
        want += x; /* ascending lanes */
    }
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_mem_eq(mem.list[0].host + 16, &want, 4);
    teardown();
}
END_TEST

START_TEST(red_has_no_result) {
    struct inst *in = setup("red.global.add.u32", 4);
    in->d = OPND_SINK;
    for (int l = 0; l < WARP_LANES; l++) {
        ((uint64_t *)reg_ptr(w, base))[l] = buffer;
        set(b, l, 4, (uint64_t)l);
        set(d, l, 4, 77);
    }
    exec_inst(w, in, LANES_ALL, &fx);
    uint32_t sum = 31 * 32 / 2;
    ck_assert_mem_eq(mem.list[0].host + 16, &sum, 4);
    ck_assert_uint_eq(get(d, 0, 4), 77);
    teardown();
}
END_TEST

/* d may be the same register as b: each lane's operand is read before its result is written. */
START_TEST(result_over_operand) {
    struct inst *in = setup("atom.global.exch.b32", 4);
    in->d = b;
    for (int l = 0; l < WARP_LANES; l++) {
        ((uint64_t *)reg_ptr(w, base))[l] = buffer;
        set(b, l, 4, 100 + (uint64_t)l);
    }
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_uint_eq(get(b, 0, 4), 0);
    ck_assert_uint_eq(get(b, 31, 4), 130);
    teardown();
}
END_TEST

START_TEST(vectors) {
    struct inst *in = setup("atom.global.v2.f32.add", 4);
    opnd_t d1 = b; /* the register of the second result is also the register of the first operand */
    in->list = asm_list(a, (uint32_t[]){d, d1, b, c}, 4);
    in->n_list = 4;
    float x[2] = {1, 2};
    memcpy(mem.list[0].host + 16, x, 8);
    ((uint64_t *)reg_ptr(w, base))[0] = buffer;
    ((uint64_t *)reg_ptr(w, base))[1] = buffer;
    for (int l = 0; l < 2; l++) {
        set(b, l, 4, f32(10));
        set(c, l, 4, f32(20));
    }
    exec_inst(w, in, 3, &fx);
    ck_assert_int_eq(fx.fault, FAULT_NONE);
    float want[2] = {21, 42};
    ck_assert_mem_eq(mem.list[0].host + 16, want, 8);
    ck_assert_uint_eq(get(d, 1, 4), f32(11));
    ck_assert_uint_eq(get(d1, 1, 4), f32(22));
    teardown();
}
END_TEST

START_TEST(fault_stops_at_its_lane) {
    struct inst *in = setup("atom.global.add.u32", 4);
    for (int l = 0; l < WARP_LANES; l++) {
        ((uint64_t *)reg_ptr(w, base))[l] = l == 3 ? 0 : buffer;
        set(b, l, 4, 1);
    }
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(fx.fault_lane, 3);
    uint32_t three = 3;
    ck_assert_mem_eq(mem.list[0].host + 16, &three, 4);
    teardown();
}
END_TEST

/* With w->capture set, an atomic changes nothing until atom_apply(). atom_apply() uses the captured operands, and may
 * be called several times with different lanes. */
START_TEST(captured_and_performed_later) {
    static struct atom_op op;
    struct inst *in = setup("atom.global.add.u32", 4);
    for (int l = 0; l < WARP_LANES; l++) {
        ((uint64_t *)reg_ptr(w, base))[l] = buffer;
        set(b, l, 4, 2);
    }
    w->capture = &op;
    exec_inst(w, in, LANES_ALL, &fx);
    w->capture = NULL;
    uint32_t v = 0;
    ck_assert_mem_eq(mem.list[0].host + 16, &v, 4);
    ck_assert_uint_eq(fx.addr[31], buffer + 16);
    memset(reg_ptr(w, b), 0xff, 128); /* the program overwrites the operand register before atom_apply() */
    atom_apply(w, &op, 0x0000ffff);
    v = 32;
    ck_assert_mem_eq(mem.list[0].host + 16, &v, 4);
    atom_apply(w, &op, 0xffff0000);
    v = 64;
    ck_assert_mem_eq(mem.list[0].host + 16, &v, 4);
    ck_assert_uint_eq(get(d, 31, 4), 62);
    teardown();
}
END_TEST

SUITE(isa_exec_atom) {
    TEST_LOOP(integers, 0, N_CASES);
    TEST_LOOP(floats, 0, 9);
    TEST(shared_keeps_subnormals);
    TEST(order_of_float_sums);
    TEST(red_has_no_result);
    TEST(result_over_operand);
    TEST(vectors);
    TEST(fault_stops_at_its_lane);
    TEST(captured_and_performed_later);
}
