/* Tests gpu_warm_code(): after a launch without time, the instruction caches have the kernel's code. */
#include "frontend/frontend.h"
#include "test/test.h"
#include "timing/gpu.h"
#include <stdio.h>

enum { ADDITIONS = 100 };

static char text[64 * ADDITIONS];
static struct program *program;
static struct memory memory;
static struct config config;

/* Straight code without an access to memory, so only instruction caches make a difference between launches. */
static void setup(void) {
    struct diags d;
    struct lower_options opt = {0};
    char err[256];
    int at = snprintf(text, sizeof text,
                      ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %%r<3>;\n"
                      " mov.u32 %%r1,%%tid.x; mov.u32 %%r2,%%r1;\n");
    for (int i = 0; i < ADDITIONS; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " add.u32 %%r1,%%r1,%%r2;\n");
    snprintf(text + at, sizeof text - (size_t)at, " ret;\n}\n");
    diags_init(&d, "t.ptx", text, strlen(text));
    struct module *m = ptx_parse(&d);
    struct image *img = frontend_image(m);
    program = frontend_lower(img, "k", &opt);
    ck_assert_ptr_nonnull(program);
    frontend_image_free(img);
    ptx_free(m);
    diags_free(&d);
    mem_init(&memory, 0);
    ck_assert(config_load(&config, "fermi", err, sizeof err));
}

static void teardown(void) {
    mem_free_all(&memory);
    program_free(program);
}

static struct launch launch_of(uint32_t ctas) {
    return (struct launch){.program = program, .memory = &memory, .grid = {ctas, 1, 1}, .block = {32, 1, 1}};
}

/* Returns the cycles of a launch, and its misses of L1 instruction caches in *misses. */
static double cycles(struct gpu *g, uint32_t ctas, double *misses) {
    struct launch l = launch_of(ctas);
    struct stats s;
    struct fault f = {0};
    ck_assert(stats_init(&s));
    ck_assert(gpu_run(g, &l, &s, &f));
    const double n = stats_get(&s, "gpu.cycles");
    *misses = stats_get(&s, "fetch.misses");
    stats_free(&s);
    return n;
}

static struct gpu *new_gpu(void) {
    struct gpu *g = gpu_new(&config, &(struct gpu_options){.model = &reconv_spe, .threads = 1});
    ck_assert_ptr_nonnull(g);
    return g;
}

/* A second launch finds its code in the L1 of each SM. So does a first launch after gpu_warm_code(). Two CTAs warm two
 * SMs: the third CTA of a larger launch still misses, unless three CTAs have warmed their SMs. Code of 103 instructions
 * of 8 bytes has 7 lines of 128 bytes. */
START_TEST(warm_code_is_as_fast_as_code_that_has_run) {
    double misses;
    struct gpu *g = new_gpu();
    const double cold = cycles(g, 2, &misses), again = cycles(g, 2, &misses);
    ck_assert_double_lt(again, cold);
    ck_assert_double_eq(misses, 0);
    gpu_free(g);
    for (uint32_t warm = 2; warm <= 3; warm++) {
        struct launch l = launch_of(warm);
        g = new_gpu();
        ck_assert(gpu_warm_code(g, &l));
        ck_assert_double_eq(cycles(g, 2, &misses), again);
        ck_assert_double_eq(misses, 0);
        cycles(g, 3, &misses);
        ck_assert_double_eq(misses, warm == 2 ? 7 : 0);
        gpu_free(g);
    }
}
END_TEST

SUITE(timing_warm_code) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(warm_code_is_as_fast_as_code_that_has_run);
}
