/* Tests random kernels on SMs with an affine warp. Memory must be equal to memory after a run of the interpreter, with
 * each base model, with queues of one entry, with an L1 that locks few or no lines, and with each preset.
 * HEDDLE_DAC_KERNELS sets the number of kernels of each type, and HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/random/affine_kernel.h"
#include "test/random/random_index.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { KERNELS = 14, SAMPLED = 10, MOST_WORDS = AFFINE_MAX_THREADS * AFFINE_SLICE, MOST_SETS = 8 };

/* Options of the machines. A name without '=' is a preset. The kernels store parts of addresses, so buffers must have
 * the same addresses on all machines. */
static const char *const variants[][MOST_SETS] = {
    {"fermi"},
    {"fermi", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.batch=1"},
    {"fermi", "l1.size=1024", "l1.ways=2", "dac.pwaq=1024"},
    {"fermi", "l1.size=512", "l1.ways=1"},
    {"fermi", "l1.size=0", "dac.atq=2"},
    {"fermi", "memory.perfect=true", "dac.pwpq=1"},
    {"fermi", "memory.perfect_l1=true", "dac.pwaq=1"},
    {"fermi", "memory.model=fixed", "memory.latency=20", "dac.batch=2"},
    {"fermi", "lsu.prefetch_queue=1", "l1.mshrs=2", "dac.atq=3"},
    {"fermi", "dac.shared=on", "dac.atq=1", "dac.pwaq=100"},
    {"fermi-gpgpusim", "peer.memory_placement=apart"},
    {"gt200"},
    {"pepsc", "sm.warps=8", "sm.registers=16384", "pepsc.registers=0"},
    {"turing"},
    {"turing-rtx2060", "dac.shared=on"},
    {"fermi", "dac.tuples=9"},
    {"turing", "dac.tuples=16", "dac.atq=2", "dac.pwpq=1"},
    {"volta-classic", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
    {"fermi", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on", "l1.size=512", "l1.ways=2"},
    {"fermi", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "lsu.prefetch_queue=1", "l1.mshrs=1"},
    {"fermi-gpgpusim", "peer.memory_placement=apart", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1",
     "dac.lock_timeout=1000000"},
    {"gt200", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on", "sm.registers=32768"},
    {"pepsc", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on", "pepsc.registers=0"},
    {"tiny", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on", "sm.registers=16384"},
    {"fermi", "dac.pwaq=96", "dac.pwpq=1", "l1.line=64", "lsu.line=64"},
    {"fermi", "dac.atq=1", "dac.pwaq=1024", "dac.pwpq=1", "lsu.line=32"},
    {"turing", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.shared=on"},
    {"turing-rtx2060", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1", "dac.batch=1"},
    {"volta-classic", "dac.shared=on", "dac.pwaq=65"},
    {"fermi", "dac.contexts=4", "dac.batch=1"},
    {"fermi", "dac.contexts=4", "dac.batch=1", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
    {"fermi", "dac.contexts=2", "gpu.sms=1", "sm.ctas=2", "dac.atq=2", "dac.shared=on"},
    {"fermi", "dac.contexts=3", "gpu.sms=1", "sm.ctas=3", "dac.atq=1", "dac.pwpq=1", "l1.size=512"},
    {"turing", "dac.contexts=4", "gpu.sms=1", "dac.batch=1", "dac.atq=3", "dac.pwaq=1"},
    {"volta-classic", "dac.contexts=2", "gpu.sms=1", "dac.batch=1", "dac.atq=1", "dac.pwaq=1", "dac.pwpq=1"},
    {"fermi", "dac.contexts=4", "gpu.sms=1", "dac.batch=1", "sm.running_warps=2", "dac.atq=1"},
    {"gt200", "dac.contexts=3", "gpu.sms=1", "dac.batch=2", "sm.registers=32768", "dac.atq=1"},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* A kernel and its launch. Only the first `words` words of `out` are compared. */
struct work {
    char *text;
    struct heddle_dim grid, block;
    uint32_t words, in_words;
    uint32_t in[1 << 16], n, m;
    int n_args;
    uint64_t din_offset, far;
};

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

enum { AFFINE, INDEX, GENERAL, RICH, KINDS };

static struct work *make(int kind, uint64_t seed) {
    struct work *w = calloc(1, sizeof *w);
    uint64_t rng = seed;
    if (!w)
        abort();
    w->in_words = 1 << 16;
    for (uint32_t i = 0; i < w->in_words; i++)
        w->in[i] = (uint32_t)test_random(&rng) >> test_random_below(&rng, 32);
    if (kind == AFFINE) {
        struct affine_kernel k = affine_kernel(seed);
        w->text = k.text;
        w->grid = (struct heddle_dim){k.grid[0], k.grid[1], k.grid[2]};
        w->block = (struct heddle_dim){k.block[0], k.block[1], k.block[2]};
        w->words = AFFINE_SLICE * k.threads;
        w->n_args = 5;
        w->n = k.n;
        w->m = (uint32_t)k.stride;
        w->far = k.far;
        w->din_offset = sizeof w->in / 2;
    } else if (kind == INDEX) {
        struct index_kernel k = random_index_kernel(seed);
        w->text = k.text;
        w->grid = (struct heddle_dim){k.grid.x, k.grid.y, k.grid.z};
        w->block = (struct heddle_dim){k.block.x, k.block.y, k.block.z};
        w->words = INDEX_OUT;
        w->n_args = 4;
        w->n = INDEX_N;
        w->m = (uint32_t)INDEX_M;
    } else {
        w->text = random_kernel(seed, kind == RICH ? RANDOM_RICH | RANDOM_LEAVERS : 0);
        w->grid = (struct heddle_dim){RANDOM_CTAS, 1, 1};
        w->block = (struct heddle_dim){RANDOM_THREADS, 1, 1};
        w->words = RANDOM_OUT_WORDS;
        w->n_args = 2;
        random_input(seed, w->in);
    }
    return w;
}

static void give_up(const struct work *w, const char *name, const char *what) {
    char path[64];
    snprintf(path, sizeof path, "build/dac-%d.ptx", (int)getpid());
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(w->text, f);
        fclose(f);
    }
    ck_abort_msg("%s: %.1500s (%s)", name, what, path);
}

/* Runs the kernel. If `figures` is not NULL, copies the statistics of the launch to it. */
static void run(const struct work *w, const char *name, const struct heddle_options *with, uint32_t *out,
                double *figures) {
    char err[1024];
    struct heddle_options o = *with;
    o.cycle_limit = 20000000;
    struct heddle *h = heddle_open(&o, err, sizeof err);
    if (!h)
        give_up(w, name, err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", w->text, strlen(w->text));
    if (!m)
        give_up(w, name, heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof w->in), dout = heddle_alloc(h, 4ull * w->words);
    uint64_t at = din + w->din_offset;
    heddle_write(h, din, w->in, sizeof w->in);
    struct heddle_arg args[] = {{&dout, 8}, {&at, 8}, {&w->n, 4}, {&w->m, 4}, {&w->far, 8}};
    if (heddle_launch(h, m, heddle_kernel(m, 0), w->grid, w->block, 0, args, w->n_args) != HEDDLE_OK)
        give_up(w, name, heddle_error(h));
    heddle_read(h, dout, out, 4ull * w->words);
    int n;
    const struct stat_def *d = stat_defs(&n);
    for (int i = 0; figures && i < n; i++)
        figures[i] = strncmp(d[i].name, "host.", 5) == 0 ? 0 : heddle_stat(h, 0, d[i].name);
    heddle_close(h);
}

/* A model on a variant of the machine. The options of the test come before the options of the variant. */
struct machine {
    char model[32], name[256];
    const char *set[MOST_SETS + 4];
    struct heddle_options o;
};

static void machine(struct machine *m, uint64_t seed, int base, int variant, const char *more) {
    int n = 0;
    *m = (struct machine){0};
    snprintf(m->model, sizeof m->model, "%s+dac", timed_models()->name[base]);
    snprintf(m->name, sizeof m->name, "seed %llu, -m %s -c %s", (unsigned long long)seed, m->model,
             variants[variant][0]);
    if (more)
        m->set[n++] = more;
    for (int i = 1; i < MOST_SETS && variants[variant][i]; i++) {
        m->set[n++] = variants[variant][i];
        snprintf(m->name + strlen(m->name), sizeof m->name - strlen(m->name), " -s %s", variants[variant][i]);
    }
    m->o = (struct heddle_options){.model = m->model, .config = variants[variant][0], .set = m->set};
}

static void same_memory(const struct work *w, const struct machine *m, const uint32_t *want, const uint32_t *got) {
    for (uint32_t i = 0; i < w->words; i++)
        if (got[i] != want[i]) {
            char what[100];
            snprintf(what, sizeof what, "word %u is 0x%x, not 0x%x", i, got[i], want[i]);
            give_up(w, m->name, what);
        }
}

/* Runs random kernels. Each kernel runs with several base models, and each of these runs uses one variant of the
 * machine. By default fewer kernels run, each with every fifth model. With HEDDLE_EVERY, each pair of model and variant
 * occurs. */
START_TEST(memory_is_equal) {
    static uint32_t want[MOST_WORDS], got[MOST_WORDS];
    uint64_t n = from_environment("HEDDLE_DAC_KERNELS", test_every() ? KERNELS : SAMPLED),
             first = from_environment("HEDDLE_RANDOM_SEED", 1);
    const int kind = _i;
    for (uint64_t k = 0; k <= n; k++) {
        /* seed 217 once failed under dws, where the last path of a warp waited for a full queue */
        const uint64_t seed = k < n ? first + k : 217;
        struct work *w = make(kind, seed);
        run(w, "functional", &(struct heddle_options){.model = "functional"}, want, NULL);
        for (int b = 0; b < timed_models()->n; b++) {
            struct machine m;
            if (((uint64_t)b + seed) % 5 &&
                !test_every()) /* by default every fifth model; the next kernels use the other models */
                continue;
            machine(&m, seed, b, (int)((seed * 5 + (uint64_t)b * 3 + (uint64_t)kind) % VARIANTS), NULL);
            run(w, m.name, &m.o, got, NULL);
            same_memory(w, &m, want, got);
        }
        free(w->text);
        free(w);
    }
}
END_TEST

/* Statistics must not depend on polling or on the number of host threads. */
START_TEST(statistics_do_not_depend_on_polling_and_threads) {
    static uint32_t got[MOST_WORDS];
    static double was[1024], is[1024];
    int n_stats;
    const struct stat_def *d = stat_defs(&n_stats);
    ck_assert_int_le(n_stats, 1024);
    for (uint64_t seed = 100; seed < 104; seed++) {
        struct work *w = make(_i, seed);
        for (int b = (int)seed % (test_every() ? 2 : 4); b < timed_models()->n; b += test_every() ? 2 : 4) {
            struct machine m;
            int variant = (int)((seed * 7 + (uint64_t)b + (uint64_t)_i * 3) % VARIANTS);
            for (uint32_t how = 0; how < 3; how++) {
                machine(&m, seed, b, variant, how == 1 ? "gpu.poll=true" : "gpu.poll=false");
                m.o.threads = how == 2 ? 2 : 1;
                run(w, m.name, &m.o, got, how ? is : was);
                for (int i = 0; how && i < n_stats; i++)
                    if (is[i] != was[i] && !(isnan(is[i]) && isnan(was[i]))) {
                        char what[200];
                        snprintf(what, sizeof what, "%s is %g, not %g, %s", d[i].name, is[i], was[i],
                                 how == 1 ? "polling" : "by two threads");
                        give_up(w, m.name, what);
                    }
            }
        }
        free(w->text);
        free(w);
    }
}
END_TEST

SUITE(mechanisms_dac_random) {
    TEST_LOOP(memory_is_equal, 0, KINDS);
    TEST_LOOP(statistics_do_not_depend_on_polling_and_threads, 0, KINDS - 1);
}
