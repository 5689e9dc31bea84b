#ifndef TEST_TEST_H
#define TEST_TEST_H
/* A suite is one file, test/<folder>/<file>.c for <folder>/<file>.c. Its name is made from folder and file. The suite
 * registers itself:
 *     START_TEST(adds) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     SUITE(isa_decode) { TEST(adds); }
 * Tests run with the repository's root as the current folder. `build/gcc/check isa_decode` runs one suite. -jN sets the
 * number of processes that run suites. */
#include "test/random.h"
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Place in the source of the last assertion that held in this thread. The message about a signal names this place. */
struct test_place {
    const char *file;
    int line;
};
extern _Thread_local struct test_place test_place;
/* The machine that the thread opened last, and the kernel that it launched there last (test/tried.c). */
struct test_tried {
    char machine[512], kernel[128];
};
extern _Thread_local struct test_tried test_tried;

/* Fails the test at this place and ends its process. May be called in any thread and in a child process. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Records the case that a test's loop is checking now: the model, the row of a table, or the seed. A message about a
 * failure or crash of the test ends with this text. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* All assertions of Check expand to these macros. The versions here record the place in memory, because Check's own
 * versions write it to a file whenever an assertion holds. A failure ends the process, so that no later test runs in
 * the state that the failed test leaves. */
#undef ck_assert
#undef ck_assert_msg
#undef ck_abort_msg
#define ck_assert(condition) ck_assert_msg(condition, "%s", "Assertion '" #condition "' failed")
#define ck_assert_msg(condition, ...)                                                                                  \
    ((condition) ? (void)(test_place = (struct test_place){__FILE__, __LINE__})                                        \
                 : test_fail(__FILE__, __LINE__, __VA_ARGS__))
#define ck_abort_msg(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

struct test_suite {
    const char *name;
    void (*fill)(TCase *tc);
    struct test_suite *next;
};
void test_register(struct test_suite *s);

#define SUITE(id)                                                                                                      \
    static void id##_fill(TCase *tc);                                                                                  \
    static struct test_suite id##_suite = {#id, id##_fill, NULL};                                                      \
    __attribute__((constructor)) static void id##_register(void) { test_register(&id##_suite); }                       \
    static void id##_fill(TCase *tc)
/* Adds `test`, to run once for each _i in [from, to). Messages name _i if `is_loop` is true. */
void test_add(TCase *tc, const TTest *test, int from, int to, bool is_loop);
/* In a SUITE(): runs each test in its own process, because the tests change state that only the end of a process
 * resets. The tests of other suites share a process. After each of them, the environment, the current folder, signal
 * handlers, limits and standard streams are restored (test/harness/state.c). */
#define EACH_IN_ITS_PROCESS test_each_in_its_process()
void test_each_in_its_process(void);
/* Call it if the test has nothing to check on this machine or build, with the reason, and then return. The test counts
 * as skipped, not as passed. */
void test_skip(const char *why);
/* Returns true if HEDDLE_EVERY is set in the environment (make check-long). Tests then run all combinations; otherwise
 * they run a sample, and the comment of the test says which. */
bool test_every(void);
/* Returns how often `what` occurs in the text `in`, without overlaps. */
int occurrences(const char *in, const char *what);
/* An assertion for inner loops. It is faster than ck_assert(), which records its place whenever it holds. */
#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)
#define TEST(fn)                test_add(tc, fn, 0, 1, false)
#define TEST_LOOP(fn, from, to) test_add(tc, fn, from, to, true)
/* A build with minimal tables (TINY=1) does not reach the speeds that some tests require. These tests are omitted. */
#ifdef HEDDLE_TINY
enum { LEAST_TABLES = 1 };
#define TEST_SPEED(fn)                ((void)(fn))
#define TEST_SPEED_LOOP(fn, from, to) ((void)(fn))
#else
enum { LEAST_TABLES = 0 };
#define TEST_SPEED(fn)                TEST(fn)
#define TEST_SPEED_LOOP(fn, from, to) TEST_LOOP(fn, from, to)
#endif
#endif
