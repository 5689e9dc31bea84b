/* Tests --sampled of run, bench, compare, sweep and exec. */
#include "cli_help.h"
#include <stdio.h>

START_TEST(wrong_options_are_refused) {
    static const struct {
        const char *options, *says;
    } wrong[] = {
        {"--error 2%", "--error does nothing without --sampled"},
        {"--sampled --error x", "--error takes a percentage from 0.1% to 50%, not 'x'"},
        {"--sampled --error 0.01%", "--error takes a percentage from 0.1% to 50%"},
        {"--sampled --error 2%%", "--error takes a percentage"},
        {"--sampled -m functional", "model 'functional' has no time"},
        {"--sampled --cycle-limit 9", "--cycle-limit needs every CTA with timing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        STATUS(HEDDLE_USAGE, "bench vecadd %s", wrong[i].options);
        SAYS(err, wrong[i].says);
    }
    STATUS(HEDDLE_USAGE, "run %s/benchmarks/lud.heddle --sampled --profile", cli_root);
    SAYS(err, "--profile needs every CTA with timing");
    STATUS(HEDDLE_USAGE, "sweep %s/benchmarks/lud.heddle --sampled", cli_root);
    SAYS(err, "a sweep samples built-in benchmarks only");
}
END_TEST

/* The 58 launches of gaussian shrink from launch to launch. The result is checked, and the JSON has the interval. */
START_TEST(bench_prints_the_interval) {
    STATUS(HEDDLE_OK, "bench gaussian -m dpe --sampled --json r.json");
    SAYS(out, "cycles +-");
    SAYS(out, "pass");
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    const cJSON *s = cJSON_GetObjectItem(o, "sampled"),
                *cycles = cJSON_GetObjectItem(cJSON_GetObjectItem(s, "intervals"), "gpu.cycles");
    ck_assert(number(s, "launches") == 58 && number(s, "measured_launches") < 58);
    ck_assert(number(cycles, "half_width") > 0);
    ck_assert(number(cycles, "value") - number(cJSON_GetObjectItem(o, "stats"), "gpu.cycles") < 58);
    cJSON_Delete(o);
    free(text);
}
END_TEST

/* The first run of nw does not measure all of its 11 launches, and the second run measures the others. Their kernels
 * have run before, so they find their code in the instruction caches: the cycles are within 0.5 % of a whole run's. */
START_TEST(launches_of_further_runs_have_warm_code) {
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_OK, "bench nw --json r.json %s", i ? "--sampled" : "");
        char *text = slurp("r.json");
        cJSON *o = cJSON_Parse(text);
        cycles[i] = number(cJSON_GetObjectItem(o, "stats"), "gpu.cycles");
        ck_assert(!i || number(cJSON_GetObjectItem(o, "sampled"), "measured_launches") == 11);
        cJSON_Delete(o);
        free(text);
    }
    ck_assert_double_eq_tol(cycles[1], cycles[0], 0.005 * cycles[0]);
}
END_TEST

/* With --sampled, a program in a file still checks its results and saves its buffers. */
START_TEST(run_says_what_was_simulated) {
    STATUS(HEDDLE_OK, "run %s/benchmarks/lud.heddle -m dpe --sampled", cli_root);
    SAYS(out, "95 % interval of the cycles");
    SAYS(out, "pass");
    write_kernel(".param .u64 p", "ret;");
    STATUS(HEDDLE_OK, "run k.ptx -g 2 -b 32 -a out:o.bin:64 --sampled --error 5%%");
    SAYS(out, "everything was simulated");
    SAYS(err, "there are too few launches and CTAs for a sample: everything was simulated");
    ck_assert(exists("o.bin"));
}
END_TEST

/* The models measure the same samples, so the interval of the speed-up is narrower than the intervals of the cycles. */
START_TEST(compare_pairs_the_samples) {
    STATUS(HEDDLE_OK, "compare gaussian -m spe,spe --sampled");
    SAYS(out, "95 % interval");
    const char *at = strstr(out, "95 % interval");
    double cycles = 0, speedup = 0, half = 0;
    at = strstr(at, "\n            ");
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at, " spe %*s %lf %% %lf %lf %%", &cycles, &speedup, &half), 3);
    ck_assert(speedup == 1 && half < cycles);
}
END_TEST

/* A sampled run has its own key in the database. The key depends on the wanted error. */
START_TEST(sweep_tells_sampled_runs_apart) {
    STATUS(HEDDLE_OK, "sweep gaussian --sampled -o s.db");
    SAYS(out, "1 run done, 0 already");
    STATUS(HEDDLE_OK, "sweep gaussian --sampled -o s.db");
    SAYS(out, "0 runs done, 1 already");
    STATUS(HEDDLE_OK, "sweep gaussian --sampled --error 9%% -o s.db");
    SAYS(out, "1 run done, 0 already");
    STATUS(HEDDLE_OK, "sweep gaussian -o s.db");
    SAYS(out, "1 run done, 0 already");
}
END_TEST

/* All models of a sweep run the same samples with timing. So the interval of the speed-up is narrower than the interval
 * of the cycles. The database keeps the samples, also after a merge. */
START_TEST(sweep_pairs_the_samples) {
    static const char *const how[] = {"-o s.db", "-o s.db", "-o t.db"};
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            STATUS(HEDDLE_OK, "results --merge s.db -o t.db");
        STATUS(HEDDLE_OK, "sweep gaussian -m spe,dpe --sampled %s", how[i]);
        SAYS(out, i ? "0 runs done, 2 already" : "2 runs done, 0 already");
        const char *at = strstr(out, "95 % interval");
        double cycles = 0, half = 0, speedup = 0;
        ck_assert_ptr_nonnull(at);
        ck_assert_ptr_nonnull(at = strstr(at, "gaussian in dpe on fermi"));
        ck_assert_int_eq(sscanf(at, "gaussian in dpe on fermi %*s %lf %% %lf %lf %%", &cycles, &speedup, &half), 3);
        ck_assert(speedup > 0.5 && speedup < 2 && half > 0 && half < cycles);
    }
    STATUS(HEDDLE_OK, "sweep gaussian -m spe -o s.db");
    ck_assert_ptr_null(strstr(out, "95 % interval"));
}
END_TEST

/* The program's output appears once, and the table has the interval. */
START_TEST(exec_runs_the_program_again) {
#ifdef __x86_64__
    if (!has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_OK, "exec --sampled %s -m spe -c tiny %s/test/cuda/checks.out many", i ? "--error 5%" : "",
               cli_root);
        ck_assert_str_eq(out, "no error\n");
        SAYS(err, "heddle: sampled: ");
    }
#endif
}
END_TEST

SUITE(cli_sampled) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(wrong_options_are_refused);
    TEST(bench_prints_the_interval);
    TEST(launches_of_further_runs_have_warm_code);
    TEST(run_says_what_was_simulated);
    TEST(compare_pairs_the_samples);
    TEST(sweep_tells_sampled_runs_apart);
    TEST(sweep_pairs_the_samples);
    TEST(exec_runs_the_program_again);
}
