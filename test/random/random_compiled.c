/* Runs the kernels of test/compiled/loops.cu, compiled by two compilers, on random machines with all of PEPSC's
 * features and with several iteration counts. Memory must equal memory after a run of the interpreter without these
 * features. HEDDLE_RANDOM_COMPILED sets the number of machines for each kernel, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "pepsc_drawn.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { MACHINES = 1, THREADS = 96, CTAS = 2, WORDS = CTAS * THREADS * 64 };

static const char *const files[] = {"test/compiled/loops_nvcc.ptx", "test/compiled/loops_nvcc_o1.ptx",
                                    "test/compiled/loops_clang.ptx"};
static const char *const kernels[] = {"recurrence",    "trips",   "nested", "early",    "alias",   "overlap",
                                      "predicated",    "doubles", "twoway", "switched", "stencil", "figure8",
                                      "shared_values", "sides",   "clamp",  "hash",     "special", "ladder",
                                      "serial",        "down",    "halves", "blockwide"};
enum { N_FILES = 3, N_KERNELS = sizeof kernels / sizeof kernels[0] };
static const int iterations[] = {0, 1, 2, 7, 20, 61};
enum { N_ITERATIONS = 6 };

struct machine {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t out, in;
};

static struct machine begin(const char *file, const char *config, const char *model, const char *const *set,
                            const char *what) {
    char err[1024] = "";
    struct machine x = {
        .h = heddle_open(
            &(struct heddle_options){.model = model, .config = config, .set = set, .cycle_limit = 200000000}, err,
            sizeof err)};
    ck_assert_msg(x.h != NULL, "%s: %s", what, err);
    x.m = heddle_module_file(x.h, file);
    ck_assert_msg(x.m != NULL, "%s: %s", what, heddle_error(x.h));
    x.out = heddle_alloc(x.h, WORDS * 4);
    x.in = heddle_alloc(x.h, WORDS * 4);
    return x;
}

static bool run(const struct machine *x, const char *kernel, int n, const char *what, uint32_t *out) {
    static float in[WORDS];
    for (int i = 0; i < WORDS; i++) {
        in[i] = (float)(i * 37 % 211) * 0.031f - 3;
        float before = (float)(i % 53) * 0.11f;
        memcpy(&out[i], &before, 4);
    }
    heddle_write(x->h, x->in, in, sizeof in);
    heddle_write(x->h, x->out, out, WORDS * 4);
    struct heddle_arg args[] = {{&x->out, 8}, {&x->in, 8}, {&n, 4}};
    if (heddle_launch(x->h, x->m, kernel, (struct heddle_dim){CTAS, 1, 1}, (struct heddle_dim){THREADS, 1, 1}, 0, args,
                      3) != HEDDLE_OK) {
        ck_assert_msg(drawn_too_few(heddle_error(x->h)), "%s: %.1000s", what, heddle_error(x->h));
        return false;
    }
    heddle_read(x->h, x->out, out, WORDS * 4);
    return true;
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/* Runs each kernel of a file on each machine of `machines`, with two iteration counts on each. Consecutive machines use
 * different counts of the list, so that all counts occur. */
START_TEST(memory_equals_the_interpreters) {
    static uint32_t want[WORDS], got[WORDS];
    const char *file = files[_i];
    struct machine plain = begin(file, "fermi", "functional", NULL, file);
    uint64_t n = from_environment("HEDDLE_RANDOM_COMPILED", MACHINES),
             first = from_environment("HEDDLE_RANDOM_SEED", 1);
    double loops = 0, chains = 0, sums = 0;
    for (uint64_t seed = first; seed < first + n; seed++)
        for (int k = 0; k < N_KERNELS; k++) {
            char what[2048];
            struct drawn d = draw_pepsc((seed * N_KERNELS + (uint64_t)k) * N_FILES + (uint64_t)_i);
            int at = snprintf(what, sizeof what, "%s: %s, seed %llu, ", file, kernels[k], (unsigned long long)seed);
            drawn_text(&d, what + at, sizeof what - (size_t)at);
            struct machine x = begin(file, d.config, d.model, d.set, what);
            for (int i = 0; i < 2; i++) {
                int count = iterations[(seed * 2 + (uint64_t)(k + i * 3)) % N_ITERATIONS];
                run(&plain, kernels[k], count, file, want);
                bool fits = run(&x, kernels[k], count, what, got);
                for (int w = 0; fits && w < WORDS; w++)
                    EXPECT(got[w] == want[w], "%s, n = %d: word %d of thread %d is 0x%x, not 0x%x", what, count, w % 64,
                           w / 64, got[w], want[w]);
                if (fits) {
                    loops += heddle_stat(x.h, 0, "pipeline.loops") > 0;
                    chains += heddle_stat(x.h, 0, "chain.instructions");
                    sums += heddle_stat(x.h, 0, "reduce.instructions");
                }
            }
            heddle_close(x.h);
        }
    heddle_close(plain.h);
    /* the loops of the second file are not unrolled, so the extension `reduce` finds no sums in them */
    ck_assert_msg(loops > 0 && chains > 0 && (sums > 0 || _i), "%.0f loops, %.0f chains, %.0f sums", loops, chains,
                  sums);
}
END_TEST

SUITE(random_compiled) { TEST_LOOP(memory_equals_the_interpreters, 0, N_FILES); }
