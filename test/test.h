#ifndef TEST_TEST_H
#define TEST_TEST_H
/* A suite is one file, test/<folder>/<file>.c for <folder>/<file>.c, and its name says both. It registers itself:
 *     START_TEST(adds) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     SUITE(isa_decode) { TEST(adds); }
 * Tests run with the repository's root as the current folder. `build/gcc/check isa_decode` runs one suite,
 * -jN says how many processes run suites. */
#include "test/random.h"
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where the thread is: at its last assertion that held. A signal's message names it. */
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

/* Ends the test, and its process: it has failed at this place. Of a thread or of a child process as well. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Notes what the test looks at now, of many things that it looks at in a loop: the model, the row of a table, the seed.
 * A message about the test's failure or death ends with it. */
void test_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Check's assertions end in these two. Here they note the place in memory, since Check's own write it to a file
 * whenever an assertion holds; and a failure ends the process, so that no later test runs in the state that it
 * leaves. */
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
/* In a SUITE(): its tests leave something behind that only the end of a process takes away. The tests of other suites
 * share a process, and the environment, the current folder, signal handlers, limits and standard streams are put back
 * after each (test/harness/state.c). */
#define EACH_IN_ITS_PROCESS test_each_in_its_process()
void test_each_in_its_process(void);
/* The test has nothing to check here, and says why; to be followed by a return. It counts as skipped, not as passed. */
void test_skip(const char *why);
/* HEDDLE_EVERY is set in the environment (make check-long): whole products, where else a part is taken in which every
 * pair stands. */
bool test_every(void);
/* How often `what` stands in the text `in`; they do not overlap. */
int occurrences(const char *in, const char *what);
/* An assertion for inner loops: ck_assert() notes where it is whenever it holds. */
#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)
#define TEST(fn)                test_add(tc, fn, 0, 1, false)
#define TEST_LOOP(fn, from, to) test_add(tc, fn, from, to, true)
/* A machine with the least of tables (TINY=1) does not reach the speeds that some tests ask for: these are left out. */
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
