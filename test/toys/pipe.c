/* Builds and runs the pipe that docs/extending.md adds with two lines of code. */
#include "build_toy.h"

/* Four warps shuffle ten times each. The added pipe has two units for shuffles. Without a unit, the pipe's row
 * directs shuffles to SP. With a single unit, the pipe accepts one shuffle per initiation interval, so all 40
 * execute one after another. */
START_TEST(two_lines_make_a_pipe) {
    if (!test_every()) {
        test_skip("the added pipe changes 200 object files; make check-long builds them");
        return;
    }
    enum { WARPS = 4, SHUFFLES = 10 };
    char body[2048] = "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x;\n";
    for (int i = 0; i < SHUFFLES; i++)
        strcat(body, "shfl.sync.bfly.b32 %r2,%r1,1,31,-1;\n");
    strcat(body, "st.global.u32 [%rd1],%r2;");
    build_toy("add_pipe.sh");
    STATUS(0, "list options");
    SAYS(out, "pipe.toy.units");
    STATUS(0, "list statistics");
    SAYS(out, "pipe.toy");
    write_kernel(".param .u64 p", body);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json", WARPS * 32);
    ck_assert_double_eq(toy_statistic("pipe.toy"), WARPS * SHUFFLES);
    double others = toy_statistic("pipe.sp"), issued = toy_statistic("issue.issued"),
           cycles = toy_statistic("gpu.cycles");
    ck_assert_double_eq(toy_statistic("pipe.toy") + others + toy_statistic("pipe.mem") + toy_statistic("pipe.sfu"),
                        issued);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json -s pipe.toy.units=0", WARPS * 32);
    ck_assert_double_eq(toy_statistic("pipe.toy"), 0);
    ck_assert_double_eq(toy_statistic("pipe.sp"), others + WARPS * SHUFFLES);
    STATUS(0, "run k.ptx -k k -g 1 -b %d -a zero:4K --json o.json -s pipe.toy.units=1 -s initiation.shfl=50",
           WARPS * 32);
    ck_assert_double_ge(toy_statistic("gpu.cycles"), (WARPS * SHUFFLES - 1) * 50);
    ck_assert_double_lt(cycles, (WARPS * SHUFFLES - 1) * 50);
}
END_TEST

SUITE(toys_pipe) {
    tcase_add_checked_fixture(tc, NULL, cli_teardown);
    TEST(two_lines_make_a_pipe);
}
