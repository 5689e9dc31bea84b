/* Tests how the parser recovers after an error, and its limits. */
#include "text.h"

/* Checks the line numbers of all errors in a text. They are given as a string, for example "5 7 9". */
static void check_lines(const char *text, const char *expected) {
    struct parsed p = parse_text(text);
    char lines[500] = "", *output = messages(&p.diags);
    for (int i = 0; i < p.diags.n; i++) {
        int line, column;
        diag_position(&p.diags, p.diags.list[i].loc.begin, &line, &column);
        if (p.diags.list[i].kind == DIAG_ERROR)
            sprintf(lines + strlen(lines), "%s%d", *lines ? " " : "", line);
    }
    ck_assert_msg(strcmp(lines, expected) == 0, "lines %s, expected %s\n%s", lines, expected, output);
    free(output);
    parsed_free(&p);
}

/* Texts, and the lines of their errors. Items of the module begin on line 4; the statements of a body begin on
 * line 5. */
static const struct {
    const char *text, *lines;
} cases[] = {
    /* an error in a statement: parsing resumes after the next semicolon, and the skipped text gives no errors */
    {".entry k() {\nadd 1 2;\nret;\nadd ,;\n}", "5 7"},
    {".entry k() {\nmov {a b}, {c, d};\nmov [a b], c;\nmov (a b), {c;\nmov {a, b c;\nret;\n}", "5 6 7 8"},
    {".entry k() {\nif (x) {\n y = 1;\n if (y) { z = 2; }\n}\nadd ,;\n}", "5 9"},
    /* a missing semicolon gives one message, and the next statement is parsed normally */
    {".entry k() {\nadd a\nadd b\n@p add ,;\nadd c\n.reg .b32 1;\n.loc 1 1 1\nret\n}", "5 6 7 8 9 11"},
    /* a directive without semicolon ends before a token that begins a line */
    {".entry k() {\n.loc 1\n.loc 1 1 1\nadd ,;\n.loc 1 2\n@p add ,;\n}", "6 7 9 9"},
    /* the } of a block ends the recovery */
    {".entry k() {\n{\nadd ,\n}\nadd ,;\n}\n.zebra;", "6 8 10"},
    {".entry k() {\nadd 1 2 }\n.zebra;", "5 6"},
    /* items */
    {".global 1;\n.global 2;\n.global .b32 x;\n.global 3;", "4 5 7"},
    {".zebra k() {\nadd ,;\n{ }\n}\n.global 1;", "4 8"},
    {".entry k(.param 1) {\nadd ,;\n}\n.global 1;", "4 7"},
    {".zebra\n.visible .entry k() {\nadd ,;\n}", "4 6"},
    {".global .b32 x\n.visible .global 1;\n.func f(\n.entry k() { add ,; }", "4 5 7 7"},
    {".entry k()\n.entry l()\n.entry m() { 1; }", "5 6 6"},
    {"}\n}\n.global 1;", "4 5 6"},
    {".global .b32 x[] = {1, {2}, 3 4, {5}};\n.global 1;", "4 5"},
    {".global .b32 x[] 7 = {1, {2}};\n.global 1;", "4 5"},
    {".entry k() {\n.entry l() {\n1;\n}\n}\n.global 1;", "5 6 8 9"},
    {".entry k() {\n{\nadd 1 2\n.entry l() { 1; }", "6 7"},
    {".entry k() {\nmov {a #}, b;\nadd ,;\n}", "5 6"},
    {"x { y\n}\n.global 1;\n.entry k() {", "4 6 7"},
    /* an error at the end of the text gives no further errors */
    {".entry k() { add 1 2", "4"},
    {".entry k() {\nadd 1 2", "5"},
    {".zebra", "4"},
};

START_TEST(parsing_continues_after_errors) {
    char text[500];
    snprintf(text, sizeof text, HEADER "%s", cases[_i].text);
    check_lines(text, cases[_i].lines);
}
END_TEST

START_TEST(errors_end_after_the_limit) {
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fprintf(f, HEADER ".entry k() {\n");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "add ,;\n");
    fprintf(f, "}\n");
    fclose(f);
    struct parsed p = parse_text(text);
    ck_assert_int_eq(p.diags.errors, 20);
    free(text);
    parsed_free(&p);
}
END_TEST

/* Returns `before`, then n times `part`, then `middle`, then n times `end`, then `after`. */
static char *repeated(const char *before, const char *part, int n, const char *middle, const char *end,
                      const char *after) {
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fputs(before, f);
    for (int i = 0; i < n; i++)
        fputs(part, f);
    fputs(middle, f);
    for (int i = 0; i < n; i++)
        fputs(end, f);
    fputs(after, f);
    fclose(f);
    return text;
}

/* Tests the maximum nesting, and the message if the nesting is deeper. */
static const struct {
    const char *before, *part, *middle, *end, *after;
    int max_depth;
    const char *message;
} nests[] = {
    {".entry k() ", "{", "", "}", "", 1000, "more than 1000 nested blocks"},
    {".global .b32 x = ", "(", "1", ")", ";", 256, "more than 256 nested brackets"},
    {".global .b32 x = ", "{", "1", "}", ";", 256, "more than 256 nested brackets"},
    {".entry k() { mov ", "{", "1", "}", "; }", 256,
     "more than 256 nested brackets"}, /* the brace of the block itself does not count as nesting */
};

START_TEST(nesting_is_limited) {
    int max_depth = nests[_i].max_depth;
    char before[100];
    snprintf(before, sizeof before, HEADER "%s", nests[_i].before);
    char *good = repeated(before, nests[_i].part, max_depth, nests[_i].middle, nests[_i].end, nests[_i].after);
    struct parsed p = parse_good(good);
    parsed_free(&p);
    char *bad = repeated(before, nests[_i].part, max_depth + 1, nests[_i].middle, nests[_i].end, nests[_i].after);
    p = parse_text(bad);
    ck_assert_int_eq(p.diags.errors, 1);
    ck_assert_str_eq(p.diags.list[0].message, nests[_i].message);
    parsed_free(&p);
    free(good);
    free(bad);
}
END_TEST

static const char *const chains[] = {"- ", "!", "1 ? 1 : "};

START_TEST(right_recursion_is_limited) {
    char *text = repeated(HEADER ".global .b32 x = ", chains[_i], 100000, "1", "", ";");
    struct parsed p = parse_text(text);
    ck_assert_int_eq(p.diags.errors, 1);
    ck_assert_str_eq(p.diags.list[0].message, "nested too deeply");
    parsed_free(&p);
    free(text);
}
END_TEST

START_TEST(lists_are_not_limited) {
    char *text = repeated(HEADER ".global .b32 x[] = {", "1, ", 100000, "1 + 1", " + 1", "};\n.entry k() { }");
    struct parsed p = parse_good(text);
    const struct init *last = p.module->statements->variable->init->list;
    while (last->next)
        last = last->next;
    ck_assert_uint_eq(last->value->integer, 100002);
    parsed_free(&p);
    free(text);
}
END_TEST

/* Parses random bytes from a fixed seed, with or without a valid header. Parsing must end at the limit of errors. */
START_TEST(garbage_ends) {
    const size_t size = 1 << 20;
    char *text = malloc(size);
    uint64_t seed = 12345 + (uint64_t)_i;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(test_random(&seed) >> 56);
    if (_i % 2)
        memcpy(text, HEADER, strlen(HEADER));
    struct parsed p = parse_bytes(text, size);
    ck_assert_int_ge(p.diags.errors, 1);
    ck_assert_int_le(p.diags.errors, 21);
    char *output = messages(&p.diags);
    ck_assert_uint_lt(strlen(output), 21 * 500);
    free(output);
    free(text);
    parsed_free(&p);
}
END_TEST

/* Tests a byte that begins no token, inside a statement that is skipped. Fuzzing once found an error here, which came
 * from the compressed tables of flex. These tables are no longer used. */
START_TEST(strange_byte_while_skipping) {
    check_lines(HEADER ".const .b8 x[8] = 1 2 \xc5\x02\x01\x90 a;\n.global 1;", "4 5");
}
END_TEST

/* The parser must refuse a zero byte in the text, since it would cut off strings in the tree. */
START_TEST(zero_is_no_text) {
    struct parsed p = parse_bytes(HEADER ".section .x { a\0b }", strlen(HEADER) + 19);
    char *output = messages(&p.diags);
    ck_assert_str_eq(output, "t.ptx:4:16: error: unexpected 0x00\n.section .x { a?b }\n               ^\n");
    free(output);
    parsed_free(&p);
}
END_TEST

SUITE(ptx_token) {
    TEST_LOOP(parsing_continues_after_errors, 0, sizeof cases / sizeof *cases);
    TEST(errors_end_after_the_limit);
    TEST_LOOP(nesting_is_limited, 0, sizeof nests / sizeof *nests);
    TEST_LOOP(right_recursion_is_limited, 0, sizeof chains / sizeof *chains);
    TEST(lists_are_not_limited);
    TEST_LOOP(garbage_ends, 0, 8);
    TEST(strange_byte_while_skipping);
    TEST(zero_is_no_text);
}
