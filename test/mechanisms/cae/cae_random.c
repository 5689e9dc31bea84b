/* Tests compact affine execution on random kernels. Memory must be equal to memory after a run without it, and each
 * register must equal its compact form. */
#include "cae_watch.h"
#include "test/every_model.h"
#include "test/random/random_kernel.h"

/* models() returns the number of models: each base model runs with cae, and also with either mta alone or cae and mta.
 * model_in_turn() returns one of these models; consecutive values of `turn` give one model after another. */
static uint64_t models(void) { return 2 * (uint64_t)base_models()->n; }
static const char *model_in_turn(uint64_t turn) {
    uint64_t base = turn % (uint64_t)base_models()->n;
    return bases_with(turn % models() == base ? "+cae" : base % 2 ? "+mta" : "+cae+mta")->name[base];
}

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

/* Runs random kernels of four kinds. Consecutive kernels use one model after another, and each model runs kernels of
 * one kind. With HEDDLE_EVERY each model runs five kernels of each kind. HEDDLE_CAE_KERNELS sets the number of kernels
 * of each kind. */
START_TEST(memory_and_compact_registers_are_right) {
    static uint32_t in[RANDOM_IN_WORDS], want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    const char *more = getenv("HEDDLE_CAE_KERNELS");
    uint64_t n = more ? strtoull(more, NULL, 10) : models() * (test_every() ? 5 : 1);
    for (uint64_t seed = 1; seed <= n; seed++) {
        if (!more && !test_every() && (seed + (uint64_t)_i) % 4)
            continue;
        char *text = random_kernel(seed, (unsigned)_i);
        random_input(seed, in);
        random_memory("functional", text, in, want, seed);
        random_memory(model_in_turn(seed), text, in, got, seed);
        ck_assert_msg(memcmp(got, want, sizeof got) == 0, "seed %llu under %s", (unsigned long long)seed,
                      model_in_turn(seed));
        free(text);
    }
}
END_TEST

SUITE(mechanisms_cae_random) { TEST_LOOP(memory_and_compact_registers_are_right, 0, 4); }
