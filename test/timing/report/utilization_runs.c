/* Tests the utilisation of whole kernels: operations counted by hand, and sums that hold for every kernel. */
#include "benchmarks/bench.h"
#include "host/heddle.h"
#include "isa/program.h"
#include "test/test.h"
#include "timing/report/utilization.h"
#include <math.h>
#include <stdio.h>

/* ---- whole runs ---- */

static struct heddle *open_run(const char *model, const char *config) {
    char err[512] = "";
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .config = config}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s %s: %s", model, config, err);
    return h;
}

static void check_sum(const struct heddle *h, int launch, const char *what) {
    double peak = heddle_stat(h, launch, "util.peak_flops"), sum = heddle_stat(h, launch, "util.flops");
    static const char *const lost[] = {"util.lost_datapath", "util.lost_memory", "util.lost_serialization"};
    for (int i = 0; i < 3; i++) {
        double v = heddle_stat(h, launch, lost[i]);
        ck_assert_msg(v >= 0 && v == floor(v), "%s, launch %d: %s is %g", what, launch, lost[i], v);
        sum += v;
    }
    ck_assert_double_gt(peak, 0);
    ck_assert_msg(sum == peak, "%s, launch %d: %g of %g", what, launch, sum, peak);
    ck_assert_double_le(heddle_stat(h, launch, "util.lost_no_flops"), heddle_stat(h, launch, "util.lost_datapath"));
    ck_assert_double_le(heddle_stat(h, launch, "util.lost_no_warp"), heddle_stat(h, launch, "util.lost_serialization"));
}

/* Lanes 0 to 19 execute sub, mul and fma, which are 4 operations per lane, and 5 lanes execute an add. Minimum,
 * negation, division and square root do not count as operations. So there are 20 x 4 + 5 operations in every model. */
static const char body[] = ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
                           ".reg .pred %p1; .reg .b32 %r1; .reg .b64 %d1; .reg .f32 %f<20>;\n"
                           "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %d1, %r1, 4, %d1;\n"
                           "ld.global.f32 %f1, [%d1];\nsetp.lt.u32 %p1, %r1, 5;\nmov.f32 %f2, 0f40490FDB;\n"
                           "sub.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f1;\nfma.rn.f32 %f4, %f3, %f1, %f2;\n"
                           "@%p1 add.f32 %f4, %f4, %f1;\nmin.f32 %f5, %f4, %f2;\nneg.f32 %f5, %f5;\n"
                           "div.rn.f32 %f5, %f5, %f2;\nsqrt.rn.f32 %f5, %f5;\nst.global.f32 [%d1], %f5;\nret;\n}\n";

START_TEST(operations_of_a_kernel) {
    static const struct {
        const char *model, *config;
        double rate; /* peak operations per cycle of all sp pipes of all SMs */
    } runs[] = {{"spe", "tiny", 2 * 64},
                {"dpe", "gt200", 30 * 16},
                {"spe+chain", "gt200", 30 * 40},
                {"si", "turing", 2 * 128},
                {"spe+chain+fold", "tiny", 2 * 160}};
    struct heddle *h = open_run(runs[_i].model, runs[_i].config);
    struct heddle_module *m = heddle_module_text(h, "u.ptx", body, strlen(body));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 128);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){20, 1, 1}, 0, &arg, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_double_eq(heddle_stat(h, 0, "util.flops"), 20 * 4 + 5);
    ck_assert_double_eq(heddle_stat(h, 0, "util.peak_flops"), heddle_stat(h, 0, "gpu.cycles") * runs[_i].rate);
    check_sum(h, 0, runs[_i].model);
    heddle_close(h);
}
END_TEST

/* To save time, each of the first eight machines runs one of the three programs. With HEDDLE_EVERY, each machine
 * runs all three. */
START_TEST(sums_of_the_benchmarks) {
    static const char *const programs[] = {"vecadd", "hotspot", "reduction"};
    static const struct {
        const char *model, *config;
    } machines[] = {{"spe", "fermi"},
                    {"dpe", "gt200"},
                    {"dws50", "volta-classic"},
                    {"its+chain+fold", "gt200"},
                    {"si", "turing"},
                    {"spe+dac", "fermi"},
                    {"spe+cae+mta", "fermi"},
                    {"spe+chain+ddp", "volta-classic"},
                    {"spe", "gt200"},
                    {"spe+chain", "gt200"},
                    {"spe+chain+fold+reduce", "gt200"},
                    {"spe+chain+fold+reduce+ddp", "gt200"}};
    if (_i < 24 && _i % 3 != _i / 3 % 3 && !test_every())
        return;
    /* each of the last four machines adds one feature of PEPSC; these machines run only the program mc */
    int k = _i < 24 ? _i / 3 : _i - 16;
    const char *program = _i < 24 ? programs[_i % 3] : "mc", *model = machines[k].model;
    const struct bench *b = bench_find(program);
    char err[512] = "", path[4096];
    struct heddle *h = open_run(model, machines[k].config);
    ck_assert_ptr_nonnull(bench_kernel_path(b->ptx, path, sizeof path));
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_int_eq(b->run(h, m, BENCH_SMALL, err, sizeof err), HEDDLE_OK);
    for (int i = -1; i < heddle_launches(h); i++)
        check_sum(h, i, model);
    heddle_close(h);
}
END_TEST

SUITE(timing_utilization_runs) {
    TEST_LOOP(operations_of_a_kernel, 0, 5);
    TEST_LOOP(sums_of_the_benchmarks, 0, 24 + 4);
}
