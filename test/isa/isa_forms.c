/* Tests instructions on pairs of f32, fma.oob, redux of f32, and atomics on vectors of floating-point numbers.
 * float_ref, the reference of scalar instructions, computes the expected sums and products with MPFR. */
#include "isa/exec/exec.h"
#include "isa_asm.h"
#include "test/isa/exec/float_ref.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

static const uint32_t specials[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                    0x7f800001, 0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                    0x7f7fffff, 0xff7fffff, 0x3f800001, 0x3f7fffff, 0x33800000, 0x34000000, 0xb3800001,
                                    0x3effffff, 0x40490fdb, 0x7e800000, 0x01000000, 0x5f000000, 0x1f800000, 0xdf000000};
enum { N_VALUES = sizeof specials / sizeof specials[0] };

/* Returns random bits, or a number near 1, or a number near the least positive numbers. */
static uint32_t any_f32(uint64_t *seed) {
    uint64_t r = test_random(seed);
    uint32_t x = (uint32_t)r;
    if (r >> 62 == 1)
        x = (x & 0x83ffffff) + 0x3e000000;
    else if (r >> 62 == 2)
        x &= 0x81ffffff;
    else if (r >> 61 == 7)
        x = specials[x % N_VALUES];
    return x;
}

static const struct isa_row *row_of(const char *opcode) {
    struct decoded d;
    struct decode_error why;
    if (!isa_decode(opcode, (uint32_t)strlen(opcode), &d, &why))
        ck_abort_msg("%s: %s", opcode, why.message);
    return d.row;
}

/* --- f32x2 --- */

static void check_pair(const struct isa_row *row, const struct isa_row *scalar, const uint64_t *a, const uint64_t *b,
                       const uint64_t *c) {
    uint64_t d[WARP_LANES], d2[WARP_LANES];
    row->fn.lane(d, d2, a, b, c, c);
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t want = 0;
        for (int half = 0; half < 2; half++) {
            struct lane x = {.a = a[l] >> 32 * half & UINT32_MAX,
                             .b = b[l] >> 32 * half & UINT32_MAX,
                             .c = c[l] >> 32 * half & UINT32_MAX};
            EXPECT(float_ref(scalar, &x), "no reference");
            want |= x.d << 32 * half;
        }
        if (d[l] != want) {
            char name[64];
            isa_row_name(row, name, sizeof name);
            ck_abort_msg("%s: %llx %llx %llx gives %llx, not %llx", name, (unsigned long long)a[l],
                         (unsigned long long)b[l], (unsigned long long)c[l], (unsigned long long)d[l],
                         (unsigned long long)want);
        }
    }
}
/* Tests each operation on pairs of f32 against float_ref on each half. The inputs are all combinations of special
 * values in one half with random values in the other half, then random values in both halves. */
START_TEST(pairs_of_f32) {
    static const enum op_id ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_FMA};
    uint32_t n, rows = 0;
    const struct isa_row *all = isa_op_rows(ops[_i], &n);
    for (uint32_t k = 0; k < n; k++) {
        if (all[k].types[0] != T_F32X2)
            continue;
        const struct isa_row *scalar = isa_find_row(ops[_i], T_F32, T_NONE, all[k].form);
        ck_assert_ptr_nonnull(scalar);
        uint64_t seed = k, a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
        rows++;
        for (uint32_t i = 0; i < 40000; i += WARP_LANES) {
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                uint32_t at = i + l, crossed = N_VALUES * N_VALUES;
                uint64_t x = any_f32(&seed), y = any_f32(&seed), z = any_f32(&seed);
                uint64_t p = at < crossed ? specials[at % N_VALUES] : any_f32(&seed);
                uint64_t q = at < crossed ? specials[at / N_VALUES % N_VALUES] : any_f32(&seed);
                uint64_t r = at < crossed ? specials[at * 5 / 3 % N_VALUES] : any_f32(&seed);
                int shift = at & 1 ? 32 : 0; /* special values in the lower half, then in the upper half */
                a[l] = x << (32 - shift) | p << shift;
                b[l] = y << (32 - shift) | q << shift;
                c[l] = z << (32 - shift) | r << shift;
            }
            check_pair(&all[k], scalar, a, b, c);
        }
    }
    /* two rows (with and without .ftz) for each rounding: fma has 4 roundings, all others have 5 */
    ck_assert_uint_eq(rows, ops[_i] == OP_FMA ? 8 : 10);
}
END_TEST

/* --- fma.oob --- */

static bool out_of_bounds(uint64_t h) { return (h & 0x7fff) == 0x7ff7; }
START_TEST(fma_out_of_bounds) {
    static const char *const types[] = {"f16", "bf16", "f16x2", "bf16x2"};
    bool relu = _i >= 4, pair = _i % 4 >= 2;
    char opcode[64];
    snprintf(opcode, sizeof opcode, "fma.rn.oob%s.%s", relu ? ".relu" : "", types[_i % 4]);
    const struct isa_row *row = row_of(opcode);
    snprintf(opcode, sizeof opcode, "fma.rn%s.%s", relu ? ".relu" : "", types[_i % 2]);
    const struct isa_row *plain = row_of(opcode);
    static const uint16_t values[] = {0x7ff7, 0xfff7, 0x7fff, 0xffff, 0x7ff6, 0x7e00, 0x7c00, 0xff80,
                                      0x3c00, 0xbf80, 0x0000, 0x8000, 0x0001, 0x7bff, 0x7f7f, 0x3f80};
    enum { N = sizeof values / sizeof values[0] };
    uint64_t seed = 13;
    for (uint32_t i = 0; i < 40000; i += WARP_LANES) {
        uint16_t in[3][2 * WARP_LANES], d[2 * WARP_LANES];
        int n = pair ? 2 * WARP_LANES : WARP_LANES;
        for (uint32_t l = 0; l < 2 * WARP_LANES; l++)
            for (int k = 0; k < 3; k++) {
                uint64_t r = test_random(&seed);
                in[k][l] = r >> 60 < 8 ? (uint16_t)r : values[r % N];
            }
        row->fn.lane(d, d, in[0], in[1], in[2], in[2]);
        for (int l = 0; l < n; l++) {
            struct lane x = {.a = in[0][l], .b = in[1][l], .c = in[2][l]};
            EXPECT(float_ref(plain, &x), "no reference");
            uint64_t want = out_of_bounds(x.a) || out_of_bounds(x.b) ? 0 : x.d;
            EXPECT(d[l] == want, "%s: %x %x %x gives %x, not %x", opcode, in[0][l], in[1][l], in[2][l], d[l],
                   (unsigned)want);
        }
        row->fn.lane(in[0], d, in[0], in[1], in[2], in[2]); /* the destination may be the register of a source */
        ck_assert_mem_eq(in[0], d, (size_t)n * sizeof d[0]);
    }
}
END_TEST
/* 2 * 3 + 1 = 7 in f16 is 0x4700. 0x7ff7 and 0xfff7 stand for "out of bounds". If a factor is out of bounds, the result
 * is 0. As an addend, this value is a NaN like any other. */
START_TEST(fma_out_of_bounds_by_hand) {
    static const uint16_t by_hand[][4] = {{0x4000, 0x4200, 0x3c00, 0x4700},
                                          {0x7ff7, 0x4200, 0x3c00, 0},
                                          {0x4000, 0xfff7, 0x3c00, 0},
                                          {0x4000, 0x4200, 0x7ff7, 0x7fff},
                                          {0x7ff7, 0x4200, 0x7fff, 0}};
    uint16_t in[3][WARP_LANES] = {{by_hand[_i][0]}, {by_hand[_i][1]}, {by_hand[_i][2]}}, d[WARP_LANES];
    row_of("fma.rn.oob.f16")->fn.lane(d, d, in[0], in[1], in[2], in[2]);
    ck_assert_uint_eq(d[0], by_hand[_i][3]);
}
END_TEST

/* --- one warp --- */

static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;

static void begin(void) {
    a = asm_new();
    a->p.shared_bytes = 1024;
    mem_init(&mem, 0);
}
static void start(void) {
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
}
static void end(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}
static bool is_nan32(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }
/* Maps a number to an integer. The integers have the order of the numbers, with -0 below +0. */
static int64_t rank32(uint32_t x) { return x >> 31 ? -(int64_t)(x & 0x7fffffff) - 1 : (int64_t)x; }

/* --- redux --- */

START_TEST(reductions_of_f32) {
    bool max = _i & 1, abs = _i & 2, nan = _i & 4;
    char opcode[64];
    snprintf(opcode, sizeof opcode, "redux.sync.%s%s%s.f32", max ? "max" : "min", abs ? ".abs" : "", nan ? ".NaN" : "");
    begin();
    opnd_t d = asm_reg(a, 4), x = asm_reg(a, 4), e = asm_reg(a, 4);
    struct inst *in = asm_op(a, opcode, d, x, OPND_ZERO, OPND_ZERO);
    in->e = e;
    start();
    uint64_t seed = 17;
    for (int i = 0; i < 3000; i++) {
        uint32_t *source = reg_ptr(w, x), *mask = reg_ptr(w, e), *result = reg_ptr(w, d);
        uint32_t members = i % 3 ? (uint32_t)test_random(&seed) | 1u << i % 32 : LANES_ALL;
        for (int l = 0; l < WARP_LANES; l++) {
            source[l] = i % 5 == 0 ? 0x7fc00000 + (uint32_t)l : any_f32(&seed); /* sometimes only NaNs */
            if (i % 2 && is_nan32(source[l]))
                source[l] = 0x80000000;
            mask[l] = members;
            result[l] = 77;
        }
        uint32_t want = 0x7fffffff;
        bool any_nan = false;
        for (int l = 0; l < WARP_LANES; l++) {
            uint32_t v = abs ? source[l] & 0x7fffffff : source[l];
            if (!(members >> l & 1))
                continue;
            any_nan |= is_nan32(v);
            if (!is_nan32(v) && (is_nan32(want) || (max ? rank32(v) > rank32(want) : rank32(v) < rank32(want))))
                want = v;
        }
        want = nan && any_nan ? 0x7fffffff : want;
        exec_inst(w, in, members, &fx);
        for (int l = 0; l < WARP_LANES; l++)
            EXPECT(result[l] == (members >> l & 1 ? want : 77), "%s %d: lane %d has %x, not %x", opcode, i, l,
                   result[l], want);
    }
    end();
}
END_TEST

/* --- atomics --- */

enum sum { SUM, LEAST, GREATEST };
/* Computes the expected value of one element: a sum by float_ref(), a minimum or maximum by a comparison of doubles. */
static uint32_t combine(enum type t, enum sum op, uint32_t x, uint32_t y) {
    bool nx = float_is_nan(t, x), ny = float_is_nan(t, y);
    double p = float_decode(t, x), q = float_decode(t, y);
    if (op == SUM) {
        struct lane sum = {.a = x, .b = y};
        EXPECT(float_ref(isa_find_row(OP_ADD, t, T_NONE, t == T_F32 ? form_put(CAT_FTZ, 1) : 0), &sum), "no reference");
        return (uint32_t)sum.d;
    }
    if (nx || ny)
        return nx && ny ? 0x7fff : nx ? y : x;
    bool less = p < q || (p == q && signbit(p) && !signbit(q));
    return (op == LEAST) == less ? x : y;
}
static const struct {
    const char *type;
    enum type t;
    int n;
} vectors[] = {
    {"v2.f32", T_F32, 2},     {"v4.f32", T_F32, 4},     {"v2.f16", T_F16, 2},       {"v4.f16", T_F16, 4},
    {"v8.f16", T_F16, 8},     {"v2.bf16", T_BF16, 2},   {"v4.bf16", T_BF16, 4},     {"v8.bf16", T_BF16, 8},
    {"v2.f16x2", T_F16X2, 2}, {"v4.f16x2", T_F16X2, 4}, {"v2.bf16x2", T_BF16X2, 2}, {"v4.bf16x2", T_BF16X2, 4},
    {"f16", T_F16, 1},        {"bf16", T_BF16, 1},      {"f16x2", T_F16X2, 1},      {"bf16x2", T_BF16X2, 1}};
enum { N_VECTORS = sizeof vectors / sizeof vectors[0], PLACES = 5 };

static uint32_t any_element(enum type t, uint64_t *seed) {
    static const uint16_t halves[] = {0x0000, 0x8000, 0x7fff, 0xfe01, 0x7c00, 0xfc00, 0x0001, 0x3c00, 0xbc00, 0x7f80};
    if (t == T_F32)
        return any_f32(seed);
    uint64_t r = test_random(seed);
    uint32_t x = (uint32_t)(r & 3 ? r >> 8 : halves[(r >> 8) % 10] | (uint32_t)halves[(r >> 16) % 10] << 16);
    return type_bytes(t) == 2 ? x & 0xffff : x;
}
static uint32_t combine_elements(enum type t, enum sum op, uint32_t x, uint32_t y) {
    if (float_half(t) == t)
        return combine(t, op, x, y);
    return combine(float_half(t), op, x & 0xffff, y & 0xffff) | combine(float_half(t), op, x >> 16, y >> 16) << 16;
}

/* Lanes share PLACES vectors in memory, which are updated in the order of the lanes. Tests both atom and red. */
static void check_vector(int k, enum sum op, bool red) {
    static const char *const names[] = {"add", "min", "max"};
    enum type t = vectors[k].t;
    unsigned bytes = type_bytes(t), n = (unsigned)vectors[k].n;
    char opcode[64];
    snprintf(opcode, sizeof opcode, "%s.global.%s%s.%s", red ? "red" : "atom", names[op], t == T_F32 ? "" : ".noftz",
             vectors[k].type);
    begin();
    uint64_t buffer = mem_alloc(&mem, 1024, 256, NULL, false), seed = (uint64_t)k;
    opnd_t base = asm_reg(a, 8);
    uint32_t list[16];
    for (unsigned i = 0; i < 2 * n; i++)
        list[i] = red && i < n ? OPND_SINK : asm_reg(a, bytes);
    struct inst *in = asm_mem(a, opcode, n == 1 ? list[0] : OPND_SINK, bytes, base, 0);
    in->b = n == 1 ? list[1] : OPND_ZERO;
    if (n > 1) {
        in->list = asm_list(a, list, 2 * n);
        in->n_list = (uint8_t)(2 * n);
    }
    start();
    for (int round = 0; round < 200; round++) {
        uint32_t place[PLACES][8], before[WARP_LANES][8];
        unsigned char *memory = mem.list[0].host;
        for (unsigned p = 0; p < PLACES; p++)
            for (unsigned e = 0; e < n; e++) {
                place[p][e] = any_element(t, &seed);
                memcpy(memory + 64 * p + e * bytes, &place[p][e], bytes);
            }
        for (unsigned l = 0; l < WARP_LANES; l++) {
            ((uint64_t *)reg_ptr(w, base))[l] = buffer + 64 * (l % PLACES);
            for (unsigned e = 0; e < n; e++) {
                uint32_t y = any_element(t, &seed), *x = &place[l % PLACES][e];
                memcpy((char *)reg_ptr(w, list[n + e]) + l * bytes, &y, bytes);
                before[l][e] = *x;
                *x = combine_elements(t, op, *x, y);
            }
        }
        exec_inst(w, in, LANES_ALL, &fx);
        ck_assert_int_eq(fx.fault, FAULT_NONE);
        for (unsigned p = 0; p < PLACES; p++)
            for (unsigned e = 0; e < n; e++)
                EXPECT(memcmp(memory + 64 * p + e * bytes, &place[p][e], bytes) == 0, "%s: element %u of %u", opcode, e,
                       p);
        for (unsigned l = 0; l < WARP_LANES && !red; l++)
            for (unsigned e = 0; e < n; e++)
                EXPECT(memcmp((char *)reg_ptr(w, list[e]) + l * bytes, &before[l][e], bytes) == 0, "%s: lane %u",
                       opcode, l);
    }
    end();
}
START_TEST(atomics_on_vectors) {
    for (enum sum op = SUM; op <= GREATEST; op++) {
        if (op != SUM && (vectors[_i].t == T_F32 || vectors[_i].n == 1)) /* these have sums only */
            continue;
        check_vector(_i, op, false);
        check_vector(_i, op, true);
    }
}
END_TEST

SUITE(isa_forms) {
    TEST_LOOP(pairs_of_f32, 0, 4);
    TEST_LOOP(fma_out_of_bounds, 0, 8);
    TEST_LOOP(fma_out_of_bounds_by_hand, 0, 5);
    TEST_LOOP(reductions_of_f32, 0, 8);
    TEST_LOOP(atomics_on_vectors, 0, N_VECTORS);
}
