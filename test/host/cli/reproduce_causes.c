/* Tests statements of docs/reproduction.md about the causes of differences from the papers. */
#include "cli_help.h"
#include <stdio.h>

/* Returns the cycles under `its` divided by the cycles under `si`. results.db has one run of the program in each of
 * these models. */
static double gain(const char *program) {
    long long cycles[2];
    for (int si = 0; si < 2; si++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "SELECT v.value FROM run_value v JOIN statistic s ON s.id = statistic JOIN run r ON r.id = v.run"
                 " WHERE name = 'gpu.cycles' AND program = '%s' AND model = '%s'",
                 program, si ? "si" : "its");
        cycles[si] = database_number("results.db", sql);
        ck_assert_msg(cycles[si] > 0, "%s", sql);
    }
    return (double)cycles[0] / (double)cycles[1];
}

/* Figure subwarp-12: the rays of a warp reconverge after each step of the tree traversal. So the traversal diverges
 * little, and interleaving hides hardly any latency there. The shading code after it diverges. Without the traversal,
 * the gain of interleaving is more than three times as high. In a build with minimal tables (TINY=1) fewer loads are in
 * flight, and the gain is more than twice as high. */
START_TEST(interleaving_gains_less_if_rays_reconverge_after_each_step) {
    cli_setup();
    STATUS(HEDDLE_OK, "sweep shade7 shadeunit7 -c turing -m its,si -s memory.latency=600 -s si.yield=true"
                      " -s walk.own_latency=1 -s walk.latency=1 -s walk.rate=32 -s si.trigger=half -j 2");
    double walk = gain("shade7"), hit = gain("shadeunit7");
    ck_assert_msg(walk > 1 && hit > (LEAST_TABLES ? 1.1 : 1.2), "%.3f, %.3f", walk, hit);
    ck_assert_msg(walk - 1 < (hit - 1) / (LEAST_TABLES ? 2 : 3), "%.3f, %.3f", walk, hit);
    cli_teardown();
}
END_TEST

/* Figure dpe-stacks: a kernel with six nested branches, four of which have an else side.
 * - With SPE, each branch turns the top entry into the reconvergence entry, and pushes an entry for each side that does
 *   not start at the reconvergence point: 1 + 4 x 2 + 2 x 1 = 11 entries.
 * - With DPE, one entry holds both sides of a branch: 1 + 6 = 7 entries. */
START_TEST(six_levels_of_branches_are_the_papers_depths) {
    cli_setup();
    char command[PATH_MAX + 128];
    for (int dpe = 0; dpe < 2; dpe++) {
        snprintf(command, sizeof command, "run %s/test/kernels/levels.ptx -g 1 -b 32 -a zero:128 -m %s", cli_root,
                 dpe ? "dpe" : "spe");
        STATUS(HEDDLE_OK, "%s", command);
        SAYS(out, dpe ? "deepest stack                       7\n" : "deepest stack                      11\n");
    }
    cli_teardown();
}
END_TEST

SUITE(host_cli_reproduce_causes) {
    TEST(interleaving_gains_less_if_rays_reconverge_after_each_step);
    TEST(six_levels_of_branches_are_the_papers_depths);
}
