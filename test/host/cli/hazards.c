/* Tests that control bits suffice on a whole machine: no instruction issues before its operands have arrived. */
#include "cli_help.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With `dac`, warps of affine units issue loads whose data the unit has, and an instruction several times; branches on
 * predicates of a queue come without a comparison before them. With `dpe`, results of one side arrive while the other
 * side reads. */
static const char *const runs[] = {"kmeans cfd sad qsort -m spe", "kmeans cfd sad qsort -m spe+dac",
                                   "lu lud shade5 shade8 -m dpe"};

START_TEST(no_instruction_issues_too_early) {
    static const char name[] = "\"core.hazards\":";
    unsigned n = 0;
    STATUS(HEDDLE_OK, "bench %s -c a6000 -s gpu.sms=8 -j2 --json r.json", runs[_i]);
    char *text = slurp("r.json");
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name), n++)
        ck_assert_double_eq(strtod(at + strlen(name), NULL), 0);
    ck_assert_uint_ge(n, 4); /* each benchmark has launches */
    free(text);
}
END_TEST

SUITE(host_cli_hazards) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_SPEED_LOOP(no_instruction_issues_too_early, 0, (int)(sizeof runs / sizeof runs[0]));
}
