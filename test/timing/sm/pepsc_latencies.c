/* Measures the latencies of the preset `pepsc` and compares them with the paper's: an operation takes 3 cycles and a
 * chain of five saves 4 of 15 (section IV-A, Figure 9a); the L1, L2 and memory have delays of 1, 20 and 200 cycles
 * (section IV). */
#include "host/heddle.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNROLLED = 60, LINE = 128 };

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"                 \
    ".reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %q; .shared .align 4 .b8 zero[128];\n"              \
    "ld.param.u64 %d1, [p];\nld.param.u32 %r3, [n];\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.f32 %f1, 0f3F800000;\n"     \
    "mov.f32 %f2, 0f3F800001;\nmov.u64 %d2, %d1;\nst.shared.u32 [zero], %r1;\nL:\n"
#define TAIL                                                                                                           \
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %q, %r2, %r3;\n@%q bra L;\nst.global.f32 [%d1+64], %f1;\n"                      \
    "st.global.u32 [%d1+68], %r1;\nst.global.u64 [%d1+72], %d2;\nret;\n}\n"

/* Returns a kernel with a loop of n iterations, where n is a parameter of the kernel. An iteration contains
 * `repeat`, which has `ops` operations, UNROLLED / `ops` times. */
static char *kernel_of(const char *repeat, int ops) {
    const size_t size = sizeof HEAD + sizeof TAIL + UNROLLED * (strlen(repeat) + 2);
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    size_t at = (size_t)snprintf(text, size, "%s", HEAD);
    for (int i = 0; i < UNROLLED / ops; i++)
        at += (size_t)snprintf(text + at, size - at, "%s\n", repeat);
    snprintf(text + at, size - at, "%s", TAIL);
    return text;
}

/* Runs the kernel with `threads` threads and `iterations` on a buffer of `lines` lines, each of which contains the
 * address of the line that is `step` lines after it. Returns the cycles of the launch. */
static double cycles_of(const char *model, const char *const *set, const char *text, uint32_t iterations,
                        uint32_t lines, uint32_t step, uint32_t threads) {
    char err[512] = "";
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = model, .config = "pepsc", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "latency.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const uint64_t bytes = (uint64_t)lines * LINE, p = heddle_alloc(h, bytes);
    uint64_t *to = calloc(1, bytes);
    ck_assert_ptr_nonnull(to);
    for (uint32_t i = 0; i < lines; i++)
        to[i * (LINE / 8)] = p + (i + step) % lines * LINE;
    ck_assert_int_eq(heddle_write(h, p, to, bytes), HEDDLE_OK);
    free(to);
    const struct heddle_arg args[] = {{&p, 8}, {&iterations, 4}};
    const struct heddle_dim one = {1, 1, 1}, block = {threads, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, block, 0, args, 2) == HEDDLE_OK, "%s", heddle_error(h));
    const double cycles = heddle_stat(h, -1, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* Returns the cycles that one `repeat` takes in a chain in which each `repeat` depends on the one before it. They
 * follow from the difference between 200 and 100 iterations, so the first iterations and their misses cancel out.
 * The loop's own instructions take less than half a cycle for each of the UNROLLED operations. */
static double latency_of(const char *model, const char *const *set, const char *repeat, int ops, uint32_t lines,
                         uint32_t step, uint32_t threads) {
    char *text = kernel_of(repeat, ops);
    const double short_run = cycles_of(model, set, text, 100, lines, step, threads),
                 long_run = cycles_of(model, set, text, 200, lines, step, threads);
    free(text);
    return (long_run - short_run) / (100.0 * UNROLLED / ops);
}

#define MUL  "mul.f32 %f1, %f1, %f2;"
#define LOAD "ld.global.u64 %d2, [%d2];"
/* Options for a test of chains of n operations. The pass that pipelines loops is off, because it could reorder the
 * chain. */
#define CHAIN(n)                                                                                                       \
    { "chain.dual=off", "pepsc.pipeline=off", "chain.length=" #n, NULL }

/* - n chained operations take 2n + 1 cycles; a fused multiply-add is a chain of two
 * - a sum over a warp is not faster than the chain of five adders that it passes
 * - a load has the L1's delay of 1 after the steps that every memory instruction takes: the operands (2 cycles, as for
 *   arithmetic), the way to the load/store unit (1), the addresses (1)
 * - 512 lines fit in the L2 (1,024 lines) but not in the L1 (128 lines); of 4,096 lines, each is evicted before its
 *   next use; it makes no difference whether lines are neighbours or 65 apart, since the paper's memory has no rows */
START_TEST(the_papers_latencies) {
    static const struct {
        const char *what, *model, *set[4], *repeat;
        int ops;
        uint32_t lines, step;
        double cycles, tolerance;
    } rows[] = {
        {"an addition", "spe", {NULL}, "add.f32 %f1, %f1, %f2;", 1, 1, 1, 3, 0.5},
        {"a multiplication", "spe", {NULL}, MUL, 1, 1, 1, 3, 0.5},
        {"a fused multiply-add", "spe", {NULL}, "fma.rn.f32 %f1, %f1, %f2, %f2;", 1, 1, 1, 5, 0.5},
        {"an integer addition", "spe", {NULL}, "add.u32 %r1, %r1, %r3;", 1, 1, 1, 3, 0.5},
        {"a chain of 1", "spe+chain", CHAIN(1), MUL, 1, 1, 1, 3, 0.5},
        {"a chain of 2", "spe+chain", CHAIN(2), MUL MUL, 2, 1, 1, 5, 0.5},
        {"a chain of 3", "spe+chain", CHAIN(3), MUL MUL MUL, 3, 1, 1, 7, 0.5},
        {"a chain of 4", "spe+chain", CHAIN(4), MUL MUL MUL MUL, 4, 1, 1, 9, 0.5},
        {"a chain of 5", "spe+chain", CHAIN(5), MUL MUL MUL MUL MUL, 5, 1, 1, 11, 0.5},
        {"a load from the L1", "spe", {NULL}, LOAD, 1, 64, 1, 5, 0.5},
        {"a load from shared memory", "spe", {NULL}, "ld.shared.u32 %r1, [%r1];", 1, 1, 1, 5, 0.5},
        {"a load from the L2", "spe", {NULL}, LOAD, 1, 512, 1, 20, 0.5},
        {"a load of the next line from memory", "spe", {NULL}, LOAD, 1, 4096, 1, 200, 2.5},
        {"a load of a distant line from memory", "spe", {NULL}, LOAD, 1, 4096, 65, 200, 2.5},
    };
    test_case("%s", rows[_i].what);
    const double is =
        latency_of(rows[_i].model, rows[_i].set, rows[_i].repeat, rows[_i].ops, rows[_i].lines, rows[_i].step, 1);
    ck_assert_msg(fabs(is - rows[_i].cycles) <= rows[_i].tolerance, "%s takes %.3f cycles, not %g", rows[_i].what, is,
                  rows[_i].cycles);
}
END_TEST

/* A sum over the warp by shuffles takes at least the 11 cycles of a chain of five operations. */
#define STEP(d)                                                                                                        \
    "shfl.sync.bfly.b32 %r4, %r5, " #d                                                                                 \
    ", 31, 0xffffffff;\nmov.b32 %f3, %r4;\nadd.f32 %f1, %f1, %f3;\nmov.b32 %r5, %f1;\n"
START_TEST(a_sum_over_a_warp_is_no_faster_than_a_chain) {
    static const char *const set[] = {"pepsc.pipeline=off", NULL};
    const double is =
        latency_of("spe+reduce", set, "mov.b32 %r5, %f1;\n" STEP(16) STEP(8) STEP(4) STEP(2) STEP(1), 1, 1, 1, 32);
    ck_assert_msg(is >= 11 && is < 11 + 2 * 3 + 0.5, "%.3f cycles", is);
}
END_TEST

SUITE(timing_sm_pepsc_latencies) {
    TEST_LOOP(the_papers_latencies, 0, 14);
    TEST(a_sum_over_a_warp_is_no_faster_than_a_chain);
}
