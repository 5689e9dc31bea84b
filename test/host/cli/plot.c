/* Tests `heddle plot` by running heddle, and tests the scripts that it passes to gnuplot. If gnuplot is missing, the
 * drawings are not checked. */
#include "cli_help.h"
#include "host/report/chart.h"
#include "host/report/gnuplot.h"
#include "host/results/results_db.h"
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* Writes hand.db with runs of two programs, `name` and b, in the models spe and dpe, with two sizes of the L1. Cycles
 * with the larger L1: `name` 100 under spe and 50 under dpe, b 200 under spe and 400 under dpe. With the smaller L1
 * each run takes twice as many. Of the 10 issue slots of a run, 4 issue and 6 have no warp. */
static void write_by_hand(const char *name) {
    static const double cycles[] = {100, 50, 200, 400};
    char why[1024];
    struct results_db *db = results_open("hand.db", true, why, sizeof why);
    ck_assert_msg(db != NULL, "%s", why);
    for (int i = 0; i < 8; i++) {
        const char *const set[] = {i < 4 ? "l1.size=16384" : "l1.size=8192", NULL};
        struct run_machine m;
        const char *model = i & 1 ? "dpe" : "spe", *program = i & 2 ? "b" : name;
        ck_assert(run_machine_find(&m, &(struct heddle_options){.model = model, .set = set}, why, sizeof why));
        cJSON *o = cJSON_CreateObject(), *stats = cJSON_AddObjectToObject(o, "stats");
        cJSON_AddNumberToObject(stats, "gpu.cycles", cycles[i & 3] * (i < 4 ? 1 : 2));
        cJSON_AddNumberToObject(stats, "gpu.ipc", 1 / cycles[i & 3]);
        cJSON_AddNumberToObject(stats, "issue.slots", 10);
        cJSON_AddNumberToObject(stats, "issue.issued", 4);
        cJSON_AddNumberToObject(stats, "issue.no_warp", 6);
        struct run_what w = {.program = program, .size = "small", .machine = &m};
        ck_assert_msg(results_add(db, &w, &(struct run_end){HEDDLE_OK, "pass", NULL, o}, "by hand", why, sizeof why),
                      "%s", why);
        cJSON_Delete(o);
        run_machine_free(&m);
    }
    results_close(db);
}

static char *script_of(const struct chart *c) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert(chart_script(c, f));
    fclose(f);
    return text;
}

static char alpha[] = "a", beta[] = "it's `date`\n\"x\"", one[] = "spe", two[] = "dpe", none[] = "empty";

START_TEST(a_script_has_the_values) {
    char *const places[] = {alpha, beta}, *const series[] = {one, two, none};
    const double y[] = {1, 2.5, NAN, 3, NAN, NAN};
    struct chart c = {CHART_BARS, "it's `date`", NULL, "x", places, NULL, 2, series, 3, y, true, false, NULL, 0, NULL};
    char *text = script_of(&c);
    SAYS(text, "$data << END\n\"a\" 1 2.5 ?\n\"it's `date` 'x'\" 3 ? ?\nEND\n");
    SAYS(text, "set title 'it''s `date`'\n"); /* inside single quotes, gnuplot does not execute commands */
    SAYS(text, "plot $data using 2:xticlabels(1) ");
    SAYS(text, "title 'spe', $data using 3 ");
    ck_assert_ptr_null(strstr(text, "'empty'")); /* the series has no value, so it is not drawn */
    free(text);
}
END_TEST

/* The colours of a map of ratios go as far as its values: to 1.25, or to 1 / 0.8 = 1.25. They go to 1.5 at most, and to
 * 1.01 at least. */
START_TEST(a_map_uses_all_its_colours) {
    static const double rows[][3] = {{1.25, 1, 1.25}, {1, 0.8, 1.25}, {9, 1, 1.5}, {1, 1, 1.01}, {NAN, 0, 1.01}};
    char *const places[] = {alpha, beta}, *const series[] = {one};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct chart c = {CHART_HEAT, "t", NULL, "x", places, NULL, 2, series, 1, rows[i], true, false, NULL, 0, NULL};
        char *text = script_of(&c), want[64];
        snprintf(want, sizeof want, "set cbrange [%g:%g]\n", 2 - rows[i][2], rows[i][2]);
        SAYS(text, want);
        free(text);
    }
}
END_TEST

/* A map of one row has cells: two maps with the same colours in another order differ. */
START_TEST(a_map_of_one_row_is_drawn) {
    static const double rows[][2] = {{1.25, 1}, {1, 1.25}};
    static const char *const names[] = {"map0.png", "map1.png"};
    char *const places[] = {alpha}, *const series[] = {one, two};
    char why[256];
    if (!has_gnuplot())
        return;
    for (int i = 0; i < 2; i++) {
        struct chart c = {CHART_HEAT, "t", NULL, "x", places, NULL, 1, series, 2, rows[i], true, false, NULL, 0, NULL};
        ck_assert_int_eq(chart_file(&c, "png", names[i], why, sizeof why), 1);
    }
    ck_assert_int_ne(system("cmp -s map0.png map1.png"), 0);
}
END_TEST

/* PNG has the numbers of SVG. From 80,000 to 350,000, a fifth is 54,000, so that the round step is 100,000. Sizes that
 * double are ticks of a logarithmic axis. 0.0001 J are 100 microjoules. */
START_TEST(a_script_has_si_prefixes) {
    char *const places[] = {alpha, beta, one}, *const series[] = {two};
    const double sizes[] = {8192, 16384, 32768}, cycles[] = {350000, 90000, 80000}, joules[] = {0.00035, 0.0002, 0};
    struct chart c = {CHART_LINES, "t",    "l1.size", "cycles", places, sizes, 3,   series,
                      1,           cycles, false,     false,    NULL,   0,     NULL};
    char *text = script_of(&c);
    SAYS(text, "set logscale x\nset xtics ('8K' 8192, '16K' 16384, '32K' 32768)\n");
    SAYS(text, "set ytics ('0' 0, '100 k' 100000, ");
    free(text);
    c = (struct chart){CHART_STACK, "t",    NULL,  "joules", places, NULL, 3,   series,
                       1,           joules, false, false,    NULL,   0,    NULL};
    text = script_of(&c);
    SAYS(text, "set yrange [0:0.0004]\nset ytics ('0 J' 0, '100 uJ' 0.0001, ");
    free(text);
}
END_TEST

/* The points of a line are sorted by x, whatever the order of the runs. A roof is a slope up to its maximum height, and
 * then flat. */
START_TEST(lines_ascend_and_roofs_bend) {
    char *const places[] = {alpha, beta, one}, *const series[] = {two};
    const double x[] = {30, 10, 20}, y[] = {3, 1, 2};
    const struct chart_roof roof = {"DRAM", 0.5, 8};
    struct chart c = {CHART_LINES, "t", "x", "y", places, x, 3, series, 1, y, false, false, &roof, 1, NULL};
    char *text = script_of(&c);
    SAYS(text, " 10 1\n 20 2\n 30 3\n");
    SAYS(text, "0.5*x < 8 ? 0.5*x : 8 with lines");
    SAYS(text, "set logscale xy");
    SAYS(text, "set xrange [2.5:120]\n"); /* x ranges from 10 / 4 to 30 * 4, and contains the roof's bend at 8 / 0.5 */
    free(text);
}
END_TEST

/* A single run at x = 4. The x axis also contains the roof's bend at x = 16. */
START_TEST(a_single_point_shows_the_bend_of_the_roof) {
    char *const series[] = {one};
    const double x[] = {4}, y[] = {3};
    const struct chart_roof roof = {"DRAM", 0.5, 8};
    struct chart c = {.kind = CHART_POINTS, .title = "t", .n = 1, .n_series = 1, .series = series, .x = x, .y = y};
    c.roofs = &roof;
    c.n_roofs = 1;
    char *text = script_of(&c);
    SAYS(text, "set xrange [1:64]\n");
    free(text);
}
END_TEST

START_TEST(errors_of_gnuplot_are_reported) {
    char why[256] = "", *shown;
    if (!has_gnuplot())
        return;
    FILE *to = tmpfile();
    ck_assert_int_eq(gnuplot_draw("plot unheard_of(x)\n", to, why, sizeof why), -1);
    ck_assert_str_eq(why, "gnuplot failed: line 0: undefined function: unheard_of");
    fclose(to);
    write_file("s", "", 0);
    FILE *said = freopen("s", "w", stderr);
    to = tmpfile();
    int drawn = gnuplot_draw("set terminal dumb\n$d << E\n1 1\nE\nplot $d\n", to, why, sizeof why);
    fflush(said);
    shown = slurp("s");
    ck_assert_str_eq(shown, ""); /* gnuplot's warnings are hidden: they help only the script's author */
    ck_assert_int_eq(drawn, 1);
    free(shown);
    fclose(to);
}
END_TEST

START_TEST(every_kind_is_drawn) {
    static const char *const kinds[] = {"--relative-to spe", "--kind lines --x l1.size --value gpu.ipc",
                                        "--kind scatter --x gpu.cycles --columns program", "--kind stack",
                                        "--value gpu.cycles --where l1.size=8K"};
    write_by_hand("a");
    for (size_t i = 0; has_gnuplot() && i < sizeof kinds / sizeof kinds[0]; i++) {
        STATUS(HEDDLE_OK, "plot hand.db %s -o p%zu", kinds[i], i);
        char name[16];
        snprintf(name, sizeof name, "p%zu.svg", i);
        char *svg = slurp(name);
        SAYS(svg, "<svg");
        SAYS(svg, "</svg>");
        free(svg);
        snprintf(name, sizeof name, "p%zu.png", i);
        svg = slurp(name);
        ck_assert_int_eq(memcmp(svg, "\x89PNG", 4), 0);
        free(svg);
    }
    if (has_gnuplot()) { /* -o FILE with a file name suffix writes one file */
        STATUS(HEDDLE_OK, "plot hand.db -o only.png --title 'my title'");
        ck_assert(exists("only.png") && !exists("only.svg") && !exists("only.png.svg"));
        STATUS(HEDDLE_OK, "plot hand.db --kind lines --x l1.size -o t.svg --title \"it's mine\"");
        char *svg = slurp("t.svg");
        SAYS(svg, "it&#39;s mine");
        SAYS(svg, "b dpe");
        free(svg);
    }
}
END_TEST

/* If a file cannot be written completely, for example because the disk is full, heddle removes the incomplete file; a
 * file that existed before stays unchanged. */
START_TEST(incomplete_plots_are_removed) {
    static const char *const names[] = {"p.svg", "p.png"};
    struct rlimit all;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
    for (int i = 0; has_gnuplot() && i < 2; i++) {
        char why[256] = "", script[256];
        snprintf(script, sizeof script, "set terminal %s size 640,480\nplot sin(x)\n", i ? "pngcairo" : "svg");
        write_file(names[i], "mine", 4);
        signal(SIGXFSZ, SIG_IGN); /* also ignored by gnuplot */
        for (rlim_t room = 1000; room <= 2000; room += 1000) {
            struct rlimit little = {room, all.rlim_max};
            setrlimit(RLIMIT_FSIZE, &little);
            int drawn = gnuplot_file(script, names[i], why, sizeof why);
            setrlimit(RLIMIT_FSIZE, &all);
            ck_assert_int_eq(drawn, -1);
            ck_assert_msg(strstr(why, "is the disk full?") || strstr(why, "gnuplot failed"), "%s", why);
            char *text = slurp(names[i]);
            ck_assert_str_eq(text, "mine");
            free(text);
        }
        ck_assert_int_eq(gnuplot_file(script, names[i], why, sizeof why), 1);
    }
}
END_TEST

/* Names come from files, so they may contain anything, even commands for gnuplot. */
START_TEST(names_are_not_executed) {
    write_by_hand("`touch ran1`\"; system('touch ran2')\nsystem('touch ran3') END\nEND");
    if (has_gnuplot())
        STATUS(HEDDLE_OK, "plot hand.db -o n.svg --title '`touch ran4`'");
    ck_assert(!exists("ran1") && !exists("ran2") && !exists("ran3") && !exists("ran4"));
}
END_TEST

/* Runs of one model are compared by the option that was swept. Its first value is the base: with the larger L1, a run
 * takes half of the cycles. */
START_TEST(the_swept_option_is_drawn) {
    write_by_hand("a");
    STATUS(HEDDLE_OK, "plot hand.db --where model=spe -o one.svg");
    char *svg = slurp("one.svg");
    SAYS(svg, "speed-up over l1.size=8K");
    SAYS(svg, "colours: l1.size");
    SAYS(svg, "<title>a, 16K: 2</title>");
    free(svg);
    STATUS(HEDDLE_OK, "plot hand.db --where l1.size=8K -o two.svg"); /* two models: they are compared */
    svg = slurp("two.svg");
    SAYS(svg, "speed-up over spe");
    SAYS(svg, "<title>b, dpe: 0.5</title>");
    free(svg);
}
END_TEST

START_TEST(mistakes_are_reported) {
    write_by_hand("a");
    STATUS(HEDDLE_USAGE, "plot");
    SAYS(err, "which file?");
    STATUS(HEDDLE_USAGE, "plot hand.db --value gpu.ipd");
    SAYS(err, "--value: no run has 'gpu.ipd'; did you mean 'gpu.ipc'?");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind lnes");
    SAYS(err, "did you mean 'lines'?");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind lines");
    SAYS(err, "needs --x");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind lines --x sched.policy");
    SAYS(err, "'lrr' is no number");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind stack --value gpu.ipc");
    SAYS(err, "issue slots by cause");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind stack --value energy");
    SAYS(err, "none of the 8 runs has these values");
    STATUS(HEDDLE_USAGE, "plot hand.db --x l1.size");
    SAYS(err, "--x does nothing with --kind bars: it is for lines and scatter");
    STATUS(HEDDLE_USAGE, "plot hand.db --kind stack --x l1.size");
    SAYS(err, "--x does nothing with --kind stack");
    STATUS(HEDDLE_USAGE, "plot hand.db -o p.pdf");
    SAYS(err, "-o p.pdf: a plot is X.svg or X.png, not X.pdf");
    STATUS(HEDDLE_USAGE, "plot hand.db --title --kind");
    SAYS(err, "--title needs a value: TEXT; '--kind' is an option");
    ck_assert(!exists("p.pdf.svg") && !exists("p.pdf"));
    STATUS(HEDDLE_USAGE, "plot hand.db --rows program");
    SAYS(err, "they differ in l1.size");
    STATUS(HEDDLE_USAGE, "plot hand.db --relative-to its");
    SAYS(err, "there is no column 'its'");
    STATUS(HEDDLE_USAGE, "plot hand.db --where model=its");
    SAYS(err, "no run fits");
    STATUS(HEDDLE_USAGE, "plot hand.db -o no/folder/p.svg");
    SAYS(err, "no/folder/p.svg");
    ck_assert(!exists("plot.svg") && !exists("plot.png"));
}
END_TEST

START_TEST(a_missing_gnuplot_is_reported) {
    char *path = strdup(getenv("PATH")), here[PATH_MAX];
    write_by_hand("a");
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    ck_assert_int_eq(system("ln -s \"$(command -v env)\" env"), 0); /* heddle() needs it */
    setenv("PATH", here, 1);
    int status = heddle("plot hand.db -o p");
    setenv("PATH", path, 1);
    ck_assert_int_eq(status, HEDDLE_OK); /* an SVG needs no gnuplot */
    SAYS(err, "no PNG, since gnuplot is not installed");
    SAYS(err, "apt-get install gnuplot");
    SAYS(out, "Written: p.svg\n");
    ck_assert(exists("p.svg") && !exists("p.png"));
    setenv("PATH", here, 1);
    status = heddle("plot hand.db -o p.png");
    setenv("PATH", path, 1);
    free(path);
    ck_assert_int_eq(status, HEDDLE_USAGE);
    SAYS(err, "gnuplot is not installed, and draws PNG files");
    ck_assert(!exists("p.png"));
}
END_TEST

SUITE(host_cli_plot) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_script_has_the_values);
    TEST(a_map_uses_all_its_colours);
    TEST(a_map_of_one_row_is_drawn);
    TEST(a_script_has_si_prefixes);
    TEST(lines_ascend_and_roofs_bend);
    TEST(a_single_point_shows_the_bend_of_the_roof);
    TEST(errors_of_gnuplot_are_reported);
    TEST(every_kind_is_drawn);
    TEST(incomplete_plots_are_removed);
    TEST(names_are_not_executed);
    TEST(the_swept_option_is_drawn);
    TEST(mistakes_are_reported);
    TEST(a_missing_gnuplot_is_reported);
}
