/* Tests every benchmark against its reference, in the functional model and in each reconvergence model. Tests that the
 * check detects a wrong bit, the comparison itself, and sets of benchmarks. */
#include "test/every_model.h"
#include "test/timing/job_rig.h"

START_TEST(results_are_right) {
    struct job j = {.bench = benches[_i], .options = {.model = "functional"}};
    job_run(&j, 0, NULL);
    ck_assert_msg(j.status == HEDDLE_OK, "%s: %s", j.bench->name, j.message ? j.message : "");
    /* a small benchmark must be short, because tests run it often, in every model */
    double n = job_stat(&j, "gpu.warp_instructions");
    ck_assert_msg(n > 0 && n < 5e6, "%s has %.0f warp instructions", j.bench->name, n);
    job_free(&j);
}
END_TEST

/* The Makefile links the tests so that benchmarks call this function instead of the library's heddle_read(). A run
 * reads its results in its last read, and this function inverts one bit of one result: bit 30, the highest exponent bit
 * of a float. No tolerance accepts this as a rounding error. */
enum heddle_status __real_heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes);
enum heddle_status __wrap_heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes);

static struct {
    int reads, turned; /* number of reads so far; number of the read to corrupt, from 1 */
    uint64_t words;    /* number of words of the last read */
    uint64_t word;     /* index of the word to corrupt in that read */
    uint64_t bits;     /* hash of all words read (FNV-1a by words) */
} spoil;

enum heddle_status __wrap_heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes) {
    enum heddle_status s = __real_heddle_read(h, from, to, bytes);
    spoil.words = bytes / 4;
    for (uint64_t i = 0; s == HEDDLE_OK && i < spoil.words; i++)
        spoil.bits = (spoil.bits ^ ((const uint32_t *)to)[i]) * 0x100000001b3;
    if (++spoil.reads == spoil.turned)
        ((uint32_t *)to)[spoil.word] ^= 1u << 30;
    return s;
}

START_TEST(a_bit_turned_over_in_the_results_is_noticed) {
    struct job whole = {.bench = benches[_i], .options = {.model = "functional"}};
    memset(&spoil, 0, sizeof spoil);
    job_run(&whole, 0, NULL);
    ck_assert_int_eq(whole.status, HEDDLE_OK);
    job_free(&whole);
    uint64_t seed = 1, words = spoil.words;
    spoil.turned = spoil.reads;
    for (int i = 0; i < (test_every() ? 4 : 2); i++) { /* corrupts word 0 first, then random words */
        struct job j = {.bench = benches[_i], .options = {.model = "functional"}};
        spoil.word = i ? bench_random(&seed) % words : 0;
        if (strcmp(benches[_i]->name, "arith") == 0)
            spoil.word = spoil.word / 7 * 7; /* the benchmark checks every seventh word only */
        if (strcmp(benches[_i]->name, "sad") == 0 && spoil.word % 548 >= 544)
            /* Of each 548 words, the first 544.5 hold 1089 sums of 16 bits. The benchmark does not check the rest, so
             * the test takes an earlier word. */
            spoil.word -= 8;
        spoil.reads = 0;
        job_run(&j, 0, NULL);
        ck_assert_msg(j.status == HEDDLE_WRONG, "%s does not notice a wrong word %llu of %llu", j.bench->name,
                      (unsigned long long)spoil.word, (unsigned long long)words);
        ck_assert_ptr_nonnull(j.message);
        job_free(&j);
    }
}
END_TEST

START_TEST(the_checker_finds_no_mistakes) {
    struct job j = {.bench = benches[_i], .options = {.check = true}};
    job_run(&j, 0, NULL);
    ck_assert_msg(j.status == HEDDLE_OK, "%s: %.2000s", j.bench->name, j.message ? j.message : "");
    job_free(&j);
}
END_TEST

/* This test takes a sample: each program runs in every tenth model. With HEDDLE_EVERY, it runs in all models. */
START_TEST(results_do_not_depend_on_the_model) {
    int step = test_every() ? 1 : 10;
    /* begins with model 1, because model 0 is the default, which other tests use */
    for (int m = 1 + _i % step; m < timed_models()->n; m += step) {
        char model[32];
        snprintf(model, sizeof model, "reconv=%s", timed_models()->name[m]);
        struct job j = {.bench = benches[_i],
                        .options = {.model = "functional", .set = (const char *const[]){model, NULL}}};
        job_run(&j, 0, NULL);
        ck_assert_msg(j.status == HEDDLE_OK, "%s in %s: %s", j.bench->name, model, j.message ? j.message : "");
        job_free(&j);
    }
}
END_TEST

static void run_in_time(const struct bench *bench, const char *model, const char *machine) {
    test_case("%s in %s on %s", bench->name, model, machine);
    struct job j = {.bench = bench, .options = {.model = model, .config = machine}};
    job_run(&j, 0, NULL);
    ck_assert_msg(j.status == HEDDLE_OK, "%s in %s on %s: %.1000s", bench->name, model, machine,
                  j.message ? j.message : "");
    job_free(&j);
}

/* The next tests run the programs in every model with timing, with decoupled affine computation, and on the PEPSC core
 * with all of its parts. These machines differ in schedulers, caches and numbers of warps. `machines` does not list the
 * PEPSC core, which has its own configuration. */
static const char *const machines[] = {"fermi", "turing", "gt200", "volta-classic", "turing-rtx2060", "fermi-gpgpusim"};
enum { MACHINES = sizeof machines / sizeof machines[0] };
static int models_in_time(void) { return timed_models()->n + 2; }

static const char *model_in_time(int i) {
    int n = timed_models()->n;
    return i < n ? timed_models()->name[i] : i == n ? "dac" : "pepsc";
}

/* Chooses the sample: successive programs use successive models. When all models have been used, the next machine
 * follows. */
static void sampled(int program, int *model, int *machine) {
    int n = models_in_time();
    *model = program % n;
    *machine = program / n % MACHINES;
}

/* Returns true if the sample of the next test contains the program. The sample contains half of the programs, each with
 * one model on one machine. On a machine it has every second model, and on the next machine the other models. Programs
 * outside the sample run with one part of PEPSC instead. */
static bool runs_in_time(int program) {
    int model, machine;
    sampled(program, &model, &machine);
    return test_every() || (model + machine) % 2 == 0;
}
static bool runs_with_a_part(int program) { return test_every() || !runs_in_time(program); }

/* Without HEDDLE_EVERY, this test runs the sample, so each model meets every second machine (the next test checks
 * this). With HEDDLE_EVERY, each program runs in every model on every machine. */
START_TEST(time_and_machines_change_no_result) {
    if (!test_every()) {
        int model, machine;
        sampled(_i, &model, &machine);
        bool core = model == models_in_time() - 1;
        run_in_time(benches[_i], model_in_time(model), core ? "pepsc" : machines[machine]);
    }
    for (int i = 0; i < models_in_time() && test_every(); i++)
        for (int k = 0; k < (i == models_in_time() - 1 ? 1 : MACHINES); k++)
            run_in_time(benches[_i], model_in_time(i), i == models_in_time() - 1 ? "pepsc" : machines[k]);
}
END_TEST

/* In each model, a program runs on at least one machine of each pair of neighbouring machines. There may be too few
 * programs for the last pair and the last models. */
START_TEST(every_model_meets_half_of_the_machines) {
    bool met[MAX_MODELS + 2][MACHINES] = {{false}};
    for (int b = 0; b < n_benches; b++) {
        int model, machine;
        sampled(b, &model, &machine);
        met[model][machine] |= runs_in_time(b);
    }
    for (int i = 0; i < models_in_time(); i++)
        for (int k = 0; k < MACHINES; k += 2)
            ck_assert_msg(met[i][k] || met[i][k + 1] || (k + 1) * models_in_time() + i >= n_benches,
                          "no program runs in %s on %s or %s", model_in_time(i), machines[k], machines[k + 1]);
}
END_TEST

/* Tests each part of PEPSC alone, with timing. The PEPSC core in the test above has all parts together. Without
 * HEDDLE_EVERY, only the programs that are not in the sample above run here, each with one part in one model on one
 * machine; the next program uses another part, model and machine. With HEDDLE_EVERY, each part runs in every model. */
START_TEST(parts_of_pepsc_change_no_result) {
    static const char *const parts[] = {"chain", "fold", "reduce", "stride", "ddp"};
    static const char *const on[] = {"turing", "pepsc", "fermi"};
    enum { OFFSET = 1 }; /* with most other offsets, a shader runs under a model with which it takes 5 seconds */
    int n = timed_models()->n;
    for (int p = 0; p < 5; p++)
        for (int k = 0; k < n; k++) {
            char model[32];
            if (!test_every() && (p != _i % 5 || k != (_i + _i / 7 + OFFSET) % n))
                continue;
            snprintf(model, sizeof model, "%s+%s", timed_models()->name[k], parts[p]);
            run_in_time(benches[_i], model, on[(_i / 5 + p) % 3]);
        }
}
END_TEST

/* Chained and folded operations round like separate operations. This test uses the functional model; the tests of the
 * PEPSC core above use timing models. */
START_TEST(chains_change_no_result) {
    static const char *const models[] = {"functional+chain+fold", "functional+dac+chain+fold",
                                         "functional+chain+fold+reduce", "spe+chain+fold", "spe+reduce"};
    for (int k = 0; k < (test_every() ? 5 : 1); k++) { /* takes a sample: successive programs use successive models */
        int i = (_i + k) % 5;
        struct job j = {.bench = benches[_i], .options = {.model = models[i], .check = i == 0}};
        job_run(&j, 0, NULL);
        ck_assert_msg(j.status == HEDDLE_OK, "%s in %s: %.1000s", j.bench->name, models[i], j.message ? j.message : "");
        job_free(&j);
    }
}
END_TEST

/* Results are equal bit for bit with the parts of PEPSC that change the program, under several reconvergence models,
 * and with dac. A reference that allows rounding errors would not detect a changed bit. */
START_TEST(no_bit_changes) {
    static const char *const models[] = {"spe", "dpe", "dws50", "its", "si", "spe"};
    uint64_t want = 0;
    for (int i = -1; i < 6; i++) {
        char reconv[32];
        if (!test_every() && i >= 0 && i < 5 &&
            i != _i % 5) /* one model for each program; all models with HEDDLE_EVERY */
            continue;
        snprintf(reconv, sizeof reconv, "reconv=%s", i < 0 ? "spe" : models[i]);
        const char *const set[] = {reconv, i < 0 ? "pepsc.pipeline=off" : "pepsc.pipeline=on", NULL};
        struct job j = {.bench = benches[_i],
                        .options = {.model = i < 0   ? "functional"
                                             : i < 5 ? "functional+chain+fold+reduce"
                                                     : "functional+dac+chain+fold+reduce",
                                    .set = set}};
        spoil.bits = 0xcbf29ce484222325;
        job_run(&j, 0, NULL);
        ck_assert_msg(j.status == HEDDLE_OK, "%s in %s: %.1000s", j.bench->name, reconv, j.message ? j.message : "");
        want = i < 0 ? spoil.bits : want;
        ck_assert_msg(spoil.bits == want, "%s: %s, %s: other bits than without", j.bench->name, j.options.model,
                      reconv);
        job_free(&j);
    }
}
END_TEST

/* Values spilled to local memory are restored correctly. This test takes a sample: each program runs with two of the
 * six settings. */
START_TEST(few_registers_change_no_result) {
    static const char *const limits[] = {"regs.max=8", "regs.max=16", "regs.max=24"};
    for (int i = 0; i < 6; i++) {
        if (!test_every() && i != _i % 3 && i != 3 + (_i / 3 + _i) % 3)
            continue;
        const char *const set[] = {limits[i % 3], NULL};
        struct job j = {.bench = benches[_i],
                        .options = {.model = i < 3 ? "functional" : "functional+dac", .set = set}};
        job_run(&j, 0, NULL);
        ck_assert_msg(j.status == HEDDLE_OK, "%s with %s: %.1000s", j.bench->name, limits[i % 3],
                      j.message ? j.message : "");
        job_free(&j);
    }
}
END_TEST

/* Event-driven simulation and host threads only make the simulator fast. They must give the same results as a
 * simulation of every cycle on one host thread. */
START_TEST(polling_and_host_threads_change_no_figure) {
    static const struct {
        const char *bench, *model, *config;
        uint32_t threads;
    } runs[] = {{"lud", "spe", "fermi", 2},     {"bfs", "dpe", "fermi", 4},       {"backprop", "dws50", "gt200", 8},
                {"conv2d", "its", "turing", 3}, {"subwarps4", "si", "turing", 2}, {"scan", "spe", "volta-classic", 5}};
    same_polled_and_threaded(runs[_i].bench, runs[_i].model, runs[_i].config, NULL, runs[_i].threads);
}
END_TEST

START_TEST(a_bit_is_a_difference_without_tolerance) {
    char why[256] = "";
    float want[3] = {1, 2, 3}, got[3] = {1, 2, nextafterf(3, 4)};
    ck_assert_int_eq(bench_compare(got, want, 2, 0, "x", why, sizeof why), HEDDLE_OK);
    ck_assert_int_eq(bench_compare(got, want, 3, 0, "x", why, sizeof why), HEDDLE_WRONG);
    ck_assert_str_eq(why, "x[2] is 3.00000024, the reference says 3 (1 of 3 values differ)");
    float zero = 0, minus = -0.0f;
    ck_assert_int_eq(bench_compare(&zero, &minus, 1, 0, "x", why, sizeof why), HEDDLE_WRONG);
}
END_TEST

START_TEST(tolerance_is_relative_above_one_and_absolute_below) {
    char why[256];
    float want = 100, near = 100.9f, far = 101.1f, small = 0.001f, off = 0.009f, wide = 0.02f, nan = NAN;
    ck_assert_int_eq(bench_compare(&near, &want, 1, 0.01, "x", why, sizeof why), HEDDLE_OK);
    ck_assert_int_eq(bench_compare(&far, &want, 1, 0.01, "x", why, sizeof why), HEDDLE_WRONG);
    ck_assert_int_eq(bench_compare(&off, &small, 1, 0.01, "x", why, sizeof why), HEDDLE_OK);
    ck_assert_int_eq(bench_compare(&wide, &small, 1, 0.01, "x", why, sizeof why), HEDDLE_WRONG);
    ck_assert_int_eq(bench_compare(&nan, &want, 1, 0.01, "x", why, sizeof why), HEDDLE_WRONG);
    ck_assert_int_eq(bench_compare(&nan, &nan, 1, 0, "x", why, sizeof why), HEDDLE_OK);
}
END_TEST

START_TEST(random_numbers_are_the_published_sequence) {
    uint64_t state = 0; /* outputs of splitmix64 with seed 0, from its author's list */
    ck_assert_uint_eq(bench_random(&state), 0xe220a8397b1dcdafull);
    ck_assert_uint_eq(bench_random(&state), 0x6e789e6aa1b965f4ull);
    for (int i = 0; i < 1000; i++) {
        float v = bench_uniform(&state, -2, 3);
        ck_assert(v >= -2 && v < 3);
    }
}
END_TEST

/* Every name in a benchmark's list is the name of a set, every set has members, and no set has the name of a
 * benchmark. */
START_TEST(sets_are_those_of_the_table) {
    for (int b = 0; b < n_all_benches; b++) {
        size_t len = 0;
        for (int i = 0; i < n_bench_sets; i++)
            if (bench_in(benches[b], bench_sets[i].name))
                len += strlen(bench_sets[i].name) + 1;
        ck_assert_msg(len == strlen(benches[b]->sets) + 1, "%s is in '%s'", benches[b]->name, benches[b]->sets);
    }
    for (int i = 0; i < n_bench_sets; i++) {
        int members = 0;
        for (int b = 0; b < n_all_benches; b++)
            members += bench_in(benches[b], bench_sets[i].name);
        ck_assert_msg(members > 0, "nothing is in %s", bench_sets[i].name);
        ck_assert_ptr_null(bench_find(bench_sets[i].name));
    }
    struct bench b = {.sets = "dual-path-regular dac"};
    ck_assert(bench_in(&b, "dual-path-regular") && bench_in(&b, "dac"));
    ck_assert(!bench_in(&b, "dual-path") && !bench_in(&b, "da") && !bench_in(&b, ""));
}
END_TEST

START_TEST(names_are_found) {
    for (int i = 0; i < n_benches; i++)
        ck_assert_ptr_eq(bench_find(benches[i]->name), benches[i]); /* this also shows that names are unique */
    ck_assert_ptr_null(bench_find("lu2"));
}
END_TEST

SUITE(benchmarks) {
    TEST_LOOP(results_are_right, 0, n_benches);
    TEST_LOOP(a_bit_turned_over_in_the_results_is_noticed, 0, n_benches);
    TEST_LOOP(the_checker_finds_no_mistakes, 0, n_benches);
    TEST_LOOP(results_do_not_depend_on_the_model, 0, n_benches);
    for (int i = 0; i < n_benches; i++)
        if (runs_in_time(i))
            TEST_LOOP(time_and_machines_change_no_result, i, i + 1);
    TEST(every_model_meets_half_of_the_machines);
    for (int i = 0; i < n_benches; i++)
        if (runs_with_a_part(i))
            TEST_LOOP(parts_of_pepsc_change_no_result, i, i + 1);
    TEST_LOOP(few_registers_change_no_result, 0, n_benches);
    TEST_LOOP(chains_change_no_result, 0, n_benches);
    TEST_LOOP(no_bit_changes, 0, n_benches);
    TEST_LOOP(polling_and_host_threads_change_no_figure, 0, 6);
    TEST(a_bit_is_a_difference_without_tolerance);
    TEST(tolerance_is_relative_above_one_and_absolute_below);
    TEST(random_numbers_are_the_published_sequence);
    TEST(names_are_found);
    TEST(sets_are_those_of_the_table);
}
