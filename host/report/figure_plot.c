/* Draws a figure by gnuplot: a cluster of bars for each program and mean, with the paper's numbers as diamonds. If
 * there are more series than colours, only means are drawn, with a cluster for each series. */
#include "figure.h"
#include "gnuplot.h"
#include "host/look.h"
#include <math.h>

enum { PANEL_HEIGHT = 360, MOST_BARS = 12 };

static void number(FILE *out, double v, bool percent) {
    if (isnan(v))
        fputs(" ?", out);
    else
        fprintf(out, " %.9g", percent ? 100 * v : v);
}

/* Writes a line of data for each cluster: its name, and a column for each series. */
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

int panel_shown_series(const struct panel_values *v) {
    int shown = 0;
    for (int s = 0; s < v->n_series; s++)
        shown += !v->panel->series[s].hidden;
    return shown;
}

bool panel_means_alone(const struct panel_values *v) { return panel_shown_series(v) > MOST_BARS && v->n_groups > 0; }

/* Writes the data of means: a line for each series, and a column for each group of programs. */
static void mean_data(const struct panel_values *v, int p, FILE *out) {
    fprintf(out, "$data%d << END\n", p);
    for (int s = 0; s < v->n_series; s++) {
        if (v->panel->series[s].hidden)
            continue;
        fprintf(out, "\"%s\"", v->panel->series[s].label);
        for (int g = 0; g < v->n_groups; g++)
            number(out, v->mean[s][g], v->panel->show == SHOW_PERCENT);
        fputc('\n', out);
    }
    fputs("END\n", out);
}

const struct claim *figure_claim(const struct figure_runs *r, const struct panel_values *v, int i, const char *label) {
    const char *of = i < v->n_programs ? r->programs[i]->name : v->group[i - v->n_programs];
    const struct claim *c = panel_claim(v->panel, of, label);
    if (!c && i == v->n_programs && v->n_groups == 1)
        c = panel_claim(v->panel, r->figure->programs, label);
    return c && !c->at_most ? c : NULL;
}

/* Writes the points for the paper's numbers, each at the middle of its bar. The gap between two clusters is as wide as
 * one bar. Returns the number of points. */
static int marks(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    bool means = panel_means_alone(v);
    int bars = means ? v->n_groups : panel_shown_series(v), at = -1, n = 0;
    fprintf(out, "$paper%d << END\n", p);
    for (int s = 0; s < v->n_series; s++) {
        if (v->panel->series[s].hidden)
            continue;
        at++;
        for (int i = means ? v->n_programs : 0; i < v->n_programs + v->n_groups; i++) {
            const struct claim *c = figure_claim(r, v, i, v->panel->series[s].label);
            int cluster = means ? at : i, bar = means ? i - v->n_programs : at;
            if (!c)
                continue;
            fprintf(out, "%.6f %.9g\n", cluster + (bar - (bars - 1) / 2.0) / (bars + 1),
                    v->panel->show == SHOW_PERCENT ? 100 * c->value : c->value);
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

/* Draws the bars, with a colour for each series or group. Returns false if there are no bars. */
static bool bars(const struct panel_values *v, int p, FILE *out) {
    bool means = panel_means_alone(v), any = false;
    int column = 2;
    for (int i = 0; i < (means ? v->n_groups : v->n_series); i++) {
        if (!means && v->panel->series[i].hidden)
            continue;
        if (means || has_values(v, i)) {
            const char *label = means ? v->group[i] : v->panel->series[i].label;
            fprintf(out, "%s$data%d using %d%s title \"%s%s\" lc rgb '%s'", any ? ", " : "plot ", p, column,
                    any ? "" : ":xticlabels(1)", means ? "mean of " : "", label, look_light(column - 2));
            any = true;
        }
        column++;
    }
    return any;
}

static void panel_script(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    const struct panel *panel = v->panel;
    if (panel_means_alone(v))
        mean_data(v, p, out);
    else
        data(r, v, p, out);
    int paper = marks(r, v, p, out);
    fprintf(out, "set title \"%s\"\nset ylabel \"%s\"\nunset arrow\n", panel->title,
            panel->show == SHOW_PERCENT ? "%" : "");
    if (panel->kind != PANEL_VALUE)
        fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888'\n", out);
    if (!bars(v, p, out)) /* without bars, draws an empty plot with the panel's title */
        fputs("plot [0:1] [0:1] NaN notitle", out);
    else if (paper)
        fprintf(out, ", $paper%d using 1:2 with points pt 13 ps 0.9 lc rgb '#c00000' title 'the paper'", p);
    fputc('\n', out);
}

void figure_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal, FILE *out) {
    int clusters = r->n_programs + 3;
    int width = clusters * 46 < 640 ? 640 : clusters * 46 > 1600 ? 1600 : clusters * 46;
    gnuplot_terminal(terminal, width + 160, PANEL_HEIGHT * n + 30, out);
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
