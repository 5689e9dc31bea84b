/* Tests the issue slots of benchmarks: in every cycle of every launch, the slot of each scheduler has exactly one
 * cause. */
#include "benchmarks/bench.h"
#include "test/test.h"

static const char *const slots[] = {
    "issue.issued",    "issue.no_warp", "issue.scoreboard_load", "issue.scoreboard_arith",
    "issue.pipe_busy", "issue.barrier", "issue.fetch",           "issue.reconvergence",
    "issue.queue",
};
static const char *const programs[] = {"lud", "hotspot", "bfs", "reduction", "vecadd", "sgemm"};
static const struct {
    const char *model, *config;
    double schedulers, sms;
} machines[] = {{"spe", "fermi", 2, 15}, {"dpe", "fermi", 2, 15}, {"dws50", "fermi", 2, 15}, {"si", "turing", 4, 2}};
enum { N_PROGRAMS = 6, N_MACHINES = 4 };

static void check_launch(const struct heddle *h, int launch, double schedulers, double sms) {
    double sum = 0, cycles = heddle_stat(h, launch, "gpu.cycles");
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        sum += heddle_stat(h, launch, slots[i]);
    ck_assert_double_gt(cycles, 0);
    ck_assert_double_eq(sum, cycles * schedulers * sms);
    ck_assert_double_eq(heddle_stat(h, launch, "issue.slots"), sum);
    ck_assert_double_eq(heddle_stat(h, launch, "issue.issued"), heddle_stat(h, launch, "gpu.warp_instructions") +
                                                                    heddle_stat(h, launch, "gpu.barrier_instructions"));
}

START_TEST(every_slot_of_the_benchmarks_has_one_cause) {
    const struct bench *b = bench_find(programs[_i % N_PROGRAMS]);
    int k = _i / N_PROGRAMS;
    char err[512] = "", path[4096];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = machines[k].model, .config = machines[k].config},
                                   err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    ck_assert_ptr_nonnull(bench_kernel_path(b->ptx, path, sizeof path));
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(b->run(h, m, BENCH_SMALL, err, sizeof err), HEDDLE_OK);
    for (int i = -1; i < heddle_launches(h); i++) /* -1: the totals */
        check_launch(h, i, machines[k].schedulers, machines[k].sms);
    heddle_close(h);
}
END_TEST

/* Returns true if the pair `i` of a program and a machine runs. By default each program runs on every second machine,
 * and the next program on the other machines. With HEDDLE_EVERY, all pairs run. */
static bool is_sampled(int i) { return test_every() || (i % N_PROGRAMS + i / N_PROGRAMS) % 2 == 0; }

SUITE(timing_slots) {
    for (int i = 0; i < N_PROGRAMS * N_MACHINES; i++)
        if (is_sampled(i))
            TEST_LOOP(every_slot_of_the_benchmarks_has_one_cause, i, i + 1);
}
