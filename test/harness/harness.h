#ifndef TEST_HARNESS_HARNESS_H
#define TEST_HARNESS_HARNESS_H
/* How `check` runs the suites. The main process (test/main.c) forks workers. A worker takes a unit from the queue and
 * forks a process for it (unit.c). That process runs the unit's tests one after another (tests.c). When a test fails or
 * dies, the worker notes why and forks a process for the rest of the unit. */
#include "test/test.h"
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

enum { MAX_JOBS = 64, TEST_SECONDS = 120, WALL_SECONDS = 1800 };

/* What a worker takes at a time: a suite, or every n-th test of a suite that takes long. */
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

/* What the process of a unit tells its worker, in shared memory. */
struct report {
    _Atomic int state;
    atomic_int test; /* index in the unit */
    atomic_int run;  /* tests of the unit that have ended well */
    pid_t pid;       /* the process that runs the tests: its children must not write here */
    _Atomic(const char *) suite, name;
    atomic_int loop;    /* _i, or -1 for a test that is no loop */
    struct timespec at; /* when it began, by the monotonic clock */
    const char *file;   /* place of the failure, or of the last assertion before a signal */
    int line;
    char message[4096], tried[1024], note[512];
};

/* What all processes share. */
struct shared {
    sem_t printing;
    atomic_int next, ended, run, failed, skipped;
    atomic_bool stop;      /* -x, and a test has failed */
    bool first_only;       /* -x */
    bool each;             /* -v: a line for each test */
    bool terminal;         /* standard output is a terminal */
    long progress_seconds; /* between two lines of progress; on a terminal each replaces the one before */
    struct report report[MAX_JOBS];
};
extern struct shared *shared;
/* The report of this process or of its parent; NULL in the main process. */
extern struct report *report;

/* The number of tests that the unit's suite adds. */
int unit_tests(const struct unit *unit);
/* Runs the tests from `from` on, and ends the process. */
_Noreturn void tests_run(const struct unit *unit, int from);
/* Runs all tests in this process, for a debugger; a failure aborts. Returns how many ran. */
int tests_run_here(const struct unit *unit);
/* Runs a unit in processes of its own. Failures are printed, and kept for the end. */
void unit_run(const struct unit *unit);

/* Catches the signals that end a test, and notes where it was. */
void place_catch_signals(void);
/* Forgets what the test before this one tried. */
void place_forget(void);

/* What a test may change and its process would pass on: state_save() notes it, and state_restore() puts it back.
 * Environment, current folder, umask, signal handlers, limits, standard streams. */
void state_save(void);
void state_restore(void);

/* Seconds of a processor that this process and those it has waited for took, in the program and in the system. */
struct processor_time {
    double user, system;
};
struct processor_time processor_time(void);

/* Keeps the failure for the list at the end. */
void failure_note(const char *text);
/* Standard output, for whole lines: nobody else prints until print_end(), and no progress line is in the way. */
void print_begin(void);
void print_end(void);
/* "suite: test[i]" */
void test_name_of(const struct report *r, char *out, size_t size);
/* Prints now and then how far the run is, until all children of this process have ended. `n`: units. */
void progress_until_end(int n, int jobs);
#endif
