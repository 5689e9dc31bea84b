/* Kernels at random on the core and on two GPUs with all that PEPSC adds, options drawn from the ends of their ranges:
 * memory must be that which the interpreter leaves without any of it. HEDDLE_RANDOM_PEPSC sets how many there are of
 * each kind, HEDDLE_RANDOM_SEED the first one's seed. */
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { KERNELS = 15, MOST_SET = 40 };

struct drawn {
    uint64_t rng;
    const char *config;
    char model[80];
    const char *set[MOST_SET];
    int n;
};

static const char *const configs[] = {"pepsc", "gt200", "fermi", "pepsc-8", "pepsc-64", "pepsc"};
static const char *const beside[] = {"", "+stride", "+ddp", "+dac", "+cae", "+ddp+dac", "+stride+cae", "+mta"};

/* What may change when things happen, and nothing else; beside the ends of a range what is usual. Those of an extension
 * are for models with it. */
static const struct {
    const char *extension, *set[5];
} choices[] = {
    {"", {"sm.in_turn=0", "sm.in_turn=1", "sm.in_turn=2", "sm.in_turn=128"}},
    {"", {"sm.turn_words=1", "sm.turn_words=64"}},
    {"", {"regs.max=0", "regs.max=24", "regs.max=255"}},
    {"", {"pepsc.registers=0", "pepsc.registers=16", "pepsc.registers=256"}},
    {"", {"pepsc.pipeline=on", "pepsc.pipeline=on", "pepsc.pipeline=off"}},
    {"", {"pepsc.pipeline_load=1", "pepsc.pipeline_load=20", "pepsc.pipeline_load=1000"}},
    {"", {"pepsc.pipeline_stages=2", "pepsc.pipeline_stages=4", "pepsc.pipeline_stages=8"}},
    {"", {"reduce.latency=0", "reduce.latency=1", "reduce.latency=1000"}},
    {"", {"chain.length=1", "chain.length=2", "chain.length=5", "chain.length=6"}},
    {"", {"chain.dual=off", "chain.dual=on"}},
    {"", {"chain.dual_min=1", "chain.dual_min=2"}},
    {"", {"chain.latency1=0", "chain.latency1=1", "chain.latency1=1000"}},
    {"", {"chain.latency2=0", "chain.latency2=1", "chain.latency2=1000"}},
    {"", {"chain.latency5=0", "chain.latency5=1", "chain.latency5=1000"}},
    {"+stride", {"stride.table=1", "stride.table=64", "stride.table=65536"}},
    {"+stride", {"stride.ways=1", "stride.ways=4", "stride.ways=64"}},
    {"+stride", {"stride.train=1", "stride.train=2", "stride.train=100"}},
    {"+stride", {"stride.queue=1", "stride.queue=32", "stride.queue=256"}},
    {"+stride", {"stride.level=l1", "stride.level=l2"}},
    {"+ddp", {"ddp.table=1", "ddp.table=64", "ddp.table=65536"}},
    {"+ddp", {"ddp.ways=1", "ddp.ways=4", "ddp.ways=64"}},
    {"+ddp", {"ddp.train=1", "ddp.train=2", "ddp.train=100"}},
    {"+ddp", {"ddp.queue=1", "ddp.queue=32", "ddp.queue=256"}},
    {"+ddp", {"ddp.level=l1", "ddp.level=l2"}},
    {"+ddp", {"ddp.max_degree=1", "ddp.max_degree=32", "ddp.max_degree=64"}},
    {"+ddp", {"ddp.grow_by_prefetches=off", "ddp.grow_by_prefetches=on"}},
};
enum { N_CHOICES = sizeof choices / sizeof choices[0] };

static struct drawn draw(uint64_t seed, unsigned kind) {
    struct drawn d = {.rng = seed * 31 + kind, .config = configs[(seed + kind) % 6]};
    const struct every_model *models = timed_models();
    const char *with = beside[test_random_below(&d.rng, 8)];
    snprintf(d.model, sizeof d.model, "%s+chain+fold+reduce%s", models->name[seed % (uint64_t)models->n], with);
    d.set[d.n++] = "gpu.sms=1";
    d.set[d.n++] = "sm.registers=65536"; /* room for a CTA */
    d.set[d.n++] = "sm.shared_bytes=16384";
    for (size_t i = 0; i < N_CHOICES; i++) {
        uint32_t spellings = 0;
        while (spellings < 5 && choices[i].set[spellings])
            spellings++;
        const char *one = choices[i].set[test_random_below(&d.rng, spellings)];
        if (strstr(with, choices[i].extension))
            d.set[d.n++] = one;
    }
    return d;
}

struct outcome {
    uint32_t out[RANDOM_OUT_WORDS];
    double chains, reductions;
};

/* False: an instruction needs more registers than the limit that was drawn leaves. */
static bool run(const char *text, const uint32_t *in, const char *config, const char *model, const char *const *set,
                const char *what, struct outcome *o) {
    char err[1024];
    struct heddle *h = heddle_open(
        &(struct heddle_options){.model = model, .config = config, .set = set, .cycle_limit = 200000000}, err, 1024);
    ck_assert_msg(h != NULL, "%s: %s", what, err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s: %s", what, heddle_error(h));
    uint64_t din = heddle_alloc(h, RANDOM_IN_WORDS * 4), dout = heddle_alloc(h, sizeof o->out);
    heddle_write(h, din, in, RANDOM_IN_WORDS * 4);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    if (heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1}, (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0,
                      args, 2) != HEDDLE_OK) {
        const char *why = heddle_error(h);
        bool few = strstr(why, "; regs.max is 24, raise it") || strstr(why, "; pepsc.registers is 16, raise it");
        ck_assert_msg(few, "%s: %.1000s", what, why);
        heddle_close(h);
        return false;
    }
    heddle_read(h, dout, o->out, sizeof o->out);
    o->chains = heddle_stat(h, 0, "chain.instructions");
    o->reductions = heddle_stat(h, 0, "reduce.instructions") + heddle_stat(h, 0, "reduce.fallbacks");
    heddle_close(h);
    return true;
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void name(char *what, size_t size, const struct drawn *d, uint64_t seed, unsigned kind) {
    int n = snprintf(what, size, "kind %u seed %llu, -c %s -m %s", kind, (unsigned long long)seed, d->config, d->model);
    for (int i = 0; i < d->n && n > 0 && n < (int)size; i++)
        n += snprintf(what + n, size - (size_t)n, " -s %s", d->set[i]);
}

START_TEST(memory_is_that_of_the_interpreter) {
    static const unsigned kinds[] = {RANDOM_CHAINS, RANDOM_CHAINS | RANDOM_RICH, RANDOM_CHAINS | RANDOM_LEAVERS,
                                     RANDOM_LADDERS | RANDOM_RICH, RANDOM_LADDERS | RANDOM_RICH | RANDOM_LEAVERS};
    static struct outcome want, got;
    static uint32_t in[RANDOM_IN_WORDS];
    uint64_t n = from_environment("HEDDLE_RANDOM_PEPSC", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    double chains = 0, reductions = 0;
    uint64_t fit = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        char what[2048], *text = random_kernel(seed, kinds[_i]);
        random_input(seed, in);
        run(text, in, "fermi", "functional", NULL, "plain", &want);
        struct drawn d = draw(seed, kinds[_i]);
        name(what, sizeof what, &d, seed, kinds[_i]);
        bool fits = run(text, in, d.config, d.model, d.set, what, &got);
        for (int i = 0; fits && i < RANDOM_OUT_WORDS; i++)
            EXPECT(got.out[i] == want.out[i], "%s: word %d of thread %d is 0x%x, not 0x%x", what, i % RANDOM_OUT,
                   i / RANDOM_OUT, got.out[i], want.out[i]);
        chains += fits ? got.chains : 0;
        reductions += fits ? got.reductions : 0;
        fit += fits;
        free(text);
    }
    ck_assert_msg(fit * 2 > n, "%d of %d kernels fit", (int)fit, (int)n);
    /* where threads leave, few ladders are left that all lanes of a warp come to */
    bool found = kinds[_i] & RANDOM_CHAINS ? chains > 0 : reductions > 0 || kinds[_i] & RANDOM_LEAVERS;
    ck_assert_msg(found, "nothing was found in %d kernels", (int)n);
}
END_TEST

SUITE(random_pepsc) { TEST_LOOP(memory_is_that_of_the_interpreter, 0, 5); }
