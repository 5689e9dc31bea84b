/* Tests PTX that numba compiled from Python functions (test/compiled/numba_*.ptx; the Python source is above each test)
 * against the same functions in C. An array is passed as seven parameters, and every kernel has module variables for
 * exceptions. */
#include "host/heddle.h"
#include "test/test.h"

static const char *const models[] = {"functional", "spe"};

struct array {
    uint64_t meminfo, parent;
    int64_t items, item_bytes;
    uint64_t data;
    int64_t shape, stride;
};
enum { FIELDS = 7 };

static struct heddle *h;

static struct heddle_module *open_kernel(const char *model, const char *path) {
    char err[512];
    h = heddle_open(&(struct heddle_options){.model = model}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, path);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    return m;
}

static struct array array_of(const void *data, int64_t n, int64_t bytes) {
    uint64_t at = heddle_alloc(h, (uint64_t)(n * bytes));
    ck_assert_uint_ne(at, 0);
    ck_assert_int_eq(heddle_write(h, at, data, (uint64_t)(n * bytes)), HEDDLE_OK);
    return (struct array){0, 0, n, bytes, at, n, bytes};
}

static int put_array(struct heddle_arg *args, int n, const struct array *a) {
    for (int i = 0; i < FIELDS; i++)
        args[n + i] = (struct heddle_arg){(const uint64_t *)a + i, 8};
    return n + FIELDS;
}

static void launch(struct heddle_module *m, uint32_t blocks, uint32_t threads, const struct heddle_arg *args, int n) {
    enum heddle_status status = heddle_launch(h, m, heddle_kernel(m, 0), (struct heddle_dim){blocks, 1, 1},
                                              (struct heddle_dim){threads, 1, 1}, 0, args, n);
    ck_assert_msg(status == HEDDLE_OK, "%s", heddle_error(h));
}

/* @cuda.jit('void(float32[:], float32, float32[:])')
 * def saxpy(x, a, y):
 *     i = cuda.grid(1)
 *     if i < y.size:
 *         y[i] += a * x[i] */
START_TEST(arrays_are_parameters) {
    enum { N = 100 };
    struct heddle_module *m = open_kernel(models[_i], "test/compiled/numba_saxpy.ptx");
    float x[N], y[N], a = 3;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(1000 - i);
    }
    struct array ax = array_of(x, N, 4), ay = array_of(y, N, 4);
    struct heddle_arg args[2 * FIELDS + 1];
    int n = put_array(args, 0, &ax);
    args[n++] = (struct heddle_arg){&a, 4};
    launch(m, 4, 32, args, put_array(args, n, &ay));
    ck_assert_int_eq(heddle_read(h, ay.data, y, sizeof y), HEDDLE_OK);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], (float)(1000 - i + 3 * i));
    heddle_close(h);
}
END_TEST

/* @cuda.jit('int64(int64, int64)', device=True)
 * def collatz(n, most):
 *     k = 0
 *     while n != 1 and k < most:
 *         n = n // 2 if n % 2 == 0 else 3 * n + 1
 *         k += 1
 *     return k */
static int64_t collatz(int64_t n) {
    int64_t k = 0;
    while (n != 1 && k < 1000) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        k++;
    }
    return k;
}

/* The order in which a thread's addition and another thread's maximum change bin 0 is undefined. So the test only
 * checks that bin 0 is at least the maximum.
 *
 *     @cuda.jit('void(int64[:], int32[:])')
 *     def histogram(n, bins):
 *         i = cuda.grid(1)
 *         if i < n.size:
 *             k = collatz(n[i], 1000)
 *             cuda.atomic.add(bins, k % bins.size, 1)
 *             m = cuda.shfl_xor_sync(0xffffffff, int32(k), 1)
 *             cuda.atomic.max(bins, 0, m) */
START_TEST(functions_atomics_and_shuffles) {
    enum { N = 64, BINS = 10 };
    struct heddle_module *m = open_kernel(models[_i], "test/compiled/numba_histogram.ptx");
    int64_t n[N], most = 0;
    int32_t bins[BINS] = {0}, want[BINS] = {0};
    for (int i = 0; i < N; i++) {
        n[i] = i + 1;
        want[collatz(n[i]) % BINS]++;
        most = collatz(n[i]) > most ? collatz(n[i]) : most;
    }
    struct array an = array_of(n, N, 8), ab = array_of(bins, BINS, 4);
    struct heddle_arg args[2 * FIELDS];
    launch(m, 1, N, args, put_array(args, put_array(args, 0, &an), &ab));
    ck_assert_int_eq(heddle_read(h, ab.data, bins, sizeof bins), HEDDLE_OK);
    for (int i = 1; i < BINS; i++)
        ck_assert_int_eq(bins[i], want[i]);
    ck_assert_int_ge(bins[0], most);
    heddle_close(h);
}
END_TEST

SUITE(host_numba) {
    TEST_LOOP(arrays_are_parameters, 0, 2);
    TEST_LOOP(functions_atomics_and_shuffles, 0, 2);
}
