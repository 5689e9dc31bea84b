/* Runs random kernels (random_kernel.h, affine_kernel.h) as native code. Memory, counts and outcome must equal those of
 * the interpreter, under every reconvergence model, with one and with three host threads, and no matter when blocks are
 * compiled. HEDDLE_JIT_KERNELS sets the number of kernels of each kind, HEDDLE_RANDOM_SEED the first seed. */
#include "affine_kernel.h"
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/every_model.h"
#include "test/jit_levels.h"

enum { KERNELS = 120, PARTS = 4, MOST_WORDS = AFFINE_MAX_THREADS * AFFINE_SLICE };

static const char *const counts[] = {"gpu.warp_instructions",
                                     "gpu.thread_instructions",
                                     "gpu.barrier_instructions",
                                     "gpu.path_sum",
                                     "gpu.max_stack_depth",
                                     "gpu.warps",
                                     "dac.affine_instructions",
                                     "dac.affine_slots",
                                     "dac.scalar_instructions",
                                     "dac.tuple_instructions",
                                     "dac.nonlinear_instructions",
                                     "dac.vector_instructions",
                                     "dac.fallbacks",
                                     "dac.warp_divergences",
                                     "dac.thread_divergences",
                                     "dac.loads",
                                     "dac.decoupled_loads",
                                     "dac.decoupled_addresses",
                                     "dac.decoupled_predicates",
                                     "dac.predicates_cta",
                                     "dac.predicates_ends",
                                     "dac.predicates_lanes"};
enum { N_COUNTS = sizeof counts / sizeof counts[0] };

struct result {
    enum heddle_status status;
    char error[1024];
    double count[N_COUNTS];
    uint32_t words, out[MOST_WORDS];
};

struct job {
    const char *text;
    uint64_t seed, limit;
    bool affine, decoupled;
    const struct affine_kernel *shape;
};

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void run(const struct job *j, const char *const *set, uint32_t threads, struct result *r) {
    static uint32_t in[AFFINE_IN_WORDS];
    struct heddle_options o = {.model = j->decoupled ? "functional+dac" : "functional",
                               .set = set,
                               .threads = threads,
                               .cycle_limit = j->limit};
    struct heddle *h = heddle_open(&o, r->error, sizeof r->error);
    ck_assert_msg(h != NULL, "%s", r->error);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", j->text, strlen(j->text));
    ck_assert_msg(m != NULL, "seed %llu: %s", (unsigned long long)j->seed, heddle_error(h));
    for (uint32_t i = 0; i < AFFINE_IN_WORDS; i++)
        in[i] = i * 2654435761u;
    if (!j->affine)
        random_input(j->seed, in);
    r->words = j->affine ? AFFINE_SLICE * j->shape->threads : RANDOM_OUT_WORDS;
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, 4ull * r->words), middle = din + sizeof in / 2;
    ck_assert_int_eq(heddle_write(h, din, in, sizeof in), HEDDLE_OK);
    if (j->affine) {
        const struct affine_kernel *k = j->shape;
        struct heddle_arg args[] = {{&dout, 8}, {&middle, 8}, {&k->n, 4}, {&k->stride, 4}, {&k->far, 8}};
        r->status = heddle_launch(h, m, "k", (struct heddle_dim){k->grid[0], k->grid[1], k->grid[2]},
                                  (struct heddle_dim){k->block[0], k->block[1], k->block[2]}, 0, args, 5);
    } else {
        struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
        r->status = heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                  (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2);
    }
    snprintf(r->error, sizeof r->error, "%s", r->status == HEDDLE_OK ? "" : heddle_error(h));
    for (int i = 0; i < N_COUNTS; i++)
        r->count[i] = r->status == HEDDLE_OK ? heddle_stat(h, -1, counts[i]) : 0;
    ck_assert_int_eq(heddle_read(h, dout, r->out, 4ull * r->words), HEDDLE_OK);
    heddle_close(h);
}

static void compare(const struct job *j, const char *how, const struct result *want, const struct result *got) {
    char path[64], what[256] = "";
    if (got->status != want->status || strcmp(got->error, want->error) != 0)
        snprintf(what, sizeof what, "status %d, not %d: %.200s", got->status, want->status, got->error);
    for (int i = 0; i < N_COUNTS && !*what; i++)
        if (got->count[i] != want->count[i])
            snprintf(what, sizeof what, "%s is %.0f, not %.0f", counts[i], got->count[i], want->count[i]);
    for (uint32_t i = 0; i < want->words && !*what; i++)
        if (got->out[i] != want->out[i])
            snprintf(what, sizeof what, "word %u is 0x%x, not 0x%x", i, got->out[i], want->out[i]);
    if (!*what)
        return;
    snprintf(path, sizeof path, "build/jit-%llu.ptx", (unsigned long long)j->seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(j->text, f);
        fclose(f);
    }
    ck_abort_msg("seed %llu, %s: %s (%s)", (unsigned long long)j->seed, how, what, path);
}

static void both(const struct job *j, uint32_t most_threads) {
    static struct result want, got;
    char reconv[32], after[32], how[96];
    snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[j->seed % 3 ? 0 : j->seed % timed_models()->n]);
    snprintf(after, sizeof after, "gpu.jit_after=%d", (int)(j->seed % 4));
    const char *const off[] = {reconv, "gpu.jit=off", NULL}, *const on[] = {reconv, after, NULL};
    run(j, off, 1, &want);
    for (uint32_t threads = 1; threads <= most_threads; threads += 2) {
        snprintf(how, sizeof how, "%s %s, %u threads", reconv, after, threads);
        run(j, on, threads, &got);
        compare(j, how, &want, &got);
    }
}

/* Returns the number of kernels to test: half of KERNELS, or with HEDDLE_EVERY all. */
static uint64_t kernels(void) { return test_every() ? KERNELS : KERNELS / 2; }

START_TEST(random_kernels_end_alike) {
    const int i_ = jit_level(_i);
    uint64_t n = from_environment("HEDDLE_JIT_KERNELS", kernels()), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    static const unsigned kinds[] = {0, RANDOM_RICH, RANDOM_LEAVERS, RANDOM_RICH | RANDOM_LEAVERS,
                                     RANDOM_RICH | RANDOM_LADDERS};
    for (uint64_t seed = first + (uint64_t)i_; seed < first + n; seed += PARTS) {
        char *text = random_kernel(seed, kinds[seed % 5]);
        both(&(struct job){.text = text, .seed = seed, .limit = 50000000, .decoupled = seed % 3 == 0}, 3);
        free(text);
    }
}
END_TEST

START_TEST(affine_kernels_end_alike) {
    const int i_ = jit_level(_i);
    uint64_t n = from_environment("HEDDLE_JIT_KERNELS", kernels()), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first + (uint64_t)i_; seed < first + n; seed += PARTS) {
        struct affine_kernel k = affine_kernel(seed);
        struct job j = {.text = k.text, .seed = seed, .limit = 50000000, .affine = true, .shape = &k};
        both(&j, 3);
        j.decoupled = true;
        both(&j, 3);
        free(k.text);
    }
}
END_TEST

/* Native code and the interpreter must reach an instruction limit after the same number of instructions and at the same
 * place. With several host threads, memory is not compared, because later CTAs may already have stored some words. */
START_TEST(limits_are_met_alike) {
    jit_level(_i);
    uint64_t first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + kernels() / PARTS; seed++) {
        struct affine_kernel k = affine_kernel(seed);
        both(&(struct job){.text = k.text, .seed = seed, .limit = 50 + seed * 7, .affine = true, .shape = &k}, 1);
        free(k.text);
    }
}
END_TEST

SUITE(random_jit_kernels) {
    TEST_LEVELS(random_kernels_end_alike, PARTS);
    TEST_LEVELS(affine_kernels_end_alike, PARTS);
    TEST_LEVELS(limits_are_met_alike, 1);
}
