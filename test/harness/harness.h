#ifndef TEST_HARNESS_HARNESS_H
#define TEST_HARNESS_HARNESS_H
/* Runs the test suites of the program `check`. The main process (test/main.c) forks workers, which share one queue of
 * units. A worker takes a unit from this queue and forks a process for it (unit.c). That process runs the unit's tests
 * one after another (tests.c). When a test fails or dies, the worker records the reason and forks a process for the
 * remaining tests of the unit. */
#include "test/test.h"
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

enum { MAX_JOBS = 64, TEST_SECONDS = 120, WALL_SECONDS = 1800 };

/* A unit of work that a worker takes from the queue: part `part` of `parts` of every `step`-th test of a suite, from
 * test `first` on. Only slow suites have several parts. */
struct unit {
    const struct test_suite *suite;
    int first, step;
    int part, parts;
};

enum report_state {
    REPORT_NONE,     /* no test has begun */
    REPORT_RUNNING,  /* the test has begun */
    REPORT_FAILED,   /* an assertion of the test failed; `message` describes it */
    REPORT_PASSED,   /* the test has passed, and the unit's process may run another test */
    REPORT_COMPLETE, /* the last test of the unit has passed */
};

/* A unit's process writes its report here, in shared memory, and the worker reads it. */
struct report {
    _Atomic int state;
    atomic_int test; /* index in the unit */
    atomic_int run;  /* number of tests of the unit that have passed */
    pid_t pid;       /* the process that runs the tests; child processes of this process must not write to the report */
    _Atomic(const char *) suite, name;
    atomic_int loop;    /* index _i of a loop test; -1 for other tests */
    struct timespec at; /* start time of the test, by the monotonic clock */
    const char *file;   /* source location of the failure, or of the last assertion before a signal */
    int line;
    char message[4096], tried[1024], note[512];
};

/* What all processes share. */
struct shared {
    sem_t printing;
    atomic_int next, ended, run, failed, skipped;
    atomic_int left;  /* number of tests of units that have begun, which did not run because of `stop` */
    atomic_bool stop; /* true after a failed test with -x, or after last_second: no further test begins */
    bool first_only;  /* -x */
    long last_second; /* -t: number of seconds after which no test begins; 0: no limit */
    bool late;        /* last_second has passed */
    bool each;        /* -v: prints a line for each test */
    bool terminal;    /* standard output is a terminal */
    /* seconds between two lines of progress; on a terminal, each line replaces the previous line */
    long progress_seconds;
    struct report report[MAX_JOBS];
};
extern struct shared *shared;
/* The report that this process writes, or that its parent writes; NULL in the main process. */
extern struct report *report;

/* Returns the number of tests in the unit. */
int unit_tests(const struct unit *unit);
/* Runs the unit's tests, beginning with number `from`, and ends the process. */
_Noreturn void tests_run(const struct unit *unit, int from);
/* Runs all tests in this process, for use in a debugger; a failure calls abort(). Returns the number of tests that
 * ran. */
int tests_run_here(const struct unit *unit);
/* Runs a unit in separate processes. Prints failures, and keeps them for the list at the end. */
void unit_run(const struct unit *unit);

/* Installs handlers for the signals that end a test. The handlers report the last recorded source location of the
 * test. */
void place_catch_signals(void);
/* Limits the CPU seconds that all threads of this process together may use from now on to TEST_SECONDS. */
void limit_processor_time(void);
/* Clears the record of the case that the previous test was checking. */
void place_forget(void);

/* state_save() saves the parts of the process state that a test may change and that affect later tests: environment,
 * current folder, umask, signal handlers, limits, standard streams. state_restore() restores them. */
void state_save(void);
void state_restore(void);

/* Processor time in seconds of this process and the child processes that it has waited for, in user and system mode. */
struct processor_time {
    double user, system;
};
struct processor_time processor_time(void);

/* Adds a failure to the list that is printed at the end. */
void failure_note(const char *text);
/* Begin and end printing of whole lines on standard output. Between the two calls no other process prints, and the
 * progress line is removed. */
void print_begin(void);
void print_end(void);
/* Writes the name of a test as "suite: test[i]". */
void test_name_of(const struct report *r, char *out, size_t size);
/* Prints the progress of the run periodically, until all child processes of this process have ended. `n`: number of
 * units. */
void progress_until_end(int n, int jobs);
#endif
