/* Builds and runs the pipe that docs/extending.md adds: two lines are enough for a pipe. */
#include "test/host/cli/cli_help.h"
#include <libgen.h>
#include <stdio.h>

/* Builds heddle with the toy pipe and uses it instead of the product. */
static void build(void) {
    char library[PATH_MAX], command[4 * PATH_MAX];
    cli_setup();
    strcpy(library, cli_binary);
    snprintf(command, sizeof command,
             "ulimit -t 100; LIBS='%s' '%s/test/toys/add_pipe.sh' '%s' '%s/libheddle-internal.a' %s 2>build.txt",
             TOY_LIBS, cli_root, cli_root, dirname(library), TOY_COMPILE);
    int how = system(command);
    char *said = slurp("build.txt");
    ck_assert_msg(how == 0, "%.3000s", said);
    free(said);
    ck_assert_ptr_nonnull(realpath("heddle-toy", cli_binary));
    snprintf(command, sizeof command, "%s/configs", cli_root);
    setenv("HEDDLE_CONFIGS", command, 1);
}

static double statistic(const char *name) {
    char *text = slurp("o.json");
    cJSON *all = cJSON_Parse(text);
    ck_assert_ptr_nonnull(all);
    double value = number(cJSON_GetObjectItem(all, "stats"), name);
    cJSON_Delete(all);
    free(text);
    return value;
}

/* Four warps shuffle ten times each. The toy pipe has two units for them. With no unit, its row directs shuffles to
 * SP. A single unit takes a shuffle every interval, all 40 one after another. */
START_TEST(two_lines_make_a_pipe) {
    enum { WARPS = 4, SHUFFLES = 10 };
    char body[2048] = "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x;\n";
    for (int i = 0; i < SHUFFLES; i++)
        strcat(body, "shfl.sync.bfly.b32 %r2,%r1,1,31,-1;\n");
    strcat(body, "st.global.u32 [%rd1],%r2;");
    build();
    STATUS(0, "list options");
    SAYS(out, "pipe.toy.units");
    STATUS(0, "list statistics");
    SAYS(out, "pipe.toy");
    write_kernel(".param .u64 p", body);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json", WARPS * 32);
    ck_assert_double_eq(statistic("pipe.toy"), WARPS * SHUFFLES);
    double others = statistic("pipe.sp"), issued = statistic("issue.issued"), cycles = statistic("gpu.cycles");
    ck_assert_double_eq(statistic("pipe.toy") + others + statistic("pipe.mem") + statistic("pipe.sfu"), issued);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json -s pipe.toy.units=0", WARPS * 32);
    ck_assert_double_eq(statistic("pipe.toy"), 0);
    ck_assert_double_eq(statistic("pipe.sp"), others + WARPS * SHUFFLES);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json -s pipe.toy.units=1 -s initiation.shfl=50",
           WARPS * 32);
    ck_assert_double_ge(statistic("gpu.cycles"), (WARPS * SHUFFLES - 1) * 50);
    ck_assert_double_lt(cycles, (WARPS * SHUFFLES - 1) * 50);
}
END_TEST

SUITE(toys_pipe) {
    tcase_add_checked_fixture(tc, NULL, cli_teardown);
    TEST(two_lines_make_a_pipe);
}
