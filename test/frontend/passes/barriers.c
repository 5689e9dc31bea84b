/* Tests the places of convergence barriers. Two kinds of loops must reconverge like all other loops: loops whose
 * last block falls through to their header, and loops at the start of a kernel. Code that some threads leave before
 * the join must reconverge, too. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"           \
    ".reg .pred %o; .reg .b64 %a,%b; ld.param.u64 %a,[p]; mov.u32 %r1,%laneid; mov.u32 %r2,0; mov.u32 %r3,0;\n"
/* HEAD without the first instructions, so that the kernel begins with the loop. */
#define BARE                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n"           \
    ".reg .pred %o; .reg .b64 %a,%b;\n"
#define TAIL                                                                                                           \
    " mul.lo.u32 %r4,%r3,3; add.u32 %r4,%r4,1; add.u32 %r4,%r4,2; add.u32 %r4,%r4,3; mul.wide.u32 %b,%r1,4;\n"         \
    " add.u64 %a,%a,%b; st.global.u32 [%a],%r4; ret;\n}\n"

static const struct {
    const char *name, *text;
} kernels[] = {
    /* sums 0 .. lane - 1 in a loop whose condition is tested before the first iteration, the usual layout of a while
     * loop */
    {"while", HEAD " bra H;\nB: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n" TAIL},
    /* the same twice */
    {"two",
     HEAD " bra H;\nB: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n mov.u32 %r2,0;"
          " bra I;\nC: add.u32 %r3,%r3,5; add.u32 %r2,%r2,3;\nI: setp.lt.u32 %o,%r2,%r1; @%o bra C;\n" TAIL},
    /* nested loops: the lanes that are still in the outer loop enter the inner loop 31 times */
    {"nested",
     HEAD " bra H;\nB: mov.u32 %r5,0; bra I;\nC: add.u32 %r3,%r3,%r5; add.u32 %r5,%r5,1;\n"
          "I: setp.lt.u32 %o,%r5,%r2; @%o bra C;\n add.u32 %r2,%r2,1;\nH: setp.lt.u32 %o,%r2,%r1; @%o bra B;\n" TAIL},
    /* lane l leaves both loops in iteration l % 4 of the inner loop and l / 4 of the outer loop; the outer loop has no
     * other exit; lanes that have left wait while the remaining lanes enter the inner loop again */
    {"both",
     HEAD "O: mov.u32 %r5,0;\nI: mad.lo.u32 %r6,%r2,4,%r5; setp.eq.u32 %o,%r6,%r1; @%o bra X;\n add.u32 %r3,%r3,%r6;"
          " add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,4; @%o bra I;\n add.u32 %r2,%r2,1; bra O;\nX:\n" TAIL},
    /* the kernel's first instruction belongs to the header */
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

/* The number of warp instructions is the same as with a reconvergence stack, in the timing model and in the
 * interpreter. A separate statistic counts BSSY, BSYNC and their jumps. */
START_TEST(a_loop_reconverges_wherever_its_header_is) {
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

/* Kernels in which some sides of branches do work and then exit, while the other sides join at J. The expected numbers,
 * derived by hand, are the instructions that one warp issues if the code at J is issued only once. HEAD has 4
 * instructions, TAIL has 8, and LEAVE (lanes store and exit) has 4. */
#define LEAVE  "mul.wide.u32 %b,%r1,4; add.u64 %a,%a,%b; st.global.u32 [%a],%r1; ret;\n"
#define SIDES  " setp.lt.u32 %o,%r1,16; @%o bra A;\n add.u32 %r3,%r3,1; bra J;\nA: setp.lt.u32 %o,%r1,4; @!%o bra B;\n"
#define REJOIN "B: add.u32 %r3,%r3,2;\nJ:\n"
#define QUIT   ".version 7.0\n.target sm_70\n.address_size 64\n.func quit()\n{\nexit;\n}\n"
static const struct {
    const char *name, *text;
    int want;
} leaving[] = {
    /* the warp issues 2 instructions for the first branch, 2 on the side that jumps to J, 2 for the second branch,
     * LEAVE, and 1 at B */
    {"an early return", HEAD SIDES LEAVE REJOIN TAIL, 4 + 2 + 2 + 2 + 4 + 1 + 8},
    /* lanes 0 to 3 test once more (2 instructions) and go to B with the remaining lanes */
    {"a trap", HEAD SIDES "setp.lt.u32 %o,%r1,99; @%o bra B; st.global.u32 [%a],%r1; trap;\n" REJOIN TAIL,
     4 + 2 + 2 + 2 + 2 + 1 + 8},
    /* Lane l leaves the loop in iteration l, but odd lanes from 7 on exit in iteration 5. Lane 30 leaves last. The warp
     * issues
     * - the 2 instructions at H 31 times
     * - the next 2 instructions and the 3 instructions at C 30 times
     * - once, in iteration 5, the 3 instructions that select the odd lanes, and LEAVE */
    {"out of a loop",
     HEAD "H: setp.ge.u32 %o,%r2,%r1; @%o bra J;\n setp.ne.u32 %o,%r2,5; @%o bra C;\n and.b32 %r5,%r1,1;"
          " setp.eq.u32 %o,%r5,0; @%o bra C;\n" LEAVE "C: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1; bra H;\nJ:\n" TAIL,
     4 + 31 * 2 + 30 * 5 + 3 + 4 + 8},
    /* of every four lanes, two go to C0 (2 instructions), one goes to C1 and exits, and one goes to C2 (1
     * instruction) */
    {"a case of a switch",
     HEAD " and.b32 %r5,%r1,3;\nT: .branchtargets C0, C1, C2, C0;\n brx.idx %r5, T;\nC0: add.u32 %r3,%r3,1; bra J;\n"
          "C1: " LEAVE "C2: add.u32 %r3,%r3,2;\nJ:\n" TAIL,
     4 + 2 + 2 + 4 + 1 + 8},
    /* two returns: lanes 0 to 3 execute one more setp and branch; then lanes 0 and 1 return at D, and lanes 2 and 3
     * return before D */
    {"two returns", HEAD SIDES " setp.lt.u32 %o,%r1,2; @%o bra D;\n" LEAVE "D: " LEAVE REJOIN TAIL,
     4 + 2 + 2 + 2 + 2 + 4 + 4 + 1 + 8},
    /* two joins, each after a return: lanes 0 to 3 return before the first join J, and lanes 16 to 19 before the
     * second join K. Between J and K, the warp issues 3 instructions for the first test, 2 for the second test, LEAVE,
     * and 1 at L */
    {"one after the other",
     HEAD SIDES LEAVE REJOIN " and.b32 %r5,%r1,16; setp.eq.u32 %o,%r5,0; @%o bra K;\n setp.ge.u32 %o,%r1,20;"
                             " @%o bra L;\n" LEAVE "L: add.u32 %r3,%r3,7;\nK:\n" TAIL,
     4 + 2 + 2 + 2 + 4 + 1 + 3 + 2 + 4 + 1 + 8},
};
enum { N_LEAVING = sizeof leaving / sizeof leaving[0] };

START_TEST(sides_that_exit_keep_the_join) {
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

/* Branches to `to` in lanes whose number has no bit of mask n set. Has 3 instructions. */
#define SPLIT(n, to) " and.b32 %r5,%r1," #n "; setp.eq.u32 %o,%r5,0; @%o bra " to ";\n"
#define DO3          " add.u32 %r3,%r3,1; add.u32 %r3,%r3,%r3; xor.b32 %r3,%r3,5;\n"

/* In these kernels, lanes would wait forever at a convergence barrier in the wrong place. The kernels, in this order:
 * - in a loop, even and odd lanes execute a block of work in turn, and the other lanes skip the block to N. Only this
 *   block leaves the loop, so it is the post-dominator of the branch to N. The working lanes must not wait there for
 *   the lanes that skip, which wait at N for them;
 * - even lanes wait at a barrier of the CTA before J or T, and odd lanes after J: the odd lanes must not wait at J;
 * - even lanes wait in a loop for a flag that odd lanes set after J;
 * - lanes call a function in which they exit;
 * - lanes store and return early from a function;
 * - some lanes wait at a barrier of the CTA and then end; all 32 lanes must arrive there, so the remaining lanes
 *   must not wait for the ended lanes at J. */
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

START_TEST(no_barrier_waits_for_absent_threads) {
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

/* Kernels in which threads leave a region for code that only some of its threads reach. The expected numbers, derived
 * by hand, are the instructions that one warp issues if all lanes that execute a block in the same iteration execute it
 * together. HEAD has 4 instructions, and TAIL has 8. %r1 holds the lane number. */
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
    /* a || b: half of the lanes execute the second test; DO3 and a jump are issued once for the lanes that do not
     * branch to T, and DO3 once for the lanes at T */
    {"or", HEAD SPLIT(1, "T") SPLIT(2, "T") DO3 " bra J;\nT:" DO3 "J:\n" TAIL, 4 + 3 + 3 + 4 + 3 + 8},
    /* a && b && c: each of three tests sends lanes to E; DO3 and a jump are issued once for the other lanes, and DO3
     * once at E */
    {"and", HEAD SPLIT(1, "E") SPLIT(2, "E") SPLIT(4, "E") DO3 " bra J;\nE:" DO3 "J:\n" TAIL, 4 + 3 * 3 + 4 + 3 + 8},
    /* (a || b) && (c || d): the lanes for which the first pair is true execute the second pair. The branch to C over
     * the jump to E becomes one inverted branch. */
    {"or and",
     HEAD SPLIT(1, "C") SPLIT(2, "C") " bra E;\nC:" SPLIT(4, "T") SPLIT(8, "T") "E:" DO3 " bra J;\nT:" DO3 "J:\n" TAIL,
     4 + 3 + 3 + 3 + 3 + 4 + 3 + 8},
    /* some lanes of one side of an if do not join the other side at J, but jump to T, which follows J */
    {"goto", HEAD SPLIT(1, "A") DO3 SPLIT(2, "T") " bra J;\nA:" DO3 "J:" DO3 "T:" DO3 TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 8},
    /* both sides may jump over the join, each to its own block; the two blocks are adjacent */
    {"two tails", HEAD SPLIT(1, "A") DO3 SPLIT(2, "T") " bra J;\nA:" DO3 SPLIT(4, "U") "J:" DO3 "T:" DO3 "U:" DO3 TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 3 + 3 + 8},
    /* three sides jump to one of two blocks, neither of which leads to the other block */
    {"two ends",
     HEAD SPLIT(1, "A") DO3 SPLIT(2, "F") " bra S;\nA:" SPLIT(4, "B")
         DO3 SPLIT(8, "F") " bra S;\nB:" DO3 SPLIT(16, "F") "S:" DO3 " bra J;\nF:" DO3 "J:\n" TAIL,
     4 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 1 + 3 + 3 + 4 + 3 + 8},
    /* A loop with `continue` and two exits:
     * - The first 2 instructions of the body are issued in 5 iterations, the rest in 4 iterations.
     * - The rest has 4 instructions up to the first `continue`, DO3 and 3 more up to the second, and DO3 and 2 more up
     *   to the third.
     * - From the second iteration on, 3 more instructions test bit 2 of the lane number.
     * - Lanes with this bit leave early, through DO3 and a jump. The remaining lanes reach Y. */
    {"continue",
     HEAD "H: setp.ge.u32 %o,%r2,4; @%o bra Y;\n add.u32 %r2,%r2,1;\n" SPLIT(1, "H") DO3 SPLIT(2, "H") DO3
     " setp.lt.u32 %o,%r2,2; @%o bra H; and.b32 %r5,%r1,4; setp.eq.u32 %o,%r5,0; @%o bra H;\n" DO3 " bra J;\nY:" DO3
     "J:\n" TAIL,
     4 + 5 * 2 + 4 * 4 + 4 * 6 + 4 * 5 + 3 * 3 + 4 + 3 + 8},
    /* the code after the join is the end of a loop's body, from which threads reach the branch again; the loop has
     * three iterations */
    {"a round",
     HEAD "H:" SPLIT(1, "A") DO3 SPLIT(2, "N") " bra J;\nA:" DO3 "J:" DO3 "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3;"
                                               " @%o bra H;\n" TAIL,
     4 + 3 * (3 + 3 + 3 + 1 + 3 + 3 + 3) + 8},
    /* A loop of three iterations. It contains an inner loop of two iterations, which has two exits to J and one exit
     * past J. */
    {"a loop in a round",
     HEAD "O: mov.u32 %r5,0;\nI: and.b32 %r6,%r1,1; setp.eq.u32 %o,%r6,0; @%o bra J; and.b32 %r6,%r1,2;"
          " setp.eq.u32 %o,%r6,0; @%o bra N; add.u32 %r5,%r5,1; setp.lt.u32 %o,%r5,2; @%o bra I;\nJ:" DO3
          "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra O;\n" TAIL,
     4 + 3 * (1 + 2 * 9 + 3 + 3) + 8},
    /* an inner loop of 4 iterations, entered three times: 3 instructions are issued 4 times, the 9 after them 3
     * times, and DO3 once for the lanes that leave the loop in its first iteration */
    {"continue in a loop of a loop",
     HEAD "O: mov.u32 %r7,0;\nH: add.u32 %r7,%r7,1; setp.ge.u32 %o,%r7,4; @%o bra N;\n" SPLIT(1, "H") DO3 SPLIT(2, "H")
         DO3 "N: add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra O;\n" TAIL,
     4 + 3 * (1 + 4 * 3 + 3 * 9 + 3 + 3) + 8},
    /* a cycle with two entries: half of the lanes begin in its middle, and all repeat it together */
    {"two entries", HEAD SPLIT(1, "M") "L:" DO3 "M:" DO3 " add.u32 %r2,%r2,1; setp.lt.u32 %o,%r2,3; @%o bra L;\n" TAIL,
     4 + 3 + 3 + 3 * 6 + 2 * 3 + 8},
    /* a branch through a table, one of whose cases jumps over the join */
    {"a table",
     HEAD " and.b32 %r5,%r1,3;\nT: .branchtargets C0, C1, C2, X;\n brx.idx %r5, T;\nC0:" DO3 " bra J;\nC1:" DO3
          " bra J;\nC2:" DO3 "J:" DO3 "X:" DO3 TAIL,
     4 + 2 + 4 + 4 + 3 + 3 + 3 + 8},
    /* an early return of a called function: before TAIL, the kernel issues 5 instructions, which include the call; the
     * function issues 3 before its body and 2 at R */
    {"return", FUNCTION(SPLIT(1, "A") DO3 SPLIT(2, "R") " bra J;\nA:" DO3 "J:" DO3),
     4 + 1 + 3 + 3 + 3 + 3 + 1 + 3 + 3 + 2 + 8},
    /* Lane l leaves the loop in iteration l / 8; odd lanes from 9 on return in iteration 1. The body issues
     * - 1 instruction before the loop
     * - the 2 instructions at H in 4 iterations
     * - the next 2 instructions and the 2 instructions at C in 3 iterations
     * - in iteration 1 also SPLIT, DO3 and a jump
     * - DO3 at J, after the loop */
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
    TEST_LOOP(a_loop_reconverges_wherever_its_header_is, 0, N_KERNELS);
    TEST_LOOP(sides_that_exit_keep_the_join, 0, N_LEAVING);
    TEST_LOOP(shared_code_is_issued_once, 0, N_SHARED);
    TEST_LOOP(no_barrier_waits_for_absent_threads, 0, N_PROGRESS);
}
