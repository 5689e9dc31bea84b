/* Runs every registered suite, or the suites whose names begin with an argument, and ends with a line of totals.
 *
 * Usage: check [-jN] [-pK/N] [-eK/N] [-tN] [-x] [-v] [-sN] [SUITE...]
 *        check --list [SUITE...]
 * -jN    N workers take suites from one queue (default: the number of processors)
 * -pK/N  runs only the K-th of N parts of the suites; K is 1 to N
 * -eK/N  of each suite runs only every N-th test, beginning with test K; K is 1 to N
 * -tN    begins no test after N seconds, and says what it did not run
 * -x     stops at the first failure
 * -v     prints a line for each test
 * -sN    prints a line of progress every N seconds (default: 15, on a terminal 1)
 *
 * With CK_FORK=no in the environment, all suites run in one process, for a debugger. A test, and each
 * case that it names with test_case(), may take TEST_SECONDS of processor time, whatever the load of the machine. */
#include "test/harness/harness.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MAX_UNITS = 512, PARTS = 4 };
static const char USAGE[] =
    "usage: check [-jN] [-pK/N] [-eK/N] [-tN] [-x] [-v] [-sN] [SUITE...] | check --list [SUITE...]";

static struct test_suite *all;

void test_register(struct test_suite *s) {
    struct test_suite **at = &all;
    while (*at && strcmp((*at)->name, s->name) < 0)
        at = &(*at)->next;
    s->next = *at;
    *at = s;
}

/* Returns a suite name that occurs twice, or NULL. Two suites of one name would be selected together and counted as one
 * suite. */
static const char *name_of_two(void) {
    for (const struct test_suite *s = all; s && s->next; s = s->next)
        if (strcmp(s->name, s->next->name) == 0)
            return s->name;
    return NULL;
}

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

/* Suites that take long. They start first, so that at the end no single process still runs one of them. Most are
 * divided into `parts` for the same reason. A suite with one part is not divided, because its tests share runs. */
static const struct long_suite {
    const char *name;
    int parts;
} long_suites[] = {{"toys_pipe", 1},
                   {"benchmarks", PARTS},
                   {"documents", PARTS},
                   {"golden", PARTS},
                   {"host_cli_sweep", 1},
                   {"host_order", PARTS},
                   {"models", PARTS},
                   {"random_kernels", PARTS},
                   {"timing_options", PARTS},
                   {"timing_config_effect", 1},
                   {"timing_strides_prefetch_run", 1},
                   {"timing_windows", 1},
                   {"host_cli_figure_page", 1},
                   {"host_install", 1}};

/* Returns the number of parts of a long suite, or 0 for other suites. */
static int parts_of_long(const char *name) {
    for (size_t i = 0; i < sizeof long_suites / sizeof long_suites[0]; i++)
        if (strcmp(name, long_suites[i].name) == 0)
            return long_suites[i].parts;
    return 0;
}

/* Gets what an option like -pK/N selects: *part = K - 1 and *of = N. Without the option, these are 0 and 1. Returns
 * false if the option is invalid. */
static bool part_of(const char *option, int argc, char **argv, int *part, int *of) {
    char trailing;
    *part = 0;
    *of = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, 2) == 0) {
            if (sscanf(argv[i] + 2, "%d/%d%c", part, of, &trailing) != 2 || *part < 1 || *part > *of)
                return false;
            --*part;
        }
    return true;
}

static int list_units(struct unit *units, int argc, char **argv, int parts) {
    int n = 0, mine, all_parts, first, step, index = 0;
    if (!part_of("-p", argc, argv, &mine, &all_parts) || !part_of("-e", argc, argv, &first, &step))
        return 0;
    for (int rest = 0; rest < 2; rest++)
        for (const struct test_suite *s = all; s; s = s->next) {
            int of = parts_of_long(s->name);
            if ((of > 0) == (rest != 0) || !wanted(s->name, argc, argv) || index++ % all_parts != mine)
                continue;
            of = of < 1 ? 1 : of < parts ? of : parts;
            for (int part = 0; part < of && n < MAX_UNITS; part++)
                units[n++] = (struct unit){s, first, step, part, of};
        }
    return n;
}

/* A file of all failures, which are printed again at the end of the output. The workers write to it one at a time. */
static FILE *failures;

void failure_note(const char *text) {
    fprintf(failures, "    %s", text);
    fflush(failures);
}

static void print_failures(void) {
    char line[512];
    rewind(failures);
    while (fgets(line, sizeof line, failures))
        fputs(line, stdout);
}

static bool has_option(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

/* Returns the first option that this program does not know, or NULL. Such an option would otherwise be ignored, and all
 * suites would run. */
static const char *unknown_option(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && strncmp(argv[i], "-j", 2) != 0 && strncmp(argv[i], "-p", 2) != 0 &&
            strncmp(argv[i], "-s", 2) != 0 && strncmp(argv[i], "-t", 2) != 0 && strncmp(argv[i], "-e", 2) != 0 &&
            strcmp(argv[i], "-x") != 0 && strcmp(argv[i], "-v") != 0)
            return argv[i];
    return NULL;
}

/* Returns the first argument with which no suite's name begins, or NULL. A misspelled name would otherwise be ignored
 * if another name is right. */
static const char *unknown_suite(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        bool found = argv[i][0] == '-';
        for (const struct test_suite *s = all; s && !found; s = s->next)
            found = strncmp(s->name, argv[i], strlen(argv[i])) == 0;
        if (!found)
            return argv[i];
    }
    return NULL;
}

static int list_suites(int argc, char **argv) {
    for (const struct test_suite *s = all; s; s = s->next)
        if (wanted(s->name, argc, argv))
            puts(s->name);
    return 0;
}

/* Returns the number that follows a one-letter option, or `without` if the option is not given. */
static long number_of(const char *option, long without, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], option, 2) == 0)
            return strtol(argv[i] + 2, NULL, 10);
    return without;
}

static int job_count(int argc, char **argv) {
    long jobs = number_of("-j", sysconf(_SC_NPROCESSORS_ONLN), argc, argv);
    if (shared->first_only)
        jobs = 1;
    return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : (int)jobs;
}

static _Noreturn void work(const struct unit *units, int n) {
    for (int i; !atomic_load(&shared->stop) && (i = atomic_fetch_add(&shared->next, 1)) < n;) {
        unit_run(&units[i]);
        atomic_fetch_add(&shared->ended, 1);
    }
    exit(0);
}

static void work_in_processes(const struct unit *units, int n, int jobs) {
    sigset_t sigchld, mask;
    sigemptyset(&sigchld);
    sigaddset(&sigchld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &sigchld, &mask);
    for (int i = 0; i < jobs; i++) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            sigprocmask(SIG_SETMASK, &mask, NULL);
            report = &shared->report[i];
            work(units, n);
        }
        if (child < 0) {
            perror("check: fork");
            break;
        }
    }
    progress_until_end(n, jobs);
}

static void work_here(const struct unit *units, int n) {
    for (int i = 0; i < n; i++) {
        shared->run += tests_run_here(&units[i]);
        shared->ended++;
    }
}

static bool open_shared(int argc, char **argv) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    failures = tmpfile();
    if (!failures || shared == MAP_FAILED || sem_init(&shared->printing, 1, 1) != 0) {
        perror("check");
        return false;
    }
    shared->first_only = has_option("-x", argc, argv);
    shared->each = has_option("-v", argc, argv);
    shared->terminal = isatty(STDOUT_FILENO);
    shared->last_second = number_of("-t", 0, argc, argv);
    shared->progress_seconds = number_of("-s", shared->terminal ? 1 : 15, argc, argv);
    return true;
}

static int totals(int n) {
    const bool in_time = shared->left == 0 && shared->ended == n;
    if (shared->late && !in_time)
        printf("check: no test began after %ld seconds (-t): %d of %d suites have not begun, and %d tests of other "
               "suites\n",
               shared->last_second, n - shared->ended, n, shared->left);
    else if (shared->ended != n)
        printf("check: %d of %d suites were not run to their end\n", n - shared->ended, n);
    if (shared->failed) {
        puts("failed:");
        print_failures();
    }
    printf("%d passed, %d failed, %d skipped\n", shared->run - shared->skipped, shared->failed, shared->skipped);
    return shared->failed != 0 || shared->run == 0 || (shared->ended != n && !shared->late);
}

int main(int argc, char **argv) {
    static struct unit units[MAX_UNITS];
    const char *unknown = unknown_option(argc, argv), *fork_mode = getenv("CK_FORK");
    if (name_of_two()) {
        fprintf(stderr, "check: two suites are called %s\n", name_of_two());
        return 2;
    }
    if (unknown_suite(argc, argv)) {
        fprintf(stderr, "check: no suite's name begins with '%s'; %s\n", unknown_suite(argc, argv), USAGE);
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list_suites(argc, argv);
    if (unknown) {
        fprintf(stderr, "check: what is %s? %s\n", unknown, USAGE);
        return 2;
    }
    if (!open_shared(argc, argv))
        return 2;
    int jobs = job_count(argc, argv), n = list_units(units, argc, argv, jobs > 1 ? PARTS : 1);
    if (n == 0) {
        fprintf(stderr, "check: no such part; %s\n", USAGE);
        return 2;
    }
    if (fork_mode && strcmp(fork_mode, "no") == 0)
        work_here(units, n);
    else
        work_in_processes(units, n, jobs);
    return totals(n);
}
