#include "ptx/diag.h"
#include "text.h"

/* Returns the printed message about an error at bytes [begin, end) of `text`. */
static char *one_error(const char *text, uint32_t begin, uint32_t end) {
    struct diags d;
    diags_init(&d, "a.ptx", text, strlen(text));
    diag_error(&d, (struct loc){begin, end}, "bad");
    char *output = messages(&d);
    diags_free(&d);
    return output;
}

static void check_error(const char *text, uint32_t begin, uint32_t end, const char *expected) {
    char *output = one_error(text, begin, end);
    ck_assert_str_eq(output, expected);
    free(output);
}

START_TEST(caret_is_under_the_location) {
    check_error("one\ntwo three\n", 8, 13, "a.ptx:2:5: error: bad\ntwo three\n    ^~~~~\n");
}
END_TEST

START_TEST(tabs_stay_tabs) { check_error("\tx\ty", 3, 4, "a.ptx:1:4: error: bad\n\tx\ty\n\t \t^\n"); }
END_TEST

START_TEST(carriage_return_is_not_shown) { check_error("ab\r\nc", 1, 2, "a.ptx:1:2: error: bad\nab\n ^\n"); }
END_TEST

START_TEST(caret_stays_on_its_line) { check_error("ab\ncd", 1, 5, "a.ptx:1:2: error: bad\nab\n ^\n"); }
END_TEST

START_TEST(end_of_text_has_a_location) {
    check_error("ab", 2, 3, "a.ptx:1:3: error: bad\nab\n  ^\n");
    check_error("ab\n", 3, 4, "a.ptx:2:1: error: bad\n\n^\n");
    check_error("", 0, 1, "a.ptx:1:1: error: bad\n\n^\n");
}
END_TEST

START_TEST(offset_beyond_the_text_is_its_end) { check_error("ab", 99, 100, "a.ptx:1:3: error: bad\nab\n  ^\n"); }
END_TEST

START_TEST(utf8_takes_one_column_on_screen) {
    /* The column counts bytes, and this letter has two. The caret is placed by characters. */
    check_error("\xc3\xa9 x", 3, 4, "a.ptx:1:4: error: bad\n\xc3\xa9 x\n  ^\n");
}
END_TEST

START_TEST(unprintable_bytes_are_question_marks) {
    check_error("a\x01\xff\xc3Zb", 5, 6, "a.ptx:1:6: error: bad\na???Zb\n     ^\n");
}
END_TEST

START_TEST(long_lines_are_cut) {
    char text[1001], expected[400];
    memset(text, 'x', 1000);
    text[1000] = 0;
    text[500] = 'Y';
    char *output = one_error(text, 500, 501);
    /* the excerpt has at most 120 bytes, of which 60 are before the error */
    snprintf(expected, sizeof expected, "a.ptx:1:501: error: bad\n...%.60sY%.59s...\n%*s^\n", text, text + 501, 63, "");
    ck_assert_str_eq(output, expected);
    free(output);
}
END_TEST

START_TEST(beginning_of_a_long_line_is_not_cut) {
    char text[301], expected[400];
    memset(text, 'x', 300);
    text[300] = 0;
    char *output = one_error(text, 0, 300);
    char tildes[120];
    memset(tildes, '~', 119);
    tildes[119] = 0;
    snprintf(expected, sizeof expected, "a.ptx:1:1: error: bad\n%.120s...\n^%s\n", text, tildes);
    ck_assert_str_eq(output, expected);
    free(output);
}
END_TEST

START_TEST(kinds_and_help) {
    struct diags d;
    diags_init(&d, "f", "abc", 3);
    diag_warning(&d, (struct loc){0, 1}, "w%d", 1);
    diag_note(&d, (struct loc){1, 2}, "n");
    diag_error(&d, (struct loc){2, 3}, "e");
    diag_help(&d, "h");
    char *output = messages(&d);
    ck_assert_str_eq(output, "f:1:1: warning: w1\nabc\n^\n"
                             "f:1:2: note: n\nabc\n ^\n"
                             "f:1:3: error: e\nabc\n  ^\n"
                             "help: h\n");
    ck_assert_int_eq(d.errors, 1);
    free(output);
    diags_free(&d);
}
END_TEST

START_TEST(second_error_at_a_place_is_dropped_with_its_notes) {
    struct diags d;
    diags_init(&d, "f", "abc", 3);
    diag_error(&d, (struct loc){1, 2}, "first");
    diag_error(&d, (struct loc){1, 3}, "second");
    diag_note(&d, (struct loc){0, 1}, "note of the second");
    diag_help(&d, "help of the second");
    ck_assert_int_eq(d.errors, 1);
    ck_assert_int_eq(d.n, 1);
    ck_assert_str_eq(d.list[0].message, "first");
    diags_free(&d);
}
END_TEST

START_TEST(errors_beyond_the_limit_are_counted_only) {
    struct diags d;
    diags_init(&d, "f", "abcdefghijklmnopqrstuvwxyz", 26);
    ck_assert_int_eq(d.max_errors, 20);
    for (uint32_t i = 0; i < 25; i++) {
        ck_assert_int_eq(diags_full(&d), i >= 20);
        diag_error(&d, (struct loc){i, i + 1}, "e");
        diag_help(&d, "h");
    }
    ck_assert_int_eq(d.errors, 25);
    ck_assert_int_eq(d.n, 40); /* 20 errors, 20 helps */
    diags_free(&d);
}
END_TEST

START_TEST(position_counts_from_one) {
    struct diags d;
    int line, column;
    diags_init(&d, "f", "ab\n\ncd", 6);
    static const struct {
        uint32_t at;
        int line, column;
    } cases[] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {4, 3, 1}, {5, 3, 2}, {6, 3, 3}, {7, 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        diag_position(&d, cases[i].at, &line, &column);
        ck_assert_int_eq(line, cases[i].line);
        ck_assert_int_eq(column, cases[i].column);
    }
    diags_free(&d);
}
END_TEST

static const char *const opcodes[] = {"add", "sub", "mul", "setp", "cvta", "membar", "activemask", "ex2"};

static const char *suggest(const char *word) { return diag_suggest(word, opcodes, 8); }

START_TEST(suggests_the_nearest) {
    ck_assert_str_eq(suggest("addd"), "add");
    ck_assert_str_eq(suggest("step"), "setp"); /* swapping two neighbouring letters is one edit */
    ck_assert_str_eq(suggest("MEMBAR"), "membar");
    ck_assert_str_eq(suggest("activmsk"), "activemask"); /* two of ten letters are missing */
    ck_assert_str_eq(suggest("cvt"), "cvta");
}
END_TEST

START_TEST(suggests_nothing_that_is_far) {
    ck_assert_ptr_null(suggest("frobnicate"));
    ck_assert_ptr_null(suggest("xy"));
    ck_assert_ptr_null(suggest("mbr")); /* three letters missing */
    ck_assert_ptr_null(suggest(""));
    ck_assert_ptr_null(diag_suggest("add", opcodes, 0));
    char long_word[200];
    memset(long_word, 'a', 199);
    long_word[199] = 0;
    ck_assert_ptr_null(suggest(long_word));
}
END_TEST

/* Returns what diag_print_place() prints about a place of a text of two lines. */
static char *place(uint32_t line, uint32_t column) {
    static char text[200];
    *text = 0;
    FILE *f = fmemopen(text, sizeof text, "w");
    diag_print_place("\tadd a, b;  ret;\nx y", line, column, "> ", f);
    fclose(f);
    return text;
}

/* The line is marked from the column to the end of the statement, which is a semicolon or the end of the line. */
START_TEST(a_place_is_shown_with_its_line) {
    ck_assert_str_eq(place(1, 2), "> \tadd a, b;  ret;\n> \t^~~~~~~~\n");
    ck_assert_str_eq(place(1, 13), "> \tadd a, b;  ret;\n> \t           ^~~\n");
    ck_assert_str_eq(place(2, 3), "> x y\n>   ^\n");
    ck_assert_str_eq(place(2, 4), ""); /* beyond the end of the line */
    ck_assert_str_eq(place(3, 1), "");
    ck_assert_str_eq(place(0, 1), "");
    ck_assert_str_eq(place(1, 0), "");
}
END_TEST

SUITE(ptx_diag) {
    TEST(a_place_is_shown_with_its_line);
    TEST(caret_is_under_the_location);
    TEST(tabs_stay_tabs);
    TEST(carriage_return_is_not_shown);
    TEST(caret_stays_on_its_line);
    TEST(end_of_text_has_a_location);
    TEST(offset_beyond_the_text_is_its_end);
    TEST(utf8_takes_one_column_on_screen);
    TEST(unprintable_bytes_are_question_marks);
    TEST(long_lines_are_cut);
    TEST(beginning_of_a_long_line_is_not_cut);
    TEST(kinds_and_help);
    TEST(second_error_at_a_place_is_dropped_with_its_notes);
    TEST(errors_beyond_the_limit_are_counted_only);
    TEST(position_counts_from_one);
    TEST(suggests_the_nearest);
    TEST(suggests_nothing_that_is_far);
}
