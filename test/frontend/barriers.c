/* Where convergence barriers stand: loops whose last block falls into their header, and loops that a kernel begins
 * with, reconverge as well as any others. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"           \
    ".reg .pred %o; .reg .b64 %a,%b; ld.param.u64 %a,[p]; mov.u32 %r1,%laneid; mov.u32 %r2,0; mov.u32 %r3,0;\n"
/* The same without the instructions before the body: it begins with the loop. */
#define BARE                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"           \
    ".reg .pred %o; .reg .b64 %a,%b;\n"
#define TAIL                                                                                                           \
    " mul.lo.u32 %r4,%r3,3; add.u32 %r4,%r4,1; add.u32 %r4,%r4,2; add.u32 %r4,%r4,3; mul.wide.u32 %b,%r1,4;\n"         \
    " add.u64 %a,%a,%b; st.global.u32 [%a],%r4; ret;\n}\n"

static const struct {
    const char *name, *text;
} kernels[] = {
    /* the sum of 0 .. lane - 1, tested before the first round: the usual layout of a while loop */
    {"while", HEAD " bra H;\nB: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n" TAIL},
    /* the same twice */
    {"two",
     HEAD " bra H;\nB: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n mov.u32 %r2,0;"
          " bra I;\nC: add.u32 %r3,%r3,5; add.u32 %r2,%r2,3;\nI: setp.lt.u32 %o,%r2,%r1; @%o bra C;\n" TAIL},
    /* a loop in a loop: the inner one is entered by the lanes that are in the outer one, 31 times */
    {"nested",
     HEAD " bra H;\nB: mov.u32 %r5,0; bra I;\nC: add.u32 %r3,%r3,%r5; add.u32 %r5,%r5,1;\n"
          "I: setp.lt.u32 %o,%r5,%r2; @%o bra C;\n add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n" TAIL},
    /* lane l leaves both loops in round l % 4 of the inner and l / 4 of the outer one: those that have left wait while
     * the inner loop is entered again */
    {"both",
     HEAD "O: mov.u32 %r5,0;\nI: mad.lo.u32 %r6,%r2,4,%r5; setp.eq.u32 %o,%r6,%r1; @%o bra X;\n add.u32 %r3,%r3,%r6;"
          " add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,4; @%o bra I;\n add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,8; @%o bra O;"
          "\nX:\n" TAIL},
    /* the kernel's first instruction is the header's */
    {"first", BARE "H: mov.u32 %r1,%laneid; setp.ge.u32 %o,%r2,%r1; @%o bra X;\n add.u32 %r3,%r3,%r2;"
                   " add.u32 %r2,%r2,1; bra H;\nX: ld.param.u64 %a,[p];\n" TAIL},
};

enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

static double instructions(const char *model, const char *const *set, const char *text, uint32_t out[32]) {
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .cycle_limit = 1000000},
                    err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 128);
    const struct heddle_arg args[] = {{&p, 8}};
    struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, warp, 0, args, 1) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, p, out, 128);
    double n = heddle_stat(h, 0, "gpu.warp_instructions");
    heddle_close(h);
    return n;
}

/* A warp issues what it issues with a stack, in time and in the interpreter; barriers and their jumps are counted
 * apart. */
START_TEST(a_loop_reconverges_wherever_its_header_stands) {
    static const char *const ways[][2] = {{"spe", "its"}, {"functional", "functional"}};
    const char *const reconv[] = {"reconv=its", NULL};
    for (int k = 0; k < 2; k++) {
        uint32_t want[32], got[32];
        double stack = instructions(ways[k][0], NULL, kernels[_i].text, want);
        double its = instructions(ways[k][1], k ? reconv : NULL, kernels[_i].text, got);
        ck_assert_mem_eq(want, got, sizeof want);
        ck_assert_msg(its == stack, "%s: %.0f instructions, %.0f with a stack", kernels[_i].name, its, stack);
    }
}
END_TEST

SUITE(frontend_barriers) { TEST_LOOP(a_loop_reconverges_wherever_its_header_stands, 0, N_KERNELS); }
