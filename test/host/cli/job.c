/* Tests host/cli/job.c: benchmarks that run in separate processes, and means of their results. */
#include "host/cli/job.h"
#include "host/report/geomean.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

/* Launches vecadd over n elements, so that the statistics of each run differ. */
static enum heddle_status launch(struct heddle *h, struct heddle_module *m, uint32_t n) {
    uint64_t p = bench_buffer(h, NULL, 4 * (uint64_t)n);
    struct heddle_dim grid = {(n + 31) / 32, 1, 1}, block = {32, 1, 1};
    return BENCH_LAUNCH(h, m, "vecadd", grid, block, BENCH_ARG(p), BENCH_ARG(p), BENCH_ARG(p), BENCH_ARG(n));
}

static enum heddle_status run_right(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    (void)why, (void)why_size;
    return launch(h, m, size == BENCH_SMALL ? 32 : 64);
}

static enum heddle_status run_wrong(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    (void)size;
    snprintf(why, why_size, "off by one");
    return launch(h, m, 96) == HEDDLE_OK ? HEDDLE_WRONG : heddle_status(h);
}

static enum heddle_status run_abort(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                                    size_t why_size) {
    (void)h, (void)m, (void)size, (void)why, (void)why_size;
    _Exit(9); /* simulates a crash */
}

static const struct bench right = {"right", "", "a", "vecadd.ptx", run_right};
static const struct bench wrong = {"wrong", "", "a", "vecadd.ptx", run_wrong};
static const struct bench dies = {"dies", "", "a", "vecadd.ptx", run_abort};
static const struct bench lost = {"lost", "", "a", "no-such.ptx", run_right};

static void count(void *ctx, int finished) { *(int *)ctx = finished; }

START_TEST(each_run_has_its_own_result) {
    const struct heddle_options functional = {.model = "functional"};
    struct job jobs[] = {{.bench = &right, .size = BENCH_SMALL, .options = functional},
                         {.bench = &wrong, .options = functional},
                         {.bench = &dies, .options = functional},
                         {.bench = &right, .size = BENCH_PAPER, .options = functional},
                         {.bench = &lost, .options = functional},
                         {.bench = &right, .options = {.model = "no-model"}}};
    int n = sizeof jobs / sizeof jobs[0], finished = 0;
    jobs_run(jobs, n, 1 + _i, 0, NULL, &(struct jobs_watch){.ctx = &finished, .tick = count});
    ck_assert_int_eq(finished, n);
    ck_assert_str_eq(job_verdict(&jobs[0]), "pass");
    ck_assert_str_eq(job_verdict(&jobs[1]), "WRONG");
    ck_assert_str_eq(jobs[1].message, "off by one");
    ck_assert_int_eq(jobs[2].status, HEDDLE_FAULT);
    ck_assert_str_eq(jobs[2].message, "the simulation's process ended early (status 9)");
    ck_assert_int_eq(jobs[4].status, HEDDLE_USAGE);
    ck_assert_ptr_nonnull(strstr(jobs[4].message, "no-such.ptx is not found"));
    ck_assert_ptr_nonnull(strstr(jobs[5].message, "no-model"));
    /* each warp executes 22 instructions; the three runs have 1, 3 and 2 warps */
    ck_assert_double_eq(job_stat(&jobs[0], "gpu.warp_instructions"), 22);
    ck_assert_double_eq(job_stat(&jobs[1], "gpu.warp_instructions"), 66);
    ck_assert_double_eq(job_stat(&jobs[3], "gpu.warp_instructions"), 44);
    ck_assert(isnan(job_stat(&jobs[2], "gpu.warp_instructions")));
    for (int i = 0; i < n; i++)
        job_free(&jobs[i]);
}
END_TEST

/* A table needs only the statistics of the whole run: the result has no list of launches. Other results have one. A
 * profile needs everything. */
START_TEST(a_result_has_what_the_job_needs) {
    const enum job_needs needs = (enum job_needs)(_i % 3);
    const bool profile = _i >= 3;
    struct job j = {
        .bench = &right, .options = {.model = profile ? "spe" : "functional", .profile = profile}, .needs = needs};
    job_run(&j, 0, NULL);
    const cJSON *launches = cJSON_GetObjectItemCaseSensitive(j.result, "kernels");
    ck_assert_int_eq(cJSON_GetArraySize(launches), needs == JOB_TOTALS && !profile ? 0 : 1);
    ck_assert(cJSON_HasObjectItem(j.result, "config") == (needs == JOB_ALL || profile));
    ck_assert_double_eq(job_stat(&j, "gpu.warp_instructions"), 22); /* one warp executes 22 instructions */
    job_free(&j);
}
END_TEST

START_TEST(a_geometric_mean_ignores_missing_values) {
    struct geomean g = {0};
    ck_assert(isnan(geomean_get(&g)));
    geomean_add(&g, 2);
    geomean_add(&g, NAN);
    geomean_add(&g, 0);
    geomean_add(&g, 8);
    ck_assert_double_eq_tol(geomean_get(&g), 4, 1e-12); /* sqrt(2 * 8) */
}
END_TEST

SUITE(host_job) {
    TEST_LOOP(each_run_has_its_own_result, 0, 3);
    TEST_LOOP(a_result_has_what_the_job_needs, 0, 6); /* 3 to 5: with a profile */
    TEST(a_geometric_mean_ignores_missing_values);
}
