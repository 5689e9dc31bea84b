/* Prints the output of a running test run: whole lines from all processes, and a line of progress. */
#include "harness.h"
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char ERASE[] = "\r\033[K";

void print_begin(void) {
    while (sem_wait(&shared->printing) != 0) {
    }
    if (shared->terminal)
        fputs(ERASE, stdout);
}

void print_end(void) {
    fflush(stdout);
    sem_post(&shared->printing);
}

static void print_progress(int n, int jobs, long seconds) {
    char name[256];
    int tests = atomic_load(&shared->run);
    for (int i = 0; i < jobs; i++)
        tests += atomic_load(&shared->report[i].run);
    print_begin();
    printf("... %ld:%02ld, %d of %d suites, %d tests", seconds / 60, seconds % 60, atomic_load(&shared->ended), n,
           tests);
    if (atomic_load(&shared->failed))
        printf(", %d failed", atomic_load(&shared->failed));
    for (int i = 0, shown = 0; i < jobs; i++) {
        const struct report *r = &shared->report[i];
        if (atomic_load(&r->state) != REPORT_RUNNING || shown == 2)
            continue;
        test_name_of(r, name, sizeof name);
        printf("%s %s", shown++ ? "," : "; now", name);
    }
    if (!shared->terminal)
        putchar('\n');
    print_end();
}

void progress_until_end(int n, int jobs) {
    sigset_t sigchld;
    struct timespec begin, now;
    long next, every = shared->progress_seconds;
    sigemptyset(&sigchld);
    sigaddset(&sigchld, SIGCHLD);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    next = begin.tv_sec + every;
    for (pid_t got; (got = waitpid(-1, NULL, WNOHANG)) >= 0;) {
        if (got == 0)
            sigtimedwait(&sigchld, NULL, &(struct timespec){.tv_sec = 1});
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (shared->last_second && now.tv_sec - begin.tv_sec >= shared->last_second) {
            shared->late = true;
            atomic_store(&shared->stop, true);
        }
        if (now.tv_sec < next)
            continue;
        print_progress(n, jobs, now.tv_sec - begin.tv_sec);
        next = now.tv_sec + every;
    }
    print_begin();
    print_end();
}
