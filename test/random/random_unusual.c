/* Runs unusual kernels (test/kernels/unusual_*.cu), compiled by two compilers, on random machines with all features of
 * DAC and PEPSC and with extreme options. Memory must equal memory after a run of the interpreter without these
 * features. `make check` alternates between the two compilers, `make check-long` tests both. HEDDLE_RANDOM_UNUSUAL sets
 * the number of machines for each kernel, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "pepsc_drawn.h"
#include "test/every_model.h"
#include "test/random.h"
#include "test/test.h"
#include <stdio.h>

enum { IN = 65536, OUT = 16384, MOST_KERNELS = 32, RUNS = 2 };

static const struct {
    const char *name;
    const char *kernel[MOST_KERNELS];
} files[] = {
    {"places", {"rows2d",     "gridstride", "backward", "wrap32",    "wrap31",    "narrow",   "equals",
                "minmax",     "ctabases",   "tuples",   "onebyone",  "manyloads", "pairs",    "smallstores",
                "predicates", "constants",  "packed",   "alias",     "wide64",    "lastlane", "scaled",
                "accumulate", "swapped",    "zigzag",   "unsigneds", "lookup",    "doubled",  "overlaps"}},
    {"paths", {"byvalue", "returns",   "divloops", "jumps",  "tables",     "recursive", "indirect", "calls",
               "locals",  "between",   "twice",    "sparse", "queens",     "escapes",   "selfcall", "vtable",
               "guarded", "someleave", "early",    "ring",   "w128_named", "counts"}},
    {"sums",
     {"hillis",       "bitonic", "turned",  "trees",    "ladders",  "twosums", "chains", "sides",     "special",
      "recurrences",  "chase",   "column",  "matmul",   "stencil3", "tiles",   "waves",  "warp_scan", "warp_trees",
      "warp_partial", "serials", "figure8", "sidesint", "chainmix", "trips",   "inplace"}},
};
enum { FILES = sizeof files / sizeof files[0] };

/* Launch shapes with CTAs of at most 1024 threads. The shapes with whole warps come first, since kernels that shuffle
 * among all lanes of a warp need them. */
static const struct shape {
    struct heddle_dim grid, block;
} shapes[] = {{{2, 1, 1}, {256, 1, 1}}, {{1, 1, 2}, {16, 4, 4}}, {{2, 2, 1}, {128, 1, 1}}, {{3, 1, 1}, {96, 1, 1}},
              {{2, 1, 1}, {1, 64, 1}},  {{5, 1, 1}, {31, 1, 1}}, {{2, 2, 1}, {33, 2, 1}},  {{2, 1, 2}, {7, 5, 3}},
              {{1, 2, 2}, {2, 3, 20}},  {{7, 1, 1}, {1, 1, 1}},  {{2, 1, 1}, {5, 1, 50}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The inputs of a launch. */
struct given {
    const struct shape *shape;
    int n, k;
    uint64_t seed; /* seed from which the test draws the contents of memory */
};

static bool suits(const char *kernel, const struct shape *s) {
    const uint32_t threads = s->block.x * s->block.y * s->block.z;
    if (strncmp(kernel, "warp_", 5) == 0 || strcmp(kernel, "ladders") == 0 || strcmp(kernel, "twosums") == 0)
        return threads % 32 == 0;
    return strncmp(kernel, "w128_", 5) != 0 || threads % 128 == 0;
}

static struct given draw(uint64_t *rng, const char *kernel) {
    static const int iterations[] = {0, 1, 2, 3, 5, 6, 9, 12};
    struct given g = {.n = iterations[test_random_below(rng, 8)], .k = 1 + (int)test_random_below(rng, 5)};
    do
        g.shape = &shapes[test_random_below(rng, SHAPES)];
    while (!suits(kernel, g.shape));
    g.seed = test_random(rng);
    return g;
}

/* Runs a kernel. Returns false if the machine has too few registers for an instruction. */
static bool run(const char *file, const char *kernel, const struct given *g, const struct heddle_options *o,
                const char *what, uint32_t *out) {
    static uint32_t in[IN];
    static float fi[IN];
    char err[1024] = "";
    struct heddle *h = heddle_open(o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s: %s", what, err);
    struct heddle_module *m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s: %s", what, heddle_error(h));
    uint64_t rng = g->seed, din = heddle_alloc(h, sizeof in), dfi = heddle_alloc(h, sizeof fi),
             dout = heddle_alloc(h, OUT * 4), dfo = heddle_alloc(h, OUT * 4);
    for (int i = 0; i < IN; i++) {
        in[i] = (uint32_t)test_random(&rng);
        fi[i] = (float)(int)test_random_below(&rng, 4001) * 0.001f - 2;
    }
    for (uint32_t i = 0; i < 2 * OUT; i++)
        out[i] = i * 7;
    heddle_write(h, din, in, sizeof in);
    heddle_write(h, dfi, fi, sizeof fi);
    heddle_write(h, dout, out, OUT * 4);
    heddle_write(h, dfo, out + OUT, OUT * 4);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}, {&dfo, 8}, {&dfi, 8}, {&g->n, 4}, {&g->k, 4}};
    bool done = heddle_launch(h, m, kernel, g->shape->grid, g->shape->block, 0, args, 6) == HEDDLE_OK;
    ck_assert_msg(done || drawn_too_few(heddle_error(h)), "%s: %.1500s", what, heddle_error(h));
    heddle_read(h, dout, out, OUT * 4);
    heddle_read(h, dfo, out + OUT, OUT * 4);
    heddle_close(h);
    return done;
}

static void compare(const char *file, const char *kernel, uint64_t seed) {
    static uint32_t want[2 * OUT], got[2 * OUT];
    static const char *const strict[] = {"gpu.jit=false", "gpu.order=strict", NULL};
    uint64_t rng = seed;
    char what[2048];
    struct given g = draw(&rng, kernel);
    struct drawn d = draw_pepsc(seed);
    char reconv[40];
    snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[seed % (uint64_t)timed_models()->n]);
    const char *const streams[] = {reconv, "dac.shared=on", "chain.length=3", "pepsc.pipeline=on", NULL};
    const struct heddle_options plain = {.model = "functional", .set = strict, .cycle_limit = 100000000},
                                ways[RUNS] = {{.model = d.model, .config = d.config, .set = d.set},
                                              {.model = "functional+dac+chain+fold+reduce", .set = streams}};
    run(file, kernel, &g, &plain, file, want);
    for (int r = 0; r < RUNS; r++) {
        int at = snprintf(what, sizeof what, "%s: %s, n %d, k %d, block (%u,%u,%u), seed %llu, ", file, kernel, g.n,
                          g.k, g.shape->block.x, g.shape->block.y, g.shape->block.z, (unsigned long long)seed);
        if (r == 0)
            drawn_text(&d, what + at, sizeof what - (size_t)at);
        else
            snprintf(what + at, sizeof what - (size_t)at, "%s, %s", ways[r].model, reconv);
        bool fits = run(file, kernel, &g, &ways[r], what, got);
        for (int i = 0; fits && i < 2 * OUT; i++)
            EXPECT(got[i] == want[i], "%s: word %d is 0x%x, not 0x%x", what, i, got[i], want[i]);
    }
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

START_TEST(memory_equals_the_interpreters) {
    static const char *const compilers[] = {"nvcc", "clang"};
    const uint64_t first = from_environment("HEDDLE_RANDOM_SEED", 1), n = from_environment("HEDDLE_RANDOM_UNUSUAL", 1);
    for (uint64_t seed = first; seed < first + n; seed++)
        for (uint64_t k = 0; k < MOST_KERNELS && files[_i].kernel[k]; k++)
            for (uint64_t c = 0; c < 2; c++) {
                char file[64];
                snprintf(file, sizeof file, "test/kernels/unusual_%s_%s.ptx", files[_i].name, compilers[c]);
                if (test_every() || (seed + k) % 2 == c)
                    compare(file, files[_i].kernel[k], ((seed * FILES + (uint64_t)_i) * MOST_KERNELS + k) * 2 + c);
            }
}
END_TEST

SUITE(random_unusual) { TEST_LOOP(memory_equals_the_interpreters, 0, FILES); }
