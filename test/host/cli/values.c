/* Tests values (variables of a program) that are set on the command line with -v. */
#include "cli_help.h"
#include "host/results/results_db.h"
#include <math.h>
#include <stdio.h>

/* A program with the values n and m, each with a range. It stores n to a buffer of m elements. */
static const char small[] =
    "module = \"k.ptx\";\n"
    "values = { n = 4; m = \"2 * n\"; f = 0.5; };\n"
    "paper = { n = 16; };\n"
    "ranges = { n = (2, 64); m = (1, \"4 * n\"); };\n"
    "buffers = { o = { type = \"u32\"; count = \"m\"; generate = \"zero\"; save = \"o.bin\"; }; };\n"
    "steps = ( { launch = \"k\"; grid = 1; block = 1; args = (\"o\", \"n\"); } );\n";

static void small_program(void) {
    write_kernel(".param .u64 p, .param .u32 n",
                 "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; st.global.u32 [%rd1],%r1;");
    write_file("p.heddle", small, sizeof small - 1);
}

/* Checks the first element, and the size in bytes, of the buffer that the program saved. */
static void saved(uint32_t first, long bytes) {
    uint32_t got = 0;
    FILE *f = fopen("o.bin", "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(&got, 4, 1, f), 1);
    fseek(f, 0, SEEK_END);
    ck_assert_int_eq(ftell(f), bytes);
    fclose(f);
    ck_assert_uint_eq(got, first);
}

/* By default the program computes m from n; -v can set m, too. -v takes precedence over --size paper. Elements have 4
 * bytes. */
START_TEST(values_are_set) {
    small_program();
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    saved(4, 8 * 4L);
    STATUS(HEDDLE_OK, "run p.heddle -m functional --size paper");
    saved(16, 32 * 4L);
    STATUS(HEDDLE_OK, "run p.heddle -m functional -v n=7");
    saved(7, 14 * 4L);
    STATUS(HEDDLE_OK, "run p.heddle -m functional --set-value n=0x20 --size paper");
    saved(32, 64 * 4L);
    STATUS(HEDDLE_OK, "run p.heddle -m functional -v n=64 -v m=1 -v f=2");
    saved(64, 4L);
}
END_TEST

static const struct {
    const char *given, *say;
} wrong[] = {
    {"-v nn=3", "there is no value 'nn'"},
    {"-v zero=3", "there is no value 'zero'; 'values' in the program has them, 'n' among them"},
    {"-v n", "'n' is no KEY=VALUE"},
    {"-v n=", "a value is missing"},
    {"-v n=three", "p.heddle:2:12: error: -v n=three: 'three' is no number; one is like 4096, 4K, -1 or 0.5"},
    {"-v n=9000000000G", "'9000000000G' is no number"},
    {"-v n=4.5", "'n' is a whole number, and 4.5 is none"},
    {"-v n=1", "p.heddle:2:12: error: 'n' is 1, and must be from 2 to 64"},
    {"-v n=65", "'n' is 65, and must be from 2 to 64"},
    {"-v n=-3", "'n' is -3, and must be from 2 to 64"},
    {"-v m=17", "'m' is 17, and must be from 1 to 16"},
    {"-v n=4 -v n=5", "n is given twice"},
    {"-v n=4,5", "several values are for heddle sweep"},
};

START_TEST(mistakes_are_named) {
    small_program();
    STATUS(HEDDLE_USAGE, "run p.heddle %s", wrong[_i].given);
    SAYS(err, wrong[_i].say);
    STATUS(HEDDLE_USAGE, "compare p.heddle -m spe,dpe %s", wrong[_i].given);
    SAYS(err, wrong[_i].say);
    ck_assert(!exists("o.bin"));
}
END_TEST

static void replaced(const char *from, const char *to) {
    char text[sizeof small + 64];
    const char *at = strstr(small, from);
    ck_assert_ptr_nonnull(at);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - small), small, to, at + strlen(from));
    write_file("p.heddle", text, (size_t)n);
}

START_TEST(ranges_are_of_values) {
    small_program();
    replaced("m = (1, \"4 * n\")", "k = (1, 4)");
    STATUS(HEDDLE_USAGE, "run p.heddle");
    SAYS(err, "p.heddle:4:");
    SAYS(err, "'k' is not among the values");
    replaced("(2, 64)", "64");
    STATUS(HEDDLE_USAGE, "run p.heddle");
    SAYS(err, "a range has two ends: n = (LEAST, MOST)");
    replaced("n = 16", "n = 65"); /* the values of size `paper` are checked only when --size paper selects them */
    STATUS(HEDDLE_OK, "run p.heddle -m functional");
    STATUS(HEDDLE_USAGE, "run p.heddle --size paper");
    SAYS(err, "'n' is 65, and must be from 2 to 64");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 1 -a zero:4 -a u32:1 -v n=3");
    SAYS(err, "--set-value is for programs (X.heddle)");
    STATUS(HEDDLE_USAGE, "bench vecadd -v n=3");
    SAYS(err, "no program (X.heddle) with values is among the names");
}
END_TEST

/* Writes a copy of bfs.heddle with another number of nodes to p.heddle. */
static void edited(int nodes) {
    char path[PATH_MAX + 64], to[64];
    snprintf(path, sizeof path, "%s/benchmarks/bfs.heddle", cli_root);
    snprintf(to, sizeof to, "values = { n = %d; };", nodes);
    const char *from = "values = { n = 8192; };";
    char *text = slurp(path), *at = strstr(text, from), *all = NULL;
    ck_assert_ptr_nonnull(at);
    ck_assert_int_gt(asprintf(&all, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
    write_file("p.heddle", all, strlen(all));
    free(all);
    free(text);
}

static double cycles_of(const char *json) {
    char *text = slurp(json);
    cJSON *o = cJSON_Parse(text);
    double cycles = number(cJSON_GetObjectItem(o, "stats"), "gpu.cycles");
    cJSON_Delete(o);
    free(text);
    return cycles;
}

/* Sweeps bfs with two values of `nodes` in two models, and a program without values in two models: six runs. A run of
 * bfs with a value must take the same cycles as a run of a program that contains this number. */
START_TEST(values_are_swept) {
    char why[1024];
    struct result_set set;
    STATUS(HEDDLE_OK, "sweep '%s/benchmarks/bfs.heddle' vecadd -m spe,dpe -v n=1K,2K -o v.db", cli_root);
    SAYS(out, "6 runs done, 0 already in the database");
    STATUS(HEDDLE_OK, "sweep '%s/benchmarks/bfs.heddle' vecadd -m spe,dpe -v n=1024:2048:1024 -o v.db", cli_root);
    SAYS(out, "0 runs done, 6 already in the database");
    STATUS(HEDDLE_OK, "sweep '%s/benchmarks/bfs.heddle' -m dpe -v n=2048,4K -o v.db --dry-run", cli_root);
    SAYS(out, "bfs.heddle dpe values.n=4096\n2 runs, 1 of them missing");
    struct results_db *db = results_open("v.db", false, why, sizeof why);
    ck_assert_msg(db && results_load(db, false, &set, why, sizeof why), "%s", why);
    results_close(db);
    ck_assert_int_eq(set.n_options, 1);
    ck_assert_str_eq(set.options[0], "values.n");
    int with = 0, cycles = result_stat(&set, "gpu.cycles");
    for (int i = 0; i < set.n; i++) {
        const struct result_row *r = &set.rows[i];
        if (strcmp(r->program, "vecadd") == 0) {
            ck_assert_str_eq(r->options[0], "");
            continue;
        }
        with++;
        edited(atoi(r->options[0]));
        STATUS(HEDDLE_OK, "run p.heddle -m %s --json r.json", r->model);
        ck_assert_double_eq(cycles_of("r.json"), r->values[cycles]);
        STATUS(HEDDLE_OK, "bench '%s/benchmarks/bfs.heddle' -m %s -v n=%s --json r.json", cli_root, r->model,
               r->options[0]);
        ck_assert_double_eq(cycles_of("r.json"), r->values[cycles]);
    }
    ck_assert_int_eq(with, 4);
    result_set_free(&set);
    STATUS(HEDDLE_OK, "results v.db --where 'values.n=2K and model=spe' --csv -");
    ck_assert_int_eq(occurrences(out, "\n"), 2); /* the header line and one run */
    STATUS(HEDDLE_OK, "results v.db --rows program,values.n");
    SAYS(out, "bfs.heddle values.n=2048");
}
END_TEST

SUITE(host_cli_values) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(values_are_set);
    TEST_LOOP(mistakes_are_named, 0, (int)(sizeof wrong / sizeof *wrong));
    TEST(ranges_are_of_values);
    TEST(values_are_swept);
}
