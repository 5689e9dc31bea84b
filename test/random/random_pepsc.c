/* Runs random kernels on the PEPSC core and on two GPUs, with all of PEPSC's features, and with options from the ends
 * of their ranges. Memory must equal memory after a run of the interpreter without these features. HEDDLE_RANDOM_PEPSC
 * sets the number of kernels of each kind, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "pepsc_drawn.h"
#include "random_kernel.h"
#include "test/test.h"
#include <stdio.h>

enum { KERNELS = 15 };

struct outcome {
    uint32_t out[RANDOM_OUT_WORDS];
    double chains, reductions;
};

/* Runs a kernel. Returns false if an instruction needs more registers than the limit that was drawn. */
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
        ck_assert_msg(drawn_too_few(why), "%s: %.1000s", what, why);
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

START_TEST(memory_equals_the_interpreters) {
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
        struct drawn d = draw_pepsc(seed * 16 + kinds[_i]);
        int at = snprintf(what, sizeof what, "kind %u seed %llu, ", kinds[_i], (unsigned long long)seed);
        drawn_text(&d, what + at, sizeof what - (size_t)at);
        bool fits = run(text, in, d.config, d.model, d.set, what, &got);
        for (int i = 0; fits && i < RANDOM_OUT_WORDS; i++)
            EXPECT(got.out[i] == want.out[i], "%s: word %d of thread %d is 0x%x, not 0x%x", what, i % RANDOM_OUT,
                   i / RANDOM_OUT, got.out[i], want.out[i]);
        chains += fits ? got.chains : 0;
        reductions += fits ? got.reductions : 0;
        fit += fits;
        free(text);
    }
    /* Some kernels do not fit into the register limit that was drawn: recursive kernels are not spilled, and about half
     * of the rich kernels need more than 16 or 24 registers. So only a fifth of the rich kernels must fit, but half of
     * the others. */
    ck_assert_msg(fit * (kinds[_i] & RANDOM_RICH ? 5 : 2) > n, "%d of %d kernels fit", (int)fit, (int)n);
    /* If threads exit early, only few sums over a warp are in code that all of its lanes reach, so there may be no
     * reduction. */
    bool found = kinds[_i] & RANDOM_CHAINS ? chains > 0 : reductions > 0 || kinds[_i] & RANDOM_LEAVERS;
    ck_assert_msg(found, "nothing was found in %d kernels", (int)n);
}
END_TEST

SUITE(random_pepsc) { TEST_LOOP(memory_equals_the_interpreters, 0, 5); }
