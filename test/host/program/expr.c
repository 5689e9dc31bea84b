/* Tests the expressions of programs. The C compiler evaluates the same expressions and so provides the expected
 * values. */
#include "host/program/expr.h"
#include "test/test.h"
#include <stdio.h>

static int64_t n = 128, at = 48;
static struct named_value list[] = {
    {"n", {.i = 0}}, {"at", {.i = 0}}, {"half", {.real = true, .r = 0.5}}, {"g.edges", {.i = 7}}};
static const struct names names = {list, 4};

static void same(const char *text, int64_t want) {
    struct value v;
    struct expr_error e;
    list[0].v.i = n;
    list[1].v.i = at;
    ck_assert_msg(expr_eval(text, &names, &v, &e), "%s: %s", text, e.why);
    ck_assert_msg(!v.real && v.i == want, "%s is %lld, C says %lld", text, (long long)v.i, (long long)want);
}
#pragma GCC diagnostic ignored "-Wparentheses" /* precedence is tested without parentheses */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbool-compare"
#else
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#endif
#define SAME(e) same(#e, (int64_t)(e))

START_TEST(as_in_c) {
    SAME((n - at) / 16 - 1);
    SAME(n - at - 3 - 2);
    SAME(n / 3 / 2 * 5 % 7);
    SAME(2 + 3 * 4 - -5);
    SAME(-n / 3);
    SAME(-n % 3);
    SAME(1 << 3 + 2);
    SAME(n >> 2 < at == 1);
    SAME(n > at && at >= 48 || 0);
    SAME(1 || 0 && 0);
    SAME(n != 128 == 0);
    SAME(!n + !0);
    SAME(!(n < at) && n <= 128);
    SAME(0x10 + 0xfF);
    SAME(1 < 2 < 3 > 4);
    SAME((((n))));
    same("min(n, at) + max(1, 2)", 50);
    same("blocks(n, 48) + blocks(96, 48) + blocks(0, 5)", 5); /* 3, 2, 0 */
    same(" g.edges*2 ", 14);
}
END_TEST

static const struct {
    const char *text, *why;
    size_t at;
    bool numeric;
} wrong[] = {
    {"", "the expression ends too early", 0, false},
    {"n +", "the expression ends too early", 3, false},
    {"(n", "a ')' is missing here", 2, false},
    {"n n", "the expression should end here", 2, false},
    {"n + mm", "there is no value 'mm'", 4, false},
    {"att * 2", "there is no value 'att'; did you mean 'at'?", 0, false},
    {"3x", "this is no number", 0, false},
    {"1 / (n - n)", "a division by zero", 2, true},
    {"1 % 0", "a division by zero", 2, true},
    {"1.5 % 2", "the operator takes whole numbers", 4, true},
    {"9223372036854775807 + 1", "the result takes more than 64 bits", 20, true},
    {"9223372036854775808", "the number takes more than 64 bits", 0, false},
    {"(-9223372036854775807 - 1) / -1", "the result takes more than 64 bits", 27, true},
    {"1 << 63", "a shift by less than 0 or more than 62", 2, true},
    {"2 << 62", "the result takes more than 64 bits", 2, true},
    {"blocks(1, 0)", "blocks() takes whole numbers, the second of them positive", 0, true},
    {"blocks(1)", "blocks() takes two values: blocks(a, b)", 8, false},
    {"abs(1, 2)", "there is no function 'abs'; there are min, max and blocks", 0, false},
    {"n $ 2", "the expression should end here", 2, false},
};

START_TEST(mistakes_are_located) {
    struct value v;
    struct expr_error e;
    ck_assert_msg(!expr_eval(wrong[_i].text, &names, &v, &e), "%s", wrong[_i].text);
    ck_assert_str_eq(e.why, wrong[_i].why);
    ck_assert_msg(e.at == wrong[_i].at, "%s: at %zu", wrong[_i].text, e.at);
    ck_assert_msg(e.numeric == wrong[_i].numeric, "%s", wrong[_i].text);
}
END_TEST

START_TEST(reals) {
    struct value v;
    struct expr_error e;
    ck_assert(expr_eval("half * 3 + 1e-1 / 2", &names, &v, &e));
    ck_assert(v.real);
    ck_assert_double_eq(v.r, 0.5 * 3 + 1e-1 / 2);
    ck_assert(expr_eval("half < 1", &names, &v, &e) && !v.real && v.i == 1);
}
END_TEST

/* An expression that is nested too deeply gives an error message. Any random text gives a value or an error message. */
START_TEST(anything_ends) {
    char text[2048];
    struct value v;
    struct expr_error e;
    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    ck_assert(!expr_eval(text, &names, &v, &e));
    ck_assert_str_eq(e.why, "the expression is too deep");
    static const char bytes[] = "n()+-*/%<>=!&|,.0123xeat min(max blocks";
    uint64_t state = 3;
    for (int i = 0; i < 20000; i++) {
        int len = (int)test_random_below(&state, 24);
        for (int k = 0; k < len; k++)
            text[k] = bytes[test_random_below(&state, sizeof bytes - 1)];
        text[len] = '\0';
        if (!expr_eval(text, &names, &v, &e))
            EXPECT(e.at <= (size_t)len && e.why[0], "%s: at %zu", text, e.at);
    }
}
END_TEST

SUITE(host_program_expr) {
    TEST(as_in_c);
    TEST_LOOP(mistakes_are_located, 0, (int)(sizeof wrong / sizeof *wrong));
    TEST(reals);
    TEST(anything_ends);
}
