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

/* Check writes to a file whenever an assertion holds, so that it can say where a test was when it dies. Noting the
 * place is enough: it is written when a signal ends the test (test/main.c). Of many assertions, most of the time was
 * that. */
struct test_place {
    const char *file;
    int line;
};
extern _Thread_local struct test_place test_place;
#define _mark_point(at_file, at_line) ((void)(test_place = (struct test_place){at_file, at_line}))

struct test_suite {
    const char *name;
    void (*fill)(TCase *tc);
    struct test_suite *next;
};
void test_register(struct test_suite *s);
/* Writes a line on what the test tried last (test/tried.c); NULL: nobody knows. */
extern void (*test_say_tried)(char *out, size_t size);

#define SUITE(id)                                                                                                      \
    static void id##_fill(TCase *tc);                                                                                  \
    static struct test_suite id##_suite = {#id, id##_fill, NULL};                                                      \
    __attribute__((constructor)) static void id##_register(void) { test_register(&id##_suite); }                       \
    static void id##_fill(TCase *tc)
/* `test` with _i from `from` up to, not including, `to`. */
void test_add(TCase *tc, const TTest *test, int from, int to);
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
#define TEST(fn)                test_add(tc, fn, 0, 1)
#define TEST_LOOP(fn, from, to) test_add(tc, fn, from, to)
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
