/* Runs random kernels (random_kernel.h) on the modern core (timing/sm/modern.h) in every model with timing: half of
 * them without control bits, half with control bits drawn at random. Memory must equal that of the functional model,
 * and polling must change no statistic. HEDDLE_RANDOM_KERNELS sets the number of kernels of each model,
 * HEDDLE_RANDOM_SEED the first seed. */
#include "host/context.h"
#include "isa/control_bits.h"
#include "isa/program.h"
#include "random_kernel.h"
#include "test/every_model.h"
#include "test/test.h"
#include "timing/sm/stages.h"
#include <math.h>

enum { MOST_CODE = 4096 };
static const unsigned kinds[] = {0, RANDOM_RICH, RANDOM_LEAVERS, RANDOM_RICH | RANDOM_LEAVERS};
enum { RANDOM_KINDS = sizeof kinds / sizeof kinds[0] };
static struct control_bits bits[MOST_CODE];
static uint64_t draw; /* 0: no control bits */

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}

static struct control_bits drawn(uint64_t *rng) {
    struct control_bits c = CONTROL_NONE;
    c.stall = (uint8_t)test_random_below(rng, 8);
    c.yields = test_random_below(rng, 4) == 0;
    c.raise_read = (uint8_t)test_random_below(rng, 12);
    c.raise_write = (uint8_t)test_random_below(rng, 12);
    c.wait = (uint8_t)(test_random_below(rng, 3) ? 0 : test_random_below(rng, 64));
    c.limit_counter = (uint8_t)test_random_below(rng, 24);
    c.limit = (uint8_t)test_random_below(rng, 3);
    c.reuse = (uint8_t)test_random_below(rng, 8);
    c.uniform = test_random_below(rng, 2);
    for (int i = 0; i < CONTROL_OPERANDS; i++) {
        c.read[i] = (uint8_t)test_random_below(rng, 8);
        c.read_words[i] = (uint8_t)test_random_below(rng, 5);
    }
    c.write = (uint8_t)test_random_below(rng, 8);
    c.write_words = (uint8_t)test_random_below(rng, 5);
    if (test_random_below(rng, 10) == 0)
        c.constant = test_random_below(rng, 256);
    return c;
}

/* Gives the program its control bits. Every SM calls it; the bits depend only on `draw`. */
static bool launch(void *u, struct sm *sm, uint64_t now) {
    struct program *p = (struct program *)(uintptr_t)sm->program->program;
    uint64_t rng = draw;
    (void)u, (void)now;
    ck_assert_uint_le(p->n, MOST_CODE);
    for (uint32_t i = 0; draw && i < p->n; i++) {
        bits[i] = drawn(&rng);
        sm->program->inst[i].limits = timed_limits_of(&bits[i]);
    }
    p->control = draw ? bits : NULL;
    return true;
}
static const struct sm_unit_ops unit = {.name = "bits", .make = make, .launch = launch};

static struct heddle *run(uint64_t seed, const char *text, const char *model, const char *const *set,
                          uint32_t out[RANDOM_OUT_WORDS]) {
    static uint32_t in[RANDOM_IN_WORDS];
    char err[1024];
    int dummy;
    const struct sm_unit_row row = {&unit, &dummy};
    const bool timed = strncmp(model, "functional", 10) != 0;
    const struct heddle_options o = {
        .model = model, .config = timed ? "ampere" : "fermi", .set = set, .cycle_limit = 50000000, .threads = 1};
    struct heddle *h = context_open(
        &o, &(struct context_parts){.models = &model_tables, .units = &row, .n_units = timed}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof in), dout = heddle_alloc(h, 4 * RANDOM_OUT_WORDS);
    random_input(seed, in);
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1},
                                (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0, args, 2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_read(h, dout, out, 4 * RANDOM_OUT_WORDS);
    return h;
}

static void same_statistics(const struct heddle *a, const struct heddle *b) {
    const char *name;
    for (int i = 0; (name = heddle_stat_name(i, NULL, NULL)) != NULL; i++) {
        double x = heddle_stat(a, 0, name), y = heddle_stat(b, 0, name);
        if (strncmp(name, "host.", 5) != 0)
            ck_assert_msg(x == y || (isnan(x) && isnan(y)), "%s is %.17g polled, not %.17g", name, y, x);
    }
}

START_TEST(memory_is_equal_on_the_modern_core) {
    static const char *const sms[] = {"gpu.sms=2", NULL}, *const polls[] = {"gpu.sms=2", "gpu.poll=on", NULL};
    static uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
    const char *kernels = getenv("HEDDLE_RANDOM_KERNELS"), *first = getenv("HEDDLE_RANDOM_SEED");
    const uint64_t n = kernels ? strtoull(kernels, NULL, 10) : 1, from = first ? strtoull(first, NULL, 10) : 1;
    const struct every_model *models = mixed_models();
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t seed = from + i * (uint64_t)models->n + (uint64_t)_i;
        const char *model = models->name[_i];
        const unsigned kind = kinds[seed % RANDOM_KINDS];
        char *text = random_kernel(seed, kind);
        draw = (seed + i) % 2 ? seed : 0;
        test_case("kind %u, seed %llu, in %s, %s control bits", kind, (unsigned long long)seed, model,
                  draw ? "random" : "no");
        heddle_close(run(seed, text, "functional", NULL, want));
        struct heddle *plain = run(seed, text, model, sms, got);
        for (int k = 0; k < RANDOM_OUT_WORDS; k++)
            ck_assert_msg(got[k] == want[k], "word %d is 0x%x, not 0x%x", k, got[k], want[k]);
        if (seed % 4 == 0) {
            struct heddle *polled = run(seed, text, model, polls, got);
            same_statistics(plain, polled);
            heddle_close(polled);
        }
        heddle_close(plain);
        free(text);
    }
}
END_TEST

SUITE(random_modern_kernels) { TEST_LOOP(memory_is_equal_on_the_modern_core, 0, mixed_models()->n); }
