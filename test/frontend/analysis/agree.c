/* Tests frontend/analysis/agree.c by the barriers that a kernel gets on the modern core. ptxas 13 gives kernels of
 * these forms as many BSSY, for sm_75, sm_86, sm_90 and sm_120. Only parting branches need one. */
#include "host/context.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.8 .target sm_70 .address_size 64\n.const .b32 c[64];\n.visible .entry k(.param .u64 p, .param .u32 n)" \
    " {\n.shared .b32 s[64]; .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; ld.param.u64 %d1, [p];\n"            \
    "ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"                   \
    "ld.global.u32 %r2, [%d3]; mov.u32 %r3, %ctaid.x; mov.u32 %r5, 0;\n"
#define TAIL "st.global.u32 [%d3+4096], %r2; ret;\n}\n"
/* Code that gets no guards. */
#define WORK        "red.global.add.u32 [%d3+512], %r2;\n"
#define IF(test, l) test " @%p1 bra " l ";\n" WORK l ":\n"
#define R4(value)   IF(value " setp.lt.u32 %p1, %r4, %r9;", "X")
/* A loop that lanes leave once %r5 has reached a limit. */
#define LOOP(body, limit) "L:\n" body WORK "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, " limit "; @%p2 bra L;\n"
#define BY_LANE           "setp.lt.u32 %p1, %r1, %r9;"
#define BY_ARG            "setp.lt.u32 %p1, %r9, 99;"
#define SIDES(test, a, b) test " @%p1 bra A;\n" WORK "mov.u32 %r4, " a "; bra J;\nA: mov.u32 %r4, " b ";\n" WORK "J:\n"

static const struct {
    const char *body;
    unsigned barriers;
    const char *why;
} rows[] = {
    {IF(BY_LANE, "X"), 1, "a thread index"},
    {IF(BY_ARG, "X"), 0, "an argument"},
    {R4("mov.u32 %r4, %tid.y;"), 1, "the second thread index"},
    {R4("shr.u32 %r4, %r1, 5;"), 1, "a number of a warp"},
    {R4("mov.u32 %r4, %smid;"), 0, "the SM"},
    {R4("mov.u32 %r4, %r3;"), 0, "the CTA"},
    {R4("ld.global.u32 %r4, [%d1+16];"), 0, "a load from one address"},
    {R4("ld.volatile.global.u32 %r4, [%d1+16];"), 0, "a volatile load from one address"},
    {R4("ld.shared.u32 %r4, [s];"), 0, "a word of shared memory"},
    {R4("ld.global.u32 %r4, [%d3+16];"), 1, "a load from an address by lane"},
    {R4("atom.global.add.u32 %r4, [%d1+16], 1;"), 1, "an atomic"},
    {R4("setp.lt.u32 %p3, %r1, %r9; vote.sync.ballot.b32 %r4, %p3, -1;"), 0, "a ballot"},
    {R4("activemask.b32 %r4;"), 0, "the active lanes"},
    {R4("match.any.sync.b32 %r4, %r1, -1;"), 1, "a match"},
    {R4("shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;"), 0, "a shuffle from one lane"},
    {R4("shfl.sync.idx.b32 %r4, %r1, 0, 0x181f, -1;"), 1, "a shuffle in segments"},
    {R4("shfl.sync.down.b32 %r4, %r1, 1, 31, -1;"), 1, "a shuffle from other lanes"},
    {R4("shfl.sync.down.b32 %r4, %r9, 1, 31, -1;"), 0, "a shuffle of one value"},
    {IF("setp.lt.u32 %p3, %r1, %r9; bar.red.or.pred %p1, 0, %p3;", "X"), 1, "a CTA barrier's result"},
    {R4("mov.u32 %r4, %r3; setp.lt.u32 %p3, %r1, 4; @%p3 mov.u32 %r4, 7;"), 1, "a write with a guard by lane"},
    {R4("mov.u32 %r4, %r3; setp.lt.u32 %p3, %r9, 4; @%p3 mov.u32 %r4, 7;"), 0, "a write with an agreed guard"},
    {LOOP("", "%r9"), 0, "a loop that all lanes leave together"},
    {LOOP("", "%r1"), 1, "a loop that lanes leave apart"},
    {LOOP("", "%r1") IF("setp.lt.u32 %p1, %r5, 9;", "X"), 2, "the counter of such a loop after it"},
    {LOOP(IF(BY_ARG, "X"), "%r1"), 1, "an argument in such a loop"},
    {LOOP(IF("and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0;", "X"), "%r1"), 2, "its counter in it"},
    {LOOP("ld.global.u32 %r6, [%d1+16];\n", "%r1") R4("mov.u32 %r4, %r6;"), 2, "a value of such a loop after it"},
    {BY_LANE " @%p1 bra Q; mov.u32 %r5, 0;\n" LOOP("", "%r9") "Q:\n", 1, "a loop with agreed ends in a side"},
    {SIDES(BY_ARG, "%r3", "%r9") R4(""), 0, "a value of agreed sides"},
    {SIDES(BY_LANE, "%r3", "%r9") R4(""), 2, "a value of sides by lane"},
    {BY_LANE " @%p1 bra Q;\n" SIDES(BY_ARG, "%r3", "%r9") R4("") "Q:\n", 1, "agreed sides in a side"},
    {BY_LANE " @%p1 ret;\n" IF("setp.lt.u32 %p1, %r9, 9;", "X"), 0, "an argument after some lanes have ended"},
    {"min.u32 %r4, %r9, 1;\nT: .branchtargets A, B;\nbrx.idx %r4, T;\nA: " WORK "bra J;\nB: " WORK WORK "J:\n", 0,
     "an agreed index of targets"},
    {"min.u32 %r4, %r1, 1;\nT: .branchtargets A, B;\nbrx.idx %r4, T;\nA: " WORK "bra J;\nB: " WORK WORK "J:\n", 1,
     "an index of targets by lane"},
};

START_TEST(only_parting_branches_have_barriers) {
    char err[512], text[4096];
    unsigned barriers = 0;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "its", .config = "ampere"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text, "%s%s%s", HEAD, rows[_i].body, TAIL);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct program *p = module_program(h, m, "k");
    ck_assert_msg(p != NULL, "%s", heddle_error(h));
    for (uint32_t pc = 0; pc < p->n; pc++)
        barriers += p->code[pc].kind == K_BSSY;
    EXPECT(barriers == rows[_i].barriers, "%s: %u barriers, not %u", rows[_i].why, barriers, rows[_i].barriers);
    heddle_close(h);
}
END_TEST

/* The classic core keeps a barrier for each branch with a guard. */
START_TEST(other_machines_keep_all_barriers) {
    char err[512];
    unsigned barriers = 0;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "its", .config = "fermi"}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    const char *text = HEAD IF(BY_ARG, "X") TAIL;
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct program *p = module_program(h, m, "k");
    for (uint32_t pc = 0; pc < p->n; pc++)
        barriers += p->code[pc].kind == K_BSSY;
    ck_assert_uint_eq(barriers, 1);
    heddle_close(h);
}
END_TEST

SUITE(frontend_analysis_agree) {
    TEST_LOOP(only_parting_branches_have_barriers, 0, (int)(sizeof rows / sizeof rows[0]));
    TEST(other_machines_keep_all_barriers);
}
