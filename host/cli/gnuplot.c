#include "gnuplot.h"
#include "outfile.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const colors[] = {"#1f5f8b", "#9bbad0", "#d08b5b", "#7a9a4f", "#8d6a9f", "#c9b44d",
                                     "#5b5b5b", "#b05d78", "#4f9a94", "#e3b7a0", "#3d3d7a", "#a8a8a8"};
enum { N_COLORS = sizeof colors / sizeof colors[0] };

const char *gnuplot_color(int i) { return colors[i % N_COLORS]; }

void gnuplot_terminal(const char *ending, int width, int height, FILE *out) {
    fprintf(out, "set terminal %s size %d,%d font 'sans,11' background rgb 'white' noenhanced\n",
            strcmp(ending, "png") == 0 ? "pngcairo" : "svg", width, height);
}

/* gnuplot with the script as its input and the file as its output. */
static pid_t start(int in, int to) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0)
        _exit(126);
    execlp("gnuplot", "gnuplot", "-", (char *)NULL);
    _exit(errno == ENOENT ? 127 : 126);
}

/* The script lies in a file without a name, so that no pipe can be full. */
static FILE *script_file(const char *script) {
    FILE *f = tmpfile();
    if (f && (fputs(script, f) < 0 || fflush(f) != 0 || fseek(f, 0, SEEK_SET) != 0)) {
        fclose(f);
        f = NULL;
    }
    return f;
}

int gnuplot_draw(const char *script, FILE *to, char *err, size_t err_size) {
    FILE *in = script_file(script);
    int how = -1, result = -1;
    if (!in) {
        snprintf(err, err_size, "the script for gnuplot cannot be written: %s", strerror(errno));
        return -1;
    }
    pid_t pid = start(fileno(in), fileno(to));
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 127)
        result = 0;
    else if (pid < 0)
        snprintf(err, err_size, "gnuplot cannot be started: %s", strerror(errno));
    else if (!WIFEXITED(how))
        snprintf(err, err_size, "gnuplot was ended by signal %d", WTERMSIG(how));
    else if (WEXITSTATUS(how) != 0)
        snprintf(err, err_size, "gnuplot ended with exit status %d", WEXITSTATUS(how));
    else
        result = 1;
    fclose(in);
    return result;
}

int gnuplot_file(const char *script, const char *path, char *err, size_t err_size) {
    struct outfile f = {0};
    char why[256] = "";
    int result = -1;
    if (outfile_open(&f, path, err, err_size)) {
        result = gnuplot_draw(script, f.stream, why, sizeof why);
        struct stat st;
        if (result > 0 && fstat(fileno(f.stream), &st) == 0 && S_ISREG(st.st_mode) && !st.st_size) {
            snprintf(why, sizeof why, "gnuplot drew nothing");
            result = -1;
        }
        if (result < 0)
            snprintf(err, err_size, "%s: %s", path, why);
        else if (result > 0)
            result = outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size) ? 1 : -1;
    }
    outfile_discard(&f);
    return result;
}
