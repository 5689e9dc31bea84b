/* Tests each instruction that has vector code against its lane function (its C function in isa/exec), bit for bit, with
 * special values, guards, one register for several operands, and constants. The code is in isa/jit: ops.c, carry.c,
 * float_arith.c, floats.c, bits.c and narrow.c. Instructions without vector code are calls of their lane functions
 * (isa/jit/lane_call.c). Also tests random blocks that need more vector registers than the host has. */
#include "isa/jit/compile.h"
#include "rig.h"

enum { MOST_ROWS = 4096, FILL = 5 };

struct regs {
    opnd_t word[6], wide[5], pred[4], narrow[3];
};

static void make_regs(struct rig *r, struct regs *x) {
    for (int i = 0; i < 6; i++)
        x->word[i] = asm_reg(r->a, 4);
    for (int i = 0; i < 5; i++)
        x->wide[i] = asm_reg(r->a, 8);
    for (int i = 0; i < 4; i++)
        x->pred[i] = asm_reg(r->a, 0);
    for (int i = 0; i < 3; i++)
        x->narrow[i] = asm_reg(r->a, 2);
}

static void fill_regs(struct rig *r, uint64_t *rng, const struct regs *x) {
    for (int i = 0; i < 6; i++)
        rig_fill(r, rng, x->word[i], 4);
    for (int i = 0; i < 5; i++)
        rig_fill(r, rng, x->wide[i], 8);
    for (int i = 0; i < 4; i++)
        rig_fill(r, rng, x->pred[i], 0);
    for (int i = 0; i < 3; i++)
        rig_fill(r, rng, x->narrow[i], 2);
}

/* Returns an operand of the type; a source may be a constant. */
static opnd_t operand(struct rig *r, uint64_t *rng, const struct regs *x, enum type t, bool source) {
    unsigned size = type_bytes(t);
    if (t == T_NONE)
        return source ? OPND_ZERO : OPND_SINK;
    if (t == T_PRED)
        return x->pred[test_random_below(rng, 4)];
    if (source && r->a->p.constant_bytes < ASM_BANK - 1024 && test_random_below(rng, 5) == 0)
        return asm_const(r->a, size, rig_value(rng, size));
    if (size == 2)
        return x->narrow[test_random_below(rng, 3)];
    return size == 8 ? x->wide[test_random_below(rng, 5)] : x->word[test_random_below(rng, 6)];
}

static bool fits(const struct isa_row *row) {
    const uint8_t types[] = {row->d, row->d2, row->a, row->b, row->c, row->e};
    const bool moves_halves = (row->op == OP_PACK && row->types[0] == T_B32 && row->types[1] == T_B16) ||
                              row->op == OP_LOGIC3 ||
                              (row->op == OP_UNPACK && row->types[0] == T_B16 && row->types[1] == T_B32);
    if ((row->kind != K_LANE && row->kind != K_CVT) || (isa_ops[row->op].mnemonic[0] == '#' && !moves_halves))
        return false;
    /* only lowering creates tables and selectors, so a test cannot choose these operands freely */
    if (row->e != T_NONE && row->e != T_PRED && row->op != OP_LOP3 && row->op != OP_LOGIC3)
        return false;
    for (int i = 0; i < 6; i++) {
        unsigned size = type_bytes(types[i]);
        if (types[i] != T_NONE && types[i] != T_PRED && size != 2 && size != 4 && size != 8)
            return false;
    }
    return true;
}

/* Appends one instruction of the table row with random operands. */
static void add(struct rig *r, uint64_t *rng, const struct regs *x, const struct isa_row *row, unsigned guarded) {
    char name[128];
    isa_row_name(row, name, sizeof name);
    if (name[0] == '#')
        snprintf(name, sizeof name, "mov.b32");
    struct inst *in = asm_op(r->a, name, operand(r, rng, x, row->d, false), operand(r, rng, x, row->a, true),
                             operand(r, rng, x, row->b, true), operand(r, rng, x, row->c, true));
    in->row = isa_row_index(row);
    in->fn.lane = row->fn.lane;
    in->dsize = (uint8_t)type_bytes(row->d);
    in->d2size = (uint8_t)type_bytes(row->d2);
    in->e = operand(r, rng, x, row->e, true);
    /* vector code needs a constant table or selector */
    if (row->op == OP_LOP3 || row->op == OP_LOGIC3)
        in->e = asm_const(r->a, 4, test_random(rng) & 0xff);
    if (row->op == OP_PRMT && !row->form && test_random_below(rng, 8))
        in->c = asm_const(r->a, 4, (uint32_t)test_random(rng));
    if (row->op == OP_SHF && test_random_below(rng, 2))
        in->c = asm_const(r->a, 4, rig_value(rng, 4));
    if (row->op == OP_SHF && test_random_below(rng, 2))
        in->b = in->a;
    if (row->d2 != T_NONE && (!row->d2_optional || test_random_below(rng, 2))) {
        in->d2 = operand(r, rng, x, row->d2, false);
        if (in->d2 == in->d)
            in->d2 = row->d2_optional       ? OPND_SINK
                     : row->op == OP_UNPACK ? x->narrow[in->d == x->narrow[0]]
                                            : x->pred[in->d == x->pred[0]];
    }
    if (row->kind == K_CVT) {
        in->asize = in->msize = (uint8_t)type_bytes(row->a);
        in->rsize = in->dsize;
    }
    if (guarded)
        asm_guard(r->a, x->pred[test_random_below(rng, 4)], guarded == 2);
}

static void say(const struct rig *r, uint32_t at, const char *what, uint64_t seed) {
    char text[256], all[8192] = "";
    for (uint32_t i = 0; i < r->a->p.n && i < 24; i++) {
        char name[80];
        uint32_t n;
        const struct inst *in = &r->a->code[i];
        isa_row_name(&isa_rows(&n)[in->row], name, sizeof name);
        snprintf(text, sizeof text, "%s%s %u <- %u%s %u%s %u%s; ", in->guard != NO_GUARD ? "@" : "", name, in->d >> 1,
                 in->a >> 1, in->a & 1 ? "c" : "", in->b >> 1, in->b & 1 ? "c" : "", in->c >> 1, in->c & 1 ? "c" : "");
        strncat(all, text, sizeof all - strlen(all) - 1);
    }
    uint32_t got, want;
    memcpy(&got, r->bank + (at & ~3u), 4);
    memcpy(&want, r->want + (at & ~3u), 4);
    ck_abort_msg("%s (seed %llu): byte %u of the registers: word 0x%x, not 0x%x; %u steps; %s", what,
                 (unsigned long long)seed, at, got, want, r->steps, all);
}

/* Runs three instructions of the row on many values, with all lanes or with random partial warps. Returns true if the
 * block was compiled without calls of lane functions. */
static bool check_row(const struct isa_row *row, unsigned guarded, uint64_t seed, bool part) {
    uint64_t rng = seed;
    struct rig *r = rig_new();
    struct regs x;
    make_regs(r, &x);
    for (int i = 0; i < 3; i++)
        add(r, &rng, &x, row, guarded);
    bool native = rig_compile(r, part ? 1 : LANES_ALL) && jit_count(r->j).native == 3;
    for (int k = 0; native && k < FILL; k++) {
        uint32_t at;
        char name[128];
        if (part)
            rig_lanes(r, rig_part(&rng));
        isa_row_name(row, name, sizeof name);
        fill_regs(r, &rng, &x);
        if (!rig_same(r, &at))
            say(r, at, name, seed);
    }
    rig_free(r);
    return native;
}

START_TEST(rows_are_as_their_lane_functions) {
    const bool part = jit_level(_i);
    uint32_t n, native = 0, guarded = 0;
    const struct isa_row *rows = isa_all_rows(&n);
    if (!rig_can())
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!fits(&rows[i]) || !check_row(&rows[i], 0, i + 1, part))
            continue;
        native++;
        const uint64_t most = test_every() ? 40 : 8; /* seeds that are tried */
        for (uint64_t seed = 1; seed < most; seed++)
            check_row(&rows[i], 0, i + 1000 * seed, part);
        for (uint64_t seed = 1; seed < most / 2; seed++)
            guarded += check_row(&rows[i], 1 + seed % 2, i + 1000 * seed, part) && seed == 1;
    }
    /* The rows that have vector code with AVX2 are: 68 of integers and bits, 24 of cvt and cvta, 33 of f32 and f64, 5
     * of predicates, and 256 of setp (64 comparisons in four forms), without prmt, whose selector is not always a
     * constant. With .ftz or .sat there are 39 of f32 (18 of add, sub and mul, 9 of fma and mad, 12 others), 31 of cvt
     * (12 to integral values, 12 to s32, 3 from f64, and 4 from f32 to f32, of which one is plain), and 56 of setp.
     * With AVX-512 there are also lop3, clz, 4 minima and maxima of 64 bits, 5 of cvt and 12 with .ftz or .sat, 42 sums
     * with a carry (3 of add, sub and mad.lo each, of four types, and 3 of mad.hi for two types), and of 16 bits: 30 of
     * integers and bits, 14 of cvt, 72 of setp, and 2 that join and part halves. Rows of f64 with a NaN exit have no
     * guarded form. */
    const bool avx512 = isa_processor_level() == CPU_AVX512;
    const uint32_t modified = 39 + 31 + 56;
    ck_assert_uint_ge(native,
                      68 + 24 + 33 + 5 + 256 + modified + (avx512 ? 2 + 4 + 5 + 12 + 42 + 30 + 14 + 72 + 2 : 0));
    ck_assert_uint_lt(guarded, native);
    ck_assert_uint_ge(guarded, 290 + modified);
}
END_TEST

/* Runs instructions of the row among additions, which are vector code. Returns the calls of the interpreter. */
static uint32_t steps_of_row(const struct isa_row *row, unsigned guarded, uint64_t seed, bool part) {
    uint64_t rng = seed;
    struct rig *r = rig_new();
    struct regs x;
    make_regs(r, &x);
    for (int i = 0; i < 6; i++)
        if (i % 3 == 1)
            add(r, &rng, &x, row, guarded);
        else
            asm_op(r->a, "add.u32", x.word[i], x.word[i], x.word[5 - i], OPND_ZERO);
    fill_regs(r, &rng, &x);
    ck_assert(rig_compile(r, part ? 1 : LANES_ALL));
    r->steps = 0;
    for (int k = 0; k < 2; k++) {
        uint32_t at;
        char name[128];
        if (part)
            rig_lanes(r, rig_part(&rng));
        isa_row_name(row, name, sizeof name);
        fill_regs(r, &rng, &x);
        if (!rig_same(r, &at))
            say(r, at, name, seed);
    }
    const uint32_t steps = r->steps;
    rig_free(r);
    return steps;
}

/* A pure instruction without a rule never calls the interpreter if all lanes execute, or if results have 32 or 64 bits.
 * Exceptions: results that are their own guard, and second results that are no predicates. */
START_TEST(rows_without_rules_call_lane_functions) {
    const bool part = jit_level(_i);
    uint32_t n, called = 0, tested = 0;
    const struct isa_row *rows = isa_all_rows(&n);
    if (!rig_can())
        return;
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_row *row = &rows[i];
        if (!fits(row) || type_class(row->types[0]) == 'f' || (!test_every() && i % 3))
            continue; /* f64 has side exits */
        const unsigned guarded = i / 3 % 3, size = type_bytes(row->d);
        const uint32_t steps = steps_of_row(row, guarded, i + 1, part);
        const bool whole = !guarded && !part, merges = size != 2 && !(row->d2 != T_NONE && type_bytes(row->d2)),
                   own_guard = guarded && row->d == T_PRED;
        tested++;
        called += !steps;
        if (whole || (merges && !own_guard))
            ck_assert_msg(!steps, "%u steps of row %u", steps, i);
    }
    ck_assert_uint_ge(called, tested / 2);
}
END_TEST

/* Finds the rows for which the compiler has vector code. Returns the number of these rows. */
static uint32_t native_rows(const struct isa_row **out) {
    uint32_t n, found = 0;
    const struct isa_row *rows = isa_all_rows(&n);
    for (uint32_t i = 0; i < n && found < MOST_ROWS; i++)
        if (fits(&rows[i]) && check_row(&rows[i], 0, i + 1, false))
            out[found++] = &rows[i];
    return found;
}

START_TEST(blocks_at_random) {
    const bool part = jit_level(_i);
    const uint32_t blocks = test_every() ? 400 : 160;
    static const struct isa_row *native[MOST_ROWS];
    uint32_t n, compiled = 0, called = 0;
    const struct isa_row *rows = isa_all_rows(&n);
    if (!rig_can())
        return;
    uint32_t n_native = native_rows(native);
    for (uint64_t seed = 1; seed <= blocks; seed++) {
        uint64_t rng = seed;
        struct rig *r = rig_new();
        struct regs x;
        make_regs(r, &x);
        uint32_t length = 3 + test_random_below(&rng, 90);
        while (r->a->p.n < length) {
            const struct isa_row *row = test_random_below(&rng, 8) ? native[test_random_below(&rng, n_native)]
                                                                   : &rows[test_random_below(&rng, n)];
            if (fits(row))
                add(r, &rng, &x, row, test_random_below(&rng, 4) ? 0 : 1 + test_random_below(&rng, 2));
        }
        fill_regs(r, &rng, &x);
        if (rig_compile(r, part ? 1 : LANES_ALL)) {
            compiled++;
            r->steps = 0;
            for (int k = 0; k < FILL; k++) {
                uint32_t at;
                fill_regs(r, &rng, &x);
                if (part)
                    rig_lanes(r, rig_part(&rng));
                if (!rig_same(r, &at))
                    say(r, at, "a block", seed);
            }
            called += r->steps > 0;
        }
        rig_free(r);
    }
    ck_assert_uint_ge(compiled, blocks / 2);
    ck_assert_uint_ge(called, blocks / 8);
}
END_TEST

/* A source with .ftz is not flushed again if its line is a result with .ftz. Another result in the same register, even
 * one under a guard, is flushed: here a word of bits, which is a subnormal in some lanes. */
START_TEST(lines_without_subnormals) {
    static const char *const others[] = {"or.b32", "mul.f32"};
    const int variant = jit_level(_i);
    const bool part = variant % 2, guarded = variant / 2;
    if (!rig_can())
        return;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t rng = seed;
        uint32_t at;
        struct regs x;
        struct rig *r = rig_new();
        make_regs(r, &x);
        asm_op(r->a, "mul.ftz.f32", x.word[0], x.word[1], x.word[2], OPND_ZERO);
        asm_op(r->a, "add.ftz.f32", x.word[3], x.word[0], x.word[0], OPND_ZERO);
        asm_op(r->a, others[seed % 2], x.word[0], x.word[4], x.word[5], OPND_ZERO);
        if (guarded)
            asm_guard(r->a, x.pred[0], false);
        asm_op(r->a, "add.ftz.f32", x.word[4], x.word[0], x.word[0], OPND_ZERO);
        fill_regs(r, &rng, &x);
        ck_assert(rig_compile(r, part ? 1 : LANES_ALL));
        ck_assert_uint_eq(jit_count(r->j).native, 4);
        for (int k = 0; k < FILL; k++) {
            fill_regs(r, &rng, &x);
            if (part)
                rig_lanes(r, rig_part(&rng));
            if (!rig_same(r, &at))
                say(r, at, "a line without subnormals", seed);
        }
        rig_free(r);
    }
}
END_TEST

/* The code must contain EVEX instructions, which begin with the byte 0x62, exactly if the level is AVX-512. No other
 * byte of this block is 0x62. */
START_TEST(code_is_for_the_processor) {
    jit_level(_i);
    if (!rig_can())
        return;
    struct rig *r = rig_new();
    opnd_t a = asm_reg(r->a, 4), b = asm_reg(r->a, 4);
    uint64_t rng = 1;
    for (int i = 0; i < 3; i++)
        asm_op(r->a, "add.u32", a, a, b, OPND_ZERO);
    rig_fill(r, &rng, a, 4);
    rig_fill(r, &rng, b, 4);
    ck_assert(rig_compile(r, LANES_ALL));
    ck_assert_uint_eq(jit_count(r->j).native, 3);
    bool evex = memchr((const void *)(uintptr_t)jit_enter(r->j, 0, false), 0x62, jit_count(r->j).bytes) != NULL;
    ck_assert_int_eq(evex, isa_processor_level() == CPU_AVX512);
    rig_free(r);
}
END_TEST

/* Returns the shape of 32 addresses: `first` is the first address, `low` and `high` are the steps between lanes of each
 * half warp, and `gap` is the distance from the first lane to the second half. The address of `lane` deviates by
 * `off`. */
static enum access_shape shape_with(uint64_t first, uint64_t low, uint64_t gap, uint64_t high, uint32_t lane,
                                    uint64_t off) {
    uint64_t a[WARP_LANES];
    for (uint64_t l = 0; l < WARP_LANES; l++)
        a[l] = l < 16 ? first + l * low : first + gap + (l - 16) * high;
    a[lane] += off;
    return access_shape_of(a, 4);
}

/* Tests the classification of addresses for each half warp: consecutive 4-byte elements, one address, or any other. One
 * lane with a deviating address, even the last lane of a half, makes the class "any other". */
START_TEST(shapes_of_accesses) {
    ck_assert_int_eq(shape_with(0x1000, 4, 64, 4, 0, 0), ACCESS_ROW_ROW);
    ck_assert_int_eq(shape_with(0x1000, 4, 9000, 4, 0, 0), ACCESS_ROW_ROW);
    ck_assert_int_eq(shape_with(0x1000, 0, 0, 0, 0, 0), ACCESS_SAME_SAME);
    ck_assert_int_eq(shape_with(0x1000, 4, 8, 0, 0, 0), ACCESS_ROW_SAME);
    ck_assert_int_eq(shape_with(0x1000, 0, 8, 4, 0, 0), ACCESS_SAME_ROW);
    ck_assert_int_eq(shape_with(0x1000, 8, 8, 4, 0, 0), ACCESS_ANY);
    ck_assert_int_eq(shape_with(0x1000, 4, 64, 8, 0, 0), ACCESS_ANY);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        ck_assert_int_eq(shape_with(0x1000, 4, 64, 4, lane, 4), ACCESS_ANY);
        ck_assert_int_eq(shape_with(0x1000, 0, 64, 0, lane, 4), ACCESS_ANY);
    }
}
END_TEST

SUITE(isa_jit_ops) {
    TEST(shapes_of_accesses);
    TEST_LEVELS(code_is_for_the_processor, 1);
    TEST_LEVELS(rows_are_as_their_lane_functions, 2);
    TEST_LEVELS(rows_without_rules_call_lane_functions, 2);
    TEST_LEVELS(blocks_at_random, 2);
    TEST_LEVELS(lines_without_subnormals, 4);
}
