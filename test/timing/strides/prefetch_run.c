/* Tests stride prefetchers in whole programs. Results must be right in every combination. Statistics must depend
 * neither on polling nor on the number of host threads, and sums of statistics must be consistent in each launch. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"
#include "test/timing/job_rig.h"
#include <stdio.h>

/* Each base model runs with `ddp`, with `stride`, and with `ddp` beside `dac` or `cae`. */
static const char *const prefetchers[] = {"+ddp", "+stride", "+dac+ddp", "+cae+ddp"};
static uint64_t models(void) { return 3 * (uint64_t)base_models()->n; }
static const char *model_in_turn(uint64_t turn) {
    uint64_t base = turn % (uint64_t)base_models()->n, way = turn % models() / (uint64_t)base_models()->n;
    return bases_with(prefetchers[way == 2 ? 2 + base % 2 : way])->name[base];
}

static double of(const struct job *j, const char *extension, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "%s.%s", extension, name);
    return job_stat(j, key);
}

/* Checks the sums of the prefetch statistics. Each line that a stride predicts has one outcome, and is used at most
 * once. */
static void check_sums(const struct job *j, const char *e) {
    static const char *const degrees[] = {"degree_1",    "degree_2",     "degree_3",    "degree_4",
                                          "degree_5",    "degree_6",     "degree_7",    "degree_8",
                                          "degree_9_16", "degree_17_32", "degree_33_up"};
    const char *other = strcmp(e, "ddp") == 0 ? "stride" : "ddp";
    ck_assert_double_eq(of(j, e, "candidates"),
                        of(j, e, "out_of_range") + of(j, e, "duplicates") + of(j, e, "full") + of(j, e, "requested"));
    ck_assert_double_le(of(j, e, "present") + of(j, e, "refused") + of(j, e, "issued"), of(j, e, "requested"));
    ck_assert_double_le(of(j, e, "useful") + of(j, e, "unused"), of(j, e, "issued"));
    ck_assert_double_le(of(j, e, "late"), of(j, e, "useful"));
    ck_assert_double_le(of(j, e, "confident"), of(j, e, "executions"));
    ck_assert_double_le(of(j, e, "executions"), of(j, e, "misses"));
    ck_assert_double_eq(of(j, e, "misses"), of(j, e, "lookups"));
    ck_assert_double_le(of(j, e, "bytes"), job_stat(j, "dram.read_bytes"));
    ck_assert_double_eq(of(j, other, "misses"), 0);
    double loads = 0;
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        loads += of(j, "ddp", degrees[i]);
    ck_assert_double_eq(loads, job_stat(j, "ddp.confident"));
}

/* Returns true if the program with this number runs. Program i runs in model i modulo n, where n is the number of
 * models. By default every sixth program runs. From one group of n programs to the next, the choice moves by one, so
 * that other models run, too. With HEDDLE_EVERY each program runs in all models. */
static bool is_sampled(int program) { return test_every() || (program + program / (int)models()) % 6 == 0; }
START_TEST(programs_are_right) {
    static const char *const presets[] = {"fermi", "turing", "gt200", "volta-classic"};
    static const char *const small[] = {"stride.level=l1", "ddp.level=l1", "stride.queue=4", NULL};
    const int n_models = (int)models();
    for (int k = 0; k < (test_every() ? n_models : 1); k++) {
        int round = _i / n_models + k;
        const char *model = model_in_turn((uint64_t)(_i + k));
        struct job j;
        run_job(&j, benches[_i], model, presets[(_i + round) % 4], round / 4 % 2 ? small : NULL, 1);
        check_sums(&j, strstr(model, "ddp") ? "ddp" : "stride");
        job_free(&j);
    }
}
END_TEST

START_TEST(polling_and_host_threads_change_no_figure) {
    static const struct {
        const char *bench, *model, *config, *set;
    } runs[] = {{"lud", "ddp", "fermi", NULL},
                {"bicg", "dpe+ddp", "turing", NULL},
                {"reduction", "its+stride", "fermi", NULL},
                {"mvt", "dac+ddp", "fermi", NULL},
                {"bicg", "ddp", "turing", "ddp.level=l1"}};
    same_polled_and_threaded(runs[_i].bench, runs[_i].model, runs[_i].config, runs[_i].set, 2);
}
END_TEST

/* Options of an extension do not change the number of cycles of a model without the extension. */
START_TEST(options_of_an_extension_wait_for_it) {
    static const char *const set[] = {"stride.table=1", "ddp.level=l1", "ddp.max_degree=1", "stride.queue=1", NULL};
    same_without_the_extension(set);
}
END_TEST

static void random_memory(const char *model, const char *text, const uint32_t *in, uint32_t *out, uint64_t seed) {
    static const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384", "memory.model=full",
                                      "stride.train=1",     "ddp.train=1",           NULL};
    char err[512];
    struct heddle *r =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(r != NULL, "%s: %s", model, err);
    struct heddle_module *m = heddle_module_text(r, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(r));
    uint64_t din = heddle_alloc(r, 4 * RANDOM_IN_WORDS), dout = heddle_alloc(r, 4 * RANDOM_OUT_WORDS);
    heddle_write(r, din, in, 4 * RANDOM_IN_WORDS);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    enum heddle_status s = heddle_launch(r, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                         (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "seed %llu under %s: %s", (unsigned long long)seed, model, heddle_error(r));
    heddle_read(r, dout, out, 4 * RANDOM_OUT_WORDS);
    heddle_close(r);
}

/* By default each model runs one random kernel of each of two types; there are four types. With HEDDLE_EVERY each model
 * runs three kernels of each type. */
START_TEST(memory_of_random_kernels_is_equal) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (uint64_t seed = 1; seed <= models() * (test_every() ? 3 : 1); seed++) {
        if (!test_every() && (seed + (uint64_t)_i) % 2)
            continue;
        const char *model = model_in_turn(seed);
        char *text = random_kernel(seed, (unsigned)_i);
        random_input(seed, in);
        random_memory("functional", text, in, want, seed);
        random_memory(model, text, in, got, seed);
        ck_assert_msg(memcmp(got, want, sizeof got) == 0, "seed %llu under %s", (unsigned long long)seed, model);
        free(text);
    }
}
END_TEST

SUITE(timing_strides_prefetch_run) {
    for (int i = 0; i < n_benches; i++)
        if (is_sampled(i))
            TEST_LOOP(programs_are_right, i, i + 1);
    TEST_LOOP(polling_and_host_threads_change_no_figure, 0, 5);
    TEST(options_of_an_extension_wait_for_it);
    TEST_LOOP(memory_of_random_kernels_is_equal, 0, 4);
}
