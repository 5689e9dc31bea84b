/* Tests the test harness (test/harness/). The tests run a second copy of this program. This copy registers extra suites
 * because HARNESS_VICTIMS is set in its environment. */
#include "host/heddle.h"
#include "test/test.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A suite that is registered only in the second copy of this program. */
#define VICTIM(id)                                                                                                     \
    static void id##_fill(TCase *tc);                                                                                  \
    static struct test_suite id##_suite = {#id, id##_fill, NULL};                                                      \
    __attribute__((constructor)) static void id##_register(void) {                                                     \
        if (getenv("HARNESS_VICTIMS"))                                                                                 \
            test_register(&id##_suite);                                                                                \
    }                                                                                                                  \
    static void id##_fill(TCase *tc)

START_TEST(passes) { ck_assert(true); }
END_TEST

static volatile int zero;
/* Writes through a null pointer. The sanitizer for undefined behaviour must not check it: that would end the process
 * before the signal. */
__attribute__((noinline, no_sanitize("undefined"))) static void write_nowhere(void) {
    *(volatile int *)(intptr_t)zero = 1;
}

enum { CRASHES_BEHIND = __LINE__ + 7 };
START_TEST(crashes_at_two) {
    char err[256];
    test_case("row %d", 10 + _i);
    if (_i != 2)
        return;
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "dpe", .config = "turing"}, err, sizeof err);
    ck_assert_ptr_nonnull(h);
    write_nowhere();
}
END_TEST
VICTIM(victim_crash) {
    TEST(passes);
    TEST_LOOP(crashes_at_two, 0, 4);
    TEST(passes);
}

START_TEST(takes_too_long) {
    struct rlimit limit;
    struct rusage u;
    getrlimit(RLIMIT_CPU, &limit);
    getrusage(RUSAGE_SELF, &u);
    ck_assert_int_le((long)limit.rlim_cur, u.ru_utime.tv_sec + u.ru_stime.tv_sec + 122);
    raise(SIGXCPU);
}
END_TEST
VICTIM(victim_time) {
    TEST(takes_too_long);
    TEST(passes);
}

static int descend(int n, volatile char *above) {
    volatile char here[4096];
    here[0] = above ? above[0] : 0;
    return n == zero - 1 ? 0 : descend(n + 1, here) + here[0];
}
START_TEST(recurses) { ck_assert_int_eq(descend(0, NULL), 0); }
END_TEST
VICTIM(victim_stack) { TEST(recurses); }

START_TEST(leaves) { exit(0); }
END_TEST
static void die(void) { write_nowhere(); }
START_TEST(dies_at_exit) { atexit(die); }
END_TEST
VICTIM(victim_exit) {
    TEST(leaves);
    TEST(dies_at_exit);
}

static void *fail_here(void *unused) {
    (void)unused;
    ck_assert_msg(zero == 1, "in a thread");
    return NULL;
}
START_TEST(fails_in_a_thread) {
    pthread_t t;
    pthread_create(&t, NULL, fail_here, NULL);
    pthread_join(t, NULL);
}
END_TEST
START_TEST(fails_in_a_child) {
    int how;
    pid_t pid = fork();
    if (pid == 0)
        fail_here(NULL);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert_int_eq(WEXITSTATUS(how), 1);
}
END_TEST
START_TEST(fails) { ck_assert_int_eq(zero, 1); }
END_TEST
START_TEST(has_nothing_to_check) { test_skip("no reason"); }
END_TEST
VICTIM(victim_assertion) {
    TEST(fails_in_a_thread);
    TEST(fails_in_a_child);
    TEST(has_nothing_to_check);
    TEST(fails);
    TEST(passes);
}

static int before;
START_TEST(changes_everything) {
    before = 1;
    setenv("HARNESS_VICTIMS", "changed", 1);
    setenv("HARNESS_NEW", "new", 1);
    umask(0);
    signal(SIGUSR1, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    ck_assert(freopen("/dev/null", "w", stdout) != NULL);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST
START_TEST(finds_nothing_changed) {
    struct sigaction act;
    ck_assert_str_eq(getenv("HARNESS_VICTIMS"), "yes");
    ck_assert_ptr_null(getenv("HARNESS_NEW"));
    ck_assert_uint_eq(umask(0), 022);
    sigaction(SIGUSR1, NULL, &act);
    ck_assert(act.sa_handler == SIG_DFL);
    ck_assert_int_eq(access("Makefile", R_OK), 0);
    printf("standard output, and %d test before in this process\n", before);
    fflush(stdout);
}
END_TEST
VICTIM(victim_shared) {
    TEST(changes_everything);
    TEST(finds_nothing_changed);
}
VICTIM(victim_apart) {
    EACH_IN_ITS_PROCESS;
    TEST(changes_everything);
    TEST(finds_nothing_changed);
}

START_TEST(sleeps) { usleep(2500 * 1000); }
END_TEST
VICTIM(victim_slow) {
    TEST(sleeps);
    TEST(passes);
}

/* Text that the harness prints for a crash. With a sanitizer, the sanitizer's own report replaces it. */
#ifdef __SANITIZE_ADDRESS__
#define CRASH "the process of the tests ended with status 1"
#else
#define CRASH "signal 11 (Segmentation fault) after this line"
#endif

enum { MAX_LINES = 8 };
static const struct {
    const char *arguments;
    int status;
    const char *lines[MAX_LINES]; /* parts of the output */
} runs[] = {
    {"-j1 victim_crash",
     1,
     {": victim_crash: crashes_at_two[2]: " CRASH "\n", "machine it opened last: dpe on turing\n", "    case: row 12\n",
      "failed:\n    test/harness.c:", "\n5 passed, 1 failed, 0 skipped\n"}},
    /* of the six tests of victim_crash, crashes_at_two[2] is the fourth */
    {"-j1 -e1/3 victim_crash", 1, {"crashes_at_two[2]: " CRASH "\n", "\n1 passed, 1 failed, 0 skipped\n"}},
    {"-j2 -e2/3 victim_crash", 0, {"\n2 passed, 0 failed, 0 skipped\n"}},
    {"-j1 -e6/6 victim_crash", 0, {"\n1 passed, 0 failed, 0 skipped\n"}},
    {"-x victim_crash", 1, {"\n3 passed, 1 failed, 0 skipped\n"}},
    {"-j1 victim_time",
     1,
     {"victim_time: takes_too_long: it took more than 120 seconds of a processor\n",
      "\n1 passed, 1 failed, 0 skipped\n"}},
    {"-j1 victim_stack", 1, {"test:0: victim_stack: recurses: " CRASH "\n", "\n0 passed, 1 failed, 0 skipped\n"}},
    {"-j2 victim_exit",
     1,
     {"victim_exit: leaves: the process of the tests ended with status 0\n",
      "victim_exit: dies_at_exit: after this, the last test of the suite: " CRASH "\n",
      "\n1 passed, 2 failed, 0 skipped\n"}},
    {"-j1 victim_assertion",
     1,
     {"victim_assertion: fails_in_a_thread: in a thread\n", "in a child of the test: in a thread",
      "skipped: no reason\n", "victim_assertion: fails: Assertion 'zero == 1' failed: zero == 0, 1 == 1\n",
      "\n2 passed, 2 failed, 1 skipped\n"}},
    {"-j1 -v victim_shared",
     0,
     {"standard output, and 1 test before", "victim_shared: finds_nothing_changed",
      "\n2 passed, 0 failed, 0 skipped\n"}},
    {"-j1 victim_apart", 0, {"standard output, and 0 test before", "\n2 passed, 0 failed, 0 skipped\n"}},
    {"-j1 -s1 victim_slow", 0, {"... 0:01, 0 of 1 suites, 0 tests; now victim_slow: sleeps\n"}},
    {"-j1 -t1 victim_slow",
     0,
     {"check: no test began after 1 seconds (-t): 0 of 1 suites have not begun, and 1 tests of other suites\n",
      "\n1 passed, 0 failed, 0 skipped\n"}},
    {"-j1 -t1 victim_slow victim_time",
     0,
     {"check: no test began after 1 seconds (-t): 1 of 2 suites have not begun, and 1 tests of other suites\n",
      "\n1 passed, 0 failed, 0 skipped\n"}},
    {"-j1 -t60 victim_apart", 0, {"\n2 passed, 0 failed, 0 skipped\n"}},
    {"-j1 victim_none", 2, {"check: no suite's name begins with 'victim_none'; usage: check "}},
    {"-j1 victim_apart victim_none", 2, {"check: no suite's name begins with 'victim_none'; usage: check "}},
    {"--list victim_apart victim_none", 2, {"check: no suite's name begins with 'victim_none'; usage: check "}},
    {"-p2/2 victim_apart", 2, {"check: no such part; usage: check "}},
    {"-e0/2 victim_apart", 2, {"check: no such part; usage: check "}},
    {"-e3/2 victim_apart", 2, {"check: no such part; usage: check "}},
    {"-e1/2x victim_apart", 2, {"check: no such part; usage: check "}},
    {"-q", 2, {"check: what is -q? usage: check "}},
};

static int run_copy(const char *arguments, char *said, size_t size) {
    char command[512];
    snprintf(command, sizeof command, "umask 022; HARNESS_VICTIMS=yes /proc/%d/exe %s 2>&1", (int)getpid(), arguments);
    FILE *from = popen(command, "r");
    ck_assert_ptr_nonnull(from);
    said[fread(said, 1, size - 1, from)] = '\0';
    int how = pclose(from);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

START_TEST(messages_say_who_died) {
    char said[16 * 1024];
    int status = run_copy(runs[_i].arguments, said, sizeof said);
    ck_assert_msg(status == runs[_i].status, "%s: status %d:\n%s", runs[_i].arguments, status, said);
    for (int i = 0; i < MAX_LINES && runs[_i].lines[i]; i++)
        ck_assert_msg(strstr(said, runs[_i].lines[i]), "%s does not say '%s' but\n%s", runs[_i].arguments,
                      runs[_i].lines[i], said);
}
END_TEST

/* The message names the source line of the last assertion that succeeded. */
START_TEST(a_crash_has_a_place) {
    char said[16 * 1024], want[128];
    run_copy("-j1 victim_crash", said, sizeof said);
    snprintf(want, sizeof want, "test/harness.c:%d: victim_crash: crashes_at_two[2]: ", CRASHES_BEHIND);
    ck_assert_msg(occurrences(said, want) == 2, "not twice '%s' but\n%s", want, said);
}
END_TEST

static rlim_t processor_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    return limit.rlim_cur;
}

/* A test with HEDDLE_EVERY runs a program on up to 150 machines, and each machine is a case of its own. */
START_TEST(the_next_case_has_its_own_time) {
    rlim_t at_first = processor_limit();
    struct rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = at_first - 60; /* as if 60 seconds had passed */
    setrlimit(RLIMIT_CPU, &limit);
    test_case("the next");
    ck_assert_int_ge((long)processor_limit(), (long)at_first);
}
END_TEST

SUITE(harness) {
    TEST(a_crash_has_a_place);
    TEST(the_next_case_has_its_own_time);
    TEST_LOOP(messages_say_who_died, 0, sizeof runs / sizeof runs[0]);
}
