/* Tests the copies of lane functions that are compiled for different host instruction sets. For each row of the
 * instruction table and many special operands, all copies must give equal bits. A native build has only one copy, so
 * use make check PORTABLE=1. */
#include "isa/levels.h"
#include "test/test.h"

enum { OPERAND = 32 * 16, ROUNDS = 300 };

/* Fills 32 lanes with random words and special values of f16, f32, f64 and integers. */
static void fill(unsigned char *at, uint64_t *seed) {
    static const uint64_t corners[] = {
        0,
        1,
        0x8000,
        0x7fff,
        0xffff,
        0x7c00,
        0xfc00,
        0x7e01,
        0x7c01,
        0x03ff,
        0x80000000,
        0x7fffffff,
        0x7f800000,
        0xff800000,
        0x7fc00001,
        0x7f800001,
        0x00000001,
        0x007fffff,
        0xbf800000,
        0x3f000000,
        0x4b000000,
        0x4f000000,
        0xcf000000,
        0xffffffffffffffff,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000001,
        0x7ff0000000000001,
        0x000fffffffffffff,
        0x8000000000000000,
        0x43e0000000000000,
        0x3ff0000000000000,
    };
    uint32_t how = test_random_below(seed, 3);
    for (int i = 0; i < OPERAND; i += 8) {
        uint64_t word = test_random(seed);
        if (how && test_random_below(seed, 2)) {
            word = corners[test_random_below(seed, sizeof corners / sizeof corners[0])];
            word |= how == 2 && word >> 32 == 0 ? word << 32 : 0;
        }
        memcpy(at + i, &word, sizeof word);
    }
}

static void same_bits(const struct isa_row *base, const struct isa_row *other, uint64_t *seed) {
    _Alignas(64) static unsigned char in[4][OPERAND], out[2][2][OPERAND];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 4; i++)
            fill(in[i], seed);
        fill(out[0][0], seed);
        memcpy(out[0][1], out[0][0], OPERAND);
        memcpy(out[1], out[0], sizeof out[0]);
        base->fn.lane(out[0][0], out[0][1], in[0], in[1], in[2], in[3]);
        other->fn.lane(out[1][0], out[1][1], in[0], in[1], in[2], in[3]);
        if (memcmp(out[0], out[1], sizeof out[0]) == 0)
            continue;
        char name[128];
        isa_row_name(base, name, sizeof name);
        ck_abort_msg("%s differs in round %d", name, round);
    }
}

START_TEST(the_same_bits) {
    uint64_t seed = 41;
    enum isa_level level = (enum isa_level)_i;
    int rows = 0, copies = 0;
    if (!isa_level_runs(level)) {
        test_skip("the build has one copy of its lane functions (PORTABLE=1 has three), or the processor runs one");
        return;
    }
    const struct isa_row_group *base, *other;
    for (unsigned g = 0; (base = isa_group(g, CPU_BASE)); g++) {
        other = isa_group(g, level);
        ck_assert_uint_eq(base->n, other->n);
        for (uint32_t i = 0; base != other && i < base->n; i++) {
            const struct isa_row *a = &base->rows[i], *b = &other->rows[i];
            ck_assert(a->op == b->op && a->form == b->form && a->kind == b->kind);
            rows++;
            if ((a->kind != K_LANE && a->kind != K_CVT) || !a->fn.lane)
                continue;
            copies += a->fn.lane != b->fn.lane;
            same_bits(a, b, &seed);
        }
    }
    ck_assert_int_gt(rows, 1000);
    ck_assert_int_gt(copies, 1000); /* the two levels have different lane functions for most rows */
}
END_TEST

START_TEST(the_level_that_runs) {
    enum isa_level level = isa_level();
    ck_assert(isa_level_runs(CPU_BASE));
    ck_assert(isa_level_runs(level));
    if (!getenv("HEDDLE_CPU")) /* without HEDDLE_CPU, the highest level that the host supports must run */
        ck_assert(level + 1 == N_CPUS || !isa_level_runs(level + 1));
    ck_assert_ptr_null(isa_group(10000, CPU_BASE));
    ck_assert(isa_group(0, CPU_BASE) != NULL);
}
END_TEST

/* The level of native code is the level that the processor supports, but at most the level in HEDDLE_CPU. */
START_TEST(the_level_of_the_processor) {
    setenv("HEDDLE_CPU", "base", 1);
    ck_assert_int_eq(isa_processor_level(), CPU_BASE);
    setenv("HEDDLE_CPU", "no such level", 1);
    enum isa_level best = isa_processor_level();
    setenv("HEDDLE_CPU", "avx512", 1);
    ck_assert_int_eq(isa_processor_level(), best);
    setenv("HEDDLE_CPU", "avx2", 1);
    ck_assert_int_eq(isa_processor_level(), best < CPU_AVX2 ? best : CPU_AVX2);
#if defined(__AVX512VL__) && defined(__AVX512DQ__)
    ck_assert_int_eq(best, CPU_AVX512);
#elif defined(__AVX2__) && defined(__FMA__)
    ck_assert_int_ge(best, CPU_AVX2);
#endif
    for (unsigned level = CPU_BASE; level < N_CPUS; level++) /* the build may lack some levels */
        ck_assert(!isa_level_runs((enum isa_level)level) || level <= best);
}
END_TEST

SUITE(isa_levels) {
    tcase_set_timeout(tc, 60);
    TEST(the_level_that_runs);
    TEST(the_level_of_the_processor);
    TEST_LOOP(the_same_bits, CPU_AVX2, N_CPUS);
}
