/* The worker: it starts processes for the tests of a unit, one process after another, until all tests have run. */
#include "harness.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;

/* Ends the process of the tests when a signal stops this process. The process of the tests has its own process group,
 * so a signal from the terminal does not reach it. */
static void on_stop(int number) {
    if (child > 0)
        kill(-child, SIGKILL);
    signal(number, SIG_DFL);
    raise(number);
}

static pid_t start(const struct unit *unit, int from, const sigset_t *mask) {
    fflush(stdout);
    child = fork();
    if (child != 0)
        return child;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    report->pid = getpid();
    atomic_store(&report->suite, unit->suite->name);
    tests_run(unit, from);
}

static bool takes_too_long(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return atomic_load(&report->state) == REPORT_RUNNING && now.tv_sec - report->at.tv_sec > WALL_SECONDS;
}

/* Waits for the child process, and kills processes that the child has left running. Sets `late` if the test exceeded
 * its wall-clock limit. */
static int wait_for(pid_t pid, const sigset_t *sigchld, bool *late) {
    int how = 0;
    *late = false;
    for (;;) {
        pid_t got = waitpid(pid, &how, WNOHANG);
        if (got == pid)
            break;
        if (got < 0 && errno != EINTR)
            break;
        if (!*late && takes_too_long()) {
            *late = true;
            kill(-pid, SIGKILL);
        }
        sigtimedwait(sigchld, NULL, &(struct timespec){.tv_sec = 5});
    }
    child = 0;
    kill(-pid, SIGKILL);
    return how;
}

void test_name_of(const struct report *r, char *out, size_t size) {
    const char *suite = atomic_load(&r->suite), *name = atomic_load(&r->name);
    int loop = atomic_load(&r->loop);
    int n = snprintf(out, size, "%s: %s", suite ? suite : "?", name ? name : "before its first test");
    if (name && loop >= 0 && n < (int)size)
        snprintf(out + n, size - (size_t)n, "[%d]", loop);
}

/* Writes the reason why the process ended. */
static void cause(int how, bool late, char *out, size_t size) {
    if (late)
        snprintf(out, size, "it took more than %d seconds by the clock", WALL_SECONDS);
    else if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        snprintf(out, size, "it took more than %d seconds of a processor", TEST_SECONDS);
    else if (WIFSIGNALED(how))
        snprintf(out, size, "signal %d (%s) after this line", WTERMSIG(how), strsignal(WTERMSIG(how)));
    else
        snprintf(out, size, "the process of the tests ended with status %d", WEXITSTATUS(how));
}

static void say_failure(int how, bool late, bool after_last) {
    static char why[sizeof report->message], name[256], text[sizeof why + sizeof report->tried + 1024];
    if (atomic_load(&report->state) == REPORT_FAILED)
        snprintf(why, sizeof why, "%s", report->message);
    else
        cause(how, late, why, sizeof why);
    test_name_of(report, name, sizeof name);
    const char *file = report->file ? report->file : "test";
    int n = snprintf(text, sizeof text, "%s:%d: %s: %s%s\n", file, report->line, name,
                     after_last ? "after this, the last test of the suite: " : "", why);
    if (*report->tried)
        n += snprintf(text + n, sizeof text - (size_t)n, "    the machine it opened last: %s\n", report->tried);
    if (*report->note)
        snprintf(text + n, sizeof text - (size_t)n, "    case: %s\n", report->note);
    print_begin();
    fputs(text, stdout);
    failure_note(text);
    print_end();
}

/* Decides whether the unit's process ended well. If not, reports a failure and counts it in *failed. Returns the index
 * of the next test to run, or `n` if no test is left. */
static int judge(int how, bool late, int from, int n, int *failed) {
    int state = atomic_load(&report->state), test = atomic_load(&report->test);
    bool well = WIFEXITED(how) && WEXITSTATUS(how) == 0 && !late;
    if (well && state == REPORT_COMPLETE)
        return n;
    if (well && state == REPORT_PASSED)
        return test + 1;
    say_failure(how, late, state == REPORT_COMPLETE);
    ++*failed;
    if (shared->first_only)
        atomic_store(&shared->stop, true);
    /* if the process dies after the last test has passed, its death counts as an additional, failed test */
    return state == REPORT_NONE                                     ? n
           : state == REPORT_COMPLETE || atomic_load(&shared->stop) ? n
           : test < from                                            ? n
                                                                    : test + 1;
}

static void print_line(const struct unit *unit, struct processor_time before, int passed, int failed) {
    struct processor_time now = processor_time();
    print_begin();
    printf("%-28s %4d passed %7.2f s user %6.2f s system", unit->suite->name, passed, now.user - before.user,
           now.system - before.system);
    printf(failed ? ", %d failed\n" : "\n", failed);
    print_end();
}

void unit_run(const struct unit *unit) {
    sigset_t sigchld, mask;
    struct processor_time before = processor_time();
    int n = unit_tests(unit), failed = 0;
    sigemptyset(&sigchld);
    sigaddset(&sigchld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &sigchld, &mask);
    signal(SIGINT, on_stop);
    signal(SIGTERM, on_stop);
    atomic_store(&report->run, 0);
    for (int from = 0; from < n && !atomic_load(&shared->stop);) {
        bool late;
        atomic_store(&report->state, REPORT_NONE);
        atomic_store(&report->name, NULL);
        atomic_store(&report->test, from);
        pid_t pid = start(unit, from, &mask);
        if (pid < 0) {
            perror("check: fork");
            exit(1);
        }
        int how = wait_for(pid, &sigchld, &late);
        from = judge(how, late, from, n, &failed);
    }
    int passed = atomic_load(&report->run);
    if (n > passed + failed)
        atomic_fetch_add(&shared->left, n - passed - failed);
    if (passed + failed)
        print_line(unit, before, passed, failed);
    atomic_fetch_add(&shared->run, passed);
    atomic_fetch_add(&shared->failed, failed);
}
