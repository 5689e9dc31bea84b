/* Runs random kernels (random_kernel.h) under every reconvergence model, functionally and with timing, with random
 * options: memory must equal the interpreter's with SPE. `make check-long` runs all kernels, `make check` a
 * few. HEDDLE_RANDOM_KERNELS sets the number of kernels, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "random_kernel.h"
#include "test/every_model.h"
#include "test/test.h"
#include <unistd.h>

enum { KERNELS = 200, SAMPLED = 15, OPTIONS = 6 };

struct kernel {
    uint64_t seed;
    unsigned kind; /* RANDOM_ bits */
    char *text;
    uint32_t in[RANDOM_IN_WORDS];
    uint32_t want[RANDOM_OUT_WORDS], got[RANDOM_OUT_WORDS];
};

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/* Returns the number of kernels of a kind. `share` is the duration of one such kernel, relative to a plain kernel. */
static uint64_t kernels(uint64_t share) {
    return from_environment("HEDDLE_RANDOM_KERNELS", test_every() ? KERNELS : SAMPLED / share);
}

static const char *const kinds[] = {"plain",
                                    "rich",
                                    "plain with leavers",
                                    "rich with leavers",
                                    "plain with chains",
                                    "rich with chains",
                                    "plain with leavers and chains",
                                    "rich with leavers and chains",
                                    [RANDOM_LADDERS | 1] = "rich with ladders",
                                    [RANDOM_LADDERS | 3] = "rich with leavers and ladders"};

static void give_up(const struct kernel *k, const char *model, const char *const *set, const char *what) {
    char path[64], options[512] = "";
    snprintf(path, sizeof path, "build/random-%u-%llu.ptx", k->kind, (unsigned long long)k->seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(k->text, f);
        fclose(f);
    }
    for (; set && *set; set++) {
        strncat(options, " ", sizeof options - strlen(options) - 1);
        strncat(options, *set, sizeof options - strlen(options) - 1);
    }
    ck_abort_msg("%s seed %llu, model %s%s: %.2000s (%s)", kinds[k->kind], (unsigned long long)k->seed, model, options,
                 what, path);
}

/* Runs a kernel. Returns false if an instruction of the kernel needs more registers than regs.max. */
static bool run(struct kernel *k, const char *model, const char *const *set, uint32_t *out) {
    char err[1024];
    /* an SM must have room for at least one CTA */
    const char *all[40] = {"sm.registers=65536", "sm.shared_bytes=16384"};
    for (int i = 0; set && set[i]; i++)
        all[2 + i] = set[i];
    struct heddle_options o = {.model = model, .config = "tiny", .set = all, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    if (!h)
        give_up(k, model, set, err);
    struct heddle_module *m = heddle_module_text(h, "random.ptx", k->text, strlen(k->text));
    if (!m)
        give_up(k, model, set, heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof k->in), dout = heddle_alloc(h, sizeof k->want);
    heddle_write(h, din, k->in, sizeof k->in);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}};
    if (heddle_launch(h, m, "k", (struct heddle_dim){RANDOM_CTAS, 1, 1}, (struct heddle_dim){RANDOM_THREADS, 1, 1}, 0,
                      args, 2) != HEDDLE_OK) {
        if (!strstr(heddle_error(h), "; regs.max is "))
            give_up(k, model, set, heddle_error(h));
        heddle_close(h);
        return false;
    }
    heddle_read(h, dout, out, sizeof k->want);
    heddle_close(h);
    return true;
}

static bool same(struct kernel *k, const char *model, const char *const *set) {
    if (!run(k, model, set, k->got))
        return false;
    for (int i = 0; i < RANDOM_OUT_WORDS; i++)
        if (k->got[i] != k->want[i]) {
            char what[128];
            snprintf(what, sizeof what, "word %d (thread %d, its word %d) is 0x%x, not 0x%x", i, i / RANDOM_OUT,
                     i % RANDOM_OUT, k->got[i], k->want[i]);
            give_up(k, model, set, what);
        }
    return true;
}

/* Returns n if every n-th kernel also runs with timing. */
static uint64_t timed_one_in(void) { return test_every() ? 10 : 5; }

static void begin(struct kernel *k, uint64_t seed, unsigned kind) {
    k->seed = seed;
    k->kind = kind;
    test_case("%s, seed %llu", kinds[kind], (unsigned long long)seed);
    k->text = random_kernel(seed, kind);
    random_input(seed, k->in);
    run(k, "functional", NULL, k->want);
}

static void in_the_interpreter(struct kernel *k) {
    for (int m = 0; m < timed_models()->n; m++) {
        char reconv[32], batch[32];
        snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[m]);
        snprintf(batch, sizeof batch, "dac.batch=%d", m % RANDOM_CTAS + 1);
        const char *const set[] = {reconv, NULL}, *const decoupled[] = {reconv, batch, "dac.shared=on", NULL};
        /* by default every fourth model, and the next kernels use the other models; with HEDDLE_EVERY all models */
        if (m && (((uint64_t)m + k->seed) % 4 == 1 || test_every()))
            same(k, "functional", set);
        if (k->seed % (uint64_t)timed_models()->n == (uint64_t)m) /* affine_kernels.c tests decoupling more */
            same(k, "functional+dac", decoupled);
    }
}

/* Options that change only timing. A random value of each option is used. */
static const struct {
    const char *model;
    const char *set[8];
} choices[] = {
    {"spe", {"reconv.stack_entries=0", "reconv.stack_entries=1", "reconv.stack_entries=3"}},
    {"dpe", {"reconv.stack_entries=0", "reconv.stack_entries=1", "reconv.stack_entries=2"}},
    {"dpe", {"dpe.forwarding=on", "dpe.forwarding=off"}},
    {"dpe", {"dpe.scheduler=expanded", "dpe.scheduler=constrained"}},
    {"dpe", {"dpe.scoreboard=shadow", "dpe.scoreboard=optimistic"}},
    {"dpe", {"dpe.memory_divergence=on", "dpe.memory_divergence=off"}},
    {"dws", {"dws.threshold=0", "dws.threshold=1", "dws.threshold=10", "dws.threshold=100"}},
    {"dws", {"dws.wst_entries=0", "dws.wst_entries=1", "dws.wst_entries=2", "dws.wst_entries=5"}},
    {"dws", {"dws.memory=off", "dws.memory=branch_bypass", "dws.memory=revive"}},
    {"multipath", {"multipath.entries=0", "multipath.entries=1", "multipath.entries=3"}},
    {"multipath", {"multipath.opportunistic=on", "multipath.opportunistic=off"}},
    {"si", {"si.trigger=any", "si.trigger=half", "si.trigger=all"}},
    {"si", {"si.yield=on", "si.yield=off"}},
    {"si", {"si.yield_after=1", "si.yield_after=3"}},
    {"si", {"si.max_subwarps=1", "si.max_subwarps=2", "si.max_subwarps=4", "si.max_subwarps=6", "si.max_subwarps=32"}},
    {"si", {"si.switch_latency=0", "si.switch_latency=1", "si.switch_latency=11"}},
    {"its", {"its.switch_latency=0", "its.switch_latency=13"}},
    {"si", {"its.switch_latency=0", "its.switch_latency=13"}},
    {"its", {"its.scoreboard=counted", "its.scoreboard=exact"}},
    {"si", {"its.scoreboard=counted", "its.scoreboard=exact"}},
    {"", {"reconv.first=taken", "reconv.first=fallthrough"}},
    {"", {"pepsc.pipeline=off", "pepsc.pipeline=on"}},
    {"", {"memory.model=fixed", "memory.model=full"}},
    {"", {"l1.sectored=off", "l1.sectored=on"}},
    {"", {"l2.sectored=off", "l2.sectored=on"}},
    {"", {"l1.index=linear", "l1.index=xor", "l1.index=fermi"}},
    {"", {"lsu.segments=off", "lsu.segments=on"}},
    {"", {"lsu.split_wide=off", "lsu.split_wide=on"}},
    {"", {"peer.lsu_atomic_lanes=off", "peer.lsu_atomic_lanes=on"}},
    {"", {"peer.lsu_constant_lines=off", "peer.lsu_constant_lines=on"}},
    {"", {"peer.lsu_local_map=warp", "peer.lsu_local_map=word"}},
    {"", {"peer.lsu_local_allocate=off", "peer.lsu_local_allocate=on"}},
    {"", {"peer.sm_atomic_wait=off", "peer.sm_atomic_wait=on"}},
    {"", {"peer.sm_hold_stores=off", "peer.sm_hold_stores=on"}},
};

static void with_options(struct kernel *k, const char *model) {
    uint64_t rng = k->seed ^ (uint64_t)model[0] << 32;
    const char *set[sizeof choices / sizeof choices[0] + 1];
    int n = 0;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        uint32_t spellings = 0;
        while (spellings < 8 && choices[i].set[spellings])
            spellings++;
        if (strncmp(model, choices[i].model, strlen(choices[i].model)) == 0)
            set[n++] = choices[i].set[test_random_below(&rng, spellings)];
    }
    set[n] = NULL;
    same(k, model, set);
}

START_TEST(memory_is_equal_in_every_model) {
    static const char *const with[OPTIONS] = {"spe", "dpe", "dws", "its", "si", "multipath"};
    static struct kernel k;
    uint64_t n = kernels(1), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        begin(&k, seed, (unsigned)_i);
        in_the_interpreter(&k);
        /* tests every second model; the next of these kernels uses the other models */
        for (int m = 0; m < timed_models()->n && seed % timed_one_in() == 0; m++)
            if (test_every() || ((uint64_t)m + seed / timed_one_in()) % 2)
                same(&k, timed_models()->name[m], NULL);
        if (seed % (2 * timed_one_in()) == 7)
            for (int m = 0; m < OPTIONS; m++)
                with_options(&k, with[m]);
        free(k.text);
    }
}
END_TEST

/* Runs a kernel with options of chained FPUs, which are derived from the seed. Over all seeds, every length and all
 * kinds of dual chains occur. */
static void chained(struct kernel *k, const char *model, const char *reconv) {
    static const char *const dual[] = {"chain.dual=off", "chain.dual_min=1", "chain.dual_min=2"};
    char length[32], set_reconv[32];
    snprintf(length, sizeof length, "chain.length=%d", (int)(6 - k->seed % 6));
    snprintf(set_reconv, sizeof set_reconv, "reconv=%s", reconv ? reconv : "spe");
    const char *const set[] = {length, dual[k->seed / 6 % 3], reconv ? set_reconv : NULL, NULL};
    same(k, model, set);
}

/* These functions choose the models in which a random kernel also runs with timing. first_timed() is the first model,
 * and step_timed() is the distance from one model to the next. By default one kernel of timed_one_in() runs with
 * timing, in every fourth model. Consecutive kernels begin at different models, so that after some kernels all models
 * have run. */
static int step_timed(void) { return test_every() ? 1 : 4; }
static int first_timed(uint64_t seed, int kind) {
    return seed % timed_one_in() ? MAX_MODELS
                                 : (int)((seed / timed_one_in() + (uint64_t)kind) % (uint64_t)step_timed());
}

/* Chained operations must be rounded like separate operations, and folded code must give the same results. */
START_TEST(memory_is_equal_with_chains) {
    static const char *const interpreted[] = {"functional+chain+fold", "functional+chain", "functional+fold",
                                              "functional+dac+chain+fold"};
    static const char *const beside[] = {"cae", "mta", "dac"};
    static struct kernel k;
    uint64_t n = kernels(2), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        const struct every_model *models = timed_models();
        begin(&k, seed, RANDOM_CHAINS | (unsigned)_i);
        for (int m = 0; m < 4; m++)
            chained(&k, interpreted[m], models->name[(seed + (uint64_t)m) % (uint64_t)models->n]);
        for (int m = first_timed(seed, _i); m < models->n; m += step_timed()) {
            char model[48];
            snprintf(model, sizeof model, "%s+chain+fold", models->name[m]);
            chained(&k, model, NULL);
            snprintf(model, sizeof model, "%s+chain+fold+%s", models->name[m],
                     beside[(seed / timed_one_in() + (uint64_t)m) % 3]);
            chained(&k, model, NULL);
        }
        free(k.text);
    }
}
END_TEST

/* The instruction for a sum over a warp must add in the order of the shuffles that it replaces, also if some lanes are
 * inactive. */
START_TEST(memory_is_equal_with_reductions) {
    static const char *const interpreted[] = {"functional+reduce", "functional+dac+reduce",
                                              "functional+chain+fold+reduce"};
    static struct kernel k;
    uint64_t n = kernels(2), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        const struct every_model *models = timed_models();
        begin(&k, seed, RANDOM_LADDERS | RANDOM_RICH | (_i ? RANDOM_LEAVERS : 0));
        for (int m = 0; m < 3; m++) {
            char reconv[32];
            snprintf(reconv, sizeof reconv, "reconv=%s", models->name[(seed + (uint64_t)m) % (uint64_t)models->n]);
            same(&k, interpreted[m], (const char *const[]){reconv, NULL});
        }
        for (int m = first_timed(seed, _i); m < models->n; m += step_timed()) {
            char model[48];
            snprintf(model, sizeof model, "%s+%sreduce", models->name[m], seed % 3 ? "" : "dac+");
            same(&k, model, NULL);
        }
        free(k.text);
    }
}
END_TEST

/* With a register limit, registers are spilled to local memory and loaded again. A kernel does not fit if one of its
 * instructions needs more registers than the limit. At least two fifths of the kernels must fit into 24 registers. */
START_TEST(memory_is_equal_with_few_registers) {
    static const char *const interpreted[] = {"functional", "functional+dac", "functional+chain+fold+reduce"};
    static const char *const limits[] = {"regs.max=8", "regs.max=16", "regs.max=24"};
    static struct kernel k;
    uint64_t n = kernels(2), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    uint64_t fit[3] = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        const struct every_model *models = timed_models();
        begin(&k, seed, (unsigned)_i);
        for (int m = 0; m < 3; m++) {
            char reconv[32];
            snprintf(reconv, sizeof reconv, "reconv=%s", models->name[(seed + (uint64_t)m) % (uint64_t)models->n]);
            const char *const set[] = {limits[m], reconv, NULL};
            fit[m] += same(&k, interpreted[seed % 3], set);
        }
        for (int m = first_timed(seed, _i); m < models->n; m += step_timed()) {
            const char *const set[] = {limits[(seed / timed_one_in() + (uint64_t)m) % 3], NULL};
            same(&k, models->name[m], set);
        }
        free(k.text);
    }
    ck_assert_msg(fit[0] <= fit[1] && fit[1] <= fit[2] && fit[2] * 5 >= n * 2, "%d, %d and %d of %d kernels fit",
                  (int)fit[0], (int)fit[1], (int)fit[2], (int)n);
}
END_TEST

/* Seeds of kernels that once gave wrong results or did not end. Causes: convergence barriers of regions that are not
 * nested; a path of DWS that merged with a path that waited for it; lanes that returned from a recursion at different
 * call depths. */
START_TEST(memory_is_equal_for_seeds_that_once_failed) {
    static const struct {
        uint64_t seed;
        bool rich;
    } seeds[] = {{440, false}, {1399, false}, {4855, false}, {6381, false}, {11, true}, {37, true}, {4015, true}};
    static struct kernel k;
    begin(&k, seeds[_i].seed, seeds[_i].rich);
    in_the_interpreter(&k);
    free(k.text);
}
END_TEST

/* One seed always gives the same text, and another seed gives another text. */
START_TEST(kernels_depend_on_the_seed_only) {
    char *a = random_kernel(7, (unsigned)_i), *b = random_kernel(7, (unsigned)_i), *c = random_kernel(8, (unsigned)_i);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    free(a);
    free(b);
    free(c);
}
END_TEST

SUITE(random_kernels) {
    TEST_LOOP(kernels_depend_on_the_seed_only, 0, 8); /* the kinds are all combinations of RICH, LEAVERS and CHAINS */
    TEST_LOOP(memory_is_equal_in_every_model, 0, 4);
    TEST_LOOP(memory_is_equal_with_chains, 0, 4);
    TEST_LOOP(memory_is_equal_with_reductions, 0, 2);
    TEST_LOOP(memory_is_equal_with_few_registers, 0, 8);
    TEST_LOOP(memory_is_equal_for_seeds_that_once_failed, 0, 7);
}
