/* Tests tables, progress bars and result files: host/table.c, host/progress.c, host/report/outfile.c. */
#include "host/table.h"
#include "host/progress.h"
#include "host/report/outfile.h"
#include "test/test.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const titles[] = {"name", ">cycles", ">part", NULL};

static struct table *example(void) {
    struct table *t = table_new(titles);
    table_text(t, "a, \"b\"");
    table_number(t, 1234567, NUM_COUNT);
    table_number(t, 0.5, NUM_PERCENT);
    table_rule(t);
    table_text(t, "c|d");
    table_number(t, NAN, NUM_COUNT);
    table_number(t, 0.125, NUM_PERCENT);
    return t;
}

static char *text_of(void (*print)(const struct table *t, FILE *out)) {
    struct table *t = example();
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    print(t, f);
    fclose(f);
    table_free(t);
    return text;
}

START_TEST(text_is_aligned_with_grouped_digits) {
    char *text = text_of(table_print);
    ck_assert_str_eq(text, "name       cycles    part\n"
                           "------  ---------  ------\n"
                           "a, \"b\"  1,234,567  50.0 %\n"
                           "------  ---------  ------\n"
                           "c|d             -  12.5 %\n");
    free(text);
}
END_TEST

START_TEST(csv_quotes_and_keeps_plain_numbers) {
    char *text = text_of(table_csv);
    ck_assert_str_eq(text, "name,cycles,part\n\"a, \"\"b\"\"\",1234567,0.5\nc|d,,0.125\n");
    free(text);
}
END_TEST

/* A cell that a spreadsheet would execute as a formula is written as text. Numbers remain numbers. */
START_TEST(csv_has_no_formulas) {
    static const char *const cells[][2] = {
        {"=1+2", "\"'=1+2\""},
        {"=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""},
        {"@SUM(1)", "\"'@SUM(1)\""},
        {"+1-cmd|x", "\"'+1-cmd|x\""},
        {"-2+3", "\"'-2+3\""},
        {"-m", "\"'-m\""},
        {"\t=1", "\"'\t=1\""},
        {"\r=1", "\"'\r=1\""},
        {"-0x10", "\"'-0x10\""},
        {"-1.5", "-1.5"},
        {"+3", "+3"},
        {"-1e-3", "-1e-3"},
        {"-inf", "-inf"},
        {"-", "-"},
        {"", ""},
        {"a=1", "a=1"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);
        csv_cell(f, cells[i][0]);
        fclose(f);
        ck_assert_str_eq(text, cells[i][1]);
        free(text);
    }
}
END_TEST

START_TEST(csv_has_all_digits_in_the_unit_of_its_title) {
    static const char *const one[] = {">M/s", NULL};
    struct table *t = table_new(one);
    table_number(t, 12345678, NUM_MEGA);
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    table_csv(t, f);
    fclose(f);
    table_free(t);
    ck_assert_str_eq(text, "M/s\n12.345678\n");
    free(text);
}
END_TEST

START_TEST(markdown_escapes_bars) {
    char *text = text_of(table_markdown);
    ck_assert_str_eq(text, "| name | cycles | part |\n| --- | ---: | ---: |\n"
                           "| a, \"b\" | 1,234,567 | 50.0 % |\n| c\\|d | - | 12.5 % |\n");
    free(text);
}
END_TEST

START_TEST(digits_are_grouped_by_three) {
    char text[32];
    ck_assert_str_eq(group_digits(0, text, sizeof text), "0");
    ck_assert_str_eq(group_digits(999, text, sizeof text), "999");
    ck_assert_str_eq(group_digits(1000, text, sizeof text), "1,000");
    ck_assert_str_eq(group_digits(-123456, text, sizeof text), "-123,456");
}
END_TEST

START_TEST(a_bar_is_as_long_as_its_value) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    bar_print(f, "x", 3, 1, 1, 4); /* the bar has 10 columns: a quarter of 40 */
    fclose(f);
    ck_assert_str_eq(text, "  x    ##########                               1.000\n");
    free(text);
}
END_TEST

START_TEST(progress_says_how_far_and_how_long) {
    char text[128];
    double least = -1;
    /* a quarter is done after 10 s, so another 30 s are needed */
    progress_text(text, sizeof text, 100, "k", 1, 4, "cycle 3 M", 10, &least);
    ck_assert_str_eq(text, "k [======>                 ]  25 %, 30 s left, cycle 3 M");
    /* slower than expected: 10 % of the rest took 15 s; the estimate of 46 s would count up, so 30 s remain shown */
    progress_text(text, sizeof text, 100, "k", 35, 100, "", 25, &least);
    ck_assert_str_eq(text, "k [========>               ]  35 %, 30 s left");
    progress_text(text, sizeof text, 100, "k", 3, 4, "", 30, &least);
    ck_assert_str_eq(text, "k [==================>     ]  75 %, 10 s left");
    progress_text(text, sizeof text, 10, "k", 4, 4, "", 10, &least);
    ck_assert_uint_eq(strlen(text), 10); /* the bar is never wider than the terminal */
}
END_TEST

/* Makes a temporary folder for a test. */
static char *folder(char *template) {
    ck_assert_ptr_nonnull(mkdtemp(template));
    return template;
}

START_TEST(a_result_file_appears_only_when_committed) {
    char dir[] = "/tmp/heddle_out_XXXXXX", path[64], tmp[72], err[256];
    snprintf(path, sizeof path, "%s/r.json", folder(dir));
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    struct outfile f;
    ck_assert(outfile_open(&f, path, err, sizeof err));
    fputs("x", f.stream);
    ck_assert(outfile_flush(&f, err, sizeof err));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(outfile_commit(&f, err, sizeof err));
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_ne(access(tmp, F_OK), 0);
    outfile_discard(&f);
    ck_assert_int_eq(access(path, F_OK), 0);
    unlink(path);
    rmdir(dir);
}
END_TEST

START_TEST(a_discarded_file_leaves_the_old_one) {
    char dir[] = "/tmp/heddle_out_XXXXXX", path[64], err[256], text[8] = "";
    snprintf(path, sizeof path, "%s/r.json", folder(dir));
    FILE *old = fopen(path, "w");
    ck_assert_ptr_nonnull(old);
    fputs("old", old);
    fclose(old);
    struct outfile f;
    ck_assert(outfile_open(&f, path, err, sizeof err));
    fputs("new", f.stream);
    outfile_discard(&f);
    old = fopen(path, "r");
    ck_assert_ptr_nonnull(old);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, old));
    fclose(old);
    ck_assert_str_eq(text, "old");
    unlink(path);
    ck_assert_int_eq(rmdir(dir), 0); /* the folder is empty */
}
END_TEST

START_TEST(a_full_disk_is_reported) {
    char err[256] = "";
    struct outfile f;
    ck_assert(outfile_open(&f, "/dev/full", err, sizeof err));
    fputs("x", f.stream);
    ck_assert(!outfile_flush(&f, err, sizeof err));
    ck_assert_str_eq(err, "/dev/full: No space left on device");
    outfile_discard(&f);
}
END_TEST

START_TEST(impossible_places_are_known_before_the_run) {
    char err[256];
    ck_assert(outfile_possible("-", err, sizeof err));
    ck_assert(outfile_possible("/dev/null", err, sizeof err));
    ck_assert(outfile_possible("/tmp/x.json", err, sizeof err));
    ck_assert(!outfile_possible("/tmp/no/such/folder/x.json", err, sizeof err));
    ck_assert(!outfile_possible("/tmp", err, sizeof err));
    ck_assert(!outfile_possible("", err, sizeof err));
}
END_TEST

SUITE(host_table) {
    TEST(text_is_aligned_with_grouped_digits);
    TEST(csv_quotes_and_keeps_plain_numbers);
    TEST(csv_has_no_formulas);
    TEST(csv_has_all_digits_in_the_unit_of_its_title);
    TEST(markdown_escapes_bars);
    TEST(digits_are_grouped_by_three);
    TEST(a_bar_is_as_long_as_its_value);
    TEST(progress_says_how_far_and_how_long);
    TEST(a_result_file_appears_only_when_committed);
    TEST(a_discarded_file_leaves_the_old_one);
    TEST(a_full_disk_is_reported);
    TEST(impossible_places_are_known_before_the_run);
}
