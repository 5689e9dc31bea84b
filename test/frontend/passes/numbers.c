/* Tests the pass `numbers`: how many registers a thread takes on the modern core. */
#include "host/context.h"
#include "test/test.h"
#include <stdio.h>
#include <string.h>

/* Returns the registers of a kernel on `ampere`, where 40 registers leave 48 warps in an SM. %d3 is an address. */
static uint32_t registers(const char *directives, const char *body) {
    char err[512], text[16384];
    snprintf(text, sizeof text,
             ".version 8.0 .target sm_75 .address_size 64\n.visible .entry k(.param .u64 p) %s {\n"
             ".reg .b32 %%r<99>; .reg .f32 %%f<12>; .reg .b64 %%d<9>;\n"
             "mov.u32 %%r1, %%tid.x; ld.param.u64 %%d1, [p]; mul.wide.u32 %%d2, %%r1, 64; add.u64 %%d3, %%d1, %%d2;\n"
             "%s\nret;\n}\n",
             directives, body);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "its", .config = "ampere"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct program *p = module_program(h, m, "k");
    ck_assert_msg(p != NULL, "%s", heddle_error(h));
    const uint32_t n = p->thread_regs;
    heddle_close(h);
    return n;
}

/* Returns the registers of a kernel that loads n words, executes `between` and then stores the words. */
static uint32_t copy_with(const char *directives, int n, const char *between) {
    char body[8192] = "";
    for (int i = 0; i < n; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d3+%d];\n", i + 2, 4 * i);
    strcat(body, between);
    for (int i = 0; i < n; i++)
        sprintf(body + strlen(body), "st.global.u32 [%%d3+%d], %%r%d;\n", 256 + 4 * i, i + 2);
    return registers(directives, body);
}

static uint32_t copy(const char *directives, int n) { return copy_with(directives, n, ""); }

/* R1 is the stack pointer, and two more registers are counted than have numbers. The address is R2 and R3. Words that
 * are stored should be odd: n of them are R5, R7 and so on up to R(3 + 2n). All counts here are those of ptxas 13. */
START_TEST(words_that_are_stored_are_odd) {
    /* the index, which is stored, is R3; so the address is R4 and R5: 6 numbers */
    ck_assert_uint_eq(registers("", "st.global.u32 [%d3], %r1;"), 6 + 2);
    ck_assert_uint_eq(copy("", 4), 3 + 2 * 4 + 1 + 2);
    ck_assert_uint_eq(copy("", 16), 3 + 2 * 16 + 1 + 2);
}
END_TEST

/* 20 words in odd registers would take 46 registers, and only 40 leave 48 warps. A limit works in the same way. */
START_TEST(the_occupancy_bounds_new_numbers) {
    ck_assert_uint_eq(copy("", 20), 40);
    ck_assert_uint_eq(copy(".maxnreg 24", 16), 24);
}
END_TEST

/* A sub-core has 16,384 registers. A thread may have 56 of them with 9 warps, 72 with 7, 96 with 5. A CTA of 8 warps
 * has two in each sub-core: 64 registers leave 8 warps, 80 leave 6, 128 leave 4. With .minnctapersm, a CTA's size only
 * gives the limit with which that many CTAs fit: 65,536 / (256 x 3) is 85, so 80, a multiple of 8. All counts are those
 * of ptxas 13 for sm_86. */
START_TEST(steps_of_the_occupancy) {
    static const struct {
        const char *directives;
        int words;
        uint32_t registers;
    } rows[] = {{"", 44, 56},
                {"", 60, 72},
                {"", 80, 96},
                {".reqntid 256", 44, 64},
                {".maxntid 256", 60, 80},
                {".maxntid 256", 80, 128},
                {".maxntid 256 .minnctapersm 3", 44, 56},
                {".maxntid 256 .minnctapersm 3", 60, 72},
                {".maxntid 256 .minnctapersm 3", 70, 80},
                {".maxntid 256 .minnctapersm 5", 42, 48}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t n = copy_with(rows[i].directives, rows[i].words, "bar.sync 0;");
        EXPECT(n == rows[i].registers, "row %zu: %u registers, not %u", i, n, rows[i].registers);
    }
}
END_TEST

/* The address is R2 and R3. The second load would overwrite R3 if the sum took it, but the loads still read R3: their
 * results are awaited only by the sum. Operands are R0 and R5, in both banks; the sum takes the odd one. */
START_TEST(operands_are_in_both_banks) {
    ck_assert_uint_eq(registers("", "ld.global.f32 %f1, [%d3]; ld.global.f32 %f2, [%d3+4]; add.f32 %f3, %f1, %f2;\n"
                                    "st.global.f32 [%d3], %f3;"),
                      6 + 2);
}
END_TEST

/* The sum of nine products keeps its number, so that the 8 words that it reads are all in the other bank: 2 apart. With
 * R0 to R3 for sum, stack pointer and address, they are R5 to R19. ptxas 13 for sm_86 numbers them so. */
START_TEST(a_sum_keeps_its_number) {
    char body[2048] = "ld.global.f32 %f0, [%d3]; mul.f32 %f10, %f0, 0f40400000;\n";
    for (int i = 1; i < 9; i++)
        sprintf(body + strlen(body), "ld.global.f32 %%f%d, [%%d3+%d]; fma.rn.f32 %%f10, %%f%d, 0f40400000, %%f10;\n", i,
                4 * i, i);
    strcat(body, "st.global.f32 [%d3], %f10;");
    ck_assert_uint_eq(registers("", body), 20 + 2);
}
END_TEST

/* A sum of products of two loaded words. Three operands need not all be in different banks, so one of the words fills
 * the gap beside the other: the address and the ten words are R0 and R2 to R12. ptxas 13 takes one register more. */
START_TEST(one_of_three_operands_is_free) {
    char body[2048] = "mov.f32 %f10, 0f40400000;\n";
    for (int i = 0; i < 5; i++)
        sprintf(body + strlen(body), "ld.global.f32 %%f%d, [%%d3+%d]; ld.global.f32 %%f%d, [%%d3+%d];\n", 2 * i, 4 * i,
                2 * i + 1, 4 * i + 128);
    for (int i = 0; i < 5; i++)
        sprintf(body + strlen(body), "fma.rn.f32 %%f10, %%f%d, %%f%d, %%f10;\n", 2 * i, 2 * i + 1);
    strcat(body, "st.global.f32 [%d3], %f10;");
    ck_assert_uint_eq(registers("", body), 13 + 2);
}
END_TEST

/* Five words are read together with the pair R4 and R5, so they are odd: R7 to R15. The address is R2 and R3. ptxas 13
 * numbers them so for sm_75 to sm_120. */
START_TEST(words_beside_a_pair_are_odd) {
    char body[2048] = "ld.global.u64 %d4, [%d3];\n";
    for (int i = 0; i < 5; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d3+%d];\n", i + 2, 8 + 16 * i);
    for (int i = 0; i < 5; i++)
        sprintf(body + strlen(body), "mad.wide.s32 %%d5, %%r%d, 16, %%d4; st.global.u32 [%%d5], 0;\n", i + 2);
    ck_assert_uint_eq(registers("", body), 16 + 2);
}
END_TEST

/* A vector of four words is R4 to R7, as its first number is a multiple of four; the address is R2 and R3. */
START_TEST(vectors_are_aligned) {
    ck_assert_uint_eq(registers("", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d3];\n"
                                    "add.u32 %r6, %r2, %r3; add.u32 %r7, %r4, %r5;\n"
                                    "st.global.v2.u32 [%d3+16], {%r6, %r7};"),
                      8 + 2);
}
END_TEST

/* The kernel has 28 words, and loads three vectors of four words after it has stored 14 of the words. If values get
 * numbers in the order in which they begin, the words take R0 and R4 to R30. No vector then fits below R32, and the
 * kernel needs 46 registers. If vectors get their numbers first, it needs 40. */
START_TEST(vectors_have_their_places_first) {
    char body[4096] = "";
    for (int i = 0; i < 28; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%d3+%d];\n", i + 2, 4 * i);
    sprintf(body + strlen(body), "bar.sync 0;\n");
    for (int i = 0; i < 28; i += 2)
        sprintf(body + strlen(body), "st.global.u32 [%%d3+%d], %%r%d;\n", 256 + 4 * i, i + 2);
    sprintf(body + strlen(body), "bar.sync 0;\n");
    for (int v = 0; v < 3; v++)
        sprintf(body + strlen(body), "ld.global.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%d3+%d];\n", 4 * v, 4 * v + 1,
                4 * v + 2, 4 * v + 3, 128 + 16 * v);
    sprintf(body + strlen(body), "bar.sync 0;\n");
    for (int v = 0; v < 3; v++)
        sprintf(body + strlen(body), "st.global.v4.f32 [%%d3+%d], {%%f%d, %%f%d, %%f%d, %%f%d};\n", 512 + 16 * v, 4 * v,
                4 * v + 1, 4 * v + 2, 4 * v + 3);
    for (int i = 1; i < 28; i += 2)
        sprintf(body + strlen(body), "st.global.u32 [%%d3+%d], %%r%d;\n", 256 + 4 * i, i + 2);
    ck_assert_uint_eq(registers("", body), 40);
}
END_TEST

/* A store still reads its word when the next load issues, which therefore writes another register: R5, R7, R9, R11. */
START_TEST(an_access_keeps_its_operands) {
    char body[1024] = "";
    for (int i = 0; i < 4; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r2, [%%d3+%d]; st.global.u32 [%%d3+%d], %%r2;\n", 4 * i,
                256 + 4 * i);
    ck_assert_uint_eq(registers("", body), 12 + 2);
}
END_TEST

#define LOADS      "ld.global.f32 %f1, [%d3]; ld.global.f32 %f2, [%d3+4]; "
#define WIDE_LOADS "ld.global.u64 %d4, [%d3]; ld.global.u64 %d5, [%d3+8]; "

/* A division has five temporaries besides its operands, and four more for its slow path: R0 and R2 to R13 are the
 * address, the operands and nine temporaries. With a limit, the slow path does without the four: R9 is the last one.
 * A remainder of 64 bits calls a function, which has 11 registers besides the address and four words of operands. */
START_TEST(divisions_have_temporaries) {
    ck_assert_uint_eq(registers("", LOADS "div.rn.f32 %f3, %f1, %f2; st.global.f32 [%d3], %f3;"), 14 + 2);
    ck_assert_uint_eq(registers(".maxnreg 12", LOADS "div.rn.f32 %f3, %f1, %f2; st.global.f32 [%d3], %f3;"), 10 + 2);
    ck_assert_uint_eq(registers("", WIDE_LOADS "rem.u64 %d6, %d4, %d5; st.global.u64 [%d3], %d6;"), 18 + 2);
}
END_TEST

SUITE(frontend_passes_numbers) {
    TEST(words_that_are_stored_are_odd);
    TEST(the_occupancy_bounds_new_numbers);
    TEST(steps_of_the_occupancy);
    TEST(operands_are_in_both_banks);
    TEST(a_sum_keeps_its_number);
    TEST(one_of_three_operands_is_free);
    TEST(words_beside_a_pair_are_odd);
    TEST(vectors_are_aligned);
    TEST(vectors_have_their_places_first);
    TEST(an_access_keeps_its_operands);
    TEST(divisions_have_temporaries);
}
