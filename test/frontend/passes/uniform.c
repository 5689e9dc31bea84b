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
     "an operand in constant memory"},
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
    TEST(readers_wait);
    TEST(uniform_registers_need_no_ports);
}
