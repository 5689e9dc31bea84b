/* Tests kernels of warp groups and of tensor memory (test/kernels/groups.cu and tensor_memory.cu, compiled by nvcc) in
 * every model, with and without native code.
 * All elements are small whole numbers, so results must equal those of a loop in C, bit for bit. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/test.h"
#include <stdio.h>

enum { M = 64, N = 128, K = 192, SMALL_N = 64, SMALL_K = 48 };
static struct heddle *h;
static struct heddle_module *m;

static const struct {
    const char *model, *config, *set[2];
} ways[] = {
    {"functional", NULL, {NULL}},
    {"functional", NULL, {"gpu.jit=off"}},
    {"functional", NULL, {"reconv=dws"}},
    {"spe+cae", NULL, {NULL}},
    {"spe+dac", NULL, {NULL}},
    {"spe", "h100", {NULL}},
    {"spe", "h100", {"core.kind=modern"}},
    {"its", "h100", {NULL}},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };
static int n_ways(void) { return N_WAYS + timed_models()->n; }

static void open_file(int way, const char *file) {
    char err[512] = "";
    struct heddle_options o = {.model = timed_models()->name[way < N_WAYS ? 0 : way - N_WAYS]};
    if (way < N_WAYS)
        o = (struct heddle_options){.model = ways[way].model, .config = ways[way].config, .set = ways[way].set};
    h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
}
static void open_way(int way) { open_file(way, "test/kernels/groups.ptx"); }

static int value(int i) { return (i * 7919 + i / 64 * 31) % 7 - 3; }

/* Returns the address of n numbers value(first), value(first + 1) ... in 16 bits of type `t`. */
static uint64_t halves(int first, int n, enum type t) {
    static uint16_t v[N * K];
    uint64_t at = heddle_alloc(h, sizeof v);
    for (int i = 0; i < n; i++)
        v[i] = (uint16_t)float_encode(t, value(first + i));
    heddle_write(h, at, v, (size_t)n * 2);
    return at;
}

START_TEST(product) {
    static float c[M * N];
    int n = N, k = K;
    open_way(_i);
    uint64_t a = halves(0, M * K, T_F16), b = halves(5, N * K, T_F16), to = heddle_alloc(h, sizeof c);
    const struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&to, 8}, {&n, 4}, {&k, 4}};
    const struct heddle_dim one = {1, 1, 1}, block = {256, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "product", one, block, 0, args, 5) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, c, sizeof c);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int x = 0; x < K; x++)
                sum += value(i * K + x) * value(5 + j * K + x);
            ck_assert_msg(c[i * N + j] == (float)sum, "row %d column %d: %g, not %d", i, j, (double)c[i * N + j], sum);
        }
    heddle_close(h);
}
END_TEST

START_TEST(negated) {
    static float c[M * SMALL_N];
    int k = SMALL_K;
    open_way(_i);
    uint64_t a = halves(0, M * SMALL_K, T_BF16), b = halves(9, SMALL_N * SMALL_K, T_BF16),
             to = heddle_alloc(h, sizeof c);
    for (int i = 0; i < M * SMALL_N; i++)
        c[i] = (float)(i % 1000);
    heddle_write(h, to, c, sizeof c);
    const struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&to, 8}, {&k, 4}};
    const struct heddle_dim one = {1, 1, 1}, block = {128, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "negated", one, block, 0, args, 4) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, c, sizeof c);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < SMALL_N; j++) {
            int sum = (i * SMALL_N + j) % 1000;
            for (int x = 0; x < SMALL_K; x++)
                sum -= value(i * SMALL_K + x) * value(9 + x * SMALL_N + j);
            ck_assert_msg(c[i * SMALL_N + j] == (float)sum, "row %d column %d: %g, not %d", i, j,
                          (double)c[i * SMALL_N + j], sum);
        }
    heddle_close(h);
}
END_TEST

START_TEST(tensor_product) {
    enum { ROWS = 128, COLUMNS = 64, LONG = 128 };
    static float c[ROWS * COLUMNS];
    int k = LONG;
    open_file(_i, "test/kernels/tensor_memory.ptx");
    uint64_t a = halves(3, ROWS * LONG, T_F16), b = halves(8, COLUMNS * LONG, T_F16), to = heddle_alloc(h, sizeof c);
    const struct heddle_arg args[] = {{&a, 8}, {&b, 8}, {&to, 8}, {&k, 4}};
    const struct heddle_dim one = {1, 1, 1}, block = {128, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "tensor_product", one, block, 0, args, 4) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, to, c, sizeof c);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int sum = 0;
            for (int x = 0; x < LONG; x++)
                sum += value(3 + i * LONG + x) * value(8 + j * LONG + x);
            ck_assert_msg(c[i * COLUMNS + j] == (float)sum, "row %d column %d: %g, not %d", i, j,
                          (double)c[i * COLUMNS + j], sum);
        }
    heddle_close(h);
}
END_TEST

/* ---- faults ---- */

/* Runs a product of m64n8k16 and returns the message of its fault. `da` and `db` are descriptors, `block` is the number
 * of threads, and `before` is text that precedes the product. */
static const char *fault_of(uint64_t da, uint64_t db, uint32_t block, const char *before) {
    static char text[2048], message[2048];
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {\n"
        ".shared .align 1024 .b8 s[4096]; .reg .b64 %%d<4>; .reg .f32 %%f<5>; .reg .b32 %%r<8>; .reg .pred %%p<3>;\n"
        "ld.param.u64 %%d1, [a]; ld.param.u64 %%d2, [b]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s; mov.u32 %%r3, 0;\n"
        "cvt.u64.u32 %%d3, %%r1; setp.eq.u32 %%p1, %%r1, 9; setp.eq.u32 %%p2, %%r1, %%r1;\n%s\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f1, %%f2, %%f3, %%f4}, %%d1, %%d2, %%p2, 1, 1, 0, 0;\n"
        "L: ret;\n}\n",
        before);
    open_way(0);
    m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_arg args[] = {{&da, 8}, {&db, 8}};
    const struct heddle_dim one = {1, 1, 1}, threads = {block, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", one, threads, 0, args, 2), HEDDLE_FAULT);
    snprintf(message, sizeof message, "%s", heddle_error(h));
    heddle_close(h);
    return message;
}

#define PLAIN (8ull << 16 | 16ull << 32) /* no swizzle, strides of 128 and 256 bytes */

START_TEST(faults) {
    static const struct {
        uint64_t a, b;
        uint32_t block;
        const char *before, *wanted;
    } cases[] = {
        /* matrix a begins at 3072; the first rows that lie outside shared memory, 32 to 39, begin at 3072 + 4 * 256 =
         * 4096 */
        {PLAIN | 3072 >> 4, PLAIN, 128, "", "out-of-bounds read of 16 bytes at 0x1000 (shared memory)"},
        {PLAIN, PLAIN | 0x3fff, 128, "", "out-of-bounds read of 16 bytes at 0x3fff0 (shared memory)"},
        {PLAIN, PLAIN, 96, "", "belongs to no complete warp group"},
        {PLAIN, PLAIN, 128, "@%p1 bra L;", "here by lanes"},
        {PLAIN, PLAIN, 128, "add.u64 %d2, %d2, %d3;", "it must be the same in all lanes"},
        {PLAIN, PLAIN, 128, "setp.lt.u32 %p2, %r1, 5;", "scale-d differs"},
    };
    const char *message = fault_of(cases[_i].a, cases[_i].b, cases[_i].block, cases[_i].before);
    ck_assert_msg(strstr(message, cases[_i].wanted) && strstr(message, "t.ptx:9"), "case %d: %s", _i, message);
}
END_TEST

SUITE(host_groups) {
    TEST_LOOP(product, 0, n_ways());
    TEST_LOOP(negated, 0, n_ways());
    TEST_LOOP(tensor_product, 0, n_ways());
    TEST_LOOP(faults, 0, 6);
}
