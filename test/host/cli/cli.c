/* Tests the command line by running heddle: commands, lists, options, bench, compare and inspect. */
#include "cli_help.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

START_TEST(version_and_help) {
    STATUS(HEDDLE_OK, "--version");
    ck_assert_str_eq(out, "heddle " HEDDLE_VERSION "\n");
    STATUS(HEDDLE_OK, "--help");
    SAYS(out, "heddle COMMAND");
    SAYS(out, "Exit status");
    STATUS(HEDDLE_USAGE, " "); /* no command */
    SAYS(err, "heddle COMMAND");
    ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(each_command_explains_itself) {
    static const char *const names[] = {"run",       "exec",    "bench", "compare", "sweep", "work",
                                        "reproduce", "results", "plot",  "inspect", "list"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        STATUS(HEDDLE_OK, "help %s", names[i]);
        char *first = strdup(out);
        SAYS(out, "Examples:");
        STATUS(HEDDLE_OK, "%s --help", names[i]);
        ck_assert_str_eq(out, first);
        free(first);
    }
}
END_TEST

START_TEST(unknown_commands_list_those_that_exist) {
    static const char *const names[] = {"reproduces", "execute", "nonsense"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        STATUS(HEDDLE_USAGE, "%s all", names[i]);
        SAYS(err, names[i]);
        SAYS(err,
             "The commands are run, exec, record, replay, resume, extract, bench, compare, sweep, work, reproduce, "
             "validate, results, plot, report, inspect, list, help.");
        ck_assert_str_eq(out, "");
    }
    STATUS(HEDDLE_USAGE, "bnech");
    SAYS(err, "did you mean 'bench'?");
}
END_TEST

/* Each page of docs/ has a line in the list. A page is printed as it is. A name that leads out of the folder is not a
 * page. */
START_TEST(pages_of_the_documents_are_help) {
    char path[2 * PATH_MAX];
    STATUS(HEDDLE_OK, "help pages");
    SAYS(out, "\nmemory            The memory system\n");
    snprintf(path, sizeof path, "ls '%s'/docs | grep -c '[.]md$' >n.txt", cli_root);
    ck_assert_int_eq(system(path), 0);
    char *pages = slurp("n.txt");
    ck_assert_int_eq(occurrences(out, "\n"), atoi(pages) + 2); /* the list also has a line of titles and a rule */
    free(pages);
    snprintf(path, sizeof path, "%s/docs/memory.md", cli_root);
    char *text = slurp(path);
    STATUS(HEDDLE_OK, "help memory");
    ck_assert_str_eq(out, text);
    free(text);
    STATUS(HEDDLE_USAGE, "help memry");
    SAYS(err, "there is no command or page 'memry'; did you mean the page 'memory'?");
    STATUS(HEDDLE_USAGE, "help comparee");
    SAYS(err, "did you mean 'compare'?");
    STATUS(HEDDLE_USAGE, "benchmark lud");
    SAYS(err, "there is no command 'benchmark'; did you mean 'bench'?");
    STATUS(HEDDLE_USAGE, "repro dpe-13");
    SAYS(err, "did you mean 'reproduce'?");
    /* A word that is no page: the pages that have it. Kanata's log is in no document. */
    STATUS(HEDDLE_OK, "help perfetto");
    SAYS(out, "No command or page is named 'perfetto'. These pages have the word");
    SAYS(out, "\ntiming ");
    SAYS(out, "Looking inside\n");
    STATUS(HEDDLE_USAGE, "help kanata");
    ck_assert_str_eq(out, "");
    SAYS(err, "there is no command 'kanata'");
    STATUS(HEDDLE_USAGE, "help ../README");
    STATUS(HEDDLE_USAGE, "help memory.md");
    ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(unknown_options_are_refused) {
    STATUS(HEDDLE_USAGE, "bench --modle spe");
    SAYS(err, "did you mean '--model'?");
    STATUS(HEDDLE_USAGE, "bench -x");
    STATUS(HEDDLE_USAGE, "bench --model");
    SAYS(err, "--model needs a value: MODEL");
    STATUS(HEDDLE_USAGE, "bench --size medium");
    SAYS(err, "--size is small, paper or card");
    STATUS(HEDDLE_USAGE, "bench -j 0");
    STATUS(HEDDLE_USAGE, "bench --cycle-limit 1e6");
    STATUS(HEDDLE_USAGE, "list models --markdown=yes");
}
END_TEST

START_TEST(lists_are_not_empty) {
    static const struct {
        const char *list, *part;
    } cases[] = {{"benchmarks", "lud"},   {"sets", "dac"},           {"models", "dws100"},   {"configs", "fermi"},
                 {"options", "sm.warps"}, {"statistics", "gpu.ipc"}, {"instructions", "add"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        STATUS(HEDDLE_OK, "list %s", cases[i].list);
        SAYS(out, cases[i].part);
    }
    STATUS(HEDDLE_OK, "list statistics --markdown");
    SAYS(out, "# Statistics\n\n| statistic |");
    SAYS(out, "| --- |");
    STATUS(HEDDLE_USAGE, "list everything");
    SAYS(err, "statistics");
    STATUS(HEDDLE_USAGE, "list");
}
END_TEST

START_TEST(opcodes_of_a_file_are_counted) {
    FILE *f = fopen("opcodes.txt", "w");
    ck_assert_ptr_nonnull(f);
    fputs("add.s32\n\nld.global.v4.f32\nadd.s33\n", f);
    fclose(f);
    STATUS(HEDDLE_OK, "list instructions --of opcodes.txt");
    SAYS(out, "add.s33: ");
    SAYS(out, "2 of 3 opcodes can be executed");
    STATUS(HEDDLE_USAGE, "list instructions --of none.txt");
    SAYS(err, "none.txt");
    STATUS(HEDDLE_USAGE, "list models --of opcodes.txt");
    SAYS(err, "--of belongs to");
}
END_TEST

START_TEST(a_full_disk_under_stdout_is_an_error) {
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "'%s' list models >/dev/full 2>stderr.txt", cli_binary);
    int how = system(command);
    ck_assert_int_eq(WEXITSTATUS(how), HEDDLE_USAGE);
    /* the help fills the buffer of stdout several times, so the failing write is not the last one */
    snprintf(command, sizeof command, "'%s' help run >/dev/full 2>stderr.txt", cli_binary);
    how = system(command);
    ck_assert_int_eq(WEXITSTATUS(how), HEDDLE_USAGE);
    char *said = slurp("stderr.txt");
    ck_assert_str_eq(said, "heddle: the result cannot be written: No space left on device\n");
    free(said);
}
END_TEST

/* "See 'heddle help'" follows a message only if the help of the command says more than the message. */
START_TEST(the_help_is_named_only_where_it_helps) {
    STATUS(HEDDLE_USAGE, "run none.ptx --trace /dev/full -g 1 -b 1 -m spe");
    ck_assert_ptr_null(strstr(err, "See 'heddle help"));
    STATUS(HEDDLE_USAGE, "bench vecad");
    SAYS(err, "did you mean 'vecadd'?");
    ck_assert_ptr_null(strstr(err, "See 'heddle help"));
    STATUS(HEDDLE_USAGE, "run --block 1");
    SAYS(err, "See 'heddle help run'.");
}
END_TEST

START_TEST(bench_prints_a_table_and_writes_files) {
    STATUS(HEDDLE_OK, "bench vecadd reduction -m functional --json r.json --csv r.csv");
    SAYS(out, "vecadd");
    SAYS(out, "pass");
    SAYS(out, "geometric mean");
    char *csv = slurp("r.csv"), *json = slurp("r.json");
    ck_assert_int_eq(strncmp(csv, "benchmark,check,", 16), 0);
    cJSON *o = cJSON_Parse(json);
    ck_assert_ptr_nonnull(o);
    ck_assert_str_eq(cJSON_GetObjectItem(o, "check")->valuestring, "pass");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(o, "runs")), 2);
    const cJSON *second = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "runs"), 1);
    ck_assert_str_eq(cJSON_GetObjectItem(second, "benchmark")->valuestring, "reduction");
    ck_assert_str_eq(cJSON_GetObjectItem(second, "check")->valuestring, "pass");
    cJSON_Delete(o);
    free(csv);
    free(json);
    STATUS(HEDDLE_USAGE, "bench vecad");
    SAYS(err, "did you mean 'vecadd'?");
}
END_TEST

START_TEST(bench_of_one_writes_its_result_itself) {
    STATUS(HEDDLE_OK, "bench vecadd -m functional --json -");
    cJSON *o = cJSON_ParseWithOpts(out, NULL, true);
    ck_assert_ptr_nonnull(o);
    ck_assert_str_eq(cJSON_GetObjectItem(o, "check")->valuestring, "pass");
    ck_assert_double_gt(number(cJSON_GetObjectItem(o, "stats"), "gpu.warp_instructions"), 1e5);
    cJSON_Delete(o);
}
END_TEST

/* Returns how often `part` occurs in the output. */
static int times(const char *part) {
    int n = 0;
    for (const char *at = out; (at = strstr(at, part)); at++)
        n++;
    return n;
}

START_TEST(a_set_stands_for_its_benchmarks) {
    STATUS(HEDDLE_OK, "bench classic -m functional --csv -");
    ck_assert_int_eq(times(",pass,"), 3);
    ck_assert(times("vecadd,pass") == 1 && times("sgemm,pass") == 1 && times("reduction,pass") == 1);
    /* a benchmark runs once if it is named and also in a named set; a benchmark that is named twice runs twice */
    STATUS(HEDDLE_OK, "bench sgemm classic classic -m functional --csv -");
    ck_assert_int_eq(times(",pass,"), 3);
    ck_assert_int_eq(strncmp(strchr(out, '\n') + 1, "sgemm,", 6), 0); /* in the given order */
    STATUS(HEDDLE_OK, "bench vecadd vecadd -m functional --csv -");
    ck_assert_int_eq(times("vecadd,pass"), 2);
    STATUS(HEDDLE_USAGE, "bench clasic");
    SAYS(err, "there is no benchmark or set 'clasic'; did you mean 'classic'?");
    STATUS(HEDDLE_USAGE, "bench no-such-thing");
    SAYS(err, "'heddle list sets'");
    STATUS(HEDDLE_OK, "list sets");
    SAYS(out, "dual-path-regular");
}
END_TEST

/* compare prints a mean for each set that contains at least two of the chosen benchmarks, but not all of them. */
START_TEST(compare_has_a_mean_for_each_set) {
    STATUS(HEDDLE_OK, "compare vecadd sgemm bfs1 hotspot arith -m functional --csv -");
    ck_assert_int_eq(times("mean of classic,"), 1);
    ck_assert_int_eq(times("mean of dual-path-regular,"), 1);
    ck_assert_int_eq(times("mean of dac,"), 1);
    ck_assert_int_eq(times("mean of "), 4); /* the set `speed` contains only one chosen benchmark, so it gets no mean */
    ck_assert_int_eq(times("mean of all,"), 1);
    STATUS(HEDDLE_OK, "compare vecadd sgemm -m functional --csv -");
    /* classic and dac contain both benchmarks, so only the mean of all is printed */
    ck_assert_int_eq(times("mean of "), 1);
}
END_TEST

/* Makes a folder that has only vecadd, with a subtraction instead of the addition, and makes heddle use this folder. So
 * the result of vecadd is wrong. */
static void spoil_vecadd(void) {
    ck_assert_int_eq(system("mkdir bad && sed 's/add.f32/sub.f32/' $HEDDLE_KERNELS/vecadd.ptx >bad/vecadd.ptx"), 0);
    setenv("HEDDLE_KERNELS", "bad", 1);
}

START_TEST(wrong_results_are_status_one) {
    spoil_vecadd();
    STATUS(HEDDLE_WRONG, "bench vecadd -m functional --json r.json");
    SAYS(out, "WRONG");
    SAYS(err, "the reference says");
    char *json = slurp("r.json");
    SAYS(json, "\"check\":\t\"fail\"");
    free(json);
    STATUS(HEDDLE_WRONG, "compare vecadd -m functional,spe -j 2");
    SAYS(out, "WRONG");
}
END_TEST

START_TEST(a_bench_that_does_not_end_leaves_no_file) {
    STATUS(HEDDLE_DEADLOCK, "bench vecadd --cycle-limit 10 --json r.json --csv r.csv");
    ck_assert(!exists("r.json") && !exists("r.json.tmp") && !exists("r.csv") && !exists("r.csv.tmp"));
    SAYS(err, "limit");
}
END_TEST

START_TEST(compare_does_not_depend_on_parallel_runs) {
    STATUS(HEDDLE_OK, "compare spmv conv2d -m spe,dpe -j 1 --csv -");
    char *first = strdup(out);
    SAYS(out, "conv2d,spe,pass");
    STATUS(HEDDLE_OK, "compare spmv conv2d -m spe,dpe -j 4 --csv -");
    ck_assert_str_eq(out, first);
    free(first);
}
END_TEST

START_TEST(compare_needs_models_that_exist) {
    STATUS(HEDDLE_USAGE, "compare vecadd");
    SAYS(err, "which models?");
    STATUS(HEDDLE_USAGE, "compare vecadd -m spe,dpx");
    SAYS(err, "dpx");
    STATUS(HEDDLE_USAGE, "compare vecadd -m ,");
}
END_TEST

START_TEST(inspect_shows_each_kernel) {
    STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/lud.ptx");
    SAYS(out, "lud_diagonal\n");
    SAYS(out, "lud_perimeter\n");
    SAYS(out, "3072 bytes a block"); /* perimeter needs three tiles of 16 x 16 floats */
    SAYS(out, "joins at B");
    STATUS(HEDDLE_OK, "inspect $HEDDLE_KERNELS/lud.ptx -k lud_internal");
    ck_assert_ptr_null(strstr(out, "lud_diagonal\n"));
    STATUS(HEDDLE_USAGE, "inspect $HEDDLE_KERNELS/lud.ptx -k lud_internal --pass nothing");
    SAYS(err, "no pass is called 'nothing'; in order they are lower, frames,");
    STATUS(HEDDLE_USAGE, "inspect");
}
END_TEST

SUITE(cli) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(version_and_help);
    TEST(each_command_explains_itself);
    TEST(unknown_commands_list_those_that_exist);
    TEST(pages_of_the_documents_are_help);
    TEST(unknown_options_are_refused);
    TEST(lists_are_not_empty);
    TEST(opcodes_of_a_file_are_counted);
    TEST(a_full_disk_under_stdout_is_an_error);
    TEST(the_help_is_named_only_where_it_helps);
    TEST(bench_prints_a_table_and_writes_files);
    TEST(bench_of_one_writes_its_result_itself);
    TEST(a_set_stands_for_its_benchmarks);
    TEST(compare_has_a_mean_for_each_set);
    TEST(wrong_results_are_status_one);
    TEST(a_bench_that_does_not_end_leaves_no_file);
    TEST(compare_does_not_depend_on_parallel_runs);
    TEST(compare_needs_models_that_exist);
    TEST(inspect_shows_each_kernel);
}
