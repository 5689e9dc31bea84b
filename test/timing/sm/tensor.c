/* Tests the time that wgmma and tcgen05.mma take (timing/sm/tensor.c), as differences between a kernel with few
 * products and a kernel with many products. The machine is an H100. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { TEXT = 128 * 1024, FEW = 16, MANY = 48 };

static struct { double cycles, busy, all, waits, passes, instructions, multiply_adds, conflicts; } seen;

/* The begin and the end of a kernel of one warp that uses tensor memory. Register %t has the address of 256 columns of
 * tensor memory, %i has the descriptor of a product of m128n256k16, and %one is true in lane 0. The mbarrier is at s +
 * 8. */
#define TENSOR_BEGIN                                                                                                   \
    ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %t, %i, %r<4>; .reg .b64 "     \
    "%d<4>; .reg .pred %one, %q;\n.shared .align 1024 .b8 s[4096];\nmov.u32 %r1, %tid.x; setp.eq.u32 %one, %r1, 0;\n"  \
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 256; @%one mbarrier.init.shared.b64 [s+8], 1;\n"     \
    "ld.shared.u32 %t, [s]; mov.u32 %i, 0x08400010; mov.u64 %d1, 0x4000400000080040; mov.u32 %r2, 0;\n"
#define TENSOR_END                                                                                                     \
    "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];\n"                             \
    "W: mbarrier.try_wait.parity.shared.b64 %q, [s+8], %r2; @!%q bra W;\n"                                             \
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 256; ret;\n}\n"

/* Runs a kernel that executes `repeat` n times, and then waits for all groups or for the mbarrier. Stores the
 * statistics in `seen`. */
static void run(const char *repeat, int n, const char *const *set) {
    static char text[TEXT];
    char err[512] = "";
    const bool tensor = strstr(repeat, "tcgen05") != NULL;
    size_t at = tensor ? (size_t)snprintf(text, TEXT, "%s", TENSOR_BEGIN)
                       : (size_t)snprintf(
                             text, TEXT,
                             ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 "
                             "%%r<8>; .reg .b64 %%d<8>; "
                             ".reg .f32 %%f<128>;\n.shared .align 1024 .b8 s[2048];\nmov.u64 %%d1, 0x4000000000080000; "
                             "mov.u64 %%d2, "
                             "0x4000000000080000; mov.u32 %%r1, 0; mov.u32 %%r2, 0; mov.u32 %%r3, 0; mov.u32 %%r4, 0;\n"
                             "wgmma.fence.sync.aligned;\n");
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, TEXT - at, "%s\n", repeat);
        ck_assert_uint_lt(at, TEXT - 256);
    }
    snprintf(text + at, TEXT - at, "%s",
             tensor ? TENSOR_END : "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;\n}\n");
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "h100", .set = set, .cycle_limit = 1000000}, err,
                    sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1}, threads = {tensor ? 32 : 128, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", one, threads, 0, NULL, 0) == HEDDLE_OK, "%.999s", heddle_error(h));
    seen.cycles = heddle_stat(h, 0, "gpu.cycles");
    seen.busy = heddle_stat(h, 0, "tensor.busy_cycles");
    seen.all = heddle_stat(h, 0, "util.tensor_cycles");
    seen.waits = heddle_stat(h, 0, "tensor.wait_cycles");
    seen.passes = heddle_stat(h, 0, "tensor.shared_cycles");
    seen.conflicts = heddle_stat(h, 0, "shared.bank_conflicts");
    seen.multiply_adds = heddle_stat(h, 0, "tensor.multiply_adds");
    seen.instructions = heddle_stat(h, 0, "tensor.instructions");
    heddle_close(h);
}

/* Stores in `seen` the cycles and the counts that one more `repeat` adds. */
static void each_set(const char *repeat, const char *option) {
    const char *const set[] = {"gpu.sms=1", option, NULL};
    run(repeat, FEW, set);
    const double n = MANY - FEW, cycles = seen.cycles, busy = seen.busy, waits = seen.waits, passes = seen.passes,
                 instructions = seen.instructions, all = seen.all, multiply_adds = seen.multiply_adds;
    run(repeat, MANY, set);
    seen.cycles = (seen.cycles - cycles) / n;
    seen.busy = (seen.busy - busy) / n;
    seen.all = (seen.all - all) / n;
    seen.multiply_adds = (seen.multiply_adds - multiply_adds) / n;
    seen.waits = (seen.waits - waits) / n;
    seen.passes = (seen.passes - passes) / n;
    seen.instructions = (seen.instructions - instructions) / n;
}

/* Returns a wgmma of n columns as text. `a` is the operand of matrix a. */
static const char *product(int n, const char *shape_and_types, const char *a, const char *rest) {
    static char out[4096];
    size_t at = (size_t)snprintf(out, sizeof out, "wgmma.mma_async%s {", shape_and_types);
    for (int i = 0; i < n / 2; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%%f%d", i ? "," : "", i);
    snprintf(out + at, sizeof out - at, "}, %s, %%d2%s;", a, rest);
    return out;
}
#define F16 ", 1, 1, 1, 0, 0"

/* A tensor unit multiplies a quarter of the rows: 16 x 256 x 16 products at 512 a cycle take 128 cycles. For each of
 * four warps, shared memory delivers 16 rows of 32 bytes of a, and a quarter of the 256 columns of b. These are 2560
 * bytes, which take 20 cycles. */
START_TEST(a_full_product_takes_128_cycles) {
    each_set(product(256, ".sync.aligned.m64n256k16.f32.f16.f16", "%d1", F16), NULL);
    ck_assert_double_eq(seen.cycles, 128);
    ck_assert_double_eq(seen.busy, 4 * 128);
    ck_assert_double_eq(seen.all, 4 * 128); /* all units multiply all the time: util.tensor is 1 */
    ck_assert_double_eq(seen.instructions, 4);
    ck_assert_double_eq(seen.passes, 4 * 20);
    ck_assert_double_eq(seen.multiply_adds, 64 * 256 * 16);
}
END_TEST

/* A product of tf32 has half as many multiplications as a product of f16, at half the rate. A product of fp8 has twice
 * as many, at twice the rate. So all take equal time. */
START_TEST(types_of_equal_bytes_take_equal_time) {
    each_set(product(128, ".sync.aligned.m64n128k8.f32.tf32.tf32", "%d1", ", 1, 1, 1"), NULL);
    ck_assert_double_eq(seen.cycles, 64);
    each_set(product(128, ".sync.aligned.m64n128k32.f32.e4m3.e4m3", "%d1", ", 1, 1, 1"), NULL);
    ck_assert_double_eq(seen.cycles, 64);
    each_set(product(128, ".sync.aligned.m64n128k16.f32.f16.f16", "%d1", F16), "tensor.rate=256");
    ck_assert_double_eq(seen.cycles, 128);
}
END_TEST

/* A unit needs 4 cycles for its part of m64n8k16. But shared memory needs 5 cycles for the 512 + 64 bytes of each of
 * four warps, so the product takes 20 cycles. If a is in registers, shared memory needs only one cycle for each warp,
 * and the multiplication limits the rate (the stall counts of the control pass would keep products 7 cycles apart). */
START_TEST(small_products_wait_for_shared_memory) {
    each_set(product(8, ".sync.aligned.m64n8k16.f32.f16.f16", "%d1", F16), NULL);
    ck_assert_double_eq(seen.passes, 20);
    ck_assert_double_eq(seen.cycles, 20);
    ck_assert_double_eq(seen.busy, 16);
    ck_assert_double_eq(seen.waits, 4 * 20 - 16);
    each_set(product(8, ".sync.aligned.m64n8k16.f32.f16.f16", "%d1", F16), "tensor.shared_bytes=64");
    ck_assert_double_eq(seen.cycles, 36);
    each_set(product(8, ".sync.aligned.m64n8k16.f32.f16.f16", "{%r1,%r2,%r3,%r4}", ", 1, 1, 1, 0"),
             "core.assembly=off");
    ck_assert_double_eq(seen.passes, 4);
    ck_assert_double_le(seen.cycles, 5);
}
END_TEST

/* If each group must be complete before the next group begins, the latency counts in each iteration: `tensor.latency`,
 * and the cycles from the end of a product to the begin of the next product (three instructions issue: commit, wait and
 * product). */
START_TEST(waits_see_the_latency) {
    char text[4096];
    double each[2];
    snprintf(text, sizeof text, "%s wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
             product(128, ".sync.aligned.m64n128k16.f32.f16.f16", "%d1", F16));
    each_set(text, "tensor.latency=16");
    each[0] = seen.cycles;
    each_set(text, "tensor.latency=116");
    each[1] = seen.cycles;
    ck_assert_double_eq(each[1] - each[0], 100);
    ck_assert_double_ge(each[0], 64 + 16);
    ck_assert_double_le(each[0], 64 + 16 + 20);
    /* a wait that allows one group in flight keeps the unit busy */
    snprintf(text, sizeof text, "%s wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;",
             product(128, ".sync.aligned.m64n128k16.f32.f16.f16", "%d1", F16));
    each_set(text, NULL);
    ck_assert_double_eq(seen.cycles, 64);
}
END_TEST

/* If the queue has room for one product, the next product issues when this product has ended. */
START_TEST(the_queue_limits_products_in_flight) {
    const char *text = product(128, ".sync.aligned.m64n128k16.f32.f16.f16", "%d1", F16);
    each_set(text, "tensor.queue=2");
    ck_assert_double_eq(seen.cycles, 64);
    each_set(text, "tensor.queue=1");
    ck_assert_double_ge(seen.cycles, 64 + 16);
    ck_assert_double_le(seen.cycles, 64 + 16 + 10);
}
END_TEST

#define PRODUCT "@%one tcgen05.mma.cta_group::1.kind::f16 [%t], %d1, %d1, %i, 1;"

/* Four units of 512 products a cycle need 256 cycles for 128 x 256 x 16 products. Shared memory delivers 128 + 256 rows
 * of 32 bytes, which takes 96 cycles. */
START_TEST(products_in_tensor_memory_use_all_units) {
    each_set(PRODUCT, NULL);
    ck_assert_double_eq(seen.cycles, 256);
    ck_assert_double_eq(seen.busy, 4 * 256);
    ck_assert_double_eq(seen.passes, 96);
    ck_assert_double_eq(seen.instructions, 1);
}
END_TEST

/* Runs two CTAs on one SM, each of which holds n columns of tensor memory in a loop. Returns the cycles. */
static double hold_columns(int n) {
    static const char *const set[] = {"gpu.sms=1", NULL};
    char text[1024], err[512] = "";
    snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n.shared .b32 s[4]; .reg .b32 "
        "%%r<4>; .reg .pred %%p;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], %d; mov.u32 %%r1, 0;\n"
        "L: add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p, %%r1, 500; @%%p bra L; ld.shared.u32 %%r2, [s];\n"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r2, %d; ret;\n}\n",
        n, n);
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "spe", .config = "h100", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim two = {2, 1, 1}, warp = {32, 1, 1};
    ck_assert_msg(heddle_launch(h, m, "k", two, warp, 0, NULL, 0) == HEDDLE_OK, "%.999s", heddle_error(h));
    const double cycles = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return cycles;
}

/* An SM has 512 columns: two CTAs with 256 each run together, and two with 512 each one after the other. */
START_TEST(ctas_of_an_sm_share_columns) {
    const double together = hold_columns(256), apart = hold_columns(512);
    ck_assert_double_gt(apart, 1.8 * together);
    ck_assert_double_lt(apart, 2.2 * together);
}
END_TEST

/* The mbarrier completes its phase only when the product has ended. */
START_TEST(commits_wait_for_products) {
    static const char round[] =
        "{ " PRODUCT " @%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];\n"
        "V: mbarrier.try_wait.parity.shared.b64 %q, [s+8], %r2; @!%q bra V; xor.b32 %r2, %r2, 1; }";
    double each[2];
    each_set(round, "tensor.latency=0");
    each[0] = seen.cycles;
    ck_assert_double_eq(seen.conflicts, 0); /* the 32 lanes of a wait read one word together */
    each_set(round, "tensor.latency=1000");
    each[1] = seen.cycles;
    ck_assert_double_ge(each[0], 256);
    ck_assert_double_le(each[0], 256 + 120); /* the arrival and the last try_wait access shared memory */
    ck_assert_double_ge(each[1] - each[0], 950);
    ck_assert_double_le(each[1] - each[0], 1050);
}
END_TEST

SUITE(timing_sm_tensor) {
    TEST(products_in_tensor_memory_use_all_units);
    TEST(ctas_of_an_sm_share_columns);
    TEST(commits_wait_for_products);
    TEST(a_full_product_takes_128_cycles);
    TEST(types_of_equal_bytes_take_equal_time);
    TEST_SPEED(small_products_wait_for_shared_memory);
    TEST(waits_see_the_latency);
    TEST(the_queue_limits_products_in_flight);
}
