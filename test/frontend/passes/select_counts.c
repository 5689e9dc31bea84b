/* Tests how many machine instructions the pass `select` makes of an instruction, by class (select_expand.c). */
#include "test/frontend/passes/select_run.h"

/* The classes of the machine instructions: a load, a 64-bit product (one addition after three products), a square root
 * with one special function and no .ftz (comparison as an addition of floats, two products), a store, exit. */
START_TEST(machine_instructions_by_class) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = select_run("ld.global.u64 %d2, [%d1]; mul.lo.u64 %d3, %d2, %d2; cvt.u32.u64 %r1, %d3;\n"
                                  "sqrt.approx.f32 %r2, %r1; st.global.f32 [%d1+8], %r2;",
                                  "core.select=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_ALU], 1 + 1); /* and the conversion */
    ck_assert_uint_eq(count[MACHINE_FMA], 3 + 3);
    ck_assert_uint_eq(count[MACHINE_XU], 1);
    ck_assert_uint_eq(count[MACHINE_MEMORY], 2);
    ck_assert_uint_eq(count[MACHINE_FLOW], 1);
    heddle_close(h);
}
END_TEST

/* A 64-bit product by a constant whose upper half is 0 or all ones takes two products and an addition; else three
 * products. The sum with it takes none. Source: ptxas 11.8 for sm_70, ptxas 13 for sm_86, sm_90 and sm_120. */
START_TEST(products_by_a_constant_of_64_bits) {
    static const struct {
        const char *factor;
        unsigned multiplies;
    } cases[] = {{"2068", 2}, {"-24", 2}, {"0xffffffff", 2}, {"0x100000000", 3}, {"-0x100000001", 3}, {"%d2", 3}};
    char body[256];
    uint32_t out[2][WORDS], count[N_MACHINE_CLASSES];
    snprintf(body, sizeof body,
             "ld.global.u64 %%d2, [%%d1]; mul.lo.s64 %%d3, %%d2, %s; add.s64 %%d3, %%d3, %%d2;\n"
             "st.global.u64 [%%d1+8], %%d3;",
             cases[_i].factor);
    for (int off = 0; off < 2; off++) {
        const struct program *p;
        struct heddle *h = select_run(body, off ? "core.select=off" : "core.select=on", out[off], &p);
        control_count(p, count);
        if (!off) {
            ck_assert_uint_eq(count[MACHINE_FMA], cases[_i].multiplies);
            ck_assert_uint_eq(count[MACHINE_ALU], 1);
        }
        heddle_close(h);
    }
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
}
END_TEST

/* ptxas converts to integers, and counts and reverses bits, on the special function units: two conversions (one from an
 * integer, which is none), a population count and a reversal. */
START_TEST(special_function_units_convert) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = select_run("ld.global.u32 %r1, [%d1]; cvt.rn.f32.u32 %r2, %r1; cvt.rzi.s32.f32 %r3, %r2;\n"
                                  "popc.b32 %r4, %r3; brev.b32 %r5, %r4; st.global.u32 [%d1+8], %r5;",
                                  "core.select=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_XU], 3);
    ck_assert_uint_eq(count[MACHINE_ALU], 1);
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->code[pc].kind == K_LANE && p->control[pc].timing.unit != CONTROL_ALU)
            ck_assert_uint_lt(p->control[pc].raise_write, CONTROL_COUNTERS);
    heddle_close(h);
}
END_TEST

/* With core.convert_sfu, the conversion from an integer is on these units, too. */
START_TEST(older_chips_convert_integers_there) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = select_run("ld.global.u32 %r1, [%d1]; cvt.rn.f32.u32 %r2, %r1; st.global.u32 [%d1+8], %r2;",
                                  "core.convert_sfu=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_XU], 1);
    ck_assert_uint_eq(count[MACHINE_ALU], 0);
    heddle_close(h);
}
END_TEST

/* The numbers of arithmetic and special-function instructions that ptxas 13 writes for sm_86. A product of 24 bits
 * clears the upper bytes of both factors. A field of whole bytes or at bit 0 takes one instruction. */
static const struct {
    const char *body;
    uint32_t arithmetic, special;
} counts[] = {{"mul24.lo.u32 %r8, %r1, %r2;", 3, 0},
              {"mad24.lo.s32 %r8, %r1, %r2, %r3;", 3, 0},
              {"cnot.b32 %r8, %r1;", 3, 0},
              {"slct.u32.s32 %r8, %r1, %r2, %r3;", 2, 0},
              {"add.sat.s32 %r8, %r1, %r2;", 5, 0},
              {"clz.b64 %r8, %d2;", 5, 1},
              {"brev.b64 %d2, %d2;", 0, 2},
              {"bfi.b32 %r8, %r1, %r2, %r3, %r4;", 6, 0},
              {"bfe.u32 %r8, %r1, %r2, %r3;", 5, 0},
              {"bfe.u32 %r8, %r1, 5, 7;", 2, 0},
              {"bfe.u32 %r8, %r1, 0, 7;", 1, 0},
              {"bfe.u32 %r8, %r1, 8, 16;", 1, 0},
              {"bfe.s32 %r8, %r1, 8, 16;", 2, 0},
              {"bfe.s32 %r8, %r1, 5, 32;", 1, 0},
              {"bfe.u32 %r8, %r1, 5, 27;", 2, 0},
              {"bfi.b32 %r8, %r1, %r2, 5, 32;", 2, 0},
              {"bfi.b32 %r8, %r1, %r2, 16, 20;", 1, 0},
              {"bfi.b32 %r8, %r1, %r2, 16, 12;", 2, 0},
              {"bfi.b32 %r8, %r1, %r2, 0, 12;", 1, 0}};

START_TEST(counts_of_integer_instructions) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    char body[512];
    const struct program *p;
    snprintf(body, sizeof body,
             "%sld.global.u32 %%r3, [%%d1+16]; ld.global.u32 %%r4, [%%d1+20]; ld.global.u64 %%d2, [%%d1+24];\n%s\n"
             "st.global.u64 [%%d1+24], %%d2; %s",
             TWO, counts[_i].body, END);
    struct heddle *h = select_run(body, "core.select=on", out, &p);
    control_count(p, count);
    EXPECT(count[MACHINE_ALU] + count[MACHINE_FMA] == counts[_i].arithmetic && count[MACHINE_XU] == counts[_i].special,
           "%s: %u and %u, not %u and %u", counts[_i].body, count[MACHINE_ALU] + count[MACHINE_FMA], count[MACHINE_XU],
           counts[_i].arithmetic, counts[_i].special);
    heddle_close(h);
}
END_TEST

static const struct {
    const char *op;
    uint32_t arithmetic;
} divisions[] = {{"div.u64", 64 + 3}, {"div.s64", 80 + 3}, {"rem.u64", 60 + 3}, {"rem.s64", 74 + 3}};

/* ptxas 13 calls a function for the division of two 64-bit integers: besides arithmetic, it has three special functions
 * and a return. The caller moves an address and two words of the result. `arithmetic` has both. Both words are loaded
 * and stored by one access; the other instruction of flow is exit. */
START_TEST(divisions_of_64_bits_call) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    char body[256];
    const struct program *p;
    snprintf(body, sizeof body,
             "ld.global.u64 %%d2, [%%d1]; ld.global.u64 %%d3, [%%d1+8]; %s %%d4, %%d2, %%d3;\n"
             "st.global.u64 [%%d1], %%d4;",
             divisions[_i].op);
    struct heddle *h = select_run(body, "core.select=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_ALU] + count[MACHINE_FMA], divisions[_i].arithmetic);
    ck_assert_uint_eq(count[MACHINE_XU], 3);
    ck_assert_uint_eq(count[MACHINE_FLOW], 2 + 1);
    ck_assert_uint_eq(count[MACHINE_MEMORY], 3);
    heddle_close(h);
}
END_TEST

static const struct {
    const char *op;
    uint32_t instructions;
} small_divisions[] = {{"div.u32", 14}, {"div.s32", 19}, {"rem.u32", 13}, {"rem.s32", 16}};

/* ptxas 13 for sm_86 writes fewer instructions if the divisor is a constant: for rem.s32, conversion to float,
 * reciprocal, conversion back; the operand's absolute value, and three comparisons; three sums; six products. */
START_TEST(divisions_by_constants_are_shorter) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    char body[256];
    const struct program *p;
    snprintf(body, sizeof body,
             "ld.global.u32 %%r1, [%%d1]; mov.u32 %%r2, 12; %s %%r8, %%r1, %%r2;\n"
             "st.global.u32 [%%d1+8], %%r8;",
             small_divisions[_i].op);
    struct heddle *h = select_run(body, "core.convert_sfu=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_XU], 3);
    ck_assert_uint_eq(count[MACHINE_ALU] + count[MACHINE_FMA] + count[MACHINE_XU], small_divisions[_i].instructions);
    heddle_close(h);
}
END_TEST

SUITE(frontend_passes_select_counts) {
    TEST(special_function_units_convert);
    TEST(older_chips_convert_integers_there);
    TEST_LOOP(counts_of_integer_instructions, 0, (int)(sizeof counts / sizeof counts[0]));
    TEST(machine_instructions_by_class);
    TEST_LOOP(products_by_a_constant_of_64_bits, 0, 6);
    TEST_LOOP(divisions_of_64_bits_call, 0, (int)(sizeof divisions / sizeof divisions[0]));
    TEST_LOOP(divisions_by_constants_are_shorter, 0, (int)(sizeof small_divisions / sizeof small_divisions[0]));
}
