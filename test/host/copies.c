/* Tests kernels with asynchronous copies to shared memory (test/kernels/copies.cu, compiled by nvcc) in every model,
 * with and without native code. Their results must equal results computed in C (frontend/lower/lower_copy.c,
 * isa/exec/exec_copy.c). */
#include "copy_ways.h"
#include <stdio.h>

enum { WORDS = 4096, THREADS = 64 };
static struct heddle *h;
static struct heddle_module *m;
static int32_t in[WORDS], out[WORDS];

/* Returns true for the preset tiny, whose SM cannot hold a CTA of 256 threads. */
static bool is_tiny(int way) { return way < N_WAYS && ways[way].config && strcmp(ways[way].config, "tiny") == 0; }

static void open_way(int way) {
    h = open_copy_way(way, "test/kernels/copies.ptx", &m);
    for (int i = 0; i < WORDS; i++)
        in[i] = (int32_t)((i * 2654435ll + 17) % 100003);
}

/* Runs a kernel with `blocks` CTAs. Its arguments are the input, the output and, if `n` >= 0, the number n. */
static void run(const char *kernel, uint32_t blocks, int n) {
    uint64_t from = heddle_alloc(h, sizeof in), to = heddle_alloc(h, sizeof out);
    const struct heddle_arg args[] = {{&from, 8}, {&to, 8}, {&n, 4}};
    const struct heddle_dim grid = {blocks, 1, 1}, block = {THREADS, 1, 1};
    ck_assert_int_eq(heddle_write(h, from, in, sizeof in), HEDDLE_OK);
    ck_assert_msg(heddle_launch(h, m, kernel, grid, block, 0, args, n < 0 ? 2 : 3) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, to, out, sizeof out), HEDDLE_OK);
}

START_TEST(primitives) {
    open_way(_i);
    run("primitives", 4, 200);
    for (int i = 0; i < 4 * 4 * THREADS; i++) {
        int element = i / 4, from = element / THREADS * THREADS + THREADS - 1 - element % THREADS;
        ck_assert_int_eq(out[i], from < 200 ? in[4 * from + i % 4] : 0);
    }
    heddle_close(h);
}
END_TEST

START_TEST(groups) {
    open_way(_i);
    run("groups", 1, -1);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(out[t], in[t] + in[64 + 2 * t] + in[65 + 2 * t] + in[192 + 4 * t] + in[193 + 4 * t]);
    heddle_close(h);
}
END_TEST

START_TEST(divergent) {
    open_way(_i);
    run("divergent", 1, -1);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(out[t], t % 2 ? in[3 * t] : in[t] + 1000 * in[t + 1]);
    heddle_close(h);
}
END_TEST

START_TEST(barrier) {
    if (runs_one_warp(_i))
        return;
    open_way(_i);
    run("barrier", 1, -1);
    for (int i = 0; i < 3 * THREADS; i++)
        ck_assert_int_eq(out[i], in[i / THREADS * THREADS + THREADS - 1 - i % THREADS]);
    heddle_close(h);
}
END_TEST

static const char *const stages[] = {"pipeline", "own_pipeline", "group"};

START_TEST(pipelines) {
    const int n = 9;
    if (runs_one_warp(_i / 3) && _i % 3 == 0)
        return;
    open_way(_i / 3);
    run(stages[_i % 3], 1, n);
    for (int t = 0; t < THREADS; t++) {
        uint32_t sum = 0;
        for (int k = 0; k < n; k++)
            sum = 3 * sum + (uint32_t)in[64 * k + THREADS - 1 - t];
        ck_assert_int_eq(out[t], (int32_t)sum);
    }
    heddle_close(h);
}
END_TEST

START_TEST(words) {
    if (runs_one_warp(_i))
        return;
    open_way(_i);
    run("words", 1, -1);
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(out[t], t < 32 ? 0 : in[THREADS - 1 - t]);
    heddle_close(h);
}
END_TEST

/* The values are small integers, so that sums are exact in any order. */
START_TEST(tiles) {
    enum { N = 48 };
    float a[N * N], b[N * N], c[N * N];
    int n = N;
    if (is_tiny(_i))
        return;
    open_way(_i);
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 13 - 6);
        b[i] = (float)(i % 7 - 3);
    }
    uint64_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = heddle_alloc(h, sizeof a);
    ck_assert_int_eq(heddle_write(h, at[0], a, sizeof a), HEDDLE_OK);
    ck_assert_int_eq(heddle_write(h, at[1], b, sizeof b), HEDDLE_OK);
    const struct heddle_arg args[] = {{&at[0], 8}, {&at[1], 8}, {&at[2], 8}, {&n, 4}};
    const struct heddle_dim grid = {N / 16, N / 16, 1}, block = {16, 16, 1};
    ck_assert_msg(heddle_launch(h, m, "tiles", grid, block, 0, args, 4) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(heddle_read(h, at[2], c, sizeof c), HEDDLE_OK);
    for (int i = 0; i < N * N; i++) {
        float sum = 0;
        for (int k = 0; k < N; k++)
            sum += a[i / N * N + k] * b[k * N + i % N];
        ck_assert_msg(c[i] == sum, "element %d: %g, not %g", i, (double)c[i], (double)sum);
    }
    heddle_close(h);
}
END_TEST

/* ---- mistakes ---- */

#define HEAD                                                                                                           \
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>; .reg "       \
    ".b64 %d<8>; .reg .pred %q<4>;\n.shared .align 16 .b8 s[512];\nld.param.u64 %d1,[p]; mov.u32 %r1,%tid.x;\n"        \
    "mul.wide.u32 %d2,%r1,16; add.u64 %d1,%d1,%d2; shl.b32 %r2,%r1,4; mov.u32 %r3,s; add.u32 %r2,%r2,%r3;\n"

static const struct {
    const char *text, *message;
} faults[] = {
    /* lane 3's address is 4 bytes higher than the alignment allows */
    {"setp.eq.u32 %q1,%r1,3; @%q1 add.u64 %d1,%d1,4;\ncp.async.cg.shared.global [%r2],[%d1],16;",
     "misaligned read of 16 bytes"},
    {"setp.eq.u32 %q1,%r1,3; @%q1 add.u32 %r2,%r2,4;\ncp.async.ca.shared.global [%r2],[%d1],8;",
     "misaligned write of 8 bytes"},
    /* the lane's address is at the end of the buffer of 512 bytes */
    {"setp.eq.u32 %q1,%r1,3; @%q1 add.u64 %d1,%d1,464;\ncp.async.ca.shared.global [%r2],[%d1],4;",
     "out-of-bounds read of 4 bytes"},
    {"setp.eq.u32 %q1,%r1,3; @%q1 add.u32 %r2,%r2,464;\ncp.async.ca.shared.global [%r2],[%d1],16;",
     "out-of-bounds write of 16 bytes"},
    {"sub.u32 %r4,%r1,2; setp.eq.u32 %q1,%r1,3; selp.u32 %r4,9,8,%q1;\ncp.async.ca.shared.global [%r2],[%d1],8,%r4;",
     "a copy of 8 bytes that reads 9 of them"},
    {"setp.eq.u32 %q1,%r1,3; selp.u32 %r4,0,64,%q1; add.u32 %r4,%r4,%r3; @!%q1 mbarrier.init.shared.b64 [%r4],32;\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];",
     "there is no mbarrier at shared"},
};
enum { N_FAULTS = sizeof faults / sizeof faults[0] };

/* Launches the kernel on a zeroed buffer of `bytes` bytes. */
static enum heddle_status launch_on(const char *body, uint64_t bytes) {
    char text[2048];
    snprintf(text, sizeof text, "%s%s\ncp.async.wait_all; ret;\n}\n", HEAD, body);
    m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t at = heddle_alloc(h, bytes);
    const struct heddle_arg arg = {&at, 8};
    const struct heddle_dim grid = {1, 1, 1}, block = {32, 1, 1};
    return heddle_launch(h, m, "k", grid, block, 0, &arg, 1);
}

static enum heddle_status launch_text(const char *body) { return launch_on(body, 512); }

/* Copies the last 4 bytes of a buffer. A copy of 16 bytes from there would read beyond the buffer's end. */
START_TEST(less_than_a_copy_may_end_with_its_buffer) {
    open_way(_i);
    ck_assert_msg(launch_on("setp.eq.u32 %q1,%r1,31; selp.u32 %r4,4,16,%q1;\n"
                            "cp.async.cg.shared.global [%r2],[%d1],16,%r4;",
                            500) == HEDDLE_OK,
                  "%s", heddle_error(h));
    ck_assert_int_eq(launch_on("setp.eq.u32 %q1,%r1,31; selp.u32 %r4,5,16,%q1;\n"
                               "cp.async.cg.shared.global [%r2],[%d1],16,%r4;",
                               500),
                     HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), "out-of-bounds read of 5 bytes") != NULL, "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

/* Each error message names the lane and the PTX line. */
START_TEST(mistakes) {
    open_way(_i / N_FAULTS);
    ck_assert_int_eq(launch_text(faults[_i % N_FAULTS].text), HEDDLE_FAULT);
    const char *error = heddle_error(h);
    ck_assert_msg(strstr(error, faults[_i % N_FAULTS].message) != NULL, "%s", error);
    ck_assert_msg(strstr(error, "lane 3") != NULL && strstr(error, "k.ptx:11:") != NULL, "%s", error);
    heddle_close(h);
}
END_TEST

/* A copy reads only its source size, so other bytes need not exist: a copy with source size 0 may have address 0, and a
 * copy with source size 4 may start 4 bytes before the buffer's end. */
START_TEST(what_is_ignored_is_not_looked_at) {
    open_way(_i);
    ck_assert_msg(launch_text("mov.u64 %d3,0; mov.u32 %r4,0;\n"
                              "cp.async.ca.shared.global [%r2],[%d3],8,%r4;\n"
                              "setp.ge.u32 %q1,%r1,0; cp.async.cg.shared.global [%r2],[%d3+3],16,%q1;\n"
                              "setp.lt.u32 %q1,%r1,0; cp.async.cg.shared.global [%r2],[%d3],16,!%q1;\n"
                              "@%q1 cp.async.cg.shared.global [%r2],[%d3],16;\n") == HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(host_copies) {
    const int n = n_ways();
    TEST_LOOP(primitives, 0, n);
    TEST_LOOP(groups, 0, n);
    TEST_LOOP(divergent, 0, n);
    TEST_LOOP(barrier, 0, n);
    TEST_LOOP(pipelines, 0, 3 * n);
    TEST_LOOP(words, 0, n);
    TEST_LOOP(tiles, 0, n);
    TEST_LOOP(mistakes, 0, N_WAYS * N_FAULTS);
    TEST_LOOP(less_than_a_copy_may_end_with_its_buffer, 0, n);
    TEST_LOOP(what_is_ignored_is_not_looked_at, 0, n);
}
