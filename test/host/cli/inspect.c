/* Compares the output of `heddle inspect --paths` with Figures 2 to 4 of the dual-path paper. In one step,
 * every path that can be scheduled executes one instruction. */
#include "cli_help.h"

static const char launch[] = "-g 1 -b 32 -a zero:128";

/* Draws the paths of figure3.ptx. As in the paper, block B, the fall-through, runs first. PCs of the blocks: A 0 to 4,
 * B 5 to 7, C 8 to 10, D 11 to 13, E 14 to 18, F 19, G 20 to 24. */
static void draw(const char *options) {
    STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/figure3.ptx --paths -s reconv.first=fallthrough %s %s", options, launch);
    SAYS(out, "     1 | pc 0-4,"); /* block A takes steps 1 to 5 */
}

/* Figure 2 (g): with a stack, one path runs after another, and the blocks run in the order B C D E F G. F runs once,
 * for all lanes of C. B takes steps 6 to 8, C steps 9 to 11, D steps 12 to 14, E steps 15 to 19, and F step 20. */
START_TEST(figure2_serializes) {
    draw("-m spe");
    SAYS(out, "     6 | pc 5-7,");
    SAYS(out, "     9 | pc 8-10,");
    SAYS(out, "    12 | pc 11-13,");
    SAYS(out, "    15 | pc 14-18,");
    SAYS(out, "    20 | > joins at pc 19,");
    SAYS(out, "    21 | > joins at pc 20-24,");
}
END_TEST

/* Figure 3: a branch subdivides the warp only if the block at its post-dominator is not longer than the threshold of 2
 * instructions.
 * - The branch of A has the post-dominator G, which is longer. So the stack is used: B runs first, then C.
 * - The branch of C has the post-dominator F, with one instruction. So the branch subdivides the warp, and D and E run
 *   at the same time, from step 12.
 * - D and E each execute F on their own: 8 lanes in step 15, and 16 lanes as the last instruction of E's segment, which
 *   extends to PC 19.
 * - Then all lanes continue with G, from the entry on the stack. */
START_TEST(figure3_subdivides_at_c_only) {
    draw("-m dws -s dws.threshold=2");
    SAYS(out, "     6 | pc 5-7,");
    SAYS(out, "     9 | pc 8-10,");
    SAYS(out, "    12 | pc 11-13, lines 31-33               | pc 14-19,");
    SAYS(out, "    15 | pc 19, line 41                      |   :");
    SAYS(out, "       |   0000ff00  8 lanes                 |   :");
    SAYS(out, "    18 | > joins at pc 20-24,");
}
END_TEST

/* With a threshold of 0, DWS behaves as SPE. With a threshold of 10, the branch of A also subdivides the warp; its
 * splits do not merge before the kernel ends. */
START_TEST(the_threshold_is_an_option) {
    draw("-m dws -s dws.threshold=0");
    SAYS(out, "    20 | > joins at pc 19,");
    draw("-m dws10");
    SAYS(out, "     6 | pc 5-7, lines 23-25                 | pc 8-10,");
    ck_assert_ptr_null(strstr(out, "> joins"));
}
END_TEST

/* Figure 4 (g), with figure1.ptx, in which block B is longer.
 * - B (PC 5 to 10) and C (PC 11 to 13) run side by side until C diverges.
 * - B is suspended after three of its six instructions, while D and E run.
 * - F runs once for all lanes of C, beside the rest of B. */
START_TEST(figure4_interleaves) {
    STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/figure1.ptx --paths -m dpe %s", launch);
    SAYS(out, "     6 | pc 5-7, lines 20-22                 | pc 11-13,");
    SAYS(out, "     9 | pc 18-21, lines 36-39               | pc 14-17,");
    SAYS(out, "    13 | pc 8-10, lines 23-25                | > joins at pc 22, line 41\n");
    SAYS(out, "    16 | > joins at pc 23-27,");
}
END_TEST

/* Every form of `heddle inspect` accepts options of the machine, and reports errors in these options. */
START_TEST(every_form_accepts_options) {
    static const char *const forms[] = {"", "--pass barriers", "--paths -g 1 -b 32 -a zero:128"};
    for (int i = 0; i < 3; i++) {
        STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/figure3.ptx -m si -c turing -s si.max_subwarps=2 %s", forms[i]);
        STATUS(HEDDLE_USAGE, "inspect $HEDDLE_KERNELS/figure3.ptx -c nothing %s", forms[i]);
        SAYS(err, "no preset \"nothing\"");
        STATUS(HEDDLE_USAGE, "inspect $HEDDLE_KERNELS/figure3.ptx -s si.max_subwarps=33 %s", forms[i]);
        SAYS(err, "si.max_subwarps: 33 is out of range");
        STATUS(HEDDLE_USAGE, "inspect $HEDDLE_KERNELS/figure3.ptx -m nothing %s", forms[i]);
        SAYS(err, "nothing");
    }
    STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/figure3.ptx -m its --pass barriers");
    SAYS(out, "bssy");
}
END_TEST

/* A hint is shown at the instruction that follows its .pragma, and at no other instruction. */
START_TEST(hints_are_shown) {
    write_kernel("", "mov.u32 %r1,%tid.x; .pragma \"heddle yield\"; sin.approx.f32 %f2,%f1; ret;");
    STATUS(HEDDLE_OK, "inspect k.ptx -m si");
    SAYS(out, ", yields\n");
    const char *at = strstr(out, "sin.approx"), *end = strchr(at, '\n');
    ck_assert_ptr_eq(strstr(out, ", yields\n") + strlen(", yields"), end);
    ck_assert_ptr_null(strstr(end, "yields"));
}
END_TEST

SUITE(cli_inspect) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(figure2_serializes);
    TEST(figure3_subdivides_at_c_only);
    TEST(the_threshold_is_an_option);
    TEST(figure4_interleaves);
    TEST(every_form_accepts_options);
    TEST(hints_are_shown);
}
