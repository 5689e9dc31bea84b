/* Tests `heddle report` by running heddle: the page shows the contents of the database, and needs no other files. */
#include "host/results/results_db.h"
#include "test/host/cli/cli_help.h"
#include <sys/stat.h>

enum { RUNS = 100, MOST_BYTES = 5000000 };

/* Adds a profile line of maximum length with `slots` issue slots. A third of these slots issued. */
static void add_line(cJSON *list, const char *file, int line, double slots) {
    cJSON *o = cJSON_CreateObject(), *stalls;
    cJSON_AddItemToArray(list, o);
    if (file)
        cJSON_AddStringToObject(o, "file", file);
    cJSON_AddNumberToObject(o, "line", line);
    cJSON_AddStringToObject(o, "text", "mad.lo.s32 \t%r1, %r2, %r3, %r4; // a <b> & \"c\"");
    cJSON_AddNumberToObject(o, "issued", slots / 3);
    cJSON_AddNumberToObject(o, "lanes", 32 * slots / 3);
    cJSON_AddNumberToObject(o, "l1_misses", 1e6 + line);
    stalls = cJSON_AddObjectToObject(o, "stalls");
    cJSON_AddNumberToObject(stalls, "fetch", slots / 6);
    cJSON_AddNumberToObject(stalls, "scoreboard_load", slots / 2);
}

/* Adds the maximum number of path segments of a drawing. All segments are different, and their lane masks need many
 * boxes. */
static void add_paths(cJSON *kernel, int k) {
    cJSON *list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(kernel, "paths"), "segments");
    for (int i = 0; i < 40; i++) {
        const double v[] = {3 * i + 1, 3 * i + 4, 10 * i, 10 * i + 2 + k, 100 + i, 103 + i, i ? 0x55555555 : 0xffffffff,
                            i % 4,     i % 4,     1};
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(v, 10));
    }
}

static void add_profile(cJSON *result, int kernels) {
    cJSON *profile = cJSON_AddArrayToObject(result, "profile");
    for (int k = 0; k < kernels; k++) {
        cJSON *kernel = cJSON_CreateObject();
        cJSON_AddItemToArray(profile, kernel);
        add_paths(kernel, k);
        cJSON_AddStringToObject(kernel, "kernel", "a_kernel_with_a_name_of_some_length");
        cJSON_AddStringToObject(kernel, "file", "a/folder/of/kernels/with_a_file.ptx");
        cJSON_AddNumberToObject(kernel, "launches", 1 + k);
        cJSON *lines = cJSON_AddArrayToObject(kernel, "lines"), *sources = cJSON_AddArrayToObject(kernel, "sources");
        for (int i = 1; i <= 40; i++) {
            add_line(lines, NULL, 100 + i, i * (k + 1.0));
            add_line(sources, "a/folder/of/kernels/with_a_file.cu", i, i * (k + 1.0));
        }
    }
}

/* Adds a run with 1000 + `extra` cycles, 30 of 100 issue slots issued, 0.25 J of DRAM energy and 0.75 J of static
 * energy. */
static void add_run(struct results_db *db, const char *program, const char *model, const char *set, double extra,
                    int kernels) {
    static const struct {
        const char *name;
        double v;
    } stats[] = {{"gpu.thread_instructions", 64000},
                 {"gpu.ipc", 64},
                 {"issue.slots", 100},
                 {"issue.issued", 30},
                 {"issue.fetch", 20},
                 {"issue.no_warp", 50},
                 {"energy.dram_joules", 0.25},
                 {"l1.sectors", 1000},
                 {"energy.static_joules", 0.75},
                 {"dram.read_bytes", 16000},
                 {"dram.write_bytes", 0},
                 {"l2.sectors", 0},
                 {"op.f32_add", 32000},
                 {"op.f32_fma", 16000},
                 {"op.f64", 0},
                 {"op.sfu", 80}};
    const char *const sets[] = {set, NULL};
    char why[1024];
    struct run_machine m;
    ck_assert_msg(run_machine_find(&m, &(struct heddle_options){.model = model, .set = sets}, why, sizeof why), "%s",
                  why);
    cJSON *o = cJSON_CreateObject(), *s = cJSON_AddObjectToObject(o, "stats");
    cJSON_AddNumberToObject(s, "gpu.cycles", 1000 + extra);
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++)
        cJSON_AddNumberToObject(s, stats[i].name, stats[i].v);
    if (kernels)
        add_profile(o, kernels);
    struct run_what w = {.program = program, .size = "small", .machine = &m};
    ck_assert_msg(results_add(db, &w, &(struct run_end){HEDDLE_OK, "pass", NULL, o}, "by hand", why, sizeof why), "%s",
                  why);
    cJSON_Delete(o);
    run_machine_free(&m);
}

static struct results_db *open_db(const char *path) {
    char why[1024];
    struct results_db *db = results_open(path, true, why, sizeof why);
    ck_assert_msg(db != NULL, "%s", why);
    return db;
}

static void write_by_hand(void) {
    struct results_db *db = open_db("hand.db");
    add_run(db, "a<b>", "spe", "l1.size=8192", 600, 0);
    add_run(db, "a<b>", "dpe", "l1.size=8192", 0, 1);
    results_close(db);
}

/* Expected values:
 * - speed-up: 1600 / 1000 cycles
 * - issue slots: 30, 20 and 50 of 100
 * - energy: 0.25 and 0.75 J
 * - peak of fermi: 15 SMs with 2 schedulers issue 960 thread instructions per cycle
 * - L1: 1000 sectors of 32 bytes, so 64000 / 32000 = 2 instructions per byte. 15 x 128 bytes per cycle would allow more
 *   than 960 instructions per cycle, so the peak is 960, and 64 per cycle are 6.7 %
 * - DRAM: 4 instructions per byte. 6 channels x 8 bytes x data rate 4 x 924 / 700 MHz = 253.4 bytes per cycle would
 *   also allow more than 960
 * - hottest line: line i of 40 lines has i slots, so the last has 40 of 820: 4.9 %
 * - f32: 32000 + 2 * 16000 flop in 1000 cycles are 64 per cycle, of a peak of 15 * 2 * 32 * 2 = 1920: 3.3 %; 4 flop per
 *   byte
 * - special functions: 80 in 1000 cycles are 0.08 per cycle, of a peak of 15 * 32 / 8 = 60: 0.1 % */
START_TEST(a_page_by_hand) {
    write_by_hand();
    STATUS(HEDDLE_OK, "report hand.db -o p.html --title 'a \"page\" & more'");
    SAYS(out, "Written: p.html");
    char *page = slurp("p.html");
    SAYS(page, "<h1>a &#34;page&#34; &#38; more</h1>");
    SAYS(page, "2 runs: 1 program, 2 models, 1 machine; by heddle " HEDDLE_VERSION);
    SAYS(page, "l1.size=8192");
    SAYS(page, "<td>a&#60;b&#62;</td>");
    SAYS(page, "data-v=\"1600\">1,600</td>");
    SAYS(page, "data-v=\"1.6\">1.600</td>");
    SAYS(page, ">30.0 %</td>");
    SAYS(page, ">50.0 %</td>");
    SAYS(page, "data-v=\"0.75\">0.75</td>");
    SAYS(page, "<td class=n data-v=\"2\">2</td><td class=n data-v=\"0.0666666667\">6.7 %</td>");
    SAYS(page, "<td class=n data-v=\"4\">4</td><td class=n data-v=\"0.0666666667\">6.7 %</td>");
    SAYS(page,
         "<td class=n data-v=\"64\">64</td><td class=n data-v=\"0.0333333333\">3.3 %</td><td class=n data-v=\"4\">");
    SAYS(page, "<td class=n data-v=\"0.08\">0.08</td><td class=n data-v=\"0.00133333333\">0.1 %</td>");
    SAYS(page, "data-v=\"40\">4.9 %</td>");
    SAYS(page, "with_a_file.cu:40</td>");
    SAYS(page, "mad.lo.s32 \t%r1, %r2, %r3, %r4; // a &#60;b&#62; &#38; &#34;c&#34;");
    ck_assert_ptr_null(strstr(page, "with_a_file.cu:34</td>")); /* the page shows only the six hottest lines */
    ck_assert_ptr_null(strstr(page, "=\"http:"));               /* the page loads nothing from elsewhere */
    ck_assert_ptr_null(strstr(page, "https:"));
    for (const char *at = page; (at = strstr(at, "src=")); at++)
        ck_assert_int_eq(strncmp(at, "src=\"data:", 10), 0);
    free(page);
}
END_TEST

START_TEST(a_page_of_many_runs_is_small) {
    struct results_db *db = open_db("many.db");
    for (int i = 0; i < RUNS; i++) {
        char program[32], set[64];
        snprintf(program, sizeof program, "program_%d", i / 10);
        snprintf(set, sizeof set, "l1.latency=%d", 10 + i / 2 % 5);
        add_run(db, program, i & 1 ? "dpe" : "spe", set, i, 5);
    }
    results_close(db);
    STATUS(HEDDLE_OK, "report many.db");
    struct stat st;
    ck_assert_int_eq(stat("report.html", &st), 0);
    ck_assert_msg(st.st_size < MOST_BYTES, "%lld bytes", (long long)st.st_size);
    char *page = slurp("report.html");
    SAYS(page, "100 runs: 10 programs, 2 models");
    SAYS(page, "And 2 more kernels, which took less.");
    int sections = 0;
    for (const char *at = page; (at = strstr(at, "<details>")); at++)
        sections++;
    /* of 10 x 2 x 5 drawings, the page shows 40; of each program, it shows the source of 3 kernels */
    ck_assert_int_eq(sections, RUNS + 40 + 10 * 3);
    SAYS(page, "60 more are not drawn.");
    free(page);
}
END_TEST

/* In a browser, the page must not print errors on the console. A click on the header of a column sorts the table: first
 * by gpu.cycles, then by the programs' names, whose numbers are compared as numbers. */
START_TEST(tables_sort_in_a_browser) {
    if (system("chromium --version >/dev/null 2>&1") != 0) {
        test_skip("chromium is not installed");
        return;
    }
    struct results_db *db = open_db("sort.db");
    add_run(db, "run 9", "spe", NULL, 7, 0);
    add_run(db, "run 100", "spe", NULL, 3, 0);
    add_run(db, "run 10", "spe", NULL, 9000, 0);
    results_close(db);
    STATUS(HEDDLE_OK, "report sort.db -o p.html");
    FILE *f = fopen("p.html", "a");
    fputs("<script>const t=document.querySelector('table'),o=[];for(const n of ['gpu.cycles','program'])"
          "for(const h of t.querySelectorAll('th'))if(h.textContent===n){h.click();"
          "o.push([...t.tBodies[0].rows].map(r=>r.cells[0].textContent).join('-'))}document.title=o.join()</script>",
          f);
    fclose(f);
    int how = system("HOME=$PWD timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr "
                     "--dump-dom \"file://$PWD/p.html\" >dom.txt 2>console.txt");
    char *dom = slurp("dom.txt"), *console = slurp("console.txt");
    if (how != 0 && !*dom) {
        free(dom);
        free(console);
        test_skip("chromium does not start");
        return;
    }
    SAYS(dom, "<title>run 100-run 9-run 10,run 9-run 10-run 100</title>");
    ck_assert_msg(strstr(console, "CONSOLE") == NULL, "%.1000s", console);
    free(dom);
    free(console);
}
END_TEST

/* An if-else: with a single stack, the boxes are in one column; with two paths, they are in two columns. The drawing is
 * 60 points wide, plus 270 points for each column. */
START_TEST(paths_are_drawn_for_each_model) {
    write_kernel(".param .u64 p",
                 "mov.u32 %r1,%tid.x;\nsetp.lt.u32 %p1,%r1,8;\n@%p1 bra ELSE;\nadd.u32 %r2,%r1,1;\nbra.uni JOIN;\n"
                 "ELSE:\nsub.u32 %r2,%r1,1;\nsub.u32 %r2,%r2,1;\nJOIN:\nadd.u32 %r1,%r1,%r2;");
    STATUS(HEDDLE_OK, "sweep k.ptx -g 2 -b 64 -a zero:64 -m spe,dpe,spe+dac -s l1.size=8K,16K -o r.db --profile");
    STATUS(HEDDLE_OK, "report r.db");
    char *page = slurp("report.html");
    SAYS(page, "k of k.ptx -g 2 -b 64 in spe, 2 runs</summary>\n<div class=wide><svg "
               "xmlns='http://www.w3.org/2000/svg' width='330'");
    SAYS(page, "k of k.ptx -g 2 -b 64 in dpe, 2 runs</summary>\n<div class=wide><svg "
               "xmlns='http://www.w3.org/2000/svg' width='600'");
    SAYS(page, "k of k.ptx -g 2 -b 64 in spe+dac, 2 runs</summary>");
    SAYS(page, ", diverges</text>");
    SAYS(page, ">joined: pc ");
    free(page);
    STATUS(HEDDLE_OK, "sweep k.ptx -g 2 -b 64 -a zero:64 -m its -o s.db");
    STATUS(HEDDLE_OK, "report s.db");
    ck_assert_str_eq(err, "");
    page = slurp("report.html");
    SAYS(page, "None of the runs has them");
    free(page);
}
END_TEST

START_TEST(mistakes_leave_no_page) {
    write_by_hand();
    STATUS(HEDDLE_USAGE, "report");
    SAYS(err, "which file?");
    STATUS(HEDDLE_USAGE, "report none.db");
    SAYS(err, "none.db: No such file");
    STATUS(HEDDLE_USAGE, "report hand.db --where modle=spe");
    SAYS(err, "did you mean 'model'?");
    STATUS(HEDDLE_USAGE, "report hand.db --where model=its");
    SAYS(err, "no run fits --where");
    /* the database is also the output file, and must not be overwritten */
    STATUS(HEDDLE_USAGE, "report hand.db -o hand.db");
    SAYS(err, "hand.db");
    STATUS(HEDDLE_USAGE, "report hand.db -o no/folder/p.html");
    SAYS(err, "no/folder");
    ck_assert(!exists("report.html"));
    STATUS(HEDDLE_OK, "results hand.db");
    STATUS(HEDDLE_USAGE, "report hand.db -o /dev/full");
    SAYS(err, "/dev/full");
}
END_TEST

SUITE(host_cli_report) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_page_by_hand);
    TEST(a_page_of_many_runs_is_small);
    TEST(tables_sort_in_a_browser);
    TEST(paths_are_drawn_for_each_model);
    TEST(mistakes_leave_no_page);
}
