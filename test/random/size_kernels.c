/* Runs random kernels (random_kernel.h) with warps of 4, 8, 16 and 64 lanes, functionally and with timing, under every
 * reconvergence model: memory must equal that of warps of 32 lanes. HEDDLE_RANDOM_KERNELS sets the number of kernels of
 * each kind, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { KERNELS = 4, SIZES = 4, WIDE = 3 };
static const char *const sizes[SIZES] = {"sm.warp_size=4", "sm.warp_size=8", "sm.warp_size=16", "sm.warp_size=64"};
static const char *const machines[] = {"tiny", "fermi", "gt200", "volta-classic", "turing", "fermi-gpgpusim", "pepsc"};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* Only kinds of kernels without warp collectives are tested, because the results of these collectives depend on the
 * number of lanes. Leavers and rich kernels have such collectives. */
static const unsigned kinds[] = {0, RANDOM_CHAINS};

/* Returns a model that can run with warps of 64 lanes, from number `at` of the list on. */
static const char *wide_model(const struct every_model *models, uint64_t at) {
    while (strstr(models->name[at % (uint64_t)models->n], "dac") ||
           strstr(models->name[at % (uint64_t)models->n], "cae"))
        at++;
    return models->name[at % (uint64_t)models->n];
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void run(uint64_t seed, unsigned kind, const char *text, const char *model, const char *machine,
                const char *const *set, uint32_t out[RANDOM_OUT_WORDS]) {
    static uint32_t in[RANDOM_IN_WORDS];
    char err[1024];
    struct heddle_options o = {.model = model, .config = machine, .set = set, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, 4 * RANDOM_OUT_WORDS);
    random_input(seed, in);
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "kind %u seed %llu: %s", kind, (unsigned long long)seed, heddle_error(h));
    heddle_read(h, dout, out, 4 * RANDOM_OUT_WORDS);
    heddle_close(h);
}

START_TEST(memory_is_equal_at_every_size) {
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    const struct every_model *models = mixed_models();
    uint64_t n = from_environment("HEDDLE_RANDOM_KERNELS", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        char *text = random_kernel(seed, kinds[_i]);
        run(seed, kinds[_i], text, "functional", "fermi", NULL, want);
        for (int s = 0; s < SIZES; s++) {
            uint64_t at = seed * SIZES + (uint64_t)s;
            const char *model = s == WIDE ? wide_model(models, seed) : models->name[at % (uint64_t)models->n];
            const char *machine = machines[at % MACHINES];
            const char *const functional[][4] = {{sizes[s], "gpu.jit=off", NULL},
                                                 {sizes[s], "gpu.jit=on", "gpu.jit_after=0", NULL}};
            const char *const timed[] = {sizes[s], "sm.registers=65536", "sm.shared_bytes=49152", "pepsc.registers=0",
                                         NULL};
            for (int k = 0; k < 3; k++) {
                test_case("kind %u, seed %llu, %s in %s on %s, run %d", kinds[_i], (unsigned long long)seed, sizes[s],
                          model, machine, k);
                run(seed, kinds[_i], text, k < 2 ? (seed % 2 && s != WIDE ? "functional+dac" : "functional") : model,
                    k < 2 ? "fermi" : machine, k < 2 ? functional[k] : timed, got);
                for (int i = 0; i < RANDOM_OUT_WORDS; i++)
                    ck_assert_msg(got[i] == want[i], "word %d is 0x%x, not 0x%x", i, got[i], want[i]);
            }
        }
        free(text);
    }
}
END_TEST

SUITE(random_size_kernels) { TEST_LOOP(memory_is_equal_at_every_size, 0, sizeof kinds / sizeof kinds[0]); }
