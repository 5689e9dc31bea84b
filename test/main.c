/* Runs every registered suite, or those whose names begin with an argument, and ends with a line of totals.
 *     check [-jN] [-pK/N] [-x] [SUITE...]
 *     check --list [SUITE...]
 * With -jN above 1 (default: the number of processors) so many processes take suites from one queue. A debugger
 * (CK_FORK=no) or a log (CK_XML_LOG_FILE_NAME and its like) means one process. -pK/N runs the K-th of N parts, 1 to N,
 * of the suites. -x runs nothing any more once a test has failed, in one process. A test may take so many seconds of a
 * processor, whatever else the machine does. */
#include "test.h"
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_UNITS = 512, MAX_JOBS = 64, PARTS = 4, TEST_SECONDS = 120, WALL_SECONDS = 1800 };

static struct test_suite *all;

void test_register(struct test_suite *s) {
    struct test_suite **at = &all;
    while (*at && strcmp((*at)->name, s->name) < 0)
        at = &(*at)->next;
    s->next = *at;
    *at = s;
}

/* Two suites of one name would be asked for together, and counted as one. */
static const char *name_of_two(void) {
    for (const struct test_suite *s = all; s && s->next; s = s->next)
        if (strcmp(s->name, s->next->name) == 0)
            return s->name;
    return NULL;
}

/* Nothing that is allocated is clear, unless somebody clears it, and what is given back does not stay. The Makefile
 * links the tests so that these stand between them and the C library, whose own M_PERTURB does the same, but writes
 * calloc()'s memory twice as well: the machines of the timing model are mostly cleared tables that a test never looks
 * at, and a large one that nobody has written costs nothing. */
enum { NEW_BYTE = 0xa5, OLD_BYTE = 0x5a, OLD_BYTES = 64 * 1024 };
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __real_free(void *old);
void __wrap_free(void *old);

void *__wrap_malloc(size_t bytes) {
    void *p = __real_malloc(bytes);
    return p ? memset(p, NEW_BYTE, bytes) : NULL;
}
void *__wrap_realloc(void *old, size_t bytes) {
    size_t had = old ? malloc_usable_size(old) : 0;
    char *p = __real_realloc(old, bytes);
    if (p && bytes > had)
        memset(p + had, NEW_BYTE, bytes - had);
    return p;
}
void __wrap_free(void *old) {
    size_t bytes = old ? malloc_usable_size(old) : 0;
    if (bytes)
        memset(old, OLD_BYTE, bytes < OLD_BYTES ? bytes : OLD_BYTES);
    __real_free(old);
}

/* What one process takes at a time: a suite, or every n-th test of one that takes long. */
struct unit {
    const struct test_suite *suite;
    int part, parts;
};

/* The part of a suite that its fill() is to add, and how many tests it has named so far. */
static struct unit filling;
static int named;

void test_add(TCase *tc, const TTest *test, int from, int to) {
    for (int i = from; i < to; i++)
        if (named++ % filling.parts == filling.part)
            tcase_add_loop_test(tc, test, i, i + 1);
}

/* What all processes share. */
static struct queue {
    sem_t printing;
    atomic_int next, ended, run, failed, skipped;
    bool first_only;       /* -x */
    atomic_bool under_way; /* a test has begun and not ended well */
} * queue;

/* Every failure once more, for the end of the output; the processes write to it in turns. */
static FILE *failures;

_Thread_local struct test_place test_place;
void (*test_say_tried)(char *out, size_t size);

#ifdef __SANITIZE_ADDRESS__
static void note_places(void) {} /* the sanitizer says more of a signal */
/* libconfig's scanner does not free a string in whose middle a wrong text ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libconfig.so\n"; }
#else
static const struct test_place *first_place; /* that of the thread which runs the tests */

/* Beside the message of Check, and again at the end. No stream: the signal may have come in the middle of malloc(). */
static void print_tried(void) {
    char text[1024] = "";
    if (test_say_tried)
        test_say_tried(text, sizeof text);
    for (int i = 0; i < 2; i++)
        if (write(i ? fileno(failures) : STDERR_FILENO, text, strlen(text)) < 0)
            return;
}

/* A test that a signal ends was last at the assertion that is noted: by the thread that got it, or else by the
 * first. */
static void say_place(int signal) {
    const struct test_place *at = test_place.file ? &test_place : first_place;
    if (at->file)
        (_mark_point)(at->file, at->line);
    print_tried();
    raise(signal); /* the handler is gone (SA_RESETHAND) */
}

static void note_places(void) {
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    struct sigaction act = {.sa_handler = say_place, .sa_flags = (int)SA_RESETHAND};
    first_place = &test_place;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigaction(ends[i], &act, NULL);
}
#endif

/* Both in the test's own process; the second only when it has not failed. */
static void begin_test(void) {
    if (queue->first_only && atomic_exchange(&queue->under_way, true))
        exit(1);
    if (getenv("CK_FORK") && strcmp(getenv("CK_FORK"), "no") == 0)
        return;
    note_places();
    struct rlimit limit = {TEST_SECONDS, TEST_SECONDS + 5};
    setrlimit(RLIMIT_CPU, &limit);
}
static void end_test(void) { atomic_store(&queue->under_way, false); }

void test_skip(const char *why) {
    atomic_fetch_add(&queue->skipped, 1);
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

static bool wanted(const char *name, int argc, char **argv) {
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        any = true;
        if (strncmp(name, argv[i], strlen(argv[i])) == 0)
            return true;
    }
    return !any;
}

/* Those that take long come first and in parts, so that no process is left alone with them at the end. */
static bool is_long(const char *name) {
    static const char *const names[] = {"benchmarks",     "documents",      "golden",
                                        "host_cli_sweep", "host_order",     "models",
                                        "random_kernels", "timing_options", "timing_config_effect"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The part of all suites that -pK/N asks for: K - 1 and N; 0 and 1 without. */
static bool suites_of(int argc, char **argv, int *part, int *of) {
    *part = 0;
    *of = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-p", 2) == 0) {
            if (sscanf(argv[i], "-p%d/%d", part, of) != 2 || *part < 1 || *part > *of)
                return false;
            --*part;
        }
    return true;
}

static int list_units(struct unit *units, int argc, char **argv, int parts) {
    int n = 0, mine, all_parts, index = 0;
    if (!suites_of(argc, argv, &mine, &all_parts))
        return 0;
    for (int rest = 0; rest < 2; rest++)
        for (const struct test_suite *s = all; s; s = s->next) {
            int of = is_long(s->name) ? parts : 1;
            if (is_long(s->name) == (rest != 0) || !wanted(s->name, argc, argv) || index++ % all_parts != mine)
                continue;
            for (int part = 0; part < of && n < MAX_UNITS; part++)
                units[n++] = (struct unit){s, part, of};
        }
    return n;
}

static SRunner *run_units(const struct unit *units, int n) {
    SRunner *runner = NULL;
    for (int i = 0; i < n; i++) {
        Suite *suite = suite_create(units[i].suite->name);
        TCase *tc = tcase_create(units[i].suite->name);
        tcase_set_timeout(tc, WALL_SECONDS);
        tcase_add_checked_fixture(tc, begin_test, end_test);
        filling = units[i];
        named = 0;
        units[i].suite->fill(tc);
        suite_add_tcase(suite, tc);
        if (runner)
            srunner_add_suite(runner, suite);
        else
            runner = srunner_create(suite);
    }
    srunner_run_all(runner, CK_SILENT);
    return runner;
}

/* Seconds of a processor that this process and those it has waited for took: the tests, and what they ran. */
static double processor_seconds(void) {
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage u;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
        sum +=
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return sum;
}

static void note_failures(SRunner *runner, int n) {
    TestResult **results = srunner_failures(runner);
    for (int i = 0; i < n; i++)
        fprintf(failures, "    %s:%d: %s: %s\n", tr_lfile(results[i]), tr_lno(results[i]), tr_tcname(results[i]),
                tr_msg(results[i]));
    fflush(failures);
    free(results);
}

static void print_failures(void) {
    char line[512];
    rewind(failures);
    while (fgets(line, sizeof line, failures))
        fputs(line, stdout);
}

/* Takes `step` units at a time. */
static void work(const struct unit *units, int n, int step) {
    for (int i; (i = atomic_fetch_add(&queue->next, step)) < n;) {
        double before = processor_seconds();
        SRunner *runner = run_units(&units[i], step);
        int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
        while (sem_wait(&queue->printing) != 0) {
        }
        printf("%-28s %4d passed %7.2f s", step == 1 ? units[i].suite->name : "all", run - failed,
               processor_seconds() - before);
        printf(failed ? ", %d failed\n" : "\n", failed);
        if (failed)
            srunner_print(runner, CK_NORMAL);
        fflush(stdout);
        note_failures(runner, failed);
        sem_post(&queue->printing);
        srunner_free(runner);
        atomic_fetch_add(&queue->run, run);
        atomic_fetch_add(&queue->failed, failed);
        atomic_fetch_add(&queue->ended, step);
    }
}

static bool first_only(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-x") == 0)
            return true;
    return false;
}

/* An option that there is not would else run everything. */
static const char *unknown_option(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && strncmp(argv[i], "-j", 2) != 0 && strncmp(argv[i], "-p", 2) != 0 &&
            strcmp(argv[i], "-x") != 0)
            return argv[i];
    return NULL;
}

static int list_suites(int argc, char **argv) {
    for (const struct test_suite *s = all; s; s = s->next)
        if (wanted(s->name, argc, argv))
            puts(s->name);
    return 0;
}

static int job_count(int argc, char **argv) {
    static const char *const single[] = {"CK_LOG_FILE_NAME", "CK_XML_LOG_FILE_NAME", "CK_TAP_LOG_FILE_NAME"};
    long jobs = sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-j", 2) == 0)
            jobs = strtol(argv[i] + 2, NULL, 10);
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (getenv(single[i]))
            jobs = 1;
    const char *fork_mode = getenv("CK_FORK");
    if (fork_mode && strcmp(fork_mode, "no") == 0)
        jobs = 1;
    if (first_only(argc, argv))
        jobs = 1;
    return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : (int)jobs;
}

static void work_in_processes(const struct unit *units, int n, int jobs) {
    for (int i = 0; i < jobs; i++) {
        pid_t child = fork();
        if (child == 0) {
            work(units, n, 1);
            exit(0);
        }
        if (child < 0) {
            perror("check: fork");
            break;
        }
    }
    while (wait(NULL) > 0) {
    }
}

int main(int argc, char **argv) {
    static struct unit units[MAX_UNITS];
    if (name_of_two()) {
        fprintf(stderr, "check: two suites are called %s\n", name_of_two());
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list_suites(argc, argv);
    const char *unknown = unknown_option(argc, argv);
    if (unknown) {
        fprintf(stderr, "check: what is %s? usage: check [-jN] [-pK/N] [-x] [SUITE...] | check --list [SUITE...]\n",
                unknown);
        return 2;
    }
    int jobs = job_count(argc, argv), n = list_units(units, argc, argv, jobs > 1 ? PARTS : 1);
    if (n == 0) {
        fprintf(stderr, "check: no such suite, or no such part (check [-jN] [-pK/N] [-x] [SUITE...])\n");
        return 2;
    }
    queue = mmap(NULL, sizeof *queue, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failures = tmpfile();
    if (!failures || queue == MAP_FAILED || sem_init(&queue->printing, 1, 1) != 0) {
        perror("check");
        return 2;
    }
    queue->first_only = first_only(argc, argv);
    if (jobs > 1)
        work_in_processes(units, n, jobs);
    else /* one run for all, as a log wants it */
        work(units, n, n);
    if (queue->ended != n)
        printf("check: %d of %d suites were not run to their end\n", n - queue->ended, n);
    if (queue->failed) {
        puts("failed:");
        print_failures();
    }
    printf("%d passed, %d failed, %d skipped\n", queue->run - queue->failed - queue->skipped, queue->failed,
           queue->skipped);
    return queue->failed != 0 || queue->run == 0 || queue->ended != n;
}
