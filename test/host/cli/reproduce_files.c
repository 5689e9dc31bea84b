/* Tests `heddle reproduce` with wrong options, without gnuplot, on a full disk and with a damaged database. */
#include "cli_help.h"
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A database with the runs of figure dpe-stacks, for the tests that need no new runs of this figure. */
static struct {
    char *bytes;
    long size;
} stacks;

static long size_of(const char *file) {
    struct stat st;
    ck_assert_int_eq(stat(file, &st), 0);
    return (long)st.st_size;
}

START_TEST(tables_do_not_need_gnuplot) {
    cli_setup();
    char *before = strdup(getenv("PATH"));
    ck_assert_int_eq(system("mkdir bin && for t in env sh bash; do ln -s $(command -v $t) bin/$t; done"), 0);
    setenv("PATH", "bin", 1);
    STATUS(HEDDLE_OK, "reproduce dpe-stacks --to here --size small -j 2");
    setenv("PATH", before, 1);
    free(before);
    SAYS(err, "no plots, since gnuplot is not installed: sudo apt-get install gnuplot-nox");
    SAYS(out, "most of dual-path");
    ck_assert(exists("here/dpe-stacks.csv"));
    ck_assert(!exists("here/dpe-stacks.svg"));
    stacks.bytes = slurp("results.db");
    stacks.size = size_of("results.db");
    cli_teardown();
}
END_TEST

/* Runs `heddle reproduce` with the shell script `script` in place of gnuplot. Even if plots fail, heddle must write the
 * tables, the CSV files and the page, for the first figure and for the figures after it. */
static void with_gnuplot(const char *script, const char *said) {
    char path[4 * PATH_MAX], *before = strdup(getenv("PATH"));
    write_file("bin/gnuplot", script, strlen(script));
    ck_assert_int_eq(chmod("bin/gnuplot", 0755), 0);
    snprintf(path, sizeof path, "bin:%s", before);
    setenv("PATH", path, 1);
    STATUS(HEDDLE_USAGE, "reproduce dpe-storage dpe-stacks --to here -j 2");
    setenv("PATH", before, 1);
    free(before);
    SAYS(err, said);
    SAYS(err, "--no-plots does without");
    ck_assert_int_eq(occurrences(err, "gnuplot"), 1);
    ck_assert(exists("here/dpe-stacks.csv") && exists("here/index.html") && exists("here/summary.csv"));
    ck_assert(!exists("here/dpe-storage.svg") && !exists("here/dpe-stacks.svg") && !exists("here/dpe-stacks.png"));
    ck_assert_int_eq(system("rm -r here"), 0);
}

START_TEST(a_failing_gnuplot_only_loses_plots) {
    cli_setup();
    ck_assert_int_eq(mkdir("bin", 0777), 0);
    if (stacks.bytes)
        write_file("results.db", stacks.bytes, (size_t)stacks.size);
    with_gnuplot("#!/bin/sh\nexit 3\n", "here/dpe-storage.svg: gnuplot ended with exit status 3;");
    with_gnuplot("#!/bin/sh\nkill -9 $$\n", "here/dpe-storage.svg: gnuplot was ended by signal 9;");
    with_gnuplot("#!/bin/sh\ncat >/dev/null\n", "here/dpe-storage.svg: gnuplot drew nothing: is the disk full?;");
    cli_teardown();
}
END_TEST

START_TEST(the_folder_is_checked_before_the_runs) {
    cli_setup();
    write_file("file", "", 0);
    STATUS(HEDDLE_USAGE, "reproduce dpe-storage --to file");
    SAYS(err, "--to: file is no folder");
    STATUS(HEDDLE_USAGE, "reproduce dpe-storage --to not/there");
    SAYS(err, "--to: the folder 'not/there' cannot be made: No such file or directory");
    STATUS(HEDDLE_USAGE, "reproduce dpe-storage --to /proc");
    SAYS(err, "--to names another folder");
    STATUS(HEDDLE_USAGE, "reproduce dpe-storage --output=");
    SAYS(err, "--output is empty");
    ck_assert(!exists("results.db") && !exists("reproduction"));
    cli_teardown();
}
END_TEST

static void damage(const char *file, const char *sql) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(invalid_databases_are_refused) {
    cli_setup();
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 --no-plots -j 2 -o whole.db");
    char *whole = slurp("whole.db");
    long size = size_of("whole.db");
    write_file("next.db", whole, (size_t)size);
    damage("next.db", "PRAGMA user_version=3");
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o next.db");
    SAYS(err, "next.db: was written in version 3 of the format");
    SAYS(err, "or name another file");
    write_file("half.db", whole, (size_t)size / 2 / 4096 * 4096);
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o half.db");
    SAYS(err, "half.db: is damaged");
    ck_assert_int_eq(size_of("half.db"), size / 2 / 4096 * 4096); /* heddle must not change this file */
    write_file("text.db", "figures, as a text; not those of a database of any kind\n", 57);
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o text.db");
    SAYS(err, "text.db: is not a results database");
    write_file("letter.db", "x", 1);
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o letter.db");
    SAYS(err, "letter.db: is not a results database");
    ck_assert_int_eq(size_of("letter.db"), 1);
    write_file("gone.db", whole, (size_t)size);
    damage("gone.db", "DROP VIEW launch_value");
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o gone.db");
    SAYS(err, "gone.db: is damaged ('launch_value' is missing)");
    damage("other.db", "CREATE TABLE theirs(x)");
    STATUS(HEDDLE_USAGE, "reproduce subwarp-table3 -o other.db");
    SAYS(err, "not one of results");
    free(whole);
    cli_teardown();
}
END_TEST

/* A limit on file sizes ends the first command while the database grows, and the last command while it writes the
 * page. */
START_TEST(the_same_command_continues_after_a_full_disk) {
    cli_setup();
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command,
             "bash -c \"ulimit -f %d; exec '%s' reproduce subwarp-table3 --no-plots -j 1\" >o.txt 2>e.txt", 140,
             cli_binary);
    int how = system(command);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == HEDDLE_USAGE);
    char *said = slurp("e.txt");
    SAYS(said, "results.db: cannot be written");
    SAYS(said, "the same command tries the others again");
    free(said);
    ck_assert(!exists("reproduction/subwarp-table3.csv"));
    STATUS(HEDDLE_OK, "results results.db --value gpu.cycles --csv -");
    int kept = occurrences(out, "\n") - 1;
    ck_assert_int_gt(kept, 0);
    ck_assert_int_lt(kept, 10);
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 --no-plots -j 2");
    STATUS(HEDDLE_OK, "results results.db --value gpu.cycles --csv -");
    ck_assert_int_eq(occurrences(out, "\n"), 11); /* a header line, and lines for five programs in two models */
    char *page = slurp("reproduction/index.html");
    snprintf(command, sizeof command,
             "bash -c \"ulimit -f 2; exec '%s' reproduce subwarp-table3 --no-plots --to reproduction\" >o.txt 2>e.txt",
             cli_binary);
    how = system(command);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == HEDDLE_USAGE);
    char *after = slurp("reproduction/index.html");
    ck_assert_str_eq(page, after); /* the page of the earlier run remains; it is not half overwritten */
    free(page);
    free(after);
    cli_teardown();
}
END_TEST

START_TEST(unknown_figures_are_refused_with_names) {
    cli_setup();
    STATUS(HEDDLE_USAGE, "reproduce dpe-31");
    SAYS(err, "did you mean 'dpe-1");
    STATUS(HEDDLE_USAGE, "reproduce pepsc");
    SAYS(err, "there is no figure 'pepsc'");
    SAYS(err, "pepsc-9b");
    STATUS(HEDDLE_USAGE, "reproduce figure-13");
    SAYS(err, "there is no figure 'figure-13'; there are dpe-13, subwarp-13\n");
    STATUS(HEDDLE_USAGE, "reproduce fig9");
    SAYS(err, "there is no figure 'fig9'; there is pepsc-9b\n");
    STATUS(HEDDLE_USAGE, "reproduce list all");
    SAYS(err, "'list' stands alone");
    STATUS(HEDDLE_USAGE, "reproduce");
    SAYS(err, "which figure?");
    STATUS(HEDDLE_USAGE, "reproduce dpe-13 --size large");
    SAYS(err, "--size is small, paper or card");
    STATUS(HEDDLE_OK, "reproduce list");
    SAYS(out, "subwarp-table3");
    ck_assert(!exists("results.db"));
    cli_teardown();
}
END_TEST

SUITE(host_cli_reproduce_files) {
    TEST(tables_do_not_need_gnuplot);
    TEST(a_failing_gnuplot_only_loses_plots);
    TEST(the_folder_is_checked_before_the_runs);
    TEST(invalid_databases_are_refused);
    TEST(the_same_command_continues_after_a_full_disk);
    TEST(unknown_figures_are_refused_with_names);
}
