/* Runs the kernels of test/kernels/reductions.cu under every reconvergence model. The sums must equal the sums that the
 * host computes. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"

enum { BLOCKS = 3, VALUES = 5000 };
/* Returns the number of configurations: the functional model and all timing models. */
static int n_models(void) { return 1 + timed_models()->n; }
static const char *model(int m) { return m ? timed_models()->name[m - 1] : "functional"; }

static const struct {
    const char *name;
    uint32_t block;
    bool real;
} kernels[] = {{"ballot_256", 256, false}, {"ballot_64", 64, false},  {"ballot_16", 16, false},
               {"ballot_256f", 256, true}, {"tiles_128", 256, false}, {"tiles_64", 256, false},
               {"tiles_16", 256, false},   {"together", 256, false}};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* Returns input value i, which is small enough that sums of floats are exact. */
static int value(uint32_t i) { return (int)(i % 37) - 11; }

static int sum_of(uint32_t block, uint32_t threads) {
    int sum = 0;
    for (uint32_t i = 0; i < VALUES; i++)
        if (i / threads % BLOCKS == block)
            sum += value(i);
    return sum;
}

START_TEST(sums) {
    static uint32_t in[VALUES];
    char err[512] = "";
    uint32_t out[BLOCKS], n = VALUES;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model(_i / N_KERNELS)}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, "test/kernels/reductions.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const char *kernel = kernels[_i % N_KERNELS].name;
    uint32_t threads = kernels[_i % N_KERNELS].block;
    for (uint32_t i = 0; i < VALUES; i++) {
        float f = (float)value(i);
        in[i] = (uint32_t)value(i);
        if (kernels[_i % N_KERNELS].real)
            memcpy(&in[i], &f, 4);
    }
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, sizeof out);
    ck_assert_int_eq(heddle_write(h, from, in, sizeof in), HEDDLE_OK);
    const struct heddle_arg args[] = {{&from, 8}, {&to, 8}, {&n, 4}};
    const struct heddle_dim grid = {BLOCKS, 1, 1}, block = {threads, 1, 1};
    ck_assert_msg(heddle_launch(h, m, kernel, grid, block, 0, args, 3) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, to, out, sizeof out), HEDDLE_OK);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        float f;
        memcpy(&f, &out[b], 4);
        int got = kernels[_i % N_KERNELS].real ? (int)f : (int)out[b];
        ck_assert_msg(got == sum_of(b, threads), "%s, %s: block %u has %d, not %d", model(_i / N_KERNELS), kernel, b,
                      got, sum_of(b, threads));
    }
    heddle_close(h);
}
END_TEST

SUITE(host_reductions) { TEST_LOOP(sums, 0, n_models() * N_KERNELS); }
