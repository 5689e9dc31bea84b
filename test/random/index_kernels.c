/* Runs random kernels that compute with indices (random_index.h) with `dac` and without it. Memory must be equal, under
 * every reconvergence model and with any batch size of the affine warp. HEDDLE_RANDOM_KERNELS sets the number of
 * kernels, HEDDLE_RANDOM_SEED the first seed. */
#include "host/heddle.h"
#include "random_index.h"
#include "test/every_model.h"
#include "test/test.h"

enum { KERNELS = 150 };

struct memory {
    uint32_t in[INDEX_IN], out[INDEX_OUT];
};

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void give_up(const struct index_kernel *k, uint64_t seed, const char *model, const char *const *set,
                    const char *what) {
    char path[64], options[256] = "";
    snprintf(path, sizeof path, "build/index-%llu.ptx", (unsigned long long)seed);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(k->text, f);
        fclose(f);
    }
    for (; *set; set++)
        snprintf(options + strlen(options), sizeof options - strlen(options), " -s %s", *set);
    ck_abort_msg("seed %llu, -m %s%s -g %u,%u -b %u,%u,%u: %.1500s (%s)", (unsigned long long)seed, model, options,
                 k->grid.x, k->grid.y, k->block.x, k->block.y, k->block.z, what, path);
}

static void run(const struct index_kernel *k, uint64_t seed, const char *model, const char *const *set,
                struct memory *m) {
    char err[1024];
    const char *all[12] = {"sm.registers=65536", "sm.shared_bytes=16384"};
    int32_t n = INDEX_N, big = INDEX_M;
    for (int i = 0; set[i]; i++)
        all[2 + i] = set[i];
    struct heddle_options o = {.model = model, .config = "tiny", .set = all, .cycle_limit = 50000000};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    if (!h)
        give_up(k, seed, model, set, err);
    struct heddle_module *module = heddle_module_text(h, "affine.ptx", k->text, strlen(k->text));
    if (!module)
        give_up(k, seed, model, set, heddle_error(h));
    uint64_t din = heddle_alloc(h, sizeof m->in), dout = heddle_alloc(h, sizeof m->out);
    memset(m->out, 0x5a, sizeof m->out);
    heddle_write(h, din, m->in, sizeof m->in);
    heddle_write(h, dout, m->out, sizeof m->out);
    struct heddle_arg args[] = {{&dout, 8}, {&din, 8}, {&n, 4}, {&big, 4}};
    if (heddle_launch(h, module, "k", (struct heddle_dim){k->grid.x, k->grid.y, k->grid.z},
                      (struct heddle_dim){k->block.x, k->block.y, k->block.z}, 0, args, 4) != HEDDLE_OK)
        give_up(k, seed, model, set, heddle_error(h));
    heddle_read(h, dout, m->out, sizeof m->out);
    heddle_close(h);
}

static void same(const struct index_kernel *k, uint64_t seed, const char *model, const char *const *set,
                 const struct memory *want, struct memory *got) {
    run(k, seed, model, set, got);
    for (int i = 0; i < INDEX_OUT; i++)
        if (got->out[i] != want->out[i]) {
            char what[100];
            snprintf(what, sizeof what, "word %d is 0x%x, not 0x%x", i, got->out[i], want->out[i]);
            give_up(k, seed, model, set, what);
        }
}

/* By default each kernel runs in every third model, and the next kernels in the other models. */
START_TEST(memory_is_equal) {
    static struct memory want, got;
    static const char *const none[] = {NULL};
    uint64_t n = from_environment("HEDDLE_RANDOM_KERNELS", KERNELS), first = from_environment("HEDDLE_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        struct index_kernel k = random_index_kernel(seed);
        uint64_t rng = seed;
        for (int i = 0; i < INDEX_IN; i++)
            want.in[i] = got.in[i] = (uint32_t)test_random(&rng) >> test_random_below(&rng, 32);
        run(&k, seed, "functional", none, &want);
        for (int m = 0; m < timed_models()->n; m++) {
            char reconv[32], batch[32];
            if (((uint64_t)m + seed) % 3 && !test_every())
                continue;
            const char *set[] = {reconv, batch, seed % 2 ? "dac.shared=on" : "dac.shared=off", NULL};
            snprintf(reconv, sizeof reconv, "reconv=%s", timed_models()->name[m]);
            snprintf(batch, sizeof batch, "dac.batch=%d", (int)(seed + (uint64_t)m) % 4);
            same(&k, seed, "functional+dac", set, &want, &got);
        }
        free(k.text);
    }
}
END_TEST

/* One seed always gives the same text, and another seed gives another text. */
START_TEST(kernels_depend_on_the_seed_only) {
    struct index_kernel a = random_index_kernel(7), b = random_index_kernel(7), c = random_index_kernel(8);
    ck_assert_str_eq(a.text, b.text);
    ck_assert_str_ne(a.text, c.text);
    free(a.text);
    free(b.text);
    free(c.text);
}
END_TEST

SUITE(random_index_kernels) {
    TEST(kernels_depend_on_the_seed_only);
    TEST(memory_is_equal);
}
