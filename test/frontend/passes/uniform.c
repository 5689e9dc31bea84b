/* Tests the pass `uniform`: which instructions run on the uniform datapath, how long others wait for them, and that a
 * kernel stores the same with and without it. */
#include "frontend/passes/pass.h"
#include "isa/control_bits.h"
#include "test/frontend/passes/late_run.h"
#include <stdio.h>
#include <string.h>

enum { CTAS = 3, THREADS = 40, WORDS = CTAS * THREADS };

/* Runs a kernel that stores %r8 of each thread. Stores the words, and returns the program. With core.check, a register
 * of the uniform datapath has one value for all lanes. */
static struct heddle *run(const char *body, const char *config, const char *model, const char *option,
                          uint32_t out[WORDS], const struct program **p) {
    char text[4096];
    snprintf(text, sizeof text,
             ".version 7.0 .target sm_75 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
             ".reg .pred %%p<9>; .reg .b32 %%r<19>; .reg .b64 %%d<9>; .shared .b32 s[64];\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r8, 5;\n%s\n"
             "END: ld.param.u64 %%d1, [p]; mov.u32 %%r17, %%ctaid.x; mad.lo.u32 %%r18, %%r17, 40, %%r1;\n"
             "mul.wide.u32 %%d2, %%r18, 4; add.u64 %%d3, %%d1, %%d2; st.global.u32 [%%d3], %%r8; ret;\n}\n",
             body);
    memset(out, 0, WORDS * sizeof *out);
    return late_run(&(struct late_run){.text = text,
                                       .config = config,
                                       .model = model,
                                       .option = option,
                                       .ctas = CTAS,
                                       .threads = THREADS,
                                       .n = 6,
                                       .words = WORDS},
                    out, p);
}

static uint32_t on_datapath(const struct program *p) {
    uint32_t n = 0;
    for (uint32_t pc = 0; pc < p->n; pc++)
        n += p->control[pc].datapath;
    return n;
}

#define CHAIN "shl.b32 %r3, %r2, 5; xor.b32 %r4, %r3, %r2;" /* with the index of the CTA: three instructions */

static const struct {
    const char *body;
    uint32_t uniform;
    const char *why;
} rows[] = {
    {CHAIN "add.u32 %r8, %r4, %r1;", 3, "a chain that a vector instruction reads"},
    {"or.b32 %r8, %r2, %r1;", 1, "the index of the CTA alone"},
    {CHAIN "mov.u32 %r8, %r4;", 0, "a store needs a vector register"},
    {CHAIN "mad.lo.u32 %r8, %r4, %r4, %r1;", 0, "two operands of a vector instruction"},
    {CHAIN "mad.lo.u32 %r8, %r4, 7, %r1;", 0, "an immediate, too"},
    {"ld.param.u32 %r3, [n]; and.b32 %r3, %r3, %r2; xor.b32 %r4, %r3, 9; or.b32 %r8, %r4, %r1;", 0,
     "an immediate in the logic operation that reads the value"},
    /* fetch (ULDC), sum */
    {"ld.param.u32 %r3, [n]; add.u32 %r4, %r3, 1; mul.lo.u32 %r8, %r4, %r1;", 2, "a parameter"},
    /* the index of the CTA, fetch, comparison, selection */
    {"ld.param.u32 %r3, [n]; min.s32 %r4, %r3, %r2; mul.lo.u32 %r8, %r4, %r1;", 4, "a minimum"},
    {"ld.param.u32 %r3, [n]; setp.gt.u32 %p1, %r3, %r2; selp.b32 %r4, %r3, 9, %p1; mul.lo.u32 %r8, %r4, %r1;", 4,
     "a comparison that selects"},
    {"popc.b32 %r3, %r2; mul.hi.u32 %r4, %r3, %r2; mul.lo.u32 %r8, %r4, %r1;", 3, "a count and an upper half"},
    /* fetch, shift, exclusive or: on the machine, this value is the same in all iterations */
    {"mov.u32 %r8, %r1; L: ld.param.u32 %r3, [n]; shl.b32 %r4, %r3, 5; xor.b32 %r4, %r4, %r3;"
     "mad.lo.u32 %r8, %r8, %r4, %r1; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 9999; @%p1 bra L;",
     3, "a value from a parameter, in a loop that lanes leave one after the other"},
    /* the product of %r1 and 7 has no place for another constant, so a vector register has the parameter */
    {"ld.param.u32 %r3, [n]; mad.lo.u32 %r5, %r1, 7, %r3; add.u32 %r4, %r3, 1; mul.lo.u32 %r8, %r4, %r5;", 0,
     "a parameter that another instruction needs in a vector register"},
    {"ld.param.u32 %r3, [n]; shl.b32 %r4, %r3, 2; st.shared.u32 [%r4], %r1; ld.shared.u32 %r8, [%r4];", 0,
     "an address that follows from a parameter"},
    {"mad.lo.u32 %r3, %r2, 16, 16; mul.lo.u32 %r8, %r3, %r1;", 2, "a shift and a sum (ULEA)"},
    /* the index of the CTA, the upper word of its extension, and two for a shift of 64 bits */
    {"cvt.s64.s32 %d4, %r2; shl.b64 %d4, %d4, 2; mul.wide.u32 %d5, %r1, 3; xor.b64 %d5, %d5, 7;"
     "add.s64 %d5, %d4, %d5; xor.b64 %d5, %d5, 7; add.s64 %d5, %d4, %d5; shr.u64 %d5, %d5, 1; cvt.u32.u64 %r8, %d5;",
     4, "a value of 64 bits"},
    /* fetch, two extensions, and two for a sum */
    {"ld.param.u32 %r3, [n]; cvt.s64.s32 %d4, %r3; cvt.s64.s32 %d6, %r2; add.s64 %d4, %d4, %d6;"
     "mul.wide.u32 %d5, %r1, 3; xor.b64 %d5, %d5, 7; add.s64 %d5, %d4, %d5; xor.b64 %d5, %d5, 7; add.s64 %d5, %d4, "
     "%d5; shr.u64 %d5, %d5, 1; cvt.u32.u64 %r8, %d5;",
     6, "a sum of 64 bits"},
    {"cvt.s64.s32 %d4, %r2; mul.wide.u32 %d5, %r1, 3; add.s64 %d4, %d4, %d5; cvt.u32.u64 %r8, %d4;", 0,
     "an extension to 64 bits"},
    {"shl.b32 %r3, %r1, 5; xor.b32 %r4, %r3, 9; or.b32 %r8, %r4, %r1;", 0, "the index of the thread"},
    {"setp.gt.u32 %p1, %r1, 5; @%p1 bra L;" CHAIN "add.u32 %r8, %r4, %r1; L:", 0,
     "some lanes do not execute the chain"},
    {"setp.gt.u32 %p1, %r1, 5; @%p1 exit;" CHAIN "add.u32 %r8, %r4, %r1;", 3, "other lanes have ended"},
    {"setp.gt.u32 %p1, %r2, 1; @%p1 bra L;" CHAIN "add.u32 %r8, %r4, %r1; L:", 0,
     "the comparison has an immediate operand, so the index of the CTA is in a vector register"},
    {"and.b32 %r3, %r2, 7; shl.b32 %r4, %r3, 2; st.shared.u32 [%r4], %r1; ld.shared.u32 %r8, [%r4];", 3,
     "an address in shared memory"},
    {"mov.u32 %r8, %r1; mov.u32 %r3, 0; L: add.u32 %r3, %r3, 3; add.u32 %r8, %r8, %r3; setp.lt.u32 %p1, %r8, 50; @%p1 "
     "bra L;",
     0, "a loop that lanes leave one after the other"},
};

START_TEST(some_instructions_are_uniform) {
    uint32_t with[WORDS], without[WORDS];
    const struct program *p;
    struct heddle *off = run(rows[_i].body, "ampere", "functional", "core.uniform=off", without, &p);
    ck_assert_uint_eq(on_datapath(p), 0);
    heddle_close(off);
    struct heddle *h = run(rows[_i].body, "ampere", "functional", "core.uniform=on", with, &p);
    EXPECT(on_datapath(p) == rows[_i].uniform, "%s: %u instructions are uniform, not %u", rows[_i].why, on_datapath(p),
           rows[_i].uniform);
    for (int i = 0; i < WORDS; i++)
        EXPECT(with[i] == without[i], "%s: word %d is 0x%x, not 0x%x", rows[_i].why, i, with[i], without[i]);
    heddle_close(h);
}
END_TEST

/* Each instruction needs the result of the one before: 4 cycles on the uniform datapath, 6 to another unit, 9 to a
 * memory access. No instruction can come in between. */
START_TEST(readers_wait) {
    uint32_t out[WORDS];
    const struct program *p;
    struct heddle *h = run("bra.uni A; A: and.b32 %r3, %r2, 7; shl.b32 %r4, %r3, 2; xor.b32 %r5, %r4, 64;"
                           "ld.shared.u32 %r8, [%r5]; bra.uni B; B: and.b32 %r3, %r2, 7; shl.b32 %r4, %r3, 2;"
                           "or.b32 %r8, %r4, %r8; bra.uni C; C:",
                           "ampere", "functional", "core.uniform=on", out, &p);
    static const uint8_t stall[] = {4, 4, 9, 4, 6};
    uint32_t n = 0;
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->control[pc].datapath && p->code[pc].dsize == 4 && !(p->code[pc].b == OPND_ZERO)) {
            ck_assert_uint_lt(n, sizeof stall);
            EXPECT(p->control[pc].stall == stall[n], "pc %u: stall count %u, not %u", pc, p->control[pc].stall,
                   stall[n]);
            EXPECT(!p->control[pc].read_words[0] && !p->control[pc].write_words, "pc %u has a vector register", pc);
            n++;
        }
    ck_assert_uint_eq(n, sizeof stall);
    heddle_close(h);
}
END_TEST

/* A parameter is the address of a load. ptxas 13 writes ULDC for sm_75. */
START_TEST(a_parameter_is_an_address) {
    static const char *const preset[] = {"rtx2080ti", "ampere"};
    uint32_t out[WORDS], n[N_MACHINE_CLASSES], none[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = run("", preset[_i], "functional", NULL, out, &p);
    control_count(p, none);
    heddle_close(h);
    h = run("ld.param.u64 %d4, [p]; ld.global.u32 %r8, [%d4];", preset[_i], "functional", NULL, out, &p);
    control_count(p, n);
    heddle_close(h);
    ck_assert_uint_eq(n[MACHINE_MEMORY], none[MACHINE_MEMORY] + 1);
    ck_assert_uint_eq(n[MACHINE_UNIFORM], none[MACHINE_UNIFORM] + !_i);
    /* without the load, a move stores 5 */
    ck_assert_uint_eq(n[MACHINE_ALU] + n[MACHINE_FMA] + 1, none[MACHINE_ALU] + none[MACHINE_FMA]);
}
END_TEST

/* Without operands in constant memory, the datapath fetches a parameter in place of its load. ptxas 13 writes ULDC,
 * USHF and ULOP3 for sm_90. A store needs the parameter in a vector register, so a load stays. */
START_TEST(loads_of_parameters_are_fetches) {
    static const struct {
        const char *body;
        uint32_t uniform;
    } loads[] = {
        {"ld.param.u32 %r3, [n]; shl.b32 %r4, %r3, 5; xor.b32 %r4, %r4, %r3; mul.lo.u32 %r8, %r1, %r4;", 3},
        {"ld.param.u32 %r3, [n]; shl.b32 %r4, %r3, 5; xor.b32 %r8, %r4, %r3;", 0},
    };
    uint32_t out[WORDS], n[N_MACHINE_CLASSES], none[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = run("", "h100", "functional", NULL, out, &p);
    control_count(p, none);
    heddle_close(h);
    h = run(loads[_i].body, "h100", "functional", NULL, out, &p);
    control_count(p, n);
    heddle_close(h);
    ck_assert_uint_eq(n[MACHINE_UNIFORM], none[MACHINE_UNIFORM] + loads[_i].uniform);
    ck_assert_uint_eq(n[MACHINE_MEMORY], none[MACHINE_MEMORY] + !loads[_i].uniform);
    ck_assert_uint_eq(out[40 + 3], (loads[_i].uniform ? 3 : 1) * ((6 << 5) ^ 6)); /* thread 3 of CTA 1; n is 6 */
}
END_TEST

/* Three CTAs of two warps execute three uniform instructions each. These instructions read one special register, one
 * register and two registers, which need no ports then. The addition reads one register in place of two. Volta has no
 * uniform datapath. */
START_TEST(uniform_registers_need_no_ports) {
    double reads[2];
    for (int on = 0; on < 2; on++) {
        uint32_t out[WORDS];
        const struct program *p;
        struct heddle *h =
            run(CHAIN "add.u32 %r8, %r4, %r1;", "ampere", "spe", on ? "core.uniform=on" : "core.uniform=off", out, &p);
        ck_assert_double_eq(heddle_stat(h, -1, "core.uniform_instructions"), on ? 3 * CTAS * 2 : 0);
        ck_assert_double_eq(heddle_stat(h, -1, "pipe.affine"), on ? 3 * CTAS * 2 : 0);
        ck_assert_double_eq(heddle_stat(h, -1, "core.hazards"), 0);
        reads[on] = heddle_stat(h, -1, "core.port_reads") + heddle_stat(h, -1, "core.reuse_hits");
        heddle_close(h);
    }
    ck_assert_double_eq(reads[0] - reads[1], (1 + 1 + 2 + 1) * CTAS * 2);
    uint32_t out[WORDS];
    const struct program *p;
    struct heddle *volta = run(CHAIN "add.u32 %r8, %r4, %r1;", "gv100", "functional", NULL, out, &p);
    ck_assert_uint_eq(on_datapath(p), 0);
    heddle_close(volta);
}
END_TEST

SUITE(frontend_passes_uniform) {
    TEST_LOOP(some_instructions_are_uniform, 0, (int)(sizeof rows / sizeof rows[0]));
    TEST_LOOP(a_parameter_is_an_address, 0, 2);
    TEST_LOOP(loads_of_parameters_are_fetches, 0, 2);
    TEST(readers_wait);
    TEST(uniform_registers_need_no_ports);
}
