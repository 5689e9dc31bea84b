#include "gnuplot.h"
#include "outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void gnuplot_terminal(const char *ending, int width, int height, FILE *out) {
    fprintf(out, "set terminal %s size %d,%d font 'sans,11' background rgb 'white' noenhanced\n",
            strcmp(ending, "png") == 0 ? "pngcairo" : "svg", width, height);
}

/* Starts gnuplot with the script as stdin, the plot as stdout, and a file for its messages as stderr. */
static pid_t start(int in, int to, int says) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(says, STDERR_FILENO) < 0)
        _exit(126);
    execlp("gnuplot", "gnuplot", "-", (char *)NULL);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Writes the script to an unnamed file, which gnuplot reads. With a pipe, this process could block, because a pipe
 * holds little data. */
static FILE *script_file(const char *script) {
    FILE *f = tmpfile();
    if (f && (fputs(script, f) < 0 || fflush(f) != 0 || fseek(f, 0, SEEK_SET) != 0)) {
        fclose(f);
        f = NULL;
    }
    return f;
}

/* Writes the reason of a failure: gnuplot's last line, which names the error; earlier lines quote the script. */
static void complain(FILE *says, int status, char *err, size_t err_size) {
    char line[512], last[256] = "";
    rewind(says);
    while (fgets(line, sizeof line, says)) {
        const char *text = line + strspn(line, " \t\n");
        if (*text)
            snprintf(last, sizeof last, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (*last)
        snprintf(err, err_size, "gnuplot failed: %s", last);
    else
        snprintf(err, err_size, "gnuplot ended with exit status %d", status);
}

/* Returns true if the plot is complete, judging by its last bytes, because gnuplot does not report write errors.
 * Returns true for a pipe, which cannot be checked. */
static bool has_end(int to) {
    char path[64], head[8] = "", tail[16] = "";
    struct stat st;
    if (fstat(to, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", to);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return st.st_size > 0;
    off_t last = st.st_size > (off_t)sizeof tail ? st.st_size - (off_t)sizeof tail : 0;
    bool read_both = pread(fd, head, sizeof head, 0) > 0 && pread(fd, tail, sizeof tail, last) > 0;
    close(fd);
    return !read_both                        ? false
           : memcmp(head, "<?xml", 5) == 0   ? memmem(tail, sizeof tail, "</svg>", 6) != NULL
           : memcmp(head, "\x89PNG", 4) == 0 ? memmem(tail, sizeof tail, "IEND", 4) != NULL
                                             : true;
}

/* Draws a gnuplot script to the file `to`. If gnuplot succeeds, its warnings are dropped. */
int gnuplot_draw(const char *script, FILE *to, char *err, size_t err_size) {
    FILE *in = script_file(script), *says = tmpfile();
    int how = -1, result = -1;
    if (!in || !says) {
        snprintf(err, err_size, "no room for gnuplot's script in the folder of temporary files: %s", strerror(errno));
        if (in)
            fclose(in);
        if (says)
            fclose(says);
        return -1;
    }
    pid_t pid = start(fileno(in), fileno(to), fileno(says));
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 127)
        result = 0;
    else if (pid < 0)
        snprintf(err, err_size, "gnuplot cannot be started: %s", strerror(errno));
    else if (!WIFEXITED(how))
        snprintf(err, err_size, "gnuplot was ended by signal %d", WTERMSIG(how));
    else if (WEXITSTATUS(how) != 0)
        complain(says, WEXITSTATUS(how), err, err_size);
    else if (!has_end(fileno(to)))
        snprintf(err, err_size, "%s: is the disk full?",
                 lseek(fileno(to), 0, SEEK_END) == 0 ? "gnuplot drew nothing" : "gnuplot could not write all of it");
    else
        result = 1;
    fclose(in);
    fclose(says);
    return result;
}

int gnuplot_file(const char *script, const char *path, char *err, size_t err_size) {
    struct outfile f = {0};
    char why[256] = "";
    int result = -1;
    if (outfile_open(&f, path, err, err_size)) {
        result = gnuplot_draw(script, f.stream, why, sizeof why);
        if (result < 0)
            snprintf(err, err_size, "%s: %s", path, why);
        else if (result > 0)
            result = outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size) ? 1 : -1;
    }
    outfile_discard(&f);
    return result;
}
