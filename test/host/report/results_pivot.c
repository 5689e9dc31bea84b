/* Tests pivot tables as numbers, as points and as breakdowns. The test makes a few database rows itself. */
#include "host/report/breakdown.h"
#include "test/test.h"
#include <math.h>

enum { CYCLES, ISSUED, FETCH, QUEUE, DRAM, L2, N_NAMES, N_ROWS = 4 };
#define T(text) ((char[]){text}) /* writable text */
static char *names[N_NAMES] = {T("gpu.cycles"),  T("issue.issued"),       T("issue.fetch"),
                               T("issue.queue"), T("energy.dram_joules"), T("energy.l2_joules")},
            *units[N_NAMES] = {T("cycles"), T("slots"), T("slots"), T("slots"), T("J"), T("J")};
static char *options[] = {T("l1.size"), T("sm.ctas")};
static char *small[] = {T("8K"), T("4")}, *large[] = {T("16K"), T("4")};
/* Columns of the rows: cycles; issue slots that issued, waited for a fetch, or waited for a queue; joules of DRAM and
 * of the L2. */
static double values[N_ROWS][N_NAMES] = {
    {1000, 30, 10, 0, 0.5, 0}, {400, 1, 3, NAN, 0.25, 0}, {600, 0, 0, 0, NAN, 0}, {0, 5, NAN, 0, 2, 0}};
static struct result_row rows[N_ROWS] = {
    {.program = T("lud"), .model = T("dpe"), .options = small},
    {.program = T("lud"), .model = T("its"), .options = small},
    {.program = T("bfs"), .model = T("dpe"), .options = small},
    {.program = T("bfs"), .model = T("its"), .options = large},
};
static struct result_set set = {
    .rows = rows, .names = names, .units = units, .options = options, .n = N_ROWS, .n_names = N_NAMES, .n_options = 2};
static const struct result_row *all[N_ROWS] = {&rows[0], &rows[1], &rows[2], &rows[3]};
static const struct field program = {FIELD_TEXT, 0, "program"}, model = {FIELD_TEXT, 2, "model"},
                          cycles = {FIELD_STATISTIC, CYCLES, "gpu.cycles"};
static char err[512], nothing[] = "", small_size[] = "small", fermi[] = "fermi";
static int older;

static void setup(void) {
    for (int i = 0; i < N_ROWS; i++) {
        rows[i].values = values[i];
        rows[i].launch = -1;
        rows[i].size = small_size;
        rows[i].preset = fermi;
        rows[i].verdict = rows[i].version = rows[i].binary = rows[i].ended = rows[i].hash = rows[i].key = nothing;
    }
}

static struct pivot by_program_and_model(void) {
    return (struct pivot){.rows = &program, .columns = &model, .n_rows = 1, .n_columns = 1, .value = cycles};
}

static void fill(struct pivot_values *v, const struct pivot *p) {
    ck_assert_msg(pivot_fill(v, &set, all, N_ROWS, p, &older, err, sizeof err), "%s", err);
}

static void names_are(char *const *got, int n, const char *const *want, int n_want) {
    ck_assert_int_eq(n, n_want);
    for (int i = 0; i < n; i++)
        ck_assert_str_eq(got[i], want[i]);
}

static void values_are(const struct pivot_values *v, const double *want) {
    for (int i = 0; i < v->n_rows * v->n_columns; i++)
        if (isnan(want[i]))
            ck_assert_msg(isnan(v->v[i]), "%d: %g", i, v->v[i]);
        else
            ck_assert_double_eq_tol(v->v[i], want[i], 1e-12);
}

/* Rows and columns of the table are in the order of the runs. A cell without a run is empty. */
START_TEST(rows_and_columns_are_the_titles) {
    struct pivot p = by_program_and_model();
    struct pivot_values v;
    fill(&v, &p);
    names_are(v.rows, v.n_rows, (const char *const[]){"lud", "bfs"}, 2);
    names_are(v.columns, v.n_columns, (const char *const[]){"dpe", "its"}, 2);
    values_are(&v, (const double[]){1000, 400, 600, 0});
    ck_assert_int_eq(v.base, -1);
    pivot_values_free(&v);
    ck_assert(!v.rows && !v.v && v.n_rows == 0);
    ck_assert(pivot_fill(&v, &set, all, 3, &p, &older, err, sizeof err));
    values_are(&v, (const double[]){1000, 400, 600, NAN});
    pivot_values_free(&v);
}
END_TEST

/* If the title of a row consists of several fields, an option appears with its name. If the title is only one option,
 * it is the option's value. */
START_TEST(options_are_named_beside_other_fields) {
    const struct field two[] = {program, {FIELD_OPTION, 0, "l1.size"}};
    struct pivot p = {.rows = two, .columns = &model, .n_rows = 2, .n_columns = 1, .value = cycles};
    struct pivot_values v;
    fill(&v, &p);
    names_are(v.rows, v.n_rows, (const char *const[]){"lud l1.size=8K", "bfs l1.size=8K", "bfs l1.size=16K"}, 3);
    values_are(&v, (const double[]){1000, 400, 600, NAN, NAN, 0});
    pivot_values_free(&v);
    p = (struct pivot){.rows = &two[1], .columns = &model, .n_rows = 1, .n_columns = 1, .value = cycles};
    const struct result_row *differ[] = {&rows[0], &rows[1], &rows[3]};
    ck_assert_msg(pivot_fill(&v, &set, differ, 3, &p, &older, err, sizeof err), "%s", err);
    names_are(v.rows, v.n_rows, (const char *const[]){"8K", "16K"}, 2);
    pivot_values_free(&v);
    /* without row fields, the table has one row without a title */
    p = (struct pivot){.columns = &model, .n_columns = 1, .value = cycles};
    ck_assert(pivot_fill(&v, &set, all, 2, &p, &older, err, sizeof err));
    names_are(v.rows, v.n_rows, (const char *const[]){""}, 1);
    values_are(&v, (const double[]){1000, 400});
    pivot_values_free(&v);
}
END_TEST

/* Labels write 8192 bytes as 8K and 1536 bytes as they are; an option without bytes keeps its number. The base may be
 * named by either text. */
START_TEST(labels_have_units) {
    const struct field size = {FIELD_OPTION, 0, "l1.size"}, ctas = {FIELD_OPTION, 1, "sm.ctas"};
    char *one[] = {T("8192"), T("1024")}, *two[] = {T("1536"), T("2048")}, *three[] = {T("2097152"), T("8")};
    struct result_row own[] = {rows[0], rows[0], rows[0]};
    const struct result_row *list[] = {&own[0], &own[1], &own[2]};
    own[0].options = one, own[1].options = two, own[2].options = three;
    struct pivot p = {.rows = &ctas, .columns = &size, .n_rows = 1, .n_columns = 1, .value = cycles, .labels = true};
    struct pivot_values v;
    for (int i = 0; i < 2; i++) {
        p.relative_to = i ? "2M" : "2097152";
        ck_assert_msg(pivot_fill(&v, &set, list, 3, &p, &older, err, sizeof err), "%s", err);
        names_are(v.columns, v.n_columns, (const char *const[]){"8K", "1536", "2M"}, 3);
        names_are(v.rows, v.n_rows, (const char *const[]){"1024", "2048", "8"}, 3);
        ck_assert_int_eq(v.base, 2);
        pivot_values_free(&v);
    }
    p.labels = false;
    p.relative_to = NULL;
    ck_assert(pivot_fill(&v, &set, list, 3, &p, &older, err, sizeof err));
    names_are(v.columns, v.n_columns, (const char *const[]){"8192", "1536", "2097152"}, 3);
    pivot_values_free(&v);
}
END_TEST

/* Values relative to dpe: `its` has 400 / 1000, and 0 / 600. With `faster`, the quotient is a speed-up: 1000 / 400, and
 * no value for 0 cycles. */
START_TEST(faster_is_the_speed_up) {
    struct pivot p = by_program_and_model();
    struct pivot_values v;
    p.relative_to = "dpe";
    fill(&v, &p);
    values_are(&v, (const double[]){1, 0.4, 1, 0});
    ck_assert_int_eq(v.base, 0);
    pivot_values_free(&v);
    p.faster = true;
    fill(&v, &p);
    values_are(&v, (const double[]){1, 2.5, 1, NAN});
    pivot_values_free(&v);
    p.relative_to = NULL; /* the table has no spe, so the base is the first column */
    fill(&v, &p);
    ck_assert_int_eq(v.base, 0);
    pivot_values_free(&v);
    char *was = rows[1].model, spe[] = "spe";
    rows[1].model = spe; /* spe is now the second column and the base; bfs has no run under spe */
    fill(&v, &p);
    ck_assert_int_eq(v.base, 1);
    values_are(&v, (const double[]){0.4, 1, NAN, NAN, NAN, NAN});
    pivot_values_free(&v);
    rows[1].model = was;
}
END_TEST

START_TEST(speed_up_is_a_value_of_its_own) {
    struct pivot p = {0};
    ck_assert(pivot_value(NULL, &set, "speed-up", &p, err, sizeof err));
    ck_assert(p.faster && p.value.kind == FIELD_STATISTIC && p.value.index == CYCLES);
    ck_assert(pivot_value(NULL, &set, "issue.fetch", &p, err, sizeof err));
    ck_assert(!p.faster && p.value.index == FETCH);
}
END_TEST

/* A table has at most 64 columns, including the titles of its rows. */
START_TEST(too_many_columns_are_refused) {
    static char model_names[TABLE_COLUMNS][16];
    static struct result_row many[TABLE_COLUMNS];
    const struct result_row *of[TABLE_COLUMNS];
    struct pivot p = by_program_and_model();
    struct pivot_values v;
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        many[i] = rows[0];
        snprintf(model_names[i], sizeof model_names[i], "m%d", i);
        many[i].model = model_names[i];
        of[i] = &many[i];
    }
    ck_assert(pivot_fill(&v, &set, of, TABLE_COLUMNS - 1, &p, &older, err, sizeof err));
    ck_assert_int_eq(v.n_columns, 63);
    pivot_values_free(&v);
    ck_assert(!pivot_fill(&v, &set, of, TABLE_COLUMNS, &p, &older, err, sizeof err));
    ck_assert_str_eq(err, "64 columns are too many; --columns and --rows may change places");
}
END_TEST

/* Each run has its own row, even if two runs have the same program. The value of a run is in the column of its
 * model. */
START_TEST(each_run_is_a_point) {
    struct pivot_values v;
    ck_assert(points_fill(&v, &set, all, N_ROWS, &model, 1, &cycles));
    names_are(v.rows, v.n_rows, (const char *const[]){"lud", "lud", "bfs", "bfs"}, 4);
    names_are(v.columns, v.n_columns, (const char *const[]){"dpe", "its"}, 2);
    values_are(&v, (const double[]){1000, NAN, NAN, 400, 600, NAN, NAN, 0});
    pivot_values_free(&v);
}
END_TEST

START_TEST(breakdowns_have_names) {
    ck_assert_str_eq(breakdown_at(0)->name, "issue");
    ck_assert_str_eq(breakdown_at(1)->name, "energy");
    ck_assert_str_eq(breakdown_at(2)->name, "dynamic-energy");
    ck_assert_ptr_null(breakdown_at(3));
    ck_assert_ptr_eq(breakdown_find("energy"), breakdown_at(1));
    ck_assert_ptr_null(breakdown_find("power"));
}
END_TEST

/* Percentages of the issue slots that issued or waited for a fetch, by run: 30 and 10 of 40; 1 and 3 of 4; none,
 * because the run has 0 slots; 5 of 5. No slot waited for a queue, so this reason has no column. */
START_TEST(shares_are_of_their_sum) {
    const struct field by[] = {program, model};
    struct pivot_values v;
    ck_assert(breakdown_fill(breakdown_find("issue"), &v, &set, all, N_ROWS, by, 2, &older, err, sizeof err));
    names_are(v.rows, v.n_rows, (const char *const[]){"lud dpe", "lud its", "bfs dpe", "bfs its"}, 4);
    names_are(v.columns, v.n_columns, (const char *const[]){"issued", "waiting for instructions"}, 2);
    values_are(&v, (const double[]){75, 25, 25, 75, NAN, NAN, 100, NAN});
    ck_assert_int_eq(older, 0);
    pivot_values_free(&v);
}
END_TEST

/* Energy is shown in joules and not as percentages. The L2 used no energy, so it has no column. */
START_TEST(energy_is_in_joules) {
    const struct field by[] = {program, model};
    struct pivot_values v;
    ck_assert(breakdown_fill(breakdown_find("energy"), &v, &set, all, N_ROWS, by, 2, &older, err, sizeof err));
    names_are(v.columns, v.n_columns, (const char *const[]){"dram"}, 1);
    values_are(&v, (const double[]){0.5, 0.25, NAN, 2});
    pivot_values_free(&v);
}
END_TEST

START_TEST(two_runs_in_one_bar_are_refused) {
    struct pivot_values v;
    ck_assert(!breakdown_fill(breakdown_find("issue"), &v, &set, all, N_ROWS, &program, 1, &older, err, sizeof err));
    ck_assert_msg(strstr(err, "they differ in model;") != NULL, "%s", err);
    ck_assert(!v.rows && !v.columns && !v.v);
}
END_TEST

/* The program is always a field of the rows. An option is a field only if its values differ. */
START_TEST(fields_that_differ_among_runs) {
    struct field f[8];
    ck_assert_int_eq(fields_that_differ(&set, all, 2, f, 8), 2);
    ck_assert_str_eq(f[0].name, "program");
    ck_assert_str_eq(f[1].name, "model");
    ck_assert_int_eq(fields_that_differ(&set, all, N_ROWS, f, 8), 3);
    ck_assert_str_eq(f[2].name, "l1.size");
    ck_assert_int_eq(fields_that_differ(&set, all, 1, f, 8), 1);
    ck_assert_str_eq(f[0].name, "program");
}
END_TEST

SUITE(host_cli_results_pivot) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(rows_and_columns_are_the_titles);
    TEST(options_are_named_beside_other_fields);
    TEST(labels_have_units);
    TEST(faster_is_the_speed_up);
    TEST(speed_up_is_a_value_of_its_own);
    TEST(too_many_columns_are_refused);
    TEST(each_run_is_a_point);
    TEST(breakdowns_have_names);
    TEST(shares_are_of_their_sum);
    TEST(energy_is_in_joules);
    TEST(two_runs_in_one_bar_are_refused);
    TEST(fields_that_differ_among_runs);
}
