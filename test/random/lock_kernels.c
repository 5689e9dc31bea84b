/* Runs random kernels with spin locks inside warps (random_kernel.h). Such a kernel ends if the threads of a warp make
 * progress independently: with convergence barriers, or in the functional model, whose stack then rotates among the
 * paths. All runs must leave equal memory. HEDDLE_RANDOM_KERNELS sets the number of kernels, HEDDLE_RANDOM_SEED the
 * first seed. */
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/test.h"

enum { KERNELS = 6 };

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void run(uint64_t seed, unsigned kind, const char *model, const char *machine, const char *option,
                uint32_t out[RANDOM_OUT_WORDS]) {
    static uint32_t in[RANDOM_IN_WORDS];
    char err[1024], *text = random_kernel(seed, kind);
    const char *set[] = {"sm.registers=65536", "sm.shared_bytes=49152", option, NULL};
    struct heddle_options o = {.model = model, .config = machine, .set = set, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "kind %u seed %llu: %s", kind, (unsigned long long)seed, heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, 4 * RANDOM_OUT_WORDS);
    random_input(seed, in);
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                         (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "kind %u seed %llu, %s on %s %s: %.1500s", kind, (unsigned long long)seed, model,
                  machine, option ? option : "", heddle_error(h));
    heddle_read(h, dout, out, 4 * RANDOM_OUT_WORDS);
    heddle_close(h);
    free(text);
}

/* Ways to run a kernel in which the threads of a warp make progress independently. In the functional model, the preset
 * must have gpu.capability 7 or higher for this, so fermi is not used. */
static const struct {
    const char *model, *machine, *option;
} ways[] = {
    {"its", "tiny", NULL},           {"si", "turing", "si.yield=on"},
    {"si", "fermi", "si.yield=off"}, {"its", "volta-classic", "reconv.first=fallthrough"},
    {"its", "gt200", NULL},          {"functional", "turing", "reconv.first=fallthrough"},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

/* By default each kernel runs in one of these ways, and successive kernels use successive ways. */
START_TEST(kernels_with_locks_end_alike) {
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    uint64_t n = from_environment("HEDDLE_RANDOM_KERNELS", test_every() ? KERNELS : KERNELS / 2),
             first = from_environment("HEDDLE_RANDOM_SEED", 1);
    unsigned kind = RANDOM_LOCKS | (_i ? RANDOM_LEAVERS : 0);
    for (uint64_t seed = first; seed < first + n; seed++) {
        run(seed, kind, "functional", "tiny", "gpu.capability=7", want);
        for (uint64_t w = 0; w < N_WAYS; w++) {
            if (!test_every() && (seed + w + (uint64_t)_i * KERNELS / 2) % N_WAYS)
                continue;
            /* with the smallest tables (TINY=1), threads that poll a lock and yield do not finish within the cycle
             * limit */
            if (LEAST_TABLES && ways[w].option && strcmp(ways[w].option, "si.yield=on") == 0)
                continue;
            run(seed, kind, ways[w].model, ways[w].machine, ways[w].option, got);
            for (int i = 0; i < RANDOM_OUT_WORDS; i++)
                ck_assert_msg(got[i] == want[i], "kind %u seed %llu, %s on %s: word %d is 0x%x, not 0x%x", kind,
                              (unsigned long long)seed, ways[w].model, ways[w].machine, i, got[i], want[i]);
        }
    }
}
END_TEST

SUITE(random_lock_kernels) { TEST_LOOP(kernels_with_locks_end_alike, 0, 2); }
