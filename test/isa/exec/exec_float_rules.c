/* Tests rules of the PTX ISA about floating-point numbers with values derived by hand, and requirements of the code
 * that calls lane functions. */
#include "isa/softfloat.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

union buffer {
    uint8_t u8[8 * WARP_LANES];
    uint16_t u16[4 * WARP_LANES];
    uint32_t u32[2 * WARP_LANES];
    uint64_t u64[WARP_LANES];
};

static const struct isa_row *row_of(const char *opcode) {
    struct decoded d;
    struct decode_error why;
    if (!isa_decode(opcode, (uint32_t)strlen(opcode), &d, &why))
        ck_abort_msg("%s: %s", opcode, why.message);
    return d.row;
}
static uint64_t get(const union buffer *b, unsigned bytes) {
    switch (bytes) {
    case 0:
        return b->u32[0] & 1;
    case 1:
        return b->u8[0];
    case 2:
        return b->u16[0];
    case 4:
        return b->u32[0];
    default:
        return b->u64[0];
    }
}
/* Executes an instruction in lane 0 only. Returns its result. */
static uint64_t run(const char *opcode, uint64_t a, uint64_t b, uint64_t c) {
    const struct isa_row *row = row_of(opcode);
    union buffer d = {{0}}, d2 = {{0}}, in[4] = {{{0}}};
    in[0].u64[0] = a;
    in[1].u64[0] = b;
    in[2].u64[0] = c;
    row->fn.lane(&d, &d2, &in[0], &in[1], &in[2], &in[3]);
    return get(&d, type_bytes(row->d));
}
static uint64_t f32(float x) {
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static uint64_t f64(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
#define GIVES(opcode, a, b, c, want) ck_assert_uint_eq(run(opcode, a, b, c), want)

START_TEST(f32_nan_is_canonical) {
    GIVES("add.f32", 0xffc00123, f32(1), 0, 0x7fffffff);
    GIVES("sqrt.rn.f32", f32(-1), 0, 0, 0x7fffffff);
    GIVES("fma.rz.f32", f32(INFINITY), 0, f32(1), 0x7fffffff);
}
END_TEST
START_TEST(f64_keeps_the_first_nan) {
    GIVES("add.f64", 0x7ff0000000000005, 0x7ff8000000000007, 0, 0x7ff8000000000005); /* signalling NaN becomes quiet */
    GIVES("mul.f64", f64(1), 0xfff8000000000007, 0, 0xfff8000000000007);
    GIVES("fma.rn.f64", f64(1), f64(2), 0x7ff8000000000009, 0x7ff8000000000009);
    /* no source is a NaN, so the result is the default NaN */
    GIVES("sub.rm.f64", f64(INFINITY), f64(INFINITY), 0, 0xfff8000000000000);
}
END_TEST
START_TEST(ftz_flushes_inputs_and_results) {
    /* the sum of two subnormal numbers 2^-127 is a normal number */
    GIVES("add.f32", 0x00400000, 0x00400000, 0, 0x00800000);
    GIVES("add.ftz.f32", 0x00400000, 0x00400000, 0, 0);
    GIVES("mul.ftz.f32", f32(-0x1p-100f), f32(0x1p-30f), 0, 0x80000000);
    GIVES("setp.eq.ftz.f32", 1, 0x80000001, 0, 1);
    GIVES("abs.ftz.f32", 0x80000001, 0, 0, 0);
}
END_TEST
START_TEST(sat_clamps_and_drops_nan) {
    GIVES("add.sat.f32", f32(3), f32(-2.5f), 0, f32(0.5f));
    GIVES("mul.sat.f32", f32(-3), f32(2), 0, 0);
    GIVES("add.sat.f32", f32(7), f32(1), 0, f32(1));
    GIVES("add.sat.f32", 0x7fc00000, f32(1), 0, 0);
    GIVES("mul.sat.f32", f32(-0.0f), f32(1), 0, 0);
}
END_TEST
START_TEST(fma_rounds_once) {
    /* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: with a rounded product, the difference would be 0 */
    float x = 1 + 0x1p-12f;
    GIVES("fma.rn.f32", f32(x), f32(x), f32(-(1 + 0x1p-11f)), f32(0x1p-24f));
    GIVES("mad.f32", f32(x), f32(x), f32(-(1 + 0x1p-11f)), f32(0x1p-24f));
}
END_TEST
START_TEST(f16_fma_rounds_once) {
    /* (1 + 2^-10)(1 - 2^-10) + 2050 = 2051 - 2^-20 is below the midpoint of 2050 and 2052, so f16 gives 2050. If the
     * sum were rounded to f32 first, it would be 2051, a tie, and would be rounded to the even 2052. 2050 = 2048 + 2 is
     * 0x6801. */
    GIVES("fma.rn.f16", 0x3c01, 0x3bfe, 0x6801, 0x6801);
}
END_TEST
START_TEST(directed_modes_step_outward) {
    GIVES("add.rp.f32", f32(1), f32(0x1p-40f), 0, 0x3f800001);
    GIVES("add.rm.f32", f32(1), f32(-0x1p-40f), 0, 0x3f7fffff);
    GIVES("add.rz.f32", f32(-1), f32(0x1p-40f), 0, 0xbf7fffff);
    /* when rounding toward zero, an overflow gives the greatest finite number */
    GIVES("mul.rz.f32", f32(0x1p127f), f32(4), 0, 0x7f7fffff);
    GIVES("mul.rp.f32", f32(0x1p-100f), f32(0x1p-100f), 0, 1);
    GIVES("div.rp.f64", f64(1), f64(3), 0, 0x3fd5555555555556);
}
END_TEST
START_TEST(x_minus_x_is_minus_zero_rounding_down) {
    GIVES("sub.rm.f32", f32(5), f32(5), 0, 0x80000000);
    GIVES("sub.rz.f32", f32(5), f32(5), 0, 0);
    GIVES("add.rm.f32", 0, 0, 0, 0);
    GIVES("fma.rm.f32", f32(2), f32(3), f32(-6), 0x80000000);
}
END_TEST
START_TEST(min_and_max_avoid_nan) {
    GIVES("min.f32", 0x7fc00000, f32(2), 0, f32(2));
    GIVES("max.f32", f32(2), 0x7fc00001, 0, f32(2));
    GIVES("min.f32", 0x7fc00001, 0xffc00001, 0, 0x7fffffff);
    GIVES("max.NaN.f32", f32(2), 0x7fc00001, 0, 0x7fffffff);
    GIVES("min.f32", 0, 0x80000000, 0, 0x80000000);
    GIVES("max.f32", 0x80000000, 0, 0, 0);
    GIVES("min.xorsign.abs.f32", f32(-2), f32(3), 0, f32(-2));
    GIVES("max.xorsign.abs.f16", 0xc000, 0xc200, 0, 0x4200); /* -2 and -3 have equal signs, so the result is +3 */
}
END_TEST
START_TEST(unordered_comparisons_hold_for_nan) {
    GIVES("setp.ne.f32", 0x7fc00000, f32(1), 0, 0);
    GIVES("setp.neu.f32", 0x7fc00000, f32(1), 0, 1);
    GIVES("setp.ltu.f64", f64(3), f64(NAN), 0, 1);
    GIVES("setp.num.f16", 0x7e00, 0, 0, 0);
    GIVES("setp.lt.and.f32", f32(1), f32(2), 0, 0);
    GIVES("setp.gt.or.f32", f32(1), f32(2), 1, 1);
    GIVES("set.lt.u32.f32", f32(1), f32(2), 0, 0xffffffff);
    /* upper halves: 2 > 1 is true; lower halves: 1 > 1 is false */
    GIVES("set.gt.f16x2.f16x2", 0x40003c00, 0x3c003c00, 0, 0x3c000000);
}
END_TEST
START_TEST(float_to_integer_saturates) {
    GIVES("cvt.rzi.s32.f32", f32(0x1p31f), 0, 0, 0x7fffffff);
    GIVES("cvt.rzi.s32.f32", f32(-3e9f), 0, 0, 0x80000000);
    GIVES("cvt.rzi.u32.f32", f32(-1.5f), 0, 0, 0);
    GIVES("cvt.rzi.u32.f32", f32(3e9f), 0, 0, 3000000000u);
    GIVES("cvt.rni.u8.f32", f32(255.5f), 0, 0, 255); /* 256 does not fit */
    GIVES("cvt.rni.s32.f32", f32(2.5f), 0, 0, 2);
    GIVES("cvt.rmi.s64.f64", f64(-0.5), 0, 0, UINT64_MAX);
    GIVES("cvt.rpi.u64.f32", f32(0x1p63f), 0, 0, 0x8000000000000000);
}
END_TEST
START_TEST(nan_to_integer) {
    GIVES("cvt.rzi.s32.f32", 0x7fc00000, 0, 0, 0);
    GIVES("cvt.rzi.u16.f16", 0x7e00, 0, 0, 0);
    GIVES("cvt.rzi.s32.f64", f64(NAN), 0, 0, 0x80000000);
    GIVES("cvt.rzi.u8.f64", f64(NAN), 0, 0, 0x80);
    GIVES("cvt.rzi.u64.f32", 0x7fc00000, 0, 0, 0x8000000000000000);
}
END_TEST
START_TEST(integer_to_float_rounds_once) {
    /* 2^53 + 2^29 + 1 is just above the midpoint of two neighbouring f32 numbers, which are 2^30 apart; if it were
     * rounded to f64 first, it would be a tie */
    GIVES("cvt.rn.f32.s64", (1ull << 53) + (1ull << 29) + 1, 0, 0, f32(0x1p53f + 0x1p30f));
    GIVES("cvt.rp.f32.s64", (1ull << 62) + 1, 0, 0, f32(0x1.000002p62f)); /* the last bit decides */
    GIVES("cvt.rz.f32.u32", 0xffffffff, 0, 0, f32(0x1.fffffep31f));
    GIVES("cvt.rm.f64.s64", -((1ull << 53) + 1), 0, 0, f64(-0x1.0000000000001p53));
    /* this is the midpoint of 65504 and 65536, and is rounded to infinity */
    GIVES("cvt.rn.f16.u32", 65520, 0, 0, 0x7c00);
}
END_TEST
START_TEST(narrowing_rounds_once) {
    /* 1 + 2^-11 + 2^-40 is above the midpoint of the f16 numbers 1 and 1 + 2^-10; if it were rounded to f32 first, it
     * would be a tie */
    GIVES("cvt.rn.f16.f64", f64(1 + 0x1p-11 + 0x1p-40), 0, 0, 0x3c01);
    GIVES("cvt.rn.bf16.f32", f32(1 + 0x1p-8f), 0, 0, 0x3f80);              /* tie, to even */
    GIVES("cvt.rna.tf32.f32", f32(1 + 0x1p-11f), 0, 0, f32(1 + 0x1p-10f)); /* tie, away from zero */
    GIVES("cvt.f64.f32", 0x7fc00001, 0, 0, 0x7ff8000020000000);            /* payload 1 << 29 */
}
END_TEST
START_TEST(pairs_put_a_above_b) {
    GIVES("cvt.rn.f16x2.f32", f32(1), f32(2), 0, 0x3c004000);
    GIVES("cvt.rn.bf16x2.f32", f32(1), f32(2), 0, 0x3f804000);
    GIVES("cvt.rn.relu.f16x2.f32", f32(-1), f32(2), 0, 0x00004000);
    /* 448 is the greatest number of e4m3; 1 has the biased exponent 7 */
    GIVES("cvt.rn.satfinite.e4m3x2.f32", f32(1000), f32(1), 0, 0x7e38);
    /* 1 and -1; an e5m2 number is the upper byte of the equal f16 number */
    GIVES("cvt.rn.f16x2.e5m2x2", 0x3cbc, 0, 0, 0x3c00bc00);
    GIVES("cvt.pack.sat.u8.s32.b32", 300, (uint32_t)-5, 0xabcd1234, 0x1234ff00);
    GIVES("cvt.pack.sat.s16.s32", (uint32_t)-40000, 7, 0, 0x80000007);
}
END_TEST
START_TEST(integers_extend_cut_and_saturate) {
    GIVES("cvt.s64.s8", 0x80, 0, 0, 0xffffffffffffff80);
    GIVES("cvt.u64.u8", 0x80, 0, 0, 0x80);
    GIVES("cvt.u8.u32", 0x1ff, 0, 0, 0xff);
    GIVES("cvt.sat.s8.s32", 200, 0, 0, 127);
    GIVES("cvt.sat.u32.s32", (uint32_t)-7, 0, 0, 0);
    GIVES("cvt.sat.s32.u64", 1ull << 40, 0, 0, 0x7fffffff);
}
END_TEST
START_TEST(approximations_of_f64_keep_the_upper_word) {
    /* 1/3 is 0x3fd5555555555555, and the result keeps only its upper word; the rest is less than half a unit of this
     * word */
    GIVES("rcp.approx.ftz.f64", f64(3), 0, 0, 0x3fd5555500000000);
    GIVES("rsqrt.approx.ftz.f64", f64(0.25), 0, 0, f64(2));
    GIVES("rcp.approx.ftz.f64", f64(NAN), 0, 0, 0x7fffffff00000000);
    GIVES("rcp.approx.ftz.f64", 0x8000000000000001, 0, 0, f64(-INFINITY));
}
END_TEST
START_TEST(approximate_division_loses_large_divisors) {
    GIVES("div.approx.f32", f32(0x1p120f), f32(-0x1p127f), 0, 0x80000000);
    GIVES("div.approx.f32", f32(INFINITY), f32(0x1p127f), 0, 0x7fffffff);
    GIVES("div.full.f32", f32(0x1p120f), f32(0x1p127f), 0, f32(0x1p-7f));
}
END_TEST
START_TEST(large_angles_are_reduced_exactly) {
    static const float angles[] = {355, 0x1p20f, 0x1p30f, 1e10f, -3e20f, 3e38f};
    for (int i = 0; i < 6; i++) {
        float s, c;
        uint32_t b = (uint32_t)run("sin.approx.f32", f32(angles[i]), 0, 0);
        memcpy(&s, &b, sizeof s);
        b = (uint32_t)run("cos.approx.f32", f32(angles[i]), 0, 0);
        memcpy(&c, &b, sizeof c);
        ck_assert_float_eq_tol(s, (float)sin(angles[i]), 1e-7f);
        ck_assert_float_eq_tol(c, (float)cos(angles[i]), 1e-7f);
    }
}
END_TEST

/* --- rules for all rows --- */

/* Returns true for floating-point arithmetic, comparison and conversion. */
static bool is_float_row(const struct isa_row *row) {
    if (row->op == OP_CVT)
        return true;
    if (row->op == OP_MOV || row->op == OP_SELP || (row->kind != K_LANE && row->kind != K_CVT))
        return false;
    return type_class(row->types[row->op == OP_SET || row->op == OP_SLCT]) == 'f';
}
/* The emulation for hosts without FMA instructions: the product is exact in double. The sum with c is rounded to odd,
 * then to f32. */
START_TEST(fma_without_instructions) {
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        uint32_t a = (uint32_t)test_random(&seed), b = (uint32_t)test_random(&seed), c = (uint32_t)test_random(&seed);
        if (i & 1) { /* cancellation: c is close to -a * b */
            a = (a & 0x807fffff) | 0x3f800000;
            b = (b & 0x807fffff) | 0x3f800000;
            c = f32_bits(-f32_from_bits(a) * f32_from_bits(b)) ^ (c & 3);
        }
        float x = f32_from_bits(a), y = f32_from_bits(b), z = f32_from_bits(c);
        /* x * y is (1 - j^2) 2^-24, which is just below half an ulp of z. So x * y + z is just below the midpoint of
         * two f32 numbers, but rounded to double it is this midpoint. */
        if (i % 4 == 2) {
            float j = (float)(i % 128) * 0x1p-23f;
            x = 1 + j;
            y = (1 - j) * 0x1p-24f;
            z = f32_from_bits((c & 0x7fffff) | 0x3f800001);
        }
        float got = (float)f64_add_odd((double)x * (double)y, z), want = fmaf(x, y, z);
        ck_assert(f32_bits(got) == f32_bits(want) || (isnan(got) && isnan(want)));
    }
}
END_TEST

static void fill(union buffer *b, uint64_t *seed) {
    for (int l = 0; l < WARP_LANES; l++)
        b->u64[l] = test_random(seed);
}
/* A caller may pass the array of a source as d if both have the same element size. */
START_TEST(d_may_be_a_source) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_row *r = &rows[i];
        const uint8_t types[3] = {r->a, r->b, r->c};
        if (!is_float_row(r))
            continue;
        union buffer in[4], d, d2;
        for (int k = 0; k < 4; k++)
            fill(&in[k], &seed);
        memset(&d, 0, sizeof d);
        r->fn.lane(&d, &d2, &in[0], &in[1], &in[2], &in[3]);
        for (int k = 0; k < 3; k++) {
            if (types[k] == T_NONE || type_bytes(types[k]) != type_bytes(r->d))
                continue;
            union buffer copy[4];
            memcpy(copy, in, sizeof copy);
            r->fn.lane(&copy[k], &d2, &copy[0], &copy[1], &copy[2], &copy[3]);
            char name[64];
            isa_row_name(r, name, sizeof name);
            size_t bytes = type_bytes(r->d) ? type_bytes(r->d) * WARP_LANES : sizeof(rowmask_t);
            ck_assert_msg(memcmp(&d, &copy[k], bytes) == 0, "%s: d = source %d", name, k);
        }
    }
}
END_TEST

/* The hash of the results of all rows on random bits. All compilers must give the same hash, with and without
 * -march=native, and with and without optimisation. Change the constant only after an intended change of semantics. */
START_TEST(results_are_the_same_everywhere) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_row *r = &rows[i];
        if (!is_float_row(r))
            continue;
        char name[128];
        isa_row_name(r, name, sizeof name);
        uint64_t seed = 0xcbf29ce484222325;
        for (const char *c = name; *c; c++)
            seed = (seed ^ (unsigned char)*c) * 0x100000001b3;
        uint64_t h = seed;
        for (int round = 0; round < 8; round++) {
            union buffer in[4], d, d2;
            for (int k = 0; k < 4; k++)
                fill(&in[k], &seed);
            if (round & 1) /* values of moderate magnitude, as f32 and as f64 */
                for (int l = 0; l < 2 * WARP_LANES; l++)
                    in[0].u32[l] = (in[0].u32[l] & 0x87ffffff) | 0x3c000000;
            memset(&d, 0, sizeof d);
            r->fn.lane(&d, &d2, &in[0], &in[1], &in[2], &in[3]);
            size_t bytes = type_bytes(r->d) ? type_bytes(r->d) * WARP_LANES : sizeof(rowmask_t);
            for (size_t k = 0; k < bytes; k++)
                h = (h ^ d.u8[k]) * 0x100000001b3;
        }
        hash += h; /* a sum, so that the order of the rows does not change the hash */
    }
    ck_assert_uint_eq(hash, 0x7ca832ab78840f2b);
}
END_TEST

SUITE(isa_exec_float_rules) {
    TEST(f32_nan_is_canonical);
    TEST(f64_keeps_the_first_nan);
    TEST(ftz_flushes_inputs_and_results);
    TEST(sat_clamps_and_drops_nan);
    TEST(fma_rounds_once);
    TEST(fma_without_instructions);
    TEST(f16_fma_rounds_once);
    TEST(directed_modes_step_outward);
    TEST(x_minus_x_is_minus_zero_rounding_down);
    TEST(min_and_max_avoid_nan);
    TEST(unordered_comparisons_hold_for_nan);
    TEST(float_to_integer_saturates);
    TEST(nan_to_integer);
    TEST(integer_to_float_rounds_once);
    TEST(narrowing_rounds_once);
    TEST(pairs_put_a_above_b);
    TEST(integers_extend_cut_and_saturate);
    TEST(approximations_of_f64_keep_the_upper_word);
    TEST(approximate_division_loses_large_divisors);
    TEST(large_angles_are_reduced_exactly);
    TEST(d_may_be_a_source);
    TEST(results_are_the_same_everywhere);
}
