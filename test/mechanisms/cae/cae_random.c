/* Compact affine execution of random kernels: memory as without, and registers that are what their compact forms
 * say. */
#include "cae_watch.h"
#include "test/random/random_kernel.h"

static const char *const models[] = {"cae",       "dpe+cae", "dws+cae", "its+cae",     "si+cae",
                                     "minpc+cae", "cae+mta", "dpe+mta", "dws+mta+cae", "si+mta"};
enum { N_MODELS = sizeof models / sizeof models[0], KERNELS = 60, FEWER = 20 };

static void random_memory(const char *model, const char *text, const uint32_t *in, uint32_t *out, uint64_t seed) {
    static const char *const set[] = {"sm.registers=65536", "sm.shared_bytes=16384", NULL};
    char what[128];
    struct heddle *r = open_watched(model, "tiny", set, what);
    struct heddle_module *m = heddle_module_text(r, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(r));
    uint64_t din = heddle_alloc(r, 4 * RANDOM_IN_WORDS), dout = heddle_alloc(r, 4 * RANDOM_OUT_WORDS);
    heddle_write(r, din, in, 4 * RANDOM_IN_WORDS);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    enum heddle_status s = heddle_launch(r, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                         (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "seed %llu under %s: %s", (unsigned long long)seed, model, heddle_error(r));
    ck_assert_msg(!*what, "seed %llu under %s: %s", (unsigned long long)seed, model, what);
    heddle_read(r, dout, out, 4 * RANDOM_OUT_WORDS);
    heddle_close(r);
}

/* All four kinds of kernels, one model after another, so that each has two of every kind; HEDDLE_CAE_KERNELS: so
 * many, HEDDLE_EVERY: six. */
START_TEST(memory_is_equal_and_compact_registers_are_true) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    const char *more = getenv("HEDDLE_CAE_KERNELS");
    uint64_t n = more ? strtoull(more, NULL, 10) : test_every() ? KERNELS : FEWER;
    for (uint64_t seed = 1; seed <= n; seed++) {
        char *text = random_kernel(seed, (unsigned)_i);
        random_input(seed, in);
        random_memory("functional", text, in, want, seed);
        random_memory(models[seed % N_MODELS], text, in, got, seed);
        ck_assert_msg(memcmp(got, want, sizeof got) == 0, "seed %llu under %s", (unsigned long long)seed,
                      models[seed % N_MODELS]);
        free(text);
    }
}
END_TEST

SUITE(mechanisms_cae_random) { TEST_LOOP(memory_is_equal_and_compact_registers_are_true, 0, 4); }
