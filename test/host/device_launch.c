/* Tests kernels that launch kernels (test/kernels/launches.cu), in the functional model and in all timing models. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdlib.h>

static struct heddle *h;
static struct heddle_module *m;
static uint64_t x;

static void open_model(const char *model) {
    char err[512];
    struct heddle_options o = {.model = model, .config = "fermi", .cycle_limit = 10000000};
    h = heddle_open(&o, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    m = heddle_module_file(h, "test/kernels/launches.ptx");
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    x = heddle_alloc(h, 4096);
    heddle_clear(h, x, 4096);
}

static enum heddle_status launch(const char *kernel, uint32_t ctas, uint32_t threads, uint64_t a, uint64_t b,
                                 int bytes_of_b, int n) {
    const struct heddle_arg args[] = {{&x, 8}, {&a, bytes_of_b && n == 2 ? (size_t)bytes_of_b : 4}, {&b, 4}};
    return heddle_launch(h, m, kernel, (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, n);
}

static int32_t value(uint64_t at) {
    int32_t v;
    ck_assert_int_eq(heddle_read(h, at, &v, sizeof v), HEDDLE_OK);
    return v;
}

static void in_order(void) {
    ck_assert_msg(launch("in_order", 2, 64, 0, 0, 0, 1) == HEDDLE_OK, "%s", heddle_error(h));
    /* Each kernel that is launched computes x = 3 x + k. After the two of CTA 0, x is 1 and 5; after the two of CTA 1,
     * 18 and 58; after the one in the tail stream, 3 * 58 + 100 = 274. */
    ck_assert_int_eq(value(x), 274);
}

static void nested(void) {
    heddle_clear(h, x, 4);
    /* four levels: 1 + 2 + 4 + 8 kernels */
    ck_assert_msg(launch("tree", 1, 64, 3, 0, 4, 2) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(value(x), 15);
}

static void sorted(void) {
    enum { N = 40, BITS = 8 };
    uint32_t in[N], random = 12345, sum = 0;
    for (int i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        sum += in[i] = random >> (32 - BITS);
    }
    heddle_write(h, x, in, sizeof in);
    ck_assert_msg(launch("radix", 1, 1, N, BITS - 1, 4, 3) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, x, in, sizeof in);
    for (int i = 1; i < N; i++)
        ck_assert_uint_le(in[i - 1], in[i]);
    for (int i = 0; i < N; i++)
        sum -= in[i];
    ck_assert_uint_eq(sum, 0);
}

static void with_shared_memory(void) {
    enum { SUMS = 6 };
    int32_t in[64 * SUMS];
    for (int i = 0; i < 64 * SUMS; i++)
        in[i] = i;
    uint64_t data = heddle_alloc(h, sizeof in), y = x;
    heddle_write(h, data, in, sizeof in);
    const struct heddle_arg args[] = {{&data, 8}, {&y, 8}};
    ck_assert_msg(heddle_launch(h, m, "sums", (struct heddle_dim){2, 1, 1}, (struct heddle_dim){SUMS / 2, 1, 1}, 0,
                                args, 2) == HEDDLE_OK,
                  "%s", heddle_error(h));
    for (int i = 0; i < SUMS; i++)
        /* the sum of 64 i + 0, ..., 64 i + 63 */
        ck_assert_int_eq(value(x + 4 * (uint64_t)i), 64 * 64 * i + 63 * 64 / 2);
}

static void all(const char *model) {
    open_model(model);
    in_order();
    nested();
    sorted();
    with_shared_memory();
    heddle_close(h);
}

START_TEST(in_the_interpreter) { all("functional"); }
END_TEST

START_TEST(in_time) { all(timed_models()->name[_i]); }
END_TEST

/* Each child kernel is a launch of its own: in_order is one launch, and its four steps and the step in the tail stream
 * are five more. */
START_TEST(children_are_launches) {
    open_model("spe");
    in_order();
    ck_assert_int_eq(heddle_launches(h), 6);
    ck_assert_str_eq(heddle_launch_kernel(h, 0), "in_order");
    ck_assert_str_eq(heddle_launch_kernel(h, 5), "step");
    heddle_close(h);
}
END_TEST

static void refused(enum heddle_status s, const char *text) {
    ck_assert_int_eq(s, HEDDLE_USAGE);
    EXPECT(strstr(heddle_error(h), text) != NULL, "%s", heddle_error(h));
}

START_TEST(limits) {
    open_model("functional");
    /* the first kernel is level 0; it may have 24 levels below */
    ck_assert_msg(launch("chain", 1, 1, 24, 0, 4, 2) == HEDDLE_OK, "%s", heddle_error(h));
    ck_assert_int_eq(value(x), 25);
    refused(launch("chain", 1, 1, 25, 0, 4, 2), "kernel 'chain' is the 25th level of kernels");
    /* a record has 1024 bytes, and the heap 8 MiB: 8192 records */
    refused(launch("many", 1, 128, 65, 0, 4, 2), "kernel 'many' launched more kernels than the heap");
    refused(launch("passes_large", 1, 1, 0, 0, 0, 1), "kernel 'takes_large', which has 1008 bytes of parameters");
    heddle_close(h);
}
END_TEST

/* After a failed launch, the queue and the heap are as before: the same kernels run. */
START_TEST(a_failure_leaves_no_launches) {
    open_model("functional");
    ck_assert_int_ne(launch("passes_large", 1, 1, 0, 0, 0, 1), HEDDLE_OK);
    in_order();
    heddle_clear(h, x, 4);
    ck_assert_int_eq(launch("fails", 1, 1, 0, 0, 0, 1), HEDDLE_FAULT);
    in_order();
    for (int i = 0; i < 40; i++) { /* 40 * 300 records are more than the heap holds at once */
        ck_assert_msg(launch("many", 1, 1, 300, 0, 4, 2) == HEDDLE_OK, "%s", heddle_error(h));
    }
    heddle_close(h);
}
END_TEST

SUITE(host_device_launch) {
    TEST(in_the_interpreter);
    TEST_LOOP(in_time, 0, timed_models()->n);
    TEST(children_are_launches);
    TEST(limits);
    TEST(a_failure_leaves_no_launches);
}
