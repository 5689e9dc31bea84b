/* Runs random kernels with affine addresses and predicates (affine_kernel.h) with DAC and without it. Memory must be
 * equal, under every reconvergence model and with batches of any size. HEDDLE_AFFINE_KERNELS sets the number of
 * kernels, HEDDLE_RANDOM_SEED the first seed. */
#include "affine_kernel.h"
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

enum { KERNELS = 150 };

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void give_up(const struct affine_kernel *k, uint64_t seed, const char *set, const char *what) {
    char path[64];
    snprintf(path, sizeof path, "build/affine-%llu.ptx", (unsigned long long)seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(k->text, f);
        fclose(f);
    }
    ck_abort_msg("seed %llu %s: %.2000s (%s)", (unsigned long long)seed, set, what, path);
}

static void run(const struct affine_kernel *k, uint64_t seed, const char *model, const char *const *set,
                const char *name, uint32_t *out) {
    char err[1024];
    static uint32_t in[AFFINE_IN_WORDS];
    struct heddle_options o = {.model = model, .set = set, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    if (!h)
        give_up(k, seed, name, err);
    struct heddle_module *m = heddle_module_text(h, "affine.ptx", k->text, strlen(k->text));
    if (!m)
        give_up(k, seed, name, heddle_error(h));
    for (uint32_t i = 0; i < AFFINE_IN_WORDS; i++)
        in[i] = i * 2654435761u;
    uint64_t din = heddle_alloc(h, sizeof in), bytes = 4ull * AFFINE_SLICE * k->threads, dout = heddle_alloc(h, bytes);
    uint64_t middle = din + sizeof in / 2;
    heddle_write(h, din, in, sizeof in);
    struct heddle_arg args[] = {{&dout, 8}, {&middle, 8}, {&k->n, 4}, {&k->stride, 4}, {&k->far, 8}};
    if (heddle_launch(h, m, "k", (struct heddle_dim){k->grid[0], k->grid[1], k->grid[2]},
                      (struct heddle_dim){k->block[0], k->block[1], k->block[2]}, 0, args, 5) != HEDDLE_OK)
        give_up(k, seed, name, heddle_error(h));
    heddle_read(h, dout, out, bytes);
    heddle_close(h);
}

static void decoupled(const struct affine_kernel *k, uint64_t seed, int model, const uint32_t *want) {
    static uint32_t got[AFFINE_MAX_THREADS * AFFINE_SLICE];
    char reconv[32], batch[32], first[32], name[128], what[128];
    snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[model]);
    snprintf(batch, sizeof batch, "dac.batch=%d", (int)((seed + (uint64_t)model) % 4));
    snprintf(first, sizeof first, "reconv.first=%s", (seed + (uint64_t)model) % 3 ? "taken" : "fallthrough");
    const char *const set[] = {reconv, batch, first, seed % 2 ? "dac.shared=on" : "dac.shared=off", NULL};
    snprintf(name, sizeof name, "%s %s %s %s", reconv, batch, first, set[3]);
    run(k, seed, "functional+dac", set, name, got);
    for (uint32_t i = 0; i < k->threads * AFFINE_SLICE; i++)
        if (got[i] != want[i]) {
            snprintf(what, sizeof what, "thread %u, its word %u is 0x%x, not 0x%x", i / AFFINE_SLICE, i % AFFINE_SLICE,
                     got[i], want[i]);
            give_up(k, seed, name, what);
        }
}

/* By default each kernel runs in every second model, and the next kernel in the other models. */
START_TEST(memory_is_equal) {
    static uint32_t want[AFFINE_MAX_THREADS * AFFINE_SLICE];
    uint64_t n = from_environment("HEDDLE_AFFINE_KERNELS", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first + (uint64_t)_i; seed < first + n; seed += 5) {
        struct affine_kernel k = affine_kernel(seed);
        run(&k, seed, "functional", NULL, "whole", want);
        for (int m = test_every() ? 0 : (int)(seed % 2); m < timed_models()->n; m += test_every() ? 1 : 2)
            decoupled(&k, seed, m, want);
        free(k.text);
    }
}
END_TEST

SUITE(affine_kernels) { TEST_LOOP(memory_is_equal, 0, 5); }
