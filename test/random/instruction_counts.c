/* Tests that the functional model and the timing model execute the same number of warp instructions, with any
 * extensions. Runs random kernels (random_kernel.h, affine_kernel.h) and the benchmarks. Every set of extensions that
 * change a program is combined with extensions that only change timing. In both models, the affine warp of `dac` serves
 * one CTA at a time (dac.batch=1). One difference is allowed: on an SM that has no CTAs left, the affine warp does not
 * execute the rest of its stream. HEDDLE_RANDOM_SEED sets the first seed. */
#include "affine_kernel.h"
#include "random_kernel.h"
#include "test/timing/job_rig.h"

enum { KERNELS = 24, PARTS = 4, SETS = 16 };

struct counts {
    double warp, thread, affine, slots;
};

static uint64_t first_seed(void) {
    const char *s = getenv("HEDDLE_RANDOM_SEED");
    return s && *s ? strtoull(s, NULL, 10) : 1;
}

/* Writes the name of a model: the model `base`, set number `set` of the extensions that change a program, and the
 * extensions `more`. */
static void model_of(char out[96], const char *base, int set, const char *more) {
    static const char *const parts[] = {"+dac", "+chain", "+fold", "+reduce"};
    snprintf(out, 96, "%s", base);
    for (int i = 0; i < 4; i++)
        strncat(out, set >> i & 1 ? parts[i] : "", 95 - strlen(out));
    strncat(out, more, 95 - strlen(out));
}

/* Returns "+" and the name of an extension that only changes timing, or "" for no extension. Consecutive values of n
 * select one extension after another. */
static const char *costs(int set, uint64_t n) {
    static const char *const beside_dac[] = {"", "+stride", "", "+ddp", "+stride"}, *const alone[] = {"", "+mta",
                                                                                                      "+cae+mta",
                                                                                                      "+ddp", "+cae"};
    return (set & 1 ? beside_dac : alone)[n % 5];
}

static void compare(const char *what, const char *model, const struct counts *f, const struct counts *t, double sms) {
    ck_assert_msg(f->warp - f->slots == t->warp - t->slots,
                  "%s in %s: %.0f warp instructions beside affine warps, not %.0f", what, model, t->warp - t->slots,
                  f->warp - f->slots);
    ck_assert_msg(t->affine <= f->affine && t->affine >= f->affine - sms, "%s in %s: %.0f affine instructions of %.0f",
                  what, model, t->affine, f->affine);
    ck_assert_msg(t->affine != f->affine || t->slots == f->slots, "%s in %s: %.0f affine slots, not %.0f", what, model,
                  t->slots, f->slots);
    if (!f->affine)
        ck_assert_msg(f->thread == t->thread, "%s in %s: %.0f thread instructions, not %.0f", what, model, t->thread,
                      f->thread);
}

/* Returns the sums of the counts over all launches. */
static struct counts counts_of(struct heddle *h) {
    return (struct counts){heddle_stat(h, -1, "gpu.warp_instructions"), heddle_stat(h, -1, "gpu.thread_instructions"),
                           heddle_stat(h, -1, "dac.affine_instructions"), heddle_stat(h, -1, "dac.affine_slots")};
}

/* Runs a kernel and returns its counts. `k` has the launch of a kernel from affine_kernel.h; NULL means that the kernel
 * is from random_kernel(). */
static struct counts run(const char *text, const struct affine_kernel *k, uint64_t seed, const char *model) {
    static uint32_t in[AFFINE_IN_WORDS];
    char err[1024];
    const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384",
                               strstr(model, "dac") ? "dac.batch=1" : NULL, NULL};
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "tiny", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", model, err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "seed %llu: %s", (unsigned long long)seed, heddle_error(h));
    if (k)
        for (uint32_t i = 0; i < AFFINE_IN_WORDS; i++)
            in[i] = i * 2654435761u;
    else
        random_input(seed, in);
    uint64_t din = heddle_alloc(h, sizeof in), middle = din + sizeof in / 2,
             dout = heddle_alloc(h, 4ull * (k ? AFFINE_SLICE * k->threads : RANDOM_OUT_WORDS));
    heddle_write(h, din, in, sizeof in);
    const struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    enum heddle_status s;
    if (k) {
        const struct heddle_arg all[] = {{&dout, 8}, {&middle, 8}, {&k->n, 4}, {&k->stride, 4}, {&k->far, 8}};
        s = heddle_launch(h, m, "k", (struct heddle_dim){k->grid[0], k->grid[1], k->grid[2]},
                          (struct heddle_dim){k->block[0], k->block[1], k->block[2]}, 0, all, 5);
    } else {
        s = heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1}, (struct heddle_dim){RANDOM_THREADS, 1, 1},
                          0, args, 2);
    }
    ck_assert_msg(s == HEDDLE_OK, "seed %llu in %s: %s", (unsigned long long)seed, model, heddle_error(h));
    const struct counts c = counts_of(h);
    heddle_close(h);
    return c;
}

static void both(const char *text, const struct affine_kernel *k, uint64_t seed) {
    enum { SMS = 1 };                      /* number of SMs of preset tiny */
    const int step = test_every() ? 1 : 5; /* tests every fifth set of extensions; the next kernel uses other sets */
    for (int set = (int)(seed % (uint64_t)step); set < SETS; set += step) {
        char functional[96], timed[96], what[48];
        snprintf(what, sizeof what, "%s kernel, seed %llu", k ? "affine" : "random", (unsigned long long)seed);
        model_of(functional, "functional", set, "");
        model_of(timed, "spe", set, costs(set, seed + (uint64_t)set));
        const struct counts f = run(text, k, seed, functional), t = run(text, k, seed, timed);
        compare(what, timed, &f, &t, SMS);
    }
}

START_TEST(random_kernels_execute_the_same) {
    const uint64_t first = first_seed();
    for (uint64_t seed = first + (uint64_t)_i; seed < first + KERNELS; seed += PARTS) {
        struct affine_kernel k = affine_kernel(seed);
        both(k.text, &k, seed);
        free(k.text);
        char *text = random_kernel(seed, seed % 2 ? RANDOM_RICH : RANDOM_CHAINS);
        both(text, NULL, seed);
        free(text);
    }
}
END_TEST

static struct counts bench_counts(const struct bench *b, const char *model, double *launches) {
    const char *const set[] = {strstr(model, "dac") ? "dac.batch=1" : NULL, NULL};
    struct job j = {.bench = b, .options = {.model = model, .set = set}};
    job_run(&j, 0, NULL);
    ck_assert_msg(j.status == HEDDLE_OK, "%s in %s: %s", b->name, model, j.message ? j.message : "");
    const struct counts c = {job_stat(&j, "gpu.warp_instructions"), job_stat(&j, "gpu.thread_instructions"),
                             job_stat(&j, "dac.affine_instructions"), job_stat(&j, "dac.affine_slots")};
    *launches = cJSON_GetArraySize(cJSON_GetObjectItem(j.result, "kernels"));
    job_free(&j);
    return c;
}

/* By default every fourth program runs, each with one set of the extensions, and other programs with other sets. With
 * HEDDLE_EVERY, all programs run with all sets. Programs whose work depends on the order of threads are skipped,
 * because timing changes this order. */
START_TEST(benchmarks_execute_the_same) {
    enum { SMS = 15 }; /* number of SMs of preset fermi */
    const struct bench *b = benches[_i];
    double launches;
    struct counts f, t;
    if (!strncmp(b->name, "bfs", 3)) {
        f = bench_counts(b, "functional", &launches);
        t = bench_counts(b, "spe", &launches);
        if (f.warp != t.warp) {
            test_skip("what it executes depends on the order of threads");
            return;
        }
    }
    for (int set = 0; set < SETS; set++) {
        char functional[96], timed[96];
        if (!test_every() && set != _i % SETS)
            continue;
        model_of(functional, "functional", set, "");
        model_of(timed, "spe", set, costs(set, (uint64_t)(_i + set)));
        f = bench_counts(b, functional, &launches);
        t = bench_counts(b, timed, &launches);
        compare(b->name, timed, &f, &t, SMS * launches);
    }
}
END_TEST

SUITE(instruction_counts) {
    TEST_LOOP(random_kernels_execute_the_same, 0, PARTS);
    for (int i = 0; i < n_benches; i++)
        if (test_every() || (i + i / SETS) % 4 == 0)
            TEST_LOOP(benchmarks_execute_the_same, i, i + 1);
}
