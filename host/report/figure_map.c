/* Draws a contest by gnuplot: a map for each panel, with a row for each program, a column for each series, and a colour
 * for each value. Ratios use a scale with two ends, where white is the base's own value; absolute values use a scale
 * with one end. Both scales are safe for readers who cannot tell red from green. */
#include "figure.h"
#include "gnuplot.h"
#include <math.h>

enum { CELL_WIDTH = 22, CELL_HEIGHT = 13, AROUND = 190 };
/* the ratio at which the colours of a map end: larger ratios have the colour of this ratio */
static const double most_ratio = 1.5;

double figure_heat(const struct panel *p, double v) {
    /* a small number of cycles, misses or joules is good; a small speed-up is not */
    double heat = p->kind == PANEL_VALUE ? 2 * v - 1 : log(v) / log(most_ratio) * (p->kind == PANEL_RATIO ? -1 : 1);
    return isnan(heat) ? NAN : fmax(-1, fmin(1, heat));
}

/* Writes a matrix: the labels of the series, then a line for each program. */
static void matrix(const struct figure_runs *r, const struct panel_values *v, int p, FILE *out) {
    fprintf(out, "$map%d << END\n\"\"", p);
    for (int s = 0; s < v->n_series; s++)
        fprintf(out, " \"%s\"", v->panel->series[s].label);
    fputc('\n', out);
    for (int i = 0; i < v->n_programs; i++) {
        fprintf(out, "\"%s\"", r->programs[i]->name);
        for (int s = 0; s < v->n_series; s++) {
            double heat = figure_heat(v->panel, v->value[s * v->n_programs + i]);
            if (isnan(heat))
                fputs(" ?", out);
            else
                fprintf(out, " %.4f", heat);
        }
        fputc('\n', out);
    }
    fputs("END\n", out);
}

/* Writes the colours and the labels of the scale. */
static void scale(const struct panel *p, FILE *out) {
    if (p->kind == PANEL_VALUE) {
        fputs("set palette defined (-1 '#ffffff', 1 '#0b4f8a')\nset cbtics ('0' -1, '0.5' 0, '1' 1)\n", out);
        return;
    }
    fputs("set palette defined (-1 '#b35806', 0 '#ffffff', 1 '#0b4f8a')\n", out);
    if (p->kind == PANEL_RATIO)
        fprintf(out, "set cbtics ('%.2f' -1, '1' 0, '%.2f' 1)\n", most_ratio, 1 / most_ratio);
    else
        fprintf(out, "set cbtics ('%.2f' -1, '1' 0, '%.2f' 1)\n", 1 / most_ratio, most_ratio);
}

void figure_map_script(const struct figure_runs *r, const struct panel_values *v, int n, const char *terminal,
                       FILE *out) {
    int width = v[0].n_series * CELL_WIDTH + AROUND, height = r->n_programs * CELL_HEIGHT + AROUND;
    gnuplot_terminal(terminal, width < 640 ? 640 : width, height * n + 30, out);
    fprintf(
        out,
        "set datafile missing '?'\nset xtics rotate by -60 font ',9'\nset ytics font ',9'\n"
        "set xrange [-0.5:%g]\nset yrange [%g:-0.5]\nset cbrange [-1:1]\nset style fill solid noborder\nunset key\n",
        v[0].n_series - 0.5, r->n_programs - 0.5);
    fprintf(out, "set multiplot layout %d,1 title \"%s: %s (%s)\"\n", n, r->figure->name, r->figure->title,
            r->figure->paper);
    for (int p = 0; p < n; p++) {
        matrix(r, &v[p], p, out);
        scale(v[p].panel, out);
        fprintf(out, "set title \"%s\"\n", v[p].panel->title);
        /* Boxes, because gnuplot draws no image of a single row or column. */
        fprintf(out, "plot $map%d matrix rowheaders columnheaders using 1:2:(0.5):(0.5):3 with boxxyerror fc palette\n",
                p);
    }
    fputs("unset multiplot\n", out);
}
