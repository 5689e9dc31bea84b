#ifndef TEST_TEST_H
#define TEST_TEST_H
/* A suite is one file: test/<folder>/<file>.c tests <folder>/<file>.c. The suite's name consists of folder and file. A
 * suite registers itself:
 *
 *     START_TEST(adds) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     SUITE(isa_decode) { TEST(adds); }
 *
 * Tests run with the repository's root as the current folder. `build/gcc/check isa_decode` runs one suite. -jN sets the
 * number of processes that run suites. */
#include "test/random.h"
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Source location of the last assertion that succeeded in this thread. If a signal ends the test, the message names
 * this location. */
struct test_place {
    const char *file;
    int line;
};
extern _Thread_local struct test_place test_place;
/* The machine that this thread opened last, and the kernel that it launched last on that machine (test/tried.c). */
struct test_tried {
    char machine[512], kernel[128];
};
extern _Thread_local struct test_tried test_tried;

/* Fails the test with this source location and ends its process. May be called in any thread, and in a child
 * process. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Records the case that a loop inside a test is checking: for example the model, the row of a table, or the seed. If
 * the test fails or crashes, the message ends with this text. Each case has the processor time that a test has. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on, free() keeps all pages in the process. Tests of processor time call this function: a page fault costs
 * ten times as much on some virtual machines. Returns false if the allocator has no such option: those of the
 * sanitizers have none, and the test then skips its limit. */
bool test_keep_pages(void);

/* All assertions of Check expand to these macros. They replace Check's own versions, which write the source location to
 * a file whenever an assertion succeeds; these versions write it to memory. A failure ends the process, so that no
 * later test runs in the state that the failed test leaves. */
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
/* Adds `test`, which runs once for each _i in [from, to). If `is_loop` is true, messages contain _i. */
void test_add(TCase *tc, const TTest *test, int from, int to, bool is_loop);
/* Used in a SUITE(): runs each of its tests in its own process, because the tests change state that only the end of a
 * process resets. The tests of other suites run in one process. After each of those tests, the harness restores the
 * environment, the current folder, signal handlers, limits and standard streams (test/harness/state.c). */
#define EACH_IN_ITS_PROCESS test_each_in_its_process()
void test_each_in_its_process(void);
/* Skips the test for the given reason, if it cannot run on this machine or in this build. The test must return after
 * the call. The test counts as skipped, not as passed. */
void test_skip(const char *why);
/* Returns true if HEDDLE_EVERY is set in the environment (make check-long). Tests then run all combinations; otherwise
 * they run a sample, and the comment of the test says which. */
bool test_every(void);
/* Returns the number of occurrences of `what` in the text `in`. Occurrences do not overlap. */
int occurrences(const char *in, const char *what);
/* An assertion for inner loops. It is faster than ck_assert(), which records its location whenever it succeeds. */
#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)
#define TEST(fn)                test_add(tc, fn, 0, 1, false)
#define TEST_LOOP(fn, from, to) test_add(tc, fn, from, to, true)
/* A build with minimal tables (TINY=1) is too slow for tests that require a minimum speed. Such a build omits these
 * tests. */
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
