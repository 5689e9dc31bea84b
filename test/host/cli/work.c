/* Tests queues of runs: heddle sweep --queue, heddle work, parts of a queue, and what happens when processes die. */
#include "cli_help.h"
#include "host/results/results_queue.h"
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWEEP "sweep k.ptx -c tiny -g 2 -b 64 -a zero:256 -m spe,dpe -s l1.latency=10:15:1 "
enum { RUNS = 12 };

static void begin(void) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd1],%r1;");
}

static void change(const char *file, const char *sql) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A queue gives the same results as a sweep, from another folder, too. The queue only has runs without a result. */
START_TEST(a_queue_is_worked_off) {
    begin();
    STATUS(HEDDLE_OK, SWEEP "-o whole.db");
    STATUS(HEDDLE_OK, SWEEP "--queue q.db");
    ck_assert_str_eq(out, "12 runs to do in q.db, 0 of this sweep already done\n");
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM run"), 0);
    STATUS(HEDDLE_OK, "results q.db --progress");
    ck_assert_str_eq(out, "0 of 12 runs done\n");
    ck_assert_int_eq(mkdir("other", 0777), 0);
    ck_assert_int_eq(rename("q.db", "other/q.db"), 0);
    STATUS(HEDDLE_OK, "work other/q.db -j 2");
    SAYS(out, "12 runs done by this process; 12 of 12 runs done");
    database_contained("whole.db", "other/q.db");
    database_contained("other/q.db", "whole.db");
    ck_assert_int_eq(database_number("other/q.db", "SELECT count(*) FROM todo"), 0);
    ck_assert_int_eq(database_number("other/q.db", "SELECT count(*) FROM claim"), 0);
    STATUS(HEDDLE_OK, SWEEP "-s l1.size=8K,16K --queue other/q.db");
    STATUS(HEDDLE_OK, SWEEP "--queue other/q.db");
    SAYS(out, "of this sweep already done");
    STATUS(HEDDLE_OK, "work other/q.db");
    ck_assert_int_eq(database_number("other/q.db", "SELECT count(*) FROM todo"), 0);
    STATUS(HEDDLE_OK, SWEEP "-s l1.size=8K,16K -o other/q.db");
    SAYS(out, "0 runs done, 24 already in the database");
}
END_TEST

static pid_t start_worker(const char *file) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
        execl(cli_binary, "heddle", "work", file, "-j", "1", (char *)NULL);
        _exit(9);
    }
    return pid;
}

/* Plans RUNS new runs. */
static void plan_round(int round) {
    STATUS(HEDDLE_OK,
           "sweep k.ptx -c tiny -g 2 -b 64 -a zero:256 -m spe,dpe -s l1.latency=10:15:1 -s l1.mshrs=%d --queue q.db",
           2 + round);
}

/* Three processes work on a queue. One of them is killed again and again, and another one starts. No run is lost and
 * none is stored twice. HEDDLE_EVERY makes 1,000 kills. */
START_TEST(nothing_is_lost_when_processes_are_killed) {
    enum { WORKERS = 3 };
    const int most = test_every() ? 1000 : 8;
    pid_t pids[WORKERS];
    int kills = 0, rounds = 0, how;
    begin();
    plan_round(rounds++);
    for (int i = 0; i < WORKERS; i++)
        pids[i] = start_worker("q.db");
    for (int i = 0; kills < most; i = (i + 1) % WORKERS) {
        usleep(5000 + (useconds_t)(kills * 7919 % 60) * 1000);
        kill(pids[i], SIGKILL);
        ck_assert_int_eq(waitpid(pids[i], &how, 0), pids[i]);
        kills += WIFSIGNALED(how);
        if (database_number("q.db", "SELECT count(*) FROM todo") == 0)
            plan_round(rounds++);
        pids[i] = start_worker("q.db");
    }
    for (int i = 0; i < WORKERS; i++) {
        ck_assert_int_eq(waitpid(pids[i], &how, 0), pids[i]);
        ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) == 0, "%x", how);
    }
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM run"), RUNS * rounds);
    ck_assert_int_eq(database_number("q.db", "SELECT count(DISTINCT key) FROM run WHERE verdict = 'ran'"),
                     RUNS * rounds);
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM todo"), 0);
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM claim"), 0);
}
END_TEST

/* A part of a queue is taken, run elsewhere, and merged back. A part that never comes back is free again after its
 * lease. */
START_TEST(parts_are_taken_and_merged) {
    begin();
    STATUS(HEDDLE_OK, SWEEP "--queue q.db");
    STATUS(HEDDLE_OK, "work q.db --take 5 -o a.db");
    SAYS(out, "5 runs taken");
    STATUS(HEDDLE_OK, "work q.db --take 4 -o b.db --lease 50");
    STATUS(HEDDLE_USAGE, "work q.db --take 4 -o b.db");
    SAYS(err, "b.db: exists");
    STATUS(HEDDLE_OK, "work a.db");
    SAYS(out, "5 runs done by this process");
    STATUS(HEDDLE_OK, "results --merge a.db -o q.db");
    SAYS(out, "5 runs added to q.db");
    STATUS(HEDDLE_OK, "results q.db --progress");
    SAYS(out, "5 of 12 runs done, 1 process");
    SAYS(out, "b.db, taken at");
    change("q.db", "UPDATE claim SET renewed = renewed - 51");
    STATUS(HEDDLE_OK, "work q.db");
    SAYS(out, "7 runs done by this process; 12 of 12 runs done");
    STATUS(HEDDLE_OK, "work b.db"); /* the part comes late */
    STATUS(HEDDLE_OK, "results --merge b.db -o q.db");
    SAYS(out, "0 runs added to q.db, 4 already there");
    STATUS(HEDDLE_OK, "work q.db --take 4 -o c.db");
    SAYS(out, "0 runs taken");
    ck_assert(!exists("c.db"));
}
END_TEST

/* Runs that differ from the planned ones are refused, and stay in the queue. */
START_TEST(other_files_and_builds_are_refused) {
    begin();
    STATUS(HEDDLE_OK, SWEEP "-o results.db");
    STATUS(HEDDLE_USAGE, "work results.db");
    SAYS(err, "results.db: is no queue");
    STATUS(HEDDLE_USAGE, "work no.db");
    SAYS(err, "no.db: No such file");
    STATUS(HEDDLE_USAGE, "work");
    SAYS(err, "which queue? For example");
    STATUS(HEDDLE_USAGE, "work q.db -o part.db");
    SAYS(err, "--output and --lease do nothing without --take");
    STATUS(HEDDLE_USAGE, SWEEP "-s l1.size=7 --queue q.db");
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM sqlite_master WHERE name = 'todo'"), 0);
    STATUS(HEDDLE_OK, SWEEP "--queue q.db");
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd1],%r2;");
    STATUS(HEDDLE_USAGE, "work q.db");
    SAYS(err, "run 0 of the queue is another one here");
    begin();
    STATUS(HEDDLE_USAGE, "work q.db --take 2");
    SAYS(err, "--take N goes to a new queue: -o PART");
    change("q.db", "UPDATE queue_plan SET binary = 'another'");
    STATUS(HEDDLE_USAGE, "work q.db");
    SAYS(err, "q.db was planned by another build of heddle");
    ck_assert_int_eq(database_number("q.db", "SELECT count(*) FROM todo"), 12);
    STATUS(HEDDLE_OK, SWEEP "--queue q.db");
    STATUS(HEDDLE_OK, "work q.db");
    SAYS(out, "12 of 12 runs done");
}
END_TEST

/* A run that fails without a result is tried three times; then the queue gives it up and does the other runs. */
START_TEST(a_run_that_always_fails_is_given_up) {
    begin();
    STATUS(HEDDLE_OK, "sweep k.ptx -c tiny -g 2 -b 64 -a zero:256 -m spe -s sm.warps=1,8 --queue q.db");
    STATUS(HEDDLE_USAGE, "work q.db -j 1");
    SAYS(out, "1 of 2 runs done, 1 given up");
    SAYS(err, "run 0 was given up after 3 failures");
    STATUS(HEDDLE_OK, "results q.db --progress");
    SAYS(out, "given up: run 0");
    STATUS(HEDDLE_USAGE, "work q.db");
    STATUS(HEDDLE_OK, "sweep k.ptx -c tiny -g 2 -b 64 -a zero:256 -m spe -s sm.warps=1,8 --queue q.db");
    SAYS(out, "1 run to do");
}
END_TEST

/* The examples for Kubernetes and Ray run as processes of this machine. */
START_TEST(the_examples_of_a_fleet) {
    char command[3 * PATH_MAX];
    if (system("python3 -c '' 2>/dev/null") != 0) {
        test_skip("there is no python3");
        return;
    }
    snprintf(command, sizeof command, "'%s/examples/fleet/try.sh' '%s' >try.txt 2>&1", cli_root, cli_binary);
    const int status = system(command);
    char *text = slurp("try.txt");
    ck_assert_msg(status == 0, "%s", text);
    SAYS(text, "the examples of a fleet work\n");
    free(text);
}
END_TEST

SUITE(host_cli_work) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(a_queue_is_worked_off);
    TEST(nothing_is_lost_when_processes_are_killed);
    TEST(parts_are_taken_and_merged);
    TEST(other_files_and_builds_are_refused);
    TEST(a_run_that_always_fails_is_given_up);
    TEST(the_examples_of_a_fleet);
}
