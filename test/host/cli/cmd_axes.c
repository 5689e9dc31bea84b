/* Tests command lines that give several values for an option. */
#include "cli_help.h"
#include <unistd.h>

static const struct {
    const char *line, *says;
} refused[] = {
    {"sweep vecadd -o a.db -s l1.size=8K -s l1.size=16K",
     "heddle sweep: -s l1.size=16K: l1.size is given twice; a sweep takes several values in one: "
     "l1.size=VALUE,VALUE\n"},
    {"sweep vecadd -o a.db -s l1.size=8K --set=sched.policy=lrr --set l1.size=8K",
     "-s l1.size=8K: l1.size is given twice"},
    {"sweep vecadd -o a.db -s l1.size=8K,l1.assoc=2",
     "-s l1.size=8K,l1.assoc=2: one -s sets one option; write -s l1.size=8K -s l1.assoc=2"},
    {"bench vecadd -s l1.size=8K,16K,l1.assoc=2", "write -s l1.size=8K,16K -s l1.assoc=2"},
    {"sweep vecadd -o a.db -s l1.size", "heddle sweep: -s 'l1.size' is no KEY=VALUE"},
    {"sweep vecadd -o a.db -s l1.size=8K:24K", "-s l1.size=8K:24K: a range is FROM:TO:STEP"},
    {"sweep vecadd -o a.db -s l1.size=24K:8K:8K",
     "-s l1.size=24K:8K:8K: TO is below FROM; a range is FROM:TO:STEP, for"},
    {"sweep vecadd -o a.db -s l1.size=8K:24K:0", "-s l1.size=8K:24K:0: the step must be more than 0; a range is"},
    {"sweep vecadd -o a.db -s l1.size=", "-s l1.size=: a value is missing"},
    {"run benchmarks/bfs.heddle -v n=1K,2K,4K", "-v n=1K and 2 more: several values are for heddle sweep"},
    {"run benchmarks/bfs.heddle -v n=1K -v n=1K", "-v n=1K: n is given twice"},
};

START_TEST(what_is_no_axis_is_said) {
    char link[PATH_MAX + 32];
    snprintf(link, sizeof link, "%s/benchmarks", cli_root);
    ck_assert_int_eq(symlink(link, "benchmarks"), 0);
    STATUS(HEDDLE_USAGE, "%s", refused[_i].line);
    SAYS(err, refused[_i].says);
    ck_assert(!exists("a.db"));
}
END_TEST

/* Options whose names begin with the same prefix are separate axes of the sweep: 2 x 3 combinations. */
START_TEST(axes_are_told_apart_by_the_whole_key) {
    STATUS(HEDDLE_OK, "sweep vecadd -o a.db -c tiny -s dram.rc=40,50 -s dram.rcd=8:12:2");
    SAYS(out, "6 runs done, 0 already in the database");
}
END_TEST

SUITE(host_cli_cmd_axes) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(what_is_no_axis_is_said, 0, sizeof refused / sizeof refused[0]);
    TEST(axes_are_told_apart_by_the_whole_key);
}
