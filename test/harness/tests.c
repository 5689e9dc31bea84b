/* Runs the tests of a unit one after another in one process. The library Check collects the tests of a suite, and runs
 * fixtures before and after each test. */
#include "harness.h"
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

struct shared *shared;
struct report *report;

/* State of test_add() while a suite's fill() runs. test_add() numbers the tests of one part of the suite, and adds only
 * the wanted test to the Check case. */
static struct {
    const struct unit *unit;
    int wanted;  /* index of the wanted test in the unit; -1: tests are only counted */
    int named;   /* number of tests of the suite so far */
    int of_unit; /* number of tests of the unit so far */
    bool alone;  /* EACH_IN_ITS_PROCESS */
    const char *name;
    int loop;
} filling;

void test_add(TCase *tc, const TTest *test, int from, int to, bool is_loop) {
    for (int i = from; i < to; i++) {
        const struct unit *u = filling.unit;
        const int index = filling.named++;
        if (index % u->step != u->first || index / u->step % u->parts != u->part || filling.of_unit++ != filling.wanted)
            continue;
        filling.name = test->name;
        filling.loop = is_loop ? i : -1;
        tcase_add_loop_test(tc, test, i, i + 1);
    }
}

void test_each_in_its_process(void) { filling.alone = true; }

void test_skip(const char *why) {
    atomic_fetch_add(&shared->skipped, 1);
    printf("skipped: %s\n", why);
    fflush(stdout);
}

int occurrences(const char *in, const char *what) {
    int n = 0;
    for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

bool test_every(void) { return getenv("HEDDLE_EVERY") != NULL; }

struct processor_time processor_time(void) {
    struct processor_time sum = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct rusage u;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
        sum.user += (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
        sum.system += (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
    }
    return sum;
}

/* Returns a Check runner with the suite's test of this index as its only test. With index -1, fill() only counts the
 * tests, and the runner has no test. */
static SRunner *runner_of(const struct unit *unit, int index) {
    Suite *suite = suite_create(unit->suite->name);
    TCase *tc = tcase_create(unit->suite->name);
    filling = (__typeof__(filling)){.unit = unit, .wanted = index};
    unit->suite->fill(tc);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    return runner;
}

int unit_tests(const struct unit *unit) {
    srunner_free(runner_of(unit, -1));
    return filling.of_unit;
}

void limit_processor_time(void) {
    struct rusage u;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &u);
    getrlimit(RLIMIT_CPU, &limit);
    rlim_t end = (rlim_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1 + TEST_SECONDS);
    limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < end ? limit.rlim_max : end;
    setrlimit(RLIMIT_CPU, &limit);
}

static void begin(int index) {
    place_forget();
    limit_processor_time();
    report->file = NULL;
    report->line = 0;
    report->loop = filling.loop;
    *report->message = *report->tried = *report->note = '\0';
    clock_gettime(CLOCK_MONOTONIC, &report->at);
    atomic_store(&report->name, filling.name);
    atomic_store(&report->test, index);
    atomic_store(&report->state, REPORT_RUNNING);
}

static void say_time(struct processor_time before) {
    char name[256];
    struct processor_time now = processor_time();
    test_name_of(report, name, sizeof name);
    print_begin();
    printf("    %-60s %7.2f s user %6.2f s system\n", name, now.user - before.user, now.system - before.system);
    print_end();
}

/* Calls the leak sanitizer after each test. The sanitizer normally checks when a process ends, and then cannot say
 * which test leaks. */
static void look_for_leaks(void) {
#ifdef __SANITIZE_ADDRESS__
    if (__lsan_do_recoverable_leak_check())
        test_fail(test_place.file, test_place.line, "leaks memory: see the report of the sanitizer");
#endif
}

/* Returns true if Check ran the test. Check may skip the test if CK_RUN_SUITE is set in the environment. */
static bool run_one(const struct unit *unit, int index) {
    struct processor_time before = processor_time();
    SRunner *runner = runner_of(unit, index);
    if (report)
        begin(index);
    srunner_run_all(runner, CK_SILENT);
    if (report && report->pid != getpid())
        _exit(1); /* a child process that the test should have ended is still running */
    bool ran = srunner_ntests_run(runner) > 0;
    srunner_free(runner);
    look_for_leaks();
    if (report && shared->each && ran)
        say_time(before);
    return ran;
}

void tests_run(const struct unit *unit, int from) {
    int n = unit_tests(unit);
    bool alone = filling.alone;
    place_catch_signals();
    state_save();
    for (int i = from; i < n; i++) {
        if (run_one(unit, i))
            atomic_fetch_add(&report->run, 1);
        bool last = i + 1 == n || atomic_load(&shared->stop);
        atomic_store(&report->state, last ? REPORT_COMPLETE : REPORT_PASSED);
        if (last || alone)
            break;
        state_restore();
    }
    exit(0);
}

int tests_run_here(const struct unit *unit) {
    int ran = 0, n = unit_tests(unit);
    for (int i = 0; i < n; i++)
        ran += run_one(unit, i);
    return ran;
}
