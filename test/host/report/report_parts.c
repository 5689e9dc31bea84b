/* Tests the hot lines and the roofs of a report, without plots. The test makes the database rows itself. */
#include "report_rig.h"

/* --- roofs --- */

enum { INSTRUCTIONS, IPC, L1, L2, READ, WRITE, N_NAMES, N_OPTIONS = 12, MACHINES = 8 };
static char *names[N_NAMES] = {T("gpu.thread_instructions"), T("gpu.ipc"),         T("l1.sectors"), T("l2.sectors"),
                               T("dram.read_bytes"),         T("dram.write_bytes")},
            *options[N_OPTIONS] = {T("gpu.sms"),       T("clock.core_mhz"), T("sm.schedulers"),  T("l1.ports"),
                                   T("l1.line"),       T("l2.slices"),      T("l2.port_bytes"),  T("clock.l2_mhz"),
                                   T("dram.channels"), T("dram.bus_bytes"), T("dram.data_rate"), T("clock.dram_mhz")};
/* Peaks per SM cycle (700 MHz). Instructions: 2 SMs x 1 scheduler x 32 threads = 64. L1: 2 SMs x 1 port x 128 = 256
 * bytes. L2: 2 slices x 32 bytes x 350 / 700 MHz = 32 bytes. DRAM: 1 channel x 8 bytes x data rate 4 x 350 / 700 MHz =
 * 16 bytes. */
static char *machine[N_OPTIONS] = {T("2"),  T("700"), T("1"), T("1"), T("128"), T("2"),
                                   T("32"), T("350"), T("1"), T("8"), T("4"),   T("350")};

/* - `near` has 6400 instructions, 3200 bytes of the L1, 1600 of the L2 and 6400 of the DRAM. These are 2, 4 and 1
 *   instructions per byte. So its roofs are min(64, 512), min(64, 128) and min(64, 16). It executes 16 instructions per
 *   cycle, which is the roof of the DRAM.
 * - `issue` uses only the L2, with 8 instructions per byte. 32 x 8 is more than 64, so its nearest roof is the issue
 *   rate.
 * - `still` has no statistics. */
START_TEST(shares_of_roofs_by_hand) {
    double near[N_NAMES] = {6400, 16, 100, 50, 4800, 1600}, issue[N_NAMES] = {6400, 48, 0, 25, 0, 0},
           still[N_NAMES] = {NAN, NAN, NAN, NAN, NAN, NAN};
    char a[] = "near", b[] = "issue", c[] = "still";
    struct result_row rows[] = {row_of(a, machine, near), row_of(b, machine, issue), row_of(c, machine, still)};
    const struct result_row *of[] = {&rows[0], &rows[1], &rows[2]};
    struct result_set set = {
        .rows = rows, .names = names, .options = options, .n = 3, .n_names = N_NAMES, .n_options = N_OPTIONS};
    struct report r = {.set = &set, .rows = of, .n = 3};
    char *text = page(&r, report_roofs);
    row_is(text, "near", (const double[]){16, 2, 0.25, 4, 0.25, 1, 1}, 7, "DRAM");
    row_is(text, "issue", (const double[]){48, NAN, NAN, 8, 0.75, NAN, NAN}, 7, "issue");
    row_is(text, "still", (const double[]){NAN, NAN, NAN, NAN, NAN, NAN, NAN}, 7, "");
    ck_assert_ptr_null(strstr(text, "not drawn"));
    free(text);
}
END_TEST

/* The plot draws six of eight machines. The table has all eight. */
START_TEST(machines_beyond_six_are_counted) {
    char sms[MACHINES][16], name[] = "p", *own[MACHINES][N_OPTIONS];
    double values[N_NAMES] = {6400, 16, 100, 50, 4800, 1600};
    struct result_row rows[MACHINES];
    const struct result_row *of[MACHINES];
    for (int i = 0; i < MACHINES; i++) {
        memcpy(own[i], machine, sizeof machine);
        snprintf(sms[i], sizeof sms[i], "%d", i + 1);
        own[i][0] = sms[i];
        rows[i] = row_of(name, own[i], values);
        of[i] = &rows[i];
    }
    struct result_set set = {
        .rows = rows, .names = names, .options = options, .n = MACHINES, .n_names = N_NAMES, .n_options = N_OPTIONS};
    struct report r = {.set = &set, .rows = of, .n = MACHINES};
    char *text = page(&r, report_roofs);
    says(text, "<p>2 more machines are not drawn; the table has them.</p>");
    row_is(text, "p gpu.sms=1", (const double[]){16, 2, 0.5}, 3, "DRAM"); /* one SM: the IPC is 16 of 32 */
    says(text, "<tr><td>p gpu.sms=8</td>");
    free(text);
    r.n = 6;
    text = page(&r, report_roofs);
    ck_assert_ptr_null(strstr(text, "not drawn"));
    free(text);
}
END_TEST

/* --- kernels and lines --- */

/* Kernel `a` has two launches. Together they have 128 instructions in 10 + 30 cycles, which are 3.2 a cycle, and each
 * accesses one sector (32 bytes) of the L1: 128 / 64 = 2 instructions a byte. Kernel `b` has 64 instructions in 4
 * cycles, and no access. */
START_TEST(a_kernel_is_the_sum_of_its_launches) {
    static const char launch[] = "{\"name\":\"%s\",\"grid\":[1,1,1],\"block\":[32,1,1],\"stats\":{\"gpu.cycles\":%d,"
                                 "\"gpu.ipc\":0,\"gpu.thread_instructions\":64,\"l1.sectors\":%d}}";
    char json[2048], one[3][512];
    struct report_rig g;
    snprintf(one[0], sizeof one[0], launch, "a", 10, 1);
    snprintf(one[1], sizeof one[1], launch, "b", 4, 0);
    snprintf(one[2], sizeof one[2], launch, "a", 30, 1);
    snprintf(json, sizeof json,
             "{\"stats\":{\"gpu.cycles\":44,\"gpu.ipc\":0,\"gpu.thread_instructions\":192,\"l1.sectors\":2},"
             "\"kernels\":[%s,%s,%s]}",
             one[0], one[1], one[2]);
    rig_open(&g);
    rig_add(&g, "lud", "spe", json);
    char *text = rig_page(&g, report_kernel_roofs);
    says(text, "Roofline by kernel");
    row_is(text, "lud a", (const double[]){3.2, 2}, 2, NULL);
    row_is(text, "lud b", (const double[]){16, NAN}, 2, NULL);
    free(text);
    /* a run with one kernel needs no such section */
    snprintf(json, sizeof json, "{\"stats\":{\"gpu.cycles\":44},\"kernels\":[%s]}", one[0]);
    rig_open(&g);
    rig_add(&g, "lud", "spe", json);
    text = rig_page(&g, report_kernel_roofs);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* Kernel `k` takes 10 cycles. Line 9 has 320 lanes: 32 instructions a cycle. It accesses 20 sectors: 320 / 640 = 0.5
 * instructions a byte. Line 7 accesses nothing, so it has no point. Where .loc names lines of CUDA, these stand for the
 * lines of PTX. */
START_TEST(a_line_has_its_share_of_the_kernel) {
    static const char line[] = "{\"line\":%d,\"issued\":60,\"lanes\":320,\"l1_misses\":0,\"l1_sectors\":%d,"
                               "\"stalls\":{\"scoreboard_load\":240}%s}";
    for (int cuda = 0; cuda < 2; cuda++) {
        char json[2048], near[256], none[256];
        struct report_rig g;
        snprintf(near, sizeof near, line, 9, 20, cuda ? ",\"file\":\"/home/me/k.cu\"" : "");
        snprintf(none, sizeof none, line, 7, 0, "");
        snprintf(json, sizeof json,
                 "{\"stats\":{\"gpu.cycles\":44,\"gpu.ipc\":0,\"gpu.thread_instructions\":192,\"l1.sectors\":2},"
                 "\"kernels\":[{\"name\":\"k\",\"grid\":[1,1,1],\"block\":[32,1,1],\"stats\":{\"gpu.cycles\":10}}],"
                 "\"profile\":[{\"kernel\":\"k\",\"launches\":1,\"%s\":[%s,%s]}]}",
                 cuda ? "sources" : "lines", none, near);
        rig_open(&g);
        rig_add(&g, "lud", "spe", json);
        char *text = rig_page(&g, report_line_roofs);
        row_is(text, cuda ? "lud k k.cu:9" : "lud k line 9", (const double[]){32, 0.5}, 2, NULL);
        ck_assert_ptr_null(strstr(text, "line 7"));
        free(text);
    }
}
END_TEST

/* --- lines --- */

/* Returns the report's section of hot lines for two runs. The first run has the given profile. */
static char *lines_of(const char *profile) {
    char json[8192];
    struct report_rig g;
    rig_open(&g);
    ck_assert_int_lt(snprintf(json, sizeof json, "{\"stats\":{\"gpu.cycles\":30}%s%s}", profile ? ",\"profile\":" : "",
                              profile ? profile : ""),
                     (int)sizeof json);
    rig_add(&g, "lud", "spe", json);
    rig_add(&g, "bfs", "spe", "{\"stats\":{\"gpu.cycles\":40}}");
    return rig_page(&g, report_lines);
}

#define LINE(number, issued, lanes, misses, stalls)                                                                    \
    "{\"line\":" #number ",\"issued\":" #issued ",\"lanes\":" #lanes ",\"l1_misses\":" #misses ",\"stalls\":{" stalls  \
    "},\"text\":\"a < " #number ";\"}"

/* Line 7 has 10 of 100 issue slots. Line 9 has 5 + 20 + 65 = 90 slots and comes first. It has 160 / 5 lanes per issue,
 * and its most frequent stall is a load. */
START_TEST(lines_by_their_slots) {
    char *text = lines_of("[{\"kernel\":\"k\",\"file\":\"k.ptx\",\"launches\":2,\"lines\":[" LINE(
        7, 10, 10, 1234, "") "," LINE(9, 5, 160, 0, "\"fetch\":20,\"scoreboard_load\":65") "]}]");
    says(text, "<details><summary>lud l1.latency=10</summary>\n<h3>k, 2 launches, k.ptx</h3>\n");
    const char *hot = "<tr><td class=n data-v=\"90\">90.0 %</td><td class=n data-v=\"5\">5</td>"
                      "<td class=n data-v=\"32\">32.0</td><td class=n data-v=\"0\">0</td><td>waiting for a load</td>"
                      "<td>9</td><td><code>a &#60; 9;</code></td></tr>\n";
    const char *cold = "<tr><td class=n data-v=\"10\">10.0 %</td><td class=n data-v=\"10\">10</td>"
                       "<td class=n data-v=\"1\">1.0</td><td class=n data-v=\"1234\">1,234</td><td></td>"
                       "<td>7</td><td><code>a &#60; 7;</code></td></tr>\n";
    says(text, hot);
    says(text, cold);
    ck_assert(strstr(text, hot) < strstr(text, cold));
    ck_assert_ptr_null(strstr(text, "bfs")); /* it has no profile */
    ck_assert_ptr_null(strstr(text, "more kernel"));
    free(text);
}
END_TEST

/* Of seven lines, the report omits the line with the fewest slots; lines with equal slots keep their order. Of four
 * kernels, the report omits the kernel with the fewest slots and only counts it. */
START_TEST(only_the_hottest_lines_are_shown) {
    char *text = lines_of(
        "[{\"kernel\":\"one\",\"launches\":1,\"lines\":[" LINE(1, 5, 5, 0, "") "," LINE(2, 4, 4, 0, "") "," LINE(
            3, 9, 9, 0,
            "") "," LINE(4, 5, 5, 0,
                         "") "," LINE(5, 1, 1, 0,
                                      "") "," LINE(6, 8, 8, 0,
                                                   "") "," LINE(7, 2, 2, 0,
                                                                "") "]},"
                                                                    "{\"kernel\":\"two\",\"lines\":[" LINE(
                                                                        1, 50, 5, 0,
                                                                        "") "]},{\"kernel\":\"three\",\"lines\":"
                                                                            "[" LINE(1, 3, 5, 0,
                                                                                     "") "]},{\"kernel\":"
                                                                                         "\"four\",\"lines\":"
                                                                                         "[" LINE(1, 60, 5, 0,
                                                                                                  "") "]}]");
    static const char *const order[] = {
        "<h3>four, 0 launches", "<h3>two,",   "<h3>one, 1 launch,", "a &#60; 3;", "a &#60; 6;",
        "a &#60; 1;",           "a &#60; 4;", "a &#60; 2;",         "a &#60; 7;", "And 1 more kernel, which took less"};
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        ck_assert_msg((at = strstr(at, order[i])) != NULL, "%s: %s", order[i], text);
        at++;
    }
    ck_assert_ptr_null(strstr(text, "a &#60; 5;"));
    ck_assert_ptr_null(strstr(text, "three"));
    free(text);
}
END_TEST

START_TEST(without_a_profile_the_page_gives_advice) {
    char *text = lines_of(NULL);
    says(text, "None of the runs has a profile: <code>heddle sweep ... --profile</code> adds them");
    ck_assert_ptr_null(strstr(text, "<details>"));
    free(text);
}
END_TEST

SUITE(host_cli_report_parts) {
    TEST(shares_of_roofs_by_hand);
    TEST(machines_beyond_six_are_counted);
    TEST(a_kernel_is_the_sum_of_its_launches);
    TEST(a_line_has_its_share_of_the_kernel);
    TEST(lines_by_their_slots);
    TEST(only_the_hottest_lines_are_shown);
    TEST(without_a_profile_the_page_gives_advice);
}
