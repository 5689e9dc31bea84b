/* Tests each entry ("row") of the instruction table with floating-point types against float_ref. Operands are all
 * combinations of special values, and random values. A row without a reference fails. Rows of one opcode and the
 * same types differ in a modifier only (14 comparisons, 4 roundings), so they share the random values: with n such
 * rows, at most 8, each row uses every n-th warp of values. Of these warps, only a fifth are tested; with
 * HEDDLE_EVERY, each row tests all warps. */
#include "float_ref.h"
#include "isa/exec/exec.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

enum { RANDOM_LANES = 100000, MAX_SPECIALS = 96, MAX_ROWS = 4096, SHARDS = 4, MOST_SHARES = 8, ONE_OF = 5 };

/* --- values --- */

struct values {
    uint64_t v[MAX_SPECIALS];
    int n;
};
static void put(struct values *s, uint64_t v) {
    if (s->n >= MAX_SPECIALS)
        ck_abort_msg("too many specials");
    s->v[s->n++] = v;
}
/* Adds x, the two numbers next to x, and their negatives. */
static void put_around(struct values *s, enum type t, double x) {
    if (fabs(x) > float_max(t) || (x != 0 && fabs(x) < float_min(t)))
        return;
    uint64_t sign = 1ull << (8 * type_bytes(t) - 1), bits = float_encode(t, x);
    put(s, bits);
    put(s, bits | sign);
    put(s, bits + 1);
    if (x != 0)
        put(s, (bits - 1) | sign);
}
static void special_floats(struct values *s, enum type t) {
    static const double numbers[] = {0,
                                     0.5,
                                     1,
                                     1.5,
                                     2,
                                     3,
                                     127.5,
                                     255.5,
                                     256,
                                     32767.5,
                                     65535.5,
                                     2147483648.0,
                                     4294967296.0,
                                     0x1p63,
                                     0x1p64,
                                     0x1p126,
                                     0.1,
                                     0x1p-126,
                                     0x1p-14,
                                     0x1p-1022};
    uint64_t sign = 1ull << (8 * type_bytes(t) - 1);
    uint64_t inf = t == T_F64 ? 0x7ff0000000000000 : t == T_F32 ? 0x7f800000 : t == T_F16 ? 0x7c00 : 0x7f80;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_around(s, t, i == 4 || i < 2 || numbers[i] == (double)(float)numbers[i] || t == T_F64 ? numbers[i] : 0.125);
    put(s, inf);
    put(s, inf | sign);
    put(s, inf - 1); /* the greatest number */
    put(s, (inf - 1) | sign);
    put(s, inf + 1);                     /* signalling NaN */
    put(s, (inf + inf / 64) | 5 | sign); /* NaN with a payload */
    put(s, sign - 1);
}
static void special_integers(struct values *s, enum type t) {
    unsigned bits = 8 * type_bytes(t);
    for (unsigned i = 0; i < bits; i += i < 8 || i > bits - 10 ? 1 : 5) {
        put(s, 1ull << i);
        put(s, (1ull << i) - 1);
        put(s, -(1ull << i));
    }
    put(s, UINT64_MAX);
    put(s, 0x5555555555555555);
}
static void specials(struct values *s, enum type t) {
    s->n = 0;
    if (t == T_F16X2 || t == T_BF16X2) { /* a special value in one half, and another special value in the other half */
        struct values h;
        specials(&h, float_half(t));
        for (int i = 0; i < h.n; i++)
            put(s, h.v[i] << 16 | h.v[(i * 7 + 3) % h.n]);
    } else if (t == T_E4M3X2 || t == T_E5M2X2)
        for (int i = 0; i < 64; i++)
            put(s, (uint64_t)(i * 4) << 8 | (unsigned)(255 - i * 3));
    else if (type_class(t) == 'f')
        special_floats(s, t);
    else if (t == T_NONE || t == T_PRED)
        put(s, 0), put(s, 1);
    else
        special_integers(s, t);
}

/* Returns random bits, a value close to the other operand `like`, a number near 1 (so that operands are often equal or
 * similar), or an integer of random length. */
static uint64_t random_value(enum type t, uint64_t *seed, uint64_t like) {
    uint64_t r = test_random(seed), kind = test_random(seed) % 8;
    enum type h = float_half(t);
    if (h != t)
        return (random_value(h, seed, like >> 16) & 0xffff) << 16 | (random_value(h, seed, like) & 0xffff);
    if (t == T_E4M3X2 || t == T_E5M2X2 || kind < 2)
        return r;
    if (type_class(t) != 'f')
        return r >> test_random(seed) % 64;
    if (kind == 2)
        return like ^ (r & 3) ^ (r >> 8 & 1) << (8 * type_bytes(t) - 1); /* a value close to the other operand */
    int spread = kind < 5 ? 4 : kind == 5 ? 20 : kind == 6 ? 70 : 300;
    double x = ldexp(1.0 + (double)(r >> 12) * 0x1p-52, (int)(test_random(seed) % (2 * spread)) - spread);
    x = fabs(x) > float_max(t) || fabs(x) < float_min(t) ? 1.25 : x;
    /* truncates the significand, since float_encode() accepts only numbers of the format */
    int bits = t == T_F64 ? 53 : t == T_F32 ? 24 : t == T_F16 ? 11 : 8;
    int e = ilogb(x) - bits + 1, least = ilogb(float_min(t));
    x = ldexp(trunc(ldexp(x, -(e > least ? e : least))), e > least ? e : least);
    return float_encode(t, x) | (r & 1) << (8 * type_bytes(t) - 1);
}

/* --- inputs: rows with the same operand types share them --- */

/* One operand of all lanes: register values or a mask, in the layout that lane functions use. */
union buffer {
    uint8_t u8[WARP_LANES];
    uint16_t u16[WARP_LANES];
    uint32_t u32[WARP_LANES];
    uint64_t u64[WARP_LANES];
    rowmask_t mask;
};
static void buffer_put(union buffer *b, enum type t, int l, uint64_t v) {
    switch (type_bytes(t)) {
    case 0:
        b->mask = (b->mask & ~(1u << l)) | (rowmask_t)(v & 1) << l;
        break;
    case 1:
        b->u8[l] = (uint8_t)v;
        break;
    case 2:
        b->u16[l] = (uint16_t)v;
        break;
    case 4:
        b->u32[l] = (uint32_t)v;
        break;
    default:
        b->u64[l] = v;
    }
}
static uint64_t buffer_get(const union buffer *b, unsigned bytes, int l) {
    switch (bytes) {
    case 0:
        return b->mask >> l & 1;
    case 1:
        return b->u8[l];
    case 2:
        return b->u16[l];
    case 4:
        return b->u32[l];
    default:
        return b->u64[l];
    }
}
static uint64_t masked(enum type t, uint64_t v) {
    unsigned bytes = type_bytes(t);
    return bytes == 0 ? v & 1 : bytes == 8 ? v : v & ((1ull << 8 * bytes) - 1);
}

struct inputs {
    enum type a, b, c;
    int lanes, special; /* lanes: number of all input lanes; special: number of lanes with special values */
    struct {
        union buffer a, b, c;
    } warps[(MAX_SPECIALS * MAX_SPECIALS + RANDOM_LANES) / WARP_LANES + 1];
};
static void inputs_add(struct inputs *in, uint64_t a, uint64_t b, uint64_t c) {
    int w = in->lanes / WARP_LANES, l = in->lanes % WARP_LANES;
    /* this is no assertion, because an assertion records its location each time, which would be slow here */
    if (w >= (int)(sizeof in->warps / sizeof in->warps[0]))
        ck_abort_msg("too many lanes");
    buffer_put(&in->warps[w].a, in->a, l, a);
    buffer_put(&in->warps[w].b, in->b, l, b);
    buffer_put(&in->warps[w].c, in->c, l, c);
    in->lanes++;
}
/* Fills in all combinations of special values of two operands, with a varying third operand, then random values. */
static void inputs_fill(struct inputs *in, const struct isa_row *row) {
    memset(in, 0, sizeof *in);
    in->a = row->a, in->b = row->b, in->c = row->c;
    struct values a, b, c;
    specials(&a, in->a);
    specials(&b, in->b);
    specials(&c, in->c);
    int turn = 0;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < b.n; j++)
            inputs_add(in, a.v[i], b.v[j], c.v[turn++ % c.n]);
    in->special = in->lanes;
    uint64_t seed = in->a + in->b * 32u + in->c * 1024u;
    for (int i = 0; i < RANDOM_LANES || in->lanes % WARP_LANES; i++) {
        uint64_t x = random_value(in->a, &seed, 0), y = random_value(in->b, &seed, x);
        inputs_add(in, x, y, random_value(in->c, &seed, x));
    }
}

/* --- execution of a row --- */

static void wrong(const struct isa_row *row, const struct lane *x, uint64_t got, uint64_t got2,
                  const struct lane *want) {
    char name[64];
    isa_row_name(row, name, sizeof name);
    ck_abort_msg("%s: a %llx b %llx c %llx gives %llx|%llx, not %llx|%llx", name, (unsigned long long)x->a,
                 (unsigned long long)x->b, (unsigned long long)x->c, (unsigned long long)got, (unsigned long long)got2,
                 (unsigned long long)want->d, (unsigned long long)want->d2);
}
static void check_warp(const struct isa_row *row, const struct inputs *in, int w) {
    static const union buffer zero;
    static union buffer d, d2;
    unsigned na = type_bytes(in->a), nb = type_bytes(in->b), nc = type_bytes(in->c), nd = type_bytes(row->d);
    bool near = float_ref_is_near(row);
    row->fn.lane(&d, &d2, &in->warps[w].a, &in->warps[w].b, &in->warps[w].c, &zero);
    for (int l = 0; l < WARP_LANES; l++) {
        struct lane x = {0, 0, buffer_get(&in->warps[w].a, na, l), buffer_get(&in->warps[w].b, nb, l),
                         buffer_get(&in->warps[w].c, nc, l)};
        struct lane want = x;
        uint64_t got = buffer_get(&d, nd, l), got2 = row->d2 == T_NONE ? 0 : buffer_get(&d2, type_bytes(row->d2), l);
        bool ok;
        if (near)
            ok = float_ref_near(row, &x, got);
        else
            ok = float_ref(row, &want) && got == masked(row->d, want.d) && (row->d2 == T_NONE || got2 == want.d2);
        if (!ok)
            wrong(row, &x, got, got2, &want);
    }
}

/* --- the sweeps --- */

static bool any_float(const struct isa_row *row) {
    for (int i = 0; i < 3; i++)
        if (type_class(row->types[i]) == 'f')
            return true;
    return false;
}
/* Returns true for rows that isa_narrow and isa_forms test instead. */
static bool is_tested_elsewhere(const struct isa_row *row) {
    static const uint8_t types[] = {T_F32X2,  T_E2M3X2, T_E3M2X2, T_E2M1X2, T_UE8M0X2, T_E4M3X4, T_E5M2X4,
                                    T_E2M3X4, T_E3M2X4, T_E2M1X4, T_U4,     T_S4,      T_U2,     T_S2};
    for (int i = 0; i < 2; i++)
        if (memchr(types, row->types[i], sizeof types))
            return true;
    bool bytes = row->types[0] == T_E4M3X2 || row->types[0] == T_E5M2X2;
    return form_get(row->form, CAT_OOB) || form_get(row->form, CAT_RND) == RND_RS ||
           (bytes && row->types[1] == T_BF16X2);
}
/* Returns true for rows that this file tests: conversions, and rows with a floating-point type. For set and slct, only
 * the type of the compared operands counts. */
static bool is_tested_here(const struct isa_row *row) {
    if (row->last_version || is_tested_elsewhere(row)) /* the test old_spellings covers rows with last_version */
        return false;
    if (row->op == OP_SET || row->op == OP_SLCT)
        return type_class(row->types[1]) == 'f';
    return row->op == OP_CVT || any_float(row);
}
static int by_operands(const void *x, const void *y) {
    const struct isa_row *p = *(const struct isa_row *const *)x, *q = *(const struct isa_row *const *)y;
    int i = p->a << 16 | p->b << 8 | p->c, j = q->a << 16 | q->b << 8 | q->c;
    return i != j ? i - j : (p > q) - (p < q);
}
static bool alike(const struct isa_row *x, const struct isa_row *y) {
    return x->op == y->op && memcmp(x->types, y->types, sizeof x->types) == 0;
}
/* Returns the number of rows among the sorted `rows` that share random values with rows[at], at most MOST_SHARES.
 * Stores the index of rows[at] among these rows in *own. */
static int shares(const struct isa_row *const *rows, int n, int at, int *own) {
    int like = 0;
    *own = 0;
    for (int i = 0; i < n && !test_every(); i++)
        if (alike(rows[i], rows[at])) {
            like++;
            *own += i < at;
        }
    int share = (like > MOST_SHARES ? MOST_SHARES : like > 1 ? like : 1) * (test_every() ? 1 : ONE_OF);
    *own %= share;
    return share;
}
/* Tests part number `shard` of SHARDS equal parts of the rows of these opcodes. Returns the number of rows in all
 * parts. */
static int sweep(int shard, const enum op_id *ops, int n_ops) {
    static const struct isa_row *rows[MAX_ROWS];
    int found = 0;
    for (int i = 0; i < n_ops; i++) {
        uint32_t n;
        const struct isa_row *all = isa_op_rows(ops[i], &n);
        for (uint32_t j = 0; j < n; j++)
            if (is_tested_here(&all[j])) {
                ck_assert_int_lt(found, MAX_ROWS);
                rows[found++] = &all[j];
            }
    }
    qsort(rows, (size_t)found, sizeof rows[0], by_operands);
    struct inputs *in = calloc(1, sizeof *in);
    ck_assert_ptr_nonnull(in);
    for (int i = found * shard / SHARDS; i < found * (shard + 1) / SHARDS; i++) {
        if (!in->lanes || in->a != rows[i]->a || in->b != rows[i]->b || in->c != rows[i]->c)
            inputs_fill(in, rows[i]);
        int own, share = shares(rows, found, i, &own), special = in->special / WARP_LANES + 1;
        for (int w = 0; w < in->lanes / WARP_LANES; w += w + 1 < special ? 1 : w < special ? 1 + own : share)
            check_warp(rows[i], in, w);
    }
    free(in);
    return found;
}
#define SWEEP(...) sweep(_i, (enum op_id[]){__VA_ARGS__}, sizeof((enum op_id[]){__VA_ARGS__}) / sizeof(enum op_id))

START_TEST(sums_and_products) {
    /* Expected numbers of rows for each of add, sub and mul:
     * - f32: 5 roundings (one of them is no modifier) x ftz x sat
     * - f64: 5 roundings
     * - f16 and f16x2: 2 roundings x ftz x sat; bf16 and bf16x2: 2
     * Also add and sub of f32 with an f16 or bf16: 5 roundings x sat x 2 types. */
    ck_assert_int_eq(SWEEP(OP_ADD, OP_SUB, OP_MUL), 3 * (5 * 4 + 5 + 2 * 2 * 4 + 2 * 2) + 2 * 20);
}
END_TEST
START_TEST(fused) {
    /* Expected numbers of rows. fma: f32 4 x 4, f64 4, f16 and f16x2 6 each, bf16 and bf16x2 2 each. mad: f32 5 x 4,
     * f64 5. fma of an f16 or bf16 product and an f32: 4 x sat x 2 types. */
    ck_assert_int_eq(SWEEP(OP_FMA, OP_MAD), 16 + 4 + 12 + 4 + 25 + 16);
    /* f32 with and without ftz, f64: 3 rows each */
    ck_assert_int_eq(SWEEP(OP_MUL_ADD, OP_MUL_SUB, OP_SUB_MUL), 3 * 3);
    ck_assert_int_eq(SWEEP(OP_FMA_SUB, OP_SUB_FMA, OP_NEG_FMA), 3 * 3);
}
END_TEST
START_TEST(quotients_and_roots) {
    /* Expected numbers of rows:
     * - rounded forms of div, rcp and sqrt: f32 4 roundings x ftz, f64 4 roundings
     * - approximate forms of all four instructions, and div.full: f32 with and without ftz
     * - approximate forms of f64: rcp 1, rsqrt 2 */
    ck_assert_int_eq(SWEEP(OP_DIV, OP_RCP, OP_SQRT, OP_RSQRT), 3 * 12 + 2 * 5 + 1 + 2);
}
END_TEST
START_TEST(signs_and_extremes) {
    /* Expected numbers of rows:
     * - abs and neg: f32 2, f64 1, f16 and f16x2 2 each, bf16 and bf16x2 1 each
     * - copysign: f32 1, f64 1
     * - min and max: f32 8, f64 1, f16 and f16x2 8 each, bf16 and bf16x2 4 each; f32 with three operands and .abs 4
     * - MIN3 and MAX3, which are min and max with three operands and without .abs: f32 4 */
    ck_assert_int_eq(SWEEP(OP_ABS, OP_NEG, OP_COPYSIGN, OP_MIN, OP_MAX), 2 * 9 + 2 + 2 * 33 + 2 * 4);
    ck_assert_int_eq(SWEEP(OP_MIN3, OP_MAX3), 2 * 4);
}
END_TEST
START_TEST(comparisons) {
    /* Expected numbers of rows. setp: 14 comparisons x 4 boolean operations x 9 (f32 2, f64 1, f16 2, bf16 1, f16x2 2,
     * bf16x2 1). testp: 6 x 2. slct: 11 x 2. */
    ck_assert_int_eq(SWEEP(OP_SETP), 14 * 4 * 9);
    ck_assert_int_eq(SWEEP(OP_TESTP, OP_SLCT), 12 + 22);
}
END_TEST
START_TEST(set_as_numbers) {
    /* Expected number of rows: 14 comparisons x 4 boolean operations x 39 pairs of a compared type and a result type.
     * By the compared type these pairs are f32 2 x 4 + 1, f64 5, f16 2 x 5 + 1, bf16 5, f16x2 2 x 3, bf16x2 3. */
    ck_assert_int_eq(SWEEP(OP_SET), 14 * 4 * 39);
}
END_TEST
START_TEST(conversions) {
    /* Expected numbers of rows (bf16 has no .sat):
     * - between integers: 64, and 38 that can saturate
     * - from integers to floats, and from floats to integers: 288 each = 8 integer types x 4 rounding modes x 9. The 9
     *   are f16, f32, f32 with ftz and f64, each with and without .sat, and bf16.
     * - to a narrower float: 4 x (4 x 2 + 2 x 2 + 3); to a wider float: 4 + 2 + 2 + 1 + 4; to equal width: 4 x 2 + 1
     * - to an integral value: 4 x (4 x 2 + 1)
     * - f16 and bf16 with .relu or .satfinite: 2 x 2 x 3; pairs: 2 x 2 x 4
     * - tf32: 10; one-byte formats: 4 + 4 + 4; pack: 4 */
    ck_assert_int_eq(SWEEP(OP_CVT), 64 + 38 + 288 + 288 + 60 + 13 + 9 + 36 + 12 + 16 + 10 + 12 + 4);
}
END_TEST
START_TEST(approximations_keep_their_bounds) {
    /* Expected numbers of rows: sin, cos, lg2 and ex2 of f32, each with and without ftz, and tanh of f32; ex2 and tanh
     * of four 16-bit types. */
    ck_assert_int_eq(SWEEP(OP_SIN, OP_COS, OP_LG2, OP_EX2, OP_TANH), 9 + 8);
}
END_TEST

/* In PTX 1.0 to 1.3, these spellings without modifiers had the meaning of the new spelling beside them. */
static const struct {
    const char *old, *now;
} spellings[] = {
    {"div.f32", "div.approx.ftz.f32"},     {"div.f64", "div.rn.f64"},
    {"rcp.f32", "rcp.approx.ftz.f32"},     {"rcp.f64", "rcp.rn.f64"},
    {"sqrt.f32", "sqrt.approx.ftz.f32"},   {"sqrt.f64", "sqrt.rn.f64"},
    {"rsqrt.f32", "rsqrt.approx.ftz.f32"}, {"rsqrt.f64", "rsqrt.approx.f64"},
    {"sin.f32", "sin.approx.ftz.f32"},     {"cos.f32", "cos.approx.ftz.f32"},
    {"lg2.f32", "lg2.approx.ftz.f32"},     {"ex2.f32", "ex2.approx.ftz.f32"},
};
START_TEST(old_spellings) {
    struct decoded old, now;
    struct decode_error why;
    ck_assert(isa_decode(spellings[_i].old, (uint32_t)strlen(spellings[_i].old), &old, &why));
    ck_assert(isa_decode(spellings[_i].now, (uint32_t)strlen(spellings[_i].now), &now, &why));
    ck_assert(old.row->fn.lane == now.row->fn.lane);
    ck_assert_int_eq(old.row->latency, now.row->latency);
    ck_assert_int_eq(old.row->last_version, 13);
    ck_assert_int_eq(now.row->last_version, 0);
}
END_TEST

SUITE(isa_exec_float) {
    TEST_LOOP(old_spellings, 0, sizeof spellings / sizeof spellings[0]);
    TEST_LOOP(sums_and_products, 0, SHARDS);
    TEST_LOOP(fused, 0, SHARDS);
    TEST_LOOP(quotients_and_roots, 0, SHARDS);
    TEST_LOOP(signs_and_extremes, 0, SHARDS);
    TEST_LOOP(comparisons, 0, SHARDS);
    TEST_LOOP(set_as_numbers, 0, SHARDS);
    TEST_LOOP(conversions, 0, SHARDS);
    TEST_LOOP(approximations_keep_their_bounds, 0, SHARDS);
}
