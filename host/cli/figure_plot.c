/* A figure drawn by gnuplot: a cluster of bars a program and a mean, and the paper's numbers as diamonds. */
#include "figure.h"
#include "outfile.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const colors[] = {"#1f5f8b", "#9bbad0", "#d08b5b", "#7a9a4f", "#8d6a9f", "#c9b44d", "#5b5b5b"};
enum { N_COLORS = sizeof colors / sizeof colors[0], PANEL_HEIGHT = 360 };

static void number(FILE *out, double v, bool percent) {
    if (isnan(v))
        fputs(" ?", out);
    else
        fprintf(out, " %.9g", percent ? 100 * v : v);
}

/* One line a cluster: its name, and a column a series. */
static void data(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    bool percent = v->panel->show == SHOW_PERCENT;
    fprintf(out, "$data%d << END\n", p);
    for (int i = 0; i < v->n_programs + v->n_groups; i++) {
        fprintf(out, "\"%s\"", i < v->n_programs ? r->programs[i]->name : v->group[i - v->n_programs]);
        for (int s = 0; s < v->n_series; s++)
            if (!v->panel->series[s].hidden)
                number(out, i < v->n_programs ? v->value[s * v->n_programs + i] : v->mean[s][i - v->n_programs],
                       percent);
        fputc('\n', out);
    }
    fputs("END\n", out);
}

/* Where the paper's numbers belong: the middle of their bars. A gap of one bar lies between clusters. */
static int marks(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    int shown = 0, at = 0, n = 0;
    for (int s = 0; s < v->n_series; s++)
        shown += !v->panel->series[s].hidden;
    fprintf(out, "$paper%d << END\n", p);
    for (int s = 0; s < v->n_series; s++) {
        const struct series *own = &v->panel->series[s];
        if (own->hidden)
            continue;
        double offset = (at++ - (shown - 1) / 2.0) / (shown + 1);
        for (int i = 0; i < v->n_programs + v->n_groups; i++) {
            const struct claim *c = panel_claim(
                v->panel, i < v->n_programs ? r->programs[i]->name : v->group[i - v->n_programs], own->label);
            if (!c && i == v->n_programs && v->n_groups == 1)
                c = panel_claim(v->panel, r->figure->programs, own->label);
            if (!c || c->at_most)
                continue;
            fprintf(out, "%.6f %.9g\n", i + offset, v->panel->show == SHOW_PERCENT ? 100 * c->value : c->value);
            n++;
        }
    }
    fputs("END\n", out);
    return n;
}

static bool has_values(const struct panel_values *v, int s) {
    for (int i = 0; i < v->n_programs; i++)
        if (!isnan(v->value[s * v->n_programs + i]))
            return true;
    return false;
}

static void panel_script(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    const struct panel *panel = v->panel;
    data(r, v, p, out);
    int paper = marks(r, v, p, out), column = 2;
    bool any = false;
    fprintf(out, "set title \"%s\"\nset ylabel \"%s\"\nunset arrow\n", panel->title,
            panel->show == SHOW_PERCENT ? "%" : "");
    if (panel->kind != PANEL_VALUE)
        fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888'\n", out);
    for (int s = 0; s < v->n_series; s++) {
        if (panel->series[s].hidden)
            continue;
        if (has_values(v, s)) {
            fprintf(out, "%s$data%d using %d%s title \"%s\" lc rgb '%s'", any ? ", " : "plot ", p, column,
                    any ? "" : ":xticlabels(1)", panel->series[s].label, colors[(column - 2) % N_COLORS]);
            any = true;
        }
        column++;
    }
    if (!any) /* an empty place, with its title */
        fputs("plot [0:1] [0:1] NaN notitle", out);
    else if (paper)
        fprintf(out, ", $paper%d using 1:2 with points pt 13 ps 0.9 lc rgb '#c00000' title 'the paper'", p);
    fputc('\n', out);
}

void figure_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal, FILE *out) {
    int clusters = r->n_programs + 3;
    int width = clusters * 46 < 640 ? 640 : clusters * 46 > 1600 ? 1600 : clusters * 46;
    fprintf(out, "set terminal %s size %d,%d font 'sans,11' background rgb 'white' noenhanced\n",
            strcmp(terminal, "png") == 0 ? "pngcairo" : "svg", width + 160, PANEL_HEIGHT * n + 30);
    fputs("set datafile missing '?'\nset grid y lc rgb '#dddddd'\nset style data histograms\n"
          "set style histogram clustered gap 1\nset style fill solid noborder\nset xtics rotate by -45 font ',9'\n"
          "set yrange [0:*]\nset key outside right top\n",
          out);
    fprintf(out, "set multiplot layout %d,1 title \"%s: %s (%s)\"\n", n, r->figure->name, r->figure->title,
            r->figure->paper);
    for (int p = 0; p < n; p++)
        panel_script(r, &v[p], p, out);
    fputs("unset multiplot\n", out);
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

int figure_plot(const char *script, const char *path, char *err, size_t err_size) {
    struct outfile f = {0};
    FILE *in = script_file(script);
    int how = -1, result = -1;
    if (!in) {
        snprintf(err, err_size, "the script for gnuplot cannot be written: %s", strerror(errno));
        return -1;
    }
    if (outfile_open(&f, path, err, err_size)) {
        pid_t pid = start(fileno(in), fileno(f.stream));
        while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
            continue;
        if (pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 127)
            result = 0;
        else if (pid < 0 || !WIFEXITED(how) || WEXITSTATUS(how) != 0)
            snprintf(err, err_size, "%s: gnuplot failed", path);
        else
            result = outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size) ? 1 : -1;
    }
    outfile_discard(&f);
    fclose(in);
    return result;
}
