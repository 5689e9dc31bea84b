#ifndef TEST_HARNESS_HARNESS_H
#define TEST_HARNESS_HARNESS_H
/* Running the suites of `check`. The main process (test/main.c) forks workers. A worker takes a unit from the queue and
 * forks a process for it (unit.c). That process runs the unit's tests one after another (tests.c). When a test fails or
 * dies, the worker records the reason and forks a process for the remaining tests of the unit. */
#include "test/test.h"
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

enum { MAX_JOBS = 64, TEST_SECONDS = 120, WALL_SECONDS = 1800 };

/* The work that a worker takes from the queue at a time: a suite, or every n-th test of a slow suite. */
struct unit {
    const struct test_suite *suite;
    int part, parts;
};

enum report_state {
    REPORT_NONE,     /* no test has begun */
    REPORT_RUNNING,  /* the test has begun */
    REPORT_FAILED,   /* an assertion of the test failed; `message` says which */
    REPORT_PASSED,   /* the test has ended; another may follow */
    REPORT_COMPLETE, /* the last test of the unit has passed */
};

/* The report of a unit's process to its worker, in shared memory. */
struct report {
    _Atomic int state;
    atomic_int test; /* index in the unit */
    atomic_int run;  /* number of tests of the unit that have passed */
    pid_t pid;       /* the process that runs the tests: its children must not write here */
    _Atomic(const char *) suite, name;
    atomic_int loop;    /* _i of a loop test; -1 for other tests */
    struct timespec at; /* start time of the test, by the monotonic clock */
    const char *file;   /* place of the failure, or of the last assertion before a signal */
    int line;
    char message[4096], tried[1024], note[512];
};

/* What all processes share. */
struct shared {
    sem_t printing;
    atomic_int next, ended, run, failed, skipped;
    atomic_bool stop; /* true after a failed test with -x: no further test begins */
    bool first_only;  /* -x */
    bool each;        /* -v: a line for each test */
    bool terminal;    /* standard output is a terminal */
    /* seconds between two lines of progress; on a terminal, each line replaces the previous line */
    long progress_seconds;
    struct report report[MAX_JOBS];
};
extern struct shared *shared;
/* The report of this process or of its parent; NULL in the main process. */
extern struct report *report;

/* Returns the number of tests that the unit's suite adds. */
int unit_tests(const struct unit *unit);
/* Runs the tests from `from` on, and ends the process. */
_Noreturn void tests_run(const struct unit *unit, int from);
/* Runs all tests in this process, for a debugger; a failure aborts. Returns the number of tests that ran. */
int tests_run_here(const struct unit *unit);
/* Runs a unit in separate processes. Failures are printed, and kept for the end. */
void unit_run(const struct unit *unit);

/* Catches the signals that end a test, and records the test's last position. */
void place_catch_signals(void);
/* Clears the record of what the previous test tried. */
void place_forget(void);

/* state_save() saves the process state that a test may change and that would affect the next test; state_restore()
 * restores it: environment, current folder, umask, signal handlers, limits, standard streams. */
void state_save(void);
void state_restore(void);

/* Processor time in seconds of this process and the child processes that it has waited for, in user and system mode. */
struct processor_time {
    double user, system;
};
struct processor_time processor_time(void);

/* Keeps the failure for the list at the end. */
void failure_note(const char *text);
/* Begins and ends printing of whole lines on standard output. Until print_end(), no other process prints, and the
 * progress line is removed. */
void print_begin(void);
void print_end(void);
/* "suite: test[i]" */
void test_name_of(const struct report *r, char *out, size_t size);
/* Prints the progress of the run periodically, until all children of this process have ended. `n`: number of units. */
void progress_until_end(int n, int jobs);
#endif
