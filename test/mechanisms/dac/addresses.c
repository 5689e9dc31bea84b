/* Tests compiled kernels with unusual addresses and loops (test/kernels/addresses.cu), from two compilers at three
 * optimisation levels. The decoupled kernel must leave the same memory contents as the kernel that is not decoupled, in
 * the functional model and on SMs, with each base model. HEDDLE_ADDRESSES names another file of these kernels. By
 * default each kernel of a file runs, for each shape of launch, with every fifth model; the next kernel runs with other
 * models. With HEDDLE_EVERY it runs with all models. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

enum { WORDS = 4096, MOST_SETS = 8, STEP = 7 };

static const char *const files[] = {"test/kernels/addresses_o3.ptx", "test/kernels/addresses_o0.ptx",
                                    "test/kernels/addresses_clang.ptx"};
static const char *const kernels[] = {"wide",    "backwards", "modulo",  "bytes",      "vectors", "leavers",
                                      "breaks",  "nested",    "aliases", "neighbours", "block3",  "wraps",
                                      "selects", "by_data",   "shared",  "flags"};
enum { FILES = sizeof files / sizeof files[0], KERNELS = sizeof kernels / sizeof kernels[0] };

/* The block shapes have at most 1024 threads, so that indices like 2048 - thread - n * k are in bounds. Some kernels
 * need powers of two. */
static const struct shape {
    struct heddle_dim grid, block;
    uint32_t n, k;
} shapes[] = {
    {{5, 1, 1}, {96, 1, 1}, 6, 3}, {{3, 2, 1}, {8, 5, 3}, 5, 1},   {{2, 1, 1}, {16, 4, 4}, 7, 2},
    {{7, 1, 1}, {33, 2, 1}, 4, 5}, {{4, 2, 1}, {128, 1, 1}, 1, 4},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Options of the machine, besides the model. */
static const char *const machines[][MOST_SETS] = {
    {"dac.batch=0"},
    {"dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on"},
    {"l1.size=512", "l1.ways=2", "dac.batch=2", "dac.pwaq=200"},
    {"reconv.first=fallthrough", "dac.tuples=8", "gpu.sms=1"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static void run(const char *file, const char *kernel, const struct shape *s, const char *model, const char *const *set,
                uint32_t *out) {
    char err[512];
    static uint32_t in[WORDS];
    struct heddle_options o = {.model = model, .set = set, .cycle_limit = 20000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h, "%s: %s", model, err);
    struct heddle_module *m = heddle_module_file(h, file);
    ck_assert_msg(m, "%s: %.300s", file, heddle_error(h));
    uint64_t rng = 5;
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = (uint32_t)test_random(&rng);
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, sizeof in);
    heddle_write(h, din, in, sizeof in);
    memset(out, 0, sizeof in);
    heddle_write(h, dout, out, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}, {&s->n, 4}, {&s->k, 4}};
    if (heddle_launch(h, m, kernel, s->grid, s->block, 0, args, 4) != HEDDLE_OK)
        ck_abort_msg("%s of %s, %s: %.1500s", kernel, file, model, heddle_error(h));
    heddle_read(h, dout, out, sizeof in);
    heddle_close(h);
}

static void compare(const char *file, const char *kernel, int shape, const char *model, const char *const *set,
                    const uint32_t *want) {
    static uint32_t got[WORDS];
    run(file, kernel, &shapes[shape], model, set, got);
    for (uint32_t i = 0; i < WORDS; i++)
        ck_assert_msg(got[i] == want[i], "%s of %s, shape %d, %s %s: out[%u] is 0x%x, not 0x%x", kernel, file, shape,
                      model, set && set[0] ? set[0] : "", i, got[i], want[i]);
}

/* Returns false if the kernel does not support the block shape: the tree reduction of the kernel `shared` needs a power
 * of two of threads. */
static bool suits(const char *kernel, const struct shape *s) {
    const uint32_t n = s->block.x * s->block.y * s->block.z;
    return strcmp(kernel, "shared") != 0 || !(n & (n - 1));
}

static void check_kernel(const char *file, const char *kernel, uint32_t seed) {
    static uint32_t want[WORDS];
    for (int k = 0; k < SHAPES; k++) {
        if (!suits(kernel, &shapes[k]))
            continue;
        run(file, kernel, &shapes[k], "functional", NULL, want);
        for (int m = 0; m < timed_models()->n; m++, seed++) {
            char model[32], reconv[32];
            if (!test_every() && (seed + (uint32_t)k) % STEP)
                continue;
            const char *const *machine = machines[seed / STEP % MACHINES];
            snprintf(model, sizeof model, "%s+dac", timed_models()->name[m]);
            snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[m]);
            const char *const set[] = {reconv, machine[0], machine[1], machine[2], NULL};
            compare(file, kernel, k, "functional+dac", set, want);
            /* `machine` changes with `seed`, so each kernel runs on all machines in turn */
            if ((seed / STEP / MACHINES + (uint32_t)k) % 2)
                compare(file, kernel, k, model, machine, want);
        }
    }
}

START_TEST(memory_is_equal) {
    const char *given = getenv("HEDDLE_ADDRESSES");
    const char *file = given && *given ? given : files[_i / KERNELS];
    if (!given || _i < KERNELS)
        check_kernel(file, kernels[_i % KERNELS], (uint32_t)_i);
}
END_TEST

SUITE(mechanisms_dac_addresses) { TEST_LOOP(memory_is_equal, 0, FILES * KERNELS); }
