/* Tests conditions, lists and pivot tables. The test makes a few database rows itself. */
#include "host/report/results_view.h"
#include "test/test.h"
#include <math.h>

enum { CYCLES, IPC, STALLS, N_NAMES };
#define T(text) ((char[]){text}) /* writable text */
static char *names[N_NAMES] = {T("gpu.cycles"), T("gpu.ipc"), T("sm.stalls")},
            *units[N_NAMES] = {T("cycles"), T("1/cycle"), T("cycles")};
static char *option_names[] = {T("l1.size")};
static char *small[] = {T("16K")}, *large[] = {T("48K")}, *none[] = {T("")};
static double values[5][N_NAMES] = {{1000, 2, NAN}, {500, 4, 0}, {3000, 0.5, 7}, {6000, 0.25, 0.001}, {4000, NAN, 1e7}};
static struct result_row rows[5] = {
    {.program = T("lud"),
     .size = T("tiny"),
     .model = T("spe"),
     .preset = T("fermi"),
     .verdict = T("ok"),
     .options = small},
    {.program = T("lud"),
     .size = T("tiny"),
     .model = T("dpe"),
     .preset = T("fermi"),
     .verdict = T("ok"),
     .options = small},
    {.program = T("bfs"),
     .size = T("tiny"),
     .model = T("spe"),
     .preset = T("fermi"),
     .verdict = T("ok"),
     .options = large},
    {.program = T("bfs"),
     .size = T("tiny"),
     .model = T("dpe"),
     .preset = T("fermi"),
     .verdict = T("wrong"),
     .options = large},
    {.program = T("bfs"),
     .size = T("tiny"),
     .model = T("dws"),
     .preset = T("turing"),
     .verdict = T("ok"),
     .options = none},
};
static struct result_set set = {
    .rows = rows, .names = names, .units = units, .options = option_names, .n = 5, .n_names = N_NAMES, .n_options = 1};
static char err[512], nothing[] = "", newer[] = "2.0";

static void setup(void) {
    for (int i = 0; i < 5; i++) {
        rows[i].values = values[i];
        rows[i].launch = -1;
        rows[i].version = rows[i].binary = rows[i].ended = rows[i].hash = rows[i].key = nothing;
    }
}

/* Returns the rows that fulfil the condition as a mask: bit i stands for row i. */
static unsigned chosen(const char *text) {
    struct condition c[CONDITIONS];
    int n = 0;
    unsigned which = 0;
    ck_assert_msg(conditions_read(NULL, &set, text, c, &n, err, sizeof err), "%s: %s", text, err);
    for (unsigned i = 0; i < 5; i++)
        which |= (unsigned)conditions_hold(&set, &rows[i], c, n) << i;
    return which;
}

START_TEST(conditions_choose) {
    static const struct {
        const char *text;
        unsigned rows;
    } cases[] = {
        {"model=spe", 0x05},
        {"model==spe", 0x05},
        {"model = spe,dws", 0x15},
        {"model!=spe,dws", 0x0a},
        {"model=sp", 0},
        {"check=ok and program=bfs", 0x14},
        {"program=bfs and model=dpe and preset=fermi", 0x08},
        {"gpu.cycles>1000", 0x1c},
        {"gpu.cycles>=1000", 0x1d},
        {"gpu.cycles<1000", 0x02},
        {"gpu.cycles<=1K", 0x03}, /* 1024 */
        {"gpu.cycles=1000.0,6e3", 0x09},
        {"gpu.cycles!=1000", 0x1e},
        {"gpu.ipc<100", 0x0f}, /* the last row has no IPC, so only != is true for it */
        {"gpu.ipc>=0", 0x0f},
        {"gpu.ipc!=2", 0x1e},
        {"sm.stalls=0", 0x02},
        {"program>bfs", 0x03}, /* by letters */
        {"program<=bfs", 0x1c},
        {"program<lud", 0x1c},
        {"gpu.cycles>=1000 and gpu.cycles<=3000", 0x05},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(chosen(cases[i].text) == cases[i].rows, "%s: rows %#x", cases[i].text, chosen(cases[i].text));
}
END_TEST

/* A condition on a known option: sizes are compared as numbers, whatever their spelling. */
START_TEST(sizes_are_numbers) {
    struct condition c = {.field = {FIELD_OPTION, 0, "l1.size"}, .op = "="};
    static const struct {
        const char *op, *value;
        unsigned rows;
    } cases[] = {{"=", "16K", 0x03},   {"=", "16384", 0x03}, {"=", "16384,49152", 0x0f}, {">", "16K", 0x0c},
                 {"<", "0.04M", 0x03}, {"=", "16k", 0},      {"=", "16KB", 0},           {"=", "", 0x10}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        unsigned which = 0;
        snprintf(c.op, sizeof c.op, "%s", cases[k].op);
        snprintf(c.value, sizeof c.value, "%s", cases[k].value);
        for (unsigned i = 0; i < 5; i++)
            which |= (unsigned)conditions_hold(&set, &rows[i], &c, 1) << i;
        ck_assert_msg(which == cases[k].rows, "%s%s: rows %#x", cases[k].op, cases[k].value, which);
    }
}
END_TEST

START_TEST(invalid_conditions_are_reported) {
    static const char *const bad[] = {"model", "=spe", "model!spe", "model<=>spe", "", "model=spe and "};
    struct condition c[CONDITIONS];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int n = 0;
        ck_assert_msg(!conditions_read(NULL, &set, bad[i], c, &n, err, sizeof err), "'%s'", bad[i]);
        ck_assert_msg(strstr(err, "is no condition; for example model=spe,dpe or gpu.ipc>100") != NULL, "%s", err);
    }
    char many[CONDITIONS * 20] = "model=spe";
    int n = 0;
    for (int i = 1; i < CONDITIONS; i++)
        strcat(many, " and model=spe");
    ck_assert(conditions_read(NULL, &set, many, c, &n, err, sizeof err));
    ck_assert_int_eq(n, CONDITIONS);
    ck_assert(!conditions_read(NULL, &set, "model=spe", c, &n, err, sizeof err));
    ck_assert_str_eq(err, "more than 32 conditions");
}
END_TEST

START_TEST(fields_by_name) {
    struct field f[3];
    char out[48];
    ck_assert_int_eq(fields_find(NULL, &set, "program,gpu.cycles,sm.stalls", f, 3, err, sizeof err), 3);
    ck_assert_str_eq(field_text(&set, &rows[3], &f[0], out), "bfs");
    ck_assert_str_eq(field_text(&set, &rows[3], &f[1], out), "6000");
    ck_assert_str_eq(field_text(&set, &rows[0], &f[2], out), ""); /* row 0 has no value for this statistic */
    ck_assert_int_eq(fields_find(NULL, &set, "program,model,size,preset", f, 3, err, sizeof err), 0);
    ck_assert_str_eq(err, "'program,model,size,preset': more than 3 of them");
    ck_assert_int_eq(fields_find(NULL, &set, "launch,kernel", f, 3, err, sizeof err), 2);
    ck_assert_str_eq(field_text(&set, &rows[0], &f[0], out), ""); /* the row is a run, so the field `launch` is empty */
    ck_assert_str_eq(field_text(&set, &rows[0], &f[1], out), "");
    rows[0].launch = 12;
    ck_assert_str_eq(field_text(&set, &rows[0], &f[0], out), "12");
}
END_TEST

static void says(struct table *t, const char *expect) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    ck_assert_msg(t != NULL, "%s", err);
    table_print(t, f);
    fclose(f);
    ck_assert_str_eq(text, expect);
    free(text);
    table_free(t);
}

static struct pivot pivot_of(const struct field *r, const struct field *c, const char *relative_to) {
    return (struct pivot){.rows = r,
                          .columns = c,
                          .n_rows = 1,
                          .n_columns = 1,
                          .value = {FIELD_STATISTIC, CYCLES, "gpu.cycles"},
                          .relative_to = relative_to};
}

/* Cycles by program and model. The values relative to spe are 500 / 1000 and 6000 / 3000 for dpe, and 4000 / 3000 for
 * dws. The mean is 1 for spe and sqrt(0.5 x 2) = 1 for dpe. dws has only one value, which is also its mean. */
START_TEST(a_pivot_by_hand) {
    const struct result_row *all[5] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]};
    const struct field program = {FIELD_TEXT, 0, "program"}, model = {FIELD_TEXT, 2, "model"};
    struct pivot p = pivot_of(&program, &model, NULL);
    int older;
    says(view_pivot(&set, all, 5, &p, &older, err, sizeof err), "program    spe    dpe    dws\n"
                                                                "-------  -----  -----  -----\n"
                                                                "lud      1,000    500      -\n"
                                                                "bfs      3,000  6,000  4,000\n");
    ck_assert_int_eq(older, 0);
    p.relative_to = "spe";
    says(view_pivot(&set, all, 5, &p, &older, err, sizeof err), "program           spe    dpe    dws\n"
                                                                "--------------  -----  -----  -----\n"
                                                                "lud             1.000  0.500      -\n"
                                                                "bfs             1.000  2.000  1.333\n"
                                                                "--------------  -----  -----  -----\n"
                                                                "geometric mean  1.000  1.000  1.333\n");
    p.relative_to = "spd";
    ck_assert_ptr_null(view_pivot(&set, all, 5, &p, &older, err, sizeof err));
    ck_assert_str_eq(err, "--relative-to: there is no column 'spd'; did you mean 'spe'?");
}
END_TEST

/* If two runs belong to one cell, the table is refused, and the message names the fields in which the runs differ. If
 * they differ only in the build, the newer run is used. */
START_TEST(runs_that_share_a_cell) {
    const struct result_row *all[5] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]};
    const struct field program = {FIELD_TEXT, 0, "program"}, preset = {FIELD_TEXT, 3, "preset"},
                       model = {FIELD_TEXT, 2, "model"};
    struct pivot p = pivot_of(&program, &preset, NULL);
    int older;
    ck_assert_ptr_null(view_pivot(&set, all, 5, &p, &older, err, sizeof err));
    ck_assert_str_eq(err, "several runs fall into one cell (lud in spe): they differ in model; name that in --rows or "
                          "--columns, or choose with --where");
    struct result_row again = rows[0];
    double slower[N_NAMES] = {1100, 2, 0};
    again.version = newer;
    again.values = slower;
    all[1] = &again;
    p.columns = &model;
    says(view_pivot(&set, all, 2, &p, &older, err, sizeof err), "program    spe\n"
                                                                "-------  -----\n"
                                                                "lud      1,100\n");
    ck_assert_int_eq(older, 1);
}
END_TEST

/* A list has one line for each run, with the options that differ, the verdict, cycles and IPC. Numbers are formatted by
 * their size and unit. */
START_TEST(a_list_by_hand) {
    const struct result_row *two[2] = {&rows[0], &rows[2]};
    says(view_list(&set, two, 2, NULL, 0), "program  size  model  preset  l1.size  check  gpu.cycles  gpu.ipc\n"
                                           "-------  ----  -----  ------  -------  -----  ----------  -------\n"
                                           "lud      tiny  spe    fermi       16K  ok          1,000    2.000\n"
                                           "bfs      tiny  spe    fermi       48K  ok          3,000    0.500\n");
    const struct field stalls = {FIELD_STATISTIC, STALLS, "sm.stalls"};
    const struct result_row *same[2] = {&rows[2], &rows[3]};
    says(view_list(&set, same, 2, &stalls, 1), "program  size  model  preset  check  sm.stalls\n"
                                               "-------  ----  -----  ------  -----  ---------\n"
                                               "bfs      tiny  spe    fermi   ok             7\n"
                                               "bfs      tiny  dpe    fermi   wrong      0.001\n");
}
END_TEST

SUITE(host_results_view) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST(conditions_choose);
    TEST(sizes_are_numbers);
    TEST(invalid_conditions_are_reported);
    TEST(fields_by_name);
    TEST(a_pivot_by_hand);
    TEST(runs_that_share_a_cell);
    TEST(a_list_by_hand);
}
