/* Tests the PEPSC core: CTAs larger than the number of lanes, power at full rate (Figure 12), and registers. */
#include "benchmarks/bench.h"
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>
#include <stdlib.h>

#define HEAD ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"

static struct heddle *open_run(const char *model, const char *config, const char *const *set) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = config, .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s %s: %s", model, config, err);
    return h;
}

/* Runs `text` with a zeroed buffer of `bytes` bytes, and copies the buffer to `out`. */
static void run(struct heddle *h, const char *text, uint32_t ctas, uint32_t threads, void *out, uint64_t bytes) {
    struct heddle_module *m = heddle_module_text(h, "core.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, bytes);
    unsigned char *zero = calloc(1, bytes);
    ck_assert_int_eq(heddle_write(h, p, zero, bytes), HEDDLE_OK);
    free(zero);
    struct heddle_arg arg = {&p, 8};
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, &arg,
                                1) == HEDDLE_OK,
                  "%s", heddle_error(h));
    if (out)
        ck_assert_int_eq(heddle_read(h, p, out, bytes), HEDDLE_OK);
}

static double stat(const struct heddle *h, const char *name) { return heddle_stat(h, -1, name); }

/* Kernels whose CTAs have more threads than the core has lanes have correct results in every model, with and without
 * barriers and divergence. */
START_TEST(programs_run_on_the_core) {
    static const char *const programs[] = {"vecadd", "hotspot", "lps", "srad", "mc", "lu"};
    static const char *const models[] = {"spe", "pepsc", "its", "dws50+chain"};
    const struct bench *b = bench_find(programs[_i % 6]);
    char err[512] = "", path[4096];
    struct heddle *h = open_run(models[_i / 6], "pepsc", NULL);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(bench_kernel_path(b->ptx, path, sizeof path));
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    ck_assert_msg(b->run(h, m, BENCH_SMALL, err, sizeof err) == HEDDLE_OK, "%s: %s", b->name, err);
    double sum = stat(h, "util.flops") + stat(h, "util.lost_datapath") + stat(h, "util.lost_memory") +
                 stat(h, "util.lost_serialization");
    ck_assert_double_eq(sum, stat(h, "util.peak_flops"));
    heddle_close(h);
}
END_TEST

/* ---- power ---- */

/* Eight loads of one line. Each CTA loads a different line. */
static const char loads[] = HEAD ".reg .b32 %r<4>; .reg .b64 %d<3>; .reg .f32 %x<9>;\n"
                                 "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                                 "mad.lo.u32 %r1, %r2, 32, %r1;\nmad.wide.u32 %d1, %r1, 4, %d1;\n"
                                 "ld.global.f32 %x1, [%d1];\nadd.f32 %x1, %x1, %x1;\nld.global.f32 %x2, [%d1];\n"
                                 "ld.global.f32 %x3, [%d1];\nld.global.f32 %x4, [%d1];\nld.global.f32 %x5, [%d1];\n"
                                 "ld.global.f32 %x6, [%d1];\nld.global.f32 %x7, [%d1];\nld.global.f32 %x8, [%d1];\n"
                                 "ret;\n}\n";

enum { CHAINS = 2000 };

/* Returns a kernel of independent compound instructions, one right after another. Each is a chain of five operations
 * with six sources. The results are written to 16 registers in rotation. */
static char *back_to_back(void) {
    size_t size = 1 << 20, at = 0;
    char *text = malloc(size);
    at += (size_t)snprintf(text, size,
                           HEAD ".reg .b32 %%r<2>; .reg .b64 %%d<3>; .reg .f32 %%a<7>, %%t<5>, %%x<17>;\n"
                                "ld.param.u64 %%d1, [p];\nmov.u32 %%r1, %%tid.x;\nmad.wide.u32 %%d1, %%r1, 4, %%d1;\n");
    for (int i = 1; i <= 6; i++)
        at += (size_t)snprintf(text + at, size - at, "ld.global.f32 %%a%d, [%%d1+%d];\n", i, 128 * i);
    for (int i = 0; i < CHAINS; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "add.f32 %%t1, %%a1, %%a2;\nmul.f32 %%t2, %%t1, %%a3;\nsub.f32 %%t3, %%t2, %%a4;\n"
                               "mul.f32 %%t4, %%t3, %%a5;\nadd.f32 %%x%d, %%t4, %%a6;\n",
                               i % 16);
    for (int i = 0; i < 16; i++)
        at += (size_t)snprintf(text + at, size - at, "st.global.f32 [%%d1+%d], %%x%d;\n", 1024 + 128 * i, i);
    snprintf(text + at, size - at, "ret;\n}\n");
    return text;
}

static void check_watts(const char *what, double joules, double seconds, double watts) {
    double w = joules / seconds;
    ck_assert_msg(w > 0.9 * watts && w < 1.1 * watts, "%s: %.4g W, not %.4g", what, w, watts);
}

static double warm(const struct heddle *h, const char *name) { return heddle_stat(h, 1, name); }

/* Six sources and the results of a chain, which takes eleven cycles, need more than 16 registers. So pepsc.registers=0
 * turns off the limit on registers; an access then has the energy of a file with 16 registers. Figure 12 gives these
 * values for one chain of five operations with six sources per cycle:
 * - 120 GFLOP/s
 * - FPUs 1.18 W
 * - register file 32 x 9.28 mW
 * - scalar pipeline, address unit and control 59 mW */
START_TEST(power_at_full_rate) {
    struct heddle *h =
        open_run("pepsc", "pepsc", (const char *const[]){"l1i.size=1048576", "l1i.ways=4", "pepsc.registers=0", NULL});
    char *text = back_to_back();
    struct heddle_module *m = heddle_module_text(h, "chains.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 8192);
    struct heddle_arg arg = {&p, 8};
    for (int i = 0; i < 2; i++) /* the second kernel hits in the instruction cache */
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){20, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, &arg, 1),
            HEDDLE_OK);
    free(text);
    ck_assert_double_eq(warm(h, "chain.length_5"), 20 * CHAINS);
    double seconds = warm(h, "gpu.cycles") / 750e6, flops = warm(h, "util.flops");
    ck_assert_double_eq(flops, 20. * CHAINS * 5 * 32);
    ck_assert_double_eq(warm(h, "util.peak_flops"), warm(h, "gpu.cycles") * 160); /* 120 GFLOP/s */
    ck_assert_msg(flops / seconds > 0.95 * 120e9, "%.4g FLOP/s", flops / seconds);
    check_watts("FPUs", warm(h, "energy.float_joules"), seconds, 1.18);
    check_watts("register file", warm(h, "energy.regfile_joules"), seconds, 32 * 9.28e-3);
    check_watts("the rest", warm(h, "energy.frontend_joules") + warm(h, "energy.static_joules"), seconds, 59e-3);
    heddle_close(h);
}
END_TEST

/* The memory system takes 580 mW: an L1 access in every cycle, and an L2 access in every eighth cycle. */
START_TEST(power_of_the_caches) {
    struct heddle *h = open_run("spe", "pepsc", NULL);
    struct heddle_dim eight = {8, 1, 1};
    struct heddle_module *m = heddle_module_text(h, "loads.ptx", loads, strlen(loads));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 1 << 14);
    struct heddle_arg arg = {&p, 8};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(heddle_launch(h, m, "k", eight, (struct heddle_dim){32, 1, 1}, 0, &arg, 1), HEDDLE_OK);
    double l1 = warm(h, "l1.accesses"), l2 = warm(h, "l2.accesses");
    ck_assert_double_eq(l1, 8 * 8); /* one line, eight times, for each of eight CTAs */
    ck_assert_double_eq(l2, 8);
    check_watts("caches", warm(h, "energy.l1_joules") + warm(h, "energy.l2_joules"), l1 / 750e6, 580e-3);
    heddle_close(h);
}
END_TEST

/* The energy of the registers scales with their number. */
START_TEST(registers_scale_the_energy) {
    static const char *const sets[] = {"pepsc.registers=0", "pepsc.registers=16", "pepsc.registers=40",
                                       "pepsc.registers=12"};
    static const double factor[] = {1, 1, 2.5, 0.75};
    double first = 0;
    for (int i = 0; i < 4; i++) {
        struct heddle *h = open_run("spe", "pepsc", (const char *const[]){sets[i], NULL});
        run(h, loads, 1, 128, NULL, 512);
        double joules = stat(h, "energy.regfile_joules");
        first = i ? first : joules;
        ck_assert_double_gt(joules, 0);
        ck_assert_double_eq_tol(joules, first * factor[i], 1e-6 * first);
        heddle_close(h);
    }
}
END_TEST

/* 20 values and an address need 22 registers per lane, 6 more than exist. Six values are each spilled and filled
 * once. With 22 registers nothing is spilled. The results are the same. */
START_TEST(values_without_a_register_are_spilled) {
    char text[8192];
    float in[20], out[2];
    int at = snprintf(text, sizeof text, HEAD ".reg .b64 %%d<2>; .reg .f32 %%x<21>;\nld.param.u64 %%d1, [p];\n");
    for (int i = 0; i < 20; i++) {
        in[i] = 1.0f / (float)(i + 3);
        at += snprintf(text + at, sizeof text - (size_t)at, "ld.global.f32 %%x%d, [%%d1+%d];\n", i, 4 * i);
    }
    for (int i = 1; i < 20; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "add.f32 %%x0, %%x0, %%x%d;\n", i);
    snprintf(text + at, sizeof text - (size_t)at, "st.global.f32 [%%d1], %%x0;\nret;\n}\n");
    for (int k = 0; k < 2; k++) {
        struct heddle *h = open_run("spe", "pepsc", (const char *const[]){k ? "pepsc.registers=22" : NULL, NULL});
        struct heddle_module *m = heddle_module_text(h, "core.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, sizeof in);
        struct heddle_arg arg = {&p, 8};
        struct heddle_dim one = {1, 1, 1};
        ck_assert_int_eq(heddle_write(h, p, in, sizeof in), HEDDLE_OK);
        ck_assert_msg(heddle_launch(h, m, "k", one, one, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
        ck_assert_int_eq(heddle_read(h, p, &out[k], 4), HEDDLE_OK);
        ck_assert_double_eq(stat(h, "regs.spill_loads"), k ? 0 : 6);
        ck_assert_double_eq(stat(h, "regs.spill_stores"), k ? 0 : 6);
        heddle_close(h);
    }
    ck_assert_int_eq(memcmp(&out[0], &out[1], 4), 0);
}
END_TEST

/* Four warps of 100 loads each, and a barrier. The affine warp's queues have 192 / 4 = 48 entries for each warp. The
 * three warps that are swapped out take no entries, and must not delay the running warp.
 * - with perfect memory, an iteration of the loop takes some tens of cycles: 400 iterations of 50 cycles take 20000
 * - if the units waited for warps that are swapped out, each wait would take 10000 cycles, and at least 52 waits
 *   would be needed */
static const char rows[] = HEAD ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<4>;\n"
                                "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
                                "mov.f32 %f1, 0f00000000;\nmov.u32 %r2, 0;\n"
                                "L: ld.global.f32 %f2, [%d2];\nadd.f32 %f1, %f1, %f2;\nadd.u64 %d2, %d2, 512;\n"
                                "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, 100;\n@%p bra L;\n"
                                "bar.sync 0;\nst.global.f32 [%d2], %f1;\nret;\n}\n";

START_TEST(the_affine_warp_does_not_wait_for_turns) {
    static const char *const models[] = {"spe+dac", "its+dac", "dws+dac", "pepsc+dac"};
    for (int k = 0; k < 2; k++) {
        struct heddle *h =
            open_run(models[_i], "pepsc",
                     (const char *const[]){k ? "memory.perfect=true" : "dac.lock_timeout=1000", "dac.pwaq=192", NULL});
        run(h, rows, 1, 128, NULL, 128 * 512);
        ck_assert_double_eq(stat(h, "dac.decoupled_loads"), 400);
        ck_assert_double_gt(stat(h, "dac.spills"), 0);
        /* The limit of the run without perfect memory: 400 lines of at most 200 cycles each, times two. */
        ck_assert_msg(stat(h, "gpu.cycles") < (k ? 20000 : 400 * 400), "%g cycles", stat(h, "gpu.cycles"));
        heddle_close(h);
    }
}
END_TEST

/* In presets of 8 to 64 lanes, twice as many lanes execute independent chains in half the time. The kernel has 20
 * CTAs of two warps with 2000 chains per warp: 32 lanes begin one chain per cycle, and 64 lanes begin two. */
START_TEST(lanes_are_presets) {
    static const char *const presets[] = {"pepsc-8", "pepsc-16", "pepsc", "pepsc-64"};
    static const double each[] = {4, 2, 1, 0.5};
    const char *const set[] = {"l1i.size=1048576", "l1i.ways=4", "pepsc.registers=0", NULL};
    char *text = back_to_back();
    struct heddle *h = open_run("pepsc", presets[_i], set);
    struct heddle_module *m = heddle_module_text(h, "chains.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 8192);
    struct heddle_arg arg = {&p, 8};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            heddle_launch(h, m, "k", (struct heddle_dim){20, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, &arg, 1),
            HEDDLE_OK);
    free(text);
    double want = 20. * 2 * CHAINS * each[_i], cycles = warm(h, "gpu.cycles");
    ck_assert_msg(cycles > want && cycles < 1.1 * want, "%s: %g cycles, not %g", presets[_i], cycles, want);
    heddle_close(h);
}
END_TEST

SUITE(timing_sm_pepsc_core) {
    TEST_LOOP(lanes_are_presets, 0, LEAST_TABLES ? 2 : 4);
    TEST_LOOP(programs_run_on_the_core, 0, 24);
    TEST_SPEED(power_at_full_rate);
    TEST(power_of_the_caches);
    TEST(registers_scale_the_energy);
    TEST(values_without_a_register_are_spilled);
    TEST_LOOP(the_affine_warp_does_not_wait_for_turns, 0, 4);
}
