/* All tests of a suite run in one process. Before each test, this code restores the parts of the process state that an
 * earlier test may have changed. */
#include "harness.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
static const int limits[] = {RLIMIT_AS,    RLIMIT_CORE,   RLIMIT_CPU,  RLIMIT_DATA,
                             RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
enum { LIMITS = sizeof limits / sizeof limits[0], STREAMS = 3, SIGNALS = 32, HIGH_FD = 900 };

static struct {
    char **environment; /* a copy of `environ` in separate memory */
    char **shown;       /* the string pointers that `environ` contained when the state was saved */
    int variables, folder, streams[STREAMS];
    mode_t mask;
    struct rlimit limit[LIMITS];
    struct sigaction act[SIGNALS];
    sigset_t blocked;
} saved;

static int count(char **list) {
    int n = 0;
    while (list && list[n])
        n++;
    return n;
}

static void save_environment(void) {
    int n = saved.variables = count(environ);
    saved.environment = calloc((size_t)n + 1, sizeof *saved.environment);
    saved.shown = calloc((size_t)n + 1, sizeof *saved.shown);
    for (int i = 0; i < n; i++) {
        saved.shown[i] = environ[i];
        saved.environment[i] = strdup(environ[i]);
    }
}

static bool environment_is_as_saved(void) {
    if (count(environ) != saved.variables)
        return false;
    for (int i = 0; i < saved.variables; i++)
        if (environ[i] != saved.shown[i] || strcmp(environ[i], saved.environment[i]) != 0)
            return false;
    return true;
}

static void restore_environment(void) {
    if (environment_is_as_saved())
        return;
    clearenv();
    for (int i = 0; i < saved.variables; i++)
        putenv(saved.environment[i]);
    for (int i = 0; i < saved.variables; i++)
        saved.shown[i] = environ[i];
}

/* Returns a copy of the file descriptor with a high number, since some tests rely on the number of the lowest free
 * descriptor. */
static int keep(int fd) {
    int at = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    return at >= 0 ? at : fcntl(fd, F_DUPFD_CLOEXEC, STREAMS);
}

static bool is_same_file(int a, int b) {
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void restore_streams(void) {
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < STREAMS; i++)
        if (saved.streams[i] >= 0 && !is_same_file(i, saved.streams[i]))
            dup2(saved.streams[i], i);
    clearerr(stdin);
}

void state_save(void) {
    save_environment();
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    saved.folder = keep(here);
    close(here);
    for (int i = 0; i < STREAMS; i++)
        saved.streams[i] = keep(i);
    umask(saved.mask = umask(0));
    for (int i = 0; i < LIMITS; i++)
        getrlimit(limits[i], &saved.limit[i]);
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &saved.act[i]);
    sigprocmask(SIG_BLOCK, NULL, &saved.blocked);
}

void state_restore(void) {
    restore_environment();
    restore_streams();
    if (fchdir(saved.folder) != 0)
        perror("check: the folder of the tests");
    umask(saved.mask);
    for (int i = 0; i < LIMITS; i++)
        setrlimit(limits[i], &saved.limit[i]);
    for (int i = 1; i < SIGNALS; i++)
        if (i != SIGKILL && i != SIGSTOP)
            sigaction(i, &saved.act[i], NULL);
    sigprocmask(SIG_SETMASK, &saved.blocked, NULL);
}
