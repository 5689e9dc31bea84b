/* Stride prefetchers on whole programs and on one whose lines are known: right results under every combination, figures
 * that depend neither on events nor on host threads, sums that hold in each launch, and the profile by load. */
#include "benchmarks/bench.h"
#include "host/cli/job.h"
#include "host/heddle.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stdio.h>

static const char *const models[] = {"stride",     "ddp",          "dpe+ddp",     "dws+stride",   "its+ddp",
                                     "si+ddp",     "minpc+stride", "dac+ddp",     "dac+stride",   "cae+ddp",
                                     "its+stride", "dpe+dac+ddp",  "dws+dac+ddp", "si+dac+stride"};
enum { N_MODELS = sizeof models / sizeof models[0], KERNELS = 56, LINES = 64, LINE = 128 };

static void run(struct job *j, const struct bench *b, const char *model, const char *config, const char *const *set,
                uint32_t threads) {
    *j = (struct job){.bench = b, .options = {.model = model, .config = config, .set = set, .threads = threads}};
    job_run(j, 0, NULL);
    ck_assert_msg(j->status == HEDDLE_OK, "%s in %s: %.1000s", b->name, model, j->message ? j->message : "");
}

static double of(const struct job *j, const char *extension, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "%s.%s", extension, name);
    return job_stat(j, key);
}

/* Each line that a stride led to has one fate, and is used at most once. */
static void check_sums(const struct job *j, const char *e) {
    static const char *const degrees[] = {"degree_1",    "degree_2",     "degree_3",    "degree_4",
                                          "degree_5",    "degree_6",     "degree_7",    "degree_8",
                                          "degree_9_16", "degree_17_32", "degree_33_up"};
    const char *other = strcmp(e, "ddp") == 0 ? "stride" : "ddp";
    ck_assert_double_eq(of(j, e, "wanted"),
                        of(j, e, "outside") + of(j, e, "queued") + of(j, e, "full") + of(j, e, "asked"));
    ck_assert_double_le(of(j, e, "present") + of(j, e, "refused") + of(j, e, "issued"), of(j, e, "asked"));
    ck_assert_double_le(of(j, e, "useful") + of(j, e, "unused"), of(j, e, "issued"));
    ck_assert_double_le(of(j, e, "late"), of(j, e, "useful"));
    ck_assert_double_le(of(j, e, "believed"), of(j, e, "trained"));
    ck_assert_double_le(of(j, e, "trained"), of(j, e, "misses"));
    ck_assert_double_eq(of(j, e, "misses"), of(j, e, "lookups"));
    ck_assert_double_le(of(j, e, "bytes"), job_stat(j, "dram.read_bytes"));
    ck_assert_double_eq(of(j, other, "misses"), 0);
    double loads = 0;
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++)
        loads += of(j, "ddp", degrees[i]);
    ck_assert_double_eq(loads, job_stat(j, "ddp.believed"));
}

START_TEST(programs_are_right) {
    static const char *const presets[] = {"fermi", "turing", "gt200", "volta"};
    static const char *const small[] = {"stride.level=l1", "ddp.level=l1", "stride.queue=4", NULL};
    for (int k = 0; k < 2; k++) {
        const char *model = models[(_i + 7 * k) % N_MODELS];
        struct job j;
        run(&j, benches[_i], model, presets[(_i + k) % 4], k ? small : NULL, 1);
        check_sums(&j, strstr(model, "ddp") ? "ddp" : "stride");
        job_free(&j);
    }
}
END_TEST

static void same_figures(const struct job *a, const struct job *b, const char *how) {
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        double x = job_stat(a, d[i].name), y = job_stat(b, d[i].name);
        if (strncmp(d[i].name, "host.", 5) != 0)
            ck_assert_msg(x == y || (isnan(x) && isnan(y)), "%s in %s, %s: %s is %.17g, not %.17g", a->bench->name,
                          a->options.model, how, d[i].name, y, x);
    }
}

START_TEST(polling_and_host_threads_change_no_figure) {
    static const struct {
        const char *bench, *model, *config, *set;
    } runs[] = {{"lud", "ddp", "fermi", NULL},
                {"bicg", "dpe+ddp", "turing", NULL},
                {"reduction", "its+stride", "fermi", NULL},
                {"mvt", "dac+ddp", "fermi", NULL},
                {"bicg", "ddp", "turing", "ddp.level=l1"}};
    const struct bench *b = bench_find(runs[_i].bench);
    const char *const set[] = {runs[_i].set, NULL}, *const poll[] = {"gpu.poll=true", runs[_i].set, NULL};
    struct job plain, polled, two;
    run(&plain, b, runs[_i].model, runs[_i].config, set, 1);
    run(&polled, b, runs[_i].model, runs[_i].config, poll, 1);
    run(&two, b, runs[_i].model, runs[_i].config, set, 2);
    same_figures(&plain, &polled, "polled");
    same_figures(&plain, &two, "two threads");
    job_free(&plain), job_free(&polled), job_free(&two);
}
END_TEST

/* A model without them has every cycle that it had. */
START_TEST(options_of_an_extension_wait_for_it) {
    static const char *const set[] = {"stride.table=1", "ddp.level=l1", "ddp.max_degree=1", "stride.queue=1", NULL};
    struct job plain, with;
    run(&plain, bench_find("lud"), "spe", "fermi", NULL, 1);
    run(&with, bench_find("lud"), "spe", "fermi", set, 1);
    same_figures(&plain, &with, "with options of extensions");
    job_free(&plain), job_free(&with);
}
END_TEST

/* One warp: 64 loads, 64 lines, a line further each time. */
static struct heddle *walk_by(uint32_t threads, const char *model, const char *set, bool profile) {
    char err[512];
    const char *const sets[] = {"memory.model=full", "dram.latency=400", "l1.size=4096", "l1.ways=4", set, NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = "tiny", .set = sets, .profile = profile}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/walk.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 65536);
    heddle_clear(h, p, 65536);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    return h;
}

static struct heddle *walk(const char *model, const char *set, bool profile) {
    return walk_by(32, model, set, profile);
}

/* A single thread wants one sector of each line, and so do its prefetches. */
START_TEST(sectors_that_nobody_wants_are_not_fetched) {
    struct heddle *h = walk_by(1, "stride", "l2.sectored=true", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.issued"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.bytes"), (LINES - 2) * 32);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.useful"), LINES - 3);
    heddle_close(h);
    h = walk_by(1, "stride", "l2.sectored=false", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.bytes"), (LINES - 2) * LINE);
    heddle_close(h);
}
END_TEST

/* 62 of the 64 loads ask. With a degree of one each line is asked for once, the last for a load that never comes. A
 * line that was there in time is read in the time of the L2, which is shorter than memory's, so the next one is late;
 * that takes memory's time, in which the one after it comes: half of them are late. Further ahead few are, and the loop
 * is faster; a turn that raises the degree skips a line, which is fetched when it is wanted. */
START_TEST(a_walk_is_prefetched) {
    struct heddle *plain = walk("spe", NULL, false), *one = walk("stride", NULL, false),
                  *ddp = walk("ddp", NULL, false);
    double cycles = heddle_stat(plain, 0, "gpu.cycles");
    ck_assert_double_eq(heddle_stat(one, 0, "stride.misses"), LINES);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.asked"), LINES - 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.issued"), LINES - 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.useful"), LINES - 3);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.late"), (LINES - 3) / 2);
    ck_assert_double_eq(heddle_stat(one, 0, "stride.bytes"), (LINES - 2) * LINE);
    ck_assert_double_lt(heddle_stat(one, 0, "gpu.cycles"), 0.6 * cycles);
    ck_assert_double_gt(heddle_stat(ddp, 0, "ddp.most_degree"), 1);
    ck_assert_double_eq(heddle_stat(ddp, 0, "ddp.grown_by_loads"), heddle_stat(ddp, 0, "ddp.most_degree") - 1);
    ck_assert_double_lt(heddle_stat(ddp, 0, "ddp.late"), 5);
    ck_assert_double_lt(heddle_stat(ddp, 0, "gpu.cycles"), 0.8 * heddle_stat(one, 0, "gpu.cycles"));
    ck_assert_double_lt(heddle_stat(ddp, 0, "mem.latency"), heddle_stat(one, 0, "mem.latency"));
    heddle_close(plain), heddle_close(one), heddle_close(ddp);
}
END_TEST

/* Into the L1: the loads after that hit. */
START_TEST(a_walk_into_the_l1) {
    struct heddle *plain = walk("spe", NULL, false), *h = walk("ddp", "ddp.level=l1", false);
    ck_assert_double_eq(heddle_stat(h, 0, "ddp.believed"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "l2.prefetches"), 0);
    ck_assert_double_eq(heddle_stat(h, 0, "l1.prefetches"), heddle_stat(h, 0, "ddp.issued"));
    ck_assert_double_gt(heddle_stat(h, 0, "l1.hits"), 10);
    ck_assert_double_lt(heddle_stat(h, 0, "gpu.cycles"), 0.8 * heddle_stat(plain, 0, "gpu.cycles"));
    heddle_close(plain), heddle_close(h);
}
END_TEST

/* Memory without an L2 has nowhere to put a line, nor has an L1 that is not there. */
START_TEST(no_cache_no_prefetch) {
    struct heddle *h = walk("stride", "l2.size=0", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.misses"), 0);
    heddle_close(h);
    h = walk("stride", "memory.model=fixed", false);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.outside"), LINES - 2);
    ck_assert_double_eq(heddle_stat(h, 0, "stride.asked"), 0);
    heddle_close(h);
    h = walk("stride", "l1.size=0", false); /* what goes past it is seen all the same */
    ck_assert_double_eq(heddle_stat(h, 0, "stride.issued"), LINES - 2);
    heddle_close(h);
}
END_TEST

/* The energy of the tables and of the lines compared is in the L1's. */
START_TEST(energy_is_that_of_the_tables) {
    struct heddle *h = walk("ddp", NULL, false), *lookups = walk("ddp", "energy.stride_lookup=1e6", false),
                  *searches = walk("ddp", "energy.stride_search=1e6", false);
    double base = heddle_stat(h, 0, "energy.l1_joules");
    ck_assert_double_eq_tol(heddle_stat(lookups, 0, "energy.l1_joules") - base, LINES * (1e6 - 12) * 1e-12, 1e-12);
    ck_assert_double_eq_tol(heddle_stat(searches, 0, "energy.l1_joules") - base,
                            heddle_stat(h, 0, "ddp.searches") * (1e6 - 2) * 1e-12, 1e-12);
    ck_assert_double_eq(heddle_stat(h, 0, "ddp.searches"), LINES + LINES - 2);
    heddle_close(h), heddle_close(lookups), heddle_close(searches);
}
END_TEST

/* The table of degrees names the load and nothing else, and its row is that of the statistics. */
START_TEST(the_profile_has_degrees_by_load) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct heddle *h = walk("ddp", NULL, true);
    ck_assert_int_eq(heddle_print_profile(h, out), HEDDLE_OK);
    fclose(out);
    const char *rows = strstr(text, "loads that missed, by degree of prefetching\n");
    ck_assert(rows != NULL);
    rows = strchr(strchr(rows, '\n') + 1, '\n') + 1;
    unsigned d1 = 0, d2 = 0;
    ck_assert_int_eq(sscanf(rows, "%u %u", &d1, &d2), 2);
    ck_assert_double_eq(d1, heddle_stat(h, 0, "ddp.degree_1"));
    ck_assert_double_eq(d2, heddle_stat(h, 0, "ddp.degree_2"));
    ck_assert(strstr(rows, "L: ld.global.u32 %r4,[%b];") != NULL);
    ck_assert_ptr_eq(strchr(rows, '\n')[1] ? rows : NULL, NULL); /* no other row */
    heddle_close(h);
    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    h = walk("spe", NULL, true);
    ck_assert_int_eq(heddle_print_profile(h, out), HEDDLE_OK);
    fclose(out);
    ck_assert(strstr(text, "by degree") == NULL);
    heddle_close(h);
    free(text);
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

START_TEST(memory_of_random_kernels_is_equal) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        const char *model = models[seed % N_MODELS];
        char *text = random_kernel(seed, (unsigned)_i);
        random_input(seed, in);
        random_memory("functional", text, in, want, seed);
        random_memory(model, text, in, got, seed);
        ck_assert_msg(memcmp(got, want, sizeof got) == 0, "seed %llu under %s", (unsigned long long)seed, model);
        free(text);
    }
}
END_TEST

SUITE(timing_pepsc_prefetch_run) {
    TEST_LOOP(programs_are_right, 0, n_benches);
    TEST_LOOP(polling_and_host_threads_change_no_figure, 0, 5);
    TEST(options_of_an_extension_wait_for_it);
    TEST(sectors_that_nobody_wants_are_not_fetched);
    TEST(a_walk_is_prefetched);
    TEST(a_walk_into_the_l1);
    TEST(no_cache_no_prefetch);
    TEST(energy_is_that_of_the_tables);
    TEST(the_profile_has_degrees_by_load);
    TEST_LOOP(memory_of_random_kernels_is_equal, 0, 4);
}
