/* Tests sums of many values in one lane: which sums become one instruction if the order of the additions is free, which
 * sums stay, and why. test/timing/sm/reduce_serial.c compares results. */
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

enum { SIZE = 8192 };
struct text {
    char s[SIZE];
    int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    t->n += vsnprintf(t->s + t->n, (size_t)(SIZE - t->n), fmt, args);
    va_end(args);
    ck_assert(t->n < SIZE);
}

/* Returns the output of `inspect --pass reduce` for a kernel with this body, whose first line is line 4 of the text. */
static char *show(const char *ieee, const char *body) {
    static const char head[] =
        ".version 7.0\n.target sm_70\n.address_size 64 .visible .entry k(.param .u64 p) { .shared .align 16 .b8 "
        "s[1024]; .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>; .reg .f32 %f<200>;\n";
    const char *const set[] = {ieee, NULL};
    struct text t = {.n = 0};
    add(&t, "%s%sst.global.f32 [%%d1], %%f0;\nret;\n}\n", head, body);
    return listing_of("functional+reduce", set, "reduce", t.s);
}

/* Writes n loads of consecutive words. After each load, an addition adds the word to %f0, so a word takes two lines.
 * The first addition adds to `from`. */
static void serial(struct text *t, int n, const char *from, const char *base, int offset) {
    for (int k = 0; k < n; k++)
        add(t, "ld.shared.f32 %%f%d, [%s+%d];\nadd.f32 %%f0, %s, %%f%d;\n", k + 1, base, offset + 4 * k,
            k ? "%f0" : from, k + 1);
}

/* A sum must have 4 to 32 values. The first addition is in line 5, and the k-th in line 3 + 2k. */
START_TEST(runs_become_one) {
    for (int n = 1; n <= 40; n++) {
        struct text t = {.n = 0};
        char want[128];
        serial(&t, n, n % 2 ? "0f3F800000" : "%f0", n % 3 ? "s" : "%r1", 16);
        char *shown = show("chain.ieee=off", t.s);
        int first = n < 32 ? n : 32, rest = n - first;
        ck_assert_msg(occurrences(shown, " #reduce ") == (n >= 4) + (rest >= 4), "%d values:\n%s", n, shown);
        ck_assert_msg(occurrences(shown, "add.f32 %f0,") == (n < 4      ? n
                                                             : rest < 4 ? rest
                                                                        : 0),
                      "%d values:\n%s", n, shown);
        ck_assert_msg(occurrences(shown, "shared[") == (n < 4 ? n : rest < 4 ? rest : 0), "%d values:\n%s", n, shown);
        snprintf(want, sizeof want, "shared, add.f32, %d words in a row  // %d\n", first, 3 + 2 * first);
        ck_assert_msg(n < 4 || strstr(shown, want), "%d values: no '%s' in\n%s", n, want, shown);
        snprintf(want, sizeof want, "line %d: sum of %d words in a row, from line 5 on: %d instructions in one\n",
                 3 + 2 * first, first, 2 * first);
        ck_assert_msg(n < 4 || strstr(shown, want), "%d values: no '%s' in\n%s", n, want, shown);
        free(shown);
    }
}
END_TEST

/* If the order of the program's additions must be kept, the pass makes no tree. */
START_TEST(the_order_must_be_free) {
    struct text t = {.n = 0};
    serial(&t, 32, "0f00000000", "s", 0);
    char *shown = show("chain.ieee=on", t.s);
    ck_assert_int_eq(occurrences(shown, " #reduce "), 0);
    ck_assert_msg(strstr(shown, "line 67: left alone: 32 values are added one after another: a tree adds them in "
                                "another order (chain.ieee=off lets it)\n") != NULL,
                  "%s", shown);
    free(shown);
}
END_TEST

#define FOUR                                                                                                           \
    "ld.shared.f32 %f1, [s];\nld.shared.f32 %f2, [s+4];\nld.shared.f32 %f3, [s+8];\nld.shared.f32 %f4, [s+12];\n"
#define ADD(d, a, b) "add.f32 %f" #d ", %f" #a ", %f" #b ";\n"

static const struct {
    const char *what, *body;
    int sums;
    const char *want;
} bodies[] = {
    {"either side", FOUR ADD(5, 9, 1) ADD(6, 2, 5) ADD(7, 3, 6) ADD(0, 7, 4), 1,
     "#reduce %f0, %f9: shared, add.f32, 4"},
    {"the sum starts with the first two words",
     FOUR "ld.shared.f32 %f8, [s+16];\n" ADD(5, 1, 2) ADD(6, 5, 3) ADD(7, 6, 4) ADD(0, 7, 8), 1,
     "#reduce %f0, %f1: shared, add.f32, 4 words"},
    {"a vector", "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [s+32];\n" ADD(0, 0, 1) ADD(0, 0, 2) ADD(0, 0, 3) ADD(0, 0, 4),
     1, "from line 5 on: 5 instructions in one"},
    {"two vectors, of the second three words",
     "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [s];\nld.shared.v4.f32 {%f5, %f6, %f7, %f8}, [s+16];\n" ADD(0, 0, 1)
         ADD(0, 0, 2) ADD(0, 0, 3) ADD(0, 0, 4) ADD(0, 0, 5) ADD(0, 0, 6) ADD(0, 0, 7) "mul.f32 %f0, %f0, %f8;\n",
     1, "add.f32, 7 words in a row"},
    {"a value with another reader is still loaded",
     FOUR ADD(0, 0, 1) ADD(0, 0, 2) ADD(0, 0, 3) ADD(0, 0, 4) "mul.f32 %f0, %f0, %f3;\n", 1,
     "from line 8 on: 7 instructions in one"},
    {"not consecutive", FOUR ADD(0, 0, 2) ADD(0, 0, 1) ADD(0, 0, 3) ADD(0, 0, 4), 0, ""},
    {"a partial sum with another reader", FOUR ADD(5, 9, 1) ADD(6, 2, 5) ADD(7, 3, 6) ADD(0, 7, 4) ADD(0, 0, 6), 0, ""},
    {"differences", FOUR ADD(0, 0, 1) ADD(0, 0, 2) "sub.f32 %f0, %f0, %f3;\n" ADD(0, 0, 4), 0, ""},
    {"another rounding", FOUR ADD(0, 0, 1) ADD(0, 0, 2) "add.rz.f32 %f0, %f0, %f3;\n" ADD(0, 0, 4), 0, ""},
    {"a guarded addition", FOUR ADD(0, 0, 1) ADD(0, 0, 2) "@%p1 " ADD(0, 0, 3) ADD(0, 0, 4), 0, ""},
    {"flushed to zero, all of them",
     FOUR "add.ftz.f32 %f0, %f0, %f1;\nadd.ftz.f32 %f0, %f0, %f2;\nadd.ftz.f32 %f0, %f0, %f3;\nadd.ftz.f32 %f0, %f0, "
          "%f4;\n",
     1, "add.ftz.f32, 4 words"},
    {"flushed to zero, one of them", FOUR ADD(0, 0, 1) "add.ftz.f32 %f0, %f0, %f2;\n" ADD(0, 0, 3) ADD(0, 0, 4), 0, ""},
    {"global memory",
     "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\nld.global.f32 %f3, [%d1+8];\n"
     "ld.global.f32 %f4, [%d1+12];\n" ADD(0, 0, 1) ADD(0, 0, 2) ADD(0, 0, 3) ADD(0, 0, 4),
     0, ""},
    {"volatile words",
     "ld.volatile.shared.f32 %f1, [s];\nld.volatile.shared.f32 %f2, [s+4];\n"
     "ld.volatile.shared.f32 %f3, [s+8];\nld.volatile.shared.f32 %f4, [s+12];\n" ADD(0, 0, 1) ADD(0, 0, 2) ADD(0, 0, 3)
         ADD(0, 0, 4),
     0, ""},
    {"a store to shared memory between",
     FOUR ADD(0, 0, 1) ADD(0, 0, 2) "st.shared.f32 [s+64], %f9;\n" ADD(0, 0, 3) ADD(0, 0, 4), 0,
     "what stands between its loads may not pass them"},
    {"a store elsewhere between",
     FOUR ADD(0, 0, 1) ADD(0, 0, 2) "st.global.f32 [%d1], %f9;\n" ADD(0, 0, 3) ADD(0, 0, 4), 1, "4 words"},
    {"a store through a generic address between",
     FOUR ADD(0, 0, 1) ADD(0, 0, 2) "st.f32 [%d1], %f9;\n" ADD(0, 0, 3) ADD(0, 0, 4), 0, "may not pass them"},
    {"a barrier between", FOUR ADD(0, 0, 1) ADD(0, 0, 2) "bar.sync 0;\n" ADD(0, 0, 3) ADD(0, 0, 4), 0, ""},
    {"an address that is written on the way",
     "ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\nld.shared.f32 %f3, [%r1+8];\nadd.u32 %r1, %r1, 4;\n"
     "ld.shared.f32 %f4, [%r1+12];\n" ADD(0, 0, 1) ADD(0, 0, 2) ADD(0, 0, 3) ADD(0, 0, 4),
     0, "its address is written on the way"},
    {"what it begins with is written on the way",
     FOUR ADD(5, 9, 1) "mov.f32 %f9, %f8;\n" ADD(6, 2, 5) ADD(7, 3, 6) ADD(0, 7, 4) ADD(0, 0, 9), 0,
     "what it begins with is written on the way"},
    {"two sums that cross: the first ends where the second has begun with its register",
     FOUR "ld.shared.f32 %f11, [s+64];\nld.shared.f32 %f12, [s+68];\nld.shared.f32 %f13, [s+72];\nld.shared.f32 %f14, "
          "[s+76];\n" ADD(5, 0, 1) ADD(5, 5, 2) ADD(5, 5, 3) ADD(15, 9, 11) ADD(9, 5, 4) ADD(15, 15, 12) ADD(15, 15, 13)
              ADD(15, 15, 14) ADD(0, 9, 15),
     1, "what it begins with is written on the way"},
    {"a loop of four a turn",
     "mov.u32 %r2, 0;\nL:\nld.shared.f32 %f1, [%r1];\n" ADD(0, 0, 1) "ld.shared.f32 %f2, [%r1+4];\n" ADD(
         0, 0,
         2) "ld.shared.f32 %f3, [%r1+8];\n" ADD(0, 0,
                                                3) "ld.shared.f32 %f4, [%r1+12];\n" ADD(0, 0,
                                                                                        4) "add.u32 %r1, %r1, "
                                                                                           "16;\nadd.u32 %r2, %r2, "
                                                                                           "1;\nsetp.lt.u32 %p1, %r2, "
                                                                                           "9;\n@%p1 bra L;\n",
     1, "#reduce %f0, %f0: shared, add.f32, 4 words"},
    {"a loop of one a turn",
     "mov.u32 %r2, 0;\nL:\nld.shared.f32 %f1, [%r1];\n" ADD(
         0, 0, 1) "add.u32 %r1, %r1, 4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n",
     0, "line 7: left alone: one value after another is added to a sum, a few in each turn of a loop\n"},
    {"an atomic", "red.shared.add.f32 [s], %f1;\n", 0, "line 4: left alone: memory adds what each lane sends"},
};

START_TEST(what_is_taken_and_what_is_left) {
    char *shown = show("chain.ieee=off", bodies[_i].body);
    ck_assert_msg(occurrences(shown, " #reduce ") == bodies[_i].sums, "%s: not %d sums in\n%s", bodies[_i].what,
                  bodies[_i].sums, shown);
    ck_assert_msg(strstr(shown, bodies[_i].want) != NULL, "%s: no '%s' in\n%s", bodies[_i].what, bodies[_i].want,
                  shown);
    free(shown);
}
END_TEST

/* A single addition outside a loop, and a sum that starts again in each iteration of a loop, are not sums of many
 * values. */
START_TEST(few_additions_are_no_sum) {
    static const char *const few[] = {
        "ld.shared.f32 %f1, [s];\nadd.f32 %f0, %f0, %f1;\n",
        "L:\nld.shared.f32 %f1, [%r1];\nadd.f32 %f0, %f9, %f1;\nadd.u32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, 99;\n"
        "@%p1 bra L;\n"};
    for (int k = 0; k < 2; k++) {
        char *shown = show("chain.ieee=off", few[k]);
        ck_assert_msg(!strstr(shown, "is added to a sum"), "%s", shown);
        free(shown);
    }
}
END_TEST

SUITE(mechanisms_reduce_serial) {
    TEST(runs_become_one);
    TEST(the_order_must_be_free);
    TEST(few_additions_are_no_sum);
    TEST_LOOP(what_is_taken_and_what_is_left, 0, sizeof bodies / sizeof bodies[0]);
}
