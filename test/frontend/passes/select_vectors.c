/* Tests select_vectors.c and low_bits.c: which accesses to neighbouring words become one, and that a kernel stores the
 * same with and without core.vectors. ptxas 13 makes the expected numbers of accesses for sm_86. */
#include "frontend/passes/pass.h"
#include "isa/decode.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>

enum { WORDS = 16 };

/* Runs a kernel of one thread with n = 3. r2 is 16 n bytes after the begin of s, an array of shared memory; f1 and f2
 * are words of global memory. The kernel then stores f1 to f8 to global memory. */
static struct heddle *run(const char *body, const char *option, uint32_t out[WORDS], const struct program **p) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .pred %%p<9>; .reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<9>; .reg .f64 %%e<9>;\n"
             ".reg .b16 %%h<9>; .shared .align 16 .b8 s[512]; .local .align 16 .b8 l[64];\n"
             "ld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [n]; mov.u32 %%r3, s; mad.lo.u32 %%r2, %%r1, 16, %%r3;\n"
             "ld.global.f32 %%f1, [%%d1]; ld.global.f32 %%f2, [%%d1+4];\n"
             "%s\n"
             "st.global.f32 [%%d1], %%f1; st.global.f32 [%%d1+4], %%f2; st.global.f32 [%%d1+8], %%f3;\n"
             "st.global.f32 [%%d1+12], %%f4; st.global.f32 [%%d1+16], %%f5; st.global.f32 [%%d1+20], %%f6;\n"
             "st.global.f32 [%%d1+24], %%f7; st.global.f32 [%%d1+28], %%f8; ret;\n}\n",
             body);
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = 0x01234567u * (i + 1);
    return late_run(&(struct late_run){text, "ampere", "functional", option, 1, 1, .n = 3, .words = WORDS}, out, p);
}

#define LD(d, at) "ld.shared.f32 %f" #d ", [%r2+" #at "];\n"
#define ST(at, a) "st.shared.f32 [%r2+" #at "], %f" #a ";\n"

static const struct {
    const char *body;
    uint32_t accesses; /* to shared and local memory */
    const char *why;
} rows[] = {
    {LD(3, 0) LD(4, 4) LD(5, 8) LD(6, 12), 1, "four words"},
    {LD(3, 12) LD(4, 8) LD(5, 4) LD(6, 0), 1, "four words, the last one first"},
    {LD(3, 0) LD(4, 4), 1, "two words"},
    {LD(3, 4) LD(4, 8), 2, "8 bytes that are not aligned"},
    {LD(3, 8) LD(4, 12), 1, "the upper half of 16 bytes"},
    {LD(3, 0) LD(4, 8), 2, "a gap"},
    {"mad.lo.u32 %r2, %r1, 8, %r3;" LD(3, 0) LD(4, 4) LD(5, 8) LD(6, 12), 2, "a multiple of 8"},
    {"mad.lo.u32 %r2, %r1, 4, %r3;" LD(3, 0) LD(4, 4) LD(5, 8) LD(6, 12), 4, "a multiple of 4"},
    {"mad.lo.u32 %r2, %r1, 4, %r3; and.b32 %r2, %r2, -16;" LD(3, 0) LD(4, 4), 1, "an alignment by and"},
    {"shl.b32 %r2, %r1, 4; or.b32 %r2, %r2, 8;" LD(3, 0) LD(4, 4) LD(5, 8) LD(6, 12), 2, "8 bytes after 16"},
    {"shl.b32 %r2, %r1, 4; xor.b32 %r2, %r2, 64;" LD(3, 0) LD(4, 4) LD(5, 8) LD(6, 12), 1, "a swizzle"},
    {"setp.gt.u32 %p1, %r1, 2; selp.b32 %r2, 32, 256, %p1;" LD(3, 0) LD(4, 4), 1, "one of two constants"},
    {"setp.gt.u32 %p1, %r1, 2; selp.b32 %r2, 32, 260, %p1;" LD(3, 0) LD(4, 4), 2, "one of two, not aligned alike"},
    {"mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1;" LD(3, 0) LD(4, 4) "add.u32 %r2, %r2, 8; setp.lt.u32 %p1, %r4, 3;\n"
                                                                 "@%p1 bra L;",
     1, "an address that grows by 8"},
    {"mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1;" LD(3, 0) LD(4, 4) "add.u32 %r2, %r2, 4; setp.lt.u32 %p1, %r4, 3;\n"
                                                                 "@%p1 bra L;",
     2, "an address that grows by 4"},
    {LD(3, 0) "bar.sync 0;" LD(4, 4), 2, "a barrier between"},
    {LD(3, 0) "st.shared.f32 [%r2+64], %f1;" LD(4, 4), 3, "a store to the same memory between"},
    {LD(3, 0) "st.global.f32 [%d1+32], %f1;" LD(4, 4), 1, "a store to other memory between"},
    {LD(3, 0) "atom.global.add.u32 %r4, [%d1+32], 1;" LD(4, 4), 1, "an atomic on other memory between"},
    {LD(3, 0) "div.rn.f32 %f5, %f3, %f1;" LD(4, 4), 2, "a slow path between"},
    {LD(3, 0) "add.f32 %f5, %f3, %f1; add.f32 %f4, %f5, %f5; st.global.f32 [%d1+32], %f4;" LD(4, 4), 1,
     "another value of the register before"},
    {"setp.gt.u32 %p1, %r1, 2; @%p1 ld.shared.f32 %f3, [%r2]; @%p1 ld.shared.f32 %f4, [%r2+4];", 2, "guards"},
    {"ld.volatile.shared.f32 %f3, [%r2]; ld.volatile.shared.f32 %f4, [%r2+4];", 2, "volatile loads"},
    {"ld.shared.u16 %h1, [%r2]; ld.shared.u16 %h2, [%r2+2]; mov.b32 %f3, {%h1, %h2};", 2, "words of 16 bits"},
    {"ld.shared.v2.f32 {%f3, %f4}, [%r2]; ld.shared.v2.f32 {%f5, %f6}, [%r2+8];", 1, "two vectors"},
    {"ld.shared.f64 %e1, [%r2]; ld.shared.f64 %e2, [%r2+8]; st.global.f64 [%d1+32], %e1;\n"
     "st.global.f64 [%d1+40], %e2;",
     1, "two words of 64 bits"},
    {ST(0, 1) ST(4, 2) LD(3, 0) LD(4, 4), 2, "two stores, then two loads"},
    {ST(0, 1) ST(4, 2) ST(8, 2) ST(12, 1) LD(3, 8) LD(4, 12), 2, "four stores"},
    {ST(0, 1) ST(4, 2) ST(8, 1) LD(3, 4), 3, "three stores"},
    {ST(0, 1) "ld.shared.f32 %f5, [%r2+64];" ST(4, 2) LD(3, 0), 4, "a load between stores"},
    {ST(0, 1) "ld.global.f32 %f5, [%d1+8];" ST(4, 5) LD(3, 0), 2, "a load from other memory between stores"},
    {ST(0, 1) "mul.f32 %f1, %f1, %f2; add.u32 %r4, %r2, 0;" ST(4, 1) LD(3, 0), 2, "a new value for the second store"},
    {ST(0, 1) ST(4, 2) LD(2, 0) "bar.sync 0; st.shared.f32 [%r2+4], %f2;" LD(3, 4), 4, "both ways"},
    {"mov.u64 %d2, l; st.local.f32 [%d2], %f1; st.local.f32 [%d2+4], %f2; ld.local.f32 %f3, [%d2+4];\n"
     "ld.local.f32 %f4, [%d2];",
     2, "local memory"},
};

START_TEST(neighbours_join) {
    uint32_t with[WORDS], without[WORDS], n = 0;
    const struct program *p;
    char text[256];
    heddle_close(run(rows[_i].body, "core.vectors=off", without, &p));
    struct heddle *h = run(rows[_i].body, "core.vectors=on", with, &p);
    for (uint32_t pc = 0; pc < p->n; pc++)
        n += p->code[pc].space == SPACE_SHARED || p->code[pc].space == SPACE_LOCAL;
    if (n != rows[_i].accesses)
        for (uint32_t pc = 0; pc < p->n; pc++) {
            program_print_inst(p, pc, text, sizeof text);
            printf("%s\n", text);
        }
    EXPECT(n == rows[_i].accesses, "%s: %u accesses, not %u", rows[_i].why, n, rows[_i].accesses);
    for (int i = 0; i < WORDS; i++)
        EXPECT(with[i] == without[i], "%s: word %d is 0x%x, not 0x%x", rows[_i].why, i, with[i], without[i]);
    heddle_close(h);
}
END_TEST

SUITE(frontend_passes_select_vectors) { TEST_LOOP(neighbours_join, 0, (int)(sizeof rows / sizeof rows[0])); }
