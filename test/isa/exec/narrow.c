/* Tests floating-point formats of one byte or less, ue8m0, and stochastic rounding. The reference finds the two
 * neighbouring numbers of the format that enclose |x|, and selects one of them by the rounding mode. */
#include "isa/decode.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

enum { RANDOM_WARPS = 600 };

/* --- formats --- */

/* What the last encodings of a format are: infinity and NaNs, a NaN only, or numbers. */
enum ends { ENDS_INF_NAN, ENDS_NAN, ENDS_NUMBER };
struct format {
    const char *name;
    int exponent, mantissa, bias;
    enum ends ends;
};
static const struct format e4m3 = {"e4m3", 4, 3, 7, ENDS_NAN}, e5m2 = {"e5m2", 5, 2, 15, ENDS_INF_NAN},
                           e2m3 = {"e2m3", 2, 3, 1, ENDS_NUMBER}, e3m2 = {"e3m2", 3, 2, 3, ENDS_NUMBER},
                           e2m1 = {"e2m1", 2, 1, 1, ENDS_NUMBER}, f16 = {"f16", 5, 10, 15, ENDS_INF_NAN},
                           bf16 = {"bf16", 8, 7, 127, ENDS_INF_NAN};

static uint32_t codes(const struct format *f) { return 1u << (f->exponent + f->mantissa); }
static uint32_t sign_of(const struct format *f) { return codes(f); }
static uint32_t nan_of(const struct format *f) {
    return f->ends == ENDS_NUMBER ? codes(f) - 1 : codes(f) == 128 ? 0x7f : 0x7fff;
}
/* Returns the number of finite encodings without sign. If the format has an infinity, its encoding follows them. */
static uint32_t numbers(const struct format *f) {
    return f->ends == ENDS_INF_NAN ? codes(f) - (1u << f->mantissa) : f->ends == ENDS_NAN ? codes(f) - 1 : codes(f);
}
/* Returns the magnitude of an encoding without sign. Also works beyond the last finite encoding. */
static double number(const struct format *f, uint32_t code) {
    uint32_t e = code >> f->mantissa, m = code & ((1u << f->mantissa) - 1);
    return e ? ldexp((double)(m + (1u << f->mantissa)), (int)e - f->bias - f->mantissa)
             : ldexp((double)m, 1 - f->bias - f->mantissa);
}
/* Returns the value of an encoding; NAN if it is a NaN. */
static double value(const struct format *f, uint32_t code) {
    uint32_t mag = code & (codes(f) - 1);
    double x = mag < numbers(f) ? number(f, mag) : f->ends == ENDS_INF_NAN && mag == numbers(f) ? INFINITY : NAN;
    return code & sign_of(f) ? -x : x;
}

/* How a number is rounded: to nearest even if n is 0, otherwise stochastically with the n random bits in `random`. */
struct rounding {
    uint32_t random;
    int n;
};
static uint32_t convert(const struct format *f, float source, struct rounding r, bool satfinite, bool relu) {
    double x = fabs((double)source);
    if (isnan(source))
        return nan_of(f);
    if (relu && source <= 0)
        return 0;
    uint32_t sign = signbit(source) ? sign_of(f) : 0, low = 0, high = numbers(f);
    if (isinf(source))
        return sign | (satfinite ? numbers(f) - 1 : numbers(f));
    if (x >= number(f, high)) /* x is at least the number that would follow the greatest number of the format */
        return sign | (satfinite ? numbers(f) - 1 : numbers(f));
    if (x >= number(f, 1)) { /* starts in the binade of x, which makes the search shorter */
        int e = ilogb(x) + f->bias;
        low = e < 1 ? 1 : (uint32_t)e << f->mantissa;
        high = e < 1 ? 1u << f->mantissa : (uint32_t)(e + 1) << f->mantissa;
        high = high < numbers(f) ? high : numbers(f);
    } else {
        high = 1;
    }
    while (high - low > 1) { /* number(low) <= x < number(high) */
        uint32_t middle = (low + high) / 2;
        if (number(f, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    /* exact, because the divisor is a power of two */
    double part = (x - number(f, low)) / (number(f, high) - number(f, low));
    bool up = r.n ? floor(part * ldexp(1, r.n)) + r.random >= ldexp(1, r.n) : part > 0.5 || (part == 0.5 && (low & 1));
    uint32_t code = up ? high : low;
    return sign | (code == numbers(f) && satfinite ? code - 1 : code);
}

/* --- values --- */

/* Returns test value number i: special values of f32 first; then, for each number of the format, the number itself, its
 * midpoint with the next number, and the two f32 neighbours of this midpoint. */
static float special(uint32_t i, const struct format *f) {
    static const uint32_t bits[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
                                    0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x00400000, 0x00400001,
                                    0x003fffff, 0x3f800000, 0xbf800001, 0x42fe0000, 0x477fe000, 0x477ff000, 0x477fefff};
    enum { FIXED = sizeof bits / sizeof bits[0] };
    if (i < FIXED) {
        float x;
        memcpy(&x, &bits[i], sizeof x);
        return x;
    }
    i -= FIXED;
    double x = number(f, i / 4 % (numbers(f) + 1));
    double y = number(f, i / 4 % (numbers(f) + 1) + 1);
    float at = (float)(i % 4 == 0 ? x : (x + y) / 2);
    at = i % 4 == 2 ? nextafterf(at, INFINITY) : i % 4 == 3 ? nextafterf(at, 0) : at;
    return i / 4 & 1 ? -at : at;
}
static float any(uint64_t *seed, const struct format *f) {
    uint64_t r = test_random(seed), kind = test_random(seed) % 8;
    if (kind < 3)
        return special((uint32_t)(r % (4 * (uint64_t)numbers(f) + 30)), f);
    uint32_t bits = (uint32_t)r;
    if (kind < 7) /* an exponent from -20 to 11, near the exponents of the format */
        bits = (bits & 0x807fffff) + ((uint32_t)(r >> 40) % 32 + 107) * 0x00800000;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static const struct isa_row *row_of(const char *opcode) {
    struct decoded d;
    struct decode_error why;
    if (!isa_decode(opcode, (uint32_t)strlen(opcode), &d, &why))
        ck_abort_msg("%s: %s", opcode, why.message);
    return d.row;
}

union lanes {
    uint8_t b1[WARP_LANES];
    uint16_t b2[WARP_LANES];
    uint32_t b4[WARP_LANES];
    float f[WARP_LANES];
};
static uint32_t lane(const union lanes *u, enum type t, int l) {
    return type_bytes(t) == 1 ? u->b1[l] : type_bytes(t) == 2 ? u->b2[l] : u->b4[l];
}
static void run(const struct isa_row *row, union lanes *d, const union lanes *a, const union lanes *b,
                const union lanes *c) {
    union lanes d2;
    memset(d, 0xee, sizeof *d);
    row->fn.lane(d, &d2, a, b, c, c);
}

/* --- two numbers --- */

static const struct {
    const char *type;
    const struct format *f;
    int apart; /* bit position of the first number in the result */
} pairs[] = {
    {"e4m3x2", &e4m3, 8}, {"e5m2x2", &e5m2, 8}, {"e2m3x2", &e2m3, 8}, {"e3m2x2", &e3m2, 8}, {"e2m1x2", &e2m1, 4}};
enum { N_PAIRS = sizeof pairs / sizeof pairs[0] };

static void check_pairs(const char *type, const struct format *f, int apart, bool relu) {
    char opcode[64];
    union lanes a, b, d;
    uint64_t seed = 1;
    snprintf(opcode, sizeof opcode, "cvt.rn.satfinite%s.%s.f32", relu ? ".relu" : "", type);
    const struct isa_row *row = row_of(opcode);
    for (uint32_t i = 0; i < RANDOM_WARPS * WARP_LANES; i += WARP_LANES) {
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            a.f[l] = i < 4 * codes(f) + 64 ? special(i + l, f) : any(&seed, f);
            b.f[l] = any(&seed, f);
        }
        run(row, &d, &a, &b, &b);
        for (int l = 0; l < WARP_LANES; l++) {
            struct rounding nearest = {0, 0};
            uint32_t want = convert(f, a.f[l], nearest, true, relu) << apart | convert(f, b.f[l], nearest, true, relu);
            EXPECT(lane(&d, row->d, l) == want, "%s: %a, %a gives %x, not %x", opcode, (double)a.f[l], (double)b.f[l],
                   lane(&d, row->d, l), want);
        }
    }
}
START_TEST(f32_to_two) {
    check_pairs(pairs[_i].type, pairs[_i].f, pairs[_i].apart, false);
    check_pairs(pairs[_i].type, pairs[_i].f, pairs[_i].apart, true);
}
END_TEST

static void check_halves(const char *type, const struct format *f, int apart, const char *source,
                         const struct format *half) {
    for (int relu = 0; relu < 2; relu++) {
        char opcode[64];
        union lanes a, d;
        snprintf(opcode, sizeof opcode, "cvt.rn%s.satfinite.%s.%s", relu ? ".relu" : "", type, source);
        const struct isa_row *row = row_of(opcode);
        /* the low half takes all values in order, and the high half varies with it */
        for (uint32_t i = 0; i < 0x10000; i += relu ? 7 * WARP_LANES : WARP_LANES) {
            for (uint32_t l = 0; l < WARP_LANES; l++)
                a.b4[l] = (i + l) | ((i + l) * 40503u & 0xffff) << 16;
            run(row, &d, &a, &a, &a);
            for (int l = 0; l < WARP_LANES; l++) {
                struct rounding nearest = {0, 0};
                uint32_t want = convert(f, (float)value(half, a.b4[l] >> 16), nearest, true, relu) << apart |
                                convert(f, (float)value(half, a.b4[l] & 0xffff), nearest, true, relu);
                EXPECT(lane(&d, row->d, l) == want, "%s: %x gives %x, not %x", opcode, a.b4[l], lane(&d, row->d, l),
                       want);
            }
        }
    }
}
START_TEST(halves_to_two) {
    check_halves(pairs[_i].type, pairs[_i].f, pairs[_i].apart, "f16x2", &f16);
    check_halves(pairs[_i].type, pairs[_i].f, pairs[_i].apart, "bf16x2", &bf16);
}
END_TEST

/* Tests each pair of encodings. Bits that the format ignores are set in some cases. */
START_TEST(two_to_halves) {
    const struct format *f = pairs[_i].f;
    uint32_t mask = 2 * codes(f) - 1, all = pairs[_i].apart == 4 ? 0x100 : 0x10000;
    for (int relu = 0; relu < 2; relu++) {
        char opcode[64];
        union lanes a, d;
        snprintf(opcode, sizeof opcode, "cvt.rn%s.f16x2.%s", relu ? ".relu" : "", pairs[_i].type);
        const struct isa_row *row = row_of(opcode);
        for (uint32_t i = 0; i < all; i += WARP_LANES) {
            for (uint32_t l = 0; l < WARP_LANES; l++)
                if (all == 0x100)
                    a.b1[l] = (uint8_t)(i + l);
                else
                    a.b2[l] = (uint16_t)(i + l);
            run(row, &d, &a, &a, &a);
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                struct rounding exact = {0, 0};
                uint32_t high = convert(&f16, (float)value(f, (i + l) >> pairs[_i].apart & mask), exact, false, relu);
                uint32_t low = convert(&f16, (float)value(f, (i + l) & mask), exact, false, relu);
                EXPECT(d.b4[l] == (high << 16 | low), "%s: %x gives %x, not %x", opcode, i + l, d.b4[l],
                       high << 16 | low);
            }
        }
    }
}
END_TEST

/* Tests encodings that were derived by hand. The greatest numbers are 448 (e4m3), 57344 (e5m2), 7.5 (e2m3), 28 (e3m2)
 * and 6 (e2m1). Half of the smallest positive number is rounded to 0. */
START_TEST(two_by_hand) {
    static const struct {
        const char *opcode;
        float a, b;
        uint32_t d;
    } by_hand[] = {
        {"cvt.rn.satfinite.e4m3x2.f32", 448, -1, 0x7eb8},     {"cvt.rn.satfinite.e4m3x2.f32", 1e9f, 0x1p-10f, 0x7e00},
        {"cvt.rn.satfinite.e5m2x2.f32", 57344, -2, 0x7bc0},   {"cvt.rn.satfinite.e2m3x2.f32", 7.5f, -1, 0x1f28},
        {"cvt.rn.satfinite.e2m3x2.f32", 100, 0.125f, 0x1f01}, {"cvt.rn.satfinite.e3m2x2.f32", 28, -0.0625f, 0x1f21},
        {"cvt.rn.satfinite.e2m1x2.f32", 6, -0.5f, 0x79},      {"cvt.rn.satfinite.e2m1x2.f32", -7, 0.25f, 0xf0},
        {"cvt.rn.satfinite.e2m1x2.f32", NAN, 2.5f, 0x74},     {"cvt.rn.satfinite.relu.e2m1x2.f32", -3, 3, 0x05},
        {"cvt.rn.satfinite.e4m3x2.f32", -NAN, -0.0f, 0x7f80},
    };
    union lanes a = {.f = {by_hand[_i].a}}, b = {.f = {by_hand[_i].b}}, d;
    const struct isa_row *row = row_of(by_hand[_i].opcode);
    run(row, &d, &a, &b, &b);
    ck_assert_uint_eq(lane(&d, row->d, 0), by_hand[_i].d);
}
END_TEST

/* --- ue8m0 --- */

/* Returns the ue8m0 code of a power of two, 2^(code - 127): of the greatest power not above |x|, or of the least power
 * not below |x|. Code 0 also stands for smaller values; 255 is NaN. */
static uint32_t scale(float x, bool up, bool satfinite) {
    double mag = fabs((double)x);
    uint32_t code = 0;
    if (isnan(x))
        return 255;
    if (isinf(x))
        return satfinite ? 254 : 255;
    if (mag >= 0x1p-126)
        code = (uint32_t)(ilogb(mag) + 127);
    if (up && ldexp(1, (int)code - 127) < mag)
        code++;
    return code == 255 && satfinite ? 254 : code;
}
START_TEST(scales) {
    bool up = _i & 1, satfinite = _i & 2;
    char opcode[64];
    union lanes a, b, d;
    uint64_t seed = 3;
    snprintf(opcode, sizeof opcode, "cvt.%s%s.ue8m0x2.f32", up ? "rp" : "rz", satfinite ? ".satfinite" : "");
    const struct isa_row *row = row_of(opcode);
    for (int i = 0; i < RANDOM_WARPS; i++) {
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            a.f[l] = i == 0 ? special(l, &bf16) : any(&seed, &bf16);
            b.b4[l] = (uint32_t)test_random(&seed);
        }
        run(row, &d, &a, &b, &b);
        for (int l = 0; l < WARP_LANES; l++)
            EXPECT(d.b2[l] == (scale(a.f[l], up, satfinite) << 8 | scale(b.f[l], up, satfinite)),
                   "%s: lane %d gives %x", opcode, l, d.b2[l]);
    }
    snprintf(opcode, sizeof opcode, "cvt.%s%s.ue8m0x2.bf16x2", up ? "rp" : "rz", satfinite ? ".satfinite" : "");
    row = row_of(opcode);
    for (uint32_t i = 0; i < 0x10000; i += WARP_LANES) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            a.b4[l] = (i + l) << 16 | ((i + l) * 40503u & 0xffff);
        run(row, &d, &a, &a, &a);
        for (int l = 0; l < WARP_LANES; l++)
            EXPECT(d.b2[l] == (scale((float)value(&bf16, a.b4[l] >> 16), up, satfinite) << 8 |
                               scale((float)value(&bf16, a.b4[l] & 0xffff), up, satfinite)),
                   "%s: lane %d gives %x", opcode, l, d.b2[l]);
    }
}
END_TEST
START_TEST(scales_widen) {
    const struct isa_row *row = row_of("cvt.rn.bf16x2.ue8m0x2");
    for (uint32_t i = 0; i < 256; i += WARP_LANES) {
        union lanes a, d;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            a.b2[l] = (uint16_t)((i + l) << 8 | (255 - i - l));
        run(row, &d, &a, &a, &a);
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            EXPECT(i + l == 255 ? d.b4[l] >> 16 == 0x7fff : value(&bf16, d.b4[l] >> 16) == ldexp(1, (int)(i + l) - 127),
                   "%u gives %x", i + l, d.b4[l]);
            EXPECT(i + l == 0 ? (d.b4[l] & 0xffff) == 0x7fff
                              : value(&bf16, d.b4[l] & 0xffff) == ldexp(1, 128 - (int)(i + l)),
                   "%u gives %x", i + l, d.b4[l]);
        }
    }
}
END_TEST

/* --- stochastic rounding --- */

START_TEST(random_halves) {
    const struct format *f = _i & 1 ? &bf16 : &f16;
    bool satfinite = _i & 2, relu = _i & 4;
    int n = _i & 1 ? 16 : 13;
    uint32_t mask = (1u << n) - 1;
    char opcode[64];
    union lanes a, b, c, d;
    uint64_t seed = 5;
    snprintf(opcode, sizeof opcode, "cvt.rs%s%s.%sx2.f32", relu ? ".relu" : "", satfinite ? ".satfinite" : "", f->name);
    const struct isa_row *row = row_of(opcode);
    for (int i = 0; i < RANDOM_WARPS; i++) {
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            a.f[l] = i == 0 ? special(l, f) : any(&seed, f);
            b.f[l] = any(&seed, f);
            c.b4[l] = i % 8 == 0 ? (uint32_t) - (int)(l & 1) : (uint32_t)test_random(&seed);
        }
        run(row, &d, &a, &b, &c);
        for (int l = 0; l < WARP_LANES; l++) {
            uint32_t want = convert(f, a.f[l], (struct rounding){c.b4[l] >> 16 & mask, n}, satfinite, relu) << 16 |
                            convert(f, b.f[l], (struct rounding){c.b4[l] & mask, n}, satfinite, relu);
            EXPECT(d.b4[l] == want, "%s: %a, %a, %x gives %x, not %x", opcode, (double)a.f[l], (double)b.f[l], c.b4[l],
                   d.b4[l], want);
        }
    }
}
END_TEST

static uint32_t reversed(uint32_t byte) {
    uint32_t r = 0;
    for (int i = 0; i < 8; i++)
        r |= (byte >> i & 1) << (7 - i);
    return r;
}
/* Converts four numbers as lowering does it, in two steps of two numbers. exec_cvt_pack.c defines the random bits. */
START_TEST(random_four) {
    const struct format *f = pairs[_i % N_PAIRS].f;
    bool relu = _i >= N_PAIRS, small = f == &e2m1;
    int apart = pairs[_i % N_PAIRS].apart;
    char opcode[64];
    union lanes a, b, e, g, c, first, d;
    uint64_t seed = 7;
    snprintf(opcode, sizeof opcode, "cvt.rs%s.satfinite.%sx4.f32", relu ? ".relu" : "", f->name);
    const struct isa_row *row = row_of(opcode),
                         *half = isa_find_row(OP_RSPAIR, row->types[0], row->types[1], row->form);
    ck_assert_ptr_nonnull(half);
    for (int i = 0; i < RANDOM_WARPS; i++) {
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            a.f[l] = i < 8 ? special(l + (uint32_t)i * 32, f) : any(&seed, f);
            b.f[l] = any(&seed, f);
            e.f[l] = any(&seed, f);
            g.f[l] = any(&seed, f);
            c.b4[l] = i % 8 == 0 ? (uint32_t) - (int)(l & 1) : (uint32_t)test_random(&seed);
        }
        run(half, &first, &a, &b, &c);
        run(row, &d, &e, &g, &first);
        for (int l = 0; l < WARP_LANES; l++) {
            uint32_t r = c.b4[l], ab = small ? (r >> 16 & 0xff00) | (r >> 8 & 0xff) : r >> 16,
                     eg = small ? (r >> 8 & 0xff00) | (r & 0xff) : r & 0xffff;
            uint32_t want = 0;
            want = want << apart | convert(f, a.f[l], (struct rounding){reversed(ab & 0xff), 8}, true, relu);
            want = want << apart | convert(f, b.f[l], (struct rounding){ab >> 8, 8}, true, relu);
            want = want << apart | convert(f, e.f[l], (struct rounding){reversed(eg & 0xff), 8}, true, relu);
            want = want << apart | convert(f, g.f[l], (struct rounding){eg >> 8, 8}, true, relu);
            EXPECT(lane(&d, row->d, l) == want, "%s: %a, %a, %a, %a, %x gives %x, not %x", opcode, (double)a.f[l],
                   (double)b.f[l], (double)e.f[l], (double)g.f[l], r, lane(&d, row->d, l), want);
        }
    }
}
END_TEST

/* The first f16 number above 1 is 1 + 2^-10. The number 1 + 2^-10 * k / 8192 lies between them, so exactly k of the
 * 8192 random values must round it up. */
START_TEST(random_is_fair) {
    const struct isa_row *row = row_of("cvt.rs.f16x2.f32");
    for (uint32_t k = 0; k < 8192; k += 1023) {
        uint32_t ups = 0;
        for (uint32_t i = 0; i < 8192; i += WARP_LANES) {
            union lanes a, c, d;
            for (uint32_t l = 0; l < WARP_LANES; l++) {
                a.b4[l] = 0x3f800000 + k;
                c.b4[l] = i + l;
            }
            run(row, &d, &a, &a, &c);
            for (int l = 0; l < WARP_LANES; l++)
                ups += (d.b4[l] & 0xffff) == 0x3c01;
        }
        ck_assert_uint_eq(ups, k);
    }
}
END_TEST

/* --- cvt.pack to types of less than a byte --- */

START_TEST(packed_below_bytes) {
    static const struct {
        const char *opcode;
        int bits, min, max;
    } packs[] = {{"cvt.pack.sat.u4.s32.b32", 4, 0, 15},
                 {"cvt.pack.sat.s4.s32.b32", 4, -8, 7},
                 {"cvt.pack.sat.u2.s32.b32", 2, 0, 3},
                 {"cvt.pack.sat.s2.s32.b32", 2, -2, 1}};
    const struct isa_row *row = row_of(packs[_i].opcode);
    uint64_t seed = 11;
    for (int i = 0; i < 200; i++) {
        union lanes a, b, c, d;
        for (int l = 0; l < WARP_LANES; l++) {
            a.b4[l] = (uint32_t)((int64_t)test_random(&seed) >> (i % 2 ? 32 : 59));
            b.b4[l] = (uint32_t)((int64_t)test_random(&seed) >> (i % 2 ? 32 : 59));
            c.b4[l] = (uint32_t)test_random(&seed);
        }
        run(row, &d, &a, &b, &c);
        for (int l = 0; l < WARP_LANES; l++) {
            int x = (int)a.b4[l], y = (int)b.b4[l], mask = (1 << packs[_i].bits) - 1;
            x = x < packs[_i].min ? packs[_i].min : x > packs[_i].max ? packs[_i].max : x;
            y = y < packs[_i].min ? packs[_i].min : y > packs[_i].max ? packs[_i].max : y;
            EXPECT(d.b4[l] ==
                       (c.b4[l] << 2 * packs[_i].bits | (uint32_t)(x & mask) << packs[_i].bits | (uint32_t)(y & mask)),
                   "%s: %x, %x gives %x", packs[_i].opcode, a.b4[l], b.b4[l], d.b4[l]);
        }
    }
}
END_TEST

SUITE(isa_narrow) {
    TEST_LOOP(f32_to_two, 0, N_PAIRS);
    TEST_LOOP(halves_to_two, 0, N_PAIRS);
    TEST_LOOP(two_to_halves, 0, N_PAIRS);
    TEST_LOOP(two_by_hand, 0, 11);
    TEST_LOOP(scales, 0, 4);
    TEST(scales_widen);
    TEST_LOOP(random_halves, 0, 8);
    TEST_LOOP(random_four, 0, 2 * N_PAIRS);
    TEST(random_is_fair);
    TEST_LOOP(packed_below_bytes, 0, 4);
}
