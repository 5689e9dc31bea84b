/* A simulator for tests of whole kernels with timing. */
#pragma once
#include "host/heddle.h"
#include "test/test.h"

static struct heddle *gpu;
static char text[64 * 1024];
#define HEAD   ".version 6.0\n.target sm_70\n.address_size 64\n"
#define DIM(n) ((struct heddle_dim){n, 1, 1})

static inline void open_with(const char *model, const char *config, const char *const *set, uint32_t threads,
                             uint64_t limit) {
    char err[512] = "";
    heddle_close(gpu);
    gpu = heddle_open(
        &(struct heddle_options){
            .model = model, .config = config, .set = set, .threads = threads, .cycle_limit = limit},
        err, sizeof err);
    ck_assert_msg(gpu != NULL, "%s", err);
}

static inline void open_gpu(const char *config) { open_with("spe", config, NULL, 1, 0); }

static inline void setup(void) { gpu = NULL; }
static inline void teardown(void) { heddle_close(gpu); }

/* Runs kernel `k` of the text `ptx` with a buffer of `bytes` bytes. Returns the launch's status. */
static inline enum heddle_status try_run(const char *ptx, uint32_t grid, uint32_t block, uint64_t bytes, void *out) {
    struct heddle_module *m = heddle_module_text(gpu, "t.ptx", ptx, strlen(ptx));
    ck_assert_msg(m != NULL, "%s", heddle_error(gpu));
    uint64_t p = heddle_alloc(gpu, bytes ? bytes : 4);
    const struct heddle_arg args[] = {{&p, 8}};
    enum heddle_status s = heddle_launch(gpu, m, "k", DIM(grid), DIM(block), 0, args, 1);
    if (s == HEDDLE_OK && out)
        ck_assert_int_eq(heddle_read(gpu, p, out, bytes), HEDDLE_OK);
    return s;
}

static inline void run(const char *ptx, uint32_t grid, uint32_t block, uint64_t bytes, void *out) {
    enum heddle_status s = try_run(ptx, grid, block, bytes, out);
    ck_assert_msg(s == HEDDLE_OK, "%s", heddle_error(gpu));
}

static inline double stat(const char *name) { return heddle_stat(gpu, heddle_launches(gpu) - 1, name); }
