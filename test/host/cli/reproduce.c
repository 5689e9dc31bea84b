/* Tests `heddle reproduce`: the tables of figures are complete, its computed values are equal to values derived by
 * hand, and the command writes its files. */
#include "cli_help.h"
#include "host/report/figure.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stdio.h>

/* Returns the number of names in an expression that are not registered statistics. */
static int unknown_names(const char *text) {
    int unknown = 0;
    for (const char *at = text; *at; at += strspn(at, "+/")) {
        char name[96];
        size_t len = strcspn(at, "+/");
        const char *star = memchr(at, '*', len), *from = star ? star + 1 : at;
        snprintf(name, sizeof name, "%.*s", (int)(len - (size_t)(from - at)), from);
        unknown += stat_index(name) < 0;
        at += len;
    }
    return unknown;
}

static bool is_series(const struct panel *p, const char *label, size_t len) {
    for (const struct series *s = p->series; s->label; s++)
        if (strlen(s->label) == len && memcmp(s->label, label, len) == 0)
            return true;
    return false;
}

static bool is_group(const struct figure *f, const struct panel *p, const char *of) {
    if (strcmp(of, "all") == 0 || strcmp(of, "most") == 0)
        return true;
    if (p->split && (strcmp(of, p->split->yes) == 0 || strcmp(of, p->split->no) == 0))
        return true;
    if (strstr(f->programs, of))
        return true;
    for (const char *at = f->programs; *at; at += strcspn(at, " "), at += *at == ' ') {
        char set[64];
        snprintf(set, sizeof set, "%.*s", (int)strcspn(at, " "), at);
        const struct bench *b = bench_find(of);
        if (b && bench_in(b, set))
            return true;
    }
    return false;
}

static void check_estimate(const struct figure *f, const struct panel *p, const struct estimate *e) {
    ck_assert_msg(is_series(p, e->of, strlen(e->of)) && unknown_names(e->used) == 0, "%s", f->name);
    for (int i = 0; i < ESTIMATE_LOSSES && e->losses[i].loss; i++) {
        const struct estimate_loss *l = &e->losses[i];
        ck_assert_msg(unknown_names(l->loss) == 0, "%s: %s", f->name, l->loss);
        if (l->gain)
            ck_assert_msg(is_series(p, l->gain, strlen(l->gain)) && is_series(p, l->base, strlen(l->base)) &&
                              unknown_names(l->left) == 0,
                          "%s: %s", f->name, l->gain);
    }
}

static void check_panel(const struct figure *f, const struct panel *p) {
    ck_assert_msg(panel_series(p) <= FIGURE_SERIES, "%s", f->name);
    ck_assert_msg(unknown_names(p->value) == 0, "%s: %s", f->name, p->value);
    for (const struct series *s = p->series; s->label; s++) {
        ck_assert_msg((s->model != NULL) + (s->best_of != NULL) + (s->estimate != NULL) == 1, "%s: %s", f->name,
                      s->label);
        if (s->estimate)
            check_estimate(f, p, s->estimate);
        ck_assert_msg(!s->value || unknown_names(s->value) == 0, "%s: %s", f->name, s->value);
        ck_assert_msg(!s->base || is_series(p, s->base, strlen(s->base)), "%s: %s", f->name, s->base);
        ck_assert_msg(p->kind == PANEL_VALUE || s->base || s->best_of || s->hidden, "%s: %s", f->name, s->label);
        for (const char *at = s->best_of; at && *at; at += *at == '|') {
            ck_assert_msg(is_series(p, at, strcspn(at, "|")), "%s: %s", f->name, at);
            at += strcspn(at, "|");
        }
    }
    for (const struct claim *c = p->claims; c && c->of; c++) {
        ck_assert_msg(is_series(p, c->series, strlen(c->series)), "%s: %s", f->name, c->series);
        ck_assert_msg(is_group(f, p, c->of), "%s: %s", f->name, c->of);
        ck_assert_msg(c->value > 0, "%s", f->name);
    }
    ck_assert(!p->split || is_series(p, p->split->series, strlen(p->split->series)));
}

START_TEST(names_in_figures_exist) {
    for (int i = 0; figure_at(i); i++) {
        const struct figure *f = figure_at(i);
        ck_assert(f->title && f->paper && f->programs && f->preset);
        ck_assert_msg((f->missing != NULL) != (f->panels[0].title != NULL), "%s", f->name);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(figure_at(k)->name, f->name);
        for (int p = 0; p < FIGURE_PANELS && f->panels[p].title; p++)
            check_panel(f, &f->panels[p]);
    }
}
END_TEST

static void nothing_is_missing(const struct figure *f, struct plan *plan) {
    char why[1024];
    struct figure_runs r;
    ck_assert_msg(figure_plan(&r, f, BENCH_SMALL, plan, why, sizeof why), "%s", why);
    for (const char *at = r.absent; at && *at; at += strcspn(at, "\n") + 1) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        ck_assert_msg(strstr(line, "unknown extension 'reduce'") || strncmp(line, "the figure: ", 12) == 0, "%s: %s",
                      f->name, line);
    }
    figure_runs_free(&r);
}

/* A misspelt option in a figure's table would look like a feature that this version lacks. So every option name is
 * checked. */
START_TEST(no_part_of_a_figure_is_missing) {
    char why[1024];
    struct plan plan;
    setenv("HEDDLE_KERNELS", "kernels", 1);
    ck_assert(plan_start(&plan, why, sizeof why));
    for (int i = 0; figure_at(i); i++) {
        struct figure f = *figure_at(i);
        if (!f.contest) {
            nothing_is_missing(&f, &plan);
            continue;
        }
        /* a contest has thousands of runs: every series with one program, and every program with one series */
        const struct series base[] = {f.panels[0].series[0], {0}};
        f.programs = "vecadd";
        nothing_is_missing(&f, &plan);
        f = *figure_at(i);
        for (int p = 0; p < FIGURE_PANELS && f.panels[p].title; p++)
            f.panels[p].series = base;
        nothing_is_missing(&f, &plan);
    }
    plan_free(&plan);
}
END_TEST

START_TEST(expressions_are_quotients_of_sums) {
    double values[] = {6, 4, 0};
    char first[] = "a.b", second[] = "c", third[] = "zero", *names[] = {first, second, third};
    struct result_set set = {.names = names, .n_names = 3};
    struct result_row row = {.values = values};
    ck_assert_double_eq(figure_expression(&set, &row, "a.b"), 6);
    ck_assert_double_eq(figure_expression(&set, &row, "a.b+2*c"), 14);            /* 6 + 2 x 4 = 14 */
    ck_assert_double_eq(figure_expression(&set, &row, "a.b+-1*c/16*c"), 0.03125); /* (6 - 4) / (16 x 4) */
    ck_assert_double_eq(figure_expression(&set, &row, "a.b/c+c+c"), 0.5);
    ck_assert(isnan(figure_expression(&set, &row, "a.b/zero")));
    ck_assert(isnan(figure_expression(&set, &row, "a.b+d")));
}
END_TEST

START_TEST(directions_of_claims) {
    const struct panel ratio = {.kind = PANEL_SPEEDUP}, plain = {.kind = PANEL_VALUE};
    const struct claim faster = CLAIM("all", "x", 1.1), even = CLAIM("all", "x", 1), slower = CLAIM("all", "x", 0.9);
    const struct claim bound = CLAIM_AT_MOST("all", "x", 1.01);
    ck_assert_int_eq(claim_direction(&ratio, &faster, 1.01), 1);
    ck_assert_int_eq(claim_direction(&ratio, &faster, 1.004), -1);
    ck_assert_int_eq(claim_direction(&ratio, &even, 1.004), 1);
    ck_assert_int_eq(claim_direction(&ratio, &even, 0.99), -1);
    ck_assert_int_eq(claim_direction(&ratio, &slower, 0.5), 1);
    ck_assert_int_eq(claim_direction(&ratio, &slower, 1.2), -1);
    ck_assert_int_eq(claim_direction(&ratio, &bound, 1.001), 1);
    ck_assert_int_eq(claim_direction(&ratio, &bound, 1.03), -1);
    ck_assert_int_eq(claim_direction(&ratio, &faster, NAN), 0);
    ck_assert_int_eq(claim_direction(&plain, &faster, 1.2), 0);
}
END_TEST

/* A figure with three programs, a base, the settings `one` and `two`, and a series with the better of both settings for
 * each program.
 * - Cycles of the base: 100, 200, 400; of `one`: 50, 100, 500; of `two`: 80, 100, 320.
 * - Speed-ups of `one`: 2, 2, 0.8; of `two`: 1.25, 2, 1.25; of the best: 2, 2, 1.25.
 * - Run n takes n + 1 seconds. */
static const struct series three_series[] = {{.label = "base", .model = "spe", .hidden = true},
                                             {.label = "one", .model = "dpe", .base = "base"},
                                             {.label = "two", .model = "its", .base = "base"},
                                             {.label = "best", .best_of = "one|two"},
                                             {0}};
struct three {
    struct plan plan;
    struct figure_runs r;
    double values[9][2];
    struct result_row rows[9];
    char cycles[16], seconds[16], *names[2];
    struct result_set set;
};

static void three_programs(struct three *t, const struct figure *f) {
    static const double cycles[3][3] = {{100, 200, 400}, {50, 100, 500}, {80, 100, 320}};
    char why[1024];
    memset(t, 0, sizeof *t);
    strcpy(t->cycles, "gpu.cycles");
    strcpy(t->seconds, "host.seconds");
    t->names[0] = t->cycles;
    t->names[1] = t->seconds;
    t->set = (struct result_set){.rows = t->rows, .n = 9, .names = t->names, .n_names = 2};
    setenv("HEDDLE_KERNELS", "kernels", 1);
    ck_assert(plan_start(&t->plan, why, sizeof why));
    ck_assert(figure_plan(&t->r, f, BENCH_SMALL, &t->plan, why, sizeof why));
    ck_assert_int_eq(t->plan.n_runs, 9);
    for (int i = 0; i < 9; i++) { /* runs are in the order of the series, then of the programs */
        t->values[i][0] = cycles[i / 3][i % 3];
        t->values[i][1] = i + 1;
        t->rows[i].key = t->plan.runs[i].key;
        t->rows[i].values = t->values[i];
    }
}

static void three_free(struct three *t) {
    figure_runs_free(&t->r);
    plan_free(&t->plan);
}

START_TEST(panel_values_by_hand) {
    static const struct split split = {"one", "fast", "slow", 1.5};
    static const struct claim claims[] = {CLAIM("fast", "one", 2), CLAIM("vecadd", "two", 1.25), {0}};
    static const struct figure f = {.name = "f",
                                    .programs = "vecadd sgemm reduction nothing",
                                    .preset = "fermi",
                                    .panels = {PANEL("t", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO,
                                                     three_series, claims, .split = &split)}};
    struct three t;
    struct panel_values v;
    three_programs(&t, &f);
    ck_assert_str_eq(t.r.absent, "program nothing: not there yet\n");
    ck_assert(panel_fill(&v, &t.r, 0, &t.plan, &t.set));
    ck_assert_double_eq(panel_value(&v, &t.r, "vecadd", "one"), 2);
    ck_assert_double_eq(panel_value(&v, &t.r, "vecadd", "two"), 1.25);
    ck_assert_double_eq(panel_value(&v, &t.r, "reduction", "one"), 0.8);
    ck_assert_double_eq(panel_value(&v, &t.r, "reduction", "best"), 1.25);
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "all", "one"), 1.6, 1e-12);   /* (2 + 2 + 0.8) / 3 */
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "all", "best"), 1.75, 1e-12); /* (2 + 2 + 1.25) / 3 */
    ck_assert_double_eq(panel_value(&v, &t.r, "most", "two"), 2);
    ck_assert_double_eq(panel_value(&v, &t.r, "fast", "one"), 2);
    ck_assert_double_eq(panel_value(&v, &t.r, "slow", "two"), 1.25);
    ck_assert(isnan(panel_value(&v, &t.r, "all", "base")));
    ck_assert(isnan(panel_value(&v, &t.r, "nothing", "one")));
    t.rows[4].status = HEDDLE_WRONG; /* the run of sgemm under `one` failed, so it has no value, and means exclude it */
    panel_free(&v);
    ck_assert(panel_fill(&v, &t.r, 0, &t.plan, &t.set));
    ck_assert(isnan(panel_value(&v, &t.r, "sgemm", "one")));
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "all", "one"), 1.4, 1e-12); /* mean without sgemm: (2 + 0.8) / 2 */
    panel_free(&v);
    three_free(&t);
}
END_TEST

/* Cycles of the three programs: 100, 200, 400 for the base, and 50, 100, 500 for `one`. An estimate is u / (u + a + b),
 * where u is the used time, and a and b are losses. In this test:
 * - u is the seconds of the base: 1, 2, 3.
 * - a is the cycles of the base times (cycles of `one` / cycles of the base): 50, 100, 500.
 * - b is the cycles of the base: 100, 200, 400.
 * So the estimates are 1 / (1 + 50 + 100), 2 / (2 + 100 + 200) and 3 / (3 + 500 + 400). */
START_TEST(an_estimate_by_hand) {
    static const struct estimate e = {
        "base", "host.seconds", {{"gpu.cycles", "one", "base", "gpu.cycles"}, {.loss = "gpu.cycles"}}};
    static const struct series series[] = {{.label = "base", .model = "spe", .hidden = true},
                                           {.label = "one", .model = "dpe"},
                                           {.label = "two", .model = "its"},
                                           {.label = "estimate", .estimate = &e},
                                           {0}};
    static const struct figure f = {
        .name = "f",
        .programs = "vecadd sgemm reduction",
        .preset = "fermi",
        .panels = {PANEL("t", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_RATIO, series, NULL)}};
    struct three t;
    struct panel_values v;
    three_programs(&t, &f);
    ck_assert(panel_fill(&v, &t.r, 0, &t.plan, &t.set));
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "vecadd", "estimate"), 1. / 151, 1e-12);
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "sgemm", "estimate"), 2. / 302, 1e-12);
    ck_assert_double_eq_tol(panel_value(&v, &t.r, "reduction", "estimate"), 3. / 903, 1e-12);
    panel_free(&v);
    three_free(&t);
}
END_TEST

/* If a series has a suffix, it runs the variant of a program whose name ends with this suffix (black_loop instead of
 * black). A program without such a variant runs unchanged. */
START_TEST(a_series_runs_variants_of_programs) {
    static const struct series series[] = {{.label = "loops", .model = "spe", .suffix = "_loop"}, {0}};
    static const struct figure f = {
        .name = "f",
        .programs = "black vecadd",
        .preset = "fermi",
        .panels = {PANEL("t", "gpu.cycles", PANEL_VALUE, MEAN_ARITHMETIC, SHOW_RATIO, series, NULL)}};
    char why[1024];
    struct plan plan;
    struct figure_runs r;
    setenv("HEDDLE_KERNELS", "kernels", 1);
    ck_assert(plan_start(&plan, why, sizeof why));
    ck_assert(figure_plan(&r, &f, BENCH_SMALL, &plan, why, sizeof why));
    ck_assert_int_eq(plan.n_runs, 2);
    ck_assert_str_eq(plan.runs[r.run[0]].bench->name, strcmp(r.programs[0]->name, "black") ? "vecadd" : "black_loop");
    ck_assert_str_eq(plan.runs[r.run[1]].bench->name, strcmp(r.programs[1]->name, "black") ? "vecadd" : "black_loop");
    figure_runs_free(&r);
    plan_free(&plan);
}
END_TEST

static double tau_of(int n, const double *ours, const double *theirs) {
    struct ranks r = {0};
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            rank_add(&r, ours[i], ours[k], theirs[i], theirs[k]);
    return rank_tau(&r);
}

START_TEST(ranks_by_hand) {
    static const double up[] = {1, 2, 3, 4}, down[] = {40, 30, 20, 10}, last_two[] = {1, 2, 4, 3};
    static const double tie[] = {1, 2, 2, 3}, even[] = {7, 7, 7, 7}, gap[] = {1, NAN, 3, 4};
    static const double low_tie[] = {1, 1, 2}, high_tie[] = {2, 2, 1};
    ck_assert_double_eq(tau_of(4, up, up), 1);
    ck_assert_double_eq(tau_of(4, up, down), -1);
    ck_assert_double_eq_tol(tau_of(4, up, last_two), 4.0 / 6, 1e-12); /* 5 pairs are in the same order, 1 is reversed */
    /* 5 pairs are in the same order, 1 is a tie in `tie` */
    ck_assert_double_eq_tol(tau_of(4, tie, up), 5 / sqrt(5.0 * 6), 1e-12);
    ck_assert_double_eq_tol(tau_of(4, up, tie), 5 / sqrt(6.0 * 5), 1e-12);
    /* 4 pairs are in the same order, 1 is reversed, 1 is a tie */
    ck_assert_double_eq_tol(tau_of(4, tie, last_two), 3 / sqrt(5.0 * 6), 1e-12);
    ck_assert_double_eq(tau_of(3, low_tie, high_tie), -1); /* -2 / sqrt(2 x 2): each list has one tie */
    ck_assert(isnan(tau_of(4, even, up)));
    ck_assert(isnan(tau_of(1, up, up)));
    ck_assert_double_eq(tau_of(4, gap, up), 1); /* only the three pairs without NAN count */
}
END_TEST

/* Measured speed-ups of `one` are 2, 2 and 0.8; the paper's text claims 2, 3 and 1. Measured speed-ups of `two` are
 * 1.25, 2 and 1.25, with the mean 1.5; the text claims 1.5 for the first program, and at most 1.2 for the mean. */
START_TEST(a_summary_by_hand) {
    static const struct claim claims[] = {CLAIM("vecadd", "one", 2),        CLAIM("sgemm", "one", 3),
                                          CLAIM("reduction", "one", 1),     CLAIM("vecadd", "two", 1.5),
                                          CLAIM_AT_MOST("all", "two", 1.2), {0}};
    static const struct figure f = {
        .name = "f",
        .programs = "vecadd sgemm reduction",
        .preset = "fermi",
        .panels = {PANEL("t", "gpu.cycles", PANEL_SPEEDUP, MEAN_ARITHMETIC, SHOW_RATIO, three_series, claims)}};
    struct three t;
    struct summary s;
    three_programs(&t, &f);
    struct figure_page pages[2] = {{.runs = &t.r, .n = 1}, {.runs = &t.r, .n = 1}}; /* the same figure twice */
    ck_assert(panel_fill(&pages[0].panels[0], &t.r, 0, &t.plan, &t.set));
    ck_assert(panel_fill(&pages[1].panels[0], &t.r, 0, &t.plan, &t.set));
    ck_assert(summary_make(&s, pages, 2, &(struct figure_source){&t.plan, &t.set}));
    const struct claims *c = &s.rows[0].claims;
    ck_assert_int_eq(c->all, 5);
    ck_assert_int_eq(c->measured, 5);
    ck_assert_int_eq(c->directed, 5);
    /* Three of the five claims agree in direction. Two do not: 0.8 against 1, and 1.5 against "at most 1.2". */
    ck_assert_int_eq(c->same, 3);
    ck_assert_int_eq(c->compared, 4); /* the claim "at most 1.2" names no single value, so it has no distance */
    ck_assert_double_eq_tol(claims_distance(c), (0 + 1.0 / 3 + 0.2 + 1.0 / 6) / 4, 1e-12);
    /* series `one` has three pairs of programs: 1 tie here, 2 in the paper's order */
    ck_assert_int_eq(c->programs.pairs, 3);
    ck_assert_double_eq_tol(rank_tau(&c->programs), 2 / sqrt(2.0 * 3), 1e-12);
    /* vecadd has one pair of settings: 2 and 1.25 here, 2 and 1.5 in the text */
    ck_assert_int_eq(c->settings.pairs, 1);
    ck_assert_double_eq(rank_tau(&c->settings), 1);
    ck_assert_double_eq(s.rows[1].seconds, 45); /* run n takes n + 1 seconds: 1 + ... + 9 */
    ck_assert_double_eq(s.seconds, 45);         /* each run counts once */
    ck_assert_int_eq(s.runs, 9);
    ck_assert_int_eq(s.all.all, 10);
    ck_assert_double_eq_tol(rank_tau(&s.all.programs), 4 / sqrt(4.0 * 6), 1e-12);
    ck_assert_double_eq_tol(claims_distance(&s.all), 0.175, 1e-12);
    summary_free(&s);
    panel_free(&pages[0].panels[0]);
    panel_free(&pages[1].panels[0]);
    three_free(&t);
}
END_TEST

/* Returns the script of a panel with one program and `n` series, s0 to s12, whose means are 1 to 13. The caller
 * frees it. */
static char *script_of(int n) {
    static const char *const labels[] = {"s0", "s1", "s2", "s3",  "s4",  "s5", "s6",
                                         "s7", "s8", "s9", "s10", "s11", "s12"};
    static const struct claim claims[] = {CLAIM("all", "s2", 1.5), {0}};
    struct series series[14] = {{0}};
    const struct bench *programs[] = {bench_find("vecadd")};
    double value[13];
    for (int s = 0; s < n; s++) {
        series[s] = (struct series){.label = labels[s], .model = "spe"};
        value[s] = 100 + s;
    }
    const struct panel panel = {.title = "t", .kind = PANEL_VALUE, .series = series, .claims = claims};
    struct panel_values v = {
        .panel = &panel, .n_series = n, .n_programs = 1, .n_groups = 1, .value = value, .group = {"all"}};
    for (int s = 0; s < n; s++)
        v.mean[s][0] = s + 1;
    const struct figure f = {.name = "f", .title = "t", .paper = "p", .programs = "vecadd"};
    struct figure_runs r = {.figure = &f, .programs = programs, .n_programs = 1};
    char *script;
    size_t len;
    FILE *to = open_memstream(&script, &len);
    figure_script(&r, &v, 1, "svg", to);
    fclose(to);
    return script;
}

/* With up to twelve series, one for each colour, every program is a cluster of bars. Then s2 is the third of twelve
 * bars in the second cluster, and its mark is at x = 1 + (2 - 5.5) / 13. With more series, the plot has one bar for
 * each series' mean, and the mark of s2 is at x = 2. */
START_TEST(many_series_are_drawn_as_their_means) {
    char *twelve = script_of(12), *more = script_of(13);
    SAYS(twelve, "\"vecadd\" 100 101 102 103");
    SAYS(twelve, "\"all\" 1 2 3 4");
    SAYS(twelve, "$paper0 << END\n0.730769 1.5\nEND\n");
    SAYS(twelve, "title \"s11\"");
    SAYS(more, "$data0 << END\n\"s0\" 1\n\"s1\" 2\n");
    SAYS(more, "\"s12\" 13\nEND\n$paper0 << END\n2.000000 1.5\nEND\n");
    SAYS(more, "plot $data0 using 2:xticlabels(1) title \"mean of all\"");
    ck_assert_ptr_null(strstr(more, "vecadd"));
    free(twelve);
    free(more);
}
END_TEST

static void has_begin(const char *path, const char *magic, size_t n) {
    char *text = slurp(path);
    ck_assert_msg(memcmp(text, magic, n) == 0, "%s", path);
    free(text);
}

START_TEST(a_figure_is_run_once_and_written) {
    cli_setup();
    bool gnuplot = system("command -v gnuplot >/dev/null 2>&1") == 0;
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 -j 2");
    SAYS(out, "subwarp-table3: the micro-benchmark");
    SAYS(out, "the paper");
    SAYS(out, "15.220");
    char *first = strdup(out), *csv = slurp("reproduction/subwarp-table3.csv");
    SAYS(csv, "figure,panel,kind,of,series,value,paper\n");
    SAYS(csv, "subwarp-table3,a,program,subwarps16,si,");
    SAYS(csv, ",12.66\n");
    free(csv);
    if (gnuplot) {
        has_begin("reproduction/subwarp-table3.svg", "<?xml", 5);
        has_begin("reproduction/subwarp-table3.png", "\x89PNG", 4);
    }
    char *page = slurp("reproduction/index.html");
    SAYS(page, "<!DOCTYPE html>");
    SAYS(page, "<h2 id=\"subwarp-table3\">");
    SAYS(page, "<td class=n data-v=\"12.66\">12.660</td>");
    char *summary = slurp("reproduction/summary.csv");
    /* all ten pairs have the paper's order, unless the smallest tables limit the loads in flight */
    SAYS(summary, LEAST_TABLES ? "\nsubwarp-table3,5,5,5,5," : "\nsubwarp-table3,5,5,5,5,1,10,,0,");
    SAYS(summary, LEAST_TABLES ? "\n1 figure,5,5,5,5," : "\n1 figure,5,5,5,5,1,10,,0,");
    free(summary);
    SAYS(page, LEAST_TABLES ? " (10)</td>" : ">1.00 (10)</td>");
    SAYS(page, "<figure><svg class='chart'"); /* the page draws its charts itself, without gnuplot */
    ck_assert_ptr_null(strstr(page, "http:"));
    ck_assert_ptr_null(strstr(page, "https:"));
    free(page);
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 -j 2");
    ck_assert_str_eq(out, first);
    free(first);
    STATUS(HEDDLE_OK, "results results.db --rows program --value gpu.cycles --csv -");
    SAYS(out, "program,its,si\n");
    cli_teardown();
}
END_TEST

/* Returns the value of series `series` for the program `of` from a figure's CSV. */
static double csv_value(const char *csv, const char *of, const char *series) {
    char key[96];
    snprintf(key, sizeof key, ",%s,%s,", of, series);
    const char *at = strstr(csv, key);
    ck_assert_msg(at != NULL, "%s in %s", key, csv);
    return atof(at + strlen(key));
}

/* In the paper's Table III, the speed-up falls from 16 to 32 subwarps, because the code of 32 subwarps does not fit
 * into the L1 instruction cache. In Heddle it falls, too. With a larger cache it nearly doubles, as from 8 to 16
 * subwarps. */
START_TEST(interleaving_falls_at_32_ways_without_enough_instruction_cache) {
    cli_setup();
    STATUS(HEDDLE_OK, "reproduce subwarp-table3-caches --no-plots -j 2");
    char *csv = slurp("reproduction/subwarp-table3-caches.csv");
    ck_assert_double_gt(csv_value(csv, "subwarps16", "si"), 1.5 * csv_value(csv, "subwarps8", "si"));
    ck_assert_double_lt(csv_value(csv, "subwarps32", "si"), csv_value(csv, "subwarps16", "si"));
    ck_assert_double_gt(csv_value(csv, "subwarps32", "L1I of 256K"), 1.5 * csv_value(csv, "subwarps16", "L1I of 256K"));
    free(csv);
    cli_teardown();
}
END_TEST

SUITE(host_cli_reproduce) {
    TEST(names_in_figures_exist);
    TEST(no_part_of_a_figure_is_missing);
    TEST(expressions_are_quotients_of_sums);
    TEST(directions_of_claims);
    TEST(panel_values_by_hand);
    TEST(an_estimate_by_hand);
    TEST(a_series_runs_variants_of_programs);
    TEST(ranks_by_hand);
    TEST(a_summary_by_hand);
    TEST(many_series_are_drawn_as_their_means);
    TEST(a_figure_is_run_once_and_written);
    TEST_SPEED(interleaving_falls_at_32_ways_without_enough_instruction_cache);
}
