/* Tests every option at the edges of its range, and random combinations of many options. A run must end with the right
 * memory contents, or be refused with a message. Environment variables:
 * - HEDDLE_WALK=all tests every value with every model and preset
 * - HEDDLE_TUPLES=N tests N combinations in each part; HEDDLE_SEED=N draws other combinations
 * - WALK_SAY=1 prints the messages of refused runs */
#include "test/every_model.h"
#include "test/test.h"
#include "walk.h"
#include <math.h>
#include <stdio.h>

enum { PARTS = 8, ENDS = 2 };

/* Runs the kernel with one option. The machine has fewer SMs than the presets, which shortens the run. */
static const char *one(const char *model, const char *config, const char *assignment) {
    const char *few = strncmp(assignment, "gpu.sms=", 8) == 0 ? NULL : "gpu.sms=2";
    return walk_run(model, config, (const char *const[]){assignment, few, NULL});
}

static int bad;
static void note(const char *wrong) {
    if (!wrong)
        return;
    fprintf(stderr, "%s\n", wrong);
    bad++;
}

/* Returns the model with which an option is tested. An option of an extension is tested in a model with this
 * extension. */
static const char *model_for(const struct opt *o, int turn) {
    static const char *const own[] = {"cae.", "mta.", "pipe.affine.", "energy.cae", "energy.mta"};
    const int bases = base_models()->n;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strncmp(o->key, own[i], strlen(own[i])) == 0)
            return bases_with("+cae+mta")->name[turn % bases];
    static const char *const strides[] = {"+ddp", "+stride", "+dac+ddp"};
    if (strncmp(o->key, "ddp.", 4) == 0 || strncmp(o->key, "stride.", 7) == 0 ||
        strncmp(o->key, "energy.stride", 13) == 0)
        return bases_with(strides[turn / bases % 3])->name[turn % bases];
    if (strncmp(o->key, "dac.", 4) == 0)
        return bases_with("+dac")->name[turn % bases];
    int n = timed_models()->n + 1; /* turns 0 to n - 2 use the timed models; turn n - 1 uses the model cae+mta */
    return turn % n == n - 1 ? "cae+mta" : timed_models()->name[turn % n];
}

START_TEST(every_option_at_the_edges_of_its_range) {
    bool all = getenv("HEDDLE_WALK") != NULL || test_every();
    const struct opt *options = config_options();
    walk_begin();
    int n = 0;
    while (options[n].key)
        n++;
    for (int i = _i; i < n; i += PARTS) {
        char value[64], assignment[128];
        for (int v = 0; walk_value(&options[i], v, value, sizeof value); v++) {
            /* unless all values are tested, tests both ends of the range and a tenth of the other values */
            if (v >= ENDS && (v + i / PARTS) % 10 && !all)
                continue;
            snprintf(assignment, sizeof assignment, "%s=%s", options[i].key, value);
            int turn = i / PARTS * 5 + v;
            for (int k = 0; k < (all ? timed_models()->n * WALK_CONFIGS : 1); k++, turn += all)
                note(one(model_for(&options[i], turn),
                         walk_configs[turn / (all ? timed_models()->n : 1) % WALK_CONFIGS], assignment));
        }
    }
    ck_assert_int_eq(bad, 0);
    ck_assert_int_gt(walk_counts().ended, walk_counts().runs / 2);
}
END_TEST

/* Writes a random value: an edge of the range, a power of two, or a number with a random number of digits. */
static void random_value(const struct opt *o, uint64_t *seed, char *out, size_t size) {
    uint64_t r = test_random(seed), how = r % 4;
    double span = o->max - o->min;
    if (how == 0 || (o->kind != OPT_KIND_U32 && o->kind != OPT_KIND_DOUBLE)) {
        for (int n = (int)((r >> 8) % 14); !walk_value(o, n, out, size); n = n ? n / 2 : 0) {
        }
        return;
    }
    double v =
        how == 1 ? o->min + floor(exp2((double)(r >> 40) / (1 << 24) * log2(span + 1))) : exp2((double)(r >> 8 & 31));
    snprintf(out, size, "%.0f", v < o->min ? o->min : v > o->max ? o->max : v);
}

static void random_tuple(uint64_t *seed, int n_options) {
    enum { MOST = 6 };
    char text[MOST][128];
    const char *set[MOST + 2] = {"gpu.sms=2"};
    int n = 2 + (int)(test_random(seed) % (MOST - 1));
    for (int k = 0; k < n; k++) {
        const struct opt *o = &config_options()[test_random(seed) % (unsigned)n_options];
        char value[64];
        random_value(o, seed, value, sizeof value);
        snprintf(text[k], sizeof text[k], "%s=%s", o->key, value);
        set[k + 1] = text[k];
    }
    uint64_t r = test_random(seed);
    note(
        walk_run(timed_models()->name[r % timed_models()->n], walk_configs[r / timed_models()->n % WALK_CONFIGS], set));
}

/* Combinations of values that are inside their ranges, but that once did not work together. */
START_TEST(values_that_meet) {
    static const char *const sets[][4] = {
        {"dram.bus_bytes=16", "dram.burst=64"},      /* bytes of a burst: 1024 */
        {"dram.bus_bytes=256", "dram.burst=64"},     /* 16 kB */
        {"dram.bus_bytes=3", "dram.burst=7"},        /* a burst has 3 * 7 = 21 bytes, so a sector needs two bursts */
        {"dram.bus_bytes=1", "dram.burst=1"},        /* 256 bursts a line */
        {"shared.banks=33", "shared.bank_bytes=16"}, /* no power of two */
        {"memory.model=fixed", "memory.latency=100000", "deadlock.cycles=10000"},
        {"clock.core_mhz=100000", "clock.dram_mhz=1", "deadlock.cycles=10000"},
        {"sched.policy=two_level", "sched.active_warps=1"},
    };
    walk_begin();
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const char *set[6] = {"gpu.sms=2"};
        for (int k = 0; k < 4; k++)
            set[k + 1] = sets[i][k];
        /* each combination runs with every fourth model only */
        for (int m = 0; m < timed_models()->n; m += test_every() ? 1 : 4)
            note(walk_run(timed_models()->name[(m + (int)i) % timed_models()->n], "fermi", set));
    }
    /* the timeout for a line's lock is longer than the time for which an SM may be idle */
    note(walk_run("spe+dac", "tiny", (const char *const[]){"dac.lock_timeout=1000000", "gpu.sms=2", NULL}));
    ck_assert_int_eq(bad, 0);
    ck_assert_int_eq(walk_counts().ended, walk_counts().runs);
}
END_TEST

START_TEST(many_options_together) {
    const char *rounds = getenv("HEDDLE_TUPLES"), *first = getenv("HEDDLE_SEED");
    uint64_t seed = (first ? strtoull(first, NULL, 0) : 1) * 1000 + (uint64_t)_i;
    int n = 0;
    while (config_options()[n].key)
        n++;
    walk_begin();
    for (int i = rounds ? atoi(rounds) : test_every() ? 25 : 6; i > 0; i--)
        random_tuple(&seed, n);
    ck_assert_int_eq(bad, 0);
    ck_assert_int_gt(walk_counts().ended, walk_counts().runs / 4);
}
END_TEST

SUITE(timing_options) {
    tcase_set_timeout(tc, 100000);
    TEST(values_that_meet);
    TEST_LOOP(many_options_together, 0, PARTS);
    TEST_LOOP(every_option_at_the_edges_of_its_range, 0, PARTS);
}
