/* Records the source location and the case that a test is checking, and handles the signals that end a test. */
#include "harness.h"
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <unistd.h>
#if __has_include(<sanitizer/common_interface_defs.h>) && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

_Thread_local struct test_place test_place;
_Thread_local struct test_tried test_tried;
static const struct test_place *first_place; /* location record of the thread that runs the tests */
static struct test_tried *first_tried;

/* Writes the machine that this thread opened, and its last kernel. A host thread of the simulator has opened no
 * machine, so the report then names the machine of the test's first thread. */
static void describe(char *out, size_t size) {
    const struct test_tried *t = *test_tried.machine || !first_tried ? &test_tried : first_tried;
    snprintf(out, size, "%s%s", t->machine, *t->machine ? t->kernel : "");
}

/* Writes a message to standard error. A child of the test's process calls this, because it must not write to the test's
 * report. */
static void say_in_child(const char *file, int line, const char *message) {
    char tried[sizeof test_tried], text[sizeof tried + 512];
    describe(tried, sizeof tried);
    int n =
        snprintf(text, sizeof text, "%s:%d: in a child of the test: %s %s\n", file ? file : "?", line, message, tried);
    if (write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) < 0)
        return;
}

void test_fail(const char *file, int line, const char *format, ...) {
    char message[sizeof report->message] = "";
    va_list args;
    va_start(args, format);
    if (format)
        vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!report || report->pid != getpid()) {
        say_in_child(file, line, message);
    } else {
        report->file = file;
        report->line = line;
        memcpy(report->message, message, sizeof message);
        describe(report->tried, sizeof report->tried);
        atomic_store(&report->state, REPORT_FAILED);
    }
    fflush(stdout);
    if (!report)
        abort(); /* with CK_FORK=no the debugger stops here */
    _exit(1);
}

void test_case(const char *format, ...) {
    va_list args;
    if (!report)
        return;
    va_start(args, format);
    vsnprintf(report->note, sizeof report->note, format, args);
    va_end(args);
    limit_processor_time();
}

void place_forget(void) {
    test_place = (struct test_place){NULL, 0};
    test_tried = (struct test_tried){.machine = ""};
}

/* Writes the location and the machine of the running test to the report. Uses no stdio stream, because the signal may
 * have interrupted malloc(). */
static void note_end(void) {
    const struct test_place *at = test_place.file || !first_place ? &test_place : first_place;
    if (!report)
        return;
    if (report->pid != getpid()) {
        say_in_child(at->file, at->line, "a signal after this line");
        return;
    }
    report->file = at->file;
    report->line = at->line;
    describe(report->tried, sizeof report->tried);
}

static void on_end(int signal) {
    note_end();
    raise(signal); /* the handler runs only once (SA_RESETHAND), so the signal now ends the process */
}

void place_catch_signals(void) {
    /* If a sanitizer detects a crash, its own report has more details than this handler. The sanitizer calls note_end()
     * before it ends the process. */
#if defined(__SANITIZE_ADDRESS__)
    static const int ends[] = {SIGABRT, SIGXCPU};
    __sanitizer_set_death_callback(note_end);
#else
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    static char stack[64 * 1024]; /* the handler has its own stack, since the signal may come from a stack overflow */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
#endif
    struct sigaction act = {.sa_handler = on_end, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)};
    first_place = &test_place;
    first_tried = &test_tried;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigaction(ends[i], &act, NULL);
}

#ifdef __SANITIZE_ADDRESS__
/* Tells the leak sanitizer to ignore a known leak of libconfig: its scanner does not free a string if the text has an
 * error inside the string. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libconfig.so\n"; }
#endif
