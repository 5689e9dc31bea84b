#include "text.h"

static const struct operand *initial(const struct parsed *p) { return p->module->statements->variable->init->value; }

static struct parsed parse_value(const char *expression) {
    char text[200];
    snprintf(text, sizeof text, ".global .b64 x = %s;", expression);
    return parse_items(text);
}

/* The expected results are computed by C, except for ~, % and ?:, which differ (see ptx/fold.c). */
static const struct {
    const char *text;
    int64_t value;
    bool is_unsigned;
} integers[] = {
    {"1 + 2 * 3", 7, false},
    {"(1 + 2) * 3", 9, false},
    {"10 - 4 - 3", 3, false},
    {"-7 / 2", -3, false},
    {"-7 % 3", 0, true}, /* 2^64 - 7 = 3 * 6148914691236517203 */
    {"5 % -1", 5, true},
    {"(8 % 3) / -1", 0, true},              /* 2 / (2^64 - 1) */
    {"(~1) / 3", 0x5555555555555554, true}, /* 2^64 - 2 = 3 * 0x5555555555555554 + 2 */
    {"7U / 2", 3, true},
    {"-1 / 2U", INT64_MAX, true}, /* the result is unsigned if one of the operands is unsigned */
    {"1 << 4 >> 2", 4, false},
    {"-16 >> 2", -4, false},
    {"0x8000000000000000 >> 63", 1, true},
    {"1 << 65", 2, false},
    {"-256 >> 65", -128, false},
    {"1 << -1", INT64_MIN, false},
    {"6 & 3 | 8 ^ 12", 6, false}, /* 2 | 4 */
    {"1 | 6 ^ 2", 5, false},
    {"~0", -1, true},
    {"!3 + !0", 1, false},
    {"- -5", 5, false},
    {"+5", 5, false},
    {"1 < 2", 1, false},
    {"-1 < 1U", 0, false}, /* compared as unsigned */
    {"2 <= 1", 0, false},
    {"2 >= 2", 1, false},
    {"3 > 2 == 1", 1, false},
    {"1 != 1", 0, false},
    {"0 || 2 && 0", 0, false},
    {"1 || 0 && 0", 1, false},
    {"0 ? 1 : 2 ? 3 : 4", 3, false},
    {"1 ? 2 : 3U", 2, false},
    {"0 ? 2 : 3U", 3, true},
    {"(.u64) -1", -1, true},
    {"(.s64) 5U", 5, false},
    {"(.s64) 2.75", 2, false},
    {"(.s64) -2.75", -2, false},
    {"((((7))))", 7, false},
    {"WARP_SZ - 1", 31, false},
    {"-9223372036854775807 - 1", INT64_MIN, false},
    {"(-9223372036854775807 - 1) / -1", INT64_MIN, false},
    {"(-9223372036854775807 - 1) % -1", INT64_MIN, true},
    {"1.5 < 2", 1, false},
    {"1.5 != 1.5", 0, false},
    {"0d7FF8000000000000 == 0d7FF8000000000000", 0, false}, /* not a number */
    {"0d7FF8000000000000 != 0d7FF8000000000000", 1, false},
    {"!0.0", 1, false},
};

START_TEST(integer_expressions) {
    struct parsed p = parse_value(integers[_i].text);
    ck_assert_int_eq(initial(&p)->kind, OPD_INT);
    ck_assert_int_eq((int64_t)initial(&p)->integer, integers[_i].value);
    ck_assert_int_eq(initial(&p)->is_unsigned, integers[_i].is_unsigned);
    parsed_free(&p);
}
END_TEST

static const struct {
    const char *text;
    double value;
} reals[] = {
    {"1.5 + 2", 3.5}, {"1.5 * -2.0", -3},      {"1.0 / 4", 0.25},    {"-0.5", -0.5},
    {"+0.5", 0.5},    {"2.0 - 0f3F800000", 1}, {"1 ? 0.5 : 2", 0.5},
};

START_TEST(real_expressions) {
    struct parsed p = parse_value(reals[_i].text);
    double value;
    memcpy(&value, &initial(&p)->real, 8);
    ck_assert_int_eq(initial(&p)->kind, OPD_FLOAT);
    ck_assert_int_eq(initial(&p)->real_bits, 64);
    ck_assert_double_eq(value, reals[_i].value);
    parsed_free(&p);
}
END_TEST

START_TEST(minus_flips_the_sign_of_32_bits) {
    struct parsed p = parse_value("-0f3F800000");
    ck_assert_uint_eq(initial(&p)->real, 0xbf800000);
    ck_assert_int_eq(initial(&p)->real_bits, 32);
    parsed_free(&p);
}
END_TEST

START_TEST(symbol_with_offset) {
    struct parsed p = parse_value("other + 4 * 2 - 1");
    ck_assert_int_eq(initial(&p)->kind, OPD_SUM);
    ck_assert_str_eq(initial(&p)->sub->name->text, "other");
    ck_assert_int_eq((int64_t)initial(&p)->integer, 7);
    parsed_free(&p);
}
END_TEST

/* Expressions with one error, and the message about it. The expression begins in column 18. */
static const struct {
    const char *text, *message;
} mistakes[] = {
    {"1 / 0", "t.ptx:4:22: error: division by zero"},
    {"1 % (1 - 1)", "t.ptx:4:23: error: division by zero"},
    {"1 + y", "t.ptx:4:22: error: 'y' is not a constant"},
    {"y * 2", "t.ptx:4:18: error: 'y' is not a constant"},
    {"y - z", "t.ptx:4:22: error: 'z' is not a constant"},
    {"~y", "t.ptx:4:19: error: 'y' is not a constant"},
    {"1 ? y : 2", "t.ptx:4:22: error: 'y' is not a constant"},
    {"(.u32) 1", "t.ptx:4:18: error: a constant can be cast only to .s64 or .u64"},
    {"(.s64) 1e30", "t.ptx:4:18: error: number does not fit into 64 bits"},
    {"~1.5", "t.ptx:4:18: error: '~' needs an integer"},
    {"1.5 & 1", "t.ptx:4:18: error: operator needs integer operands"},
    {"18446744073709551616", "t.ptx:4:18: error: number does not fit into 64 bits"},
    {"0x10000000000000000", "t.ptx:4:18: error: number does not fit into 64 bits"},
    {"1e999", "t.ptx:4:18: error: number does not fit into a 64-bit float"},
    {"-%r", "t.ptx:4:18: error: initialiser must be a constant or the address of a variable"},
    {"a | b", "t.ptx:4:18: error: initialiser must be a constant or the address of a variable"},
    {"_", "t.ptx:4:18: error: initialiser must be a constant or the address of a variable"},
    {"(1, 2)", "t.ptx:4:18: error: initialiser must be a constant or the address of a variable"},
    {"0(y)", "t.ptx:4:18: error: expected a single non-zero mask"},
    {"1(2(y))", "t.ptx:4:18: error: expected a single non-zero mask"},
};

START_TEST(mistakes_in_expressions) {
    char text[200];
    snprintf(text, sizeof text, HEADER ".global .b64 x = %s;", mistakes[_i].text);
    struct parsed p = parse_text(text);
    char *output = messages(&p.diags);
    output[strcspn(output, "\n")] = 0;
    ck_assert_str_eq(output, mistakes[_i].message);
    ck_assert_int_eq(p.diags.errors, 1);
    free(output);
    parsed_free(&p);
}
END_TEST

SUITE(ptx_fold) {
    TEST_LOOP(integer_expressions, 0, sizeof integers / sizeof *integers);
    TEST_LOOP(real_expressions, 0, sizeof reals / sizeof *reals);
    TEST(minus_flips_the_sign_of_32_bits);
    TEST(symbol_with_offset);
    TEST_LOOP(mistakes_in_expressions, 0, sizeof mistakes / sizeof *mistakes);
}
