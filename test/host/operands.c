/* Runs the kernels of test/compiled/stack.ptx (stack memory) and test/compiled/operands.ptx (rare forms of
 * operands). */
#include "host/heddle.h"
#include "test/test.h"

enum { THREADS = 32, MAX_THREADS = 128 };
static const char *const models[] = {"functional", "spe"};
static struct heddle *h;
static char message[4096];

/* Runs a kernel with the parameter out[n] and n threads, and reads the results into `out`. */
static enum heddle_status run(const char *model, const char *file, const char *kernel, uint32_t n, uint32_t *out) {
    char err[512] = "";
    h = heddle_open(&(struct heddle_options){.model = model}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_file(h, file);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t at = heddle_alloc(h, n * sizeof *out);
    const struct heddle_arg arg = {&at, 8};
    enum heddle_status status =
        heddle_launch(h, m, kernel, (struct heddle_dim){1, 3, 1}, (struct heddle_dim){n, 1, 1}, 0, &arg, 1);
    snprintf(message, sizeof message, "%s", heddle_error(h));
    if (status == HEDDLE_OK)
        ck_assert_int_eq(heddle_read(h, at, out, n * sizeof *out), HEDDLE_OK);
    heddle_close(h);
    return status;
}

static void check_threads(const char *model, const char *file, const char *kernel, uint32_t n,
                          uint32_t (*want)(uint32_t t)) {
    uint32_t out[MAX_THREADS];
    ck_assert_msg(run(model, file, kernel, n, out) == HEDDLE_OK, "%s", message);
    for (uint32_t t = 0; t < n; t++)
        ck_assert_msg(out[t] == want(t), "%s, thread %u: %u, not %u", kernel, t, out[t], want(t));
}

static void check(const char *model, const char *file, const char *kernel, uint32_t (*want)(uint32_t t)) {
    check_threads(model, file, kernel, THREADS, want);
}

static uint32_t triangle(uint32_t t) { return (t + 40) * (t + 41) / 2; }
START_TEST(functions_give_their_stack_memory_back) { check(models[_i], "test/compiled/stack.ptx", "sums", triangle); }
END_TEST

/* Returns the expected sum. It has these parts: t, the byte that was stored; 0, the misalignment of the second
 * allocation; 1000, because the third allocation (after stackrestore) is not above the second; 10000, because the third
 * allocation does not overlap the first. */
static uint32_t pieces(uint32_t t) { return t + 1000 + 10000; }
START_TEST(pieces_of_the_stack) { check(models[_i], "test/compiled/stack.ptx", "pieces", pieces); }
END_TEST

/* 21 allocations of 3000 bytes fit into the stack of 65536 bytes, but 22 do not. */
START_TEST(stack_overflow_is_a_fault) {
    uint32_t out[THREADS];
    ck_assert_int_eq(run(models[_i], "test/compiled/stack.ptx", "too_much", THREADS, out), HEDDLE_FAULT);
    ck_assert_msg(strstr(message, "stack overflow") && strstr(message, "alloca of 66000 bytes aligned to 8, with 0 of "
                                                                       "the thread's 65536 bytes of stack in use"),
                  "%s", message);
    ck_assert_msg(strstr(message, "too_much") && strstr(message, "stack.ptx:93") && strstr(message, "22"), "%s",
                  message);
}
END_TEST

START_TEST(stackrestore_of_nonsense_is_a_fault) {
    uint32_t out[THREADS];
    ck_assert_int_eq(run(models[_i], "test/compiled/stack.ptx", "restored_wrongly", THREADS, out), HEDDLE_FAULT);
    ck_assert_msg(strstr(message, "stackrestore of 0x7fffffff") != NULL, "%s", message);
}
END_TEST

static uint32_t prime(uint32_t n) {
    uint32_t p = 2;
    for (uint32_t k = 0;; p++) {
        uint32_t d = 2;
        while (p % d)
            d++;
        if (d == p && k++ == n)
            return p;
    }
}
static uint32_t two_primes(uint32_t t) { return prime(t) + 1000 * prime(t + 3); }
START_TEST(an_index_counts_elements) { check(models[_i], "test/compiled/operands.ptx", "indexed", two_primes); }
END_TEST

static uint32_t square_and_self(uint32_t t) { return t * t + t; }
START_TEST(arrays_of_all_spaces) { check(models[_i], "test/compiled/operands.ptx", "indexed_arrays", square_and_self); }
END_TEST

/* Returns the expected result of thread t: 100 %ntid.x + %tid.x + 10000 %nctaid.y, with 32 threads per block and three
 * blocks along y. */
static uint32_t vectors(uint32_t t) { return 100 * 32 + t + 3 * 10000; }
START_TEST(special_registers_are_vectors) { check(models[_i], "test/compiled/operands.ptx", "vectors", vectors); }
END_TEST

static uint32_t other_end(uint32_t t) { return 3 * (MAX_THREADS - 1 - t); }
START_TEST(barrier_of_a_cluster) {
    check_threads(models[_i], "test/compiled/operands.ptx", "cluster_barrier", MAX_THREADS, other_end);
}
END_TEST

SUITE(host_operands) {
    TEST_LOOP(functions_give_their_stack_memory_back, 0, 2);
    TEST_LOOP(pieces_of_the_stack, 0, 2);
    TEST_LOOP(stack_overflow_is_a_fault, 0, 2);
    TEST_LOOP(stackrestore_of_nonsense_is_a_fault, 0, 2);
    TEST_LOOP(an_index_counts_elements, 0, 2);
    TEST_LOOP(arrays_of_all_spaces, 0, 2);
    TEST_LOOP(special_registers_are_vectors, 0, 2);
    TEST_LOOP(barrier_of_a_cluster, 0, 2);
}
