/* Where convergence barriers stand: loops whose last block falls into their header, and loops that a kernel begins
 * with, reconverge as well as any others; so does code that some threads leave before the join. */
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
    /* lane l leaves both loops in round l % 4 of the inner and l / 4 of the outer one, which has no other end: those
     * that have left wait while the inner loop is entered again */
    {"both",
     HEAD "O: mov.u32 %r5,0;\nI: mad.lo.u32 %r6,%r2,4,%r5; setp.eq.u32 %o,%r6,%r1; @%o bra X;\n add.u32 %r3,%r3,%r6;"
          " add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,4; @%o bra I;\n add.u32 %r2,%r2,1; bra O;\nX:\n" TAIL},
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

/* Warp instructions are as many as with a stack, in the timing model and in the interpreter. Convergence barriers and
 * their jumps have a count of their own. */
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

/* Sides that end after they have done something, in kernels whose other sides meet at J. By hand: what one warp issues
 * when J is issued once. HEAD has 4 instructions, TAIL 8. LEAVE has 4: lanes store and end. */
#define LEAVE  "mul.wide.u32 %b,%r1,4; add.u64 %a,%a,%b; st.global.u32 [%a],%r1; ret;\n"
#define SIDES  " setp.lt.u32 %o,%r1,16; @%o bra A;\n add.u32 %r3,%r3,1; bra J;\nA: setp.lt.u32 %o,%r1,4; @!%o bra B;\n"
#define REJOIN "B: add.u32 %r3,%r3,2;\nJ:\n"
#define QUIT   ".version 7.0\n.target sm_70\n.address_size 64\n.func quit()\n{\nexit;\n}\n"
static const struct {
    const char *name, *text;
    int want;
} leaving[] = {
    /* 2 and 2 of the first branch's sides, 2 of the second branch, LEAVE, 1 of B */
    {"an early return", HEAD SIDES LEAVE REJOIN TAIL, 4 + 2 + 2 + 2 + 4 + 1 + 8},
    /* lanes 0 to 3 ask once more (2), and go to B with the others */
    {"a trap", HEAD SIDES "setp.lt.u32 %o,%r1,99; @%o bra B; st.global.u32 [%a],%r1; trap;\n" REJOIN TAIL,
     4 + 2 + 2 + 2 + 2 + 1 + 8},
    /* lane l leaves the loop in round l, but odd ones from 7 on end in round 5. Lane 30 is the last: 31 times 2 at H,
     * 30
     * times 2 behind it and 3 at C, and in round 5 the 3 that tell odd from even, and LEAVE */
    {"out of a loop",
     HEAD "H: setp.ge.u32 %o,%r2,%r1; @%o bra J;\n setp.ne.u32 %o,%r2,5; @%o bra C;\n and.b32 %r5,%r1,1;"
          " setp.eq.u32 %o,%r5,0; @%o bra C;\n" LEAVE "C: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1; bra H;\nJ:\n" TAIL,
     4 + 31 * 2 + 30 * 5 + 3 + 4 + 8},
    /* two lanes of four go to C0 (2 instructions), one to C1 and ends, one to C2 (1) */
    {"a case of a switch",
     HEAD " and.b32 %r5,%r1,3;\nT: .branchtargets C0, C1, C2, C0;\n brx.idx %r5, T;\nC0: add.u32 %r3,%r3,1; bra J;\n"
          "C1: " LEAVE "C2: add.u32 %r3,%r3,2;\nJ:\n" TAIL,
     4 + 2 + 2 + 4 + 1 + 8},
    /* two returns in each other: lanes 0 and 1, then 2 and 3 (setp and branch more) */
    {"two returns", HEAD SIDES " setp.lt.u32 %o,%r1,2; @%o bra D;\n" LEAVE "D: " LEAVE REJOIN TAIL,
     4 + 2 + 2 + 2 + 2 + 4 + 4 + 1 + 8},
    /* two joins, each after a return: lanes 0 to 3 at the first, of the others 16 to 19 at the second (and.b32, 2
     * for the branch; LEAVE; 1 of those that stay) */
    {"one after the other",
     HEAD SIDES LEAVE REJOIN " and.b32 %r5,%r1,16; setp.eq.u32 %o,%r5,0; @%o bra K;\n setp.ge.u32 %o,%r1,20;"
                             " @%o bra L;\n" LEAVE "L: add.u32 %r3,%r3,7;\nK:\n" TAIL,
     4 + 2 + 2 + 2 + 4 + 1 + 3 + 2 + 4 + 1 + 8},
};
enum { N_LEAVING = sizeof leaving / sizeof leaving[0] };

START_TEST(sides_that_end_do_not_count) {
    static const char *const ways[][2] = {{"its", NULL}, {"si", NULL}, {"functional", "reconv=its"}};
    uint32_t want[32], got[32];
    instructions("functional", NULL, leaving[_i].text, want);
    for (int k = 0; k < 3; k++) {
        const char *const set[] = {ways[k][1], NULL};
        double n = instructions(ways[k][0], set, leaving[_i].text, got);
        ck_assert_mem_eq(want, got, sizeof want);
        ck_assert_msg(n == leaving[_i].want, "%s, %s: %.0f instructions, not %d", leaving[_i].name, ways[k][0], n,
                      leaving[_i].want);
    }
}
END_TEST

/* Lanes without bit n go to `to`: 3 instructions. */
#define SPLIT(n, to) " and.b32 %r5,%r1," #n "; setp.eq.u32 %o,%r5,0; @%o bra " to ";\n"
#define DO3          " add.u32 %r3,%r3,1; add.u32 %r3,%r3,%r3; xor.b32 %r3,%r3,5;\n"

/* Kernels in which a barrier at the wrong place would never open. In order:
 * - the only way out of a loop is behind the work that even and odd lanes do in turn, and so it is the post-dominator:
 *   who works must not wait there for those who go round, while they wait at N for him;
 * - even lanes wait at a barrier of the CTA before J or T, odd ones behind J: these must not wait at J;
 * - even lanes wait in a loop for a flag that odd ones set behind J;
 * - lanes call a function that ends them;
 * - lanes store and return early from a function;
 * - lanes wait at a barrier of the CTA before they end, as all 32 do, so nobody may wait for them at J. */
static const char *const progress[] = {
    HEAD "H: add.u32 %r2,%r2,1; xor.b32 %r5,%r2,%r1; and.b32 %r5,%r5,1; setp.ne.u32 %o,%r5,0; @%o bra N;\n"
         " add.u32 %r3,%r3,7; shr.u32 %r6,%r1,2; setp.gt.u32 %o,%r2,%r6; @%o bra X;\n add.u32 %r3,%r3,1;\n"
         "N: add.u32 %r3,%r3,2; bra H;\nX:\n" TAIL,
    HEAD SPLIT(1, "E") DO3
    " bra J;\nE: bar.sync 0;\n" SPLIT(2, "J") " bra T;\nJ:" DO3 SPLIT(1, "T") " bar.sync 0;\nT:" TAIL,
    HEAD " st.volatile.global.u32 [%a],%r2;\n" SPLIT(
        1, "E") " bra J;\nE: ld.volatile.global.u32 %r5,[%a];"
                " setp.eq.u32 %o,%r5,0; @%o bra E;\n" SPLIT(2, "J") " bra T;\nJ:" DO3 SPLIT(
                    1, "T") " mov.u32 %r6,1;"
                            " st.volatile.global.u32 [%a],%r6;\nT:" TAIL,
    QUIT ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .pred %o; .reg .b64 %a,%b; ld.param.u64 %a,[p];\n"
         "mov.u32 %r1,%laneid; mov.u32 %r2,0; mov.u32 %r3,0;\n" SIDES " call quit; trap;\n" REJOIN TAIL,
    ".version 7.0\n.target sm_70\n.address_size 64\n.func early(.param .b64 p)\n{\n.reg .b32 %r<9>; .reg .pred %o;"
    ".reg .b64 %a,%b; ld.param.u64 %a,[p]; mov.u32 %r1,%laneid; mov.u32 %r3,0;\n" SIDES LEAVE REJOIN
    " ret;\n}\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .pred %q; .reg .b64 %a,%b; "
    "ld.param.u64 %a,[p];\n"
    "mov.u32 %r1,%laneid; mov.u32 %r3,2;\n{ .param .b64 x; st.param.b64 [x],%a; call early,(x); }\n" TAIL,
    HEAD SIDES " bar.sync 0;\n" LEAVE REJOIN " bar.sync 0;\n" TAIL,
};
enum { N_PROGRESS = sizeof progress / sizeof progress[0] };

START_TEST(nobody_waits_for_those_who_do_not_come) {
    static const char *const ways[][2] = {{"its", NULL}, {"si", NULL}, {"functional", "reconv=its"}};
    uint32_t want[32], got[32];
    for (int k = 0; k < 3; k++) {
        const char *const set[] = {ways[k][1], NULL};
        instructions(ways[k][0], set, progress[_i], k ? got : want);
        if (k)
            ck_assert_mem_eq(want, got, sizeof want);
    }
}
END_TEST

/* Threads that leave a region for code that not all come to. By hand: what one warp issues when each block below is
 * issued once: HEAD has 4 instructions, TAIL 8. Lane l is in r1. */
#define FUNCTION(body)                                                                                                 \
    ".version 7.0\n.target sm_70\n.address_size 64\n.func (.param .b32 r) f(.param .b32 s)\n{\n.reg .b32 %r<9>;"       \
    " .reg .pred %o; ld.param.b32 %r1,[s]; mov.u32 %r3,0; mov.u32 %r2,0;\n" body                                       \
    "R: st.param.b32 [r],%r3; ret;\n}\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %a,%b;"         \
    " ld.param.u64 %a,[p]; mov.u32 %r1,%laneid; { .param .b32 x, y; st.param.b32 [x],%r1; call (y), f, (x);"           \
    " ld.param.b32 %r3,[y]; }\n" TAIL
static const struct {
    const char *name, *text;
    int want;
} shared[] = {
    /* a || b: the second test for half of the lanes; DO3 of the taken side once, with its jump; of the other once */
    {"or", HEAD SPLIT(1, "T") SPLIT(2, "T") DO3 " bra J;\nT:" DO3 "J:\n" TAIL, 4 + 3 + 3 + 4 + 3 + 8},
    /* a && b is the same with the sides changed */
    {"and", HEAD SPLIT(1, "E") SPLIT(2, "E") SPLIT(4, "E") DO3 " bra J;\nE:" DO3 "J:\n" TAIL, 4 + 3 * 3 + 4 + 3 + 8},
    /* (a || b) && (c || d): the second pair for those who passed the first */
    {"or and",
     HEAD SPLIT(1, "C") SPLIT(2, "C") " bra E;\nC:" SPLIT(4, "T") SPLIT(8, "T") "E:" DO3 " bra J;\nT:" DO3 "J:\n" TAIL,
     4 + 3 + 3 + 1 + 3 + 3 + 4 + 3 + 8},
    /* one side of an if leaves for a tail behind the code where both meet */
    {"goto", HEAD SPLIT(1, "A") DO3 SPLIT(2, "T") " bra J;\nA:" DO3 "J:" DO3 "T:" DO3 TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 8},
    /* both sides may leave, each for a tail of its own, which lie one behind the other */
    {"two tails", HEAD SPLIT(1, "A") DO3 SPLIT(2, "T") " bra J;\nA:" DO3 SPLIT(4, "U") "J:" DO3 "T:" DO3 "U:" DO3 TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 3 + 3 + 8},
    /* three sides go to one of two tails that do not lead to each other */
    {"two ends",
     HEAD SPLIT(1, "A") DO3 SPLIT(2, "F") " bra S;\nA:" SPLIT(4, "B")
         DO3 SPLIT(8, "F") " bra S;\nB:" DO3 SPLIT(16, "F") "S:" DO3 " bra J;\nF:" DO3 "J:\n" TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 1 + 3 + 3 + 4 + 3 + 8},
    /* A loop with continue and two ways out. Its first 2 are issued in 5 rounds, what follows in 4: 4 up to the first
     * continue, DO3 and 3 up to the second, DO3 and 2 up to the third. Only from the second round on 3 more ask for
     * bit 4. Who has it leaves early, by DO3 and a jump; the others come to Y. */
    {"continue",
     HEAD "H: setp.ge.u32 %o,%r2,4; @%o bra Y;\n add.u32 %r2,%r2,1;\n" SPLIT(1, "H") DO3 SPLIT(2, "H") DO3
     " setp.lt.u32 %o,%r2,2; @%o bra H; and.b32 %r5,%r1,4; setp.eq.u32 %o,%r5,0; @%o bra H;\n" DO3 " bra J;\nY:" DO3
     "J:\n" TAIL,
     4 + 5 * 2 + 4 * 4 + 4 * 6 + 4 * 5 + 3 * 3 + 4 + 3 + 8},
    /* the tail is the end of a loop's round, from where threads come to the branch again, three times */
    {"a round",
     HEAD "H:" SPLIT(1, "A") DO3 SPLIT(2, "N") " bra J;\nA:" DO3 "J:" DO3 "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3;"
                                               " @%o bra H;\n" TAIL,
     4 + 3 * (3 + 3 + 3 + 1 + 3 + 3 + 3) + 8},
    /* a loop of two rounds in such a loop, with two ways to J and one past it */
    {"a loop in a round",
     HEAD "O: mov.u32 %r5,0;\nI: and.b32 %r6,%r1,1; setp.eq.u32 %o,%r6,0; @%o bra J; and.b32 %r6,%r1,2;"
          " setp.eq.u32 %o,%r6,0; @%o bra N; add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,2; @%o bra I;\nJ:" DO3
          "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra O;\n" TAIL,
     4 + 3 * (1 + 2 * 9 + 3 + 3) + 8},
    /* three times an inner loop of 4 rounds, in which 3 are issued 4 times, 9 behind them 3 times, and DO3 once for
     * those who leave it in the first round */
    {"continue in a loop of a loop",
     HEAD "O: mov.u32 %r7,0;\nH: add.u32 %r7,%r7,1; setp.ge.u32 %o,%r7,4; @%o bra N;\n" SPLIT(1, "H") DO3 SPLIT(2, "H")
         DO3 "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra O;\n" TAIL,
     4 + 3 * (1 + 4 * 3 + 3 * 9 + 3 + 3) + 8},
    /* a cycle with two entries: half of the lanes begin in its middle, and all go round once more together */
    {"two entries", HEAD SPLIT(1, "M") "L:" DO3 "M:" DO3 " add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra L;\n" TAIL,
     4 + 3 + 3 + 3 * 6 + 2 * 3 + 8},
    /* a table, one of whose cases leaves */
    {"a table",
     HEAD " and.b32 %r5,%r1,3;\nT: .branchtargets C0, C1, C2, X;\n brx.idx %r5, T;\nC0:" DO3 " bra J;\nC1:" DO3
          " bra J;\nC2:" DO3 "J:" DO3 "X:" DO3 TAIL,
     4 + 2 + 4 + 4 + 3 + 3 + 3 + 8},
    /* an early return of a called function: the kernel issues 5 before it, the function 3 in front and 2 at R */
    {"return", FUNCTION(SPLIT(1, "A") DO3 SPLIT(2, "R") " bra J;\nA:" DO3 "J:" DO3),
     4 + 1 + 3 + 3 + 3 + 3 + 1 + 3 + 3 + 2 + 8},
    /* Lane l ends the loop in round l / 8; odd ones from 9 on return in round 1. 1 before the loop; 2 in 4 rounds; 2
     * more in 3, and 2 at C; in round 1 also 3, DO3 and a jump; DO3 behind the loop. */
    {"return from a loop",
     FUNCTION(" shr.u32 %r6,%r1,3;\nH: setp.ge.u32 %o,%r2,%r6; @%o bra J;\n setp.ne.u32 %o,%r2,1; @%o bra C;\n" SPLIT(
         1, "C") DO3 " bra R;\nC: add.u32 %r2,%r2,1; bra H;\nJ:" DO3),
     4 + 1 + 3 + 1 + 4 * 2 + 3 * 2 + 3 + 4 + 3 * 2 + 3 + 2 + 8},
};
enum { N_SHARED = sizeof shared / sizeof shared[0] };

START_TEST(shared_code_is_issued_once) {
    static const char *const ways[][2] = {{"its", NULL}, {"si", NULL}, {"functional", "reconv=its"}};
    uint32_t want[32], got[32];
    instructions("functional", NULL, shared[_i].text, want);
    for (int k = 0; k < 3; k++) {
        const char *const set[] = {ways[k][1], NULL};
        double n = instructions(ways[k][0], set, shared[_i].text, got);
        ck_assert_mem_eq(want, got, sizeof want);
        ck_assert_msg(n == shared[_i].want, "%s, %s: %.0f instructions, not %d", shared[_i].name, ways[k][0], n,
                      shared[_i].want);
    }
}
END_TEST

SUITE(frontend_barriers) {
    TEST_LOOP(a_loop_reconverges_wherever_its_header_stands, 0, N_KERNELS);
    TEST_LOOP(sides_that_end_do_not_count, 0, N_LEAVING);
    TEST_LOOP(shared_code_is_issued_once, 0, N_SHARED);
    TEST_LOOP(nobody_waits_for_those_who_do_not_come, 0, N_PROGRESS);
}
