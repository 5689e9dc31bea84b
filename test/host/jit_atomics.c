/* Tests atomics on shared memory in native code: conflicts between lanes, registers with two roles, and faults. */
#include "jit_rig.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                                  \
    ".visible .entry k(.param .u64 k_in, .param .u64 k_out) {\n"                                                       \
    ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%rd<9>;\n.shared .align 4 .b8 tile[1024];\n"                     \
    "ld.param.u64 %%rd1, [k_in]; ld.param.u64 %%rd2, [k_out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, 0;\n"               \
    "mov.u32 %%r14, tile; shl.b32 %%r4, %%r1, 2; add.u32 %%r4, %%r4, %%r14; st.shared.u32 [%%r4], %%r1;\n"             \
    "mad.lo.u32 %%r3, %%r1, 40503, 77; mul.wide.u32 %%rd3, %%r1, 4; add.u64 %%rd4, %%rd2, %%rd3; bar.sync 0;\n"

/* %r5: the index of the word that a thread changes. */
static const char *const words[] = {"mov.u32 %r5, %r1;", "and.b32 %r5, %r3, 7;", "mov.u32 %r5, 9;",
                                    "sub.u32 %r5, 70, %r1;"};
static const char *const operations[] =
    {
        "atom.shared.add.u32 %r6, [%r7], %r3;",
        "atom.shared.add.s32 %r3, [%r7+4], %r3;", /* the result replaces the operand */
        "atom.shared.and.b32 %r7, [%r7], %r3;",   /* the result replaces the address */
        "atom.shared.or.b32 %r6, [%r7+8], 5;",
        "atom.shared.xor.b32 %r6, [%rd5], %r3;",
        "red.shared.add.u32 [%r7], %r3;",
        "red.shared.xor.b32 [%r7+12], %r2;",
        "atom.shared.exch.b32 %r6, [%r7], %r3;", /* this and the next call the interpreter */
        "atom.shared.add.f32 %r6, [%r7], %r3;",
        "atom.shared.add.u32 %r6, [%r7+2], %r3;",
};
enum { WORDS_OF_LANES = 4, NATIVE = 7, OFFSET = 9 };

/* Writes a kernel that loads a row of global memory, changes a word of shared memory, and loads the row again, in each
 * of 24 iterations. `after`: code after the address in %r7. */
static void write_kernel(char *text, int word, int operation, int part, const char *after) {
    snprintf(
        text, TEXT,
        HEAD
        "%sLOOP: ld.global.u32 %%r11, [%%rd4+8192]; %s mad.lo.u32 %%r7, %%r5, 4, %%r14; mov.u32 %%r6, %%r3; %s "
        "cvt.u64.u32 %%rd5, %%r7;\n"
        "add.u32 %%r3, %%r3, %%r2; xor.b32 %%r10, %%r3, %%r11;\n%s\n"
        "ld.global.u32 %%r11, [%%rd4+8192]; add.u32 %%r3, %%r3, %%r11;\n"
        "mad.lo.u32 %%r3, %%r3, 31, %%r6; add.u32 %%r3, %%r3, %%r7; xor.b32 %%r3, %%r3, %%r10;\n"
        "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, 24; @%%p1 bra LOOP;\n"
        "st.global.u32 [%%rd4], %%r3;\nEND: ld.shared.u32 %%r9, [%%r4]; st.global.u32 [%%rd4+4096], %%r9; ret;\n}\n",
        parts[part], words[word], after, operations[operation]);
}

START_TEST(atomics_end_alike) {
    jit_level(_i);
    static char text[TEXT];
    static const uint32_t threads[] = {32, 64, 50};
    for (int word = 0; word < WORDS_OF_LANES; word++)
        for (int operation = 0; operation < OFFSET; operation++)
            for (int part = 0; part < N_PARTS; part++) {
                write_kernel(text, word, operation, part, "");
                const double blocks = both(text, 1, threads[(word + operation + part) % 3], 0);
                ck_assert_msg(blocks >= 1 || !jit_runs(), "%s", text);
            }
}
END_TEST

/* In iteration 11, the address of one lane is misaligned, or outside of shared memory. */
START_TEST(faults_of_atomics_are_alike) {
    jit_level(_i);
    static char text[TEXT];
    static const char *const wrong[] = {"1", "1024", "-65536", "0x7fffff00"};
    char after[256];
    for (int k = 0; k < 4; k++)
        for (int operation = 0; operation < NATIVE; operation++)
            for (int lane = 1; lane < 32; lane += 30) {
                snprintf(
                    after, sizeof after,
                    "setp.eq.u32 %%p3, %%r2, 11; setp.eq.and.u32 %%p3, %%r1, %d, %%p3; @%%p3 add.u32 %%r7, %%r7, %s;",
                    lane, wrong[k]);
                write_kernel(text, 0, operation, lane == 1 ? 0 : 1, after);
                ck_assert_msg(both(text, 1, 64, 0) < 0, "no fault of\n%s", text);
            }
}
END_TEST

/* The offset 2 is misaligned. The register is misaligned, too, except in iteration 11. */
START_TEST(offsets_of_atomics_are_aligned) {
    jit_level(_i);
    static char text[TEXT];
    for (int part = 0; part < N_PARTS; part++) {
        write_kernel(text, 0, OFFSET, part,
                     "setp.ne.u32 %p3, %r2, 11; selp.u32 %r12, 2, 0, %p3; add.u32 %r7, %r7, %r12;");
        ck_assert_msg(both(text, 1, 64, 0) < 0, "no fault of\n%s", text);
    }
}
END_TEST

SUITE(host_jit_atomics) {
    TEST_LEVELS(atomics_end_alike, 1);
    TEST_LEVELS(faults_of_atomics_are_alike, 1);
    TEST_LEVELS(offsets_of_atomics_are_aligned, 1);
}
