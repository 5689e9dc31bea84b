/* Runs random kernels (random_kernel.h) twice: on an SM that uses its fast path (timing/sm/fast_path.h), and with
 * counts per instruction, which disable the fast path. Every statistic must be equal. HEDDLE_RANDOM_KERNELS sets the
 * number of kernels of each kind, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/test.h"
#include <math.h>

enum { KERNELS = 10 };

static const unsigned kinds[] = {0, RANDOM_RICH, RANDOM_LEAVERS, RANDOM_RICH | RANDOM_LEAVERS};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* A kernel runs on one of these machines, with one of the two values of each option; all are drawn at random. */
static const char *const machines[] = {"tiny", "fermi", "gt200", "volta-classic", "fermi-gpgpusim"};
static const char *const options[][2] = {{"reconv.first=taken", "reconv.first=fallthrough"},
                                         {"peer.sm_atomic_wait=off", "peer.sm_atomic_wait=on"},
                                         {"memory.model=full", "memory.model=fixed"},
                                         {"peer.sm_hold_stores=off", "peer.sm_hold_stores=on"}};
enum { N_MACHINES = sizeof machines / sizeof machines[0], N_OPTIONS = sizeof options / sizeof options[0] };

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static struct heddle *run(uint64_t seed, unsigned kind, bool profile) {
    static uint32_t in[RANDOM_IN_WORDS];
    uint64_t rng = seed;
    char err[1024], *text = random_kernel(seed, kind);
    const char *set[N_OPTIONS + 3] = {"sm.registers=65536", "sm.shared_bytes=49152"};
    for (int i = 0; i < N_OPTIONS; i++)
        set[2 + i] = options[i][test_random_below(&rng, 2)];
    struct heddle_options o = {.model = "spe",
                               .config = machines[test_random_below(&rng, N_MACHINES)],
                               .set = set,
                               .cycle_limit = 50000000,
                               .profile = profile};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "seed %llu: %s", (unsigned long long)seed, err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "seed %llu: %s", (unsigned long long)seed, heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, 4 * RANDOM_OUT_WORDS);
    random_input(seed, in);
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    enum heddle_status s = heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                         (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2);
    ck_assert_msg(s == HEDDLE_OK, "kind %u seed %llu: %s", kind, (unsigned long long)seed, heddle_error(h));
    free(text);
    return h;
}

START_TEST(fast_and_general_paths_agree) {
    uint64_t n = from_environment("HEDDLE_RANDOM_KERNELS", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        struct heddle *plain = run(seed, kinds[_i], false), *general = run(seed, kinds[_i], true);
        ck_assert_double_gt(heddle_stat(plain, 0, "gpu.warp_instructions"), 0);
        const char *name;
        for (int i = 0; (name = heddle_stat_name(i, NULL, NULL)) != NULL; i++) {
            double a = heddle_stat(plain, 0, name), b = heddle_stat(general, 0, name);
            if (strncmp(name, "host.", 5) != 0)
                ck_assert_msg(a == b || (isnan(a) && isnan(b)), "kind %u seed %llu: %s is %.17g, not %.17g", kinds[_i],
                              (unsigned long long)seed, name, a, b);
        }
        heddle_close(plain);
        heddle_close(general);
    }
}
END_TEST

SUITE(random_plain_kernels) { TEST_LOOP(fast_and_general_paths_agree, 0, N_KINDS); }
