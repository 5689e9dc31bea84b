/* Causes that docs/reproduction.md names for differences from the papers, switched on and off. */
#include "cli_help.h"
#include <stdio.h>

/* Cycles of its over those of si, of one run each in results.db. */
static double gain(const char *program, const char *l1) {
    long long cycles[2];
    for (int si = 0; si < 2; si++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "SELECT v.value FROM run_value v JOIN statistic s ON s.id = statistic JOIN run r ON r.id = v.run JOIN"
                 " setting o ON o.run = r.id WHERE name = 'gpu.cycles' AND program = '%s' AND model = '%s' AND"
                 " option = 'l1.latency' AND o.value = '%s'",
                 program, si ? "si" : "its", l1);
        cycles[si] = database_number("results.db", sql);
        ck_assert_msg(cycles[si] > 0, "%s", sql);
    }
    return (double)cycles[0] / (double)cycles[1];
}

/* subwarp-12: most of what interleaving hides in the scenes are the loads of the walk through the tree, which hit the
 * L1. Without the walk there is less to hide, and where a hit takes a cycle hardly anything. */
START_TEST(interleaving_hides_the_walk_through_the_tree) {
    cli_setup();
    STATUS(HEDDLE_OK, "sweep shade7 shadehit7 -c turing -m its,si -s memory.latency=600 -s si.yield=true"
                      " -s si.trigger=half -s l1.latency=1,30 -j 2");
    double walk = gain("shade7", "30"), near = gain("shade7", "1");
    ck_assert_msg(walk > 1.4, "%.3f", walk);
    ck_assert_msg(near < 1 + (walk - 1) / 4, "%.3f, %.3f", near, walk);
    ck_assert_msg(gain("shadehit7", "30") < 1 + (walk - 1) * 2 / 3, "%.3f, %.3f", gain("shadehit7", "30"), walk);
    cli_teardown();
}
END_TEST

/* dpe-stacks: six levels of branches, four of them with an else. SPE: each branch turns its entry into the one that
 * waits and pushes one for each side that is not at the join, 1 + 4 x 2 + 2 x 1; DPE: one for both, 1 + 6. */
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
    TEST(interleaving_hides_the_walk_through_the_tree);
    TEST(six_levels_of_branches_are_the_papers_depths);
}
