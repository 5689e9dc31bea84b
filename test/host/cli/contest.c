/* Tests the figure of `heddle reproduce` that compares mechanisms with each other (a contest): the best mechanism for
 * each program, the issue slots that this mechanism saves, the colours of the map, and the files that the command
 * writes. */
#include "cli_help.h"
#include "host/report/figure.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRAMS = 3, SERIES = 4, RUNS = PROGRAMS * SERIES, VALUES = 5 };

/* Cycles and uses of issue slots, by series and then by program. The slots of a run are the sum of the three uses. */
static const double runs[RUNS][VALUES] = {
    /* cycles, slots, no warp, waits for a load, waits at a barrier */
    {100, 200, 100, 60, 40}, {100, 200, 0, 100, 100}, {100, 200, 0, 100, 100}, /* base */
    {50, 100, 40, 30, 30},   {99.6, 199, 0, 99, 100}, {110, 220, 0, 120, 100}, /* one */
    {80, 160, 70, 50, 40},   {90, 180, 0, 95, 85},    {120, 240, 0, 120, 120}, /* two */
    {10, 20, 0, 20, 0},      {10, 20, 0, 20, 0},      {10, 20, 0, 20, 0},      /* bound */
};

struct contest_rig {
    struct plan plan;
    struct figure_runs r;
    double values[RUNS][VALUES];
    struct result_row rows[RUNS];
    char *names[VALUES];
    struct result_set set;
};

static const struct series series[] = {{.label = "base", .model = "spe", .base = "base"},
                                       {.label = "one", .model = "dpe", .base = "base"},
                                       {.label = "two", .model = "its", .base = "base"},
                                       {.label = "bound", .model = "minpc", .base = "base", .bound = true},
                                       {0}};
static const struct figure figure = {
    .name = "f",
    .title = "t",
    .paper = "p",
    .programs = "vecadd sgemm reduction",
    .preset = "fermi",
    .contest = "base",
    .panels = {PANEL("t", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO, series, NULL)}};

static void make(struct contest_rig *t) {
    static char names[VALUES][24] = {"gpu.cycles", "issue.slots", "issue.no_warp", "issue.scoreboard_load",
                                     "issue.barrier"};
    char why[1024];
    memset(t, 0, sizeof *t);
    setenv("HEDDLE_KERNELS", "kernels", 1);
    ck_assert(plan_start(&t->plan, why, sizeof why));
    ck_assert(figure_plan(&t->r, &figure, BENCH_SMALL, &t->plan, why, sizeof why));
    ck_assert_int_eq(t->plan.n_runs, RUNS);
    for (int i = 0; i < VALUES; i++)
        t->names[i] = names[i];
    t->set = (struct result_set){.rows = t->rows, .n = RUNS, .names = t->names, .n_names = VALUES};
    for (int i = 0; i < RUNS; i++) { /* runs are in the order of the series, then of the programs */
        memcpy(t->values[i], runs[i], sizeof runs[i]);
        t->rows[i].key = t->plan.runs[i].key;
        t->rows[i].values = t->values[i];
    }
}

/* - vecadd: `one` is the best, with the speed-up 2. In the base, 100 slots have a live warp. Of these, `one` saves 30
 *   that wait for a load and 10 that wait at a barrier. `one` also saves 60 slots without a live warp, which do not
 *   count.
 * - sgemm: `one` is less than half a percent faster, which does not count. `two` is the best, with the speed-up 100 /
 *   90. Of 200 slots, `two` saves 15 that wait at a barrier and 5 that wait for a load.
 * - reduction: only `bound` is faster than the base. This series is an upper limit, not a real mechanism, so it is
 *   never the best. */
START_TEST(the_best_of_each_program_by_hand) {
    struct contest_rig t;
    struct panel_values v;
    make(&t);
    ck_assert(panel_fill(&v, &t.r, 0, &t.plan, &t.set));
    struct figure_best *best = figure_best(&t.r, &v, &t.plan, &t.set);
    ck_assert_int_eq(best[0].series, 1);
    ck_assert_double_eq(best[0].value, 2);
    ck_assert_str_eq(best[0].slot, "issue.scoreboard_load");
    ck_assert_double_eq_tol(best[0].saved, 0.3, 1e-12);
    ck_assert_int_eq(best[1].series, 2);
    ck_assert_double_eq_tol(best[1].value, 100 / 90., 1e-12);
    ck_assert_str_eq(best[1].slot, "issue.barrier");
    ck_assert_double_eq_tol(best[1].saved, 0.075, 1e-12);
    ck_assert_int_eq(best[2].series, -1);
    ck_assert(isnan(best[2].value));
    ck_assert_ptr_null(best[2].slot);
    free(best);
    panel_free(&v);
    figure_runs_free(&t.r);
    plan_free(&t.plan);
}
END_TEST

/* figure_heat() returns the place of a value in the colours of the map: positive is good, negative is bad. For ratios,
 * the scale is logarithmic and ends at 1.5 and 1 / 1.5, so the square root of 1.5 is half way. A speed-up above 1 is
 * good; a ratio of cycles or of misses above 1 is bad. For absolute values, such as the share of active lanes, 0.5 is
 * the middle of the scale. */
START_TEST(colours_of_a_map) {
    const struct panel speedup = {.kind = PANEL_SPEEDUP}, ratio = {.kind = PANEL_RATIO}, value = {.kind = PANEL_VALUE};
    ck_assert_double_eq(figure_heat(&speedup, 1), 0);
    ck_assert_double_eq_tol(figure_heat(&speedup, sqrt(1.5)), 0.5, 1e-12);
    ck_assert_double_eq(figure_heat(&speedup, 7), 1);
    ck_assert_double_eq(figure_heat(&speedup, 0.1), -1);
    ck_assert_double_eq(figure_heat(&ratio, 7), -1);
    ck_assert_double_eq_tol(figure_heat(&ratio, 1 / sqrt(1.5)), 0.5, 1e-12);
    ck_assert_double_eq(figure_heat(&ratio, 0), 1); /* no miss is left */
    ck_assert_double_eq(figure_heat(&value, 0.5), 0);
    ck_assert_double_eq(figure_heat(&value, 1), 1);
    ck_assert(isnan(figure_heat(&speedup, NAN)));
}
END_TEST

static const struct figure *contest(void) {
    for (int i = 0; figure_at(i); i++)
        if (figure_at(i)->contest)
            return figure_at(i);
    return NULL;
}

/* In a figure that is a contest, all panels draw the same list of series, and no panel has claims of a paper. */
START_TEST(a_contest_has_one_list_of_series) {
    const struct figure *f = contest();
    ck_assert(f != NULL);
    for (int p = 0; p < FIGURE_PANELS && f->panels[p].title; p++) {
        ck_assert(f->panels[p].series == f->panels[0].series && !f->panels[p].claims);
        ck_assert(strcmp(f->panels[p].series[0].label, f->contest) == 0);
    }
    ck_assert_int_eq(f->panels[0].kind, PANEL_SPEEDUP);
}
END_TEST

/* The test runs only one small program. In the CSV, the base has the speed-up 1. In the page, each panel has a table
 * with colours. */
START_TEST(mechanisms_are_compared_on_the_programs_of_the_user) {
    cli_setup();
    bool gnuplot = system("command -v gnuplot >/dev/null 2>&1") == 0;
    static const char script[] = "#!/bin/sh\nPATH=${PATH#*:} exec gnuplot \"$@\" 2>>bin/said.txt\n";
    char path[2 * PATH_MAX], *before = strdup(getenv("PATH"));
    if (gnuplot) { /* keeps what gnuplot says */
        ck_assert_int_eq(mkdir("bin", 0777), 0);
        write_file("bin/gnuplot", script, strlen(script));
        ck_assert_int_eq(chmod("bin/gnuplot", 0755), 0);
        snprintf(path, sizeof path, "bin:%s", before);
        setenv("PATH", path, 1);
    }
    STATUS(HEDDLE_OK, "reproduce mechanisms --programs subwarps2 -j 2");
    setenv("PATH", before, 1);
    free(before);
    SAYS(out, "\nMeans over 1 program; ratios are to spe\n");
    SAYS(out, "\nThe best for each program\n");
    ck_assert(strstr(out, "\nMissing:") == NULL);
    char *csv = slurp("reproduction/mechanisms.csv"), *page = slurp("reproduction/index.html");
    SAYS(csv, "\nmechanisms,a,program,subwarps2,spe,1,\n");
    SAYS(csv, "\nmechanisms,e,program,subwarps2,spe,1,\n");
    ck_assert_int_eq(occurrences(csv, ",program,sgemm,"), 0);
    ck_assert_int_eq(occurrences(page, "<table class=heat>"), 5);
    SAYS(page, "style=\"background:rgba(");
    SAYS(page, "<h3>The best for each program</h3>");
    if (gnuplot) {
        char *png = slurp("reproduction/mechanisms.png");
        ck_assert_int_eq(memcmp(png, "\x89PNG", 4), 0);
        free(png);
        char *said = slurp("bin/said.txt"); /* the map has an extent, although it has a single row */
        ck_assert_msg(!strstr(said, "empty y range"), "%s", said);
        free(said);
    }
    free(csv);
    free(page);
    cli_teardown();
}
END_TEST

START_TEST(invalid_programs_are_refused) {
    cli_setup();
    STATUS(HEDDLE_USAGE, "reproduce mechanisms --programs vecad");
    SAYS(err, "--programs: there is no program or set 'vecad'; 'heddle list benchmarks' shows them");
    STATUS(HEDDLE_USAGE, "reproduce mechanisms --programs ,");
    SAYS(err, "--programs: there is no program or set ''");
    STATUS(HEDDLE_USAGE, "reproduce dpe-13 mechanisms --programs vecadd");
    SAYS(
        err,
        "--programs: a paper names the programs of its figures; it works with 'mechanisms', 'today' and 'modern-core'");
    STATUS(HEDDLE_USAGE, "reproduce all --programs vecadd");
    SAYS(err, "--programs: a paper names");
    ck_assert(!exists("results.db"));
    cli_teardown();
}
END_TEST

SUITE(host_cli_contest) {
    TEST(the_best_of_each_program_by_hand);
    TEST(colours_of_a_map);
    TEST(a_contest_has_one_list_of_series);
    TEST(mechanisms_are_compared_on_the_programs_of_the_user);
    TEST(invalid_programs_are_refused);
}
