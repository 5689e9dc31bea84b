/* Tests sweeps that are split into parts, sweeps as Slurm job arrays, and merging of databases. A shell script replaces
 * sbatch and runs the tasks one after another. */
#include "cli_help.h"
#include "host/results/results_db.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two programs, two models and three sizes of the L1 give 12 runs. */
#define SWEEP "sweep spmv conv2d -m spe,dpe -s l1.size=8K:24K:8K "

START_TEST(parts_are_complete_together) {
    STATUS(HEDDLE_OK, SWEEP "-o whole.db");
    for (int i = 0; i < 5; i++) { /* the five parts have 3, 3, 2, 2 and 2 of the 12 runs */
        char says[64];
        STATUS(HEDDLE_OK, SWEEP "-o all.db --part %d/5", i);
        snprintf(says, sizeof says, "%d runs done, 0 already in the database", i < 2 ? 3 : 2);
        SAYS(out, says);
    }
    ck_assert(!exists("all.db"));
    STATUS(HEDDLE_OK, SWEEP "-o all.db --part 4/5");
    SAYS(out, "0 runs done, 2 already in the database");
    STATUS(HEDDLE_OK, "results --merge all.db.parts/*.db -o all.db");
    SAYS(out, "12 runs added to all.db, 0 already there");
    database_contained("whole.db", "all.db");
    database_contained("all.db", "whole.db");
    STATUS(HEDDLE_OK, "results --merge all.db.parts/*.db whole.db all.db -o all.db"); /* all.db is also an input */
    SAYS(out, "0 runs added to all.db, 36 already there");
    ck_assert_int_eq(database_number("all.db", "SELECT count(*) FROM run"), 12);
    STATUS(HEDDLE_OK, SWEEP "-o all.db --part 1/2"); /* all runs are in all.db, so part 1 of 2 has nothing to do */
    SAYS(out, "0 runs done, 0 already in the database");
}
END_TEST

/* If an existing run has no profile, merging adds the profile from the other database. */
START_TEST(profiles_are_merged) {
    STATUS(HEDDLE_OK, "sweep spmv -o plain.db");
    STATUS(HEDDLE_OK, "sweep spmv conv2d -o rich.db --profile");
    STATUS(HEDDLE_OK, "results --merge rich.db -o plain.db");
    SAYS(out, "1 run added to plain.db, 1 already there");
    ck_assert_int_eq(database_number("plain.db", "SELECT count(DISTINCT run) FROM profile"), 2);
    STATUS(HEDDLE_OK, "sweep spmv conv2d -o plain.db --profile");
    SAYS(out, "0 runs done, 2 already in the database");
}
END_TEST

START_TEST(what_cannot_be_merged_is_refused) {
    STATUS(HEDDLE_OK, "sweep spmv -o a.db");
    STATUS(HEDDLE_OK, "sweep conv2d -o b.db");
    database_number("b.db", "PRAGMA user_version = 7");
    STATUS(HEDDLE_USAGE, "results --merge a.db b.db -o all.db");
    SAYS(err, "b.db: was written in version 7 of the format, and this heddle");
    ck_assert(!exists("all.db"));
    write_file("text.db", "no database, but a file with some text in it", 44);
    STATUS(HEDDLE_USAGE, "results --merge a.db text.db -o all.db");
    SAYS(err, "text.db: is not a results database");
    STATUS(HEDDLE_USAGE, "results --merge a.db no.db -o all.db");
    SAYS(err, "no.db: No such file");
    ck_assert(!exists("all.db"));
    STATUS(HEDDLE_USAGE, "results --merge a.db");
    SAYS(err, "which files, and into which?");
    STATUS(HEDDLE_USAGE, "results --merge a.db -o c.db --csv -");
    SAYS(err, "--csv does nothing with --merge");
    STATUS(HEDDLE_USAGE, "results a.db -o c.db");
    SAYS(err, "--output does nothing without --merge");
    STATUS(HEDDLE_USAGE, SWEEP "--part 3/3");
    SAYS(err, "--part takes I/N");
    STATUS(HEDDLE_USAGE, SWEEP "--tasks 3");
    SAYS(err, "--tasks does nothing without --slurm");
    STATUS(HEDDLE_USAGE, SWEEP "--slurm=now");
    SAYS(err, "--slurm or --slurm=submit, not 'now'");
}
END_TEST

START_TEST(the_script_has_the_commands) {
    STATUS(HEDDLE_OK, SWEEP "-s 'sched.policy=lrr' -o \"it's.db\" -j 2 --slurm --tasks 4");
    SAYS(out, "it's.db.slurm: 12 runs in 4 tasks");
    char *text = slurp("it's.db.slurm");
    SAYS(text, "tasks=4\njobs=2\n");
    SAYS(text, "/it'\\''s.db'\n"); /* quoted for the shell */
    SAYS(text, "--model 'spe,dpe' --set 'l1.size=8K:24K:8K' --set 'sched.policy=lrr' -- 'spmv' 'conv2d'");
    SAYS(text, "--array=0-$((tasks - 1))");
    SAYS(text, "--dependency=\"afterany:");
    ck_assert_ptr_null(strstr(text, "--slurm"));
    free(text);
    ck_assert_int_eq(system("sh -n \"it's.db.slurm\""), 0);
    STATUS(HEDDLE_OK, "sweep spmv -o one.db --slurm");
    SAYS(out, "1 run in 1 task\n");
}
END_TEST

/* A shell script that replaces sbatch. It runs a job when it is submitted, and runs the tasks of an array one after
 * another. It kills the process group of task 1 of the first array as soon as this task has stored a run. */
static const char sbatch[] =
    "#!/bin/sh\n"
    "n=$(($(cat jobs 2>/dev/null || echo 0) + 1)); echo $n >jobs\n"
    "last=\n"
    "while :; do case $1 in\n"
    "    --array=0-*) last=${1#--array=0-} ;;\n"
    "    -*) ;;\n"
    "    *) break ;;\n"
    "esac; shift; done\n"
    "cp \"$1\" copy-$n; shift; echo \"$n;cluster\"\n"
    "exec >>log 2>&1\n"
    "[ -n \"$last\" ] || { sh copy-$n \"$@\"; exit; }\n"
    "i=0\n"
    "while [ $i -le $last ]; do\n"
    "    export SLURM_ARRAY_TASK_ID=$i\n"
    "    if [ $n.$i = 1.1 ]; then\n"
    "        setsid sh copy-$n \"$@\" & p=$!\n"
    "        until \"$HEDDLE\" results sweep.db.parts/1-of-3.db 2>/dev/null | grep -q pass; do\n"
    "            sleep 0.02\n"
    "        done\n"
    "        kill -KILL -$p && echo killed\n"
    "        wait $p\n"
    "    else\n"
    "        sh copy-$n \"$@\"\n"
    "    fi\n"
    "    i=$((i + 1))\n"
    "done\n";

/* Part 1 of 3 has four runs (fwt, lud, fwt, lud), so runs are missing after its task was killed. Job 1 is the array.
 * Job 2 merges the parts and submits the missing runs as job 3, and job 4 merges the parts of job 3. */
START_TEST(a_killed_task_is_submitted_again) {
    char path[PATH_MAX * 2];
    write_file("sbatch", sbatch, sizeof sbatch - 1);
    ck_assert_int_eq(chmod("sbatch", 0755), 0);
    const char *before = getenv("PATH");
    snprintf(path, sizeof path, ".:%s", before ? before : "/bin:/usr/bin");
    char *old = strdup(before ? before : "/bin:/usr/bin");
    setenv("PATH", path, 1);
    setenv("HEDDLE", cli_binary, 1);
    STATUS(HEDDLE_OK, "sweep lud fwt -m spe,dpe -s l1.size=8K:24K:8K -o sweep.db -j 1 --slurm=submit --tasks 3");
    setenv("PATH", old, 1);
    free(old);
    SAYS(out, "3 tasks: job 1; merged by job 2");
    char *log = slurp("log");
    SAYS(log, "killed\n");
    SAYS(log, "3 tasks: job 3; merged by job 4\n");
    SAYS(log, "\n0 runs are missing\n");
    ck_assert_int_eq(occurrences(log, "are missing\n"), 2);
    free(log);
    int parts = 0; /* no run is in two parts, so the sum is 12 */
    for (int i = 0; i < 3; i++) {
        char part[64];
        snprintf(part, sizeof part, "sweep.db.parts/%d-of-3.db", i);
        parts += database_number(part, "SELECT count(*) FROM run");
    }
    ck_assert_int_eq(parts, 12);
    ck_assert_int_eq(database_number("sweep.db", "SELECT count(*) FROM run"), 12);
    STATUS(HEDDLE_OK, "sweep lud fwt -m spe,dpe -s l1.size=8K:24K:8K -o whole.db");
    database_contained("whole.db", "sweep.db");
    database_contained("sweep.db", "whole.db");
}
END_TEST

SUITE(host_cli_slurm) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(parts_are_complete_together);
    TEST(profiles_are_merged);
    TEST(what_cannot_be_merged_is_refused);
    TEST(the_script_has_the_commands);
    TEST(a_killed_task_is_submitted_again);
}
