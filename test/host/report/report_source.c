/* Tests the part of a report that shows every line of a kernel, on profiles written by hand. */
#include "report_rig.h"

#define LINE(number, issued, lanes, more)                                                                              \
    "{\"line\":" #number ",\"issued\":" #issued ",\"lanes\":" #lanes ",\"l1_misses\":0,\"text\":\"a < " #number        \
    ";\"" more "}"
#define PROFILE(lines)                                                                                                 \
    "{\"stats\":{\"gpu.cycles\":30},\"profile\":[{\"kernel\":\"k\",\"file\":\"k.ptx\",\"launches\":1,\"lines\":"       \
    "[" lines "],\"sources\":[{\"file\":\"k.cu\",\"line\":3,\"text\":\"x = y < 1;\"}]}]}"

/* Returns the cells of a run in one line: issue slots, slots by cause, share of the kernel's slots, lanes. */
static char *cells(const char *slots, const char *causes, const char *share, const char *lanes, const char *mean) {
    char *text;
    ck_assert_int_gt(
        asprintf(&text, "<td class=\"n s\" data-v=\"%s\" data-c=\"%s\">%s %%</td><td class=n data-v=\"%s\">%s</td>",
                 slots, causes, share, lanes, mean),
        0);
    return text;
}

static void row_says(const char *page, const char *begin, char *one, char *two) {
    char *row;
    ck_assert_int_gt(asprintf(&row, "%s%s%s</tr>", begin, one, two), 0);
    says(page, row);
    free(row);
    free(one);
    free(two);
}

/* In spe, line 7 has 10 of 50 issue slots, and line 9 has 5 + 35 in its two instructions. In dpe, a pass has added line
 * 8, and lines 8 and 9 have 10 of 20 slots each. Line 9 of the PTX belongs to line 3 of CUDA. */
START_TEST(runs_stand_side_by_side_in_the_order_of_the_lines) {
    struct report_rig g;
    rig_open(&g);
    rig_add(&g, "lud", "spe",
            PROFILE(LINE(7, 10, 320, "") "," LINE(9, 5, 80, ",\"source\":0,\"stalls\":{\"scoreboard_load\":35}")));
    rig_add(&g, "lud", "dpe", PROFILE(LINE(9, 10, 320, "") "," LINE(8, 10, 10, "")));
    rig_add(&g, "bfs", "spe", "{\"stats\":{\"gpu.cycles\":40}}");
    char *text = rig_page(&g, report_source);
    says(text, "<details><summary>lud: k, k.ptx</summary>");
    says(text,
         "<th>line</th><th>PTX</th><th>CUDA</th><th>spe l1.latency=10</th><th>lanes</th><th>dpe l1.latency=11</th>");
    says(text, "data-words=\"issued|waiting for a pipe|waiting for a load|");
    const char none[] = "0,0,0,0,0,0,0,0,0", ten[] = "10,0,0,0,0,0,0,0,0";
    row_says(text, "<tr><td class=n data-v=7>7</td><td><code>a &#60; 7;</code></td><td data-v=0><code></code></td>",
             cells("10", ten, "20.0", "32", "32.0"), cells("0", none, "0.0", "0", "0.0"));
    row_says(text, "<tr><td class=n data-v=8>8</td><td><code>a &#60; 8;</code></td><td data-v=0><code></code></td>",
             cells("0", none, "0.0", "0", "0.0"), cells("10", ten, "50.0", "1", "1.0"));
    row_says(text,
             "<tr><td class=n data-v=9>9</td><td><code>a &#60; 9;</code></td><td data-v=3><code>3: x = y &#60; "
             "1;</code></td>",
             cells("40", "5,0,35,0,0,0,0,0,0", "80.0", "16", "16.0"), cells("10", ten, "50.0", "32", "32.0"));
    ck_assert(strstr(text, "<td class=n data-v=7>") < strstr(text, "<td class=n data-v=8>"));
    ck_assert_ptr_null(strstr(text, "bfs"));
    free(text);
}
END_TEST

/* Of seven runs, six stand side by side, and one is counted. */
START_TEST(too_many_runs_are_counted) {
    struct report_rig g;
    rig_open(&g);
    for (int i = 0; i < 7; i++)
        rig_add(&g, "lud", "spe", PROFILE(LINE(7, 10, 320, "")));
    char *text = rig_page(&g, report_source);
    says(text, "<th>l1.latency=15</th>");
    ck_assert_ptr_null(strstr(text, "<th>l1.latency=16</th>"));
    says(text, "<p>1 more run of this program is left out;");
    ck_assert_ptr_null(strstr(text, "<th>CUDA</th>")); /* no line belongs to a line of CUDA */
    free(text);
}
END_TEST

START_TEST(a_page_without_profiles_says_so) {
    struct report_rig g;
    rig_open(&g);
    rig_add(&g, "bfs", "spe", "{\"stats\":{\"gpu.cycles\":40}}");
    char *text = rig_page(&g, report_source);
    says(text, "None of the runs has a profile.");
    ck_assert_ptr_null(strstr(text, "<script>"));
    free(text);
}
END_TEST

SUITE(host_report_source) {
    TEST(runs_stand_side_by_side_in_the_order_of_the_lines);
    TEST(too_many_runs_are_counted);
    TEST(a_page_without_profiles_says_so);
}
