#include "exec_sampled.h"
#include "host/models.h"
#include "host/sampled/sampling.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RUNS = 6 }; /* maximum number of measuring runs without output */

/* Hides the output of the child process, and sets its standard input. If the input is a file, each run reads it from
 * its beginning; other input is empty. */
static void hide(void) {
    const int nowhere = open("/dev/null", O_RDWR);
    if (lseek(0, 0, SEEK_SET) < 0)
        dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    setenv("HEDDLE_QUIET", "1", 1);
    unsetenv("HEDDLE_JSON");
    unsetenv("HEDDLE_RESULTS");
}

/* Runs the program once without output. Returns false if it could not be started or was ended by a signal. */
static bool run_hidden(const char *path, char *const *argv, const char *model) {
    int how = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        hide();
        setenv("HEDDLE_MODEL", model, 1);
        execv(path, argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) != 127;
}

/* Reads from the plan's file whether the program was surveyed, and whether another measuring run is needed. */
static bool read_plan(const char *file, bool *more) {
    FILE *f = fopen(file, "rb");
    struct heddle_plan *p = f ? heddle_plan_read(f) : NULL;
    const bool surveyed = p && p->surveyed;
    *more = p && p->more;
    heddle_plan_free(p);
    if (f)
        fclose(f);
    return surveyed;
}

bool exec_sampled(const struct cli *c, const char *path, char *const *argv, const char *model, double error) {
    char file[] = "/tmp/heddle-plan-XXXXXX", text[32];
    bool more = true;
    if (!cli_has(c, "sampled"))
        return true;
    const int fd = mkstemp(file);
    if (fd < 0) {
        cli_fail(c, "%s: %s", file, strerror(errno));
        return false;
    }
    close(fd);
    snprintf(text, sizeof text, "%.9g", error);
    setenv("HEDDLE_PLAN", file, 1);
    setenv("HEDDLE_PLAN_ERROR", text, 1);
    bool ok = run_hidden(path, argv, model_meant(model, false)) && read_plan(file, &more);
    for (int n = 1; ok && error > 0 && more && n < MOST_RUNS; n++)
        ok = run_hidden(path, argv, model_meant(model, false)) && read_plan(file, &more);
    lseek(0, 0, SEEK_SET);
    if (ok)
        return setenv("HEDDLE_PLAN_LAST", "1", 1) == 0;
    unlink(file);
    cli_fail(c, "--sampled: the first run of the program, whose output is hidden, did not end well; run it with "
                "'-m functional' to see why");
    return false;
}
