/* Tests the drawing of charts as SVG: names, ticks, numbers, places of bars and points. */
#include "host/report/chart.h"
#include "host/report/chart_axis.h"
#include "test/test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *svg_of(const struct chart *c, bool page) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert(chart_svg(c, page, f));
    fclose(f);
    return text;
}

static void says(const char *text, const char *part) {
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%.4000s", part, text);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Words that all names share are named once. A name of 50 two-byte letters keeps its last 39 whole letters. */
START_TEST(names_lose_what_they_share_and_are_cut_between_letters) {
    char lud[] = "k.ptx lud small", bfs[] = "k.ptx bfs small", spe[] = "spe", dpe[] = "dpe", whole[128] = "", *shared;
    char *const two[] = {lud, bfs}, *const models[] = {spe, dpe}, *const one[] = {whole};
    char **names = chart_names(two, 2, &shared);
    ck_assert_str_eq(names[0], "lud");
    ck_assert_str_eq(names[1], "bfs");
    ck_assert_str_eq(shared, "all: k.ptx, small");
    chart_names_free(names);
    free(shared);
    names = chart_names(models, 2, &shared); /* "spe" and "dpe" share letters, but no word */
    ck_assert_str_eq(names[0], "spe");
    ck_assert_ptr_null(shared);
    chart_names_free(names);
    for (int i = 0; i < 50; i++)
        strcat(whole, "\u00e4");
    names = chart_names(one, 1, &shared);
    ck_assert_uint_eq(chart_characters(names[0]), CHART_NAME);
    ck_assert_uint_eq(strlen(names[0]), strlen("\u2026") + (CHART_NAME - 1) * strlen("\u00e4"));
    ck_assert_int_eq(strncmp(names[0], "\u2026\u00e4", strlen("\u2026\u00e4")), 0);
    chart_names_free(names);
}
END_TEST

START_TEST(numbers_have_si_prefixes) {
    static const struct {
        double v;
        const char *unit, *text;
    } rows[] = {{0, NULL, "0"},
                {1.25, NULL, "1.25"},
                {9999, NULL, "9999"},
                {12345678, NULL, "12.35 M"},
                {2e9, "bytes", "2 GB"},
                {0.0021, "joules", "2.1 mJ"},
                {3e-7, NULL, "300 n"},
                {16384, NULL, "16K"},
                {-50000, NULL, "-50 k"},
                {0.05, NULL, "0.05"},
                {16384, "bytes", "16.38 kB"},
                {999960, NULL, "1000 k"}};
    char out[32];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(axis_number(rows[i].v, rows[i].unit, out), rows[i].text);
}
END_TEST

/* Values to 1.31 give ticks 0, 0.5, 1, 1.5; x = 8K, 16K, 64K is no geometric series, so its ticks are round. */
START_TEST(ticks_are_round) {
    const double y[] = {1, 1.31, 0.9}, even[] = {8192, 16384, 32768}, odd[] = {8192, 16384, 65536};
    char name[] = "spe";
    char *const names[] = {name, name, name};
    struct chart c = {
        .kind = CHART_BARS, .title = "t", .places = names, .n = 3, .series = names, .n_series = 1, .y = y};
    struct axis a;
    axis_of_values(&a, &c);
    ck_assert_int_eq(a.n, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(a.tick[i], 0.5 * i, 1e-12);
    c.kind = CHART_LINES;
    c.x = even;
    axis_of_places(&a, &c);
    ck_assert(a.logarithmic && a.n == 3 && a.tick[0] == 8192 && a.tick[2] == 32768);
    ck_assert_double_eq_tol(axis_at(&a, 16384), 0.5, 1e-12);
    c.x = odd;
    axis_of_places(&a, &c);
    ck_assert(!a.logarithmic && a.tick[0] == 0 && a.tick[1] == 20000);
}
END_TEST

/* The plot is 260 pixels high and its axis goes from 0 to 4, so that a value of 3 is a bar of 195 pixels. The second
 * value is missing. Names from files are text, never markup. */
START_TEST(bars_have_their_heights) {
    char bad[] = "<a>'&\n", b[] = "b", spe[] = "spe", none[] = "none";
    char *const places[] = {bad, b}, *const series[] = {spe, none};
    const double y[] = {3, NAN, 4, NAN};
    struct chart c = {
        .kind = CHART_BARS, .title = "it's <t>", .places = places, .n = 2, .series = series, .n_series = 2};
    c.y = y;
    char *text = svg_of(&c, false);
    says(text, "height='195.00'><title>&#60;a&#62;&#39;&#38; , spe: 3</title>");
    says(text, "height='260.00'><title>b, spe: 4</title>");
    says(text, "it&#39;s &#60;t&#62;");
    ck_assert_ptr_null(strstr(text, "none</text>")); /* a series without values is not in the key */
    ck_assert_int_eq(count(text, "<title>"), 2);
    ck_assert_int_eq(count(text, "<style>"), 1);
    free(text);
    text = svg_of(&c, true); /* in a page, the page's style is used */
    ck_assert_int_eq(count(text, "<style>"), 0);
    free(text);
}
END_TEST

/* In a stack, the second part begins where the first ends. The first has 60 of 100, or 156 of 260 pixels, so it ends
 * 104 pixels below the top. Each cause has its own colour, in any order of the parts. */
START_TEST(stacks_add_up) {
    char run[] = "run", load[] = "waiting for a load", issued[] = "issued";
    char *const places[] = {run}, *const series[] = {load, issued};
    const double y[] = {60, 40};
    struct chart c = {.kind = CHART_STACK, .title = "t", .places = places, .n = 1, .series = series, .n_series = 2};
    c.y = y;
    c.percent = true;
    char *text = svg_of(&c, true);
    says(text, "<rect class='c0 m s0'");
    says(text, "<rect class='c4 m s1'");
    says(text, "height='156.00'>");
    says(text, "height='104.00'>");
    says(text, "run, issued: 40 %</title>");
    free(text);
}
END_TEST

/* A map has a cell for each value. 1.5 times the base and more have the strongest colour. */
START_TEST(maps_have_a_cell_for_each_value) {
    char a[] = "a", b[] = "b", spe[] = "spe", dpe[] = "dpe";
    char *const places[] = {a, b}, *const series[] = {spe, dpe};
    const double y[] = {1, 3, 0.5, NAN};
    struct chart c = {.kind = CHART_HEAT, .title = "t", .places = places, .n = 2, .series = series, .n_series = 2};
    c.y = y;
    c.level = true;
    char *text = svg_of(&c, true);
    ck_assert_int_eq(count(text, "<rect"), 3);
    says(text, "fill='#2878c8' fill-opacity='0.65'");
    says(text, "fill='#e67814' fill-opacity='0.65'");
    says(text, "fill='#2878c8' fill-opacity='0.00'");
    free(text);
}
END_TEST

/* The line connects its points in the order of x, and skips an empty value. */
START_TEST(lines_ascend) {
    char spe[] = "spe";
    char *const series[] = {spe}, *const places[] = {spe, spe, spe, spe};
    const double x[] = {30, 10, 20, 40}, y[] = {3, 1, 2, NAN};
    struct chart c = {.kind = CHART_LINES, .title = "t", .places = places, .n = 4, .series = series, .n_series = 1};
    c.x = x;
    c.y = y;
    char *text = svg_of(&c, true);
    ck_assert_int_eq(count(text, "<circle"), 3);
    const char *first = strstr(text, "<title>10, spe: 1<"), *second = strstr(text, "<title>20, spe: 2<");
    ck_assert(first && second && first < second && second < strstr(text, "<title>30, spe: 3<"));
    free(text);
}
END_TEST

SUITE(host_chart_svg) {
    TEST(names_lose_what_they_share_and_are_cut_between_letters);
    TEST(numbers_have_si_prefixes);
    TEST(ticks_are_round);
    TEST(bars_have_their_heights);
    TEST(stacks_add_up);
    TEST(maps_have_a_cell_for_each_value);
    TEST(lines_ascend);
}
